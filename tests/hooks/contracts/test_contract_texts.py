"""Contracts on CSV and JSON lines files."""

from __future__ import annotations

import gzip
from typing import Any

import pytest

from tests.hooks.contracts.checking import checked, refusals

SCHEMA = {"id": "int64", "amount": "decimal(6,2)", "day": "date", "note": {"type": "string"}}
CHECKS: list[dict[str, Any]] = [
    {"not_null": ["id"]},
    {"range": {"amount": [0, 10]}},
    {"unique": ["id"]},
    {"accepted": {"note": ["a", "b"]}},
    {"rows": {"min": 3}},
]
CSV = b"id,amount,day,note\n1,9.50,2026-01-01,a\n,10.01,,\n1,3,2026-01-02,c\n"
JSON = (
    b'{"id": 1, "amount": "9.50", "note": "a"}\n'
    b'{"amount": "10.01"}\n'
    b'{"id": 1, "amount": "3", "note": "c", "day": null}\n'
)


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("t/a.csv", CSV),
        ("t/a.csv.gz", gzip.compress(CSV)),
        ("t/a.tsv", CSV.replace(b",", b"\t")),
        ("t/a.jsonl", JSON),
        ("t/a.ndjson.gz", gzip.compress(JSON)),
    ],
    ids=["csv", "csv.gz", "tsv", "jsonl", "ndjson.gz"],
)
def test_values_of_text_files(name: str, data: bytes) -> None:
    assert [one.removeprefix(f"{name}: ") for one in refusals(checked({name: data}, *CHECKS, schema=SCHEMA))] == [
        "not_null(id) refused: 1 value of 'id' is null, the first in row 1",
        "range(amount) refused: 1 value of 'amount' is outside of 0 to 10, the first in row 1, which is 10.01",
        "accepted(note) refused: 1 value of 'note' is not accepted, the first in row 2, which is c",
        "unique(id) refused: 1 value of 'id' occurs again, the first is 1 in row 2 and in row 0",
    ]


BAD: dict[str, tuple[str, bytes, str]] = {
    "no number": ("t/a.csv", b"id\n1\nx\n", "cannot be read: In CSV column #0: Row #3: CSV conversion error to int64"),
    "missing column": ("t/a.csv", b"idd\n1\n", "has no column 'id': did you mean 'idd'?"),
    "fields": (
        "t/a.csv",
        b"id,b\n1,2\n1,2,3\n",
        "readable refused: cannot be read: CSV parse error: Row #3: Expected 2",
    ),
    "empty": ("t/a.csv", b"", "has no column 'id'"),
    "bytes": ("t/a.csv", b"\xff\xfe\x00", "refused"),
    "no JSON": ("t/a.jsonl", b"{", "readable refused: cannot be read: "),
    "an array": ("t/a.json", b"[1, 2]", "readable refused: cannot be read: "),
    "another type": ("t/a.jsonl", b'{"id": 1}\n{"id": "x"}\n', "readable refused: cannot be read: "),
    "no gzip": ("t/a.csv.gz", b"id\n1\n", "readable refused: cannot be read: "),
    "ORC": ("t/a.orc", b"ORC", "readable refused: is not a Parquet, CSV or JSON lines file"),
    "no format": ("t/a", b"", "readable refused: is not a Parquet, CSV or JSON lines file"),
}


@pytest.mark.parametrize("what", BAD)
def test_bad_text_files_are_refused(what: str) -> None:
    name, data, said = BAD[what]
    found = refusals(checked({name: data}, {"not_null": ["id"]}, schema={"id": "int64"}))
    assert found
    assert all(one.startswith(f"{name}: ") for one in found)
    assert any(said in one for one in found), found


def test_rows_across_blocks_have_their_numbers() -> None:
    data = b"x,y\n" + b"".join(b"%d,%s\n" % (row, b"z" * 100) for row in range(30_000)) + b",z\n"
    [said] = refusals(checked({"t/a.csv": data}, {"not_null": ["x"]}))
    assert said.endswith("1 value of 'x' is null, the first in row 30000")


def test_text_files_count_for_rows_without_a_schema() -> None:
    assert refusals(checked({"t/a.csv": b"a\n1\n2\n", "t/b.jsonl": b'{"a": 1}\n'}, {"rows": {"max": 2}})) == [
        "rows refused: the files have 3 rows, at most 2"
    ]
