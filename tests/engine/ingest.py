"""What the ingest tests share: an engine that may read `mem://source`, and a whole ingest as the SDK does it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
from lakebed_engine.engine import Engine
from lakebed_engine.stores.kv.base import KVStore
from lakebed_engine.stores.objects.base import ObjectStore, ObjectStores
from lakebed_engine.stores.objects.external import Foreign
from lakebed_engine.stores.objects.registry import Stores
from lakebed_engine.vocabulary.errors import EngineError
from lakebed_engine.vocabulary.records import Commit
from lakebed_engine.vocabulary.requests import AdvanceRequest, IngestPage, IngestRequest

from tests.engine.support import REPO, make_engine
from tests.engine.workspacing import workspace

SOURCE = "mem://source/in/"


class World:
    """An engine, and the store that it ingests from, as the tool sees it that writes there."""

    def __init__(self, engine: Engine, source: ObjectStore) -> None:
        self.engine = engine
        self.source = source

    async def write(self, path: str, text: str = "") -> None:
        await self.source.put(f"in/{path}", text.encode())

    async def remove(self, path: str) -> None:
        await self.source.delete([f"in/{path}"])

    async def diff(self, ref: str = "main", **options: Any) -> list[IngestPage]:
        """All pages."""
        pages, after = [], ""
        while True:
            page = await self.engine.workspaces.ingest_diff(REPO, ref, asked(after=after, **options))
            pages.append(page)
            after = page.next
            if not after:
                return pages

    async def ingest(self, policy: str = "rebase", **options: Any) -> Commit | None:
        """A whole ingest: None when there was nothing to commit. Whatever goes wrong, no workspace stays open."""
        first = await self.engine.workspaces.ingest_diff(REPO, "main", asked(**options))
        while first.next and not (first.added or first.changed or first.removed):
            first = await self.engine.workspaces.ingest_diff(
                REPO, first.base_commit_id, asked(after=first.next, **options)
            )
        if not (first.added or first.changed or first.removed):
            return None
        prefix = options.get("prefix", "t")
        claims = (f"{prefix}/",) if prefix else ()
        made = await workspace(self.engine, first.base_commit_id, branch="main", claims=claims)
        try:
            after = ""
            while True:
                page = await self.engine.workspaces.ingest(REPO, made.uid, asked(after=after, **options))
                after = page.next
                if not after:
                    break
            request = AdvanceRequest(committer="ann", message="ingest", policy=policy)  # type: ignore[arg-type]
            return await self.engine.workspaces.commit(REPO, made.uid, request)
        except EngineError:
            await self.engine.workspaces.delete(REPO, made.uid)
            raise


def asked(**options: Any) -> IngestRequest:
    return msgspec.structs.replace(IngestRequest(source=SOURCE, prefix="t"), **options)


async def make_world(
    kv: KVStore | None = None,
    stores: ObjectStores | None = None,
    allow: Sequence[str] = ("mem://source",),
    **options: Any,
) -> World:
    """With the branch `main` of REPO and an empty source."""
    stores = stores or Stores(None)
    engine = await make_engine(kv, stores, foreign=Foreign(stores.open, allow), **options)
    return World(engine, stores.open("mem://source"))
