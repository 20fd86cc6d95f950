"""Verbs for repositories, branches and tags."""

from __future__ import annotations

from uuid import uuid4

import lakebed
import pytest

from tests.cli.conftest import Run


@pytest.fixture
def name() -> str:
    return f"cli-{uuid4().hex[:12]}"


def test_the_life_of_a_repository(run: Run, name: str) -> None:
    assert "is ready" in run("repo", "create", name, f"local://{name}").text
    assert run("repo", "create", name, f"local://{name}", "--exist-ok", "--json").json["id"] == name
    taken = run("repo", "create", name, f"local://{name}", code=4).err
    assert name in taken
    assert "--exist-ok" in taken
    assert "exist_ok" not in taken  # that is Python's word
    assert run("repo", "list", "--prefix", name).text.startswith(name)
    assert [row["id"] for row in run("repo", "list", "--search", name[5:], "--json").json] == [name]
    shown = run("repo", "show", f"lakebed://{name}", "--json").json
    assert shown["default_branch"] == "main"
    assert shown["metadata"] == {}
    assert f"local://{name}" in run("repo", "show", name).text
    assert run("repo", "delete", name, "--yes", "--json").json == {"deleted": name}
    absent = run("repo", "show", name, code=3).err
    assert "repo list" in absent
    assert "lake.repositories" not in absent


def test_misspelled_verb_error_suggests_similar_verb(run: Run) -> None:
    assert "'comit'. Did you mean 'commit'?" in run("comit", code=2).err
    assert "'crate'. Did you mean 'create'?" in run("branch", "crate", code=2).err
    assert "Did you mean" not in run("xyzzy", code=2).err


def test_another_default_branch(run: Run, name: str) -> None:
    run("repo", "create", name, f"local://{name}", "--default-branch", "trunk")
    run("branch", "create", f"{name}/dev")
    assert [row["id"] for row in run("branch", "list", name, "--json").json] == ["dev", "trunk"]


def test_an_empty_list(run: Run) -> None:
    result = run("repo", "list", "--prefix", "there-is-none")
    assert result.out == b""
    assert "repo create" in result.err
    assert run("repo", "list", "--prefix", "there-is-none", "--json").json == []


def test_the_life_of_a_branch(run: Run, repo: lakebed.Repository) -> None:
    head = repo.ref("main").commit_info().id
    assert run("branch", "create", f"{repo.id}/dev").text == f"Branch dev is at {head[:12]}.\n"
    run("branch", "create", f"{repo.id}/dev", code=4)
    run("branch", "create", f"{repo.id}/dev", "--exist-ok", "-q")
    run("branch", "create", f"{repo.id}/late", "--source", "nowhere", code=3)
    run("branch", "create", f"{repo.id}/late", "--source", f"lakebed://{repo.id}/dev", "--hidden")
    assert run("branch", "list", repo.id).text.splitlines() == [f"{head[:12]}  dev", f"{head[:12]}  main"]
    assert len(run("branch", "list", repo.id, "--hidden", "--json").json) == 3
    assert run("branch", "show", f"{repo.id}/dev", "--json").json == {
        "id": "dev",
        "commit_id": head,
        "uncommitted": False,
    }
    assert run("branch", "delete", f"{repo.id}/dev", "-y", "--json").json == {"deleted": "dev", "commit_id": head}
    run("branch", "show", f"{repo.id}/dev", code=3)
    run("branch", "delete", f"{repo.id}/dev", "-y", code=3)
    assert "default branch" in run("branch", "delete", f"{repo.id}/main", "-y", code=6).err


def test_reset_of_an_object_and_of_all(run: Run, repo: lakebed.Repository) -> None:
    main = repo.branch("main")
    for path in ("a", "b", "c"):
        main.put(path, b"1")
    run("branch", "reset", f"{repo.id}/main/a", "-y")
    assert [row.path for row in main.uncommitted()] == ["b", "c"]
    assert "yes" in run("branch", "show", f"{repo.id}/main").text
    run("branch", "reset", f"{repo.id}/main", "-y")
    assert main.uncommitted().all() == []


def test_the_life_of_a_tag(run: Run, repo: lakebed.Repository) -> None:
    head = repo.ref("main").commit_info().id
    assert run("tag", "create", f"{repo.id}/v1.0", "main", "--json").json == {"id": "v1.0", "commit_id": head}
    run("tag", "create", f"{repo.id}/v1.0", f"{repo.id}/main", "--exist-ok")
    run("tag", "create", f"{repo.id}/v1.0", "main", code=4)
    assert run("tag", "list", repo.id).text == f"{head[:12]}  v1.0\n"
    assert head in run("tag", "show", f"{repo.id}/v1.0").text
    run("tag", "delete", f"{repo.id}/v1.0", "--yes")
    assert run("tag", "list", repo.id, "--json").json == []
    assert "tag list" in run("tag", "show", f"{repo.id}/v1.0", code=3).err


@pytest.mark.parametrize(
    "arguments", [("repo", "delete", "{}"), ("branch", "delete", "{}/main"), ("branch", "reset", "{}/main")]
)
def test_destructive_commands_ask_first(run: Run, repo: lakebed.Repository, arguments: tuple[str, ...]) -> None:
    assert "--yes" in run(*(one.format(repo.id) for one in arguments), code=2).err
    assert repo.exists()


@pytest.mark.parametrize(
    "arguments",
    [
        ("repo", "create", "Bad_Name", "local://bad"),
        ("repo", "create", "good-name", "nowhere"),
        ("branch", "create", "{}/bad.name"),
        ("tag", "create", "{}/bad^tag", "main"),
        ("repo", "show", ""),
        ("repo", "show", "s3://bucket"),
        ("repo", "show", "{}/main"),
        ("branch", "show", "{}"),
        ("branch", "show", "{}/main/path"),
        ("fs", "stat", "{}/main"),
        ("fs", "stat", "lakebed:///main/path"),
        ("fs", "ls", "//main"),
        ("log", "{}", "-n", "-1"),
        ("commit", "{}/main"),
        ("commit", "{}/main", "-m", "x", "--meta", "novalue"),
        ("merge", "{}/main", "dev", "--strategy", "mine"),
        ("nonsense",),
        ("repo", "nonsense"),
        ("repo", "list", "--nonsense"),
    ],
)
def test_bad_input_exits_with_2_and_names_the_error(
    run: Run, repo: lakebed.Repository, arguments: tuple[str, ...]
) -> None:
    result = run(*(one.format(repo.id) for one in arguments), code=2)
    assert result.out == b""
    assert result.err.startswith("lakebed: ")
    assert len(result.err.splitlines()) <= 3
