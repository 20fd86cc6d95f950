"""Ingest and import: objects in another store become entries, without a copy."""
