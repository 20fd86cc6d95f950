"""Decides when a failed delivery is retried, and when it is given up. Pure: the caller passes the time and random
numbers.
"""

from __future__ import annotations

import enum
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import Final, NamedTuple

DELAYS: Final = (5.0, 30.0, 120.0, 600.0, 3600.0, 6 * 3600.0, 24 * 3600.0)
"""Seconds before the second attempt, the third, and so on. After the last one the delivery has failed."""
SPREAD: Final = 0.2
"""Each delay is randomly shorter or longer by up to this share, so that deliveries that failed together are not retried
together.
"""
LONGEST_WAIT: Final = 24 * 3600.0
"""The longest wait that a receiver can request."""

_AGAIN = frozenset({408, 425, 429})
_GONE = 410
_MOST_DIGITS = 10


class Verdict(enum.Enum):
    """The decision after an attempt."""

    DELIVERED = "delivered"
    RETRY = "retry"
    FAILED = "failed"
    DISABLE = "disable"
    """The receiver no longer exists (410): the hook is not called again."""


class Next(NamedTuple):
    """The decision after an attempt. `delay`: seconds until the next one."""

    verdict: Verdict
    delay: float = 0.0


def delay_after(tries: int, random: float) -> float | None:
    """Return the delay after a number of failed attempts, or None after the last one. `random`: from 0 to 1."""
    if not 1 <= tries <= len(DELAYS):
        return None
    return DELAYS[tries - 1] * (1 - SPREAD + 2 * SPREAD * random)


def after(status: int | None, *, tries: int, random: float, retry_after: float = 0.0) -> Next:
    """Return the decision after an attempt. `status`: of the response, or None without one. `tries`: attempts so far,
    with this one.

    `retry_after`: seconds that a receiver requested with 429 or 503.
    """
    if status is not None and 200 <= status < 300:
        return Next(Verdict.DELIVERED)
    if status == _GONE:
        return Next(Verdict.DISABLE)
    if status is not None and status not in _AGAIN and status < 500:
        return Next(Verdict.FAILED)
    delay = delay_after(tries, random)
    if delay is None:
        return Next(Verdict.FAILED)
    asked = retry_after if status in (429, 503) else 0.0
    return Next(Verdict.RETRY, max(delay, min(asked, LONGEST_WAIT)))


def retry_after_seconds(header: str, *, now: float) -> float:
    """Read a header Retry-After: seconds, or a date. Return 0 for any other text."""
    text = header.strip()
    if text.isascii() and text.isdigit():
        return min(float(text[:_MOST_DIGITS]), LONGEST_WAIT)
    try:
        date = parsedate_to_datetime(text[:64])
        at = (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp()
    except (TypeError, ValueError, OverflowError):
        return 0.0
    return min(max(0.0, at - now), LONGEST_WAIT)
