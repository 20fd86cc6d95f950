"""Listing and reading: listings, globs, contents, downloads.

Nothing of a branch is cached, because any client can change it at any moment. fsspec's own walks and checks treat every
failure of the server as "not found". These methods do not, because a partial listing must not count as a complete one.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import Any

from fsspec.callbacks import DEFAULT_CALLBACK
from fsspec.spec import AbstractFileSystem

from lakebed._fsspec.batched_reads import SMALL_LISTED, ReadAhead, current
from lakebed._fsspec.paths import Place, Row, directory, file_row, folder_row, missing, object_place
from lakebed._fsspec.reading_many import ReadingMany
from lakebed._integration.aio import read_range, read_tail, shared_directory
from lakebed._integration.values import appearing, read_file
from lakebed.errors import InvalidRequestError, LakebedError, NotFoundError, ObjectNotFoundError
from lakebed.model import ObjectInfo

TAIL = 64 << 10
"""Bytes to fetch first from a file with its index at the end."""

FOOTED = (".parquet", ".parq", ".pq", ".feather", ".arrow", ".orc")


Opened = tuple[Row, str | None, bytes]
"""A row, the local file of the object if there is one, and the last bytes of the object if they are known."""


class Reading(ReadingMany):
    """The methods that change nothing."""

    async def _info(self, path: str, **kwargs: Any) -> Row:
        """Raises ObjectNotFoundError, and NotFoundError for a repository or ref that does not exist.

        NotFoundError is not a FileNotFoundError: pyarrow drops the message of a FileNotFoundError and reports only the
        path.
        """
        place = Place.of(self._strip_protocol(path))
        if place.path:
            return await self._object_or_folder(place)
        if place.ref:
            await self._ref(place).commit_info()
        elif place.repository:
            await self._repository(place).info()
        return folder_row(place.name)

    async def _object_or_folder(self, place: Place) -> Row:
        ref = self._ref(place)
        try:
            return file_row(place.name, await ref.stat(place.path))
        except ObjectNotFoundError:
            if await ref.list(place.folder).first() is None:
                raise missing(place) from None
        return folder_row(place.name)

    async def _exists(self, path: str, **kwargs: Any) -> bool:
        return await self._type(path) is not None

    async def _isdir(self, path: str) -> bool:
        return await self._type(path) == "directory"

    async def _isfile(self, path: str) -> bool:
        place = Place.of(self._strip_protocol(path))
        if not place.path:
            return False
        try:
            await self._stat(place)
        except NotFoundError:
            return False
        return True

    async def _type(self, path: str) -> str | None:
        try:
            return str((await self._info(path))["type"])
        except NotFoundError:
            return None

    async def _ls(self, path: str, detail: bool = True, **kwargs: Any) -> list[Any]:
        place = Place.of(self._strip_protocol(path))
        try:
            rows = await self._below(place)
        except NotFoundError as error:
            raise missing(place, error) from None
        return rows if detail else [row["name"] for row in rows]

    async def _below(self, place: Place) -> list[Row]:
        """Return what a directory contains. For a file, the file itself."""
        if not place.repository:
            return [folder_row(one.id) for one in await self._lake_here().repositories().all()]
        if not place.ref:
            repository = self._repository(place)
            refs = [*await repository.branches(hidden=True).all(), *await repository.tags().all()]
            return [folder_row(f"{place.repository}/{name}") for name in sorted({one.id for one in refs})]
        rows = []
        async for one in self._ref(place).list(place.folder, delimiter="/"):
            if not isinstance(one, ObjectInfo):
                rows.append(folder_row(place.at(one.path[:-1])))
            elif one.path != place.folder:  # an object of this name marks the directory
                rows.append(file_row(place.at(one.path), one))
        if not rows and place.path:
            found = await self._object_or_folder(place)
            return [found] if found["type"] == "file" else []
        return rows

    async def _walk(
        self, path: str, maxdepth: int | None = None, topdown: bool = True, on_error: Any = "omit", **kwargs: Any
    ) -> AsyncIterator[Any]:
        steps = super()._walk(path, maxdepth=maxdepth, topdown=topdown, on_error=_refusing(on_error), **kwargs)
        async for step in steps:
            yield step

    def walk(
        self, path: str, maxdepth: int | None = None, topdown: bool = True, on_error: Any = "omit", **kwargs: Any
    ) -> Iterator[Any]:
        """Like `os.walk`. Skips directories that disappear during it. Raises when the server cannot be reached."""
        walk: Iterator[Any] = AbstractFileSystem.walk(
            self, path, maxdepth=maxdepth, topdown=topdown, on_error=_refusing(on_error), **kwargs
        )
        return walk

    async def _find(
        self, path: str, maxdepth: int | None = None, withdirs: bool = False, prefix: str = "", **kwargs: Any
    ) -> Any:
        if maxdepth is not None and maxdepth < 1:
            raise ValueError("maxdepth must be at least 1")
        detail = kwargs.pop("detail", False)
        place = Place.of(self._strip_protocol(path))
        if not place.ref:  # over branches, or over repositories
            found = await super()._find(path, maxdepth=maxdepth, withdirs=withdirs, detail=True)
        else:
            found = await self._all_below(place, maxdepth, withdirs, prefix)
            if withdirs and detail:  # as pyarrow lists a data set
                self._ahead = ReadAhead(place, [Place.of(name).path for name, row in found.items() if _is_small(row)])
        return found if detail else list(found)

    async def _all_below(self, place: Place, maxdepth: int | None, withdirs: bool, prefix: str) -> dict[str, Row]:
        """Return everything below a directory, from one listing. Directories come from the paths."""
        found: dict[str, Row] = {}
        base, delimiter = place.folder, "/" if maxdepth == 1 else ""
        try:
            frozen = await self._frozen.covers(self._repository(place), place.ref)
            async for one in self._ref(place).list(base + prefix, delimiter=delimiter):
                inner = one.path[len(base) :].rstrip("/")
                steps = inner.split("/")
                if withdirs:
                    last = len(steps) if one.path.endswith("/") else len(steps) - 1
                    for depth in range(1, min(last, maxdepth or last) + 1):
                        name = place.at(base + "/".join(steps[:depth]))
                        if name not in found and steps[depth - 1]:
                            found[name] = folder_row(name)
                if (
                    isinstance(one, ObjectInfo)
                    and len(steps) <= (maxdepth or len(steps))
                    and not one.path.endswith("/")
                ):
                    found[place.at(one.path)] = file_row(place.at(one.path), one)
                    if frozen:
                        self._frozen.keep(Place(place.repository, place.ref, one.path), one)
        except NotFoundError:
            return {}
        if found:
            own = {place.name: folder_row(place.name)} if withdirs else {}
            return dict(sorted((own | found).items()))
        return {} if prefix or not place.path else await self._file_alone(place)

    async def _file_alone(self, place: Place) -> dict[str, Row]:
        """A path of a file is listed under its own name."""
        try:
            return {place.name: file_row(place.name, await self._stat(place))}
        except ObjectNotFoundError:
            return {}

    async def _du(self, path: str, total: bool = True, maxdepth: int | None = None, **kwargs: Any) -> Any:
        sizes = {name: row["size"] for name, row in (await self._find(path, maxdepth=maxdepth, detail=True)).items()}
        return sum(sizes.values()) if total else sizes

    async def _stat(self, place: Place) -> ObjectInfo:
        return self._frozen.get(place) or await self._ref(place).stat(place.path)

    # contents

    async def _cat_file(self, path: str, start: int | None = None, end: int | None = None, **kwargs: Any) -> bytes:
        place = object_place(self._strip_protocol(path))
        try:
            if start in (None, 0) and end is None:
                return await self._whole(place)
            if (start or 0) < 0 and end is None:
                return (await self._tail(place, -(start or 0)))[1]
            return await self._range(place, start or 0, end)
        except NotFoundError as error:
            raise await self._no_object(place, error) from None

    async def _no_object(self, place: Place, error: NotFoundError) -> ObjectNotFoundError:
        """Return the error for a path without an object. For a directory it says so."""
        if isinstance(error, ObjectNotFoundError):
            with suppress(LakebedError):
                first = await self._ref(place).list(place.folder).first()
                if first is not None:
                    return directory(place, first.path, error)
        return missing(place, error)

    async def _whole(self, place: Place) -> bytes:
        ref = self._ref(place)
        shared = await shared_directory(ref, self.connection.data_path)
        if shared:
            info = await self._stat(place)
            fd = await asyncio.to_thread(shared.open, info.physical_address, info.size)
            if fd is not None:
                return await asyncio.to_thread(read_file, fd, info.size, place.name)
        reads = current()
        if reads is None:
            return await ref.get(place.path)
        data = await reads.read(ref, place.path)
        if data is not None:
            return data
        async with reads.alone:
            return await ref.get(place.path)

    async def _range(self, place: Place, start: int, end: int | None) -> bytes:
        """Read a range with the rules of slices: negative positions count from the end, and positions past the end are
        cut off.
        """
        if start < 0 or (end is not None and end < 0):
            size = (await self._stat(place)).size
            start, end, _ = slice(start, end).indices(size)
        length = None if end is None else end - start
        if length is not None and length <= 0:
            return b""
        try:
            return await self._ref(place).get(place.path, start, length)
        except InvalidRequestError as error:
            if error.kind != "invalid_range":
                raise
            return b""  # after the end

    async def _tail(self, place: Place, length: int) -> tuple[Row, bytes]:
        """Return the row of a file and its last bytes, in one request: enough to open a Parquet file."""
        try:
            info, data = await read_tail(self._ref(place), place.path, length)
        except InvalidRequestError as error:
            if error.kind != "invalid_range":
                raise
            return file_row(place.name, await self._stat(place)), b""  # an empty file
        return file_row(place.name, info), data

    async def _begin_reading(self, path: str) -> Opened:
        """Return what a reader needs: the row, a local file, or the last bytes of the object."""
        place = object_place(path)
        try:
            shared = await shared_directory(self._ref(place), self.connection.data_path)
            if not shared and path.lower().endswith(FOOTED):
                row, tail = await self._tail(place, TAIL)
                return row, None, tail
            info = await self._stat(place)
        except NotFoundError as error:
            raise await self._no_object(place, error) from None
        return file_row(place.name, info), shared.path_of(info.physical_address), b""

    async def _read_exactly(self, path: str, start: int, length: int, checksum: str) -> bytes:
        place = object_place(path)
        return await read_range(self._ref(place), place.path, start, length, checksum)

    async def _get_file(
        self, rpath: str, lpath: str, callback: Any = DEFAULT_CALLBACK, outfile: Any = None, **kwargs: Any
    ) -> None:
        place = Place.of(self._strip_protocol(rpath))
        if not place.path:
            os.makedirs(lpath, exist_ok=True)
            return
        try:
            await self._fetch(place, outfile if outfile is not None else lpath, callback)
        except (ObjectNotFoundError, IsADirectoryError):  # IsADirectoryError: a file below it was fetched before
            if await self._type(place.name) != "directory":
                raise
            os.makedirs(lpath, exist_ok=True)
        except NotFoundError as error:
            raise missing(place, error) from None

    async def _fetch(self, place: Place, target: Any, callback: Any) -> None:
        report: Callable[[int], None] = callback.relative_update
        source, reads = self._ref(place), current()
        if reads is not None:
            data = await reads.read(source, place.path)
            if data is not None:
                with reads.saving(data):
                    callback.set_size(len(data))
                    await asyncio.to_thread(_save, target, data)
                report(len(data))
                return
        async with reads.alone if reads is not None else nullcontext():
            await self._download(source, place, target, callback)

    async def _download(self, source: Any, place: Place, target: Any, callback: Any) -> None:
        report: Callable[[int], None] = callback.relative_update
        if callback is not DEFAULT_CALLBACK:
            callback.set_size((await source.stat(place.path)).size)
        await source.download(place.path, target, progress=report)

    def _lake_here(self) -> Any:
        self._here()
        return self._lake


def _is_small(row: Row) -> bool:
    return bool(row["type"] == "file" and row["size"] <= SMALL_LISTED and row["name"].lower().endswith(FOOTED))


def _save(target: Any, data: bytes) -> None:
    """Write a file, or into an open file."""
    if hasattr(target, "write"):
        target.write(data)
        return
    with appearing(Path(target)) as file:
        file.write(data)


def _refusing(on_error: Any) -> Callable[[Exception], None]:
    """Return the handler for a directory that a walk cannot list. A missing directory is skipped, other errors are
    raised.
    """

    def refuse(error: Exception) -> None:
        if callable(on_error):
            on_error(error)
        elif on_error == "raise" or not isinstance(error, FileNotFoundError):
            raise error

    return refuse
