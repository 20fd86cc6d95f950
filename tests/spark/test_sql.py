"""The views say what Python works out from the SDK's log, diffs and listings."""

from __future__ import annotations

from collections import defaultdict

import lakebed
import lakebed_spark
import pytest
from pyspark.sql import SparkSession

from tests.spark.histories import rows_of


@pytest.fixture
def lived(repo: lakebed.Repository) -> lakebed.Repository:
    """Additions, changes there and back, deletions, a merge, a copy of content."""
    main = repo.branch("main")
    main.put_many({"top": b"0", "a/1": b"one", "a/2": b"two", "b/1": b"same content"})
    main.commit("first")
    main.put("a/1", b"uno")
    main.commit("second")
    main.put("a/1", b"one")
    main.delete("a/2")
    main.commit("third: as it was")
    dev = repo.branch("dev").create("main~1")
    dev.put_many({"b/2": b"same content", "b/3": b"same content", "empty/1": b"", "empty/2": b""})
    dev.commit("on dev")
    main.put("a/4", b"four")
    main.commit("fourth")
    dev.merge_into("main", "merge")
    return repo


def blame(repo: lakebed.Repository, ref: str) -> set[tuple[object, ...]]:
    """The newest commit with one parent that gave a path its present content."""
    log = sorted(repo.ref(ref).log(), key=lambda commit: -commit.generation)
    found: set[tuple[object, ...]] = set()
    for row in repo.ref(ref).list():
        assert isinstance(row, lakebed.ObjectInfo)
        for commit in log:
            if len(commit.parents) != 1:
                continue
            changed = [
                one.type
                for one in repo.ref(commit.id).changes_since(commit.parents[0], two_dot=True, prefix=row.path)
                if one.path == row.path
            ]
            if changed in (["added"], ["changed"]) and repo.ref(commit.id).stat(row.path).checksum == row.checksum:
                found.add((row.path, row.size, commit.id, commit.committer, commit.created, commit.message))
                break
    return found


def sizes(repo: lakebed.Repository, ref: str) -> set[tuple[object, ...]]:
    """Files and bytes of each top folder after each commit that changed it."""
    found: set[tuple[object, ...]] = set()
    before: dict[str, dict[str, tuple[str, int]]] = {}
    for commit in reversed(repo.ref(ref).log(first_parent=True).all()):
        now: dict[str, dict[str, tuple[str, int]]] = defaultdict(dict)
        for row in repo.ref(commit.id).list():
            assert isinstance(row, lakebed.ObjectInfo)
            top = row.path.partition("/")[0] + "/" if "/" in row.path else ""
            now[top][row.path] = (row.checksum, row.size)
        for top in {*now, *before}:
            held = now.get(top, {})
            if held != before.get(top, {}):
                found.add((top, commit.id, len(held), sum(size for _, size in held.values())))
        before = dict(now)
    return found


def test_views(spark: SparkSession, lived: lakebed.Repository) -> None:
    names = lakebed_spark.views(spark, lived.branch("main"), prefix="v_")
    assert names == {
        name: f"v_{name}"
        for name in ("entries", "commits", "changes", "branches", "blame", "prefix_sizes", "duplicates")
    }

    shown = rows_of(spark.sql("SELECT path, size, commit_id, committer, created, message FROM v_blame"))
    assert set(shown) == blame(lived, "main")
    assert len(shown) == len(lived.ref("main").list().all())
    by = dict(rows_of(spark.sql("SELECT path, message FROM v_blame")))
    assert by["a/1"] == "third: as it was"
    assert by["b/2"] == "on dev"

    shown = rows_of(spark.sql("SELECT prefix, commit_id, files, bytes FROM v_prefix_sizes"))
    assert set(shown) == sizes(lived, "main")
    assert len(shown) == len(set(shown))

    (twice,) = rows_of(spark.sql("SELECT size, paths, copies, wasted_bytes, example FROM v_duplicates"))
    assert twice == (12, 3, 3, 24, "b/1")
    assert spark.sql("SELECT count(*) FROM v_commits").first()[0] == len(lived.ref("main").log().all())  # type: ignore[index]
    assert set(rows_of(spark.sql("SELECT id FROM v_branches"))) == {("main",), ("dev",)}


def test_views_are_of_one_commit(spark: SparkSession, lived: lakebed.Repository) -> None:
    main = lived.branch("main")
    lakebed_spark.views(spark, lived, prefix="then_")
    main.put("later", b"later")
    main.commit("later")
    main.put("uncommitted", b"u")
    counts = "SELECT (SELECT count(*) FROM {0}entries), (SELECT count(*) FROM {0}commits)"
    before = rows_of(spark.sql(counts.format("then_")))
    lakebed_spark.views(spark, lived, prefix="then_")
    (after,) = rows_of(spark.sql(counts.format("then_")))
    assert before == [(after[0] - 1, after[1] - 1)]


def test_a_prefix_is_a_name(spark: SparkSession, lived: lakebed.Repository) -> None:
    with pytest.raises(lakebed.InvalidRequestError, match="letters, digits"):
        lakebed_spark.views(spark, lived, prefix="drop table;")
    with pytest.raises(lakebed.NotFoundError):
        lakebed_spark.views(spark, lived.ref("nowhere"))
