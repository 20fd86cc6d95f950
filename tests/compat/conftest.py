"""The official clients of the lakeFS API, pointed at a real Lakebed server."""

from __future__ import annotations

import warnings
from uuid import uuid4

import pytest

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # what these packages warn of at import is theirs
    import lakefs
    from lakefs.client import Client
    from lakefs_spec import LakeFSFileSystem

from tests.support.processes.server import RunningServer


@pytest.fixture
def client(server: RunningServer) -> Client:
    """The official client."""
    return Client(  # type: ignore[no-untyped-call]
        host=server.endpoint, username=server.access_key_id, password=server.secret_access_key
    )


@pytest.fixture
def lakefs_repo(client: Client) -> lakefs.Repository:
    """A fresh repository, made by the official client."""
    name = f"compat-{uuid4().hex[:16]}"
    return lakefs.Repository(name, client=client).create(storage_namespace=f"local://{name}")


@pytest.fixture
def file_system(server: RunningServer) -> LakeFSFileSystem:
    """lakefs-spec's fsspec file system."""
    LakeFSFileSystem.clear_instance_cache()
    return LakeFSFileSystem(
        host=server.endpoint, username=server.access_key_id, password=server.secret_access_key, skip_instance_cache=True
    )
