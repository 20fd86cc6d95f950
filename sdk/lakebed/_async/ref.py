"""The ref handle: reading, at a branch, a tag, a commit or any expression that leads to one.

Under the repository handle, over data plane, listings and tables. Nothing here changes anything but `merge_into`,
which changes its destination.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import IO, TYPE_CHECKING, Any

from lakebed import _checks, _files
from lakebed._async import bulk, merging, tables, transfer
from lakebed._async.listing import Listing
from lakebed._compat.aio import blocking, collect
from lakebed._compat.aio_files import OpenFile, open_file
from lakebed._gateway import commits, objects
from lakebed.errors import ObjectNotFoundError
from lakebed.model import Change, Commit, CommonPrefix, MergeResult, ObjectInfo, TransferProgress, TransferResult

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa
    import pyarrow.dataset as pads

    from lakebed._async.repository import Repository


class Ref:
    """A handle to one state of a repository, readable. A branch is read with its uncommitted changes, `main@` without.

    Any method raises NotFoundError when the repository or the ref does not exist.
    """

    __module__ = "lakebed.aio"

    def __init__(self, repository: Repository, id: str) -> None:
        self.repository = repository
        self.id = _checks.check_name(id, "ref")
        self._transport = repository._transport

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.repository.id}/{self.id}>"

    # objects

    async def get(self, path: str, start: int = 0, length: int | None = None) -> bytes:
        """The content of an object, or a range of it. A whole object is checked against its checksum.

        Raises ObjectNotFoundError, InvalidRequestError (a range behind the end) and CorruptTransferError.
        """
        return b"".join(await collect(aiter(self._download(path, start, length))))

    async def chunks(self, path: str, start: int = 0, length: int | None = None) -> AsyncIterator[bytes]:
        """The same, as chunks of whatever size they arrive in. Goes on by itself when the connection breaks."""
        async for chunk in self._download(path, start, length):
            yield chunk

    async def download(
        self,
        path: str,
        target: str | os.PathLike[str] | IO[bytes],
        *,
        progress: Callable[[int], None] | None = None,
    ) -> ObjectInfo:
        """Write an object to a local path, where it appears only when complete, or into an open binary file.

        `progress` is called with the number of bytes that just arrived. The answer tells what the headers said:
        `metadata` and `physical_address` are empty in it. Raises ObjectNotFoundError and CorruptTransferError.
        """
        return await transfer.download(self._download(path, 0, None), target, progress)

    async def download_tree(
        self,
        prefix: str,
        target: str | os.PathLike[str],
        *,
        progress: Callable[[TransferProgress], None] | None = None,
        jobs: int = bulk.JOBS,
        journal: str | os.PathLike[str] | None = None,
    ) -> TransferResult:
        """Download everything under a prefix, taken as a folder, to a directory. Files of the same names are replaced.

        Each file appears when it is complete. When the process is killed, the same call goes on where it stopped, by a
        journal in `~/.cache/lakebed` or where `journal` says. Raises PartialFailureError, after trying all, when some
        could not be downloaded, or have paths that cannot be files.
        """
        return await bulk.download_tree(self, prefix, target, progress=progress, jobs=jobs, journal=journal)

    def open(self, path: str, mode: str = "rb", *, encoding: str = "utf-8", newline: str | None = None) -> OpenFile:
        """Open an object as a seekable file: `rb` for bytes, `r` for text. Reads fetch ranges through a buffer.

        Raises ObjectNotFoundError; reading raises PreconditionFailedError when the object changed since.
        """
        plain = _files.check_mode(mode, writable=False)
        return self._open_to_read(path, plain, encoding, newline)

    async def stat(self, path: str) -> ObjectInfo:
        """Size, checksum, time, content type and metadata of an object. Raises ObjectNotFoundError."""
        return await self._transport.call(objects.stat(self.repository.id, self.id, _checks.check_path(path)))

    async def exists(self, path: str) -> bool:
        """Whether there is an object at exactly this path. Raises NotFoundError for a repository or ref that is not."""
        try:
            await self.stat(path)
        except ObjectNotFoundError:
            return False
        return True

    def list(
        self, prefix: str = "", delimiter: str = "", after: str = "", limit: int | None = None
    ) -> Listing[ObjectInfo | CommonPrefix]:
        """Objects in the byte order of their paths. With a delimiter, `/` say, folders come as one CommonPrefix."""
        _checks.check_text(prefix + delimiter + after, "prefix, delimiter or after")
        return Listing(
            self._transport,
            lambda after, amount: objects.list_page(
                self.repository.id, self.id, prefix=prefix, delimiter=delimiter, after=after, amount=amount
            ),
            ObjectInfo.COLUMNS,
            f"lakebed://{self.repository.id}/{self.id}/{prefix}",
            after=after,
            limit=limit,
        )

    # history

    async def commit_info(self) -> Commit:
        """The commit that this ref stands at."""
        return await self.repository.commit(self.id)

    def log(
        self,
        *,
        limit: int | None = None,
        after: str = "",
        paths: Sequence[str] = (),
        prefixes: Sequence[str] = (),
        first_parent: bool = False,
        since: datetime | None = None,
        stop_at: str = "",
    ) -> Listing[Commit]:
        """History, newest first. `paths` and `prefixes` keep the commits that changed one of them."""
        moment = None if since is None else _checks.aware(since)
        return Listing(
            self._transport,
            lambda after, amount: commits.log(
                self.repository.id,
                self.id,
                after=after,
                amount=amount,
                paths=paths,
                prefixes=prefixes,
                first_parent=first_parent,
                since=moment,
                stop_at=stop_at,
            ),
            Commit.COLUMNS,
            f"log of {self.repository.id}/{self.id}",
            after=after,
            limit=limit,
        )

    def diff(
        self,
        other: str | Ref,
        *,
        two_dot: bool = False,
        prefix: str = "",
        delimiter: str = "",
        limit: int | None = None,
    ) -> Listing[Change]:
        """What `other` has changed, seen from here: what merging `other` into this ref would bring.

        Counted from the common ancestor; with `two_dot`, the plain difference from this state to that one. To see
        what this ref changed since an older one, use `changes_since`.
        """
        return _differences(self, self.id, _id_of(other), two_dot, prefix, delimiter, limit)

    def changes_since(
        self,
        other: str | Ref,
        *,
        two_dot: bool = False,
        prefix: str = "",
        delimiter: str = "",
        limit: int | None = None,
    ) -> Listing[Change]:
        """What this ref has changed since `other`: `main.changes_since("main~1")` is what the last commit did."""
        return _differences(self, _id_of(other), self.id, two_dot, prefix, delimiter, limit)

    async def merge_base(self, other: str | Ref) -> str:
        """The id of the nearest common ancestor. Raises InvalidRequestError when there is none."""
        return await self._transport.call(commits.merge_base(self.repository.id, self.id, _id_of(other)))

    async def merge_into(
        self,
        dest: str | Ref,
        message: str = "",
        *,
        strategy: str | None = None,
        squash: bool = False,
        allow_empty: bool = False,
        metadata: Mapping[str, str] | None = None,
        resolve: Mapping[str, str] | None = None,
    ) -> MergeResult:
        """Merge this ref into a branch, as one merge commit.

        `strategy` settles all conflicts: `source-wins` (or `theirs`) takes this side, `dest-wins` (or `ours`) the
        branch's. `squash` records no second parent.

        Raises MergeConflictError (with `.paths`; the branch is as it was), DirtyBranchError (the branch has
        uncommitted changes), NothingToCommitError, CommitStateUnknownError, and UnsupportedOperationError for
        `resolve`, which comes with a later version.
        """
        return await merging.merge(
            self._transport,
            self.repository.id,
            self.id,
            _id_of(dest),
            message=message,
            strategy=strategy,
            squash=squash,
            allow_empty=allow_empty,
            metadata=metadata,
            resolve=resolve,
        )

    # tables

    async def read_parquet(
        self,
        path: str,
        *,
        columns: Sequence[str] | None = None,
        filters: pads.Expression | Sequence[Any] | None = None,
    ) -> pd.DataFrame:
        """A Parquet file, or all of those under a directory, as a DataFrame; see `read_table`."""
        from lakebed import _frames

        return _frames.to_pandas(await self.read_table(path, columns=columns, filters=filters))

    async def read_table(
        self,
        path: str,
        *,
        columns: Sequence[str] | None = None,
        filters: pads.Expression | Sequence[Any] | None = None,
    ) -> pa.Table:
        """A Parquet file, or all of those under a directory, as an Arrow table. `""` is the whole ref.

        Columns of Hive-style directories (`day=2026-01-02/`) are restored. Only the columns asked for are fetched,
        and `filters` (an Arrow expression, or pandas' list of tuples) skips row groups and directories.

        Raises ObjectNotFoundError when there is nothing to read.
        """
        return await tables.read_table(self, path, columns, filters)

    async def read_csv(self, path: str, **options: Any) -> pd.DataFrame:
        """A CSV file as a DataFrame; `options` go to `pandas.read_csv`. Raises ObjectNotFoundError."""
        return await tables.read_csv(self, path, options)

    # what the verbs above share

    def _download(self, path: str, start: int, length: int | None, checksum: str | None = None) -> transfer.Download:
        _checks.check_path(path)
        return transfer.Download(
            self._transport, self.repository.id, self.id, path, start=start, length=length, checksum=checksum
        )

    async def _read_at(self, path: str, start: int, length: int, checksum: str) -> bytes:
        """Exactly this range of the object that has this checksum."""
        return b"".join(await collect(aiter(self._download(path, start, length, checksum))))

    def _open_to_read(self, path: str, mode: str, encoding: str, newline: str | None) -> OpenFile:
        _checks.check_path(path)
        stat, read_at = blocking(partial(self.stat, path)), blocking(partial(self._read_at, path))
        return open_file(lambda: _files.open_reader(mode, stat, read_at, encoding, newline))


def _id_of(ref: str | Ref) -> str:
    return _checks.check_name(ref.id if isinstance(ref, Ref) else ref, "ref")


def _differences(
    ref: Ref, left: str, right: str, two_dot: bool, prefix: str, delimiter: str, limit: int | None
) -> Listing[Change]:
    _checks.check_text(prefix + delimiter, "prefix or delimiter")
    repository = ref.repository.id
    return Listing(
        ref._transport,
        lambda after, amount: commits.diff_refs(
            repository, left, right, two_dot=two_dot, prefix=prefix, delimiter=delimiter, after=after, amount=amount
        ),
        Change.COLUMNS,
        f"changes {left}...{right} of {repository}",
        limit=limit,
    )
