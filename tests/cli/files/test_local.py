"""`lakebed local`: a working directory, and everything that must not get lost in it."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import lakebed
import pytest
from lakebed._bulk import working_directory
from lakebed._bulk.hash_cache import md5_of
from lakebed._bulk.working_directory import opened
from lakebed._direct import copy
from lakebed._sync.bulk import fetch
from lakebed._sync.checkout import verbs as working

from tests.cli.support import Result

Run = Callable[..., Result]


@pytest.fixture
def main(repo: lakebed.Repository) -> lakebed.Branch:
    branch = repo.branch("main")
    branch.put_many({"data/a.txt": b"a", "data/sub/b.txt": b"b", "data/c.txt": b"c", "other": b"o"})
    branch.commit("first")
    return branch


@pytest.fixture
def top(run: Run, main: lakebed.Branch, tmp_path: Path) -> Path:
    directory = tmp_path / "wd"
    run("local", "clone", f"{main.repository.id}/main/data", str(directory))
    return directory


def files(top: Path) -> dict[str, bytes]:
    found = (file for file in top.rglob("*") if file.is_file() and ".lakebed" not in file.parts)
    return {file.relative_to(top).as_posix(): file.read_bytes() for file in found}


def status(run: Run, top: Path) -> dict[str, str]:
    return {row["path"]: row["type"] for row in run("local", "status", str(top), "--json").json["changes"]}


def test_clone_status_commit(run: Run, main: lakebed.Branch, top: Path) -> None:
    assert files(top) == {"a.txt": b"a", "sub/b.txt": b"b", "c.txt": b"c"}
    assert status(run, top) == {}
    (top / "a.txt").write_bytes(b"A")
    (top / "new").mkdir()
    (top / "new" / "d.txt").write_bytes(b"d")
    (top / "c.txt").unlink()
    assert status(run, top) == {"a.txt": "changed", "new/d.txt": "added", "c.txt": "removed"}
    assert run("local", "status", str(top / "new")).text == "~ a.txt\n+ new/d.txt\n- c.txt\n"
    made = run("local", "commit", str(top), "-m", "edits", "--json").json
    assert (made["message"], made["changes"]) == ("edits", 3)
    assert status(run, top) == {}
    listed = {row.path: main.get(row.path) for row in main.list()}
    assert listed == {"data/a.txt": b"A", "data/new/d.txt": b"d", "data/sub/b.txt": b"b", "other": b"o"}
    assert run("local", "commit", str(top), "-m", "again", code=5).text == ""
    assert main.repository.workspaces().first() is None


def test_a_commit_brings_what_others_committed(run: Run, main: lakebed.Branch, top: Path) -> None:
    main.put_many({"data/a.txt": b"theirs", "data/fresh": b"f"}, delete=["data/sub/b.txt"])
    main.commit("theirs")
    assert "the branch has moved" in run("local", "status", str(top)).err
    (top / "c.txt").write_bytes(b"mine")
    run("local", "commit", str(top), "-m", "mine")
    assert files(top) == {"a.txt": b"theirs", "c.txt": b"mine", "fresh": b"f"}
    assert not (top / "sub").exists()
    assert status(run, top) == {}
    assert main.get("data/c.txt") == b"mine"
    assert "moved" not in run("local", "status", str(top)).err


def test_both_sides_changed_a_file(run: Run, main: lakebed.Branch, top: Path) -> None:
    main.put_many({"data/a.txt": b"theirs", "data/c.txt": b"same", "data/new": b"n"}, delete=["data/sub/b.txt"])
    main.commit("theirs")
    (top / "a.txt").write_bytes(b"mine")
    (top / "c.txt").write_bytes(b"same")
    (top / "sub" / "b.txt").write_bytes(b"mine too")
    before = files(top)
    assert run("local", "commit", str(top), "-m", "x", code=4).err.startswith("The branch has changed the same files")
    assert "--conflicts mine" in run("local", "pull", str(top), code=4).err
    refused = run("local", "pull", str(top), "--json", code=4)
    assert refused.error["kind"] == "local_conflict"
    assert refused.error["paths"] == ["data/a.txt", "data/sub/b.txt"]  # not c.txt: both made it the same
    assert files(top) == before
    assert main.repository.workspaces().first() is None

    run("local", "pull", str(top), "--conflicts", "mine")
    assert files(top) == {**before, "new": b"n"}
    assert status(run, top) == {"a.txt": "changed", "sub/b.txt": "added"}
    run("local", "commit", str(top), "-m", "mine wins")
    assert main.get("data/a.txt") == b"mine"
    assert main.get("data/sub/b.txt") == b"mine too"


def test_remote_version_overwrites_only_on_request(run: Run, main: lakebed.Branch, top: Path) -> None:
    main.put("data/a.txt", b"theirs")
    main.commit("theirs")
    (top / "a.txt").unlink()
    (top / "c.txt").write_bytes(b"only mine")
    run("local", "pull", str(top), code=4)
    assert not (top / "a.txt").exists()
    run("local", "pull", str(top), "--conflicts", "theirs")
    assert files(top)["a.txt"] == b"theirs"
    assert files(top)["c.txt"] == b"only mine"  # no conflict: theirs has not touched it
    assert status(run, top) == {"c.txt": "changed"}


def test_a_file_that_changes_during_a_pull_is_left_alone(
    run: Run, main: lakebed.Branch, top: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    main.put_many({"data/a.txt": b"theirs", "data/c.txt": b"theirs too"})
    main.commit("theirs")
    place = working._place

    def write_then_place(here: Any, plan: Any, name: str, *more: Any) -> Any:
        if name == "a.txt":
            (top / "a.txt").write_bytes(b"typed just now")
        return place(here, plan, name, *more)

    monkeypatch.setattr(working, "_place", write_then_place)
    assert "was not replaced" in run("local", "pull", str(top), code=4).err
    assert files(top)["a.txt"] == b"typed just now"
    monkeypatch.setattr(working, "_place", place)
    assert run("local", "pull", str(top), "--json", code=4).error["paths"] == ["data/a.txt"]
    run("local", "pull", str(top), "--conflicts", "mine")
    assert files(top) == {"a.txt": b"typed just now", "c.txt": b"theirs too", "sub/b.txt": b"b"}
    assert status(run, top) == {"a.txt": "changed"}


def test_interrupted_update_is_finished_first(
    run: Run, main: lakebed.Branch, top: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    main.put_many({"data/a.txt": b"2", "data/c.txt": b"2"})
    main.commit("second")
    place = working._place

    placed: list[str] = []

    def stop(here: Any, plan: Any, name: str, *more: Any) -> Any:
        if placed:
            raise KeyboardInterrupt
        placed.append(name)
        return place(here, plan, name, *more)

    monkeypatch.setattr(working, "_place", stop)
    run("local", "pull", str(top), code=130)
    monkeypatch.setattr(working, "_place", place)
    base = {"a.txt": b"a", "c.txt": b"c", "sub/b.txt": b"b"}
    (done,) = placed  # the objects of one answer come in any order
    assert files(top) == base | {done: b"2"}
    main.put("data/" + done, base[done])  # as it was at the base: a diff from there does not show it
    main.commit("third")
    run("local", "pull", str(top))
    assert files(top) == {"a.txt": b"2", "c.txt": b"2", "sub/b.txt": b"b"} | {done: base[done]}
    assert status(run, top) == {}


def test_interrupted_clone_resumes(
    run: Run, main: lakebed.Branch, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    directory, source = tmp_path / "wd", f"{main.repository.id}/main/data"
    copy_object = copy.copy_object

    def stop(shared: Any, info: Any, *target: Any) -> bool:
        if info.path == "data/sub/b.txt":
            raise KeyboardInterrupt
        return copy_object(shared, info, *target)

    monkeypatch.setattr(fetch, "copy_object", stop)
    run("local", "clone", source, str(directory), code=130)
    monkeypatch.setattr(fetch, "copy_object", copy_object)
    for verb in (("status",), ("pull",), ("commit", "-m", "x")):
        assert "was not finished" in run("local", verb[0], str(directory), *verb[1:], code=2).err
    main.put("data/a.txt", b"newer")
    main.commit("newer")
    run("local", "clone", source, str(directory))
    assert files(directory) == {"a.txt": b"a", "c.txt": b"c", "sub/b.txt": b"b"}  # still the commit that it began with
    run("local", "pull", str(directory))
    assert files(directory)["a.txt"] == b"newer"


def test_status_hashes_only_files_with_new_mtime_or_size(run: Run, top: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    past = time.time() - 60
    for file in (top / "a.txt", top / "c.txt", top / "sub" / "b.txt"):
        os.utime(file, (past, past))
    assert status(run, top) == {}
    read: list[Path] = []
    monkeypatch.setattr(working_directory, "md5_of", lambda file: read.append(file) or "0" * 32)  # type: ignore[func-returns-value]
    assert status(run, top) == {}
    assert read == []
    (top / "a.txt").write_bytes(b"A")
    assert status(run, top) == {"a.txt": "changed"}
    assert read == [top / "a.txt"]


@pytest.mark.parametrize("data_path", ["direct", "proxied"])
def test_status_reads_no_file_of_a_new_clone(
    run: Run, main: lakebed.Branch, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, data_path: str
) -> None:
    monkeypatch.setenv("LAKEBED_DATA_PATH", data_path)
    main.put("data/large", b"x" * (3 << 20))
    main.commit("second")
    top = tmp_path / "wd"
    run("local", "clone", f"{main.repository.id}/main/data", str(top))
    main.put_many({"data/c.txt": b"C", "data/e.txt": b"e"})
    main.commit("third")
    run("local", "pull", str(top))
    read: list[Path] = []
    monkeypatch.setattr(working_directory, "md5_of", lambda file: read.append(file) or md5_of(file))  # type: ignore[func-returns-value]
    assert status(run, top) == {}
    assert read == []
    for name in ("a.txt", "c.txt"):
        (top / name).write_bytes(b"!")  # in the same second, the same inode and size
    assert status(run, top) == {"a.txt": "changed", "c.txt": "changed"}
    assert read == [top / "a.txt", top / "c.txt"]


def test_names_sort_as_paths_of_objects(run: Run, main: lakebed.Branch, top: Path) -> None:
    """The directory is compared with the index in one pass, so both must have the same order."""
    names = ["a-b/c", "a.b", "a/b", "a/b-c", "a0", "ä/b", "é", "\U0001f600", "\uffff/z", "A/b"]
    for name in names:
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).write_bytes(name.encode())
    assert status(run, top) == dict.fromkeys(names, "added")
    run("local", "commit", str(top), "-m", "many")
    assert status(run, top) == {}
    (top / "a-b" / "c").unlink()
    (top / "é").write_bytes(b"e")
    assert status(run, top) == {"a-b/c": "removed", "é": "changed"}


def test_a_directory_becomes_a_file_or_a_link(run: Run, main: lakebed.Branch, top: Path, tmp_path: Path) -> None:
    (top / "sub").rename(tmp_path / "elsewhere")
    (top / "sub").write_bytes(b"a file now")
    assert status(run, top) == {"sub": "added", "sub/b.txt": "removed"}
    (top / "sub").unlink()
    (top / "sub").symlink_to(tmp_path / "elsewhere")
    with pytest.warns(UserWarning, match="1 in .* skipped"):
        assert status(run, top) == {}  # the files are there, so a commit does not remove them


def test_invalid_directories_are_refused(run: Run, main: lakebed.Branch, top: Path, tmp_path: Path) -> None:
    source = f"{main.repository.id}/main/data"
    assert "is a clone of" in run("local", "clone", source, str(top), code=2).err
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine").touch()
    assert "is not empty" in run("local", "clone", source, str(tmp_path / "full"), code=2).err
    assert "not a working directory" in run("local", "status", str(tmp_path / "full"), code=2).err
    main.put_many({"data/x//y": b"1", "data/.lakebed/index.db": b"evil", "data/../up": b"2"})
    main.commit("odd")
    assert "3 objects cannot be files on this machine" in run("local", "clone", source, str(tmp_path / "odd")).err
    assert files(tmp_path / "odd") == files(top)
    assert "3 objects cannot be files on this machine" in run("local", "pull", str(top)).err
    with opened(top):
        assert "another command is running" in run("local", "status", str(top), code=1).err
