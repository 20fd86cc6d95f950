"""Merges of branches with Delta tables: no rule and no strategy mixes two sequences of one log."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from lakebed_engine.engine import Engine
from lakebed_engine.operations.merge.delta_log_merge import explained
from lakebed_engine.vocabulary import errors

from tests.engine.support import REPO, content, fails, make_engine, merge, put_commit

LOG = "lake/events/_delta_log/"


def name(version: int) -> str:
    return f"{LOG}{version:020}.json"


async def parted(dev: Mapping[str, str], main: Mapping[str, str]) -> Engine:
    """Two branches of a table that has version 0."""
    engine = await make_engine()
    await put_commit(engine, {name(0): "0", "lake/events/a.parquet": "a", "other": "x"})
    await engine.branches.create(REPO, "dev", "main")
    await put_commit(engine, dict(dev), "dev")
    await put_commit(engine, dict(main))
    return engine


async def refused(engine: Engine, **options: Any) -> errors.MergeConflictError:
    before = await content(engine)
    error = await fails(merge(engine, "dev", **options), errors.MergeConflictError)
    assert isinstance(error, errors.MergeConflictError)
    assert await content(engine) == before
    return error


async def test_a_conflict_in_a_log_says_what_it_means() -> None:
    engine = await parted({name(1): "dev"}, {name(1): "main"})
    error = await refused(engine)
    assert [one.path for one in error.conflicts] == [name(1)]
    for word in ("'lake/events' is a Delta table", "one numbered sequence", "'lake/events/**'"):
        assert word in error.message
    await merge(engine, "dev", resolve=[("lake/events/**", "source")])
    assert (await content(engine))[name(1)] == "dev"


LATER = [name(2), f"{LOG}{1:020}.checkpoint.parquet", f"{LOG}{1:020}.crc", f"{LOG}_last_checkpoint"]


@pytest.mark.parametrize("by_rule", [False, True], ids=["strategy", "rule"])
@pytest.mark.parametrize("winner", ["source", "dest"])
@pytest.mark.parametrize("later", LATER)
async def test_extra_version_of_the_losing_log_is_a_conflict(by_rule: bool, winner: str, later: str) -> None:
    loser = {name(1): "loser", later: "more"}
    sides = ({name(1): "winner"}, loser) if winner == "source" else (loser, {name(1): "winner"})
    options: dict[str, Any] = {"resolve": [("lake/events/**", winner)]} if by_rule else {"strategy": f"{winner}-wins"}
    engine = await parted(*sides)
    error = await refused(engine, **options)
    assert [one.path for one in error.conflicts] == [later]
    assert "one numbered sequence" in error.message


async def test_extra_version_of_the_winning_log_is_merged() -> None:
    engine = await parted({name(1): "dev", name(2): "dev"}, {name(1): "main"})
    await merge(engine, "dev", strategy="source-wins")
    found = await content(engine)
    assert (found[name(1)], found[name(2)]) == ("dev", "dev")
    engine = await parted({name(1): "dev"}, {name(1): "main", name(2): "main"})
    await merge(engine, "dev", strategy="dest-wins")
    found = await content(engine)
    assert (found[name(1)], found[name(2)]) == ("main", "main")


async def test_commits_of_one_log_are_not_settled_for_both_sides() -> None:
    rows = {name(1): "1", name(2): "2"}
    engine = await parted({path: f"dev {text}" for path, text in rows.items()}, rows)
    error = await refused(engine, resolve=[(name(1), "source"), (name(2), "dest")])
    assert [one.path for one in error.conflicts] == [name(1), name(2)]


async def test_a_delta_log_changed_on_one_side_merges() -> None:
    engine = await parted({name(1): "dev", name(2): "dev"}, {"other": "y", f"{LOG}_last_checkpoint": "0"})
    await merge(engine, "dev")
    assert (await content(engine))[name(2)] == "dev"


async def test_pages_of_these_conflicts() -> None:
    tables = ("a/", "b/", "c/")
    dev = {f"{one}{name(version)}": "dev" for one in tables for version in (1, 2)}
    engine = await parted(dev, {f"{one}{name(1)}": "main" for one in tables})
    error = await refused(engine, strategy="dest-wins", conflicts_amount=1, conflicts_after=f"a/{name(2)}")
    assert ([one.path for one in error.conflicts], error.has_more) == ([f"b/{name(2)}"], True)


@pytest.mark.parametrize(
    ("path", "table"),
    [("_delta_log/1.json", "'/'"), ("a/b/_delta_log/1.json", "'a/b'"), ("a_delta_log/1.json", ""), ("a/b.json", "")],
)
def test_the_table_is_named(path: str, table: str) -> None:
    assert table in explained(path)
    assert bool(explained(path)) == bool(table)
