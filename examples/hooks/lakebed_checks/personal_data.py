"""Finds e-mail addresses and numbers of payment cards in the text columns of changed files."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
from lakebed_format.globs import Globs
from lakebed_hooks import HookEvent, ReadOnlyRepo, Refuse

_EMAIL = re.compile(r"[A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9.-]{1,255}\.[A-Za-z]{2,24}")
_DIGITS = re.compile(r"\d(?:[ -]?\d){12,18}")


def check(event: HookEvent, lake: ReadOnlyRepo, args: dict[str, Any]) -> Refuse | None:
    """Read at most `rows` rows of each changed file that `path` chooses."""
    chosen = Globs([args.get("path", "**/*.parquet")])
    found = []
    for change in lake.changes():
        if change.kind != "removed" and chosen.choose(change.path):
            table = lake.read_table(change.path).slice(0, args.get("rows", 100_000))
            found += [{"file": change.path, **one} for one in _columns(table)]
    if not found:
        return None
    first = found[0]
    where = f"column {first['column']!r} of {first['file']}, row {first['row']}"
    return Refuse(f"personal data: {where} looks like {first['kind']}", found)


def _columns(table: pa.Table) -> Iterator[dict[str, Any]]:
    """The first value of each text column that may be personal. The value itself is not repeated."""
    for name in table.column_names:
        column = table.column(name)
        if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
            continue
        for row, text in enumerate(column.to_pylist()):
            kind = _kind(text) if text else ""
            if kind:
                yield {"column": name, "row": row, "kind": kind}
                break


def _kind(text: str) -> str:
    if _EMAIL.search(text):
        return "an e-mail address"
    if any(_is_card(found[0]) for found in _DIGITS.finditer(text)):
        return "the number of a payment card"
    return ""


def _is_card(text: str) -> bool:
    """The check digit of payment cards (ISO/IEC 7812)."""
    digits = [int(sign) for sign in text if sign.isdigit()]
    doubled = [digit if place % 2 == 0 else sum(divmod(2 * digit, 10)) for place, digit in enumerate(digits[::-1])]
    return sum(doubled) % 10 == 0
