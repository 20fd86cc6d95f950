"""Many objects: bulk transfers, checkouts and ingest."""
