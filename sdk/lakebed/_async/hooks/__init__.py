"""Hooks of a repository: their runs, and their calls after changes."""
