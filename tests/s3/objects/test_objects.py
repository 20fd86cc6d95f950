"""Objects through boto3: odd keys, metadata, ranges, conditions, checksums, copies, deletes."""

from __future__ import annotations

import base64
import hashlib
import os
from datetime import UTC, datetime, timedelta

import pytest

from tests.s3.algorithms import SUMS, text
from tests.s3.refusals import refused
from tests.s3.target import Target

ODD = [
    "plain",
    "a b",
    "a+b",
    "a%20b",
    "100%",
    "ünïcödé/日本語/🐟",
    "quote'and\"double",
    "semi;colon=and&amp",
    "question?mark#hash",
    "tilde~star*(paren)!",
    "back\\slash",
    "comma,at@dollar$",
    "[brackets]{braces}|<angles>^`",
    "double//slash",
    ".hidden/..dots..",
    "tab\there",
    "a" * 900,
]


@pytest.mark.parametrize("name", ODD, ids=range(len(ODD)))
def test_odd_keys(target: Target, name: str) -> None:
    s3 = target.boto()
    key = target.key(f"odd/{name}")
    body = name.encode()
    s3.put_object(Bucket=target.bucket, Key=key, Body=body)
    assert s3.get_object(Bucket=target.bucket, Key=key)["Body"].read() == body
    assert s3.head_object(Bucket=target.bucket, Key=key)["ContentLength"] == len(body)
    for listed in (s3.list_objects_v2, s3.list_objects):
        assert [one["Key"] for one in listed(Bucket=target.bucket, Prefix=target.key("odd/"))["Contents"]] == [key]
    s3.copy_object(Bucket=target.bucket, Key=key + ".copy", CopySource={"Bucket": target.bucket, "Key": key})
    assert s3.get_object(Bucket=target.bucket, Key=key + ".copy")["Body"].read() == body
    gone = [{"Key": key}, {"Key": key + ".copy"}]
    assert len(s3.delete_objects(Bucket=target.bucket, Delete={"Objects": gone})["Deleted"]) == 2
    assert "Contents" not in s3.list_objects_v2(Bucket=target.bucket, Prefix=target.key("odd/"))


def test_metadata_and_headers_come_back(target: Target) -> None:
    s3 = target.boto()
    key = target.key("with.csv")
    headers = {
        "ContentType": "text/csv; charset=utf-8",
        "ContentEncoding": "identity",
        "CacheControl": "max-age=60",
        "ContentDisposition": 'attachment; filename="with.csv"',
        "ContentLanguage": "de",
    }
    metadata = {"owner": "the finance team", "number": "7"}
    before = datetime.now(UTC) - timedelta(seconds=2)
    put = s3.put_object(Bucket=target.bucket, Key=key, Body=b"a,b\n", Metadata=metadata, **headers)
    assert put["ETag"].strip('"') == hashlib.md5(b"a,b\n").hexdigest()
    for answer in (s3.head_object(Bucket=target.bucket, Key=key), s3.get_object(Bucket=target.bucket, Key=key)):
        assert {name: answer[name] for name in headers} == headers
        assert answer["Metadata"] == metadata
        assert answer["ETag"] == put["ETag"]
        assert before < answer["LastModified"] < datetime.now(UTC) + timedelta(seconds=2)
    changed = s3.get_object(Bucket=target.bucket, Key=key, ResponseContentType="text/plain")
    assert changed["ContentType"] == "text/plain"


def test_ranges(target: Target) -> None:
    s3 = target.boto()
    key = target.key("ranged")
    body = os.urandom(100_000)
    s3.put_object(Bucket=target.bucket, Key=key, Body=body)

    def read(given: str) -> tuple[bytes, str]:
        answer = s3.get_object(Bucket=target.bucket, Key=key, Range=given)
        assert answer["ResponseMetadata"]["HTTPStatusCode"] == 206
        return answer["Body"].read(), answer["ContentRange"]

    assert read("bytes=0-0") == (body[:1], "bytes 0-0/100000")
    assert read("bytes=99990-") == (body[-10:], "bytes 99990-99999/100000")
    assert read("bytes=-5") == (body[-5:], "bytes 99995-99999/100000")
    assert read("bytes=99999-200000") == (body[-1:], "bytes 99999-99999/100000")
    assert refused(s3.get_object, Bucket=target.bucket, Key=key, Range="bytes=100000-") == ("InvalidRange", 416)


def test_conditional_reads(target: Target) -> None:
    s3 = target.boto()
    where = {"Bucket": target.bucket, "Key": target.key("asked")}
    etag = s3.put_object(**where, Body=b"1")["ETag"]
    past, future = datetime(2020, 1, 1, tzinfo=UTC), datetime.now(UTC) + timedelta(seconds=5)
    assert s3.get_object(**where, IfMatch=etag)["Body"].read() == b"1"
    assert s3.get_object(**where, IfModifiedSince=past)["Body"].read() == b"1"
    assert refused(s3.get_object, **where, IfMatch='"0"')[1] == 412
    assert refused(s3.get_object, **where, IfNoneMatch=etag)[1] == 304
    assert refused(s3.head_object, **where, IfNoneMatch=etag)[1] == 304
    assert refused(s3.get_object, **where, IfModifiedSince=future)[1] == 304
    assert refused(s3.get_object, **where, IfUnmodifiedSince=past)[1] == 412


@pytest.mark.parametrize("algorithm", SUMS)
def test_checksums_are_verified(target: Target, algorithm: str) -> None:
    s3 = target.boto()
    where = {"Bucket": target.bucket, "Key": target.key("summed")}
    right = {f"Checksum{algorithm}": text(algorithm, b"right")}
    put = s3.put_object(**where, Body=b"right", **right)
    assert put[f"Checksum{algorithm}"] == text(algorithm, b"right")
    assert s3.get_object(**where)["Body"].read() == b"right"
    wrong = {f"Checksum{algorithm}": text(algorithm, b"wrong")}
    assert refused(s3.put_object, **where, Body=b"other", **wrong) == ("BadDigest", 400)
    wrong = {"ContentMD5": base64.b64encode(bytes(16)).decode()}
    assert refused(s3.put_object, **where, Body=b"other", **wrong) == ("BadDigest", 400)
    assert s3.get_object(**where)["Body"].read() == b"right"


def test_copies(target: Target) -> None:
    s3 = target.boto()
    source = {"Bucket": target.bucket, "Key": target.key("source")}
    etag = s3.put_object(**source, Body=b"copied", Metadata={"kept": "1"}, ContentType="text/csv")["ETag"]
    kept = {"Bucket": target.bucket, "Key": target.key("kept")}
    assert s3.copy_object(**kept, CopySource=source)["CopyObjectResult"]["ETag"] == etag
    reported = s3.head_object(**kept)
    assert (reported["Metadata"], reported["ContentType"], reported["ETag"]) == ({"kept": "1"}, "text/csv", etag)
    replaced = {"Bucket": target.bucket, "Key": target.key("replaced")}
    s3.copy_object(
        **replaced, CopySource=source, MetadataDirective="REPLACE", Metadata={"new": "2"}, ContentType="text/plain"
    )
    reported = s3.head_object(**replaced)
    assert (reported["Metadata"], reported["ContentType"]) == ({"new": "2"}, "text/plain")
    # onto itself: how tools change metadata
    s3.copy_object(**source, CopySource=source, MetadataDirective="REPLACE", Metadata={"third": "3"})
    assert s3.head_object(**source)["Metadata"] == {"third": "3"}
    assert s3.get_object(**source)["Body"].read() == b"copied"
    assert refused(s3.copy_object, **kept, CopySource=source, CopySourceIfMatch='"0"') == ("PreconditionFailed", 412)
    missing = {"Bucket": target.bucket, "Key": target.key("missing")}
    assert refused(s3.copy_object, **kept, CopySource=missing) == ("NoSuchKey", 404)


def test_deletes(target: Target) -> None:
    s3 = target.boto()
    where = {"Bucket": target.bucket}
    keys = [target.key(f"many/{n:04d}") for n in range(20)]
    for key in keys:
        s3.put_object(**where, Key=key, Body=b"")
    s3.delete_object(**where, Key=keys[0])
    s3.delete_object(**where, Key=keys[0])  # what is not there is deleted already
    asked = [{"Key": key} for key in [*keys[:10], target.key("many/never")]]
    answer = s3.delete_objects(**where, Delete={"Objects": asked})
    assert sorted(one["Key"] for one in answer["Deleted"]) == sorted(one["Key"] for one in asked)
    assert "Errors" not in answer
    quiet = s3.delete_objects(**where, Delete={"Objects": [{"Key": keys[10]}], "Quiet": True})
    assert "Deleted" not in quiet
    left = s3.list_objects_v2(**where, Prefix=target.key("many/"))["Contents"]
    assert [one["Key"] for one in left] == keys[11:]


def test_missing_buckets_and_keys_are_not_found(target: Target) -> None:
    s3 = target.boto()
    nowhere = {"Bucket": target.bucket, "Key": target.key("nowhere")}
    assert refused(s3.get_object, **nowhere) == ("NoSuchKey", 404)
    assert refused(s3.head_object, **nowhere) == ("404", 404)
    assert refused(s3.get_object, Bucket="no-such-bucket-here", Key="main/a") == ("NoSuchBucket", 404)
    assert refused(s3.head_bucket, Bucket="no-such-bucket-here") == ("404", 404)
    assert refused(s3.list_objects_v2, Bucket="no-such-bucket-here") == ("NoSuchBucket", 404)
    s3.head_bucket(Bucket=target.bucket)
    assert s3.get_bucket_location(Bucket=target.bucket)["LocationConstraint"] in (None, "us-east-1")


def test_empty_objects_and_folder_markers(target: Target) -> None:
    s3 = target.boto()
    for name in ("empty", "folder/", "folder/inside"):
        s3.put_object(Bucket=target.bucket, Key=target.key(f"m/{name}"), Body=b"")
    assert s3.get_object(Bucket=target.bucket, Key=target.key("m/folder/"))["Body"].read() == b""
    listed = s3.list_objects_v2(Bucket=target.bucket, Prefix=target.key("m/"), Delimiter="/")
    assert [one["Key"] for one in listed["Contents"]] == [target.key("m/empty")]
    assert [one["Prefix"] for one in listed["CommonPrefixes"]] == [target.key("m/folder/")]
    inside = s3.list_objects_v2(Bucket=target.bucket, Prefix=target.key("m/folder/"), Delimiter="/")
    assert [one["Key"] for one in inside["Contents"]] == [target.key("m/folder/"), target.key("m/folder/inside")]
