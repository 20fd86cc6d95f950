"""Every operation that changes history, with every outcome of its hooks, through REST."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.hooks.receiving import Receiver, receiving
from tests.hooks.rest import OPERATIONS, action_file, new_repository, prepare
from tests.hooks.serving import serving

pytestmark = pytest.mark.medium  # an HTTP server in a thread


@pytest.fixture(scope="module")
def client() -> Iterator[httpx.Client]:
    with serving() as made:
        yield made


@pytest.fixture(scope="module")
def receiver() -> Iterator[Receiver]:
    with receiving() as made:
        yield made


CAUSES = {
    "refuse": "the table has no owner",
    "error": "the receiver could not check the change: status 500",
    "hang": "no complete answer within",
}
STATES = {"refuse": "refused", "error": "error", "hang": "error"}


@pytest.mark.parametrize("name", OPERATIONS)
def test_without_an_action_the_operation_lands_and_no_run_is_recorded(client: httpx.Client, name: str) -> None:
    rest = new_repository(client)
    prepare(rest)
    before = rest.heads()
    answer = OPERATIONS[name][1](rest)
    assert answer.status_code < 300, answer.text
    assert rest.heads() != before
    assert rest.runs() == []


@pytest.mark.parametrize("name", OPERATIONS)
def test_a_hook_that_agrees_permits_the_operation(client: httpx.Client, receiver: Receiver, name: str) -> None:
    rest = new_repository(client)
    prepare(rest)
    operation, make = OPERATIONS[name]
    rest.settings(rule=action_file(f"pre-{operation}", f"{receiver.url}/pass"))
    before = rest.heads()
    answer = make(rest)
    assert answer.status_code < 300, answer.text
    assert rest.heads() != before
    (run,) = rest.runs()
    assert (run["event_type"], run["status"], run["state"]) == (f"pre-{operation}", "completed", "passed")
    delivered = receiver.received[-1].event
    assert (delivered["event_type"], delivered["repository_id"], delivered["run_id"]) == (
        run["event_type"],
        rest.name,
        run["run_id"],
    )


@pytest.mark.parametrize("outcome", CAUSES)
@pytest.mark.parametrize("name", OPERATIONS)
def test_without_agreement_nothing_changes_and_the_run_is_recorded(
    client: httpx.Client, receiver: Receiver, name: str, outcome: str
) -> None:
    rest = new_repository(client)
    prepare(rest)
    operation, make = OPERATIONS[name]
    timeout = "100ms" if outcome == "hang" else "10s"
    rest.settings(rule=action_file(f"pre-{operation}", f"{receiver.url}/{outcome}", timeout=timeout))
    before = rest.heads()
    answer = make(rest)
    assert answer.status_code == 412, answer.text
    assert rest.heads() == before
    (run,) = rest.runs()
    begin = f"pre-{operation} hook aborted, run id '{run['run_id']}': action 'checks', hook 'rule': "
    assert answer.json()["message"].startswith(begin)
    assert CAUSES[outcome] in answer.json()["message"]
    assert (answer.json()["kind"], answer.json()["run_id"]) == ("hook_refused", run["run_id"])
    assert (run["status"], run["state"]) == ("failed", STATES[outcome])
    (hook,) = rest.hooks(run["run_id"])
    assert (hook["hook_run_id"], hook["status"], hook["state"]) == ("0000_0000", "failed", STATES[outcome])
    log = rest.call("GET", f"/actions/runs/{run['run_id']}/hooks/0000_0000/output")
    assert f"POST {receiver.url}/{outcome}" in log.text


@pytest.mark.parametrize("name", OPERATIONS)
def test_an_unreadable_action_file_stops_the_operation_until_the_user_forces_it(
    client: httpx.Client, name: str
) -> None:
    rest = new_repository(client)
    prepare(rest)
    operation, make = OPERATIONS[name]
    for branch in ("main", "dev", "old"):
        rest.put_commit("_lakebed_actions/rule.yaml", f"name: [\non: {operation}", branch, force=True)
    rest.put_commit("z", "1", "dev", force=True)  # a revert of the commit before would mend the rule
    if "tag" in name:
        rest.done("DELETE", "/tags/v1", params={"force": "true"})
        rest.done("POST", "/tags", json={"id": "v1", "ref": "main", "force": True})
    before, runs = rest.heads(), len(rest.runs())
    answer = make(rest)
    assert answer.status_code == 412, answer.text
    assert "_lakebed_actions/rule.yaml line" in answer.json()["message"]
    assert rest.heads() == before
    assert len(rest.runs()) == runs + 1
    assert rest.runs()[0]["state"] == "error"


GOLDEN = Path(__file__).parents[1] / "golden"


@pytest.mark.parametrize("when", ["pre", "post"])
@pytest.mark.parametrize("name", OPERATIONS)
def test_payloads_have_the_fields_that_receivers_know(
    client: httpx.Client, receiver: Receiver, name: str, when: str
) -> None:
    rest = new_repository(client)
    prepare(rest)
    operation, make = OPERATIONS[name]
    path = f"/golden-{when}-{rest.name}"
    rest.settings(rule=action_file(f"{when}-{operation}", f"{receiver.url}{path}"))
    heads = rest.heads()
    assert make(rest).status_code < 300
    (delivered,) = receiver.wait(path, 1)
    golden = json.loads((GOLDEN / f"{when}-{operation}.json").read_bytes())
    missing = {"links", "commit_metadata"}  # a server does not know its address; no metadata was given
    assert set(golden) - set(delivered.event) <= missing
    assert set(delivered.event) <= set(golden)
    source = delivered.event["source_ref"]
    match golden["source_ref"][:1]:
        case "m":  # a ref as the user wrote it
            assert source in ("main", "dev")
        case "c":
            assert source == delivered.event["commit_id"]
        case "1":
            assert source in heads.values()


@pytest.mark.parametrize("name", OPERATIONS)
def test_a_call_follows_the_operation(client: httpx.Client, receiver: Receiver, name: str) -> None:
    rest = new_repository(client)
    prepare(rest)
    operation, make = OPERATIONS[name]
    path = f"/after-{rest.name}"
    rest.settings(rule=action_file(f"post-{operation}", f"{receiver.url}{path}"))
    answer = make(rest)
    assert answer.status_code < 300, answer.text
    (delivered,) = receiver.wait(path, 1)
    assert (delivered.event["event_type"], delivered.event["repository_id"]) == (f"post-{operation}", rest.name)
    assert delivered.headers["webhook-id"].endswith("-rule")
