"""The reading of contracts: what is accepted, and the errors of what is not."""

from __future__ import annotations

import datetime
import pickle
from typing import Any

import pyarrow as pa
import pytest
from lakebed_hooks import ActionFileError
from lakebed_hooks.contracts import Contract, parse_contract
from lakebed_hooks.contracts.column_types import ColumnType, parse_type
from lakebed_hooks.contracts.vocabulary import (
    Accepted,
    Column,
    FileSize,
    ForbidColumns,
    Formats,
    MaxFiles,
    NotNan,
    NotNull,
    Range,
    Rows,
    Unique,
)

FILE = "_lakebed_actions/orders.yaml"


def parsed(**properties: Any) -> Contract:
    return parse_contract({"path": "orders/**/*.parquet", **properties}, FILE, 7)


def test_the_whole_example_of_the_docs() -> None:
    schema = {"order_id": "int64", "amount": "decimal(12,2)", "note": {"type": "string", "nullable": True}}
    checks = [
        {"not_null": ["order_id"]},
        {"rows": {"min": 1, "max_change": 0.5}},
        {"range": {"amount": [0, 1000000]}},
        {"unique": ["order_id", ["customer", "day"]]},
        {"accepted": {"status": ["new", "paid"]}},
        {"forbid_columns": ["user_*"]},
        {"max_files": 1000, "min_file_size": "1MiB", "max_file_size": 2_000_000_000, "formats": ["parquet"]},
        {"not_nan": "score"},
    ]
    assert parsed(schema=schema, checks=checks, additional="refuse", only_changed=False) == Contract(
        path="orders/**/*.parquet",
        only_changed=False,
        schema=(
            Column("order_id", ColumnType("int64")),
            Column("amount", ColumnType("decimal", ("12", "2"))),
            Column("note", ColumnType("string")),
        ),
        additional=False,
        checks=(
            NotNull("order_id"),
            Rows(1, None, 0.5),
            Range("amount", 0, 1000000),
            Unique(("order_id",)),
            Unique(("customer", "day")),
            Accepted("status", ("new", "paid")),
            ForbidColumns(("user_*",)),
            MaxFiles(1000),
            FileSize("min_file_size", least=1 << 20),
            FileSize("max_file_size", most=2_000_000_000),
            Formats(("parquet",)),
            NotNan("score"),
        ),
    )


def test_only_changed_files_are_the_default_and_columns_may_have_nulls() -> None:
    contract = parsed(schema={"id": "int64"})
    assert (contract.only_changed, contract.additional, contract.checks) == (True, True, ())


@pytest.mark.parametrize("entry", [{"type": "int64", "required": True}, {"type": "int64", "nullable": False}])
def test_a_required_column_has_no_nulls(entry: dict[str, Any]) -> None:
    assert parsed(schema={"id": entry}).checks == (NotNull("id"),)


def test_a_unique_column_and_a_column_of_any_type() -> None:
    contract = parsed(schema={"id": {"unique": True, "description": "the number of the order"}})
    assert contract.checks == (Unique(("id",)),)
    assert contract.schema == (Column("id", None),)


def test_a_range_of_dates() -> None:
    low = datetime.date(2026, 1, 1)
    assert parsed(checks=[{"range": {"day": [low, None]}}]).checks == (Range("day", low, None),)


BAD: dict[str, tuple[dict[str, Any], str]] = {
    "unknown key": ({"cheks": []}, "`properties` of the contract has the unknown key 'cheks': did you mean 'checks'?"),
    "unknown check": ({"checks": [{"not_nul": ["a"]}]}, "`checks[0]` of the contract has the unknown key 'not_nul'"),
    "unknown type": ({"schema": {"a": "int46"}}, "is the unknown type 'int46': did you mean 'int64'?"),
    "unknown key of a column": ({"schema": {"a": {"typ": "int64"}}}, "`schema.a` of the contract has the unknown key"),
    "wrong decimal": ({"schema": {"a": "decimal(2,3)"}}, "the scale at most the precision"),
    "arguments": ({"schema": {"a": "int64(3)"}}, "int64 takes no such arguments"),
    "deep list": ({"schema": {"a": "list(" * 300 + ")" * 300}}, "is the unknown type"),
    "both": ({"schema": {"a": {"required": True, "nullable": True}}}, "is `required` and `nullable`"),
    "schema is a list": ({"schema": ["a"]}, "`schema` of the contract must be a mapping, not list"),
    "a key of YAML's `on`": ({"schema": {True: "int64"}}, "which is not text: put it in quotes"),
    "nothing": ({}, "has neither `schema` nor `checks`"),
    "empty checks": ({"checks": []}, "`checks` of the contract has 0 items"),
    "checks is a mapping": ({"checks": {"not_null": ["a"]}}, "`checks` of the contract must be a list, not dict"),
    "range upside down": ({"checks": [{"range": {"a": [2, 1]}}]}, "`checks[0].range.a` of the contract is [2, 1]"),
    "range of two kinds": ({"checks": [{"range": {"a": [2, "b"]}}]}, "these are of different types"),
    "range without ends": ({"checks": [{"range": {"a": [None, None]}}]}, "must be the least and the greatest value"),
    "range of three": ({"checks": [{"range": {"a": [1, 2, 3]}}]}, "must be the least and the greatest value"),
    "NaN": ({"checks": [{"range": {"a": [0, float("nan")]}}]}, "must be a number, a text, a boolean or a date"),
    "accepted null": ({"checks": [{"accepted": {"a": [None]}}]}, "not nothing"),
    "rows": ({"checks": [{"rows": {"mni": 1}}]}, "has the unknown key 'mni': did you mean 'min'?"),
    "no rows": ({"checks": [{"rows": {}}]}, "needs one of min, max, max_change"),
    "rows upside down": ({"checks": [{"rows": {"min": 2, "max": 1}}]}, "has min 2, which is above max 1"),
    "negative change": ({"checks": [{"rows": {"max_change": -1}}]}, "such as 0.5 for a half"),
    "size": ({"checks": [{"max_file_size": "1 megabyte"}]}, "must be a size such as 4096 or 1MiB"),
    "boolean size": ({"checks": [{"max_file_size": True}]}, "must be a size"),
    "format": ({"checks": [{"formats": ["parket"]}]}, "not 'parket': did you mean 'parquet'?"),
    "glob": ({"checks": [{"forbid_columns": ["[b-a]"]}]}, "the range b-a ends before it begins"),
    "path": ({"path": "[x", "checks": [{"max_files": 1}]}, "`path` of the contract cannot be used"),
    "path that excludes": ({"path": "!x", "checks": [{"max_files": 1}]}, "`path` of the contract must select files"),
    "no path": ({"path": None, "checks": [{"max_files": 1}]}, "`path` of the contract must be a text"),
    "additional": ({"additional": "refuse", "checks": [{"max_files": 1}]}, "is `refuse` without a `schema`"),
    "additional typo": ({"additional": "refused", "schema": {"a": "int8"}}, "did you mean 'refuse'?"),
    "only_changed": ({"only_changed": "yes", "checks": [{"max_files": 1}]}, "must be true or false, not 'yes'"),
    "too many": ({"checks": [{"max_files": 1}] * 201}, "has 201 items: give 1 to 200"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_contract_is_one_sentence_with_its_file_line_and_field(name: str) -> None:
    properties, said = BAD[name]
    with pytest.raises(ActionFileError) as raised:
        parsed(**properties)
    message = raised.value.message
    assert message.startswith(f"{FILE} line 7: `")
    assert said in message
    assert "\n" not in message
    assert len(message) < 500
    assert pickle.loads(pickle.dumps(raised.value)).line == 7


FITS: list[tuple[str, pa.DataType, bool]] = [
    ("int64", pa.int64(), True),
    ("bigint", pa.int64(), True),
    ("int64", pa.int32(), False),
    ("int64", pa.uint64(), False),
    ("integer", pa.uint8(), True),
    ("number", pa.decimal128(3, 1), True),
    ("double", pa.float64(), True),
    ("float", pa.float64(), False),
    ("decimal(12,2)", pa.decimal128(12, 2), True),
    ("decimal( 12 , 2 )", pa.decimal128(12, 2), True),
    ("decimal(12,2)", pa.decimal128(13, 2), False),
    ("decimal(12)", pa.decimal128(12, 0), True),
    ("decimal", pa.decimal256(70, 0), True),
    ("string", pa.large_string(), True),
    ("string", pa.dictionary(pa.int8(), pa.string()), True),
    ("string", pa.binary(), False),
    ("binary", pa.binary(4), True),
    ("date", pa.date32(), True),
    ("timestamp", pa.timestamp("ns", "Europe/Rome"), True),
    ("timestamp(us)", pa.timestamp("us", "UTC"), True),
    ("timestamp(us)", pa.timestamp("ms"), False),
    ("timestamp(us, UTC)", pa.timestamp("us", "Europe/Rome"), True),
    ("timestamp(us, UTC)", pa.timestamp("us"), False),
    ("timestamp(us, none)", pa.timestamp("us"), True),
    ("time(us)", pa.time64("us"), True),
    ("list(int32)", pa.list_(pa.int32()), True),
    ("list(int32)", pa.large_list(pa.int64()), False),
    ("list(list(string))", pa.list_(pa.list_(pa.string())), True),
    ("array", pa.list_(pa.int8(), 3), True),
    ("struct", pa.struct([("a", pa.int8())]), True),
    ("object", pa.map_(pa.string(), pa.int8()), True),
    ("map", pa.struct([("a", pa.int8())]), False),
    ("boolean", pa.bool_(), True),
    ("float16", pa.float16(), True),
]


@pytest.mark.parametrize(("text", "type_", "fits"), FITS)
def test_types(text: str, type_: pa.DataType, fits: bool) -> None:
    assert parse_type(text).fits(type_) is fits
