"""`lakebed pr` and the requirements of `lakebed repo protect`."""

from __future__ import annotations

import uuid
from typing import Any

import lakebed
import pytest

from tests.cli.conftest import Run
from tests.support.processes.server import RunningServer


@pytest.fixture
def place(server: RunningServer) -> Any:
    """The name of a repository with `main`, and `dev` one commit ahead."""
    name = f"c{uuid.uuid4().hex[:12]}"
    with lakebed.connect(server.endpoint, server.access_key_id, server.secret_access_key) as lake:
        repo = lake.repository(name).create(f"local://{name}")
        repo.branch("main").put("a", b"1")
        repo.branch("main").commit("first")
        repo.branch("dev").create("main").put("b", b"2")
        repo.branch("dev").commit("second")
        yield name


def test_a_pull_request_on_the_command_line(run: Run, place: str) -> None:
    made = run("pr", "create", f"{place}/dev", "main", "-t", "Add b", "-m", "why\nso", "--draft", "--json").json
    at = f"{place}/{made['id']}"
    assert "draft" in run("pr", "list", place).text
    assert any(row["id"] == made["id"] for row in run("pr", "list", "--json").json)
    assert run("pr", "diff", at).text.startswith("+ b")
    run("pr", "comment", at, "-m", "hm", "--path", "b", "--column", "x", "--row", "7")
    assert run("pr", "approve", at, code=6).err  # the author
    shown = run("pr", "show", at).text
    assert "Add b" in shown
    assert "mergeable" in shown
    assert "on b x 7:" in shown
    assert run("pr", "merge", at, code=None).code != 0  # a draft
    workspace = run("pr", "checkout-workspace", at, "--json").json["workspace"]
    assert workspace.startswith("dev+")
    assert "closed" in run("pr", "close", at).text
    assert "open" in run("pr", "close", at, "--reopen").text
    with_state = run("pr", "show", at, "--json").json
    assert (with_state["mergeable"], with_state["comments"][0]["column"]) == ("draft", "x")


def test_a_required_check_and_the_merge(run: Run, place: str) -> None:
    assert "check: tests" in run("repo", "protect", place, "main", "--check", "tests").text
    rules = run("repo", "protect", place, "--json").json
    assert rules == {"patterns": ["main"], "required": {"main": {"checks": ["tests"]}}}
    assert run("merge", f"{place}/dev", "main", code=None).code == 6
    at = f"{place}/" + run("pr", "create", f"{place}/dev", "main", "-t", "t", "--json").json["id"]
    refused = run("pr", "merge", at, "--json", code=None)
    assert refused.error["kind"] == "not_mergeable"
    run("pr", "check", f"{place}/dev", "tests", "success", "--url", "https://ci.example.org")
    assert run("pr", "check", f"{place}/dev").text.split() == ["success", "tests"]
    commit = run("pr", "merge", at, "-m", "done", "--json").json["commit_id"]
    assert run("pr", "show", at, "--json").json["merged_commit_id"] == commit
    assert run("pr", "diff", at).text.startswith("+ b")
    assert run("pr", "merge", at, "--json", code=None).error["kind"] == "pull_closed"
    assert run("pr", "show", f"{place}/{'0' * 20}", "--json", code=None).error["kind"] == "pull_not_found"
    assert run("repo", "protect", place, "--approvals", "1", code=2).err
