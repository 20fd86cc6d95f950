"""Buckets and listings over the gateway, and what it answers of everything that it does not keep."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable
from typing import Any
from urllib.parse import quote, unquote

import pytest
from lakebed_server.s3.operations import canned
from lakebed_server.s3.responses.errors import CODES
from lakebed_server.s3.vocabulary import STATUS
from lakebed_wire.operations import ERROR_KINDS

from tests.server.s3.gatewaying import HOST, Bucket, code, text, texts, xml
from tests.support.seeds import seed_of_the_engine
from tests.support.sizes import sized

Page = tuple[list[str], list[str], bool, str]


def v1(bucket: Bucket, marker: str, **query: str) -> Page:
    root = xml(bucket("GET", "/lake?" + words({"marker": marker, **query})))
    keys, prefixes = rows(root)
    more = text(root, "IsTruncated") == "true"
    following = unquote(root.findtext("NextMarker") or "") or (keys[-1] if keys else "")
    return keys, prefixes, more, following


def v2(bucket: Bucket, token: str, **query: str) -> Page:
    start = {"continuation-token": token} if token else {}
    root = xml(bucket("GET", "/lake?" + words({"list-type": "2", **start, **query})))
    keys, prefixes = rows(root)
    assert int(text(root, "KeyCount")) == len(keys) + len(prefixes)
    return keys, prefixes, text(root, "IsTruncated") == "true", root.findtext("NextContinuationToken") or ""


def versions(bucket: Bucket, marker: str, **query: str) -> Page:
    root = xml(bucket("GET", "/lake?" + words({"versions": "", "key-marker": marker, **query})))
    keys, prefixes = rows(root)
    return keys, prefixes, text(root, "IsTruncated") == "true", unquote(root.findtext("NextKeyMarker") or "")


def words(query: dict[str, str]) -> str:
    return "&".join(f"{name}={quote(value, safe='')}" for name, value in query.items() if value or name == "versions")


def rows(root: Any) -> tuple[list[str], list[str]]:
    decode = unquote if root.findtext("EncodingType") == "url" else str
    keys = [decode(key) for key in texts(root, "Contents/Key") + texts(root, "Version/Key")]
    return keys, [decode(prefix) for prefix in texts(root, "CommonPrefixes/Prefix")]


def everything(ask: Callable[..., Page], bucket: Bucket, **query: str) -> tuple[list[str], list[str]]:
    """All pages. Each but the last is full, and none says what another said."""
    keys: list[str] = []
    prefixes: list[str] = []
    at, more = "", True
    while more:
        before = at
        found, groups, more, at = ask(bucket, before, **query)
        assert not more or at != before, "a page that leads to itself"
        assert not more or len(found) + len(groups) == int(query.get("max-keys", "1000"))
        keys, prefixes = keys + found, prefixes + groups
    return keys, prefixes


def expected(all_keys: list[str], prefix: str, delimiter: str) -> tuple[list[str], list[str]]:
    keys, prefixes = [], set()
    for key in all_keys:
        if key.startswith(prefix):
            at = key.find(delimiter, len(prefix)) if delimiter else -1
            if at < 0:
                keys.append(key)
            else:
                prefixes.add(key[: at + len(delimiter)])
    return sorted(keys, key=str.encode), sorted(prefixes, key=str.encode)


@pytest.mark.medium
@pytest.mark.parametrize("ask", [v1, v2, versions])
def test_listings_match_the_dictionary_model(bucket: Bucket, ask: Callable[..., Page]) -> None:
    dice = random.Random(3)
    branches = ["a", "a-b", "a-b-c", "a0", "ab", "main", "main-2"]
    for branch in branches:
        if branch != "main":
            bucket.run(bucket.engine.branches.create("lake", branch, "main"))
    pieces = ["x", "y", "/", "//", " ", "+", "%", "&<", "ü", "🙂", "-", "."]
    keys = {
        f"{branch}/" + "".join(dice.choice(pieces) for _ in range(dice.randrange(1, 6)))
        for branch in branches
        for _ in range(12)
    }
    for key in sorted(keys):
        bucket.put(key, b"1")
    everywhere = sorted(keys)
    prefixes = ("", "a", "a-", "main", "main/", "a/", "a-b/x", "main/ü", "none/", "none", "main/x/", "/")
    delimiters = ("", "/") if ask is versions else ("", "/", "x", "//", "ü", "b/", "-")
    pairs = list(itertools.product(prefixes, delimiters))
    for prefix, delimiter in random.Random(f"{ask.__name__} {seed_of_the_engine()}").sample(pairs, sized(len(pairs))):
        for size, encoding in (("1", ""), ("3", ""), ("3", "url"), ("1000", "")):
            if size == "1" and not prefix:
                continue
            query = {"prefix": prefix, "delimiter": delimiter, "max-keys": size, "encoding-type": encoding}
            got = everything(ask, bucket, **query)
            assert got == expected(everywhere, prefix, delimiter), query


def test_a_bucket_shows_its_branches_and_tags_as_directories(bucket: Bucket) -> None:
    for name in ("a", "a-b", "b"):
        bucket.run(bucket.engine.branches.create("lake", name, "main"))
    for name in ("a.1", "v1", "a-a"):
        bucket.run(bucket.engine.tags.create("lake", name, "main"))
    everyone = ["a-a/", "a-b/", "a.1/", "a/", "b/", "main/", "v1/"]
    for size in ("1", "2", "1000"):
        assert everything(v2, bucket, delimiter="/", **{"max-keys": size}) == ([], everyone)
        assert everything(v1, bucket, delimiter="/", prefix="a", **{"max-keys": size}) == ([], everyone[:4])
    assert v2(bucket, "", delimiter="/", **{"start-after": "a.1/"})[1] == everyone[3:]
    assert v2(bucket, "", delimiter="/", **{"start-after": "a-b"})[1] == everyone[1:]


def test_a_listing_starts_after_a_key(bucket: Bucket) -> None:
    for key in ("main/a", "main/b", "main/c"):
        bucket.put(key)
    bucket.run(bucket.engine.branches.create("lake", "zoo", "main"))
    bucket.put("zoo/a")
    for prefix in ("", "main/"):
        rest = ["zoo/a"] if not prefix else []
        assert v2(bucket, "", prefix=prefix, **{"start-after": "main/a"})[0] == ["main/b", "main/c", *rest]
        assert v2(bucket, "", prefix=prefix, **{"start-after": "main/c"})[0] == rest
        assert v2(bucket, "", prefix=prefix, **{"start-after": "a"})[0] == ["main/a", "main/b", "main/c", *rest]
        assert v2(bucket, "", prefix=prefix, **{"start-after": "zoo/a"})[0] == []
    root = xml(bucket("GET", "/lake?list-type=2&start-after=main%2Fa&max-keys=1&fetch-owner=true"))
    assert text(root, "StartAfter") == "main/a"
    assert texts(root, "Contents/Owner/ID") == ["lakebed"]


def test_listing_row_has_all_fields(bucket: Bucket) -> None:
    etag = bucket.put("main/a&b", b"12345").headers["etag"]
    root = xml(bucket("GET", "/lake?list-type=2&prefix=main%2F"))
    assert (text(root, "Contents/Key"), text(root, "Contents/Size")) == ("main/a&b", "5")
    assert text(root, "Contents/ETag") == etag
    assert text(root, "Contents/StorageClass") == "STANDARD"
    assert text(root, "Contents/LastModified").endswith(".000Z")
    assert (text(root, "Name"), text(root, "Prefix"), text(root, "MaxKeys")) == ("lake", "main/", "1000")


def test_sizes_of_pages(bucket: Bucket) -> None:
    bucket.put("main/x")
    none = xml(bucket("GET", "/lake?list-type=2&max-keys=0"))
    assert (text(none, "KeyCount"), text(none, "IsTruncated")) == ("0", "false")
    assert text(xml(bucket("GET", "/lake?max-keys=5000")), "MaxKeys") == "5000"
    for bad in ("-1", "x", "99999999999", "1.5"):
        assert code(bucket("GET", f"/lake?max-keys={bad}")) == "InvalidArgument"
    for bad in ("xx", "%21%21", "%C3%BC", "_w%3D%3D"):
        assert code(bucket("GET", f"/lake?list-type=2&continuation-token={bad}")) == "InvalidArgument"
    assert code(bucket("GET", "/lake?encoding-type=base64")) == "InvalidArgument"
    assert code(bucket("GET", "/none?list-type=2")) == "NoSuchBucket"
    assert code(bucket("GET", "/none?list-type=2&prefix=main%2F")) == "NoSuchBucket"
    assert code(bucket("GET", "/none?max-keys=0")) == "NoSuchBucket"


def test_listing_refuses_keys_that_xml_cannot_hold_unless_url_encoded(bucket: Bucket) -> None:
    assert bucket("PUT", "/lake/main/a%01b", b"1").status == 200
    assert v2(bucket, "", prefix="main/", **{"encoding-type": "url"})[0] == ["main/a\x01b"]
    answer = bucket("GET", "/lake?list-type=2&prefix=main%2F")
    assert code(answer) == "InvalidArgument"
    assert "encoding-type=url" in text(xml(answer), "Message")
    assert bucket("PUT", "/lake/main/a%0D%0A%09b", b"1").status == 200
    assert v2(bucket, "", prefix="main/a\r")[0] == ["main/a\r\n\tb"]


def test_buckets_are_repositories(bucket: Bucket) -> None:
    for number in range(3):
        bucket.run(bucket.engine.repositories.create(f"repo-{number}", f"mem://repo-{number}"))
    assert texts(xml(bucket("GET", "/")), "Buckets/Bucket/Name") == ["lake", "repo-0", "repo-1", "repo-2"]
    page = xml(bucket("GET", "/?max-buckets=2&prefix=repo"))
    assert texts(page, "Buckets/Bucket/Name") == ["repo-0", "repo-1"]
    rest = xml(bucket("GET", f"/?prefix=repo&continuation-token={text(page, 'ContinuationToken')}"))
    assert texts(rest, "Buckets/Bucket/Name") == ["repo-2"]
    assert rest.find("ContinuationToken") is None
    head = bucket("HEAD", "/lake")
    assert (head.status, head.headers["x-amz-bucket-region"]) == (200, "us-east-1")
    missing = bucket("HEAD", "/none")
    assert (missing.status, missing.body) == (404, b"")
    assert xml(bucket("GET", "/lake?location")).text is None


def test_buckets_are_made_and_deleted_where_that_is_allowed() -> None:
    with_namespace = Bucket(namespace="mem://buckets/", region="eu-west-1")
    try:
        body = b"<CreateBucketConfiguration><LocationConstraint>x</LocationConstraint></CreateBucketConfiguration>"
        made = with_namespace("PUT", "/made", body)
        assert (made.status, made.headers["location"]) == (200, "/made")
        again = with_namespace("PUT", "/made")
        assert (again.status, code(again)) == (409, "BucketAlreadyOwnedByYou")
        assert text(xml(with_namespace("GET", "/made?location")), ".") == "eu-west-1"
        assert with_namespace("PUT", "/made/main/x", b"1").status == 200
        full = with_namespace("DELETE", "/made")
        assert (full.status, code(full)) == (409, "BucketNotEmpty")
        with_namespace("DELETE", "/made/main/x")
        assert with_namespace("DELETE", "/made").status == 204
        assert with_namespace("HEAD", "/made").status == 404
        assert with_namespace("PUT", "/made").status == 200
        legacy = with_namespace.engine.context.stores.open("mem://buckets/legacy")
        with_namespace.run(legacy.put("data/theirs", b"x"))
        assert with_namespace("PUT", "/legacy").status == 200
        place = with_namespace.run(with_namespace.engine.repositories.get("legacy")).storage_namespace
        assert place.startswith("mem://buckets/legacy-"), "a namespace of its own, not the one that is in use"
        assert code(with_namespace("PUT", "/lake.dev")) == "InvalidBucketName"
        assert code(with_namespace("PUT", "/UPPER")) == "InvalidArgument"
        assert code(with_namespace("PUT", "/bad", b"<!DOCTYPE x><a/>")) == "MalformedXML"
    finally:
        with_namespace.close()


def test_buckets_are_not_made_elsewhere(bucket: Bucket) -> None:
    assert code(bucket("PUT", "/made")) == "NotImplemented"
    assert code(bucket("DELETE", "/lake")) == "NotImplemented"
    assert code(bucket("PUT", "/lake")) == "BucketAlreadyOwnedByYou"


def test_unsupported_subresources_have_fixed_answers(bucket: Bucket) -> None:
    bucket.put("main/x")
    for name in canned.DOCUMENTS:
        assert bucket("GET", f"/lake?{name}").status == 200
        assert code(bucket("GET", f"/none?{name}")) == "NoSuchBucket"
    for name, (wanted, _) in canned.ABSENT.items():
        answer = bucket("GET", f"/lake?{name}")
        assert (answer.status, code(answer)) == (404, wanted)
    for name in canned.OF_OBJECTS:
        assert bucket("GET", f"/lake/main/x?{name}").status == 200
        assert code(bucket("GET", f"/lake/main/none?{name}")) == "NoSuchKey"
    for name in (*canned.DOCUMENTS, *canned.ABSENT, *canned.NEVER):
        for target in ("/lake", "/lake/main/x"):
            answer = bucket("PUT", f"{target}?{name}", b"1")
            assert (answer.status, code(answer)) == (501, "NotImplemented")
            assert text(xml(answer), "Message").endswith(f"not implemented: PUT ?{name}.")
    assert bucket("GET", "/lake/main/x").body == b""
    assert code(bucket("POST", "/lake/main/x")) == "MethodNotAllowed"
    assert code(bucket("PATCH", "/lake/main/x")) == "MethodNotAllowed"


def test_attributes(bucket: Bucket) -> None:
    etag = bucket.put("main/x", b"12345").headers["etag"]
    root = xml(bucket("GET", "/lake/main/x?attributes", x_amz_object_attributes="ETag,ObjectSize,StorageClass"))
    assert (text(root, "ETag"), text(root, "ObjectSize")) == (etag.strip('"'), "5")


def test_bucket_in_the_host_name(bucket: Bucket) -> None:
    bucket.put("main/x", b"1")
    for host, target in ((f"lake.{HOST}", "/main/x"), (f"LAKE.{HOST}:8000", "/main/x"), (f"lake.main.{HOST}", "/x")):
        headers = bucket.sign("GET", target, {"host": host})
        assert bucket.send("GET", target, headers).body == b"1"
    assert code(bucket.send("GET", "/main/x", {"host": f"lake.{HOST}"})) == "AccessDenied"


def test_every_kind_of_error_has_a_code_with_a_status() -> None:
    assert set(CODES) == set(ERROR_KINDS)
    assert set(CODES.values()) <= set(STATUS)


def test_an_error_names_the_request_and_the_resource_and_head_has_no_body(bucket: Bucket) -> None:
    answer = bucket("GET", "/lake/main/a%3Cb", x_request_id="mine-1")
    root = xml(answer)
    assert (text(root, "RequestId"), answer.headers["x-amz-request-id"]) == ("mine-1", "mine-1")
    assert text(root, "Resource") == "/lake/main/a%3Cb"
    assert answer.headers["content-type"] == "application/xml"
    head = bucket("HEAD", "/lake/main/none")
    assert (head.status, head.body) == (404, b"")


def test_internal_error_does_not_reveal_its_message(bucket: Bucket, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> Any:
        raise RuntimeError("a secret of /this/machine")

    monkeypatch.setattr(bucket.engine.objects, "find", fail)
    answer = bucket("GET", "/lake/main/x")
    assert (answer.status, code(answer)) == (500, "InternalError")
    assert b"secret" not in answer.body


def test_a_client_with_the_address_of_the_rest_api_gets_a_hint(bucket: Bucket) -> None:
    requests = (("GET", "/api/v1"), ("GET", "/api/v1/lake?list-type=2"), ("PUT", "/api/v1/lake/main/x"))
    for method, target in requests:
        answer = bucket(method, target)
        assert (answer.status, code(answer)) == (404, "NoSuchBucket")
        assert "/api/v1 is the address of the REST API" in answer.body.decode()
    bucket.run(bucket.engine.repositories.create("api", "mem://api"))
    assert code(bucket("GET", "/api/v1/x")) == "NoSuchKey"
