"""Verbs about the server, repositories, keys and tasks."""
