"""Revert, cherry-pick and hard reset through the engine: what they leave, what they refuse, races and lost answers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from lakebed_engine.engine import Engine
from lakebed_engine.stores.kv.base import Batch
from lakebed_engine.stores.kv.memory import MemoryKV
from lakebed_engine.vocabulary import errors
from lakebed_engine.vocabulary.records import Commit

from tests.engine.calls import pick, revert
from tests.engine.support import (
    REPO,
    HookedKV,
    LossyKV,
    commit,
    content,
    fails,
    history,
    make_engine,
    merge,
    put,
    put_commit,
)


async def merged(engine: Engine) -> Commit:
    """`main` with the merge of a branch that changed `b`; `main` itself changed `c`."""
    await put_commit(engine, {"a": "1", "b": "1"})
    await engine.branches.create(REPO, "dev", "main")
    await put_commit(engine, {"b": "2"}, "dev")
    await put_commit(engine, {"c": "1"})
    return await merge(engine, "dev")


async def test_a_revert_takes_back_one_commit_and_leaves_the_others() -> None:
    engine = await make_engine()
    await put_commit(engine, {"a": "1", "b": "1", "c": "1"})
    bad = await put_commit(engine, {"a": "2", "b": None, "new": "x"})
    head = await put_commit(engine, {"later": "y", "c": "2"})
    made = await revert(engine, bad.id[:12])
    assert await content(engine) == {"a": "1", "b": "1", "c": "2", "later": "y"}
    assert (made.parents, made.committer, made.metadata) == ((head.id,), "eve", {})
    assert made.message == f"Revert {bad.id[:12]}: c"
    again = await revert(engine, "main", message="back", metadata={"k": "v"})
    assert (await content(engine))["new"] == "x"
    assert (again.message, again.metadata) == ("back", {"k": "v"})


async def test_a_revert_of_a_merge_needs_to_know_the_parent() -> None:
    engine = await make_engine()
    bad = await merged(engine)
    error = await fails(revert(engine, "main"), errors.MergeParentError)
    assert error.kind == "parent_required"  # type: ignore[attr-defined]
    for number in (3, -1):
        await fails(revert(engine, "main", parent_number=number), errors.InvalidRequestError)
    await fails(revert(engine, "main~99"), errors.RefNotFoundError)
    await fails(revert(engine, "main$"), errors.InvalidRefError)
    assert (await engine.branches.get(REPO, "main")).commit_id == bad.id
    await revert(engine, "main", parent_number=1)
    assert await content(engine) == {"a": "1", "b": "1", "c": "1"}
    await revert(engine, bad.id, parent_number=2)
    assert await content(engine) == {"a": "1", "b": "1"}


async def test_a_revert_without_changes_is_refused_unless_allowed() -> None:
    engine = await make_engine()
    await put_commit(engine, {"a": "1"})
    bad = await put_commit(engine, {"a": "2"})
    await put_commit(engine, {"a": "1"})
    await fails(revert(engine, bad.id), errors.NoChangesError)
    made = await revert(engine, bad.id, allow_empty=True)
    assert (await engine.commits.get(REPO, "main")).id == made.id
    assert await content(engine) == {"a": "1"}
    await fails(revert(engine, (await history(engine))[-1].id), errors.InvalidRequestError)


async def test_a_path_changed_again_is_a_conflict_with_its_three_sides() -> None:
    engine = await make_engine()
    await put_commit(engine, {"a": "1"})
    bad = await put_commit(engine, {"a": "2", "gone": "x"})
    head = await put_commit(engine, {"a": "3"})
    error = await fails(revert(engine, bad.id), errors.MergeConflictError)
    assert isinstance(error, errors.MergeConflictError)
    three = [(await engine.objects.stat(REPO, one, "a")).checksum for one in (bad.id, "main", "main~2")]
    assert [(c.path, c.base, c.ours, c.theirs) for c in error.conflicts] == [("a", *three)]
    assert (await engine.branches.get(REPO, "main")).commit_id == head.id
    await engine.branches.create(REPO, "old", "main~2")
    error = await fails(pick(engine, "main", "old"), errors.MergeConflictError)
    assert isinstance(error, errors.MergeConflictError)
    assert [one.path for one in error.conflicts] == ["a"]


async def test_a_cherry_pick_brings_the_change_and_says_where_from() -> None:
    engine = await make_engine()
    await put_commit(engine, {"a": "1", "b": "1"})
    await engine.branches.create(REPO, "dev", "main")
    await put_commit(engine, {"before": "x"}, "dev")
    origin = await put_commit(engine, {"a": "2", "b": None}, "dev", metadata={"k": "v"})
    head = await put_commit(engine, {"other": "y"})
    made = await pick(engine, "dev")
    assert await content(engine) == {"a": "2", "other": "y"}
    assert (made.parents, made.committer, made.message) == ((head.id,), "eve", origin.message)
    assert made.metadata == {"k": "v", "cherry-pick-origin": origin.id, "cherry-pick-committer": "ann"}
    there = await pick(engine, "dev", message="mine", metadata={})  # as existing clients expect: an empty commit
    assert there.message == "mine"
    assert sorted(there.metadata) == ["cherry-pick-committer", "cherry-pick-origin"]
    assert there.metarange_id == made.metarange_id


async def test_cherry_picks_that_are_refused() -> None:
    engine = await make_engine()
    tip = await merged(engine)
    empty = await commit(engine, branch="dev", allow_empty=True)
    await fails(pick(engine, empty.id), errors.NoChangesError)
    await fails(pick(engine, tip.id, "dev"), errors.InvalidRequestError)
    await fails(pick(engine, tip.id, "dev", parent_number=3), errors.InvalidRequestError)
    await fails(pick(engine, (await history(engine))[-1].id, "dev"), errors.InvalidRequestError)
    await fails(pick(engine, "nothing"), errors.RefNotFoundError)
    await fails(pick(engine, "dev", "nothing"), errors.BranchNotFoundError)
    await pick(engine, tip.id, "dev", parent_number=2)
    assert await content(engine, "dev") == {"a": "1", "b": "2", "c": "1"}


async def test_a_hard_reset_moves_the_branch_and_keeps_the_commits() -> None:
    engine = await make_engine()
    first = await put_commit(engine, {"a": "1"})
    second = await put_commit(engine, {"a": "2"})
    moved = await engine.branches.hard_reset(REPO, "main", "main~1")
    assert moved.commit_id == first.id
    assert await content(engine) == {"a": "1"}
    assert await content(engine, second.id) == {"a": "2"}
    await engine.branches.hard_reset(REPO, "main", second.id)
    assert await content(engine) == {"a": "2"}
    await fails(engine.branches.hard_reset(REPO, "main", "nothing"), errors.RefNotFoundError)
    await fails(engine.branches.hard_reset(REPO, "main", "main$"), errors.InvalidRefError)
    await fails(engine.branches.hard_reset(REPO, "nothing", "main"), errors.BranchNotFoundError)


VERBS: dict[str, Callable[[Engine], Awaitable[object]]] = {
    "revert": lambda engine: revert(engine, "main"),
    "cherry-pick": lambda engine: pick(engine, "dev"),
    "hard reset": lambda engine: engine.branches.hard_reset(REPO, "main", "main~1"),
}


async def prepared(kv: HookedKV) -> Engine:
    """`main` whose last commit set `a` to 2 and `dev` whose last one set `d`."""
    engine = await make_engine(kv)
    await put_commit(engine, {"a": "1"})
    await engine.branches.create(REPO, "dev", "main")
    await put_commit(engine, {"a": "2"})
    await put_commit(engine, {"d": "1"}, "dev")
    return engine


def done(verb: str, found: dict[str, str]) -> bool:
    """Whether the verb is to be seen in a state of `main`."""
    return found.get("d") == "1" if verb == "cherry-pick" else found.get("a") == "1"


@pytest.mark.parametrize("verb", VERBS)
async def test_uncommitted_changes_refuse_the_verb(verb: str) -> None:
    engine = await prepared(HookedKV(MemoryKV()))
    await put(engine, "z", "staged")
    await fails(VERBS[verb](engine), errors.DirtyBranchError)
    assert await content(engine) == {"a": "2", "z": "staged"}
    await engine.branches.reset(REPO, "main")
    await VERBS[verb](engine)
    assert done(verb, await content(engine))


@pytest.mark.parametrize("verb", VERBS)
async def test_a_row_staged_at_any_moment_is_not_overtaken(verb: str) -> None:
    async def job(at: int) -> bool:
        kv = HookedKV(MemoryKV())
        engine = await prepared(kv)
        kv.calls, reached = 0, False

        async def hook(name: str, what: Any) -> None:
            nonlocal reached
            if kv.calls == at:
                reached = True
                await put(engine, "a", "mine")

        kv.before = hook
        try:
            await VERBS[verb](engine)
            kv.before = None
            assert done(verb, await content(engine, "main@"))
        except errors.DirtyBranchError:
            kv.before = None
            assert await content(engine, "main@") == {"a": "2"}
        if reached:
            assert (await content(engine))["a"] == "mine"
        return reached

    at = 1
    while await job(at):
        at += 1
    assert at > 4


@pytest.mark.parametrize("verb", VERBS)
async def test_concurrent_commit_at_any_moment_is_not_lost(verb: str) -> None:
    """It is in the history afterwards, or it came first and the verb worked on top of it. A hard reset may drop it."""

    async def job(at: int) -> bool:
        kv = HookedKV(MemoryKV())
        engine = await prepared(kv)
        kv.calls, rival = 0, ""

        async def hook(name: str, what: Any) -> None:
            nonlocal rival
            if kv.calls == at:
                rival = (await put_commit(engine, {"r": "1"})).id

        kv.before = hook
        try:
            made = await VERBS[verb](engine)
        except errors.DirtyBranchError:  # as it was in the midst of the other's work
            kv.before = None
            assert await content(engine) == {"a": "2", "r": "1"}
            return True
        kv.before = None
        found = [one.id for one in await history(engine)]
        if verb != "hard reset":
            assert isinstance(made, Commit)
            assert made.id in found
            assert not rival or rival in found
        elif rival:  # `main~1` is a step back from what the swap replaced, never two
            assert await content(engine) in ({"a": "1"}, {"a": "2"}, {"a": "1", "r": "1"})
            assert "r" in await content(engine, rival)
        return bool(rival)

    at = 1
    while await job(at):
        at += 1
    assert at > 4


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("rival", ["nothing", "commit", "reset"])
@pytest.mark.parametrize("how", ["before", "after"])
async def test_a_lost_answer_is_settled_and_nothing_happens_twice(verb: str, rival: str, how: str) -> None:
    kv = LossyKV(MemoryKV(), lambda _: "")
    engine = await prepared(kv)
    length = len(await history(engine))

    def lose(_: Batch) -> str:
        return how if not kv._inside and not kv.lost else ""

    acted = False

    async def hook(*_: Any) -> None:
        nonlocal acted
        if kv.lost and not acted and rival != "nothing":
            acted = True
            if rival == "commit":
                await put_commit(engine, {"r": "1"})
            else:
                await engine.branches.reset(REPO, "main")

    kv.before, kv.lose = hook, lose
    await VERBS[verb](engine)
    kv.before, kv.lose = None, lambda _: ""
    assert kv.lost == 1
    found = await content(engine, "main@")
    if verb == "hard reset" and rival == "commit":
        # it landed before the commit, or else once more after it; in no case was the commit half taken back
        assert found in ({"a": "1", "r": "1"}, {"a": "2"}), found
        return
    assert done(verb, found), found
    steps = {"hard reset": -1}.get(verb, 1) + (rival == "commit")
    assert len(await history(engine)) == length + steps
    assert ("r" in found) == (rival == "commit")
