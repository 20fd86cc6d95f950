"""Work that outlasts a proxy: the blocking calls of the SDK end with the commit, however long that takes."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import pytest
from lakebed_engine.engine import Engine
from lakebed_engine.operations.commit.group_commit import GroupCommit
from lakebed_engine.stores.kv.memory import MemoryKV
from lakebed_engine.stores.objects.registry import Stores
from lakebed_server.process.app import create_app

from tests.sdk.doors import Door
from tests.server.support import KEY_ID, SECRET, services, serving
from tests.support.waiting import until

pytestmark = pytest.mark.medium  # real sockets

PATIENCE = 0.1
"""Seconds after which the proxy answers 504 in the server's place."""

CUT = 4
"""The number of cut requests before the work may continue: the plain one, that of the task, and its polls."""


class Impatient:
    """A proxy without patience, in front of a server whose commits and merges take a given time."""

    def __init__(self, app: Any) -> None:
        self._app = app
        self.cut: list[str] = []
        self.done = threading.Event()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        gone = asyncio.Event()
        begun: list[Any] = []

        async def passed_on(message: Any) -> None:
            if not gone.is_set():
                begun.append(message)
                await send(message)

        async def still_there() -> Any:
            if gone.is_set():
                return {"type": "http.disconnect"}
            return await receive()

        work = asyncio.ensure_future(self._app(scope, still_there, passed_on))
        await asyncio.wait([work], timeout=PATIENCE)
        if begun or self.done.is_set():  # it is cut off for what it waits for, not for what is slow
            await work
            return
        gone.set()
        self.cut.append(f"{scope['method']} {scope['path']}")
        if len(self.cut) == CUT:
            self.done.set()
        await send({"type": "http.response.start", "status": 504, "headers": [(b"content-length", b"0")]})
        await send({"type": "http.response.body", "body": b""})


@pytest.fixture
def proxy() -> Iterator[tuple[Impatient, str]]:
    with pytest.MonkeyPatch.context() as patch:
        kv = MemoryKV()
        engine = Engine(kv, Stores(None, memory=True))
        proxy = Impatient(create_app(services(engine, kv)))
        patch.setattr(GroupCommit, "_swap", slow(GroupCommit._swap, proxy.done))
        with serving(proxy) as port:
            yield proxy, f"http://127.0.0.1:{port}"
        asyncio.run(engine.close())


def slow(inner: Callable[..., Awaitable[Any]], done: threading.Event) -> Callable[..., Awaitable[Any]]:
    """The last step of the work, which waits until it may."""

    async def step(*args: Any, **more: Any) -> Any:
        await until(done.is_set, "the test lets the step go on")
        return await inner(*args, **more)

    return step


@pytest.mark.parametrize("verb", ["commit", "merge"])
def test_a_blocking_call_ends_with_its_commit(door: Door, proxy: tuple[Impatient, str], verb: str) -> None:
    impatient, endpoint = proxy

    async def scenario(lake: Any) -> None:
        impatient.done.set()
        repo = await lake.repository("lake").create("mem://lake")
        main, dev = repo.branch("main"), await repo.branch("dev").create("main")
        await dev.put("a", b"1")
        if verb == "merge":
            await dev.commit("on dev")
        impatient.done.clear()
        impatient.cut.clear()
        merge = verb == "merge"
        made = (await dev.merge_into(main, "merged")).commit_id if merge else (await dev.commit("on dev")).id
        branch = main if merge else dev
        assert made == (await branch.info()).commit_id
        said = [one.message for one in await branch.log().all()]
        assert said == [*(["merged"] if merge else []), "on dev", "Repository created"]
        plain, task, *looks = impatient.cut[:CUT]
        assert plain + "/async" == task
        assert all("/async" in look or "/tasks/" in look for look in looks)

    door.run(scenario, endpoint=endpoint, key=KEY_ID, secret=SECRET, quick=False)
