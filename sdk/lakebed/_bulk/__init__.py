"""What bulk transfers and working directories share, without any network: local trees, memories of them, progress.

Plain blocking code; the async API runs it in threads.
"""
