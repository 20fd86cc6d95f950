"""Tables written to branches and workspaces.

pandas and pyarrow are imported inside: `import lakebed` must not wait for them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Protocol

from lakebed import _checks
from lakebed._async.objects.interfaces import ObjectWriter
from lakebed._async.tables.checks import Order, compare, explain_ref, located, look, refuse_folder
from lakebed._async.tables.scan import place_of
from lakebed._async.tables.upload import TableUpload
from lakebed._bulk import progress_bar as render_progress
from lakebed._bulk.progress import Tally
from lakebed._compat.aio import run_in_thread
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


async def write_parquet(
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
    order = Order(path, by, mode, schema, max_rows_per_file, compression, message, partition_values, progress)
    where = place_of(target._target, path)
    with located(where, "write_parquet"):
        order.check()
        try:
            return await _write(target, order, data, where)
        except NotFoundError as error:
            await explain_ref(target._target, where, "write_parquet", error)
            raise


async def _write(target: TableWriter, order: Order, data: object, where: Place) -> list[ObjectInfo]:
    from lakebed._tables import frames, writing

    reader = await run_in_thread(frames.to_reader, data)
    writing.check(reader.schema, order.partition_by, order.max_rows_per_file, order.compression)
    with (
        TemporaryDirectory(prefix="lakebed-", ignore_cleanup_errors=True) as local,
        render_progress.counting(f"write {order.path}", order.progress) as tally,
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
        upload = target._table_upload(order.message, tally)
        try:
            upload.alone = order.one_file and order.mode == "error"
            view = await upload.view()
            known = await look(view, order, where)
            if known:
                await compare(view, order, known, reader.schema, where)
            step = writer.steps(reader, keep_schema=not known)
            folders: set[str] = set()
            while (piece := await run_in_thread(step)) is not None:
                folders.add(piece.folder)
                await upload.add(_path_of(order, piece), HashedFile(piece.file, piece.checksum), piece.size)
            return await upload.finish(*_replaced(order, folders))
        except BaseException:
            await run_in_thread(writer.abandon)
            await upload.abandon()
            raise


def _path_of(order: Order, piece: Piece) -> str:
    return order.path if order.one_file else order.folder + piece.place


def _replaced(order: Order, folders: set[str]) -> tuple[list[str], str]:
    """The prefixes below which only what was written is left, and a common prefix of them."""
    if order.one_file or order.mode not in ("overwrite", "overwrite_partitions"):
        return [], order.folder
    if order.mode == "overwrite":
        return [order.folder], order.folder
    return sorted(order.folder + folder for folder in folders), order.folder


async def write_file(
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
        await run_in_thread(write, file)
        try:
            await refuse_folder(target, where, operation)
            return await target.put(path, file, content_type=content_type, progress=tally.moved)
        except NotFoundError as error:
            await explain_ref(target._target, where, operation, error)
            raise


async def write_csv(target: ObjectWriter, path: str, data: object, options: Mapping[str, Any]) -> ObjectInfo:
    """Write a CSV file."""
    from lakebed._tables import single_file

    return await write_file(
        target, path, lambda file: single_file.write_csv(data, file, path, options), "text/csv", "write_csv"
    )


async def write_json(target: ObjectWriter, path: str, data: object, options: Mapping[str, Any]) -> ObjectInfo:
    """Write a JSON file."""
    from lakebed._tables import single_file

    kind = "application/x-ndjson" if single_file.has_lines(path) else "application/json"
    return await write_file(
        target, path, lambda file: single_file.write_json(data, file, path, options), kind, "write_json"
    )


async def write_feather(target: ObjectWriter, path: str, data: object, compression: str | None) -> ObjectInfo:
    """Write a Feather file."""
    from lakebed._tables import single_file

    kind = "application/vnd.apache.arrow.file"
    return await write_file(
        target, path, lambda file: single_file.write_feather(data, file, compression), kind, "write_feather"
    )
