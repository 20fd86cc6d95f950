"""Damaged and missing files of a tree: an error that names the file, never other data and never "not found"."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from lakebed_engine.engine import Engine
from lakebed_engine.stores.objects.registry import Stores
from lakebed_engine.vocabulary import errors
from lakebed_format.keys import METARANGES, RANGES

from tests.engine.support import REPO, commit, fails, make_engine, put, put_commit

VERBS: dict[str, Callable[[Engine], Awaitable[Any]]] = {
    "stat": lambda e: e.objects.stat(REPO, "main@", "a"),
    "list": lambda e: e.objects.list(REPO, "main"),
    "diff": lambda e: e.commits.diff(REPO, "main~1", "main", mode="two_dot"),
    "slim diff": lambda e: e.commits.diff(REPO, "main~1", "main", mode="two_dot", details=False),
    "diff branch": lambda e: e.branches.diff(REPO, "main"),
    "commit": commit,
}


@pytest.mark.parametrize("folder", [RANGES, METARANGES])
@pytest.mark.parametrize("damage", ["flip", "cut", "empty", "other", "missing"])
@pytest.mark.parametrize("verb", VERBS)
async def test_damage_is_an_error_that_names_the_file(folder: str, damage: str, verb: str) -> None:
    stores = Stores(None)
    engine = await make_engine(stores=stores)
    store = stores.open("mem://lake")
    await put_commit(engine, {"other": "1"})
    others = {blob.key async for blob in store.list(folder)}
    await put_commit(engine, {"a": "1", "other": "2"})
    await put(engine, "a", "2")
    keys = [blob.key async for blob in store.list(folder)]
    (key,) = set(keys) - others
    data = bytearray(await store.get(key))
    data[len(data) // 2] ^= 4
    if damage == "missing":
        await store.delete([key])
    else:
        other = await store.get(next(iter(others)))
        await store.put(key, {"flip": bytes(data), "cut": bytes(data[:-3]), "empty": b"", "other": other}[damage])
    engine.clear_caches()
    kind = errors.MissingFileError if damage == "missing" else errors.CorruptDataError
    error = await fails(VERBS[verb](engine), kind)
    assert key in str(error)


async def test_missing_data_is_an_object_gone_error() -> None:
    stores = Stores(None)
    engine = await make_engine(stores=stores)
    entry = await put(engine, "a", "1")
    await stores.open("mem://lake").delete([entry.physical_address])

    async def read() -> None:
        async with engine.objects.open(REPO, entry):
            raise AssertionError("opened")

    error = await fails(read(), errors.ObjectGoneError)
    assert "mem://lake/data/" in str(error)
