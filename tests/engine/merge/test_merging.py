"""Merges through the engine: the matrix of three sides, options, dirty branches, bases."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from lakebed_engine.engine import Engine
from lakebed_engine.operations.context import encode, open_repo
from lakebed_engine.operations.keys import commit_key
from lakebed_engine.stores.kv.base import Batch, Put
from lakebed_engine.stores.kv.memory import MemoryKV
from lakebed_engine.vocabulary import errors
from lakebed_engine.vocabulary.records import Commit
from lakebed_engine.vocabulary.requests import MergeRequest
from lakebed_format.keys import COMMITS

from tests.engine.calls import crash_after_seal
from tests.engine.support import (
    REPO,
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

SIDES = [None, "A", "B", "C"]
MATRIX = list(itertools.product(SIDES[:2], SIDES, SIDES))  # the base's own text does not matter


@pytest.mark.parametrize("strategy", ["", "dest-wins", "source-wins"])
async def test_every_combination_of_three_sides(strategy: str) -> None:
    engine = await make_engine()
    names = [f"{b}-{s}-{d}" for b, s, d in MATRIX]
    first: dict[str, str | None] = {n: b for n, (b, _, _) in zip(names, MATRIX, strict=True) if b}
    await put_commit(engine, first | {"keep": "k"})
    await engine.branches.create(REPO, "dev", "main")
    await put_commit(engine, {n: s for n, (b, s, _) in zip(names, MATRIX, strict=True) if s != b}, "dev")
    await put_commit(engine, {n: d for n, (b, _, d) in zip(names, MATRIX, strict=True) if d != b})
    conflicts = sorted(n for n, (b, s, d) in zip(names, MATRIX, strict=True) if s not in (b, d) and d != b)
    assert len(conflicts) > 5
    before = await content(engine)
    if not strategy:
        error = await fails(merge(engine, "dev"), errors.MergeConflictError)
        assert isinstance(error, errors.MergeConflictError)
        assert [one.path for one in error.conflicts] == conflicts
        page = await fails(
            merge(engine, "dev", conflicts_after=conflicts[1], conflicts_amount=2), errors.MergeConflictError
        )
        assert isinstance(page, errors.MergeConflictError)
        assert ([one.path for one in page.conflicts], page.has_more) == (conflicts[2:4], True)
        none = await fails(merge(engine, "dev", conflicts_after="z"), errors.MergeConflictError)
        assert isinstance(none, errors.MergeConflictError)
        assert (none.conflicts, none.has_more) == ((), False)
        assert await content(engine) == before
        return
    made = await merge(engine, "dev", strategy=strategy)
    wanted = {"keep": "k"}
    for name, (b, s, d) in zip(names, MATRIX, strict=True):
        text = d if s in (b, d) else s if d == b or strategy == "source-wins" else d
        if text:
            wanted[name] = text
    assert await content(engine) == dict(sorted(wanted.items()))
    assert made.metadata == {".lakefs.merge.strategy": strategy}


async def test_the_merge_commit() -> None:
    engine = await make_engine()
    await engine.branches.create(REPO, "dev", "main")
    ours = await put_commit(engine, {"a": "1"})
    theirs = await put_commit(engine, {"b": "1"}, "dev")
    made = await merge(engine, "dev", metadata={"k": "v"})
    assert made.parents == (ours.id, theirs.id)
    assert made.message == "Merge 'dev' into 'main'"
    assert made.metadata == {"k": "v", ".lakefs.merge.strategy": "default"}
    assert made.generation == 3
    assert (await engine.branches.get(REPO, "main")).commit_id == made.id
    await fails(merge(engine, "dev"), errors.NoChangesError)
    await fails(merge(engine, "main"), errors.NoChangesError)
    again = await merge(engine, "dev", allow_empty=True, message="m")
    assert (again.parents, again.message) == ((made.id, theirs.id), "m")
    assert (await merge(engine, "dev", force=True)).metarange_id == made.metarange_id
    forward = await merge(engine, "main", "dev")
    assert forward.parents[0] == theirs.id
    assert await content(engine, "dev") == {"a": "1", "b": "1"}


async def test_a_squash_has_one_parent() -> None:
    engine = await make_engine()
    await engine.branches.create(REPO, "dev", "main")
    await put_commit(engine, {"b": "1"}, "dev")
    head = await engine.commits.get(REPO, "main")
    assert (await merge(engine, "dev", squash=True)).parents == (head.id,)
    assert await content(engine) == {"b": "1"}


async def test_a_merge_of_an_emptied_source_into_the_first_commit() -> None:
    engine = await make_engine()
    await engine.branches.create(REPO, "dev", "main")
    first = await engine.commits.get(REPO, "main")
    await put_commit(engine, {"a": "1"}, "dev")
    theirs = await put_commit(engine, {"a": None}, "dev")
    made = await merge(engine, "dev", message="m")
    assert (made.parents, made.message) == ((first.id, theirs.id), "m")
    assert await content(engine) == {}
    await fails(merge(engine, "dev"), errors.NoChangesError)
    await engine.branches.create(REPO, "same", first.id)
    await fails(merge(engine, first.id, "same"), errors.NoChangesError)


async def test_a_merge_of_an_unchanged_destination_is_the_source_tree() -> None:
    engine = await make_engine()
    await put_commit(engine, {"a": "1", "b": "1"})
    await engine.branches.create(REPO, "dev", "main")
    theirs = await put_commit(engine, {"b": None, "c": "1"}, "dev")
    made = await merge(engine, "dev")
    assert made.metarange_id == theirs.metarange_id
    assert await content(engine) == {"a": "1", "c": "1"}

    await engine.branches.create(REPO, "undone", "main")
    await put_commit(engine, {"d": "1"}, "undone")
    await put_commit(engine, {"d": None}, "undone")
    await fails(merge(engine, "undone"), errors.NoChangesError)
    assert (await merge(engine, "undone", allow_empty=True)).metarange_id == made.metarange_id

    # the newest change was undone, an older one was not: only the whole diff finds it
    await put_commit(engine, {"d": "1", "e": "1"}, "undone")
    await put_commit(engine, {"d": None}, "undone")
    await merge(engine, "undone")
    assert await content(engine) == {"a": "1", "c": "1", "e": "1"}


async def test_refused_requests() -> None:
    engine = await make_engine()
    await put_commit(engine, {"a": "1"})
    await engine.branches.create(REPO, "dev", "main")
    await put_commit(engine, {"a": "2"}, "dev")
    await fails(merge(engine, "dev", strategy="ours"), errors.InvalidRequestError)
    await fails(merge(engine, "nope"), errors.RefNotFoundError)
    await fails(merge(engine, "dev", "nope"), errors.BranchNotFoundError)
    await fails(merge(engine, "dev$"), errors.InvalidRefError)
    await fails(merge(engine, "dev", "main~1"), errors.BranchNotFoundError)
    for amount in (0, -1, 1001):
        await fails(merge(engine, "dev", conflicts_amount=amount), errors.InvalidRequestError)
    await fails(
        engine.commits.merge("nope", "dev", "main", MergeRequest(committer="a")), errors.RepositoryNotFoundError
    )


@pytest.mark.parametrize("layer", [False, True])
@pytest.mark.parametrize("rows", [{"a": "2"}, {"new": "1"}, {"a": None}])
async def test_a_dirty_destination_is_refused(layer: bool, rows: dict[str, str | None]) -> None:
    engine = await make_engine()
    await put_commit(engine, {"a": "1"})
    await engine.branches.create(REPO, "dev", "main")
    await put_commit(engine, {"b": "1"}, "dev")
    for path, text in rows.items():
        await (put(engine, path, text) if text else engine.objects.delete(REPO, "main", path))
    if layer:
        await crash_after_seal(engine)
    await fails(merge(engine, "dev"), errors.DirtyBranchError)
    await fails(merge(engine, "dev", force=True), errors.DirtyBranchError)
    assert len(await history(engine)) == 2
    await engine.branches.reset(REPO, "main")
    await merge(engine, "dev")


@pytest.mark.parametrize("layers", ["none", "all", "some", "reset"])
async def test_staged_rows_equal_to_the_head_do_not_block_a_merge(layers: str) -> None:
    engine = await make_engine()
    await put_commit(engine, {"a": "1"})
    await engine.branches.create(REPO, "dev", "main")
    await put_commit(engine, {"b": "1"}, "dev")
    if layers == "reset":
        await put(engine, "a", "2")
        await crash_after_seal(engine)
        await engine.branches.reset_object(REPO, "main", "a")
    else:
        await put(engine, "a", "1")
        if layers != "none":
            await crash_after_seal(engine)
        if layers != "all":
            await engine.objects.delete(REPO, "main", "nothing")
    await merge(engine, "dev")
    assert await content(engine) == {"a": "1", "b": "1"}
    assert not (await engine.branches.get(REPO, "main")).layers
    await fails(commit(engine), errors.NoChangesError)


@pytest.mark.parametrize("no_op", [False, True])
async def test_a_row_staged_just_before_the_swap_is_not_overtaken(no_op: bool) -> None:
    async def prepared() -> tuple[HookedKV, Engine]:
        kv = HookedKV(MemoryKV())
        engine = await make_engine(kv)
        await put_commit(engine, {"a": "1"})
        await engine.branches.create(REPO, "dev", "main")
        await put_commit(engine, {"a": "2"}, "dev")
        if no_op:  # to be trimmed away by the merge
            await put(engine, "a", "1")
        return kv, engine

    async def job(at: int) -> bool:
        kv, engine = await prepared()
        kv.calls, reached = 0, False

        async def hook(name: str, what: Any) -> None:
            nonlocal reached
            if kv.calls == at:
                reached = True
                await put(engine, "a", "mine")

        kv.before = hook
        try:
            await merge(engine, "dev")
            kv.before = None
        except errors.DirtyBranchError:
            kv.before = None
            assert await content(engine, "main@") == {"a": "1"}
        if reached:
            # staged before the merge: refused; staged after it: still staged on top of the merge
            assert await content(engine) == {"a": "mine"}
            merged = (await content(engine, "main@"))["a"] == "2"
            assert not merged or at > last_apply
        return reached

    async def applies() -> int:
        """The call in which an undisturbed merge swaps the record."""
        kv, engine = await prepared()
        kv.calls, found = 0, 0

        async def hook(name: str, what: Any) -> None:
            nonlocal found
            found = kv.calls if name == "apply" else found

        kv.before = hook
        await merge(engine, "dev")
        return found

    last_apply = await applies()
    at = 1
    while await job(at):
        at += 1
    assert at > 5


async def test_unrelated_histories() -> None:
    kv = MemoryKV()
    engine = await make_engine(kv)
    await put_commit(engine, {"a": "1"})
    repo = await open_repo(engine.context, REPO)
    alone = Commit(
        id="f" * 64,
        parents=(),
        committer="",
        message="",
        creation_date=0,
        metarange_id="",
        metadata={},
        generation=9,
    )
    await kv.apply(Batch(puts=[Put(repo.partition, commit_key(alone.id), encode(alone))]))
    await fails(merge(engine, alone.id), errors.NoMergeBaseError)
    await fails(engine.commits.merge_base(REPO, alone.id, "main"), errors.NoMergeBaseError)
    await fails(engine.commits.diff(REPO, alone.id, "main"), errors.NoMergeBaseError)
    assert (await engine.commits.diff(REPO, alone.id, "main", mode="two_dot")).items


async def test_every_commit_is_also_in_the_object_store() -> None:
    from lakebed_format import decode_commit

    engine = await make_engine()
    await engine.branches.create(REPO, "dev", "main")
    await put_commit(engine, {"a": "1"}, metadata={"k": "v"}, date=-5)
    await put_commit(engine, {"b": "1"}, "dev")
    await merge(engine, "dev")
    store = (await open_repo(engine.context, REPO)).store
    for one in await history(engine):
        found_id, record = decode_commit(await store.get(f"{COMMITS}{one.id}.json"))
        assert (found_id, record.parents, record.generation) == (one.id, one.parents, one.generation)
        assert (record.metarange_id, record.metadata) == (one.metarange_id, one.metadata)
