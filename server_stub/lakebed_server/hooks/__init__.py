"""Hooks in the server: calls of receivers, and what connects them to the engine."""
