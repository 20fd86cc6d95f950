"""One `lakebed serve` with the gateway on, and a fresh repository for each test."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import lakebed
import pytest

from tests.s3.target import Target
from tests.support.processes.server import RunningServer, running_server

DOMAIN = "s3.lakebed.test"


CLIENTS = ("tests/s3/test_cli_tools.py", "tests/s3/test_clients.py", "tests/s3/test_tables.py")
"""Each client with each form of a bucket: in `make test` with one, because boto3 has tests with both."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests of clients on the second form of a bucket `soak`."""
    for item in items:
        if item.nodeid.startswith(CLIENTS) and "[bound" in item.nodeid:
            item.add_marker(pytest.mark.soak)


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """With a domain, so that the host name may contain the bucket."""
    with running_server(tmp_path_factory, environment={"LAKEBED_GATEWAY_S3_DOMAIN": DOMAIN}) as started:
        yield started


@pytest.fixture(params=["repository", "bound"])
def target(request: pytest.FixtureRequest, server: RunningServer, repo: lakebed.Repository) -> Target:
    """The branch main as a folder of a bucket, and as a bucket."""
    bucket, prefix = (repo.id, "main/") if request.param == "repository" else (f"{repo.id}.main", "")
    return Target(server.endpoint, server.access_key_id, server.secret_access_key, bucket, prefix)


@pytest.fixture
def branch(server: RunningServer, repo: lakebed.Repository) -> Target:
    """The branch main as a folder of a bucket, where the test needs it so."""
    return Target(server.endpoint, server.access_key_id, server.secret_access_key, repo.id, "main/")


@pytest.fixture(scope="session")
def tool() -> Callable[[str], Path]:
    """The program of a client's package, in the same folder as Python."""

    def find(name: str) -> Path:
        program = Path(sys.executable).parent / name
        assert program.is_file(), f"{program} is not there: `make s3` installs it"
        return program

    return find
