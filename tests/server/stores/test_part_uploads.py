"""Uploads in parts over a real S3 server: every operation, every refusal, and answers of the store that are lost."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote
from uuid import uuid4

import httpx
import pytest

from tests.server.presigned import open_s3, registered
from tests.server.workspacing import Api, Json
from tests.support.faults.faulty_s3 import BROKEN, BUSY, FaultyS3, refusal
from tests.support.processes.server import RunningServer, running_server
from tests.support.services.azurite import CONTAINER, shared_azurite
from tests.support.services.s3 import S3Server, shared
from tests.support.services.s3_settings import settings_of

pytestmark = pytest.mark.slow

PARTS = [b"a" * (5 << 20), b"the last one"]
WHOLE = b"".join(PARTS)
COMPLETES = r"POST .*\?uploadId="


@pytest.fixture(scope="module")
def bucket() -> S3Server:
    return shared("seaweedfs")


@pytest.fixture(scope="module")
def proxy(bucket: S3Server) -> Iterator[FaultyS3]:
    with FaultyS3(bucket.endpoint) as started:
        yield started


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, bucket: S3Server, proxy: FaultyS3) -> Iterator[RunningServer]:
    """Its store is a bucket behind a proxy that fails on demand."""
    settings = settings_of(bucket, LAKEBED_OBJECTS_S3_ENDPOINT=proxy.endpoint, LAKEBED_OBJECTS_RETRY="1")
    with running_server(tmp_path_factory, environment=settings) as running:
        yield running


@pytest.fixture
def api(server: RunningServer, bucket: S3Server) -> Iterator[Api]:
    with open_s3(server, bucket) as api:
        yield api


def begun(api: Api, made: Json, path: str = "d/large") -> Json:
    """An upload whose parts are in the store; gives what completes it."""
    at = f"/workspaces/{made['id']}/part_uploads"
    upload = api("POST", at, {"path": path, "content_type": "text/csv"}, 201)
    signed = api("POST", f"{at}/sign", {**upload, "parts": [2, 1]})["results"]
    assert [one["part"] for one in signed] == [2, 1]
    written: list[Json] = []
    for one in sorted(signed, key=lambda one: int(one["part"])):
        data = PARTS[one["part"] - 1]
        answer = httpx.put(one["url"], content=data, headers=one["headers"], trust_env=False)
        assert answer.status_code in (200, 201), answer.text
        written.append({"part": one["part"], "etag": answer.headers.get("etag", "")})
    return {**upload, "size_bytes": len(WHOLE), "parts": written}


def test_an_object_in_parts_is_registered_and_read(api: Api, bucket: S3Server, server: RunningServer) -> None:
    made = api.workspace()
    at = f"/workspaces/{made['id']}"
    whole = begun(api, made)
    assert api("POST", f"{at}/scan") == {"registered": 0, "vanished": 0, "unchanged": 0, "refused": 0, "refusals": []}
    done = api("POST", f"{at}/part_uploads/complete", whole)
    tag = hashlib.md5(b"".join(hashlib.md5(part).digest() for part in PARTS)).hexdigest() + "-2"
    assert done == {"physical_address": whole["physical_address"], "etag": tag, "size_bytes": len(WHOLE)}
    assert api("POST", f"{at}/part_uploads/complete", whole) == done
    assert bucket.tags(done["physical_address"]) == {"path.0": "d", "path.1": "large"}
    assert api("POST", f"{at}/scan") == {"registered": 0, "vanished": 0, "unchanged": 0, "refused": 0, "refusals": []}
    api("POST", f"{at}/objects", {"objects": [registered(made, {**whole, "path": "d/large"}, WHOLE)]}, 204)
    assert api.text(made["name"], "d/large") == WHOLE.decode()
    api("POST", f"{at}/commit", {"message": "in parts"}, 201)
    assert "Signature" not in server.log


def test_invalid_part_uploads_are_refused(api: Api, bucket: S3Server) -> None:
    made, other = api.workspace(), api.workspace()
    at = f"/workspaces/{made['id']}/part_uploads"
    whole = begun(api, made)
    upload = {name: whole[name] for name in ("physical_address", "upload_id")}
    api.fails("POST", at, {"path": ""}, 400, "invalid_path")
    for numbers in ([], [0], [10_001], [1] * 1001):
        api.fails("POST", f"{at}/sign", {**upload, "parts": numbers}, 400, "invalid_request")
    elsewhere = f"/workspaces/{other['id']}/part_uploads"
    for verb, body in (("sign", {**upload, "parts": [1]}), ("complete", whole), ("abort", upload)):
        api.fails("POST", f"{elsewhere}/{verb}", body, 400, "invalid_address")
        plain = {**body, "physical_address": made["storage_prefix"] + "d/large"}
        api.fails("POST", f"{at}/{verb}", plain, 400, "invalid_address")
    parts = whole["parts"]
    for wrong in ([parts[1], parts[0]], [parts[0], parts[0]]):
        api.fails("POST", f"{at}/complete", {**whole, "parts": wrong}, 400, "invalid_request")
    false = [{**parts[0], "etag": "0" * 32}, parts[1]]
    error = api.fails("POST", f"{at}/complete", {**whole, "parts": false}, 400, "invalid_request")
    assert "refused its parts" in error["message"]
    error = api.fails("POST", f"{at}/complete", {**whole, "size_bytes": 7}, 400, "checksum_mismatch")
    assert str(len(WHOLE)) in error["message"]
    assert api.paths(made["name"]) == []


def test_aborted_part_upload_is_deleted(api: Api, bucket: S3Server) -> None:
    made = api.workspace()
    at = f"/workspaces/{made['id']}/part_uploads"
    whole, late = begun(api, made), begun(api, made)
    upload = {name: whole[name] for name in ("physical_address", "upload_id")}
    prefix = made["storage_prefix"].partition("://")[2].partition("/")[2]
    assert len(bucket.uploads(prefix)) == 2
    for _ in range(2):
        api("POST", f"{at}/abort", upload, 204)
    assert len(bucket.uploads(prefix)) == 1
    error = api.fails("POST", f"{at}/complete", whole, 400, "invalid_address")
    assert "start another one" in error["message"]
    api("DELETE", f"/workspaces/{made['id']}", None, 204)
    api.fails("POST", at, {"path": "x"}, 409, "workspace_closed")
    api.fails("POST", f"{at}/complete", late, 409, "workspace_closed")
    api("POST", f"{at}/abort", {name: late[name] for name in upload}, 204)
    assert bucket.uploads(prefix) == []


@pytest.mark.parametrize(
    "fault",
    [
        pytest.param("lose the answer", id="lost"),
        pytest.param("reset", id="never arrived"),
        pytest.param(BROKEN, id="broken"),
    ],
)
def test_a_lost_answer_to_a_completion_is_settled_by_looking(api: Api, proxy: FaultyS3, fault: Any) -> None:
    made = api.workspace()
    whole = begun(api, made)
    with proxy.failing(fault, times=1, only=COMPLETES):
        done = api("POST", f"/workspaces/{made['id']}/part_uploads/complete", whole)
        assert proxy.hits == 1
        looked = [line for line in proxy.seen if line[0] == "HEAD"]
    assert done["size_bytes"] == len(WHOLE)
    assert looked
    row = registered(made, {**whole, "path": "large"}, WHOLE)
    api("POST", f"/workspaces/{made['id']}/objects", {"objects": [row]}, 204)


def test_busy_store_returns_store_unavailable(api: Api, proxy: FaultyS3) -> None:
    made = api.workspace()
    whole = begun(api, made)
    with proxy.failing(BUSY, only=COMPLETES):
        api.fails("POST", f"/workspaces/{made['id']}/part_uploads/complete", whole, 503, "store_unavailable")
    assert api("POST", f"/workspaces/{made['id']}/part_uploads/complete", whole)["size_bytes"] == len(WHOLE)
    with proxy.failing("reset", only="POST .*uploads"):
        target = f"/workspaces/{made['id']}/part_uploads"
        api.fails("POST", target, {"path": "x"}, 503, "store_unavailable")


def test_a_store_that_takes_no_tags_gets_none(api: Api, proxy: FaultyS3) -> None:
    """The server retries when the store is busy, and not when the store refuses."""
    made = api.workspace()

    def tagged() -> bool:
        (signed,) = api("POST", f"/workspaces/{made['id']}/upload_urls", {"paths": ["a"]})["results"]
        return "x-amz-tagging" in signed["headers"]

    with proxy.failing(BUSY, only="PUT .*/.lakebed-probe/"):
        assert not tagged()
        assert proxy.hits == 1
    with proxy.failing(refusal("501 Not Implemented", "NotImplemented"), only="PUT .*/.lakebed-probe/"):
        assert not tagged()
        assert proxy.hits == 1
    assert not tagged()
    whole = begun(api, made)
    assert api("POST", f"/workspaces/{made['id']}/part_uploads/complete", whole)["size_bytes"] == len(WHOLE)


def test_blocks_on_azure(tmp_path_factory: pytest.TempPathFactory) -> None:
    name = f"r-{uuid4().hex[:16]}"
    with running_server(tmp_path_factory, environment=shared_azurite().variables) as server, Api(server, name) as api:
        body = {"name": name, "storage_namespace": f"az://{CONTAINER}/{name}"}
        api.http.post("/repositories", json=body).raise_for_status()
        made = api.workspace()
        at = f"/workspaces/{made['id']}/part_uploads"
        whole = begun(api, made, "d/l\u00e4rge")
        false = {**whole, "parts": [*whole["parts"], {"part": 3, "etag": ""}]}
        api.fails("POST", f"{at}/complete", false, 400, "invalid_request")
        done = api("POST", f"{at}/complete", whole)
        assert done["size_bytes"] == len(WHOLE)
        assert api("POST", f"{at}/complete", whole) == done
        row = registered(made, {**whole, "path": "d/large"}, WHOLE)
        api("POST", f"/workspaces/{made['id']}/objects", {"objects": [row]}, 204)
        assert api.text(made["name"], "d/large") == WHOLE.decode()
        upload = {name: whole[name] for name in ("physical_address", "upload_id")}
        url = api.send("GET", f"/refs/{quote(made['name'], safe='')}/objects?path=d/large&presign=true")
        assert httpx.head(url.headers["location"], trust_env=False).headers["content-type"] == "text/csv"
        for nonsense in ("x", "0" * 32, "0" * 32 + ".Cg"):  # a line break as the content type
            wrong = {**upload, "upload_id": nonsense}
            api.fails("POST", f"{at}/sign", {**wrong, "parts": [1]}, 400, "invalid_address")
            api.fails(
                "POST", f"{at}/complete", {**whole, **wrong, "physical_address": fresh(upload)}, 400, "invalid_address"
            )
        api("POST", f"{at}/abort", upload, 204)
        assert api.text(made["name"], "d/large") == WHOLE.decode()


def fresh(upload: Json) -> str:
    """An address where nothing was written."""
    return re.sub(r"~/[0-9a-f]{32}/", f"~/{uuid4().hex}/", str(upload["physical_address"]))


def test_stores_without_parts_say_so(server: RunningServer) -> None:
    name = f"r-{uuid4().hex[:16]}"
    with Api(server, name) as api:
        body = {"name": name, "storage_namespace": f"local://{name}"}
        api.http.post("/repositories", json=body).raise_for_status()
        target = f"/workspaces/{api.workspace()['id']}/part_uploads"
        error = api.fails("POST", target, {"path": "x"}, 501, "not_implemented")
        assert "does not presign URLs" in error["message"]
