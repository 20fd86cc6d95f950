"""Pull requests of several users: the rights to review, comment, resolve, dismiss and merge, and the personal list."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

import pytest
from lakebed_server.rest.rights.task_rights import may_merge

from tests.auth.people import REPO, People, allow

LAKE = ["arn:lakefs:fs:::repository/lake", "arn:lakefs:fs:::repository/lake/*"]
PULLS = REPO + "/pulls"
RULES = REPO + "/settings/branch_protection"


@pytest.fixture
def people() -> Iterator[People]:
    """`ana` and `ben` are developers, `ro` only reads and comments. Branch `dev` is one commit ahead of `main`."""
    made = People()
    for user in ("ana", "ben"):
        made.add(user, allow("fs:*", "pr:*", on=LAKE))
    made.add("ro", allow("fs:Read*", "pr:Read*", "pr:List*", "pr:CommentPullRequest", on=LAKE))
    made("admin", "POST", REPO + "/branches", {"name": "dev", "source": "main"})
    made.put("a", branch="dev")
    sent = made("ana", "POST", REPO + "/branches/dev/commits", {"message": "m"})
    assert sent.status == 201, sent.body
    made.pull = made("ana", "POST", PULLS, {"title": "t", "source_branch": "dev", "destination_branch": "main"}).json[
        "id"
    ]
    yield made
    made.close()


def send(people: People, user: str, method: str, target: str, body: Any, status: int) -> Any:
    answer = people(user, method, f"{PULLS}/{people.pull}{target}", body)
    assert answer.status == status, (answer.status, answer.body)
    return answer.json if answer.body else None


def require(people: People, **requirements: Any) -> None:
    answer = people("admin", "PUT", RULES, [{"pattern": "main", **requirements}])
    assert answer.status == 204, answer.body
    assert people("admin", "GET", RULES).json == [{"pattern": "main", **requirements}]


def test_a_required_approval_comes_from_another_user(people: People) -> None:
    require(people, required_approvals=1)
    merge = f"{REPO}/refs/dev/merge/main"
    assert people("ana", "POST", merge, {}).json["kind"] == "protected_branch"
    assert people("admin", "POST", merge, {}).json["kind"] == "protected_branch"
    own = send(people, "ana", "POST", "/reviews", {"verdict": "approve"}, 403)
    assert own["kind"] == "permission_denied"
    assert send(people, "ana", "PUT", "/merge", None, 409)["kind"] == "not_mergeable"
    send(people, "ro", "POST", "/reviews", {"verdict": "approve"}, 403)
    send(people, "ro", "POST", "/reviews", {"verdict": "comment", "body": "nice"}, 201)
    made = send(people, "ben", "POST", "/approvals", None, 201)
    assert made["approver"] == "ben"
    assert send(people, "ro", "GET", "/approvals", None, 200)["results"] == [made]
    state = send(people, "ro", "GET", "/state", None, 200)
    assert (state["mergeable"], state["approvals"]) == ("clean", {"have": 1, "need": 1})
    send(people, "ben", "DELETE", "/approvals", None, 204)
    assert send(people, "ro", "GET", "/state", None, 200)["mergeable"] == "approvals"
    head = state["source_commit_id"]
    send(people, "ben", "POST", "/reviews", {"verdict": "approve", "source_commit_id": head}, 201)
    send(people, "ana", "PUT", "/merge", {"source_commit_id": head}, 200)
    reviews = send(people, "ro", "GET", "/reviews", None, 200)["results"]
    assert [(one["author"], one["verdict"], one["stale"]) for one in reviews] == [
        ("ro", "comment", False),
        ("ben", "approve", False),
        ("ben", "approve", False),
    ]


def test_a_merge_needs_commits_on_the_destination(people: People) -> None:
    people.add("writer", allow("pr:*", "fs:Read*", on=LAKE), allow("fs:CreateCommit", on=f"{LAKE[0]}/branch/dev"))
    refused = send(people, "writer", "PUT", "/merge", None, 403)
    assert "fs:CreateCommit" in refused["message"]
    send(people, "writer", "PATCH", "", {"auto_merge": {"strategy": "source-wins"}}, 403)
    send(people, "writer", "PATCH", "", {"title": "mine too"}, 204)
    send(people, "ro", "PATCH", "", {"title": "no"}, 403)
    send(people, "ana", "PUT", "/merge", None, 200)


def test_checks_need_their_own_permission(people: People) -> None:
    require(people, required_checks=["tests"])
    body = {"name": "tests", "state": "success", "url": "https://ci.example.org/1"}
    checks = REPO + "/commits/dev/checks"
    assert people("ana", "POST", checks, body).status == 403
    people.add("ci", allow("ci:WriteCheck", "fs:ReadCommit", on=LAKE))
    assert send(people, "ro", "GET", "/state", None, 200)["checks"] == [
        {"name": "tests", "required": True, "state": "missing"}
    ]
    made = people("ci", "POST", checks, body)
    assert (made.status, made.json["user"]) == (201, "ci")
    assert people("ro", "GET", checks).json["results"] == [made.json]
    assert people("ci", "POST", checks, {**body, "url": "ftp://x"}).status == 400
    assert people("ci", "POST", checks, {**body, "state": "unknown"}).status == 400
    assert send(people, "ro", "GET", "/state", None, 200)["mergeable"] == "clean"
    send(people, "ana", "PUT", "/merge", None, 200)


def test_comments_on_a_row_are_answered_and_resolved(people: People) -> None:
    place = {"path": "orders/", "column": "price", "row_key": '{"id":7}', "side": "right"}
    first = send(people, "ro", "POST", "/comments", {"body": "why 7? @ana", **place}, 201)
    assert {name: first[name] for name in place} == place
    assert (first["author"], first["resolved"], first["deleted"]) == ("ro", False, False)
    one = f"/comments/{first['id']}"
    send(people, "ana", "POST", "/comments", {"body": "typo", "reply_to": first["id"]}, 201)
    send(people, "ana", "PATCH", one, {"body": "not mine"}, 403)
    send(people, "ana", "DELETE", one, None, 403)
    assert send(people, "ana", "PATCH", one, {"resolved": True}, 200)["resolved_by"] == "ana"
    assert send(people, "ro", "PATCH", one, {"body": "why 8?", "resolved": False}, 200)["resolved"] is False
    people.add("other", allow("pr:Read*", "pr:CommentPullRequest", on=LAKE))
    send(people, "other", "PATCH", one, {"resolved": True}, 403)
    send(people, "ro", "DELETE", one, None, 204)
    left = send(people, "ro", "GET", "/comments", None, 200)["results"]
    assert [(row["body"], row["deleted"]) for row in left] == [("", True), ("typo", False)]
    for bad in ({"body": ""}, {"body": "x", "side": "up"}, {"body": "x", "column": "c"}, {"body": "x", "reply_to": 0}):
        send(people, "ro", "POST", "/comments", bad, 400)
    send(people, "ro", "PATCH", "/comments/x", {"body": "x"}, 400)
    assert send(people, "ro", "PATCH", "/comments/99", {"body": "x"}, 404)["kind"] == "comment_not_found"


def test_a_request_for_changes_is_dismissed_by_holders_of_the_rules(people: People) -> None:
    asked = send(people, "ben", "POST", "/reviews", {"verdict": "request_changes", "body": "no"}, 201)
    dismiss = f"/reviews/{asked['id']}/dismiss"
    assert send(people, "ana", "PUT", "/merge", None, 409)["kind"] == "not_mergeable"
    send(people, "ana", "POST", dismiss, None, 403)
    send(people, "ro", "POST", dismiss, None, 403)
    send(people, "admin", "POST", dismiss, {"message": "away"}, 204)
    send(people, "ana", "PUT", "/merge", None, 200)
    events = send(people, "ro", "GET", "/events", None, 200)["results"]
    assert [(one["type"], one["actor"]) for one in events] == [
        ("opened", "ana"),
        ("reviewed", "ben"),
        ("dismissed", "admin"),
        ("merged", "ana"),
    ]
    assert events[1]["review"]["dismissed_by"] == "admin"


def test_the_personal_list_has_what_concerns_the_user_and_only_what_they_may_list(people: People) -> None:
    people.run(people.directory.add_member("Viewers", "ro"))
    send(people, "ana", "PUT", "/reviewers", ["ben", "@Viewers"], 204)
    assert send(people, "ana", "PUT", "/reviewers", ["nobody"], 404)["kind"] == "user_not_found"
    assert send(people, "ana", "PUT", "/reviewers", ["@nobody"], 404)["kind"] == "group_not_found"
    send(people, "ben", "POST", "/comments", {"body": "@ana, see this."}, 201)

    def listed(user: str, query: str = "mine") -> list[tuple[str, list[str]]]:
        results = people(user, "GET", f"/pulls?{query}").json["results"]
        assert all(one["pull_request"]["id"] == people.pull for one in results)
        return [(one["repository"], one["reasons"]) for one in results]

    assert listed("ana") == [("lake", ["author", "mentioned"])]
    assert listed("ben") == [("lake", ["review_requested"])]
    assert listed("ro") == [("lake", ["review_requested"])]
    assert listed("ben", f"after=lake/{people.pull}") == []
    people.add("outsider")
    send(people, "ana", "PUT", "/reviewers", ["outsider"], 204)
    assert listed("outsider") == []


def test_auto_merge_ends_with_the_right_of_its_user(people: People) -> None:
    require(people, required_approvals=1)
    send(people, "ana", "PATCH", "", {"auto_merge": {"message": "by itself"}}, 204)
    found = send(people, "ro", "GET", "", None, 200)
    assert found["auto_merge"] == {"enabled": True, "strategy": "", "message": "by itself", "user": "ana"}
    ready = functools.partial(people.engine.maintenance.merge_ready, functools.partial(may_merge, people.permissions))
    assert people.run(ready()) == 0
    send(people, "ben", "POST", "/approvals", {}, 201)
    people.run(people.directory.update_user("ana", disabled=True))
    people.permissions.forget()
    assert people.run(ready()) == 0
    people.run(people.directory.update_user("ana", disabled=False))
    people.permissions.forget()
    assert people.run(ready()) == 1
    assert send(people, "ro", "GET", "", None, 200)["status"] == "merged"


def test_the_conflicts_of_a_pull_request_are_listed(people: People) -> None:
    for number in range(3):
        people.put(f"c{number}", branch="dev")
        people.put(f"c{number}", branch="main", data=b"other")
    for branch in ("dev", "main"):
        assert people("ana", "POST", f"{REPO}/branches/{branch}/commits", {"message": "m"}).status == 201
    state = send(people, "ro", "GET", "/state", None, 200)
    assert state["mergeable"] == "conflicts"
    page = people("ro", "GET", state["conflicts_url"].removeprefix("/api/v1") + "?amount=2").json
    assert ([one["path"] for one in page["conflicts"]], page["has_more"]) == (["c0", "c1"], True)
    rest = send(people, "ro", "GET", "/conflicts?after=c1", None, 200)
    assert ([one["path"] for one in rest["conflicts"]], rest["has_more"]) == (["c2"], False)
