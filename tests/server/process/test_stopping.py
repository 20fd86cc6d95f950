"""A stop: interrupted requests get an answer, stuck clients do not delay it, and load balancers see it early."""

from __future__ import annotations

import base64
import http.client
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from lakebed_server.process.app import create_app
from lakebed_server.rest.operation_handlers import HANDLERS

from tests.server.held import BRANCH, COMMITS, Held
from tests.server.serving import PAIR, Process, request
from tests.server.support import UPLOAD, FakeEngine, Wire, bounded, services, serving
from tests.support.waiting import PATIENCE, wait_until

pytestmark = pytest.mark.slow

Start = Callable[..., Process]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    made: list[Process] = []

    def start(**env: str) -> Process:
        made.append(Process("--port", "0", "--data-dir", str(tmp_path / "data"), HOME=str(tmp_path), **PAIR, **env))
        return made[-1]

    yield start
    for one in made:
        one.end()


@pytest.mark.parametrize(
    ("target", "says"), [(f"GET {COMMITS}", "send the request again"), (f"POST {BRANCH}/commits", "check before")]
)
def test_a_request_that_is_cut_off_is_answered_503(target: str, says: str) -> None:
    held = Held()
    handlers: Any = {**HANDLERS, **dict.fromkeys(("logCommits", "commit"), held)}
    app = create_app(services(FakeEngine()), handlers=handlers)
    with serving(app, http=bounded(), timeout_graceful_shutdown=1) as port:
        wire = Wire(port)
        wire.head(target, "Content-Length: 15", "Content-Type: application/json")
        wire.send(b'{"message":"m"}')
        wait_until(lambda: held.inside == 1, "the handler runs")
    answer = wire.answer()
    assert (answer.status, answer.kind, answer.headers["retry-after"]) == (503, "interrupted", "1")
    assert answer.headers["connection"] == "close"
    assert says in answer.json["message"]
    wire.socket.close()


def test_an_upload_that_is_cut_off_is_answered_503() -> None:
    engine = FakeEngine()
    with serving(create_app(services(engine)), http=bounded(), timeout_graceful_shutdown=1) as port:
        wire = Wire(port)
        wire.head(f"POST {UPLOAD}?path=b", "Content-Length: 400")
        wire.send(bytes(100))
        wait_until(lambda: engine.uploads, "the engine receives the upload")
    answer = wire.answer()
    assert (answer.status, answer.kind) == (503, "interrupted")
    assert len(engine.interrupted) == 1
    wire.socket.close()


def test_stuck_clients_do_not_make_a_stop_last_longer_than_its_bound(start: Start) -> None:
    server = start(LAKEBED_SERVER_SHUTDOWN_TIMEOUT="2s")
    port = server.ready()
    assert request(port, "POST", "/repositories", b'{"name":"repo","storage_namespace":"local://repo"}')[0] == 201
    assert request(port, "POST", "/repositories/repo/branches/main/objects?path=a", bytes(32 << 20))[0] == 201
    wires = [Wire(port) for _ in range(4)]
    key, secret = PAIR.values()
    basic = "Authorization: Basic " + base64.b64encode(f"{key}:{secret}".encode()).decode()
    wires[1].send(b"GET / HTT")
    begin = f"POST /api/v1/repositories/repo/branches/main/objects?path=b HTTP/1.1\r\nHost: x\r\n{basic}\r\n"
    wires[2].send(f"{begin}Content-Length: 8\r\n\r\nslow".encode())
    get = f"GET /api/v1/repositories/repo/refs/main/objects?path=a HTTP/1.1\r\nHost: x\r\n{basic}\r\n\r\n"
    wires[3].send(get.encode())
    time.sleep(0.5)  # time for the server to read the requests; it reports nothing of them
    began = time.monotonic()
    assert server.stop() == 0
    assert time.monotonic() - began < 2 + 2 + 1 + 1  # the documented bound, and a second for a busy machine
    assert wires[2].answer().status == 503
    for wire in wires:
        wire.socket.close()


def test_while_it_drains_health_says_so_and_all_else_goes_on(start: Start) -> None:
    server = start(LAKEBED_SERVER_DRAIN="60s")
    port = server.ready()
    assert health(port) == 200
    server.process.send_signal(signal.SIGTERM)
    wait_until(lambda: health(port) == 503, "health says that the server stops")
    assert request(port, "POST", "/repositories", b'{"name":"repo","storage_namespace":"local://repo"}')[0] == 201
    began = time.monotonic()
    assert server.stop() == 0  # a second signal ends the drain
    assert time.monotonic() - began < 30


def test_a_drain_ends_by_itself_and_ctrl_c_has_none(start: Start) -> None:
    server = start(LAKEBED_SERVER_DRAIN="1s")
    server.ready()
    began = time.monotonic()
    assert server.stop() == 0
    assert 1 <= time.monotonic() - began < 30
    server = start(LAKEBED_SERVER_DRAIN="60s")
    server.ready()
    began = time.monotonic()
    assert server.stop(signal.SIGINT) == 0
    assert time.monotonic() - began < 30


def health(port: int) -> int:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    try:
        connection.request("GET", "/_health")
        return connection.getresponse().status
    finally:
        connection.close()
