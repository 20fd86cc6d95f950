"""Signed addresses to read at, on a real S3 server and Azurite: what clients of lakeFS ask for, and what ours does."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from urllib.parse import quote
from uuid import uuid4

import httpx
import pyarrow as pa
import pytest

from tests.server.presigned import open_s3
from tests.server.workspacing import Api
from tests.support.processes.server import RunningServer, running_server
from tests.support.services.azurite import CONTAINER, shared_azurite
from tests.support.services.s3 import S3Server, shared
from tests.support.services.s3_settings import settings_of

pytestmark = pytest.mark.slow

READS = "/refs/main/objects"


@pytest.fixture(scope="module")
def bucket() -> S3Server:
    return shared("seaweedfs")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, bucket: S3Server) -> Iterator[RunningServer]:
    settings = settings_of(
        bucket,
        LAKEBED_OBJECTS_PRESIGN_EXPIRY="2h",
        LAKEBED_LOGGING_LEVEL="DEBUG",
        LAKEBED_HISTORY_ENABLED="true",
        LAKEBED_INGEST_ALLOW=f"s3://{bucket.bucket}/foreign/",
    )
    with running_server(tmp_path_factory, environment=settings) as running:
        yield running


@pytest.fixture
def api(server: RunningServer, bucket: S3Server) -> Iterator[Api]:
    with open_s3(server, bucket) as api:
        yield api


def fetched(url: str, **headers: str) -> httpx.Response:
    return httpx.get(url, headers=headers, trust_env=False)


def test_the_access_history_has_a_row_for_each_address(api: Api) -> None:
    for path in ("a", "b"):
        api.put("main", path, b"x")
    api.send("GET", f"{READS}?path=a&presign=true")
    api.send("GET", f"{READS}/stat?path=a&presign=true")
    api.send("GET", f"{READS}/stat?path=a")
    api.send("GET", f"{READS}/ls?presign=true")
    api.send("GET", f"{READS}?path=missing&presign=true")
    rows = pa.ipc.open_stream(api.send("GET", "/history").content).read_all().to_pylist()
    found = Counter((row["operation"], row["path"]) for row in rows if row["bytes_in"] == 0)
    assert found == {
        ("getObject", "a"): 1,
        ("statObject", "a"): 2,
        ("listObjects", ""): 1,
        ("grant_read", "a"): 3,
        ("grant_read", "b"): 1,
        ("getObject", "missing"): 1,
    }


def test_a_read_is_sent_to_the_store(api: Api, bucket: S3Server, server: RunningServer) -> None:
    path = "d/\u00fc 1+&=.csv"
    entry = api.put("main", path, b"0123456789")
    target = f"{READS}?path={quote(path)}"
    for asked in ("presign=true", "may_presign=true"):
        answer = api.send("GET", f"{target}&{asked}", None, Range="bytes=2-4")
        assert (answer.status_code, answer.content) == (302, b"")
        url = answer.headers["location"]
        assert url.startswith(f"{bucket.endpoint}/{bucket.bucket}/")
        assert "X-Amz-Expires=7200" in url
        assert answer.headers["etag"] == f'"{entry["checksum"]}"'
        assert "last-modified" in answer.headers
        assert answer.headers["cache-control"] == "no-store"
        assert fetched(url).content == b"0123456789"
        assert fetched(url).headers["content-type"] == "application/octet-stream"
        part = fetched(url, Range="bytes=2-4")
        assert (part.status_code, part.content, part.headers["content-range"]) == (206, b"234", "bytes 2-4/10")
        assert httpx.delete(url, trust_env=False).status_code == 403
    followed = api.http.get(f"{api.repo}{target}&presign=True", follow_redirects=True)
    assert followed.content == b"0123456789"
    assert "Signature" not in server.log
    assert f"{READS} operation=getObject status=302" in server.log


def test_server_answers_reads_without_content_itself(api: Api) -> None:
    tag = api.put("main", "a", b"0123456789")["checksum"]
    api.put("main", "empty", b"")
    assert api.send("GET", f"{READS}?path=a&presign=true", None, **{"If-None-Match": f'"{tag}"'}).status_code == 304
    behind = api.send("GET", f"{READS}?path=a&presign=true", None, Range="bytes=10-")
    assert (behind.status_code, behind.headers["content-range"]) == (416, "bytes */10")
    assert api.send("GET", f"{READS}?path=nope&presign=true").status_code == 404
    assert api.send("GET", f"{READS}?path=empty&may_presign=true").status_code == 200
    assert api.send("GET", f"{READS}?path=empty&presign=true").status_code == 302
    assert httpx.get(f"{api.http.base_url}{api.repo[1:]}{READS}?path=a&presign=true").status_code == 401


def test_stat_and_listing_give_addresses_and_their_end(api: Api) -> None:
    for path in ("d/a", "d/b", "x"):
        api.put("main", path, path.encode())
    before = int(time.time())
    stat = api("GET", f"{READS}/stat?path=x&presign=true")
    assert fetched(stat["physical_address"]).content == b"x"
    assert before + 7200 <= stat["physical_address_expiry"] <= time.time() + 7200
    for asked in ("presign", "may_presign"):
        rows = api("GET", f"{READS}/ls?{asked}=true&delimiter=/")["results"]
        assert [(row["path"], row["path_type"]) for row in rows] == [("d/", "common_prefix"), ("x", "object")]
        assert "physical_address_expiry" not in rows[0]
        assert rows[0]["physical_address"] == ""
        assert fetched(rows[1]["physical_address"]).content == b"x"
    plain = api("GET", f"{READS}/ls")["results"][0]
    assert plain["physical_address"].startswith("s3://")
    assert "physical_address_expiry" not in plain


def test_read_url_of_external_object_checks_it_first(api: Api, bucket: S3Server) -> None:
    folder = f"foreign/{uuid4().hex}/"
    s3 = bucket.boto()
    for name in ("a", "b"):
        s3.put_object(Bucket=bucket.bucket, Key=folder + name, Body=name.encode())
    made = api.workspace()
    source = f"s3://{bucket.bucket}/{folder}"
    api("POST", f"/workspaces/{made['id']}/ingest", {"source": source, "prefix": "in/"})
    api("POST", f"/workspaces/{made['id']}/commit", {"message": "ingested"}, 201)
    url = api.send("GET", f"{READS}?path=in/a&presign=true").headers["location"]
    assert fetched(url).content == b"a"
    s3.put_object(Bucket=bucket.bucket, Key=folder + "b", Body=b"another")
    answer = api.send("GET", f"{READS}?path=in/b&presign=true")
    assert (answer.status_code, answer.json()["kind"]) == (410, "object_gone")
    assert len(api("GET", f"{READS}/ls?presign=true")["results"]) == 2


def test_stores_that_sign_nothing(server: RunningServer) -> None:
    name = f"r-{uuid4().hex[:16]}"
    with Api(server, name) as api:
        api.http.post("/repositories", json={"name": name, "storage_namespace": f"local://{name}"}).raise_for_status()
        api.put("main", "a", b"1")
        for target in (f"{READS}?path=a", f"{READS}/stat?path=a", f"{READS}/ls?"):
            api.fails("GET", f"{target}&presign=true", None, 400, "invalid_request")
        assert api.send("GET", f"{READS}?path=a&may_presign=true").content == b"1"
        row = api("GET", f"{READS}/ls?may_presign=true")["results"][0]
        assert row["physical_address"].startswith("local://")


async def test_azure_signs_only_names_that_a_url_spells_unchanged(tmp_path_factory: pytest.TempPathFactory) -> None:
    """obstore signs the name as the URL spells it, which Azure refuses: such objects come through the server."""
    azure = shared_azurite()
    with running_server(tmp_path_factory, environment=azure.variables) as server:
        name = f"r-{uuid4().hex[:16]}"
        with Api(server, name) as api:
            body = {"name": name, "storage_namespace": f"az://{CONTAINER}/{name}"}
            api.http.post("/repositories", json=body).raise_for_status()
            made = api.workspace()
            names = ["plain=1/(a),b@c.csv", "a b/\u00fc%.csv"]
            signed = api("POST", f"/workspaces/{made['id']}/upload_urls", {"paths": names})["results"]
            assert signed[1]["physical_address"].endswith("/a_b/__.csv")
            for one in signed:
                answer = httpx.put(one["url"], content=b"azure", headers=one["headers"], trust_env=False)
                assert answer.status_code == 201, answer.text
            with azure.in_environment():
                from lakebed_engine.stores.objects.cloud.store import CloudObjects
                from lakebed_engine.stores.objects.presign import ToRead

                store = CloudObjects(f"az://{CONTAINER}/{name}")
                signer = store.signer
                assert signer is not None
                wanted = [ToRead("data/a b"), ToRead("data/ab")]
                assert [bool(url) for url in await _signed(signer, wanted)] == [False, True]
                store.close()
            api.put("main", "through", b"the server")
            url = api.send("GET", f"{READS}?path=through&presign=true").headers["location"]
            assert fetched(url).content == b"the server"


async def _signed(signer: object, wanted: object) -> list[str]:
    return list(await signer.sign_reads(wanted, 600))  # type: ignore[attr-defined]


def test_an_operator_can_withhold_addresses(tmp_path_factory: pytest.TempPathFactory, bucket: S3Server) -> None:
    settings = settings_of(bucket, LAKEBED_OBJECTS_PRESIGN="false")
    with running_server(tmp_path_factory, environment=settings) as server, open_s3(server, bucket) as api:
        api.put("main", "a", b"1")
        api.fails("GET", f"{READS}?path=a&presign=true", None, 400, "invalid_request")
        assert api.send("GET", f"{READS}?path=a&may_presign=true").content == b"1"
        assert "s3://" in api("GET", f"{READS}/ls?may_presign=true")["results"][0]["physical_address"]
