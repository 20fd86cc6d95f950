"""Commits, branches and tags as verbs, and branches that are deleted and made again under an operation."""

from __future__ import annotations

from typing import Any

import pytest
from lakebed_engine.stores.kv.base import Batch
from lakebed_engine.stores.kv.memory import MemoryKV
from lakebed_engine.vocabulary import errors

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
    run,
)
from tests.engine.test_staging import crash_after_seal


def test_what_a_commit_says() -> None:
    async def job() -> None:
        clock = FakeClock(1_700_000_000.9)
        engine = await make_engine(clock=clock)
        root = await engine.get_commit(REPO, "main")
        assert (root.message, root.parents, root.generation) == ("Repository created", (), 1)
        assert (root.committer, root.metarange_id, root.creation_date) == ("", "", 1_700_000_000)
        one = await put_commit(engine, {"a": "1"}, metadata={"k": "v"})
        assert (one.parents, one.generation, one.metadata) == ((root.id,), 2, {"k": "v"})
        assert (one.committer, one.message, one.creation_date) == ("ann", "c", 1_700_000_000)
        two = await put_commit(engine, {"a": "2"}, date=-(2**63))
        assert two.creation_date == -(2**63)
        assert await engine.get_commit(REPO, two.id) == two
        for date in (2**63, -(2**63) - 1):
            await fails(commit(engine, allow_empty=True, date=date), errors.InvalidRequestError)
        await engine.delete_object(REPO, "main", "a")
        assert (await commit(engine, message="")).metarange_id == ""

    run(job())


def test_nothing_to_commit() -> None:
    async def job() -> None:
        engine = await make_engine()
        await fails(commit(engine), errors.NoChangesError)
        await put_commit(engine, {"a": "1"})
        await engine.delete_object(REPO, "main", "nothing")
        await put(engine, "a", "1")
        await crash_after_seal(engine)
        await put(engine, "b", "1")
        await engine.delete_object(REPO, "main", "b")
        await fails(commit(engine), errors.NoChangesError)
        assert not (await engine.get_branch(REPO, "main")).layers, "what changes nothing was trimmed"
        assert len(await history(engine)) == 2
        empty = await commit(engine, allow_empty=True)
        assert empty.metarange_id == (await engine.get_commit(REPO, "main~1")).metarange_id
        await fails(commit(engine, branch="nope"), errors.BranchNotFoundError)
        await fails(commit(engine, branch="main~1"), errors.BranchNotFoundError)

    run(job())


def test_only_identity_makes_a_change() -> None:
    async def job() -> None:
        engine = await make_engine()
        await put_commit(engine, {"a": "1"})
        await put(engine, "a", "1", content_type="text/html")
        await commit(engine)
        await put(engine, "a", "1", content_type="text/html", metadata={"k": ""})
        await commit(engine)
        await put(engine, "a", "1", content_type="text/html", metadata={"k": ""})
        await fails(commit(engine), errors.NoChangesError)

    run(job())


def test_branches_and_tags() -> None:
    async def job() -> None:
        engine = await make_engine()
        one = await put_commit(engine, {"a": "1"})
        await put(engine, "b", "staged")
        dev = await engine.create_branch(REPO, "dev", "main")
        assert dev.commit_id == one.id
        assert await content(engine, "dev") == {"a": "1"}, "a branch begins at the head, without what is staged"
        await fails(engine.create_branch(REPO, "dev", "main"), errors.BranchExistsError)
        await fails(engine.create_branch(REPO, "new", "nope"), errors.RefNotFoundError)
        await fails(engine.create_branch("nope", "new", "main"), errors.RepositoryNotFoundError)
        await engine.create_tag(REPO, "v1", "dev~1")
        await fails(engine.create_tag(REPO, "v1", "main"), errors.TagExistsError)
        await fails(engine.create_tag(REPO, "dev", "main"), errors.NameTakenError)
        await fails(engine.create_branch(REPO, "v1", "main"), errors.NameTakenError)
        await fails(engine.create_tag(REPO, "v2", "main$"), errors.InvalidRefError)
        await fails(engine.delete_branch(REPO, "main"), errors.DefaultBranchError)
        await fails(engine.delete_branch(REPO, "nope"), errors.BranchNotFoundError)
        await put(engine, "c", "staged", "dev")
        await engine.delete_branch(REPO, "dev")
        await fails(engine.stat(REPO, "dev", "c"), errors.RefNotFoundError)
        await fails(put(engine, "c", "1", "dev"), errors.BranchNotFoundError)
        again = await engine.create_branch(REPO, "dev", "main")
        assert again.uid != dev.uid
        assert await content(engine, "dev") == {"a": "1"}
        assert (await engine.get_commit(REPO, one.id)).id == one.id

    run(job())


@pytest.mark.parametrize("verb", ["commit", "merge"])
@pytest.mark.parametrize("recreate", [False, True])
def test_a_branch_deleted_and_made_again_under_an_operation(verb: str, recreate: bool) -> None:
    """At each KV call: nothing of the old branch may appear in the new one."""

    async def job(at: int) -> bool:
        kv = HookedKV(MemoryKV())
        engine = await make_engine(kv)
        await put_commit(engine, {"a": "1"})
        await engine.create_branch(REPO, "dev", "main")
        await put_commit(engine, {"b": "1"})
        if verb == "commit":
            await put(engine, "c", "old", "dev")
        kv.calls, reached = 0, False

        async def hook(*_: Any) -> None:
            nonlocal reached
            if kv.calls == at:
                reached = True
                await engine.delete_branch(REPO, "dev")
                if recreate:
                    await engine.create_branch(REPO, "dev", "main~1")
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
            await fails(engine.get_branch(REPO, "dev"), errors.BranchNotFoundError)
        return reached

    at = 1
    while run(job(at)):
        at += 1
    assert at > 5


def test_a_row_staged_while_a_commit_runs_stays_staged() -> None:
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
                await engine.delete_object(REPO, "main", "a")

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
    while run(job(at)):
        at += 1
    assert at > 6


@pytest.mark.parametrize("rival", ["commit", "reset", "merge", "seal"])
def test_a_rival_at_each_call_of_a_commit(rival: str) -> None:
    async def job(at: int) -> bool:
        kv = HookedKV(MemoryKV())
        engine = await make_engine(kv)
        await put_commit(engine, {"a": "1"})
        await engine.create_branch(REPO, "dev", "main")
        await put_commit(engine, {"d": "1"}, "dev")
        await put(engine, "b", "mine")
        kv.calls, reached = 0, False

        async def hook(*_: Any) -> None:
            nonlocal reached
            if kv.calls == at:
                reached = True
                if rival == "commit":
                    await put_commit(engine, {"c": "rival"})
                elif rival == "reset":
                    await engine.reset_branch(REPO, "main")
                elif rival == "seal":
                    await put(engine, "c", "rival")
                    await crash_after_seal(engine)
                else:
                    try:
                        await merge(engine, "dev")
                    except errors.DirtyBranchError:
                        pass

        kv.before = hook
        try:
            made = await commit(engine)
            kv.before = None
            assert made.id in {one.id for one in await history(engine)}, "acknowledged, so it is in history"
        except errors.NoChangesError:
            assert rival in ("reset", "commit")
        kv.before = None
        found = await content(engine)
        if rival == "reset":
            assert found in ({"a": "1"}, {"a": "1", "b": "mine"})
            assert await content(engine, "main@") == found
        else:
            assert found["b"] == "mine"
            assert ("c" in found) == (reached and rival != "merge")
        return reached

    at = 1
    while run(job(at)):
        at += 1
    assert at > 6


def test_a_commit_that_dies_anywhere_loses_nothing() -> None:
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
    while run(job(at)):
        at += 1
    assert at > 6
