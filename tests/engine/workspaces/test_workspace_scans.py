"""Objects that clients write below the prefix of a workspace: registered, and found by scans."""

from __future__ import annotations

import pytest
from lakebed_engine.operations.keys import scan_token, staging
from lakebed_engine.vocabulary import errors
from lakebed_engine.vocabulary.direct_writes import ScanReport

from tests.engine.layering import World
from tests.engine.support import (
    REPO,
    content,
    fails,
    paths,
    put,
    put_commit,
)
from tests.engine.workspacing import advance, base, clock_of, now, register, store_of, workspace, write_below


async def test_registered_objects_are_below_the_prefix_or_outside_the_namespace() -> None:
    engine, ws = await base()
    entry = await write_below(engine, ws, "b", "2")
    import msgspec

    def at(address: str) -> list[tuple[str, object]]:
        return [("b", msgspec.structs.replace(entry, physical_address=address))]

    for address in ("s3://elsewhere/key", f"mem://lake/{ws.prefix}b", ws.prefix + "b"):
        await engine.workspaces.register(REPO, ws.uid, at(address))  # type: ignore[arg-type]
        assert (await engine.objects.stat(REPO, ws.name, "b")).physical_address == address.removeprefix("mem://lake/")
    other = await workspace(engine)
    for address in ("data/1", "_lakebed/x", "mem://lake/data/1", other.prefix + "b", "../x", "\ud800"):
        with pytest.raises(errors.InvalidRequestError):
            await engine.workspaces.register(REPO, ws.uid, at(address))  # type: ignore[arg-type]
    await fails(engine.workspaces.register(REPO, ws.uid, [("b", None), ("b", None)]), errors.InvalidRequestError)
    await fails(engine.workspaces.register(REPO, ws.uid, [("", None)]), errors.InvalidPathError)
    await engine.workspaces.register(REPO, ws.uid, [])


async def test_a_scan_registers_what_is_new_and_changed_and_gone() -> None:
    engine, ws = await base()
    store, clock = await store_of(engine), clock_of(engine)
    store._clock = clock  # type: ignore[attr-defined]
    for path, text in {"a": "new", "t/_tmp": "x", "t/1": "one", "t/2": "two"}.items():
        await write_below(engine, ws, path, text)
    assert await engine.workspaces.scan(REPO, ws.uid) == ScanReport(4, 0, 0)
    assert await content(engine, ws.name) == {"a": "new", "t/1": "one", "t/2": "two", "t/_tmp": "x", "z": "26"}
    record = await now(engine, ws)
    assert await engine.workspaces.scan(REPO, ws.uid) == ScanReport(0, 0, 4)
    assert await now(engine, ws) == record
    clock.forward(2)
    await write_below(engine, ws, "t/1", "ONE")
    await store.delete([ws.prefix + "t/_tmp", ws.prefix + "a"])
    assert await engine.workspaces.scan(REPO, ws.uid) == ScanReport(1, 2, 2 - 1)
    assert await content(engine, ws.name) == {"t/1": "ONE", "t/2": "two", "z": "26"}
    assert await engine.workspaces.scan(REPO, ws.uid) == ScanReport(0, 0, 2)
    same = await engine.objects.stat(REPO, ws.name, "t/2")
    assert (same.size, len(same.checksum)) == (3, 32)
    await advance(engine, ws)
    assert await content(engine) == {"t/1": "ONE", "t/2": "two", "z": "26"}


async def test_a_scan_does_not_restore_reverted_objects() -> None:
    engine, ws = await base()
    await register(engine, ws, {"lost": "l"})
    await (await store_of(engine)).delete(
        [ws.prefix + "lost"]
    )  # the client registered it: fsck reports the missing object
    for path in ("deleted", "rewritten", "reverted", "vanished"):
        await write_below(engine, ws, path, "scanned")
    await engine.workspaces.scan(REPO, ws.uid)
    await register(engine, ws, {"registered": "r"})
    await put(engine, "registered", "newer", ws.name)
    await engine.objects.delete(REPO, ws.name, "deleted")
    await put(engine, "rewritten", "newer", ws.name)
    await put(engine, "vanished", "newer", ws.name)
    await engine.workspaces.revert(REPO, ws.uid, ["reverted"])
    await (await store_of(engine)).delete([ws.prefix + "vanished"])
    report = await engine.workspaces.scan(REPO, ws.uid)
    assert (report.registered, report.vanished) == (0, 1)
    assert await paths(engine, ws.name) == ["a", "lost", "registered", "rewritten", "vanished", "z"]
    await engine.workspaces.revert(REPO, ws.uid, ["lost"])
    shown = {"a": "1", "registered": "newer", "rewritten": "newer", "vanished": "newer", "z": "26"}
    assert await content(engine, ws.name) == shown
    await engine.workspaces.revert(REPO, ws.uid)
    assert await engine.workspaces.scan(REPO, ws.uid) == ScanReport(0, 0, 4)
    assert await content(engine, ws.name) == {"a": "1", "z": "26"}
    await write_below(engine, ws, "registered", "R")  # of the same size, but another one
    assert await engine.workspaces.scan(REPO, ws.uid) == ScanReport(1, 0, 3)
    assert await content(engine, ws.name) == {"a": "1", "registered": "R", "z": "26"}


async def test_scans_of_many_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lakebed_engine.operations.direct_writes.scan.PAGE", 7)
    engine, ws = await base()
    other = await workspace(engine)
    await write_below(engine, other, "not/ours", "x")
    await (await store_of(engine)).put(ws.prefix, b"")  # as some tools mark a directory
    for number in range(30):
        await write_below(engine, ws, f"p/{number:02}", str(number))
    assert await engine.workspaces.scan(REPO, ws.uid) == ScanReport(30, 0, 0)
    gone = [f"{ws.prefix}p/{number:02}" for number in (0, 5, 6, 7, 13, 14, 28, 29)]
    await (await store_of(engine)).delete(gone)
    assert await engine.workspaces.scan(REPO, ws.uid) == ScanReport(0, 8, 22)
    assert len(await paths(engine, ws.name)) == 24
    await (await store_of(engine)).delete([f"{ws.prefix}p/{number:02}" for number in range(30)])
    assert await engine.workspaces.scan(REPO, ws.uid) == ScanReport(0, 22, 0)
    assert await paths(engine, ws.name) == ["a", "z"]


@pytest.mark.parametrize("rival", ["new", "changed", "put"])
async def test_concurrent_scan_with_older_listing_reverts_nothing(rival: str) -> None:
    """At every store call of a scan another tool writes, and a scan of its own (or an upload) is acknowledged."""

    async def job(call: int) -> bool:
        world = World()
        engine = await world.start()
        ws = await workspace(engine)
        await write_below(engine, ws, "a", "1")
        await write_below(engine, ws, "z", "1")
        await engine.workspaces.scan(REPO, ws.uid)
        other = world.engine()
        if rival == "put":  # the scan finds that its object is gone, while the object is uploaded again
            await (await store_of(engine)).delete([f"{ws.prefix}a"])

        async def act() -> None:
            if rival == "put":
                await put(other, "a", "late", ws.name)
                return
            await write_below(other, ws, "m" if rival == "new" else "a", "late")
            await other.workspaces.scan(REPO, ws.uid)

        reached = world.at(call, act)
        await engine.workspaces.scan(REPO, ws.uid)
        world.hook = None
        if reached():
            shown = await content(engine, ws.name)
            assert shown == {"z": "1", **({"a": "1", "m": "late"} if rival == "new" else {"a": "late"})}, call
        return reached()

    call = 1
    while await job(call):
        call += 1
    assert call > 4


async def test_scan_after_a_partial_commit_reads_all_prefixes() -> None:
    engine, ws = await base()
    for path in ("one", "two"):
        await write_below(engine, ws, path, path)
    await engine.workspaces.scan(REPO, ws.uid)
    await advance(engine, ws, "rebase", "one")
    await write_below(engine, ws, "late", "late")  # a writer that knows only the prefix it began with
    found = await now(engine, ws)
    await write_below(engine, found, "three", "three")
    assert await engine.workspaces.scan(REPO, ws.uid) == ScanReport(2, 0, 2)
    await advance(engine, ws)
    assert set(await paths(engine)) == {"a", "late", "one", "three", "two", "z"}


async def test_a_scan_that_loses_the_race_with_a_commit_registers_nothing_more() -> None:
    async def job(call: int) -> bool:
        world = World()
        engine = await world.start()
        await put_commit(engine, {"a": "1"})
        ws = await workspace(engine)
        await put(engine, "b", "2", ws.name)
        await write_below(engine, ws, "c", "3")
        other = world.engine()
        reached = world.at(call, lambda: advance(other, ws))
        try:
            await engine.workspaces.scan(REPO, ws.uid)
        except errors.WorkspaceClosedError:
            assert reached()
        else:
            world.hook = None
            if not reached():
                await advance(engine, ws)
            assert (await content(engine))["c"] == "3"
        world.hook = None
        assert (await content(engine))["b"] == "2"
        await world.clean(engine)
        assert await world.kv.inner.scan(staging(scan_token(ws.uid))) == []
        return reached()

    call = 1
    while await job(call):
        call += 1
    assert call > 5
