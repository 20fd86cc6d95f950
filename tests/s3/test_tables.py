"""Query engines over a branch: Polars, DuckDB's httpfs, and Delta Lake by delta-rs, with two concurrent writers."""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterator
from importlib.resources import files
from typing import Any

import duckdb
import lakebed
import polars as pl
import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake
from lakebed.errors import ConflictError

from tests.s3.target import REGION, Target

ROWS = pl.DataFrame({"day": [1, 1, 2, 3], "price": [1.0, 2.0, 3.0, 4.0]})
WRITERS, COMMITS = 2, 8


def options(target: Target) -> dict[str, str]:
    """The options of Polars and delta-rs, which both use Rust's object_store."""
    return {
        "aws_endpoint_url": target.endpoint,
        "aws_access_key_id": target.access_key_id,
        "aws_secret_access_key": target.secret_access_key,
        "aws_region": REGION,
        "aws_allow_http": "true",
    }


def test_polars(target: Target, repo: lakebed.Repository) -> None:
    place = {"storage_options": options(target)}
    for day in (1, 2, 3):
        part = ROWS.filter(pl.col("day") == day).drop("day")
        part.write_parquet(target.url(f"t/day={day}/part.parquet"), **place)  # type: ignore[arg-type]
    lazy = pl.scan_parquet(target.url("t/**/*.parquet"), hive_partitioning=True, **place)  # type: ignore[arg-type]
    assert lazy.filter(pl.col("day") > 1).select(pl.col("price").sum()).collect().item() == 7.0
    ROWS.lazy().sink_parquet(target.url("sunk.parquet"), **place)  # type: ignore[call-overload]
    assert pl.read_parquet(target.url("sunk.parquet"), **place).equals(ROWS)  # type: ignore[arg-type]
    pl.scan_parquet(target.url("sunk.parquet"), **place).sink_csv(target.url("sunk.csv"), **place)  # type: ignore[arg-type,call-overload]
    assert pl.read_csv(target.url("sunk.csv"), **place).equals(ROWS)  # type: ignore[arg-type]
    assert len(list(repo.branch("main").list())) == 5


@pytest.fixture
def duck(target: Target) -> Iterator[duckdb.DuckDBPyConnection]:
    """With httpfs, which a package on PyPI carries: nothing is fetched at run time."""
    connection = duckdb.connect()
    folder = files("duckdb_extension_httpfs")
    connection.load_extension(str(folder / "extensions" / f"v{duckdb.__version__}" / "httpfs.duckdb_extension"))
    connection.execute(
        f"CREATE SECRET lake (TYPE s3, KEY_ID '{target.access_key_id}', SECRET '{target.secret_access_key}', "
        f"ENDPOINT '{target.address}', REGION '{REGION}', URL_STYLE 'path', USE_SSL false)"
    )
    yield connection
    connection.close()


def test_duckdb(target: Target, duck: duckdb.DuckDBPyConnection, repo: lakebed.Repository) -> None:
    duck.execute("CREATE TABLE t AS SELECT range % 3 AS day, range * 1.5 AS price FROM range(100000)")
    duck.execute(f"COPY t TO '{target.url('one.parquet')}'")
    duck.execute(f"COPY t TO '{target.url('parts')}' (FORMAT parquet, PARTITION_BY (day))")
    duck.execute(f"COPY t TO '{target.url('t.csv')}'")
    for source in (
        f"'{target.url('one.parquet')}'",
        f"read_parquet('{target.url('parts/**/*.parquet')}', hive_partitioning = true)",
        f"'{target.url('t.csv')}'",
    ):
        found = duck.sql(f"SELECT count(*), sum(price) FROM {source} WHERE day = 1").fetchall()
        assert found == [(33333, 2499925000.5)], source
    duck.execute(f"COPY (SELECT 1 AS a) TO '{target.url('one.parquet')}'")
    assert duck.sql(f"SELECT * FROM '{target.url('one.parquet')}'").fetchall() == [(1,)]
    names = [row[0] for row in duck.sql(f"SELECT file FROM glob('{target.url('parts/*/*')}')").fetchall()]
    assert len(names) == 3
    assert {one.path.partition("/")[0] for one in repo.branch("main").list()} == {"one.parquet", "parts", "t.csv"}


def _append(url: str, options: dict[str, str], writer: int) -> None:
    for number in range(COMMITS):
        write_deltalake(url, pa.table({"writer": [writer], "number": [number]}), mode="append", storage_options=options)


def test_deltalake_loses_no_commit(target: Target, repo: lakebed.Repository) -> None:
    """Two processes append concurrently. A put that fails when the file exists decides which one writes a version."""
    url, place = target.url("events"), options(target)
    write_deltalake(url, pa.table({"writer": [9], "number": [0]}), storage_options=place)
    context = multiprocessing.get_context("spawn")
    with context.Pool(WRITERS) as pool:
        pool.starmap(_append, [(url, place, writer) for writer in range(WRITERS)])
    table = DeltaTable(url, storage_options=place)
    rows = table.to_pyarrow_table().to_pydict()
    found = sorted(zip(rows["writer"], rows["number"], strict=True))
    assert found == [(writer, number) for writer in range(WRITERS) for number in range(COMMITS)] + [(9, 0)]
    assert table.version() == WRITERS * COMMITS
    log = [one.path for one in repo.branch("main").list("events/_delta_log/") if one.path.endswith(".json")]
    assert len(log) == WRITERS * COMMITS + 1


def test_delta_verbs(target: Target) -> None:
    url, place = target.url("orders"), options(target)
    write_deltalake(url, ROWS.to_arrow(), storage_options=place, partition_by=["day"])
    DeltaTable(url, storage_options=place).delete("day = 3")
    write_deltalake(url, ROWS.to_arrow(), storage_options=place, mode="overwrite", predicate="day > 0")
    DeltaTable(url, storage_options=place).optimize.compact()
    DeltaTable(url, storage_options=place).create_checkpoint()
    table = DeltaTable(url, storage_options=place)
    assert sorted(table.to_pyarrow_table()["price"].to_pylist()) == [1.0, 2.0, 3.0, 4.0]
    assert pl.scan_delta(url, storage_options=place, version=0).collect().height == 4
    assert len(table.vacuum(retention_hours=0, enforce_retention_duration=False, dry_run=False)) > 0
    assert DeltaTable(url, storage_options=place).to_pyarrow_table().num_rows == 4


def test_two_versions_of_one_delta_log_conflict(branch: Target, repo: lakebed.Repository) -> None:
    """Both branches have written version 1: the merge is a conflict that names it, and neither line is touched."""
    place = options(branch)
    write_deltalake(branch.url("events"), pa.table({"a": [1]}), storage_options=place)
    main = repo.branch("main")
    main.commit("version 0")
    dev = repo.branch("dev").create("main")
    for ref, value in (("main", 2), ("dev", 3)):
        url = branch.at(ref).url("events")
        write_deltalake(url, pa.table({"a": [value]}), mode="append", storage_options=place)
        repo.branch(ref).commit("version 1")
    with pytest.raises(ConflictError) as caught:
        dev.merge_into("main")
    for word in ("events/_delta_log/00000000000000000001.json", "'events' is a Delta table", "one numbered sequence"):
        assert word in str(caught.value)
    for ref, value in (("main", 2), ("dev", 3)):
        rows: Any = DeltaTable(branch.at(ref).url("events"), storage_options=place).to_pyarrow_table()
        assert sorted(rows["a"].to_pylist()) == [1, value]
    # a strategy settles version 1, and the line of the loser goes on: nothing of it may be left behind the winner's
    write_deltalake(branch.url("events"), pa.table({"a": [5]}), mode="append", storage_options=place)
    main.commit("version 2")
    with pytest.raises(ConflictError, match=r"events/_delta_log/0+2\.json.*one numbered sequence"):
        dev.merge_into("main", strategy="source-wins")
    assert sorted(DeltaTable(branch.url("events"), storage_options=place).to_pyarrow_table()["a"].to_pylist()) == [
        1,
        2,
        5,
    ]
    dev.merge_into("main", resolve={"events/**": "dest"})
    # a line that only one side has written merges as any file does
    tip = repo.branch("later").create("main")
    write_deltalake(branch.at("later").url("events"), pa.table({"a": [4]}), mode="append", storage_options=place)
    tip.commit("version 3")
    tip.merge_into("main")
    rows = DeltaTable(branch.url("events"), storage_options=place).to_pyarrow_table()
    assert sorted(rows["a"].to_pylist()) == [1, 2, 4, 5]


def test_a_version_in_the_middle_of_a_delta_log_is_not_reverted(target: Target, repo: lakebed.Repository) -> None:
    place, url, main = options(target), target.url("events"), repo.branch("main")
    made = []
    for value in range(3):
        write_deltalake(url, pa.table({"a": [value]}), mode="append", storage_options=place)
        made.append(main.commit(f"version {value}"))
    with pytest.raises(ConflictError, match=r"events/_delta_log/0+2\.json.*newest first"):
        main.revert(made[1].id)
    for left, one in ((2, made[2]), (1, made[1])):
        main.revert(one.id)
        assert DeltaTable(url, storage_options=place).to_pyarrow_table().num_rows == left
