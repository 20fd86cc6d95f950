"""Workspaces: their lifecycle, their commit and their conflicts."""
