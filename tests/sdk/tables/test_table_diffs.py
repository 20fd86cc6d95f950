"""Rows that differ between two states of a table: against a dictionary, through buckets, and keys that are none."""

from __future__ import annotations

import math
import pickle
import uuid
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import lakebed
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from lakebed._tables import compare as tables_compare
from lakebed._tables.compare_results import TableDiff
from lakebed._tables.location import Place
from lakebed_tables.row_diff import BUCKET

from tests.sdk.doors import Door
from tests.sdk.live import KEY, SECRET, serving
from tests.support.sizes import examples

WHERE = Place("repo", "main", "t.parquet")


class Held:
    """A table that is ready to be read, as the comparison wants it."""

    def __init__(self, table: pa.Table) -> None:
        self.schema = table.schema
        self._table = table

    def batches(self) -> Iterator[pa.RecordBatch]:
        yield from self._table.to_batches(max_chunksize=7)


def compare(before: pa.Table | None, after: pa.Table | None, local: Path, *key: str, size: int = 0) -> TableDiff:
    left: Any = None if before is None else Held(before)
    right: Any = None if after is None else Held(after)
    return tables_compare.compare(left, right, key, WHERE, local, size)


VALUES = st.dictionaries(
    st.tuples(st.integers(0, 12), st.sampled_from(["a", "b", "ü"])),
    st.tuples(st.none() | st.floats(), st.none() | st.lists(st.integers(0, 3), max_size=2)),
    max_size=30,
)
KINDS = {"k": pa.int64(), "w": pa.string(), "x": pa.float64(), "l": pa.list_(pa.int64())}


def as_table(rows: dict[Any, Any]) -> pa.Table:
    columns = [list(values) for values in zip(*((*key, *row) for key, row in rows.items()), strict=True)] or [[]] * 4
    arrays = [pa.array(values, kind) for values, kind in zip(columns, KINDS.values(), strict=True)]
    return pa.table(arrays, names=list(KINDS))


def same(one: Any, other: Any) -> bool:
    return repr(one) == repr(other) or one == other  # NaN is NaN, and 0.0 is -0.0


@examples(60, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(before=VALUES, after=VALUES, size=st.sampled_from([0, 5 * BUCKET]))
def test_comparisons_agree_with_a_dictionary(
    tmp_path: Path, before: dict[Any, Any], after: dict[Any, Any], size: int
) -> None:
    local = tmp_path / uuid.uuid4().hex
    local.mkdir()
    found = compare(as_table(before), as_table(after), local, "k", "w", size=size)

    def keys(table: pa.Table) -> list[Any]:
        return list(zip(table.column("k").to_pylist(), table.column("w").to_pylist(), strict=True))

    changed = {key for key in before.keys() & after.keys() if not all(map(same, before[key], after[key]))}
    assert keys(found.added) == sorted(after.keys() - before.keys())
    assert keys(found.removed) == sorted(before.keys() - after.keys())
    assert keys(found.changed) == sorted(changed)
    assert bool(found) == (bool(changed) or before.keys() != after.keys())
    for row in found.changed.to_pylist():
        key = row["k"], row["w"]
        differing = [name for name, a, b in zip("xl", before[key], after[key], strict=True) if not same(a, b)]
        assert row["columns"] == differing
        for name, a, b in zip("xl", before[key], after[key], strict=True):
            if name in differing:
                assert same(row[f"{name}_before"], a)
                assert same(row[f"{name}_after"], b)
    every = found.to_arrow()
    assert every.num_rows == found.added.num_rows + found.removed.num_rows + found.changed.num_rows
    assert sorted(set(every.column("change").to_pylist())) == sorted(
        name for name in ("added", "changed", "removed") if getattr(found, name).num_rows
    )
    assert list(local.rglob("*.arrow")) == []


def test_added_removed_and_retyped_columns(tmp_path: Path) -> None:
    before = pa.table({"id": [1, 2], "old": [1, 2], "kind": pa.array([1, 2], pa.int32()), "same": ["a", "b"]})
    after = pa.table({"id": [1, 2], "new": [1, 2], "kind": [1, 9], "same": pa.array(["a", "c"], pa.large_string())})
    found = compare(before, after, tmp_path, "id")
    assert [str(one) for one in found.schema] == ["-old", "kind int32 -> int64", "+new"]
    assert found.changed.to_pylist() == [{"id": 2, "columns": ["same"], "same_before": "b", "same_after": "c"}]
    assert (
        repr(found) == "<TableDiff t.parquet: 0 added, 0 removed, 1 changed; columns: -old, kind int32 -> int64, +new>"
    )
    assert "same_before" in found._repr_html_()
    again = pickle.loads(pickle.dumps(found))
    assert again.changed.equals(found.changed)


def test_added_or_deleted_table(tmp_path: Path) -> None:
    table = pa.table({"id": [1, 2], "x": [1, 2]})
    new, gone = compare(None, table, tmp_path, "id"), compare(table, None, tmp_path, "id")
    assert (new.added.to_pydict(), new.removed.num_rows) == (table.to_pydict(), 0)
    assert (gone.removed.to_pydict(), gone.added.num_rows) == (table.to_pydict(), 0)
    assert [str(one) for one in new.schema] == ["+id", "+x"]
    assert [str(one) for one in gone.schema] == ["-id", "-x"]


@pytest.mark.parametrize(
    "values",
    [["a", "b"], [Decimal("1.50"), Decimal("2.00")], [True, False], [b"\x00", b"\x01"],
     [pd.Timestamp(0), pd.Timestamp(1)], pd.Categorical(["a", "b"])],
    ids=["text", "decimal", "bool", "bytes", "time", "category"],
)  # fmt: skip
@pytest.mark.parametrize("size", [0, 3 * BUCKET], ids=["memory", "buckets"])
def test_keys_of_many_types(tmp_path: Path, values: Any, size: int) -> None:
    before = pa.Table.from_pandas(pd.DataFrame({"id": values, "x": [1, 2]}))
    after = pa.Table.from_pandas(pd.DataFrame({"id": values, "x": [1, 3]}))
    found = compare(before, after, tmp_path, "id", size=size)
    assert (found.added.num_rows, found.removed.num_rows, found.changed.num_rows) == (0, 0, 1)


@pytest.mark.parametrize("size", [0, 3 * BUCKET], ids=["memory", "buckets"])
@pytest.mark.parametrize(
    ("before", "after", "key", "problem"),
    [
        ({"id": [1, 1]}, {"id": [1]}, ["id"], r"not unique in the state before: {'id': 1} is in 2 rows"),
        ({"id": [1]}, {"id": [2, 2, 2]}, ["id"], r"not unique in the state after: {'id': 2} is in 3 rows"),
        ({"id": [1]}, {"id": [2, None]}, ["id"], "'id' is null in some rows of the state after"),
        ({"id": [math.nan]}, {"id": [1.0]}, ["id"], "'id' is null in some rows of the state before"),
        ({"id": [1]}, {"id": ["1"]}, ["id"], "has another type: int64 before, string after"),
        ({"id": [1]}, {"no": [1]}, ["id"], r"no key column \['id'\] in the state after: its columns are \['no'\]"),
        ({"id": [[1]]}, {"id": [[1]]}, ["id"], "cannot be a key"),
        ({"id": [1]}, {"id": [1]}, [], "must name columns"),
        ({"id": [1]}, {"id": [1]}, ["id", "id"], "each once"),
    ],
)
def test_invalid_keys_are_refused(
    tmp_path: Path, before: dict[str, Any], after: dict[str, Any], key: list[str], problem: str, size: int
) -> None:
    with pytest.raises(lakebed.InvalidRequestError, match=rf"diff\.table lakebed://repo/main/t\.parquet: .*{problem}"):
        compare(pa.table(before), pa.table(after), tmp_path, *key, size=size)


# through the doors


@pytest.fixture(scope="module")
def endpoint(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with serving(tmp_path_factory.mktemp("server")) as address:
        yield address


@pytest.fixture
def live(door: Door, endpoint: str) -> Any:
    def run(body: Any) -> None:
        async def with_repository(lake: Any) -> None:
            name = f"r{uuid.uuid4().hex[:12]}"
            await body(await lake.repository(name).create(f"local://{name}"))

        door.run(with_repository, endpoint=endpoint, key=KEY, secret=SECRET, quick=False)

    return run


def rows(**changes: int) -> pd.DataFrame:
    values = {**{f"k{n}": n for n in range(4)}, **changes}
    return pd.DataFrame({"id": list(values), "n": list(values.values())})


def counts(found: TableDiff) -> tuple[int, int, int]:
    return found.added.num_rows, found.removed.num_rows, found.changed.num_rows


@pytest.mark.slow
def test_every_diff_has_its_table(live: Any) -> None:
    async def body(repo: Any) -> None:
        main = repo.branch("main")
        await main.write_parquet("t.parquet", rows(), message="base")
        dev = await repo.branch("dev").create("main")
        await dev.write_parquet("t.parquet", rows(k1=9, k7=7))
        uncommitted = await dev.uncommitted().table("t.parquet", key="id")
        assert counts(uncommitted) == (1, 0, 1)
        assert uncommitted.changed.to_pylist() == [{"id": "k1", "columns": ["n"], "n_before": 1, "n_after": 9}]
        assert not await main.diff(dev).table("t.parquet", key="id")  # a diff is about commits
        await dev.commit("on dev")
        assert counts(await main.diff(dev).table("t.parquet", key=["id"])) == (1, 0, 1)
        assert counts(await dev.changes_since("dev~1").table("t.parquet", key="id")) == (1, 0, 1)
        await main.write_parquet("t.parquet", rows()[1:], message="on main")
        assert counts(await main.diff(dev).table("t.parquet", key="id")) == (1, 0, 1)  # from the common ancestor
        assert counts(await main.diff(dev, two_dot=True).table("t.parquet", key="id")) == (2, 0, 1)
        assert counts(await dev.diff(main, two_dot=True).table("t.parquet", key="id")) == (0, 2, 1)
        async with dev.workspace("w") as ws:
            await ws.write_parquet("t.parquet", rows(k1=9))
            assert counts(await ws.changes().table("t.parquet", key="id")) == (0, 1, 0)
            await ws.delete("t.parquet")
            assert counts(await ws.changes().table("t.parquet", key="id")) == (0, 5, 0)
            await ws.revert()
        with pytest.raises(FileNotFoundError, match=r"nothing\.parquet: there is no \.parquet file"):
            await main.diff(dev).table("nothing.parquet", key="id")

    live(body)


@pytest.mark.slow
def test_only_files_that_differ_are_read(live: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []

    async def body(repo: Any) -> None:
        main = repo.branch("main")
        table = pa.table({"k": np.repeat(np.arange(5), 4), "id": range(20), "n": 0 * np.arange(20)})
        await main.write_parquet("t", table, partition_by="k", message="base")
        changed = table.slice(4, 4).set_column(2, "n", pa.array([0, 0, 1, 1]))
        await main.write_parquet("t", changed, partition_by="k", mode="overwrite_partitions", message="one partition")
        read.clear()
        found = await main.changes_since("main~1").table("t", key=["k", "id"])
        assert counts(found) == (0, 0, 2)
        assert found.changed.column("id").to_pylist() == [6, 7]
        assert {path.split("/")[1] for path in read} == {"k=1"}
        assert not await main.diff("main").table("t", key="id")
        await main.write_parquet("t", pa.table({"k": [9], "id": [9], "n": [9]}), partition_by="k", message="one more")
        added = await main.changes_since("main~1").table("t", key=["k", "id"])
        assert counts(added) == (1, 0, 0)
        assert added.schema == ()  # the table was there before, and had these columns

    from lakebed._tables import reading

    look = reading.Opened._look

    def watched(self: Any, file: Any, fragment: Any, *, keep: bool) -> Any:
        read.append(file.path)
        return look(self, file, fragment, keep=keep)

    monkeypatch.setattr(reading.Opened, "_look", watched)
    live(body)
