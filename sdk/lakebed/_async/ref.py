"""The ref handle: reading, at a branch, a tag, a commit or any expression that leads to one.

Under the repository handle, over data plane, listings and tables. Nothing here changes anything but `merge_into`,
which changes its destination.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import IO, TYPE_CHECKING, Any, Literal

from lakebed import _checks, _files, _html, _progress
from lakebed._async import bulk, merging, ranges, tables, transfer
from lakebed._async.diffs import Diff
from lakebed._async.download import Download
from lakebed._async.listing import Listing
from lakebed._async.scan import Scan
from lakebed._async.transport import Transport
from lakebed._compat.aio import Shown, blocking, collect
from lakebed._compat.aio_files import OpenFile, open_file
from lakebed._gateway import commits, objects, placing
from lakebed._signed import PROXIED, wanted_path
from lakebed.errors import ObjectNotFoundError, ReadOnlyRefError
from lakebed.model import Commit, CommonPrefix, MergeResult, ObjectInfo, RangeInfo, TransferProgress, TransferResult

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa
    import pyarrow.dataset as pads

    from lakebed._async.repository import Repository


_WRITES = frozenset(
    [
        "put",
        "put_many",
        "delete",
        "delete_many",
        "copy",
        "commit",
        "revert",
        "cherry_pick",
        "reset",
        "hard_reset",
        "link",
        "replace_metadata",
        "write_symlinks",
        "uncommitted",
        "workspace",
        "stash",
        "ingest",
        "upload_tree",
        "write_parquet",
        "write_csv",
        "write_json",
        "write_feather",
    ]
)
"""What a branch can, and people try on tags and commits."""


class Ref(Shown):
    """A handle to one state of a repository, readable. A branch is read with its uncommitted changes, `main@` without.

    Any method raises NotFoundError when the repository or the ref does not exist.
    """

    __module__ = "lakebed.aio"
    _read_only = True

    def __init__(self, repository: Repository, id: str) -> None:
        self.repository = repository
        self.id = _checks.check_name(id, "ref")
        self._transport: Transport = repository._transport

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.repository.id}/{self.id}>"

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            if self._read_only and name in _WRITES:
                raise _refused(self, name)
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

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
        progress: bool | Callable[[TransferProgress], None] | None = None,
        jobs: int = bulk.JOBS,
        journal: str | os.PathLike[str] | None = None,
    ) -> TransferResult:
        """Download everything under a prefix, taken as a folder, to a directory. Files of the same names are replaced.

        Each file appears when it is complete. When the process is killed, the same call goes on where it stopped, by a
        journal in `~/.cache/lakebed` or where `journal` says. Raises PartialFailureError, after trying all, when some
        could not be downloaded, or have paths that cannot be files.
        """
        with _progress.following(f"download {prefix}", progress) as report:
            return await bulk.download_tree(self, prefix, target, progress=report, jobs=jobs, journal=journal)

    def open(self, path: str, mode: str = "rb", *, encoding: str = "utf-8", newline: str | None = None) -> OpenFile:
        """Open an object as a seekable file: `rb` for bytes, `r` for text. Reads fetch ranges through a buffer.

        Raises ObjectNotFoundError; reading raises PreconditionFailedError when the object changed since.
        """
        plain = _files.check_mode(mode, writable=False)
        return self._open_to_read(path, plain, encoding, newline)

    async def stat(self, path: str) -> ObjectInfo:
        """Size, checksum, time, content type and metadata of an object. Raises ObjectNotFoundError."""
        return await self._transport.call(objects.stat(self.repository.id, self.id, _checks.check_path(path)))

    async def storage_class(self, path: str) -> str | None:
        """The storage class that the store keeps an object in; None where it has none. Raises ObjectNotFoundError."""
        return await self._transport.call(placing.storage_class(self.repository.id, self.id, _checks.check_path(path)))

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

    async def ranges(self) -> Sequence[RangeInfo]:
        """The Parquet files that the committed entries are in, for engines that read them by themselves.

        In order of path, the patches behind the ranges. What is uncommitted on a branch is in none of them.
        """
        return await ranges.ranges_of(self.repository, self.id)

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
    ) -> Diff:
        """What `other` has changed, seen from here: what merging `other` into this ref would bring.

        Counted from the common ancestor; with `two_dot`, the plain difference from this state to that one. To see
        what this ref changed since an older one, use `changes_since`. `.table(path, key=...)` compares rows of a table.
        """
        return _differences(self, self.id, id_of(other), two_dot, prefix, delimiter, limit)

    def changes_since(
        self,
        other: str | Ref,
        *,
        two_dot: bool = False,
        prefix: str = "",
        delimiter: str = "",
        limit: int | None = None,
    ) -> Diff:
        """What this ref has changed since `other`: `main.changes_since("main~1")` is what the last commit did."""
        return _differences(self, id_of(other), self.id, two_dot, prefix, delimiter, limit)

    async def merge_base(self, other: str | Ref) -> str:
        """The id of the nearest common ancestor. Raises InvalidRequestError when there is none."""
        return await self._transport.call(commits.merge_base(self.repository.id, self.id, id_of(other)))

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
        key: str | None = None,
    ) -> MergeResult:
        """Merge this ref into a branch, as one merge commit.

        `strategy` settles all conflicts: `source-wins` (or `theirs`) takes this side, `dest-wins` (or `ours`) the
        branch's. `resolve` settles them path by path: globs as in a .gitignore file, each with `source` or `dest`; the
        first that matches counts, and the strategy where none does. `squash` records no second parent. `key` as of
        `branch.commit`.

        Raises MergeConflictError (with `.paths`; the branch is as it was), DirtyBranchError (the branch has
        uncommitted changes), NothingToCommitError, CommitStateUnknownError.
        """
        asked = merging.merge_asked(
            message=message,
            strategy=strategy,
            squash=squash,
            allow_empty=allow_empty,
            metadata=metadata,
            resolve=resolve,
            key=None if key is None else _checks.check_text(key, "key"),
        )
        return await merging.merge(self._transport, self.repository.id, self.id, id_of(dest), asked)

    # tables

    def scan_table(
        self,
        path: str,
        *,
        columns: Sequence[str] | None = None,
        filters: pads.Expression | Sequence[Any] | None = None,
        schema: Literal["same", "unify"] | pa.Schema = "same",
        format: Literal["parquet", "csv", "json", "feather"] | None = None,
        batch_size: int | None = None,
    ) -> Scan:
        """A table to be read piece by piece, in bounded memory: iterate it for Arrow record batches.

        The arguments are those of `read_table`. `format` is by default what the path's ending says, or Parquet;
        `batch_size` is the most rows of a batch. The scan asks nothing before it is read; then it raises what
        `read_table` raises.
        """
        return tables.scan(self, path, columns, filters, schema=schema, format=format, batch_size=batch_size)

    async def read_table(
        self,
        path: str,
        *,
        columns: Sequence[str] | None = None,
        filters: pads.Expression | Sequence[Any] | None = None,
        schema: Literal["same", "unify"] | pa.Schema = "same",
        progress: bool | Callable[[TransferProgress], None] | None = None,
    ) -> pa.Table:
        """A Parquet file, or all of those under a directory, as an Arrow table. `""` is the whole ref.

        Columns of Hive-style directories (`day=2026-01-02/`) are restored. Only the columns asked for are fetched,
        and `filters` (an Arrow expression, or pandas' list of tuples) skips row groups and directories.

        All files must have the same columns and types. `schema="unify"` takes the columns of all of them, null where a
        file has none; an Arrow schema says which columns of which types are wanted, and values are converted to it.

        `progress`: a bar (True), none (False), a callback; by default a bar after one second, on a terminal only.

        Raises ObjectNotFoundError when there is nothing to read, SchemaMismatchError, TableFormatError for a file that
        is damaged, and InvalidRequestError for a column that is not.
        """
        reading = tables.scan(
            self, path, columns, filters, schema=schema, format="parquet", operation="read_table", progress=progress
        )
        return await reading.to_table()

    async def read_parquet(
        self,
        path: str,
        *,
        columns: Sequence[str] | None = None,
        filters: pads.Expression | Sequence[Any] | None = None,
        schema: Literal["same", "unify"] | pa.Schema = "same",
        progress: bool | Callable[[TransferProgress], None] | None = None,
    ) -> pd.DataFrame:
        """A Parquet file, or all of those under a directory, as a DataFrame; see `read_table`."""
        reading = tables.scan(
            self, path, columns, filters, schema=schema, format="parquet", operation="read_parquet", progress=progress
        )
        return await reading.to_pandas()

    async def read_csv(self, path: str, **options: Any) -> pd.DataFrame:
        """A CSV file as a DataFrame; `options` go to `pandas.read_csv`.

        Raises ObjectNotFoundError, TableFormatError and InvalidRequestError.
        """
        return await tables.read_csv(self, path, options)

    async def read_json(self, path: str, **options: Any) -> pd.DataFrame:
        """A JSON file as a DataFrame; `.jsonl` and `.ndjson` have a record in each line. `options` as of pandas.

        Raises ObjectNotFoundError, TableFormatError and InvalidRequestError.
        """
        return await tables.read_json(self, path, options)

    async def read_feather(self, path: str, *, columns: Sequence[str] | None = None) -> pd.DataFrame:
        """A Feather file (Arrow IPC) as a DataFrame; only the columns asked for are fetched.

        Raises ObjectNotFoundError, TableFormatError and InvalidRequestError.
        """
        return await tables.read_feather(self, path, columns)

    # what the verbs above share

    def _pending(self) -> Listing[Any] | None:
        """What is not committed yet, where there can be something."""
        return None

    async def _look(self) -> str:
        commit = await self.commit_info()
        pairs: list[tuple[str, object]] = [("commit", commit.short_id), ("message", commit.message)]
        pairs += [("committer", commit.committer), ("date", commit.created)]
        if (pending := self._pending()) is not None:
            changes = await pending.all()
            pairs.append(("uncommitted", f"{len(changes)}{'+' if len(changes) > _html.ROWS else ''} paths"))
        rows = await self.list(delimiter="/", limit=_html.ROWS + 1).all()
        shown = [_Shown(row) for row in rows[: _html.ROWS]]
        top = _html.rows("/", shown, _Shown.COLUMNS, more=len(rows) > _html.ROWS)
        return _html.facts(f"{self.repository.id}/{self.id}", pairs, top)

    def _download(
        self, path: str, start: int, length: int | None, checksum: str | None = None, known: str | None = None
    ) -> Download:
        _checks.check_path(path)
        return Download(
            self._transport,
            self.repository.id,
            self.id,
            path,
            start=start,
            length=length,
            checksum=checksum,
            known=known,
            proxied=self._reads_proxied(),
        )

    def _reads_proxied(self) -> bool:
        """Whether all bytes are to come through the server: the variable LAKEBED_DATA_PATH may say so."""
        return wanted_path(None) == PROXIED

    async def _read_at(self, path: str, start: int, length: int, checksum: str) -> bytes:
        """Exactly this range of the object that has this checksum."""
        return b"".join(await collect(aiter(self._download(path, start, length, checksum))))

    def _open_to_read(self, path: str, mode: str, encoding: str, newline: str | None) -> OpenFile:
        _checks.check_path(path)
        stat, read_at = blocking(partial(self.stat, path)), blocking(partial(self._read_at, path))
        return open_file(lambda: _files.open_reader(mode, stat, read_at, encoding, newline))


class _Shown:
    """A row of the folder that a notebook shows."""

    COLUMNS = (("path", "string"), ("size", "int64"), ("mtime", "time"))

    def __init__(self, row: ObjectInfo | CommonPrefix) -> None:
        self.path = row.path
        self.size = getattr(row, "size", None)
        self.mtime = getattr(row, "mtime", None)


def _refused(ref: Ref, verb: str) -> ReadOnlyRefError:
    where = f"lakebed://{ref.repository.id}/{ref.id}"
    return ReadOnlyRefError(
        f"{verb} {where}: {type(ref).__name__.lower()} {ref.id!r} cannot be written to, only branches and workspaces "
        f'can: use repo.branch({ref.id!r}) if it is a branch, or make one of it: repo.branch("fix").create({ref.id!r})',
        operation=verb,
        repository=ref.repository.id,
        ref=ref.id,
    )


def id_of(ref: str | Ref | Commit) -> str:
    """The expression of a ref that is given by itself, by its handle or as a commit."""
    return _checks.check_name(ref.id if isinstance(ref, Ref | Commit) else ref, "ref")


def _differences(
    ref: Ref, left: str, right: str, two_dot: bool, prefix: str, delimiter: str, limit: int | None
) -> Diff:
    _checks.check_text(prefix + delimiter, "prefix or delimiter")
    repository = ref.repository.id
    return Diff(
        ref,
        lambda after, amount: commits.diff_refs(
            repository, left, right, two_dot=two_dot, prefix=prefix, delimiter=delimiter, after=after, amount=amount
        ),
        f"changes {left}...{right} of {repository}",
        (left, right),
        three_dot=not two_dot,
        limit=limit,
    )
