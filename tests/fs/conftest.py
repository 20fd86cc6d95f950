"""Fixtures of the file system tests: the server of the run in the environment, as a user has it, and a repository."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import fsspec
import lakebed
import pytest
from lakebed._async.http.transport import Transport as AsyncTransport
from lakebed._sync.http.transport import Transport
from lakebed.fsspec import LakebedFileSystem

from tests.support.processes.server import RunningServer


@pytest.fixture(autouse=True)
def _environment(
    server: RunningServer, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path_factory.getbasetemp()))
    monkeypatch.delenv("LAKEBED_DATA_PATH", raising=False)
    for name, value in server.environment.items():
        monkeypatch.setenv(name, value)


@pytest.fixture(params=["direct", "proxied"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """How bytes travel; tests that ask for it run both ways."""
    if request.param == "proxied":
        monkeypatch.setenv("LAKEBED_DATA_PATH", "proxied")
    return str(request.param)


@pytest.fixture
def fs() -> Iterator[Any]:
    LakebedFileSystem.clear_instance_cache()
    yield fsspec.filesystem("lakebed")
    LakebedFileSystem.clear_instance_cache()


@pytest.fixture
def top(repo: lakebed.Repository) -> str:
    """The branch as fsspec spells it."""
    return f"{repo.id}/main"


class Requests:
    """The requests that were sent to the server, by the blocking client and on the event loop."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.bytes = 0
        """The bytes of the ranges."""

        self._lock = threading.Lock()

    def add(self, call: Any) -> None:
        with self._lock:
            self.names.append(call.operation)
            span = dict(call.headers).get("Range", "")
            first, _, last = span.removeprefix("bytes=").partition("-")
            if span:
                self.bytes += int(last) - int(first or 1) + 1

    def clear(self) -> None:
        self.names.clear()
        self.bytes = 0


@pytest.fixture
def requests(monkeypatch: pytest.MonkeyPatch) -> Requests:
    seen = Requests()
    for transport in (AsyncTransport, Transport):
        monkeypatch.setattr(transport, "_send", _recorded(seen, transport._send))
    return seen


def _recorded(seen: Requests, send: Any) -> Any:
    def sent(transport: Any, call: Any, *rest: Any, **more: Any) -> Any:
        seen.add(call)
        return send(transport, call, *rest, **more)

    return sent


_WITH_GLOBS = ("TestCopy", "TestGet", "TestPut")
"""Classes of fsspec's suite that try the same 32 patterns. What a pattern matches does not depend on the direction."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """In `make test`, each odd pattern of fsspec's suite goes one way: a third of them is copied, read or written."""
    for item in items:
        if isinstance(item, pytest.Function) and item.name.partition("[")[0].endswith("_glob_edge_cases"):
            of_them = [one for one in _WITH_GLOBS if f"::{one}::" in item.nodeid]
            number = next(iter(item.callspec.indices.values()))
            if of_them and number % len(_WITH_GLOBS) != _WITH_GLOBS.index(of_them[0]):
                item.add_marker(pytest.mark.soak)
