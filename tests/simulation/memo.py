"""CPU work that is remembered: the jobs given to `Runtime.cpu` are pure, and schedules repeat them over and over.

Below `world`. Nothing of production is replaced; a job whose arguments cannot be told apart cheaply is simply run.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_LIMIT = 50_000
_results: dict[Any, Any] = {}


def remembered(job: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    """The result of a pure job."""
    return job(*args)
