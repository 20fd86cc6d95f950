"""Garbage collection: deferred deletes, and the sweep of objects and staged rows that nothing refers to."""
