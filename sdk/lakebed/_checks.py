"""Refuses invalid paths and names before a request is sent, and names that HTTP would change.

Pure. The server has its own, stricter rules for names. These rules are only for names that must not reach the wire:
httpx resolves `.` and `..` in a URL, so `refs/../objects` would become another operation.
"""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from lakebed.errors import InvalidRequestError

MAX_PATH_BYTES = 1024
_METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")


class PathWarning(UserWarning):
    """The path of a new object has characters that are probably a mistake: a slash in front, or a backslash."""

    __module__ = "lakebed"


def _encodable(text: str, what: str) -> bytes:
    if not isinstance(text, str):
        raise InvalidRequestError(f"{what} must be a string, not {type(text).__name__}")
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise InvalidRequestError(f"{what} is not valid Unicode (a lone surrogate): {text!r}") from None


def check_path(path: str) -> str:
    """Check an object path: 1 to 1,024 bytes of UTF-8."""
    raw = _encodable(path, "the object path")
    if not raw:
        raise InvalidRequestError("the object path is empty", kind="invalid_path")
    if len(raw) > MAX_PATH_BYTES:
        shown = path[:40]
        raise InvalidRequestError(
            f"the object path is too long: {len(raw)} bytes, at most {MAX_PATH_BYTES}: {shown!r}...",
            kind="invalid_path",
            path=path,
        )
    return path


def check_new_path(path: str) -> str:
    """Check the path of an object to be written. Warns (PathWarning) of a path that is valid and probably a mistake."""
    wanted = check_path(path).replace("\\", "/").removeprefix("./").lstrip("/")
    if "\\" in path:
        reason = "has a backslash, which does not separate folders"
    elif path.startswith(("/", "./")):
        reason = "does not begin with the name of a folder or file"
    else:
        return path
    meant = f": did you mean {wanted!r}?" if wanted else ""
    warnings.warn(f"the object path {path!r} {reason}{meant}", PathWarning, stacklevel=caller_level())
    return path


def caller_level() -> int:
    """The level, as `warnings.warn` counts for its caller, of the first frame that is not of this package."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "lakebed":
        level, frame = level + 1, frame.f_back
    return level


def check_name(name: str, what: str) -> str:
    """Check a name or ref expression that becomes one segment of a URL."""
    _encodable(name, f"the {what}")
    if name in ("", ".", ".."):
        raise InvalidRequestError(f"{name!r} cannot be a {what}", kind="invalid_name")
    return name


def check_text(text: str, what: str) -> str:
    """Check free text for a query or a body."""
    _encodable(text, f"the {what}")
    return text


def check_commit_message(message: str) -> str:
    """Check the message of a commit. The server takes an empty one, as clients of the shared API send it."""
    if not check_text(message, "commit message").strip():
        raise InvalidRequestError(
            "the commit message is empty, so the log could not say what changed: commit('Add the orders of May')"
        )
    return message


def full_arn(resource: str) -> str:
    """The ARN of a resource that may be written as messages show it: `repository/sales/object/x`."""
    if resource == "*" or resource.startswith("arn:"):
        return resource
    service = "auth" if resource.split("/", 1)[0] in ("user", "group", "policy") else "fs"
    return f"arn:lakefs:{service}:::{resource}"


def check_metadata(metadata: dict[str, str] | None, what: str) -> dict[str, str]:
    """Check user metadata: it maps text to text."""
    checked = dict(metadata or {})
    for key, value in checked.items():
        _encodable(key, f"a {what} metadata key")
        _encodable(value, f"the {what} metadata value of {key!r}")
    return checked


def check_request(method: str, path: str, params: Mapping[str, str | Sequence[str]], body: Any) -> None:
    """Check a hand-made request: it must stay below the API, and be encodable."""
    if method not in _METHODS:
        raise InvalidRequestError(f"{method!r} is not one of {', '.join(_METHODS)}")
    _encodable(path, "the path of the request")
    if not path.startswith("/") or path.startswith("//") or {".", ".."} & set(path.split("/")):
        raise InvalidRequestError(f"{path!r} is not what follows /api/v1, such as /repositories/sales")
    if "?" in path or "#" in path:
        raise InvalidRequestError(f"{path!r} has more than a path: pass parameters as params, and # as %23")
    for key, value in params.items():
        several = isinstance(value, Sequence) and not isinstance(value, str)
        for text in (key, *(value if several else [value])):
            _encodable(text, f"the parameter {key!r}")
    try:
        json.dumps(body, ensure_ascii=False, allow_nan=False).encode()
    except (TypeError, ValueError) as error:
        raise InvalidRequestError(f"the body cannot be sent as JSON: {error}") from None


def aware(moment: datetime) -> datetime:
    """Return a time with its zone. A time without a zone is local time, as in `datetime` itself."""
    return moment.astimezone(UTC)


def unix_seconds(moment: datetime | int | float) -> int:
    """Return whole Unix seconds."""
    return int(aware(moment).timestamp()) if isinstance(moment, datetime) else int(moment)
