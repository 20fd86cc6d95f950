"""The KV store in PostgreSQL."""
