# Generated from sdk/lakebed/_async/bulk/bulk_routes.py by tools/unasync_sdk.py - do not edit.
# ruff: noqa: RUF100, UP028
"""The routes of a bulk upload: directly into the store and then registered, or through the server."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Protocol

from lakebed._bulk.batches import SMALL, Item, TreeSource, of_one_file
from lakebed._bulk.progress import Tally
from lakebed._compat.sync import gather
from lakebed._gateway.operations import objects, workspaces
from lakebed._sync.http.target import Target
from lakebed._sync.objects import batch, upload
from lakebed._sync.objects.interfaces import WorkspaceWriter
from lakebed._sync.objects.sinks import Outgoing, Sink, outgoing
from lakebed.errors import InvalidRequestError
from lakebed.model import ObjectInfo, WorkspaceInfo

Moved = Callable[[int], None]

_GROUP = 50
"""Maximum number of small objects in one request through the server."""


class UploadRoute(Protocol):
    """A route for uploads into one workspace."""

    def store(self, items: Sequence[Item], moved: Moved) -> Sequence[ObjectInfo | Exception]:
        """Write the bytes of a batch, durably. Returns the objects, or errors of single files, in the same order."""
        ...

    def register(self, rows: Sequence[ObjectInfo], deletes: Sequence[str]) -> None:
        """Register objects in the workspace and delete paths, atomically."""
        ...

    def resume(self) -> None:
        """Find out what an earlier run has stored."""
        ...

    def still_there(self, row: ObjectInfo) -> bool:
        """Whether an object that an earlier run stored is still there, so that no second transfer is needed."""
        ...


class SinkRoute:
    """Writes into the store through a sink."""

    def __init__(self, target: Target, info: WorkspaceInfo, sink: Sink) -> None:
        self._target = target
        self._info = info
        self._sink = sink

    def store(self, items: Sequence[Item], moved: Moved) -> list[ObjectInfo]:
        """By the sink."""
        return self._sink.store([_outgoing(item, moved) for item in items])

    def register(self, rows: Sequence[ObjectInfo], deletes: Sequence[str]) -> None:
        """One request."""
        if rows or deletes:
            self._target.transport.call(workspaces.register(self._target.repository, self._info.id, rows, deletes))

    def resume(self) -> None:
        """Nothing to do: the server checks each object when it is registered again."""

    def still_there(self, row: ObjectInfo) -> bool:
        """Whether the object is below a prefix of this workspace: nothing there is removed while it is open."""
        # a partial commit changes the prefix; objects below the old prefixes can still be registered
        root = self._info.storage_prefix.rsplit(self._info.id, 1)[0] + self._info.id
        return row.physical_address.startswith(root)


class ProxiedRoute:
    """Uploads through the server: to a branch, or to a workspace whose store this machine cannot reach.

    An acknowledged object is already registered. Objects with `metadata` or `if_absent` are sent one by one.
    """

    def __init__(
        self,
        target: Target,
        jobs: int,
        tally: Tally,
        *,
        metadata: Mapping[str, str] | None = None,
        if_absent: bool = False,
    ) -> None:
        if jobs < 1:
            raise InvalidRequestError(f"jobs must be at least 1, not {jobs}")
        self._target = target
        self._jobs = jobs
        self._tally = tally
        self._metadata = metadata
        self._if_absent = if_absent
        self._shown: set[bytes] = set()

    def store(self, items: Sequence[Item], moved: Moved) -> Sequence[ObjectInfo | Exception]:
        """Send one request for each large object and for each group of small objects."""
        groups = [[item] for item in items] if self._metadata or self._if_absent else _groups(items)
        done: dict[str, ObjectInfo | Exception] = {}
        jobs = [partial(self._send, group, moved, done) for group in groups]
        gather(jobs, self._jobs, stop=self._tally.stop)
        return [done[item.path] for item in items]

    def _send(self, group: list[Item], moved: Moved, done: dict[str, ObjectInfo | Exception]) -> None:
        """Send one request. If the server refuses it because of one of several files, send a request for each file."""
        counted = 0

        def count(size: int) -> None:
            nonlocal counted
            counted += size
            moved(size)

        try:
            done.update((row.path, row) for row in self._request(group, count))
        except Exception as error:
            if not of_one_file(error):
                raise
            moved(-counted)
            if len(group) == 1:
                done[group[0].path] = error
                return
            for item in group:
                self._send([item], moved, done)

    def _request(self, group: list[Item], moved: Moved) -> list[ObjectInfo]:
        if len(group) > 1:
            rows = [(item.path, _content(item), item.content_type) for item in group]
            return batch.upload_many(self._target, rows, (), moved)
        item = group[0]
        stored = upload.upload(
            self._target,
            item.path,
            _content(item),
            metadata=self._metadata,
            content_type=item.content_type,
            if_absent=self._if_absent,
            progress=moved,
        )
        return [stored]

    def register(self, rows: Sequence[ObjectInfo], deletes: Sequence[str]) -> None:
        """Only delete: acknowledged objects are already registered."""
        if deletes:
            self._target.transport.call(workspaces.register(self._target.repository, self._target.ref, (), deletes))

    def resume(self) -> None:
        """List the workspace: objects that it contains need no second registration."""
        after = ""
        while True:
            call = objects.list_page(
                self._target.repository, self._target.ref, prefix="", delimiter="", after=after, amount=1000
            )
            page = self._target.transport.call(call)
            self._shown.update(_mark(row) for row in page.items if isinstance(row, ObjectInfo))
            if page.after is None:
                return
            after = page.after

    def still_there(self, row: ObjectInfo) -> bool:
        """Whether the workspace shows it."""
        return _mark(row) in self._shown


def route_of(workspace: WorkspaceWriter, jobs: int, tally: Tally) -> UploadRoute:
    """The best route that the server offers and this machine can use, or the route that the workspace was made with.

    Raises ConfigurationError, UnsupportedOperationError, WorkspaceClosedError, and InvalidRequestError for
    `jobs`.
    """
    if jobs < 1:
        raise InvalidRequestError(f"jobs must be at least 1, not {jobs}")
    info, sink = workspace._place(), workspace._opened_sink()
    target = workspace._target
    return ProxiedRoute(target, jobs, tally) if sink is None else SinkRoute(target, info, sink)


def _mark(row: ObjectInfo) -> bytes:
    return hashlib.blake2b(f"{row.checksum}/{row.path}".encode(), digest_size=16).digest()


def _groups(items: Sequence[Item]) -> list[list[Item]]:
    small = [item for item in items if item.size is not None and item.size <= SMALL]
    large = [[item] for item in items if item.size is None or item.size > SMALL]
    return large + [small[start : start + _GROUP] for start in range(0, len(small), _GROUP)]


def _content(item: Item) -> Any:
    return item.local.file if item.local is not None else item.data


def _outgoing(item: Item, moved: Moved) -> Outgoing:
    if item.local is None:
        return outgoing(item.path, item.data, item.content_type, progress=moved)
    kind = upload.checked_type(item.content_type)
    return Outgoing(item.path, TreeSource(item.local), kind, progress=moved)
