"""What hooks of type contract and python read: the trees on both sides of a change, by the engine's services."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from lakebed_engine.engine import Engine
from lakebed_engine.vocabulary.errors import ObjectNotFoundError
from lakebed_engine.vocabulary.requests import ReadableEntry
from lakebed_hooks.reading import Change, File, Side

_PAGE: Final = 1000
_MOST_ENTRIES: Final = 1000
"""Entries of files that one reader keeps."""


class EngineReader:
    """Reads two refs of a repository. An empty ref has no file."""

    def __init__(self, engine: Engine, repository: str, candidate: str, base: str, *, staged: bool = False) -> None:
        """`staged`: the candidate is a branch with its uncommitted changes."""
        self._engine = engine
        self._repository = repository
        self._refs: dict[Side, str] = {"candidate": candidate, "base": base}
        self._staged = staged
        self._entries: OrderedDict[tuple[Side, str], ReadableEntry] = OrderedDict()
        self._directory: str | None = None

    async def list(self, side: Side, prefix: str, after: str) -> Sequence[File]:
        """Files below a prefix, in order. Empty: no more."""
        ref = self._refs[side]
        if not ref:
            return []
        page = await self._engine.objects.list(self._repository, ref, prefix=prefix, after=after, amount=_PAGE)
        return [File(one.path, one.entry.size) for one in page.items if one.entry is not None]

    async def changes(self, after: str) -> Sequence[Change]:
        """Changed paths, in order. Empty: no more."""
        if not self._refs["base"]:
            return [Change(one.path, "added", one.size) for one in await self.list("candidate", "", after)]
        candidate = self._refs["candidate"] + ("$" if self._staged else "")
        page = await self._engine.commits.diff(
            self._repository, self._refs["base"], candidate, mode="two_dot", after=after, amount=_PAGE, details=False
        )
        return [
            Change(one.path, one.type, 0 if one.right is None else one.right.size)
            for one in page.items
            if one.type in ("added", "changed", "removed")
        ]

    async def expect(self, side: Side, paths: Sequence[str]) -> None:
        """Look up many files together."""
        unknown = [path for path in paths if (side, path) not in self._entries] if self._refs[side] else []
        if unknown:
            for one in await self._engine.objects.find_many(self._repository, self._refs[side], unknown):
                if isinstance(one.found, ReadableEntry):
                    self._keep((side, one.path), one.found)

    async def read(self, side: Side, path: str, offset: int, length: int) -> bytes:
        """Bytes of a file."""
        found = await self._find(side, path)
        length = min(length, found.entry.size - offset)
        return await found.read(offset, length) if length > 0 else b""

    async def local(self, side: Side, path: str) -> str | None:
        """The file itself, where the data of the repository is in a directory of this machine."""
        address = (await self._find(side, path)).entry.physical_address
        if self._directory is None:
            self._directory = (await self._engine.repositories.data_place(self._repository)).directory
        if not self._directory or "://" in address:
            return None
        return await asyncio.to_thread(_file_below, self._directory, address)

    async def _find(self, side: Side, path: str) -> ReadableEntry:
        key = (side, path)
        found = self._entries.get(key)
        if found is None:
            if not self._refs[side]:
                raise FileNotFoundError(path)
            try:
                found = await self._engine.objects.find(self._repository, self._refs[side], path)
            except ObjectNotFoundError:
                raise FileNotFoundError(path) from None
            self._keep(key, found)
        return found

    def _keep(self, key: tuple[Side, str], found: ReadableEntry) -> None:
        self._entries[key] = found
        if len(self._entries) > _MOST_ENTRIES:
            self._entries.popitem(last=False)


def _file_below(directory: str, address: str) -> str | None:
    root = Path(directory).resolve()
    found = (root / address).resolve()
    return str(found) if found.is_relative_to(root) and found.is_file() else None
