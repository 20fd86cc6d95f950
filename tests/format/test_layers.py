"""Layer files and their Bloom filters: what is written is read, and a filter never hides a path."""

from __future__ import annotations

import io
import random
from base64 import b64decode
from collections.abc import Iterator
from zlib import crc32

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lakebed_format import DELTA_SCHEMA, RANGE_SCHEMA, decode_range, encode_range
from lakebed_format.bloom import BITS_A_PATH, PROBES, make_bloom, may_hold
from lakebed_format.decoding import FormatError
from lakebed_format.tree.files import BLOOM_FROM, BLOOM_KEY, ROW_GROUP_ROWS, encode_layer
from lakebed_format.tree.reading import decode_layer, open_file

from tests.format.support import entry, layer_sample, layer_table, sample, table
from tests.support.sizes import examples

ID = "0" * 31 + "1-00000"
some_paths = st.lists(st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=30), max_size=200)


def bits_of(paths: list[str]) -> tuple[int, set[int]]:
    """The filter again, by its description: how many bits, and which are set."""
    size = 64
    while size < 10 * len(paths):
        size += 64
    found = set()
    for path in paths:
        raw = path.encode()
        for probe in range(7):
            found.add((crc32(raw) + probe * (crc32(bytes(reversed(raw))) | 1)) % size)
    return size, found


@examples(200)
@given(some_paths)
def test_a_filter_holds_all_its_paths(paths: list[str]) -> None:
    bloom = make_bloom(paths)
    assert all(may_hold(bloom, path) for path in paths)
    size, wanted = bits_of(paths)
    assert 8 * len(bloom) == size
    assert {bit for bit in range(size) if bloom[bit // 8] >> bit % 8 & 1} == wanted
    assert (BITS_A_PATH, PROBES) == (10, 7)


def test_the_known_answer() -> None:
    """Worked out by hand from the description, not by this code: crc32(a) = e8b7be43, crc32(b) = 71beeff9."""
    bloom = make_bloom(["a", "b"])
    set_bits = {(crc + probe * (crc | 1)) % 64 for crc in (0xE8B7BE43, 0x71BEEFF9) for probe in range(7)}
    assert set_bits == {3, 6, 9, 12, 15, 18, 21} | {57, 50, 43, 36, 29, 22, 15}
    assert bloom == sum(1 << bit for bit in set_bits).to_bytes(8, "little")
    assert bloom.hex() == "4892642010080402"
    assert make_bloom([]) == bytes(8)
    assert not may_hold(make_bloom([]), "a")


def shapes(seed: int) -> Iterator[tuple[list[str], list[str]]]:
    """Typical paths of a lake, and similar paths."""
    dice = random.Random(seed)
    yield [f"p/{n:06}" for n in range(20_000)], [f"p/{n:06}" for n in range(20_000, 60_000)]
    yield [f"p/{2 * n}" for n in range(20_000)], [f"p/{2 * n + 1}" for n in range(20_000)]
    yield (
        [f"year={y}/part-{n:05}.parquet" for y in range(20) for n in range(500)],
        [f"year={y}/part-{n:05}.parquet" for y in range(20, 60) for n in range(500)],
    )
    names = [f"{dice.getrandbits(128):032x}" for _ in range(40_000)]
    yield names[:20_000], names[20_000:]
    yield [f"{n}/{n}" for n in range(10_000)], [f"{n}/{n + 1}" for n in range(10_000)]


def test_bloom_filters_have_few_false_hits() -> None:
    for number, (inside, others) in enumerate(shapes(3)):
        bloom = make_bloom(inside)
        assert len(bloom) <= 1.25 * len(inside) + 8
        hits = sum(may_hold(bloom, path) for path in others) / len(others)
        assert hits < 0.02, f"shape {number}: {hits:.2%} false hits"


def test_layers_round_trip_with_their_tombstones() -> None:
    rows = layer_table(layer_sample(40))
    data = encode_layer(rows, ID)
    back = decode_layer(data, ID)
    assert back.equals(rows)
    assert back.schema.equals(DELTA_SCHEMA)
    assert encode_layer(rows.slice(0), ID) == data
    part = pa.concat_tables([rows.slice(3, 5), rows.slice(8, 4)])
    assert decode_layer(encode_layer(part, ID), ID).equals(rows.slice(3, 9).combine_chunks())
    frame = pd.read_parquet(io.BytesIO(data))
    assert frame["path"].tolist() == rows.column("path").to_pylist()
    assert frame["deleted"].tolist() == rows.column("deleted").to_pylist()
    assert frame["deleted"].sum() > 5


@pytest.mark.parametrize("count", [BLOOM_FROM - 1, BLOOM_FROM, 2 * ROW_GROUP_ROWS + 1])
def test_large_layers_have_a_filter_and_row_groups(count: int) -> None:
    rows = layer_table([{**entry(f"p/{n:05}", n), "deleted": n % 3 == 0} for n in range(count)])
    paths = rows.column("path").to_pylist()
    data = encode_layer(rows, ID)
    file = open_file(data, "layer", ID)
    groups = [slice(at, at + ROW_GROUP_ROWS) for at in range(0, count, ROW_GROUP_ROWS)]
    assert file.bounds() == [(paths[group][0], paths[group][-1], len(paths[group])) for group in groups]
    for index, group in enumerate(groups):
        wanted = rows.slice(group.start, len(paths[group])).combine_chunks()
        assert file.read([index]).equals(wanted)
    if count < BLOOM_FROM:
        assert file.bloom() is None
        return
    assert file.bloom() == make_bloom(paths)
    stored = pq.read_metadata(io.BytesIO(data)).metadata[BLOOM_KEY]
    assert b64decode(stored, validate=True) == make_bloom(paths)


def test_any_flipped_bit_is_an_error() -> None:
    data = encode_layer(layer_table(layer_sample(30)), ID)
    seed = random.Random(11)
    places = {*range(16), *range(len(data) - 300, len(data)), *(seed.randrange(len(data)) for _ in range(300))}
    for place in sorted(places):
        broken = bytearray(data)
        broken[place] ^= 1 << seed.randrange(8)
        with pytest.raises(FormatError):
            decode_layer(bytes(broken), ID)
    for size in (0, 8, len(data) // 2, len(data) - 1):
        with pytest.raises(FormatError):
            decode_layer(data[:size], ID)


def test_a_layer_is_no_range_and_not_another_layer(monkeypatch: pytest.MonkeyPatch) -> None:
    data = encode_layer(layer_table(layer_sample(30)), ID)
    with pytest.raises(FormatError, match="not a range file"):
        decode_range(data, ID)
    with pytest.raises(FormatError, match="holds layer"):
        decode_layer(data, "0" * 32 + "-00001")
    rows = table(sample(20))
    assert rows.schema.equals(RANGE_SCHEMA)
    with pytest.raises(FormatError, match="not a layer file"):
        decode_layer(encode_range(rows, ID), ID)
    monkeypatch.setattr("lakebed_format.tree.files.FORMAT_VERSIONS", {"range": 2, "layer": 2})
    newer = encode_layer(layer_table(layer_sample(30)), ID)
    monkeypatch.undo()
    with pytest.raises(FormatError, match="newer than this reader"):
        decode_layer(newer, ID)
