"""The time limit of a test. A test that hangs ends the run, and pytest-timeout prints the stacks of all threads.

pyproject.toml has the limit of most tests. It leaves room for two waits of `waiting.PATIENCE`, which name what did not
happen. Tests of `make soak` have a longer limit, because they do the same work many times. A test may also have a
limit of its own: `@pytest.mark.timeout(SECONDS)`.
"""

from __future__ import annotations

import os

import pytest

SOAK_LIMIT = 2 * 3600
"""Seconds for a test of `make soak`."""


def add_limit(item: pytest.Item) -> None:
    """Give a test of `make soak` its limit, unless it has one."""
    soak = os.environ.get("LAKEBED_TIER") == "soak" or item.get_closest_marker("soak") is not None
    if soak and item.get_closest_marker("timeout") is None:
        item.add_marker(pytest.mark.timeout(SOAK_LIMIT))
