"""The sweep of orphans: files and staged rows that nothing names any more, and the proof that it is so."""
