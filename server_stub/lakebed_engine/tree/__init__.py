"""Trees of committed entries: load, look up, list, fold, diff."""
