"""Computes ids a second time, row by row, from the documentation alone."""

from __future__ import annotations

import hashlib
import json
import struct
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lakebed_format import RANGE_SCHEMA, CommitRecord, commit_id, decode_commit, encode_commit, identity
from lakebed_format.tree.digest import metarange_id, range_id

from tests.format.support import Row, entry, metarange_table, sample, table
from tests.support.sizes import examples

texts = st.text(st.characters(codec="utf-8"), max_size=6)


def by_hand(rows: list[Row]) -> str:
    """The canonical encoding of a range, written from its description."""
    out = b"lakebed/range/1" + struct.pack("<Q", len(rows))

    def text(values: list[str]) -> bytes:
        raw = [value.encode() for value in values]
        return b"".join(struct.pack("<I", len(one)) for one in raw) + b"".join(raw)

    def integers(values: list[int]) -> bytes:
        return b"".join(struct.pack("<q", value) for value in values)

    for name in ("path", "physical_address", "checksum"):
        out += text([row[name] for row in rows])
    for name in ("parts", "size_bytes", "mtime"):
        out += integers([row[name] for row in rows])
    out += text([row["content_type"] for row in rows])
    out += b"".join(struct.pack("<I", len(row["metadata"])) for row in rows)
    out += text([key for row in rows for key, _ in row["metadata"]])
    out += text([value for row in rows for _, value in row["metadata"]])
    return hashlib.sha256(out).hexdigest()


@examples(60)
@given(
    st.lists(
        st.builds(
            lambda path, n, kind, meta: entry(path, n, content_type=kind, metadata=sorted(meta.items())),
            texts, st.integers(0, 9), texts, st.dictionaries(texts, texts, max_size=3),
        ),
        max_size=6,
    ),
    st.integers(0, 6),
    st.integers(0, 6),
)  # fmt: skip
def test_range_id_is_the_hash_of_the_rows_in_any_memory_layout(rows: list[Row], start: int, cut: int) -> None:
    wanted = by_hand(rows[start:])
    whole = table(rows)
    assert range_id(whole.slice(start)) == wanted
    assert range_id(table(rows[start:])) == wanted
    pieces = pa.concat_tables([whole.slice(start, cut), whole.slice(start + cut)])
    assert range_id(pieces) == wanted
    assert range_id(pieces.combine_chunks()) == wanted
    taken = whole.take(pa.array(range(min(start, len(rows)), len(rows)), pa.int64()))
    assert range_id(taken) == wanted


def test_range_id_of_arrays_whose_children_have_offsets() -> None:
    rows = sample(12)
    whole = table([entry("0", 2), *rows])
    keys = pa.array(["junk", *(key for row in rows for key, _ in row["metadata"])])[1:]
    items = pa.array(["junk", *(value for row in rows for _, value in row["metadata"])])[1:]
    ends = [0]
    for row in rows:
        ends.append(ends[-1] + len(row["metadata"]))
    maps = pa.MapArray.from_arrays(pa.array(ends, pa.int32()), keys, items).cast(RANGE_SCHEMA.field("metadata").type)
    moved = whole.slice(1).set_column(7, RANGE_SCHEMA.field("metadata"), maps)
    assert range_id(moved) == by_hand(rows)


@pytest.mark.parametrize("name", [name for name in RANGE_SCHEMA.names if name != "identity"])
def test_every_column_counts(name: str) -> None:
    rows = sample(10)
    new: dict[str, Any] = {"metadata": [("other", "thing")], "parts": 77, "size_bytes": 77, "mtime": 77}
    changed = [dict(rows[0], **{name: new.get(name, "other")}), *rows[1:]]
    assert range_id(table(changed)) != range_id(table(rows))


def test_moving_a_letter_between_fields_changes_the_id() -> None:
    one, other = entry("ab", 1), entry("a", 1)
    assert range_id(table([one, entry("c", 1)])) != range_id(table([other, entry("bc", 1)]))
    assert range_id(table([])) != metarange_id(metarange_table([]))


def test_metarange_id_by_hand() -> None:
    row = {"range_id": "aa", "min_path": "b", "max_path": "é", "count": 3, "size_bytes": 9}
    out = b"lakebed/metarange/1" + struct.pack("<Q", 1)
    for value in ("aa", "b", "é"):
        out += struct.pack("<I", len(value.encode())) + value.encode()
    out += struct.pack("<qq", 3, 9)
    assert metarange_id(metarange_table([row])) == hashlib.sha256(out).hexdigest()


def test_identity_by_hand_and_what_counts() -> None:
    out = b"lakebed/identity/1" + struct.pack("<Q", 5)
    for text in ("sum", "t/é", "a", "1", "b", "2"):
        out += struct.pack("<Q", len(text.encode())) + text.encode()
    assert identity(5, "sum", "t/é", {"b": "2", "a": "1"}) == hashlib.sha256(out).digest()
    one = identity(5, "sum", "t", {"a": "1"})
    assert len({one, identity(6, "sum", "t", {"a": "1"}), identity(5, "su", "mt", {"a": "1"}),
                identity(5, "sum", "t", {"a1": ""}), identity(5, "sum", "t", {}), identity(5, "sum", "ta", {"1": ""}),
                identity(5, "sum", "", {"t": "a", "1": ""})}) == 7  # fmt: skip


def commit_by_hand(record: CommitRecord) -> str:
    """Facts 3.1: a type byte, then the value; strings have an encoded length."""

    def number(value: int) -> bytes:
        return b"\x02\x08" + struct.pack(">q", value)

    def string(value: str) -> bytes:
        return b"\x01" + number(len(value.encode())) + value.encode()

    parents = hashlib.sha256(b"\x03" + number(len(record.parents)) + b"".join(string(one) for one in record.parents))
    out = string("commit:v1") + string(record.committer) + string(record.message) + string(record.metarange_id)
    out += number(record.creation_date) + b"\x04" + number(len(record.metadata))
    for key in sorted(record.metadata, key=lambda text: text.encode()):
        out += string(key) + string(record.metadata[key])
    out += b"\x05" + b"\x00" + number(32) + parents.digest()
    return hashlib.sha256(out).hexdigest()


ids = st.binary(min_size=32, max_size=32).map(bytes.hex)


@examples(60)
@given(
    st.lists(ids, max_size=3).map(tuple), texts, texts, st.integers(-(2**63), 2**63 - 1), st.just("") | ids,
    st.dictionaries(texts, texts, max_size=4),
)  # fmt: skip
def test_commit_id_and_round_trip(
    parents: tuple[str, ...], committer: str, message: str, date: int, tree: str, metadata: dict[str, str]
) -> None:
    record = CommitRecord(parents, committer, message, date, tree, metadata, generation=7)
    assert commit_id(record) == commit_by_hand(record)
    data = encode_commit(record)
    assert decode_commit(data) == (commit_by_hand(record), record)
    body = {"format": "commit/1", "id": commit_id(record), **_fields(record)}
    assert data.decode() == json.dumps(body, ensure_ascii=False, sort_keys=True, indent=1) + "\n"
    assert encode_commit(record, commit_id(record)) == data


def test_known_commit_ids() -> None:
    first = CommitRecord((), "", "Repository created", 1_700_000_000, "")
    assert commit_id(first) == "e7720703b5e19f0c37c665b0bf14fc291522d882cd951d854edb8b1f1c33689d"
    assert commit_id(first) == commit_by_hand(first)
    later = CommitRecord((commit_id(first),), "ann", "é", -1, "e" * 64, {"b": "2", "a": ""}, generation=2)
    assert commit_id(later) == commit_by_hand(later)
    assert commit_id(later) == commit_id(CommitRecord(**{**_fields(later), "generation": 9, "version": 0}))


def _fields(record: CommitRecord) -> dict[str, Any]:
    return {name: getattr(record, name) for name in CommitRecord.__slots__}


@pytest.mark.parametrize("data", [
    b"", b"{}", b"[]", b'{"format": "commit/2"}', b'{"format": "commit/1"}', b"\xff",
    b'{"format": "commit/1", "parents": 1}',
    b'{"format":"commit/1","parents":[],"committer":"","message":"","creation_date":99999999999999999999,'
    b'"metarange_id":"","metadata":{},"generation":1,"version":1,"id":""}',
])  # fmt: skip
def test_bad_commit_files_are_value_errors(data: bytes) -> None:
    with pytest.raises(ValueError):
        decode_commit(data)


def test_a_cut_commit_file_says_so() -> None:
    data = encode_commit(CommitRecord(("d" * 64,), "ann", "hello", 5, "e" * 64, {"k": "v"}))
    with pytest.raises(ValueError, match="not a whole commit file: JSONDecodeError"):
        decode_commit(data[:-3])


def test_a_changed_commit_file_is_refused() -> None:
    record = CommitRecord(("d" * 64,), "ann", "hello", 5, "e" * 64, {"k": "v"})
    data = encode_commit(record)
    for word in (b"ann", b"hello", b"dddd", b"eeee", b'"v"'):
        assert word in data
        with pytest.raises(ValueError, match="does not hash"):
            decode_commit(data.replace(word, word[:-2] + b"0" + word[-1:], 1))
