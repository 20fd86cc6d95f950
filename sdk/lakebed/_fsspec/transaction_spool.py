"""Files of a transaction on their way into a directory that this machine shares with the server: the path `direct`.

What is written goes straight to a temporary file. A closed one waits, with a few hundred others, to be registered in
one request; meanwhile large ones are synced in a thread. Nothing is registered that is not durable. Whoever reads in
the transaction flushes first.
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
"""A file of this size is synced by itself when it is closed; smaller ones are when they are registered, together."""

_BLOCK = 256 << 10
"""What is collected before it is written and hashed: stays in the cache of a processor between the two."""

_SYNCING = 2
"""Threads."""


@dataclass(slots=True)
class _Closed:
    """A closed file that is not registered yet."""

    row: ObjectInfo
    written: Written
    synced: Future[None] | None = None


class Spool:
    """The files of one transaction. Safe to use from many threads; `flush` is for the event loop."""

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
        """One for a workspace, if its directory is the way that bytes take from here."""
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
        """Whether a file is closed that the workspace does not show yet."""
        return self._unflushed > 0

    def add(self, item: Outgoing, written: Written) -> ObjectInfo:
        """Take a closed file. Gives what it will be registered as, but for the address. Raises InvalidRequestError."""
        closed = _Closed(item.stored("", written.checksum, written.size), written)
        with self._lock:
            if not self._is_over:
                if written.size >= _LARGE:
                    closed.synced = self._syncing.submit(self.folder.sync, [written])
                self._waiting.append(closed)
                self._unflushed += 1
                return closed.row
        self.folder.discard([written])
        raise InvalidRequestError(f"the transaction in which {item.path!r} was written is over: nothing is stored")

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
        """Register every file that is closed. Raises what that raises; the files wait on then.

        An OSError of the disk is raised ever after: a second sync would succeed, and say nothing of what was lost.
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
        """Make files durable and give them their names. Of those with one path only the last counts."""
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
        """The transaction is over: remove what could not be registered, and let go of everything."""
        with self._lock:
            self._is_over = True
            left, self._waiting = self._waiting, []
        self._syncing.shutdown()
        self.folder.discard(one.written for one in left if not one.written.key)


class SpooledFile:
    """A file of a transaction while it is written, through `buffer`: full blocks go to the disk at once.

    `buffer.write` and `buffer.tell` run no line of Python until a block is full: pyarrow calls them some hundred times
    for each file, from threads for which every step into Python costs more than the bytes do.
    """

    def __init__(self, spool: Spool, item: Outgoing) -> None:
        self.spool = spool
        self._item = item
        self._writing = spool.folder.begin(item.path)
        self._blocks = _Blocks(self._writing)
        self.buffer = io.BufferedWriter(self._blocks, _BLOCK)

    def finish(self) -> ObjectInfo:
        """Close the file: it waits to be registered. Raises OSError, also of an earlier write."""
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
    """What the buffer writes its blocks to. Positions are the file's own."""

    def __init__(self, writing: Writing) -> None:
        super().__init__(writing.fileno(), "wb", closefd=False)
        self.is_over = False
        self._writing = writing
        self._process = os.getpid()
        self._failure: BaseException | None = None

    def write(self, block: Any) -> int:
        """Write a block. Raises OSError, and the same again: what follows a gap must not be taken for the whole."""
        size = len(block)
        if self.is_over:  # what was in the buffer of a file that is discarded
            return size
        if self._process != os.getpid():
            raise InvalidRequestError("a file is written in the process that opened it")
        self.check()
        try:
            self._writing.feed(block)
        except BaseException as error:
            self._failure = error
            raise
        return size

    def check(self) -> None:
        """Raise what a write has raised, if one has."""
        if self._failure is not None:
            raise self._failure
