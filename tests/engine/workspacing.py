"""Helpers of the workspace tests: short functions for REPO, and rows whose data exists."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

from lakebed_engine.engine import Engine
from lakebed_engine.operations.context import open_repo
from lakebed_engine.operations.objects.stage import new_entry
from lakebed_engine.stores.objects.base import ObjectStore
from lakebed_engine.vocabulary.records import Commit, Entry, Workspace
from lakebed_engine.vocabulary.requests import AdvanceRequest, WorkspaceRequest

from tests.engine.support import (
    REPO,
    FakeClock,
    make_engine,
    put_commit,
)


async def workspace(engine: Engine, ref: str = "main", **options: Any) -> Workspace:
    """A new workspace."""
    return await engine.workspaces.create(REPO, WorkspaceRequest(ref=ref, creator="ann", **options))


async def advance(engine: Engine, found: Workspace, policy: str = "rebase", *globs: str, **options: Any) -> Commit:
    """Commit a workspace, or what globs choose."""
    request = AdvanceRequest(committer="ann", message="w", policy=policy, globs=globs, **options)  # type: ignore[arg-type]
    return await engine.workspaces.commit(REPO, found.uid, request)


async def store_of(engine: Engine) -> ObjectStore:
    """The object store of REPO, as another tool sees it."""
    return (await open_repo(engine.context, REPO)).store


async def write_below(engine: Engine, found: Workspace, path: str, text: str) -> Entry:
    """Write an object straight to the store, below the workspace's prefix; registers nothing."""
    data = text.encode()
    await (await store_of(engine)).put(found.prefix + path, data)
    checksum = hashlib.md5(data, usedforsecurity=False).hexdigest()
    return new_entry(found.prefix + path, checksum, len(data), 5, "text/plain", {})


async def register(engine: Engine, found: Workspace, rows: dict[str, str | None]) -> None:
    """Write objects below the prefix, and register them; None is a tombstone."""
    made: Sequence[tuple[str, Entry | None]] = [
        (path, None if text is None else await write_below(engine, found, path, text)) for path, text in rows.items()
    ]
    await engine.workspaces.register(REPO, found.uid, made)


async def now(engine: Engine, found: Workspace) -> Workspace:
    """Its record."""
    return await engine.workspaces.get(REPO, found.uid)


async def base() -> tuple[Engine, Workspace]:
    engine = await make_engine(clock=FakeClock())
    await put_commit(engine, {"a": "1", "z": "26"})
    return engine, await workspace(engine)


def clock_of(engine: Engine) -> FakeClock:
    clock = engine.context.clock
    assert isinstance(clock, FakeClock)
    return clock
