"""Code that bulk transfers and working directories share, without network access: local trees, caches of their
checksums, progress.

Plain blocking code; the async API runs it in threads.
"""
