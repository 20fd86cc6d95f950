"""Dedupe: one address for one content, in a commit that changes nothing else, even with concurrent commits."""

from __future__ import annotations

import random
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

import attrs
import lakebed
import pyarrow as pa
import pytest
from lakebed_spark import pipelines
from lakebed_spark.pipelines import _duplicate_finder
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


@pytest.mark.parametrize("engine", ["here", pytest.param("spark", marks=pytest.mark.soak)])  # see `test_both_runners`
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


def test_entry_changed_during_dedupe_is_left(doubled: lakebed.Repository, monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_checksums_that_prove_nothing_are_read_or_left(
    repo: lakebed.Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two multipart uploads may have the same ETag and different bytes, so only reading proves equality."""
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
    monkeypatch.setattr(sys.modules["lakebed_spark.pipelines.dedupe"], "_FILES_PER_TASK", 1)
    seen: list[tuple[int, int]] = []
    done = pipelines.dedupe(main, verify="weak", memory_bytes=1, progress=lambda *counts: seen.append(counts))
    assert seen == [(1, 3), (2, 3), (3, 3)]  # a round for each task
    assert (done.groups, done.copies, done.shared, done.unverified) == (1, 1, 1, 0)
    assert done.largest[0].verified
    rows_now = addresses(main)
    assert rows_now["p/0"] == rows_now["p/1"] != rows_now["p/2"]
    assert {path: main.get(path) for path in contents} == contents


OWN = "local://r"


def scattered(own: str, elsewhere: str, seed: int) -> list[lakebed.ObjectInfo]:
    """600 paths of 90 contents at 200 addresses in two places; some checksums are of parts."""
    some, now = random.Random(seed), datetime(2026, 1, 1, tzinfo=UTC)
    contents = [(f"{some.getrandbits(64):032x}{'-2' if n % 7 == 0 else ''}", some.randrange(1000)) for n in range(90)]
    addresses = [(f"{some.choice((own, elsewhere))}/{n}", *some.choice(contents)) for n in range(200)]
    rows = []
    for number in range(600):
        address, checksum, size = some.choice(addresses)
        rows.append(
            lakebed.ObjectInfo(f"{some.choice('abc')}/{number:04d}", size, checksum, now, physical_address=address)
        )
    return rows


def judged(found: Iterable[lakebed.ObjectInfo], own: str) -> dict[str, Any]:
    """What is to be said about entries, the plain way: everything in memory."""
    by_content: dict[tuple[str, int], list[lakebed.ObjectInfo]] = defaultdict(list)
    for row in found:
        by_content[row.checksum, row.size].append(row)
    several = {key: rows for key, rows in by_content.items() if len({row.physical_address for row in rows}) > 1}
    strong = {key: rows for key, rows in several.items() if "-" not in key[0]}
    kept = {
        key: min(rows, key=lambda row: (not row.physical_address.startswith(own + "/"), row.path))
        for key, rows in strong.items()
    }
    spare = {key: {row.physical_address for row in strong[key]} - {kept[key].physical_address} for key in strong}
    largest = sorted(strong, key=lambda key: (-key[1] * len(spare[key]), *key))
    freed = [key[1] for key, addresses in spare.items() for one in addresses if one.startswith(own + "/")]
    return {
        "groups": len(strong),
        "copies": sum(map(len, spare.values())),
        "bytes": sum(key[1] * len(addresses) for key, addresses in spare.items()),
        "freeable_bytes": sum(freed),
        "unverified": sum(len(rows) for key, rows in several.items() if key not in strong),
        "keep": [kept[key].path for key in largest],
        "moves": {
            (row.path, kept[key].path)
            for key in strong
            for row in strong[key]
            if row.physical_address != kept[key].physical_address
        },
    }


def test_dedupe_on_disk_finds_what_the_reference_finds() -> None:
    """Data in the repository's own namespace and elsewhere; next to nothing is held in memory."""
    rows = scattered(OWN, "s3://elsewhere", 7)
    columns = {
        "path": [row.path for row in rows],
        "checksum": [row.checksum for row in rows],
        "size": pa.array([row.size for row in rows], pa.int64()),
        "physical_address": [row.physical_address for row in rows],
    }
    with _duplicate_finder.Copies(OWN, 1) as copies:
        copies.add(pa.table(columns).slice(at, 100) for at in range(0, 600, 100))
        assert copies.find(read_weak=False, read_all=False) == 0
        totals, moves = copies.settle(), list(copies.moves())
        largest = list(copies.largest(100))
    found = judged(rows, OWN)
    assert totals.copies > 50
    assert totals.freeable_bytes not in (0, totals.bytes)
    seen = (totals.contents, totals.copies, totals.bytes, totals.freeable_bytes, totals.unverified)
    assert seen == tuple(found[name] for name in ("groups", "copies", "bytes", "freeable_bytes", "unverified"))
    assert [one.keep for one in largest] == found["keep"]
    assert len(moves) == len(set(moves))
    assert set(moves) == found["moves"]


def test_both_runners_find_what_the_plain_way_finds(repo: lakebed.Repository, spark: SparkSession) -> None:
    main, some = repo.branch("main"), random.Random(8)
    main.put_many({f"{some.choice('abc')}/{number:03d}": b"x" * some.randrange(150) for number in range(300)})
    main.copy(next(row.path for row in main.list("a/")), "b/shared")
    main.commit("many")
    reports = [pipelines.dedupe(main, spark=one, dry_run=True, memory_bytes=1) for one in (None, spark)]
    assert reports[0] == reports[1]
    found = judged((row for row in main.list() if isinstance(row, lakebed.ObjectInfo)), repo.info().storage_namespace)
    assert reports[0].copies == found["copies"] > 50
    assert [one.keep for one in reports[0].largest] == found["keep"]
    assert {path for one in reports[0].largest for path in one.paths} == {path for path, _ in found["moves"]}


def test_report_names_at_most_the_given_number_of_paths(
    doubled: lakebed.Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_duplicate_finder, "PATHS_SHOWN", 1)
    report = pipelines.dedupe(doubled.branch("main"))
    assert [(one.paths, one.copies) for one in report.largest] == [(("a/1",), 2), (("c/y",), 1)]
    assert report.shared == 3


_MANY = """
import resource, sys
import pyarrow as pa
from lakebed_spark.pipelines._duplicate_finder import Copies

def rows(start):
    return pa.table({
        "checksum": ["%032x" % (number // 2) for number in range(start, start + 10_000)],
        "size": pa.array([1] * 10_000, pa.int64()),
        "path": [f"{number:050d}" for number in range(start, start + 10_000)],
        "physical_address": [f"s3://elsewhere/{number:050d}" for number in range(start, start + 10_000)],
    })

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10

with Copies("s3://own", 4 << 20) as copies:
    copies.add(rows(start) for start in range(0, 20_000, 10_000))
    before = peak()
    copies.add(rows(start) for start in range(20_000, int(sys.argv[1]), 10_000))
    copies.find(read_weak=False, read_all=False)
    totals = copies.settle()
    moves = sum(1 for _ in copies.moves())
    print(totals.copies, moves, peak() - before)
"""


@pytest.mark.soak
def test_memory_does_not_grow_with_the_duplicates() -> None:
    """300,000 rows of 150 bytes and more, 45 MB as Arrow holds them and 120 MB as Python does, in 4 MiB."""
    done = subprocess.run([sys.executable, "-c", _MANY, "300000"], capture_output=True, text=True, check=True)
    copies, moves, grown = map(int, done.stdout.split())
    assert (copies, moves) == (150_000, 150_000)
    assert grown < 20, f"{grown} MiB more than with 20,000 rows"


def test_full_disk_is_reported() -> None:
    row = {"checksum": ["0" * 32], "size": pa.array([1], pa.int64()), "path": ["x" * 9000], "physical_address": ["a"]}
    with _duplicate_finder.Copies("local://r", 1 << 20) as copies:
        copies._base.execute("PRAGMA max_page_count = 10")
        with pytest.raises(lakebed.ConfigurationError, match="TMPDIR") as caught:
            copies.add([pa.table(row)] * 10)
    assert "full" in str(caught.value)


def test_invalid_dedupe_arguments_are_refused(doubled: lakebed.Repository) -> None:
    doubled.tag("v1").create("main")
    with pytest.raises(lakebed.ReadOnlyRefError, match="is not a branch"):
        pipelines.dedupe(doubled.ref("v1"))
    assert pipelines.dedupe(doubled.ref("v1"), dry_run=True).copies == 3
    with pytest.raises(lakebed.InvalidRequestError, match="verify must be"):
        pipelines.dedupe(doubled.ref("main"), verify="some")  # type: ignore[arg-type]
    with pytest.raises(lakebed.InvalidRequestError, match="memory_bytes must be"):
        pipelines.dedupe(doubled.ref("main"), memory_bytes=0)
