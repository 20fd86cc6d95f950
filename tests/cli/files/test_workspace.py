"""`lakebed workspace`, `lakebed upload` and `lakebed download`, against a real server."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import lakebed
import pytest

from tests.cli.support import Result

Run = Callable[..., Result]


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    top = tmp_path / "tree"
    (top / "a").mkdir(parents=True)
    (top / "a" / "1.csv").write_text("one")
    (top / "2.txt").write_text("two")
    return top


def make(run: Run, repo: lakebed.Repository, *more: str) -> str:
    return f"{repo.id}/{run('workspace', 'create', f'{repo.id}/main', *more, '--json').json['name']}"


def paths(repo: lakebed.Repository, ref: str = "main") -> list[str]:
    return [row.path for row in repo.ref(ref).list()]


def test_the_life_of_a_workspace(run: Run, repo: lakebed.Repository, tree: Path) -> None:
    name = make(run, repo, "-m", "load")
    assert name.split("/")[1] in run("workspace", "list", repo.id).text
    assert "Uploaded 2 files, 6 B" in run("upload", str(tree), f"{name}/t").text
    assert run("workspace", "status", name).text == "+ t/2.txt\n+ t/a/1.csv\n"
    assert paths(repo) == []
    shown = run("workspace", "show", name, "--json").json
    assert (shown["state"], shown["message"]) == ("open", "load")
    assert shown["storage_prefix"].endswith(f"workspaces/{shown['id']}/")
    assert run("workspace", "renew", name, "--expires-in", "2d", "--json").json["expires"] < shown["expires"]
    assert run("workspace", "commit", name).text.endswith("] load\n")
    assert paths(repo) == ["t/2.txt", "t/a/1.csv"]
    again = run("workspace", "commit", name, "--json", code=4)
    assert again.error["kind"] == "workspace_closed"
    assert run("workspace", "show", name, "--json").json["state"] == "committed"
    assert run("workspace", "list", repo.id, "--json").json == []
    assert len(run("workspace", "list", repo.id, "--state", "all", "--json").json) == 1


def test_add_selects_a_part_and_the_rest_stays_open(run: Run, repo: lakebed.Repository, tree: Path) -> None:
    name = make(run, repo, "-m", "load")
    run("upload", str(tree), name)
    assert "a/*.csv" in run("workspace", "add", name, "a/*.csv").text
    assert "chosen for the next commit: a/*.csv" in run("workspace", "status", name).err
    run("workspace", "commit", name, "-m", "tables")
    assert paths(repo) == ["a/1.csv"]
    status = run("workspace", "status", name)
    assert status.text == "+ 2.txt\n"
    assert "chosen" not in status.err
    assert "matches no change" in run("workspace", "commit", name, "*.nothing", code=2).err
    run("workspace", "revert", name, "2.txt", "--yes")
    assert run("workspace", "commit", name, code=5).text == ""
    run("workspace", "drop", name, "--yes")
    assert run("workspace", "add", name, "x", code=2).err.startswith("lakebed: workspace")


def test_stash_and_pop(run: Run, repo: lakebed.Repository) -> None:
    main = repo.branch("main")
    main.put("a", b"1")
    name = f"{repo.id}/{run('workspace', 'stash', f'{repo.id}/main', '-m', 'later', '--json').json['name']}"
    assert paths(repo) == []
    assert run("workspace", "stash", f"{repo.id}/main", code=5).err.startswith("lakebed: ")
    repo.branch("dev").create()
    run("workspace", "pop", name, "--onto", "dev")
    assert paths(repo, "dev") == ["a"]
    assert main.uncommitted().first() is None


def test_an_upload_is_one_commit_and_says_when_nothing_changed(
    run: Run, repo: lakebed.Repository, tree: Path, tmp_path: Path
) -> None:
    done = run("upload", str(tree), f"{repo.id}/main/t", "-m", "up", "--meta", "job=x", "--json").json
    assert (done["message"], done["metadata"]["job"], done["transfer"]["files"]) == ("up", "x", 2)
    again = run("upload", str(tree), f"{repo.id}/main/t", "-m", "up", code=5)
    assert again.text == ""
    assert "--allow-empty" not in again.err, "this verb has no such option"
    assert repo.workspaces().first() is None  # none is left behind
    (tree / "2.txt").unlink()
    run("upload", str(tree), f"{repo.id}/main/t", "-m", "all of it", "--mirror")
    assert paths(repo) == ["t/a/1.csv"]
    run("upload", str(tree / "a" / "1.csv"), f"{repo.id}/main/one/", "-m", "a file")
    assert paths(repo) == ["one/1.csv", "t/a/1.csv"]
    out = tmp_path / "out"
    assert run("download", f"{repo.id}/main", str(out)).text == f"Downloaded 2 files, 6 B to {out}.\n"
    assert (out / "t" / "a" / "1.csv").read_text() == "one"
    run("download", f"{repo.id}/main/one/1.csv", str(tmp_path / "single"))
    assert (tmp_path / "single" / "1.csv").read_text() == "one"
    assert "there is nothing at" in run("download", f"{repo.id}/main/none", str(out), code=3).err


def test_conflict_keeps_the_upload_and_names_the_next_steps(run: Run, repo: lakebed.Repository, tree: Path) -> None:
    name = make(run, repo, "-m", "mine")
    run("upload", str(tree), f"{name}/t")
    repo.branch("main").put("t/2.txt", b"theirs")
    refused = run("workspace", "commit", name, "--json", code=4)
    assert (refused.error["kind"], refused.error["paths"]) == ("dirty_overlap", ["t/2.txt"])
    repo.branch("main").commit("theirs")
    refused = run("workspace", "commit", name, "--json", code=4)
    assert (refused.error["kind"], refused.error["paths"]) == ("concurrent_commit", ["t/2.txt"])
    run("workspace", "commit", name, "--on-conflict", "overwrite")
    assert repo.branch("main").get("t/2.txt") == b"two"


def test_upload_after_a_conflict_continues_in_its_workspace(run: Run, repo: lakebed.Repository, tree: Path) -> None:
    main = repo.branch("main")
    main.put("t/2.txt", b"staged by somebody")
    refused = run("upload", str(tree), f"{repo.id}/main/t", "-m", "up", code=4)
    assert "--on-conflict overwrite" in refused.err
    assert "lakebed workspace drop" in refused.err
    main.reset()
    done = run("upload", str(tree), f"{repo.id}/main/t", "-m", "up", "--json").json
    assert done["transfer"]["skipped"] + done["transfer"]["files"] >= 2
    assert main.get("t/2.txt") == b"two"
    assert [info.state for info in repo.workspaces("all")] == ["committed"]


def test_bad_input_is_one_clear_sentence(run: Run, repo: lakebed.Repository, tree: Path) -> None:
    assert f"lakebed workspace list {repo.id}" in run("workspace", "show", f"{repo.id}/nope", code=3).err
    main = f"{repo.id}/main"
    cases = {
        ("upload", str(tree), main): "Pass a message with -m",
        ("upload", str(tree), f"{main}+0/x", "-m", "no"): "is a workspace",
        ("upload", str(tree), main, "-m", "no", "--mirror"): "--mirror needs a PATH",
        ("upload", str(tree / "none"), main, "-m", "no"): "There is no file",
        ("workspace", "create", main, "--expires-in", "soon"): "is not a length of time",
        ("workspace", "create", main, "--expires-in", "1s"): "expires_in",
        ("workspace", "create", f"{repo.id}"): "too few parts",
        ("workspace", "add", f"{main}+0"): "at least one GLOB",
        ("workspace", "drop", f"{main}+0"): "--yes",
        ("workspace", "rules", "gs://bucket/x"): "Only s3://",
        ("workspace", "rules", "s3://bucket/x", "--path", "a/b"): "--expire-days",
    }
    for words, said in cases.items():
        result = run(*words, code=2)
        assert said in result.err, words
        assert len(result.err.strip().splitlines()) <= 2, words
    assert run("workspace", "show", f"{main}+{'0' * 32}", code=3).err.startswith("lakebed: workspace")
    empty = tree / "empty"
    empty.mkdir()
    assert "holds no files" in run("upload", str(empty), main, "-m", "no", code=3).err
    assert repo.workspaces().first() is None


def test_rules_are_for_one_prefix_and_warn_of_deleting(run: Run) -> None:
    found = run("workspace", "rules", "s3://bucket/lake/workspaces/1")
    rules = json.loads(found.text)
    assert found.err == ""
    assert [rule["ID"] for rule in rules["lifecycle"]["Rules"]] == ["lakebed-unfinished-uploads"]
    write, listing = rules["iam"]["Statement"]
    assert write["Resource"] == "arn:aws:s3:::bucket/lake/workspaces/1/*"
    assert "s3:DeleteObject" not in write["Action"]
    assert listing["Condition"]["StringLike"]["s3:prefix"] == ["lake/workspaces/1/*"]
    deleting = run("workspace", "rules", "s3://bucket/lake", "--expire-days", "30", "--path", "foo/bar")
    assert "deletes objects of committed workspaces" in deleting.err
    rule = json.loads(deleting.text)["lifecycle"]["Rules"][1]
    assert rule["Filter"]["And"]["Tags"] == [{"Key": "path.0", "Value": "foo"}, {"Key": "path.1", "Value": "bar"}]
