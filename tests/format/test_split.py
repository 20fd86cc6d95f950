"""The ends of ranges: compared with a loop over the rows, and stable after an edit."""

from __future__ import annotations

from zlib import crc32

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lakebed_format import closes, row_sizes, split_points

from tests.format.support import Row, entry, sample, table
from tests.support.sizes import examples

RAGGED = 7


@pytest.fixture(autouse=True, scope="module")
def _ragged() -> object:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("lakebed_format.tree.split.RAGGEDNESS", RAGGED)
        yield


def raw(row: Row) -> int:
    text = [row[name] for name in ("path", "physical_address", "checksum", "content_type")]
    text += [word for pair in row["metadata"] for word in pair]
    return 4 + 8 + 8 + 32 + sum(len(word.encode()) for word in text)


def by_hand(rows: list[Row], low: int, high: int) -> list[int]:
    points, size = [], 0
    for index, row in enumerate(rows):
        size += raw(row)
        if size >= high or (size >= low and crc32(row["path"].encode()) % RAGGED == 0):
            points.append(index + 1)
            size = 0
    return points


def test_row_sizes_by_hand_also_of_slices_and_chunks() -> None:
    rows = sample()
    whole = table(rows)
    assert row_sizes(whole).tolist() == [raw(row) for row in rows]
    assert row_sizes(whole.slice(5, 20)).tolist() == [raw(row) for row in rows[5:25]]
    assert row_sizes(whole.slice(0, 0)).tolist() == []


many = st.sets(st.integers(0, 400), max_size=120).map(lambda found: [entry(f"p{n:04}", n) for n in sorted(found)])


@examples(80)
@given(many, st.integers(1, 2000), st.integers(0, 3000))
def test_split_points_follow_the_rule(rows: list[Row], low: int, more: int) -> None:
    points = split_points(table(rows), min_bytes=low, max_bytes=low + more)
    assert points == by_hand(rows, low, low + more)
    start = 0
    for point in points:
        size = sum(map(raw, rows[start:point]))
        assert closes(rows[point - 1]["path"], size, min_bytes=low, max_bytes=low + more)
        start = point


@pytest.mark.parametrize("count", [1, 3, 8, 20])
def test_a_range_of_exactly_the_bounds_closes(count: int) -> None:
    rows = [entry(f"p{n:04}", n) for n in range(60)]
    size = sum(map(raw, rows[:count]))
    assert split_points(table(rows), min_bytes=size, max_bytes=size)[0] == count
    for low, high in ((size, size), (size, 10 * size), (1, size), (size, size + 1), (size + 1, size + 1)):
        assert split_points(table(rows), min_bytes=low, max_bytes=high) == by_hand(rows, low, high)
    marked = next(n for n, row in enumerate(rows) if crc32(row["path"].encode()) % RAGGED == 0)
    low = sum(map(raw, rows[: marked + 1]))
    assert split_points(table(rows), min_bytes=low, max_bytes=100 * low)[0] == marked + 1
    assert split_points(table(rows), min_bytes=low + 1, max_bytes=100 * low)[0] > marked + 1


@examples(60)
@given(many, st.integers(1, 1500), st.integers(0, 120))
def test_a_prefix_has_the_same_points_and_an_edit_is_local(rows: list[Row], low: int, at: int) -> None:
    high = 4 * low
    points = split_points(table(rows), min_bytes=low, max_bytes=high)
    short = split_points(table(rows[:at]), min_bytes=low, max_bytes=high)
    assert short == [point for point in points if point <= at]
    for point in points:  # a new range begins where the last ended: the rest does not depend on what was before
        rest = split_points(table(rows[point:]), min_bytes=low, max_bytes=high)
        assert [point + one for one in rest] == [one for one in points if one > point]


def test_boundaries_come_back_after_an_edit() -> None:
    rows = [entry(f"p{n:05}", n) for n in range(4000)]
    before = {rows[point - 1]["path"] for point in split_points(table(rows), min_bytes=1500, max_bytes=60_000)}
    edited = [row for row in rows if row["path"] != "p01000"]
    points = split_points(table(edited), min_bytes=1500, max_bytes=60_000)
    after = {edited[point - 1]["path"] for point in points}
    assert len(before) > 50
    assert len(before ^ after) <= 8
    assert all("p00990" <= path < "p02000" for path in before ^ after)
