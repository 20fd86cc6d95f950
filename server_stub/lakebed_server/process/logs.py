"""The log of the process: standard library logging, one line per event, as text or JSON.

2026-01-31T12:00:00.123Z INFO  request method=GET path=/api/v1/repositories status=200 ...
{"time":"2026-01-31T12:00:00.123Z","level":"INFO","message":"request","method":"GET","status":200,...}
"""

from __future__ import annotations

import logging
import os
import sys
import time
from pathlib import Path
from typing import Final, Literal, TextIO

import msgspec

from lakebed_server.vocabulary import StartError

LEVELS: Final = {"DEBUG": 10, "INFO": 20, "WARN": 30, "ERROR": 40, "NONE": 100}
_NAMES: Final = {"WARNING": "WARN", "CRITICAL": "ERROR"}

Format = Literal["text", "json"]


class LineFormatter(logging.Formatter):
    """Formats a record as one line. `extra` of a record may have a `request_id`, or all its `fields`."""

    default_time_format = "%Y-%m-%dT%H:%M:%S"
    default_msec_format = "%s.%03dZ"

    def __init__(self, style: Format) -> None:
        super().__init__()
        self.converter = time.gmtime
        self._json = style == "json"

    def format(self, record: logging.LogRecord) -> str:
        """The line, without its end."""
        moment, message, fields = self.formatTime(record), record.getMessage(), self._fields(record)
        level = _NAMES.get(record.levelname, record.levelname)
        if self._json:
            return msgspec.json.encode({"time": moment, "level": level, "message": message, **fields}).decode()
        words = [f"{moment} {level:5} {_printable(message)}"]
        words += [f"{key}={_quoted(value)}" for key, value in fields.items()]
        return " ".join(words)

    def _fields(self, record: logging.LogRecord) -> dict[str, object]:
        given: dict[str, object] | None = getattr(record, "fields", None)
        if given is not None:
            return given
        fields: dict[str, object] = {"logger": record.name}
        request_id = getattr(record, "request_id", None)
        if request_id is not None:
            fields["request_id"] = request_id
        if record.exc_info:
            fields["traceback"] = self.formatException(record.exc_info)
        return fields


class LogHandler(logging.StreamHandler[TextIO]):
    """Writes lines to a file, or to standard output. A log that cannot be written does not stop the server."""

    def __init__(self, output: str, style: Format) -> None:
        """`output`: a path, or `-` for standard output. Raises StartError."""
        super().__init__(_open(output))
        self._output = output
        self.setFormatter(LineFormatter(style))

    def reopen(self) -> None:
        """Continue in a new file of the same name, after the old one was renamed.

        If the file cannot be opened, the log continues in the old file, and reports the error there.
        """
        if self._output == "-":
            return
        try:
            old = self.setStream(_open(self._output))
        except StartError as error:
            logging.getLogger("lakebed.server").error("logging continues in the old file: %s", error)
        else:
            if old is not None:
                old.close()

    def close(self) -> None:
        """Close the file. Standard output stays open."""
        if self._output != "-":
            self.stream.close()
        super().close()

    def handleError(self, record: logging.LogRecord) -> None:
        """Drop a line that cannot be written."""


def configure(style: Format, level: str, output: str) -> LogHandler | None:
    """Send the logs of this process to `output`: a path, or `-` for standard output. None: nothing is logged.

    Raises StartError when the file cannot be opened.
    """
    root = logging.getLogger()
    for handler in [h for h in root.handlers if isinstance(h, LogHandler)]:
        root.removeHandler(handler)
        handler.close()
    threshold = LEVELS[level]
    if threshold >= LEVELS["NONE"]:
        logging.disable(logging.CRITICAL)
        return None
    logging.disable(logging.NOTSET)
    handler = LogHandler(output, style)
    root.addHandler(handler)
    root.setLevel(max(threshold, logging.INFO))  # DEBUG of other libraries is useless for an operator
    logging.getLogger("lakebed").setLevel(threshold)
    logging.getLogger("uvicorn").setLevel(max(threshold, logging.WARNING))
    logging.getLogger("python_multipart").setLevel(logging.ERROR)
    return handler


def _quoted(value: object) -> str:
    text = str(value)
    if text and text.isascii() and text.isprintable() and " " not in text and '"' not in text:
        return text
    return _printable(msgspec.json.encode(_printable(text, but="\n\t")).decode())


def _printable(text: str, but: str = "") -> str:
    """Escape control characters, except those of `but`. They could forge a line or control a terminal."""
    if text.isprintable():
        return text
    return "".join(
        char if char.isprintable() or char in but else char.encode("unicode_escape").decode() for char in text
    )


def _open(output: str) -> TextIO:
    if output == "-":
        return sys.stdout
    path = Path(output).expanduser()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        return open(path, "a", encoding="utf-8", opener=lambda name, flags: os.open(name, flags, 0o600))
    except OSError as error:
        raise StartError(f"cannot write the log to {path}: {error.strerror}; change logging.output") from None
