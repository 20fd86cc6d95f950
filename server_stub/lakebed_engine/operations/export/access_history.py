"""Stores the files of the access history in the repository's own namespace, and finds them by day.

The caller makes their content. A file never changes: `_lakebed/history/date=2026-01-31/<time>-<id>.parquet`.
"""

from __future__ import annotations

import re
from typing import Final

from lakebed_format.keys import HISTORY, history_file

from lakebed_engine.operations.context import Context, open_repo
from lakebed_engine.vocabulary.errors import InvalidRequestError

DAY: Final = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)


async def write(ctx: Context, repo_name: str, day: str, second: str, data: bytes) -> str:
    """Store one file. `day` is `2026-01-31`, `second` is `235959`. Returns its key. Raises RepositoryNotFoundError."""
    repo = await open_repo(ctx, repo_name)
    key = history_file(_checked(day), second, ctx.ids.new())
    await repo.store.put(key, data, if_absent=True)
    return key


async def files(ctx: Context, repo_name: str, first: str, last: str) -> list[str]:
    """The keys of the files from one day to another, both included, in order. Raises RepositoryNotFoundError."""
    repo = await open_repo(ctx, repo_name)
    end = f"{HISTORY}date={_checked(last)}/~"
    found = []
    async for blob in repo.store.list(HISTORY, start_after=f"{HISTORY}date={_checked(first)}/"):
        if blob.key > end:
            break
        found.append(blob.key)
    return found


async def read(ctx: Context, repo_name: str, key: str) -> bytes:
    """The content of a file that `files` returned."""
    return await (await open_repo(ctx, repo_name)).store.get(key)


def _checked(day: str) -> str:
    if DAY.fullmatch(day) is None:
        raise InvalidRequestError(f"a day is like 2026-01-31, not {day[:40]!r}")
    return day
