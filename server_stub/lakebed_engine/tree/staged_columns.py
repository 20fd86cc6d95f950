"""Staged rows as an Arrow table, read by columns.

The value of a staged row is msgpack of an `Entry`, an array of eight fields. `staged_table` reads the same field of
all rows at the same time, each at its own position. So it makes no Python object for each entry and each field.

    98 d930<48 bytes>    d920<32 bytes>    00    ccff    ce6955b900    b8<24 bytes>    80          c420<32 bytes>
       address: text 48  checksum: text 32 parts size 255 mtime        type: text 24   no metadata identity

If a row has another form, for example because it is damaged, `decode_row` reads all rows, or raises its error.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from lakebed_format import DELTA_SCHEMA

from lakebed_engine.stores.kv.base import Row
from lakebed_engine.tree.rows import NO_ENTRY, decode_row, delta_table, encode_row, metadata_column

_FEW: Final = 500
"""Rows up to which an object for each row takes less time."""

_ARRAY_OF_EIGHT: Final = 0x98
_NO_PAIRS: Final = 0x80
_BYTES_OF_ONE_LENGTH: Final = 0xC4
_TAIL: Final = 34
"""Bytes of the identity, the last field, with its two bytes of type and length."""

_INTEGERS: Final[dict[int, np.dtype[Any]]] = {
    0xCC: np.dtype(">u1"), 0xCD: np.dtype(">u2"), 0xCE: np.dtype(">u4"), 0xCF: np.dtype(">u8"),
    0xD0: np.dtype(">i1"), 0xD1: np.dtype(">i2"), 0xD2: np.dtype(">i4"), 0xD3: np.dtype(">i8"),
}  # fmt: skip
_INT32: Final = np.iinfo(np.int32)

_deleted_value = encode_row(NO_ENTRY)
_pairs = msgspec.msgpack.Decoder(dict[str, str])


_Places = tuple[Any, Any]
"""Where the bytes of a field begin and end in each row, as int64 numpy arrays."""


class _OtherForm(Exception):
    """A row is not what `encode_row` writes today."""


def staged_table(rows: Sequence[Row]) -> pa.Table:
    """A delta of DELTA_SCHEMA from staged rows, which are sorted by key. Raises what `decode_row` raises."""
    table = read_by_columns(rows) if len(rows) > _FEW else None
    if table is None:
        table = delta_table([(row.key.decode(), decode_row(row.value)) for row in rows])
    return table


def read_by_columns(rows: Sequence[Row]) -> pa.Table | None:
    """As `staged_table`, for one row or more. None if a row has another form than `encode_row` gives it today."""
    try:
        return _by_columns(rows)
    except (_OtherForm, pa.ArrowInvalid, msgspec.DecodeError, UnicodeDecodeError):
        return None


def _by_columns(rows: Sequence[Row]) -> pa.Table:
    values = pa.array([row.value for row in rows], pa.binary())
    if isinstance(values, pa.ChunkedArray):  # more bytes than one array can have
        raise _OtherForm
    deleted = pc.equal(pc.binary_length(values), 0)
    if pc.any(deleted).as_py():
        values = pc.if_else(deleted, _deleted_value, values)
    fields = _Fields(values)
    address, checksum = fields.text(), fields.text()
    parts, size, mtime = fields.integer(), fields.integer(), fields.integer()
    content_type, metadata, identity = fields.text(), fields.metadata(), fields.identity()
    if parts.min() < _INT32.min or parts.max() > _INT32.max:
        raise _OtherForm
    columns = [
        pa.array([row.key for row in rows], pa.binary()).cast(pa.string()),
        fields.column(address).cast(pa.string()),
        fields.column(checksum).cast(pa.string()),
        pa.array(parts.astype(np.int32)),
        pa.array(size),
        pa.array(mtime),
        fields.column(content_type).cast(pa.string()),
        metadata,
        pa.Array.from_buffers(pa.binary(32), len(rows), [None, fields.column(identity).buffers()[2]]),
        deleted,
    ]
    return pa.table(columns, schema=DELTA_SCHEMA)


class _Fields:
    """Reads the fields of all values in their order. Each method reads one field and raises _OtherForm.

    A position that leaves its value, or even the data, can only come from a damaged value. `identity` finds it, and
    until then no read depends on it: `_bytes` stays within the data.
    """

    def __init__(self, values: pa.BinaryArray) -> None:
        self._values = values
        _, offsets, data = values.buffers()
        ends = np.frombuffer(offsets, dtype=np.int32, count=len(values) + 1).astype(np.int64)
        self._starts, self._ends = ends[:-1], ends[1:]
        self._data = np.frombuffer(data, dtype=np.uint8, count=ends[-1])
        self._at = self._starts + 1
        _require(self._bytes(self._starts) == _ARRAY_OF_EIGHT)

    def text(self) -> _Places:
        """Where the texts are."""
        tags = self._bytes(self._at)
        short, one, two = (tags & 0xE0) == 0xA0, tags == 0xD9, tags == 0xDA
        _require(short | one | two)
        lengths = np.where(short, tags & 0x1F, self._bytes(self._at + 1)).astype(np.int64)
        if two.any():
            lengths[two] = lengths[two] << 8 | self._bytes(self._at[two] + 2)
        begins = self._at + 1 + one + 2 * two
        self._at = begins + lengths
        return begins, self._at

    def integer(self) -> Any:
        """The integers, as an int64 numpy array."""
        tags = self._bytes(self._at)
        found = tags.astype(np.int8).astype(np.int64)  # without further bytes: 0 to 127, and -32 to -1
        at = self._at + 1
        for tag in np.flatnonzero(np.bincount(tags, minlength=256)[0x80:0xE0]) + 0x80:
            kind = _INTEGERS.get(int(tag))
            if kind is None:
                raise _OtherForm
            rows = np.flatnonzero(tags == tag)
            numbers = self._bytes(at[rows][:, None] + np.arange(kind.itemsize)).view(kind)[:, 0]
            found[rows] = numbers.astype(np.int64)
            _require((found[rows] >= 0) | (kind.kind == "i"))
            at[rows] += kind.itemsize
        self._at = at
        return found

    def metadata(self) -> Any:
        """The user metadata, as a column."""
        pairs: list[dict[str, str]] = [{}] * len(self._values)
        at = self._at + 1
        for row in np.flatnonzero(self._bytes(self._at) != _NO_PAIRS).tolist():
            begin = int(self._at[row] - self._starts[row])
            pairs[row] = _pairs.decode(self._values[row].as_py()[begin:-_TAIL])
            at[row] = self._ends[row] - _TAIL
        self._at = at
        return metadata_column(pairs)

    def identity(self) -> _Places:
        """Where the identities are. Each must be the last field, exactly where the fields before it end."""
        _require(self._at == self._ends - _TAIL)
        _require(self._bytes(self._at) == _BYTES_OF_ONE_LENGTH)
        _require(self._bytes(self._at + 1) == _TAIL - 2)
        return self._at + 2, self._ends

    def column(self, places: _Places) -> Any:
        """The bytes at these places, as a column. Only after `identity`, which has checked the places."""
        # an array of these places and of what is between them, and then every second element of it
        bounds = np.stack(places, axis=1).reshape(-1)
        offsets = np.append(bounds, bounds[-1:]).astype(np.int32)
        buffers = [None, pa.py_buffer(offsets), pa.py_buffer(self._data)]
        both = pa.Array.from_buffers(pa.binary(), len(bounds), buffers)
        return both.take(pa.array(np.arange(0, len(bounds), 2)))

    def _bytes(self, places: Any) -> Any:
        return self._data.take(places, mode="clip")


def _require(holds: Any) -> None:
    if not np.all(holds):
        raise _OtherForm
