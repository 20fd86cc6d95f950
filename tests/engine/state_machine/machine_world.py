"""The environment of `machine.py`: stores in memory or on disk, a stopped clock, and tiny limits."""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest
from lakebed_engine.engine import Engine
from lakebed_engine.operations.tuning import Tuning
from lakebed_engine.stores.kv.base import KVStore
from lakebed_engine.stores.kv.memory import MemoryKV
from lakebed_engine.stores.kv.sqlite.store import SqliteKV
from lakebed_engine.stores.objects.base import ObjectStore
from lakebed_engine.stores.objects.memory import MemoryObjects
from lakebed_engine.stores.objects.registry import Stores
from lakebed_engine.tree.manifest import Limits

from tests.engine.layering import Inline
from tests.engine.support import CountingIds, FakeClock

GRACE = 300.0
CAP = 5

TINY = Tuning(
    commit_wait=0.002,
    guarded_paths=2,
    compared_paths=3,
    kept_rows=4,
    compact_from=3,
    max_layers=CAP,
    layer_bytes=300,
    reset_rows=3,
    staged_page=2,
    sealed_page=3,
)
"""Limits of the engine, so low that a dozen paths reach them. A limit that the engine gets later belongs here."""

TINY_FILES = {
    "lakebed_format.tree.files.BLOOM_FROM": 3,
    "lakebed_format.tree.files.ROW_GROUP_ROWS": 4,
    "lakebed_format.tree.split.RAGGEDNESS": 3,
}
"""Sizes of the file formats, as low."""

LIMITS = (
    Limits(300, 900, patch_rows=8, small=2, patches=3, share=0, portion=3, at_once=1, piece=4),
    Limits(300, 700, patch_rows=4, small=1, patches=2, share=1, piece=4),
    Limits(300, 9000, patch_rows=60, small=0, patches=40, share=0, piece=4),
    Limits(300, 700, patch_rows=0, piece=4),
)
"""How trees are cut: small ranges, under patches that are few and soon folded, or many over one another, or none."""


def tiny(patch: pytest.MonkeyPatch) -> None:
    """Lower the sizes of the file formats for as long as `patch` lives."""
    for name, value in TINY_FILES.items():
        patch.setattr(name, value)


class _Waiting(Inline):
    """Waiting takes no time but the machine's."""

    def __init__(self, clock: FakeClock) -> None:
        self._clock = clock

    async def sleep(self, seconds: float) -> None:
        self._clock.forward(seconds)


class _InMemory:
    """Namespaces of memory, whose files are as old as the machine's clock says."""

    def __init__(self, clock: FakeClock) -> None:
        self._clock = clock
        self._stores: dict[str, MemoryObjects] = {}

    def open(self, uri: str, store_id: str = "") -> ObjectStore:
        return self._stores.setdefault(uri, MemoryObjects(uri, self._clock))

    def check_new(self, uri: str, store_id: str) -> None:
        assert store_id == ""

    def close(self) -> None:
        self._stores = {}


class World:
    """One lake's stores. With `root` they are SQLite and files in a directory of their own below it."""

    def __init__(self, root: Path | None) -> None:
        self.clock = FakeClock()
        self.limits = LIMITS[0]
        self.scheme = "mem" if root is None else "local"
        self._ids = CountingIds()
        self._place = None if root is None else Path(tempfile.mkdtemp(dir=root))
        self._stores = _InMemory(self.clock) if self._place is None else Stores(self._place / "objects")
        self._number = 0
        self._kv = self._open()

    def _open(self) -> KVStore:
        return MemoryKV() if self._place is None else SqliteKV(self._place / f"kv-{self._number}.sqlite")

    def engine(self, cache_bytes: int, snapshot_always: bool) -> Engine:
        """An engine that knows nothing yet, and cuts trees as `limits` say."""
        return Engine(
            self._kv,
            self._stores,
            clock=self.clock,
            ids=self._ids,
            runtime=_Waiting(self.clock),
            cache_bytes=cache_bytes,
            cleanup_grace=GRACE,
            snapshot_always=snapshot_always,
            tuning=replace(TINY, trees=self.limits),
        )

    async def restart(self) -> None:
        """Close the KV store and open it again, if it is on disk."""
        if self._place is not None:
            await self._kv.close()
            self._kv = self._open()

    async def lose_kv(self) -> None:
        """A new, empty KV store over the same objects."""
        await self._kv.close()
        self._number += 1
        self._kv = self._open()

    async def notes(self) -> list[bytes]:
        """What the cleaner still has to remove."""
        return [row.key for row in await self._kv.scan("drops")]

    async def write(self, namespace: str, key: str, data: bytes) -> None:
        """Put an object without the engine."""
        await self._stores.open(namespace).put(key, data)

    def new_id(self) -> str:
        return self._ids.new()

    async def close(self) -> None:
        await self._kv.close()
        self._stores.close()
        if self._place is not None:
            shutil.rmtree(self._place)
