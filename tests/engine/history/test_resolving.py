"""Conflicts resolved path by path: globs in order, the strategy for the rest. Other conflicts remain."""

from __future__ import annotations

import pytest
from lakebed_engine.engine import Engine
from lakebed_engine.vocabulary import errors

from tests.engine.support import REPO, content, fails, make_engine, merge, put_commit

BASE = {"orders/1": "0", "orders/2": "0", "users/1": "0", "keep/1": "0", "top": "0"}


async def conflicting() -> Engine:
    """Both sides changed all of BASE; the source deleted `users/1`, the destination `keep/1`; each has a new path."""
    engine = await make_engine()
    await put_commit(engine, dict(BASE))
    await engine.branches.create(REPO, "dev", "main")
    theirs: dict[str, str | None] = dict.fromkeys(BASE, "s")
    ours: dict[str, str | None] = dict.fromkeys(BASE, "d")
    await put_commit(engine, theirs | {"users/1": None, "source-only": "s", "both": "same"}, "dev")
    await put_commit(engine, ours | {"keep/1": None, "dest-only": "d", "both": "same"})
    return engine


@pytest.mark.parametrize(
    ("rules", "strategy", "sides"),
    [
        ([("orders/**", "source"), ("*", "dest")], "", "ssddd"),
        ([("*", "dest"), ("orders/**", "source")], "", "ddddd"),
        ([("orders/1", "dest"), ("orders/", "source"), ("/top", "source"), ("**/1", "source")], "", "dssss"),
        ([("users/*", "dest")], "source-wins", "ssdss"),
        ([("nothing", "source")], "dest-wins", "ddddd"),
    ],
)
async def test_the_first_glob_that_matches_says_the_side(
    rules: list[tuple[str, str]], strategy: str, sides: str
) -> None:
    engine = await conflicting()
    await merge(engine, "dev", resolve=rules, strategy=strategy)
    deleted = {("users/1", "s"), ("keep/1", "d")}
    settled = {path: side for path, side in zip(BASE, sides, strict=True) if (path, side) not in deleted}
    wanted = {"source-only": "s", "dest-only": "d", "both": "same", **settled}
    assert await content(engine) == dict(sorted(wanted.items()))


async def test_unmatched_conflicts_stop_the_merge() -> None:
    engine = await conflicting()
    before = await content(engine)
    error = await fails(merge(engine, "dev", resolve=[("orders/**", "source")]), errors.MergeConflictError)
    assert isinstance(error, errors.MergeConflictError)
    assert [one.path for one in error.conflicts] == ["keep/1", "top", "users/1"]
    assert [(one.ours is None, one.theirs is None) for one in error.conflicts] == [
        (True, False), (False, False), (False, True),
    ]  # fmt: skip
    assert all(one.base for one in error.conflicts)
    assert await content(engine) == before


@pytest.mark.parametrize("rule", [("", "source"), ("# x", "source"), ("!a", "dest"), ("a", "ours"), ("\ud800", "dest")])
async def test_rules_that_say_nothing_are_refused(rule: tuple[str, str]) -> None:
    engine = await conflicting()
    await fails(merge(engine, "dev", resolve=[("*", "dest"), rule]), errors.InvalidRequestError)
