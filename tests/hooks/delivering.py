"""Waiting for deliveries, for tests."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from tests.hooks.rest import Rest


def until(found: Callable[[], Any], seconds: float = 20) -> Any:
    """Wait until a function returns something."""
    end = time.monotonic() + seconds
    while not (value := found()) and time.monotonic() < end:
        time.sleep(0.02)
    return value


def waiting(rest: Rest) -> list[dict[str, Any]]:
    """The deliveries that wait or have failed."""
    found: list[dict[str, Any]] = rest.done("GET", "/actions/deliveries")["results"]
    return found
