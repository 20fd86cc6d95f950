"""`uploadObjects` with a part `commit`: objects and deletions in one commit, over the wire."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from tests.server.lake import MAIN, REPO, Lake
from tests.server.publishing import FORM, form, part

BATCH = MAIN + "/objects/batch"


@pytest.fixture
def lake() -> Iterator[Lake]:
    lake = Lake()
    lake("POST", "/repositories", {"name": "lake", "storage_namespace": "mem://lake"}, 201)
    yield lake
    lake.close()


def send(lake: Lake, asked: Any, rows: Mapping[str, bytes | None], expect: int = 201, target: str = BATCH) -> Any:
    return lake("POST", target, form(asked, rows), expect, content_type=FORM)


def head(lake: Lake) -> str:
    return str(lake("GET", MAIN)["commit_id"])


def stored(lake: Lake) -> list[str]:
    """The keys under data/."""

    async def listed() -> list[str]:
        return [row.key async for row in lake.engine.context.stores.open("mem://lake").list("data/")]

    return sorted(lake.runner.run(listed()))


def listing(lake: Lake, ref: str = "main") -> list[str]:
    return [row["path"] for row in lake("GET", f"{REPO}/refs/{ref}/objects/ls")["results"]]


def test_objects_and_deletions_become_a_commit(lake: Lake) -> None:
    lake.put("old", b"1")
    lake.commit("first")
    lake.put("others", b"staged")
    before = head(lake)
    asked = {"message": "m", "metadata": {"k": "v"}, "date": 1_600_000_000, "allow_empty": False}
    made = send(lake, asked, {"t/1": b"one", "old": None, "t/2": b"two"})
    assert [row["path"] for row in made["results"]] == ["t/1", "t/2"]
    new = made["commit"]
    assert (new["message"], new["metadata"], new["creation_date"]) == ("m", {"k": "v"}, 1_600_000_000)
    assert (new["committer"], new["parents"], new["id"]) == ("admin", [before], head(lake))
    assert listing(lake, "main@") == ["t/1", "t/2"]
    assert listing(lake) == ["others", "t/1", "t/2"]
    assert lake("GET", REPO + "/refs/main/objects?path=t/1").body == b"one"
    assert [row["path"] for row in lake("GET", MAIN + "/diff")["results"]] == ["others"]


def test_without_the_part_nothing_is_committed(lake: Lake) -> None:
    before = head(lake)
    made = lake("POST", BATCH, part("content", b"1", "a") + b"--B--\r\n", 201, content_type=FORM)
    assert "commit" not in made
    assert head(lake) == before


def test_staged_rows_block_the_commit(lake: Lake) -> None:
    lake.put("p", b"staged")
    before = (head(lake), stored(lake))
    refused = send(lake, {"message": "m"}, {"a": b"1", "p": b"mine"}, 409)
    assert refused["kind"] == "dirty_overlap"
    assert [row["path"] for row in refused["conflicts"]] == ["p"]
    assert (head(lake), stored(lake)) == before
    assert lake("GET", REPO + "/refs/main/objects?path=p").body == b"staged"


def test_nothing_to_commit(lake: Lake) -> None:
    lake.put("a", b"1")
    lake.commit("first")
    before = stored(lake)
    assert send(lake, {"message": "m"}, {"none": None}, 400)["kind"] == "no_changes"
    assert send(lake, {"message": "m"}, {}, 400)["kind"] == "no_changes"
    assert stored(lake) == before
    assert send(lake, {"message": "m", "allow_empty": True}, {})["commit"]["id"] == head(lake)


def test_idempotency_key_commits_once_and_returns_the_commits_objects(lake: Lake) -> None:
    asked = {"message": "m", "idempotency_key": "once"}
    first = send(lake, asked, {"a": b"1", "b": b"2"})
    lake.put("a", b"later")
    before = stored(lake)
    assert send(lake, asked, {"a": b"1", "b": b"2"}) == first
    assert stored(lake) == before
    refused = send(lake, asked, {"a": b"1", "b": b"other"}, 409)
    assert (refused["kind"], "'once'" in refused["message"]) == ("idempotency_mismatch", True)
    assert stored(lake) == before
    assert head(lake) == first["commit"]["id"]


MALFORMED: dict[str, tuple[Any, str]] = {
    "no JSON": (b"{", "part commit"),
    "no object": (b"[]", "part commit"),
    "no message": ({}, "message"),
    "a message of another kind": ({"message": 1}, "message"),
    "a member that is not known": ({"message": "m", "parents": []}, "unknown members: 'parents'"),
    "a date out of bounds": ({"message": "m", "date": -1}, "date"),
    "a key that is too long": ({"message": "m", "idempotency_key": "k" * 257}, "idempotency_key"),
    "no UTF-8": (b'{"message": "\xff"}', "part commit"),
    "nested without end": (b'{"message":' + b"[" * 100_000, "part commit"),
    "too long": (b'{"message": "' + b"x" * (1 << 20) + b'"}', "longer than"),
}


@pytest.mark.parametrize("name", MALFORMED)
def test_a_malformed_part_is_refused(lake: Lake, name: str) -> None:
    before = head(lake)
    asked, said = MALFORMED[name]
    refused = send(lake, asked, {"a": b"1"}, 400)
    assert said in refused["message"]
    assert (head(lake), stored(lake), listing(lake)) == (before, [], [])


@pytest.mark.parametrize("parts", [2, 0])
def test_commit_part_comes_once_and_before_all_others(lake: Lake, parts: int) -> None:
    asked = part("commit", b'{"message": "m"}')
    body = b"".join([asked] * (parts - 1)) + part("content", b"1", "a") + asked + b"--B--\r\n"
    refused = lake("POST", BATCH, body, 400, content_type=FORM)
    assert "one part commit at most, before all other parts" in refused["message"]
    assert (stored(lake), listing(lake)) == ([], [])


def test_a_form_that_ends_early_leaves_nothing(lake: Lake) -> None:
    body = form({"message": "m"}, {"a": b"1", "b": b"2"})
    before = head(lake)
    for end in (len(body) - 20, len(body) - 8, 30):
        lake("POST", BATCH, body[:end], 400, content_type=FORM)
    assert (head(lake), stored(lake), listing(lake)) == (before, [], [])


def test_publish_to_missing_or_read_only_targets_is_refused(lake: Lake) -> None:
    asked = {"message": "m"}
    branches = f"{REPO}/branches"
    assert send(lake, asked, {"a": b"1"}, 404, f"{branches}/none/objects/batch")["kind"] == "branch_not_found"
    none = "/repositories/none/branches/main/objects/batch"
    assert send(lake, asked, {"a": b"1"}, 404, none)["kind"] == "repository_not_found"
    made = lake("POST", REPO + "/workspaces", {"branch": "main"}, 201)
    send(lake, asked, {"a": b"1"}, 404, f"{branches}/{made['name']}/objects/batch")
    lake("POST", "/repositories", {"name": "frozen", "storage_namespace": "mem://frozen", "read_only": True}, 201)
    frozen = "/repositories/frozen/branches/main/objects/batch"
    assert send(lake, asked, {"a": b"1"}, 403, frozen)["kind"] == "read_only_repository"
    assert send(lake, asked, {"a": b"1"}, 201, frozen + "?force=true")["commit"]["message"] == "m"
    assert stored(lake) == []


def test_a_protected_branch_refuses(lake: Lake) -> None:
    lake("PUT", REPO + "/settings/branch_protection", [{"pattern": "main"}], 204)
    assert send(lake, {"message": "m"}, {"a": b"1"}, 403)["kind"] == "protected_branch"
    assert stored(lake) == []
