"""Objects over the gateway: writes and reads with their headers, conditions, ranges, copies, deletes."""

from __future__ import annotations

import hashlib
import time
from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import quote

import pytest
from lakebed_engine.vocabulary.records import Rule
from lakebed_engine.vocabulary.requests import CommitRequest, UploadRequest, WorkspaceRequest
from lakebed_server.s3.operations.reading import SMALL

from tests.server.s3.gatewaying import HOST, UNSIGNED, Bucket, code, text, texts, xml

X = "/lake/main/x"


def delete_xml(*keys: str, quiet: bool = False, rest: str = "") -> bytes:
    rows = "".join(f"<Object><Key>{key}</Key>{rest}</Object>" for key in keys)
    quietly = "<Quiet>true</Quiet>" if quiet else ""
    return f'<Delete xmlns="http://s3.amazonaws.com/doc/2006-03-01/">{quietly}{rows}</Delete>'.encode()


EMPTY_HEADERS = (
    *("x_amz_acl", "x_amz_grant_read", "x_amz_tagging", "x_amz_copy_source_if_match"),
    *("x_amz_metadata_directive", "x_amz_storage_class", "x_amz_expected_bucket_owner"),
    *("x_amz_sdk_checksum_algorithm", "x_amz_trailer", "x_amz_if_match_size", "content_encoding"),
    *("if_match", "if_none_match", "if_modified_since", "if_unmodified_since", "if_range", "range"),
)


def test_headers_without_a_value_count_as_absent(bucket: Bucket) -> None:
    empty = {**dict.fromkeys(EMPTY_HEADERS, ""), "x_amz_server_side_encryption": " ", "x_amz_meta_note": ""}
    assert bucket("PUT", X, b"1", **empty).status == 200
    found = bucket("GET", X, **empty)
    assert (found.status, found.body) == (200, b"1")
    assert found.headers["x-amz-meta-note"] == ""  # an empty text is a value of user metadata
    upload = text(xml(bucket("POST", f"{X}?uploads", **empty)), "UploadId")
    assert bucket("PUT", f"{X}?partNumber=1&uploadId={upload}", b"2", **empty).status == 200
    assert bucket("DELETE", X, **empty).status == 204
    assert bucket("GET", X).status == 404


@pytest.mark.parametrize(
    ("name", "value", "refusal"),
    [
        ("x_amz_acl", "public-read", "AccessControlListNotSupported"),
        ("x_amz_grant_full_control", 'id="1"', "AccessControlListNotSupported"),
        ("x_amz_server_side_encryption", "AES256", "NotImplemented"),
        ("x_amz_server_side_encryption_customer_algorithm", "AES256", "NotImplemented"),
        ("x_amz_tagging", "a=1", "NotImplemented"),
        ("x_amz_object_lock_mode", "GOVERNANCE", "NotImplemented"),
        ("x_amz_website_redirect_location", "/y", "NotImplemented"),
        ("x_amz_write_offset_bytes", "1", "NotImplemented"),
        ("x_amz_storage_class", "DEEP_ARCHIVE", "InvalidStorageClass"),
        ("x_amz_expected_bucket_owner", "111122223333", "AccessDenied"),
    ],
)
def test_a_header_that_cannot_be_honoured_is_named(bucket: Bucket, name: str, value: str, refusal: str) -> None:
    assert bucket("PUT", X, b"1").status == 200
    upload = text(xml(bucket("POST", f"{X}?uploads")), "UploadId")
    for method, target in (("PUT", X), ("POST", f"{X}?uploads"), ("PUT", f"{X}?partNumber=1&uploadId={upload}")):
        refused = bucket(method, target, b"2" if method == "PUT" else b"", **{name: value})
        assert code(refused) == refusal
        assert name.replace("_", "-").encode() in refused.body
    assert bucket("GET", X).body == b"1"
    assert b"<Part>" not in bucket("GET", f"{X}?uploadId={upload}").body


def test_a_header_whose_value_is_honoured(bucket: Bucket) -> None:
    honoured = {"x_amz_acl": "private", "x_amz_storage_class": "STANDARD_IA", "x_amz_expected_bucket_owner": "lakebed"}
    assert bucket("PUT", X, b"1", **honoured).status == 200


def test_stored_object_is_read_with_its_headers(bucket: Bucket) -> None:
    headers = {
        "content_type": "text/csv; charset=utf-8",
        "cache_control": "no-store",
        "content_disposition": 'attachment; filename="a.csv"',
        "content_encoding": "gzip, aws-chunked",
        "content_language": "de",
        "expires": "Thu, 01 Dec 2033 16:00:00 GMT",
        "x_amz_meta_owner": "me",
        "x_amz_meta_UPPER": "Mixed Case",
        "x_amz_meta_word": "=?UTF-8?B?w7xiZXI=?=",
        "x_amz_storage_class": "STANDARD",
        "x_amz_acl": "bucket-owner-full-control",
        "x_amz_decoded_content_length": "4",
    }
    assert bucket("PUT", X, b"4\r\ndata\r\n0\r\n\r\n", payload=UNSIGNED, **headers).status == 200
    etag = f'"{hashlib.md5(b"data").hexdigest()}"'
    for method in ("GET", "HEAD"):
        answer = bucket(method, X)
        assert answer.status == 200
        assert answer.body == (b"data" if method == "GET" else b"")
        reported = answer.headers
        assert reported["content-length"] == "4"
        assert reported["etag"] == etag
        assert reported["content-encoding"] == "gzip"
        for name in ("content_type", "cache_control", "content_disposition", "content_language", "expires"):
            assert reported[name.replace("_", "-")] == headers[name]
        assert (reported["x-amz-meta-owner"], reported["x-amz-meta-upper"]) == ("me", "Mixed Case")
        assert reported["x-amz-meta-word"] == "=?utf-8?b?w7xiZXI=?="
        assert reported["accept-ranges"] == "bytes"
        assert "last-modified" in reported
        assert "x-amz-request-id" in reported
    entry = bucket.run(bucket.engine.objects.stat("lake", "main", "x"))
    assert entry.content_type == headers["content_type"]
    assert {key: value for key, value in entry.metadata.items() if not key.startswith("::s3::")} == {
        "X-Amz-Meta-Owner": "me",
        "X-Amz-Meta-Upper": "Mixed Case",
        "X-Amz-Meta-Word": "über",
    }


@pytest.mark.parametrize(
    ("sent", "kept"),
    [("deflate, gzip", "deflate, gzip"), ("aws-chunked,gzip", "gzip"), ("deflate, gzip, aws-chunked", "deflate, gzip")],
)
def test_a_content_encoding_stays_as_it_was_sent(bucket: Bucket, sent: str, kept: str) -> None:
    length = {"x_amz_decoded_content_length": "4"} if "aws-chunked" in sent else {}
    body = b"4\r\ndata\r\n0\r\n\r\n" if length else b"data"
    assert bucket("PUT", X, body, payload=UNSIGNED, content_encoding=sent, **length).status == 200
    assert bucket("HEAD", X).headers["content-encoding"] == kept


def test_a_read_may_ask_for_other_headers(bucket: Bucket) -> None:
    bucket.put("main/x", b"1", content_type="a/b", cache_control="no-store")
    query = "response-content-type=text%2Fplain&response-cache-control=max-age%3D1&response-content-disposition=inline"
    reported = bucket("GET", f"{X}?{query}").headers
    assert (reported["content-type"], reported["cache-control"]) == ("text/plain", "max-age=1")
    assert reported["content-disposition"] == "inline"
    assert code(bucket("GET", f"{X}?response-content-type=a%0D%0Ab%3A%20c")) == "InvalidArgument"


def test_metadata_of_rest_is_metadata_here_and_the_other_way_round(bucket: Bucket) -> None:
    async def chunks() -> Any:
        yield b"1"

    metadata = {"Color": "blue", "bad name": "x", "new\nline": "x", "text": "a\r\nb", "::lakefs::x": "hidden"}
    request = UploadRequest(path="x", content_type="a\nb", metadata=metadata)
    bucket.run(bucket.engine.objects.upload("lake", "main", request, chunks()))
    reported = bucket("GET", X).headers
    assert reported["x-amz-meta-color"] == "blue"
    assert reported["x-amz-missing-meta"] == "2"
    assert "\n" not in reported["x-amz-meta-text"]
    assert reported["content-type"] == "application/octet-stream"
    assert not [name for name in reported if "lakefs" in name]


def test_metadata_has_a_limit(bucket: Bucket) -> None:
    assert bucket("PUT", X, b"1", x_amz_meta_a="x" * 2047).status == 200
    assert code(bucket("PUT", X, b"2", x_amz_meta_a="x" * 2048)) == "MetadataTooLarge"
    assert bucket("GET", X).body == b"1"


@pytest.mark.parametrize(
    ("asked", "status", "body", "content_range"),
    [
        ("bytes=0-3", 206, b"0123", "bytes 0-3/10"),
        ("bytes=8-100", 206, b"89", "bytes 8-9/10"),
        ("bytes=5-", 206, b"56789", "bytes 5-9/10"),
        ("bytes=-3", 206, b"789", "bytes 7-9/10"),
        ("bytes=-100", 206, b"0123456789", "bytes 0-9/10"),
        ("bytes=0-1,4-5", 200, b"0123456789", None),
        ("bytes=5-2", 200, b"0123456789", None),
        ("bytes=a-b", 200, b"0123456789", None),
        ("rows=0-1", 200, b"0123456789", None),
        ("bytes=10-", 416, None, "bytes */10"),
        ("bytes=-0", 416, None, "bytes */10"),
        ("bytes=99999999999999999999999-", 416, None, "bytes */10"),
    ],
)
def test_ranges(bucket: Bucket, asked: str, status: int, body: bytes | None, content_range: str | None) -> None:
    bucket.put("main/x", b"0123456789")
    answer = bucket("GET", X, range=asked)
    assert (answer.status, answer.headers.get("content-range")) == (status, content_range)
    if body is None:
        assert code(answer) == "InvalidRange"
    else:
        assert answer.body == body
        assert bucket("HEAD", X, range=asked).headers["content-length"] == str(len(body))


def test_conditions_of_reads(bucket: Bucket) -> None:
    etag = bucket.put("main/x", b"0123456789").headers["etag"]
    then, later = "Tue, 14 Nov 2000 00:00:00 GMT", "Tue, 14 Nov 2090 00:00:00 GMT"
    for headers, status in (
        ({"if_match": etag}, 200),
        ({"if_match": "*"}, 200),
        ({"if_match": f'"no", {etag}'}, 200),
        ({"if_match": '"no"'}, 412),
        ({"if_none_match": etag}, 304),
        ({"if_none_match": f"W/{etag}"}, 304),
        ({"if_none_match": '"no"'}, 200),
        ({"if_modified_since": then}, 200),
        ({"if_modified_since": later}, 304),
        ({"if_modified_since": "no date"}, 200),
        ({"if_unmodified_since": then}, 412),
        ({"if_unmodified_since": later}, 200),
        ({"if_match": etag, "if_unmodified_since": then}, 200),
        ({"if_none_match": '"no"', "if_modified_since": later}, 200),
        ({"range": "bytes=0-1", "if_range": etag}, 206),
        ({"range": "bytes=0-1", "if_range": '"no"'}, 200),
        ({"range": "bytes=0-1", "if_range": later}, 206),
        ({"range": "bytes=0-1", "if_range": then}, 200),
    ):
        for method in ("GET", "HEAD"):
            answer = bucket(method, X, **headers)
            assert answer.status == status, (method, headers)
            if method == "HEAD" or status == 304:
                assert answer.body == b""
            if status == 304:
                assert answer.headers["etag"] == etag
    assert code(bucket("GET", X, if_match='"no"')) == "PreconditionFailed"


def test_conditions_of_writes(bucket: Bucket) -> None:
    first = bucket("PUT", X, b"1", if_none_match="*")
    assert first.status == 200
    again = bucket("PUT", X, b"2", if_none_match="*")
    assert (again.status, code(again)) == (412, "PreconditionFailed")
    assert bucket("PUT", X, b"3", if_match=first.headers["etag"]).status == 200
    assert bucket("PUT", X, b"4", if_match=first.headers["etag"]).status == 412
    assert bucket("GET", X).body == b"3"
    assert bucket("DELETE", X, if_match='"no"').status == 412
    absent = bucket("PUT", "/lake/main/none", b"5", if_match='"no"')
    assert (absent.status, code(absent)) == (404, "NoSuchKey")


def test_numbers_of_parts(bucket: Bucket) -> None:
    bucket.put("main/x", b"0123456789")
    bucket.put("main/empty", b"")
    answer = bucket("GET", f"{X}?partNumber=1")
    assert (answer.status, answer.body, answer.headers["content-range"]) == (206, b"0123456789", "bytes 0-9/10")
    assert bucket("GET", "/lake/main/empty?partNumber=1").status == 200
    beyond = bucket("GET", f"{X}?partNumber=2")
    assert (beyond.status, code(beyond)) == (416, "InvalidPartNumber")
    assert code(bucket("GET", f"{X}?partNumber=0")) == "InvalidArgument"
    assert code(bucket("GET", f"{X}?partNumber=one")) == "InvalidArgument"
    assert code(bucket("GET", f"{X}?partNumber=1", range="bytes=0-1")) == "InvalidRequest"


@pytest.mark.parametrize(
    ("reported", "parts"),
    [
        ("2x3,1x4", [(0, 2), (3, 5), (6, 9)]),
        ("2x3", [(0, 9)]),
        ("1x4,", [(0, 9)]),
        ("2x5x", [(0, 9)]),
        ("10001x0,1x10", [(0, 9)]),
        ("9" * 5000 + "x1", [(0, 9)]),
        ("9" * 40_000, [(0, 9)]),
        ("1x1," * 16_000, [(0, 9)]),
    ],
)
def test_sizes_of_parts_that_metadata_makes_up(bucket: Bucket, reported: str, parts: list[tuple[int, int]]) -> None:
    """The REST API lets a user write any metadata, also the key with the sizes of parts."""

    async def chunks() -> AsyncIterator[bytes]:
        yield b"0123456789"

    request = UploadRequest(path="x", metadata={"::s3::parts": reported})
    bucket.run(bucket.engine.objects.upload("lake", "main", request, chunks()))
    started = time.perf_counter()
    for number, (first, last) in enumerate(parts, 1):
        answer = bucket("GET", f"{X}?partNumber={number}")
        assert (answer.status, answer.headers["content-range"]) == (206, f"bytes {first}-{last}/10")
    assert code(bucket("GET", f"{X}?partNumber={len(parts) + 1}")) == "InvalidPartNumber"
    assert time.perf_counter() - started < 1


def test_copies(bucket: Bucket) -> None:
    etag = bucket.put("main/a b+ü", b"data", content_type="a/b", x_amz_meta_k="v", cache_control="no-store").headers[
        "etag"
    ]
    source = "/lake/" + quote("main/a b+ü")
    answer = bucket("PUT", X, x_amz_copy_source=source)
    assert (answer.status, text(xml(answer), "ETag")) == (200, etag)
    reported = bucket("GET", X).headers
    assert (reported["content-type"], reported["x-amz-meta-k"], reported["cache-control"]) == ("a/b", "v", "no-store")
    replaced = {"x_amz_metadata_directive": "REPLACE", "content_type": "c/d", "x_amz_meta_n": "w"}
    assert bucket("PUT", X, x_amz_copy_source=source.removeprefix("/"), **replaced).status == 200
    reported = bucket("HEAD", X).headers
    assert (reported["content-type"], reported["x-amz-meta-n"]) == ("c/d", "w")
    assert "x-amz-meta-k" not in reported
    assert reported["cache-control"] == "private, no-store"
    entries = [bucket.run(bucket.engine.objects.stat("lake", "main", path)) for path in ("x", "a b+ü")]
    assert entries[0].physical_address == entries[1].physical_address
    assert entries[0].identity != entries[1].identity
    onto_itself = bucket("PUT", X, x_amz_copy_source=X)
    assert (onto_itself.status, code(onto_itself)) == (400, "InvalidRequest")
    assert bucket("PUT", X, x_amz_copy_source=X, x_amz_metadata_directive="REPLACE").status == 200


def test_conditions_of_copies(bucket: Bucket) -> None:
    etag = bucket.put("main/a", b"1").headers["etag"]
    bucket.put("main/x", b"2")
    for headers in (
        {"x_amz_copy_source_if_match": '"no"'},
        {"x_amz_copy_source_if_none_match": etag},
        {"x_amz_copy_source_if_modified_since": "Tue, 14 Nov 2090 00:00:00 GMT"},
        {"x_amz_copy_source_if_unmodified_since": "Tue, 14 Nov 2000 00:00:00 GMT"},
        {"if_none_match": "*"},
        {"if_match": '"no"'},
    ):
        answer = bucket("PUT", X, x_amz_copy_source="/lake/main/a", **headers)
        assert (answer.status, code(answer)) == (412, "PreconditionFailed"), headers
    assert bucket("GET", X).body == b"2"
    assert bucket("PUT", X, x_amz_copy_source="/lake/main/a", x_amz_copy_source_if_match=etag).status == 200
    assert bucket("GET", X).body == b"1"


def test_a_copy_is_of_the_content_that_was_looked_at(bucket: Bucket, monkeypatch: pytest.MonkeyPatch) -> None:
    etag = bucket.put("main/a", b"1").headers["etag"]
    copy_as = bucket.engine.objects.copy_as

    async def change_first(*words: Any, **more: Any) -> Any:
        async def chunks() -> Any:
            yield b"2"

        await bucket.engine.objects.upload("lake", "main", UploadRequest(path="a"), chunks())
        return await copy_as(*words, **more)

    monkeypatch.setattr(bucket.engine.objects, "copy_as", change_first)
    raced = bucket("PUT", X, x_amz_copy_source="/lake/main/a", x_amz_copy_source_if_match=etag)
    assert (raced.status, code(raced)) == (412, "PreconditionFailed")
    assert bucket.paths() == ["a"]


def test_copies_between_repositories_and_refs(bucket: Bucket) -> None:
    bucket.run(bucket.engine.repositories.create("other", "mem://other"))
    bucket.put("main/x", b"data", x_amz_meta_k="v")
    commit = bucket.run(bucket.engine.commits.create("lake", "main", CommitRequest(committer="me", message="one")))
    bucket.put("main/x", b"changed")
    assert bucket("PUT", "/other/main/y", x_amz_copy_source=f"/lake/{commit.id}/x").status == 200
    answer = bucket("GET", "/other/main/y")
    assert (answer.body, answer.headers["x-amz-meta-k"]) == (b"data", "v")
    assert bucket("PUT", "/lake/main/back", x_amz_copy_source="/bound/x").status == 200
    assert bucket("GET", "/lake/main/back").body == b"changed"


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("", "InvalidArgument"),
        ("lake", "InvalidArgument"),
        ("/lake/", "InvalidArgument"),
        ("/lake/main", "NoSuchKey"),
        ("/lake/main/", "NoSuchKey"),
        ("/lake/main/none", "NoSuchKey"),
        ("/lake/none/x", "NoSuchKey"),
        ("/none/main/x", "NoSuchBucket"),
        ("/lake/main/%ff", "InvalidURI"),
        ("/lake/main/x?versionId=abc", "NoSuchVersion"),
    ],
)
def test_invalid_copy_sources_are_refused(bucket: Bucket, source: str, expected: str) -> None:
    assert code(bucket("PUT", X, x_amz_copy_source=source)) == expected
    assert bucket.paths() == []


def test_deletes(bucket: Bucket) -> None:
    for path in ("a", "b", "c/d", "e&amp;f"):
        bucket.put(f"main/{path}", b"1")
    assert bucket("DELETE", "/lake/main/a").status == 204
    assert bucket("DELETE", "/lake/main/a").status == 204
    bucket.run(bucket.engine.branches.create("lake", "dev", "main"))
    bucket.put("dev/x", b"1")
    body = delete_xml("main/b", "main/c/d", "dev/x", "main/none", "main/e&amp;amp;f", "main", "main/")
    answer = bucket("POST", "/lake?delete", body)
    assert answer.status == 200
    assert texts(xml(answer), "Deleted/Key")[:2] == ["main/b", "main/c/d"]
    assert len(texts(xml(answer), "Deleted/Key")) == 7
    assert bucket.paths() == bucket.paths("dev") == []
    assert bucket.run(bucket.engine.branches.get("lake", "main")).name == "main"


def test_deletes_say_what_failed_and_quietly_nothing_else(bucket: Bucket) -> None:
    etag = bucket.put("main/a", b"1").headers["etag"]
    bucket.put("main/b", b"1")
    answer = xml(bucket("POST", "/lake?delete", delete_xml("main/b", "none/x", quiet=True)))
    assert texts(answer, "Deleted/Key") == []
    assert texts(answer, "Error/Key") == ["none/x"]
    assert texts(answer, "Error/Code") == ["NoSuchKey"]
    tagged = xml(bucket("POST", "/lake?delete", delete_xml("main/a", rest="<ETag>no</ETag>")))
    assert texts(tagged, "Error/Code") == ["PreconditionFailed"]
    tagged = xml(bucket("POST", "/lake?delete", delete_xml("main/a", rest=f"<ETag>{etag}</ETag>")))
    assert texts(tagged, "Deleted/Key") == ["main/a"]
    versioned = xml(bucket("POST", "/lake?delete", delete_xml("main/a", rest="<VersionId>1</VersionId>")))
    assert texts(versioned, "Error/Code") == ["NoSuchVersion"]


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"nonsense",
        b"<Delete/>",
        b"<Other><Object><Key>a</Key></Object></Other>",
        b"<Delete><Object></Object></Delete>",
        b"<Delete><Object><Key/></Object></Delete>",
        b"<Delete><Object><Key>a</Key><Key>b</Key></Object></Delete>",
        b"<Delete><Object><Key><a/></Key></Object></Delete>",
        b"<Delete><Object><Key>main/x</Key></Object>",
        b"<Delete><Object><Key>main/\x01</Key></Object></Delete>",
        b"<Delete><Object><Key>main/\xff</Key></Object></Delete>",
        b'<!DOCTYPE d [<!ENTITY x "main/x">]><Delete><Object><Key>&x;</Key></Object></Delete>',
        b'<!DOCTYPE d SYSTEM "file:///etc/passwd"><Delete><Object><Key>a</Key></Object></Delete>',
        '<?xml version="1.0" encoding="UTF-16"?><!DOCTYPE d><Delete/>'.encode("utf-16"),
        delete_xml(*(f"main/{number}" for number in range(1001))),
    ],
)
def test_invalid_documents_are_refused(bucket: Bucket, body: bytes) -> None:
    bucket.put("main/x", b"1")
    answer = bucket("POST", "/lake?delete", body)
    assert (answer.status, code(answer)) == (400, "MalformedXML")
    assert bucket.paths() == ["x"]


def test_a_document_has_a_limit(bucket: Bucket) -> None:
    assert code(bucket("POST", "/lake?delete", b"<Delete>" + b" " * (3 << 20))) == "EntityTooLarge"


def test_directories(bucket: Bucket) -> None:
    assert bucket("PUT", "/lake/main/").status == 200
    assert bucket("PUT", "/lake/main/dir/").status == 200
    assert bucket.paths() == ["dir/"]
    for target in ("/lake/main/", "/lake/main/dir/"):
        assert bucket("HEAD", target).status == 200
        assert bucket("GET", target).body == b""
    assert bucket("DELETE", "/lake/main/").status == 204
    assert bucket("HEAD", "/lake/main").status == 404
    assert bucket("HEAD", "/lake/none/").status == 404
    assert code(bucket("PUT", "/lake/main/", b"bytes")) == "InvalidArgument"
    assert code(bucket("PUT", "/lake/main", b"")) == "InvalidArgument"
    assert code(bucket("PUT", "/lake/none/")) == "NoSuchKey"


def test_refs_of_all_kinds_are_read_and_branches_and_workspaces_written(bucket: Bucket) -> None:
    bucket.put("main/x", b"old")
    commit = bucket.run(bucket.engine.commits.create("lake", "main", CommitRequest(committer="me", message="one")))
    bucket.run(bucket.engine.tags.create("lake", "v1.0", "main"))
    work = bucket.run(bucket.engine.workspaces.create("lake", WorkspaceRequest(ref="main", creator="me")))
    bucket.put("main/x", b"new")
    for ref, body in (("main", b"new"), ("v1.0", b"old"), (commit.id, b"old"), ("main@", b"old"), (work.name, b"old")):
        assert bucket("GET", f"/lake/{quote(ref)}/x").body == body, ref
    assert bucket("PUT", f"/lake/{quote(work.name)}/y", b"of the workspace").status == 200
    assert bucket("GET", f"/lake/{quote(work.name)}/y").body == b"of the workspace"
    assert bucket.paths() == ["x"]
    for ref in ("v1.0", commit.id, "main@", "main~1", "none"):
        ref = quote(ref)  # noqa: PLW2901
        answer = bucket("PUT", f"/lake/{ref}/x", b"never")
        assert answer.status in (400, 404), ref
        assert bucket("DELETE", f"/lake/{ref}/x").status in (400, 404)
    for ref in ("v1.0", commit.id):
        answer = bucket("PUT", f"/lake/{ref}/x", b"never")
        assert (answer.status, code(answer)) == (404, "NoSuchKey")
        assert "tags and commits are read-only" in text(xml(answer), "Message")
    assert bucket("GET", "/lake/v1.0/x").body == b"old"


def test_buckets_that_are_bound_to_a_ref(bucket: Bucket) -> None:
    bucket.put("main/dir/x", b"1")
    for name in ("lake.main", "bound"):
        assert bucket("GET", f"/{name}/dir/x").body == b"1"
        assert texts(xml(bucket("GET", f"/{name}?list-type=2")), "Contents/Key") == ["dir/x"]
        assert bucket("HEAD", f"/{name}").status == 200
    assert bucket("GET", "/dir/x", host=f"lake.main.{HOST}").body == b"1"
    assert code(bucket("GET", "/lake.none?list-type=2")) == "NoSuchKey"
    assert bucket("HEAD", "/lake.none").status == 404
    assert bucket("PUT", "/lake.main/y", b"2").status == 200
    assert bucket("GET", "/lake/main/y").body == b"2"


def test_protected_and_read_only(bucket: Bucket) -> None:
    bucket.run(bucket.engine.protection.replace("lake", [Rule("main")]))
    for answer in (bucket("PUT", X, b"1"), bucket("DELETE", X), bucket("PUT", X, x_amz_copy_source="/lake/main/y")):
        assert answer.status in (403, 404)
    assert code(bucket("PUT", X, b"1")) == "AccessDenied"
    assert texts(xml(bucket("POST", "/lake?delete", delete_xml("main/x"))), "Error/Code") == ["AccessDenied"]


def test_unsupported_headers_are_refused(bucket: Bucket) -> None:
    for headers, expected in (
        ({"x_amz_server_side_encryption": "AES256"}, "NotImplemented"),
        ({"x_amz_server_side_encryption_customer_algorithm": "AES256"}, "NotImplemented"),
        ({"x_amz_tagging": "a=b"}, "NotImplemented"),
        ({"x_amz_object_lock_mode": "COMPLIANCE"}, "NotImplemented"),
        ({"x_amz_website_redirect_location": "/"}, "NotImplemented"),
        ({"x_amz_acl": "public-read"}, "AccessControlListNotSupported"),
        ({"x_amz_grant_read": "id=1"}, "AccessControlListNotSupported"),
    ):
        assert code(bucket("PUT", X, b"1", **headers)) == expected
    assert bucket.paths() == []


def test_keys_that_cannot_be(bucket: Bucket) -> None:
    assert code(bucket("PUT", "/lake/main/%ff", b"1")) == "InvalidURI"
    assert code(bucket("GET", "/lake/main/x?prefix=%ff")) == "InvalidURI"
    assert code(bucket("PUT", "/lake/main/" + "k" * 1025, b"1")) == "KeyTooLongError"
    assert bucket("PUT", "/lake/main/" + "k" * 1024, b"1").status == 200
    assert bucket("GET", "/lake/main/" + "k" * 1024).body == b"1"


@pytest.mark.parametrize("size", [1000, 200_000])
def test_missing_or_truncated_data_is_never_sent_as_complete(bucket: Bucket, size: int) -> None:
    """Small objects are read whole, larger ones as a stream."""
    bucket.put("main/x", bytes(size))
    entry = bucket.run(bucket.engine.objects.stat("lake", "main", "x"))
    store = bucket.engine.context.stores.open("mem://lake")
    assert bucket("GET", X, range="bytes=0-9").body == bytes(10)
    bucket.run(store.put(entry.physical_address, bytes(size - 1)))
    cut = bucket("GET", X)
    if size < SMALL:
        assert (cut.status, code(cut)) == (500, "InternalError")
        assert b"stored data is damaged" in cut.body
    else:
        assert (cut.headers["content-length"], len(cut.body)) == (str(size), size - 1)  # and the connection is cut
    assert bucket("GET", X, range="bytes=0-9").body == bytes(10)
    bucket.run(store.delete([entry.physical_address]))
    assert bucket("GET", X).status == 404
    assert bucket("HEAD", X).status == 200


def test_a_read_of_s3_is_never_redirected(bucket: Bucket) -> None:
    bucket.put("main/x", b"1")
    answer = bucket("GET", X, user_agent="client s3RedirectionSupport")
    assert (answer.status, answer.body) == (200, b"1")
