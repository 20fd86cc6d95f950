"""Structured Streaming: a sink that commits each micro-batch once, and a source that follows a branch."""
