"""Reads small objects in batches while fsspec reads many files of one call, each by a task of its own."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from glob import has_magic
from typing import Any

from lakebed import aio
from lakebed._fsspec.base import AT_ONCE, Base
from lakebed._integration.aio import read_small
from lakebed._integration.values import PROXIED
from lakebed.errors import LakebedError, UnsupportedOperationError

FILES = 200
"""Files of one call that are asked for at the same time, and so the largest batch."""

Asked = dict[str, list["asyncio.Future[bytes | None]"]]


class BatchedReads:
    """The reads of one call. What is asked for during one batch of a ref makes up the next one."""

    def __init__(self) -> None:
        self.alone = asyncio.Semaphore(AT_ONCE)
        """Limits the reads by requests of their own."""

        self._asked: dict[tuple[str, str], Asked] = {}
        self._running: dict[tuple[str, str], asyncio.Task[None]] = {}

    async def read(self, ref: aio.Ref, path: str) -> bytes | None:
        """The content of a small object. None when it must be read by a request of its own."""
        key = (ref.repository.id, ref.id)
        answer: asyncio.Future[bytes | None] = asyncio.get_running_loop().create_future()
        self._asked.setdefault(key, {}).setdefault(path, []).append(answer)
        if key not in self._running:
            self._running[key] = asyncio.ensure_future(self._run(ref, key))
        return await answer

    async def _run(self, ref: aio.Ref, key: tuple[str, str]) -> None:
        try:
            await asyncio.sleep(0)  # the other tasks of the call ask before the first batch is sent
            while (asked := self._asked.pop(key, None)) is not None:
                await _batch(ref, asked)
        finally:
            del self._running[key]


async def _batch(ref: aio.Ref, asked: Asked) -> None:
    error: LakebedError | None = None
    try:
        async for path, data in read_small(ref, list(asked)):
            _answer(asked.pop(path), data)
    except UnsupportedOperationError:
        pass
    except LakebedError as raised:
        error = raised
    finally:
        for answers in asked.values():
            _answer(answers, error)


def _answer(answers: list[asyncio.Future[bytes | None]], value: bytes | LakebedError | None) -> None:
    for answer in answers:
        if answer.done():
            continue
        if isinstance(value, LakebedError):
            answer.set_exception(value)
        else:
            answer.set_result(value)


_CURRENT: ContextVar[BatchedReads | None] = ContextVar("lakebed_batched_reads", default=None)


def current() -> BatchedReads | None:
    """The batched reads of the call that this task belongs to."""
    return _CURRENT.get()


@contextmanager
def _batched(is_wanted: bool, options: dict[str, Any]) -> Iterator[None]:
    """Read small objects in batches in this block and in the tasks that it starts.

    `options` are the arguments of fsspec's method.
    """
    token = _CURRENT.set(BatchedReads() if is_wanted else None)
    if is_wanted and not options.get("batch_size"):
        options["batch_size"] = FILES
    try:
        yield
    finally:
        _CURRENT.reset(token)


class ReadingMany(Base):
    """The methods that read several files."""

    async def _cat(self, path: Any, recursive: bool = False, **kwargs: Any) -> Any:
        with _batched(self._gives_many(path, recursive), kwargs):
            return await super()._cat(path, recursive=recursive, **kwargs)

    async def _cat_ranges(self, paths: list[str], starts: Any, ends: Any, **kwargs: Any) -> Any:
        with _batched(self._gives_many(paths, False), kwargs):
            return await super()._cat_ranges(paths, starts, ends, **kwargs)

    async def _get(self, rpath: Any, lpath: Any, recursive: bool = False, **kwargs: Any) -> Any:
        with _batched(self._gives_many(rpath, recursive), kwargs):
            return await super()._get(rpath, lpath, recursive=recursive, **kwargs)

    def _gives_many(self, path: Any, recursive: bool) -> bool:
        """Whether a call reads several files. Their bytes come through the server unless a data path was chosen."""
        several = recursive or has_magic(path) if isinstance(path, str) else len(path) > 1
        return several and self.connection.data_path in (None, PROXIED)
