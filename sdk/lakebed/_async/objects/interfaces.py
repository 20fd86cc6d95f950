"""What tables and bulk transfers need of a ref. The handles implement it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol

from lakebed._async.http.pagination import Listing
from lakebed._async.http.target import Target
from lakebed._async.objects.download import Download
from lakebed._async.objects.sinks import Sink
from lakebed._compat.aio import Data
from lakebed.model import CommonPrefix, ObjectInfo, WorkspaceInfo

Rows = list[ObjectInfo]  # by this name, since a method of the protocols is named `list`


class ObjectReader(Protocol):
    """A ref whose objects can be read."""

    _target: Target

    def list(
        self, prefix: str = "", delimiter: str = "", after: str = "", limit: int | None = None
    ) -> Listing[ObjectInfo | CommonPrefix]: ...

    async def stat(self, path: str) -> ObjectInfo: ...

    async def exists(self, path: str) -> bool: ...

    def _download(
        self, path: str, start: int, length: int | None, checksum: str | None = None, known: str | None = None
    ) -> Download:
        """The bytes of an object, or a range of them. With a `checksum`, only of an object that has it."""
        ...

    def _reads_proxied(self) -> bool:
        """Whether all bytes come through the server, also where the store could give them."""
        ...


class ObjectWriter(ObjectReader, Protocol):
    """A branch or a workspace: objects can be written to it."""

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
    ) -> ObjectInfo: ...

    async def _write_many(
        self, items: Iterable[tuple[str, Any, str | None]], deletions: Iterable[str], progress: Any = None
    ) -> Rows:
        """Write objects, as paths, data and content types, and delete others."""
        ...


class WorkspaceWriter(ObjectWriter, Protocol):
    """A workspace: its objects can be stored without the server, and registered afterwards."""

    @property
    def workspace_id(self) -> str: ...

    async def _write_many(
        self,
        items: Iterable[tuple[str, Any, str | None]],
        deletions: Iterable[str],
        progress: Any = None,
        *,
        given: bool = False,
    ) -> Rows:
        """As above. `given`: the files are not needed afterwards, so a store on the same disk may keep them."""
        ...

    async def register(self, objects: Sequence[ObjectInfo], deletes: Sequence[str] = ()) -> None: ...

    async def _place(self) -> WorkspaceInfo:
        """What the server said of it."""
        ...

    async def _opened_sink(self) -> Sink | None:
        """The way into the store; None where it leads through the server."""
        ...
