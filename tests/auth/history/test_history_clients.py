"""The access history as users read it: as a DataFrame and with `lakebed history`."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import lakebed
import pytest

from tests.support.processes.nursery import ended
from tests.support.processes.server import RunningServer, clean_environment, running_server
from tests.support.waiting import PATIENCE

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    with running_server(tmp_path_factory, environment={"LAKEBED_HISTORY_ENABLED": "true"}) as running:
        with lakebed.connect(running.endpoint, running.access_key_id, running.secret_access_key) as lake:
            main = lake.repository("sales").create("local://sales").branch("main")
            main.put("orders/a.csv", b"1")
            main.get("orders/a.csv")
            main.commit("first")
        yield running


def run(server: RunningServer, *arguments: str) -> subprocess.CompletedProcess[str]:
    variables = clean_environment(
        LAKEBED_ENDPOINT=server.endpoint,
        LAKEBED_ACCESS_KEY_ID=server.access_key_id,
        LAKEBED_SECRET_ACCESS_KEY=server.secret_access_key,
    )
    return ended(arguments, variables, PATIENCE)


def test_the_history_is_a_data_frame(server: RunningServer) -> None:
    with lakebed.connect(server.endpoint, server.access_key_id, server.secret_access_key) as lake:
        frame = lake.repository("sales").access_history(path="orders/").to_pandas()
        assert {"uploadObject", "getObject"} <= set(frame["operation"])
        assert set(frame["user"]) == {"admin"}
        before = datetime.now(UTC) - timedelta(days=30)
        assert lake.repository("sales").access_history(since=before, until=before + timedelta(days=1)).num_rows == 0


def test_the_command_shows_who_did_what(server: RunningServer) -> None:
    shown = run(server, "history", "sales", "--path", "orders/", "--since", "7d")
    assert shown.returncode == 0, shown.stderr
    assert "admin  uploadObject  main/orders/a.csv  127.0.0.1" in shown.stdout
    last = run(server, "history", "sales", "--operation", "commit", "-n", "1", "--json")
    (row,) = json.loads(last.stdout)
    assert (row["user"], len(row["commit_id"])) == ("admin", 64)


def test_rows_of_the_server_are_read_without_a_repository(server: RunningServer) -> None:
    with lakebed.connect(server.endpoint, server.access_key_id, server.secret_access_key) as lake:
        lake.users.create("ana")
        (row,) = lake.access_history(operation="createUser").to_pylist()
        assert (row["user"], row["path"], row["repository"]) == ("admin", "/auth/users", "")
    shown = run(server, "history", "--operation", "createUser")
    assert shown.returncode == 0, shown.stderr
    assert "admin  createUser  /auth/users  127.0.0.1" in shown.stdout
    assert run(server, "history", "sales", "--rights").returncode == 2


def test_the_directory_of_a_repository_is_recorded_when_a_client_gets_it(server: RunningServer) -> None:
    with lakebed.connect(server.endpoint, server.access_key_id, server.secret_access_key) as lake:
        made = lake.repository("shared").create("local://shared")
        with made.branch("main").workspace("w") as workspace:
            workspace.put("a", b"1")
        rows = made.access_history(operation="grant_read").to_pylist()
        assert {(row["user"], row["path"]) for row in rows} == {("admin", "")}


def test_a_wrong_time_is_refused(server: RunningServer) -> None:
    refused = run(server, "history", "sales", "--since", "yesterday")
    assert refused.returncode == 2
    assert "write 2026-01-31T12:00:00, or 7d for a week ago" in refused.stderr


def test_rows_that_were_waiting_are_written_at_the_stop(tmp_path_factory: pytest.TempPathFactory) -> None:
    place = tmp_path_factory.mktemp("stopped") / "data"
    with (
        running_server(place, environment={"LAKEBED_HISTORY_ENABLED": "true"}) as running,
        lakebed.connect(running.endpoint, running.access_key_id, running.secret_access_key) as lake,
    ):
        lake.repository("sales").create("local://sales")
        lake.repository("sales").branch("main").put("a", b"1")
    assert len(list((place / "objects").rglob("history/date=*/*.parquet"))) == 1
