"""A unit test starts no process: `make check` runs unit tests only, and has to stay quick.

A test that is not marked `slow` is a unit test. When it starts a process, it fails and says what to do.
"""

from __future__ import annotations

import sys

import pytest

_STARTS_A_PROCESS = frozenset({"os.exec", "os.fork", "os.forkpty", "os.posix_spawn", "os.system", "subprocess.Popen"})
"""Audit events of Python."""

_running: list[str] = []
"""The unit test that runs now."""


def begin(item: pytest.Item) -> None:
    """The test begins: from now on a unit test may not start a process."""
    _running[:] = [] if is_slow(item) else [item.nodeid]


def end() -> None:
    """No test runs."""
    _running.clear()


def is_slow(item: pytest.Item) -> bool:
    """Whether a test is not a unit test."""
    return item.get_closest_marker("slow") is not None or item.get_closest_marker("soak") is not None


def _refuse(event: str, _: tuple[object, ...]) -> None:
    if _running and event in _STARTS_A_PROCESS:
        pytest.fail(f"{_running[0]} starts a process ({event}), which a unit test may not: mark it `slow`")


sys.addaudithook(_refuse)
