"""What a change adds, changes and removes: the numbers, and the first paths."""

from __future__ import annotations

from typing import Final

from lakebed_engine.engine import Engine
from lakebed_hooks import Changes

MOST_PATHS: Final = 100
MOST_COUNTED: Final = 10_000
"""The server stops counting then, because a change may concern millions of paths."""
_PAGE: Final = 1000


async def changes_between(engine: Engine, repository: str, base: str, candidate: str) -> Changes:
    """The changes from one ref to another one. `truncated`: there are more than it says."""
    numbers = {"added": 0, "changed": 0, "removed": 0}
    paths: list[str] = []
    after, more = "", True
    while more and sum(numbers.values()) < MOST_COUNTED:
        page = await engine.commits.diff(
            repository, base, candidate, mode="two_dot", after=after, amount=_PAGE, details=False
        )
        for item in page.items:
            numbers[item.type] += 1
            if len(paths) < MOST_PATHS:
                paths.append(item.path)
        more = page.has_more
        after = page.items[-1].path if page.items else after
    truncated = more or sum(numbers.values()) > len(paths)
    return Changes(numbers["added"], numbers["changed"], numbers["removed"], tuple(paths), truncated)
