"""Contracts on files of every kind: what passes, what is refused, and the sentence that says why."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from lakebed_hooks import HookError
from lakebed_hooks.contracts import parse_contract
from lakebed_hooks.contracts.uniqueness import check_unique
from lakebed_hooks.contracts.vocabulary import Unique
from lakebed_hooks.snapshots import FilesSnapshot

from tests.hooks.contracts.checking import checked, parquet, refusals


def of(table: Mapping[str, Any] | pa.Table, *checks: Mapping[str, Any], **properties: Any) -> list[str]:
    """The refusals of one Parquet file, without its name."""
    found = refusals(checked({"t/a.parquet": parquet(table)}, *checks, **properties))
    return [one.removeprefix("t/a.parquet: ") for one in found]


def test_a_renamed_column_is_missing_and_named() -> None:
    schema = {"order_id": "int64", "amount": "decimal(12,2)", "note": "string"}
    found = of({"orderid": [1], "amount": [1.5], "note": ["a"]}, schema=schema, additional="refuse")
    assert found == [
        "schema(order_id) refused: has no column 'order_id': did you mean 'orderid'?",
        "schema(amount) refused: 'amount' is double, not decimal(12,2)",
        "schema(orderid) refused: has the column 'orderid', which the schema does not name",
    ]


def test_nested_columns_have_paths() -> None:
    rows = [{"city": "Rome", "zip": None}, None, {"city": None, "zip": 1}]
    table = pa.table({"address": rows, "tags": [[1], [None], []]})
    found = of(
        table,
        {"not_null": ["address", "address.city", "address.street", "tags", "tags.element"]},
        {"range": {"address.zip": [2, 9], "address": [1, 2]}},
        schema={"address.city": "string", "address": "struct", "tags": "list(int64)"},
        additional="refuse",
    )
    assert found == [
        "not_null(address) refused: 1 value of 'address' is null, the first in row 1",
        "not_null(address.city) refused: 2 values of 'address.city' are null, the first in row 1",
        "not_null(address.street) refused: has no column 'address.street': did you mean 'address.city'?",
        "not_null(tags.element) refused: 'tags.element' is inside of a list, where a row has several values",
        "range(address.zip) refused: 1 value of 'address.zip' is outside of 2 to 9, the first in row 2, which is 1",
        "range(address) refused: 'address' is struct<city: string, zip: int64>, which has no single values",
    ]


def test_a_column_with_a_dot_in_its_name() -> None:
    table = pa.table({"a.b": [1, None], "a": [{"b": 1}, {"b": 2}]})
    assert of(table, {"not_null": ["a.b"]}) == ["not_null(a.b) refused: 1 value of 'a.b' is null, the first in row 1"]


def test_two_columns_of_one_name() -> None:
    table = pa.Table.from_arrays([pa.array([1]), pa.array([None], pa.int64())], names=["x", "x"])
    assert of(table, {"not_null": ["x"]}, {"unique": ["x"]}, schema={"x": "int64"}) == [
        "schema(x) refused: has two columns 'x'",
        "not_null(x) refused: has two columns 'x'",
        "unique(x) refused: 'x' has no single value in each row",
    ]


def test_nan_is_no_null_and_no_value() -> None:
    table = pa.table({"x": [1.0, float("nan"), None], "h": pa.array([1.0, float("nan"), 7.0], pa.float16())})
    assert of(table, {"not_nan": ["x"]}, {"not_null": ["x"]}, {"range": {"x": [0, 5], "h": [0, 5]}}) == [
        "not_nan(x) refused: 1 value of 'x' is NaN, the first in row 1",
        "not_null(x) refused: 1 value of 'x' is null, the first in row 2",
        "range(h) refused: 1 value of 'h' is outside of 0 to 5, the first in row 2, which is 7.0",
    ]
    assert of(table, {"accepted": {"x": [1]}}, {"unique": ["x"]}) == []


def test_ranges_of_decimals_are_exact() -> None:
    table = pa.table({"x": pa.array([Decimal("0.10"), Decimal("0.11")], pa.decimal128(12, 2))})
    assert of(table, {"range": {"x": [0.1, 0.11]}}) == []
    assert of(table, {"range": {"x": [0.1, 0.105]}}) == [
        "range(x) refused: 1 value of 'x' is outside of 0.1 to 0.105, the first in row 1, which is 0.11"
    ]


def test_ranges_of_times_know_zones() -> None:
    moments = [datetime.datetime(2026, 1, 1, hour, tzinfo=datetime.UTC) for hour in (0, 1)]
    table = pa.table({"x": pa.array(moments, pa.timestamp("us", "Europe/Rome")), "d": [datetime.date(2026, 1, 1)] * 2})
    assert of(table, {"range": {"x": ["2026-01-01T01:00:00+01:00", "2026-01-01T01:00:00Z"]}}) == []
    assert of(table, {"range": {"d": [datetime.date(2026, 1, 1), "2026-01-01"]}}) == []
    [said] = of(table, {"range": {"x": ["2026-01-01T01:00:00", None]}})
    assert "the first in row 0, which is 2026-01-01 01:00:00+01:00" in said


def test_ranges_of_other_types() -> None:
    table = pa.table({"s": ["b", "z"], "b": [True, False], "i": pa.array([1, 200], pa.uint8())})
    assert of(table, {"range": {"s": ["a", "c"], "b": [0, 1], "i": [0, 1e3]}}, {"range": {"i": ["a", "b"]}}) == [
        "range(s) refused: 1 value of 's' is outside of a to c, the first in row 1, which is z",
        "range(b) refused: 'b' is bool, which cannot be compared with 0 to 1",
        "range(i) refused: 'i' is uint8, which cannot be compared with 'a' to 'b'",
    ]


def test_accepted_values_of_types() -> None:
    table = pa.table(
        {
            "s": pa.array(["new", "paid", "lost", None]).dictionary_encode(),
            "i": pa.array([1, 2, 3, None], pa.int8()),
            "d": pa.array([Decimal("1.50"), Decimal("2.00"), None, None], pa.decimal128(5, 2)),
            "b": [True, True, False, None],
            "t": [datetime.date(2026, 1, 1), None, None, None],
        }
    )
    assert of(
        table,
        {"accepted": {"s": ["new", "paid"], "i": [1, 2, 1000], "d": [1.5, 2], "b": [True], "t": ["2026-01-02"]}},
        {"accepted": {"i": ["x"]}},
    ) == [
        "accepted(s) refused: 1 value of 's' is not accepted, the first in row 2, which is lost",
        "accepted(i) refused: 1 value of 'i' is not accepted, the first in row 2, which is 3",
        "accepted(b) refused: 1 value of 'b' is not accepted, the first in row 2, which is False",
        "accepted(t) refused: 1 value of 't' is not accepted, the first in row 0, which is 2026-01-01",
        "accepted(i) refused: 'i' is int8, which has none of the accepted values",
    ]


def test_forbidden_columns_at_any_depth_and_in_any_case() -> None:
    table = pa.table({"USER_Email": [1], "a": [{"user_id": 1, "city": "x"}], "b": [1]})
    assert of(table, {"forbid_columns": ["user_*", "!user_id"]}) == [
        "forbid_columns refused: has the forbidden column 'USER_Email'"
    ]
    assert of(table, {"forbid_columns": ["user_*"]}) == [
        "forbid_columns refused: has the forbidden columns 'USER_Email', 'a.user_id'"
    ]


def test_unique_across_files_with_rows() -> None:
    files = {
        "t/a.parquet": parquet({"id": [1, 2, None], "day": ["x", "y", "x"]}),
        "t/b.parquet": parquet({"id": pa.array([3, 2, None], pa.int32()), "day": ["x", "y", "x"]}),
    }
    report = checked(files, {"unique": ["id", ["id", "day"], "day"]})
    assert refusals(report) == [
        "t/b.parquet: unique(id) refused: 1 value of 'id' occurs again, the first is 2 in row 1 and in row 1"
        " of t/a.parquet",
        "t/b.parquet: unique(id, day) refused: 1 value of 'id, day' occurs again, the first is (2, 'y') in row 1"
        " and in row 1 of t/a.parquet",
        "t/a.parquet: unique(day) refused: 4 values of 'day' occur again, the first is x in row 2 and in row 0",
    ]
    assert [one.values[0].value for one in report.refused] == [2, "(2, 'y')", "x"]


def test_zeros_of_both_signs_are_equal() -> None:
    assert len(of({"x": [0.0, -0.0]}, {"unique": ["x"]})) == 1


def test_too_many_values_for_unique() -> None:
    snapshot = FilesSnapshot({"t/a.parquet": parquet({"x": list(range(100))})})
    contract = parse_contract({"path": "t/**", "checks": [{"unique": ["x"]}]}, "a.yaml", 1)
    from lakebed_hooks.contracts.file_checks import FileChecker

    opened = FileChecker(contract, snapshot).opened
    with pytest.raises(HookError, match="too many values for the memory of a hook: more than 99"):
        list(check_unique(Unique(("x",)), snapshot.files("candidate", ""), opened, 99))


ROWS: list[tuple[dict[str, Any], str]] = [
    ({"min": 6}, "the files have 5 rows, at least 6"),
    ({"max": 4}, "the files have 5 rows, at most 4"),
    ({"max_change": 0.5}, "the files have 5 rows, -54.5% of the 11 rows of the destination, at most 50.0%"),
    ({"min": 5, "max": 5, "max_change": 0.6}, ""),
]


@pytest.mark.parametrize(("rows", "said"), ROWS)
def test_row_counts_are_about_all_files_also_unchanged_ones(rows: dict[str, Any], said: str) -> None:
    same = parquet({"x": [1, 2, 3]})
    files = {"t/same.parquet": same, "t/new.parquet": parquet({"x": [1, 2]})}
    report = checked(files, {"rows": rows}, base={"t/same.parquet": same, "t/old.parquet": parquet({"x": [1] * 8})})
    assert refusals(report) == ([f"rows refused: {said}"] if said else [])
    assert report.files == 1


def test_the_first_files_have_no_change_of_rows() -> None:
    assert of({"x": [1]}, {"rows": {"max_change": 0.1}}) == []


def test_names_and_sizes() -> None:
    files = {"t/a.parquet": b"x" * 10, "t/b.csv.gz": b"x", "t/c": b"", "t/_SUCCESS": b"", "t/_d=1/.hidden": b""}
    found = checked(files, {"formats": ["parquet"], "min_file_size": 2, "max_file_size": 9, "max_files": 2})
    assert refusals(found) == [
        "t/a.parquet: max_file_size refused: has 10 bytes, more than 9",
        "t/b.csv.gz: formats refused: the format is csv, not parquet",
        "t/b.csv.gz: min_file_size refused: has 1 bytes, fewer than 2",
        "t/c: formats refused: the format is other, not parquet",
        "t/c: min_file_size refused: has 0 bytes, fewer than 2",
        "max_files refused: t/** has more than 2 files",
    ]


def test_only_changed_files_are_read() -> None:
    bad = parquet({"x": [None]})
    files = {"t/same.parquet": bad, "t/changed.parquet": bad, "u/other.parquet": bad}
    base = {"t/same.parquet": bad, "t/changed.parquet": b"", "t/gone.parquet": bad}
    check = {"not_null": ["x"]}
    assert [one.file for one in checked(files, check, base=base).refused] == ["t/changed.parquet"]
    found = checked(files, check, base=base, only_changed=False).refused
    assert [one.file for one in found] == ["t/changed.parquet", "t/same.parquet"]


def test_a_path_that_matches_nothing_passes() -> None:
    report = checked({"u/a.parquet": b""}, {"not_null": ["x"]})
    assert (report.outcome().state, report.files) == ("passed", 0)


def test_the_outcome_is_json_with_the_refusals_first() -> None:
    files = {"t/a.parquet": parquet({"x": [1, 2]}), "t/b.parquet": parquet({"x": [b"\xff" * 300, None]})}
    outcome = checked(files, {"not_null": ["x"]}).outcome()
    assert outcome.message == (
        "the contract for 't/**' is broken: t/b.parquet: not_null(x) refused: 1 value of 'x' is null, the first in"
        " row 1"
    )
    assert list(outcome.details) == [
        {
            "file": "t/b.parquet", "check": "not_null", "column": "x", "state": "refused",
            "message": "1 value of 'x' is null, the first in row 1", "rows": 2, "bad": 1,
            "values": [{"row": 1, "value": None}], "source": "scan",
        },
        {
            "file": "t/a.parquet", "check": "not_null", "column": "x", "state": "passed", "message": "", "rows": 2,
            "bad": 0, "values": [], "source": "footer",
        },
    ]  # fmt: skip


def test_many_files_keep_a_bounded_report() -> None:
    bad = parquet({"x": [None]})
    outcome = checked({f"t/{number:04}.parquet": bad for number in range(700)}, {"not_null": ["x"]}).outcome()
    assert len(outcome.details) == 501
    assert outcome.details[-1]["message"] == "200 more results are not listed"
    assert outcome.message.endswith("(and 699 more results in 700 files)")
