"""The KV store in a SQLite file."""
