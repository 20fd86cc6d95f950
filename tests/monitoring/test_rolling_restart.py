"""A rolling restart of three servers behind a load balancer: no error reaches a caller of the SDK, and nothing is lost.

The servers share one PostgreSQL and one object store. Each in turn gets SIGTERM, drains, refuses what still comes over
old connections, stops, and starts again, while threads write, read and commit. Without a time to drain, every client
meets a refusal: the SDK must repeat the request, and must find no trace of the refused one.
"""

from __future__ import annotations

import http.client
import signal
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import lakebed
import pytest

from tests.monitoring.balancer import Balancer
from tests.server.serving import PAIR, Process
from tests.support.processes.ports import reserved_ports
from tests.support.services.postgres import running_postgres
from tests.support.services.s3 import S3Server, shared
from tests.support.waiting import PATIENCE, wait_until

SERVERS = 3
REFUSING = {"LAKEBED_SERVER_DRAIN": "0", "LAKEBED_SERVER_REFUSE": "2s"}
DRAINING = {"LAKEBED_SERVER_DRAIN": "1s", "LAKEBED_SERVER_REFUSE": "1s"}
PAUSE = 0.05
"""Seconds between two steps of a thread. Without it, the load takes all processors, and each restart takes longer."""


@dataclass
class Load:
    """What the threads did. `paths`: of acknowledged writes, with their content. `commits`: acknowledged ids.
    `refused`: requests that stopping servers refused.
    """

    paths: dict[str, bytes] = field(default_factory=dict)
    commits: list[str] = field(default_factory=list)
    errors: list[BaseException] = field(default_factory=list)
    refused: int = 0

    def run(self, main: lakebed.Branch, number: int, stop: threading.Event) -> None:
        """Write, read and commit until `stop`. The first error ends the thread."""
        step = 0
        try:
            while not stop.is_set():
                path, content = f"{number}/{step}", f"{number} {step}".encode()
                main.put(path, content)
                self.paths[path] = content
                assert main.get(path) == content
                try:
                    self.commits.append(main.commit(f"{number} {step}").id)
                except lakebed.NothingToCommitError:
                    pass  # another thread has committed it
                step += 1
                time.sleep(PAUSE)
        except BaseException as error:
            self.errors.append(error)


class Servers:
    """The servers, by port."""

    def __init__(self, place: Path, environment: Mapping[str, str]) -> None:
        self._place = place
        self._environment = environment
        self._running: dict[int, Process] = {}
        self.refused = 0
        """Requests that were refused, by the logs."""

    def start(self, port: int) -> None:
        flags = ("--port", str(port), "--data-dir", str(self._place / str(port)))
        self._running[port] = Process(*flags, HOME=str(self._place), **PAIR, **self._environment)
        assert self._running[port].ready() == port

    def stop(self, port: int) -> None:
        one = self._running.pop(port)
        assert one.stop() == 0
        self.refused += sum("status=503" in line for text in one.said for line in text.splitlines())

    def kill(self) -> None:
        for one in self._running.values():
            one.end()


@contextmanager
def servers(place: Path, more: Mapping[str, str]) -> Iterator[tuple[Servers, list[int]]]:
    with running_postgres() as postgres, reserved_ports(SERVERS) as ports:
        environment = {
            "LAKEBED_KV_TYPE": "postgres",
            "LAKEBED_KV_POSTGRES_DSN": postgres.dsn,
            "LAKEBED_OBJECTS_LOCAL_ROOT": str(place / "objects"),
            "LAKEBED_AUTH_SECRET_KEY": "the secret that all of the servers share",
            "LAKEBED_LOGGING_LEVEL": "WARN",
            **more,
        }
        made = Servers(place, environment)
        try:
            for port in ports:
                made.start(port)
            yield made, ports
        finally:
            made.kill()


def restart_under_load(place: Path, namespace: str, more: Mapping[str, str], rounds: int, threads: int) -> Load:
    """Restart each server `rounds` times under the load of some threads, then check what is there."""
    load, stop = Load(), threading.Event()
    with servers(place, more) as (running, ports), Balancer(ports) as balancer:
        wait_until(lambda: all(balancer.is_ready(port) for port in ports), "the balancer sees all servers")

        def lake() -> lakebed.Lake:
            return lakebed.connect(f"http://127.0.0.1:{balancer.port}", *PAIR.values(), timeout=PATIENCE)

        lake().repository("rolling").create(namespace)
        workers = [
            threading.Thread(target=load.run, args=(lake().repository("rolling").branch("main"), number, stop))
            for number in range(threads)
        ]
        for worker in workers:
            worker.start()
        try:
            for _ in range(rounds):
                for port in ports:
                    before = len(load.commits)
                    running.stop(port)
                    running.start(port)
                    wait_until(lambda port=port: balancer.is_ready(port), "the balancer sees the server again")  # type: ignore[misc]
                    wait_until(
                        lambda before=before: load.errors or len(load.commits) > before + 2,  # type: ignore[misc]
                        "the load goes on",
                    )
        finally:
            stop.set()
            for worker in workers:
                worker.join(PATIENCE)
        assert load.errors == []
        main = lake().repository("rolling").branch("main")
        if main.uncommitted().first() is not None:
            main.commit("the rest")
        check(main, load)
        assert all(balancer.connections[port] > 1 for port in ports)
        load.refused = running.refused
    return load


def check(main: lakebed.Branch, load: Load) -> None:
    """All that was acknowledged is there, once."""
    ids = [commit.id for commit in main.log()]
    assert len(ids) == len(set(ids))
    assert set(load.commits) <= set(ids)
    assert len(load.commits) == len(set(load.commits))
    assert {item.path for item in main.list()} >= load.paths.keys()
    for path, content in list(load.paths.items())[-20:]:
        assert main.get(path) == content


@pytest.mark.slow
def test_no_error_reaches_a_caller_and_nothing_is_lost(tmp_path: Path) -> None:
    load = restart_under_load(tmp_path, "local://rolling", REFUSING, rounds=1, threads=4)
    assert len(load.commits) > 9
    assert load.refused > 0


@pytest.mark.soak
@pytest.mark.parametrize("times", [REFUSING, DRAINING], ids=["refusing", "draining"])
def test_many_restarts_on_a_bucket(tmp_path: Path, times: dict[str, str]) -> None:
    s3 = shared("seaweedfs")
    namespace = f"s3://{s3.bucket}/rolling-{time.time_ns()}"
    load = restart_under_load(tmp_path, namespace, {**s3_settings(s3), **times}, rounds=5, threads=8)
    assert len(load.commits) > 100


def s3_settings(s3: S3Server) -> dict[str, str]:
    return {
        "LAKEBED_OBJECTS_S3_ENDPOINT": s3.endpoint,
        "LAKEBED_OBJECTS_S3_ALLOW_HTTP": "true",
        "LAKEBED_OBJECTS_S3_ACCESS_KEY_ID": s3.access_key_id,
        "LAKEBED_OBJECTS_S3_SECRET_ACCESS_KEY": s3.secret_access_key,
        "LAKEBED_OBJECTS_S3_REGION": "us-east-1",
    }


@pytest.mark.slow
def test_a_server_that_refuses_has_done_nothing(tmp_path: Path) -> None:
    flags = ("--port", "0", "--data-dir", str(tmp_path / "data"))
    server = Process(*flags, HOME=str(tmp_path), LAKEBED_SERVER_DRAIN="0", LAKEBED_SERVER_REFUSE="60s", **PAIR)
    try:
        port = server.ready()
        lake = lakebed.connect(f"http://127.0.0.1:{port}", *PAIR.values(), timeout=PATIENCE, retries=0)
        main = lake.repository("lake").create("local://lake").branch("main")
        main.put("before", b"1")
        server.process.send_signal(signal.SIGTERM)
        wait_until(lambda: answer(port, "GET", "/").status == 503, "the server refuses")
        for method, path in (("GET", "/api/v1/repositories"), ("PUT", "/lake/main/x"), ("GET", "/api/v1/healthcheck")):
            found = answer(port, method, path)
            assert (found.status, found.headers["retry-after"], found.headers["connection"]) == (503, "1", "close")
        assert answer(port, "GET", "/_ready").status == 503
        with pytest.raises(lakebed.ServerUnavailableError) as caught:
            main.put("after", b"2")
        assert caught.value.kind == "stopping"
        assert server.stop() == 0
    finally:
        server.end()


def answer(port: int, method: str, path: str) -> http.client.HTTPResponse:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    try:
        connection.request(method, path, b"x" if method == "PUT" else None)
        found = connection.getresponse()
        found.read()
        return found
    finally:
        connection.close()
