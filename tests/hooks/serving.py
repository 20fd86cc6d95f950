"""A server with hooks for tests, in this process, and a client of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import httpx
import lakebed_testing


@contextmanager
def serving(settings: Mapping[str, object] | None = None) -> Iterator[httpx.Client]:
    """Run a server that may call this machine. The client is for REST."""
    chosen = {"hooks.webhook.allow": "127.0.0.1", **(settings or {})}
    with lakebed_testing.server(chosen) as running, client_of(running) as client:
        yield client


def client_of(running: lakebed_testing.LakebedServer) -> httpx.Client:
    """A client for REST."""
    pair = (running.access_key_id, running.secret_access_key)
    return httpx.Client(base_url=f"{running.endpoint}/api/v1", auth=pair, timeout=60)
