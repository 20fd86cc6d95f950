"""Revert and cherry-pick on branches with Delta tables: the log stays one sequence, or nothing is changed."""

from __future__ import annotations

import hashlib

import pytest
from lakebed_engine.engine import Engine
from lakebed_engine.vocabulary import errors
from lakebed_engine.vocabulary.records import Commit

from tests.engine.calls import pick, revert
from tests.engine.support import REPO, content, fails, make_engine, put_commit

TABLE = "lake/events/"
LOG = f"{TABLE}_delta_log/"


def name(version: int, ending: str = "json") -> str:
    return f"{LOG}{version:020}.{ending}"


async def grown(engine: Engine, *versions: int, branch: str = "main") -> list[Commit]:
    """A commit for each version, as a writer makes them."""
    rows = [{name(one): f"{branch} {one}", f"{TABLE}{branch}-{one}.parquet": str(one)} for one in versions]
    return [await put_commit(engine, dict(one), branch) for one in rows]


async def refused(engine: Engine, ref: str, path: str, *, picks: bool = False) -> errors.MergeConflictError:
    before = await content(engine)
    error = await fails((pick if picks else revert)(engine, ref), errors.MergeConflictError)
    assert isinstance(error, errors.MergeConflictError)
    assert await content(engine) == before
    assert [one.path for one in error.conflicts] == [path]
    return error


async def versions(engine: Engine) -> list[str]:
    return [path.removeprefix(LOG) for path in await content(engine) if path.startswith(LOG)]


async def test_a_revert_in_the_middle_of_a_log_says_what_to_do() -> None:
    engine = await make_engine()
    made = await grown(engine, 0, 1, 2, 3)
    error = await refused(engine, made[1].id, name(2))
    for word in ("'lake/events' is a Delta table", "after this revert", repr(name(2)), "newest first", "restore"):
        assert word in error.message
    (conflict,) = error.conflicts
    assert (conflict.base, conflict.theirs) == (None, None)
    assert conflict.ours == hashlib.md5(b"main 2").hexdigest()


async def test_the_first_version_cannot_be_taken_from_below_the_others() -> None:
    engine = await make_engine()
    made = await grown(engine, 0, 1)
    await refused(engine, made[0].id, name(1))


async def test_newest_first_a_table_is_taken_back_to_nothing() -> None:
    engine = await make_engine()
    made = await grown(engine, 0, 1, 2)
    await put_commit(engine, {"other": "x"})
    for one, left in zip(reversed(made), ([name(0), name(1)], [name(0)], []), strict=True):
        await revert(engine, one.id)
        assert await versions(engine) == [path.removeprefix(LOG) for path in left]
    assert await content(engine) == {"other": "x"}


async def test_several_versions_of_one_commit_go_together() -> None:
    engine = await make_engine()
    await grown(engine, 0)
    both = await put_commit(engine, {name(1): "1", name(2): "2"})
    await revert(engine, both.id)
    assert len(await versions(engine)) == 1
    await revert(engine, "main")  # and the revert of the revert brings them back
    assert len(await versions(engine)) == 3


async def test_a_checkpoint_does_not_outlive_its_version() -> None:
    engine = await make_engine()
    made = await grown(engine, 0, 1)
    await put_commit(engine, {name(1, "checkpoint.parquet"): "c", f"{LOG}_last_checkpoint": "1"})
    await refused(engine, made[1].id, name(1, "checkpoint.parquet"))
    await revert(engine, "main")
    await revert(engine, made[1].id)
    assert await versions(engine) == [name(0).removeprefix(LOG)]


async def test_log_without_its_first_versions_is_checked() -> None:
    engine = await make_engine()
    made = await grown(engine, 0, 1, 2)
    await put_commit(engine, {name(2, "checkpoint.parquet"): "c", name(0): None, name(1): None})
    newest = await grown(engine, 3)
    await revert(engine, newest[0].id)
    await refused(engine, made[2].id, name(2, "checkpoint.parquet"))


async def test_a_delta_log_with_an_old_gap_is_unchanged() -> None:
    engine = await make_engine()
    await grown(engine, 0, 1, 3)
    await put_commit(engine, {name(9, "checkpoint.parquet"): "of a version that is not there"})
    newest = await grown(engine, 4)
    await revert(engine, newest[0].id)
    assert len(await versions(engine)) == 4


async def test_a_pick_that_leaves_a_version_out() -> None:
    engine = await make_engine()
    await grown(engine, 0)
    await engine.branches.create(REPO, "dev", "main")
    made = await grown(engine, 1, 2, branch="dev")
    error = await refused(engine, made[1].id, name(2), picks=True)
    assert "after this cherry-pick" in error.message
    assert "oldest first" in error.message
    for one in made:
        await pick(engine, one.id)
    assert len(await versions(engine)) == 3


async def test_pick_does_not_use_the_version_of_another_branch() -> None:
    engine = await make_engine()
    await grown(engine, 0)
    await engine.branches.create(REPO, "dev", "main")
    made = await grown(engine, 1, 2, branch="dev")
    await grown(engine, 1)
    await refused(engine, made[1].id, name(2), picks=True)


async def test_a_pick_of_a_clean_up_takes_no_version_that_only_the_branch_has() -> None:
    """`dev` removes versions 0 to 2 after a checkpoint. `main` has the same versions and version 3."""
    engine = await make_engine()
    await grown(engine, 0, 1, 2)
    await engine.branches.create(REPO, "dev", "main")
    clean = await put_commit(engine, {name(2, "checkpoint.parquet"): "c", name(0): None, name(1): None}, "dev")
    await grown(engine, 3)
    await pick(engine, clean.id)
    assert await versions(engine) == [
        one.removeprefix(LOG) for one in (name(2, "checkpoint.parquet"), name(2), name(3))
    ]


@pytest.mark.parametrize("path", [f"{LOG}_last_checkpoint", name(1, "crc"), f"{TABLE}extra.parquet", "a_delta_log/x"])
async def test_revert_removes_files_that_are_no_delta_versions(path: str) -> None:
    engine = await make_engine()
    await grown(engine, 0)
    odd = await put_commit(engine, {path: "x"})
    await grown(engine, 1)
    await revert(engine, odd.id)
    assert path not in await content(engine)


async def test_tables_are_checked_independently() -> None:
    engine = await make_engine()
    await grown(engine, 0)
    both = await put_commit(engine, {name(1): "1", f"b/{name(0)}": "b", "_delta_log/" + name(0)[len(LOG) :]: "root"})
    await put_commit(engine, {f"b/{name(1)}": "b"})
    await refused(engine, both.id, f"b/{name(1)}")
