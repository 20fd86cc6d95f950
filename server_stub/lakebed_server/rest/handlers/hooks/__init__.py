"""Hooks: their runs, their calls after changes, and action files."""
