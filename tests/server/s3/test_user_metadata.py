"""User metadata of S3 (`x-amz-meta-Key`) and of REST (`X-Amz-Meta-Key`) are the same metadata."""

from __future__ import annotations

from typing import Any

from lakebed_engine.vocabulary.requests import UploadRequest

from tests.server.s3.gatewaying import Bucket

X = "/lake/main/x"


def rest_metadata(bucket: Bucket, path: str = "x") -> dict[str, str]:
    found: dict[str, str] = bucket.run(bucket.engine.objects.stat("lake", "main", path)).metadata
    return found


def put_by_rest(bucket: Bucket, metadata: dict[str, str]) -> None:
    async def chunks() -> Any:
        yield b"1"

    bucket.run(bucket.engine.objects.upload("lake", "main", UploadRequest(path="x", metadata=metadata), chunks()))


def shown(bucket: Bucket, path: str = X) -> dict[str, str]:
    start = "x-amz-meta-"
    headers = bucket("HEAD", path).headers
    return {name.removeprefix(start): value for name, value in headers.items() if name.startswith(start)}


def test_what_s3_puts_has_its_prefix_over_rest(bucket: Bucket) -> None:
    bucket.put("main/x", b"1", **{"X_Amz_Meta_Key1": "v", "x_amz_meta_run-ID": "7", "x_amz_meta_a": "x"})
    assert rest_metadata(bucket) == {"X-Amz-Meta-Key1": "v", "X-Amz-Meta-Run-Id": "7", "X-Amz-Meta-A": "x"}
    assert shown(bucket) == {"key1": "v", "run-id": "7", "a": "x"}


def test_what_rest_puts_is_shown_by_s3(bucket: Bucket) -> None:
    put_by_rest(bucket, {"X-Amz-Meta-Key1": "v", "x-amz-meta-lower": "w", "Owner": "me", "::lakefs::x": "hidden"})
    assert shown(bucket) == {"key1": "v", "lower": "w", "owner": "me"}


def test_the_key_with_the_prefix_wins(bucket: Bucket) -> None:
    for metadata in ({"owner": "old", "X-Amz-Meta-Owner": "new"}, {"Owner": "old", "x-amz-meta-owner": "new"}):
        put_by_rest(bucket, metadata)
        assert shown(bucket) == {"owner": "new"}


def test_objects_that_were_stored_before(bucket: Bucket) -> None:
    put_by_rest(bucket, {"owner": "me"})  # the form of earlier versions of the gateway
    assert shown(bucket) == {"owner": "me"}
    assert bucket("PUT", "/lake/main/y", x_amz_copy_source=X).status == 200
    assert rest_metadata(bucket, "y") == {"owner": "me"}
    assert shown(bucket, "/lake/main/y") == {"owner": "me"}


def test_a_multipart_upload_has_the_same_form(bucket: Bucket) -> None:
    from tests.server.s3.gatewaying import text, xml

    upload = text(xml(bucket("POST", f"{X}?uploads", x_amz_meta_key1="v")), "UploadId")
    etag = bucket("PUT", f"{X}?partNumber=1&uploadId={upload}", b"1").headers["etag"]
    part = f"<Part><PartNumber>1</PartNumber><ETag>{etag}</ETag></Part>"
    document = f"<CompleteMultipartUpload>{part}</CompleteMultipartUpload>".encode()
    assert bucket("POST", f"{X}?uploadId={upload}", document).status == 200
    assert rest_metadata(bucket)["X-Amz-Meta-Key1"] == "v"
    assert shown(bucket) == {"key1": "v"}
