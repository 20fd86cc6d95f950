"""Pull requests on the wire: the contract of existing clients."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.server.lake import MAIN, REPO, Lake

PULLS = REPO + "/pulls"


@pytest.fixture
def lake() -> Iterator[Lake]:
    lake = Lake()
    lake("POST", "/repositories", {"name": "lake", "storage_namespace": "mem://lake"}, 201)
    lake.put("a", b"1")
    lake.commit("first")
    lake("POST", REPO + "/branches", {"name": "dev", "source": "main"}, 201)
    lake.put("b", b"2", "dev")
    lake.commit("second", "dev")
    yield lake
    lake.close()


def opened(lake: Lake, **more: Any) -> str:
    body = {"title": "Add b", "source_branch": "dev", "destination_branch": "main", **more}
    made = lake("POST", PULLS, body, 201)
    assert made.keys() == {"id"}
    return str(made["id"])


def test_a_pull_request_from_its_opening_to_its_merge(lake: Lake) -> None:
    made = opened(lake, description="why")
    found = lake("GET", f"{PULLS}/{made}")
    assert found.pop("creation_date").endswith("Z")
    assert found == {
        "id": made,
        "status": "open",
        "title": "Add b",
        "description": "why",
        "author": "admin",
        "author_id": "admin",
        "source_branch": "dev",
        "destination_branch": "main",
        "draft": False,
        "reviewers": [],
    }
    lake("PATCH", f"{PULLS}/{made}", {"title": "Better", "description": ""}, 204)
    found = lake("GET", f"{PULLS}/{made}")
    assert (found["title"], found["description"], found["status"]) == ("Better", "", "open")
    merged = lake("PUT", f"{PULLS}/{made}/merge")["reference"]
    found = lake("GET", f"{PULLS}/{made}")
    assert (found["status"], found["merged_commit_id"]) == ("merged", merged)
    assert found["closed_date"] >= found["creation_date"]
    assert lake("GET", MAIN)["commit_id"] == merged
    assert lake("PUT", f"{PULLS}/{made}/merge", None, 400)["kind"] == "pull_closed"
    assert lake("PATCH", f"{PULLS}/{made}", {"status": "open"}, 400)["kind"] == "pull_closed"


def test_pages_have_the_newest_first_and_items_have_a_description(lake: Lake) -> None:
    made = [opened(lake, title=f"{n}") for n in range(3)]
    lake("PATCH", f"{PULLS}/{made[0]}", {"status": "closed"}, 204)
    page = lake("GET", PULLS + "?amount=2")
    assert page["pagination"] == {
        "has_more": True,
        "next_offset": page["results"][-1]["id"],
        "results": 2,
        "max_per_page": 1000,
    }
    assert [one["description"] for one in page["results"]] == ["", ""]
    rest = lake("GET", f"{PULLS}?after={page['pagination']['next_offset']}")["results"]
    assert {one["id"] for one in (*page["results"], *rest)} == set(made)
    assert {one["id"] for one in lake("GET", PULLS + "?status=open")["results"]} == set(made[1:])
    assert [one["id"] for one in lake("GET", PULLS + "?status=closed")["results"]] == made[:1]
    assert len(lake("GET", PULLS + "?status=all")["results"]) == 3
    assert len(lake("GET", f"{PULLS}?prefix={made[1]}")["results"]) == 1
    lake("GET", PULLS + "?status=merged", None, 400)


@pytest.mark.parametrize(
    ("body", "status", "kind"),
    [
        ({"source_branch": "main"}, 400, "invalid_request"),
        ({"source_branch": "none"}, 404, "branch_not_found"),
        ({"destination_branch": "none"}, 404, "branch_not_found"),
        ({"source_branch": "a/b"}, 400, "invalid_name"),
        ({"title": ""}, 400, "invalid_request"),
        ({"title": "x" * 513}, 400, "invalid_request"),
        ({"description": "x" * 65_537}, 400, "invalid_request"),
        ({"title": None}, 400, "invalid_request"),
    ],
)
def test_a_bad_pull_request_is_not_opened(lake: Lake, body: dict[str, Any], status: int, kind: str) -> None:
    asked = {"title": "t", "source_branch": "dev", "destination_branch": "main", **body}
    assert lake("POST", PULLS, asked, status)["kind"] == kind
    assert lake("GET", PULLS)["results"] == []


@pytest.mark.parametrize("bad", ["x", "0" * 19, "0" * 21, "w" * 20, "A" * 20, "%2e%2e", "%00" * 20, "0" * 20 + "%0a"])
def test_a_malformed_id_is_400_and_an_unknown_one_404(lake: Lake, bad: str) -> None:
    for method, target, body in (("GET", "", None), ("PATCH", "", {"title": "t"}), ("PUT", "/merge", None)):
        assert lake(method, f"{PULLS}/{bad}{target}", body, 400)["kind"] == "invalid_request"
        assert lake(method, f"{PULLS}/{'0' * 20}{target}", body, 404)["kind"] == "pull_not_found"


def test_a_conflict_is_an_error_body_and_a_moved_source_is_refused(lake: Lake) -> None:
    made = opened(lake)
    lake.put("b", b"other")
    lake.commit("theirs")
    conflict = lake("PUT", f"{PULLS}/{made}/merge", None, 409)
    assert (conflict["kind"], [one["path"] for one in conflict["conflicts"]]) == ("merge_conflict", ["b"])
    head = lake("GET", REPO + "/branches/dev")["commit_id"]
    lake.put("c", b"3", "dev")
    newer = lake.commit("third", "dev")["id"]
    asked = {"source_commit_id": head, "strategy": "source-wins", "message": "m", "metadata": {"k": "v"}}
    assert lake("PUT", f"{PULLS}/{made}/merge", asked, 409)["kind"] == "source_moved"
    merged = lake("PUT", f"{PULLS}/{made}/merge", {**asked, "source_commit_id": newer})["reference"]
    commit = lake("GET", f"{REPO}/commits/{merged}")
    assert (commit["message"], commit["parents"][1]) == ("m", newer)
    assert commit["metadata"] == {"k": "v", "lakebed.pull_request": made, ".lakefs.merge.strategy": "source-wins"}
    assert lake("GET", f"{PULLS}/{made}")["source_commit_id"] == newer


def test_nothing_to_merge_and_a_status_that_only_a_merge_sets(lake: Lake) -> None:
    lake("POST", REPO + "/branches", {"name": "same", "source": "main"}, 201)
    made = opened(lake, source_branch="same")
    assert lake("PUT", f"{PULLS}/{made}/merge", None, 400)["kind"] == "no_changes"
    lake("PATCH", f"{PULLS}/{made}", {"status": "merged"}, 400)
    lake("PATCH", f"{PULLS}/{made}", {"status": "unknown"}, 400)
    assert lake("GET", f"{PULLS}/{made}")["status"] == "open"


def test_deleting_a_branch_closes_its_pull_requests(lake: Lake) -> None:
    made = opened(lake)
    lake("DELETE", REPO + "/branches/dev", None, 204)
    assert lake("GET", f"{PULLS}/{made}")["status"] == "closed"
    assert lake("PATCH", f"{PULLS}/{made}", {"status": "open"}, 404)["kind"] == "branch_not_found"
    assert lake("PUT", f"{PULLS}/{made}/merge", None, 400)["kind"] == "pull_closed"
