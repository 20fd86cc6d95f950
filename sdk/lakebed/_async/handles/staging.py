"""Writing into a workspace. The bytes go to the store first, then the SDK registers the objects with the server.

Readers of the branch see none of it before the commit.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lakebed import _checks
from lakebed._async.handles.writable import Writable
from lakebed._async.http.target import Opening
from lakebed._async.http.transport import Transport
from lakebed._async.objects import batch, sinks, upload
from lakebed._async.objects.shared_directory import trusted
from lakebed._async.tables.upload import IntoWorkspace
from lakebed._bulk.progress import Tally
from lakebed._compat.aio import Data, run_in_thread
from lakebed._direct.directory import is_plain
from lakebed._gateway.operations import workspaces
from lakebed._values.signed import PROXIED, wanted_path
from lakebed._values.upload_source import source_of
from lakebed._values.workspaces import WorkspaceOptions
from lakebed.errors import InvalidRequestError, UnsupportedOperationError, WorkspaceClosedError
from lakebed.model import (
    Commit,
    CommitAttempt,
    ObjectInfo,
    ScanResult,
    WorkspaceInfo,
)

if TYPE_CHECKING:
    from lakebed._async.handles.repository_base import Repository

_GROUP = 5000
"""Objects in one registration. The server takes 10,000."""

_WINDOW = 1000
"""Objects of `put_many` that the SDK writes and keeps in memory together."""


class Staging(Writable):
    """The methods of a workspace that write."""

    __module__ = "lakebed.aio"

    def __init__(
        self,
        repository: Repository,
        id: str,
        options: WorkspaceOptions,
        *,
        info: WorkspaceInfo | None = None,
        on_attempt: Callable[[CommitAttempt], None] | None = None,
        is_made: bool = False,
    ) -> None:
        super().__init__(repository, id)
        options.check()
        self.branch, _, self.workspace_id = id.rpartition("+")
        self.options = options
        self._on_attempt = on_attempt
        self._info = info
        self._made = is_made or info is not None
        self._plain: Transport = repository._transport
        if not self._made:
            self._target = self._target.over(Opening(self._plain, self._open))
        self._sink: sinks.Sink | None = None
        self._way: str | None = None
        self._given_out = False  # whether `path` was called: other tools may write
        self._done: Commit | None = None

    async def path(self, path: str = "") -> str:
        """Return where another tool can write this path: a file path in a shared directory, or `s3://bucket/...`.

        Then `commit` scans for what the tool wrote, and `scan` does so earlier. After a partial commit, call it again.

        Raises UnsupportedOperationError when this machine reaches the store only through the server. Raises
        InvalidRequestError for a path that cannot be a file path.

            frame.to_csv(ws.path("report/summary.csv"))
        """
        _checks.check_text(path, "path")
        info = await self._place()
        if sinks.is_cloud(info):
            self._given_out = True
            return info.storage_prefix + path
        if not sinks.sees(info):
            raise UnsupportedOperationError(
                f"{info.storage_prefix} cannot be written to from this machine: use put, open or write_parquet",
                operation="path",
                repository=self.repository.id,
                ref=self.id,
            )
        if path and not is_plain(path.rstrip("/")):
            raise InvalidRequestError(f"{path!r} cannot be a file's path: write it with put", path=path)
        self._given_out = True
        return sinks.folder_for(info, path)

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
        """Write an object from bytes, a pathlib.Path, a binary file or an iterable of bytes, and register it.

        Where possible the bytes go to the store without passing through the server. With `if_absent` (nothing may be at
        the path) or `if_match` (only this checksum is replaced) they go through the server, because the check and the
        write must be one step.

        Raises ObjectExistsError, PreconditionFailedError, CorruptTransferError and InvalidRequestError.

            ws.put("raw/a.csv", b"id,name")
        """
        item = sinks.outgoing(_checks.check_new_path(path), data, content_type, metadata, progress)
        sink = None if if_absent or if_match is not None else await self._opened_sink()
        if sink is None:
            await self._open()
            return await upload.upload(
                self._target,
                path,
                data,
                metadata=metadata,
                content_type=content_type,
                if_absent=if_absent,
                if_match=if_match,
                progress=progress,
            )
        (stored,) = await sink.store([item])
        await self.register([stored])
        return stored

    async def put_many(
        self,
        items: Mapping[str, Data] | Iterable[tuple[str, Data]],
        *,
        delete: Iterable[str] = (),
        progress: Callable[[int], None] | None = None,
    ) -> list[ObjectInfo]:
        """Write any number of objects, in parallel, and delete others. The SDK registers them in groups.

        Up to 5,000 changes appear together. More appear group by group. The SDK reads `items` as it needs them, so
        memory stays bounded.

        Raises CorruptTransferError and InvalidRequestError.

            ws.put_many({"a.csv": b"1", "b.csv": b"2"}, delete=["old.csv"])
        """
        pairs = items.items() if isinstance(items, Mapping) else items
        return await self._write_many(
            ((_checks.check_new_path(path), data, None) for path, data in pairs), delete, progress
        )

    async def register(self, objects: Sequence[ObjectInfo], deletes: Sequence[str] = ()) -> None:
        """Register objects that are stored below the workspace's prefix already, and deletions. Up to 5,000 appear
        together.

        Set `path`, `physical_address`, `checksum` (the hex MD5), `size` (bytes) and `mtime`. The server compares them
        with the stored objects.

        Raises InvalidRequestError and CorruptTransferError.
        """
        left = list(deletes)
        rows: list[tuple[Sequence[ObjectInfo], Sequence[str]]]
        rows = [(objects[start : start + _GROUP], ()) for start in range(0, len(objects), _GROUP)]
        if rows and len(left) <= _GROUP:
            rows[-1], left = (rows[-1][0], left), []
        rows += [((), left[start : start + _GROUP]) for start in range(0, len(left), _GROUP)]
        for group, gone in rows:
            await self._transport.call(workspaces.register(self.repository.id, self.id, group, gone))

    async def push_layer(self, file: str | os.PathLike[str]) -> int:
        """Register all rows of a local Parquet file together, any number. Returns the number of rows.

        Columns: `path`, `physical_address` and `checksum` (strings), `size_bytes` (int64). Optional columns: `mtime`,
        `content_type`, `metadata` and `deleted` (the row deletes its path). Rows are sorted by path. The rows of a
        separate file may name objects of another store that the server may ingest. Their checksum is `etag:` and the
        ETag.

        Raises InvalidRequestError, CorruptTransferError, and PermissionDeniedError for an object that the server may
        not ingest.
        """
        await self._open()
        body = upload.ObjectBody(await run_in_thread(source_of, Path(file)), None, hashed=False)
        return await self._plain.call(workspaces.push_layer(self.repository.id, self.id), body)

    async def share(self, pairs: Iterable[tuple[str, str]]) -> list[str]:
        """For each `(path, same_as)`, make `path` use the data of `same_as`. Returns the paths that were not changed.

        Acts only where both have the same checksum and size, and changes only the address. Commit with `relocate=True`.
        """
        left: list[str] = []
        for group in sinks.windows(pairs, _GROUP):
            some = await self._transport.call(workspaces.share(self.repository.id, self.id, group))
            left += some
        return left

    async def scan(self) -> ScanResult:
        """Register objects that other tools wrote at `path()`, and delete objects that they removed. Safe to repeat.

        Example:

            print(ws.scan().refusals)
        """
        return await self._transport.call(workspaces.scan(self.repository.id, self.id))

    # what the verbs share

    def _reads_proxied(self) -> bool:
        return wanted_path(self.options.data_path) == PROXIED

    def _table_upload(self, message: str | None, tally: Tally) -> IntoWorkspace:
        return IntoWorkspace(self, message, tally)

    async def _open(self) -> None:
        """Create the workspace if it does not exist. A second creation, here or elsewhere, changes nothing."""
        if self._made:
            return
        options = self.options
        self._info = await self._plain.call(
            workspaces.create(
                self.repository.id,
                self.workspace_id,
                branch=self.branch,
                ref=options.base,
                message=options.message,
                expires_in=options.expires_in,
                claims=options.claims,
            )
        )
        self._made = True
        self._target = self._target.over(self._plain)

    async def _place(self) -> WorkspaceInfo:
        """Return the description from the server, cached. Its prefix changes only with partial commits."""
        await self._open()
        if self._info is None:
            self._info = await self._plain.call(workspaces.get(self.repository.id, self.id))
        if not self._info.is_open:
            raise WorkspaceClosedError(
                f"workspace {self.id} of {self.repository.id} is closed ({self._info.state}): create another one",
                repository=self.repository.id,
                ref=self.id,
            )
        self._info = await trusted(self._plain, self._info, self.options.data_path)
        return self._info

    async def _opened_sink(self) -> sinks.Sink | None:
        info = await self._place()
        if self._sink is None and self._way != sinks.PROXIED:
            self._way = sinks.choose(info, self.options.data_path)
            self._sink = sinks.open_sink(self._way, info, self._target)
        return self._sink

    async def _write_many(
        self,
        items: Iterable[tuple[str, Any, str | None]],
        deletions: Iterable[str],
        progress: Any = None,
        *,
        given: bool = False,
    ) -> list[ObjectInfo]:
        gone = [_checks.check_path(path) for path in deletions]
        sink = await self._opened_sink()
        done: list[ObjectInfo] = []
        waiting: list[ObjectInfo] = []
        for window in sinks.windows(items, _WINDOW):
            if sink is None:
                done += await batch.upload_many(self._target, window, (), progress)
                continue
            waiting += await sink.store(
                [sinks.outgoing(path, data, kind, None, progress, given=given) for path, data, kind in window]
            )
            if len(waiting) >= _GROUP:
                await self.register(waiting)
                done, waiting = done + waiting, []
        written = {one.path for one in (*done, *waiting)}
        await self.register(waiting, [path for path in gone if path not in written])
        return done + waiting
