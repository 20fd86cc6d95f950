"""Ingest and import: objects elsewhere become entries, without a copy."""
