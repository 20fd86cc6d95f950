"""Commits of a branch: of staged changes, of a publish, and of imported history."""
