"""ReadOnlyRepo over a folder and over bytes, as users' own tests of their checks use it."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from lakebed_hooks import ReadOnlyRepo
from lakebed_hooks.reading import prefix_of

from tests.hooks.workers.running import parquet

FILES = {
    "a.csv": b"x,y\n1,b\n2,\n",
    "raw/1.jsonl": b'{"x": 1}\n{"x": 2, "z": 3}\n',
    "t/p=1/a.parquet": parquet(x=[1, 2], y=["a", "b"]),
    "t/p=2/b.parquet": parquet(x=[3]),
    "t/readme.md": b"hello",
}


@pytest.fixture(params=["folder", "bytes"])
def lake(request: pytest.FixtureRequest, tmp_path: Path) -> ReadOnlyRepo:
    base = {"a.csv": FILES["a.csv"], "t/readme.md": b"HELLO", "old": b""}
    if request.param == "bytes":
        return ReadOnlyRepo.of_files(FILES, base)
    for side, files in (("candidate", FILES), ("base", base)):
        for path, data in files.items():
            (tmp_path / side / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / side / path).write_bytes(data)
    return ReadOnlyRepo.of_folder(tmp_path / "candidate", tmp_path / "base")


def test_lists_and_reads(lake: ReadOnlyRepo) -> None:
    assert [file.path for file in lake.list()] == sorted(FILES)
    assert lake.list("t/r") == [("t/readme.md", 5)]
    assert [file.path for file in lake.glob("t/**/*.parquet")] == ["t/p=1/a.parquet", "t/p=2/b.parquet"]
    assert lake.read("t/readme.md") == b"hello"
    assert lake.base.read("t/readme.md") == b"HELLO"


def test_changes(lake: ReadOnlyRepo) -> None:
    assert [(one.path, one.kind) for one in lake.changes()] == [
        ("old", "removed"),
        ("raw/1.jsonl", "added"),
        ("t/p=1/a.parquet", "added"),
        ("t/p=2/b.parquet", "added"),
        ("t/readme.md", "changed"),
    ]


def test_tables(lake: ReadOnlyRepo) -> None:
    assert lake.read_table("t/p=1/a.parquet", columns=["x"]).to_pydict() == {"x": [1, 2]}
    assert lake.read_table("t/**/*.parquet").to_pydict() == {"x": [1, 2, 3], "y": ["a", "b", None]}
    assert lake.read_table("a.csv").to_pydict() == {"x": [1, 2], "y": ["b", ""]}
    assert lake.read_pandas("raw/1.jsonl")["x"].sum() == 3
    with pytest.raises(ValueError, match=r"'t/readme.md' is not a Parquet, CSV or JSON lines file"):
        lake.read_table("t/readme.md")
    with pytest.raises(FileNotFoundError, match="no file of the candidate matches"):
        lake.read_table("u/*.parquet")


def test_an_open_file_seeks(lake: ReadOnlyRepo) -> None:
    with lake.open("a.csv") as file:
        assert file.read(1) == b"x"
        assert file.seek(-3, io.SEEK_END) == len(FILES["a.csv"]) - 3
        assert file.read() == b"2,\n"
        assert file.read() == b""
        file.seek(100)
        assert file.read() == b""
        with pytest.raises(ValueError, match="before the beginning"):
            file.seek(-1)


@pytest.mark.parametrize("path", ["none", "t", "t/", "../candidate/a.csv"])
def test_a_missing_file(lake: ReadOnlyRepo, path: str) -> None:
    for read in (lake.read, lake.open, lake.read_table):
        with pytest.raises(FileNotFoundError, match="there is no file"):
            read(path)


def test_a_link_out_of_the_folder_is_no_file(tmp_path: Path) -> None:
    (tmp_path / "outside").write_bytes(b"x")
    (tmp_path / "lake").mkdir()
    (tmp_path / "lake/link").symlink_to(tmp_path / "outside")
    with pytest.raises(FileNotFoundError, match="there is no file 'link'"):
        ReadOnlyRepo.of_folder(tmp_path / "lake").read("link")


PREFIXES = {
    "orders/**/*.parquet": "orders/", "/orders/x*.parquet": "orders/", "*.parquet": "", "orders/26/a.csv": "orders/26/",
    "raw/": "", "/raw/": "", "a/b/": "a/", "a/[bc]/d": "a/", "a/b\\*c/d": "a/", "**/a": "", "a?/b": "",
}  # fmt: skip


@pytest.mark.parametrize("glob", PREFIXES)
def test_the_folder_of_a_glob(glob: str) -> None:
    assert prefix_of(glob) == PREFIXES[glob]
