"""Checksums that clients sent are kept with the entry, and answered: HEAD, GET, attributes, parts, listings, copies."""

from __future__ import annotations

import base64
import hashlib
import zlib
from typing import Any

import pytest
from lakebed_engine.vocabulary.checksums import CHECKSUM, MOST_PARTS_TEXT, PART_CHECKSUMS, ObjectChecksum, checksum_of
from lakebed_engine.vocabulary.requests import UploadRequest
from lakebed_server.rest import serializers

from tests.server.s3.gatewaying import Bucket, code, text, texts, xml

X = "/lake/main/x"
MODE = {"x_amz_checksum_mode": "ENABLED"}


def crc32(data: bytes) -> str:
    return base64.b64encode(zlib.crc32(data).to_bytes(4, "big")).decode()


def sha256(data: bytes) -> str:
    return base64.b64encode(hashlib.sha256(data).digest()).decode()


def entry(bucket: Bucket, path: str = "x") -> Any:
    return bucket.run(bucket.engine.objects.stat("lake", "main", path))


def sums(answer: Any) -> dict[str, str]:
    return {name.removeprefix("x-amz-checksum-"): v for name, v in answer.headers.items() if "x-amz-checksum" in name}


def multipart(bucket: Bucket, *parts: bytes, target: str = X, kind: str = "COMPOSITE") -> Any:
    """An object of parts, each with a CRC32."""
    created = bucket("POST", f"{target}?uploads", x_amz_checksum_algorithm="CRC32", x_amz_checksum_type=kind)
    upload = text(xml(created), "UploadId")
    rows = ""
    for number, part in enumerate(parts, 1):
        done = bucket("PUT", f"{target}?partNumber={number}&uploadId={upload}", part, x_amz_checksum_crc32=crc32(part))
        rows += f"<Part><PartNumber>{number}</PartNumber><ETag>{done.headers['etag']}</ETag></Part>"
    document = f"<CompleteMultipartUpload>{rows}</CompleteMultipartUpload>".encode()
    answer = bucket("POST", f"{target}?uploadId={upload}", document)
    assert answer.status == 200, answer.body
    return answer


PARTS = (b"a" * (5 << 20), b"b" * (5 << 20), b"end")


def test_the_checksum_of_a_put_is_answered(bucket: Bucket) -> None:
    for name, value in (("crc32", crc32(b"data")), ("sha256", sha256(b"data"))):
        put = bucket.put("main/x", b"data", **{f"x_amz_checksum_{name}": value})
        expected = {name: value, "type": "FULL_OBJECT"}
        assert sums(put) == expected
        for method in ("GET", "HEAD"):
            assert sums(bucket(method, X, **MODE)) == expected
            assert sums(bucket(method, X)) == {}
    assert sums(bucket("GET", X, range="bytes=0-1", **MODE)) == {}
    assert sums(bucket("GET", f"{X}?partNumber=1", **MODE)) == expected


def test_a_checksum_of_an_unknown_algorithm_is_refused(bucket: Bucket) -> None:
    for header in ({"x_amz_checksum_sha3": "AAAA"}, {"x_amz_trailer": "x-amz-checksum-sha3"}):
        answer = bucket("PUT", X, b"data", **header)
        assert (answer.status, code(answer)) == (501, "NotImplemented")
        assert text(xml(answer), "Message").startswith(
            "x-amz-checksum-sha3 is not supported. The server verifies crc32"
        )
    assert bucket("HEAD", X).status == 404


def test_an_object_without_a_checksum_has_none(bucket: Bucket) -> None:
    bucket.put("main/x", b"data")
    assert sums(bucket("GET", X, **MODE)) == {}
    answer = xml(bucket("GET", f"{X}?attributes", x_amz_object_attributes="Checksum,ETag,ObjectParts"))
    assert [one.tag for one in answer] == ["ETag"]
    assert texts(xml(bucket("GET", "/lake?list-type=2&prefix=main/")), "Contents/ChecksumAlgorithm") == []


def test_listings_name_the_algorithm(bucket: Bucket) -> None:
    bucket.put("main/x", b"data", x_amz_checksum_sha256=sha256(b"data"))
    for query in ("?list-type=2", "", "?versions"):
        found = xml(bucket("GET", f"/bound{query}"))
        row = "Version" if query == "?versions" else "Contents"
        assert texts(found, f"{row}/ChecksumAlgorithm") == ["SHA256"]
        assert texts(found, f"{row}/ChecksumType") == ["FULL_OBJECT"]


def test_attributes_of_an_object_of_one_part(bucket: Bucket) -> None:
    bucket.put("main/x", b"data", x_amz_checksum_crc32=crc32(b"data"))
    found = xml(bucket("GET", f"{X}?attributes", x_amz_object_attributes="Checksum,ObjectParts,ObjectSize"))
    assert text(found, "Checksum/ChecksumCRC32") == crc32(b"data")
    assert text(found, "Checksum/ChecksumType") == "FULL_OBJECT"
    assert found.find("ObjectParts") is None


@pytest.mark.parametrize("kind", ["COMPOSITE", "FULL_OBJECT"])
def test_checksums_of_parts(bucket: Bucket, kind: str) -> None:
    done = multipart(bucket, *PARTS, kind=kind)
    whole = b"".join(PARTS)
    joined = crc32(b"".join(zlib.crc32(one).to_bytes(4, "big") for one in PARTS)) + "-3"
    value = joined if kind == "COMPOSITE" else crc32(whole)
    assert text(xml(done), "ChecksumCRC32") == value
    assert sums(bucket("HEAD", X, **MODE)) == {"crc32": value, "type": kind}
    part = bucket("GET", f"{X}?partNumber=3", **MODE)
    assert (part.status, part.body, sums(part)) == (206, b"end", {"crc32": crc32(b"end"), "type": kind})
    asked = {"x_amz_object_attributes": "Checksum,ObjectParts"}
    found = xml(bucket("GET", f"{X}?attributes", **asked))
    assert text(found, "Checksum/ChecksumCRC32") == value
    assert text(found, "ObjectParts/PartsCount") == "3"
    assert texts(found, "ObjectParts/Part/Size") == [str(len(one)) for one in PARTS]
    assert texts(found, "ObjectParts/Part/ChecksumCRC32") == [crc32(one) for one in PARTS]
    page = xml(bucket("GET", f"{X}?attributes", x_amz_max_parts="1", x_amz_part_number_marker="1", **asked))
    assert texts(page, "ObjectParts/Part/PartNumber") == ["2"]
    names = ("IsTruncated", "MaxParts", "PartNumberMarker", "NextPartNumberMarker")
    assert [text(page, f"ObjectParts/{name}") for name in names] == ["true", "1", "1", "2"]
    last = xml(bucket("GET", f"{X}?attributes", x_amz_part_number_marker="2", **asked))
    assert text(last, "ObjectParts/IsTruncated") == "false"
    assert bucket("GET", f"{X}?attributes", x_amz_max_parts="-1", **asked).status == 400


def test_copies_keep_them(bucket: Bucket) -> None:
    bucket.run(bucket.engine.repositories.create("other", "mem://other"))
    bucket.put("main/x", b"data", x_amz_checksum_crc32=crc32(b"data"), x_amz_meta_k="v")
    replaced = {"x_amz_metadata_directive": "REPLACE", "x_amz_meta_n": "w"}
    for target in ("/lake/main/y", "/other/main/y"):
        for more in ({}, replaced):
            copied = bucket("PUT", target, x_amz_copy_source=X, **more)
            assert text(xml(copied), "ChecksumCRC32") == crc32(b"data")
            assert sums(bucket("HEAD", target, **MODE))["crc32"] == crc32(b"data")
    multipart(bucket, *PARTS)
    assert bucket("PUT", "/lake/main/y", x_amz_copy_source=X).status == 200
    assert sums(bucket("HEAD", "/lake/main/y?partNumber=3", **MODE))["crc32"] == crc32(b"end")
    assert bucket("PUT", "/other/main/y", x_amz_copy_source=X).status == 200  # it has no parts there
    assert sums(bucket("HEAD", "/other/main/y", **MODE)) == {}


def test_rest_does_not_show_them_and_keeps_them(bucket: Bucket) -> None:
    bucket.put("main/x", b"data", x_amz_checksum_crc32=crc32(b"data"), x_amz_meta_k="v")
    assert CHECKSUM in entry(bucket).metadata
    shown = serializers.object_stats("x", entry(bucket), "mem://lake/x").metadata
    assert shown == {"X-Amz-Meta-K": "v"}
    bucket.run(bucket.engine.objects.set_metadata("lake", "main", "x", {"new": "w"}))
    assert serializers.object_stats("x", entry(bucket), "mem://lake/x").metadata == {"new": "w"}
    assert sums(bucket("HEAD", X, **MODE))["crc32"] == crc32(b"data")


def test_the_same_bytes_are_the_same_content(bucket: Bucket) -> None:
    bucket.put("main/x", b"data")
    plain = entry(bucket).identity
    for name, value in (("crc32", crc32(b"data")), ("sha256", sha256(b"data"))):
        bucket.put("main/x", b"data", **{f"x_amz_checksum_{name}": value})
        assert entry(bucket).identity == plain


@pytest.mark.parametrize(
    "stored",
    [
        "crc32",
        "crc32 FULL_OBJECT",
        "crc32 FULL_OBJECT AAAA",
        "crc32 FULL_OBJECT AAAAAA==-2",
        "crc32 COMPOSITE AAAAAA==",
        "md5 FULL_OBJECT AAAAAA==",
        "crc32 FULL_OBJECT\n AAAAAA==",
        "crc32 OTHER AAAAAA==",
        "crc32 FULL_OBJECT \x00",
    ],
)
def test_other_metadata_under_the_key_is_no_checksum(bucket: Bucket, stored: str) -> None:
    async def chunks() -> Any:
        yield b"1"

    assert checksum_of({CHECKSUM: stored, PART_CHECKSUMS: "x"}) is None
    request = UploadRequest(path="x", metadata={CHECKSUM: stored.replace("\x00", ""), PART_CHECKSUMS: "%%"})
    bucket.run(bucket.engine.objects.upload("lake", "main", request, chunks()))
    assert sums(bucket("GET", X, **MODE)) == {}


def test_parts_beyond_the_limit_are_not_kept() -> None:
    one = sha256(b"")
    few = ObjectChecksum("sha256", "COMPOSITE", f"{one}-384", [one] * 384)
    assert checksum_of(few.metadata()) == few
    many = few._replace(value=f"{one}-385", parts=[one] * 385)
    assert PART_CHECKSUMS not in many.metadata()
    assert len(few.metadata()[PART_CHECKSUMS]) <= MOST_PARTS_TEXT
