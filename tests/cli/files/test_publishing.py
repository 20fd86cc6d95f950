"""`lakebed fs publish`: a few files, one commit."""

from __future__ import annotations

from pathlib import Path

import lakebed
import pytest

from tests.cli.conftest import Run
from tests.cli.support import place


@pytest.fixture
def main(repo: lakebed.Repository) -> lakebed.Branch:
    branch = repo.branch("main")
    branch.put("old.csv", b"old")
    branch.commit("first")
    branch.put("others", b"staged")
    return branch


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    for name in ("a.csv", "b.csv"):
        (tmp_path / name).write_text(name)
    return [str(tmp_path / "a.csv"), str(tmp_path / "b.csv")]


def test_files_become_a_commit(run: Run, main: lakebed.Branch, files: list[str]) -> None:
    done = run("fs", "publish", *files, place(main, "raw"), "-m", "load\n\nmore", "--meta", "job=nightly",
               "--delete", "old.csv")  # fmt: skip
    made = main.commit_info()
    assert done.text == f"[main {made.short_id}] load\n2 objects published.\n"
    assert (made.message, made.metadata) == ("load\n\nmore", {"job": "nightly"})
    assert [row.path for row in main.repository.ref("main@").list()] == ["raw/a.csv", "raw/b.csv"]
    assert main.get("raw/b.csv") == b"b.csv"
    assert [change.path for change in main.uncommitted()] == ["others"]


def test_published_files_get_the_expected_paths(run: Run, main: lakebed.Branch, files: list[str]) -> None:
    run("fs", "publish", files[0], place(main, "x.csv"), "-m", "m")
    run("fs", "publish", files[0], place(main, "dir/"), "-m", "m")
    row = run("fs", "publish", files[0], place(main), "-m", "m", "--json").json
    assert row["id"] == main.commit_info().id
    for path in ("x.csv", "dir/a.csv", "a.csv"):
        assert main.get(path) == b"a.csv"
    run("fs", "publish", place(main), "--delete", "x.csv", "-m", "only a deletion")
    assert not main.exists("x.csv")


def test_invalid_publishes_are_refused(run: Run, main: lakebed.Branch, files: list[str], tmp_path: Path) -> None:
    before = main.commit_info().id
    assert "others" in run("fs", "publish", files[0], place(main, "others"), "-m", "m", code=4).err
    run("fs", "publish", place(main), "--delete", "none", "-m", "m", code=5)
    assert "-m" in run("fs", "publish", *files, place(main), code=2).err
    assert "directory" in run("fs", "publish", str(tmp_path), place(main), "-m", "m", code=2).err
    assert "no file" in run("fs", "publish", str(tmp_path / "none"), place(main), "-m", "m", code=2).err
    (tmp_path / "other").mkdir()
    (tmp_path / "other/a.csv").write_text("another")
    twice = str(tmp_path / "other/a.csv")
    assert "the same path" in run("fs", "publish", files[0], twice, place(main), "-m", "m", code=2).err
    assert main.commit_info().id == before
    assert main.get("others") == b"staged"
