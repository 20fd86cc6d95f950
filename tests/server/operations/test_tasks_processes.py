"""A task outlives its process: two real servers over one store, one of which is killed or stopped.

Half a minute of silence is not waited for: the sign of life in the store is made older, as time would make it.
"""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import msgspec
import pytest
from lakebed_engine.operations.keys import RUNNING
from lakebed_engine.operations.tasks.records import decode_heartbeat
from lakebed_engine.operations.tuning import Tuning
from lakebed_engine.stores.kv.base import Batch, KVStore, Put
from lakebed_engine.stores.kv.postgres.store import PostgresKV
from lakebed_engine.stores.kv.sqlite.store import SqliteKV
from lakebed_engine.vocabulary.errors import StoreUnavailableError

from tests.support.processes.server import ADMIN_ID, ADMIN_SECRET, RunningServer, running_server
from tests.support.services.postgres import running_postgres
from tests.support.waiting import PATIENCE, wait_until

pytestmark = pytest.mark.slow

FILES = 12_000
"""Enough objects that their import is still running when its server is stopped."""

MAIN = "/repositories/lake/branches/main"


class Stores(NamedTuple):
    """The stores that the servers share, and the place of their objects."""

    environment: Mapping[str, str]
    open_kv: Callable[[], KVStore]
    feed: Path


@pytest.fixture(scope="module", params=["sqlite", pytest.param("postgres", marks=pytest.mark.slow)])
def stores(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stores]:
    place = tmp_path_factory.mktemp("tasks")
    environment = {
        "LAKEBED_OBJECTS_LOCAL_ROOT": str(place / "objects"),
        "LAKEBED_AUTH_SECRET_KEY": "the secret that both of the servers share",
        "LAKEBED_INGEST_ALLOW": "local://feed/",
    }
    feed = place / "objects" / "feed"
    feed.mkdir(parents=True)
    for number in range(FILES):
        os.close(os.open(feed / f"{number:06d}", os.O_CREAT | os.O_WRONLY))
    with ExitStack() as parts:
        if request.param == "postgres":
            dsn = parts.enter_context(running_postgres()).dsn
            environment |= {"LAKEBED_KV_TYPE": "postgres", "LAKEBED_KV_POSTGRES_DSN": dsn}
            yield Stores(environment, lambda: PostgresKV(dsn), feed)
        else:
            environment["LAKEBED_KV_SQLITE_PATH"] = str(place / "shared.db")
            yield Stores(environment, lambda: SqliteKV(place / "shared.db"), feed)


@pytest.fixture
def first(stores: Stores, tmp_path: Path) -> Iterator[RunningServer]:
    with running_server(tmp_path / "first", environment=stores.environment) as server:
        yield server


@pytest.fixture(scope="module")
def second(stores: Stores, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    with running_server(tmp_path_factory, environment=stores.environment) as server:
        yield server


def client(server: RunningServer) -> httpx.Client:
    return httpx.Client(base_url=f"{server.endpoint}/api/v1", auth=(ADMIN_ID, ADMIN_SECRET), timeout=PATIENCE)


def ask(http: httpx.Client, method: str, url: str, **options: Any) -> Any:
    answer = http.request(method, url, **options)
    assert answer.is_success, answer.text
    return answer.json()


def older(stores: Stores, task_id: str, seconds: float) -> None:
    """Let the last sign of life of a task be so much longer ago."""

    async def job() -> None:
        kv = stores.open_kv()
        try:
            for partition in await kv.partitions("repo/"):
                found = await kv.get(partition, RUNNING + task_id.encode())
                if found is not None:
                    beat = decode_heartbeat(found.value)
                    aged = msgspec.structs.replace(beat, at=beat.at - int(seconds))
                    put = Put(partition, RUNNING + task_id.encode(), msgspec.json.encode(aged))
                    await kv.apply(Batch(puts=[put]))
                    return
        finally:
            await kv.close()
        raise AssertionError("nobody is at the task")

    asyncio.run(_bounded(job))


async def _bounded(job: Callable[[], Awaitable[None]]) -> None:
    async with asyncio.timeout(PATIENCE):
        await job()


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGCONT], ids=["killed", "only slow"])
def test_an_import_goes_on_when_its_server_does_not(
    stores: Stores, first: RunningServer, second: RunningServer, end: signal.Signals
) -> None:
    body = {"paths": [{"type": "common_prefix", "path": "local://feed/", "destination": "in/"}],
            "commit": {"message": "the import"}}  # fmt: skip
    with client(first) as here, client(second) as there:
        for number in range(10):
            name = f"{end.name.lower()}-{number}"
            url = MAIN.replace("lake", name)
            ask(there, "POST", "/repositories", json={"name": name, "storage_namespace": f"local://{name}"})
            task = ask(here, "POST", f"{url}/import", json=body)["id"]
            first.process.send_signal(signal.SIGSTOP)
            if not ask(there, "GET", f"{url}/import", params={"id": task})["completed"]:
                with suppress(StoreUnavailableError):  # it was stopped in the middle of a write: all wait for it
                    older(stores, task, Tuning().task_silence + 1)
                    break
            first.process.send_signal(signal.SIGCONT)  # or this process stood still, and the import came to its end
        else:
            raise AssertionError("each import was over before its server was stopped: use more files")
        if end == signal.SIGKILL:
            first.process.kill()
            first.process.wait(PATIENCE)
        done = ended(there, f"{url}/import", task)
        assert done["ingested_objects"] == FILES
        if end == signal.SIGCONT:  # the first one wakes up, and finds that its task is over
            first.process.send_signal(signal.SIGCONT)
            # as much work again: when that is done, the first task has long come to its end there
            again = ask(here, "POST", f"{url}/import", json=body)["id"]
            assert ended(here, f"{url}/import", again)["commit"] == done["commit"]
            assert ask(here, "GET", f"{url}/import", params={"id": task}) == done
        log = ask(there, "GET", f"/repositories/{name}/refs/main/commits")["results"]
        assert [one["message"] for one in log] == ["the import", "Repository created"]
        assert done["commit"]["id"] == log[0]["id"]
        page = ask(there, "GET", f"/repositories/{name}/refs/main/objects/ls", params={"amount": 1000, "prefix": "in/"})
        assert [one["path"] for one in page["results"]] == [f"in/{number:06d}" for number in range(1000)]
        assert ask(there, "GET", f"{url}/diff")["results"] == []


def ended(http: httpx.Client, url: str, task: str) -> Any:
    """What an import came to."""
    status: dict[str, Any] = {}

    def completed() -> bool:
        status.update(ask(http, "GET", url, params={"id": task}))
        return bool(status["completed"])

    wait_until(completed, lambda: f"the import ends: {status}", every=0.02)
    assert "error" not in status, status
    return status
