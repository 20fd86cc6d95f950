"""Codes and first words of messages, as scripts and clients of the lakeFS API expect them (docs/compatibility.md)."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.server.lake import MAIN, REPO, Lake


@pytest.fixture
def lake() -> Iterator[Lake]:
    made = Lake()
    made("POST", "/repositories", {"name": "lake", "storage_namespace": "mem://lake"}, 201)
    yield made
    made.close()


def protected(lake: Lake) -> Any:
    lake("PUT", f"{REPO}/settings/branch_protection", [{"pattern": "main"}], 204)
    return lake.raw("POST", f"{MAIN}/objects?path=a", b"1")


def twice(lake: Lake, where: str, body: dict[str, str]) -> Any:
    lake("POST", where, body, 201)
    return lake.raw("POST", where, body)


WORDS: list[tuple[str, Callable[[Lake], Any], int, str]] = [
    ("repository", lambda lake: lake.raw("GET", "/repositories/none"), 404, "repository not found"),
    (
        "repository twice",
        lambda lake: twice(lake, "/repositories", {"name": "two", "storage_namespace": "mem://two"}),
        409,
        "error creating repository: not unique",
    ),
    ("ref", lambda lake: lake.raw("GET", f"{REPO}/refs/none/objects/ls"), 404, "commit not found"),
    ("commit", lambda lake: lake.raw("GET", f"{REPO}/commits/{'0' * 64}"), 404, "commit not found"),
    ("protected branch", protected, 403, "cannot write to protected branch"),
    (
        "wrong key",
        lambda lake: lake.raw("GET", "/repositories", authorization=f"Basic {b64encode(b'a:b').decode()}"),
        401,
        "error authenticating request",
    ),
    ("empty commit", lambda lake: lake.raw("POST", f"{MAIN}/commits", {"message": "m"}), 400, "commit: no changes"),
    (
        "tag twice",
        lambda lake: twice(lake, f"{REPO}/tags", {"id": "v1", "ref": "main"}),
        409,
        "tag already exists",
    ),
    (
        "branch twice",
        lambda lake: twice(lake, f"{REPO}/branches", {"name": "dev", "source": "main"}),
        409,
        "branch already exists: not unique",
    ),
]


@pytest.mark.parametrize(("request_", "status", "words"), [row[1:] for row in WORDS], ids=[row[0] for row in WORDS])
def test_messages_begin_with_the_words_that_scripts_expect(
    lake: Lake, request_: Callable[[Lake], Any], status: int, words: str
) -> None:
    answer = request_(lake)
    assert (answer.status, answer.json["message"][: len(words)]) == (status, words)
    assert len(answer.json["message"]) > len(words) + 2  # our own words follow


@pytest.mark.parametrize(
    ("method", "target"),
    [
        ("POST", "/repositories//branches/main/staging/pmpu?path=a"),
        ("POST", f"{REPO}/branches//staging/pmpu?path=a"),
        ("PUT", "/repositories//branches/main/staging/pmpu/id?path=a"),
        ("PUT", f"{REPO}/branches//staging/pmpu/id?path=a"),
        ("PUT", f"{MAIN}/staging/pmpu/?path=a"),
        ("DELETE", "/repositories//branches/main/staging/pmpu/id?path=a"),
        ("DELETE", f"{REPO}/branches//staging/pmpu/id?path=a"),
        ("DELETE", f"{MAIN}/staging/pmpu/?path=a"),
        ("GET", f"{REPO}/refs//objects/ls"),
    ],
)
def test_an_empty_part_of_the_path_is_a_bad_request(lake: Lake, method: str, target: str) -> None:
    assert lake(method, target, {}, 400)["kind"] == "invalid_request"


@pytest.mark.parametrize("target", ["/nowhere", "/nowhere//x", f"{REPO}/nowhere//x", "/repositories/"])
def test_other_paths_are_not_found(lake: Lake, target: str) -> None:
    assert lake("GET", target, None, 404)["kind"] == "endpoint_not_found"


def test_a_removed_path_has_no_size_in_the_diff_of_a_branch(lake: Lake) -> None:
    lake.put("a", b"four")
    lake.commit("one")
    lake("DELETE", f"{MAIN}/objects?path=a", None, 204)
    (row,) = lake("GET", f"{MAIN}/diff")["results"]
    assert (row["type"], row["size_bytes"], row["former_size_bytes"]) == ("removed", 0, 4)
    lake.commit("two")
    (row,) = lake("GET", f"{REPO}/refs/main~1/diff/main")["results"]
    assert (row["type"], row["size_bytes"], row["former_size_bytes"]) == ("removed", 4, 4)
    lake.put("b", b"12")
    (row,) = lake("GET", f"{MAIN}/diff")["results"]
    assert (row["type"], row["size_bytes"]) == ("added", 2)
    assert "former_size_bytes" not in row
