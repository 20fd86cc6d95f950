"""Runs of hooks: order and conditions, verdicts, pending checks, limits, and runs that users order."""

from __future__ import annotations

import io
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from lakebed_server.vocabulary import StartError

from tests.hooks.receiving import Received, Receiver, receiving
from tests.hooks.rest import Rest, action_file, new_repository, prepare
from tests.hooks.serving import serving
from tests.support.waiting import PATIENCE

pytestmark = pytest.mark.medium  # an HTTP server in a thread


@pytest.fixture(scope="module")
def client() -> Iterator[httpx.Client]:
    with serving({"hooks.operation_timeout": "2s", "hooks.log_bytes": "2KiB"}) as made:
        yield made


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as made:
        yield made


@pytest.fixture
def rest(client: httpx.Client) -> Rest:
    return new_repository(client)


def _hook(name: str, url: str, condition: str = "") -> str:
    more = f"    if: {condition}\n" if condition else ""
    return f"  - id: {name}\n    type: webhook\n{more}    properties:\n      url: {url}\n"


def _action(event: str, *hooks: str, name: str = "checks") -> str:
    return f"name: {name}\non:\n  {event}:\nhooks:\n{''.join(hooks)}"


def test_hooks_run_in_order_under_their_conditions(rest: Rest, receiver: Receiver) -> None:
    hooks = [
        _hook("first", f"{receiver.url}/first"),
        _hook("no", f"{receiver.url}/refuse"),
        _hook("after", f"{receiver.url}/after"),
        _hook("tell", f"{receiver.url}/tell", "failure()"),
    ]
    rest.settings(rule=_action("pre-commit", *hooks))
    rest.put("a", "1")
    answer = rest.commit()
    assert answer.status_code == 412
    assert "hook 'no': the table has no owner" in answer.json()["message"]
    assert [one.path for one in receiver.received] == ["/first", "/refuse", "/tell"]
    (run,) = rest.runs()
    assert [hook["state"] for hook in rest.hooks(run["run_id"])] == ["passed", "refused", "skipped", "passed"]


def test_actions_run_at_the_same_time_and_all_refusals_are_reported(rest: Rest, receiver: Receiver) -> None:
    both = threading.Barrier(2)

    def together(request: Received) -> tuple[int, Any]:
        with suppress(threading.BrokenBarrierError):  # the other call did not come: the message has no 2
            both.wait(1.5)
        return 403, {"message": f"no from {request.path}: {1 if both.broken else 2}"}

    receiver.answers["/x"] = receiver.answers["/y"] = together
    files = {name: _action("pre-commit", _hook("rule", f"{receiver.url}/{name}"), name=f"on {name}") for name in "xy"}
    rest.settings(**files)
    rest.put("a", "1")
    message = rest.commit().json()["message"]
    assert "action 'on x', hook 'rule': no from /x: 2" in message
    assert "action 'on y', hook 'rule': no from /y: 2" in message


def test_an_agreement_is_reused_for_the_same_tree_only(rest: Rest, receiver: Receiver) -> None:
    prepare(rest)
    refuses = [True]

    def second(_: Received) -> tuple[int, Any]:
        return (422, {"message": "no"}) if refuses else (200, {})

    receiver.answers["/second"] = second
    hooks = [_hook("one", f"{receiver.url}/one"), _hook("two", f"{receiver.url}/second")]
    rest.settings(rule=_action("pre-merge", *hooks))
    assert rest.call("POST", "/refs/dev/merge/main", json={}).status_code == 412
    assert rest.call("POST", "/refs/dev/merge/main", json={}).status_code == 412
    assert [len(receiver.at(path)) for path in ("/one", "/second")] == [1, 2]  # a webhook that refused is asked again
    again, first = rest.runs()
    (reused, _) = rest.hooks(again["run_id"])
    assert reused["message"] == f"(as in run {first['run_id']}, for the same tree)"

    rest.put_commit("other", "1", "dev")
    assert rest.call("POST", "/refs/dev/merge/main", json={}).status_code == 412
    assert len(receiver.at("/one")) == 2  # another tree
    refuses.clear()
    assert rest.call("POST", "/refs/dev/merge/main", json={"message": "another message"}).status_code == 200
    assert len(receiver.at("/one")) == 3


def test_a_pending_check_is_refused_until_its_job_reports(rest: Rest, receiver: Receiver) -> None:
    prepare(rest)
    receiver.answers["/later"] = lambda _: (202, {"check": "quality"})
    rest.settings(rule=_action("pre-merge", _hook("rule", f"{receiver.url}/later")))
    before = rest.heads()
    for _ in range(2):
        answer = rest.call("POST", "/refs/dev/merge/main", json={})
        assert answer.status_code == 412
        assert "'quality'" in answer.json()["message"]
        assert "is not finished" in answer.json()["message"]
    assert rest.heads() == before
    assert len(receiver.at("/later")) == 1  # the server waits for the check, and does not ask again
    candidate = receiver.at("/later")[0].event["candidate_commit_id"]
    rest.done(
        "POST", f"/commits/{candidate}/checks", json={"name": "quality", "state": "failure", "description": "6 %"}
    )
    assert "failed: 6 %" in rest.call("POST", "/refs/dev/merge/main", json={}).json()["message"]
    rest.done("POST", f"/commits/{candidate}/checks", json={"name": "quality", "state": "success"})
    assert rest.call("POST", "/refs/dev/merge/main", json={}).status_code == 200
    assert [run["state"] for run in rest.runs()] == ["passed", "refused", "pending", "pending"]


def test_all_hooks_of_a_change_have_a_time_together(rest: Rest, receiver: Receiver) -> None:
    hooks = [_hook("one", f"{receiver.url}/hang"), _hook("two", f"{receiver.url}/pass", "true")]
    rest.settings(rule=_action("pre-commit", *hooks))
    rest.put("a", "1")
    answer = rest.commit()  # the receiver hangs for longer than this client waits
    assert answer.status_code == 412
    assert "2 s" in answer.json()["message"]
    (run,) = rest.runs()
    assert [hook["state"] for hook in rest.hooks(run["run_id"])] == ["error", "error"]
    assert receiver.at("/pass") == []  # the first has used the time of both


def test_a_slow_hook_does_not_delay_other_operations(receiver: Receiver) -> None:
    others = threading.Event()

    def slowly(_: Received) -> tuple[int, Any]:
        assert others.wait(PATIENCE)
        return 200, {}

    receiver.answers["/slow"] = slowly
    with serving() as client, ThreadPoolExecutor(1) as pool:
        rest = new_repository(client)
        rest.settings(rule=_action("pre-create-tag", _hook("rule", f"{receiver.url}/slow")))
        rest.put_commit("a", "1")
        slow = pool.submit(rest.call, "POST", "/tags", json={"id": "v1", "ref": "main"})
        receiver.wait("/slow", 1)
        for number in range(5):
            rest.put_commit(f"b{number}", "1")
        assert not slow.done()
        others.set()
        assert slow.result().status_code == 201


def test_the_log_of_a_hook_is_bounded(rest: Rest, receiver: Receiver) -> None:
    receiver.answers["/long"] = lambda _: (422, {"x": "y" * 50_000})
    rest.settings(rule=_action("pre-commit", _hook("rule", f"{receiver.url}/long")))
    rest.put("a", "1")
    assert rest.commit().status_code == 412
    (run,) = rest.runs()
    log = rest.call("GET", f"/actions/runs/{run['run_id']}/hooks/0000_0000/output").text
    assert len(log) < 2200
    assert log.endswith("(the log is cut here)\n")


def test_a_hook_reads_the_candidate_and_receives_its_changes(
    client: httpx.Client, rest: Rest, receiver: Receiver
) -> None:
    prepare(rest)
    seen: list[int] = []

    def read(request: Received) -> tuple[int, Any]:
        candidate = request.event["candidate_commit_id"]
        with httpx.Client(base_url=client.base_url, auth=client.auth) as own:
            found = Rest(own, rest.name).call("GET", f"/refs/{candidate}/objects", params={"path": "b"})
        seen.append(found.status_code)
        return 200, {}

    receiver.answers["/read"] = read
    rest.settings(rule=_action("pre-merge", _hook("rule", f"{receiver.url}/read")))
    merged = rest.done("POST", "/refs/dev/merge/main", json={})["reference"]
    assert seen == [200]
    (reported,) = receiver.at("/read")
    assert reported.event["commit_id"] == merged
    assert reported.event["merge_source"] == "dev"
    assert reported.event["changes"] == {"added": 1, "changed": 0, "removed": 0, "paths": ["b"], "truncated": False}


def test_what_a_prepare_hook_writes_becomes_part_of_the_commit(
    client: httpx.Client, rest: Rest, receiver: Receiver
) -> None:
    def write(_: Received) -> tuple[int, Any]:
        with httpx.Client(base_url=client.base_url, auth=client.auth) as own:
            Rest(own, rest.name).put("manifest", "2 files")
        return 200, {}

    receiver.answers["/write"] = write
    rest.settings(rule=_action("prepare-commit", _hook("rule", f"{receiver.url}/write")))
    rest.put("a", "1")
    made = rest.commit()
    assert made.status_code == 201, made.text
    assert rest.call("GET", f"/refs/{made.json()['id']}/objects", params={"path": "manifest"}).text == "2 files"


CONTRACT = """
name: orders contract
on:
  pre-commit:
hooks:
  - id: orders
    type: contract
    properties:
      path: "orders/**/*.parquet"
      checks:
        - not_null: [order_id]
"""


def _parquet(*values: int | None) -> bytes:
    sink = io.BytesIO()
    pq.write_table(pa.table({"order_id": pa.array(values, pa.int64())}), sink)
    return sink.getvalue()


@pytest.mark.slow
def test_a_contract_refuses_bad_rows_and_says_which_file() -> None:
    with serving() as client:
        rest = new_repository(client)
        rest.put_commit("a", "1")
        rest.settings(rule=CONTRACT)
        put = {"params": {"path": "orders/2026/x.parquet"}}
        rest.done("POST", "/branches/main/objects", content=_parquet(1, None), **put)
        before = rest.heads()
        answer = rest.commit()
        assert answer.status_code == 412, answer.text
        assert "orders/2026/x.parquet" in answer.json()["message"]
        assert rest.heads() == before
        (run,) = rest.runs()
        (hook,) = rest.hooks(run["run_id"])
        assert (hook["type"], hook["state"]) == ("contract", "refused")
        assert "orders/2026/x.parquet" in hook["details"][0].values()
        again = rest.commit()
        assert again.status_code == 412
        assert "(as in run" in rest.hooks(rest.runs()[0]["run_id"])[0]["message"]  # its answer cannot change
        rest.done("POST", "/branches/main/objects", content=_parquet(1, 2), **put)
        assert rest.commit().status_code == 201


def test_a_user_orders_a_run_and_nothing_changes(rest: Rest, receiver: Receiver) -> None:
    prepare(rest)
    rest.settings(rule=action_file("pre-merge", f"{receiver.url}/refuse"))
    before = rest.heads()
    made = rest.done("POST", "/actions/runs", json={"event": "pre-merge", "ref": "dev"})
    assert (made["state"], made["branch"], made["commit_id"]) == ("refused", "dev", before["dev"])
    assert rest.heads() == before
    missing = rest.call("POST", "/actions/runs", json={"event": "pre-commit", "ref": "dev"})
    assert missing.status_code == 400
    assert missing.json()["message"].startswith("no action runs for pre-commit at 'dev' of ")
    rest.settings(rule=action_file("pre-merge: {branches: [main]}", f"{receiver.url}/refuse").replace("]}:", "]}"))
    other = rest.call("POST", "/actions/runs", json={"event": "pre-merge", "ref": "dev"})
    assert other.status_code == 400
    assert "it has rules for other branches; name the branch" in other.json()["message"]
    assert rest.done("POST", "/actions/runs", json={"event": "pre-merge", "ref": before["dev"]})["state"] == "refused"


def test_a_run_by_the_rules_of_a_branch_says_what_a_merge_into_it_would_meet(rest: Rest, receiver: Receiver) -> None:
    prepare(rest)
    rule = action_file("pre-merge: {branches: [main]}", f"{receiver.url}/refuse").replace("]}:", "]}")
    rest.put_commit("_lakebed_actions/rule.yaml", rule)  # `dev` was made before, so it does not have this file
    before = rest.heads()
    order = {"event": "pre-merge", "ref": "dev", "branch": "main"}
    made = rest.done("POST", "/actions/runs", json=order)
    assert (made["state"], made["branch"], made["commit_id"]) == ("refused", "main", before["dev"])
    (reported,) = receiver.at("/refuse")
    assert (reported.event["branch_id"], reported.event["merge_source"]) == ("main", "dev")
    assert reported.event["base_commit_id"] == before["main"]
    again = rest.done("POST", f"/actions/runs/{made['run_id']}/rerun")
    assert (again["state"], again["branch"], again["rerun_of"]) == ("refused", "main", made["run_id"])
    assert receiver.at("/refuse")[-1].event["base_commit_id"] == before["main"]
    assert rest.call("POST", "/actions/runs", json={**order, "branch": ""}).status_code == 400  # `dev` has no rule
    assert rest.call("POST", "/actions/runs", json={**order, "branch": "nope"}).status_code == 404
    of_tag = rest.call("POST", "/actions/runs", json={**order, "event": "pre-create-tag"})
    assert (of_tag.status_code, "a tag has no branch" in of_tag.json()["message"]) == (400, True)
    assert rest.heads() == before


def test_on_a_protected_branch_a_run_by_its_rules_uses_those_of_its_head_only(rest: Rest, receiver: Receiver) -> None:
    prepare(rest)
    order = {"event": "pre-merge", "ref": "dev", "branch": "main"}
    rest.put_commit("_lakebed_actions/own.yaml", action_file("pre-merge", f"{receiver.url}/refuse"), "dev")
    assert rest.done("POST", "/actions/runs", json=order)["state"] == "refused"
    rest.protect("main")
    missing = rest.call("POST", "/actions/runs", json=order)
    assert missing.status_code == 400, missing.text
    assert "by the rules of the branch 'main'" in missing.json()["message"]


def test_a_read_only_repository_runs_no_hooks(client: httpx.Client, receiver: Receiver) -> None:
    body = {"name": "frozen", "storage_namespace": "mem://frozen", "read_only": True}
    assert client.post("/repositories", json=body).status_code == 201
    rest = Rest(client, "frozen")
    rest.settings(rule=action_file("pre-create-tag", f"{receiver.url}/refuse"))
    assert rest.call("POST", "/tags", json={"id": "v1", "ref": "main", "force": True}).status_code == 201
    assert rest.runs() == []


def test_secrets_are_sent_and_never_shown(receiver: Receiver, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAKEBEDACTION_TOKEN", "correct-horse")
    receiver.answers["/echo"] = lambda request: (422, {"message": f"got {request.headers['authorization']}"})
    text = action_file(
        "pre-commit",
        f"{receiver.url}/echo",
        more="      headers:\n        Authorization: 'Bearer {{ ENV.LAKEBEDACTION_TOKEN }}'\n",
    )
    with serving() as client:
        rest = new_repository(client)
        rest.settings(rule=text)
        rest.put("a", "1")
        answer = rest.commit()
        assert answer.status_code == 412
        (run,) = rest.runs()
        log = rest.call("GET", f"/actions/runs/{run['run_id']}/hooks/0000_0000/output").text
    assert receiver.at("/echo")[0].headers["authorization"] == "Bearer correct-horse"
    assert "got Bearer ********" in answer.json()["message"]
    assert "correct-horse" not in answer.text + log + run["message"]


def test_an_action_of_the_server_applies_to_all_repositories(tmp_path: Path, receiver: Receiver) -> None:
    path = tmp_path / "house.yaml"
    path.write_text(action_file("pre-commit", f"{receiver.url}/refuse", name="house"))
    with serving({"hooks.actions": str(path)}) as client:
        rest = new_repository(client)
        rest.put("_lakebed_actions/x.yaml", action_file("pre-commit", f"{receiver.url}/pass", name="house"))
        answer = rest.commit()
        assert answer.status_code == 412
        assert "'house'" in answer.json()["message"]
        rest.done("DELETE", "/branches/main/objects", params={"path": "_lakebed_actions/x.yaml"})
        rest.put("a", "1")
        assert "the table has no owner" in rest.commit().json()["message"]


def test_a_server_does_not_start_with_an_action_file_that_cannot_be_used(tmp_path: Path) -> None:
    path = tmp_path / "house.yaml"
    path.write_text("name: [")
    with pytest.raises(StartError, match=r"hooks.actions: .*house.yaml line"), serving({"hooks.actions": str(path)}):
        pytest.fail("it started")
    with (
        pytest.raises(StartError, match=r"hooks.actions: cannot read .*no.yaml"),
        serving({"hooks.actions": str(tmp_path / "no.yaml")}),
    ):
        pytest.fail("it started")


def test_a_server_whose_hooks_are_off_runs_none(receiver: Receiver) -> None:
    with serving({"hooks.enabled": False}) as client:
        rest = new_repository(client)
        rest.put("_lakebed_actions/x.yaml", action_file("pre-commit", f"{receiver.url}/refuse"))
        assert rest.commit().status_code == 201
        assert rest.call("POST", "/actions/runs", json={"event": "pre-commit", "ref": "main"}).status_code == 501
    assert receiver.received == []


PYTHON = """
name: owners
on:
  pre-merge:
hooks:
  - id: owner
    type: python
    properties:
      entry: own_checks:owner
      args: {suffix: .txt}
"""
CHECK = """
from lakebed_hooks import Refuse

def owner(event, lake, args):
    print("checking", event.branch_id)
    bad = [path for path in event.changes.paths if not path.endswith(args["suffix"])]
    if bad:
        return Refuse(f"{bad[0]} has another suffix", [{"path": one} for one in bad])
"""


@pytest.mark.slow
def test_a_python_check_of_the_server_reads_the_change(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "own_checks.py").write_text(CHECK)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with serving({"hooks.python.allow": "own_checks:owner"}) as client:
        rest = new_repository(client)
        prepare(rest)
        rest.settings(rule=PYTHON)
        answer = rest.call("POST", "/refs/dev/merge/main", json={})
        assert answer.status_code == 412
        assert "hook 'owner': b has another suffix" in answer.json()["message"]
        run = rest.runs()[0]
        (hook,) = rest.hooks(run["run_id"])
        assert hook["details"] == [{"path": "b"}]
        assert rest.call("GET", f"/actions/runs/{run['run_id']}/hooks/0000_0000/output").text == "checking main\n"
        rest.done("DELETE", "/branches/dev/objects", params={"path": "b"})
        rest.put_commit("b.txt", "1", "dev")
        assert rest.call("POST", "/refs/dev/merge/main", json={}).status_code == 200


def test_payloads_have_links_to_the_pages_of_a_server_that_knows_its_address(receiver: Receiver) -> None:
    with serving({"hooks.url": "https://lake.example.com/"}) as client:
        rest = new_repository(client)
        rest.settings(rule=_action("pre-commit", _hook("ask", f"{receiver.url}/ask")))
        rest.put("a", "1")
        assert rest.commit().status_code == 201
        (received,) = receiver.received
    event, pages = received.event, f"https://lake.example.com/repositories/{rest.name}"
    assert event["links"] == {
        "branch": f"{pages}/objects?ref=main",
        "commit": f"{pages}/commits/{event['candidate_commit_id']}",
        "run": f"{pages}/actions/{event['run_id']}",
    }


@pytest.mark.parametrize("url", ["lake.example.com", "ftp://lake.example.com", "https://", "https://a/?b=c"])
def test_a_wrong_address_for_people_stops_the_start(url: str) -> None:
    with pytest.raises(StartError, match=r"hooks\.url"), serving({"hooks.url": url}):
        pass
