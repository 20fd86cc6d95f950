"""Listings, page by page."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from lakebed_engine.engine import Engine

from tests.engine.support import REPO

Item = tuple[str, str]


def key(path: str) -> bytes:
    return path.encode()


def grouped(rows: Iterable[Item], prefix: str, delimiter: str, after: str, group_kind: str) -> list[Item]:
    """The oracle: rows in order after `after`. Rows with a common prefix are one item. `after` may be a prefix."""
    out: list[Item] = []
    for path, kind in sorted(rows, key=lambda row: key(row[0])):
        if not path.startswith(prefix) or (after and key(path) <= key(after)):
            continue
        cut = path.find(delimiter, len(prefix)) if delimiter else -1
        item = (path, kind) if cut < 0 else (path[: cut + len(delimiter)], group_kind)
        if item not in out and item != (after, group_kind):
            out.append(item)
    return out


async def listed(engine: Engine, ref: str, amount: int, after: str, **options: Any) -> list[Item]:
    found: list[Item] = []
    while True:
        page = await engine.objects.list(REPO, ref, after=after, amount=amount, **options)
        assert len(page.items) == amount or not page.has_more
        found += [(one.path, "object" if one.entry else "group") for one in page.items]
        if not page.has_more:
            return found
        after = page.items[-1].path
