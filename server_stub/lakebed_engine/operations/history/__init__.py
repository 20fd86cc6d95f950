"""History: the log, its index, merge bases and diffs."""
