"""Signed writes as clients of lakeFS make them, over a real S3 server: whole, and in parts."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from uuid import uuid4

import httpx
import pytest

from tests.server.copying import PMPU, parts_are_copied
from tests.server.workspacing import Api
from tests.support.processes.server import RunningServer, running_server
from tests.support.services.s3 import S3Server, shared
from tests.support.services.s3_settings import settings_of

pytestmark = pytest.mark.slow

MIB = 1 << 20


@pytest.fixture(scope="module")
def bucket() -> S3Server:
    return shared("seaweedfs")


@pytest.fixture(scope="module")
def s3_server(tmp_path_factory: pytest.TempPathFactory, bucket: S3Server) -> Iterator[RunningServer]:
    with running_server(tmp_path_factory, environment=settings_of(bucket)) as server:
        yield server


@pytest.fixture
def api(s3_server: RunningServer, bucket: S3Server) -> Iterator[Api]:
    with Api(s3_server, f"r-{uuid4().hex[:16]}") as api:
        body = {"name": api.repo.rpartition("/")[2], "storage_namespace": bucket.namespace()}
        api.http.post("/repositories", json=body).raise_for_status()
        yield api


def test_a_whole_object(api: Api) -> None:
    given = api("GET", "/branches/main/staging/backing?path=a.bin&presign=true")
    assert given["presigned_url_expiry"] > 1_700_000_000
    # what the client of lakeFS sends: no header of ours
    put = httpx.put(given["presigned_url"], content=b"abc", headers={"Content-Type": "text/csv"})
    assert put.status_code == 200, put.text
    body = {
        "staging": given,
        "checksum": put.headers["etag"],
        "size_bytes": 3,
        "content_type": "text/csv",
    }
    stats = api("PUT", "/branches/main/staging/backing?path=a.bin", body)
    assert stats["physical_address"] == given["physical_address"]
    assert stats["checksum"] == hashlib.md5(b"abc").hexdigest()
    assert api("GET", "/refs/main/objects?path=a.bin") == "abc"
    wrong = {**body, "checksum": "0" * 32}
    api.fails("PUT", "/branches/main/staging/backing?path=a.bin", wrong, 400, "checksum_mismatch")
    assert api("GET", "/refs/main/objects/underlyingProperties?path=a.bin") == {"storage_class": None}


def test_an_object_in_parts(api: Api) -> None:
    made = api("POST", f"{PMPU}?path=big.bin&parts=2", None, 201)
    assert len(made["presigned_urls"]) == 2
    upload, address = made["upload_id"], {"physical_address": made["physical_address"]}
    contents = [b"a" * (5 * MIB), b"b" * MIB]
    again = api("PUT", f"{PMPU}/{upload}/parts/2?path=big.bin", address)["presigned_url"]
    urls = [made["presigned_urls"][0], again]
    tags = [httpx.put(url, content=data).headers["etag"] for url, data in zip(urls, contents, strict=True)]
    parts = [{"part_number": n, "etag": tag} for n, tag in enumerate(tags, 1)]
    whole = {**address, "parts": parts, "content_type": "application/x", "user_metadata": {"k": "v"}}
    api.fails("PUT", f"{PMPU}/{upload}?path=other.bin", whole, 400, "invalid_address")
    stats = api("PUT", f"{PMPU}/{upload}?path=big.bin", whole)
    assert (stats["size_bytes"], stats["content_type"], stats["metadata"]) == (6 * MIB, "application/x", {"k": "v"})
    assert stats["checksum"].endswith("-2")
    assert stats["physical_address"].startswith("data/")  # relative, as clients expect of this one
    assert api.send("GET", "/refs/main/objects?path=big.bin").content == b"".join(contents)
    assert api("PUT", f"{PMPU}/{upload}?path=big.bin", whole)["checksum"] == stats["checksum"]  # the answer was lost


def test_parts_that_are_copied(api: Api, s3_server: RunningServer, bucket: S3Server) -> None:
    parts_are_copied(api, s3_server, bucket.namespace)
    made = api("POST", f"{PMPU}?path=big.bin", None, 201)
    address = {"physical_address": made["physical_address"]}
    api("DELETE", f"{PMPU}/{made['upload_id']}?path=big.bin", address, 204)
    source = {"repository": api.repo.rpartition("/")[2], "ref": "main", "path": "from.bin"}
    copy = f"{PMPU}/{made['upload_id']}/parts/1/copy?path=big.bin"
    api.fails("PUT", copy, {**address, "copy_source": source}, 400, "invalid_address")  # the upload is no more


def test_an_upload_is_aborted(api: Api) -> None:
    made = api("POST", f"{PMPU}?path=big.bin", None, 201)
    assert "presigned_urls" not in made
    address = {"physical_address": made["physical_address"]}
    api("DELETE", f"{PMPU}/{made['upload_id']}?path=big.bin", address, 204)
    api("DELETE", f"{PMPU}/{made['upload_id']}?path=big.bin", address, 204)
    whole = {**address, "parts": [{"part_number": 1, "etag": "x"}]}
    api.fails("PUT", f"{PMPU}/{made['upload_id']}?path=big.bin", whole, 400, "invalid_address")
    twice = {**address, "parts": [{"part_number": 1, "etag": "x"}] * 2}
    api.fails("PUT", f"{PMPU}/{made['upload_id']}?path=big.bin", twice, 400, "invalid_request")
