"""`/_ready`: 200 while the stores answer, 503 with a reason otherwise, for anybody, without a name."""

from __future__ import annotations

import asyncio
import signal
import time
from pathlib import Path
from typing import Any

import httpx
import pytest
from lakebed_engine.engine import Engine
from lakebed_engine.stores.kv.base import Versioned
from lakebed_engine.stores.kv.memory import MemoryKV
from lakebed_engine.stores.objects.registry import Stores
from lakebed_engine.vocabulary.errors import StoreUnavailableError
from lakebed_server.bounds.admission import Stopping
from lakebed_server.monitoring.readiness import ReadinessCheck

from tests.monitoring.scraping import connect
from tests.server.serving import PAIR, Process
from tests.support.processes.server import running_server
from tests.support.waiting import PATIENCE, wait_until

FIELDS = {"ready", "reasons", "kv", "object_stores", "lag_ms"}


class BrokenKV(MemoryKV):
    """Answers `get` after `seconds`, with an error if `fails`."""

    def __init__(self, seconds: float, fails: bool) -> None:
        super().__init__()
        self.seconds = seconds
        self.fails = fails
        self.asked = 0

    async def get(self, partition: str, key: bytes) -> Versioned | None:
        self.asked += 1
        await asyncio.sleep(self.seconds)
        if self.fails:
            raise StoreUnavailableError("the database at 10.0.0.7 does not answer")
        return await super().get(partition, key)


@pytest.mark.parametrize(("seconds", "fails", "ready"), [(0.0, False, True), (0.0, True, False), (60.0, False, False)])
def test_a_kv_store_that_fails_or_hangs_makes_the_server_not_ready(seconds: float, fails: bool, ready: bool) -> None:
    kv = BrokenKV(seconds, fails)

    async def check() -> list[Any]:
        engine = Engine(kv, Stores(None))
        one = ReadinessCheck(engine, Stopping(), store_seconds=0.2)
        try:
            return await asyncio.gather(*(one.answer() for _ in range(50)), return_exceptions=False)
        finally:
            await engine.close()

    began = time.monotonic()
    answers = asyncio.run(check())
    assert time.monotonic() - began < 30
    assert {answer.ready for answer in answers} == {ready}
    assert {answer.kv for answer in answers} == {ready}
    assert answers[0].reasons == ([] if ready else ["the key-value store does not answer"])
    assert kv.asked == 1  # many who ask at the same time make no work


@pytest.mark.slow
def test_a_disk_that_goes_away_and_comes_back(tmp_path: Path) -> None:
    with running_server(tmp_path / "data") as server:

        def ready() -> httpx.Response:
            return httpx.get(f"{server.endpoint}/_ready", timeout=PATIENCE)  # without a key

        found = ready()
        assert (found.status_code, found.json()["reasons"], set(found.json())) == (200, [], FIELDS)
        assert found.headers["content-type"] == "application/json"
        lake = connect(server)
        lake.repository("secret-lake").create("local://secret-lake").branch("main").put("a", b"1")
        wait_until(lambda: ready().json()["object_stores"] == {"asked": 1, "answering": 1}, "the store in use is asked")
        objects = server.data_dir / "objects"
        objects.rename(server.data_dir / "away")
        wait_until(lambda: ready().status_code == 503, "the server is not ready")
        found = ready()
        assert found.json()["reasons"] == ["no object store answers"]
        assert found.headers["retry-after"] == "1"
        assert "secret" not in found.text
        assert str(tmp_path) not in found.text
        assert httpx.get(f"{server.endpoint}/_health", timeout=PATIENCE).status_code == 200  # a restart would not help
        (server.data_dir / "away").rename(objects)
        wait_until(lambda: ready().status_code == 200, "the server is ready again")


@pytest.mark.slow
def test_a_server_that_stops_is_not_ready_first(tmp_path: Path) -> None:
    flags = ("--port", "0", "--data-dir", str(tmp_path / "data"))
    server = Process(*flags, HOME=str(tmp_path), LAKEBED_SERVER_DRAIN="60s", **PAIR)
    try:
        url = f"http://127.0.0.1:{server.ready()}"
        with httpx.Client(timeout=PATIENCE) as client:
            assert client.get(f"{url}/_ready").status_code == 200
            server.process.send_signal(signal.SIGTERM)
            wait_until(lambda: client.get(f"{url}/_ready").status_code == 503, "the server says that it stops")
            found = client.get(f"{url}/_ready")
            assert found.json()["reasons"] == ["stopping"]
            assert found.headers["connection"] == "close"
            answer = client.get(f"{url}/api/v1/healthcheck")  # everything else goes on, and clients connect again
            assert (answer.status_code, answer.headers["connection"]) == (204, "close")
            assert client.get(f"{url}/").headers["connection"] == "close"
        assert server.stop() == 0
    finally:
        server.end()
