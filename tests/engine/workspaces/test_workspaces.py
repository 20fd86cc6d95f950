"""Workspaces but for their commits: records, refs, rows, scans, revert, stash and pop, expiry, fsck and rebuild."""

from __future__ import annotations

import pickle
from collections.abc import Awaitable, Callable

import pytest
from lakebed_engine.engine import Engine
from lakebed_engine.operations.context import open_repo
from lakebed_engine.operations.objects.stage import stage
from lakebed_engine.stores.kv.base import Batch, Put
from lakebed_engine.stores.kv.memory import MemoryKV
from lakebed_engine.vocabulary import errors
from lakebed_engine.vocabulary.records import Workspace
from lakebed_engine.vocabulary.requests import CommitRequest, WorkspaceRequest

from tests.engine.layering import World, just_seal
from tests.engine.support import (
    REPO,
    LossyKV,
    commit,
    content,
    fails,
    history,
    make_engine,
    merge,
    paths,
    put,
    put_commit,
)
from tests.engine.trees import entry
from tests.engine.workspacing import advance, base, clock_of, now, register, workspace, write_below

# records


async def test_a_workspace_is_made_on_a_commit() -> None:
    engine, _ = await base()
    first = await engine.commits.get(REPO, "main")
    await engine.tags.create(REPO, "v1", "main")
    second = await put_commit(engine, {"a": "2"})
    await put(engine, "a", "uncommitted")
    ws = await workspace(engine, message="m", lifetime=3600, claims=("x/",))
    assert (ws.branch, ws.commit_id, ws.state, ws.claims) == ("main", second.id, "open", ("x/",))
    assert (ws.name, ws.prefix) == (f"main+{ws.uid}", f"workspaces/{ws.uid}/")
    assert (ws.creator, ws.message, ws.expires - ws.creation_date) == ("ann", "m", 3600)
    assert await engine.workspaces.get(REPO, ws.uid) == await engine.workspaces.get(REPO, ws.name) == ws
    assert (await content(engine, ws.name))["a"] == "2"
    for ref in ("v1", first.id, "main~1", f"{first.id[:12]}"):
        assert (await workspace(engine, ref, branch="main")).commit_id == first.id
        await fails(workspace(engine, ref), errors.InvalidRequestError)
    other = await workspace(engine, ws.name, branch="main")
    assert other.commit_id == second.id
    await fails(workspace(engine, ws.name), errors.InvalidRequestError)
    await fails(workspace(engine, "main$"), errors.InvalidRefError)
    await fails(workspace(engine, "v1", branch="nope"), errors.BranchNotFoundError)
    await fails(workspace(engine, "nope"), errors.RefNotFoundError)
    for bad in ({"lifetime": 1}, {"lifetime": 1 << 40}, {"claims": ("",)}, {"message": "\ud800"}):
        with pytest.raises(errors.InvalidRequestError):
            await workspace(engine, **bad)


async def test_lists_are_paged() -> None:
    engine, first = await base()
    await engine.branches.create(REPO, "dev", "main")
    made = [first, *[await workspace(engine, "dev") for _ in range(4)]]
    await engine.workspaces.delete(REPO, made[2].uid)
    ids = sorted(one.uid for one in made if one != made[2])
    page = await engine.workspaces.list(REPO, amount=3)
    assert ([one.uid for one in page.items], page.has_more) == (ids[:3], True)
    page = await engine.workspaces.list(REPO, amount=3, after=ids[2])
    assert ([one.uid for one in page.items], page.has_more) == (ids[3:], False)
    assert [one.uid for one in (await engine.workspaces.list(REPO, branch="main")).items] == [first.uid]
    everything = await engine.workspaces.list(REPO, state="all")
    assert {one.uid: one.state for one in everything.items}[made[2].uid] == "reverted"
    assert [one.name for one in (await engine.branches.list(REPO)).items] == ["dev", "main"]


CLOSERS: dict[str, Callable[[Engine, Workspace], Awaitable[object]]] = {
    "committed": lambda e, ws: advance(e, ws),  # noqa: PLW0108 - its other arguments have defaults
    "reverted": lambda e, ws: e.workspaces.delete(REPO, ws.uid),
    "popped": lambda e, ws: e.workspaces.pop(REPO, ws.uid),
    "expired": lambda e, ws: _expire(e),
}


async def _expire(engine: Engine) -> None:
    clock_of(engine).forward(8 * 24 * 3600)
    assert await engine.maintenance.clean() == 1


@pytest.mark.parametrize("state", CLOSERS)
async def test_a_closed_workspace_refuses_everything(state: str) -> None:
    engine, ws = await base()
    await register(engine, ws, {"b": "2"})
    entry = await engine.objects.stat(REPO, ws.name, "b")
    await CLOSERS[state](engine, ws)
    assert (await now(engine, ws)).state == state
    calls: list[Callable[[], Awaitable[object]]] = [
        lambda: put(engine, "c", "3", ws.name),
        lambda: put(engine, "c", "3", ws.name, if_none_match=True),
        lambda: engine.objects.delete(REPO, ws.name, "b"),
        lambda: engine.objects.delete_many(REPO, ws.name, ["b"]),
        lambda: engine.objects.copy(REPO, ws.name, "c", "main", "a"),
        lambda: engine.branches.push(REPO, ws.name, [("c", entry)]),
        lambda: engine.workspaces.register(REPO, ws.uid, [("c", entry)]),
        lambda: engine.workspaces.scan(REPO, ws.uid),
        lambda: engine.objects.stat(REPO, ws.name, "a"),
        lambda: engine.objects.list(REPO, ws.name),
        lambda: engine.commits.get(REPO, f"{ws.name}@"),
        lambda: engine.branches.diff(REPO, ws.name),
        lambda: engine.branches.reset(REPO, ws.name),
        lambda: engine.branches.reset_object(REPO, ws.name, "b"),
        lambda: engine.branches.reset_prefix(REPO, ws.name, "b"),
        lambda: engine.branches.compact(REPO, ws.name),
        lambda: engine.workspaces.revert(REPO, ws.uid),
        lambda: engine.workspaces.revert(REPO, ws.uid, ["b"]),
        lambda: engine.workspaces.renew(REPO, ws.uid, 3600),
        lambda: engine.workspaces.pop(REPO, ws.uid),
        lambda: advance(engine, ws),
        lambda: advance(engine, ws, "rebase", "b"),
    ]
    for call in calls:
        error = await fails(call(), errors.WorkspaceClosedError)
        assert ws.uid in str(error)
    if state == "reverted":
        await engine.workspaces.delete(REPO, ws.uid)  # once more changes nothing
    else:
        await fails(engine.workspaces.delete(REPO, ws.uid), errors.WorkspaceClosedError)
    expected = {"a": "1", "z": "26", **({"b": "2"} if state in ("committed", "popped") else {})}
    assert await content(engine) == expected


async def test_branch_operations_refuse_workspaces() -> None:
    engine, ws = await base()
    await put(engine, "b", "2", ws.name)
    request = CommitRequest(message="m", committer="ann")
    await fails(engine.commits.create(REPO, ws.name, request), errors.BranchNotFoundError)
    await fails(merge(engine, "main", ws.name), errors.BranchNotFoundError)
    await fails(engine.branches.get(REPO, ws.name), errors.BranchNotFoundError)
    await fails(engine.branches.delete(REPO, ws.name), errors.BranchNotFoundError)
    await fails(engine.branches.create(REPO, ws.name, "main"), errors.InvalidNameError)
    await fails(
        engine.workspaces.stash(REPO, ws.name, WorkspaceRequest(ref="", creator="ann")), errors.BranchNotFoundError
    )


async def test_a_workspace_name_must_match_completely() -> None:
    engine, ws = await base()
    await engine.branches.create(REPO, "dev", "main")
    for name in (f"dev+{ws.uid}", f"+{ws.uid}", f"main+{'0' * 32}", f"main+{ws.uid[:12]}"):
        await fails(engine.objects.stat(REPO, name, "a"), errors.RefNotFoundError)
    for name in (f"dev+{ws.uid}", f"+{ws.uid}", f"main+{'0' * 32}"):
        await fails(put(engine, "b", "2", name), errors.WorkspaceNotFoundError)
        await fails(engine.workspaces.get(REPO, name), errors.WorkspaceNotFoundError)
    await engine.tags.create(REPO, "v1+build", "main")  # a plus alone makes no workspace
    await engine.tags.create(REPO, f"v+{'1' * 32}", "main")
    assert len(await paths(engine, "v1+build")) == len(await paths(engine, f"v+{'1' * 32}")) == 2


# reading and writing through it


async def test_a_workspace_reads_like_a_branch() -> None:
    engine, ws = await base()
    await put(engine, "b", "2", ws.name)
    await engine.objects.delete(REPO, ws.name, "a")
    await engine.objects.copy(REPO, ws.name, "c", ws.name, "b")
    await put_commit(engine, {"later": "on main"})
    assert await content(engine, ws.name) == {"b": "2", "c": "2", "z": "26"}
    assert await content(engine, f"{ws.name}$") == await content(engine, ws.name)
    assert await content(engine, f"{ws.name}@") == {"a": "1", "z": "26"}
    assert (await engine.commits.get(REPO, ws.name)).id == ws.commit_id
    assert (await engine.commits.get(REPO, f"{ws.name}~1")).generation == 1
    changes = [(one.type, one.path) for one in (await engine.branches.diff(REPO, ws.name)).items]
    assert changes == [("removed", "a"), ("added", "b"), ("added", "c")]
    page = await engine.commits.diff(REPO, "main", f"{ws.name}$", mode="two_dot")
    assert [one.path for one in page.items] == ["a", "b", "c", "later"]
    await fails(put(engine, "b", "3", ws.name, if_none_match=True), errors.PreconditionFailedError)
    await put(engine, "b", "3", ws.name, if_match=(await engine.objects.stat(REPO, ws.name, "b")).checksum)
    await engine.branches.reset_object(REPO, ws.name, "a")
    await engine.branches.reset_prefix(REPO, ws.name, "c")
    assert await content(engine, ws.name) == {"a": "1", "b": "3", "z": "26"}
    assert await content(engine) == {"a": "1", "z": "26", "later": "on main"}


async def test_many_rows_a_layer_and_compaction() -> None:
    engine, ws = await base()
    await register(engine, ws, {f"p/{number:03}": str(number) for number in range(300)})
    for number in range(9):
        entry = await engine.objects.stat(REPO, ws.name, f"p/{number:03}")
        await engine.branches.push(REPO, ws.name, [(f"q/{number}", entry), ("a", None)])
    assert len((await now(engine, ws)).layers) > 8
    assert await engine.maintenance.compact() > 0
    assert len((await now(engine, ws)).layers) < 4
    assert len(await paths(engine, ws.name)) == 300 + 9 + 1
    await engine.branches.push(REPO, ws.name, [("a", None)])
    await advance(engine, ws)
    await engine.maintenance.compact()  # what is noted about a workspace that is closed by now does no harm
    assert len(await paths(engine)) == 310


# scans


# revert, stash, pop


async def test_revert_of_all_and_of_a_part() -> None:
    engine, ws = await base()
    await register(engine, ws, {"x/1": "1", "x/2": "2", "y": "3", "a": None})
    await engine.workspaces.revert(REPO, ws.uid, ["x/", "!x/2"])
    assert await content(engine, ws.name) == {"x/2": "2", "y": "3", "z": "26"}
    await put(engine, "late", "l", ws.name)
    await engine.workspaces.revert(REPO, ws.uid, ["/a"])
    assert await content(engine, ws.name) == {"a": "1", "late": "l", "x/2": "2", "y": "3", "z": "26"}
    await engine.workspaces.revert(REPO, ws.uid)
    assert await content(engine, ws.name) == {"a": "1", "z": "26"}
    await put(engine, "b", "2", ws.name)
    await advance(engine, ws)


async def stashed(engine: Engine, branch: str = "main") -> Workspace:
    return await engine.workspaces.stash(REPO, branch, WorkspaceRequest(ref="", creator="ann", message="later"))


async def test_stash_and_pop() -> None:
    engine, _ = await base()
    await put(engine, "b", "2")
    await just_seal(engine)
    await engine.objects.delete(REPO, "main", "a")
    shown = await content(engine)
    ws = await stashed(engine)
    assert (ws.branch, ws.message) == ("main", "later")
    assert await content(engine) == {"a": "1", "z": "26"}
    assert await content(engine, ws.name) == shown == {"b": "2", "z": "26"}
    await fails(stashed(engine), errors.NoChangesError)
    await put_commit(engine, {"b": "committed", "c": "3"})
    await put(engine, "b", "staged")
    await put(engine, "d", "4")
    layer = await engine.workspaces.pop(REPO, ws.uid)
    assert (await engine.branches.get(REPO, "main")).layers[0] == layer
    assert await content(engine) == {"b": "2", "c": "3", "d": "4", "z": "26"}  # as a push: the newest wins
    await commit(engine)
    assert await content(engine, "main@") == {"b": "2", "c": "3", "d": "4", "z": "26"}
    empty = await workspace(engine)
    await fails(engine.workspaces.pop(REPO, empty.uid), errors.NoChangesError)


async def test_a_full_workspace_is_called_one() -> None:
    engine, ws = await base()
    for number in range(32):
        await engine.branches.push(REPO, ws.name, [(f"gone{number}", None)])
    full = await fails(engine.branches.push(REPO, ws.name, [("gone", None)]), errors.BackpressureError)
    assert str(full).startswith(f"workspace {ws.name!r} of ")


async def test_pop_onto_another_branch_and_a_full_one() -> None:
    engine, ws = await base()
    await engine.branches.create(REPO, "dev", "main")
    await put(engine, "b", "2", ws.name)
    for number in range(32):
        await engine.branches.push(REPO, "dev", [(f"gone{number}", None)])
    full = await fails(engine.workspaces.pop(REPO, ws.uid, branch="dev"), errors.BackpressureError)
    assert str(full).startswith("branch 'dev' of ")
    assert (await now(engine, ws)).state == "open"
    await engine.branches.compact(REPO, "dev")
    await engine.workspaces.pop(REPO, ws.uid, branch="dev")
    assert (await content(engine, "dev"))["b"] == "2"
    assert "b" not in await content(engine)


@pytest.mark.parametrize("rival", ["put", "drop", "commit", "pop"])
async def test_a_workspace_ends_once(rival: str) -> None:
    """Before each call of a pop, a rival writes to the workspace or ends it."""

    async def job(call: int) -> bool:
        world = World()
        engine = await world.start()
        await put_commit(engine, {"a": "1"})
        ws = await workspace(engine)
        await put(engine, "b", "2", ws.name)
        other = world.engine()
        accepted = False

        async def act() -> None:
            nonlocal accepted
            try:
                if rival == "put":
                    await put(other, "c", "3", ws.name)
                elif rival == "drop":
                    await other.workspaces.delete(REPO, ws.uid)
                elif rival == "commit":
                    await advance(other, ws)
                else:
                    await other.workspaces.pop(REPO, ws.uid)
                accepted = True
            except (errors.WorkspaceClosedError, errors.DirtyOverlapError):
                pass

        reached = world.at(call, act)
        try:
            await engine.workspaces.pop(REPO, ws.uid)
            assert rival == "put" or not accepted
        except errors.WorkspaceClosedError:
            assert rival != "put"
            assert accepted
        world.hook = None
        shown = await content(engine)
        assert shown.get("b") == (None if rival == "drop" and accepted else "2")
        if rival == "put":
            assert shown.get("c") == ("3" if accepted else None)
        states = {"drop": "reverted", "commit": "committed"}
        assert (await now(engine, ws)).state == (states.get(rival, "popped") if accepted else "popped")
        assert len((await engine.branches.get(REPO, "main")).layers) <= 1
        return reached()

    call = 1
    while await job(call):
        call += 1
    assert call > 5


@pytest.mark.medium
@pytest.mark.parametrize("sealed", [False, True])
@pytest.mark.parametrize("verb", ["stash", "pop"])
@pytest.mark.parametrize("rival", ["put", "commit", "reset", "push", "cleaner"])
async def test_stashed_changes_are_in_a_single_place_during_races(verb: str, rival: str, sealed: bool) -> None:
    async def job(call: int) -> bool:
        world = World()
        engine = await world.start()
        await put_commit(engine, {"a": "1"})
        ws: Workspace | None = await workspace(engine)
        assert ws is not None
        if verb == "stash":
            await put(engine, "b", "2")
        else:
            await put(engine, "b", "2", ws.name)
        if sealed:
            await just_seal(engine)
        other = world.engine()
        took = False

        async def act() -> None:
            nonlocal took
            if rival == "put":
                await put(other, "c", "3")
            elif rival == "push":
                await other.branches.push(REPO, "main", [("x", None)])
            elif rival == "cleaner":
                await world.clean(other)
            elif rival == "reset":
                took = (await content(other)).get("b") == "2"
                await other.branches.reset(REPO, "main")
            else:
                try:
                    await commit(other)
                    took = (await content(other, "main@")).get("b") == "2"
                except errors.NoChangesError:
                    pass

        reached = world.at(call, act)
        try:
            if verb == "stash":
                ws = await stashed(engine)
            else:
                await engine.workspaces.pop(REPO, ws.uid)
        except errors.NoChangesError:
            assert verb == "stash"
            assert took
            ws = None
        world.hook = None
        await world.clean(engine)
        on_main = (await content(engine)).get("b") == "2"
        if verb == "stash":
            in_workspace = ws is not None and (await content(engine, ws.name)).get("b") == "2"
            assert [in_workspace, on_main, took and rival == "reset"].count(True) == 1
        else:
            assert on_main != (took and rival == "reset")
        if rival == "put" and reached():
            held = ["main", ws.name if verb == "stash" and ws else "main"]
            assert "3" in [(await content(engine, ref)).get("c") for ref in held]
        return reached()

    call = 1
    while await job(call):
        call += 1
    assert call > 4


@pytest.mark.parametrize("how", ["before", "after"])
async def test_equal_rows_from_before_do_not_settle_the_other_rows_of_a_lost_batch(how: str) -> None:
    """A scan stages rows and notes them in one batch. The rows may be there from before, and the notes not."""
    kv = LossyKV(MemoryKV(), lambda _: "")
    engine = await make_engine(kv)
    repo = await open_repo(engine.context, REPO)
    rows = [("a", entry("1"))]
    await stage(engine.context, repo, "main", rows)
    losses = iter([how])
    kv.lose = lambda batch: next(losses, "") if any(put.partition == "notes" for put in batch.puts) else ""
    await stage(engine.context, repo, "main", rows, [Put("notes", b"a", b"seen")])
    assert kv.lost == 1
    note = await kv.get("notes", b"a")
    assert note is not None
    assert note.value == b"seen"


@pytest.mark.parametrize("how", ["before", "after"])
async def test_every_verb_settles_a_lost_answer(how: str) -> None:
    verbs: dict[str, Callable[[Engine, Workspace], Awaitable[object]]] = {
        "create": lambda e, _: workspace(e),
        "register": lambda e, ws: register(e, ws, {"new": "n"}),
        "renew": lambda e, ws: e.workspaces.renew(REPO, ws.uid, 100),
        "drop": lambda e, ws: e.workspaces.delete(REPO, ws.uid),
        "revert": lambda e, ws: e.workspaces.revert(REPO, ws.uid, ["b"]),
        "revert all": lambda e, ws: e.workspaces.revert(REPO, ws.uid),
        "scan": lambda e, ws: e.workspaces.scan(REPO, ws.uid),
        "stash": lambda e, _: stashed(e),
        "pop": lambda e, ws: e.workspaces.pop(REPO, ws.uid),
    }

    async def job(verb: str, at: int) -> bool:
        kv = LossyKV(MemoryKV(), lambda _: "")
        engine = await make_engine(kv)
        await put_commit(engine, {"a": "1"})
        ws = await workspace(engine)
        await put(engine, "b", "2", ws.name)
        await write_below(engine, ws, "c", "3")
        await put(engine, "d", "4")
        left = at

        def lose(_: Batch) -> str:
            nonlocal left
            left -= 1
            return how if left == 0 else ""

        kv.lose = lose
        await verbs[verb](engine, ws)
        kv.lose = lambda _: ""
        open_ones = (await engine.workspaces.list(REPO)).items
        assert len(open_ones) == {"create": 2, "drop": 0, "pop": 0, "stash": 2}.get(verb, 1)
        if verb == "scan":
            assert (await content(engine, ws.name))["c"] == "3"
        if verb == "pop":
            assert await content(engine) == {"a": "1", "b": "2", "d": "4"}
        return left <= 0

    for verb in verbs:
        at = 1
        while await job(verb, at):
            at += 1
        assert at > 1


# expiry, the janitor, checks


async def test_objects_below_a_prefix_survive_a_rebuild_when_a_commit_names_them() -> None:
    world = World()
    engine = await world.start()
    ws, left = await workspace(engine), await workspace(engine)
    await register(engine, ws, {"b": "2"})
    await register(engine, left, {"c": "3"})
    made = await advance(engine, ws)
    await engine.maintenance.snapshot_refs()
    again = World(MemoryKV())
    async for blob in world.objects.list():
        await again.objects.put(blob.key, await world.objects.get(blob.key))
    engine = again.engine()
    await engine.maintenance.rebuild("mem://lake")
    assert await content(engine) == {"b": "2"}
    assert (await history(engine))[0].id == made.id
    await fails(now(engine, left), errors.WorkspaceNotFoundError)  # what was uncommitted is gone


def test_errors_survive_pickle() -> None:
    conflict = errors.Conflict("p", None, "1", "2")
    for error in (errors.ConcurrentCommitError("m", [conflict], True), errors.DirtyOverlapError("m", [conflict], True)):
        again = pickle.loads(pickle.dumps(error))
        assert (type(again), str(again), again.conflicts, again.has_more) == (type(error), "m", (conflict,), True)
