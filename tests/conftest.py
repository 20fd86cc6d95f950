"""Fixtures that every test may use: one real server for the whole run, a client, and a fresh repository."""

from __future__ import annotations

import functools
import gc
import os
import re
import signal
import ssl
from collections.abc import Generator, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import lakebed
import pytest
from httpx._transports import default as httpx_transports
from lakebed._process.exit import awaited_of_obstore

from tests.support import unit_tests
from tests.support.processes.server import RunningServer, running_server
from tests.support.seeds import seed_of_the_engine
from tests.support.time_limits import add_limit
from tests.support.waiting import PATIENCE

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # started in the background by a shell, as some CI does: the commands that tests start would ignore Ctrl-C as well
    signal.signal(signal.SIGINT, signal.default_int_handler)

awaited_of_obstore()  # many tests use cloud stores in this process, which shall end with its own exit code


@functools.cache
def _public_certificates(*_: object) -> ssl.SSLContext:
    return httpx.create_ssl_context()


def _certificates_of(verify: ssl.SSLContext | str | bool = True, **more: Any) -> ssl.SSLContext:
    """What httpx calls for each new client. To read all public certificates takes 20 ms: once for each environment."""
    if verify is True and more == {"cert": None, "trust_env": True}:
        return _public_certificates(os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR"))
    return httpx.create_ssl_context(verify=verify, **more)


vars(httpx_transports)["create_ssl_context"] = _certificates_of

if find_spec("hypothesis"):  # the environments of Spark and of the S3 clients have none
    from hypothesis import HealthCheck, settings

    from tests.support.sizes import sized

    # an example, or its making, takes as long as a busy machine takes
    settings.register_profile(
        "unhurried", deadline=None, max_examples=sized(100), suppress_health_check=[HealthCheck.too_slow]
    )
    settings.load_profile("unhurried")


def pytest_configure(config: pytest.Config) -> None:
    """Hypothesis draws the same values until the engine changes; `--hypothesis-seed random` draws new ones."""
    if getattr(config.option, "hypothesis_seed", "none is to be had") is None:
        config.option.hypothesis_seed = str(seed_of_the_engine())


@pytest.fixture(autouse=True)
def _umask() -> Iterator[None]:
    """The server's commands set the umask of their process; some tests run them in this one."""
    before = os.umask(0o022)
    yield
    os.umask(before)


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """A real server in a process of its own, shared by all tests: each uses its own repositories."""
    with running_server(tmp_path_factory) as started:
        yield started


@pytest.fixture
def lake(server: RunningServer) -> Iterator[lakebed.Lake]:
    """A client of that server."""
    with lakebed.connect(
        server.endpoint, server.access_key_id, server.secret_access_key, timeout=PATIENCE
    ) as connected:
        yield connected


@pytest.fixture
def repo(lake: lakebed.Lake) -> lakebed.Repository:
    """A fresh, empty repository."""
    name = f"test-{uuid4().hex[:16]}"
    return lake.repository(name).create(f"local://{name}")


_REAL = re.compile(r"[\[-](seaweedfs|moto|azurite|postgres|cached)\b")
"""Parameters of tests that run on a real database or object store."""

_APART = ("tests/browser/", "tests/spark/", "tests/s3/", "tests/delta/", "tests/recipes/")
"""Folders of tests that have jobs of their own in `make test`: Chromium, Spark, S3 clients, Delta Lake, recipes."""

_REAL_FIXTURES = frozenset({"server", "postgres"})
"""Fixtures that start one."""

_RECEIVERS = frozenset({"receiver"})
"""Fixtures that start an HTTP server in a thread."""


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """`make check` does not import files in which every test is slow or medium: it would run none of them."""
    return True if unit_tests.has_none(collection_path) else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests of real parts `slow`, those with a socket or drawn cases `medium`. Limit the time of long tests."""
    for item in items:
        real = not _REAL_FIXTURES.isdisjoint(getattr(item, "fixturenames", ()))
        if real or _REAL.search(item.nodeid) or item.nodeid.startswith(_APART):
            item.add_marker(pytest.mark.slow)
        if unit_tests.draws_cases(item) or not _RECEIVERS.isdisjoint(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.medium)
        add_limit(item)


def pytest_collection_finish() -> None:
    """Thousands of tests live to the end of the run: the garbage collector need not visit them each time."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """A unit test starts no process."""
    unit_tests.begin(item)
    try:
        return (yield)
    finally:
        unit_tests.end()
