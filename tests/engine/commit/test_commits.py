"""Commits, branches and tags as verbs, and branches that are deleted and made again under an operation."""

from __future__ import annotations

from typing import Any

import pytest
from lakebed_engine.engine import Engine
from lakebed_engine.stores.kv.base import Batch
from lakebed_engine.stores.kv.memory import MemoryKV
from lakebed_engine.vocabulary import errors

from tests.engine.calls import crash_after_seal
from tests.engine.support import (
    REPO,
    FakeClock,
    HookedKV,
    commit,
    content,
    fails,
    history,
    make_engine,
    merge,
    put,
    put_commit,
)


async def test_commit_records_have_all_fields() -> None:
    clock = FakeClock(1_700_000_000.9)
    engine = await make_engine(clock=clock)
    root = await engine.commits.get(REPO, "main")
    assert (root.message, root.parents, root.generation) == ("Repository created", (), 1)
    assert (root.committer, root.metarange_id, root.creation_date) == ("", "", 1_700_000_000)
    one = await put_commit(engine, {"a": "1"}, metadata={"k": "v"})
    assert (one.parents, one.generation, one.metadata) == ((root.id,), 2, {"k": "v"})
    assert (one.committer, one.message, one.creation_date) == ("ann", "c", 1_700_000_000)
    two = await put_commit(engine, {"a": "2"}, date=-(2**63))
    assert two.creation_date == -(2**63)
    assert await engine.commits.get(REPO, two.id) == two
    for date in (2**63, -(2**63) - 1):
        await fails(commit(engine, allow_empty=True, date=date), errors.InvalidRequestError)
    await engine.objects.delete(REPO, "main", "a")
    assert (await commit(engine, message="")).metarange_id == ""


async def test_nothing_to_commit() -> None:
    engine = await make_engine()
    await fails(commit(engine), errors.NoChangesError)
    await put_commit(engine, {"a": "1"})
    await engine.objects.delete(REPO, "main", "nothing")
    await put(engine, "a", "1")
    await crash_after_seal(engine)
    await put(engine, "b", "1")
    await engine.objects.delete(REPO, "main", "b")
    await fails(commit(engine), errors.NoChangesError)
    assert not (await engine.branches.get(REPO, "main")).layers, "what changes nothing was trimmed"
    assert len(await history(engine)) == 2
    empty = await commit(engine, allow_empty=True)
    assert empty.metarange_id == (await engine.commits.get(REPO, "main~1")).metarange_id
    await fails(commit(engine, branch="nope"), errors.BranchNotFoundError)
    await fails(commit(engine, branch="main~1"), errors.BranchNotFoundError)


async def test_only_identity_makes_a_change() -> None:
    engine = await make_engine()
    await put_commit(engine, {"a": "1"})
    await put(engine, "a", "1", content_type="text/html")
    await commit(engine)
    await put(engine, "a", "1", content_type="text/html", metadata={"k": ""})
    await commit(engine)
    await put(engine, "a", "1", content_type="text/html", metadata={"k": ""})
    await fails(commit(engine), errors.NoChangesError)


async def test_branches_and_tags() -> None:
    engine = await make_engine()
    one = await put_commit(engine, {"a": "1"})
    await put(engine, "b", "staged")
    dev = await engine.branches.create(REPO, "dev", "main")
    assert dev.commit_id == one.id
    assert await content(engine, "dev") == {"a": "1"}, "a branch begins at the head, without what is staged"
    await fails(engine.branches.create(REPO, "dev", "main"), errors.BranchExistsError)
    await fails(engine.branches.create(REPO, "new", "nope"), errors.RefNotFoundError)
    await fails(engine.branches.create("nope", "new", "main"), errors.RepositoryNotFoundError)
    await engine.tags.create(REPO, "v1", "dev~1")
    await fails(engine.tags.create(REPO, "v1", "main"), errors.TagExistsError)
    await fails(engine.tags.create(REPO, "dev", "main"), errors.NameTakenError)
    await fails(engine.branches.create(REPO, "v1", "main"), errors.NameTakenError)
    await fails(engine.tags.create(REPO, "v2", "main$"), errors.InvalidRefError)
    await fails(engine.branches.delete(REPO, "main"), errors.DefaultBranchError)
    await fails(engine.branches.delete(REPO, "nope"), errors.BranchNotFoundError)
    await put(engine, "c", "staged", "dev")
    await engine.branches.delete(REPO, "dev")
    await fails(engine.objects.stat(REPO, "dev", "c"), errors.RefNotFoundError)
    await fails(put(engine, "c", "1", "dev"), errors.BranchNotFoundError)
    again = await engine.branches.create(REPO, "dev", "main")
    assert again.uid != dev.uid
    assert await content(engine, "dev") == {"a": "1"}
    assert (await engine.commits.get(REPO, one.id)).id == one.id


@pytest.mark.parametrize("verb", ["commit", "merge"])
@pytest.mark.parametrize("recreate", [False, True])
async def test_a_branch_is_recreated_during_an_operation(verb: str, recreate: bool) -> None:
    """At each KV call: nothing of the old branch may appear in the new one."""

    async def job(at: int) -> bool:
        kv = HookedKV(MemoryKV())
        engine = await make_engine(kv)
        await put_commit(engine, {"a": "1"})
        await engine.branches.create(REPO, "dev", "main")
        await put_commit(engine, {"b": "1"})
        if verb == "commit":
            await put(engine, "c", "old", "dev")
        kv.calls, reached = 0, False

        async def hook(*_: Any) -> None:
            nonlocal reached
            if kv.calls == at:
                reached = True
                await engine.branches.delete(REPO, "dev")
                if recreate:
                    await engine.branches.create(REPO, "dev", "main~1")
                    await put(engine, "new", "staged", "dev")

        kv.before = hook
        landed = True
        try:
            await (commit(engine, branch="dev") if verb == "commit" else merge(engine, "main", "dev"))
        except (errors.BranchNotFoundError, errors.NoChangesError, errors.DirtyBranchError):
            landed = False
        kv.before = None
        if reached and recreate:
            found = await content(engine, "dev")
            assert "c" not in found
            assert found["new"] == "staged"
            assert landed or (await content(engine, "dev@")) == {"a": "1"}
        elif reached:
            await fails(engine.branches.get(REPO, "dev"), errors.BranchNotFoundError)
        return reached

    at = 1
    while await job(at):
        at += 1
    assert at > 5


async def test_a_row_staged_while_a_commit_runs_stays_staged() -> None:
    """At each KV call of a commit: what was acknowledged before is in it, what came after is staged or in it."""

    async def job(at: int) -> bool:
        kv = HookedKV(MemoryKV())
        engine = await make_engine(kv)
        await put_commit(engine, {"a": "1"})
        await put(engine, "b", "before")
        kv.calls, reached = 0, False

        async def hook(*_: Any) -> None:
            nonlocal reached
            if kv.calls == at:
                reached = True
                await put(engine, "b", "during")
                await put(engine, "c", "during")
                await engine.objects.delete(REPO, "main", "a")

        kv.before = hook
        made = await commit(engine)
        kv.before = None
        wanted = {"b": "during", "c": "during"} if reached else {"a": "1", "b": "before"}
        assert await content(engine) == wanted
        assert set(await content(engine, made.id)) >= {"b"}
        if reached and await content(engine, "main@") != wanted:
            await commit(engine)
        assert await content(engine, "main@") == wanted
        return reached

    at = 1
    while await job(at):
        at += 1
    assert at > 6


RIVALS = ["commit", "reset", "merge", "seal", "reset and seal", "empty commit"]


async def act(engine: Engine, rival: str) -> None:
    """What a rival does to the branch in the middle of a commit."""
    if rival.startswith("reset"):
        await engine.branches.reset(REPO, "main")
    if rival == "commit":
        await put_commit(engine, {"c": "rival"})
    elif rival.endswith("seal"):
        await put(engine, "c", "rival")
        await crash_after_seal(engine)
    elif rival == "empty commit":
        await commit(engine, "rival", allow_empty=True)
    elif rival == "merge":
        try:
            await merge(engine, "dev")
        except errors.DirtyBranchError:
            pass


@pytest.mark.medium
@pytest.mark.parametrize("rival", RIVALS)
@pytest.mark.parametrize("empty", [False, True])
async def test_a_rival_at_each_call_of_a_commit(rival: str, empty: bool) -> None:
    """`empty`: nothing is staged, and the commit may be empty."""

    async def job(at: int) -> bool:
        kv = HookedKV(MemoryKV())
        engine = await make_engine(kv)
        await put_commit(engine, {"a": "1"})
        await engine.branches.create(REPO, "dev", "main")
        await put_commit(engine, {"d": "1"}, "dev")
        if not empty:
            await put(engine, "b", "mine")
        kv.calls, reached = 0, False
        heads: list[str] = []

        async def hook(*_: Any) -> None:
            nonlocal reached
            if kv.calls == at:
                reached = True
                await act(engine, rival)
                heads.append((await engine.commits.get(REPO, "main")).id)

        kv.before = hook
        try:
            made = await commit(engine, allow_empty=empty)
            kv.before = None
            heads.append(made.id)
            assert empty or not (reached and rival.startswith("reset") and "c" not in await content(engine, made.id))
        except errors.NoChangesError:
            assert not empty
            assert rival.startswith("reset") or rival.endswith("commit")
        kv.before = None
        assert set(heads) <= {one.id for one in await history(engine)}, "acknowledged, so it is in history"
        found = await content(engine)
        if rival.startswith("reset"):
            assert ("b" in found) == (not empty and not reached)
        else:
            assert ("b" in found) == (not empty)
        assert ("c" in found) == (reached and rival in ("commit", "seal", "reset and seal"))
        assert ("d" in found) == (reached and rival == "merge" and "d" in await content(engine, heads[0]))
        return reached

    at = 1
    while await job(at):
        at += 1
    assert at > 4


async def test_a_commit_that_dies_anywhere_loses_nothing() -> None:
    async def job(at: int) -> bool:
        class Crash(Exception):
            pass

        kv = HookedKV(MemoryKV())
        engine = await make_engine(kv)
        await put_commit(engine, {"a": "1"})
        await put(engine, "b", "2")
        kv.calls = 0

        async def hook(name: str, what: Any) -> None:
            if kv.calls == at:
                kv.before = None
                raise Crash(name, isinstance(what, Batch))

        kv.before = hook
        try:
            await commit(engine)
            return False
        except Crash:
            assert await content(engine) == {"a": "1", "b": "2"}
            assert await content(engine, "main@") == {"a": "1"}
            await commit(engine)
            assert await content(engine, "main@") == {"a": "1", "b": "2"}
            return True

    at = 1
    while await job(at):
        at += 1
    assert at > 6


async def test_an_empty_commit_is_not_made_on_a_recreated_branch() -> None:
    """Same head, no layers: only the uid of the branch differs."""

    async def job(at: int) -> str:
        kv = HookedKV(MemoryKV())
        engine = await make_engine(kv)
        await engine.branches.create(REPO, "dev", "main")
        kv.calls, reached = 0, False

        async def hook(*_: Any) -> None:
            nonlocal reached
            if kv.calls == at:
                reached = True
                await engine.branches.delete(REPO, "dev")
                await engine.branches.create(REPO, "dev", "main")

        kv.before = hook
        try:
            await commit(engine, branch="dev", allow_empty=True)
            result = "landed"
        except errors.BranchNotFoundError:
            result = "refused"
        return result if reached else ""

    results: list[str] = []
    while result := await job(len(results) + 1):
        results.append(result)
    assert results == sorted(results), "once the branch was read the new one is another"
    assert results[-1] == "refused"
