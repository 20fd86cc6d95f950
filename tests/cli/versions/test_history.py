"""Verbs that make and show history: commit, log, show, diff, merge."""

from __future__ import annotations

import lakebed
import pytest

from tests.cli.conftest import Run


@pytest.fixture
def diverged(repo: lakebed.Repository) -> lakebed.Repository:
    """main and dev both changed `both`; dev added `new`."""
    main = repo.branch("main")
    main.put("both", b"base")
    main.commit("first\n\nwith a body", metadata={"job": "nightly"})
    dev = repo.branch("dev").create("main")
    dev.put("both", b"dev")
    dev.put("new", b"new")
    dev.commit("on dev")
    main.put("both", b"main")
    main.commit("on main")
    return repo


def test_commit_prints_what_it_created(run: Run, repo: lakebed.Repository) -> None:
    repo.branch("main").put("a", b"1")
    text = run("commit", f"{repo.id}/main", "-m", "add a\n\nbecause").text
    assert text.startswith("[main ")
    assert text.endswith("] add a\n")
    made = repo.ref("main").commit_info()
    assert made.message == "add a\n\nbecause"


def test_commit_as_json_with_metadata_and_date(run: Run, repo: lakebed.Repository) -> None:
    repo.branch("main").put("a", b"1")
    made = run(
        "commit", f"lakebed://{repo.id}/main", "-m", "x", "--meta", "job=a=b", "--meta", "n=1", "--json",
        "--date", "2020-01-02T03:04:05",
    ).json  # fmt: skip
    assert made["metadata"] == {"job": "a=b", "n": "1"}
    assert made["created"].startswith("2020-01-0")
    assert len(made["parents"]) == 1


def test_nothing_to_commit_exits_with_5(run: Run, repo: lakebed.Repository) -> None:
    assert "--allow-empty" in run("commit", f"{repo.id}/main", "-m", "x", code=5).err
    run("commit", f"{repo.id}/main", "-m", "x", "--allow-empty")


def test_log(run: Run, diverged: lakebed.Repository) -> None:
    text = run("log", f"{diverged.id}/dev").text
    assert text.index("on dev") < text.index("first") < text.index("Repository created")
    assert "    with a body\n" in text
    assert "    job = nightly" in text
    assert not any(line.endswith(" ") for line in text.splitlines())


def test_log_without_a_ref_is_that_of_the_default_branch(run: Run, diverged: lakebed.Repository) -> None:
    assert run("log", diverged.id, "--oneline").text == run("log", f"{diverged.id}/main", "--oneline").text
    assert len(run("log", diverged.id, "-n", "2", "--json").json) == 2
    assert run("log", diverged.id, "-n", "0", "--json").json == []


def test_log_of_a_path_and_of_a_folder(run: Run, repo: lakebed.Repository) -> None:
    main = repo.branch("main")
    for path in ("a", "f/b", "f/c"):
        main.put(path, b"1")
        main.commit(f"add {path}")

    def titles(place: str) -> list[str]:
        return [one["message"] for one in run("log", f"{repo.id}/{place}", "--json").json]

    assert titles("main/a") == ["add a"]
    assert titles("main/f/") == ["add f/c", "add f/b"]


def test_log_since(run: Run, diverged: lakebed.Repository) -> None:
    assert run("log", diverged.id, "--since", "2100-01-01", "--json").json == []
    assert "YYYY" not in run("log", diverged.id, "--since", "yesterday", code=2).text


def test_graph_of_a_repository_and_of_one_branch(run: Run, diverged: lakebed.Repository) -> None:
    whole = run("log", "--graph", diverged.id).text
    assert "(main)" in whole
    assert "(dev)" in whole
    assert "|/" in whole
    alone = run("log", "--graph", f"{diverged.id}/main").text
    assert "on main" in alone
    assert "on dev" not in alone
    assert len(run("log", "--graph", f"{diverged.id}/main", "-n", "1").text.splitlines()) == 1
    run("log", "--graph", f"{diverged.id}/main/path", code=2)


def test_show_a_commit_and_its_changes(run: Run, diverged: lakebed.Repository) -> None:
    text = run("show", f"{diverged.id}/dev").text
    assert "~ both\n+ new\n\n1 added, 1 changed; " in text
    shown = run("show", f"{diverged.id}/dev", "--json", "-n", "1").json
    assert shown["commit"]["message"] == "on dev"
    assert shown["changes"] == [{"type": "changed", "path": "both", "is_prefix": False, "size": 3}]
    assert shown["has_more"] is True
    assert run("show", f"{diverged.id}/dev~2", "--json").json["changes"] == []


def test_diff_of_two_refs(run: Run, diverged: lakebed.Repository) -> None:
    result = run("diff", f"{diverged.id}/main", "dev")
    assert result.text == "! both\n+ new\n"
    assert result.err == "1 added, 1 conflict\n"
    rows = run("diff", f"{diverged.id}/main", f"{diverged.id}/dev", "--two-dot", "--json").json
    assert [row["type"] for row in rows] == ["changed", "added"]
    assert run("diff", f"{diverged.id}/main", "main").err == "no differences\n"


def test_diff_of_uncommitted_changes(run: Run, repo: lakebed.Repository) -> None:
    main = repo.branch("main")
    main.put("f/a", b"1")
    main.put("g", b"1")
    assert run("diff", f"{repo.id}/main").text == "+ f/a\n+ g\n"
    assert run("diff", f"{repo.id}/main", "--folders").text == "~ f/\n+ g\n"
    assert run("diff", f"{repo.id}/main", "--prefix", "f/", "-q").err == ""
    assert run("diff", f"{repo.id}/main", "--json").json[0]["path"] == "f/a"


def test_two_repositories_cannot_be_compared(run: Run, repo: lakebed.Repository) -> None:
    assert "two repositories" in run("diff", f"{repo.id}/main", "other/main", code=2).err


def test_conflict_lists_its_paths_and_exits_with_4(run: Run, diverged: lakebed.Repository) -> None:
    error = run("merge", f"{diverged.id}/dev", "main", code=4).err
    assert "\n    both\n" in error
    assert "--strategy" in error
    reported = run("merge", f"{diverged.id}/dev", "main", "--json", code=4).error
    assert reported["kind"] == "merge_conflict"
    assert reported["exit_code"] == 4
    assert reported["paths"] == ["both"]
    assert set(reported["conflicts"][0]) == {"path", "base", "ours", "theirs"}
    assert diverged.ref("main").get("both") == b"main"


@pytest.mark.parametrize(
    ("strategy", "content"), [("source-wins", b"dev"), ("theirs", b"dev"), ("dest-wins", b"main"), ("ours", b"main")]
)
def test_a_strategy_settles_the_conflict(run: Run, diverged: lakebed.Repository, strategy: str, content: bytes) -> None:
    made = run("merge", f"{diverged.id}/dev", "main", "--strategy", strategy, "-m", "both", "--json").json
    assert diverged.ref("main").get("both") == content
    commit = diverged.commit(made["commit_id"])
    assert commit.message == "both"
    assert len(commit.parents) == 2
    assert run("merge", f"{diverged.id}/dev", "main", code=5).err


def test_merge_into_a_dirty_branch_exits_with_4(run: Run, diverged: lakebed.Repository) -> None:
    diverged.branch("main").put("dirty", b"1")
    assert "branch reset" in run("merge", f"{diverged.id}/dev", "main", code=4).err


def test_a_message_cannot_move_the_cursor(run: Run, repo: lakebed.Repository) -> None:
    main = repo.branch("main")
    main.put("a\x1b[2Jb", b"1")
    main.commit("red \x1b[31m")
    assert b"\x1b" not in run("log", repo.id).out
    assert "+ a\\x1b[2Jb\n\n1 added; " in run("show", f"{repo.id}/main").text
    assert run("log", repo.id, "--json").json[0]["message"] == "red \x1b[31m"
