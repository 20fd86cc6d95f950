"""Maintenance processes every repository, however many pages their records take."""

from __future__ import annotations

from lakebed_engine.operations.context import open_repo
from lakebed_engine.operations.gc.deferred_deletes import OPERATION_AGE
from lakebed_engine.operations.keys import REPOSITORIES
from lakebed_engine.stores.kv.base import Row
from lakebed_engine.stores.kv.memory import MemoryKV
from lakebed_engine.vocabulary.requests import CommitRequest, WorkspaceRequest

from tests.engine.support import REPO, FakeClock, make_engine

NAMES = (REPO, "second", "third")


class SmallPages(MemoryKV):
    """Repositories come one at a time, as 100,000 of them would in the pages of another store."""

    async def scan(self, partition: str, start: bytes = b"", end: bytes | None = None, limit: int = 1000) -> list[Row]:
        return await super().scan(partition, start, end, 1 if partition == REPOSITORIES else limit)


async def test_a_pass_reaches_the_last_repository() -> None:
    kv, clock = SmallPages(), FakeClock()
    engine = await make_engine(kv, clock=clock)
    for name in NAMES[1:]:
        await engine.repositories.create(name, f"mem://{name}")
    request = CommitRequest(message="empty", committer="ann", allow_empty=True)
    for name in NAMES:
        await engine.commits.create(name, "main", request)
        await engine.workspaces.create(name, WorkspaceRequest(ref="main", creator="ann", lifetime=60))
    partitions = [(await open_repo(engine.context, name)).partition for name in NAMES]

    async def operations() -> list[set[bytes]]:
        return [{row.key for row in await kv.scan(partition, b"op/", b"op0")} for partition in partitions]

    old = await operations()
    assert all(old)
    assert (await engine.maintenance.snapshot_refs()).written == len(NAMES)
    clock.forward(OPERATION_AGE + 1)
    await engine.maintenance.clean()
    assert [before & now for before, now in zip(old, await operations(), strict=True)] == [set()] * len(NAMES)
    assert [len((await engine.workspaces.list(name)).items) for name in NAMES] == [0] * len(NAMES)
