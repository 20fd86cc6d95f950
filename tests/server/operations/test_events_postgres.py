"""Two engines on one PostgreSQL change and drain a repository at the same time: each event is in one file, in order."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from lakebed_engine.engine import Engine
from lakebed_engine.stores.kv.postgres.store import PostgresKV
from lakebed_engine.stores.objects.registry import Stores
from lakebed_engine.vocabulary.requests import CommitRequest

from tests.support.services.postgres import running_postgres

pytestmark = pytest.mark.slow

BRANCHES, COMMITS = 4, 12


async def test_two_engines_write_and_drain_together(tmp_path: Path) -> None:
    with running_postgres() as server:
        stores = Stores(tmp_path / "objects")
        kvs = [PostgresKV(server.dsn, pool=4) for _ in range(2)]
        engines = [Engine(kv, stores) for kv in kvs]
        await engines[0].repositories.create("lake", "local://lake")
        made: dict[str, list[str]] = {}

        async def work(number: int) -> None:
            engine, branch = engines[number % 2], f"b{number}"
            await engine.branches.create("lake", branch, "main")
            request = CommitRequest(message="m", committer="ann", allow_empty=True)
            made[branch] = [(await engine.commits.create("lake", branch, request)).id for _ in range(COMMITS)]

        async def drain(engine: Engine) -> None:
            while len(made) < BRANCHES:
                await engine.events.drain("lake", most=5)
                await asyncio.sleep(0.01)

        await asyncio.gather(*map(work, range(BRANCHES)), *map(drain, engines))
        while await engines[0].events.drain("lake", most=5) != 0:
            await asyncio.sleep(0.01)
        page = await engines[1].events.page("lake", amount=1000)
        for engine in engines:
            await engine.close()
        for kv in kvs:
            await kv.close()
        stores.close()
    assert len(page.items) == 1 + BRANCHES * (1 + COMMITS)
    assert len({event.id for event in page.items}) == len(page.items)
    assert all(event.logical_timestamp for event in page.items)
    for branch, commits in made.items():
        events = [event for event in page.items if event.branch == branch]
        assert [event.commit_id for event in events if event.type == "branch.committed"] == commits
        assert [event.before for event in events[1:]] == [event.after for event in events[:-1]]
