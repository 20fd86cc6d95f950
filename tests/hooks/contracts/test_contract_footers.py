"""Answers from footers: equal to a scan of all rows, and safe where a footer is wrong, missing or hostile."""

from __future__ import annotations

import datetime
import io
import math
import os
import signal
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pyarrow.parquet.encryption as encryption
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lakebed_hooks.contracts import parse_contract
from lakebed_hooks.contracts.evaluate import evaluate
from lakebed_hooks.reading import Side
from lakebed_hooks.snapshots import FilesSnapshot

from tests.hooks.contracts.checking import checked, parquet, refusals
from tests.support.sizes import examples, tier

TYPES: dict[str, tuple[pa.DataType, st.SearchStrategy[Any], st.SearchStrategy[Any]]] = {}
_SMALL = st.integers(-5, 5)


def _type(
    name: str, type_: pa.DataType, values: st.SearchStrategy[Any], ends: st.SearchStrategy[Any] | None = None
) -> None:
    TYPES[name] = (type_, values, values if ends is None else ends)


for _bits in (8, 16, 32, 64):
    _edge = st.sampled_from([-(1 << _bits - 1), (1 << _bits - 1) - 1])
    _type(
        f"int{_bits}",
        getattr(pa, f"int{_bits}")(),
        _SMALL | _edge,
        _SMALL | _edge | st.sampled_from([0.5, 1e30, -1e30]),
    )
    _unsigned = st.integers(0, 5) | st.sampled_from([(1 << _bits) - 1, 1 << _bits - 1])
    _type(f"uint{_bits}", getattr(pa, f"uint{_bits}")(), _unsigned, _unsigned | st.sampled_from([-1, 2.5, 1 << 64]))
_FLOATS = st.sampled_from([0.0, -0.0, 0.5, -1.5, 2.0, math.inf, -math.inf, math.nan, 3.0])
_ENDS = st.sampled_from([-2, 0, 0.5, 2, 3.0, -math.inf, math.inf])
_type("float", pa.float32(), _FLOATS, _ENDS)
_type("double", pa.float64(), _FLOATS, _ENDS)
_type("half", pa.float16(), _FLOATS, _ENDS)
_CENTS = st.integers(-500, 500).map(lambda one: Decimal(one).scaleb(-2))
for _precision in (5, 15, 30, 60):
    _kind = pa.decimal128(_precision, 2) if _precision <= 38 else pa.decimal256(_precision, 2)
    _type(f"decimal{_precision}", _kind, _CENTS, _CENTS | st.sampled_from([0.005, 1, -1, 10**70]))
_DAYS = st.integers(-3, 3).map(lambda one: datetime.date(1970, 1, 1) + datetime.timedelta(one))
_type("date32", pa.date32(), _DAYS)
_type("date64", pa.date64(), _DAYS)
_MOMENTS = st.integers(-5, 5).map(lambda one: datetime.datetime(1970, 1, 1) + datetime.timedelta(seconds=one))
for _unit in ("s", "ms", "us", "ns"):
    _type(f"timestamp {_unit}", pa.timestamp(_unit), _MOMENTS, _MOMENTS | _MOMENTS.map(str))
    _zoned = _MOMENTS.map(lambda one: one.replace(tzinfo=datetime.UTC))
    _type(f"timestamp {_unit} UTC", pa.timestamp(_unit, "UTC"), _zoned)
_type(
    "time",
    pa.time64("us"),
    st.integers(0, 9).map(lambda one: datetime.time(0, 0, one)),
    st.integers(0, 9).map("00:00:0{}".format),
)
_type("text", pa.string(), st.text("ab\U0001f600z", max_size=3))


def _outside(value: Any, low: Any, high: Any) -> bool:
    """Whether a value is outside of a range, decided by Python alone."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return False
    low, high = (_like(one, value) for one in (low, high))
    return (low is not None and value < low) or (high is not None and value > high)


def _like(end: Any, value: Any) -> Any:
    """The end of a range in the type of a value."""
    if isinstance(end, str) and isinstance(value, datetime.time):
        return datetime.time.fromisoformat(end)
    if isinstance(end, str) and isinstance(value, datetime.datetime):
        end = datetime.datetime.fromisoformat(end)
    if isinstance(end, float) and isinstance(value, Decimal):
        return Decimal(repr(end))
    if isinstance(value, str) and isinstance(end, str):
        return _Bytes(end)
    return end


class _Bytes(str):
    """Texts in the order of their bytes in UTF-8, as Arrow compares them."""

    def __gt__(self, other: str) -> bool:
        return self.encode() > other.encode()

    def __lt__(self, other: str) -> bool:
        return self.encode() < other.encode()


class Counting(FilesSnapshot):
    """Counts how often files are opened for a scan."""

    scans = 0

    def local(self, side: Side, path: str) -> str | None:
        self.scans += 1
        return None


@st.composite
def cases(draw: st.DrawFn, name: str) -> tuple[pa.Table, Any, Any, dict[str, Any]]:
    type_, values, ends = TYPES[name]
    rows = draw(st.lists(values | st.none(), max_size=12))
    low, high = draw(ends | st.none()), draw(ends)
    try:
        if low is not None and low > high:
            low, high = high, low
    except TypeError:
        low = None
    options = {
        "row_group_size": draw(st.integers(1, 5)),
        "write_statistics": draw(st.booleans()),
        "version": draw(st.sampled_from(["1.0", "2.4", "2.6"])),
        "use_dictionary": draw(st.booleans()),
        "store_schema": draw(st.booleans()),
    }
    return pa.table({"x": pa.array(rows, type_)}), low, high, options


@pytest.mark.parametrize("name", sorted(TYPES))
@examples(40)
@given(data=st.data())
def test_footers_and_a_scan_of_everything_agree(name: str, data: st.DataObject) -> None:
    table, low, high, options = data.draw(cases(name))
    file = parquet(table, **options)
    properties = {"path": "*", "checks": [{"not_null": ["x"]}, {"range": {"x": [low, high]}}]}
    report = evaluate(parse_contract(properties, "a.yaml", 1), FilesSnapshot({"a.parquet": file}))
    nulls, outside = (*report.refused, *report.passed), None
    found = {one.check: one for one in nulls}
    values = pq.read_table(io.BytesIO(file))["x"].to_pylist()
    outside = [row for row, value in enumerate(values) if _outside(_plain(value), low, high)]
    assert found["not_null"].bad == values.count(None)
    assert found["range"].bad == len(outside)
    assert [one.row for one in found["range"].values] == outside[:10]
    assert (found["range"].state, found["range"].rows) == ("refused" if outside else "passed", len(values))


def _plain(value: Any) -> Any:
    return value.to_pydatetime() if hasattr(value, "to_pydatetime") else value


def scans(file: bytes, *checks: dict[str, Any]) -> int:
    snapshot = Counting({"t/a.parquet": file})
    evaluate(parse_contract({"path": "t/*", "checks": list(checks)}, "a.yaml", 1), snapshot)
    return snapshot.scans


def test_a_contract_that_footers_answer_opens_no_file() -> None:
    file = parquet({"x": [1, 2], "d": [datetime.date(2026, 1, 1)] * 2, "n": pa.nulls(2, pa.int8())}, row_group_size=1)
    checks: list[dict[str, Any]] = [
        {"not_null": ["x"], "rows": {"min": 1, "max": 9}, "forbid_columns": ["y"], "max_file_size": "1MiB"},
        {"range": {"x": [1, 2], "d": ["2026-01-01", None], "n": [5, 6]}},
    ]
    assert scans(file, *checks) == 0
    assert scans(file, *checks, {"range": {"x": [1, 1]}}) == 1


def test_statistics_of_texts_are_not_trusted() -> None:
    assert scans(parquet({"x": ["a", "b"]}), {"range": {"x": ["a", "b"]}}) == 1
    assert scans(parquet({"x": ["a", "b"]}), {"not_null": ["x"]}) == 0


STORED_AS_OTHERS: dict[str, tuple[pa.Array, list[Any]]] = {
    "the greatest number as -1": (pa.array([2**64 - 1], pa.uint64()), [-1, 2]),
    "the greatest number of 32 bits": (pa.array([2**32 - 1], pa.uint32()), [-1, 2]),
    "days, not milliseconds": (pa.array([datetime.date(1970, 2, 1)], pa.date64()), ["1970-01-01", "1970-01-02"]),
    "milliseconds, not seconds": (pa.array([1], pa.timestamp("s")), ["1970-01-01 00:10:00", "1970-01-01 00:20:00"]),
    "milliseconds of a day": (pa.array([1], pa.time32("s")), ["00:10:00", "00:20:00"]),
}


@pytest.mark.parametrize("what", STORED_AS_OTHERS)
def test_values_that_footers_store_as_others(what: str) -> None:
    values, ends = STORED_AS_OTHERS[what]
    assert len(checked({"t/a.parquet": parquet({"x": values})}, {"range": {"x": ends}}).refused) == 1


def test_int96_has_no_order() -> None:
    table = pa.table({"x": pa.array([0, 10**9], pa.timestamp("ns"))})
    file = parquet(table, use_deprecated_int96_timestamps=True)
    found = refusals(
        checked({"t/a.parquet": file}, {"range": {"x": ["1970-01-01", "1970-01-01"]}}, schema={"x": "timestamp"})
    )
    assert len(found) == 1
    assert "1 value of 'x' is outside of 1970-01-01 to 1970-01-01, the first in row 1" in found[0]


def test_only_row_groups_that_may_be_bad_are_read() -> None:
    file = parquet({"x": [1, 2, None, 9], "y": ["a"] * 4}, row_group_size=2)
    report = checked({"t/a.parquet": file}, {"not_null": ["x"]}, {"range": {"x": [1, 5]}})
    assert [(one.bad, one.rows, one.values[0].row) for one in report.refused] == [(1, 4, 2), (1, 4, 3)]


@pytest.mark.parametrize("table", [{"x": pa.array([], pa.int64())}, {}])
def test_a_file_without_rows(table: dict[str, Any]) -> None:
    report = checked({"t/a.parquet": parquet(table)}, {"not_null": ["x"]}, {"unique": ["x"]}, {"rows": {"min": 0}})
    assert len(report.refused) == (0 if table else 2)


def test_a_file_without_row_groups() -> None:
    file = io.BytesIO()
    with pq.ParquetWriter(file, pa.schema({"x": pa.int64()})):
        pass
    found = checked({"t/a.parquet": file.getvalue()}, {"not_null": ["x"], "range": {"x": [0, 1]}, "unique": ["x"]})
    assert found.refused == []
    assert {one.rows for one in found.passed} == {0}


def _encrypted(plaintext_footer: bool) -> bytes:
    class Keys(encryption.KmsClient):  # type: ignore[misc]
        def wrap_key(self, key: bytes, name: str) -> bytes:
            return key.hex().encode()

        def unwrap_key(self, key: bytes, name: str) -> bytes:
            return bytes.fromhex(key.decode())

    factory = encryption.CryptoFactory(lambda _: Keys())
    settings_ = encryption.EncryptionConfiguration(
        footer_key="f", column_keys={"c": ["x"]}, plaintext_footer=plaintext_footer
    )
    properties = factory.file_encryption_properties(encryption.KmsConnectionConfig(), settings_)
    return parquet({"x": [1, None], "y": [1, 2]}, encryption_properties=properties)


def test_encrypted_files_are_refused() -> None:
    checks = {"not_null": ["x", "y"], "range": {"x": [0, 1]}}
    assert refusals(checked({"t/a.parquet": _encrypted(False)}, checks)) == [
        "t/a.parquet: readable refused: has an encrypted footer, and Lakebed has no key for it"
    ]
    assert refusals(checked({"t/a.parquet": _encrypted(True)}, checks)) == [
        "t/a.parquet: readable refused: has encrypted columns, and Lakebed has no key for them, or its footer is"
        " damaged"
    ]


GOOD = parquet({"x": [1, 2, 3], "s": ["a", "b", None]})
HOSTILE = {
    "empty": b"",
    "text": b"hello, this is no Parquet",
    "magic only": b"PAR1PAR1",
    "cut": GOOD[:-1],
    "beginning": GOOD[: len(GOOD) // 2],
    "long footer": GOOD[:-8] + (1 << 31).to_bytes(4, "little") + b"PAR1",
    "negative footer": GOOD[:-8] + b"\xff\xff\xff\xff" + b"PAR1",
    "footer of the whole file": GOOD[:-8] + (len(GOOD) - 8).to_bytes(4, "little") + b"PAR1",
    "zero footer": GOOD[:-8] + b"\0\0\0\0PAR1",
    "no pages": b"PAR1" + b"\0" * (len(GOOD) - 600) + GOOD[-596:],
}


@pytest.mark.parametrize("what", HOSTILE)
def test_what_is_no_parquet_file_is_refused_with_its_name(what: str) -> None:
    [said] = refusals(
        checked({"t/a.parquet": HOSTILE[what], "t/b.parquet": GOOD}, {"unique": ["x"]}, schema={"x": "int64"})
    )
    assert said.startswith("t/a.parquet: ")
    assert "\n" not in said
    assert len(said) < 500


def _answer_of_a_fork(data: bytes) -> int:
    """How a process ends that checks a damaged file: 0 as it should, below 0 by a signal."""
    process = os.fork()
    if process == 0:
        os.close(2)
        checks: list[dict[str, Any]] = [
            {"not_null": ["x"]},
            {"range": {"x": [1, 3]}},
            {"accepted": {"s": ["a", "b"]}},
            {"unique": ["x"]},
        ]
        try:
            report = checked({"t/a.parquet": data}, *checks, {"forbid_columns": ["q"]}, schema={"x": "int64"})
            os._exit(0 if report.outcome().state in ("passed", "refused") else 2)
        finally:
            os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


@pytest.mark.slow
def test_a_damaged_footer_raises_nothing() -> None:
    """Some damage makes pyarrow end the process, which is why contracts have one of their own."""
    length = int.from_bytes(GOOD[-8:-4], "little")
    found = set()
    for place in range(1, length, 7 if tier() == "soak" else 20):
        for byte in (0, 255, GOOD[-8 - place] ^ 1):
            found.add(_answer_of_a_fork(GOOD[: -8 - place] + bytes([byte]) + GOOD[len(GOOD) - 7 - place :]))
    assert found <= {0, -signal.SIGABRT}


def test_a_missing_null_count_is_counted() -> None:
    file = parquet({"x": [1, None]}, write_statistics=False)
    assert scans(file, {"not_null": ["x"]}) == 1
    assert refusals(checked({"t/a.parquet": file}, {"not_null": ["x"]})) == [
        "t/a.parquet: not_null(x) refused: 1 value of 'x' is null, the first in row 1"
    ]


def test_a_large_footer_is_read_whole() -> None:
    columns = {f"column_with_a_long_name_{number}": [number] for number in range(2000)}
    file = parquet(columns)
    assert int.from_bytes(file[-8:-4], "little") > 64 << 10
    assert refusals(checked({"t/a.parquet": file}, {"not_null": list(columns)[:50]})) == []
