"""Multipart uploads: visibility, refusals, the ends of uploads, and their leftovers."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from lakebed_engine.engine import Engine
from lakebed_engine.operations.multipart.records import REMEMBERED, key_of, target_of
from lakebed_engine.operations.tuning import Tuning
from lakebed_engine.stores.kv.memory import MemoryKV
from lakebed_engine.stores.objects.base import ObjectStore
from lakebed_engine.stores.objects.memory import MemoryObjects
from lakebed_engine.stores.objects.multipart_objects import folder_of
from lakebed_engine.stores.objects.registry import Stores
from lakebed_engine.vocabulary import errors
from lakebed_engine.vocabulary.direct_writes import SentPart
from lakebed_engine.vocabulary.multipart import Target, Upload, UploadedPart
from lakebed_engine.vocabulary.records import Entry, Rule
from lakebed_engine.vocabulary.reports import FsckOptions, SweepOptions
from lakebed_engine.vocabulary.requests import WorkspaceRequest
from lakebed_format.keys import PARTS

from tests.engine.calls import begin, complete, md5, send
from tests.engine.support import REPO, FakeClock, HookedKV, commit, content, fails, make_engine, new_engine, once, put

LEAST_PART = Tuning().least_part
LARGE = b"L" * LEAST_PART
DAY = 24 * 3600.0
WEEK = 7 * DAY


async def two(engine: Engine, path: str = "big", tail: bytes = b"tail", branch: str = "main") -> Any:
    """An upload with a large part and a small one."""
    target = await begin(engine, path, branch)
    return target, [await send(engine, target, 1, LARGE), await send(engine, target, 7, tail)]


async def read(engine: Engine, ref: str, path: str) -> bytes:
    entry = await engine.objects.stat(REPO, ref, path)
    async with engine.objects.open(REPO, entry) as chunks:
        return b"".join([chunk async for chunk in chunks])


def store_of(engine: Engine) -> ObjectStore:
    return engine.context.stores.open("mem://lake")


async def left(engine: Engine) -> list[str]:
    """Keys of parts in the store."""
    return [blob.key async for blob in store_of(engine).list(PARTS)]


async def rows(engine: Engine) -> set[str]:
    """The kinds of rows about uploads."""
    found = await engine.context.kv.scan(f"repo/{(await engine.repositories.get(REPO)).uid}", limit=100_000)
    kinds = {row.key.partition(b"/")[0].decode() for row in found}
    return kinds & {"upload", "part", "ended", "upload-due"}


async def test_parts_become_an_object_when_they_are_completed_and_not_before() -> None:
    engine = await make_engine(clock=FakeClock())
    target, parts = await two(engine)
    await fails(engine.objects.stat(REPO, "main", "big"), errors.ObjectNotFoundError)
    entry = await complete(engine, target, parts)
    assert await read(engine, "main", "big") == LARGE + b"tail"
    assert entry.checksum == hashlib.md5(bytes.fromhex(md5(LARGE) + md5(b"tail"))).hexdigest()
    assert (entry.parts, entry.etag) == (2, f"{entry.checksum}-2")
    assert (entry.size, entry.content_type) == (LEAST_PART + 4, "text/plain")
    assert entry.metadata == {"who": "kim", "::s3::parts": f"1x{LEAST_PART},1x4"}
    assert await engine.objects.stat(REPO, "main", "big") == entry
    assert await left(engine) == []
    assert await rows(engine) == {"ended", "upload-due"}
    await commit(engine)
    assert (await engine.objects.stat(REPO, "main@", "big")).etag == entry.etag
    assert (await engine.maintenance.fsck(REPO, FsckOptions(deep=True))).ok


async def test_the_parts_of_an_upload_survive_the_process(tmp_path: Path) -> None:
    kv = MemoryKV()
    first = await make_engine(kv, Stores(tmp_path), namespace="local://lake")
    target, parts = await two(first)
    second = new_engine(kv, Stores(tmp_path))
    entry = await complete(second, target, parts)
    assert await read(second, "main", "big") == LARGE + b"tail"
    assert (tmp_path / "lake" / entry.physical_address).read_bytes() == LARGE + b"tail"


async def test_single_empty_part_makes_an_empty_object() -> None:
    engine = await make_engine()
    target = await begin(engine)
    entry = await complete(engine, target, [await send(engine, target, 1, b"")])
    assert (entry.size, entry.parts) == (0, 1)
    assert "::s3::parts" not in entry.metadata


async def test_a_repeated_part_replaces_the_first_one() -> None:
    engine = await make_engine()
    target = await begin(engine)
    old = await send(engine, target, 1, b"old")
    new = await send(engine, target, 1, b"new")
    await fails(complete(engine, target, [old]), errors.InvalidPartError)
    await complete(engine, target, [new])
    assert await content(engine) == {"big": "new"}
    assert await left(engine) == []


async def test_a_part_that_is_sent_again_while_it_is_chosen_is_not_planned() -> None:
    """Otherwise no caller could complete the upload: the old part is gone, and the new part is not in the plan."""
    kv = HookedKV(MemoryKV())
    engine = await make_engine(kv)
    target = await begin(engine)
    old = await send(engine, target, 1, b"old")
    sent: list[SentPart] = []

    async def again(name: str, what: Any) -> None:
        if name == "apply" and not sent:
            sent.append(await send(engine, target, 1, b"new"))

    kv.before = again
    await fails(complete(engine, target, [old]), errors.InvalidPartError)
    kv.before = None
    await complete(engine, target, sent)
    assert await content(engine) == {"big": "new"}


async def test_an_upload_completed_during_its_abort_stays_an_object() -> None:
    kv = HookedKV(MemoryKV())
    engine = await make_engine(kv)
    target = await begin(engine)
    part = await send(engine, target, 1, b"whole")

    async def first(name: str, what: Any) -> None:
        if name == "apply":
            kv.before = None
            await complete(engine, target, [part])

    kv.before = first
    await fails(engine.multipart.abort(REPO, target), errors.UploadNotFoundError)
    assert await content(engine) == {"big": "whole"}


async def test_complete_with_wrong_parts_is_refused_and_upload_stays_open() -> None:
    engine = await make_engine()
    target = await begin(engine)
    small, large = await send(engine, target, 1, b"small"), await send(engine, target, 2, LARGE)
    refused = {
        errors.InvalidRequestError: [],
        errors.PartTooSmallError: [small, large],
        errors.PartOrderError: [large, small],
        errors.InvalidPartError: [small, SentPart(3, md5(b""))],
    }
    for kind, parts in refused.items():
        await fails(complete(engine, target, parts), kind)
    await fails(complete(engine, target, [large, large]), errors.PartOrderError)
    await fails(complete(engine, target, [SentPart(2, md5(b"other"))]), errors.InvalidPartError)
    await fails(complete(engine, target, [large], size=3), errors.InvalidRequestError)
    assert await content(engine) == {}
    await complete(engine, target, [large], size=LEAST_PART)
    assert (await engine.objects.stat(REPO, "main", "big")).size == LEAST_PART


async def test_upload_is_found_only_by_its_branch_path_and_id() -> None:
    engine = await make_engine()
    await engine.branches.create(REPO, "dev", "main")
    target, parts = await two(engine)
    await complete(engine, target, parts)
    open_one = await begin(engine)
    for wrong in (
        target,
        open_one._replace(branch="dev"),
        open_one._replace(path="other"),
        open_one._replace(id="nope"),
        open_one._replace(id="\ud800"),
    ):
        await fails(send(engine, wrong, 1, b"x"), errors.UploadNotFoundError)
        await fails(engine.multipart.list_parts(REPO, wrong), errors.UploadNotFoundError)
        await fails(engine.multipart.abort(REPO, wrong), errors.UploadNotFoundError)
    await fails(complete(engine, target._replace(path="other"), parts), errors.UploadNotFoundError)


async def test_a_stream_that_fails_at_its_end_leaves_the_part_as_it_was() -> None:
    engine = await make_engine()
    target = await begin(engine)
    kept = await send(engine, target, 1, b"kept")

    async def torn() -> AsyncIterator[bytes]:
        yield b"torn"
        raise ConnectionError("the sum is wrong")

    await fails(engine.multipart.put_part(REPO, target, 1, 4, torn()), ConnectionError)
    for size in (3, 5):
        short = engine.multipart.put_part(REPO, target, 1, size, once(b"four"))
        await fails(short, errors.InvalidRequestError)
    await complete(engine, target, [kept])
    assert await content(engine) == {"big": "kept"}


async def test_bounds_of_parts() -> None:
    engine = await make_engine()
    target = await begin(engine)
    for number in (0, 10_001, -1):
        await fails(send(engine, target, number, b""), errors.InvalidRequestError)
    await fails(engine.multipart.put_part(REPO, target, 1, (5 << 30) + 1, once(b"")), errors.PartTooLargeError)
    await complete(engine, target, [await send(engine, target, 10_000, b"last")])


async def test_a_completion_asked_for_again_gives_the_same_answer() -> None:
    clock = FakeClock()
    engine = await make_engine(clock=clock)
    target, parts = await two(engine)
    first = await complete(engine, target, parts, if_none_match=True)
    await put(engine, "big", "written since")
    clock.forward(100)
    assert await complete(engine, target, parts, if_none_match=True) == first
    assert await content(engine) == {"big": "written since"}  # it is not done again
    await fails(complete(engine, target, parts[:1]), errors.UploadNotFoundError)
    clock.forward(REMEMBERED)
    await engine.maintenance.clean()
    assert await rows(engine) == {"upload-due"}  # of the week in which it was begun
    await fails(complete(engine, target, parts), errors.UploadNotFoundError)
    clock.forward(WEEK)
    await engine.maintenance.clean()
    assert await rows(engine) == set()


async def test_conditions_hold_when_the_object_is_staged() -> None:
    engine = await make_engine()
    old = await put(engine, "big", "old")
    target, parts = await two(engine)
    await fails(complete(engine, target, parts, if_none_match=True), errors.PreconditionFailedError)
    await fails(complete(engine, target, parts, if_match="0" * 32), errors.PreconditionFailedError)
    assert await content(engine) == {"big": "old"}
    await send(engine, target, 2, b"still open")
    new = await complete(engine, target, parts, if_match=old.etag)
    again, others = await two(engine, tail=b"newer")
    await fails(complete(engine, again, others, if_match=new.checksum), errors.PreconditionFailedError)
    await complete(engine, again, others, if_match=new.etag)


async def test_a_condition_is_asked_again_after_the_parts_were_put_together() -> None:
    kv = HookedKV(MemoryKV())
    engine = await make_engine(kv)
    target, parts = await two(engine)

    at_landing(kv, lambda: put(engine, "big", "came between"))
    await fails(complete(engine, target, parts, if_none_match=True), errors.PreconditionFailedError)
    assert await content(engine) == {"big": "came between"}
    await engine.objects.delete(REPO, "main", "big")
    await complete(engine, target, parts, if_none_match=True)  # the upload is still there, with these parts
    assert (await engine.objects.stat(REPO, "main", "big")).size == LEAST_PART + 4


async def test_one_of_two_conditional_uploads_to_a_path_succeeds() -> None:
    engine = await make_engine()
    one, other = await two(engine, tail=b"one"), await two(engine, tail=b"two")
    done = await asyncio.gather(
        *(complete(engine, target, parts, if_none_match=True) for target, parts in (one, other)),
        return_exceptions=True,
    )
    landed = [entry for entry in done if isinstance(entry, Entry)]
    assert len(landed) == 1
    assert [type(error) for error in done if not isinstance(error, Entry)] == [errors.PreconditionFailedError]
    assert await engine.objects.stat(REPO, "main", "big") == landed[0]


async def test_concurrent_completes_of_one_upload_store_one_object(tmp_path: Path) -> None:
    kv = MemoryKV()
    await make_engine(kv, Stores(tmp_path), namespace="local://lake")
    engines = [new_engine(kv, Stores(tmp_path)) for _ in range(6)]
    target, parts = await two(engines[0])
    done = await asyncio.gather(*(complete(one, target, parts, if_none_match=True) for one in engines))
    assert len(set(map(repr, done))) == 1
    assert await read(engines[0], "main", "big") == LARGE + b"tail"
    assert len([path for path in (tmp_path / "lake" / "data").rglob("*") if path.is_file()]) == 1


async def test_two_concurrent_completions_make_one_object() -> None:
    engine = await make_engine()
    target, parts = await two(engine)
    done = await asyncio.gather(
        *(complete(engine, target, chosen) for chosen in (parts, parts[:1])), return_exceptions=True
    )
    landed = [entry for entry in done if isinstance(entry, Entry)]
    assert len(landed) == 1
    kinds = {type(error) for error in done if not isinstance(error, Entry)}
    assert kinds <= {errors.InvalidPartError, errors.UploadNotFoundError}
    assert len(await read(engine, "main", "big")) == landed[0].size


def at_landing(kv: HookedKV, job: Callable[[], Awaitable[Any]]) -> None:
    """Do this once, right before the batch that stages the object of an upload and ends it."""

    async def before(name: str, what: Any) -> None:
        if name == "apply" and any(one.key.startswith(b"ended/") for one in what.puts):
            kv.before = None
            await job()

    kv.before = before


async def test_an_upload_aborted_during_its_completion_is_not_an_object() -> None:
    kv = HookedKV(MemoryKV())
    engine = await make_engine(kv)
    target, parts = await two(engine)
    at_landing(kv, lambda: engine.multipart.abort(REPO, target))
    await fails(complete(engine, target, parts), errors.UploadNotFoundError)
    assert await content(engine) == {}
    assert (await engine.maintenance.fsck(REPO, FsckOptions(data=True))).ok


async def test_complete_in_progress_cannot_be_replaced_by_other_parts() -> None:
    kv = HookedKV(MemoryKV())
    engine = await make_engine(kv)
    target, parts = await two(engine)

    async def killed(*_: object) -> None:
        raise asyncio.CancelledError

    async def others() -> None:  # a process that puts other parts together, and is killed then
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("lakebed_engine.operations.multipart.complete._stage_object", killed)
            await fails(complete(engine, target, parts[:1]), errors.InvalidPartError, asyncio.CancelledError)

    at_landing(kv, others)
    await complete(engine, target, parts)
    assert await read(engine, "main", "big") == LARGE + b"tail"


@pytest.mark.parametrize("look", [1, 2])
async def test_a_repeated_completion_meets_its_own_object(look: int) -> None:
    """Another process stores the object right before this one checks whether the path is free."""
    kv = HookedKV(MemoryKV())
    engine = await make_engine(kv)
    await put(engine, "other", "so that the token has rows")
    target, parts = await two(engine)
    landed: list[Entry] = []
    looks = 0

    async def before(name: str, what: Any) -> None:
        nonlocal looks
        if name == "get" and what[0].startswith("stage/") and what[1] == b"big":
            looks += 1
            if looks == look:
                kv.before = None
                landed.append(await complete(engine, target, parts, if_none_match=True))

    kv.before = before
    assert await complete(engine, target, parts, if_none_match=True) == (*landed,)[0]


async def test_an_aborted_client_upload_leaves_nothing() -> None:
    clock = FakeClock()
    engine = await make_engine(clock=clock)
    target, parts = await two(engine)
    assert len(await left(engine)) == 2
    await engine.multipart.abort(REPO, target)
    assert await left(engine) == []
    await engine.multipart.abort(REPO, target)  # asked for again: its answer may have been lost
    await fails(complete(engine, target, parts), errors.UploadNotFoundError)
    await fails(send(engine, target, 1, b"x"), errors.UploadNotFoundError)
    assert await left(engine) == []
    clock.forward(WEEK + REMEMBERED)
    await engine.maintenance.clean()
    assert await rows(engine) == set()


async def test_a_part_that_arrives_while_its_upload_ends_is_removed() -> None:
    engine = await make_engine()
    target, parts = await two(engine)

    async def late() -> AsyncIterator[bytes]:
        yield b"la"
        await complete(engine, target, parts)
        yield b"te"

    await fails(engine.multipart.put_part(REPO, target, 3, 4, late()), errors.UploadNotFoundError)
    assert await left(engine) == []
    assert await read(engine, "main", "big") == LARGE + b"tail"


async def test_late_part_of_a_completed_upload_is_deleted_after_a_day() -> None:
    clock = FakeClock()
    engine = await make_engine(clock=clock)
    target, parts = await two(engine)
    entry = await complete(engine, target, parts)
    orphan = f"{folder_of(entry.physical_address)}00003-{'e' * 32}"
    await store_of(engine).put(orphan, b"late")
    await engine.maintenance.clean()
    assert await left(engine) == [orphan]
    clock.forward(REMEMBERED)
    await engine.maintenance.clean()
    assert await left(engine) == []
    assert await read(engine, "main", "big") == LARGE + b"tail"


async def test_uploads_expire_and_live_ones_do_not() -> None:
    clock = FakeClock()
    engine = await make_engine(clock=clock)
    old, _ = await two(engine, "old")
    clock.forward(2 * DAY)
    young, parts = await two(engine, "young")
    clock.forward(5 * DAY - 1)
    await engine.maintenance.clean()
    await send(engine, old, 2, b"still taken")
    clock.forward(1)
    assert await engine.maintenance.clean() >= 1
    await fails(send(engine, old, 3, b"x"), errors.UploadNotFoundError)
    assert len(await left(engine)) == 2
    await complete(engine, young, parts)


async def test_the_cleaner_retries_after_a_store_failure() -> None:
    clock = FakeClock()
    engine = await make_engine(clock=clock)
    target, _ = await two(engine)
    clock.forward(WEEK)
    store = store_of(engine)
    with pytest.MonkeyPatch.context() as patch:

        async def fail(keys: Sequence[str]) -> None:
            raise errors.StoreUnavailableError("down")

        patch.setattr(store, "delete", fail)
        await fails(engine.maintenance.clean(), errors.StoreUnavailableError)
    assert len(await left(engine)) == 2
    await engine.maintenance.clean()
    assert await left(engine) == []
    await fails(engine.multipart.list_parts(REPO, target), errors.UploadNotFoundError)


async def test_neither_a_sweep_nor_fsck_mistakes_an_open_upload_for_orphans() -> None:
    clock = FakeClock()
    stores = Stores(None)
    stores._stores["", "mem://lake"] = MemoryObjects("mem://lake", clock)
    engine = await make_engine(stores=stores, clock=clock)
    target, parts = await two(engine)
    planned, chosen = await two(engine, "planned")

    with pytest.MonkeyPatch.context() as patch:  # put together, and then the process is killed

        async def killed(*_: object) -> None:
            raise asyncio.CancelledError

        patch.setattr("lakebed_engine.operations.multipart.complete._stage_object", killed)
        with pytest.raises(asyncio.CancelledError):
            await complete(engine, planned, chosen)
    assert len([blob async for blob in store_of(engine).list("data/")]) == 1
    await store_of(engine).put(f"{PARTS}{'0' * 32}/00001-{'1' * 32}", b"of nobody")
    clock.forward(3 * DAY)
    report = await engine.maintenance.fsck(REPO, FsckOptions(data=True))
    assert [one.key for one in report.orphans] == [f"{PARTS}{'0' * 32}/00001-{'1' * 32}"]
    assert report.ok
    options = SweepOptions(data=True, grace=0, age=0)
    swept = await engine.maintenance.sweep(REPO, options)
    assert [one.deleted for one in swept.reports] == [1]
    for one, sent in ((target, parts), (planned, chosen)):
        await complete(engine, one, sent)
    assert await read(engine, "main", "planned") == LARGE + b"tail"
    assert (await engine.maintenance.fsck(REPO, FsckOptions(deep=True))).ok


async def test_a_part_is_made_of_bytes_of_an_object() -> None:
    engine = await make_engine()
    source = await put(engine, "source", "0123456789")
    target = await begin(engine)
    part = await engine.multipart.copy_part(REPO, target, 1, REPO, source, (2, 5))
    assert part.md5 == md5(b"23456")
    for span in ((0, 11), (11, 0), (-1, 2)):
        await fails(engine.multipart.copy_part(REPO, target, 2, REPO, source, span), errors.InvalidRangeError)
    await complete(engine, target, [SentPart(1, part.md5)])
    assert (await content(engine))["big"] == "23456"


async def test_parts_are_listed_by_number_in_pages() -> None:
    engine = await make_engine()
    target = await begin(engine)
    for number in (10_000, 3, 20, 1):
        await send(engine, target, number, b"%d" % number)
    other = await begin(engine)
    await send(engine, other, 2, b"of another upload")
    _, first = await engine.multipart.list_parts(REPO, target, amount=3)
    assert ([part.number for part in first.items], first.has_more) == ([1, 3, 20], True)
    _, rest = await engine.multipart.list_parts(REPO, target, after=20, amount=3)
    assert ([part.number for part in rest.items], rest.has_more) == ([10_000], False)
    _, none = await engine.multipart.list_parts(REPO, target, after=1 << 40)
    assert none == await _empty(engine, target)


async def _empty(engine: Engine, target: Target) -> Any:
    return (await engine.multipart.list_parts(REPO, target, after=10_000))[1]


async def test_uploads_are_listed_by_key_and_id_in_pages() -> None:
    engine = await make_engine()
    await engine.branches.create(REPO, "main-1", "main")
    begun = [
        await begin(engine, path, branch)
        for branch, path in [
            ("main", "a/1"), ("main", "a/2"), ("main", "b"), ("main", "b"), ("main", "é/x"), ("main-1", "a/1"),
        ]
    ]  # fmt: skip
    done, parts = await two(engine, "a/0")
    await complete(engine, done, parts)
    listed = engine.multipart.list
    everything = [(one.key, one.upload.id if one.upload else "") for one in (await listed(REPO)).items]
    wanted = [(f"{one.branch}/{one.path}", one.id) for one in begun]
    assert everything == sorted(wanted)
    found: list[tuple[str, str]] = []
    while (page := await listed(REPO, after=found[-1] if found else ("", ""), amount=1)).items:
        found += [(one.key, one.upload.id) for one in page.items if one.upload]
        assert page.has_more is (len(found) < len(wanted))
    assert found == everything
    grouped = await listed(REPO, prefix="main/", delimiter="/", amount=2)
    assert [(one.key, one.upload is None) for one in grouped.items] == [("main/a/", True), ("main/b", False)]
    rest = await listed(REPO, prefix="main/", delimiter="/", after=("main/a/", ""))
    assert [one.key for one in rest.items] == ["main/b", "main/b", "main/é/"]
    behind = await listed(REPO, prefix="main/", after=("main/b", ""))
    assert [one.key for one in behind.items] == ["main/é/x"]
    assert (await listed(REPO, prefix="dev/")).items == []


async def test_a_workspace_takes_uploads_while_it_is_open() -> None:
    engine = await make_engine()
    space = await engine.workspaces.create(REPO, WorkspaceRequest(ref="main", creator="kim"))
    target, parts = await two(engine, branch=space.name)
    await complete(engine, target, parts)
    assert (await engine.objects.stat(REPO, space.name, "big")).parts == 2
    later, chosen = await two(engine, "later", branch=space.name)
    await engine.workspaces.delete(REPO, space.uid)
    await fails(complete(engine, later, chosen), errors.WorkspaceClosedError)
    await fails(begin(engine, branch=space.name), errors.WorkspaceClosedError)


async def test_no_upload_begins_where_nothing_may_be_written() -> None:
    engine = await make_engine()
    target, parts = await two(engine)
    await fails(begin(engine, branch="nope"), errors.BranchNotFoundError)
    await fails(begin(engine, path=""), errors.InvalidPathError)
    await engine.protection.replace(REPO, [Rule("main")])
    await fails(begin(engine), errors.ProtectedBranchError)
    await fails(send(engine, target, 2, b"x"), errors.ProtectedBranchError)
    await fails(complete(engine, target, parts), errors.ProtectedBranchError)
    await engine.multipart.abort(REPO, target)


def test_records_are_read_as_they_were_written() -> None:
    assert UploadedPart(1, 2, "m", "h", 3) == UploadedPart(1, 2, "m", "h", 3, "")
    upload = Upload(id="i", branch="main", path="a\0b", address="data/x/i", created=1)
    assert key_of(target_of(upload)) == b"upload/main/a\0b\0i"
