"""pandas, Polars, DuckDB, Dask and pyarrow over `lakebed://`, given only the environment; and what they cost."""

from __future__ import annotations

from typing import Any

import dask
import dask.dataframe
import duckdb
import fsspec
import lakebed
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as pads
import pyarrow.parquet as pq
import pytest

from tests.fs.conftest import Requests

dd: Any = dask.dataframe
FRAME = pd.DataFrame({"day": ["mo", "tu"] * 50, "n": range(100), "x": [0.5] * 100})


@pytest.fixture
def base(fs: Any, top: str) -> str:
    return f"lakebed://{top}"


def test_pandas(way: str, base: str) -> None:
    FRAME.to_parquet(f"{base}/x.parquet")
    pd.testing.assert_frame_equal(pd.read_parquet(f"{base}/x.parquet"), FRAME)
    FRAME.to_parquet(f"{base}/part", partition_cols=["day"])
    assert len(pd.read_parquet(f"{base}/part", filters=[("day", "==", "mo")], columns=["n"])) == 50
    FRAME.to_csv(f"{base}/x.csv.gz", index=False)
    pd.testing.assert_frame_equal(pd.read_csv(f"{base}/x.csv.gz"), FRAME)
    FRAME.to_json(f"{base}/x.jsonl", orient="records", lines=True)
    pd.testing.assert_frame_equal(pd.read_json(f"{base}/x.jsonl", lines=True), FRAME)
    FRAME.to_feather(f"{base}/x.feather")
    pd.testing.assert_frame_equal(pd.read_feather(f"{base}/x.feather"), FRAME)
    with pytest.raises(FileNotFoundError):
        pd.read_csv(f"{base}/none.csv")


def test_storage_options(base: str, server: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    FRAME.to_parquet(f"{base}/x.parquet")
    monkeypatch.setenv("LAKEBED_ENDPOINT", "http://127.0.0.1:9")
    options = {"endpoint": server.endpoint, "access_key_id": server.access_key_id,
               "secret_access_key": server.secret_access_key}  # fmt: skip
    assert len(pd.read_parquet(f"{base}/x.parquet", storage_options=options)) == 100
    wrong = {**options, "secret_access_key": "wrong"}
    with pytest.raises(PermissionError):
        pd.read_parquet(f"{base}/x.parquet", storage_options=wrong)


def test_pyarrow(way: str, fs: Any, top: str, base: str) -> None:
    table = pa.Table.from_pandas(FRAME)
    hive = pads.partitioning(pa.schema([("day", pa.string())]), flavor="hive")
    pads.write_dataset(table, f"{top}/t", format="parquet", partitioning=hive, filesystem=fs)
    for dataset in (
        pads.dataset(f"{top}/t", filesystem=fs, partitioning="hive"),
        pads.dataset(f"fsspec+{base}/t", partitioning="hive"),
        pads.dataset(fs.glob(f"{base}/t/*/*.parquet"), filesystem=fs, partitioning=hive, format="parquet"),
    ):
        found = dataset.to_table(filter=(pads.field("day") == "tu") & (pads.field("n") > 50))
        assert sorted(found["n"].to_pylist()) == list(range(51, 100, 2))
    pads.write_dataset(table, f"{top}/t", format="parquet", partitioning=hive, filesystem=fs,
                       existing_data_behavior="delete_matching")  # fmt: skip
    assert pads.dataset(f"{top}/t", filesystem=fs).count_rows() == 100
    assert pq.read_table(f"{top}/t", filesystem=fs, columns=["x"]).num_rows == 100


def test_polars(way: str, fs: Any, base: str) -> None:
    frame = pl.from_pandas(FRAME)
    with fs.open(f"{base}/x.parquet", "wb") as file:
        frame.write_parquet(file)
    with fs.open(f"{base}/lazy.parquet", "wb") as file:
        frame.lazy().filter(pl.col("n") < 10).sink_parquet(file)
    with fs.open(f"{base}/x.parquet") as file:
        assert pl.read_parquet(file).equals(frame)
    with fs.open(f"{base}/x.parquet") as file:
        assert pl.scan_parquet(file).filter(pl.col("n") > 97).select("n").collect()["n"].to_list() == [98, 99]
    FRAME.to_parquet(f"{base}/part", partition_cols=["day"])
    dataset = pads.dataset(f"fsspec+{base}/part", partitioning="hive")
    assert pl.scan_pyarrow_dataset(dataset).filter(pl.col("day") == "mo").collect().height == 50
    FRAME.to_csv(f"{base}/x.csv", index=False)
    with fs.open(f"{base}/x.csv") as file:
        assert pl.read_csv(file).height == 100


def test_duckdb(way: str, fs: Any, base: str) -> None:
    with duckdb.connect() as db:
        db.register_filesystem(fs)
        db.register("frame", FRAME)
        db.sql(f"copy (from frame) to '{base}/x.parquet'")
        db.sql(f"copy (from frame) to '{base}/x.csv'")
        db.sql(f"copy (from frame) to '{base}/part' (format parquet, partition_by (day), overwrite_or_ignore)")
        assert db.sql(f"select sum(n) from '{base}/x.parquet'").fetchall() == [(4950,)]
        assert db.sql(f"select sum(n) from '{base}/x.csv'").fetchall() == [(4950,)]
        query = (
            f"select count(*) from read_parquet('{base}/part/*/*.parquet', hive_partitioning = true) where day = 'tu'"
        )
        assert db.sql(query).fetchall() == [(50,)]
        with pytest.raises(Exception, match="No files found"):
            db.sql(f"select * from '{base}/none/*.parquet'")


@pytest.mark.filterwarnings("ignore:The inplace keyword")  # of Dask's own calls to pandas 3
def test_dask(way: str, base: str) -> None:
    frame = dd.from_pandas(FRAME, npartitions=3)
    with dask.config.set(scheduler="threads", num_workers=2):
        frame.to_parquet(f"{base}/t")
        assert dd.read_parquet(f"{base}/t").n.sum().compute() == 4950
        frame.to_parquet(f"{base}/t", overwrite=True, partition_on=["day"])
        assert len(dd.read_parquet(f"{base}/t", filters=[("day", "==", "tu")])) == 50
        frame.to_csv(f"{base}/c-*.csv", index=False)
        assert dd.read_csv(f"{base}/c-*.csv").n.sum().compute() == 4950


@pytest.mark.slow
def test_dask_with_processes(base: str) -> None:
    FRAME.to_parquet(f"{base}/part", partition_cols=["day"])
    assert dd.read_parquet(f"{base}/part").n.sum().compute(scheduler="processes", num_workers=2) == 4950


def test_a_footer_takes_three_requests_at_most(base: str, fs: Any, top: str, requests: Requests) -> None:
    FRAME.to_parquet(f"{base}/x.parquet")
    for path in ("direct", "proxied"):
        chosen = fsspec.filesystem("lakebed", data_path=path)
        chosen.exists(f"{top}/x.parquet")
        for cold in (True, False):
            requests.clear()
            with chosen.open(f"{top}/x.parquet") as file:
                assert pq.ParquetFile(file).metadata.num_rows == 100
            assert len(requests.names) <= (2 if cold else 1), requests.names
    LakebedLater = fsspec.filesystem("lakebed", skip_instance_cache=True, retries=4)
    requests.clear()
    assert pads.dataset(f"{top}/x.parquet", filesystem=LakebedLater).schema.names == ["day", "n", "x"]
    assert len(requests.names) <= 5, requests.names  # pyarrow asks twice by itself whether the file is there


def test_only_listings_of_commits_are_cached(
    base: str, fs: Any, top: str, repo: lakebed.Repository, requests: Requests
) -> None:
    FRAME.to_parquet(f"{base}/t/x.parquet")
    commit = repo.branch("main").commit("one")
    repo.branch(commit.id[::-1]).create("main")  # a name like that of a commit
    fs.open(f"{base}/t/x.parquet").close()  # the directory is asked for once
    for ref, asked in ((commit.id, 0), ("main", 2), (commit.id[::-1], 2)):
        path = f"{repo.id}/{ref}/t/x.parquet"
        assert fs.find(f"{repo.id}/{ref}/t") == [path]
        requests.clear()
        assert fs.isfile(path)
        assert fs.open(path).read(4) == b"PAR1"
        assert len(requests.names) == asked, ref
    fs.pipe(f"{top}/t/x.parquet", b"new")
    fs.pipe(f"{repo.id}/{commit.id[::-1]}/t/x.parquet", b"new")
    assert fs.info(f"{top}/t/x.parquet")["size"] == fs.info(f"{repo.id}/{commit.id[::-1]}/t/x.parquet")["size"] == 3
    assert fs.open(f"{repo.id}/{commit.id}/t/x.parquet").read(4) == b"PAR1"


def test_columns_and_filters_reach_the_ranges(top: str, base: str, requests: Requests) -> None:
    table = pa.table({"key": pa.array(range(100_000)), "wide": [f"{n:060d}" for n in range(100_000)]})
    fs = fsspec.filesystem("lakebed", data_path="proxied")
    for day in range(3):
        with fs.open(f"{top}/t/day={day}/x.parquet", "wb") as file:
            pq.write_table(table, file, row_group_size=10_000, compression="none", use_dictionary=False)
    size = fs.du(f"{top}/t")
    dataset = pads.dataset(f"{top}/t", filesystem=fs, partitioning="hive", format="parquet")
    requests.clear()
    wanted = (pads.field("day") == 1) & (pads.field("key") >= 95_000)
    assert dataset.to_table(columns=["key"], filter=wanted).num_rows == 5000
    assert requests.bytes < size / 30
    assert len(requests.names) <= 4, requests.names
    requests.clear()
    assert len(pd.read_parquet(f"{base}/t", columns=["key"], storage_options={"data_path": "proxied"})) == 300_000
    assert requests.bytes < size / 4


def test_a_transaction_of_a_whole_data_set(fs: Any, top: str, base: str, repo: lakebed.Repository) -> None:
    with fs.transaction:
        FRAME.to_parquet(f"{base}/pandas", partition_cols=["day"])
        dd.from_pandas(FRAME, npartitions=2).to_parquet(f"{base}/dask", write_index=False)
        assert repo.ref("main").list().all() == []
        assert len(pd.read_parquet(f"{base}/pandas")) == 100
    assert len(repo.branch("main").log().all()) == 2
    assert len(pd.read_parquet(f"{base}/dask")) == len(pd.read_parquet(f"lakebed://{repo.id}/main@/pandas")) == 100
