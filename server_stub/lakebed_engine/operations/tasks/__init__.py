"""Tasks: work that continues without its client."""
