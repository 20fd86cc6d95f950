"""Dedupe: one address for one content, in a commit that changes nothing else, whoever commits meanwhile."""

from __future__ import annotations

from typing import Any

import attrs
import lakebed
import pytest
from lakebed_spark import pipelines
from pyspark.sql import SparkSession


def entries(ref: lakebed.Ref, *, addressed: bool) -> dict[str, tuple[Any, ...]]:
    """All that entries say; with their addresses or without."""
    return {
        row.path: (row.size, row.checksum, row.mtime, row.content_type, dict(row.metadata))
        + ((row.physical_address,) if addressed else ())
        for row in ref.list()
        if isinstance(row, lakebed.ObjectInfo)
    }


def addresses(ref: lakebed.Ref) -> dict[str, str]:
    return {row.path: row.physical_address for row in ref.list() if isinstance(row, lakebed.ObjectInfo)}


@pytest.fixture
def doubled(repo: lakebed.Repository) -> lakebed.Repository:
    """Two contents stored twice and more, one stored once, one shared already."""
    main = repo.branch("main")
    for number in range(3):
        main.put(f"a/{number}", b"the same" * 100, metadata={"number": str(number)}, content_type="text/plain")
    main.put("b/x", b"also twice")
    main.put("c/y", b"also twice")
    main.put("c/once", b"once")
    main.copy("c/once", "c/shared")
    main.commit("doubled")
    return repo


@pytest.mark.parametrize("engine", ["here", "spark"])
def test_paths_share_one_address_and_nothing_else_changes(
    doubled: lakebed.Repository, engine: str, request: pytest.FixtureRequest
) -> None:
    spark: SparkSession | None = request.getfixturevalue("spark") if engine == "spark" else None
    main = doubled.branch("main")
    before, ids = entries(main, addressed=False), addresses(main)
    report = pipelines.dedupe(main, spark=spark, dry_run=True)
    assert (report.groups, report.copies, report.bytes, report.freeable_bytes) == (2, 3, 1610, 1610)
    assert [(one.keep, one.paths, one.copies) for one in report.largest] == [
        ("a/0", ("a/1", "a/2"), 2),
        ("b/x", ("c/y",), 1),
    ]
    assert report.commit is None
    assert addresses(main) == ids
    done = pipelines.dedupe(main, spark=spark)
    assert (done.shared, done.left) == (3, 0)
    assert attrs.evolve(done, shared=0, commit=None) == report
    assert main.commit_info() == done.commit
    assert entries(main, addressed=False) == before
    now = addresses(main)
    assert now == {**ids, "a/1": ids["a/0"], "a/2": ids["a/0"], "c/y": ids["b/x"]}
    assert main.get("a/2") == b"the same" * 100
    assert list(main.changes_since("main~1")) == []
    assert list(entries(doubled.ref("main~1"), addressed=True).values())[1][-1] == ids["a/1"]
    again = pipelines.dedupe(main, spark=spark)
    assert (again.copies, again.commit) == (0, None)
    assert list(doubled.workspaces()) == []


def test_an_entry_that_changes_meanwhile_is_left(doubled: lakebed.Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    main = doubled.branch("main")
    commit = lakebed.Workspace.commit
    raced: list[str] = []

    def late(self: lakebed.Workspace, *given: Any, **more: Any) -> lakebed.Commit:
        if not raced:
            raced.append(main.put("a/1", b"changed meanwhile").path)
            main.delete("b/x")
            main.commit("meanwhile")
        return commit(self, *given, **more)

    monkeypatch.setattr(lakebed.Workspace, "commit", late)
    report = pipelines.dedupe(main)
    assert (report.shared, report.left) == (1, 2)
    rows = addresses(main)
    assert main.get("a/1") == b"changed meanwhile"
    assert "b/x" not in rows
    assert rows["a/2"] == rows["a/0"]
    assert rows["c/y"] != rows["a/0"]
    assert main.get("c/y") == b"also twice"
    assert list(doubled.workspaces()) == []


def test_uncommitted_changes_are_left_alone(doubled: lakebed.Repository) -> None:
    main = doubled.branch("main")
    main.put("a/2", b"in the midst of work")
    report = pipelines.dedupe(main)
    assert (report.shared, report.left) == (2, 1)
    assert main.get("a/2") == b"in the midst of work"
    assert [row.path for row in main.uncommitted()] == ["a/2"]


def test_checksums_that_prove_nothing_are_read_or_left(repo: lakebed.Repository, server: Any) -> None:
    """Two uploads in parts may have one ETag and other bytes: only reading tells."""
    main = repo.branch("main")
    contents = {"p/0": b"A" * 50, "p/1": b"A" * 50, "p/2": b"B" * 50}
    with main.workspace("parts") as workspace:
        rows = []
        for path, data in contents.items():
            file = workspace.path(path)
            with open(file, "wb") as target:
                target.write(data)
            address = workspace.info().storage_prefix + path
            stat = lakebed.ObjectInfo(path, 50, "0" * 32 + "-2", workspace.info().created, physical_address=address)
            rows.append(stat)
        workspace.register(rows)
        workspace.commit(scan=False)
    report = pipelines.dedupe(main)
    assert (report.copies, report.unverified, report.commit) == (0, 3, None)
    done = pipelines.dedupe(main, verify="weak")
    assert (done.groups, done.copies, done.shared, done.unverified) == (1, 1, 1, 0)
    assert done.largest[0].verified
    rows_now = addresses(main)
    assert rows_now["p/0"] == rows_now["p/1"] != rows_now["p/2"]
    assert {path: main.get(path) for path in contents} == contents


def test_what_cannot_be_meant_is_refused(doubled: lakebed.Repository) -> None:
    doubled.tag("v1").create("main")
    with pytest.raises(lakebed.ReadOnlyRefError, match="is no branch"):
        pipelines.dedupe(doubled.ref("v1"))
    assert pipelines.dedupe(doubled.ref("v1"), dry_run=True).copies == 3
    with pytest.raises(lakebed.InvalidRequestError, match="verify must be"):
        pipelines.dedupe(doubled.ref("main"), verify="some")  # type: ignore[arg-type]
