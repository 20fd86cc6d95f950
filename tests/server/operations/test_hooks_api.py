"""Runs of hooks, deliveries and action files on the wire: the contract of existing clients, and what Lakebed adds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any
from urllib.parse import quote

import msgspec
import pytest
from lakebed_engine.vocabulary.errors import HookRefusedError
from lakebed_engine.vocabulary.events import Event, NewDelivery
from lakebed_engine.vocabulary.hooks import Attempt, Delivery, HookRun, Proposal, Run, RunState
from lakebed_server.process.app import create_app

from tests.engine.hooking import Hooks
from tests.server.hook_runs import RunsOfNoHooks
from tests.server.lake import MAIN, REPO, Lake
from tests.server.support import services

RUNS = REPO + "/actions/runs"
SETTINGS = REPO + "/settings/hooks"
GOOD = "name: a1\non: {pre-commit: }\nhooks: [{id: h1, type: webhook, properties: {url: 'https://example.org'}}]\n"
BAD = "name: a1\non: {pre-lunch: }\nhooks: []\n"


@pytest.fixture
def lake() -> Iterator[Lake]:
    lake = Lake()
    lake.app = create_app(replace(services(lake.engine), hooks=RunsOfNoHooks(lake.engine)))
    lake("POST", "/repositories", {"name": "lake", "storage_namespace": "mem://lake"}, 201)
    lake.put("a", b"1")
    lake.commit("first")
    yield lake
    lake.close()


def save(lake: Lake, run: Run, **logs: bytes) -> Run:
    lake.runner.run(lake.engine.hooks.save_run("lake", run, logs))
    return run


def saved(lake: Lake, id: str, state: RunState = "passed", **more: Any) -> Run:
    ended = 0.0 if state == "running" else 1_700_000_002.5
    fields = {"event_type": "pre-merge", "branch": "main", "started": 1_700_000_000.25, **more}
    return save(lake, Run(id=id, state=state, ended=ended, **fields))


def test_a_run_has_the_fields_and_words_that_existing_clients_know(lake: Lake) -> None:
    saved(lake, "r1", commit_id="c" * 64)
    found = lake("GET", f"{RUNS}/r1")
    assert found == {
        "run_id": "r1",
        "branch": "main",
        "start_time": "2023-11-14T22:13:20.250000Z",
        "end_time": "2023-11-14T22:13:22.500000Z",
        "event_type": "pre-merge",
        "status": "completed",
        "commit_id": "c" * 64,
        "state": "passed",
    }
    assert lake("GET", f"{RUNS}/r9", None, 404)["kind"] == "run_not_found"
    assert lake("GET", "/repositories/nothing/actions/runs/r1", None, 404)["kind"] == "repository_not_found"


@pytest.mark.parametrize("state", ["running", "refused", "error", "pending"])
def test_a_run_that_did_not_pass_is_failed_on_the_wire(lake: Lake, state: RunState) -> None:
    more = {"message": "no", "user": "ana", "tag": "v1", "source_ref": "s", "delivery_id": "d", "rerun_of": "r0"}
    saved(lake, "r1", state, **more)
    found = lake("GET", f"{RUNS}/r1")
    assert (found["status"], found["state"], found["commit_id"]) == ("failed", state, "")
    assert ("end_time" in found) == (state != "running")
    assert {name: found[name] for name in more} == more


def test_pages_of_runs_newest_first_and_their_filters(lake: Lake) -> None:
    for number in range(5):
        branch = "dev" if number % 2 else "main"
        saved(lake, f"r{number}", branch=branch, commit_id=str(number) * 64)
    ids: list[str] = []
    after, more = "", True
    while more and len(ids) < 9:
        page = lake("GET", f"{RUNS}?amount=2&after={after}")
        ids += [one["run_id"] for one in page["results"]]
        after, more = page["pagination"]["next_offset"], page["pagination"]["has_more"]
        assert bool(after) == more
    assert ids == ["r0", "r1", "r2", "r3", "r4"]
    assert [one["run_id"] for one in lake("GET", f"{RUNS}?branch=dev")["results"]] == ["r1", "r3"]
    page = lake("GET", f"{RUNS}?commit={'4' * 64}")
    assert ([one["run_id"] for one in page["results"]], page["pagination"]["has_more"]) == (["r4"], False)
    assert "not by both" in lake("GET", f"{RUNS}?branch=dev&commit={'4' * 64}", None, 400)["message"]
    assert lake("GET", f"{RUNS}?amount=1001", None, 400)["kind"] == "invalid_request"
    assert lake("GET", f"{RUNS}/{'r' * 65}", None, 400)["kind"] == "invalid_request"


def hooks_of_a_run(lake: Lake) -> None:
    details = [{"file": "a.parquet", "check": "range", "state": "refused", "values": [{"row": 3, "value": -1}]}]
    hooks = [
        HookRun(
            id="0000_0000", action="a1", hook_id="h1", type="contract", state="refused", started=5, details=details
        ),
        HookRun(id="0000_0001", action="a1", hook_id="h2", type="webhook", state="skipped"),
        HookRun(id="0001_0000", action="a2", hook_id="h1", type="python", state="passed", started=6, ended=7),
    ]
    run = Run(id="r1", event_type="pre-merge", branch="main", started=4, ended=8, state="refused", hooks=hooks)
    save(lake, run, **{"0000_0000": b"bad row\xff\n"})


def test_hooks_of_a_run(lake: Lake) -> None:
    hooks_of_a_run(lake)
    first, second = lake("GET", f"{RUNS}/r1/hooks")["results"]
    assert first["details"] == [
        {"file": "a.parquet", "check": "range", "state": "refused", "values": [{"row": 3, "value": -1}]}
    ]
    assert (first["hook_run_id"], first["action"], first["hook_id"]) == ("0000_0000", "a1", "h1")
    assert (first["status"], first["state"], first["type"]) == ("failed", "refused", "contract")
    assert "end_time" not in first
    assert (second["hook_run_id"], second["status"]) == ("0001_0000", "completed")
    assert second["end_time"] == "1970-01-01T00:00:07Z"
    every = lake("GET", f"{RUNS}/r1/hooks?skipped=true")["results"]
    assert [one["status"] for one in every] == ["failed", "skipped", "completed"]
    assert every[1]["start_time"] == "1970-01-01T00:00:04Z"
    page = lake("GET", f"{RUNS}/r1/hooks?skipped=true&amount=1&after=0000_0000")
    assert [one["hook_run_id"] for one in page["results"]] == ["0000_0001"]
    assert (page["pagination"]["has_more"], page["pagination"]["next_offset"]) == (True, "0000_0001")
    page = lake("GET", f"{RUNS}/r1/hooks?amount=1&after=0000_0000")
    assert (page["pagination"]["has_more"], page["pagination"]["next_offset"]) == (False, "")


def test_the_hooks_of_an_unknown_run_are_an_empty_list(lake: Lake) -> None:
    page = lake("GET", f"{RUNS}/r9/hooks")
    assert (page["results"], page["pagination"]["has_more"]) == ([], False)
    assert lake("GET", "/repositories/nothing/actions/runs/r9/hooks", None, 404)["kind"] == "repository_not_found"


def test_the_log_of_a_hook_is_bytes(lake: Lake) -> None:
    hooks_of_a_run(lake)
    found = lake("GET", f"{RUNS}/r1/hooks/0000_0000/output")
    assert found.body == b"bad row\xff\n"
    assert found.headers["content-type"] == "application/octet-stream"
    assert found.headers["content-disposition"].startswith("attachment; ")
    assert lake("GET", f"{RUNS}/r1/hooks/0001_0000/output").body == b""
    for path in ("r1/hooks/0009_0000", "r9/hooks/0000_0000"):
        assert lake("GET", f"{RUNS}/{path}/output", None, 404)["kind"] == "run_not_found"


def test_a_run_by_hand_and_again(lake: Lake) -> None:
    head = lake("GET", MAIN)["commit_id"]
    made = lake("POST", RUNS, {"event": "pre-merge", "ref": "main", "action": "a1", "branch": "dev"}, 201)
    assert made["branch"] == "dev"
    assert (made["event_type"], made["source_ref"], made["commit_id"]) == ("pre-merge", "main", head)
    assert made["message"] == "a1"  # the name of the action reached the runner
    again = lake("POST", f"{RUNS}/{made['run_id']}/rerun", None, 201)
    assert again["branch"] == "dev"
    assert (again["rerun_of"], again["source_ref"], again["event_type"]) == (made["run_id"], head, "pre-merge")
    assert {one["run_id"] for one in lake("GET", RUNS)["results"]} == {made["run_id"], again["run_id"]}
    assert "pre-commit" in lake("POST", RUNS, {"event": "pre-lunch", "ref": "main"}, 400)["message"]
    assert lake("POST", RUNS, {"event": "pre-merge", "ref": "nope"}, 404)["kind"] == "ref_not_found"
    assert lake("POST", RUNS, {"event": "pre-merge"}, 400)["kind"] == "invalid_request"
    assert lake("POST", f"{RUNS}/r9/rerun", None, 404)["kind"] == "run_not_found"


def test_an_action_file_is_checked(lake: Lake) -> None:
    lake("POST", "/actions/validate", {"name": "good.yaml", "content": GOOD}, 204)
    said = lake("POST", "/actions/validate", {"name": "bad.yaml", "content": BAD}, 400)
    assert said["message"].startswith("bad.yaml line 2: unknown event 'pre-lunch'")
    said = lake("POST", "/actions/validate", {"name": "big.yaml", "content": "#" * (1 << 20) + "\n"}, 400)
    assert "1,048,576 bytes" in said["message"]
    assert lake("POST", "/actions/validate", {"name": "lua.yaml", "content": ""}, 400)["message"].startswith("lua.yaml")


def test_the_settings_are_replaced_if_they_are_valid_and_unchanged(lake: Lake) -> None:
    assert lake("GET", SETTINGS) == {"actions": {}}
    lake("PUT", SETTINGS, {"actions": {"b.yaml": GOOD.replace("a1", "a2"), "a.yaml": GOOD}}, 204, if_match='""')
    assert list(lake("GET", SETTINGS)["actions"]) == ["a.yaml", "b.yaml"]
    said = lake("PUT", SETTINGS, {"actions": {}}, 412, if_match='""')
    assert said["kind"] == "precondition_failed"
    twice = {"actions": {"a.yaml": GOOD, "b.yaml": GOOD}}
    assert "'a1'" in lake("PUT", SETTINGS, twice, 400)["message"]
    assert lake("PUT", SETTINGS, {"actions": {"a.yaml": BAD}}, 400)["message"].startswith("a.yaml line 2")
    many = {f"{n}.yaml": GOOD.replace("a1", f"a{n}") for n in range(101)}
    assert "at most 100" in lake("PUT", SETTINGS, {"actions": many}, 400)["message"]
    assert lake("PUT", SETTINGS, {"actions": {"": GOOD}}, 400)["kind"] == "invalid_request"
    assert len(lake("GET", SETTINGS)["actions"]) == 2


def test_the_entity_tag_of_the_settings_names_their_version(lake: Lake) -> None:
    def tag() -> str:
        answer = lake.raw("GET", SETTINGS)
        return str(answer.headers["etag"])

    assert tag() == ""
    lake("PUT", SETTINGS, {"actions": {"a.yaml": GOOD}}, 204)
    first = tag()
    assert len(first) == 64
    lake("PUT", SETTINGS, {"actions": {"a.yaml": GOOD + "#\n"}}, 204, if_match=f'"{first}"')
    assert tag() != first
    lake("PUT", SETTINGS, {"actions": {"a.yaml": GOOD}}, 412, if_match=first)
    lake("PUT", SETTINGS, {"actions": {}}, 204, if_match=tag())
    assert tag() == ""


def test_deliveries_wait_or_have_failed_and_a_failed_one_is_made_again(lake: Lake) -> None:
    uid = lake.runner.run(lake.engine.repositories.get("lake")).uid
    event = Event(id="e1", type="branch.merged", time=1, repository="lake", repository_uid=uid, branch="main")
    call = NewDelivery(
        action="notify", event_type="post-merge", origin="repository", path="a", digest="d", commit_id="c" * 64
    )
    port = Hooks(operations=(), after=("commit",))
    lake.engine.hooks.use(port)
    lake.put("b", b"2")
    lake.commit("second")
    (waiting,) = lake("GET", f"{REPO}/actions/deliveries")["results"]
    assert (waiting["state"], waiting["action"], waiting["event_type"]) == ("waiting", "a", "post-commit")
    assert (waiting["branch"], waiting["attempts"]) == ("main", [])
    assert waiting["due"].endswith("Z")
    (seen,) = lake.runner.run(lake.engine.hooks.due(10))
    attempts = [Attempt(at=1_700_000_000.0, state="error", message="no answer", run_id="r1")]
    gone = Delivery(id=seen.delivery.id, event=event, call=call, due=5.0, tries=8, attempts=attempts)
    assert lake.runner.run(lake.engine.hooks.fail(seen, gone))
    listed = lake("GET", f"{REPO}/actions/deliveries")
    assert listed["pagination"]["has_more"] is False
    (failed,) = listed["results"]
    assert failed == {
        "id": gone.id,
        "state": "failed",
        "action": "notify",
        "event_type": "post-merge",
        "event_id": "e1",
        "branch": "main",
        "commit_id": "c" * 64,
        "attempts": [{"time": "2023-11-14T22:13:20Z", "state": "error", "message": "no answer", "run_id": "r1"}],
    }
    again = lake("POST", f"{REPO}/actions/deliveries/{gone.id}/redeliver")
    assert (again["id"], again["state"]) == (gone.id, "waiting")
    assert lake("GET", f"{REPO}/actions/deliveries")["results"] == [again]
    said = lake("POST", f"{REPO}/actions/deliveries/{gone.id}/redeliver", None, 404)
    assert said["kind"] == "run_not_found"


@pytest.mark.parametrize("amount", [1, 2, 3, 5, 6, 7])
def test_deliveries_are_listed_in_pages(lake: Lake, amount: int) -> None:
    lake.engine.hooks.use(Hooks(operations=(), after=("commit",)))
    for number in range(6):
        lake.put(f"b{number}", b"2")
        lake.commit("more")
    seen = lake.runner.run(lake.engine.hooks.due(10))
    for one in seen[1::2]:
        assert lake.runner.run(lake.engine.hooks.fail(one, one.delivery))
    expected = [(one.delivery.id, "waiting") for one in seen[::2]] + [(one.delivery.id, "failed") for one in seen[1::2]]
    found: list[tuple[str, str]] = []
    after, sizes = "", []
    while True:
        page = lake("GET", f"{REPO}/actions/deliveries?amount={amount}&after={quote(after)}")
        found += [(one["id"], one["state"]) for one in page["results"]]
        sizes.append(len(page["results"]))
        assert page["pagination"]["results"] == sizes[-1] <= amount
        after = page["pagination"]["next_offset"]
        assert page["pagination"]["has_more"] is bool(after)
        if not after:
            break
    assert found == expected
    assert sizes == [amount] * (6 // amount) + ([6 % amount] if 6 % amount else [])


def test_a_page_of_deliveries_that_is_no_page_is_refused(lake: Lake) -> None:
    for after in ("nonsense", "waitin/1", "/"):
        said = lake("GET", f"{REPO}/actions/deliveries?after={after}", expect=400)
        assert said["message"] == f"parameter after: {after!r} is not the end of a page of deliveries"
    assert lake("GET", f"{REPO}/actions/deliveries?after=failed/%F0%9F%98%80")["results"] == []
    lake("GET", f"{REPO}/actions/deliveries?after={'failed/' + 'x' * 600}", expect=400)


def test_a_refusal_is_412_with_the_run(lake: Lake) -> None:
    async def refuse(_: Proposal) -> None:
        raise HookRefusedError("pre-commit hook aborted, run id 'r1': no", "r1")

    lake.engine.hooks.use(Hooks(answer=refuse))
    lake.put("b", b"2")
    head = lake("GET", MAIN)["commit_id"]
    said = lake("POST", MAIN + "/commits", {"message": "m"}, 412)
    assert (said["kind"], said["run_id"]) == ("hook_refused", "r1")
    assert said["message"] == "pre-commit hook aborted, run id 'r1': no"
    assert said["request_id"]
    assert lake("GET", MAIN)["commit_id"] == head


@pytest.mark.parametrize("folder", ["_lakebed_actions", "_lakefs_actions"])
def test_an_upload_of_a_broken_action_file_succeeds_with_a_warning(lake: Lake, folder: str) -> None:
    def upload(path: str, content: bytes) -> str:
        answer = lake.raw("POST", f"{MAIN}/objects?path={path}", content)
        assert answer.status == 201
        assert msgspec.json.decode(answer.body)["size_bytes"] == len(content)
        return str(answer.headers.get("x-lakebed-warning", ""))

    assert upload(f"{folder}/a.yaml", GOOD.encode()) == ""
    assert upload(f"{folder}/b.yaml", BAD.encode()).startswith(f"{folder}/b.yaml line 2: unknown event 'pre-lunch'")
    assert upload(f"{folder}/c.yml", "name: 😀\n".encode()).isascii()
    assert "at most 1,048,576 bytes" in upload(f"{folder}/d.yaml", b"#" * ((1 << 20) + 1))
    for harmless in (f"{folder}/below/b.yaml", f"{folder}/b.txt", f"x/{folder}/b.yaml", "b.yaml"):
        assert upload(harmless, BAD.encode()) == ""
    assert lake("GET", f"{REPO}/refs/main/objects?path={folder}/b.yaml").body == BAD.encode()
