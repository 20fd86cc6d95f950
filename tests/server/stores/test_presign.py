"""Signed uploads and registration over a real S3 server: bytes go to the store once, and never through Lakebed."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Iterator
from uuid import uuid4

import boto3  # type: ignore[import-untyped]
import httpx
import pytest

from tests.server.presigned import open_s3, registered
from tests.server.workspacing import Api, Json, layer_file, registration
from tests.support.processes.server import RunningServer, running_server
from tests.support.services.azurite import CONTAINER, shared_azurite
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
    with open_s3(s3_server, bucket) as api:
        yield api


def test_a_workspace_on_s3_offers_all_ways(api: Api) -> None:
    made = api.workspace()
    namespace = api("GET", "")["storage_namespace"]
    assert made["storage_prefix"] == f"{namespace}/workspaces/{made['id']}/"
    assert made["data_paths"] == ["direct", "presigned", "proxied"]
    assert "local_path" not in made
    config = api.http.get("/config").json()["capabilities_config"]
    assert config == {"workspaces": True, "presigned_uploads": True}


def test_signed_addresses_take_any_path_once_and_bytes_do_not_come_here(
    api: Api, s3_server: RunningServer, bucket: S3Server
) -> None:
    made = api.workspace()
    at = f"/workspaces/{made['id']}"
    contents = {"plain/b.csv": b"x" * MIB, "ü 😀/+%&?#.csv": b"odd", "a//b": b"slashes", "x/": b"slash", "empty": b""}
    signed = api("POST", f"{at}/upload_urls", {"paths": list(contents), "content_type": "text/csv"})["results"]
    assert [one["path"] for one in signed] == list(contents)
    rows = []
    for one in signed:
        assert one["method"] == "PUT"
        assert one["url"].startswith(f"{bucket.endpoint}/{bucket.bucket}/")
        assert s3_server.endpoint not in one["url"]
        assert one["headers"]["Content-Type"] == "text/csv"
        assert one["headers"]["If-None-Match"] == "*"
        data = contents[one["path"]]
        answer = httpx.put(one["url"], content=data, headers=one["headers"], trust_env=False)
        assert answer.status_code == 200, answer.text
        etag = answer.headers["etag"].strip('"')
        assert etag == hashlib.md5(data, usedforsecurity=False).hexdigest()
        rows.append(registered(made, one, data, content_type="text/csv"))
    api("POST", f"{at}/objects", {"objects": rows}, 204)
    assert api.paths(made["name"]) == sorted(contents, key=str.encode)
    api("POST", f"{at}/commit", {"message": "signed"}, 201)
    for path, data in contents.items():
        assert api.text("main", path) == data.decode()
    other = httpx.put(
        signed[0]["url"].replace("plain", "another"), content=b"x", headers=signed[0]["headers"], trust_env=False
    )
    assert other.status_code == 403
    assert "Signature" not in s3_server.log


def test_an_address_that_is_used_again_replaces_nothing(api: Api, bucket: S3Server) -> None:
    made = api.workspace()
    at = f"/workspaces/{made['id']}"
    first, second = (api("POST", f"{at}/upload_urls", {"paths": ["d/x.csv"]})["results"][0] for _ in range(2))
    assert first["physical_address"] != second["physical_address"]
    assert first["physical_address"].endswith("/d/x.csv")
    put = {"headers": first["headers"], "trust_env": False}
    assert httpx.put(first["url"], content=b"first", **put).status_code == 200
    api("POST", f"{at}/objects", {"objects": [registered(made, first, b"first")]}, 204)
    assert httpx.put(first["url"], content=b"other", **put).status_code == 412
    bare = {name: value for name, value in first["headers"].items() if name != "If-None-Match"}
    assert httpx.put(first["url"], content=b"other", headers=bare, trust_env=False).status_code == 403
    assert httpx.put(second["url"], content=b"second", headers=second["headers"], trust_env=False).status_code == 200
    assert api.text(made["name"], "d/x.csv") == "first"
    api("POST", f"{at}/objects", {"objects": [registered(made, second, b"second")]}, 204)
    assert api.text(made["name"], "d/x.csv") == "second"


def test_signed_upload_is_hidden_until_it_is_registered(api: Api, bucket: S3Server) -> None:
    made = api.workspace()
    at = f"/workspaces/{made['id']}"
    signed = api("POST", f"{at}/upload_urls", {"paths": ["a", "b"]})["results"]
    for one in signed:
        assert httpx.put(one["url"], content=b"x", headers=one["headers"], trust_env=False).status_code == 200
    key = made["storage_prefix"].partition("://")[2].partition("/")[2]
    bucket.boto().put_object(Bucket=bucket.bucket, Key=f"{key}~/tool", Body=b"a tool's own folder of that name")
    api("POST", f"{at}/objects", {"objects": [registered(made, signed[0], b"x")]}, 204)
    assert api("POST", f"{at}/scan") == scanned(registered=1)
    assert api.paths(made["name"]) == ["a", "~/tool"]


def test_signed_writes_are_tagged(api: Api, bucket: S3Server) -> None:
    made = api.workspace()
    at = f"/workspaces/{made['id']}"
    path = "orders/day=1/\u00fc 1.csv/*/" + "/".join("abcdefgh")
    (signed,) = api("POST", f"{at}/upload_urls", {"paths": [path]})["results"]
    wrong = {**signed["headers"], "x-amz-tagging": "path.0=another"}
    assert httpx.put(signed["url"], content=b"x", headers=wrong, trust_env=False).status_code == 403
    assert httpx.put(signed["url"], content=b"x", headers=signed["headers"], trust_env=False).status_code == 200
    expected = {"path.0": "orders", "path.1": "day=1", "path.2": "\u00fc 1.csv"}
    expected |= {f"path.{number + 4}": char for number, char in enumerate("abcdef")}
    assert bucket.tags(signed["physical_address"]) == expected


def scanned(*, registered: int = 0, unchanged: int = 0) -> Json:
    """The answer of a scan that found nothing gone and refused nothing."""
    return {"registered": registered, "vanished": 0, "unchanged": unchanged, "refused": 0, "refusals": []}


def test_the_store_is_asked_what_was_written(api: Api, bucket: S3Server) -> None:
    made = api.workspace()
    target = f"/workspaces/{made['id']}/objects"
    _, _, rest = made["storage_prefix"].partition("://")
    key = rest.partition("/")[2]
    s3 = bucket.boto()
    s3.put_object(Bucket=bucket.bucket, Key=key + "b", Body=b"bytes")
    good = registration(made, "b", b"bytes")
    wrong = registration(made, "b", b"BYTES")
    api.fails("POST", target, {"objects": [wrong]}, 400, "checksum_mismatch")
    api.fails("POST", target, {"objects": [{**good, "size_bytes": 6}]}, 400, "checksum_mismatch")
    api.fails("POST", target, {"objects": [{**good, "checksum": good["checksum"] + "-2"}]}, 400, "checksum_mismatch")
    api.fails("POST", target, {"objects": [registration(made, "c", b"bytes")]}, 400, "invalid_address")
    error = api.fails("POST", f"/workspaces/{made['id']}/layers", layer_file([wrong]), 400, "checksum_mismatch")
    assert "'b'" in error["message"]
    api("POST", f"/workspaces/{made['id']}/layers", layer_file([good]), 201)
    # the server checks many objects by a listing, which has the checksums too
    for number in range(40):
        s3.put_object(Bucket=bucket.bucket, Key=f"{key}many/{number:02}", Body=b"%d" % number)
    rows = [registration(made, f"many/{number:02}", b"%d" % number) for number in range(40)]
    bad = {**rows[20], "checksum": rows[21]["checksum"]}
    error = api.fails("POST", target, {"objects": [*rows[:20], bad, *rows[21:]]}, 400, "checksum_mismatch")
    assert "many/20" in error["message"]
    rows[0]["checksum"] = rows[0]["checksum"].upper()
    api("POST", target, {"objects": rows}, 204)
    assert len(api.paths(made["name"])) == 41


def test_an_object_written_in_parts_keeps_its_etag(api: Api, bucket: S3Server) -> None:
    made = api.workspace()
    key = made["storage_prefix"].partition("://")[2].partition("/")[2] + "large"
    data = b"0123456789abcdef" * (6 * MIB // 16)
    config = boto3.s3.transfer.TransferConfig(multipart_threshold=5 * MIB, multipart_chunksize=5 * MIB)
    bucket.boto().upload_fileobj(io.BytesIO(data), bucket.bucket, key, Config=config)
    etag = bucket.boto().head_object(Bucket=bucket.bucket, Key=key)["ETag"].strip('"')
    assert etag.endswith("-2")
    at = f"/workspaces/{made['id']}/objects"
    row = registration(made, "large", data)
    api("POST", at, {"objects": [row]}, 204)  # an MD5 says more than such an ETag
    api.fails("POST", at, {"objects": [{**row, "checksum": "0" * 32 + "-2"}]}, 400, "checksum_mismatch")
    api("POST", at, {"objects": [{**row, "checksum": etag}]}, 204)
    assert api("POST", f"/workspaces/{made['id']}/scan")["registered"] == 0
    assert api.send("GET", "/refs/" + made["name"].replace("+", "%2B") + "/objects?path=large").content == data


def test_invalid_requests_for_upload_urls_are_refused(api: Api, s3_server: RunningServer) -> None:
    made = api.workspace()
    target = f"/workspaces/{made['id']}/upload_urls"
    error = api.fails("POST", target, {"paths": ["a"], "size_bytes": (5 << 30) + 1}, 501, "not_implemented")
    assert str(5 << 30) in error["message"]
    assert len(api("POST", target, {"paths": ["a"], "size_bytes": 5 << 30})["results"]) == 1
    api.fails("POST", target, {"paths": []}, 400, "invalid_request")
    api.fails("POST", target, {"paths": ["a", ""]}, 400, "invalid_path")
    long = api("POST", target, {"paths": ["x" * 1000, "d/" * 400 + "\u00fc.csv"]})["results"]  # shorter in the key
    assert long[1]["physical_address"].endswith("/d/d/\u00fc.csv")
    api.fails("POST", target, {"paths": ["a"] * 1001}, 400, "invalid_request")
    name = f"r-{uuid4().hex[:16]}"
    with Api(s3_server, name) as local:
        local.http.post("/repositories", json={"name": name, "storage_namespace": f"local://{name}"}).raise_for_status()
        on_disk = local.workspace()
        local.fails("POST", f"/workspaces/{on_disk['id']}/upload_urls", {"paths": ["a"]}, 501, "not_implemented")


def test_azure_signs_as_well(tmp_path_factory: pytest.TempPathFactory) -> None:
    with running_server(tmp_path_factory, environment=shared_azurite().variables) as server:
        name = f"r-{uuid4().hex[:16]}"
        with Api(server, name) as api:
            body = {"name": name, "storage_namespace": f"az://{CONTAINER}/{name}"}
            api.http.post("/repositories", json=body).raise_for_status()
            made = api.workspace()
            assert made["data_paths"] == ["direct", "presigned", "proxied"]
            signed = api("POST", f"/workspaces/{made['id']}/upload_urls", {"paths": ["d/a"]})["results"][0]
            answer = httpx.put(signed["url"], content=b"azure", headers=signed["headers"], trust_env=False)
            assert answer.status_code == 201, answer.text
            rows = [registered(made, signed, b"azure")]
            api("POST", f"/workspaces/{made['id']}/objects", {"objects": rows}, 204)
            api("POST", f"/workspaces/{made['id']}/commit", {}, 201)
            assert api.text("main", "d/a") == "azure"


def test_an_operator_can_withhold_signed_addresses_and_directories(
    tmp_path_factory: pytest.TempPathFactory, bucket: S3Server
) -> None:
    settings = {**settings_of(bucket), "LAKEBED_OBJECTS_PRESIGN": "false", "LAKEBED_OBJECTS_LOCAL_SHARE": "never"}
    with running_server(tmp_path_factory, environment=settings) as server, open_s3(server, bucket) as api:
        made = api.workspace()
        assert made["data_paths"] == ["direct", "proxied"]
        api.fails("POST", f"/workspaces/{made['id']}/upload_urls", {"paths": ["a"]}, 501, "not_implemented")
        assert api.http.get("/config").json()["capabilities_config"]["presigned_uploads"] is False
        api.http.post("/repositories", json={"name": "disk", "storage_namespace": "local://disk"}).raise_for_status()
        api.repo = "/repositories/disk"
        on_disk = api.workspace()
        assert on_disk["data_paths"] == ["proxied"]
        assert "local_path" not in on_disk


def test_client_without_proof_of_locality_gets_no_local_path(s3_server: RunningServer) -> None:
    """A proxy or a tunnel that adds no header has a loopback address, and so does each of its clients."""
    name = f"r-{uuid4().hex[:16]}"
    with Api(s3_server, name) as api:
        api.http.post("/repositories", json={"name": name, "storage_namespace": f"local://{name}"}).raise_for_status()
        made = api.workspace()
        assert "local_path" in made
        for proof in ("", "0" * 64):
            behind = api("GET", f"/workspaces/{made['id']}", None, 200, **{"X-Lakebed-Machine": proof})
            assert "local_path" not in behind
            assert behind["data_paths"] == ["proxied"]


def test_multipart_object_of_another_tool_is_scanned_and_read(
    api: Api, bucket: S3Server, s3_server: RunningServer
) -> None:
    """Its ETag is not an MD5. A client that compared it with the bytes would report damage."""
    import lakebed

    made = api.workspace()
    key = made["storage_prefix"].partition("://")[2].partition("/")[2]
    s3 = bucket.boto()
    data = bytes(range(256)) * (4 * 6 * MIB // 1024)
    upload = s3.create_multipart_upload(Bucket=bucket.bucket, Key=key + "big")["UploadId"]
    parts = []
    for number, part in enumerate((data[: 5 * MIB], data[5 * MIB :]), 1):
        answer = s3.upload_part(Bucket=bucket.bucket, Key=key + "big", UploadId=upload, PartNumber=number, Body=part)
        parts.append({"ETag": answer["ETag"], "PartNumber": number})
    s3.complete_multipart_upload(
        Bucket=bucket.bucket, Key=key + "big", UploadId=upload, MultipartUpload={"Parts": parts}
    )
    s3.put_object(Bucket=bucket.bucket, Key=key + "small", Body=b"small")
    assert api("POST", f"/workspaces/{made['id']}/scan")["registered"] == 2
    assert api("POST", f"/workspaces/{made['id']}/scan") == scanned(unchanged=2)
    api("POST", f"/workspaces/{made['id']}/commit", {"message": "scanned"}, 201)
    with lakebed.connect(
        endpoint=s3_server.endpoint,
        access_key_id=s3_server.access_key_id,
        secret_access_key=s3_server.secret_access_key,
    ) as lake:
        main = lake.repository(api.repo.rpartition("/")[2]).branch("main")
        assert main.get("big") == data
        assert main.get("small") == b"small"
