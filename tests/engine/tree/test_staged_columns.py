"""Staged rows that are read by columns are the rows that are read one by one."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lakebed_engine.stores.kv.base import Row
from lakebed_engine.tree.rows import decode_row, delta_table, encode_row
from lakebed_engine.tree.staged_columns import read_by_columns, staged_table
from lakebed_engine.vocabulary.records import Entry

TEXTS = st.one_of(
    st.text(max_size=40),
    # lengths at which msgpack needs one more byte
    st.sampled_from([0, 31, 32, 255, 256, 70_000]).map(lambda length: "x" * length),
)
ENTRIES = st.builds(
    Entry,
    physical_address=TEXTS.filter(lambda text: len(text) < 65_536),
    checksum=TEXTS.filter(lambda text: len(text) < 65_536),
    parts=st.integers(-(2**31), 2**31 - 1),
    size=st.one_of(st.integers(0, 2**63 - 1), st.sampled_from([127, 128, 255, 256, 65_535, 65_536, 2**32 - 1, 2**32])),
    mtime=st.one_of(st.integers(-(2**63), 2**63 - 1), st.sampled_from([-1, -32, -33, -128, -129, -32_769, -(2**31)])),
    content_type=TEXTS.filter(lambda text: len(text) < 65_536),
    metadata=st.dictionaries(st.text(max_size=5), TEXTS, max_size=20),
    identity=st.binary(min_size=32, max_size=32),
)
ROW = Entry("data/a", "81b206a8", 0, 1, 1_767_225_600, "text/plain", {"a": "b"}, bytes(range(32)))


def rows_of(values: Sequence[bytes]) -> list[Row]:
    return [Row(f"ä/{index:04}".encode(), value, index + 1) for index, value in enumerate(values)]


def one_by_one(rows: Sequence[Row]) -> object:
    """The table, or the type of the error."""
    try:
        return delta_table([(row.key.decode(), decode_row(row.value)) for row in rows])
    except Exception as error:
        return type(error)


@given(st.lists(st.none() | ENTRIES, min_size=1, max_size=20))
def test_columns_hold_what_the_rows_say(entries: list[Entry | None]) -> None:
    rows = rows_of([encode_row(entry) for entry in entries])
    table = read_by_columns(rows)
    assert table is not None
    table.validate(full=True)
    assert table.equals(one_by_one(rows))


@given(st.lists(st.none() | ENTRIES, min_size=1, max_size=4), st.data())
def test_a_damaged_row_gives_the_same_rows_or_is_left_to_the_other_reader(
    entries: list[Entry | None], data: st.DataObject
) -> None:
    values = [bytearray(encode_row(entry)) for entry in entries]
    damaged = data.draw(st.sampled_from(values))
    for _ in range(data.draw(st.integers(1, 3)) if damaged else 0):
        damaged[data.draw(st.integers(0, len(damaged) - 1))] = data.draw(st.integers(0, 255))
    del damaged[data.draw(st.integers(0, len(damaged))) :]
    rows = rows_of([bytes(value) for value in values])
    table = read_by_columns(rows)
    if table is not None:
        table.validate(full=True)
        assert table.equals(one_by_one(rows))


@pytest.mark.parametrize(
    "other",
    [
        msgspec.msgpack.encode([*msgspec.structs.astuple(ROW), "a field of a later version"]),
        encode_row(msgspec.structs.replace(ROW, content_type="x" * 70_000)),
    ],
)
def test_another_form_is_read_row_by_row(other: bytes) -> None:
    rows = rows_of([encode_row(ROW)] * 600 + [other])
    assert read_by_columns(rows) is None
    assert staged_table(rows).equals(one_by_one(rows))


@pytest.mark.parametrize("count", [1, 600])
def test_a_damaged_row_raises(count: int) -> None:
    rows = rows_of([encode_row(ROW)] * count + [encode_row(ROW)[:-1]])
    with pytest.raises(msgspec.DecodeError):
        staged_table(rows)


def test_a_path_that_is_no_text_raises() -> None:
    rows = [*rows_of([encode_row(ROW)] * 600), Row(b"\xff", encode_row(ROW), 1)]
    with pytest.raises(UnicodeDecodeError):
        staged_table(rows)


def test_metadata_that_is_no_text_is_left_to_the_other_reader() -> None:
    damaged = encode_row(ROW).replace(b"\xa1b", b"\xa1\x80")
    assert damaged != encode_row(ROW)
    assert read_by_columns(rows_of([encode_row(ROW), damaged])) is None
