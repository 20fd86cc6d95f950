"""The `lakefs` package reads from a bucket by signed addresses, as it does from lakeFS (`facts/client_needs.md` 2)."""

from __future__ import annotations

from uuid import uuid4

import httpx
import lakefs
import pytest
from lakefs.client import Client

from tests.support.processes.server import running_server
from tests.support.services.s3 import shared
from tests.support.services.s3_settings import settings_of

pytestmark = pytest.mark.slow


def test_reads_are_sent_to_the_store(tmp_path_factory: pytest.TempPathFactory) -> None:
    bucket = shared("seaweedfs")
    with running_server(tmp_path_factory, environment=settings_of(bucket)) as server:
        client = Client(  # type: ignore[no-untyped-call]
            host=server.endpoint, username=server.access_key_id, password=server.secret_access_key
        )
        name = f"compat-{uuid4().hex[:16]}"
        branch = lakefs.Repository(name, client=client).create(storage_namespace=bucket.namespace()).branch("main")
        branch.object("d/a b.txt").upload(b"0123456789")
        with branch.object("d/a b.txt").reader(mode="rb", pre_sign=True) as reader:
            assert reader.read(4) == b"0123"
            assert reader.read() == b"456789"
        api = client.sdk_client.objects_api
        assert api.get_object(name, "main", "d/a b.txt", presign=True) == b"0123456789"
        rows = [api.stat_object(name, "main", "d/a b.txt", presign=True)]
        rows += api.list_objects(name, "main", presign=True).results
        for row in rows:
            assert row.physical_address.startswith(bucket.endpoint)
            assert row.physical_address_expiry > row.mtime
            assert httpx.get(row.physical_address, trust_env=False).content == b"0123456789"
