import asyncio
from typing import Any

import msgspec
import pytest
from lakebed_engine.vocabulary.reports import SweepOptions
from lakebed_server.http.api_description import read_spec
from lakebed_wire.operations import OPERATIONS

from tests.docs.snippets import ROOT
from tests.server.support import FakeEngine, ask, make_app
from tests.support.waiting import until


def test_health_needs_nothing() -> None:
    app = make_app()
    for target, status in (("/api/v1/healthcheck", 204), ("/_health", 200)):
        assert ask(app, target, auth=False).status == status


def test_the_spec_is_served() -> None:
    answer = ask(make_app(), "/openapi.json", auth=False)
    assert answer.status == 200
    spec = msgspec.json.decode(answer.body)
    found = {op["operationId"] for item in spec["paths"].values() for op in item.values() if "operationId" in op}
    assert found == {op.operation_id for op in OPERATIONS}
    assert read_spec() == answer.body


def test_the_spec_is_served_as_it_is_written() -> None:
    answer = ask(make_app(), "/openapi.yaml", auth=False)
    assert answer.status == 200
    assert answer.headers["content-type"] == "application/yaml"
    assert answer.body == (ROOT / "openapi.yaml").read_bytes()


def test_start_page_shows_the_endpoint_setting() -> None:
    answer = ask(make_app(), "/", auth=False, host="lake.example:8000")
    assert "lakebed login http://lake.example:8000 " in answer.body.decode()
    assert ask(make_app(), "/nope", auth=False).status == 404


async def live(app: Any, job: Any) -> Any:
    to_app: asyncio.Queue[Any] = asyncio.Queue()
    from_app: asyncio.Queue[Any] = asyncio.Queue()
    task = asyncio.create_task(app({"type": "lifespan", "asgi": {}}, to_app.get, from_app.put))
    await to_app.put({"type": "lifespan.startup"})
    assert (await from_app.get())["type"] == "lifespan.startup.complete"
    await job
    await to_app.put({"type": "lifespan.shutdown"})
    assert (await from_app.get())["type"] == "lifespan.shutdown.complete"
    await task


def test_the_cleaner_runs_and_shutdown_closes() -> None:
    engine = FakeEngine()
    app = make_app(engine, cleanup_interval=0.01, on_shutdown=engine.close)
    asyncio.run(live(app, until(lambda: engine.seen.count(("clean",)) >= 2, "it cleans again")))
    assert engine.seen[-1] == ("close",)


def test_periodic_sweep_logs_skipped_repositories(caplog: pytest.LogCaptureFixture) -> None:
    engine = FakeEngine()
    options = SweepOptions(every=0.01)
    again = until(lambda: engine.seen.count(("sweep", "", options)) >= 2, "it sweeps again")
    asyncio.run(live(make_app(engine, sweep=options), again))
    assert "repo was not swept: is damaged" in caplog.text
    # without a period: time for a sweep that must not come
    asyncio.run(live(make_app(engine := FakeEngine()), asyncio.sleep(0.05)))
    assert not [one for one in engine.seen if one[0] == "sweep"]


def test_a_failing_cleaner_tries_again(caplog: pytest.LogCaptureFixture) -> None:
    engine = FakeEngine()
    engine.fail = RuntimeError("no")
    again = until(lambda: engine.seen.count(("clean",)) >= 2, "it cleans again")
    asyncio.run(live(make_app(engine, cleanup_interval=0.01), again))
    assert "the cleaner failed" in caplog.text


def test_websockets_are_turned_away() -> None:
    got = []

    async def receive() -> Any:
        return {"type": "websocket.connect"}

    async def send(message: Any) -> Any:
        got.append(message["type"])

    asyncio.run(make_app()({"type": "websocket", "path": "/api/v1/x", "headers": []}, receive, send))
    assert got == ["websocket.close"]
