"""Fixtures of the file system tests: the server of the run in the environment, as a user has it, and a repository."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import fsspec
import lakebed
import pytest
from lakebed._http.thread_client import Lane
from lakebed.fsspec import LakebedFileSystem

from tests.support.server import RunningServer


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


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The operations that went by the lane."""
    names: list[str] = []
    exchange = Lane._exchange

    def exchanged(lane: Lane, call: Any, *more: Any) -> Any:
        names.append(call.operation)
        return exchange(lane, call, *more)

    monkeypatch.setattr(Lane, "_exchange", exchanged)
    return names
