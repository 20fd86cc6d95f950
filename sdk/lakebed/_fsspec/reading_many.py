"""The methods that read several files: by batches, and whole folders as the SDK downloads them."""

from __future__ import annotations

import os
from collections.abc import Callable
from glob import has_magic
from typing import Any

from fsspec.callbacks import DEFAULT_CALLBACK, Callback
from fsspec.implementations.local import make_path_posix, trailing_sep

from lakebed._fsspec.base import AT_ONCE, Base
from lakebed._fsspec.batched_reads import ReadAhead, batched
from lakebed._fsspec.paths import Place
from lakebed._integration.aio import download_folder
from lakebed._integration.values import PROXIED
from lakebed.errors import NotFoundError, PartialFailureError
from lakebed.model import TransferProgress


class ReadingMany(Base):
    """The methods that read several files."""

    def _begin(self) -> None:
        super()._begin()
        self._ahead: ReadAhead | None = None

    async def _cat(self, path: Any, recursive: bool = False, **kwargs: Any) -> Any:
        with batched(self._gives_many(path, recursive), kwargs):
            return await super()._cat(path, recursive=recursive, **kwargs)

    async def _cat_ranges(self, paths: list[str], starts: Any, ends: Any, **kwargs: Any) -> Any:
        with batched(self._gives_many(paths, False), kwargs):
            return await super()._cat_ranges(paths, starts, ends, **kwargs)

    async def _get(
        self,
        rpath: Any,
        lpath: Any,
        recursive: bool = False,
        callback: Any = DEFAULT_CALLBACK,
        maxdepth: int | None = None,
        **kwargs: Any,
    ) -> Any:
        is_whole = recursive and maxdepth is None and not kwargs
        if is_whole and await self._folder_arrived(rpath, lpath, callback):
            return None
        with batched(self._gives_many(rpath, recursive), kwargs, at_once=-1):
            return await super()._get(rpath, lpath, recursive, callback, maxdepth, **kwargs)

    async def _folder_arrived(self, rpath: Any, lpath: Any, callback: Any) -> bool:
        """Download a whole folder without a task for each file. False: let fsspec get each file.

        It also returns False when a file failed, so that fsspec raises the error of that file.
        """
        if not isinstance(rpath, str) or not isinstance(lpath, str | os.PathLike):
            return False
        place = Place.of(self._strip_protocol(rpath))
        if has_magic(rpath) or not place.ref or _wants_each_file(callback) or 0 < self.batch_size < AT_ONCE:
            return False
        report = None if callback is DEFAULT_CALLBACK else _report_to(callback)
        try:
            if place.path and await self._isfile(place.name):
                return False
            target = _target(rpath, place, lpath)
            return (await download_folder(self._ref(place), place.path, target, report)).files > 0
        except (NotFoundError, PartialFailureError):
            return False

    def _gives_many(self, path: Any, recursive: bool) -> bool:
        """Whether a call reads several files. Their bytes come through the server unless a data path was chosen."""
        several = recursive or has_magic(path) if isinstance(path, str) else len(path) > 1
        return several and self.connection.data_path in (None, PROXIED)


def _wants_each_file(callback: Any) -> bool:
    """Whether the callback creates another callback for each file."""
    kind = type(callback)
    plain = (Callback.branch, Callback.branched, Callback.branch_coro)
    return callback is not DEFAULT_CALLBACK and (kind.branch, kind.branched, kind.branch_coro) != plain


def _report_to(callback: Any) -> Callable[[TransferProgress], None]:
    def report(progress: TransferProgress) -> None:
        callback.set_size(progress.files_total)
        callback.absolute_update(progress.files)

    return report


def _target(rpath: str, place: Place, lpath: Any) -> str:
    """The directory that the folder becomes: as in fsspec, inside a directory that exists, unless rpath ends in `/`."""
    local: str = make_path_posix(os.fspath(lpath))
    if not trailing_sep(rpath) and (trailing_sep(local) or os.path.isdir(local)):
        return os.path.join(local, place.name.rsplit("/", 1)[-1])
    return local
