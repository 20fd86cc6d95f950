"""Fixtures of the SDK tests: the sync and the async API, and a server that consists of routes."""

from __future__ import annotations

import ssl
from collections.abc import Iterator
from zlib import crc32

import pytest
import respx
from lakebed._http import trust

from tests.sdk.doors import Door


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """In `make test`, a test of a real store runs through one of the doors, about half of the tests through each.

    The sync door is generated from the other one. Tests that are not slow run through both.
    """
    for item in items:
        params = item.callspec.params if isinstance(item, pytest.Function) and hasattr(item, "callspec") else {}
        if "door" in params and item.get_closest_marker("slow") is not None:
            test = item.nodeid.partition("[")[0]
            if params["door"] != ("sync", "aio")[crc32(test.encode()) % 2]:
                item.add_marker(pytest.mark.soak)


@pytest.fixture(params=["sync", "aio"])
def door(request: pytest.FixtureRequest) -> Door:
    return Door(request.param)


@pytest.fixture
def wire(monkeypatch: pytest.MonkeyPatch) -> Iterator[respx.MockRouter]:
    """A server made of routes; a request that matches none fails the test."""
    monkeypatch.setenv("LAKEBED_HTTP", "httpx")  # what respx replaces
    # no request leaves this process, and to load the public certificates takes most of the time of a test
    monkeypatch.setattr(trust, "public_certificates", lambda: ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT))
    with respx.mock(assert_all_called=False) as router:
        yield router


@pytest.fixture(autouse=True)
def _no_settings_of_this_machine(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    monkeypatch.setenv("HOME", str(tmp_path_factory.getbasetemp()))
    for variable in ("ENDPOINT", "ACCESS_KEY_ID", "SECRET_ACCESS_KEY", "CONFIG_FILE"):
        monkeypatch.delenv(f"LAKEBED_{variable}", raising=False)
    for variable in (
        "SERVER_ENDPOINT_URL",
        "CREDENTIALS_ACCESS_KEY_ID",
        "CREDENTIALS_SECRET_ACCESS_KEY",
        "CONFIG_FILE",
    ):
        monkeypatch.delenv(f"LAKECTL_{variable}", raising=False)
    for variable in ("HOST", "USERNAME", "PASSWORD"):
        monkeypatch.delenv(f"LAKEFS_{variable}", raising=False)
