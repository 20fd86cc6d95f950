"""A wrong multipart upload returns Amazon's error code and leaves nothing. tests/s3 has tests with clients."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest
from lakebed_engine.operations.multipart import upload
from lakebed_engine.stores.objects.presign import LARGEST_PUT
from lakebed_format.keys import PARTS

from tests.server.s3.gatewaying import HOST, UNSIGNED, Bucket, code, text, texts, xml

X = "/lake/main/x"


@pytest.fixture
def begun(bucket: Bucket) -> str:
    """The id of an upload to main/x."""
    return text(xml(bucket("POST", f"{X}?uploads")), "UploadId")


def etag(body: bytes) -> str:
    return f'"{hashlib.md5(body).hexdigest()}"'


def send(bucket: Bucket, begun: str, number: object, body: bytes, **headers: Any) -> Any:
    return bucket("PUT", f"{X}?partNumber={number}&uploadId={begun}", body, **headers)


def complete(bucket: Bucket, begun: str, parts: str, **headers: Any) -> Any:
    body = f"<CompleteMultipartUpload>{parts}</CompleteMultipartUpload>".encode()
    return bucket("POST", f"{X}?uploadId={begun}", body, **headers)


def part(number: object, reported: str, more: str = "") -> str:
    return f"<Part><PartNumber>{number}</PartNumber><ETag>{reported}</ETag>{more}</Part>"


def listed(bucket: Bucket, begun: str) -> list[str]:
    return texts(xml(bucket("GET", f"{X}?uploadId={begun}")), "Part/PartNumber")


def stored(bucket: Bucket) -> list[str]:
    """The parts and objects in the store."""

    async def keys() -> list[str]:
        store = bucket.engine.context.stores.open("mem://lake")
        return [one.key async for one in store.list("") if one.key.startswith((PARTS, "data/"))]

    found: list[str] = bucket.run(keys())
    return found


def test_an_upload_from_its_beginning_to_its_end(bucket: Bucket, begun: str) -> None:
    assert send(bucket, begun, 1, b"body").headers["etag"] == etag(b"body")
    assert listed(bucket, begun) == ["1"]
    assert bucket.paths() == []
    answer = complete(bucket, begun, part(1, etag(b"body")))
    assert text(xml(answer), "ETag") == f'"{hashlib.md5(hashlib.md5(b"body").digest()).hexdigest()}-1"'
    assert bucket("GET", X).body == b"body"
    assert code(bucket("GET", f"{X}?uploadId={begun}")) == "NoSuchUpload"


def test_a_part_over_5_gib_is_refused_by_its_length(bucket: Bucket, begun: str) -> None:
    """Without reading its body."""
    target = f"{X}?partNumber=1&uploadId={begun}"
    plain = {"content-length": str(LARGEST_PUT + 1)}
    chunked = {
        "content-length": "100",
        "x-amz-decoded-content-length": str(LARGEST_PUT + 1),
        "content-encoding": "aws-chunked",
        "x-amz-trailer": "x-amz-checksum-crc32",
    }
    for headers, payload in ((plain, UNSIGNED), (chunked, "STREAMING-UNSIGNED-PAYLOAD-TRAILER")):
        signed = bucket.sign("PUT", target, {"host": HOST, **headers}, payload)
        answer = bucket.send("PUT", target, signed, pieces=[bytes(100)] if headers is chunked else [])
        assert (answer.status, code(answer)) == (400, "EntityTooLarge")
    assert listed(bucket, begun) == []
    assert stored(bucket) == []


def test_a_part_of_the_largest_size_is_taken(bucket: Bucket, begun: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upload, "LARGEST_PUT", 1000)
    assert code(send(bucket, begun, 1, bytes(1001))) == "EntityTooLarge"
    assert send(bucket, begun, 1, bytes(1000)).status == 200
    bucket.put("main/source", bytes(2000))
    copied = {"x_amz_copy_source": "/lake/main/source"}
    assert code(send(bucket, begun, 2, b"", **copied)) == "EntityTooLarge"
    assert send(bucket, begun, 2, b"", **copied, x_amz_copy_source_range="bytes=0-999").status == 200
    assert listed(bucket, begun) == ["1", "2"]


@pytest.mark.parametrize("number", ["0", "10001", "-1", "x", "", "1.0", "%C2%B2", "999999"])
def test_invalid_part_numbers_are_refused(bucket: Bucket, begun: str, number: str) -> None:
    assert code(send(bucket, begun, number, b"1")) == "InvalidArgument"
    assert stored(bucket) == []


def test_part_with_a_wrong_digest_is_not_stored(bucket: Bucket, begun: str) -> None:
    crc = {"x_amz_checksum_crc32": "AAAAAA=="}
    assert code(send(bucket, begun, 1, b"body", **crc)) == "BadDigest"
    assert code(send(bucket, begun, 1, b"body", content_md5="1B2M2Y8AsgTpgAmY7PhCfg==")) == "BadDigest"
    assert code(send(bucket, begun, 1, b"body", payload="0" * 64)) == "XAmzContentSHA256Mismatch"
    assert send(bucket, begun, 1, b"body", payload=UNSIGNED, content_length="3").status == 400
    target = f"{X}?partNumber=1&uploadId={begun}"
    headers = bucket.sign("PUT", target, {"host": HOST, "transfer-encoding": "chunked"}, UNSIGNED)
    headers["content-length"] = ""
    assert code(bucket.send("PUT", target, headers, b"body")) == "MissingContentLength"
    assert listed(bucket, begun) == []
    assert stored(bucket) == []


MALFORMED = [
    "",
    "<Part/>",
    "<Part><PartNumber>1</PartNumber></Part>",
    "<Part><ETag>x</ETag></Part>",
    part("x", "x"),
    part("-1", "x"),
    part("123456", "x"),
    "<Part>",
    part(1, "x") * 10_001,
]


@pytest.mark.parametrize("parts", MALFORMED, ids=range(len(MALFORMED)))
def test_invalid_lists_of_parts_are_refused(bucket: Bucket, begun: str, parts: str) -> None:
    send(bucket, begun, 1, b"body")
    answer = complete(bucket, begun, parts)
    assert (answer.status, code(answer)) == (400, "MalformedXML")
    assert bucket.paths() == []
    assert listed(bucket, begun) == ["1"]


def test_invalid_documents_are_refused(bucket: Bucket, begun: str) -> None:
    for body in (b"", b"x", b"<a/>", b"<!DOCTYPE x><CompleteMultipartUpload/>", b"\xff\xfe<"):
        assert code(bucket("POST", f"{X}?uploadId={begun}", body)) == "MalformedXML", body


def test_a_part_that_is_named_again_counts_once(bucket: Bucket, begun: str) -> None:
    old = send(bucket, begun, 1, b"old").headers["etag"]
    new = send(bucket, begun, 1, b"new").headers["etag"]
    assert complete(bucket, begun, part(1, old) + part(1, new)).status == 200
    assert bucket("GET", X).body == b"new"


def test_parts_that_do_not_fit(bucket: Bucket, begun: str) -> None:
    one, two = (send(bucket, begun, number, body).headers["etag"] for number, body in ((1, b"one"), (2, b"two")))
    refused = {
        part(1, one) + part(2, two): "EntityTooSmall",
        part(2, two) + part(1, one): "InvalidPartOrder",
        part(1, two): "InvalidPart",
        part(3, one): "InvalidPart",
        part(1, one, "<ChecksumCRC32>AAAAAA==</ChecksumCRC32>"): "InvalidPart",
    }
    for parts, expected in refused.items():
        answer = complete(bucket, begun, parts)
        assert (answer.status, code(answer)) == (400, expected), parts
    assert code(complete(bucket, begun, part(1, one), x_amz_mp_object_size="4")) == "InvalidRequest"
    assert code(complete(bucket, begun, part(1, one), x_amz_mp_object_size="x")) == "InvalidArgument"
    assert code(complete(bucket, begun, part(1, one), x_amz_checksum_crc32="AAAAAA==")) == "BadDigest"
    assert code(complete(bucket, begun, part(1, one), if_match='"0"')) in ("NoSuchKey", "PreconditionFailed")
    assert bucket.paths() == []
    assert complete(bucket, begun, part(1, one), if_none_match="*").status == 200


def test_invalid_copy_sources_are_refused(bucket: Bucket, begun: str) -> None:
    bucket.put("main/source", b"12345")
    source = {"x_amz_copy_source": "/lake/main/source"}
    for span in ("bytes=0-5", "bytes=3-2", "0-1", "bytes=0-", "bytes=-1", "bytes=a-b", "bytes=0-1,2-3"):
        assert code(send(bucket, begun, 1, b"", **source, x_amz_copy_source_range=span)) == "InvalidArgument", span
    for where, expected in (("/lake/main/no", "NoSuchKey"), ("/no/main/source", "NoSuchBucket"), ("x", None)):
        answer = send(bucket, begun, 1, b"", x_amz_copy_source=where)
        assert answer.status in (400, 404)
        assert expected in (None, code(answer))
    assert listed(bucket, begun) == []


def test_an_upload_that_is_not_there(bucket: Bucket, begun: str) -> None:
    for one, where in (("0" * 32, X), ("%00", X), ("%F0%9F%99%82", X), (begun, "/lake/main/y"), ("x" * 3000, X)):
        target = f"{where}?uploadId={one}"
        body = f"<CompleteMultipartUpload>{part(1, etag(b''))}</CompleteMultipartUpload>".encode()
        answers = [
            bucket("PUT", f"{target}&partNumber=1", b"1"),
            bucket("POST", target, body),
            bucket("GET", target),
            bucket("DELETE", target),
        ]
        assert [(one.status, code(one)) for one in answers] == [(404, "NoSuchUpload")] * 4
    assert stored(bucket) == []


def test_an_upload_begins_only_where_something_may_be_written(bucket: Bucket) -> None:
    bucket.run(bucket.engine.tags.create("lake", "v1", "main"))
    for target, expected in (
        ("/lake/v1/x", "NoSuchKey"),
        ("/lake/none/x", "NoSuchKey"),
        ("/none/main/x", "NoSuchBucket"),
        ("/lake/main/%FF", "InvalidURI"),
        ("/lake/main/", "InvalidArgument"),
        ("/lake/main", "InvalidArgument"),
    ):
        assert code(bucket("POST", f"{target}?uploads")) == expected, target
    for headers in (
        {"x_amz_checksum_algorithm": "MD4"},
        {"x_amz_checksum_algorithm": "SHA256", "x_amz_checksum_type": "FULL_OBJECT"},
        {"x_amz_checksum_algorithm": "CRC64NVME", "x_amz_checksum_type": "COMPOSITE"},
    ):
        assert code(bucket("POST", f"{X}?uploads", **headers)) == "InvalidRequest", headers
    assert code(bucket("POST", f"{X}?uploads", x_amz_server_side_encryption="AES256")) == "NotImplemented"
    assert "Upload" not in {one.tag for one in xml(bucket("GET", "/lake?uploads"))}
