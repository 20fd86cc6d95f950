"""Stores the files of the access history, and finds them by day.

The files of a repository are in its namespace. Those of the whole server are in a namespace that the caller names. The
caller creates their content. A file never changes: `_lakebed/history/date=2026-01-31/<time>-<id>.parquet`.
"""

from __future__ import annotations

import re
from typing import Final

from lakebed_format.keys import HISTORY, REPOSITORY_MARKER, history_file

from lakebed_engine.operations.context import Context, encode, open_repo
from lakebed_engine.stores.objects.base import ObjectStore
from lakebed_engine.vocabulary.errors import BlobExists, InvalidRequestError, NamespaceInUseError
from lakebed_engine.vocabulary.ports import HistoryFiles

DAY: Final = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)


class _Files:
    """The files in one namespace. The methods are those of HistoryFiles."""

    def __init__(self, ctx: Context, store: ObjectStore) -> None:
        self._ctx = ctx
        self._store = store

    async def write(self, day: str, second: str, data: bytes) -> str:
        key = history_file(_checked(day), second, self._ctx.ids.new())
        await self._store.put(key, data, if_absent=True)
        return key

    async def files(self, first: str, last: str) -> list[str]:
        end = f"{HISTORY}date={_checked(last)}/~"
        found = []
        async for blob in self._store.list(HISTORY, start_after=f"{HISTORY}date={_checked(first)}/"):
            if blob.key > end:
                break
            found.append(blob.key)
        return found

    async def read(self, key: str) -> bytes:
        return await self._store.get(key)


async def of_repository(ctx: Context, repo_name: str) -> HistoryFiles:
    """The files of a repository. Raises RepositoryNotFoundError."""
    return _Files(ctx, (await open_repo(ctx, repo_name)).store)


async def of_server(ctx: Context, namespace: str) -> HistoryFiles:
    """The files in a storage namespace that belongs to no repository. Raises InvalidNamespaceError."""
    return _Files(ctx, ctx.stores.open(namespace))


async def claim(ctx: Context, namespace: str) -> None:
    """Mark a storage namespace as the server's, so that no repository is created in it.

    Raises InvalidNamespaceError, and NamespaceInUseError if it belongs to a repository.
    """
    store, marker = ctx.stores.open(namespace), encode({"uid": "", "name": "(the access history of the server)"})
    try:
        await store.put(REPOSITORY_MARKER, marker, if_absent=True)
    except BlobExists:
        if await store.get(REPOSITORY_MARKER) != marker:
            raise NamespaceInUseError(f"storage namespace {namespace!r} belongs to a repository") from None


def _checked(day: str) -> str:
    if DAY.fullmatch(day) is None:
        raise InvalidRequestError(f"a day is like 2026-01-31, not {day[:40]!r}")
    return day
