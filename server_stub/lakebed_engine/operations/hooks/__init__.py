"""Hooks: the check before a change, the calls after it, and the records of both."""
