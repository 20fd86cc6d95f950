"""Verbs for objects: ls, cat, stat, rm, upload, download."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import lakebed
import pytest
from lakebed._bulk import local_tree
from lakebed._sync.bulk import upload

from tests.cli.conftest import Run
from tests.cli.support import place

WEIRD = ["a//b", "/lead", "tail/", "..", "../up", "./x", "sp ace", "é/ü", "🙂", "q?x=1&y#z", "%2F", "new\nline", "a+b"]


@pytest.fixture
def main(repo: lakebed.Repository) -> lakebed.Branch:
    """A branch with a few objects."""
    branch = repo.branch("main")
    branch.put_many({"a.csv": b"id\n1\n", "f/b.csv": b"22", "f/g/c.csv": b"333", "fx": b"4444"})
    return branch


def paths(run: Run, *arguments: str) -> list[str]:
    return [row["path"] for row in run("fs", "ls", "--json", *arguments).json]


def test_ls(run: Run, main: lakebed.Branch) -> None:
    assert paths(run, place(main)) == ["a.csv", "f/", "fx"]
    assert paths(run, place(main, "f")) == paths(run, place(main, "f/")) == ["f/b.csv", "f/g/"]
    assert paths(run, "-r", place(main, "f")) == ["f/b.csv", "f/g/c.csv"]
    assert paths(run, place(main, "a.csv")) == ["a.csv"]
    assert paths(run, "-n", "1", place(main)) == ["a.csv"]
    text = run("fs", "ls", place(main)).text.splitlines()
    assert text[0].split() == ["5", "B", *text[0].split()[2:5], "a.csv"]
    assert text[1].split() == ["-", "-", "f/"]


def test_ls_of_an_empty_prefix(run: Run, main: lakebed.Branch, repo: lakebed.Repository) -> None:
    assert "nothing at" in run("fs", "ls", place(main, "nope"), code=3).err
    assert run("fs", "ls", f"{repo.id}/{repo.ref('main').commit_info().id}").out == b""


def test_cat(run: Run, main: lakebed.Branch) -> None:
    assert run("fs", "cat", place(main, "a.csv")).out == b"id\n1\n"
    assert run("fs", "cat", place(main, "fx"), "--start", "1", "--length", "2").out == b"44"
    assert run("fs", "cat", place(main, "nope"), code=3).out == b""


def test_stat(run: Run, main: lakebed.Branch) -> None:
    main.put("m", b"1", metadata={"owner": "me"}, content_type="text/plain")
    assert "text/plain" in run("fs", "stat", place(main, "m")).text
    row = run("fs", "stat", place(main, "m"), "--json").json
    assert row["metadata"] == {"owner": "me"}
    assert row["size"] == 1
    assert row["checksum"] == "c4ca4238a0b923820dcc509a6f75849b"


def test_rm(run: Run, main: lakebed.Branch) -> None:
    run("fs", "rm", place(main, "fx"))
    assert "ls" in run("fs", "rm", place(main, "fx"), code=3).err
    assert run("fs", "rm", "-f", place(main, "fx"), "--json").json == {"removed": 0}
    run("fs", "rm", place(main), code=2)
    assert run("fs", "rm", "-r", place(main, "f"), "--json").json == {"removed": 2}
    run("fs", "rm", "-r", place(main, "f"), code=3)
    assert "--yes" in run("fs", "rm", "-r", place(main), code=2).err
    run("fs", "rm", "-r", place(main), "-y")
    assert main.list().all() == []


def test_upload_one_file(run: Run, main: lakebed.Branch, file: Path) -> None:
    run("fs", "upload", str(file), place(main, "x.csv"))
    run("fs", "upload", str(file), place(main, "raw/"))
    run("fs", "upload", str(file), place(main), "--content-type", "text/csv", "--meta", "from=here")
    for path in ("x.csv", "raw/orders.csv", "orders.csv"):
        assert main.get(path) == file.read_bytes()
    assert main.stat("orders.csv").content_type == "text/csv"
    assert main.stat("orders.csv").metadata == {"from": "here"}


def test_upload_if_absent_does_not_replace(run: Run, main: lakebed.Branch, file: Path) -> None:
    assert "exists already" in run("fs", "upload", str(file), place(main, "fx"), "--if-absent", code=4).err
    assert main.get("fx") == b"4444"


def test_upload_standard_input(run: Run, main: lakebed.Branch) -> None:
    run("fs", "upload", "-", place(main, "in"), stdin=b"from a pipe")
    assert main.get("in") == b"from a pipe"
    run("fs", "upload", "-", place(main, "dir/"), stdin=b"x", code=2)


def test_upload_of_a_missing_file(run: Run, main: lakebed.Branch, tmp_path: Path, file: Path) -> None:
    assert "no file" in run("fs", "upload", str(tmp_path / "nope"), place(main), code=2).err
    assert "-r" in run("fs", "upload", str(tmp_path), place(main), code=2).err
    assert "-r" in run("fs", "upload", "-r", str(file), place(main), code=2).err
    (tmp_path / "empty").mkdir()
    assert "no files" in run("fs", "upload", "-r", str(tmp_path / "empty"), place(main), code=3).err


def test_directories_both_ways(run: Run, repo: lakebed.Repository, tmp_path: Path) -> None:
    source = tmp_path / "source"
    for name in ("a", "d/b", "d/e/sp ace", "é"):
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_text(name)
    (source / "link").symlink_to(source / "a")
    (source / "loop").symlink_to(source)
    main = repo.branch("main")
    with pytest.warns(UserWarning, match="1 in .* skipped.*: 'loop'"):
        assert run("fs", "upload", "-r", str(source), place(main, "t")).text.startswith("Uploaded 5 objects, ")
    assert [row.path for row in main.list()] == ["t/a", "t/d/b", "t/d/e/sp ace", "t/link", "t/é"]

    rows = run("fs", "download", "-r", place(main, "t"), str(tmp_path / "back"), "--json", "-j", "2").json
    assert len(rows) == 5
    for name in ("a", "d/b", "d/e/sp ace", "é"):
        assert (tmp_path / "back" / name).read_text() == name


def test_failed_uploads_do_not_stop_the_others(run: Run, main: lakebed.Branch, tmp_path: Path) -> None:
    (tmp_path / "u").mkdir()
    (tmp_path / "u/new").write_text("1")
    (tmp_path / "u/fx").write_text("1")
    result = run("fs", "upload", "-r", str(tmp_path / "u"), place(main), "--if-absent", code=4)
    assert "fx" in result.err
    assert "1 failed, 1 done" in result.err
    assert main.exists("new")


def test_a_path_that_is_too_long_does_not_stop_the_others(run: Run, main: lakebed.Branch, tmp_path: Path) -> None:
    deep = tmp_path.joinpath("u", *["x" * 250] * 5)
    deep.mkdir(parents=True)
    (deep / "long").write_text("1")
    (tmp_path / "u/short").write_text("22")
    result = run("fs", "upload", "-r", str(tmp_path / "u"), place(main, "t"), "--json", code=2)
    assert "the object path is too long" in result.err
    assert "1 failed, 1 done" in result.err
    assert [row["path"] for row in result.json] == ["t/short"]
    assert main.get("t/short") == b"22"


def test_metadata_of_many(run: Run, main: lakebed.Branch, tmp_path: Path) -> None:
    (tmp_path / "u").mkdir()
    for name in "ab":
        (tmp_path / "u" / name).write_text(name)
    run(
        "fs", "upload", "-r", str(tmp_path / "u"), place(main, "t"), "--meta", "from=here", "--content-type", "text/csv"
    )
    for name in "ab":
        info = main.stat(f"t/{name}")
        assert (info.metadata, info.content_type) == ({"from": "here"}, "text/csv")


def test_refused_batch_request_is_repeated_for_each_file(
    run: Run, main: lakebed.Branch, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "u").mkdir()
    for name in "abc":
        (tmp_path / "u" / name).write_text(name)
    walk = local_tree.walk

    def walk_then_remove(top: Path) -> Iterator[local_tree.LocalFile]:
        for file in walk(top):
            yield file
            if file.name == "b":
                file.file.unlink()

    monkeypatch.setattr(upload, "walk", walk_then_remove)
    result = run("fs", "upload", "-r", str(tmp_path / "u"), place(main, "t"), code=1)
    assert "lakebed: t/b: " in result.err
    assert "1 failed, 2 done" in result.err
    assert [row.path for row in main.list("t/")] == ["t/a", "t/c"]


def test_download_one_object(run: Run, main: lakebed.Branch, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run("fs", "download", place(main, "f/b.csv"))
    run("fs", "download", place(main, "f/b.csv"), "other.csv")
    run("fs", "download", place(main, "f/b.csv"), "made/here/")
    for name in ("b.csv", "other.csv", "made/here/b.csv"):
        assert (tmp_path / name).read_bytes() == b"22"
    run("fs", "download", place(main), code=2)


def test_a_failed_download_leaves_nothing(run: Run, main: lakebed.Branch, tmp_path: Path) -> None:
    before = sorted(os.listdir(tmp_path))
    run("fs", "download", place(main, "nope"), str(tmp_path / "x"), code=3)
    run("fs", "download", "-r", place(main, "nope"), str(tmp_path / "y"), code=3)
    run("fs", "download", place(main, "fx"), "/proc/nope/x", code=1)
    assert sorted(os.listdir(tmp_path)) == before


@pytest.mark.parametrize("path", WEIRD)
def test_any_path_round_trips(run: Run, repo: lakebed.Repository, tmp_path: Path, file: Path, path: str) -> None:
    main = repo.branch("main")
    target = place(main, path)
    if path.endswith("/"):
        main.put(path, file.read_bytes())
    else:
        run("fs", "upload", str(file), target)
    assert [row.path for row in main.list()] == [path]
    assert run("fs", "cat", target).out == file.read_bytes()
    assert run("fs", "stat", target, "--json").json["path"] == path
    assert paths(run, "-r", place(main)) == [path]
    assert len(run("fs", "ls", "-r", place(main)).text.splitlines()) == 1
    run("fs", "download", target, str(tmp_path / "alone"))
    assert (tmp_path / "alone").read_bytes() == file.read_bytes()
    run("fs", "rm", target)
    assert not main.exists(path)


@pytest.mark.parametrize("path", ["../up", "..", "a/../../up", "/lead", "a//b", "tail/", "./x"])
def test_no_object_leads_out_of_the_directory(run: Run, repo: lakebed.Repository, tmp_path: Path, path: str) -> None:
    main = repo.branch("main")
    main.put_many({path: b"bad", "good": b"good"})
    (tmp_path / "in").mkdir()
    before = sorted(os.listdir(tmp_path))
    result = run("fs", "download", "-r", place(main), str(tmp_path / "in"), code=2)
    assert "cannot be the name of a local file" in result.err
    assert sorted(os.listdir(tmp_path)) == before
    assert os.listdir(tmp_path / "in") == ["good"]
