"""Verbs about branches, tags, commits and diffs."""
