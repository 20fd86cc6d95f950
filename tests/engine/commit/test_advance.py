"""Commit of a workspace: policies, overlaps, claims, partial commits, races and lost answers (PROTOCOL.md 3 and 5)."""

from __future__ import annotations

import asyncio
import hashlib
import random
from collections.abc import Awaitable, Callable
from pathlib import Path

import msgspec
import pytest
from lakebed_engine.engine import Engine
from lakebed_engine.stores.kv.base import Batch, KVStore, Put
from lakebed_engine.stores.kv.memory import MemoryKV
from lakebed_engine.stores.kv.sqlite.store import SqliteKV
from lakebed_engine.stores.objects.registry import Stores
from lakebed_engine.vocabulary import errors
from lakebed_engine.vocabulary.records import Commit, Workspace
from lakebed_engine.vocabulary.requests import AdvanceRequest

from tests.engine.layering import World, just_seal
from tests.engine.support import (
    REPO,
    LossyKV,
    commit,
    content,
    fails,
    history,
    losing,
    make_engine,
    merge,
    new_engine,
    put,
    put_commit,
)
from tests.engine.workspacing import advance, now, register, store_of, workspace, write_below
from tests.support.sampling import after


async def base() -> tuple[Engine, Workspace]:
    """A branch with two tables, and an empty workspace on its head."""
    engine = await make_engine()
    await put_commit(engine, {"a": "1", "orders/1": "o1", "orders/2": "o2", "z": "26"})
    return engine, await workspace(engine)


async def test_a_commit_is_the_delta_on_the_head() -> None:
    engine, ws = await base()
    await register(engine, ws, {"b": "2", "a": None})
    await put(engine, "z", "27", ws.name)
    head = await engine.commits.get(REPO, "main")
    made = await advance(engine, ws, metadata={"k": "v"}, date=7)
    assert (made.parents, made.message, made.metadata, made.creation_date) == ((head.id,), "w", {"k": "v"}, 7)
    assert await engine.commits.get(REPO, "main") == made
    assert await content(engine) == {"b": "2", "orders/1": "o1", "orders/2": "o2", "z": "27"}
    found = await now(engine, ws)
    assert (found.state, found.result, found.layers, found.staging_token) == ("committed", made.id, (), "")


async def test_the_message_falls_back_to_that_of_the_workspace() -> None:
    engine, _ = await base()
    ws = await workspace(engine, message="load orders")
    await put(engine, "b", "2", ws.name)
    assert (await advance_plain(engine, ws)).message == "load orders"


async def advance_plain(engine: Engine, ws: Workspace) -> Commit:
    from lakebed_engine.vocabulary.requests import AdvanceRequest

    return await engine.workspaces.commit(REPO, ws.name, AdvanceRequest(committer="ann"))


@pytest.mark.parametrize("policy", ["abort", "rebase", "overwrite"])
@pytest.mark.parametrize("moved", ["not", "disjoint", "overlap", "same"])
async def test_policies_when_the_branch_has_moved(policy: str, moved: str) -> None:
    engine, ws = await base()
    start = ws.commit_id
    await put(engine, "a", "mine", ws.name)
    theirs = {"not": {}, "disjoint": {"b": "2"}, "overlap": {"a": "theirs"}, "same": {"a": "mine"}}[moved]
    if theirs:
        await put_commit(engine, dict(theirs))
    allowed = moved == "not" or policy == "overwrite" or (policy == "rebase" and moved == "disjoint")
    if allowed and moved == "same":
        await fails(advance(engine, ws, policy), errors.NoChangesError)
        return
    if allowed:
        made = await advance(engine, ws, policy)
        assert (await content(engine)).items() >= {**theirs, "a": "mine"}.items()
        assert made.id == (await engine.commits.get(REPO, "main")).id
        return
    before = await engine.commits.get(REPO, "main")
    error = await fails(advance(engine, ws, policy), errors.ConcurrentCommitError)
    assert isinstance(error, errors.ConcurrentCommitError)
    assert [one.path for one in error.conflicts] == ([] if moved == "disjoint" else ["a"])
    if moved == "overlap":
        values = error.conflicts[0]
        entries = [await engine.objects.stat(REPO, ref, "a") for ref in (start, "main", ws.name)]
        assert (values.base, values.ours, values.theirs) == tuple(one.checksum for one in entries)
    assert await engine.commits.get(REPO, "main") == before
    assert (await now(engine, ws)).state == "open"
    if moved != "same":
        await advance(engine, ws, "overwrite")
        assert (await content(engine))["a"] == "mine"


async def test_conflicts_are_reported_up_to_the_amount() -> None:
    async def job(amount: int, paths: int) -> None:
        engine, ws = await base()
        rows: dict[str, str | None] = {f"p{number:03}": "1" for number in range(paths)}
        await register(engine, ws, rows)
        await put_commit(engine, dict(rows))
        error = await fails(advance(engine, ws, conflicts_amount=amount), errors.ConcurrentCommitError)
        assert isinstance(error, errors.ConcurrentCommitError)
        assert [one.path for one in error.conflicts] == sorted(rows)[:amount]
        assert error.has_more == (paths > amount)
        assert {one.base for one in error.conflicts} == {None}

    await job(3, 3)
    await job(3, 4)
    await job(100, 90)  # more than are looked up one by one


async def test_a_large_rebase_compares_trees() -> None:
    engine, ws = await base()
    await register(engine, ws, {f"w/{number:03}": "1" for number in range(150)})
    await put_commit(engine, {f"v/{number:03}": "1" for number in range(30)})
    await put_commit(engine, {"x": "1"})
    await advance(engine, ws)
    assert len(await content(engine)) == 4 + 150 + 30 + 1


# uncommitted changes of the branch


@pytest.mark.parametrize("sealed", [False, True])
@pytest.mark.parametrize("policy", ["rebase", "overwrite"])
@pytest.mark.parametrize("moved", [False, True])
async def test_an_older_staged_write_to_the_same_path_is_refused(sealed: bool, policy: str, moved: bool) -> None:
    engine, ws = await base()
    await put(engine, "a", "staged")
    if sealed:
        await just_seal(engine)
        await put(engine, "c", "other")
    if moved:
        await engine.branches.create(REPO, "dev", "main")
        other = await workspace(engine)
        await put(engine, "y", "25", other.name)
        await advance(engine, other)
    await put(engine, "a", "mine", ws.name)
    error = await fails(advance(engine, ws, policy), errors.DirtyOverlapError)
    assert isinstance(error, errors.DirtyOverlapError)
    assert [one.path for one in error.conflicts] == ["a"]
    assert (error.kind, isinstance(error, errors.DirtyBranchError)) == ("dirty_overlap", True)
    values = [(await engine.objects.stat(REPO, ref, "a")).checksum for ref in ("main@", "main", ws.name)]
    assert [error.conflicts[0].base, error.conflicts[0].ours, error.conflicts[0].theirs] == values
    await engine.branches.reset_object(REPO, "main", "a")
    if sealed or moved:  # the layer's row now equals the head, and is still staged
        await engine.branches.reset(REPO, "main")
    await advance(engine, ws, policy)
    assert (await content(engine))["a"] == "mine"


async def test_disjoint_uncommitted_changes_stay_as_they_are() -> None:
    engine, ws = await base()
    await put(engine, "b", "staged")
    await just_seal(engine)
    await engine.objects.delete(REPO, "main", "z")
    await put(engine, "a", "mine", ws.name)
    await advance(engine, ws)
    assert await content(engine) == {"a": "mine", "b": "staged", "orders/1": "o1", "orders/2": "o2"}
    assert (await content(engine, "main@"))["a"] == "mine"
    await commit(engine)
    assert await content(engine, "main@") == {"a": "mine", "b": "staged", "orders/1": "o1", "orders/2": "o2"}


async def test_a_staged_tombstone_overlaps_too() -> None:
    engine, ws = await base()
    await engine.objects.delete(REPO, "main", "a")
    await put(engine, "a", "mine", ws.name)
    await fails(advance(engine, ws), errors.DirtyOverlapError)


async def test_a_write_staged_while_the_tree_is_folded_is_noticed() -> None:
    """The last batch checks the paths: the write was acknowledged before the commit, and would hide it."""
    world = World()
    engine = await world.start()
    await put_commit(engine, {"a": "1"})
    ws = await workspace(engine)
    await put(engine, "a", "mine", ws.name)

    async def hook(what: str) -> None:
        if what.startswith("put _lakebed/commits/"):
            await put(engine, "a", "staged")

    world.hook = hook
    await fails(advance(engine, ws), errors.DirtyOverlapError)
    world.hook = None
    assert await content(engine) == {"a": "staged"}
    assert await content(engine, "main@") == {"a": "1"}


# claims and replaced prefixes


@pytest.mark.parametrize("how", ["created", "replace"])
@pytest.mark.parametrize("rival", ["commit", "staged", "elsewhere"])
async def test_a_claimed_prefix_against_a_concurrent_append(how: str, rival: str) -> None:
    engine, _ = await base()
    ws = await workspace(engine, claims=("orders/",) if how == "created" else ())
    await put(engine, "orders/new", "n", ws.name)
    if rival == "commit":
        await put_commit(engine, {"orders/3": "appended"})
    elif rival == "staged":
        await put(engine, "orders/3", "appended")
    else:
        await put_commit(engine, {"orders2": "x", "order": "y"})
    replaced = ("orders/",) if how == "replace" else ()
    if rival == "elsewhere":
        await advance(engine, ws, replace_prefix=replaced)
        left = {"orders/new"} if how == "replace" else {"orders/1", "orders/2", "orders/new"}
        assert set(await content(engine)) == {"a", "z", "order", "orders2", *left}
        return
    kind = errors.ConcurrentCommitError if rival == "commit" else errors.DirtyOverlapError
    error = await fails(advance(engine, ws, replace_prefix=replaced), kind)
    assert isinstance(error, errors.PathsConflictError)
    assert [(one.path, one.base, one.theirs) for one in error.conflicts] == [("orders/3", None, None)]


async def test_a_replaced_prefix_holds_what_the_workspace_has_and_nothing_else() -> None:
    engine, ws = await base()
    await put_commit(engine, {"orders/old/3": "o3"})
    await put(engine, "orders/2", "new", ws.name)
    await advance(engine, ws, "overwrite", replace_prefix=("orders/", "orders/old/"))
    assert await content(engine) == {"a": "1", "orders/2": "new", "z": "26"}
    ws = await workspace(engine)
    await advance(engine, ws, replace_prefix=("orders/",))  # with nothing: the table is emptied
    assert await content(engine) == {"a": "1", "z": "26"}


# partial commits


async def test_a_part_is_committed_and_the_rest_goes_on() -> None:
    engine, ws = await base()
    await register(engine, ws, {"x/a.parquet": "p", "x/b.json": "j", "x/tmp/c.parquet": "t", "a": None})
    first = await advance(engine, ws, "rebase", "*.parquet", "!x/tmp/**")
    assert set(await content(engine)) == {"a", "orders/1", "orders/2", "z", "x/a.parquet"}
    found = await now(engine, ws)
    assert (found.state, found.commit_id, found.old_prefixes) == ("open", first.id, (ws.prefix,))
    assert found.prefix == f"workspaces/{ws.uid}.1/"  # objects below the old prefix now belong to a commit
    assert set(await content(engine, ws.name)) == {
        "orders/1", "orders/2", "z", "x/a.parquet", "x/b.json", "x/tmp/c.parquet",
    }  # fmt: skip
    await register(engine, found, {"x/a.parquet": "again"})
    assert (await content(engine))["x/a.parquet"] == "p"
    second = await advance(engine, ws)
    assert second.parents == (first.id,)
    assert await content(engine) == {
        "orders/1": "o1", "orders/2": "o2", "x/a.parquet": "again", "x/b.json": "j", "x/tmp/c.parquet": "t",
        "z": "26",
    }  # fmt: skip


@pytest.mark.parametrize("globs", [("*.csv",), ("a", "*.csv"), ("*", "!nothing")])
async def test_a_glob_that_matches_nothing_is_an_error(globs: tuple[str, ...]) -> None:
    engine, ws = await base()
    await put(engine, "a", "mine", ws.name)
    error = await fails(advance(engine, ws, "rebase", *globs), errors.InvalidRequestError)
    assert globs[-1] in str(error)
    await fails(engine.workspaces.revert(REPO, ws.uid, globs), errors.InvalidRequestError)
    assert (await content(engine, ws.name))["a"] == "mine"


@pytest.mark.parametrize("glob", ["", "#x", "!", "a\\", "[z-a]", "\ud800"])
async def test_invalid_globs_are_refused(glob: str) -> None:
    engine, ws = await base()
    await put(engine, "a", "mine", ws.name)
    await fails(advance(engine, ws, "rebase", glob), errors.InvalidRequestError)


async def test_a_part_is_not_committed_when_the_rest_would_lose_its_base() -> None:
    """The rest gets the new commit as its base. A change of its path by another commit would go unnoticed."""
    engine, ws = await base()
    await register(engine, ws, {"a": "mine", "z": "mine"})
    await put_commit(engine, {"z": "theirs"})
    error = await fails(advance(engine, ws, "rebase", "a"), errors.ConcurrentCommitError)
    assert isinstance(error, errors.ConcurrentCommitError)
    assert [one.path for one in error.conflicts] == ["z"]
    await engine.workspaces.revert(REPO, ws.uid, ["z"])
    await advance(engine, ws, "rebase", "a")
    assert (await content(engine))["z"] == "theirs"


async def test_the_rest_counts_also_when_trees_are_compared() -> None:
    engine, ws = await base()
    await register(engine, ws, {f"w/{number:03}": "1" for number in range(100)})
    await put_commit(engine, {"w/050": "theirs", "x": "1"})
    error = await fails(advance(engine, ws, "rebase", "/w/00*"), errors.ConcurrentCommitError)
    assert isinstance(error, errors.ConcurrentCommitError)
    assert [one.path for one in error.conflicts] == ["w/050"]


async def test_rows_staged_during_a_partial_commit_stay_in_the_workspace() -> None:
    world = World()
    engine = await world.start()
    await put_commit(engine, {"a": "1"})
    ws = await workspace(engine)
    await put(engine, "a", "mine", ws.name)
    await put(engine, "b", "rest", ws.name)

    async def hook(what: str) -> None:
        if what.startswith("put _lakebed/commits/"):
            world.hook = None
            await put(engine, "a", "later", ws.name)

    world.hook = hook
    await advance(engine, ws, "rebase", "a")
    assert await content(engine) == {"a": "mine"}
    assert await content(engine, ws.name) == {"a": "later", "b": "rest"}


# nothing to commit, closed, idempotency


async def test_nothing_to_commit() -> None:
    engine, ws = await base()
    await fails(advance(engine, ws), errors.NoChangesError)
    same = await engine.objects.stat(REPO, "main", "a")
    await engine.branches.push(REPO, ws.name, [("a", same), ("nothing", None)])
    await fails(advance(engine, ws), errors.NoChangesError)
    assert (await now(engine, ws)).state == "open"
    made = await advance(engine, ws, allow_empty=True)
    assert (await history(engine))[0] == made


async def test_the_branch_must_be_there() -> None:
    engine, _ = await base()
    await engine.branches.create(REPO, "dev", "main")
    ws = await workspace(engine, "dev")
    await put(engine, "b", "2", ws.name)
    await engine.branches.delete(REPO, "dev")
    await fails(advance(engine, ws), errors.BranchNotFoundError)
    await engine.branches.create(REPO, "dev", "main")
    await advance(engine, ws)
    assert (await content(engine, "dev"))["b"] == "2"


async def test_invalid_advance_options_are_refused() -> None:
    engine, ws = await base()
    for options in (
        {"policy": "maybe"}, {"replace_prefix": ("",)}, {"replace_prefix": ("x",) * 101}, {"date": 1 << 70},
        {"idempotency_key": "k" * 257}, {"idempotency_key": "\ud800"}, {"conflicts_amount": 0},
    ):  # fmt: skip
        with pytest.raises(errors.InvalidRequestError):
            await advance(engine, ws, **options)


@pytest.mark.parametrize("part", [False, True])
async def test_the_same_key_gives_the_same_commit(part: bool) -> None:
    engine, ws = await base()
    await register(engine, ws, {"b": "2", "c": "3"})
    globs = ("b",) if part else ()
    made = await advance(engine, ws, "rebase", *globs, idempotency_key="k1")
    assert await advance(engine, ws, "rebase", *globs, idempotency_key="k1") == made
    assert len(await history(engine)) == 3
    await fails(advance(engine, ws, "abort", *globs, idempotency_key="k1"), errors.KeyReusedError)
    if part:
        other = await advance(engine, ws, idempotency_key="k2")
        assert (await history(engine))[:2] == [other, made]
    await fails(advance(engine, ws, idempotency_key="k3"), errors.WorkspaceClosedError)


@pytest.mark.parametrize("part", [False, True])
async def test_a_key_that_0_1_0_wrote_is_known(part: bool) -> None:
    engine, ws = await base()
    await register(engine, ws, {"b": "2", "c": "3"})
    globs = ("b",) if part else ()
    made = await advance(engine, ws, "rebase", *globs)
    request = AdvanceRequest(
        committer="ann", message="w", idempotency_key="k", globs=globs, conflicts_amount=1, allow_empty=True
    )
    asked = hashlib.sha256(msgspec.json.encode(request, order="deterministic")).hexdigest()
    partition = f"repo/{(await engine.repositories.get(REPO)).uid}"
    row = msgspec.json.encode({"commit_id": made.id, "asked": asked})
    await engine.context.kv.apply(Batch(puts=[Put(partition, f"idempotency/{ws.uid}/k".encode(), row)]))
    assert await engine.workspaces.commit(REPO, ws.uid, request) == made
    other = msgspec.structs.replace(request, message="another")
    await fails(engine.workspaces.commit(REPO, ws.uid, other), errors.KeyReusedError)
    assert len(await history(engine)) == 3


async def test_concurrent_calls_with_one_idempotency_key_make_one_commit() -> None:
    async def job(kv: KVStore, path: Path | None = None) -> None:
        engines = [await make_engine(kv)]
        engines += [new_engine(kv, engines[0].context.stores) for _ in range(3)]  # as other processes
        await put_commit(engines[0], {"a": "1"})
        ws = await workspace(engines[0])
        await put(engines[0], "b", "2", ws.name)
        made = await asyncio.gather(*(advance(one, ws, idempotency_key="k") for one in engines for _ in range(2)))
        assert len({one.id for one in made}) == 1
        assert len(await history(engines[0])) == 3

    await job(MemoryKV())


async def test_committed_workspace_leaves_a_marker_object() -> None:
    engine, ws = await base()
    await put(engine, "b", "2", ws.name)
    made = await advance(engine, ws)
    store = await store_of(engine)
    text = await store.get(f"workspaces/{ws.uid}.committed")
    assert made.id.encode() in text
    await store.delete([f"workspaces/{ws.uid}.committed"])
    await engine.maintenance.clean()  # the janitor then has only its row to remove
    assert [blob.key async for blob in store.list("workspaces/")] == []
    other = new_engine(engine.context.kv, engine.context.stores)
    ws = await workspace(other)
    await put(other, "c", "3", ws.name)

    async def broken(*_: object, **__: object) -> None:
        raise errors.StoreUnavailableError("no")

    kept = store.put
    made = await _with_broken_markers(other, ws, store, broken)
    store.put = kept  # type: ignore[method-assign]
    assert [blob.key async for blob in store.list("workspaces/")] == []
    await other.maintenance.clean()
    assert made.id.encode() in await store.get(f"workspaces/{ws.uid}.committed")


async def _with_broken_markers(
    engine: Engine, ws: Workspace, store: object, broken: Callable[..., Awaitable[None]]
) -> Commit:
    kept = store.put  # type: ignore[attr-defined]

    async def put_but_markers(key: str, data: bytes, **how: bool) -> None:
        await (broken() if key.endswith(".committed") else kept(key, data, **how))

    store.put = put_but_markers  # type: ignore[attr-defined]
    return await advance(engine, ws)


# races


RIVALS: dict[str, Callable[[Engine, Workspace], Awaitable[object]]] = {
    "commit elsewhere": lambda e, _: put_commit(e, {"r": "rival"}),
    "push elsewhere": lambda e, _: e.branches.push(REPO, "main", [("r", None)]),
    "merge": lambda e, _: merge(e, "dev", "main"),
    "row in the workspace": lambda e, ws: put(e, "late", "late", ws.name),
    "renewal": lambda e, ws: e.workspaces.renew(REPO, ws.uid, 1000),
    "compaction": lambda e, ws: e.branches.compact(REPO, ws.name, least=2),
    "compaction and cleaning": lambda e, ws: _compact_and_clean(e, ws),  # noqa: PLW0108 - defined below
    "the same call": lambda e, ws: advance(e, ws, idempotency_key="k"),
    "the same empty call": lambda e, ws: advance(e, ws, idempotency_key="k", allow_empty=True),
    "another caller": lambda e, ws: advance(e, ws),  # noqa: PLW0108 - its other arguments have defaults
    "drop": lambda e, ws: e.workspaces.delete(REPO, ws.uid),
    "pop": lambda e, ws: e.workspaces.pop(REPO, ws.uid),
    "reset": lambda e, _: e.branches.reset(REPO, "main"),
}


ENDS = ("drop", "pop", "another caller")
COMPACTIONS = ("compaction", "compaction and cleaning")


async def _compact_and_clean(engine: Engine, ws: Workspace) -> None:
    await engine.branches.compact(REPO, ws.name, least=2)
    await engine.maintenance.clean()
    clock = engine.context.clock
    clock.forward(301)  # type: ignore[attr-defined]
    await engine.maintenance.clean()


@pytest.mark.parametrize(
    ("rival", "empty"),
    [
        (one, empty)
        for one in RIVALS
        for empty in (False, True)
        if not one.startswith("the same") or empty == ("empty" in one)
    ],
)
@pytest.mark.slow
async def test_a_rival_at_every_call(rival: str, empty: bool) -> None:
    """A rival acts before each call of a commit. The commit is made once and correctly, or refused without effect."""

    async def job(call: int) -> bool:
        world = World()
        engine = await world.start()
        await put_commit(engine, {"a": "1"})
        await engine.branches.create(REPO, "dev", "main")
        await put_commit(engine, {"d": "dev"}, "dev")
        await put(engine, "staged", "s") if rival != "merge" else None
        ws = await workspace(engine)
        await engine.branches.push(REPO, ws.name, [("gone", None)])
        await put(engine, "a", "mine", ws.name)
        other = world.engine()
        before = len(await history(engine))
        accepted = False

        async def act() -> None:
            nonlocal accepted
            try:
                await RIVALS[rival](other, ws)
                accepted = True
            except errors.WorkspaceClosedError:
                assert rival in ("row in the workspace", "renewal", *ENDS, *COMPACTIONS)

        reached = world.at(call, act)
        try:
            made: Commit | None = await advance(engine, ws, idempotency_key="k", allow_empty=empty)
        except (errors.WorkspaceClosedError, errors.NoChangesError):
            assert rival in ENDS
            made = None
        world.hook = None
        shown = await content(engine)
        found = await now(engine, ws)
        if accepted and rival in ENDS:
            assert made is None
        if made is None and rival == "another caller":
            assert found.state == "committed"
            assert shown["a"] == "mine"
            assert len(await history(engine)) == before + 1
        elif made is None:
            assert found.state in ("reverted", "popped")
            assert (await content(engine, "main@"))["a"] == "1"
            assert shown["a"] == ("mine" if rival == "pop" else "1")
        else:
            assert [one.id for one in await history(engine)].count(made.id) == 1
            assert shown["a"] == "mine"
            assert (await content(engine, "main@"))["a"] == "mine"
            assert (found.state, found.result) == ("committed", made.id)
            if rival == "row in the workspace" and accepted:
                assert shown.get("late") == "late"  # acknowledged before the workspace was closed
            expected = before + 1 + (reached() and rival in ("commit elsewhere", "merge"))
            assert len(await history(engine)) == expected
        return reached()

    call = 1
    while await job(call):
        call = after(call)
    assert call > 10


async def test_two_concurrent_workspaces_on_one_path() -> None:
    async def job(call: int) -> bool:
        world = World()
        engine = await world.start()
        await put_commit(engine, {"a": "1"})
        one, two = await workspace(engine), await workspace(engine)
        await put(engine, "a", "one", one.name)
        await put(engine, "a", "two", two.name)
        other = world.engine()
        won = []

        async def attempt(by: Engine, ws: Workspace, text: str) -> None:
            try:
                await advance(by, ws)
                won.append(text)
            except errors.ConcurrentCommitError:
                pass

        reached = world.at(call, lambda: attempt(other, two, "two"))
        await attempt(engine, one, "one")
        world.hook = None
        assert len(won) == 1
        assert await content(engine) == {"a": won[0]}
        return reached()

    call = 1
    while await job(call):
        call += 1
    assert call > 10


@pytest.mark.slow
@pytest.mark.parametrize("kind", [pytest.param("memory", marks=pytest.mark.soak), "sqlite"])
async def test_sixty_concurrent_workspaces_on_one_branch(kind: str, tmp_path: Path) -> None:
    kv: KVStore = SqliteKV(tmp_path / "kv.db") if kind == "sqlite" else MemoryKV()
    stores = Stores(tmp_path / "objects")
    engine = await make_engine(kv, stores, namespace="local://lake" if kind == "sqlite" else "mem://lake")
    other = new_engine(kv, stores)  # a second process, which has its own queue of commits
    await put_commit(engine, {"a": "1"})

    async def one(number: int) -> Commit:
        at = (engine, other)[number % 2]
        ws = await workspace(at)
        await put(at, f"w/{number:02}", str(number), ws.name)
        return await advance(at, ws)

    made = await asyncio.gather(*map(one, range(60)))
    found = [commit.id for commit in await history(engine)]
    assert len(found) == 62
    assert sorted(found[:60]) == sorted(commit.id for commit in made)
    assert await content(engine) == {"a": "1", **{f"w/{number:02}": str(number) for number in range(60)}}
    await engine.close()
    await other.close()
    await kv.close()
    stores.close()


async def test_money_moved_between_accounts_is_neither_made_nor_lost() -> None:
    """Read two accounts through a workspace, write both, commit; a refused transfer is done again. Writes that happen
    to be equal are conflicts too: two withdrawals of the same sum are two.
    """

    async def job(seed: int) -> None:
        dice = random.Random(seed)
        engine = await make_engine()
        await put_commit(engine, {f"account/{number}": "100" for number in range(4)})
        committed = 0

        async def transfer() -> None:
            nonlocal committed
            for _ in range(4):
                while True:
                    ws = await workspace(engine)
                    one, two = dice.sample(range(4), 2)
                    balances = await content(engine, ws.name)
                    for number, change in ((one, -10), (two, 10)):
                        text = str(int(balances[f"account/{number}"]) + change)
                        await put(engine, f"account/{number}", text, ws.name)
                    try:
                        await advance(engine, ws)
                        committed += 1
                        break
                    except errors.ConcurrentCommitError:
                        await engine.workspaces.delete(REPO, ws.uid)

        await asyncio.gather(*(transfer() for _ in range(5)))
        assert committed == 20
        for one in (await history(engine))[:-1]:
            assert sum(map(int, (await content(engine, one.id)).values())) == 400, f"seed {seed}"

    for seed in range(3):
        await job(seed)


# lost answers


@pytest.mark.parametrize("how", ["before", "after"])
@pytest.mark.parametrize("part", [False, True])
async def test_a_lost_answer_is_settled_by_the_operation_key(how: str, part: bool) -> None:
    async def job(at: int) -> bool:
        kv = LossyKV(MemoryKV(), lambda _: "")
        engine = await make_engine(kv)
        await put_commit(engine, {"a": "1"})
        ws = await workspace(engine)
        await put(engine, "b", "2", ws.name)
        await put(engine, "c", "3", ws.name)
        left = at

        def lose(_: Batch) -> str:
            nonlocal left
            left -= 1
            return how if left == 0 else ""

        kv.lose = lose
        made = await advance(engine, ws, "rebase", *(["b"] if part else []))
        kv.lose = lambda _: ""
        assert [one.id for one in await history(engine)].count(made.id) == 1
        assert len(await history(engine)) == 3
        assert await content(engine) == ({"a": "1", "b": "2"} if part else {"a": "1", "b": "2", "c": "3"})
        return left <= 0

    at = 1
    while await job(at):
        at += 1
    assert at == 3  # the seal and the swap


@pytest.mark.medium
async def test_workspaces_with_lost_answers_are_each_committed_once() -> None:
    async def job(seed: int) -> None:
        dice = random.Random(seed)
        kv = LossyKV(MemoryKV(), lambda _: "")
        engine = await make_engine(kv)
        await put_commit(engine, {"a": "1"})
        found = [await workspace(engine) for _ in range(8)]
        for number, ws in enumerate(found):
            await put(engine, f"w{number}", str(number), ws.name)
        kv.lose = losing(dice, 0.3)

        async def one(ws: Workspace) -> Commit:
            while True:
                try:
                    return await advance(engine, ws, idempotency_key="k")
                except errors.OutcomeUnknownError:
                    continue

        made = await asyncio.gather(*map(one, found))
        kv.lose = lambda _: ""
        in_history = [commit.id for commit in await history(engine)]
        assert len(in_history) == 2 + 8, f"seed {seed}"
        assert {commit.id for commit in made} == set(in_history[:8])
        assert await content(engine) == {"a": "1", **{f"w{number}": str(number) for number in range(8)}}

    for seed in range(8):
        await job(seed)


async def test_objects_of_a_commit_survive_the_workspace() -> None:
    world = World()
    engine = await world.start()
    await put_commit(engine, {"a": "1"})
    ws = await workspace(engine, lifetime=60)
    await write_below(engine, ws, "unregistered", "u")
    await register(engine, ws, {"b": "2"})
    await advance(engine, ws)
    await world.clean(engine)
    world.clock.forward(30 * 24 * 3600)
    await world.clean(engine)
    await fails(now(engine, ws), errors.WorkspaceNotFoundError)
    assert await content(engine) == {"a": "1", "b": "2"}
