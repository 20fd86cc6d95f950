"""A user without rights: every operation raises PermissionError, which names the permission and the resource."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any
from uuid import uuid4

import fsspec
import lakebed
import pandas as pd
import pyarrow.dataset as ds
import pytest
from lakebed.fsspec import LakebedFileSystem

from tests.support.processes.server import RunningServer

FRAME = pd.DataFrame({"id": [1, 2]})
PATH = "orders/a.parquet"

Operation = Callable[[Any, str, Path], object]


def write_by_transaction(fs: Any, top: str, _: Path) -> None:
    with fs.transaction, fs.open(f"{top}/new", "wb") as file:
        file.write(b"1")


def write_by_open(fs: Any, top: str, _: Path) -> None:
    with fs.open(f"{top}/new", "wb") as file:
        file.write(b"1")


READS: dict[str, tuple[Operation, str]] = {
    "cat": (lambda fs, top, _: fs.cat(f"{top}/{PATH}"), "fs:ReadObject on {object}"),
    "cat of two": (lambda fs, top, _: fs.cat([f"{top}/b", f"{top}/b"]), "fs:ReadObject on {repository}/object/b"),
    "cat_ranges": (
        lambda fs, top, _: fs.cat_ranges([f"{top}/{PATH}"], [0], [4], on_error="raise"),
        "fs:ReadObject on {object}",
    ),
    "open": (lambda fs, top, _: fs.open(f"{top}/{PATH}").read(), "fs:ReadObject on {object}"),
    "get": (lambda fs, top, to: fs.get(f"{top}/{PATH}", str(to / "got")), "fs:ReadObject on {object}"),
    "info": (lambda fs, top, _: fs.info(f"{top}/{PATH}"), "fs:ReadObject on {object}"),
    "exists": (lambda fs, top, _: fs.exists(f"{top}/{PATH}"), "fs:ReadObject on {object}"),
    "sign": (lambda fs, top, _: fs.sign(f"{top}/{PATH}"), "fs:ReadObject on {object}"),
    "ls": (lambda fs, top, _: fs.ls(f"{top}/orders"), "fs:ListObjects on {repository}"),
    "find": (lambda fs, top, _: fs.find(top), "fs:ListObjects on {repository}"),
    "glob": (lambda fs, top, _: fs.glob(f"{top}/*/*"), "fs:ListObjects on {repository}"),
    "walk": (lambda fs, top, _: list(fs.walk(top, on_error="raise")), "fs:ListObjects on {repository}"),
    "ls of branches": (lambda fs, top, _: fs.ls(top.partition("/")[0]), "fs:ListBranches on {repository}"),
}
WRITES: dict[str, tuple[Operation, str]] = {
    "pipe": (lambda fs, top, _: fs.pipe(f"{top}/new", b"1"), "fs:WriteObject on {repository}/object/new"),
    "open": (write_by_open, "fs:WriteObject on {repository}/object/new"),
    "transaction": (write_by_transaction, "fs:ReadBranch on {repository}/branch/main"),
    "put": (lambda fs, top, _: fs.put(__file__, f"{top}/new"), "fs:WriteObject on {repository}/object/new"),
    "put of two": (
        lambda fs, top, _: fs.put([__file__], f"{top}/new/"),
        "fs:WriteObject on {repository}/object/new/test_refusals.py",
    ),
    "touch": (lambda fs, top, _: fs.touch(f"{top}/new"), "fs:WriteObject on {repository}/object/new"),
    "rm_file": (lambda fs, top, _: fs.rm_file(f"{top}/{PATH}"), "fs:DeleteObject on {object}"),
    "rm": (lambda fs, top, _: fs.rm(f"{top}/{PATH}"), "fs:DeleteObject on {object}"),
    "rm of a folder": (lambda fs, top, _: fs.rm(f"{top}/orders", recursive=True), "fs:ListObjects on {repository}"),
}
OF_A_READER: dict[str, tuple[Operation, str]] = {
    **WRITES,
    "transaction": (write_by_transaction, "fs:WriteObject on {repository}/object/new"),
    "cp": (lambda fs, top, _: fs.cp(f"{top}/{PATH}", f"{top}/new"), "fs:WriteObject on {repository}/object/new"),
    "mv": (lambda fs, top, _: fs.mv(f"{top}/{PATH}", f"{top}/new"), "fs:WriteObject on {repository}/object/new"),
    "rm of a folder": (lambda fs, top, _: fs.rm(f"{top}/orders", recursive=True), "fs:DeleteObject on {object}"),
}


@pytest.fixture
def top(repo: lakebed.Repository) -> str:
    """A branch with one table."""
    repo.branch("main").write_parquet(PATH, FRAME)
    return f"{repo.id}/main"


@pytest.fixture
def ana(lake: lakebed.Lake, server: RunningServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A user without rights, whose access key is in the environment."""
    user = f"ana-{uuid4().hex[:8]}"
    lake.users.create(user)
    key = lake.keys.create(user)
    monkeypatch.setenv("LAKEBED_ACCESS_KEY_ID", key.id)
    monkeypatch.setenv("LAKEBED_SECRET_ACCESS_KEY", key.secret)
    LakebedFileSystem.clear_instance_cache()
    yield user
    LakebedFileSystem.clear_instance_cache()


def refuses(run: Callable[[], object], top: str, needs: str) -> None:
    repository = f"repository/{top.partition('/')[0]}"
    reason = "needs " + needs.format(repository=repository, object=f"{repository}/object/{PATH}")
    with pytest.raises(PermissionError, match=re.escape(reason)) as caught:
        run()
    assert isinstance(caught.value, lakebed.PermissionDeniedError)
    assert caught.value.reason == reason


@pytest.mark.parametrize("name", READS)
def test_a_user_without_rights_reads_and_lists_nothing(ana: str, way: str, top: str, name: str, tmp_path: Path) -> None:
    operation, needs = READS[name]
    refuses(lambda: operation(fsspec.filesystem("lakebed"), top, tmp_path), top, needs)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", WRITES)
def test_a_user_without_rights_writes_and_deletes_nothing(
    ana: str, way: str, top: str, repo: lakebed.Repository, name: str, tmp_path: Path
) -> None:
    operation, needs = WRITES[name]
    refuses(lambda: operation(fsspec.filesystem("lakebed"), top, tmp_path), top, needs)
    assert [one.path for one in repo.branch("main").list()] == [PATH]


@pytest.mark.parametrize("name", OF_A_READER)
def test_a_reader_of_the_repository_writes_and_deletes_nothing(
    ana: str, way: str, top: str, lake: lakebed.Lake, repo: lakebed.Repository, name: str, tmp_path: Path
) -> None:
    lake.users.grant(ana, repo.id, "reader")
    fs = fsspec.filesystem("lakebed")
    assert fs.find(top) == [f"{top}/{PATH}"]
    operation, needs = OF_A_READER[name]
    refuses(lambda: operation(fs, top, tmp_path), top, needs)
    assert [one.path for one in repo.branch("main").list()] == [PATH]


def test_a_user_who_may_write_and_not_read_puts_and_deletes(
    ana: str, way: str, top: str, lake: lakebed.Lake, repo: lakebed.Repository, tmp_path: Path
) -> None:
    actions, resource = ["fs:WriteObject", "fs:DeleteObject"], f"arn:lakefs:fs:::repository/{repo.id}/object/*"
    lake.policies.create(f"{ana}-drops", [{"effect": "allow", "action": actions, "resource": resource}])
    lake.users.attach(ana, f"{ana}-drops")
    (tmp_path / "a").write_bytes(b"1")
    fs, main = fsspec.filesystem("lakebed"), repo.branch("main")
    fs.put(str(tmp_path / "a"), f"{top}/in/a")
    fs.put(str(tmp_path), f"{top}/tree", recursive=True)
    assert [one.path for one in main.list()] == ["in/a", PATH, "tree/a"]
    fs.rm(f"{top}/in/a")
    assert [one.path for one in main.list()] == [PATH, "tree/a"]
    refuses(lambda: fs.isdir(f"{top}/tree.d"), top, "fs:ReadObject on {repository}/object/tree.d")


def test_a_folder_is_not_deleted_as_a_file_by_a_user_who_may_not_read(
    ana: str, way: str, top: str, lake: lakebed.Lake, repo: lakebed.Repository
) -> None:
    arn = f"arn:lakefs:fs:::repository/{repo.id}"
    statements = [{"effect": "allow", "action": ["fs:DeleteObject"], "resource": f"{arn}/object/*"}]
    lake.policies.create(f"{ana}-drops", statements)
    lake.users.attach(ana, f"{ana}-drops")
    fs = fsspec.filesystem("lakebed")
    refuses(lambda: fs.rm(f"{top}/orders", recursive=True), top, "fs:ListObjects on {repository}")
    for nothing in ("orders", "missing"):  # the server would answer that the path has no object, as asked
        refuses(partial(fs.rm, f"{top}/{nothing}"), top, "fs:ListObjects on {repository}")
    lake.policies.create(f"{ana}-lists", [{"effect": "allow", "action": ["fs:ListObjects"], "resource": arn}])
    lake.users.attach(ana, f"{ana}-lists")
    with pytest.raises(lakebed.InvalidRequestError, match="is a directory: use recursive=True"):
        fs.rm(f"{top}/orders")
    assert [one.path for one in repo.branch("main").list()] == [PATH]
    fs.rm(f"{top}/{PATH}")
    assert not repo.branch("main").list().all()


def test_partial_deletion_names_the_remaining_files(
    ana: str, top: str, lake: lakebed.Lake, repo: lakebed.Repository
) -> None:
    repo.branch("main").put("orders/b", b"1")
    lake.users.grant(ana, repo.id, "writer")
    policy = f"{ana}-keeps"
    resource = f"arn:lakefs:fs:::repository/{repo.id}/object/orders/b"
    lake.policies.create(policy, [{"effect": "deny", "action": ["fs:DeleteObject"], "resource": resource}])
    lake.users.attach(ana, policy)
    with pytest.raises(lakebed.PartialFailureError, match="1 of 2 objects could not be deleted") as caught:
        fsspec.filesystem("lakebed").rm(f"{top}/orders", recursive=True)
    assert [(one.path, one.status) for one in caught.value.failures] == [("orders/b", 403)]


@pytest.mark.parametrize(
    "library",
    [
        pd.read_parquet,
        pd.read_csv,
        lambda url: ds.dataset(url.removeprefix("lakebed://"), filesystem=fsspec.filesystem("lakebed")).to_table(),
    ],
    ids=["pandas.read_parquet", "pandas.read_csv", "pyarrow.dataset"],
)
def test_libraries_report_the_refusal(ana: str, way: str, top: str, library: Callable[[str], object]) -> None:
    refuses(lambda: library(f"lakebed://{top}/{PATH}"), top, "fs:ReadObject on {object}")


def test_pandas_reports_the_refusal_of_a_write(ana: str, way: str, top: str) -> None:
    refuses(lambda: FRAME.to_parquet(f"lakebed://{top}/new"), top, "fs:WriteObject on {repository}/object/new")


def test_rights_that_come_and_go_hold_for_an_open_file_system(
    ana: str, top: str, lake: lakebed.Lake, repo: lakebed.Repository
) -> None:
    fs, file = fsspec.filesystem("lakebed"), f"{top}/{PATH}"
    refuses(lambda: fs.cat(file), top, "fs:ReadObject on {object}")
    lake.users.grant(ana, repo.id, "reader")
    assert fs.cat(file) == repo.branch("main").get(PATH)
    lake.users.revoke(ana, repo.id)
    refuses(lambda: fs.cat(file), top, "fs:ReadObject on {object}")
