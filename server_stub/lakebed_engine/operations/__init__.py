"""The operations of the engine, in a folder for each noun: staging, commits, merges, refs, reads."""
