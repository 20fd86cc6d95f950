"""Files: what is written can be read by us and by others, and damage is an error, never data."""

from __future__ import annotations

import io
import random
from collections.abc import Callable

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from lakebed_format import decode_metarange, decode_range, encode_metarange, encode_range
from lakebed_format.decoding import FormatError
from lakebed_format.tree.digest import metarange_id, range_id
from lakebed_format.tree.reading import open_file

from tests.format.support import entry, metarange_table, sample, table

META = [
    {"range_id": "a" * 64, "min_path": "a", "max_path": "é", "count": 3, "size_bytes": 9},
    {"range_id": "b" * 64, "min_path": "\U0001f600", "max_path": "\U0010ffff", "count": 1, "size_bytes": 1},
]


def encoded(rows: pa.Table) -> tuple[bytes, str]:
    file_id = range_id(rows)
    return encode_range(rows, file_id), file_id


def test_ranges_round_trip() -> None:
    rows = table(sample())
    data, file_id = encoded(rows)
    back = decode_range(data, file_id)
    assert back.equals(rows)
    assert back.schema.equals(rows.schema)
    assert range_id(back) == file_id
    assert encoded(rows.slice(0))[0] == data


def test_a_slice_and_chunks_are_written_as_their_rows() -> None:
    rows = table(sample())
    part = pa.concat_tables([rows.slice(3, 5), rows.slice(8, 4)])
    data, file_id = encoded(part)
    assert decode_range(data, file_id).equals(rows.slice(3, 9).combine_chunks())


def test_metaranges_round_trip() -> None:
    rows = metarange_table(META)
    file_id = metarange_id(rows)
    assert decode_metarange(encode_metarange(rows, file_id), file_id).equals(rows)


def test_row_groups_of_two_thousand_with_exact_bounds() -> None:
    rows = table([entry(f"p/{number:05}" + "\U0010ffff" * 200, number) for number in range(4001)])
    data, file_id = encoded(rows)
    file = open_file(data, "range", file_id)
    paths = rows.column("path").to_pylist()
    assert file.bounds() == [(paths[0], paths[1999], 2000), (paths[2000], paths[3999], 2000), (paths[4000],) * 2 + (1,)]
    assert file.read([1]).equals(rows.slice(2000, 2000).combine_chunks())


def test_other_readers_see_the_same_rows() -> None:
    rows = sample()
    data, _ = encoded(table(rows))
    frame = pd.read_parquet(io.BytesIO(data))
    assert frame["path"].tolist() == [row["path"] for row in rows]
    assert frame["size_bytes"].tolist() == [row["size_bytes"] for row in rows]
    assert [list(map(tuple, one)) for one in frame["metadata"]] == [row["metadata"] for row in rows]
    plain = pq.read_table(io.BytesIO(data), filters=[("size_bytes", ">=", 3000)])
    assert plain.num_rows == sum(row["size_bytes"] >= 3000 for row in rows)


@pytest.mark.parametrize("kind", ["range", "metarange"])
def test_any_flipped_bit_is_an_error(kind: str) -> None:
    if kind == "range":
        data, file_id = encoded(table(sample(30)))
        decode: Callable[[bytes, str], pa.Table] = decode_range
    else:
        rows = metarange_table(META)
        file_id = metarange_id(rows)
        data, decode = encode_metarange(rows, file_id), decode_metarange
    seed = random.Random(7)
    places = {*range(16), *range(len(data) - 700, len(data)), *(seed.randrange(len(data)) for _ in range(600))}
    for place in sorted(places):
        broken = bytearray(data)
        broken[place] ^= 1 << seed.randrange(8)
        with pytest.raises(FormatError):
            decode(bytes(broken), file_id)


def test_truncated_files_and_foreign_bytes_are_errors() -> None:
    data, file_id = encoded(table(sample()))
    for size in (0, 1, 4, 7, 8, 12, 100, len(data) // 2, len(data) - 9, len(data) - 1):
        with pytest.raises(FormatError):
            decode_range(data[:size], file_id)
        with pytest.raises(FormatError):
            decode_range(data[size:] if size else b"PAR1" * 4, file_id)
    with pytest.raises(FormatError):
        decode_range(data + b"x", file_id)
    sink = io.BytesIO()
    pq.write_table(pa.table({"path": ["a"]}), sink)
    with pytest.raises(FormatError):
        decode_range(sink.getvalue(), file_id)


def test_a_file_under_another_name_or_kind_is_refused() -> None:
    data, file_id = encoded(table(sample()))
    with pytest.raises(FormatError, match="holds range"):
        decode_range(data, "0" * 64)
    with pytest.raises(FormatError, match="not a metarange"):
        decode_metarange(data, file_id)


def test_a_newer_version_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("files", "reading"):
        monkeypatch.setattr(f"lakebed_format.tree.{module}.FORMAT_VERSIONS", {"range": 2, "layer": 2})
    data, file_id = encoded(table(sample()))
    assert decode_range(data, file_id).num_rows == 40
    monkeypatch.undo()
    with pytest.raises(FormatError, match="newer than this reader"):
        decode_range(data, file_id)
