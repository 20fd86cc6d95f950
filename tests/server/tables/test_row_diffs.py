"""Pages of the rows that differ, against a comparison of dictionaries."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lakebed_server.tables.messages import DiffRequest, Failed, Format, InvalidTableRequest, State, TableTooLarge
from lakebed_server.tables.parts import Kept
from lakebed_server.tables.pool import error_of
from lakebed_server.tables.worker import answer

from tests.server.tables.support import Files, parquet

Rows = dict[int, str | None]
ROWS = st.dictionaries(st.integers(0, 20), st.sampled_from(["a", "b", None]), max_size=12)


def table(rows: Rows) -> bytes:
    return parquet(
        pa.table({"id": pa.array(list(rows), pa.int64()), "value": pa.array(list(rows.values()), pa.string())})
    )


def diff(
    before: bytes | None,
    after: bytes | None,
    *,
    key: tuple[str, ...] = ("id",),
    format: Format = "parquet",
    **given: Any,
) -> Any:
    """A page of differences as JSON."""
    found = [data for data in (before, after) if data is not None]
    files = Files({f"t/{number}": data for number, data in enumerate(found)})
    states = [State(()) if before is None else State((0,)), State(()) if after is None else State((len(found) - 1,))]
    asked: dict[str, Any] = {
        "before": states[0], "after": states[1], "columns": (), "change": "", "offset": 0, "limit": 200,
        "most_bytes": 64 << 20, **given,
    }  # fmt: skip
    request = DiffRequest(path="t/", format=format, files=files.described("t/"), key=key, **asked)
    made = answer(request, files.fetch, Kept())
    if isinstance(made, Failed):
        raise error_of(made)
    return json.loads(made.body)


def expected(before: Rows, after: Rows) -> list[dict[str, Any]]:
    changed = [
        {"change": "changed", "columns": ["value"], "before": [id, before[id]], "after": [id, after[id]]}
        for id in sorted(before.keys() & after.keys())
        if before[id] != after[id]
    ]
    added = [{"change": "added", "after": [id, after[id]]} for id in sorted(after.keys() - before.keys())]
    removed = [{"change": "removed", "before": [id, before[id]]} for id in sorted(before.keys() - after.keys())]
    return [*changed, *added, *removed]


@given(ROWS, ROWS, st.integers(1, 5))
def test_pages_together_are_all_differences(before: Rows, after: Rows, limit: int) -> None:
    rows = expected(before, after)
    found: list[Any] = []
    while True:
        page = diff(table(before), table(after), offset=len(found), limit=limit)
        found += page["rows"]
        assert [page[change] for change in ("changed", "added", "removed")] == [
            sum(one["change"] == change for one in rows) for change in ("changed", "added", "removed")
        ]
        if not page["has_more"]:
            break
        assert len(page["rows"]) == limit
    assert found == rows
    only = diff(table(before), table(after), change="added")
    assert only["rows"] == [one for one in rows if one["change"] == "added"]


def test_columns_of_one_state_only_and_other_types() -> None:
    before = parquet(
        pa.table({"id": [1, 2], "old": ["x", "y"], "number": pa.array([1, 2], pa.int32()), "same": [1.5, 2]})
    )
    after = parquet(
        pa.table({"id": [1, 3], "new": ["n", "m"], "number": pa.array([1, 2], pa.int64()), "same": [2.5, 2]})
    )
    found = diff(before, after)
    assert found["columns"] == ["id", "new", "number", "same", "old"]
    assert found["schema_changes"] == [
        {"column": "old", "before": "string"},
        {"column": "number", "before": "int32", "after": "int64"},
        {"column": "new", "after": "string"},
    ]
    assert found["rows"] == [
        {
            "change": "changed",
            "columns": ["same"],
            "before": [1, None, None, 1.5, None],
            "after": [1, None, None, 2.5, None],
        },
        {"change": "added", "after": [3, "m", 2, 2.0, None]},
        {"change": "removed", "before": [2, None, 2, 2.0, "y"]},
    ]
    assert diff(before, after, columns=("new",))["columns"] == ["id", "new"]


def test_a_table_that_one_state_does_not_have() -> None:
    assert diff(None, table({1: "a"}))["rows"] == [{"change": "added", "after": [1, "a"]}]
    gone = diff(table({1: "a"}), None)
    assert gone["rows"] == [{"change": "removed", "before": [1, "a"]}]
    assert {one["column"] for one in gone["schema_changes"]} == {"id", "value"}


def test_a_sample_gives_its_schema_and_no_row() -> None:
    files = Files({"t/a": table({1: "a"}), "t/b": table({2: "b"})})
    request = DiffRequest(
        path="t/", format="parquet", files=files.described("t/"), before=State((), 0), after=State((1,)), key=("id",),
        columns=(), change="", offset=0, limit=10, most_bytes=1 << 20,
    )  # fmt: skip
    made = answer(request, files.fetch, Kept())
    assert not isinstance(made, Failed)
    found = json.loads(made.body)
    assert (found["rows"], found["schema_changes"]) == ([{"change": "added", "after": [2, "b"]}], [])


def test_csv_is_compared_too() -> None:
    found = diff(b"id,v\n1,a\n2,b\n", b"id,v\n1,a\n2,c\n", format="csv")
    assert found["rows"] == [{"change": "changed", "columns": ["v"], "before": [2, "b"], "after": [2, "c"]}]


@pytest.mark.parametrize(
    ("key", "message"),
    [
        (("none",), r"no key column \['none'\] in the state before"),
        (("value",), "the key column 'value' is null in some rows"),
        ((), "key must name columns"),
        (("id", "id"), "key must name columns"),
    ],
)
def test_a_key_that_does_not_identify_rows_is_refused(key: tuple[str, ...], message: str) -> None:
    with pytest.raises(InvalidTableRequest, match=message):
        diff(table({1: None}), table({1: "a"}), key=key)


def test_a_key_that_occurs_twice_is_refused() -> None:
    twice = parquet(pa.table({"id": [1, 1], "value": ["a", "b"]}))
    with pytest.raises(InvalidTableRequest, match="the key is not unique in the state after"):
        diff(table({1: "a"}), twice)


def test_more_than_the_bound_is_refused() -> None:
    large = parquet(
        pa.table({"id": list(range(20_000)), "v": [f"{hash(n)}" for n in range(20_000)]}), compression="none"
    )
    with pytest.raises(TableTooLarge, match="narrow by columns or use Python"):
        diff(table({}), large, most_bytes=150_000)


def test_100_000_differences_are_compared_once_for_all_pages() -> None:
    before, after = table(dict.fromkeys(range(100_000), "a")), table(dict.fromkeys(range(100_000), "b"))
    files = Files({"a": before, "b": after})
    kept = Kept()
    for offset in (0, 99_990):
        files.read = 0
        request = DiffRequest(
            path="t", format="parquet", files=files.described(), before=State((0,)), after=State((1,)), key=("id",),
            columns=(), change="", offset=offset, limit=10, most_bytes=64 << 20,
        )  # fmt: skip
        made = answer(request, files.fetch, kept)
        assert not isinstance(made, Failed)
        found = json.loads(made.body)
        assert (found["changed"], len(found["rows"]), found["rows"][0]["before"][0]) == (100_000, 10, offset)
    assert files.read == 0
