"""Read the files of a directory as one table, with Arrow's dataset scanner. Blocking. The caller passes openers for the
files.

Each footer is read once. The files that remain after a filter must have one schema, or `schema` decides.
"""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from typing import Any

import pyarrow as pa
import pyarrow.dataset as pads
import pyarrow.fs as pafs
import pyarrow.parquet as pq
from lakebed_tables import partitions

from lakebed._process.exit import arrow_reads
from lakebed._tables import frames, schemas
from lakebed._tables.location import Place
from lakebed.errors import InvalidRequestError, LakebedError, SchemaDifference

FORMATS = {"parquet": "Parquet file", "feather": "Feather file", "csv": "CSV file", "json": "file of JSON lines"}
BATCH_ROWS = 1 << 16
AHEAD_BYTES = 32 << 20
"""Bytes of unpacked row groups that are fetched in advance."""

_AT_ONCE_BYTES = 8 << 20
"""Bytes of small row groups, unpacked, that one request fetches."""

_MOST_AHEAD = 16
_BATCHES_AHEAD = 2
_WINDOW = 32
"""Files whose row groups are planned together."""

_THREADS = 8
_STREAMED = 1 << 20
_KEPT_FOOTERS = 2000
"""Files whose footers are kept between the check of the schemas and the reading. Footers of more files are read twice.
"""

_UNFIT = ("not in range", "truncated", "lose data", "out of bounds", "Failed to parse")
_ARROW_ERRORS = (pa.ArrowException, OSError, EOFError, KeyError, TypeError, ValueError)

Opener = Callable[[], io.RawIOBase]


@dataclass(frozen=True, slots=True)
class File:
    """One file of a table: its path in the ref, its place below the table's path, and how to open it.

    `local` is a file of this machine with the same content, if there is one. Arrow reads it directly.
    """

    path: str
    place: str
    opener: Opener
    local: str | None = None


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """How a table is read."""

    columns: tuple[str, ...] | None = None
    filters: Any = None
    schema: Any = "same"
    """`same`, `unify`, or an Arrow schema that the caller wants."""

    format: str = "parquet"
    batch_rows: int = BATCH_ROWS
    operation: str = "scan_table"
    index: bool = False
    """Whether to include the columns in which pandas keeps an index."""

    def check(self) -> None:
        """Raises InvalidRequestError."""
        if self.format not in FORMATS:
            raise InvalidRequestError(f"unknown format {self.format!r}: use one of {', '.join(FORMATS)}")
        if self.schema not in ("same", "unify") and not isinstance(self.schema, pa.Schema):
            raise InvalidRequestError(f"schema must be 'same', 'unify' or an Arrow schema, not {self.schema!r}")
        if self.batch_rows < 1:
            raise InvalidRequestError(f"batch_size must be positive: {self.batch_rows}")


class Opened:
    """A table whose schemas are checked, so that it can be read."""

    def __init__(self, where: Place, files: Sequence[File], options: ReadOptions) -> None:
        options.check()
        self._where = where
        self._options = options
        self._format = _format(options.format)
        self._filter = self._expression(options.filters)
        arrow_reads()
        self._objects = pafs.PyFileSystem(_Objects(files))
        values = [partitions.values_of(file.place) for file in files]
        begin = self._format.make_fragment(files[0].path, self._objects)
        first = self._look(files[0], begin, keep=True)
        described = partitions.schema_of(first, values)
        found = [self._fragment(file, value, described) for file, value in zip(files, values, strict=True)]
        if not values[0]:
            found[0] = begin  # its footer is known
        kept = self._kept(files, found, first, described)
        self.schema = self._settled([(file, fragment) for file, fragment in kept], first, described)
        self._dataset = pads.FileSystemDataset([fragment for _, fragment in kept], self.schema, self._format)
        self.columns = self._wanted()
        self._paths = [file.path for file, _ in kept]

    @property
    def shown(self) -> pa.Schema:
        """The schema of the result."""
        if self.columns is None:
            return self.schema
        return pa.schema([self.schema.field(name) for name in self.columns], self.schema.metadata)

    def to_table(self) -> pa.Table:
        """Read everything into a table."""
        with _Translated(self):
            return self._dataset.to_table(columns=self.columns, filter=self._filter)

    def count_rows(self) -> int:
        """Return the number of rows. Without a filter it reads only footers."""
        with _Translated(self):
            return int(self._dataset.count_rows(filter=self._filter))

    def batches(self) -> Generator[pa.RecordBatch, None, None]:
        """Yield the batches in order. Memory: AHEAD_BYTES of row groups, or one row group, and a few batches."""
        fragments = self._dataset.get_fragments(self._filter)
        while window := list(islice(fragments, _WINDOW)):
            with _Translated(self):
                reader = self._scanner(window).to_reader()
            try:
                while True:
                    with _Translated(self):
                        batch = next(reader, None)
                    if batch is None:
                        break
                    if batch.num_rows:
                        yield batch
            finally:
                reader.close()

    def _scanner(self, fragments: Sequence[Any]) -> Any:
        """Scan a few files, some row groups at a time. Arrow alone would fetch whole files in advance."""
        ahead = _WINDOW
        if self._options.format == "parquet":
            fragments = [part for one in fragments for part in self._runs(one)]
            largest = max((_unpacked(part) for part in fragments), default=1)
            ahead = max(1, min(_MOST_AHEAD, AHEAD_BYTES // max(largest, 1)))
        return pads.FileSystemDataset(list(fragments), self.schema, self._format).scanner(
            columns=self.columns,
            filter=self._filter,
            batch_size=self._options.batch_rows,
            batch_readahead=_BATCHES_AHEAD,
            fragment_readahead=ahead,
            use_threads=True,
        )

    def _runs(self, fragment: Any) -> list[Any]:
        """Split a file into pieces for one request each: one large row group, or neighbouring small ones."""
        runs: list[list[Any]] = []
        held = 0
        for part in fragment.split_by_row_group(self._filter, self.schema):
            size = _unpacked(part)
            if not runs or held + size > _AT_ONCE_BYTES:
                runs.append([])
                held = 0
            runs[-1].append(part)
            held += size
        return [
            run[0] if len(run) == 1 else fragment.subset(row_group_ids=[part.row_groups[0].id for part in run])
            for run in runs
        ]

    # opening

    def _expression(self, filters: Any) -> Any:
        if not isinstance(filters, list | tuple):
            return filters
        try:
            return pq.filters_to_expression(filters)
        except (ValueError, TypeError, pa.ArrowException) as error:
            raise self._where.invalid(self._options.operation, f"malformed filters: {error}") from error

    def _look(self, file: File, fragment: Any, *, keep: bool) -> pa.Schema:
        """Read the schema of one file."""
        try:
            if keep and hasattr(fragment, "ensure_complete_metadata"):
                fragment.ensure_complete_metadata()
            return fragment.physical_schema
        except LakebedError:
            raise
        except _ARROW_ERRORS as error:
            what = FORMATS[self._options.format]
            raise self._where.unreadable(self._options.operation, file.path, what, _line(error)) from error

    def _fragment(self, file: File, found: partitions.Values, described: pa.Schema) -> Any:
        try:
            true = partitions.expression_of(found, described)
        except pa.ArrowException as error:
            problem = (
                f"the directories of {file.path!r} do not match the partition columns of the table: {_line(error)}"
            )
            raise self._where.invalid(self._options.operation, problem) from error
        return self._format.make_fragment(file.path, self._objects, partition_expression=true)

    def _kept(
        self, files: Sequence[File], fragments: Sequence[Any], first: pa.Schema, described: pa.Schema
    ) -> list[tuple[File, Any]]:
        """Drop the files that a filter excludes by their directories. They are not opened."""
        pairs = list(zip(files, fragments, strict=True))
        if self._filter is None or not len(described):
            return pairs
        try:
            dataset = pads.FileSystemDataset(list(fragments), _joined(first, described), self._format)
            chosen = {id_ for one in dataset.get_fragments(self._filter) for id_ in [str(one.partition_expression)]}
        except _ARROW_ERRORS:  # for example a column that only other files have: read all of them
            return pairs
        return [pair for pair in pairs if str(pair[1].partition_expression) in chosen] or pairs[:1]

    def _settled(self, kept: list[tuple[File, Any]], first: pa.Schema, described: pa.Schema) -> pa.Schema:
        """Return one schema for all files. Raises SchemaMismatchError."""
        keep = len(kept) <= _KEPT_FOOTERS
        with ThreadPoolExecutor(min(_THREADS, len(kept))) as pool:
            found = list(pool.map(lambda pair: self._look(*pair, keep=keep), kept))
        if isinstance(self._options.schema, pa.Schema):
            wanted = self._options.schema
            return wanted.with_metadata(wanted.metadata or first.metadata)
        paths = [file.path for file, _ in kept]
        if self._options.schema == "unify":
            schema, unlike = schemas.united(list(zip(paths, found, strict=True)))
            advice = "pass an Arrow schema as schema= to convert the types"
        else:
            schema = schemas.most_common(found)
            unlike = [
                one
                for path, there in zip(paths, found, strict=True)
                for one in schemas.differences(path, schema, there)
            ]
            advice = 'schema="unify" accepts additional and missing columns, schema=<an Arrow schema> converts types'
        if self._options.schema == "same":
            pairs = zip(kept, found, strict=True)
            unlike += _other_layouts([(file.path, partitions.layout(file.place, one)) for (file, _), one in pairs])
        if unlike:
            raise self._where.mismatch(self._options.operation, unlike, advice)
        return _joined(schema, described)

    def _wanted(self) -> list[str] | None:
        if self._options.columns is None:
            return None
        missing = [name for name in self._options.columns if self.schema.get_field_index(name) < 0]
        if missing:
            problem = f"no column {', '.join(map(repr, missing))}: the columns are {self.schema.names}"
            raise self._where.invalid(self._options.operation, problem, "unknown_column")
        index = frames.index_columns(self.schema) if self._options.index else []
        more = [name for name in index if name not in self._options.columns and self.schema.get_field_index(name) >= 0]
        return [*self._options.columns, *more]

    def translated(self, error: Exception) -> LakebedError:
        """Translate Arrow's errors inside a `with` block."""
        operation, what = self._options.operation, FORMATS[self._options.format]
        said = _line(error)
        if (
            isinstance(error, pa.ArrowNotImplementedError | pa.ArrowTypeError | KeyError | TypeError)
            or "FieldRef" in said
        ):
            names = f"; the columns are {self.schema.names}" if "FieldRef" in said else ""
            return self._where.invalid(operation, f"cannot filter or convert the rows: {said}{names}")
        if any(words in said for words in _UNFIT):
            return self._where.invalid(operation, f"values do not fit the requested schema: {said}")
        path = next((path for path in self._paths if f"'{path}'" in said), None)
        if path is None:
            return self._where.unreadable(operation, self._where.path, f"table of {what}s", said)
        return self._where.unreadable(operation, path, what, said)


class _Translated:
    """Turns Arrow's errors into errors of the SDK. An SDK error that passes through Arrow stays unchanged."""

    def __init__(self, opened: Opened) -> None:
        self._opened = opened

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, _ARROW_ERRORS) and not isinstance(error, LakebedError | ConnectionError):
            raise self._opened.translated(error) from error


def _format(name: str) -> Any:
    if name == "csv":
        return pads.CsvFileFormat()
    if name == "json":
        return pads.JsonFileFormat()
    if name == "feather":
        return pads.IpcFileFormat()
    return pads.ParquetFileFormat(
        default_fragment_scan_options=pads.ParquetFragmentScanOptions(page_checksum_verification=True)
    )


class _Objects(pafs.FileSystemHandler):  # type: ignore[misc]
    """The files for Arrow. Each open makes a new file object, and errors name the path."""

    def __init__(self, files: Sequence[File]) -> None:
        self._files = {file.path: file for file in files}

    def open_input_file(self, path: str) -> Any:
        """Open for random access."""
        file = self._files[path]
        return pa.OSFile(file.local) if file.local else pa.PythonFile(file.opener(), mode="r")

    def open_input_stream(self, path: str) -> Any:
        """Open for reading from the beginning."""
        file = self._files[path]
        if file.local:
            return pa.OSFile(file.local)
        return pa.PythonFile(io.BufferedReader(file.opener(), _STREAMED), mode="r")

    def get_type_name(self) -> str:
        """A name for messages."""
        return "lakebed"

    def _refuse(self, *arguments: object) -> Any:
        raise NotImplementedError("only for reading files that are known")

    get_file_info = get_file_info_selector = create_dir = delete_dir = delete_dir_contents = _refuse
    delete_root_dir_contents = delete_file = move = copy_file = open_output_stream = open_append_stream = _refuse
    normalize_path = staticmethod(lambda path: path)


def _other_layouts(found: Sequence[tuple[str, tuple[str, ...]]]) -> list[SchemaDifference]:
    """Return the files whose directories have other partition columns than the rest."""
    usual = Counter(layout for _, layout in found).most_common(1)[0][0]
    unlike = []
    for path, layout in found:
        unlike += [SchemaDifference(path, name, "a partition", None) for name in usual if name not in layout]
        unlike += [SchemaDifference(path, name, None, "a partition") for name in layout if name not in usual]
    return unlike


def _joined(schema: pa.Schema, partition_columns: pa.Schema) -> pa.Schema:
    for field in partition_columns:
        if schema.get_field_index(field.name) < 0:
            schema = schema.append(field)
    return schema


def _unpacked(part: Any) -> int:
    """Return the unpacked bytes of the row groups of a part of a file."""
    return sum(group.total_byte_size for group in part.row_groups)


def _line(error: BaseException) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]
