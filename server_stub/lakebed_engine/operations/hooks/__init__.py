"""Hooks: the check before a change lands, the calls after it, and the records of both."""
