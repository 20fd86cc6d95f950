"""Structured logs: one line per event, as text or JSON.

Other code logs through the standard library (`lakebed.*`); requests go past it through `RequestLog`, since a stat must
not pay for a log record. Level DEBUG logs every request, INFO those that write, fail or take longer than a second, WARN
and above only those that fail with 5xx. Queries and headers are never logged: paths of objects and credentials stand
there.
"""

from __future__ import annotations

import asyncio
import functools
import logging
import os
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final, Literal, TextIO

import msgspec

from lakebed_server.vocabulary import StartError

LEVELS: Final = {"DEBUG": 10, "INFO": 20, "WARN": 30, "ERROR": 40, "NONE": 100}
SLOW_SECONDS: Final = 1.0
_FLUSH_SECONDS: Final = 0.1
_NAMES: Final = {10: "DEBUG", 20: "INFO", 30: "WARN", 40: "ERROR", 50: "ERROR"}

Format = Literal["text", "json"]


class Sink:
    """Where lines go. Lines of requests wait up to a tenth of a second to be written together; warnings do not."""

    def __init__(self, stream: TextIO, style: Format = "text", reopen: Callable[[], TextIO] | None = None) -> None:
        """`reopen` opens the same place once more: the file at a path may have been moved away meanwhile."""
        self._stream = stream
        self._reopen = reopen
        self._style = style
        self._lines: list[str] = []
        self._lock = threading.Lock()
        self._scheduled = False
        self._second = (0, "")

    def write(self, level: int, message: str, fields: dict[str, object], *, now: bool = True) -> None:
        """Write one event."""
        self._lines.append(self._line(level, message, fields))
        if now or not self._schedule():
            self.flush()

    def flush(self) -> None:
        """Write what waits. A log that cannot be written must not stop the server."""
        with self._lock:
            self._scheduled = False
            lines, self._lines = self._lines, []
            if lines:
                try:
                    self._stream.write("".join(lines))
                    self._stream.flush()
                except (OSError, ValueError):
                    pass

    def close(self) -> None:
        """Write what waits and close the file; standard output stays open."""
        self.flush()
        if self._stream is not sys.stdout:
            self._stream.close()

    def reopen(self) -> None:
        """Write what waits, and go on in a file of the same name. Raises StartError; then it goes on in the old one."""
        self.flush()
        if self._reopen is None:
            return
        fresh = self._reopen()
        with self._lock:
            old, self._stream = self._stream, fresh
        old.close()

    def _schedule(self) -> bool:
        if self._scheduled:
            return True
        try:
            asyncio.get_running_loop().call_later(_FLUSH_SECONDS, self.flush)
        except RuntimeError:
            return False
        self._scheduled = True
        return True

    def _line(self, level: int, message: str, fields: dict[str, object]) -> str:
        name = _NAMES.get(level, "INFO")
        if self._style == "json":
            event = {"time": self._time(), "level": name, "message": message, **fields}
            return msgspec.json.encode(event).decode() + "\n"
        shown = " ".join([f"{key}={_quoted(value)}" for key, value in fields.items()])
        return f"{self._time()} {name:5} {_printable(message)}{' ' + shown if shown else ''}\n"

    def _time(self) -> str:
        now = time.time()
        whole = int(now)
        if self._second[0] != whole:
            self._second = (whole, time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(whole)))
        return f"{self._second[1]}.{int((now - whole) * 1000):03d}Z"


def _quoted(value: object) -> str:
    text = str(value)
    if text and text.isascii() and text.isprintable() and " " not in text and '"' not in text:
        return text
    return _printable(msgspec.json.encode(_printable(text, but="\n\t")).decode())


def _printable(text: str, but: str = "") -> str:
    """Text without control characters, which could forge a line or steer a terminal: they become escapes."""
    if text.isprintable():
        return text
    return "".join(
        char if char.isprintable() or char in but else char.encode("unicode_escape").decode() for char in text
    )


class SinkHandler(logging.Handler):
    """Brings the standard library's records to a sink."""

    def __init__(self, sink: Sink) -> None:
        super().__init__()
        self._sink = sink
        self._formatter = logging.Formatter()

    def close(self) -> None:
        """Close the sink as well."""
        self._sink.close()
        super().close()

    def emit(self, record: logging.LogRecord) -> None:
        """Write one record; `extra` may carry a request id."""
        fields: dict[str, object] = {"logger": record.name}
        request_id = getattr(record, "request_id", None)
        if request_id is not None:
            fields["request_id"] = request_id
        if record.exc_info:
            fields["traceback"] = self._formatter.formatException(record.exc_info)
        self._sink.write(record.levelno, record.getMessage(), fields)


class RequestLog:
    """The lines about requests."""

    def __init__(self, sink: Sink | None = None, level: int = LEVELS["NONE"]) -> None:
        self._sink = sink
        self._level = level if sink is not None else LEVELS["NONE"]

    def wants(self, method: str, status: int, seconds: float) -> bool:
        """Whether a request is logged. Called for each one, so that nothing is built for those that are not."""
        level = self._level
        if level <= LEVELS["DEBUG"]:
            return True
        if level >= LEVELS["WARN"]:
            return status >= 500 and level <= LEVELS["ERROR"]
        return status >= 400 or seconds > SLOW_SECONDS or method not in ("GET", "HEAD")

    def write(self, fields: dict[str, object], status: int) -> None:
        """Write one line."""
        if self._sink is not None:
            self._sink.write(LEVELS["ERROR" if status >= 500 else "INFO"], "request", fields, now=False)

    def flush(self) -> None:
        """Write what waits."""
        if self._sink is not None:
            self._sink.flush()

    def reopen(self) -> None:
        """Open the log's file again, after it was moved away. One that cannot be opened is an error in the old log."""
        if self._sink is None:
            return
        try:
            self._sink.reopen()
        except StartError as error:
            logging.getLogger("lakebed.server").error("the log goes on in the old file: %s", error)


def configure(style: Format, level: str, output: str) -> RequestLog:
    """Send the logs of this process to `output`: a path, or `-` for standard output."""
    threshold = LEVELS[level]
    root = logging.getLogger()
    for handler in [h for h in root.handlers if isinstance(h, SinkHandler)]:
        root.removeHandler(handler)
        handler.close()
    if threshold >= LEVELS["NONE"]:
        logging.disable(logging.CRITICAL)
        return RequestLog()
    logging.disable(logging.NOTSET)
    sink = Sink(_open(output), style, None if output == "-" else functools.partial(_open, output))
    root.addHandler(SinkHandler(sink))
    root.setLevel(max(threshold, LEVELS["INFO"]))  # DEBUG of other libraries tells nobody anything
    logging.getLogger("lakebed").setLevel(threshold)
    logging.getLogger("uvicorn").setLevel(max(threshold, LEVELS["WARN"]))
    logging.getLogger("python_multipart").setLevel(logging.ERROR)
    return RequestLog(sink, threshold)


def _open(output: str) -> TextIO:
    if output == "-":
        return sys.stdout
    path = Path(output).expanduser()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        return open(path, "a", encoding="utf-8", opener=lambda name, flags: os.open(name, flags, 0o600))
    except OSError as error:
        raise StartError(f"cannot write the log to {path}: {error.strerror}; change logging.output") from None
