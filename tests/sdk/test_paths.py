"""Paths that are valid and probably a mistake: the object is written, and a warning names the path that was meant."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path

import lakebed
import lakebed.aio
import pandas as pd
import pytest

from tests.support.processes.server import RunningServer

FRAME = pd.DataFrame({"a": [1]})


@pytest.mark.parametrize(
    ("path", "meant"),
    [
        ("/abs/x.txt", "abs/x.txt"),
        ("//x.txt", "x.txt"),
        ("./x.txt", "x.txt"),
        (r"a\b.txt", "a/b.txt"),
        (r"\a", "a"),
        (r"C:\a.txt", "C:/a.txt"),
    ],
)
def test_the_warning_names_what_was_meant(repo: lakebed.Repository, path: str, meant: str) -> None:
    main = repo.branch("main")
    with pytest.warns(lakebed.PathWarning, match="did you mean") as caught:
        main.put(path, b"1")
    assert f"{path!r}" in str(caught[0].message)
    assert str(caught[0].message).endswith(f"did you mean {meant!r}?")
    assert caught[0].filename == __file__
    assert [one.path for one in main.list()] == [path]  # nothing was changed


def test_a_path_of_slashes_is_warned_of(repo: lakebed.Repository) -> None:
    with pytest.warns(lakebed.PathWarning, match="name of a folder or file$"):
        repo.branch("main").put("/", b"1")


WAYS: dict[str, Callable[[lakebed.Branch], object]] = {
    "put_many": lambda main: main.put_many({"/a": b"1"}),
    "write_parquet": lambda main: main.write_parquet("/a.parquet", FRAME),
    "write_csv": lambda main: main.write_csv("/a.csv", FRAME),
    "workspace.put": lambda main: main.workspace("w").put("/a", b"1"),
    "workspace.put_many": lambda main: main.workspace("w").put_many({"/a": b"1"}),
}


@pytest.mark.parametrize("way", WAYS)
def test_every_way_to_write(repo: lakebed.Repository, way: str) -> None:
    with pytest.warns(lakebed.PathWarning, match="^the object path '/a"):
        WAYS[way](repo.branch("main"))


def test_an_opened_file(repo: lakebed.Repository) -> None:
    with pytest.warns(lakebed.PathWarning), repo.branch("main").open("/a", "w") as file:
        file.write("1")


async def test_the_async_sdk(server: RunningServer, repo: lakebed.Repository) -> None:
    async with lakebed.aio.connect(server.endpoint, server.access_key_id, server.secret_access_key) as lake:
        with pytest.warns(lakebed.PathWarning) as caught:
            await lake.repository(repo.id).branch("main").put("/a", b"1")
    assert caught[0].filename == __file__


def test_usual_paths_and_files_of_a_directory_are_not_warned_of(repo: lakebed.Repository, tmp_path: Path) -> None:
    (tmp_path / r"back\slash").write_bytes(b"1")
    main = repo.branch("main")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for path in ("a", "a/b", ".hidden", "a//b", "..a", "a/./b", "ü"):
            main.put(path, b"1")
        with main.workspace("tree") as ws:
            ws.upload_tree(tmp_path, "tree/")
    assert r"tree/back\slash" in [one.path for one in main.list()]
