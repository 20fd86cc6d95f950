"""`lakebed events`: lines, JSON, filters, and the events that come."""

from __future__ import annotations

import lakebed

from tests.cli.conftest import Run


def test_events_are_lines_and_json(run: Run, repo: lakebed.Repository) -> None:
    made = repo.branch("main").commit("one", allow_empty=True)
    repo.tag("v1").create("main")
    *_, committed, tagged = run("events", repo.id).text.splitlines()
    assert committed.endswith(f"branch.committed  main  {made.id[:16]}")
    assert tagged.endswith(f"tag.created  v1  {made.id[:16]}")
    (row,) = run("events", repo.id, "--branch", "main", "--type", "branch.committed", "--json").json
    assert (row["type"], row["branch"], row["commit_id"]) == ("branch.committed", "main", made.id)


def test_following_ends_after_the_limit(run: Run, repo: lakebed.Repository) -> None:
    repo.branch("dev").create("main")
    text = run("events", repo.id, "--follow", "--after", "0", "-n", "2").text
    assert [line.split("  ")[2] for line in text.splitlines()] == ["repository.created", "branch.created"]
