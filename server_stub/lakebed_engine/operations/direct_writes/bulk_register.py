"""Registers the layers that clients send as Parquet files. It reads a file in batches and publishes it as one layer.

The server trusts nothing in the file. It checks columns, sizes, order and texts, and checks in the store that each
named object exists. A batch of rows and a row group bound the memory, whatever the size of the file.
"""

from __future__ import annotations

import mmap
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from lakebed_format.decoding import DAMAGE
from lakebed_format.tree.pages import Group, groups_of, size_of, widths_of

from lakebed_engine.operations.context import Context, Repo, open_repo
from lakebed_engine.operations.direct_writes.external_rows import ForeignRows, names_elsewhere
from lakebed_engine.operations.direct_writes.register import checksum_of, entry_of, own_address, prove
from lakebed_engine.operations.direct_writes.scan import ledger_notes
from lakebed_engine.operations.layers.push import push
from lakebed_engine.operations.objects.stage import Row, stage
from lakebed_engine.operations.validation import MAX_PATH_BYTES
from lakebed_engine.operations.workspace.lifecycle import find_open, record_of
from lakebed_engine.tree.rows import delta_table
from lakebed_engine.vocabulary.direct_writes import Written
from lakebed_engine.vocabulary.errors import EngineError, InvalidPathError, InvalidRequestError
from lakebed_engine.vocabulary.records import DEFAULT_CONTENT_TYPE, Entry, Layer, Workspace

LARGEST_GROUP = 64 << 20
"""The largest row group, in decompressed bytes."""

_MOST_PAGES = 500_000
"""The largest number of pages in a file. Reading 500,000 page headers takes about three seconds."""

_BATCH = 5_000
_TEXTS: Final = ("path", "physical_address", "checksum")
_LONGEST: Final = {"path": MAX_PATH_BYTES, "physical_address": 4096, "checksum": 256, "content_type": 1020}
"""The largest text of each column, in bytes."""
_TYPES: Final[dict[str, pa.DataType]] = {
    **dict.fromkeys(_LONGEST, pa.string()),
    "size_bytes": pa.int64(),
    "mtime": pa.int64(),
    "metadata": pa.map_(pa.string(), pa.string()),
    "deleted": pa.bool_(),
}
_NEEDED: Final = (*_TEXTS, "size_bytes")


async def push_written(ctx: Context, repo_name: str, found_id: str, file: str, *, force: bool = False) -> Layer:
    """Register all rows of a file as one layer of a workspace.

    A row with `deleted` is a deletion. A row may name an object outside of the namespace (see
    `direct_writes.external_rows`).

    Raises the errors of `register_written`, and InvalidRequestError for a file that is not such a Parquet file.
    """
    repo = await open_repo(ctx, repo_name, write=True, force=force)
    record = record_of(await find_open(ctx, repo, found_id))
    source = await ctx.runtime.cpu(_Source, file)
    try:
        layer = await push(ctx, repo, record.name, _delta(ctx, repo, record, source))
        await _note(ctx, repo, record, source)
    finally:
        source.close()
    return layer


async def _delta(ctx: Context, repo: Repo, record: Workspace, source: _Source) -> AsyncIterator[pa.Table]:
    last = ""
    elsewhere = ForeignRows(ctx, repo)
    for group in range(source.groups):
        batches = source.batches(group)
        while (batch := await ctx.runtime.cpu(next, batches, None)) is not None:
            if batch.num_rows == 0:
                continue
            if names_elsewhere(repo, batch):
                delta, last = await elsewhere.delta(batch, last)
                yield delta
                continue
            rows, last = await ctx.runtime.cpu(_rows, ctx, repo, record, batch, last)
            await prove(ctx, repo, rows)
            yield await ctx.runtime.cpu(delta_table, rows)


async def _note(ctx: Context, repo: Repo, record: Workspace, source: _Source) -> None:
    """Record the registered objects in the ledger, so that a scan does not register them again.

    The layer is published already, so this ignores errors: the next scan would only repeat the work.
    """
    try:
        for group in range(source.groups):
            batches = source.batches(group)
            while (batch := await ctx.runtime.cpu(next, batches, None)) is not None:
                if names_elsewhere(repo, batch):
                    continue  # scans list only the workspace's prefix
                rows = await ctx.runtime.cpu(_named, repo, record, batch)
                await stage(ctx, repo, record.name, (), ledger_notes(record, rows))
    except EngineError:
        return


class _Source:
    """A Parquet file of rows. Raises InvalidRequestError when the file is invalid or too large."""

    def __init__(self, path: str) -> None:
        with _refusing(), open(path, "rb") as opened, mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ) as data:
            groups = groups_of(data)
            meta = pq.read_metadata(path)
            largest = _largest_group(data, groups, widths_of(meta))
        if largest > LARGEST_GROUP:
            raise InvalidRequestError(
                f"layer file: a row group has {largest:,} bytes, at most {LARGEST_GROUP:,}: write smaller ones"
            )
        with _refusing():
            leaves = [meta.schema.column(at) for at in range(meta.num_columns)]
            texts = [leaf.path for leaf in leaves if leaf.physical_type == "BYTE_ARRAY"]
            self._file = pq.ParquetFile(path, metadata=meta, memory_map=False, read_dictionary=texts)
            self._columns = _columns(self._file.schema_arrow)
        if meta.num_rows == 0:
            raise InvalidRequestError("layer file: it has no rows, nothing to register")
        self.groups = meta.num_row_groups

    def batches(self, group: int) -> Iterator[pa.Table]:
        """The rows of one row group, in tables of checked types."""
        with _refusing():
            found = self._file.iter_batches(_BATCH, row_groups=[group], columns=self._columns, use_threads=False)
        while True:
            with _refusing():
                batch = next(found, None)
                if batch is None:
                    return
                table = _typed(pa.Table.from_batches([batch]))
            yield table

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def _largest_group(data: mmap.mmap, groups: Sequence[Group], widths: Sequence[int]) -> int:
    """The largest row group in memory, in bytes. It reads the page headers, because the footer can be wrong.

    Texts count as dictionary entries, because the reader decodes them so. The search stops at the first row group that
    is too large.
    """
    largest = pages = 0
    for group in groups:
        sizes = [size_of(data, chunk) for chunk in group.chunks if group.rows]
        largest = max(largest, sum(one.decoded(width) for one, width in zip(sizes, widths, strict=False)))
        pages += sum(one.page_count for one in sizes)
        if largest > LARGEST_GROUP:
            break
        if pages > _MOST_PAGES:
            raise InvalidRequestError(f"layer file: it has more than {_MOST_PAGES:,} pages: write larger ones")
    return largest


@contextmanager
def _refusing() -> Iterator[None]:
    """Turns a Parquet error into InvalidRequestError: the client sent a bad file."""
    try:
        yield
    except DAMAGE as error:
        raise InvalidRequestError(f"layer file: it cannot be read as Parquet: {str(error)[:200]}") from None


def _columns(schema: pa.Schema) -> list[str]:
    missing = [name for name in _NEEDED if name not in schema.names]
    if missing:
        raise InvalidRequestError(f"layer file: the column {missing[0]!r} is missing")
    if len(set(schema.names)) != len(schema.names):
        raise InvalidRequestError("layer file: two columns have the same name")
    return [name for name in _TYPES if name in schema.names]


def _typed(table: pa.Table) -> pa.Table:
    """The columns with their types, with checked texts. Raises InvalidRequestError.

    Texts arrive as dictionaries. The check measures them before it expands them: a small file can repeat a long text
    many times.
    """
    table.validate(full=True)
    for at, name in enumerate(table.column_names):
        if name == "metadata":
            _check_metadata(table.column(at))
            continue
        if name in _LONGEST:
            _check_lengths(name, table.column(at))
        try:
            table = table.set_column(at, name, table.column(at).cast(_TYPES[name]))
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError):
            raise _wrong_type(name, table.column(at).type) from None
    table.validate(full=True)
    return table


def _wrong_type(name: str, found: pa.DataType) -> InvalidRequestError:
    return InvalidRequestError(f"layer file: column {name!r} is {str(found)[:200]}, expected {_TYPES[name]}")


def _is_text(found: pa.DataType) -> bool:
    return bool(
        pa.types.is_dictionary(found)
        and (pa.types.is_string(found.value_type) or pa.types.is_large_string(found.value_type))
    )


def _check_lengths(name: str, column: pa.ChunkedArray) -> None:
    if not _is_text(column.type):
        raise _wrong_type(name, column.type)
    for chunk in column.chunks:
        longest = pc.max(pc.binary_length(chunk.dictionary)).as_py() or 0
        if longest > _LONGEST[name]:
            kind = InvalidPathError if name == "path" else InvalidRequestError
            raise kind(f"layer file: a {name} has {longest:,} bytes, at most {_LONGEST[name]:,}")


def _check_metadata(column: pa.ChunkedArray) -> None:
    found = column.type
    if not (pa.types.is_map(found) and _is_text(found.key_type) and _is_text(found.item_type)):
        raise _wrong_type("metadata", found)
    size = 0
    for texts in (side for chunk in column.chunks for side in (chunk.keys, chunk.items)):
        size += 8 * len(texts) + (pc.sum(pc.binary_length(texts.dictionary).take(texts.indices)).as_py() or 0)
    if size > LARGEST_GROUP:
        raise InvalidRequestError(f"layer file: the metadata of {_BATCH} rows has {size:,} bytes, too many to read")


def _rows(ctx: Context, repo: Repo, record: Workspace, table: pa.Table, last: str) -> tuple[list[Row], str]:
    """The rows and the last path. `last` is the last path of the batch before.

    Raises InvalidRequestError and the errors of `entry_of`.
    """
    with _refusing():
        values = {name: table.column(name).to_pylist() for name in table.column_names}
    nothing: list[Any] = [None] * table.num_rows
    gone = values.get("deleted", nothing)
    types, times, metas = (values.get(name, nothing) for name in ("content_type", "mtime", "metadata"))
    rows: list[Row] = []
    for at, path in enumerate(values["path"]):
        if not path:
            raise InvalidPathError("layer file: a path is empty")
        if path <= last:
            raise InvalidRequestError(f"layer file: {path[:200]!r} is not after {last[:200]!r}: sort by path")
        last = path
        if gone[at]:
            rows.append((path, None))
            continue
        needed = {name: values[name][at] for name in _NEEDED}
        empty = next((name for name, value in needed.items() if value is None), None)
        if empty is not None:
            raise InvalidRequestError(f"layer file: {path[:200]!r} has no {empty}")
        written = Written(
            path=path,
            physical_address=needed["physical_address"],
            checksum=needed["checksum"],
            size=needed["size_bytes"],
            mtime=times[at],
            content_type=types[at] or DEFAULT_CONTENT_TYPE,
            metadata=_metadata(path, metas[at]),
        )
        rows.append((path, entry_of(ctx, repo, record, written)))
    return rows, last


def _named(repo: Repo, record: Workspace, table: pa.Table) -> list[Row]:
    """The live rows of a checked batch, with the fields that the ledger needs."""
    gone = table.column("deleted").to_pylist() if "deleted" in table.column_names else [None] * table.num_rows
    columns = zip(gone, *(table.column(name).to_pylist() for name in _NEEDED), strict=True)
    return [
        (path, Entry(own_address(repo, record, address), checksum_of(checksum)[0], 0, size, 0, "", {}, b""))
        for deleted, path, address, checksum, size in columns
        if not deleted
    ]


def _metadata(path: str, pairs: list[tuple[str, str | None]] | None) -> dict[str, str]:
    found: dict[str, str] = {}
    for key, value in pairs or ():
        if value is None or key in found:
            raise InvalidRequestError(f"layer file: metadata {key[:80]!r} of {path[:200]!r} has no value, or two")
        found[key] = value
    return found
