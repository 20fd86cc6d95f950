"""`lakebed hooks`."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from pathlib import Path

import httpx
import lakebed
import pytest
import respx

from tests.cli.conftest import Run
from tests.support.processes.server import RunningServer
from tests.support.stored_runs import DETAILS, PASSED, REFUSED, store_runs

GOOD = "name: a1\non: {pre-merge: }\nhooks: [{id: h1, type: webhook, properties: {url: 'https://example.org'}}]\n"


@pytest.fixture
def place(server: RunningServer) -> str:
    """The name of a repository with runs."""
    name = f"c{uuid.uuid4().hex[:12]}"
    with lakebed.connect(server.endpoint, server.access_key_id, server.secret_access_key) as lake:
        lake.repository(name).create(f"local://{name}")
    store_runs(server, name)
    return name


@pytest.fixture
def wire(monkeypatch: pytest.MonkeyPatch) -> Iterator[respx.MockRouter]:
    """Answers in the place of a server that has hooks."""
    monkeypatch.setenv("LAKEBED_HTTP", "httpx")  # what respx replaces
    with respx.mock(assert_all_called=False) as router:
        yield router


def test_runs_are_listed(run: Run, place: str) -> None:
    lines = run("hooks", "runs", place).text.splitlines()
    assert lines[0] == (
        f"{REFUSED}  2023-11-14 22:13:20 UTC  refused  pre-merge          main  orders/contract: the contract is broken"
    )
    assert lines[1].startswith(f"{PASSED}  ")
    assert [row["id"] for row in run("hooks", "runs", place, "--branch", "dev", "--json").json] == [PASSED]
    assert [row["id"] for row in run("hooks", "runs", place, "--commit", "c" * 64, "--json").json] == [REFUSED]
    assert "not both" in run("hooks", "runs", place, "--branch", "dev", "--commit", "c", code=2).err


def test_a_run_is_shown_with_the_values_that_broke_the_contract(run: Run, place: str) -> None:
    text = run("hooks", "show", place, REFUSED).text
    assert "state    refused\n" in text
    assert "\norders / contract (contract, 0000_0000): refused\n  the contract is broken\n" in text
    table = [line.split() for line in text.splitlines() if "orders/1.parquet" in line]
    assert table[0][:6] == ["orders/1.parquet", "range", "amount", "refused", "2", "100"]
    assert "row 3: -1, row 7: 12" in text
    assert "notify" not in text
    assert "row 3: -1\n" not in text
    assert "orders / notify (webhook, 0000_0001): skipped" in run("hooks", "show", place, REFUSED, "--skipped").text
    logged = run("hooks", "show", place, REFUSED, "--log").text
    assert "  log:\n    row 3: -1\n" in logged
    assert "\x1b" not in logged
    found = run("hooks", "show", place, REFUSED, "--log", "--json").json
    assert found["hooks"][0]["details"] == DETAILS
    assert found["hooks"][0]["log"].startswith("row 3: -1\n")
    error = run("hooks", "show", place, "none", "--json", code=3).error
    assert (error["kind"], "lakebed hooks runs" in error["hint"]) == ("run_not_found", True)


def test_action_files_are_checked(run: Run, tmp_path: Path) -> None:
    good, bad, binary = tmp_path / "good.yaml", tmp_path / "bad.yaml", tmp_path / "binary.yaml"
    good.write_text(GOOD)
    bad.write_text(GOOD.replace("pre-merge", "pre-lunch"))
    binary.write_bytes(b"\xff\xfe\xfd")
    assert run("hooks", "validate", str(good)).text == "1 action file: valid.\n"
    refused = run("hooks", "validate", str(good), str(bad), str(binary), code=2)
    first, second = refused.text.splitlines()
    assert first.startswith(f"{bad} line 2: unknown event 'pre-lunch'")
    assert second == f"{binary}: the file is not UTF-8"
    found = run("hooks", "validate", str(good), str(bad), "--json", code=2).json
    assert (found["valid"], [one["file"] for one in found["errors"]]) == (False, [str(bad)])
    alone = run("hooks", "validate", str(good), "--endpoint", "http://127.0.0.1:9", "--retries", "0", code=7)
    assert "cannot check action files without a server" in alone.err


def test_settings_are_shown_replaced_and_cleared(run: Run, place: str, tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    file.write_text(GOOD)
    (tmp_path / "x").mkdir()
    other = tmp_path / "x" / "a.yaml"
    other.write_text(GOOD)
    assert "no action files" in run("hooks", "settings", place).text
    assert "has 1 action file in its settings" in run("hooks", "settings", place, str(file)).text
    assert run("hooks", "settings", place).text == f"# a.yaml\n{GOOD}"
    assert "same name" in run("hooks", "settings", place, str(file), str(other), code=2).err
    assert "--clear" in run("hooks", "settings", place, str(file), "--clear", code=2).err
    file.write_text("nothing")
    assert "a.yaml line 1" in run("hooks", "settings", place, str(file), code=2).err
    assert run("hooks", "settings", place, "--json").json == {"actions": {"a.yaml": GOOD}}
    run("hooks", "settings", place, "--clear")
    assert run("hooks", "settings", place, "--json").json == {"actions": {}}


def test_deliveries_of_a_repository_without_any(run: Run, place: str) -> None:
    assert run("hooks", "deliveries", place, "--json").json == []
    assert run("hooks", "redeliver", place, "none", code=3).err


def test_deliveries_and_runs_by_hand(run: Run, server: RunningServer, wire: respx.MockRouter) -> None:
    api = f"{server.endpoint}/api/v1/repositories/lake/actions"
    attempt = {"time": "2026-01-01T00:00:00Z", "state": "error", "message": "no answer", "run_id": "r1"}
    row = {"id": "d1", "state": "failed", "action": "notify", "event_type": "post-merge", "attempts": [attempt]}
    made = {
        "run_id": "r2",
        "branch": "main",
        "start_time": "2026-01-01T00:00:00Z",
        "event_type": "pre-merge",
        "status": "failed",
        "state": "refused",
        "commit_id": "",
        "message": "no",
    }
    pages = [
        {"results": [row], "pagination": {"has_more": True, "next_offset": "failed/d1", "results": 1}},
        {"results": [{**row, "id": "d2"}], "pagination": {"has_more": False, "next_offset": "", "results": 1}},
    ]
    wire.get(f"{api}/deliveries", params={"after": "failed/d1"}).mock(httpx.Response(200, json=pages[1]))
    wire.get(f"{api}/deliveries").mock(httpx.Response(200, json=pages[0]))
    wire.post(f"{api}/deliveries/d1/redeliver").mock(httpx.Response(200, json={**row, "state": "waiting"}))
    started = wire.post(f"{api}/runs").mock(httpx.Response(201, json=made))
    wire.post(f"{api}/runs/r1/rerun").mock(httpx.Response(201, json={**made, "state": "passed"}))
    listed = run("hooks", "deliveries", "lake")
    lines = [f"{id}  failed   post-merge notify (1 attempt)  no answer" for id in ("d1", "d2")]
    assert listed.text.splitlines() == lines
    assert run("hooks", "deliveries", "lake", "-n", "1").text.splitlines() == lines[:1]
    assert run("hooks", "deliveries", "lake", "--json").json[0]["attempts"][0]["run_id"] == "r1"
    assert run("hooks", "redeliver", "lake", "d1").text == "Delivery d1 is due now.\n"
    by_hand = run("hooks", "run", "lake", "--event", "pre-merge", "--ref", "dev", "--action", "a1", code=4)
    assert by_hand.text == "r2  2026-01-01 00:00:00 UTC  refused  pre-merge          main  no\n"
    assert "`lakebed hooks show lake r2`" in by_hand.err
    assert json.loads(started.calls[0].request.content) == {"event": "pre-merge", "ref": "dev", "action": "a1"}
    assert run("hooks", "rerun", "lake", "r1", "--json").json["state"] == "passed"


def test_refused_commit_prints_one_message(run: Run, server: RunningServer, wire: respx.MockRouter) -> None:
    said = {"message": "pre-commit hook aborted, run id 'r1': no", "kind": "hook_refused", "run_id": "r1"}
    commit = wire.post(f"{server.endpoint}/api/v1/repositories/lake/branches/main/commits")
    commit.mock(httpx.Response(412, json=said))
    assert run("commit", "lake/main", "-m", "m", code=4).err == (
        "lakebed: pre-commit hook aborted, run id 'r1': no\n"
        "  Nothing was changed. `lakebed hooks show lake r1` shows what the hooks found.\n"
    )
    error = run("commit", "lake/main", "-m", "m", "--json", code=4).error
    assert (error["kind"], error["run_id"]) == ("hook_refused", "r1")
    assert commit.call_count == 2
