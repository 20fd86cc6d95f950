"""A service commits for a person: the person is the committer, and the metadata name the service."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from lakebed_auth import arn
from lakebed_server.auth.records import User
from lakebed_server.process.app import create_app

from tests.auth.people import NOW, REPO, People, allow
from tests.server.publishing import FORM, form
from tests.server.support import Answer

COMMITS = f"{REPO}/branches/main/commits"
Way = Callable[[People, str, dict[str, Any]], Answer]


def commit(people: People, user: str, more: dict[str, Any]) -> Answer:
    return people(user, "POST", COMMITS, {"message": "m", "allow_empty": True, **more})


def commit_later(people: People, user: str, more: dict[str, Any]) -> Answer:
    body = {"message": "m", "allow_empty": True, **more}
    begun = people(user, "POST", f"{COMMITS}/async", body, idempotency_key=str(time.time()))
    return begun if begun.status >= 400 else Answer(201, begun.headers, b"")


def merge(people: People, user: str, more: dict[str, Any]) -> Answer:
    people("admin", "POST", f"{REPO}/branches", {"name": "dev", "source": "main"})
    people.put(f"in-dev-{time.time()}", branch="dev")
    people("admin", "POST", f"{REPO}/branches/dev/commits", {"message": "m"})
    return people(user, "POST", f"{REPO}/refs/dev/merge/main", more)


def publish(people: People, user: str, more: dict[str, Any]) -> Answer:
    body = form({"message": "m", **more}, {f"p-{time.time()}": b"x"})
    return people(user, "POST", f"{REPO}/branches/main/objects/batch", body, content_type=FORM)


def commit_workspace(people: People, user: str, more: dict[str, Any]) -> Answer:
    workspace = people("admin", "POST", f"{REPO}/workspaces", {"branch": "main"}).json["id"]
    people.put(f"w-{time.time()}", branch=f"main%2B{workspace}")
    return people(user, "POST", f"{REPO}/workspaces/{workspace}/commit", {"message": "m", **more})


WAYS = [commit, commit_later, merge, publish, commit_workspace]


@pytest.fixture
def people() -> Iterator[People]:
    made = People()
    made.run(made.directory.create_user(User("ana", NOW, email="ana@example.org")))
    made.add("etl", allow("fs:*"))
    made.add("ben", groups=("Developers",))
    yield made
    made.close()


def head(people: People) -> dict[str, Any]:
    found: dict[str, Any] = people("admin", "GET", f"{REPO}/refs/main/commits?amount=1").json["results"][0]
    return found


def head_by(people: People, committer: str) -> dict[str, Any]:
    """The newest commit, as soon as it is by this committer: a task may still be running."""
    until = time.monotonic() + 30
    while (found := head(people))["committer"] != committer and time.monotonic() < until:
        people.run(asyncio.sleep(0.01))
    return found


@pytest.mark.parametrize("way", WAYS)
def test_the_author_is_the_committer(people: People, way: Way) -> None:
    answer = way(people, "etl", {"author": "ana", "metadata": {"job": "7"}})
    assert answer.status in (200, 201), answer.body
    made = head_by(people, "ana@example.org")
    assert made["committer"] == "ana@example.org"
    assert made["metadata"] | {"job": "7", "lakebed.committed_by": "etl"} == made["metadata"]


@pytest.mark.parametrize("way", WAYS)
def test_another_author_needs_a_permission(people: People, way: Way) -> None:
    before = head(people)["id"]
    refused = way(people, "ben", {"author": "ana"})
    assert refused.status == 403
    assert refused.json["message"] == "needs fs:CommitAs on repository/lake/branch/main"
    assert head(people)["id"] == before
    assert way(people, "ben", {"author": "ben"}).status in (200, 201)


@pytest.mark.parametrize("way", WAYS)
def test_a_client_cannot_set_the_key_of_the_server(people: People, way: Way) -> None:
    refused = way(people, "etl", {"metadata": {"lakebed.committed_by": "ana"}})
    assert refused.status == 400
    assert "the server sets 'lakebed.committed_by'" in refused.json["message"]


def test_the_permission_may_be_for_one_branch(people: People) -> None:
    people("admin", "POST", f"{REPO}/branches", {"name": "dev", "source": "main"})
    people.add("bot", allow("fs:CreateCommit"), allow("fs:CommitAs", on=arn.branch("lake", "dev")))
    body = {"message": "m", "allow_empty": True, "author": "ana"}
    assert people("bot", "POST", f"{REPO}/branches/dev/commits", body).status == 201
    assert people("bot", "POST", COMMITS, body).status == 403


def test_the_author_is_a_user(people: People) -> None:
    answer = commit(people, "etl", {"author": "unknown"})
    assert (answer.status, answer.json["kind"]) == (404, "user_not_found")


def test_any_name_is_an_author_where_there_are_no_users(people: People) -> None:
    people.app = create_app(replace(people.services, permissions=None))
    assert commit(people, "admin", {"author": "someone@example.org"}).status == 201
    made = head(people)
    assert (made["committer"], made["metadata"]) == ("someone@example.org", {"lakebed.committed_by": "admin"})
