"""A unit test starts no process and opens no socket: `make check` runs unit tests only, and has to stay quick.

A test without the marks `slow`, `medium` and `soak` is a unit test. When it starts a process or opens a socket, it
fails and says what to do. A test that tries many drawn cases is not a unit test: it gets the mark `medium` by itself.
"""

from __future__ import annotations

import os
import re
import sys
import threading
from pathlib import Path

import pytest
import urllib3  # noqa: F401  binds a socket when it is imported, to see whether there is IPv6

_STARTS_A_PROCESS = frozenset({"os.exec", "os.fork", "os.forkpty", "os.posix_spawn", "os.system", "subprocess.Popen"})
"""Audit events of Python."""

_OPENS_A_SOCKET = frozenset({"socket.bind", "socket.connect"})
"""The same. The socket pair of an event loop is none of these."""

_BEYOND = ("slow", "medium", "soak")
"""The marks of tests that `make check` leaves out."""

_NO_UNIT_TESTS = re.compile(rf"^pytestmark = pytest\.mark\.(?:{'|'.join(_BEYOND)})\b", re.MULTILINE)

_running: list[str] = []
"""The unit test that runs now."""


def begin(item: pytest.Item) -> None:
    """The test begins: from now on a unit test may not start a process or open a socket."""
    _running[:] = [item.nodeid] if is_unit(item) else []


def end() -> None:
    """No test runs."""
    _running.clear()


def is_unit(item: pytest.Item) -> bool:
    """Whether `make check` runs a test."""
    return all(item.get_closest_marker(mark) is None for mark in _BEYOND)


def has_none(path: Path) -> bool:
    """Whether this is a run of unit tests (`make check`), and the module has a mark that makes all its tests others."""
    if os.environ.get("LAKEBED_TIER") != "check" or path.suffix != ".py" or not path.name.startswith("test_"):
        return False
    return _NO_UNIT_TESTS.search(path.read_text("utf-8")) is not None


def draws_cases(item: pytest.Item) -> bool:
    """Whether Hypothesis draws the cases of a test."""
    return bool(getattr(getattr(item, "obj", None), "is_hypothesis_test", False))


def _refuse(event: str, _: tuple[object, ...]) -> None:
    if _running and event in _STARTS_A_PROCESS:
        pytest.fail(f"{_running[0]} starts a process ({event}), which a unit test may not: mark it `slow`")
    # a thread that an earlier test has left may still connect: that is not this test's socket
    if _running and event in _OPENS_A_SOCKET and threading.current_thread() is threading.main_thread():
        pytest.fail(f"{_running[0]} opens a socket ({event}), which a unit test may not: mark it `medium`")


sys.addaudithook(_refuse)
