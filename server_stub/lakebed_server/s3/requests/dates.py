"""The times in signatures, and how far they may differ from the server's clock. Pure."""

from __future__ import annotations

import calendar
import re
from datetime import datetime
from email.utils import parsedate_tz
from functools import lru_cache
from typing import Final

from lakebed_server.s3.vocabulary import S3Error

SKEW: Final = 15 * 60
"""The largest difference between the clocks of client and server, in seconds."""

_BASIC = re.compile(r"(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z", re.ASCII)


_LONGEST: Final = 64
"""The largest number of characters of a Date header. The formats of HTTP have at most 33."""


def seconds_of(text: str) -> int | None:
    """Unix seconds of `20130524T000000Z`, or None."""
    return _seconds_of(text) if len(text) == 16 else None


@lru_cache(256)
def _seconds_of(text: str) -> int | None:
    found = _BASIC.fullmatch(text)
    if found is None:
        return None
    year, month, day, hour, minute, second = (int(part) for part in found.groups())
    if not (1 <= month <= 12 and 1 <= day <= 31 and hour < 24 and minute < 60 and second < 61):
        return None
    return calendar.timegm((year, month, day, hour, minute, second))


def seconds_of_http(text: str) -> int | None:
    """Unix seconds of a Date header, or None."""
    if len(text) > _LONGEST:
        return None
    found = parsedate_tz(text)
    if found is None:
        return seconds_of(text)
    try:
        return calendar.timegm(found[:6]) - (found[9] or 0)
    except (ValueError, OverflowError):
        return None


def seconds_of_iso(text: str) -> int | None:
    """Unix seconds of a time such as `2013-05-24T00:00:00.000Z`, or None. A fraction is cut off."""
    if len(text) > _LONGEST:
        return None
    try:
        found = datetime.fromisoformat(text.strip())
    except ValueError:
        return None
    return calendar.timegm(found.utctimetuple())


def require_near(seconds: int, now: float) -> None:
    """Raises S3Error: RequestTimeTooSkewed, when the time is too far from `now`."""
    if abs(seconds - now) > SKEW:
        raise S3Error(
            "RequestTimeTooSkewed", "The difference between the request time and the current time is too large."
        )
