"""Parses the Range header: from text and a size to a slice. Pure functions.

The rules are those of existing clients: one range, an end past the object is reduced to its end, suffixes work, and an
unsatisfiable range is 416 (`facts/rest_api.md` 4.8).
"""

from __future__ import annotations

from typing import Final, NamedTuple

from lakebed_engine.vocabulary.errors import InvalidRangeError

from lakebed_server.vocabulary import bad_request

_LONGEST: Final = 128
"""The largest number of characters of a Range header: two numbers of 19 digits, and room for a few more ranges."""

_DIGITS: Final = 19  # no object has a size of more digits


class Slice(NamedTuple):
    """`length` bytes from `start`."""

    start: int
    length: int


def parse_range(header: str, size: int, what: str = "parameter Range") -> Slice:
    """The slice that a Range header names in an object of `size` bytes. `what` is its name in an error.

    `bytes=0-99` of 1,000 bytes is (0, 100); `bytes=-100` is (900, 100); `bytes=990-2000` is (990, 10).
    Raises RequestError (400) when the text is not a range, InvalidRangeError (416) when the object has no such bytes.
    """
    if len(header) > _LONGEST:
        raise bad_request(f"{what}: {len(header)} characters, at most {_LONGEST}; ask for one range at a time")
    unit, _, rest = header.partition("=")
    ranges = [one.strip(" ").partition("-") for one in rest.split(",")]
    if unit != "bytes" or not all(dash and _is_number(first + last) for first, dash, last in ranges):
        raise bad_request(f"{what}: expected one range of bytes, for example bytes=0-99, bytes=100- or bytes=-100")
    if len(ranges) > 1:
        raise InvalidRangeError("several ranges in one request are not supported; ask for one at a time")
    first, _, last = ranges[0]
    if not first:
        return _suffix(last, size)
    start = _number(first)
    end = _number(last) if last else size
    if last and end < start:
        raise InvalidRangeError(f"the range ends before it begins: {header}")
    if start >= size:
        raise InvalidRangeError(f"the range begins after the end of the object, which has {size} bytes", size)
    return Slice(start, min(end + 1, size) - start)


def part_of(what: str, text: str, size: int) -> Slice:
    """The slice of a range in a body. Without one, the whole object. Raises RequestError (400) that names `what`."""
    try:
        return parse_range(text, size, what) if text else Slice(0, size)
    except InvalidRangeError as error:
        raise bad_request(f"{what}: {error.message}") from None


def _suffix(last: str, size: int) -> Slice:
    if not last:
        raise InvalidRangeError("the range names no bytes")
    length = min(_number(last), size)
    if length == 0:
        raise InvalidRangeError(f"the range names no bytes of the object, which has {size} bytes", size)
    return Slice(size - length, length)


def _is_number(digits: str) -> bool:
    """Whether the text has only ASCII digits. True for an empty text."""
    return not digits or (digits.isascii() and digits.isdigit())


def _number(digits: str) -> int:
    digits = digits.lstrip("0") or "0"
    return int(digits) if len(digits) <= _DIGITS else int("9" * _DIGITS)
