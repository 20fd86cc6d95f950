"""Waiting for deliveries, for tests."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.hooks.rest import Rest
from tests.support.waiting import wait_until


def until(found: Callable[[], Any], seconds: float = 20) -> Any:
    """Wait until a function returns something, and return that."""
    return wait_until(found, seconds=seconds, every=0.02)


def waiting(rest: Rest) -> list[dict[str, Any]]:
    """The deliveries that wait or have failed."""
    found: list[dict[str, Any]] = rest.done("GET", "/actions/deliveries")["results"]
    return found
