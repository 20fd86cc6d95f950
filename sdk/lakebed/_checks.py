"""What is refused before anything is sent: paths and names that cannot be meant, or that HTTP would change.

A pure module over `errors`. The server has its own, stricter rules for names; these are only the ones that must not
reach the wire: httpx folds `.` and `..` in a URL, so `refs/../objects` would become another operation.
"""

from __future__ import annotations

from datetime import UTC, datetime

from lakebed.errors import InvalidRequestError

MAX_PATH_BYTES = 1024


def _encodable(text: str, what: str) -> bytes:
    if not isinstance(text, str):
        raise InvalidRequestError(f"{what} must be a string, not {type(text).__name__}")
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise InvalidRequestError(f"{what} is not valid Unicode (a lone surrogate): {text!r}") from None


def check_path(path: str) -> str:
    """An object path: 1 to 1,024 bytes of UTF-8, otherwise anything."""
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


def check_name(name: str, what: str) -> str:
    """A name or ref expression that stands as one segment of a URL."""
    _encodable(name, f"the {what}")
    if name in ("", ".", ".."):
        raise InvalidRequestError(f"{name!r} cannot be a {what}", kind="invalid_name")
    return name


def check_text(text: str, what: str) -> str:
    """Free text that goes into a query or a body."""
    _encodable(text, f"the {what}")
    return text


def check_metadata(metadata: dict[str, str] | None, what: str) -> dict[str, str]:
    """User metadata: text to text."""
    checked = dict(metadata or {})
    for key, value in checked.items():
        _encodable(key, f"a {what} metadata key")
        _encodable(value, f"the {what} metadata value of {key!r}")
    return checked


def aware(moment: datetime) -> datetime:
    """A time with its zone: one without is taken as local time, as `datetime` itself does."""
    return moment.astimezone(UTC)


def unix_seconds(moment: datetime | int | float) -> int:
    """Whole Unix seconds."""
    return int(aware(moment).timestamp()) if isinstance(moment, datetime) else int(moment)
