"""Signature Version 4: Amazon's own examples, botocore as the other side, and everything that must be refused."""

from __future__ import annotations

import hashlib
import random
from typing import Any
from unittest import mock
from urllib.parse import quote

import pytest
from botocore.auth import S3SigV4QueryAuth  # type: ignore[import-untyped]
from botocore.awsrequest import AWSRequest  # type: ignore[import-untyped]
from botocore.credentials import Credentials  # type: ignore[import-untyped]
from lakebed_server.auth.guesses import Guesses
from lakebed_server.s3.requests import dates
from lakebed_server.s3.signatures.keys import signing_key

from tests.server.s3.amazon_keys import AMAZON_KEY, ODD_KEYS
from tests.server.s3.gatewaying import EMPTY, HOST, NOW, UNSIGNED, Bucket, Headers, code, frozen, text, xml
from tests.server.support import KEY_ID, SECRET

AMAZON_HOST = "examplebucket.s3.amazonaws.com"


def example(headers: Headers, signature: str, payload: str = EMPTY) -> Headers:
    """The headers of one of Amazon's examples."""
    every = {"host": AMAZON_HOST, "x-amz-date": "20130524T000000Z", "x-amz-content-sha256": payload, **headers}
    credential = f"{AMAZON_KEY}/20130524/us-east-1/s3/aws4_request"
    signed = ";".join(sorted(every))
    every["authorization"] = f"AWS4-HMAC-SHA256 Credential={credential},SignedHeaders={signed},Signature={signature}"
    return every


def test_amazons_examples_of_the_authorization_header(amazon: Bucket) -> None:
    body = b"Welcome to Amazon S3."
    put = example(
        {"date": "Fri, 24 May 2013 00:00:00 GMT", "x-amz-storage-class": "REDUCED_REDUNDANCY"},
        "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd",
        hashlib.sha256(body).hexdigest(),
    )
    assert amazon.send("PUT", "/test$file.text", put, body).status == 200
    assert amazon.paths() == ["test$file.text"]
    got = example({"range": "bytes=0-9"}, "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41")
    assert code(amazon.send("GET", "/test.txt", got)) == "NoSuchKey"
    life = example({}, "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543")
    assert code(amazon.send("GET", "/?lifecycle", life)) == "NoSuchLifecycleConfiguration"
    page = example({}, "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7")
    assert amazon.send("GET", "/?max-keys=2&prefix=J", page).status == 200


def test_amazons_example_of_a_presigned_url(amazon: Bucket) -> None:
    query = (
        "X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F20130524%2Fus-east-1%2Fs3%2F"
        "aws4_request&X-Amz-Date=20130524T000000Z&X-Amz-Expires=86400&X-Amz-SignedHeaders=host&X-Amz-Signature="
        "aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404"
    )
    amazon.now += 86400
    assert code(amazon.send("GET", f"/test.txt?{query}", {"host": AMAZON_HOST})) == "NoSuchKey"
    amazon.now += 1
    late = amazon.send("GET", f"/test.txt?{query}", {"host": AMAZON_HOST})
    assert (late.status, code(late), text(xml(late), "Message")) == (403, "AccessDenied", "Request has expired")


@pytest.mark.parametrize("key", ODD_KEYS)
def test_a_key_is_signed_and_stored_as_it_is(bucket: Bucket, key: str) -> None:
    target = f"/lake/{quote(key, safe='/~')}"
    assert bucket("PUT", target, b"content").status == 200
    assert bucket.paths() == [key.removeprefix("main/")]
    assert bucket("GET", target).body == b"content"
    url = presigned(bucket, "GET", target)
    assert bucket.send("GET", url, {"host": HOST}).body == b"content"


def test_a_path_may_be_less_encoded_than_what_was_signed(bucket: Bucket) -> None:
    bucket.put("main/a(1)'b+c")
    headers = bucket.sign("GET", "/lake/main/a%281%29%27b%2Bc", {"host": HOST})
    assert bucket.send("GET", "/lake/main/a(1)'b+c", headers).status == 200


def presigned(bucket: Bucket, method: str, target: str, expires: int = 60, payload: str = "") -> str:
    """A signed URL. `payload`: the hash of the body, which the URL then states."""
    stated = f"?X-Amz-Content-Sha256={payload}" if payload else ""
    request = AWSRequest(method, f"http://{HOST}{target}{stated}")
    signer = S3SigV4QueryAuth(Credentials(KEY_ID, SECRET), "s3", "eu-west-1", expires=expires)
    with frozen(bucket.now), mock.patch.object(signer, "payload", return_value=payload or UNSIGNED):
        signer.add_auth(request)
    return str(request.url).removeprefix(f"http://{HOST}")


def test_queries_of_all_kinds_are_signed(bucket: Bucket) -> None:
    bucket.put("main/a b", b"1")
    for query in ("list-type=2&prefix=main%2Fa%20b&delimiter=%2F", "delete&acl", "acl=", "prefix=%C3%BC%2B&marker="):
        answer = bucket("GET", f"/lake?{query}")
        assert answer.status != 403, (query, answer.body)
    target = presigned(bucket, "GET", "/lake/main/a%20b?response-content-type=text%2Fx%3B%20a%3Db")
    assert bucket.send("GET", target, {"host": HOST}).headers["content-type"] == "text/x; a=b"


def test_white_space_in_headers_is_signed_as_one_space(bucket: Bucket) -> None:
    assert bucket("PUT", "/lake/main/x", x_amz_meta_text="a   b \t c ").status == 200


def test_any_flipped_bit_is_refused(bucket: Bucket) -> None:
    body = b"some content"
    target = "/lake/main/some%20key?x-id=PutObject"
    headers = bucket.sign(
        "PUT",
        target,
        {"host": HOST, "content-type": "text/plain", "x-amz-meta-color": "blue"},
        hashlib.sha256(body).hexdigest(),
    )
    assert bucket.send("PUT", target, headers, body).status == 200
    bucket.run(bucket.engine.objects.delete("lake", "main", "some key"))
    dice = random.Random(7)
    tried = 0
    for where in ("path", "query", "authorization", "x-amz-date", "content-type", "x-amz-meta-color", "body", "sha"):
        for _ in range(12):
            bucket.gateway._services.authenticator.guesses = Guesses()  # each try is the first wrong signature
            path, _, query = target.partition("?")
            changed, sent = dict(headers), body
            if where == "path":
                path = flipped(path, dice, 6)
            elif where == "query":
                query = flipped(query, dice)
            elif where == "body":
                sent = flipped(body.decode(), dice).encode("latin-1")
            else:
                name = next(
                    one for one in changed if one.lower() == ("x-amz-content-sha256" if where == "sha" else where)
                )
                changed[name] = flipped(changed[name], dice)
            try:
                f"{path}?{query}".encode("ascii")
            except UnicodeEncodeError:
                continue
            if where in ("path", "query") and ("?" in path or "#" in path + query):
                continue
            tried += 1
            answer = bucket.send("PUT", f"{path}?{query}", changed, sent)
            assert 400 <= answer.status < 500, (where, path, query, changed)
    assert tried > 70
    assert bucket.paths() == []


def flipped(value: str, dice: random.Random, start: int = 0) -> str:
    at = dice.randrange(start, len(value))
    return value[:at] + chr(ord(value[at]) ^ (1 << dice.randrange(7))) + value[at + 1 :]


def test_a_wrong_secret_and_an_unknown_key(bucket: Bucket) -> None:
    bucket.put("main/x", b"1")
    wrong = bucket.send("GET", "/lake/main/x", bucket.sign("GET", "/lake/main/x", {"host": HOST}, secret="wrong"))
    assert (wrong.status, code(wrong)) == (403, "SignatureDoesNotMatch")
    said = xml(wrong)
    assert text(said, "CanonicalRequest").startswith("GET\n/lake/main/x\n\nhost:s3.test\n")
    assert text(said, "StringToSign").startswith("AWS4-HMAC-SHA256\n20231114T221320Z\n")
    assert SECRET.encode() not in wrong.body
    headers = bucket.sign("GET", "/lake/main/x", {"host": HOST})
    unknown = {name: value.replace(KEY_ID, "AKIANOBODY") for name, value in headers.items()}
    answer = bucket.send("GET", "/lake/main/x", unknown)
    assert (answer.status, code(answer)) == (403, "InvalidAccessKeyId")
    long = {name: value.replace(KEY_ID, "A" * 200) for name, value in headers.items()}
    assert code(bucket.send("GET", "/lake/main/x", long)) == "InvalidAccessKeyId"


def test_a_removed_access_key_works_no_more(bucket: Bucket) -> None:
    headers = bucket.sign("GET", "/lake", {"host": HOST})
    assert bucket.send("GET", "/lake", headers).status == 200
    authenticator = bucket.gateway._services.authenticator
    bucket.run(authenticator.store.add("admin", NOW))
    bucket.run(authenticator.remove(KEY_ID, "admin"))
    assert code(bucket.send("GET", "/lake", headers)) == "InvalidAccessKeyId"


@pytest.mark.parametrize("seconds", [-901, 901])
def test_a_clock_that_is_wrong_by_more_than_a_quarter_of_an_hour(bucket: Bucket, seconds: int) -> None:
    headers = bucket.sign("GET", "/lake", {"host": HOST})
    bucket.now = NOW + seconds - (1 if seconds > 0 else -1)
    assert bucket.send("GET", "/lake", headers).status == 200
    bucket.now = NOW + seconds
    answer = bucket.send("GET", "/lake", headers)
    assert (answer.status, code(answer)) == (403, "RequestTimeTooSkewed")


def test_a_presigned_url_is_good_for_its_time_and_its_method(bucket: Bucket) -> None:
    bucket.put("main/x", b"1")
    target = presigned(bucket, "GET", "/lake/main/x")
    assert bucket.send("GET", target, {"host": HOST}).body == b"1"
    assert code(bucket.send("PUT", target, {"host": HOST}, b"2")) == "SignatureDoesNotMatch"
    bucket.now = NOW - 901
    assert code(bucket.send("GET", target, {"host": HOST})) == "AccessDenied"
    bucket.now = NOW + 61
    assert code(bucket.send("GET", target, {"host": HOST})) == "AccessDenied"
    put = presigned(bucket, "PUT", "/lake/main/y")
    assert bucket.send("PUT", put, {"host": HOST}, b"anything").status == 200
    with_hash = {"host": HOST, "x-amz-content-sha256": EMPTY}
    assert code(bucket.send("PUT", put, with_hash, b"anything")) == "XAmzContentSHA256Mismatch"


def test_a_hash_that_a_presigned_url_states_binds_the_body(bucket: Bucket) -> None:
    good = hashlib.sha256(b"good").hexdigest()
    url = presigned(bucket, "PUT", "/lake/main/x", payload=good)
    for said in ("UNSIGNED-PAYLOAD", hashlib.sha256(b"evil").hexdigest(), "STREAMING-UNSIGNED-PAYLOAD-TRAILER", ""):
        answer = bucket.send("PUT", url, {"host": HOST, "x-amz-content-sha256": said}, b"evil")
        assert (answer.status, code(answer)) == (403, "AccessDenied"), said
        assert text(xml(answer), "HeadersNotSigned") == "x-amz-content-sha256"
    assert code(bucket.send("PUT", url, {"host": HOST}, b"evil")) == "XAmzContentSHA256Mismatch"
    assert bucket.paths() == []
    assert bucket.send("PUT", url, {"host": HOST}, b"good").status == 200
    assert bucket.send("PUT", url, {"host": HOST, "x-amz-content-sha256": good}, b"good").status == 200
    open_url = presigned(bucket, "PUT", "/lake/main/y", payload=UNSIGNED)
    assert bucket.send("PUT", open_url, {"host": HOST, "x-amz-content-sha256": good}, b"good").status == 200


def test_caches_keep_nothing_from_unauthenticated_requests(bucket: Bucket) -> None:
    headers = bucket.sign("GET", "/lake", {"host": HOST})
    kept = dates._seconds_of.cache_info().currsize
    signing_keys = signing_key.cache_info().currsize
    for name in ("X-Amz-Date", "x-amz-date"):
        bucket.send("GET", "/lake", {**headers, name: "2" * (1 << 20)})
    assert dates._seconds_of.cache_info().currsize == kept
    assert dates.seconds_of_http("Fri, 24 May 2013 00:00:00 " + "G" * (1 << 20)) is None
    url = presigned(bucket, "GET", "/lake").replace("eu-west-1", "r" * 300)
    assert code(bucket.send("GET", url, {"host": HOST})) == "AuthorizationQueryParametersError"
    assert signing_key.cache_info().currsize == signing_keys


@pytest.mark.parametrize("expires", ["0", "604801", "-1", "abc", "", "1e9"])
def test_the_expiry_of_a_presigned_url_is_bounded(bucket: Bucket, expires: str) -> None:
    target = presigned(bucket, "GET", "/lake").replace("X-Amz-Expires=60", f"X-Amz-Expires={expires}")
    answer = bucket.send("GET", target, {"host": HOST})
    assert (answer.status, code(answer)) == (400, "AuthorizationQueryParametersError")


def test_headers_that_change_the_meaning_must_be_signed(bucket: Bucket) -> None:
    bucket.put("main/secret", b"1")
    headers = bucket.sign("PUT", "/lake/main/y", {"host": HOST})
    added: dict[str, Any] = {
        "x-amz-copy-source": "/lake/main/secret",
        "x-amz-meta-owner": "me",
        "x-amz-checksum-crc32": "AAAAAA==",
    }
    for name, value in added.items():
        answer = bucket.send("PUT", "/lake/main/y", {**headers, name: value})
        assert (answer.status, code(answer)) == (403, "AccessDenied"), name
        assert text(xml(answer), "HeadersNotSigned") == name
    assert bucket.send("PUT", "/lake/main/y", {**headers, "x-amz-user-agent": "browser"}).status == 200
    url = presigned(bucket, "PUT", "/lake/main/z")
    assert code(bucket.send("PUT", url, {"host": HOST, **added})) == "AccessDenied"
    unsigned_host = {name: value.replace("host;", "") for name, value in headers.items()}
    assert code(bucket.send("PUT", "/lake/main/y", unsigned_host)) == "AccessDenied"


@pytest.mark.parametrize(
    ("authorization", "expected"),
    [
        ("AWS4-HMAC-SHA256", "InvalidArgument"),
        ("AWS4-HMAC-SHA256 ", "AuthorizationHeaderMalformed"),
        ("AWS4-HMAC-SHA256 Credential=a,SignedHeaders=host,Signature=b", "AuthorizationHeaderMalformed"),
        ("AWS4-HMAC-SHA256 Credential=a/20231114/r/ec2/aws4_request,SignedHeaders=host,Signature=b", None),
        ("AWS4-HMAC-SHA256 Credential=a/20231113/r/s3/aws4_request,SignedHeaders=host,Signature=b", None),
        ("AWS4-HMAC-SHA256 Credential=a/2023/r/s3/aws4_request,SignedHeaders=host,Signature=b", None),
        ("AWS4-ECDSA-P256-SHA256 Credential=a/20231114/s3/aws4_request", "InvalidArgument"),
        # names that are no names
        (
            "AWS4-HMAC-SHA256 Credential=\xff/20231114/r/s3/aws4_request,SignedHeaders=\xff,Signature=\xff",
            "AccessDenied",
        ),
        ("Basic abc", "InvalidArgument"),
        ("AWS", "InvalidArgument"),
        ("AWS abc", "InvalidArgument"),
    ],
)
def test_authorizations_that_say_nothing(bucket: Bucket, authorization: str, expected: str | None) -> None:
    headers = {"host": HOST, "x-amz-date": "20231114T221320Z", "x-amz-content-sha256": EMPTY}
    answer = bucket.send("GET", "/lake", {**headers, "authorization": authorization})
    assert code(answer) == (expected or "AuthorizationHeaderMalformed")
    assert 400 <= answer.status < 404


def test_other_authentication_schemes_are_refused(bucket: Bucket) -> None:
    headers = bucket.sign("GET", "/lake", {"host": HOST})
    assert code(bucket.send("GET", "/lake", {"host": HOST})) == "AccessDenied"
    both = bucket.send("GET", presigned(bucket, "GET", "/lake"), headers)
    assert (both.status, code(both)) == (400, "InvalidArgument")
    token = bucket("GET", "/lake", x_amz_security_token="abc")
    assert (token.status, code(token)) == (400, "InvalidToken")
    twice = bucket.send("GET", "/lake", [*headers.items(), ("authorization", "AWS x:y")])
    assert twice.status == 400


@pytest.mark.parametrize("date", ["", "yesterday", "20231314T221320Z", "2023-11-14T22:13:20Z", "20231114T221320"])
def test_invalid_dates_are_refused(bucket: Bucket, date: str) -> None:
    headers = {**bucket.sign("GET", "/lake", {"host": HOST}), "X-Amz-Date": date}
    answer = bucket.send("GET", "/lake", headers)
    assert (answer.status, code(answer)) == (403, "AccessDenied")


def test_a_body_without_its_hash_is_not_signed(bucket: Bucket) -> None:
    headers = bucket.sign("PUT", "/lake/main/x", {"host": HOST})
    missing = {name: value for name, value in headers.items() if name.lower() != "x-amz-content-sha256"}
    assert code(bucket.send("PUT", "/lake/main/x", missing, b"1")) == "InvalidRequest"
    for value in ("nonsense", "E" * 63, "STREAMING-AWS4-ECDSA-P256-SHA256-PAYLOAD"):
        expected = "NotImplemented" if value.startswith("STREAMING") else "InvalidArgument"
        assert code(bucket("PUT", "/lake/main/x", b"1", payload=value)) == expected
    assert code(bucket("PUT", "/lake/main/x", b"1", payload=EMPTY)) == "XAmzContentSHA256Mismatch"
    assert bucket.paths() == []


def test_unsigned_bodies_can_be_refused_over_plain_http() -> None:
    bucket = Bucket(unsigned_payload="https")
    try:
        for payload in (UNSIGNED, "STREAMING-UNSIGNED-PAYLOAD-TRAILER"):
            answer = bucket("PUT", "/lake/main/x", b"1", payload=payload)
            assert (answer.status, code(answer)) == (403, "AccessDenied")
            assert b"gateway.s3.unsigned_payload" in answer.body
        url = presigned(bucket, "PUT", "/lake/main/x")
        assert code(bucket.send("PUT", url, {"host": HOST}, b"1")) == "AccessDenied"
        assert bucket.paths() == []
        stated = presigned(bucket, "PUT", "/lake/main/x", payload=hashlib.sha256(b"1").hexdigest())
        assert bucket.send("PUT", stated, {"host": HOST}, b"1").status == 200
        assert bucket("PUT", "/lake/main/y", b"2").status == 200
        # what has no body needs no signature of one
        assert bucket.send("GET", presigned(bucket, "GET", "/lake/main/x"), {"host": HOST}).body == b"1"
        assert bucket("DELETE", "/lake/main/x", payload=UNSIGNED).status == 204
        over_tls = bucket("PUT", "/lake/main/z", b"3", payload=UNSIGNED, x_forwarded_proto="https")
        assert over_tls.status == 200
    finally:
        bucket.close()
