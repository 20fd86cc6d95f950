# Generated from sdk/lakebed/_async/tables/write.py by tools/unasync_sdk.py - do not edit.
# ruff: noqa: RUF100, UP028
"""Tables written to branches and workspaces.

pandas and pyarrow are imported inside: `import lakebed` must not wait for them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Protocol

from lakebed import _checks
from lakebed._bulk import progress_bar as render_progress
from lakebed._bulk.progress import Tally
from lakebed._compat.sync import run_in_thread
from lakebed._sync.objects.interfaces import ObjectWriter
from lakebed._sync.tables.checks import WriteRequest, compare, explain_ref, located, look, refuse_folder
from lakebed._sync.tables.scan import place_of
from lakebed._sync.tables.upload import TableUpload
from lakebed._tables.location import Place
from lakebed._values.hashed_file import HashedFile
from lakebed.errors import NotFoundError
from lakebed.model import ObjectInfo

if TYPE_CHECKING:
    from lakebed._tables.writing import Piece


class TableWriter(ObjectWriter, Protocol):
    """A branch or a workspace, which have different ways to show the files of a table together."""

    def _table_upload(self, message: str | None, tally: Tally) -> TableUpload:
        """The way of one table. With a message it is a commit."""
        ...


def write_parquet(
    target: TableWriter,
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
    progress: render_progress.Given,
) -> list[ObjectInfo]:
    """Write a table: all of it appears together, or nothing does."""
    if mode is None:
        mode = "overwrite" if path.endswith(".parquet") else "append"
    by = (partition_by,) if isinstance(partition_by, str) else tuple(partition_by)
    request = WriteRequest(path, by, mode, schema, max_rows_per_file, compression, message, partition_values, progress)
    where = place_of(target._target, path)
    with located(where, "write_parquet"):
        request.check()
        try:
            return _write(target, request, data, where)
        except NotFoundError as error:
            explain_ref(target._target, where, "write_parquet", error)
            raise


def _write(target: TableWriter, request: WriteRequest, data: object, where: Place) -> list[ObjectInfo]:
    from lakebed._tables import frames, writing

    reader = run_in_thread(frames.to_reader, data)
    writing.check(reader.schema, request.partition_by, request.max_rows_per_file, request.compression)
    with (
        TemporaryDirectory(prefix="lakebed-", ignore_cleanup_errors=True) as local,
        render_progress.counting(f"write {request.path}", request.progress) as tally,
    ):
        writer = writing.Writer(
            reader.schema,
            Path(local),
            request.partition_by,
            max_rows_per_file=request.max_rows_per_file,
            compression=request.compression,
            one_file=request.one_file,
            partition_values=request.partition_values,
        )
        upload = target._table_upload(request.message, tally)
        try:
            upload.alone = request.one_file and request.mode == "error"
            view = upload.view()
            known = look(view, request, where)
            if known:
                compare(view, request, known, reader.schema, where)
            step = writer.steps(reader, keep_schema=not known)
            folders: set[str] = set()
            while (piece := run_in_thread(step)) is not None:
                folders.add(piece.folder)
                upload.add(_path_of(request, piece), HashedFile(piece.file, piece.checksum), piece.size)
            return upload.finish(*_replaced(request, folders))
        except BaseException:
            run_in_thread(writer.abandon)
            upload.abandon()
            raise


def _path_of(request: WriteRequest, piece: Piece) -> str:
    return request.path if request.one_file else request.folder + piece.place


def _replaced(request: WriteRequest, folders: set[str]) -> tuple[list[str], str]:
    """The prefixes below which only what was written is left, and a common prefix of them."""
    if request.one_file or request.mode not in ("overwrite", "overwrite_partitions"):
        return [], request.folder
    if request.mode == "overwrite":
        return [request.folder], request.folder
    return sorted(request.folder + folder for folder in folders), request.folder


def write_file(
    target: ObjectWriter, path: str, write: Callable[[Path], None], content_type: str, operation: str
) -> ObjectInfo:
    """Write one file: it appears when it is complete."""
    _checks.check_path(path)
    where = place_of(target._target, path)
    with (
        TemporaryDirectory(prefix="lakebed-", ignore_cleanup_errors=True) as local,
        render_progress.counting(f"write {path}", None) as tally,
        located(where, operation),
    ):
        file = Path(local) / "file"
        run_in_thread(write, file)
        try:
            refuse_folder(target, where, operation)
            return target.put(path, file, content_type=content_type, progress=tally.moved)
        except NotFoundError as error:
            explain_ref(target._target, where, operation, error)
            raise


def write_csv(target: ObjectWriter, path: str, data: object, options: Mapping[str, Any]) -> ObjectInfo:
    """Write a CSV file."""
    from lakebed._tables import single_file

    return write_file(
        target, path, lambda file: single_file.write_csv(data, file, path, options), "text/csv", "write_csv"
    )


def write_json(target: ObjectWriter, path: str, data: object, options: Mapping[str, Any]) -> ObjectInfo:
    """Write a JSON file."""
    from lakebed._tables import single_file

    kind = "application/x-ndjson" if single_file.has_lines(path) else "application/json"
    return write_file(target, path, lambda file: single_file.write_json(data, file, path, options), kind, "write_json")


def write_feather(target: ObjectWriter, path: str, data: object, compression: str | None) -> ObjectInfo:
    """Write a Feather file."""
    from lakebed._tables import single_file

    kind = "application/vnd.apache.arrow.file"
    return write_file(
        target, path, lambda file: single_file.write_feather(data, file, compression), kind, "write_feather"
    )
