"""Signature Version 2: Amazon's own examples, botocore as the other side, and what must be refused."""

from __future__ import annotations

import base64
import hmac
from collections.abc import Iterator
from unittest import mock
from urllib.parse import parse_qs, quote, urlsplit

import pytest
from botocore import auth as botocore_auth  # type: ignore[import-untyped]
from botocore.auth import HmacV1Auth, HmacV1QueryAuth  # type: ignore[import-untyped]
from botocore.awsrequest import AWSRequest  # type: ignore[import-untyped]
from botocore.credentials import Credentials  # type: ignore[import-untyped]
from lakebed_server.s3.config import Alias

from tests.server.s3.amazon_keys import AMAZON_KEY, AMAZON_SECRET, ODD_KEYS
from tests.server.s3.gatewaying import HOST, NOW, Bucket, Headers, code
from tests.server.support import KEY_ID, SECRET

AMAZON_HOST = "awsexamplebucket1.us-west-1.s3.amazonaws.com"
AMAZON_NOW = 1175024202  # Tue, 27 Mar 2007 19:36:42 +0000
DATE = "Tue, 14 Nov 2023 22:13:20 GMT"


@pytest.fixture
def amazon() -> Iterator[Bucket]:
    """The bucket and the time of Amazon's examples."""
    made = Bucket(domains=("us-west-1.s3.amazonaws.com",), aliases={"awsexamplebucket1": Alias("lake", "main")})
    made.now = AMAZON_NOW
    made.run(made.gateway._services.authenticator.store.ensure_admin(AMAZON_KEY, AMAZON_SECRET, AMAZON_NOW))
    yield made
    made.close()


@pytest.mark.parametrize(
    ("target", "date", "signature", "expected"),
    [
        ("/photos/puppy.jpg", "Tue, 27 Mar 2007 19:36:42 +0000", "qgk2+6Sv9/oM7G3qLEjTH1a1l1g=", 404),
        (
            "/?prefix=photos&max-keys=50&marker=puppy",
            "Tue, 27 Mar 2007 19:42:41 +0000",
            "m0WP8eCtspQl5Ahe6L1SozdX9YA=",
            200,
        ),
        ("/?acl", "Tue, 27 Mar 2007 19:44:46 +0000", "82ZHiFIjc+WbcwFKGUVEQspPn+0=", 200),
    ],
)
def test_amazons_examples(amazon: Bucket, target: str, date: str, signature: str, expected: int) -> None:
    headers = {"host": AMAZON_HOST, "date": date, "authorization": f"AWS {AMAZON_KEY}:{signature}"}
    assert amazon.send("GET", target, headers).status == expected
    swapped = signature.swapcase()
    refused = amazon.send("GET", target, {**headers, "authorization": f"AWS {AMAZON_KEY}:{swapped}"})
    assert (refused.status, code(refused)) == (403, "SignatureDoesNotMatch")


def sign(method: str, target: str, headers: Headers, date: str = DATE) -> Headers:
    request = AWSRequest(method, f"http://{HOST}{target}", headers={"host": HOST, **headers})
    request.auth_path = urlsplit(target).path
    with mock.patch.object(HmacV1Auth, "_get_date", return_value=date):
        HmacV1Auth(Credentials(KEY_ID, SECRET)).add_auth(request)
    return {name: str(value) for name, value in request.headers.items()}


def presigned(method: str, target: str, expires: int = 60) -> str:
    request = AWSRequest(method, f"http://{HOST}{target}")
    request.auth_path = urlsplit(target).path
    with mock.patch.object(botocore_auth.time, "time", return_value=NOW):
        HmacV1QueryAuth(Credentials(KEY_ID, SECRET), expires=expires).add_auth(request)
    return str(request.url).removeprefix(f"http://{HOST}")


@pytest.mark.parametrize("key", ODD_KEYS)
def test_keys_of_all_kinds(bucket: Bucket, key: str) -> None:
    target = f"/lake/{quote(key, safe='/~')}"
    headers = sign("PUT", target, {"content-type": "text/x", "x-amz-meta-b": "2", "x-amz-meta-a": "1  2"})
    assert bucket.send("PUT", target, headers, b"content").status == 200
    assert bucket.paths() == [key.removeprefix("main/")]
    assert bucket.send("GET", target, sign("GET", target, {})).headers["x-amz-meta-b"] == "2"
    assert bucket.send("GET", presigned("GET", target), {"host": HOST}).body == b"content"


def test_the_parts_of_a_query_that_are_signed(bucket: Bucket) -> None:
    bucket.put("main/x")
    for query in ("acl", "response-content-type=a%20b&response-expires=x", "prefix=a&delete", "x-id=GetObject"):
        answer = bucket.send("GET", f"/lake/main/x?{query}", sign("GET", f"/lake/main/x?{query}", {}))
        assert answer.status in (200, 405), (query, answer.body)
    headers = sign("GET", "/lake/main/x", {})
    assert code(bucket.send("GET", "/lake/main/x?acl", headers)) == "SignatureDoesNotMatch"


def test_a_bucket_may_be_signed_with_a_slash_that_is_not_sent(bucket: Bucket) -> None:
    assert bucket.send("GET", "/lake?acl", sign("GET", "/lake/?acl", {})).status == 200
    assert code(bucket.send("GET", "/lake/main?acl", sign("GET", "/lake/main/?acl", {}))) == "SignatureDoesNotMatch"


def test_changed_headers_break_the_signature(bucket: Bucket) -> None:
    headers = sign("PUT", "/lake/main/x", {"content-type": "a/b", "x-amz-meta-a": "1"})
    for name, value in (("content-type", "a/c"), ("x-amz-meta-a", "2"), ("x-amz-meta-b", "2"), ("content-md5", "x")):
        assert code(bucket.send("PUT", "/lake/main/x", {**headers, name: value})) == "SignatureDoesNotMatch"
    assert code(bucket.send("PUT", "/lake/main/y", headers)) == "SignatureDoesNotMatch"
    assert code(bucket.send("DELETE", "/lake/main/x", headers)) == "SignatureDoesNotMatch"
    assert bucket.paths() == []


def test_times(bucket: Bucket) -> None:
    headers = sign("GET", "/lake", {})
    assert bucket.send("GET", "/lake", headers).status == 200
    # botocore never sends x-amz-date with Version 2: then the line of Date is empty
    digest = hmac.digest(SECRET.encode(), f"GET\n\n\n\nx-amz-date:{DATE}\n/lake".encode(), "sha1")
    amazon_date = {"authorization": f"AWS {KEY_ID}:{base64.b64encode(digest).decode()}", "x-amz-date": DATE}
    assert (
        bucket.send("GET", "/lake", {"host": HOST, "date": "Mon, 13 Nov 2023 00:00:00 GMT", **amazon_date}).status
        == 200
    )
    url = presigned("GET", "/lake")
    assert parse_qs(urlsplit(url).query)["Expires"] == [str(NOW + 60)]
    bucket.now = NOW + 61
    assert code(bucket.send("GET", url, {"host": HOST})) == "AccessDenied"
    bucket.now = NOW + 901
    assert code(bucket.send("GET", "/lake", headers)) == "RequestTimeTooSkewed"
    bad = {name: value for name, value in headers.items() if name.lower() != "date"}
    assert code(bucket.send("GET", "/lake", bad)) == "AccessDenied"
    assert code(bucket.send("GET", "/lake", {**bad, "date": "Tue, 99 Foo 2023"})) == "AccessDenied"


@pytest.mark.parametrize("query", ["Expires=1&Signature=x", "Expires=x&Signature=y", "Expires=9999999999", ""])
def test_urls_that_are_not_signed(bucket: Bucket, query: str) -> None:
    answer = bucket.send("GET", f"/lake?AWSAccessKeyId={KEY_ID}&{query}", {"host": HOST})
    assert (answer.status, code(answer)) == (403, "AccessDenied")


def test_a_url_is_good_for_a_week_at_most(bucket: Bucket) -> None:
    week = 7 * 24 * 3600
    for ahead, expected in ((week, 200), (week + 1, 403), (10**13, 403)):
        answer = bucket.send("GET", presigned("GET", "/lake", ahead), {"host": HOST})
        assert answer.status == expected, ahead
    assert code(answer) == "AccessDenied"
    assert b"at most 604800 seconds from now" in answer.body


def test_version_2_can_be_turned_off() -> None:
    bucket = Bucket(signature_v2=False)
    try:
        url = bucket.send("GET", presigned("GET", "/lake"), {"host": HOST})
        head = bucket.send("GET", "/lake", sign("GET", "/lake", {}))
        for answer in (url, head):
            assert (answer.status, code(answer)) == (400, "InvalidRequest")
            assert b"use AWS4-HMAC-SHA256" in answer.body
        assert bucket("GET", "/lake").status == 200
    finally:
        bucket.close()


def test_bodies_of_version_2_count_as_unsigned() -> None:
    bucket = Bucket(unsigned_payload="https")
    try:
        headers = sign("PUT", "/lake/main/x", {})
        assert code(bucket.send("PUT", "/lake/main/x", headers, b"1")) == "AccessDenied"
        assert bucket.send("PUT", "/lake/main/x", {**headers, "x-forwarded-proto": "https"}, b"1").status == 200
        assert bucket.send("GET", "/lake/main/x", sign("GET", "/lake/main/x", {})).body == b"1"
    finally:
        bucket.close()


@pytest.mark.parametrize(
    ("sent", "signed"),
    [("/lake?location", "location"), ("/lake?location=", "location"), ("/lake?location=", "location=")],
)
def test_a_sub_resource_without_a_value_may_be_signed_in_both_forms(bucket: Bucket, sent: str, signed: str) -> None:
    lines = f"GET\n\n\n{DATE}\n/lake?{signed}"
    signature = base64.b64encode(hmac.digest(SECRET.encode(), lines.encode(), "sha1")).decode()
    headers = {"host": HOST, "date": DATE, "authorization": f"AWS {KEY_ID}:{signature}"}
    assert bucket.send("GET", sent, headers).status == 200
    other = f"GET\n\n\n{DATE}\n/lake?{signed}x"
    wrong = base64.b64encode(hmac.digest(SECRET.encode(), other.encode(), "sha1")).decode()
    assert bucket.send("GET", sent, {**headers, "authorization": f"AWS {KEY_ID}:{wrong}"}).status == 403
