"""Reads ranges, patches, layers and metaranges from Parquet bytes, and trusts nothing in them.

Any user who can write to the bucket can write a file with a correct checksum. So a file must have the columns and the
row groups that a writer of this format makes. Before rows are decoded, `pages` computes how much memory they take.
"""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Mapping, Sequence
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from lakebed_format.bloom import is_bloom
from lakebed_format.decoding import FormatError, decoder
from lakebed_format.schemas import (
    DELTA_SCHEMA,
    FORMAT_VERSIONS,
    ID_KEY,
    LEVELED_SCHEMA,
    METARANGE_SCHEMA,
    PATCH_SCHEMA,
    RANGE_SCHEMA,
    VERSION_KEY,
    compact,
)
from lakebed_format.tree.files import BLOOM_KEY, ROW_GROUP_ROWS, check_seal
from lakebed_format.tree.pages import STRUCTS_MOST, Group, groups_of, size_of, widths_of

LARGEST: Final = {"range": 64 << 20, "patch": 64 << 20, "layer": 256 << 20, "metarange": 64 << 20}
"""Bytes that the rows of a file may take in memory. A range or patch ends at 8 MiB or with the row that exceeds them,
and a part of a layer with the batch of 5,000 rows. The largest row that a request ever made has 10 MiB.
"""

_RATIO: Final = 64
"""A metarange may take more than LARGEST, because a lake may have any number of ranges. Then its limit is this multiple
of its length: half of the ids cannot be compressed.
"""

SCHEMAS: Final = {
    "range": (RANGE_SCHEMA,),
    "patch": (PATCH_SCHEMA,),
    "layer": (DELTA_SCHEMA,),
    "metarange": (METARANGE_SCHEMA, LEVELED_SCHEMA, PATCH_SCHEMA),
}
"""The columns that the versions of each kind have."""


class RowFile:
    """An open file of rows over its bytes, checked during reading. For one thread at a time."""

    __slots__ = ("_data", "_file", "groups", "kind", "metadata")

    def __init__(
        self, data: bytes, kind: str, groups: Sequence[Group], metadata: pq.FileMetaData | None = None
    ) -> None:
        self._data = data
        self._file = pq.ParquetFile(
            pa.BufferReader(data), metadata=metadata, pre_buffer=False, thrift_container_size_limit=STRUCTS_MOST
        )
        self.kind = kind
        self.groups = groups
        self.metadata = self._file.metadata

    @property
    def tags(self) -> Mapping[bytes, bytes]:
        """The keys and values of the file metadata."""
        return self.metadata.metadata or {}

    @property
    def schema(self) -> pa.Schema:
        """The columns of its rows, as Parquet states them."""
        return self._file.schema_arrow

    @decoder("file")
    def read(self, groups: Sequence[int] | None = None, columns: Sequence[str] | None = None) -> pa.Table:
        """Rows of all or some row groups, with all or some columns in the order of the file. Raises FormatError.

        Before anything is decoded, the headers of the pages say how much memory it takes.
        """
        chosen = range(len(self.groups)) if groups is None else groups
        chosen = [index for index in chosen if self.groups[index].rows]  # an empty group has no pages
        self._check_size(chosen)
        rows = self._file.read_row_groups(chosen, columns=columns, use_threads=False)
        rows.validate(full=True)  # texts are UTF-8, and offsets are in bounds
        return compact(rows)

    @decoder("file")
    def bounds(self) -> list[tuple[str, str, int]]:
        """Return the least and greatest path, which Parquet keeps exactly, and the row count of each row group."""
        return [(_path(group.chunks[0].least), _path(group.chunks[0].greatest), group.rows) for group in self.groups]

    @decoder("file")
    def bloom(self) -> bytes | None:
        """The Bloom filter of a layer file, when it has one. Raises FormatError."""
        stored = self.tags.get(BLOOM_KEY)
        if stored is None:
            return None
        found = b64decode(stored, validate=True)
        if not is_bloom(found):
            raise FormatError("its Bloom filter has no whole words")
        return found

    def _check_size(self, groups: Sequence[int]) -> None:
        most = LARGEST[self.kind] + (_RATIO * len(self._data) if self.kind == "metarange" else 0)
        widths = widths_of(self.metadata)
        size = 0
        for index in groups:
            sizes = [size_of(self._data, chunk) for chunk in self.groups[index].chunks]
            size += sum(one.decoded(width) for one, width in zip(sizes, widths, strict=True))
            repeated = sum(one.repeated() for one in sizes)
            if size <= most < size + repeated:
                repeated = self._repeated(index)
            size += repeated
            if size > most:
                raise FormatError(f"its rows take {size:,} bytes, at most {most:,} in a {self.kind}")

    def _repeated(self, group: int) -> int:
        """Bytes of the texts of a row group, counted in their dictionaries before they are written out."""
        leaves = [self.metadata.schema.column(at) for at in range(self.metadata.num_columns)]
        names = [leaf.path for leaf in leaves if leaf.physical_type == "BYTE_ARRAY"]
        file = pq.ParquetFile(pa.BufferReader(self._data), metadata=self.metadata, read_dictionary=names)
        total = 0
        for column in file.read_row_group(group, columns=names, use_threads=False).columns:
            for chunk in column.chunks:
                texts = [chunk.keys, chunk.items] if pa.types.is_map(chunk.type) else [chunk]
                total += sum(map(_written_out, texts))
        return total


def _written_out(texts: pa.DictionaryArray) -> int:
    lengths = pc.binary_length(texts.dictionary).cast(pa.int64())
    return pc.sum(lengths.take(texts.indices)).as_py() or 0


def _path(found: bytes | None) -> str:
    if found is None:
        raise FormatError("a row group does not state its least and greatest path")
    return found.decode()


def open_file(data: bytes, kind: str, file_id: str) -> RowFile:
    """Open a file of this kind (`range`, `patch`, `layer`, `metarange`) and id from its bytes. Raises FormatError.

    The checksum of the whole file is verified, so a flipped bit is an error and never data. The checksum does not prove
    the author of the file. So its columns and row groups must have the form that `encode_file` writes.
    """
    return _open(data, (kind,), file_id)


@decoder("file")
def _open(data: bytes, kinds: Sequence[str], file_id: str) -> RowFile:
    check_seal(data)
    file = RowFile(data, kinds[0], groups_of(data))
    said = file.tags.get(VERSION_KEY, b"").decode(errors="replace")[:80]
    name, _, version = said.partition("/")
    if name not in kinds or not (version.isascii() and version.isdigit()):
        raise FormatError(f"not a {kinds[0]} file: its metadata says {said!r}")
    if int(version) > FORMAT_VERSIONS[name]:
        known = FORMAT_VERSIONS[name]
        raise FormatError(f"{name} format {version} is newer than this reader ({known}): upgrade Lakebed")
    if file.tags.get(ID_KEY, b"") != file_id.encode():
        raise FormatError(f"holds {name} {str(file.tags.get(ID_KEY))[:100]}, not {file_id}")
    file.kind = name
    _check_shape(file)
    return file


def _check_shape(file: RowFile) -> None:
    """Refuse columns and row groups that no writer of this format makes. The sizes of pages do not limit them."""
    schemas = SCHEMAS[file.kind]
    if not any(file.schema.equals(schema) for schema in schemas):
        raise FormatError(f"its columns are not those of a {file.kind}")
    if len(file.groups) != file.metadata.num_row_groups:
        raise FormatError("its footer names row groups twice")
    if any(not 0 <= group.rows <= ROW_GROUP_ROWS for group in file.groups):
        raise FormatError(f"a row group has more than {ROW_GROUP_ROWS:,} rows")


def reopen(data: bytes, opened: RowFile) -> RowFile:
    """Return another reader over the bytes of an open file."""
    return RowFile(data, opened.kind, opened.groups, opened.metadata)


def decode_range(data: bytes, file_id: str, columns: Sequence[str] | None = None) -> pa.Table:
    """All rows of a range file, with RANGE_SCHEMA or some columns of it in its order. Raises FormatError."""
    return open_file(data, "range", file_id).read(columns=columns)


def decode_patch(data: bytes, file_id: str) -> pa.Table:
    """All rows of a patch file, with PATCH_SCHEMA. Raises FormatError."""
    return open_file(data, "patch", file_id).read()


def decode_rows(data: bytes, file_id: str) -> pa.Table:
    """All rows of a range or patch file (they share a folder); a patch has PATCH_SCHEMA. Raises FormatError."""
    return _open(data, ("range", "patch"), file_id).read()


def decode_layer(data: bytes, file_id: str) -> pa.Table:
    """All rows of a layer file, with DELTA_SCHEMA. Raises FormatError."""
    return open_file(data, "layer", file_id).read()
