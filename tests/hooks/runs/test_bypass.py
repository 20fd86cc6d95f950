"""No client can get around the rules of a branch, except a user with the right to do so."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import boto3  # type: ignore[import-untyped]
import httpx
import lakebed
import lakebed_testing
import pytest

from tests.hooks.receiving import Received, Receiver, receiving
from tests.hooks.rest import OPERATIONS, Rest, action_file, new_repository, prepare
from tests.hooks.serving import client_of, serving
from tests.support.processes.nursery import ended
from tests.support.waiting import PATIENCE, wait_until

RULE = "_lakebed_actions/rule.yaml"


@pytest.fixture(scope="module")
def client() -> Iterator[httpx.Client]:
    with serving() as made:
        yield made


@pytest.fixture(scope="module")
def receiver() -> Iterator[Receiver]:
    with receiving() as made:
        yield made


@pytest.fixture
def rest(client: httpx.Client) -> Rest:
    return new_repository(client)


def _guarded(rest: Rest, receiver: Receiver, event: str = "pre-merge") -> None:
    """A protected `main` whose own rule refuses, and a branch `dev` with a change."""
    rest.put_commit("a", "1")
    rest.put_commit(RULE, action_file(event, f"{receiver.url}/refuse"))
    rest.done("POST", "/branches", json={"name": "dev", "source": "main"})
    rest.put_commit("b", "2", "dev")
    rest.protect()


def _merge(rest: Rest, **more: object) -> httpx.Response:
    return rest.call("POST", "/refs/dev/merge/main", json=more)


@pytest.mark.parametrize(
    ("what", "files"),
    [
        ("without action files", {}),
        ("renamed", {"_lakefs_actions/other.yml": "pre-merge"}),
        ("other event", {RULE: "pre-create-tag"}),
    ],
)
def test_a_source_that_changes_the_rule_is_checked_by_the_rule_of_the_protected_branch(
    rest: Rest, receiver: Receiver, what: str, files: dict[str, str]
) -> None:
    _guarded(rest, receiver)
    rest.done("DELETE", "/branches/dev/objects", params={"path": RULE})
    for path, event in files.items():
        rest.put(path, action_file(event, f"{receiver.url}/pass"), "dev")
    assert rest.commit("dev").status_code == 201
    before = rest.heads()
    answer = _merge(rest)
    assert answer.status_code == 412, what
    assert "the table has no owner" in answer.json()["message"]
    assert rest.heads() == before


def test_a_source_cannot_break_the_rule_of_a_protected_branch(rest: Rest, receiver: Receiver) -> None:
    _guarded(rest, receiver)
    rest.put(RULE, "name: [", "dev")
    assert rest.commit("dev", force=True).status_code == 201
    answer = _merge(rest)
    assert answer.status_code == 412
    assert "_lakebed_actions/rule.yaml line" in answer.json()["message"]


def test_a_protected_branch_takes_no_new_rule_from_the_source_for_its_own_merge(rest: Rest, receiver: Receiver) -> None:
    rest.put_commit("a", "1")
    rest.done("POST", "/branches", json={"name": "dev", "source": "main"})
    rest.put_commit(RULE, action_file("pre-merge", f"{receiver.url}/refuse"), "dev")
    rest.protect()
    assert _merge(rest).status_code == 200  # the rule counts from now on
    rest.put_commit("b", "2", "dev")
    assert _merge(rest).status_code == 412


def test_an_unprotected_branch_can_try_and_mend_its_rule(rest: Rest, receiver: Receiver) -> None:
    rest.put_commit("a", "1")
    rest.put(RULE, action_file("pre-commit", f"{receiver.url}/refuse"))
    assert rest.commit().status_code == 412
    rest.put(RULE, action_file("pre-commit", f"{receiver.url}/pass"))
    assert rest.commit().status_code == 201


@pytest.mark.parametrize("name", OPERATIONS)
def test_a_rule_of_the_settings_cannot_be_turned_off_by_the_data(
    client: httpx.Client, receiver: Receiver, name: str
) -> None:
    rest = new_repository(client)
    prepare(rest)
    operation, make = OPERATIONS[name]
    for branch in ("main", "dev"):
        rest.put_commit(RULE, action_file(f"pre-{operation}", f"{receiver.url}/pass"), branch)
    rest.put_commit("z", "1", "dev")
    rest.settings(rule=action_file(f"pre-{operation}", f"{receiver.url}/refuse"))
    before = rest.heads()
    assert make(rest).status_code == 412
    assert rest.heads() == before


def test_a_user_who_may_change_protection_rules_forces_a_change_and_the_event_says_so(
    rest: Rest, receiver: Receiver
) -> None:
    _guarded(rest, receiver)
    assert _merge(rest).status_code == 412
    assert _merge(rest, force=True).status_code == 200
    events = rest.done("GET", "/events")["results"]
    merged = [one for one in events if one["type"] == "branch.merged"]
    assert merged[-1]["data"]["hooks_bypassed"] is True


def test_a_user_without_the_right_cannot_force_a_change(receiver: Receiver) -> None:
    settings = {
        "hooks.webhook.allow": "127.0.0.1", "auth.mode": "rbac",
        "auth.secret_key": "a secret of at least thirty-two characters",
    }  # fmt: skip
    with lakebed_testing.server(settings) as running, client_of(running) as admin:
        rest = new_repository(admin)
        _guarded(rest, receiver)
        assert admin.post("/auth/users", json={"id": "ann"}).status_code == 201
        assert admin.put("/auth/groups/Developers/members/ann").status_code == 201
        key = admin.post("/auth/users/ann/credentials").json()
        with httpx.Client(base_url=admin.base_url, auth=(key["access_key_id"], key["secret_access_key"])) as client:
            ann = Rest(client, rest.name)
            answer = ann.call("POST", "/refs/dev/merge/main", json={"force": True})
            assert answer.status_code == 412, answer.text
        assert rest.call("POST", "/refs/dev/merge/main", json={"force": True}).status_code == 200


def test_an_auto_merge_waits_for_the_rule(rest: Rest, receiver: Receiver) -> None:
    _guarded(rest, receiver)
    allowed: list[int] = []

    def answer(_: Received) -> tuple[int, object]:
        return (200, {}) if allowed else (422, {"message": "not yet"})

    receiver.answers["/refuse"], kept = answer, receiver.answers["/refuse"]
    try:
        made = rest.done("POST", "/pulls", json={"title": "t", "source_branch": "dev", "destination_branch": "main"})
        before = rest.heads()["main"]
        assert rest.call("PUT", f"/pulls/{made['id']}/merge").status_code == 412
        assert rest.heads()["main"] == before
        allowed.append(1)
        assert rest.call("PUT", f"/pulls/{made['id']}/merge").status_code == 200
    finally:
        receiver.answers["/refuse"] = kept


def test_a_branch_that_is_deleted_while_its_hook_runs_stays_deleted(rest: Rest, receiver: Receiver) -> None:
    rest.put_commit("a", "1")
    rest.done("POST", "/branches", json={"name": "dev", "source": "main"})
    rest.put("b", "2", "dev")
    begun, deleted = threading.Event(), threading.Event()

    def wait(_: Received) -> tuple[int, object]:
        begun.set()
        assert deleted.wait(PATIENCE)
        return 200, {}

    receiver.answers["/wait"] = wait
    rest.settings(rule=action_file("pre-commit", f"{receiver.url}/wait", timeout="20s"))
    with ThreadPoolExecutor(1) as pool:
        commit = pool.submit(rest.commit, "dev")
        assert begun.wait(PATIENCE)
        assert rest.call("DELETE", "/branches/dev").status_code == 204
        deleted.set()
        answer = commit.result()
    assert answer.status_code == 404, answer.text
    assert "dev" not in rest.heads()
    assert [run["state"] for run in rest.runs()] == ["passed"]


def test_a_tree_that_is_committed_by_its_id_is_checked(rest: Rest, receiver: Receiver) -> None:
    prepare(rest)
    rest.settings(rule=action_file("pre-commit", f"{receiver.url}/refuse"))
    before = rest.heads()
    tree = rest.done("GET", f"/commits/{before['dev']}")["meta_range_id"]
    answer = rest.call("POST", "/branches/main/commits", params={"source_metarange": tree}, json={"message": "import"})
    assert answer.status_code == 412, answer.text
    assert rest.heads() == before


def test_an_import_is_checked(tmp_path: Path, receiver: Receiver) -> None:
    (tmp_path / "feed").mkdir()
    (tmp_path / "feed" / "x").write_text("1")
    with serving({"objects.local.root": str(tmp_path), "ingest.allow": "local://feed/"}) as client:
        rest = new_repository(client)
        rest.put_commit("a", "1")
        rest.settings(rule=action_file("pre-commit", f"{receiver.url}/refuse"))
        before = rest.heads()
        paths = [{"path": "local://feed/", "destination": "in/", "type": "common_prefix"}]
        body = {"paths": paths, "commit": {"message": "import"}}
        started = rest.done("POST", "/branches/main/import", json=body)["id"]
        status: dict[str, Any] = {}

        def ended() -> bool:
            status.update(rest.done("GET", "/branches/main/import", params={"id": started}))
            return status["completed"] or "error" in status

        wait_until(ended, "the import ends", every=0.05)
        assert "hook aborted" in status["error"]["message"]
        assert rest.heads() == before
        assert [run["state"] for run in rest.runs()] == ["refused"]


def test_an_ingest_is_checked(tmp_path: Path, receiver: Receiver) -> None:
    (tmp_path / "feed").mkdir()
    (tmp_path / "feed" / "x").write_text("1")
    settings = {
        "hooks.webhook.allow": "127.0.0.1",
        "objects.local.root": str(tmp_path),
        "ingest.allow": "local://feed/",
    }
    with lakebed_testing.server(settings) as running, client_of(running) as client:
        rest = new_repository(client)
        rest.put_commit("a", "1")
        rest.settings(rule=action_file("pre-commit", f"{receiver.url}/refuse"))
        before = rest.heads()
        with (
            lakebed.connect(running.endpoint, running.access_key_id, running.secret_access_key) as lake,
            pytest.raises(lakebed.HookRefusedError, match="the table has no owner"),
        ):
            lake.repository(rest.name).branch("main").ingest("local://feed/", "in")
        command = ["ingest", "commit", "--from", "local://feed/", "--to", f"{rest.name}/main/in", "-m", "new"]
        reported = ended(command, {**os.environ, **running.environment}, PATIENCE)
        assert (reported.returncode, "the table has no owner" in reported.stderr) == (4, True), reported.stderr
        assert rest.heads() == before
        assert [run["state"] for run in rest.runs()] == ["refused", "refused"]


def test_what_was_written_through_s3_is_checked_when_it_is_committed(receiver: Receiver) -> None:
    settings = {"hooks.webhook.allow": "127.0.0.1"}
    with lakebed_testing.server(settings) as running, client_of(running) as client:
        rest = new_repository(client)
        rest.put_commit("a", "1")
        rest.settings(rule=action_file("pre-commit", f"{receiver.url}/refuse"))
        s3 = boto3.client(
            "s3",
            endpoint_url=running.endpoint,
            aws_access_key_id=running.access_key_id,
            aws_secret_access_key=running.secret_access_key,
            region_name="us-east-1",
        )
        upload = s3.create_multipart_upload(Bucket=rest.name, Key="main/big")["UploadId"]
        place = {"Bucket": rest.name, "Key": "main/big", "UploadId": upload}
        part = s3.upload_part(**place, PartNumber=1, Body=b"x")
        s3.complete_multipart_upload(**place, MultipartUpload={"Parts": [{"PartNumber": 1, "ETag": part["ETag"]}]})
        before = rest.heads()
        assert rest.commit().status_code == 412
        assert rest.heads() == before
        assert rest.call("GET", "/refs/main/objects", params={"path": "big"}).status_code == 200  # it stays staged
