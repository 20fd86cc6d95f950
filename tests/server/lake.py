"""A client of the REST interface, in this process, with one repository."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec
from lakebed_engine.engine import Engine
from lakebed_engine.stores.kv.memory import MemoryKV
from lakebed_engine.stores.objects.registry import Stores
from lakebed_server.process.app import create_app

from tests.server.support import Answer, ask, services

REPO = "/repositories/lake"


MAIN = REPO + "/branches/main"


class Lake:
    """A server over an engine in memory, with a repository `lake`; one event loop for all of its requests."""

    def __init__(self) -> None:
        kv = MemoryKV()
        self.engine = Engine(kv, Stores(None, memory=True))
        self.app = create_app(services(self.engine, kv))
        self.runner = asyncio.Runner()

    def __call__(self, method: str, target: str, body: Any = None, expect: int = 200, **headers: Any) -> Any:
        answer = self.raw(method, target, body, **headers)
        assert answer.status == expect, answer.body
        if answer.headers.get("content-type") == "application/json":
            return answer.json
        return answer

    def raw(self, method: str, target: str, body: Any = None, **headers: Any) -> Answer:
        """The answer with its status and headers."""
        raw = body if isinstance(body, bytes) else b"" if body is None else msgspec.json.encode(body)
        return ask(self.app, "/api/v1" + target, method, raw, runner=self.runner, **headers)

    def put(self, path: str, data: bytes, branch: str = "main") -> Any:
        return self("POST", f"{REPO}/branches/{branch}/objects?path={path}", data, 201, content_type="text/csv")

    def commit(self, message: str, branch: str = "main") -> Any:
        return self("POST", f"{REPO}/branches/{branch}/commits", {"message": message}, 201)

    def close(self) -> None:
        self.runner.run(self.engine.close())
        self.runner.close()
