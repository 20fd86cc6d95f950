"""Handlers that wait until a test releases them."""

from __future__ import annotations

import asyncio

from lakebed_server.http.request import Call
from lakebed_server.http.responses import Reply, empty

COMMITS = "/api/v1/repositories/repo/refs/main/commits"


BRANCH = "/api/v1/repositories/repo/branches/main"


class Held:
    """Handlers that do not return until the test lets them."""

    def __init__(self) -> None:
        self.inside = 0
        self.most = 0
        self.open = False

    async def __call__(self, call: Call, *_: object) -> Reply:
        self.inside += 1
        self.most = max(self.most, self.inside)
        try:
            while not self.open:
                await asyncio.sleep(0.005)
        finally:
            self.inside -= 1
        return empty()
