"""Parquet files of a directory, as one table: written with Hive-style partitions, read back with their types.

Blocking code over pyarrow, imported late and run off the event loop. It never sees the network: files come in as
openers and go out as local paths.

A partition value stands in the path, percent-encoded: `day=2026-01-02`, `name=a%2Fb`, and
`day=__HIVE_DEFAULT_PARTITION__` for null. Text in a path has no type, so each file also carries the Arrow schema of the
partition columns in its metadata; files of other writers get whole numbers where all values are, else text.
"""

from __future__ import annotations

import base64
import io
import re
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import reduce
from pathlib import Path
from typing import Any
from urllib.parse import unquote
from uuid import uuid4

import pyarrow as pa
import pyarrow.dataset as pads
import pyarrow.parquet as pq

from lakebed import _frames
from lakebed.errors import InvalidRequestError

NULL = "__HIVE_DEFAULT_PARTITION__"
_PARTITIONS = b"lakebed.partitions"
_MAX_FILES = 10_000
_OPEN_FILES = 256
_THREADS = 8

Opener = Callable[[], io.RawIOBase]
Values = tuple[tuple[str, str | None], ...]


def write_files(
    data: object, folder: Path, partition_by: Sequence[str], max_rows_per_file: int | None, compression: str
) -> list[tuple[str, Path]]:
    """Write a table into a folder. Gives each file's place below the table's path, and where it is now."""
    reader = _frames.to_reader(data)
    schema = _checked_schema(reader.schema, partition_by, max_rows_per_file)
    partitions = pa.schema([schema.field(name).with_name(_encoded(name)) for name in partition_by])
    folder.mkdir(parents=True, exist_ok=True)
    rows = {} if max_rows_per_file is None else {"max_rows_per_file": max_rows_per_file}
    if max_rows_per_file is not None:
        rows["max_rows_per_group"] = min(max_rows_per_file, 1 << 20)
    written: list[Path] = []
    pads.write_dataset(
        _with_encoded_names(reader, schema, partition_by),
        folder,
        format="parquet",
        file_options=pads.ParquetFileFormat().make_write_options(compression=compression),
        basename_template=f"part-{uuid4().hex}-{{i}}.parquet",
        partitioning=pads.partitioning(partitions, flavor="hive") if partition_by else None,
        use_threads=False,  # rows keep their order
        max_partitions=_MAX_FILES,
        max_open_files=_OPEN_FILES,
        existing_data_behavior="overwrite_or_ignore",
        file_visitor=lambda file: written.append(Path(file.path)),
        **rows,
    )
    if not written:  # no rows: one empty file keeps the schema
        written.append(folder / f"part-{uuid4().hex}-0.parquet")
        pq.write_table(schema.empty_table(), written[0], compression=compression)
    return sorted((_place(path.relative_to(folder)), path) for path in written)


def _with_encoded_names(
    reader: pa.RecordBatchReader, schema: pa.Schema, partition_by: Sequence[str]
) -> pa.RecordBatchReader:
    """The rows under names that can stand in a path: Arrow encodes the values there, but not the names."""
    names = [_encoded(name) if name in partition_by else name for name in schema.names]
    fields = [field.with_name(name) for field, name in zip(schema, names, strict=True)]
    metadata = schema.metadata
    if partition_by:
        partitions = pa.schema([schema.field(name) for name in partition_by])
        metadata = {**(metadata or {}), _PARTITIONS: base64.b64encode(partitions.serialize().to_pybytes())}
    plain = schema.with_metadata(reader.schema.metadata)
    batches = (batch.cast(plain).rename_columns(names) for batch in reader)
    return pa.RecordBatchReader.from_batches(pa.schema(fields, metadata), batches)


def _place(path: Path) -> str:
    """`part-x-7.parquet` -> `part-x-00007.parquet`: listings sort as text, and rows should come back in order."""
    stem, _, number = path.stem.rpartition("-")
    return path.with_name(f"{stem}-{int(number):05}{path.suffix}").as_posix()


def write_one(data: object, file: Path, compression: str) -> None:
    """Write a table as one file."""
    reader = _frames.to_reader(data)
    with pq.ParquetWriter(file, reader.schema, compression=compression) as writer:
        for batch in reader:
            writer.write_batch(batch)


def _encoded(name: str) -> str:
    """A column name as it stands in a path."""
    return re.sub(r"[%/=\x00-\x1f\x7f]", lambda found: f"%{ord(found[0]):02X}", name)


def _checked_schema(schema: pa.Schema, partition_by: Sequence[str], max_rows: int | None) -> pa.Schema:
    if max_rows is not None and max_rows < 1:
        raise InvalidRequestError(f"max_rows_per_file must be positive: {max_rows}")
    missing = [name for name in partition_by if schema.get_field_index(name) < 0]
    if missing:
        raise InvalidRequestError(f"cannot partition by {missing}: the columns are {schema.names}")
    if partition_by and len(set(partition_by)) == len(schema.names):
        raise InvalidRequestError("at least one column must not be a partition column: it is what the files hold")
    for name in partition_by:
        field = schema.field(name)
        if pa.types.is_dictionary(field.type):  # categories: the path holds their values
            field = field.with_type(field.type.value_type)
            schema = schema.set(schema.get_field_index(name), field)
        if pa.types.is_nested(field.type) or pa.types.is_binary(field.type) or pa.types.is_large_binary(field.type):
            raise InvalidRequestError(f"cannot partition by {name!r}: {field.type} cannot stand in a path")
    return schema


def read_files(files: Sequence[tuple[str, Opener]], columns: Sequence[str] | None, filters: Any) -> pa.Table:
    """Read files as one table. Each comes with its place below the table's path.

    Footers are read concurrently, and the schemas united: files may have been written by different versions.
    """
    format_ = pads.ParquetFileFormat()
    values = [_partition_values(place) for place, _ in files]
    plain = [format_.make_fragment(pa.PythonFile(opener(), mode="r")) for _, opener in files]
    with ThreadPoolExecutor(min(_THREADS, len(plain))) as pool:
        schemas = list(pool.map(lambda fragment: fragment.physical_schema, plain))
    try:
        schema = pa.unify_schemas(schemas, promote_options="permissive").with_metadata(schemas[0].metadata)
    except pa.ArrowTypeError as error:
        raise InvalidRequestError(f"the files do not make one table: {error}") from error
    partitions = _partition_schema(schemas[0], values)
    for field in partitions:
        if schema.get_field_index(field.name) < 0:
            schema = schema.append(field)
    fragments = [
        format_.make_fragment(pa.PythonFile(opener(), mode="r"), partition_expression=_expression(found, partitions))
        for (_, opener), found in zip(files, values, strict=True)
    ]
    dataset = pads.FileSystemDataset(fragments, schema, format_)
    wanted = None
    if columns is not None:
        wanted = list(columns) + [name for name in _frames.index_columns(schema) if name not in columns]
    expression = pq.filters_to_expression(filters) if isinstance(filters, list | tuple) else filters
    try:
        return dataset.to_table(columns=wanted, filter=expression)
    except (pa.ArrowInvalid, KeyError) as error:
        raise InvalidRequestError(f"cannot read the table: {error}") from error


def _partition_values(place: str) -> Values:
    """`day=2026-01-02/part.parquet` -> (("day", "2026-01-02"),)."""
    found = []
    for part in place.split("/")[:-1]:
        name, equals, value = part.partition("=")
        if equals and name:
            found.append((unquote(name), None if value == NULL else unquote(value)))
    return tuple(found)


def _partition_schema(first: pa.Schema, values: Sequence[Values]) -> pa.Schema:
    mark = (first.metadata or {}).get(_PARTITIONS)
    known = pa.ipc.read_schema(pa.py_buffer(base64.b64decode(mark))) if mark else pa.schema([])
    names = dict.fromkeys(name for found in values for name, _ in found)
    fields = []
    for name in names:
        index = known.get_field_index(name)
        texts = {value for found in values for key, value in found if key == name and value is not None}
        fields.append(known.field(index) if index >= 0 else pa.field(name, _guessed(texts)))
    return pa.schema(fields)


def _guessed(texts: set[str]) -> pa.DataType:
    """Whole numbers when every value is one, as written: `007` stays text."""
    try:
        whole = bool(texts) and all(str(int(text)) == text for text in texts)
    except ValueError:
        whole = False
    return pa.int64() if whole else pa.string()


def _expression(found: Values, partitions: pa.Schema) -> pads.Expression | None:
    """What is true of every row of a file."""
    terms = []
    for name, text in found:
        if text is None:
            terms.append(pads.field(name).is_null())
        else:
            value = pa.array([text]).cast(partitions.field(name).type)[0]
            terms.append(pads.field(name) == pads.scalar(value))
    return reduce(lambda left, right: left & right, terms) if terms else None
