"""Conditions of writes and deletions through the S3 gateway: each holds, or the server refuses it with 501."""

from __future__ import annotations

from typing import Any

import pytest

from tests.server.s3.gatewaying import Bucket, code, text, texts, xml

X = "/lake/main/x"
PAST, FUTURE = "Tue, 14 Nov 2000 00:00:00 GMT", "Tue, 14 Nov 2090 00:00:00 GMT"
OTHER = '"00000000000000000000000000000000"'


def put(bucket: Bucket, **headers: str) -> Any:
    return bucket("PUT", X, b"new", **headers)


def begun(bucket: Bucket) -> tuple[str, bytes]:
    upload = text(xml(bucket("POST", f"{X}?uploads")), "UploadId")
    etag = bucket("PUT", f"{X}?partNumber=1&uploadId={upload}", b"new").headers["etag"]
    part = f"<Part><PartNumber>1</PartNumber><ETag>{etag}</ETag></Part>"
    return upload, f"<CompleteMultipartUpload>{part}</CompleteMultipartUpload>".encode()


def complete(bucket: Bucket, **headers: str) -> Any:
    upload, document = begun(bucket)
    return bucket("POST", f"{X}?uploadId={upload}", document, **headers)


def copy(bucket: Bucket, **headers: str) -> Any:
    bucket.put("main/source", b"new")
    return bucket("PUT", X, x_amz_copy_source="/lake/main/source", **headers)


WRITES = pytest.mark.parametrize("write", [put, complete, copy])


@WRITES
def test_if_match_any(bucket: Bucket, write: Any) -> None:
    missing = write(bucket, if_match="*")
    assert (missing.status, code(missing)) == (412, "PreconditionFailed")
    assert "x" not in bucket.paths()
    bucket.put("main/x", b"old")
    assert write(bucket, if_match="*").status == 200
    assert bucket("GET", X).body == b"new"


@WRITES
def test_if_none_match_of_an_etag(bucket: Bucket, write: Any) -> None:
    etag = bucket.put("main/x", b"old").headers["etag"]
    same = write(bucket, if_none_match=etag)
    assert (same.status, code(same)) == (412, "PreconditionFailed")
    assert bucket("GET", X).body == b"old"
    assert write(bucket, if_none_match=OTHER).status == 200
    assert bucket("GET", X).body == b"new"
    assert bucket("DELETE", X).status == 204
    assert write(bucket, if_none_match=etag).status == 200


@WRITES
@pytest.mark.parametrize("header", ["if_unmodified_since", "if_modified_since", "x_amz_if_match_size", "x_amz_if_new"])
def test_other_conditions_of_writes_are_refused(bucket: Bucket, write: Any, header: str) -> None:
    answer = write(bucket, **{header: PAST})
    assert (answer.status, code(answer)) == (501, "NotImplemented")
    assert header.replace("_", "-") in text(xml(answer), "Message")
    assert "x" not in bucket.paths()
    assert write(bucket, **{header: ""}).status == 200  # a header without a value counts as absent


def test_a_list_of_etags_is_refused(bucket: Bucket) -> None:
    etag = bucket.put("main/x", b"old").headers["etag"]
    for header in ("if_match", "if_none_match"):
        assert put(bucket, **{header: f"{etag}, {OTHER}"}).status == 501
    assert bucket("GET", X).body == b"old"


def test_conditions_of_deletions(bucket: Bucket) -> None:
    etag = bucket.put("main/x", b"four").headers["etag"]
    modified = bucket("HEAD", X).headers["last-modified"]
    false = [
        {"if_match": OTHER},
        {"x_amz_if_match_size": "5"},
        {"x_amz_if_match_last_modified_time": PAST},
        {"if_match": "*", "x_amz_if_match_size": "5"},
        {"if_match": etag, "x_amz_if_match_last_modified_time": FUTURE},
    ]
    for headers in false:
        answer = bucket("DELETE", X, **headers)
        assert (answer.status, code(answer)) == (412, "PreconditionFailed"), headers
        assert bucket.paths() == ["x"]
    true: list[dict[str, str]] = [
        {"if_match": "*"},
        {"if_match": etag, "x_amz_if_match_size": "4", "x_amz_if_match_last_modified_time": modified},
        {"x_amz_if_match_size": "4"},
        {"x_amz_if_match_last_modified_time": modified},
    ]
    for headers in true:
        bucket.put("main/x", b"four")
        now = {"x_amz_if_match_last_modified_time": bucket("HEAD", X).headers["last-modified"]}
        headers.update({name: value for name, value in now.items() if name in headers})
        assert bucket("DELETE", X, **headers).status == 204, headers
        assert bucket.paths() == []


@pytest.mark.parametrize(
    "headers", [{"if_match": "*"}, {"if_match": OTHER}, {"x_amz_if_match_size": "5"}], ids=["any", "etag", "size"]
)
def test_deleting_nothing_meets_all_conditions(bucket: Bucket, headers: dict[str, str]) -> None:
    assert bucket("DELETE", X, **headers).status == 204


@pytest.mark.parametrize("header", ["if_none_match", "if_unmodified_since", "x_amz_if_match_initiated_time"])
def test_other_conditions_of_deletions_are_refused(bucket: Bucket, header: str) -> None:
    bucket.put("main/x", b"1")
    answer = bucket("DELETE", X, **{header: PAST})
    assert (answer.status, code(answer)) == (501, "NotImplemented")
    assert bucket.paths() == ["x"]


@pytest.mark.parametrize("header", ["x_amz_if_match_size", "x_amz_if_match_last_modified_time"])
def test_conditions_with_invalid_values_are_refused(bucket: Bucket, header: str) -> None:
    bucket.put("main/x", b"1")
    assert code(bucket("DELETE", X, **{header: "soon"})) == "InvalidArgument"
    assert bucket.paths() == ["x"]


def test_conditions_of_batches(bucket: Bucket) -> None:
    rows = {
        "a": ("<Size>1</Size>", False),
        "b": ("<Size>2</Size>", True),
        "c": ("<ETag>*</ETag>", False),
        "d": (f"<ETag>{OTHER}</ETag>", True),
        "e": (f"<LastModifiedTime>{PAST}</LastModifiedTime>", True),
        "f": ("<LastModifiedTime>2000-11-14T00:00:00.000Z</LastModifiedTime>", True),
    }
    for name in rows:
        bucket.put(f"main/{name}", b"1")
    objects = "".join(f"<Object><Key>main/{name}</Key>{asked}</Object>" for name, (asked, _) in rows.items())
    answer = bucket("POST", "/lake?delete", f"<Delete>{objects}</Delete>".encode())
    kept = [name for name, (_, stays) in rows.items() if stays]
    assert answer.status == 200
    assert texts(xml(answer), "Error/Key") == [f"main/{name}" for name in kept]
    assert set(texts(xml(answer), "Error/Code")) == {"PreconditionFailed"}
    assert bucket.paths() == kept
    unknown = b"<Delete><Object><Key>main/b</Key><IfNew>1</IfNew></Object></Delete>"
    assert bucket("POST", "/lake?delete", unknown).status == 501
    assert bucket.paths() == kept


def test_conditions_of_other_requests(bucket: Bucket) -> None:
    bucket.put("main/x", b"1")
    upload, _ = begun(bucket)
    for method, target in (
        ("PUT", f"{X}?partNumber=1&uploadId={upload}"),
        ("DELETE", f"{X}?uploadId={upload}"),
        ("POST", f"{X}?uploads"),
        ("POST", "/lake?delete"),
        ("GET", f"{X}?attributes"),
        ("DELETE", "/lake"),
    ):
        answer = bucket(method, target, if_match="*")
        assert (answer.status, code(answer)) == (501, "NotImplemented"), (method, target)
    assert bucket("GET", X, x_amz_if_match_size="1").status == 501
    assert bucket("GET", "/lake?list-type=2", if_none_match="*").status == 200
