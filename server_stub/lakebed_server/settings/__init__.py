"""Configuration: a schema of plain values, and the source of each value."""
