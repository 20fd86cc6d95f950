"""Imports and commits that run until a test lets them end."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any

from lakebed_engine.engine import Engine
from lakebed_engine.operations.tuning import Tuning
from lakebed_engine.stores.kv.memory import MemoryKV
from lakebed_engine.stores.objects.external import Foreign
from lakebed_engine.stores.objects.registry import Stores
from lakebed_server.process.app import create_app

from tests.server.lake import MAIN, REPO, Lake
from tests.server.support import Clock, services
from tests.support.waiting import PATIENCE

IMPORT = MAIN + "/import"


class Working(Lake):
    """A lake that can be served by another server after the first is gone."""

    def __init__(self) -> None:
        super().__init__()
        self.tuning = Tuning()
        self.allowed = ["mem://elsewhere/"]
        self._others: list[Engine] = []
        self.kv, self.stores, self.clock = MemoryKV(), Stores(None, memory=True), Clock()
        self.runner.get_loop()
        self.restart()
        self("POST", "/repositories", {"name": "lake", "storage_namespace": "mem://lake"}, 201)

    def restart(self) -> None:
        """Another server over the same stores: the tasks of the first one are broken off."""
        self.runner.run(self.engine.close())
        self.runner.run(asyncio.sleep(0))  # what was broken off ends
        self.another()

    def another(self) -> Engine:
        """From here on another server over the same stores answers. Returns the engine of the first: it lives on."""
        first, foreign = self.engine, Foreign(self.stores.open, self.allowed)
        self._others.append(first)
        self.engine = Engine(
            self.kv, self.stores, clock=self.clock, foreign=foreign, address_key=b"key", tuning=self.tuning
        )
        self.app = create_app(services(self.engine, self.kv))
        return first

    def outside(self, key: str, data: bytes = b"abc") -> None:
        self.runner.run(self.stores.open("mem://elsewhere").put(key, data))

    def ended(self, url: str) -> Any:
        """What a task came to."""
        found: list[Any] = []

        def over() -> bool:
            found.append(self("GET", url))
            return bool(found[-1].get("completed", found[-1].get("done")))

        self.until(over)
        return found[-1]

    def until(self, true: Callable[[], bool]) -> None:
        """Let tasks go on until something is so."""
        deadline = time.monotonic() + PATIENCE
        while not true():
            assert time.monotonic() < deadline, "it did not become so"
            self.runner.run(asyncio.sleep(0.002))

    def until_idle(self) -> None:
        """Let the tasks of all servers end, including the servers that no longer answer."""
        self.until(lambda: not any(engine.tasks._runner._mine for engine in (self.engine, *self._others)))

    def start(self, *paths: tuple[str, str, str], expect: int = 202, **more: Any) -> Any:
        body = {
            "paths": [dict(zip(("type", "path", "destination"), one, strict=True)) for one in paths],
            "commit": {"message": "imported", "metadata": {"k": "v"}},
            **more,
        }
        return self("POST", IMPORT, body, expect)

    def paths(self, ref: str = "main") -> list[str]:
        return [row["path"] for row in self("GET", f"{REPO}/refs/{ref}/objects/ls")["results"]]

    def log(self) -> list[str]:
        return [row["message"] for row in self("GET", f"{REPO}/refs/main/commits")["results"]]


class Held(asyncio.Event):
    """Set it, and the worker goes on. `reached`: it waits."""

    reached = False
