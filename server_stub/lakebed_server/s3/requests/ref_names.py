"""The names of branches and tags as directories, in the order of `<name>/`. That is not the order of the names.

`a` comes before `a-b`, but `a-b/` before `a/`. The engine returns names in their own order. So this module keeps a name
back until all names have passed that begin with it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Protocol

from lakebed_engine.engine import Engine
from lakebed_engine.vocabulary.records import Page

_PAGE = 1000


class Named(Protocol):
    """A branch or a tag."""

    @property
    def name(self) -> str:
        """Its name."""
        ...


Fetch = Callable[[str, str, int], Awaitable[Page[Named]]]
"""Fetches a page of branches or tags. Arguments: prefix, the name to start after, amount. In order of name."""


def branches(engine: Engine, repo: str, prefix: str, after: str) -> AsyncIterator[str]:
    """Names of branches with `prefix` whose `<name>/` is after the key `after`, or contains it."""

    async def fetch(start: str, behind: str, amount: int) -> Page[Named]:
        return await engine.branches.list(repo, prefix=start, after=behind, amount=amount)  # type: ignore[return-value]

    return _in_order(fetch, prefix, after)


def tags(engine: Engine, repo: str, prefix: str, after: str) -> AsyncIterator[str]:
    """Names of tags, in the same way."""

    async def fetch(start: str, behind: str, amount: int) -> Page[Named]:
        return await engine.tags.list(repo, prefix=start, after=behind, amount=amount)  # type: ignore[return-value]

    return _in_order(fetch, prefix, after)


async def merged(left: AsyncIterator[str], right: AsyncIterator[str]) -> AsyncIterator[str]:
    """The names of both, in the same order."""
    one, other = await anext(left, None), await anext(right, None)
    while one is not None or other is not None:
        if other is None or (one is not None and f"{one}/" < f"{other}/"):
            assert one is not None
            yield one
            one = await anext(left, None)
        else:
            yield other
            other = await anext(right, None)


async def _in_order(fetch: Fetch, prefix: str, after: str) -> AsyncIterator[str]:
    first = after.partition("/")[0]
    waiting = [name async for name in _begun(fetch, prefix, first)]
    async for name in _scan(fetch, prefix, first):
        while waiting and not _comes_first(name, waiting[-1]):
            done = waiting.pop()
            if _is_behind(done, after):
                yield done
        waiting.append(name)
    for name in reversed(waiting):
        if _is_behind(name, after):
            yield name


async def _begun(fetch: Fetch, prefix: str, first: str) -> AsyncIterator[str]:
    """`first` and its prefixes, as far as they are names and come after it as directories."""
    for end in range(1, len(first) + 1):
        name = first[:end]
        if not name.startswith(prefix) or (end < len(first) and first[end] >= "/"):
            continue
        page = await fetch(name, "", 1)
        if page.items and page.items[0].name == name:
            yield name


async def _scan(fetch: Fetch, prefix: str, behind: str) -> AsyncIterator[str]:
    more = True
    while more:
        page = await fetch(prefix, behind, _PAGE)
        for item in page.items:
            yield item.name
        more = page.has_more
        if more:
            behind = page.items[-1].name


def _comes_first(name: str, other: str) -> bool:
    """Whether `<name>/` comes before `<other>/`. `name` begins with `other`."""
    return name.startswith(other) and name[len(other)] < "/"


def _is_behind(name: str, after: str) -> bool:
    """Whether the name as a directory, or a key inside it, is after the key `after`."""
    return f"{name}/" > after or after.startswith(f"{name}/")
