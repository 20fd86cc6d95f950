"""The pytest plugin: a server for the run, and a clean client and repository for each test.

pytest imports this module in every run where Lakebed is installed. So it imports nothing, and does nothing, until a
test uses a fixture.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from lakebed_format.installation import install_command

if TYPE_CHECKING:
    import lakebed

    from lakebed_testing.running import LakebedServer


@pytest.fixture(scope="session")
def lakebed_server_settings() -> dict[str, object]:
    """Settings of the server, by their keys. Override it in your conftest.py."""
    return {}


@pytest.fixture(scope="session")
def lakebed_server(lakebed_server_settings: dict[str, object]) -> Iterator[LakebedServer]:
    """A Lakebed server in this process, for the whole run. With pytest-xdist each worker has its own."""
    try:
        from lakebed_testing.running import server
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("lakebed"):
            raise
        pytest.fail(f"the fixture needs {error.name}, which is missing: {install_command('testing')}", pytrace=False)
    with server(lakebed_server_settings) as started:
        yield started


@pytest.fixture
def lake(lakebed_server: LakebedServer) -> Iterator[lakebed.Lake]:
    """A client of the server. The server is empty when the test begins. Unused faults are an error at its end."""
    lakebed_server.faults.clear()  # armed by a test without this fixture
    lakebed_server.reset()
    with lakebed_server.connect() as connected:
        yield connected
    lakebed_server.reset()


@pytest.fixture
def repo(lake: lakebed.Lake) -> lakebed.Repository:
    """An empty repository named `repo` on that server."""
    return lake.repository("repo").create("mem://repo")


@pytest.fixture
def lakebed_environment(
    lakebed_server: LakebedServer, lake: lakebed.Lake, monkeypatch: pytest.MonkeyPatch
) -> dict[str, str]:
    """Makes `lakebed.connect()` find the server, in the tested code and in its subprocesses."""
    for name, value in lakebed_server.environment.items():
        monkeypatch.setenv(name, value)
    return lakebed_server.environment
