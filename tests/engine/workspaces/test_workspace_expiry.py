"""How a workspace expires, closes, and is forgotten."""

from __future__ import annotations

import pytest
from lakebed_engine.operations.context import Context, Repo
from lakebed_engine.operations.expiry_clock import REMEMBERED
from lakebed_engine.operations.keys import scan_token, staging
from lakebed_engine.operations.workspace import expiry, lifecycle
from lakebed_engine.vocabulary import errors
from lakebed_engine.vocabulary.reports import FsckOptions

from tests.engine.layering import GRACE, World
from tests.engine.support import (
    REPO,
    content,
    fails,
    put,
    put_commit,
)
from tests.engine.workspacing import advance, base, clock_of, now, register, workspace, write_below


async def test_an_expired_workspace_is_closed_and_its_rows_go_after_the_grace() -> None:
    world = World()
    engine = await world.start()
    await put_commit(engine, {"a": "1"})
    lives, ends = await workspace(engine, lifetime=100), await workspace(engine, lifetime=100)
    for ws in (lives, ends):
        await put(engine, "b", "2", ws.name)
        await write_below(engine, ws, "c", "3")
        await engine.workspaces.scan(REPO, ws.uid)
    world.clock.forward(99)
    await engine.maintenance.clean()
    assert (await engine.workspaces.renew(REPO, lives.uid, 100_000)).expires == int(world.clock.now()) + 100_000
    world.clock.forward(1)
    assert (await content(engine, ends.name))["b"] == "2"  # no cleanup has run yet
    await engine.maintenance.clean()
    assert (await now(engine, ends)).state == "expired"
    rows = staging(ends.staging_token)
    assert await world.kv.inner.scan(rows) != []
    world.clock.forward(GRACE + 1)
    await engine.maintenance.clean()
    world.clock.forward(GRACE + 1)
    await engine.maintenance.clean()
    assert await world.kv.inner.scan(rows) == await world.kv.inner.scan(staging(scan_token(ends.uid))) == []
    assert await content(engine, lives.name) == {"a": "1", "b": "2", "c": "3"}
    assert await world.objects.get(ends.prefix + "c") == b"3"  # for the sweep to remove


async def test_a_renewal_beats_the_janitor() -> None:
    world = World()
    engine = await world.start()
    ws = await workspace(engine, lifetime=100)
    world.clock.forward(101)
    other = world.engine()

    async def hook(what: str) -> None:
        if what == "kv apply":
            world.hook = None
            await other.workspaces.renew(REPO, ws.uid, 100)

    world.hook = hook
    assert await expiry.tidy(engine.context) == 0
    assert (await now(engine, ws)).state == "open"


async def test_closed_workspaces_are_forgotten_with_their_keys() -> None:
    engine, ws = await base()
    await register(engine, ws, {"b": "2", "c": "3"})
    await advance(engine, ws, "rebase", "b", idempotency_key="k1")
    await advance(engine, ws, idempotency_key="k2")
    clock_of(engine).forward(REMEMBERED - 1)
    await engine.maintenance.clean()
    assert (await now(engine, ws)).state == "committed"
    clock_of(engine).forward(2)
    await engine.maintenance.clean()
    await fails(now(engine, ws), errors.WorkspaceNotFoundError)
    partition = f"repo/{(await engine.repositories.get(REPO)).uid}"
    kinds = {row.key.split(b"/")[0] for row in await engine.context.kv.scan(partition)}
    assert kinds == {b"branch", b"commit", b"touched", b"journal"}  # the drain, which does not run here, removes events
    assert await content(engine) == {"a": "1", "b": "2", "c": "3", "z": "26"}


async def test_concurrent_creates_of_one_workspace_return_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also when the first has written below the prefix before the second checks it."""
    engine, _ = await base()
    found_id, was_used, made = "ab" * 16, lifecycle._was_used, []

    async def overtaken(ctx: Context, repo: Repo, uid: str) -> bool:
        monkeypatch.setattr(lifecycle, "_was_used", was_used)
        made.append(await workspace(engine, id=found_id))
        await write_below(engine, made[0], "left", "x")
        return await was_used(ctx, repo, uid)

    monkeypatch.setattr(lifecycle, "_was_used", overtaken)
    assert await workspace(engine, id=found_id) == made[0]


@pytest.mark.parametrize("how", ["objects", "committed", "partly"])
async def test_the_id_of_a_forgotten_workspace_is_not_given_again(how: str) -> None:
    """Commits may name objects below its prefixes."""
    engine, ws = await base()
    if how == "objects":
        await write_below(engine, ws, "left", "x")
        await engine.workspaces.delete(REPO, ws.uid)
    else:
        for path in ("b", "c"):  # through the server: their data is in data/
            await put(engine, path, path, branch=ws.name)
        await advance(engine, ws, "rebase", *(["b"] if how == "partly" else []))
        if how == "partly":
            await engine.workspaces.delete(REPO, ws.uid)
    clock_of(engine).forward(REMEMBERED)
    await engine.maintenance.clean()
    await fails(now(engine, ws), errors.WorkspaceNotFoundError)
    await fails(workspace(engine, id=ws.uid), errors.NameTakenError)


async def test_the_janitor_reads_only_expired_workspaces() -> None:
    world = World()
    engine = await world.start()
    late = [await workspace(engine, lifetime=1000) for _ in range(20)]
    soon = await workspace(engine, lifetime=100)
    world.clock.forward(101)
    calls: list[str] = []

    async def hook(what: str) -> None:
        calls.append(what)

    world.hook = hook
    assert await expiry.tidy(engine.context) == 1
    world.hook = None
    assert calls.count("kv get") <= 4, "not one for each of the others"
    assert (await now(engine, soon)).state == "expired"
    await engine.workspaces.renew(REPO, late[0].uid, 5000)
    world.clock.forward(1000)
    assert await expiry.tidy(engine.context) == 19
    assert (await now(engine, late[0])).state == "open"
    world.clock.forward(4001)
    assert await expiry.tidy(engine.context) == 1


async def test_a_deleted_repository_leaves_no_row_of_a_workspace() -> None:
    world = World()
    engine = await world.start()
    ws = await workspace(engine)
    await put(engine, "b", "2", ws.name)
    await write_below(engine, ws, "c", "3")
    await engine.workspaces.scan(REPO, ws.uid)
    await engine.repositories.delete(REPO)
    await world.clean(engine)
    assert await world.kv.inner.scan(staging(ws.staging_token)) == []
    assert await world.kv.inner.scan(staging(scan_token(ws.uid))) == []


async def test_fsck_and_sweep_know_workspaces() -> None:
    world = World()
    engine = await world.start()
    await put_commit(engine, {"a": "1"})
    ws = await workspace(engine)
    await register(engine, ws, {"b": "2"})
    await put(engine, "c", "3", ws.name)
    await engine.branches.push(REPO, ws.name, [("a", None)])
    await engine.workspaces.scan(REPO, ws.uid)
    options = FsckOptions(data=True, orphan_age=0)
    report = await engine.maintenance.fsck(REPO, options)
    assert (report.problems, report.orphans, report.counts["open workspaces"]) == ([], [], 1)
    await world.objects.delete([ws.prefix + "b"])
    await world.objects.delete(world.layer_files())  # type: ignore[arg-type]
    report = await engine.maintenance.fsck(REPO, options)
    assert sorted((one.what, one.refs) for one in report.problems) == [
        ("layer", (ws.name,)),
        ("object", (ws.name,)),
    ]
