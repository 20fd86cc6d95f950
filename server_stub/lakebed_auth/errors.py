"""The error of this package."""

from __future__ import annotations


class PolicyError(ValueError):
    """A policy is not valid. The message names the statement and the field, the reason, and the next step."""
