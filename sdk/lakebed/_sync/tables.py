# Generated from sdk/lakebed/_async/tables.py by tools/unasync_sdk.py - do not edit.
# ruff: noqa: RUF100, UP028
"""Tables on refs, branches and workspaces. Over the handles' own verbs; the files themselves are `lakebed._tables`.

pandas and pyarrow are imported inside: `import lakebed` must not wait for them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import SpooledTemporaryFile, TemporaryDirectory
from typing import IO, TYPE_CHECKING, Any

from lakebed import _checks, _progress
from lakebed._compat.sync import blocking, run_in_thread
from lakebed._files import RangeRaw
from lakebed._sync.scan import ENDINGS, Scan, _read_at, folder_of, is_data, place_of
from lakebed._sync.transfer import download
from lakebed._tables.places import Place
from lakebed.errors import (
    InvalidRequestError,
    NotFoundError,
    ObjectExistsError,
    ObjectNotFoundError,
    ReadOnlyRefError,
)
from lakebed.model import ObjectInfo

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

    from lakebed._sync.ref import Ref
    from lakebed._sync.shipping import Shipment
    from lakebed._sync.writable import Writable
    from lakebed._tables.writing import Piece

PARQUET = "application/vnd.apache.parquet"
MODES = ("append", "overwrite", "overwrite_partitions", "error")
_SPOOLED = 32 << 20


def scan(
    ref: Ref,
    path: str,
    columns: Sequence[str] | None,
    filters: Any,
    *,
    schema: Any = "same",
    format: str | None = None,
    batch_size: int | None = None,
    operation: str = "scan_table",
    progress: _progress.Given = None,
) -> Scan:
    """A scan of a file or of those under a directory."""
    from lakebed._tables import reading

    _checks.check_text(path, "path")
    if isinstance(columns, str):
        raise InvalidRequestError(f"columns must be a list of names: [{columns!r}]")
    kind = format or next((kind for kind, endings in ENDINGS.items() if path.endswith(endings)), "parquet")
    wish = reading.Wish(
        None if columns is None else tuple(columns),
        filters,
        schema,
        kind,
        reading.BATCH_ROWS if batch_size is None else batch_size,
        operation,
        index=operation != "scan_table",
    )
    wish.check()
    return Scan(ref, path, wish, progress)


def read_file(ref: Ref, path: str, parse: Callable[[IO[bytes], Place], Any], operation: str) -> Any:
    """Fetch one file whole, with its checksum compared, and parse it."""
    where = place_of(ref, path)
    with SpooledTemporaryFile(_SPOOLED) as file:
        try:
            with _progress.counting(f"read {path}", None) as tally:
                download(ref._download(path, 0, None), file, tally.moved)
        except ObjectNotFoundError as error:
            _explain_folder(ref, path, operation, error)
            raise
        file.seek(0)
        return run_in_thread(parse, file, where)


def read_csv(ref: Ref, path: str, options: Mapping[str, Any]) -> pd.DataFrame:
    """Read a CSV file."""
    if options.get("chunksize") or options.get("iterator"):
        raise InvalidRequestError('read_csv reads whole files; for pieces, use ref.scan_table(path, format="csv")')
    from lakebed._tables import single

    frame: pd.DataFrame = read_file(ref, path, partial(single.read_csv, options=options), "read_csv")
    return frame


def read_json(ref: Ref, path: str, options: Mapping[str, Any]) -> pd.DataFrame:
    """Read a JSON file."""
    if options.get("chunksize"):
        raise InvalidRequestError('read_json reads whole files; for pieces, use ref.scan_table(path, format="json")')
    from lakebed._tables import single

    frame: pd.DataFrame = read_file(ref, path, partial(single.read_json, options=options), "read_json")
    return frame


def read_feather(ref: Ref, path: str, columns: Sequence[str] | None) -> pd.DataFrame:
    """Read a Feather file by ranges."""
    from lakebed import _frames
    from lakebed._tables import single

    try:
        info = ref.stat(path)
    except ObjectNotFoundError as error:
        _explain_folder(ref, path, "read_feather", error)
        raise
    read_at = blocking(partial(_read_at, ref, None))
    file = RangeRaw(info.path, info.size, info.checksum, partial(read_at, info.path))
    table = run_in_thread(single.read_feather, file, place_of(ref, path), columns)
    return run_in_thread(_frames.to_pandas, table)


def _explain_folder(ref: Ref, path: str, operation: str, error: ObjectNotFoundError) -> None:
    """Raise a better error when the path is a directory."""
    first = ref.list(folder_of(path)).first() if path else None
    if first is not None:
        where = place_of(ref, path)
        raise ObjectNotFoundError(
            f"{operation} {where}: this is a directory, and {operation} reads one file: name one of its files, such as "
            f"{first.path!r}, or read all of them with scan_table(path, format=...)",
            kind="is_a_directory",
            status=error.status,
            **where.about(operation),
        ) from error


@dataclass(frozen=True, slots=True)
class Order:
    """What is to be written, and how."""

    path: str
    partition_by: tuple[str, ...]
    mode: str
    schema: str
    max_rows_per_file: int | None
    compression: str
    message: str | None
    partition_values: str
    progress: _progress.Given

    @property
    def one_file(self) -> bool:
        """Whether the path is a file's."""
        return self.path.endswith(".parquet")

    @property
    def folder(self) -> str:
        """The directory that is written to."""
        return folder_of(self.path)

    def check(self) -> None:
        """Raises InvalidRequestError."""
        _checks.check_text(self.path, "path")
        if self.mode not in MODES:
            raise InvalidRequestError(f"mode must be one of {', '.join(map(repr, MODES))}, not {self.mode!r}")
        if self.schema not in ("same", "unify"):
            raise InvalidRequestError(f"schema must be 'same' or 'unify', not {self.schema!r}")
        if self.partition_values not in ("plain", "hive"):
            raise InvalidRequestError(f"partition_values must be 'plain' or 'hive', not {self.partition_values!r}")
        folders_only = self.partition_by or self.max_rows_per_file is not None
        if self.one_file and (folders_only or self.mode in ("append", "overwrite_partitions")):
            raise InvalidRequestError(
                f"{self.path!r} is one file: partition_by, max_rows_per_file and mode={self.mode!r} need a directory; "
                f"write to {self.path + '/'!r} for one of this name"
            )
        if self.mode == "overwrite_partitions" and not self.partition_by:
            raise InvalidRequestError("mode='overwrite_partitions' needs partition_by; 'overwrite' replaces everything")


def write_parquet(
    target: Writable,
    path: str,
    data: object,
    *,
    partition_by: Sequence[str] | str,
    mode: str | None,
    schema: str,
    max_rows_per_file: int | None,
    compression: str,
    message: str | None,
    partition_values: str,
    progress: _progress.Given,
) -> list[ObjectInfo]:
    """Write a table: everything appears at once, or nothing does."""
    if mode is None:
        mode = "overwrite" if path.endswith(".parquet") else "append"
    by = (partition_by,) if isinstance(partition_by, str) else tuple(partition_by)
    order = Order(path, by, mode, schema, max_rows_per_file, compression, message, partition_values, progress)
    where = place_of(target, path)
    with _located(where, "write_parquet"):
        order.check()
        try:
            return _write(target, order, data, where)
        except NotFoundError as error:
            _explain_ref(target, "write_parquet", error)
            raise


def _write(target: Writable, order: Order, data: object, where: Place) -> list[ObjectInfo]:
    from lakebed import _frames
    from lakebed._tables import writing

    reader = run_in_thread(_frames.to_reader, data)
    writing.check(reader.schema, order.partition_by, order.max_rows_per_file, order.compression)
    with (
        TemporaryDirectory(prefix="lakebed-", ignore_cleanup_errors=True) as local,
        _progress.counting(f"write {order.path}", order.progress) as tally,
    ):
        writer = writing.Writer(
            reader.schema,
            Path(local),
            order.partition_by,
            max_rows_per_file=order.max_rows_per_file,
            compression=order.compression,
            one_file=order.one_file,
            partition_values=order.partition_values,
        )
        shipment: Shipment = target._shipment(order.message, tally)
        try:
            shipment.alone = order.one_file and order.mode == "error"
            view = shipment.view()
            known = _look(view, order, where)
            if known is not None and order.mode in ("append", "overwrite_partitions"):
                _compare(view, order, known, reader.schema, where)
            step = writer.steps(reader, keep_schema=known is None or order.mode == "overwrite")
            folders: set[str] = set()
            while (piece := run_in_thread(step)) is not None:
                folders.add(piece.folder)
                shipment.add(_path_of(order, piece), piece.file, piece.size)
            return shipment.finish(*_replaced(order, folders))
        except BaseException:
            run_in_thread(writer.abandon)
            shipment.abandon()
            raise


def _path_of(order: Order, piece: Piece) -> str:
    return order.path if order.one_file else order.folder + piece.place


def _replaced(order: Order, folders: set[str]) -> tuple[list[str], str]:
    """The prefixes below which only what was written is left, and one that all of them are under."""
    if order.one_file or order.mode not in ("overwrite", "overwrite_partitions"):
        return [], order.folder
    if order.mode == "overwrite":
        return [order.folder], order.folder
    return sorted(order.folder + folder for folder in folders), order.folder


def _look(view: Ref, order: Order, where: Place) -> ObjectInfo | None:
    """A file of the table as it is, if there is one. Refuses what must not be there."""
    if order.one_file:
        if view.list(order.path + "/").first() is not None:
            raise where.invalid("write_parquet", f"this is a directory; to write into it, name it {order.path + '/'!r}")
        if order.mode == "error" and view.exists(order.path):
            raise _exists(where, order.path)
        return None
    bare = order.path.rstrip("/")
    if bare and view.exists(bare):
        raise where.invalid(
            "write_parquet", f"{bare!r} is an object, so there can be no table below it; delete it first"
        )
    if order.mode == "overwrite":
        return None
    for row in view.list(order.folder):
        if order.mode == "error":
            raise _exists(where, row.path)
        if isinstance(row, ObjectInfo) and is_data(row.path[len(order.folder) :], ENDINGS["parquet"]):
            return row
    return None


def _exists(where: Place, there: str) -> ObjectExistsError:
    return ObjectExistsError(
        f"write_parquet {where}: {there!r} is there already; use mode='append' or mode='overwrite'",
        **where.about("write_parquet"),
    )


def _compare(view: Ref, order: Order, known: ObjectInfo, schema: pa.Schema, where: Place) -> None:
    """Refuse data that would make a table of two schemas, or of two layouts. Reads one footer."""
    from lakebed._tables import partitions, reading, schemas

    place = known.path[len(order.folder) :]
    read_at = blocking(partial(_read_at, view, None))
    opener = partial(RangeRaw, known.path, known.size, known.checksum, partial(read_at, known.path))
    wish = reading.Wish(operation="write_parquet")
    opened = run_in_thread(reading.Opened, where, [reading.File(known.path, place, opener)], wish)
    layout = partitions.layout(place, opened.schema)
    if layout != order.partition_by:
        said = f"partition_by={list(layout)}" if layout else "no partition_by"
        raise where.invalid(
            "write_parquet",
            f"the table was written with {said}, not {list(order.partition_by)}: use the same, or overwrite",
        )
    expected = opened.schema
    found = run_in_thread(schemas.stored, schema)
    unlike = schemas.differences("the data", expected, found)
    if order.schema == "unify":
        unlike = [
            one for one in unlike if None not in (one.expected, one.found) and "null" not in (one.expected, one.found)
        ]
        advice = "types are never converted silently: cast the data"
    else:
        advice = 'write with schema="unify" to add or leave out columns, cast the data, or use mode="overwrite"'
    if unlike:
        raise where.mismatch("write_parquet", unlike, f"{advice}. (compared with {known.path!r})")


def _explain_ref(target: Writable, operation: str, error: NotFoundError) -> None:
    """Raise a better error when what was taken for a branch is a tag or a commit."""
    if error.kind == "branch_not_found" and _is_commit(target):
        where = f"lakebed://{target.repository.id}/{target.id}"
        raise ReadOnlyRefError(
            f"{operation} {where}: {target.id!r} is a tag or a commit, which cannot be written to; make a "
            f'branch of it: repo.branch("fix").create({target.id!r})',
            status=error.status,
            operation=operation,
            repository=target.repository.id,
            ref=target.id,
        ) from error


def _is_commit(ref: Ref) -> bool:
    try:
        ref.commit_info()
    except NotFoundError:
        return False
    return True


@contextmanager
def _located(where: Place, operation: str) -> Iterator[None]:
    """Errors about data, which know no place, say where it was going."""
    try:
        yield
    except InvalidRequestError as error:
        if error.repository is None:
            error.message = f"{operation} {where}: {error.message}"
            error.operation, error.repository, error.ref, error.path = (
                operation,
                where.repository,
                where.ref,
                where.path,
            )
        raise


def write_file(
    target: Writable, path: str, write: Callable[[Path], None], content_type: str, operation: str
) -> ObjectInfo:
    """Write one file: it appears when it is complete."""
    _checks.check_path(path)
    with (
        TemporaryDirectory(prefix="lakebed-", ignore_cleanup_errors=True) as local,
        _progress.counting(f"write {path}", None) as tally,
        _located(place_of(target, path), operation),
    ):
        file = Path(local) / "file"
        run_in_thread(write, file)
        try:
            return target.put(path, file, content_type=content_type, progress=tally.moved)
        except NotFoundError as error:
            _explain_ref(target, operation, error)
            raise


def write_csv(target: Writable, path: str, data: object, options: Mapping[str, Any]) -> ObjectInfo:
    """Write a CSV file."""
    from lakebed._tables import single

    return write_file(target, path, lambda file: single.write_csv(data, file, path, options), "text/csv", "write_csv")


def write_json(target: Writable, path: str, data: object, options: Mapping[str, Any]) -> ObjectInfo:
    """Write a JSON file."""
    from lakebed._tables import single

    kind = "application/x-ndjson" if single.has_lines(path) else "application/json"
    return write_file(target, path, lambda file: single.write_json(data, file, path, options), kind, "write_json")


def write_feather(target: Writable, path: str, data: object, compression: str | None) -> ObjectInfo:
    """Write a Feather file."""
    from lakebed._tables import single

    kind = "application/vnd.apache.arrow.file"
    return write_file(target, path, lambda file: single.write_feather(data, file, compression), kind, "write_feather")
