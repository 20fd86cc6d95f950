"""Workspaces: their life, their commit and their conflicts."""
