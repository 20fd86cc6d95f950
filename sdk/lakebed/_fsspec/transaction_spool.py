"""Files of a transaction on their way into a directory that this machine shares with the server: the data path
`direct`.

The writer writes directly to a temporary file. Closed files wait, up to a few hundred, to be registered in one request.
During that time a thread syncs the large ones. A file is registered only when it is durable. A reader in the
transaction flushes first.
"""

from __future__ import annotations

import asyncio
import io
import os
import threading
import weakref
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lakebed._integration.aio import LocalSink, Outgoing, place_of, sink_of
from lakebed._integration.values import Directory, Writing, Written
from lakebed.errors import InvalidRequestError, LakebedError
from lakebed.model import ObjectInfo

if TYPE_CHECKING:
    from lakebed.aio import Workspace

MOST = 500
"""Files that wait to be registered."""

_LARGE = 1 << 20
"""Bytes. A file of this size is synced separately when it is closed. Smaller files are synced together when they are
registered.
"""

_BLOCK = 256 << 10
"""Bytes that are collected before they are written and hashed. They stay in the processor cache between these two
steps.
"""

_SYNCING = 2
"""Threads that sync."""


@dataclass(slots=True)
class _Closed:
    """A closed file that is not registered yet."""

    row: ObjectInfo
    written: Written
    synced: Future[None] | None = None


class Spool:
    """The files of one transaction. Safe to use from many threads. `flush` is for the event loop."""

    def __init__(self, workspace: Workspace, folder: Path, prefix: str) -> None:
        self.process = os.getpid()
        self.folder = Directory(folder)
        self._syncing = ThreadPoolExecutor(_SYNCING, "lakebed-sync")
        self._workspace = workspace
        self._prefix = prefix
        self._lock = threading.Lock()
        self._flushing = asyncio.Lock()
        self._waiting: list[_Closed] = []
        self._unflushed = 0
        self._is_over = False
        self._failure: OSError | None = None
        weakref.finalize(self, self.folder.close)

    @classmethod
    async def open(cls, workspace: Workspace) -> Spool | None:
        """Return a spool for a workspace, if this machine writes directly into its directory."""
        if not isinstance(await sink_of(workspace), LocalSink):
            return None
        info = await place_of(workspace)
        return await asyncio.to_thread(cls, workspace, Path(info.local_path), info.storage_prefix)

    @property
    def is_full(self) -> bool:
        """Whether it is time to flush."""
        return len(self._waiting) >= MOST

    @property
    def is_behind(self) -> bool:
        """Whether the workspace does not show a closed file yet."""
        return self._unflushed > 0

    def add(self, item: Outgoing, written: Written) -> ObjectInfo:
        """Take a closed file. Returns its registration, still without the address. Raises InvalidRequestError."""
        closed = _Closed(item.stored("", written.checksum, written.size), written)
        with self._lock:
            if not self._is_over:
                if written.size >= _LARGE:
                    closed.synced = self._syncing.submit(self.folder.sync, [written])
                self._waiting.append(closed)
                self._unflushed += 1
                return closed.row
        self.folder.discard([written])
        raise InvalidRequestError(
            f"the transaction in which {item.path!r} was written has ended: the file was not stored"
        )

    async def take(self, item: Outgoing, content: bytes) -> ObjectInfo:
        """Write a whole object."""
        stored = await asyncio.to_thread(self._write, item, content)
        if self.is_full:
            await self.flush()
        return stored

    def _write(self, item: Outgoing, content: bytes) -> ObjectInfo:
        spooled = SpooledFile(self, item)
        try:
            spooled.buffer.write(content)
        except BaseException:
            spooled.discard()
            raise
        return spooled.finish()

    async def flush(self) -> None:
        """Register every closed file. Raises the error of the registration, and the files wait again.

        After an OSError of the disk every call raises it: a second sync would succeed although data is lost.
        """
        async with self._flushing:
            if self._failure is not None:
                raise self._failure
            with self._lock:
                batch, self._waiting = self._waiting, []
            if not batch:
                return
            try:
                rows = await asyncio.to_thread(self._publish, batch)
                await self._workspace.register(rows)
            except BaseException as error:
                with self._lock:
                    self._waiting = batch + self._waiting
                self._failure = error if isinstance(error, OSError) and not isinstance(error, LakebedError) else None
                raise
            with self._lock:
                self._unflushed -= len(batch)

    def _publish(self, batch: Sequence[_Closed]) -> list[ObjectInfo]:
        """Make files durable and give them their names. Of several files with one path only the last one counts."""
        wait([one.synced for one in batch if one.synced is not None])
        last = {one.row.path: one for one in batch}
        kept = list(last.values())
        self.folder.discard(one.written for one in batch if last[one.row.path] is not one and not one.written.key)
        for one in kept:
            if one.synced is not None:
                one.synced.result()
        self.folder.sync([one.written for one in kept if one.synced is None and not one.written.key])
        self.folder.reveal([one.written for one in kept])
        return [replace(one.row, physical_address=self._prefix + one.written.key) for one in kept]

    def close(self) -> None:
        """End the spool: remove files that were not registered, and close everything."""
        with self._lock:
            self._is_over = True
            left, self._waiting = self._waiting, []
        self._syncing.shutdown()
        self.folder.discard(one.written for one in left if not one.written.key)


class SpooledFile:
    """A file of a transaction that is being written, through `buffer`. Each full block goes directly to the disk.

    `buffer.write` and `buffer.tell` run no Python code until a block is full. pyarrow calls them a few hundred times
    for each file, from threads where a call into Python takes longer than writing the bytes.
    """

    def __init__(self, spool: Spool, item: Outgoing) -> None:
        self.spool = spool
        self._item = item
        self._writing = spool.folder.begin(item.path)
        self._blocks = _Blocks(self._writing)
        self.buffer = io.BufferedWriter(self._blocks, _BLOCK)

    def finish(self) -> ObjectInfo:
        """Close the file. Then it waits to be registered. Raises OSError, also of an earlier write."""
        try:
            self.buffer.flush()
            self._blocks.check()
        except BaseException:
            self.discard()
            raise
        self._blocks.is_over = True
        self._writing.close()
        return self.spool.add(self._item, self._writing.written())

    def discard(self) -> None:
        """Close and remove the file."""
        self._blocks.is_over = True
        self._writing.remove()


class _Blocks(io.FileIO):
    """The raw file below the buffer. Positions are those of the file."""

    def __init__(self, writing: Writing) -> None:
        super().__init__(writing.fileno(), "wb", closefd=False)
        self.is_over = False
        self._writing = writing
        self._process = os.getpid()
        self._failure: BaseException | None = None

    def write(self, block: Any) -> int:
        """Write a block. Raises OSError, also for all later blocks: a file with a gap must not count as complete."""
        size = len(block)
        if self.is_over:  # the buffered bytes of a discarded file
            return size
        if self._process != os.getpid():
            raise InvalidRequestError("a file must be written in the process that opened it")
        self.check()
        try:
            self._writing.feed(block)
        except BaseException as error:
            self._failure = error
            raise
        return size

    def check(self) -> None:
        """Raise the error of an earlier write, if any."""
        if self._failure is not None:
            raise self._failure
