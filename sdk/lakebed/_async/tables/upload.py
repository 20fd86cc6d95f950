"""Uploads the finished files of a table into a branch or a workspace: all of them show together.

Into a branch, a small table is one `uploadObjects` request. A larger table, or a table that is to be a commit of its
own, goes through a workspace that is popped onto the branch, or committed, at the end. Into a workspace, bytes go to
the store as files are finished, and one request registers them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from lakebed._async.objects import batch, sinks
from lakebed._async.objects.interfaces import ObjectReader, ObjectWriter, WorkspaceWriter
from lakebed._bulk.progress import Tally
from lakebed._compat.aio import Background, run_in_thread, sleep
from lakebed._gateway.operations import workspaces
from lakebed._http.batch import MAX_PARTS
from lakebed._values.hashed_file import HashedFile
from lakebed.errors import (
    InvalidRequestError,
    LakebedError,
    OutcomeUnknownError,
    WorkspaceClosedError,
)
from lakebed.model import Commit, ObjectInfo, WorkspaceInfo

PARQUET = "application/vnd.apache.parquet"
SMALL = 32 << 20
"""Bytes that go into a branch in one request."""

_FEW = 500
"""Files that go together."""

_PREFIXES = 100
"""Prefixes that a commit can replace; the server's limit."""

LIFETIME = 86_400
"""Seconds after which the server closes a workspace that a killed process left."""

Held = tuple[str, HashedFile, int]


class OwnWorkspace(WorkspaceWriter, Protocol):
    """A workspace that is made for one table, and ended with it."""

    async def commit(self, *, replace_prefix: Sequence[str] = ()) -> Commit: ...

    async def pop(self) -> None: ...

    async def drop(self) -> None: ...

    async def info(self) -> WorkspaceInfo: ...


class MakeWorkspace(Protocol):
    """Creates such a workspace."""

    async def __call__(self) -> OwnWorkspace: ...


class TableUpload(ABC):
    """The upload of one table."""

    def __init__(self, tally: Tally) -> None:
        self.alone = False
        """Whether this is one file that must not replace another: it goes at the end, with that condition."""

        self._tally = tally
        self._held: list[Held] = []
        self._size = 0
        self._sending: Background[list[ObjectInfo]] | None = None
        self._sent: list[ObjectInfo] = []

    @abstractmethod
    async def view(self) -> ObjectReader:
        """What is written on top of, as it is now."""

    @abstractmethod
    async def _ready(self) -> bool:
        """Whether what is held can be sent, and is enough to be."""

    @abstractmethod
    async def _send(self, held: list[Held]) -> list[ObjectInfo]:
        """Put files where they are needed, showing nothing yet."""

    @abstractmethod
    async def finish(self, replaced: Sequence[str], under: str) -> list[ObjectInfo]:
        """Show everything that was added, and delete what else is below `replaced`, in one change."""

    async def abandon(self) -> None:
        """Show nothing. Never raises."""
        if self._sending is not None:
            await self._sending.abandon()

    async def add(self, path: str, file: HashedFile, size: int) -> None:
        """One more file. It may travel while the next one is made."""
        self._tally.expect(size)
        self._held.append((path, file, size))
        self._size += size
        if (self._size >= SMALL or len(self._held) >= _FEW) and not self.alone and await self._ready():
            await self._settled()
            held, self._held, self._size = self._held, [], 0
            self._sending = Background(partial(self._send_and_remove, held))

    async def _settled(self) -> None:
        """Wait for what is on its way."""
        sending, self._sending = self._sending, None
        if sending is not None:
            self._sent += await sending.result()

    async def _send_all(self) -> list[ObjectInfo]:
        self._tally.no_more()
        await self._settled()
        if self._held:
            held, self._held = self._held, []
            self._sent += await self._send_and_remove(held)
        return sorted(self._sent, key=lambda row: row.path)

    async def _send_and_remove(self, held: list[Held]) -> list[ObjectInfo]:
        rows = await self._send(held)
        await run_in_thread(_remove, [file.path for _, file, _ in held])
        self._tally.done(len(held))
        return rows


class IntoBranch(TableUpload):
    """Into a branch, as uncommitted changes, or as a commit where there is a message for it."""

    def __init__(
        self,
        branch: ObjectWriter,
        make_workspace: MakeWorkspace,
        message: str | None,
        tally: Tally,
    ) -> None:
        super().__init__(tally)
        self._branch = branch
        self._make_workspace = make_workspace
        self._message = message
        self._apart: OwnWorkspace | None = None
        self._in_doubt = False

    async def view(self) -> ObjectReader:
        """The branch; for a commit of its own, the branch without what is uncommitted."""
        if self._message is None:
            return self._branch
        return await self._workspace()

    async def _workspace(self) -> OwnWorkspace:
        if self._apart is None:
            self._apart = await self._make_workspace()
        return self._apart

    async def _ready(self) -> bool:
        await self._workspace()
        return True

    async def _send(self, held: list[Held]) -> list[ObjectInfo]:
        workspace = await self._workspace()
        return await workspace._write_many(_items(held), (), self._tally.moved, given=True)

    async def finish(self, replaced: Sequence[str], under: str) -> list[ObjectInfo]:
        """One request, or the end of the workspace."""
        if self._apart is None:
            return await self._at_once(replaced, under)
        rows = await self._send_all()
        by_server = self._message is not None and len(replaced) <= _PREFIXES and all(replaced)
        if not by_server:
            base = self._branch if self._message is None else self._apart
            await self._apart.register((), await _others(base, replaced, under, rows))
        try:
            if self._message is None:
                await _pop(self._apart)
            else:
                await self._apart.commit(replace_prefix=replaced if by_server else ())
        except OutcomeUnknownError:
            self._in_doubt = True
            raise
        return rows

    async def _at_once(self, replaced: Sequence[str], under: str) -> list[ObjectInfo]:
        if self.alone:
            ((path, file, _),) = self._held
            return [
                await self._branch.put(path, file, content_type=PARQUET, if_absent=True, progress=self._tally.moved)
            ]
        gone = await _others(self._branch, replaced, under, [])
        if len(self._held) + len(gone) > MAX_PARTS:
            await self._workspace()
            return await self.finish(replaced, under)
        return await self._branch._write_many(_items(self._held), gone, self._tally.moved)

    async def abandon(self) -> None:
        """Drop the workspace, unless it is unknown whether it was committed."""
        await super().abandon()
        if self._apart is not None and not self._in_doubt:
            with suppress(LakebedError):
                await self._apart.drop()


class IntoWorkspace(TableUpload):
    """Into a workspace: one registration."""

    def __init__(self, workspace: WorkspaceWriter, message: str | None, tally: Tally) -> None:
        super().__init__(tally)
        if message is not None:
            raise InvalidRequestError(
                "a workspace is committed as a whole: leave message out, and commit the workspace"
            )
        self._target = workspace
        self._sink: sinks.Sink | None = None

    async def view(self) -> ObjectReader:
        """The workspace."""
        return self._target

    async def _ready(self) -> bool:
        """Whether there is a sink. What goes through the server shows immediately, so it waits for the end."""
        self._sink = await self._target._opened_sink()
        return self._sink is not None

    async def _send(self, held: list[Held]) -> list[ObjectInfo]:
        assert self._sink is not None
        return await self._sink.store(
            [sinks.outgoing(path, file, PARQUET, None, self._tally.moved, given=True) for path, file, _ in held]
        )

    async def finish(self, replaced: Sequence[str], under: str) -> list[ObjectInfo]:
        """Register everything; more than 10,000 paths in groups, which the commit of the workspace makes one."""
        target = self._target
        if self.alone:
            ((path, file, _),) = self._held
            return [await target.put(path, file, content_type=PARQUET, if_absent=True, progress=self._tally.moved)]
        if not await self._ready():
            gone = await _others(target, replaced, under, [])
            if len(self._held) + len(gone) > MAX_PARTS:
                return await target._write_many(_items(self._held), gone, self._tally.moved)
            return await batch.upload_many(target._target, _items(self._held), gone, self._tally.moved)
        rows = await self._send_all()
        gone = await _others(target, replaced, under, rows)
        if len(rows) + len(gone) > MAX_PARTS:
            await target.register(rows, gone)
        elif rows or gone:
            where = target._target
            await where.transport.call(workspaces.register(where.repository, where.ref, rows, gone))
        return rows


def _items(held: Sequence[Held]) -> list[tuple[str, Any, str | None]]:
    return [(path, file, PARQUET) for path, file, _ in held]


def _remove(files: Sequence[Path]) -> None:
    for file in files:
        file.unlink(missing_ok=True)


async def _others(ref: ObjectReader, replaced: Sequence[str], under: str, written: Sequence[ObjectInfo]) -> list[str]:
    """What is below these prefixes, but for what was written."""
    if not replaced:
        return []
    new = {row.path for row in written}
    prefixes = tuple(replaced)
    found: list[str] = []
    for prefix in prefixes if len(prefixes) <= _FEW else (under,):
        found += [row.path async for row in ref.list(prefix) if row.path.startswith(prefixes)]
    return [path for path in found if path not in new]


async def _pop(workspace: OwnWorkspace) -> None:
    """Show everything on the branch. A lost answer is settled by asking again: a workspace is popped once at most."""
    waits = workspace._target.transport.policy.settle_waits
    for wait in (*waits, None):
        try:
            await workspace.pop()
            return
        except OutcomeUnknownError:
            if wait is None:
                raise
            await sleep(wait)
        except WorkspaceClosedError:
            if (await workspace.info()).state == "popped":
                return
            raise
