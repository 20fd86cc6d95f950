"""The verbs of threads that would only wait for the event loop: they ask by the short lane.

Whatever is not plain there goes the long way, which repeats, waits and explains.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from types import FrameType
from typing import Any

from lakebed import _checks
from lakebed._async.objects.upload import checked_metadata, compare
from lakebed._async.objects.upload_item import outgoing
from lakebed._fsspec.datasets import Datasets
from lakebed._fsspec.open_cache import OneLook, caller, is_opening
from lakebed._fsspec.paths import Place, Row, file_row, folder_row, object_place, replaced, writable_place
from lakebed._fsspec.reading import FOOTED, TAIL, Opened
from lakebed._fsspec.shared_directory import place_of
from lakebed._fsspec.uploads import Held
from lakebed._fsspec.writing import Writing
from lakebed._gateway.operations import objects
from lakebed._http.plain_http import Block
from lakebed._http.thread_client import LongWay
from lakebed._values.upload_source import Meter
from lakebed.errors import InvalidRequestError, LakebedError, NotFoundError, ObjectNotFoundError
from lakebed.model import ObjectInfo


class Quick(Writing):
    """Facts and ranges, by one request in the thread that asks."""

    def _begin(self) -> None:
        super()._begin()
        self._looked: OneLook[Opened] = OneLook()
        self._datasets: Datasets = getattr(self, "_datasets", None) or Datasets()  # a forked child has its parent's

    def find(
        self, path: str, maxdepth: int | None = None, withdirs: bool = False, detail: bool = False, **kwargs: Any
    ) -> Any:
        """All files below a path, and the directories too if `withdirs`: names, or rows by name if `detail`."""
        found = self._wait(self._find, path, maxdepth=maxdepth, withdirs=withdirs, detail=detail, **kwargs)
        if detail:
            self._datasets.listed(caller(), found)
        return found

    def info(self, path: str, **kwargs: Any) -> Row:
        """What is known of a file or directory. Raises ObjectNotFoundError."""
        place = Place.of(self._strip_protocol(path))
        if place.path:
            with suppress(LongWay, NotFoundError):
                return self._info_now(place)
        row: Row = self._wait(self._info, path, **kwargs)
        return row

    def isdir(self, path: str) -> bool:
        """Whether there is something below this path, and no object at it."""
        try:
            return bool(self.info(path)["type"] == "directory")
        except FileNotFoundError:
            return False

    def isfile(self, path: str) -> bool:
        """Whether an object is at exactly this path."""
        name = self._strip_protocol(path)
        place = Place.of(name)
        if not place.path:
            return False
        asker = caller()
        if asker is not None and is_opening(asker):
            return self._looks(name, asker)
        try:
            self._stat_now(place)
        except NotFoundError:
            return False
        except LongWay:
            return bool(self._wait(self._isfile, path))
        return True

    def _looks(self, path: str, asker: FrameType) -> bool:
        """Open for the one who asks whether there is something to be opened."""
        listed = self._datasets.row(asker, path)
        opened = None if listed is None else self._open_listed(path, listed)
        if opened is None:
            try:
                opened = self._open_now(path)
            except NotFoundError:
                return False
            if listed is not None and opened[0]["checksum"] != listed["checksum"]:
                raise replaced(Place.of(path))
        self._looked.keep(path, asker, opened)
        return True

    def _open_listed(self, path: str, row: Row) -> Opened | None:
        """The very object that was listed, where it is a file of this machine: those are never replaced."""
        known = self._shared.known(Place.of(path).repository)
        local = None if known is None else place_of(known, row)
        try:
            return None if local is None or os.stat(local).st_size != row["size"] else (row, local, b"")
        except OSError:
            return None

    def _info_now(self, place: Place) -> Row:
        """Raises LongWay, and NotFoundError for what the long way may still explain."""
        if "." not in place.path.rpartition("/")[2] and (row := self._beginning_now(place)) is not None:
            return row
        try:
            return file_row(place.name, self._stat_now(place))
        except ObjectNotFoundError:
            seen = self._flushed(place)
            page = objects.list_page(seen.repository, seen.ref, prefix=seen.folder, delimiter="", after="", amount=1)
            if not self._lane.call(page).items:
                raise
        return folder_row(place.name)

    def _beginning_now(self, place: Place) -> Row | None:
        """What a name without an ending is, a directory most likely, if it comes first of all that begins with it."""
        self._here()
        seen = self._flushed(place)
        path = _checks.check_path(seen.path)
        if (known := self._frozen.get(seen)) is not None:
            return file_row(place.name, known)
        page = objects.list_page(seen.repository, seen.ref, prefix=path, delimiter="/", after="", amount=2)
        items = self._lane.call(page).items
        first = items[0] if items else None  # an object of this very name comes before its directory
        if isinstance(first, ObjectInfo) and first.path == path:
            return file_row(place.name, first)
        return folder_row(place.name) if any(one.path == f"{path}/" for one in items) else None

    def _stat_now(self, place: Place) -> ObjectInfo:
        self._here()
        seen = self._flushed(place)
        known = self._frozen.get(seen)
        return known or self._lane.call(objects.stat(seen.repository, seen.ref, _checks.check_path(seen.path)))

    def _flushed(self, place: Place) -> Place:
        """Where a path is read, when that shows what was written."""
        behind = self._behind()
        if behind is not None:
            self._wait(behind.flush)
        return self._seen(place)

    def _open_now(self, path: str) -> Opened:
        """What a reader needs: the row, a local file, or the last bytes of the object."""
        place = object_place(path)
        self._here()
        known = self._shared.known(place.repository)
        if known is not None:
            seen = self._flushed(place)
            with suppress(LongWay, NotFoundError, InvalidRequestError):
                if not known[1] and path.lower().endswith(FOOTED):
                    info, tail = self._lane.call(objects.tail(seen.repository, seen.ref, seen.path, TAIL))
                    return file_row(path, info), None, tail
                row = file_row(path, self._stat_now(place))
                return row, place_of(known, row), b""
        opened: Opened = self._wait(self._begin_reading, path)
        return opened

    def _read_now(self, path: str, start: int, length: int, checksum: str) -> bytes:
        """Exactly this range of the object that has this checksum."""
        seen = self._seen(object_place(path))
        if self._shared.by_server(seen.repository):
            with suppress(LongWay, LakebedError):
                info, data = self._lane.call(objects.piece(seen.repository, seen.ref, seen.path, start, length))
                if info.checksum == checksum and len(data) == length:
                    return data
        whole: bytes = self._wait(self._read_exactly, path, start, length, checksum)
        return whole

    def _read_into(self, path: str, start: int, view: memoryview, checksum: str) -> bool:
        """The same into memory that is there. False when that is not the way, or failed: it holds nothing then."""
        seen = self._seen(object_place(path))
        if not self._shared.by_server(seen.repository):
            return False
        with suppress(LongWay, LakebedError):
            call = objects.piece(seen.repository, seen.ref, seen.path, start, view.nbytes)
            return self._lane.call(call, view)[0].checksum == checksum
        return False

    def _store_now(self, path: str, mode: str, options: dict[str, Any], held: Held) -> ObjectInfo | None:
        """Write a whole object to a branch. None when that is not the way, or failed: the long way can say why."""
        place = writable_place(path)
        if self._intrans or mode != "wb" or "+" in place.ref:
            return None
        item = outgoing(place.path, b"", **options)
        call = objects.upload(
            place.repository,
            place.ref,
            item.path,
            content_type=item.content_type,
            metadata=checked_metadata(item.metadata),
            if_absent=False,
            if_match=None,
        )
        meter = Meter()
        with suppress(LongWay, LakebedError):
            stored = self._lane.send(call, _then_hashed(held.parts(), meter), held.size)
            compare(call, stored, meter)
            return stored
        return None


def _then_hashed(parts: Sequence[Block], meter: Meter) -> Iterator[Block]:
    """The parts; and when the last one is sent and the server has work to do, their hash."""
    yield from parts
    for part in parts:
        meter(part)
