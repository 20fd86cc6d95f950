"""Repeats an operation whose compare-and-swap has lost a race."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

from lakebed_engine.vocabulary.errors import TooManyAttemptsError

T = TypeVar("T")

ATTEMPTS = 60
"""Attempts of an optimistic operation before it gives up."""


async def retry_on_conflict(what: str, attempt: Callable[[], Awaitable[T | None]], attempts: int = ATTEMPTS) -> T:
    """The first result of `attempt` that is not None. None means: a record has changed, so read it again.

    `what` names the record in the error. Raises TooManyAttemptsError, and what `attempt` raises.
    """
    for _ in range(attempts):
        result = await attempt()
        if result is not None:
            return result
    raise TooManyAttemptsError(f"{what} changed during each of {attempts} attempts: nothing was done, try again later")
