"""The KV store: an interface and its drivers."""
