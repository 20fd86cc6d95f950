"""Every example of examples/hooks does what its first lines say, on a server in this process."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Literal

import lakebed
import lakebed_testing
import pyarrow as pa
import pytest
from lakebed_hooks import HookEvent, ReadOnlyRepo, Refuse
from lakebed_testing import LakebedServer

from examples.hooks.airflow_like import AirflowLike
from examples.hooks.lakebed_checks.openlineage import event_of
from examples.hooks.lakebed_checks.personal_data import check
from examples.hooks.slack_like import SlackLike
from tests.support.waiting import wait_until

HERE = Path(__file__).parents[3] / "examples" / "hooks"
ORDERS = {"order_id": [1, 2, 3, 4], "amount": [10.0, 20.0, 30.0, 40.0]}

BAD = {
    "forbid_columns": ({**ORDERS, "user_name": ["a", "b", "c", "d"]}, "user_name"),
    "readers": ({"order_id": ["1", "2", "3", "4"], "amount": ORDERS["amount"]}, "order_id"),
    "schema_change": ({"order_id": ORDERS["order_id"]}, "column 'amount' of orders/may.parquet is gone"),
    "row_count": ({"order_id": [1], "amount": [10.0]}, "rows"),
    "personal_data": ({**ORDERS, "note": ["", "", "ann@example.org", ""]}, "row 2 looks like an e-mail address"),
    "pandera": ({"order_id": [1, 1, 3, 4], "amount": ORDERS["amount"]}, "order_id"),
}
"""For each example that checks: a table that it refuses, and what its message says."""

GOOD = {"order_id": [1, 2, 3, 4, 5], "amount": [10.0, 20.0, 30.0, 40.0, 50.0]}


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[LakebedServer]:
    monkeypatch.setenv("LAKEBEDACTION_AIRFLOW_PASSWORD", "admin")
    monkeypatch.setenv("PYTHONPATH", str(HERE))  # here the package of checks is not installed
    checks = [f"lakebed_checks.{name}" for name in ("schema_changes:check", "personal_data:check", "openlineage:emit")]
    allowed = ",".join([*checks, "lakebed_checks.pandera_orders:check"])
    with lakebed_testing.server({"hooks.python.allow": allowed, "hooks.webhook.allow": "127.0.0.1"}) as running:
        yield running


def _lake(server: LakebedServer, name: str, text: str) -> lakebed.Repository:
    """A repository with orders on main and an example as its rule."""
    repo = server.connect().repository("examples").create("mem://examples")
    main = repo.branch("main")
    main.write_parquet("orders/may.parquet", pa.table(ORDERS))
    main.commit("orders of May")
    repo.set_hook_settings({f"{name}.yaml": text})
    repo.branch("dev").create("main")
    return repo


def _example(name: str) -> str:
    return (HERE / "actions" / f"{name}.yaml").read_text("utf-8")


def test_there_is_a_test_for_every_example() -> None:
    others = {"notify", "airflow", "openlineage", "great_expectations"}  # the last one: tests/recipes
    assert {one.stem for one in (HERE / "actions").glob("*.yaml")} == {*BAD, *others}


@pytest.mark.slow
@pytest.mark.parametrize("name", BAD)
def test_an_example_refuses_bad_data_and_accepts_good(name: str, server: LakebedServer) -> None:
    repo = _lake(server, name, _example(name))
    dev, (bad, said) = repo.branch("dev"), BAD[name]
    dev.write_parquet("orders/may.parquet", pa.table(bad))
    dev.commit("bad orders")
    before = repo.branch("main").commit_info().id
    with pytest.raises(lakebed.HookRefusedError, match=r"pre-merge hook aborted") as caught:
        dev.merge_into("main")
    assert said in str(caught.value)
    assert repo.branch("main").commit_info().id == before
    dev.write_parquet("orders/may.parquet", pa.table(GOOD))
    dev.commit("good orders")
    assert dev.merge_into("main").commit_id == repo.branch("main").commit_info().id


@contextmanager
def _receiving() -> Iterator[tuple[int, list[dict[str, Any]]]]:
    """A receiver of JSON documents: its port and what it has received."""
    received: list[dict[str, Any]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            received.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
            self.send_response(201)
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: Any) -> None:
            """Print nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as http:
        thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        yield http.server_address[1], received
        http.shutdown()
        thread.join()


def _merge_good(repo: lakebed.Repository) -> str:
    dev = repo.branch("dev")
    dev.write_parquet("orders/june.parquet", pa.table(GOOD))
    dev.commit("add June")
    return dev.merge_into("main").commit_id


@pytest.mark.slow
def test_lineage_is_sent_after_a_merge(server: LakebedServer) -> None:
    with _receiving() as (port, received):
        repo = _lake(server, "openlineage", _example("openlineage").replace("5000", str(port)))
        commit_id = _merge_good(repo)
        wait_until(lambda: received)
    (event,) = received
    assert event["outputs"] == [{"namespace": "lakebed", "name": "examples/orders"}]
    assert event["job"]["name"] == "post-merge examples/main"
    assert event["eventType"] == "COMPLETE"
    again = HookEvent(
        event_type="post-merge", event_time=0, action_name="lineage", hook_id="openlineage",
        repository_id="examples", branch_id="main", commit_id=commit_id,
    )  # fmt: skip
    same = event_of(again, ReadOnlyRepo.of_files({}), "lakebed")
    assert same["run"] == event["run"]  # a second delivery is the same run


@pytest.mark.slow
def test_a_channel_gets_a_message_about_a_merge(server: LakebedServer) -> None:
    with SlackLike() as channel:
        repo = _lake(server, "notify", _example("notify").replace("8081", str(channel.port)))
        commit_id = _merge_good(repo)
        wait_until(lambda: channel.messages)
        assert channel.messages[0].startswith(f"post-merge in examples: main is now {commit_id[:8]}")


@pytest.mark.slow
@pytest.mark.parametrize("version", ["v1", "v2"])
def test_a_dag_starts_after_a_merge(version: Literal["v1", "v2"], server: LakebedServer) -> None:
    with AirflowLike(api=version, dags={"load_orders": "success"}) as airflow:
        text = _example("airflow").replace("8080", str(airflow.port)).replace("username: airflow", "username: admin")
        repo = _lake(server, "airflow", text)
        _merge_good(repo)
        wait_until(lambda: airflow.runs)


def test_a_python_check_is_an_ordinary_function() -> None:
    event = HookEvent(event_type="pre-merge", event_time=0, action_name="a", hook_id="h", repository_id="r")
    table = b"id,note\n1,4111 1111 1111 1111\n2,nothing\n"
    found = check(event, ReadOnlyRepo.of_files({"orders/a.csv": table}), {"path": "**/*.csv"})
    assert isinstance(found, Refuse)
    assert "row 0 looks like the number of a payment card" in found.message
    assert check(event, ReadOnlyRepo.of_files({"orders/a.csv": b"id,note\n1,4111\n"}), {"path": "**/*.csv"}) is None
