"""Layers: push, compact and reset uncommitted changes."""
