"""Servers that are killed, and two servers on one store: every event of a change that landed is delivered."""

from __future__ import annotations

import asyncio
import contextlib
import json
import signal
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from lakebed_engine.operations.hooks.deliveries import LEASE
from lakebed_engine.operations.hooks.runs import LATE
from lakebed_engine.operations.keys import DISPATCHER_LEASE, HOOK_DELIVERIES, hook_run_key
from lakebed_engine.stores.kv.base import Batch, Put
from lakebed_engine.stores.kv.sqlite.store import SqliteKV

from tests.hooks.delivering import until, waiting
from tests.hooks.receiving import Received, receiving
from tests.hooks.rest import Rest, action_file
from tests.support.processes.server import ADMIN_ID, ADMIN_SECRET, RunningServer, running_server
from tests.support.services.postgres import running_postgres
from tests.support.sizes import sized
from tests.support.waiting import PATIENCE, wait_until

pytestmark = pytest.mark.slow

ALLOW = {"LAKEBED_HOOKS_WEBHOOK_ALLOW": "127.0.0.1"}
TAKEN_OVER = 40
"""Seconds in which another server takes the lease of a killed one and delivers."""


@contextmanager
def _client(server: RunningServer) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=f"{server.endpoint}/api/v1", auth=(ADMIN_ID, ADMIN_SECRET), timeout=60) as client:
        yield client


def _kill(server: RunningServer) -> None:
    server.process.kill()
    server.process.wait()


def _older(data_dir: Path, key: bytes, field: str, seconds: float, partitions: str = "repo/") -> None:
    """Let what a killed server has written be so much longer ago, instead of a wait. No server runs on this data."""

    async def job() -> None:
        kv, changed = SqliteKV(data_dir / "lakebed.db"), 0
        try:
            for partition in await kv.partitions(partitions):
                if (found := await kv.get(partition, key)) is not None:
                    row = json.loads(found.value)
                    row[field] -= seconds
                    await kv.apply(Batch(puts=[Put(partition, key, json.dumps(row).encode())]))
                    changed += 1
        finally:
            await kv.close()
        assert changed == 1

    asyncio.run(job())


def _end_lease(data_dir: Path) -> None:
    """The dispatcher's lease of a killed server ends."""
    _older(data_dir, DISPATCHER_LEASE, "until", LEASE, HOOK_DELIVERIES)


def _local(client: httpx.Client) -> Rest:
    name = f"lake{time.time_ns()}"
    made = client.post("/repositories", json={"name": name, "storage_namespace": f"local://{name}"})
    assert made.status_code == 201, made.text
    return Rest(client, name)


def test_a_server_that_is_killed_before_the_call_makes_it_after_its_start(tmp_path: Path) -> None:
    with receiving() as closed:
        url = closed.url  # no receiver listens there until the server was killed
    with running_server(tmp_path / "data", environment=ALLOW) as server, _client(server) as client:
        rest = _local(client)
        rest.settings(
            before=action_file("pre-commit", f"{url}/before", name="before"),
            after=action_file("post-create-tag", f"{url}/after", name="after"),
        )
        rest.put("refused", "1")
        assert rest.commit().status_code == 412  # its hook cannot be called
        for number in range(5):
            rest.done("POST", "/tags", json={"id": f"v{number}", "ref": "main"})
        _kill(server)
    _end_lease(tmp_path / "data")
    with (
        receiving(int(url.rpartition(":")[2])) as receiver,
        running_server(tmp_path / "data", environment=ALLOW) as server,
        _client(server) as client,
    ):
        reported = receiver.wait("/after", 5, TAKEN_OVER)
        assert {one.event["tag_id"] for one in reported} == {f"v{number}" for number in range(5)}
        again = Rest(client, rest.name)
        assert until(lambda: waiting(again) == [])
        assert len(receiver.received) == 5  # nothing for the commit that did not land


def test_a_server_that_is_killed_during_a_call_makes_it_again_with_the_same_id(tmp_path: Path) -> None:
    reached, killed = threading.Event(), threading.Event()
    with receiving() as receiver:

        def hold(_: Received) -> tuple[int, Any]:
            if not reached.is_set():
                reached.set()
                assert killed.wait(PATIENCE)
            return 200, {}

        receiver.answers["/after"] = hold
        with running_server(tmp_path / "data", environment=ALLOW) as server, _client(server) as client:
            rest = _local(client)
            rest.settings(rule=action_file("post-commit", f"{receiver.url}/after", timeout="20s"))
            made = rest.put_commit("a", "1")
            assert reached.wait(20)
            _kill(server)
            killed.set()
        _end_lease(tmp_path / "data")
        with running_server(tmp_path / "data", environment=ALLOW) as server, _client(server) as client:
            first, second = receiver.wait("/after", 2, TAKEN_OVER)
            assert first.headers["webhook-id"] == second.headers["webhook-id"]
            assert first.event["commit_id"] == second.event["commit_id"] == made
            assert until(lambda: waiting(Rest(client, rest.name)) == [])
            assert len(receiver.at("/after")) == 2


def test_a_server_that_stops_hands_its_work_to_the_next_one_immediately(tmp_path: Path) -> None:
    with receiving() as receiver:
        with running_server(tmp_path / "data", environment=ALLOW) as server, _client(server) as client:
            rest = _local(client)
            rest.settings(rule=action_file("post-commit", f"{receiver.url}/after"))
            rest.put_commit("a", "1")
            receiver.wait("/after", 1)
        with running_server(tmp_path / "data", environment=ALLOW) as server, _client(server) as client:
            rest = Rest(client, rest.name)
            rest.put_commit("b", "1")
            receiver.wait("/after", 2, seconds=10)  # the lease of a killed server would last 15 seconds


def test_two_servers_on_one_database_deliver_each_event_once(tmp_path: Path) -> None:
    with running_postgres() as postgres, receiving() as receiver:
        environment = {
            **ALLOW,
            "LAKEBED_KV_TYPE": "postgres",
            "LAKEBED_KV_POSTGRES_DSN": postgres.dsn,
            "LAKEBED_OBJECTS_LOCAL_ROOT": str(tmp_path / "objects"),
            "LAKEBED_AUTH_SECRET_KEY": "the secret that both of the servers share",
        }
        with (
            running_server(tmp_path / "one", environment=environment) as one,
            running_server(tmp_path / "two", environment=environment) as two,
            _client(one) as here,
            _client(two) as there,
        ):
            rest = _local(here)
            rest.settings(rule=action_file("post-commit", f"{receiver.url}/after"))
            sides = [rest, Rest(there, rest.name)]
            made = [sides[number % 2].put_commit(f"p{number}", "1") for number in range(40)]
            receiver.wait("/after", 40, TAKEN_OVER)
            assert until(lambda: waiting(rest) == [])
            made.append(rest.put_commit("marker", "1"))  # when this one is delivered, a scan has found nothing else
            receiver.wait("/after", 41, TAKEN_OVER)
            assert until(lambda: waiting(rest) == [])
            assert Counter(one.event["commit_id"] for one in receiver.received) == dict.fromkeys(made, 1)
            _kill(one)
            last = sides[1].put_commit("last", "1")
            assert until(lambda: any(reported.event["commit_id"] == last for reported in receiver.received), TAKEN_OVER)


def test_a_slow_hook_and_many_other_commits(tmp_path: Path) -> None:
    with receiving() as receiver, running_server(tmp_path / "data", environment=ALLOW) as server:
        held = threading.Event()

        def slowly(request: Received) -> tuple[int, Any]:
            if request.event["commit_message"] == "0" and not held.is_set():
                held.set()
                wait_until(lambda: len(receiver.received) > 20, "the hooks of other commits are called")
            return 200, {}

        receiver.answers["/slow"] = slowly
        with _client(server) as client:
            rest = _local(client)
            rest.settings(rule=action_file("pre-commit", f"{receiver.url}/slow", timeout="30s"))
            results: list[int] = []

            def commit(number: int) -> None:
                with _client(server) as own:
                    mine = Rest(own, rest.name)
                    files = [("commit", (None, json.dumps({"message": str(number)}), "application/json"))]
                    answer = mine.call(
                        "POST", "/branches/main/objects/batch",
                        files=[*files, ("content", (f"p{number}", b"x"))],
                    )  # fmt: skip
                    results.append(answer.status_code)

            _together(commit, sized(101))
            landed = list(rest.done("GET", "/refs/main/commits", params={"amount": 1000})["results"])
            paths = {
                one["path"] for one in rest.done("GET", "/refs/main/objects/ls", params={"amount": 1000})["results"]
            }
            assert set(results) <= {201, 429}, Counter(results)
            assert len(paths) == results.count(201) == len(landed) - 1
            trees = Counter(one.event["tree_id"] for one in receiver.received)
            assert set(trees.values()) == {1}  # no tree was checked twice


def _together(job: Any, count: int) -> None:
    threads = [threading.Thread(target=job, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_a_server_that_stops_during_a_check_records_the_end_of_the_run(tmp_path: Path) -> None:
    environment = {**_sleeping_check(tmp_path), "LAKEBED_SERVER_SHUTDOWN_TIMEOUT": "1s"}
    with running_server(tmp_path / "data", environment=environment) as server, _client(server) as client:
        rest, sent = _tag_with_the_sleeping_check(client, tmp_path)
        server.process.send_signal(signal.SIGINT)
        server.process.wait(40)
        sent.join(20)
    with running_server(tmp_path / "data", environment=environment) as server, _client(server) as client:
        rest = Rest(client, rest.name)
        (run,) = rest.runs()
        (hook,) = rest.hooks(run["run_id"])
        assert (run["state"], hook["state"], "end_time" in run) == ("error", "error", True)
        assert run["message"] in ("the server stopped before its hooks ended", "the request ended before its hooks")
        assert rest.done("GET", "/tags")["results"] == []


def test_a_run_of_a_killed_server_is_shown_as_failed_after_its_time(tmp_path: Path) -> None:
    environment = {**_sleeping_check(tmp_path), "LAKEBED_HOOKS_OPERATION_TIMEOUT": "20s"}
    with running_server(tmp_path / "data", environment=environment) as server, _client(server) as client:
        rest, sent = _tag_with_the_sleeping_check(client, tmp_path)
        _kill(server)
        sent.join(20)
    with running_server(tmp_path / "data", environment=environment) as server, _client(server) as client:
        rest = Rest(client, rest.name)
        (left,) = rest.runs()
        assert (left["state"], left["status"], "end_time" in left) == ("running", "failed", False)
    _older(tmp_path / "data", hook_run_key(left["run_id"]), "ends_by", 20)
    with running_server(tmp_path / "data", environment=environment) as server, _client(server) as client:
        (late,) = Rest(client, rest.name).runs()
        assert late["state"] == "running"
    _older(tmp_path / "data", hook_run_key(left["run_id"]), "ends_by", LATE)
    with running_server(tmp_path / "data", environment=environment) as server, _client(server) as client:
        rest = Rest(client, rest.name)
        (run,) = rest.runs()
        assert run["state"] == "error"
        assert (run["message"], "end_time" in run) == ("the server stopped before its hooks ended", True)
        assert rest.done("GET", "/tags")["results"] == []


def _sleeping_check(folder: Path) -> dict[str, str]:
    """The environment of a server with a check that writes the file `begun` and does not end."""
    (folder / "sleeping_checks.py").write_text(
        "import pathlib\nimport time\n\n\ndef sleep(event, lake, args):\n"
        "    pathlib.Path(__file__).with_name('begun').touch()\n    time.sleep(600)\n"
    )
    return {"LAKEBED_HOOKS_PYTHON_ALLOW": "sleeping_checks", "PYTHONPATH": str(folder)}


def _tag_with_the_sleeping_check(client: httpx.Client, folder: Path) -> tuple[Rest, threading.Thread]:
    """A new repository, and the request for a tag whose check has begun in its process."""
    rest = _local(client)
    rest.settings(
        rule="name: checks\non: {pre-create-tag: }\nhooks:\n"
        "  - {id: rule, type: python, properties: {entry: 'sleeping_checks:sleep'}}\n"
    )
    sent = threading.Thread(target=_tag, args=(rest,), daemon=True)
    sent.start()
    wait_until((folder / "begun").exists, "the process of the check has begun")
    assert [run["state"] for run in rest.runs()] == ["running"]
    return rest, sent


def _tag(rest: Rest) -> None:
    with contextlib.suppress(httpx.HTTPError):  # the server may close the connection
        assert rest.call("POST", "/tags", json={"id": "v", "ref": "main"}).status_code >= 500
