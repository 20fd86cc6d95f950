"""Verbs about objects and files."""
