"""Hive partitions as Spark sees them: the columns that the folders of a path represent, and their types.

Pure, without PySpark. Where such folders address all files of a table, Spark does this itself. For other files, such as
uploads through REST with names of the server, this module must find the same columns and types.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime
from decimal import Decimal, InvalidOperation
from functools import reduce

NULL = "__HIVE_DEFAULT_PARTITION__"

Pairs = tuple[tuple[str, str], ...]
"""Names and raw values, exactly as in a path."""

_ESCAPED = re.compile(r"%([0-9a-fA-F]{2})")
_WHOLE = re.compile(r"[+-]?[0-9]+", re.ASCII)
_FLOAT = re.compile(
    r"\s*[+-]?(?:NaN|Infinity|(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?[fFdD]?"
    r"|0[xX](?:[0-9a-fA-F]+(?:\.[0-9a-fA-F]*)?|\.[0-9a-fA-F]+)[pP][+-]?[0-9]+[fFdD]?)\s*",
    re.ASCII,
)
_TIMESTAMP = re.compile(r"(\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2})(?:\.\d{1,9})?", re.ASCII)
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
_INT, _LONG = 1 << 31, 1 << 63
_MOST_DIGITS = 38


def unescaped(text: str) -> str:
    """`a%2Fb` -> `a/b`. As in Spark, each escape is one character."""
    return _ESCAPED.sub(lambda found: chr(int(found[1], 16)), text)


def folders_of(place: str) -> tuple[str, Pairs]:
    """Return the table's folder and the partition values below it: `t/day=1/part` -> ("t", (("day", "1"),)).

    By Spark's rule it goes up from the file to the first run of `name=value` folders. Folders below that run do not
    count.
    """
    parts = place.split("/")[:-1]
    end = len(parts)
    while end and "=" not in parts[end - 1]:
        end -= 1
    if not end:
        return "", ()
    start = end
    while start and "=" in parts[start - 1]:
        start -= 1
    pairs = (part.partition("=") for part in parts[start:end])
    return "/".join(parts[:start]), tuple((unescaped(name), value) for name, _, value in pairs)


def type_of(raws: Iterable[str]) -> str:
    """Return the SQL type that holds all these raw values, by Spark's inference."""
    return reduce(_wider, map(_type_of, raws), "void")


def _type_of(raw: str) -> str:
    if raw == NULL:
        return "void"
    if _WHOLE.fullmatch(raw):
        number = int(raw)
        if -_INT <= number < _INT:
            return "int"
        if -_LONG <= number < _LONG:
            return "bigint"
    digits = _digits(raw)
    if digits:
        return f"decimal({digits},0)"
    if _FLOAT.fullmatch(raw):
        return "double"
    if _is_timestamp(unescaped(raw)):
        return "timestamp"
    return "date" if _is_date(raw) else "string"


def _digits(raw: str) -> int:
    """Return the number of digits of a whole decimal. 0 for other texts, or for more digits than Spark allows."""
    if not re.fullmatch(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?", raw, re.ASCII):
        return 0
    try:
        _, digits, exponent = Decimal(raw).as_tuple()
    except InvalidOperation:
        return 0
    if not isinstance(exponent, int) or exponent < 0:
        return 0
    count = len(digits) + exponent
    return count if count <= _MOST_DIGITS else 0


def _is_timestamp(text: str) -> bool:
    found = _TIMESTAMP.fullmatch(text)
    return found is not None and _parses(found[1], "%Y-%m-%d %H:%M:%S")


def _is_date(text: str) -> bool:
    return _DATE.fullmatch(text) is not None and _parses(text, "%Y-%m-%d")


def _parses(text: str, form: str) -> bool:
    try:
        datetime.strptime(text, form)
    except ValueError:
        return False
    return True


_RANK = ("int", "bigint", "double")


def _wider(one: str, other: str) -> str:
    """Return the type that holds the values of both. Text when no other type does so without loss."""
    if other in {one, "void"}:
        return one
    if one == "void":
        return other
    if "double" in (one, other) and (other if one == "double" else one) != "int":
        return "string"
    if one in _RANK and other in _RANK:
        return max(one, other, key=_RANK.index)
    if _digits_in(one) and _digits_in(other):
        return f"decimal({max(_digits_in(one), _digits_in(other))},0)"
    return "timestamp" if {one, other} == {"date", "timestamp"} else "string"


def _digits_in(kind: str) -> int:
    """Return the number of digits of a whole number type."""
    if kind.startswith("decimal("):
        return int(kind[len("decimal(") :].partition(",")[0])
    return {"int": 10, "bigint": 20}.get(kind, 0)
