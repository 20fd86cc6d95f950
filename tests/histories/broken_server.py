"""`lakebed serve` with one mistake in it: run as a script, with the command's arguments. The test of the histories.

TEST_HISTORY_MUTANT names the mistake. Each replaces something of the server by its name there: if that is gone, the
server does not come up, and the test fails.
"""

from __future__ import annotations

import asyncio
import os
import time
from typing import Any

from lakebed_engine.operations.branch import compare_and_swap
from lakebed_engine.operations.keys import commit_key, staging
from lakebed_engine.stores.kv.base import Batch, Versioned
from lakebed_engine.stores.kv.postgres import session
from lakebed_engine.stores.kv.postgres.store import PostgresKV

STALE_SECONDS = 2.0


def stale_cache() -> None:
    """Staged rows are cached for two seconds. What this server writes itself it takes out; others write too."""
    get, apply = PostgresKV.get, PostgresKV.apply
    known: dict[tuple[str, bytes], tuple[float, Versioned | None]] = {}

    async def cached(self: PostgresKV, partition: str, key: bytes) -> Versioned | None:
        if not partition.startswith(staging("")):
            return await get(self, partition, key)
        at, found = known.get((partition, key), (0.0, None))
        if time.monotonic() - at > STALE_SECONDS:
            found = await get(self, partition, key)
            known[partition, key] = time.monotonic(), found
        return found

    async def applied(self: PostgresKV, batch: Batch) -> int:
        try:
            return await apply(self, batch)
        finally:
            for put in batch.puts:
                known.pop((put.partition, put.key), None)
            for delete in batch.deletes:
                known.pop((delete.partition, delete.key), None)

    PostgresKV.get, PostgresKV.apply = cached, applied  # type: ignore[method-assign]


def answer_before_the_batch() -> None:
    """A commit is answered while the batch that moves the head is still under way."""
    apply = compare_and_swap.apply
    under_way: set[asyncio.Task[bool]] = set()

    async def early(ctx: Any, repo: Any, batch: Batch, operation: bytes) -> bool:
        if not any(one.key.startswith(commit_key("")) for one in batch.puts):
            return await apply(ctx, repo, batch, operation)
        task = asyncio.ensure_future(apply(ctx, repo, batch, operation))
        under_way.add(task)
        task.add_done_callback(under_way.discard)
        return True

    compare_and_swap.apply = early


def unsynced_database() -> None:
    """PostgreSQL answers before its log is written: what it says to have done is gone when it crashes."""
    assert "synchronous_commit" in session._DURABLE
    session._DURABLE = "SELECT set_config('synchronous_commit', 'off', false)"  # type: ignore[misc]


MUTANTS = {one.__name__: one for one in (stale_cache, answer_before_the_batch, unsynced_database)}
"""By name. A module that another one imports by name must be changed before that one is imported: before `main`."""


def _main() -> None:
    MUTANTS[os.environ["TEST_HISTORY_MUTANT"]]()
    from lakebed.cli.main import main

    main()


if __name__ == "__main__":
    _main()
