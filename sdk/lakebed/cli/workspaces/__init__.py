"""Verbs about workspaces and working directories."""
