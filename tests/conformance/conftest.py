"""Object stores of every kind, their folders, and one PostgreSQL for all tests of this folder."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest
from lakebed_engine.stores.objects.base import ObjectStore
from lakebed_engine.stores.objects.cloud.options import CloudOptions
from lakebed_engine.stores.objects.cloud.store import CloudObjects
from lakebed_engine.stores.objects.local.store import LocalObjects
from lakebed_engine.stores.objects.local.syscalls import SystemCalls, UnsyncedCalls
from lakebed_engine.stores.objects.memory import MemoryObjects
from lakebed_engine.stores.objects.observed import observed
from lakebed_engine.stores.objects.registry import Stores
from lakebed_engine.vocabulary.observer import SILENT

from tests.conformance.objects import (
    ADAPTERS,
    MORE,
    directory,
)
from tests.support.services.azurite import shared_azurite
from tests.support.services.postgres import Postgres, running_postgres
from tests.support.services.s3 import shared


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """A real PostgreSQL. Each test uses a SQL schema of its own, and leaves the server running."""
    with running_postgres("-c", "deadlock_timeout=100ms") as server:
        yield server


@pytest.fixture
def place() -> Iterator[Path]:
    with directory() as path:
        yield path


@pytest.fixture(params=["unsynced", "observed", *ADAPTERS])
def store(request: pytest.FixtureRequest, place: Path) -> Iterator[ObjectStore]:
    """Every adapter. `unsynced` is `local://` that waits for no disk, `observed` reports its calls.

    `s3://` runs on two servers: one lists out of byte order (SeaweedFS), one in order (moto).

    `az://` runs on Azurite, which lists in UTF-16 order.
    """
    if request.param == "memory":
        yield MemoryObjects("mem://t")
        return
    if request.param == "azurite":
        azure = shared_azurite()
        with azure.in_environment():
            cloud = CloudObjects(f"{azure.namespace()}/t", azure.options())
            yield cloud
            cloud.close()
        return
    if request.param == "observed":
        one = observed(LocalObjects, SILENT)(place / "root", "local://t", calls=UnsyncedCalls())
        yield one
        one.close()
        return
    if request.param not in ("local", "unsynced"):
        if request.param in MORE:
            cloud = CloudObjects(f"{request.param}/t-{uuid4().hex[:12]}/t", CloudOptions(allow_http=True))
        else:
            server = shared(request.param)
            cloud = CloudObjects(f"{server.namespace()}/t", server.options())
        yield cloud
        cloud.close()
        return
    local = LocalObjects(
        place / "root", "local://t", calls=SystemCalls() if request.param == "local" else UnsyncedCalls()
    )
    yield local
    local.close()


@pytest.fixture
def root(place: Path) -> Path:
    return place / "root"


@pytest.fixture
def local(root: Path) -> Iterator[LocalObjects]:
    store = LocalObjects(root, "local://t")
    yield store
    store.close()


@pytest.fixture
def stores(place: Path) -> Iterator[Stores]:
    stores = Stores(place / "root")
    yield stores
    stores.close()
