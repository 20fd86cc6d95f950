"""The log line of each request, and which requests get one.

Level DEBUG logs every request. INFO logs writes, failures, and requests that take longer than a second. WARN and ERROR
log only failures with 5xx. Queries and headers are never logged: they contain paths of objects and credentials.
"""

from __future__ import annotations

import logging
import time
from typing import Final

from lakebed_server.http.request import Call

log = logging.getLogger("lakebed.requests")

SLOW_SECONDS: Final = 1.0


def log_request(call: Call, status: int, sent: int) -> None:
    """Log one request at its end. `sent`: bytes of the response's body."""
    seconds = time.perf_counter() - call.started
    if is_logged(call.method, status, seconds):
        level = logging.ERROR if status >= 500 else logging.INFO
        log.log(level, "request", extra={"fields": call.log_fields(status, sent, seconds)})


def is_logged(method: str, status: int, seconds: float) -> bool:
    """Whether a request gets a line at the current level."""
    if status >= 500:
        return log.isEnabledFor(logging.ERROR)
    is_quick_read = status < 400 and method in ("GET", "HEAD") and seconds <= SLOW_SECONDS
    return log.isEnabledFor(logging.DEBUG if is_quick_read else logging.INFO)
