"""`lakebed.entries` shows what the SDK's listing shows, for every kind of ref, and opens no file that it need not."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import cast

import lakebed
import lakebed_spark
import pytest
from lakebed_spark import history
from lakebed_spark.history import entries as source
from lakebed_spark.history.columns import ENTRIES
from lakebed_spark.history.key_ranges import Span, of_filters
from lakebed_spark.history.storage import Store
from lakebed_spark.history.tree import Part, Tree, divided
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession, functions
from pyspark.sql.datasource import EqualTo, GreaterThan, In, LessThanOrEqual, StringStartsWith

from tests.spark.histories import PUSHDOWN, fresh, load, many, rows_of, scribble, tasks
from tests.support.processes.server import RunningServer

COLUMNS = ("path", "size", "checksum", "mtime", "content_type", "metadata", "physical_address")


@pytest.fixture(scope="module")
def big(server: RunningServer, tmp_path_factory: pytest.TempPathFactory) -> lakebed.Repository:
    """Several ranges, a large commit and a small one over them: a patch, too."""
    repo = fresh(server)
    main = repo.branch("main")
    many(main, tmp_path_factory.mktemp("layer"))
    scribble(main, 1, 500)
    scribble(main, 2, 9)
    return repo


@pytest.fixture(autouse=True)
def known(spark: SparkSession, lake: lakebed.Lake) -> Iterator[None]:
    spark.conf.set(PUSHDOWN, "true")
    lakebed_spark.register(spark, lake)
    yield
    spark.conf.unset(PUSHDOWN)


def listed(repo: lakebed.Repository, ref: str, prefix: str = "") -> list[tuple[object, ...]]:
    rows = [row for row in repo.ref(ref).list(prefix) if isinstance(row, lakebed.ObjectInfo)]
    return [tuple(getattr(row, name) for name in COLUMNS) for row in rows]


def test_every_ref_shows_what_a_listing_shows(spark: SparkSession, repo: lakebed.Repository) -> None:
    main = repo.branch("main")
    main.put_many({f"a/{number:03d}.bin": b"x%d" % number for number in range(60)})
    main.put("a/meta.txt", b"m", metadata={"k": "v", "empty": ""}, content_type="text/plain")
    main.commit("one")
    main.put("a/001.bin", b"changed")
    main.delete("a/002.bin")
    main.commit("two")
    repo.tag("v1").create("main")
    main.put("b/ü🌊.bin", b"new")
    main.put("a/003.bin", b"staged")
    main.delete("a/004.bin")
    work = main.workspace("w").create()
    work.put("a/005.bin", b"in the workspace")
    work.delete("a/006.bin")

    whole = ("main", "main@", "main$", "main~1", "v1", main.commit_info().id, work.id)
    for ref, prefix in [*((ref, "") for ref in whole), ("main", "a/00"), ("main", "b/ü"), ("main", "nothing")]:
        shown = sorted(rows_of(load(spark, "lakebed.entries", repo, f"{ref}/{prefix}")))
        assert shown == sorted(listed(repo, ref, prefix)), (ref, prefix)


def test_patches_and_ranges_are_one(spark: SparkSession, big: lakebed.Repository) -> None:
    kinds = {part.level > 0 for part in big.ref("main").ranges()}
    assert kinds == {False, True}
    frame = load(spark, "lakebed.entries", big, "main").select("path", "size", "checksum")
    assert sorted(rows_of(frame)) == [(row[0], row[1], row[2]) for row in listed(big, "main")]


def test_only_the_files_in_question_are_planned(spark: SparkSession, big: lakebed.Repository) -> None:
    whole = load(spark, "lakebed.entries", big, "main", partitions=100)
    ranges = sum(part.level == 0 for part in big.ref("main").ranges())
    assert tasks(whole) == ranges > 3
    assert tasks(load(spark, "lakebed.entries", big, "main/t/0000", partitions=100)) == 1
    assert tasks(whole.filter(functions.col("path") == "t/006000")) == 1
    assert tasks(whole.filter("path >= 't/011990'")) == 1
    assert tasks(whole.filter("size = 1")) == ranges
    assert whole.filter("path LIKE 't/0060%'").count() == len(listed(big, "main", "t/0060"))
    assert tasks(load(spark, "lakebed.entries", big, "main")) <= 4 * 2


def test_without_pushed_filters_the_same_rows(spark: SparkSession, big: lakebed.Repository, lake: lakebed.Lake) -> None:
    spark.conf.set(PUSHDOWN, "false")
    lakebed_spark.register(spark, lake)
    shown = load(spark, "lakebed.entries", big, "main").filter("path >= 't/' AND path < 't/0001'").select("path")
    assert sorted(rows_of(shown)) == [(row[0],) for row in listed(big, "main", "t/0000")]


def test_a_schema_chooses_the_columns(spark: SparkSession, big: lakebed.Repository, lake: lakebed.Lake) -> None:
    frame = (
        spark.read.format("lakebed.entries").schema("size long, path string").load(f"lakebed://{big.id}/main~2/t/00000")
    )
    assert frame.columns == ["size", "path"]
    assert sorted(rows_of(frame)) == [(5, f"t/00000{digit}") for digit in range(10)]

    store = Store.of(lakebed_spark.Access.of(lake), big.id)
    tree = store.tree(big.commit("main").metarange_id)
    assert store.rows(tree.ranges[0], ["size_bytes"], Span()).column_names == ["size_bytes"]
    with pytest.raises(Exception, match="no column 'colour'; its columns are path, size"):
        spark.read.format("lakebed.entries").schema("colour string").load(f"lakebed://{big.id}/main").count()


def test_much_that_is_staged_is_listed(
    spark: SparkSession, big: lakebed.Repository, lake: lakebed.Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    branch = big.branch("much").create("main")
    branch.put_many({f"t/{number:06d}": b"staged" for number in range(0, 3000, 3)})
    monkeypatch.setattr("lakebed_spark.history.uncommitted.MOST_STAGED", 10)
    bound = history.bind(source.EntriesSource, history.Binding(lakebed_spark.Access.of(lake), False, 4))
    made = bound({"path": f"lakebed://{big.id}/much/t/"})
    reader = cast("source.EntriesReader", made.reader(ENTRIES))  # in this process, so that the bound holds
    parts = reader.partitions()
    assert len(parts) == 4
    assert all(isinstance(part.value, source.FromListing) for part in parts)
    found = [row for part in parts for batch in reader.read(part) for row in batch.column("path").to_pylist()]
    assert found == [row[0] for row in listed(big, "much", "t/")]


def test_through_the_server_where_there_is_no_directory(
    big: lakebed.Repository, lake: lakebed.Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAKEBED_DATA_PATH", "proxied")
    store = Store.of(lakebed_spark.Access.of(lake), big.id)
    assert not store.shared
    tree = store.tree(big.commit("main").metarange_id)
    rows = store.rows(tree.ranges[1], ["path"], Span())
    assert rows.num_rows == tree.ranges[1].rows
    assert store.rows(tree.patches[0], ["path"], Span()).num_rows == tree.patches[0].rows


def test_a_damaged_file_is_an_error(repo: lakebed.Repository, lake: lakebed.Lake) -> None:
    main = repo.branch("main")
    main.put("a", b"1")
    main.commit("one")
    (part,) = repo.ref("main").ranges()
    file = Path(part.local_path)
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)
    store = Store.of(lakebed_spark.Access.of(lake), repo.id)
    tree = store.tree(repo.commit("main").metarange_id)
    with pytest.raises(lakebed.TableFormatError, match="lakebed fsck"):
        store.rows(tree.ranges[0], ["path"], Span())


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"prefix": "x"}, "has no option 'prefix'"),
        ({"partitions": "0"}, "whole number from 1"),
        ({"partitions": "many"}, "whole number from 1"),
    ],
)
def test_bad_options(spark: SparkSession, repo: lakebed.Repository, options: dict[str, str], said: str) -> None:
    with pytest.raises((AnalysisException, Exception), match=said):
        load(spark, "lakebed.entries", repo, "main", **options).count()


def test_missing_refs_and_bad_uris_are_refused(spark: SparkSession, repo: lakebed.Repository) -> None:
    with pytest.raises(Exception, match="nowhere"):
        load(spark, "lakebed.entries", repo, "nowhere").count()
    with pytest.raises(Exception, match=r'\.load\("lakebed://repository/ref"\)'):
        spark.read.format("lakebed.entries").load()
    with pytest.raises(Exception, match="not a Lakebed URI"):
        spark.read.format("lakebed.entries").load("s3://bucket/x")


def test_credentials_are_in_no_plan(spark: SparkSession, repo: lakebed.Repository, lake: lakebed.Lake) -> None:
    frame = load(spark, "lakebed.entries", repo, "main")
    secret = lake.settings.secret_access_key
    assert secret
    assert secret not in frame._jdf.queryExecution().toString()
    assert secret not in repr(lakebed_spark.Access.of(lake))
    assert secret not in repr(history.Binding(lakebed_spark.Access.of(lake)))


def test_spans() -> None:
    tree = Tree(tuple(Part(str(n), f"{n}0", f"{n}9", 10) for n in range(8)), (Part("p", "25", "31", 2, 1),))
    assert [len(piece.tree.ranges) for piece in divided(tree, Span(), 3)] == [3, 3, 2]
    assert [piece.span for piece in divided(tree, Span(), 2)] == [Span("", "40"), Span("40", None)]
    assert divided(tree, Span("5", "5"), 3) == []
    found = of_filters(
        [GreaterThan(("path",), "b"), LessThanOrEqual(("path",), "k"), EqualTo(("size",), 3), In(("path",), ("c", "d"))]
    )
    assert found == Span("c", "d\0")
    assert of_filters([StringStartsWith(("path",), "a\U0010ffff")]) == Span("a\U0010ffff", "b")
    assert of_filters([StringStartsWith(("path",), "a\ud7ff")]) == Span("a\ud7ff", "a\ue000")
