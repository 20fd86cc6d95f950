"""Runs a hook in a process of its own, which reads both sides of the change through a pipe and has no key."""
