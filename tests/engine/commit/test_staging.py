"""Upload, delete, copy, reset: visible content, and the state after a failure."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from lakebed_engine.stores.kv.memory import MemoryKV
from lakebed_engine.stores.objects.registry import Stores
from lakebed_engine.vocabulary import errors
from lakebed_engine.vocabulary.requests import Deletion, UploadRequest

from tests.engine.calls import crash_after_seal
from tests.engine.support import (
    REPO,
    FakeClock,
    HookedKV,
    chunked,
    commit,
    content,
    fails,
    make_engine,
    once,
    put,
    put_commit,
)


async def data_keys(stores: Stores, uri: str = "mem://lake") -> set[str]:
    return {blob.key async for blob in stores.open(uri).list("data/")}


async def test_staged_rows_show_over_layers_over_the_head() -> None:
    engine = await make_engine()
    await put_commit(engine, {"a": "head", "b": "head", "c": "head", "d": "head"})
    await put(engine, "b", "layer")
    await engine.objects.delete(REPO, "main", "c")
    await put(engine, "d", "layer")
    await crash_after_seal(engine)
    await put(engine, "c", "token")
    await engine.objects.delete(REPO, "main", "d")
    await crash_after_seal(engine)
    await put(engine, "e", "token")
    assert await content(engine) == {"a": "head", "b": "layer", "c": "token", "e": "token"}
    assert await content(engine, "main@") == dict.fromkeys("abcd", "head")
    for path in ("d", "f"):
        await fails(engine.objects.stat(REPO, "main", path), errors.ObjectNotFoundError)
    assert (await engine.objects.stat(REPO, "main@", "d")).size == 4
    page = await engine.branches.diff(REPO, "main")
    assert [(row.type, row.path) for row in page.items] == [
        ("changed", "b"), ("changed", "c"), ("removed", "d"), ("added", "e"),
    ]  # fmt: skip
    await commit(engine)
    assert await content(engine, "main@") == {"a": "head", "b": "layer", "c": "token", "e": "token"}
    assert not (await engine.branches.diff(REPO, "main")).items


@pytest.mark.parametrize(
    "where", ["token", "layer", "both", "two layers", "tombstone", "tombstone in layer", "nowhere"]
)
@pytest.mark.parametrize("committed", [True, False])
async def test_reset_of_one_object_wherever_it_is_staged(where: str, committed: bool) -> None:
    engine = await make_engine()
    await put_commit(engine, {"x": "head", "p": "head"} if committed else {"x": "head"})
    if where in ("layer", "both", "two layers"):
        await put(engine, "p", "layer")
        await crash_after_seal(engine)
    if where == "two layers":
        await put(engine, "p", "second")
        await crash_after_seal(engine)
    if where in ("token", "both"):
        await put(engine, "p", "token")
    if where.startswith("tombstone"):
        await engine.objects.delete(REPO, "main", "p")
    if where.endswith("in layer"):
        await crash_after_seal(engine)
    await engine.branches.reset_object(REPO, "main", "p")
    wanted = {"p": "head", "x": "head"} if committed else {"x": "head"}
    assert await content(engine) == wanted
    assert not (await engine.branches.diff(REPO, "main")).items
    await engine.branches.reset_object(REPO, "main", "p")
    await fails(commit(engine), errors.NoChangesError)
    assert await content(engine, "main@") == wanted
    await put_commit(engine, {"y": "1"})
    assert await content(engine) == wanted | {"y": "1"}


async def test_reset_of_everything_layers_included() -> None:
    engine = await make_engine()
    await put_commit(engine, {"a": "1"})
    await put(engine, "a", "2")
    await crash_after_seal(engine)
    await put(engine, "b", "2")
    await engine.branches.reset(REPO, "main")
    assert await content(engine) == {"a": "1"}
    await fails(commit(engine), errors.NoChangesError)
    await engine.branches.reset(REPO, "main")
    await fails(engine.branches.reset(REPO, "nope"), errors.BranchNotFoundError)
    await fails(engine.branches.reset_object(REPO, "nope", "a"), errors.BranchNotFoundError)


async def test_copies_share_data_and_keep_everything_but_the_time() -> None:
    clock = FakeClock()
    engine = await make_engine(clock=clock)
    one = await put(engine, "a", "text", content_type="t/t", metadata={"k": "v"})
    await commit(engine)
    await engine.objects.delete(REPO, "main", "a")
    clock.forward(10)
    await fails(engine.objects.copy(REPO, "main", "b", "", "a"), errors.ObjectNotFoundError)
    two, uri = await engine.objects.copy(REPO, "main", "b", "main@", "a")
    assert (two.identity, two.checksum, two.content_type, two.metadata) == (
        one.identity,
        one.checksum,
        "t/t",
        {"k": "v"},
    )
    assert two.mtime == one.mtime + 10
    assert (two, uri) == await engine.objects.locate(REPO, "main", "b")
    assert await content(engine) == {"b": "text"}
    await fails(engine.objects.copy(REPO, "nope", "b", "main", "a"), errors.BranchNotFoundError)
    await fails(engine.objects.copy(REPO, "main", "b", "nope", "a"), errors.RefNotFoundError)


async def test_conditions_of_uploads() -> None:
    engine = await make_engine()
    one = await put(engine, "a", "1", if_none_match=True)
    await fails(put(engine, "a", "2", if_none_match=True), errors.PreconditionFailedError)
    await commit(engine)
    await fails(put(engine, "a", "2", if_none_match=True), errors.PreconditionFailedError)
    await fails(put(engine, "a", "2", if_match="nope"), errors.PreconditionFailedError)
    await fails(put(engine, "b", "2", if_match=one.checksum), errors.NothingThereError)
    two = await put(engine, "a", "2", if_match=one.checksum)
    await fails(put(engine, "a", "3", if_match=one.checksum), errors.PreconditionFailedError)
    await crash_after_seal(engine)
    await put(engine, "a", "3", if_match=two.checksum)
    await engine.objects.delete(REPO, "main", "a")
    await fails(put(engine, "a", "4", if_match=two.checksum), errors.NothingThereError)
    await put(engine, "a", "4", if_none_match=True)
    assert await content(engine) == {"a": "4"}


@pytest.mark.parametrize("condition", [{"if_none_match": True}, {"if_match": "c4ca4238a0b923820dcc509a6f75849b"}])
async def test_a_condition_holds_at_the_moment_of_staging(condition: dict[str, Any]) -> None:
    """M11: a rival's change (in the token, a layer or the head) comes between the check and the write."""

    async def between(how: str) -> None:
        stores = Stores(None)
        kv = HookedKV(MemoryKV())
        engine = await make_engine(kv, stores)
        if "if_match" in condition:
            await put_commit(engine, {"a": "1"})
        done = False

        async def hook(name: str, what: object) -> None:
            nonlocal done
            if name != "apply" or done:
                return
            done = True
            await put(engine, "a", "other")
            if how != "token":
                await crash_after_seal(engine)
            if how == "head":
                await commit(engine)

        kv.before = hook
        before = await data_keys(stores)
        await fails(put(engine, "a", "mine", **condition), errors.PreconditionFailedError)
        assert done
        assert await content(engine) == {"a": "other"}
        assert len(await data_keys(stores)) == len(before) + 1, "the refused data was removed"

    for how in ("token", "layer", "head"):
        await between(how)


async def test_a_refused_upload_takes_no_chunk() -> None:
    engine = await make_engine()
    await put(engine, "a", "1")

    taken = []

    async def body() -> AsyncIterator[bytes]:
        taken.append(True)
        yield b""

    for repo, branch, request, kind in [
        ("nope", "main", UploadRequest(path="x"), errors.RepositoryNotFoundError),
        (REPO, "nope", UploadRequest(path="x"), errors.BranchNotFoundError),
        (REPO, "main", UploadRequest(path=""), errors.InvalidPathError),
        (REPO, "main", UploadRequest(path="a", if_none_match=True), errors.PreconditionFailedError),
    ]:
        await fails(engine.objects.upload(repo, branch, request, body()), kind)
    assert not taken


@pytest.mark.parametrize("scheme", ["mem", "local"])
async def test_an_upload_that_breaks_off_leaves_nothing(scheme: str, tmp_path: Path) -> None:
    stores = Stores(tmp_path)
    uri = f"{scheme}://lake"
    engine = await make_engine(stores=stores, namespace=uri)

    async def broken() -> AsyncIterator[bytes]:
        yield b"x" * 3_000_000
        raise ConnectionResetError("gone")

    await fails(engine.objects.upload(REPO, "main", UploadRequest(path="a"), broken()), ConnectionResetError)

    async def changes() -> AsyncIterator[tuple[UploadRequest, AsyncIterator[bytes]]]:
        yield UploadRequest(path="b"), once(b"whole")
        yield UploadRequest(path="c"), broken()

    await fails(engine.objects.upload_many(REPO, "main", changes()), ConnectionResetError)

    hanging = asyncio.Event()

    async def hangs() -> AsyncIterator[bytes]:
        yield b"x"
        hanging.set()
        await asyncio.Event().wait()

    task = asyncio.create_task(engine.objects.upload(REPO, "main", UploadRequest(path="d"), hangs()))
    await hanging.wait()
    task.cancel()
    await fails(task, asyncio.CancelledError)
    assert await content(engine) == {}
    assert await data_keys(stores, uri) == set()
    assert [left async for left in stores.open(uri).list_partial()] == []
    await engine.close()
    stores.close()


async def test_upload_many_is_all_or_nothing() -> None:
    stores = Stores(None)
    engine = await make_engine(stores=stores)
    await put_commit(engine, {"old": "1"})

    def change(path: str) -> tuple[UploadRequest, AsyncIterator[bytes]]:
        return UploadRequest(path=path), once(path.encode())

    written = await engine.objects.upload_many(REPO, "main", chunked([change("a"), Deletion("old"), change("b")]))
    assert written == [(path, await engine.objects.locate(REPO, "main", path)) for path in ("a", "b")]
    assert await content(engine) == {"a": "a", "b": "b"}
    before = await data_keys(stores)
    await fails(
        engine.objects.upload_many(REPO, "main", chunked([change("c"), change("c")])), errors.InvalidRequestError
    )
    await fails(engine.objects.upload_many(REPO, "main", chunked([change("c"), Deletion("")])), errors.InvalidPathError)
    many = [Deletion(str(number)) for number in range(10_001)]
    await fails(engine.objects.upload_many(REPO, "main", chunked(many)), errors.InvalidRequestError)
    assert await engine.objects.upload_many(REPO, "main", chunked([])) == []
    assert await content(engine) == {"a": "a", "b": "b"}
    assert await data_keys(stores) == before


async def test_read_only_repositories_refuse_but_for_force() -> None:
    engine = await make_engine()
    await engine.repositories.create("frozen", "mem://frozen", read_only=True)
    upload = UploadRequest(path="a")
    await fails(engine.objects.upload("frozen", "main", upload, once(b"")), errors.ReadOnlyRepositoryError)
    await fails(engine.objects.delete("frozen", "main", "a"), errors.ReadOnlyRepositoryError)
    await fails(engine.branches.reset("frozen", "main"), errors.ReadOnlyRepositoryError)
    await fails(engine.tags.create("frozen", "t", "main"), errors.ReadOnlyRepositoryError)
    await fails(engine.branches.create("frozen", "b", "main"), errors.ReadOnlyRepositoryError)
    await fails(engine.repositories.set_metadata("frozen", {"a": "b"}), errors.ReadOnlyRepositoryError)
    await fails(engine.repositories.delete("frozen"), errors.ReadOnlyRepositoryError)
    await engine.objects.upload("frozen", "main", UploadRequest(path="a", force=True), once(b""))
    await engine.tags.create("frozen", "t", "main", force=True)
    await engine.repositories.delete("frozen", force=True)
