"""Commits and merges: retries, recovery of lost answers, and tasks."""
