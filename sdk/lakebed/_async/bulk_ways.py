"""The ways that bytes take into a workspace: straight into a shared directory, to signed addresses, through the server.

Over the transport and the pure parts in `lakebed._bulk`, under `bulk`. A way stores groups of items, publishes a batch
of them (from then on they are durable), and registers it with the server: one request for each batch.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import AsyncIterator, Callable, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from lakebed._async import transfer
from lakebed._async.bulk_signed import Signed
from lakebed._async.transport import Transport
from lakebed._bulk.directory import Directory, Written
from lakebed._bulk.jobs import Item, file_chunks
from lakebed._compat.aio import gather, run_in_thread
from lakebed._gateway import objects, workspaces
from lakebed._source import AsyncSource, Source, source_of
from lakebed.errors import InvalidRequestError, LakebedError, UnsupportedOperationError
from lakebed.model import ObjectInfo, WorkspaceInfo

Moved = Callable[[int], None]
Stored = tuple[Item, Any]
"""An item, and what it became on this way, or the exception that it ended in."""

DATA_PATHS = ("direct", "presigned", "proxied")


class Way(Protocol):
    """One way into one workspace."""

    async def store(self, group: list[Item], moved: Moved) -> list[Stored]:
        """Write the bytes of some items. What one file is to blame for is given back; anything else is raised."""
        ...

    async def publish(self, stored: list[Stored]) -> list[tuple[Item, ObjectInfo]]:
        """Make them durable, and say where they are."""
        ...

    async def register(self, rows: Sequence[ObjectInfo]) -> None:
        """Show them in the workspace, all or none."""
        ...

    async def resume(self) -> None:
        """An earlier run has left something: find out what of it can be relied on."""
        ...

    def still_there(self, row: ObjectInfo) -> bool:
        """Whether what an earlier run has stored needs no second transfer."""
        ...

    def close(self) -> None:
        """Let go of everything. Blocks."""
        ...


class _Registering:
    """What the ways that write past the server have in common."""

    def __init__(self, transport: Transport, repository: str, info: WorkspaceInfo) -> None:
        self._transport = transport
        self._repository = repository
        self._info = info

    async def register(self, rows: Sequence[ObjectInfo]) -> None:
        """One request."""
        if rows:
            await self._transport.call(workspaces.register(self._repository, self._info.id, rows, ()))

    async def resume(self) -> None:
        """Nothing to find out: the server looks at each object when it is registered again."""

    def still_there(self, row: ObjectInfo) -> bool:
        """Below a prefix of this workspace, where nothing is removed while it is open."""
        # after the commit of a part the prefix is another one, and the old ones can still be registered
        root = self._info.storage_prefix.rsplit(self._info.id, 1)[0] + self._info.id
        return row.physical_address.startswith(root)


class DirectWay(_Registering):
    """Into the directory of a `local://` store that this machine has, too."""

    def __init__(self, transport: Transport, repository: str, info: WorkspaceInfo) -> None:
        super().__init__(transport, repository, info)
        self._directory = Directory(Path(info.local_path))

    async def store(self, group: list[Item], moved: Moved) -> list[Stored]:
        """All of the group in one thread: for small files the thread would cost more than the work."""
        if len(group) == 1 and isinstance(source := _source(group[0]), AsyncSource):
            return [(group[0], await self._store_stream(group[0], source, moved))]
        return await run_in_thread(self._store_group, group, moved)

    def _store_group(self, group: list[Item], moved: Moved) -> list[Stored]:
        done: list[Stored] = []
        for item in group:
            try:
                chunks = file_chunks(item.local) if item.local else source_of(item.data).chunks()
                done.append((item, self._directory.write(item.path, chunks, moved)))  # type: ignore[arg-type]
            except (OSError, LakebedError) as error:
                done.append((item, error))
        return done

    async def _store_stream(self, item: Item, source: AsyncSource, moved: Moved) -> Written:
        chunks: Any = source.chunks()
        with self._directory.begin(item.path) as writing:
            async for chunk in chunks:
                await run_in_thread(writing.feed, chunk)
                moved(len(chunk))
        return writing.written()

    async def publish(self, stored: list[Stored]) -> list[tuple[Item, ObjectInfo]]:
        """Two syncs for all of them."""
        await run_in_thread(self._directory.publish, [written for _, written in stored])
        moment, prefix = datetime.now(UTC), self._info.storage_prefix
        return [
            (item, ObjectInfo(item.path, one.size, one.checksum, moment, item.content_type or "", {}, prefix + one.key))
            for item, one in stored
        ]

    def close(self) -> None:
        """Of the directory."""
        self._directory.close()


class PresignedWay(_Registering):
    """To addresses that the server signs, a group at a time, when they are needed."""

    def __init__(self, transport: Transport, repository: str, info: WorkspaceInfo) -> None:
        super().__init__(transport, repository, info)
        self._signed = Signed(transport, repository, info)

    async def store(self, group: list[Item], moved: Moved) -> list[Stored]:
        """One request for the addresses of a group, and a PUT for each item."""
        return await self._signed.put_group([(item, _source(item)) for item in group], moved)

    async def publish(self, stored: list[Stored]) -> list[tuple[Item, ObjectInfo]]:
        """They are durable since their PUT was answered."""
        return list(stored)

    def close(self) -> None:
        """The connections close with the last answer."""


class ProxiedWay:
    """Through the server: for stores that this machine cannot reach. What is sent is in the workspace at once."""

    def __init__(self, transport: Transport, repository: str, info: WorkspaceInfo) -> None:
        self._transport = transport
        self._repository = repository
        self._name = info.name
        self._shown: set[bytes] = set()

    async def store(self, group: list[Item], moved: Moved) -> list[Stored]:
        """One request for a group."""
        if len(group) == 1:
            one = group[0]
            return [(one, await self._alone(one, moved))]
        try:
            rows = [(item.path, _content(item), item.content_type) for item in group]
            done = await transfer.upload_many(self._transport, self._repository, self._name, rows, (), moved)
        except OSError:
            return [(item, await self._alone(item, moved)) for item in group]  # one of them cannot be read
        return list(zip(group, done, strict=True))

    async def _alone(self, item: Item, moved: Moved) -> Any:
        try:
            return await transfer.upload(
                self._transport,
                self._repository,
                self._name,
                item.path,
                _content(item),
                content_type=item.content_type,
                progress=moved,
            )
        except OSError as error:
            return error

    async def publish(self, stored: list[Stored]) -> list[tuple[Item, ObjectInfo]]:
        """They are durable since they were answered."""
        return list(stored)

    async def register(self, rows: Sequence[ObjectInfo]) -> None:
        """They are there since they were answered."""

    async def resume(self) -> None:
        """Look at what the workspace shows: nothing can be registered a second time."""
        after = ""
        while True:
            call = objects.list_page(self._repository, self._name, prefix="", delimiter="", after=after, amount=1000)
            page = await self._transport.call(call)
            for row in page.items:
                if isinstance(row, ObjectInfo):
                    self._shown.add(_mark(row))
            if not page.after:
                return
            after = page.after

    def still_there(self, row: ObjectInfo) -> bool:
        """Whether the workspace shows it."""
        return _mark(row) in self._shown

    def close(self) -> None:
        """Nothing is held."""


def _mark(row: ObjectInfo) -> bytes:
    return hashlib.blake2b(f"{row.checksum}/{row.path}".encode(), digest_size=16).digest()


def _content(item: Item) -> Any:
    return item.local.file if item.local is not None else item.data


def _source(item: Item) -> Source:
    return source_of(_content(item))


def is_shared(info: WorkspaceInfo) -> bool:
    """Whether this machine has the directory of the store, and may write there."""
    if not info.local_path:
        return False
    root = Path(info.local_path).parent.parent
    return root.is_dir() and os.access(root, os.W_OK | os.X_OK)


async def way_of(transport: Transport, repository: str, info: WorkspaceInfo, data_path: str | None = None) -> Way:
    """The best way that the server offers and this machine can go, or the one asked for.

    Raises InvalidRequestError for an unknown one and UnsupportedOperationError for one that is not there.
    """
    if data_path is not None and data_path not in DATA_PATHS:
        raise InvalidRequestError(f"the data path is one of {', '.join(DATA_PATHS)}, not {data_path!r}")
    shared = "direct" in info.data_paths and await run_in_thread(is_shared, info)
    if shared and data_path in (None, "direct"):
        return await run_in_thread(DirectWay, transport, repository, info)
    if data_path == "direct":
        raise UnsupportedOperationError(
            f"the data path direct needs the directory of the store, {info.storage_prefix}, on this machine"
        )
    if "presigned" in info.data_paths and data_path in (None, "presigned"):
        return PresignedWay(transport, repository, info)
    if data_path == "presigned":
        raise UnsupportedOperationError(f"the store at {info.storage_prefix} has no signed addresses")
    return ProxiedWay(transport, repository, info)
