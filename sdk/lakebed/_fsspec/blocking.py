"""Methods that run in the calling thread, over the sync client of `lakebed`, without the event loop.

When a file cannot be opened, the coroutine opens it again, and its error explains why.
"""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

import lakebed
from lakebed._fsspec.paths import Place, Row, file_row, folder_row, missing, object_place, replaced, writable_place
from lakebed._fsspec.reading import FOOTED, TAIL, Opened
from lakebed._fsspec.writing import Writing
from lakebed._integration.sync import ProxiedRef, read_buffer, read_range, read_small, read_tail, shared_directory
from lakebed._integration.values import PROXIED
from lakebed.errors import InvalidRequestError, NotFoundError, ObjectNotFoundError, UnsupportedOperationError
from lakebed.model import ObjectInfo

if TYPE_CHECKING:
    import pyarrow as pa


class Blocking(Writing):
    """Properties of objects, ranges of objects, and writing of whole objects."""

    def __init__(self, **options: Any) -> None:
        if getattr(self, "_cached", False):
            return
        super().__init__(**options)
        self._client = lakebed.Lake(self.connection.settings)  # after a fork it connects again by itself
        self._handles: dict[str, lakebed.Repository] = {}
        """Repositories by id. Each handle remembers its directory after the first request."""

    def info(self, path: str, **kwargs: Any) -> Row:
        """Return the properties of a file or directory. Raises ObjectNotFoundError."""
        place = Place.of(self._strip_protocol(path))
        if not place.path:
            row: Row = self._wait(self._info, path, **kwargs)
            return row
        if "." not in place.path.rpartition("/")[2] and (found := self._first_here(place)) is not None:
            return found
        try:
            return file_row(place.name, self._stat_now(place))
        except ObjectNotFoundError:
            if self._handle(place).list(place.folder).first() is None:
                raise missing(place) from None
        return folder_row(place.name)

    def isdir(self, path: str) -> bool:
        """Whether objects exist below this path, and none at it."""
        try:
            return bool(self.info(path)["type"] == "directory")
        except FileNotFoundError:
            return False

    def isfile(self, path: str) -> bool:
        """Whether an object is at exactly this path."""
        place = Place.of(self._strip_protocol(path))
        if not place.path:
            return False
        if self._fetched_ahead(place):
            return True
        try:
            self._stat_now(place)
        except NotFoundError:
            return False
        return True

    def _first_here(self, place: Place) -> Row | None:
        """For a path without a file extension, check first for a directory: list its first entry, without a request for
        an object.
        """
        if (known := self._frozen.get(place)) is not None:
            return file_row(place.name, known)
        items = self._handle(place).list(place.path, delimiter="/", limit=2).all()
        first = items[0] if items else None  # an object of this name is listed before its directory
        if isinstance(first, ObjectInfo) and first.path == place.path:
            return file_row(place.name, first)
        return folder_row(place.name) if any(one.path == place.folder for one in items) else None

    def _stat_now(self, place: Place) -> ObjectInfo:
        return self._frozen.get(place) or self._handle(place).stat(place.path)

    def _fetched_ahead(self, place: Place) -> bool:
        """Whether a small file of the last listing of pyarrow was fetched: see `ReadAhead`."""
        ahead = self._ahead
        if ahead is None or not ahead.covers(place) or self._intrans:
            return False
        ref = self._handle_now(place)
        if self.connection.data_path not in (None, PROXIED) or shared_directory(ref, self.connection.data_path):
            return False
        try:
            return ahead.fetch(place.path, partial(read_small, ref))
        except UnsupportedOperationError:  # an older server
            self._ahead = None
        except (NotFoundError, InvalidRequestError):  # the request for this file alone raises an error that names it
            pass
        return False

    def _handle(self, place: Place) -> lakebed.Ref:
        """Return the ref to read a path from, if it shows all written files."""
        behind = self._behind()
        if behind is not None:
            self._wait(behind.flush)
        return self._handle_now(place)

    def _handle_now(self, place: Place) -> lakebed.Ref:
        seen = self._seen(place)
        repository = self._handles.get(seen.repository)
        if repository is None:
            repository = self._handles[seen.repository] = self._client.repository(seen.repository)
        return (ProxiedRef if self.connection.data_path == PROXIED else lakebed.Ref)(repository, seen.ref)

    def _open_now(self, path: str) -> Opened:
        """Return what a reader needs: the row, a local file, or the last bytes of the object."""
        place = object_place(path)
        with suppress(NotFoundError, InvalidRequestError):
            ref = self._handle(place)
            shared = shared_directory(ref, self.connection.data_path)
            if not shared and path.lower().endswith(FOOTED):
                ahead = None if self._ahead is None or self._intrans else self._ahead.take(place)
                info, tail = read_tail(ref, place.path, TAIL) if ahead is None else ahead
                return file_row(place.name, info), None, tail
            info = self._stat_now(place)
            return file_row(place.name, info), shared.path_of(info.physical_address), b""
        opened: Opened = self._wait(self._begin_reading, path)
        return opened

    def _open_listed(self, path: str, row: Row) -> Opened:
        """Open the object of a listed row. Raises PreconditionFailedError when the path has another object now."""
        place = object_place(path)
        shared = shared_directory(self._handle(place), self.connection.data_path)
        local = shared.find(row["physical_address"], row["size"])
        if local is not None:  # files in a shared directory are never replaced
            return row, local, b""
        self._fetched_ahead(place)
        opened = self._open_now(path)
        if opened[0]["checksum"] != row["checksum"]:
            raise replaced(place)
        return opened

    def _read_now(self, path: str, start: int, length: int, checksum: str) -> bytes:
        """Read exactly this range of the object that has this checksum."""
        place = object_place(path)
        return read_range(self._handle_now(place), place.path, start, length, checksum)

    def _read_buffer(self, path: str, start: int, length: int, checksum: str) -> pa.Buffer:
        """Read this range into memory of Arrow."""
        place = object_place(path)
        return read_buffer(self._handle_now(place), place.path, start, length, checksum)

    def _store_now(self, path: str, mode: str, options: dict[str, Any], content: bytes) -> ObjectInfo | None:
        """Write a whole object to a branch. Returns None for a workspace, or when there is no such branch."""
        place = writable_place(path)
        self._ahead = None  # files that were read ahead are older than this object
        if self._intrans or mode != "wb" or "+" in place.ref:
            return None
        with suppress(NotFoundError):
            return self._client.repository(place.repository).branch(place.ref).put(place.path, content, **options)
        return None
