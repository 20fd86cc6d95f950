"""Runs a hook in a separate process, which reads both sides of the change through a pipe and has no access key."""
