"""What users ask for, one noun a module: staging, commits, merges, refs, reads."""
