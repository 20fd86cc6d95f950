"""All calls of the generated lakeFS client about pull requests (`facts/ui.md` 3)."""

# mypy: disable-error-code="attr-defined, call-arg, arg-type"
# what lakefs_sdk exports and leaves out, it does not say to mypy
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import lakefs
import lakefs_sdk
import pytest
from lakefs.client import Client


@pytest.fixture
def pulls(client: Client) -> Any:
    return lakefs_sdk.PullsApi(client.sdk_client._api)


@pytest.fixture
def repo(lakefs_repo: lakefs.Repository) -> lakefs.Repository:
    """`main`, and `dev` with one commit more."""
    lakefs_repo.branch("main").object("a").upload(b"1")
    lakefs_repo.branch("main").commit("first")
    lakefs_repo.branch("dev").create("main")
    lakefs_repo.branch("dev").object("b").upload(b"2")
    lakefs_repo.branch("dev").commit("second")
    return lakefs_repo


def refused(call: Callable[..., object], *arguments: Any) -> int:
    with pytest.raises(lakefs_sdk.ApiException) as caught:
        call(*arguments)
    return int(caught.value.status)


def creation(**more: Any) -> Any:
    texts = {"title": "Add b", "source_branch": "dev", "destination_branch": "main", **more}
    return lakefs_sdk.PullRequestCreation(**texts)


def test_a_pull_request_is_opened_changed_and_merged(pulls: Any, repo: lakefs.Repository) -> None:
    made = pulls.create_pull_request(repo.id, creation(description="why"))
    found = pulls.get_pull_request(repo.id, made.id)
    assert (found.id, found.status, found.title, found.description) == (made.id, "open", "Add b", "why")
    assert (found.source_branch, found.destination_branch, found.author) == ("dev", "main", "admin")
    assert (found.merged_commit_id, found.closed_date) == (None, None)
    pulls.update_pull_request(repo.id, made.id, lakefs_sdk.PullRequestBasic(title="Better"))
    merged = pulls.merge_pull_request(repo.id, made.id).reference
    found = pulls.get_pull_request(repo.id, made.id)
    assert (found.status, found.title, found.merged_commit_id) == ("merged", "Better", merged)
    assert found.closed_date >= found.creation_date
    assert repo.branch("main").object("b").reader(mode="rb").read() == b"2"
    assert refused(pulls.merge_pull_request, repo.id, made.id) == 400


def test_pages_and_the_status_filter(pulls: Any, repo: lakefs.Repository) -> None:
    made = [pulls.create_pull_request(repo.id, creation(title=f"{n}")).id for n in range(3)]
    pulls.update_pull_request(repo.id, made[1], lakefs_sdk.PullRequestBasic(status="closed"))
    page = pulls.list_pull_requests(repo.id, amount=2)
    assert (len(page.results), page.pagination.has_more) == (2, True)
    rest = pulls.list_pull_requests(repo.id, after=page.pagination.next_offset)
    assert {one.id for one in (*page.results, *rest.results)} == set(made)
    assert [one.id for one in pulls.list_pull_requests(repo.id, status="closed").results] == [made[1]]
    assert len(pulls.list_pull_requests(repo.id, status="open").results) == 2
    assert [one.title for one in pulls.list_pull_requests(repo.id, prefix=made[2]).results] == ["2"]


def test_refusals_have_the_status_that_the_client_expects(pulls: Any, repo: lakefs.Repository) -> None:
    assert refused(pulls.create_pull_request, repo.id, creation(source_branch="main")) == 400
    assert refused(pulls.create_pull_request, repo.id, creation(source_branch="none")) == 404
    assert refused(pulls.get_pull_request, repo.id, "not-an-id") == 400
    assert refused(pulls.get_pull_request, repo.id, "0" * 20) == 404
    made = pulls.create_pull_request(repo.id, creation()).id
    repo.branch("main").object("b").upload(b"other")
    repo.branch("main").commit("theirs")
    assert refused(pulls.merge_pull_request, repo.id, made) == 409
    merged = lakefs_sdk.PullRequestBasic(status="merged")
    assert refused(pulls.update_pull_request, repo.id, made, merged) == 400
    assert pulls.get_pull_request(repo.id, made).status == "open"
