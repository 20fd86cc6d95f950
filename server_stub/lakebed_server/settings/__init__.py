"""Configuration: a schema of plain values, and where each one came from."""
