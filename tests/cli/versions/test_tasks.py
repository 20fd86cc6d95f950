"""Verbs for tasks, access keys, files of metadata, and objects that are in a store already."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from uuid import uuid4

import lakebed
import pytest

from tests.cli.conftest import Run
from tests.support.processes.server import RunningServer


def test_commit_and_merge_without_waiting(run: Run, repo: lakebed.Repository) -> None:
    dev = repo.branch("dev").create("main")
    dev.put("a", b"1")
    begun = run("commit", f"{repo.id}/dev", "-m", "one", "--key", "k", "--no-wait", "--json").json["id"]
    made = run("task", "wait", repo.id, begun, "--json").json
    assert made["message"] == "one"
    assert run("commit", f"{repo.id}/dev", "-m", "one", "--key", "k", "--json").json["id"] == made["id"]
    shown = run("task", "show", repo.id, begun, "--json").json
    assert (shown["operation"], shown["completed"], shown["commit"]) == ("commit", True, made)
    text = run("merge", f"{repo.id}/dev", "main", "--key", "m", "--no-wait").text
    assert f"lakebed task wait {repo.id}" in text
    merge = text.split()[4]
    assert "Done" in run("task", "wait", repo.id, merge).text
    head = run("merge", f"{repo.id}/dev", "main", "--key", "m", "--json").json["commit_id"]
    assert head == repo.branch("main").info().commit_id
    nothing = run("merge", f"{repo.id}/dev", "main", "--no-wait", "--json").json["id"]
    assert "no changes" in run("task", "wait", repo.id, nothing, code=5).err
    assert "failed" in run("task", "show", repo.id, nothing).text
    assert run("task", "show", repo.id, nothing, "--json").json["error"]["kind"] == "no_changes"
    run("task", "show", repo.id, "none", code=3)


def test_access_keys(run: Run, server: RunningServer) -> None:
    made = run("key", "create", "--json").json
    assert made["secret"]
    assert {server.access_key_id, made["id"]} <= {row["id"] for row in run("key", "list", "--json").json}
    assert made["secret"] not in run("key", "show", made["id"]).text
    assert "--yes" in run("key", "delete", made["id"], code=2).err
    run("key", "delete", made["id"], "--yes")
    run("key", "show", made["id"], code=3)
    assert "no longer works" not in run("key", "delete", server.access_key_id, "--yes", code=2).text


def test_repositories_of_other_kinds(run: Run) -> None:
    name = f"cli-{uuid4().hex[:12]}"
    assert "without a branch" in run("repo", "create", name, f"local://{name}", "--bare").text
    assert run("branch", "list", name, "--json").json == []
    frozen = f"{name}-ro"
    made = run("repo", "create", frozen, f"local://{frozen}", "--read-only", "--sample-data", "--json").json
    assert made["read_only"] is True
    assert run("fs", "ls", f"{frozen}/main", "--json").json
    run("repo", "describe", frozen, "--meta", "a=b", code=6)


def test_metadata_of_a_repository(run: Run, repo: lakebed.Repository) -> None:
    assert run("repo", "describe", repo.id, "--meta", "a=1", "--meta", "b=2", "--json").json == {
        "metadata": {"a": "1", "b": "2"}
    }
    assert run("repo", "describe", repo.id, "--meta", "b=3", "--remove", "a").text == "b  3\n"
    run("repo", "describe", repo.id, code=2)


def test_files_of_metadata_and_commits(run: Run, repo: lakebed.Repository, tmp_path: Path) -> None:
    main = repo.branch("main")
    main.put("a", b"1")
    commit = main.commit("one")
    place = run("repo", "metadata-file", repo.id, "meta_range", commit.metarange_id).text.strip()
    assert place.endswith(f"{commit.metarange_id}.parquet")
    target = tmp_path / "range.parquet"
    found = run("fs", "ranges", f"{repo.id}/main", "--json").json[0]["id"]
    run("repo", "metadata-file", repo.id, "range", found, "-o", str(target))
    assert target.read_bytes()[:4] == b"PAR1"
    run("repo", "metadata-file", repo.id, "range", "0" * 64, code=3)
    reported = run("show", f"{repo.id}/main", "--json").out
    shown = json.loads(reported)
    shown = shown.get("commit", shown)
    stored = run("repo", "add-commit", repo.id, "-", stdin=json.dumps(shown).encode())
    assert commit.short_id in stored.text
    run("repo", "add-commit", repo.id, "-", stdin=b"{}", code=2)


def test_copies_and_links(run: Run, repo: lakebed.Repository, server: RunningServer) -> None:
    main = repo.branch("main")
    main.put("a", b"1", content_type="text/plain")
    run("fs", "cp", f"{repo.id}/main/a", f"{repo.id}/main/b")
    assert main.get("b") == b"1"
    run("fs", "cp", f"{repo.id}/main/a", "other/main/b", code=2)
    shown = run("fs", "stat", f"{repo.id}/main/b", "--storage", "--json").json
    assert (shown["content_type"], shown["storage_class"]) == ("text/plain", None)
    assert "storage class  none" in run("fs", "stat", f"{repo.id}/main/b", "--storage").text
    address = run("fs", "address", f"{repo.id}/main/c").text.strip()
    file = server.data_dir / "objects" / address.partition("://")[2]
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(b"abc")
    checksum = hashlib.md5(b"abc").hexdigest()
    run("fs", "link", f"{repo.id}/main/c", address, "--checksum", checksum, "--size", "3", "--meta", "k=v")
    assert (main.get("c"), main.stat("c").metadata) == (b"abc", {"k": "v"})


def test_the_merge_base(run: Run, repo: lakebed.Repository) -> None:
    head = repo.branch("main").info().commit_id
    repo.branch("dev").create("main")
    assert run("merge-base", f"{repo.id}/main", "dev").text == f"{head}\n"


@pytest.mark.parametrize("source", ["local://x/", "=there", "nothing"])
def test_sources_of_an_import_are_pairs(run: Run, repo: lakebed.Repository, source: str) -> None:
    assert "SOURCE=PATH" in run("import", "start", f"{repo.id}/main", source, "-m", "x", code=2).err
