"""Verbs that move a branch: revert, cherry-pick, hard reset, a merge by rules; and the rules that protect branches."""

from __future__ import annotations

import lakebed
import pytest

from tests.cli.conftest import Run


@pytest.fixture
def history(repo: lakebed.Repository) -> lakebed.Repository:
    """`main` with two commits of `a`, and `dev` with one of `d`."""
    main = repo.branch("main")
    main.put("a", b"1")
    main.commit("first")
    dev = repo.branch("dev").create("main")
    dev.put("d", b"1")
    dev.commit("on dev")
    main.put("a", b"2")
    main.commit("second")
    return repo


def test_revert(run: Run, history: lakebed.Repository) -> None:
    assert run("revert", f"{history.id}/main", "main").text.endswith(": second\n")
    assert history.ref("main").get("a") == b"1"
    run("revert", f"{history.id}/main", "main~1", code=5)
    made = run("revert", f"{history.id}/main", "main~1", "--allow-empty", "-m", "x", "--meta", "k=v", "--json").json
    assert (made["message"], made["metadata"]) == ("x", {"k": "v"})
    again = [run("revert", f"{history.id}/main", "main~3", "--key", "k", "--json").json for _ in range(2)]
    assert again[0] == again[1]
    assert len(history.branch("main").log().all()) == 6


def test_cherry_pick(run: Run, history: lakebed.Repository) -> None:
    assert run("cherry-pick", f"{history.id}/main", "dev").text.endswith("] on dev\n")
    assert history.ref("main").get("d") == b"1"
    history.ref("dev").merge_into("main")
    assert "--parent" in run("cherry-pick", "--help").text
    run("cherry-pick", f"{history.id}/dev", "main", code=2)
    again = [run("cherry-pick", f"{history.id}/dev", "main", "--parent", "2", "--key", "k", "--json") for _ in range(2)]
    assert again[0].json == again[1].json
    assert history.ref("dev").get("a") == b"2"


def test_hard_reset(run: Run, history: lakebed.Repository) -> None:
    old = history.branch("main").info().commit_id
    text = run("branch", "reset", f"{history.id}/main", "--hard", "main~1", "--yes").text
    assert text.endswith(f"; it was at {old}.\n")
    assert history.ref("main").get("a") == b"1"
    run("branch", "reset", f"{history.id}/main/a", "--hard", "main~1", "--yes", code=2)


def test_a_merge_by_rules(run: Run, history: lakebed.Repository) -> None:
    dev = history.branch("dev")
    dev.put("a", b"dev")
    dev.commit("clash")
    run("merge", f"{history.id}/dev", "main", "--resolve", "x*=source", code=4)
    assert "=dest" in run("merge", f"{history.id}/dev", "main", "--resolve", "a=mine", code=2).err
    run("merge", f"{history.id}/dev", "main", "--resolve", "a=source", "--resolve", "*=dest")
    assert history.ref("main").get("a") == b"dev"


def test_protect(run: Run, history: lakebed.Repository) -> None:
    assert run("repo", "protect", history.id).text == "No branch is protected.\n"
    assert run("repo", "protect", history.id, "main", "release-*").text == "main\nrelease-*\n"
    assert "protected" in run("commit", f"{history.id}/main", "-m", "x", "--allow-empty", code=6).err
    assert run("repo", "protect", history.id, "--json").json == {"patterns": ["main", "release-*"]}
    run("repo", "protect", history.id, "--clear", "x", code=2)
    run("repo", "protect", history.id, "--clear")
    run("commit", f"{history.id}/main", "-m", "x", "--allow-empty")
