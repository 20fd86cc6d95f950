"""Pages of a listing in which a user sees only some items."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Final, TypeVar

from lakebed_engine.vocabulary.records import Page

T = TypeVar("T")

_READ: Final = 1000
"""Items that one read of the listing returns."""


async def filtered(
    fetch: Callable[[str, int], Awaitable[Page[T]]],
    allowed: Callable[[Sequence[T]], Sequence[bool]],
    key: Callable[[T], str],
    *,
    after: str,
    amount: int,
) -> Page[T]:
    """At most `amount` items that are allowed. `fetch` reads a page after a key, `key` is the key of an item."""
    found: list[T] = []
    has_more = True
    while has_more and len(found) <= amount:
        page = await fetch(after, _READ)
        found += [one for one, is_allowed in zip(page.items, allowed(page.items), strict=True) if is_allowed]
        has_more = page.has_more
        after = key(page.items[-1]) if page.items else after
    return Page(found[:amount], has_more=len(found) > amount)
