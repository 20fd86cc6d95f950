"""The methods that branches and workspaces have in common for writing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import IO, TYPE_CHECKING, Any, Literal

from lakebed import _checks, _files
from lakebed._async import tables
from lakebed._async.handles.ref import Ref
from lakebed._bulk.progress import Tally
from lakebed._compat.aio import Data, blocking
from lakebed._compat.aio_files import OpenFile, open_file
from lakebed._gateway.operations import objects, physical_addresses
from lakebed.errors import ObjectExistsError, ObjectFailure, PartialFailureError
from lakebed.model import ObjectInfo, TransferProgress

if TYPE_CHECKING:
    from lakebed._async.tables.upload import TableUpload

_DELETED_AT_ONCE = 1000


class Writable(Ref):
    """A ref that users can write to."""

    __module__ = "lakebed.aio"
    _read_only = False

    async def put(
        self,
        path: str,
        data: Data,
        *,
        metadata: Mapping[str, str] | None = None,
        content_type: str | None = None,
        if_absent: bool = False,
        if_match: str | None = None,
        progress: Callable[[int], None] | None = None,
    ) -> ObjectInfo:
        """Write an object."""
        raise NotImplementedError

    async def _write_many(
        self, items: Iterable[tuple[str, Any, str | None]], deletions: Iterable[str], progress: Any = None
    ) -> list[ObjectInfo]:
        """Write and delete objects. `items` are paths, data and content types."""
        raise NotImplementedError

    def open(self, path: str, mode: str = "rb", *, encoding: str = "utf-8", newline: str | None = None) -> OpenFile:
        """Open an object as a file, to read (`rb`, `r`) or to write (`wb`, `w`; `xb` and `x` refuse to replace).

        A written object appears when the file is closed. An exception in the `with` block discards it.

            with main.open("notes.txt", "w") as file:
                file.write("checked")

        Raises ObjectNotFoundError and ObjectExistsError.
        """
        plain = _files.check_mode(mode, writable=True)
        if plain.startswith("r"):
            return self._open_to_read(path, plain, encoding, newline)
        _checks.check_path(path)

        async def store_file(file: IO[bytes]) -> ObjectInfo:
            return await self.put(path, file, if_absent="x" in plain)

        def refuse() -> ObjectExistsError:
            where = f"lakebed://{self.repository.id}/{self.id}/{path}"
            return ObjectExistsError(
                f"{where} exists already; mode 'w' or 'wb' replaces it",
                operation="open",
                repository=self.repository.id,
                ref=self.id,
                path=path,
            )

        store, exists = blocking(store_file), blocking(partial(self.exists, path))
        return open_file(lambda: _files.open_writer(plain, path, store, exists, refuse, encoding, newline))

    async def delete(self, path: str, *, if_match: str | None = None) -> None:
        """Delete an object. A missing object is not an error.

        `if_match` is a checksum: delete only an object that has it; `*` is any object. Then it raises
        PreconditionFailedError when there is another object or none, and OutcomeUnknownError when the answer was lost.

            main.delete("raw/a.csv")
        """
        await self._transport.call(objects.delete(self.repository.id, self.id, _checks.check_path(path), if_match))

    async def link(
        self,
        path: str,
        physical_address: str,
        *,
        checksum: str,
        size: int,
        content_type: str = "",
        metadata: Mapping[str, str] | None = None,
    ) -> ObjectInfo:
        """Add an object of another store (`s3://bucket/key`) without copying it. `ingest` does so for whole folders.

        The server's setting `ingest.allow` must allow the address. `checksum` and `size` (bytes) describe the object.

        Raises InvalidRequestError when the object is missing or has another size, and PermissionDeniedError.
        """
        _checks.check_path(path)
        described = _checks.check_metadata(dict(metadata or {}), "object")
        call = physical_addresses.link(
            self.repository.id,
            self.id,
            path,
            _checks.check_text(physical_address, "physical address"),
            _checks.check_text(checksum, "checksum"),
            size,
            content_type=content_type,
            metadata=described,
        )
        return await self._transport.call(call)

    async def replace_metadata(self, path: str, metadata: Mapping[str, str]) -> None:
        """Replace the whole metadata of an object. Raises ObjectNotFoundError.

        Example:

            main.replace_metadata("raw/a.csv", {"owner": "ana"})
        """
        _checks.check_path(path)
        checked = _checks.check_metadata(dict(metadata), "object")
        await self._transport.call(physical_addresses.replace_metadata(self.repository.id, self.id, path, checked))

    async def delete_many(self, paths: Iterable[str]) -> int:
        """Delete objects, in groups of 1,000. Missing objects are not an error. Returns the number of given paths.

        Raises PartialFailureError, after trying all, when some objects could not be deleted.

            main.delete_many(row.path for row in main.list("raw/"))
        """
        wanted = [_checks.check_path(path) for path in paths]
        failures: list[ObjectFailure] = []
        for begin in range(0, len(wanted), _DELETED_AT_ONCE):
            group = wanted[begin : begin + _DELETED_AT_ONCE]
            failed = await self._transport.call(objects.delete_many(self.repository.id, self.id, group))
            failures += failed
        if failures:
            first = failures[0]
            error = PartialFailureError(
                f"{len(failures)} of {len(wanted)} objects of lakebed://{self.repository.id}/{self.id} could not be "
                f"deleted, the first {first.path!r}: {first.message}",
                operation="deleteObjects",
                repository=self.repository.id,
                ref=self.id,
            )
            error.failures = tuple(failures)
            raise error
        return len(wanted)

    async def copy(self, src: str, dst: str, src_ref: str | Ref | None = None) -> ObjectInfo:
        """Copy an object, from this ref or from another one, inside the server. Raises ObjectNotFoundError.

        Example:

            main.copy("raw/a.csv", "old/a.csv", src_ref="v1")
        """
        origin = src_ref.id if isinstance(src_ref, Ref) else src_ref or self.id
        source, target = _checks.check_path(src), _checks.check_path(dst)
        call = objects.copy(self.repository.id, self.id, target, _checks.check_name(origin, "ref"), source)
        return await self._transport.call(call)

    # tables

    async def write_parquet(
        self,
        path: str,
        data: object,
        *,
        partition_by: Sequence[str] | str = (),
        mode: Literal["append", "overwrite", "overwrite_partitions", "error"] | None = None,
        schema: Literal["same", "unify"] = "same",
        max_rows_per_file: int | None = None,
        compression: str = "zstd",
        message: str | None = None,
        partition_values: Literal["plain", "hive"] = "plain",
        progress: bool | Callable[[TransferProgress], None] | None = None,
    ) -> list[ObjectInfo]:
        """Write a table as Parquet: one file when the path ends in `.parquet`, else a directory of new files.

        `data` is a DataFrame, an Arrow table or RecordBatchReader, any object with `__arrow_c_stream__` (Polars,
        DuckDB), or an iterator of these. The SDK never holds a whole stream. `partition_by` makes Hive-style
        directories. It refuses a partition value that is null or contains `/`, unless `partition_values` is `hive`,
        which spells such values as Hive does.

            main.write_parquet("orders/", frame, partition_by="day")

        All files appear together, or none. In a directory, `append` (the default) adds files, `overwrite` replaces
        everything below it, `overwrite_partitions` replaces the partitions that the data has, and `error` refuses when
        the directory has something. A single file is replaced, unless `mode` is `error`. On a branch the change is
        uncommitted. With a `message`, it becomes a separate commit without other uncommitted changes.

        Added data must have the columns and types of the existing table. With `schema="unify"` columns may be missing
        or new, but never of another type. `progress` as in `read_table`.

        Raises SchemaMismatchError, ObjectExistsError and InvalidRequestError. With a `message` it also raises
        ConcurrentCommitError and DirtyBranchError. After an error nothing was written.
        """
        return await tables.write.write_parquet(
            self,
            path and _checks.check_new_path(path),
            data,
            partition_by=partition_by,
            mode=mode,
            schema=schema,
            max_rows_per_file=max_rows_per_file,
            compression=compression,
            message=message,
            partition_values=partition_values,
            progress=progress,
        )

    async def write_csv(self, path: str, data: object, **options: Any) -> ObjectInfo:
        """Write a table as one CSV file, a DataFrame without its index. `options` go to `DataFrame.to_csv`.

        Raises InvalidRequestError (the data is not a table) and PermissionDeniedError.

            main.write_csv("orders.csv", frame)
        """
        return await tables.write.write_csv(self, path, data, options)

    async def write_json(self, path: str, data: object, **options: Any) -> ObjectInfo:
        """Write a table as one JSON file: an array of records, or in `.jsonl` and `.ndjson` one line for each record.

        `options` go to `DataFrame.to_json`. Raises InvalidRequestError (the data is not a table) and
        PermissionDeniedError.

            main.write_json("orders.json", frame, orient="records", lines=True)
        """
        return await tables.write.write_json(self, path, data, options)

    async def write_feather(
        self, path: str, data: object, *, compression: Literal["lz4", "zstd"] | None = "lz4"
    ) -> ObjectInfo:
        """Write a table as one Feather file (Arrow IPC), batch by batch.

        Raises InvalidRequestError (the data is not a table) and PermissionDeniedError.

            main.write_feather("cache.feather", frame)
        """
        return await tables.write.write_feather(self, path, data, compression)

    def _table_upload(self, message: str | None, tally: Tally) -> TableUpload:
        """Return the upload of a table's files into this ref."""
        raise NotImplementedError
