"""`lakebed.diff` and `lakebed.changes` return the result of the SDK's diff, from the files of the trees."""

from __future__ import annotations

import lakebed
import lakebed_spark
import pytest
from lakebed_spark.history.key_ranges import Span
from lakebed_spark.history.storage import Store
from lakebed_spark.history.tree import Part
from lakebed_spark.history.tree_diff import Pair, differences
from pyspark.sql import SparkSession

from tests.spark.histories import fresh, load, many, rows_of, scribble, tasks
from tests.support.processes.server import RunningServer


@pytest.fixture(scope="module")
def grown(server: RunningServer, tmp_path_factory: pytest.TempPathFactory) -> lakebed.Repository:
    """Ranges and patches; a branch that both sides changed since, and a merge of it into another."""
    repo = fresh(server)
    main = repo.branch("main")
    many(main, tmp_path_factory.mktemp("layer"))
    for seed, count in enumerate((3, 700, 30, 2)):
        scribble(main, seed, count)
    dev = repo.branch("dev").create("main~1")
    scribble(dev, 10, 300)
    scribble(dev, 11, 3)
    scribble(main, 12, 300)
    repo.branch("both").create("main")
    dev.merge_into("both", strategy="source-wins")
    one = repo.branch("one").create("main~5")
    one.put_many({"t/000100": b"changed", "t/000200x": b"added"}, delete=["t/000300"])
    one.commit("in one range")
    return repo


@pytest.fixture(autouse=True)
def known(spark: SparkSession, lake: lakebed.Lake) -> None:
    lakebed_spark.register(spark, lake)


def diff_of_the_sdk(
    repo: lakebed.Repository, left: str, right: str, two_dot: bool, prefix: str
) -> list[tuple[str, str]]:
    found = repo.ref(left).diff(right, two_dot=two_dot, prefix=prefix)
    return sorted((change.path, change.type) for change in found)


def test_spark_diff_equals_the_diff_of_the_sdk(spark: SparkSession, grown: lakebed.Repository) -> None:
    first = grown.ref("main").log().all()[-1].id
    cases = [
        ("main~1", "main", False, ""),
        ("one~1", "one", True, ""),
        ("main", "dev", False, ""),
        ("main", "dev", True, ""),
        ("dev", "main", False, "t/0010"),
        (first, "main~2", True, ""),
        ("main~5", "main", True, "t/01"),
    ]
    kinds: set[str] = set()
    for left, right, two_dot, prefix in cases:
        kind = "two_dot" if two_dot else "three_dot"
        frame = load(spark, "lakebed.diff", grown, f"{right}/{prefix}", other=left, type=kind)
        shown = sorted(rows_of(frame.select("path", "type")))
        assert shown == diff_of_the_sdk(grown, left, right, two_dot, prefix), (left, right, kind, prefix)
        kinds.update(row[1] for row in shown)
    assert kinds == {"added", "removed", "changed", "conflict"}


def test_diff_has_the_columns_of_both_sides(spark: SparkSession, grown: lakebed.Repository) -> None:
    frame = load(spark, "lakebed.diff", grown, left="main", right="dev", type="two_dot")
    for row in frame.collect():
        for side in ("left", "right"):
            seen = (row[f"{side}_size"], row[f"{side}_checksum"], row[f"{side}_physical_address"])
            if (row["type"], side) in (("added", "left"), ("removed", "right")):
                assert seen == (None, None, None)
        if row["path"].endswith("7"):  # a few: each is a request
            there = grown.ref("dev").stat(row["path"]) if row["type"] != "removed" else None
            shown = (row["right_size"], row["right_checksum"], row["right_physical_address"])
            assert there is None or shown == (there.size, there.checksum, there.physical_address)


def test_a_conflict_shows_our_side(spark: SparkSession, grown: lakebed.Repository) -> None:
    conflicts = load(spark, "lakebed.diff", grown, "dev", other="main").filter("type = 'conflict'").collect()
    assert conflicts
    main = {row.path: row for row in grown.ref("main").list() if isinstance(row, lakebed.ObjectInfo)}
    for row in conflicts:
        ours = main.get(row["path"])
        assert row["left_checksum"] == (ours.checksum if ours else None)


def test_ranges_that_both_have_are_not_opened(
    grown: lakebed.Repository, lake: lakebed.Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store.of(lakebed_spark.Access.of(lake), grown.id)
    trees = [store.tree(grown.commit(ref).metarange_id) for ref in ("one~1", "one")]
    pair = Pair.of(*trees)
    changed = diff_of_the_sdk(grown, "one~1", "one", True, "")
    assert [kind for _, kind in changed] == ["changed", "added", "removed"]
    opened: list[str] = []
    rows = Store.rows

    def watched(self: Store, part: Part, *given: object) -> object:
        opened.append(part.id)
        return rows(self, part, *given)  # type: ignore[arg-type]

    monkeypatch.setattr(Store, "rows", watched)
    found = differences(store, pair, Span())
    assert sorted(zip(found["path"].to_pylist(), found["type"].to_pylist(), strict=True)) == changed
    alone = {part.id for tree in trees for part in (*tree.ranges, *tree.patches)} - pair.shared - pair.patched
    assert len(pair.shared) > 2
    assert len(pair.shared & set(opened)) <= 1
    assert set(opened) - pair.shared <= alone


def test_nothing_differs(spark: SparkSession, grown: lakebed.Repository) -> None:
    frame = load(spark, "lakebed.diff", grown, "main", other="main")
    assert frame.count() == 0
    assert tasks(frame) == 1  # Spark makes one of none


def test_changes_list_the_rows_of_each_commit(spark: SparkSession, grown: lakebed.Repository) -> None:
    expected = [
        (commit.id, change.path, change.type)
        for commit in grown.ref("both").log()
        if commit.parents
        for change in grown.ref(commit.id).changes_since(commit.parents[0], two_dot=True)
    ]
    frame = load(spark, "lakebed.changes", grown, "both").cache()
    assert sorted(rows_of(frame.select("commit_id", "path", "type"))) == sorted(expected)

    line = [commit.id for commit in grown.ref("both").log(first_parent=True)]
    on_line = {row[0] for row in rows_of(frame.filter("first_parent").select("commit_id").distinct())}
    assert on_line == set(line) & {row[0] for row in expected}
    merges = {row[0] for row in rows_of(frame.filter("merge").select("commit_id").distinct())}
    assert merges == {line[0]}
    newest = load(spark, "lakebed.changes", grown, "both", limit=1).select("commit_id").distinct()
    assert rows_of(newest) == [(line[0],)]


@pytest.mark.parametrize(
    ("ref", "options"),
    [
        ("main", {}),
        ("", {"left": "main"}),
        ("main", {"other": "dev", "right": "dev"}),
        ("main", {"left": "a", "other": "b"}),
    ],
)
def test_two_refs_are_named(
    spark: SparkSession, repo: lakebed.Repository, lake: lakebed.Lake, ref: str, options: dict[str, str]
) -> None:
    lakebed_spark.register(spark, lake)
    with pytest.raises(Exception, match="compares two refs"):
        load(spark, "lakebed.diff", repo, ref, **options).count()
