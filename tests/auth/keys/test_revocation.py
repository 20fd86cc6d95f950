"""A right that an administrator takes away ends within a second, on every server."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from typing import TypeVar

import lakebed
import pytest
from lakebed_engine.stores.kv.postgres.store import PostgresKV
from lakebed_server.access.directory import Directory
from lakebed_server.access.permissions import REFRESH_SECONDS
from lakebed_server.auth.credentials import CredentialStore
from lakebed_server.auth.records import User
from lakebed_server.auth.secret_key import configured

from tests.support.processes.server import RunningServer, running_server
from tests.support.services.postgres import Postgres, running_postgres
from tests.support.waiting import wait_until

pytestmark = pytest.mark.slow

T = TypeVar("T")

SECRET_KEY = "the secret that both of the servers share"
NOW = 1_700_000_000


@pytest.fixture(scope="module")
def postgres() -> Iterator[Postgres]:
    with running_postgres() as server:
        yield server


@pytest.fixture(scope="module")
def servers(postgres: Postgres, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[RunningServer, ...]]:
    place = tmp_path_factory.mktemp("servers")
    environment = {
        "LAKEBED_KV_TYPE": "postgres",
        "LAKEBED_KV_POSTGRES_DSN": postgres.dsn,
        "LAKEBED_OBJECTS_LOCAL_ROOT": str(place / "objects"),
        "LAKEBED_AUTH_SECRET_KEY": SECRET_KEY,
    }
    with (
        running_server(place / "one", environment=environment) as one,
        running_server(place / "two", environment=environment) as two,
    ):
        yield one, two


@pytest.fixture
def change(postgres: Postgres) -> Callable[[Callable[[Directory, CredentialStore], Awaitable[T]]], T]:
    """Runs a change of the directory in this process, as a third server does."""

    def make(job: Callable[[Directory, CredentialStore], Awaitable[T]]) -> T:
        async def run() -> T:
            kv = PostgresKV(postgres.dsn)
            try:
                return await job(Directory(kv), CredentialStore(kv, configured(SECRET_KEY, "")))
            finally:
                await kv.close()

        return asyncio.run(run())

    return make


def seconds_until_refused(lakes: list[lakebed.Lake], error: type[lakebed.LakebedError], since: float) -> float:
    """The time from `since` until all servers refuse."""
    for lake in lakes:
        wait_until(partial(is_refused, lake, error), f"{lake} refuses", every=0.02)
    return time.monotonic() - since


def is_refused(lake: lakebed.Lake, error: type[lakebed.LakebedError]) -> bool:
    try:
        lake.repository("sales").branch("main").list().first()
    except error:
        return True
    return False


def test_a_right_ends_on_both_servers_within_a_second(
    servers: tuple[RunningServer, ...], change: Callable[..., object]
) -> None:
    admin = lakebed.connect(servers[0].endpoint, servers[0].access_key_id, servers[0].secret_access_key)
    admin.repository("sales").create("local://sales")

    async def add(directory: Directory, store: CredentialStore) -> tuple[str, str]:
        await directory.create_user(User("ana", NOW))
        await directory.add_member("Viewers", "ana")
        made = await store.add("ana", NOW)
        return made.access_key_id, made.secret_access_key

    pair = change(add)
    assert isinstance(pair, tuple)
    lakes = [lakebed.connect(server.endpoint, *pair) for server in servers]
    for lake in lakes:
        assert list(lake.repository("sales").branch("main").list()) == []

    change(lambda directory, store: directory.remove_member("Viewers", "ana"))
    since = time.monotonic()
    assert seconds_until_refused(lakes, lakebed.PermissionDeniedError, since) < REFRESH_SECONDS + 0.6

    change(lambda directory, store: directory.add_member("Viewers", "ana"))
    wait_until(lambda: not is_refused(lakes[1], lakebed.PermissionDeniedError), "the right is back", every=0.02)

    change(lambda directory, store: directory.delete_user("ana"))
    since = time.monotonic()
    assert seconds_until_refused(lakes, lakebed.AuthenticationError, since) < REFRESH_SECONDS + 0.6
    for lake in [admin, *lakes]:
        lake.close()
