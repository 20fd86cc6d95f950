"""Branches, tags, commits, merges and differences."""
