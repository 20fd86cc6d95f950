"""One test body for the sync and the async API: wraps the sync handles, so that `await` works on both."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any

import lakebed
import lakebed.aio
from lakebed._http import retry

ENDPOINT = "https://lake.test"
API = ENDPOINT + "/api/v1"
REPO = API + "/repositories/repo"
QUICK = retry.Policy(attempts=3, race_attempts=8, base=0.0, cap=0.0, longest_asked=0.0, settle_waits=(0.0, 0.0))

_HANDLES = (
    "Lake",
    "Repository",
    "Ref",
    "Branch",
    "Tag",
    "Events",
    "Listing",
    "Diff",
    "Scan",
    "Workspace",
    "Selection",
    "Dump",
    "Groups",
    "Keys",
    "Policies",
    "Pulls",
    "Runs",
    "Deliveries",
    "Users",
    "Restore",
    "Task",
)


class Awaited:
    """A sync handle with an async interface: coroutine methods of the async class are awaitable here too."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner
        self._twin = getattr(lakebed.aio, type(inner).__name__)

    def __getattr__(self, name: str) -> Any:
        twin = inspect.getattr_static(self._twin, name, None)
        value = getattr(self.inner, name)
        if inspect.iscoroutinefunction(twin):

            async def call(*args: Any, **kwargs: Any) -> Any:
                return wrap(value(*map(unwrap, args), **{key: unwrap(arg) for key, arg in kwargs.items()}))

            return call
        if inspect.isasyncgenfunction(twin):
            return lambda *args, **kwargs: over(value(*args, **kwargs))
        if callable(value):
            return lambda *args, **kwargs: wrap(value(*map(unwrap, args), **kwargs))
        return wrap(value)

    async def __aiter__(self) -> AsyncIterator[Any]:
        for row in self.inner:
            yield wrap(row)

    async def __aenter__(self) -> Awaited:
        self.inner.__enter__()
        return self

    async def __aexit__(self, *error: Any) -> Any:
        return self.inner.__exit__(*error)

    def __repr__(self) -> str:
        return repr(self.inner)


class AwaitedFile:
    """A plain file that looks like the async door's."""

    def __init__(self, file: Any) -> None:
        self._file = file

    async def __aenter__(self) -> AwaitedFile:
        self._file.__enter__()
        return self

    async def __aexit__(self, *error: Any) -> None:
        self._file.__exit__(*error)

    async def __aiter__(self) -> AsyncIterator[Any]:
        for line in self._file:
            yield line

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._file, name)
        if name == "tell":
            return value

        async def call(*args: Any) -> Any:
            return value(*args)

        return call


async def over(rows: Any) -> AsyncIterator[Any]:
    for row in rows:
        yield row


def wrap(value: Any) -> Any:
    if type(value).__name__ in _HANDLES:
        return Awaited(value)
    return AwaitedFile(value) if hasattr(value, "readinto") or hasattr(value, "detach") else value


def unwrap(value: Any) -> Any:
    return value.inner if isinstance(value, Awaited) else value


class Door:
    """One of the two doors, and how to go through it."""

    def __init__(self, name: str) -> None:
        self.name = name

    def connect(self, endpoint: str = ENDPOINT, key: str = "key", secret: str = "secret", quick: bool = True) -> Any:
        module: Any = lakebed if self.name == "sync" else lakebed.aio
        lake = module.connect(endpoint, key, secret)
        if quick:
            lake._transport.policy = QUICK
        return Awaited(lake) if self.name == "sync" else lake

    def run(self, body: Callable[[Any], Coroutine[Any, Any, None]], **kwargs: Any) -> None:
        """Run a test body with a lake."""

        async def go() -> None:
            async with self.connect(**kwargs) as lake:
                await body(lake)

        asyncio.run(go())
