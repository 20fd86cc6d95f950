"""The branch handle: a ref that can be written to and committed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from functools import partial
from typing import IO, TYPE_CHECKING, Any, Literal, Self

from lakebed import _checks, _files
from lakebed._async import merging, settle, tables, transfer
from lakebed._async.listing import Listing
from lakebed._async.ref import Ref
from lakebed._compat.aio import Data, blocking
from lakebed._compat.aio_files import OpenFile, open_file
from lakebed._gateway import commits, objects, refs
from lakebed.errors import (
    AlreadyExistsError,
    InvalidRequestError,
    ObjectExistsError,
    ObjectFailure,
    PartialFailureError,
)
from lakebed.model import Change, Commit, ObjectInfo, RefInfo

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

_DELETED_AT_ONCE = 1000


class Branch(Ref):
    """A handle to one branch. Writes are uncommitted until `commit`; `reset` drops them.

    Any method raises NotFoundError when the repository or the branch does not exist, and PermissionDeniedError when
    the branch is protected or the repository read-only.
    """

    __module__ = "lakebed.aio"

    @property
    def name(self) -> str:
        """The name of the branch."""
        return self.id

    # its life

    async def create(self, source: str | Ref = "main", exist_ok: bool = False, hidden: bool = False) -> Self:
        """Create the branch at a ref; copies nothing. Returns itself. With `exist_ok`, one that is there will do.

        Raises AlreadyExistsError and NotFoundError (no such source).
        """
        origin = _checks.check_name(source.id if isinstance(source, Ref) else source, "ref")
        call = refs.create_branch(self.repository.id, self.id, origin, hidden=hidden, repeatable=exist_ok)
        try:
            await self._transport.call(call)
        except AlreadyExistsError as error:
            if not exist_ok or error.kind == "name_taken":
                raise
            await self.info()  # older servers do not say what the name is taken by
        return self

    async def drop(self, force: bool = False) -> None:
        """Delete the branch with its uncommitted changes; commits stay. The default branch is refused."""
        await self._transport.call(refs.delete_branch(self.repository.id, self.id, force=force))

    async def info(self) -> RefInfo:
        """The commit that the branch stands at."""
        return await self._transport.call(refs.get_branch(self.repository.id, self.id))

    # writing

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
        """Write an object from bytes, a pathlib.Path, a binary file or an iterable of bytes. Memory stays bounded.

        `if_absent` refuses to replace an object; `if_match` replaces only one with this checksum. An upload that
        breaks off leaves nothing, and is repeated when the data can be read again.

        Raises ObjectExistsError, PreconditionFailedError, CorruptTransferError and InvalidRequestError; with a
        condition also OutcomeUnknownError, when the answer was lost.
        """
        return await transfer.upload(
            self._transport,
            self.repository.id,
            self.id,
            path,
            data,
            metadata=metadata,
            content_type=content_type,
            if_absent=if_absent,
            if_match=if_match,
            progress=progress,
        )

    async def put_many(
        self,
        items: Mapping[str, Data] | Iterable[tuple[str, Data]],
        *,
        delete: Iterable[str] = (),
        progress: Callable[[int], None] | None = None,
    ) -> list[ObjectInfo]:
        """Write several objects, and delete others, all or nothing: readers see everything or nothing of it.

        At most 10,000 paths. Raises CorruptTransferError and InvalidRequestError.
        """
        pairs = items.items() if isinstance(items, Mapping) else items
        typed = [(path, content, None) for path, content in pairs]
        return await transfer.upload_many(self._transport, self.repository.id, self.id, typed, delete, progress)

    def open(self, path: str, mode: str = "rb", *, encoding: str = "utf-8", newline: str | None = None) -> OpenFile:
        """Open an object as a file, to read (`rb`, `r`) or to write (`wb`, `w`; `xb`, `x` refuse to replace).

        What is written appears when the file is closed cleanly: an exception in the `with` block discards it.

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
                f"{where} exists already", operation="open", repository=self.repository.id, ref=self.id, path=path
            )

        store, exists = blocking(store_file), blocking(partial(self.exists, path))
        return open_file(lambda: _files.open_writer(plain, path, store, exists, refuse, encoding, newline))

    async def delete(self, path: str, *, if_match: str | None = None) -> None:
        """Delete an object. One that is not there is no error.

        `if_match` is a checksum: delete only what has it. Raises PreconditionFailedError when something else is
        there, or nothing; OutcomeUnknownError when the answer to a conditional delete was lost.
        """
        await self._transport.call(objects.delete(self.repository.id, self.id, _checks.check_path(path), if_match))

    async def delete_many(self, paths: Iterable[str]) -> int:
        """Delete objects, in groups of 1,000; missing ones are no error. Returns how many were asked for.

        Raises PartialFailureError, after trying all, when some could not be deleted.
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
        """Copy an object, from this branch or another ref, inside the server. Raises ObjectNotFoundError."""
        origin = src_ref.id if isinstance(src_ref, Ref) else src_ref or self.id
        source, target = _checks.check_path(src), _checks.check_path(dst)
        call = objects.copy(self.repository.id, self.id, target, _checks.check_name(origin, "ref"), source)
        return await self._transport.call(call)

    # committing

    def uncommitted(self, prefix: str = "", delimiter: str = "", limit: int | None = None) -> Listing[Change]:
        """What has changed since the last commit."""
        _checks.check_text(prefix + delimiter, "prefix or delimiter")
        return Listing(
            self._transport,
            lambda after, amount: commits.diff_branch(
                self.repository.id, self.id, prefix=prefix, delimiter=delimiter, after=after, amount=amount
            ),
            Change.COLUMNS,
            f"uncommitted changes of {self.repository.id}/{self.id}",
            limit=limit,
        )

    async def reset(self, path: str | None = None, *, prefix: str | None = None) -> None:
        """Drop uncommitted changes: of one object, of all whose path begins with `prefix`, or all of them.

        Raises InvalidRequestError for both at once or an empty prefix, OutcomeUnknownError on a lost answer.
        """
        if prefix is not None and (path is not None or not prefix):
            raise InvalidRequestError("reset takes a path or a prefix that is not empty; without either it resets all")
        checked = None if path is None else _checks.check_path(path)
        await self._transport.call(refs.reset_branch(self.repository.id, self.id, checked, prefix))

    async def commit(
        self,
        message: str,
        *,
        metadata: Mapping[str, str] | None = None,
        allow_empty: bool = False,
        date: datetime | int | None = None,
    ) -> Commit:
        """Commit everything uncommitted on the branch, whoever wrote it.

        Lost races are tried again. A lost answer is settled by looking for the commit, never by sending it again.

        Raises NothingToCommitError (another commit may have taken the changes along) and CommitStateUnknownError.
        """
        seconds = None if date is None else _checks.unix_seconds(date)
        return await merging.commit(
            self._transport,
            self.repository.id,
            self.id,
            message,
            metadata=metadata,
            allow_empty=allow_empty,
            date=seconds,
        )

    async def find_operation(self, operation_id: str, limit: int = settle.SEARCHED) -> Commit | None:
        """The commit that an operation made, or None: settles a CommitStateUnknownError later.

        Looks at the last `limit` commits by first parents.
        """
        return await settle.find(self._transport, self.repository.id, self.id, operation_id, limit)

    # tables

    async def write_parquet(
        self,
        path: str,
        data: pd.DataFrame | pa.Table | pa.RecordBatchReader,
        *,
        partition_by: list[str] | None = None,
        mode: Literal["append", "overwrite", "error"] | None = None,
        max_rows_per_file: int | None = None,
        compression: str = "zstd",
    ) -> list[ObjectInfo]:
        """Write a table as Parquet: one file when the path ends in `.parquet`, else a directory of new files.

        All files appear at once, or none. In a directory, `append` (the default) adds files, `overwrite` replaces
        everything under it, `error` refuses when there is something. `partition_by` makes Hive-style directories,
        which `read_parquet` restores. A single file is replaced, unless `mode` is `error`.

        Raises AlreadyExistsError and InvalidRequestError.
        """
        return await tables.write_parquet(
            self,
            path,
            data,
            partition_by=partition_by or [],
            mode=mode,
            max_rows_per_file=max_rows_per_file,
            compression=compression,
        )

    async def write_csv(self, path: str, data: pd.DataFrame, **options: Any) -> ObjectInfo:
        """Write a DataFrame as CSV, without its index; `options` go to `DataFrame.to_csv`."""
        return await tables.write_csv(self, path, data, options)
