"""Metaranges that carry their newest patch: their ids and their files, as `lakebed_format` specifies them.

They are what small commits write, one after the other over the same ranges. So no table of their rows is made, and what
the ranges add to the id and to the file is made once for all of them.
"""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Sequence
from typing import Final

import pyarrow as pa
from lakebed_format.files import DICTIONARIES, encode_file
from lakebed_format.metaranges import TREE_KEY
from lakebed_format.schemas import LEVELED_SCHEMA, PATCH_SCHEMA

Row = tuple[str, str, str, int, int]
"""A range or a patch: its id, least and greatest path, rows, raw bytes."""

_DOMAIN: Final = b"lakebed/metarange/3"

_json: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


class Stretch:
    """Some rows of a metarange that follow each other, each with its level, ready to be joined with others."""

    __slots__ = ("_columns", "_count", "_hashed")

    def __init__(self, rows: Sequence[Row], levels: Sequence[int]) -> None:
        self._count = len(rows)
        columns = list(zip(*((*row, level) for row, level in zip(rows, levels, strict=True)), strict=True))
        values: Sequence[Sequence[object]] = columns or [()] * len(LEVELED_SCHEMA)
        self._columns = [_json(column)[1:-1] for column in values]
        self._hashed = [_hashed(column) for column in values]


def _hashed(column: Sequence[object]) -> tuple[bytes, bytes]:
    """What a column adds to an id (`digest`): of text the lengths and the bytes; numbers have no lengths."""
    if not column:
        return b"", b""
    if isinstance(column[0], str):
        texts = [str(one).encode() for one in column]
        return struct.pack(f"<{len(texts)}I", *map(len, texts)), b"".join(texts)
    return b"", struct.pack(f"<{len(column)}q", *column)


def carrier_id(stretches: Sequence[Stretch]) -> str:
    """The id of the metarange of these rows that carries its newest patch: what `metarange_id` says of their table."""
    pieces = [_DOMAIN, sum(one._count for one in stretches).to_bytes(8, "little")]
    for index in range(len(LEVELED_SCHEMA)):
        pieces += [one._hashed[index][0] for one in stretches]
        pieces += [one._hashed[index][1] for one in stretches]
    return hashlib.sha256(b"".join(pieces)).hexdigest()


def encode_carrier(stretches: Sequence[Stretch], file_id: str, carried: pa.Table) -> bytes:
    """Its file. `file_id` is its `carrier_id`; `carried`, rows of PATCH_SCHEMA, are those of the newest patch."""
    columns = []
    for index, name in enumerate(LEVELED_SCHEMA.names):
        values = ",".join(one._columns[index] for one in stretches if one._count)
        columns.append(f'"{name}":[{values}]')
    tree = f"{{{','.join(columns)}}}"
    return encode_file(carried, PATCH_SCHEMA, "metarange", file_id, DICTIONARIES, {TREE_KEY.decode(): tree})
