"""Signature Version 4, in the Authorization header or in the query of a presigned URL.

Written from Amazon's public description. It accepts any region: the signature proves the secret, and Lakebed has no
regions.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import time
from functools import lru_cache
from typing import Final, NamedTuple

from lakebed_server.auth.authenticate import Caller
from lakebed_server.s3.requests.aws_chunked import ChunkSigner
from lakebed_server.s3.requests.call import S3Call
from lakebed_server.s3.requests.dates import SKEW, require_near, seconds_of, seconds_of_http
from lakebed_server.s3.signatures import canonical
from lakebed_server.s3.signatures.keys import Keys, signing_key
from lakebed_server.s3.vocabulary import S3Error

ALGORITHM: Final = b"AWS4-HMAC-SHA256"
LONGEST: Final = 7 * 24 * 3600
"""The longest validity of a presigned URL in seconds."""

_LONGEST_HEAD: Final = 1024
"""The longest Authorization header in bytes that is cached. SDKs send about 200 bytes."""
_LONGEST_CREDENTIAL: Final = 256
"""The largest number of characters in a Credential: an access key id (at most 128), day, region and two fixed words."""
_MALFORMED: Final = "AuthorizationHeaderMalformed"

UNSIGNED: Final = b"UNSIGNED-PAYLOAD"
_SHA256 = re.compile(rb"[0-9a-fA-F]{64}")
_SIGNED_CHUNKS = frozenset({b"STREAMING-AWS4-HMAC-SHA256-PAYLOAD", b"STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER"})
_UNSIGNED_CHUNKS = b"STREAMING-UNSIGNED-PAYLOAD-TRAILER"
_MAY_BE_UNSIGNED = frozenset({b"x-amz-user-agent", b"x-amz-cf-id"})
"""Headers that browsers and proxies add. The server does not read them."""


class Claim(NamedTuple):
    """The signature's parameters in a request. `scope` is `20130524/us-east-1/s3/aws4_request`: `service` is `s3`."""

    access_key_id: str
    day: str
    region: str
    service: str
    scope: bytes
    signed_headers: bytes
    signed: tuple[bytes, ...]


async def by_header(call: S3Call, keys: Keys, authorization: bytes, now: float) -> Caller:
    """Check the Authorization header. Returns the caller. Raises S3Error."""
    payload = call.headers.get(b"x-amz-content-sha256")
    claim, signature, date = _read_header(call, authorization, "s3", now)
    if payload is None:
        raise S3Error("InvalidRequest", "Missing required header for this request: x-amz-content-sha256")
    caller, signer = await _check(call, keys, claim, signature, date, canonical.query(call.pairs), payload)
    _read_payload(call, payload, signer)
    return caller


async def by_header_of_form(
    call: S3Call, keys: Keys, authorization: bytes, body: bytes, service: str, now: float
) -> Caller:
    """Check the Authorization header of another service, which signs the whole body. As `by_header`."""
    claim, signature, date = _read_header(call, authorization, service, now)
    payload = hashlib.sha256(body).hexdigest().encode()
    return (await _check(call, keys, claim, signature, date, canonical.query(call.pairs), payload))[0]


def claim_of_form(credential: str, date: str) -> Claim:
    """The claim of a form, whose signature covers its policy and no headers. Raises S3Error."""
    claim = _claim(credential, "-", "InvalidArgument")
    _require_service(claim, "s3", "InvalidArgument")
    _require_day(claim, date, "InvalidArgument")
    return claim


def _read_header(call: S3Call, authorization: bytes, service: str, now: float) -> tuple[Claim, bytes, str]:
    """The claim, the signature and the date of a request."""
    head, equals, signature = authorization.rpartition(b"Signature=")
    if not equals or b"," in signature or len(head) > _LONGEST_HEAD:
        raise S3Error(_MALFORMED, "The authorization header must end in Signature=, and be no longer than it needs to.")
    claim = _claim_of(head)
    _require_service(claim, service, _MALFORMED)
    call.base.claimed_key_id = claim.access_key_id
    date = _date_of_headers(call)
    require_near(_require_day(claim, date, _MALFORMED), now)
    return claim, signature.strip(), date


async def by_query(call: S3Call, keys: Keys, now: float) -> Caller:
    """Check a presigned URL. Returns the caller. Raises S3Error."""
    query = call.query
    bad = "AuthorizationQueryParametersError"
    if query["X-Amz-Algorithm"] != ALGORITHM.decode():
        raise S3Error(bad, 'X-Amz-Algorithm only supports "AWS4-HMAC-SHA256"')
    claim = _claim(query.get("X-Amz-Credential", ""), query.get("X-Amz-SignedHeaders", ""), bad)
    _require_service(claim, "s3", bad)
    call.base.claimed_key_id = claim.access_key_id
    signature = query.get("X-Amz-Signature", "").encode("utf-8", "replace")
    date = query.get("X-Amz-Date", "")
    _require_unexpired(_require_day(claim, date, bad), query.get("X-Amz-Expires", ""), now)
    sent = call.headers.get(b"x-amz-content-sha256")
    hashed = query.get("X-Amz-Content-Sha256", "").encode() or UNSIGNED
    if sent is not None and b"x-amz-content-sha256" in claim.signed:
        hashed = sent
    elif sent is not None and sent != hashed != UNSIGNED:
        raise _unsigned(
            [b"x-amz-content-sha256"]
        )  # the URL states the promise about the body, and its holder may not change it
    pairs = canonical.query(call.pairs, without=b"X-Amz-Signature")
    caller, signer = await _check(call, keys, claim, signature, date, pairs, hashed)
    _read_payload(call, sent or hashed, signer)
    return caller


async def _check(
    call: S3Call,
    keys: Keys,
    claim: Claim,
    signature: bytes,
    date: str,
    query: bytes,
    payload: bytes,
) -> tuple[Caller, ChunkSigner]:
    """`payload` is the signed value for the body. The session token is where the signature is."""
    _require_signed(call, claim.signed)
    token = call.query.get("X-Amz-Security-Token", "")
    if b"authorization" in call.headers:
        token = call.header(b"x-amz-security-token")
    found = await keys.find(claim.access_key_id, call.base.client_address, token)
    lines = canonical.headers(claim.signed, call.headers)
    request = canonical.request(call.method, call.base.path, query, lines, claim.signed_headers, payload)
    to_sign = b"\n".join((ALGORITHM, date.encode(), claim.scope, hashlib.sha256(request).hexdigest().encode()))
    key = signing_key(found.secret_access_key, claim.day, claim.region, claim.service)
    expected = hmac.digest(key, to_sign, "sha256").hex().encode()
    if not hmac.compare_digest(expected, signature):
        keys.failed(claim.access_key_id, call.base.client_address)
        raise mismatch(claim.access_key_id, to_sign, signature, request)
    caller = keys.passed(found, call.base.client_address)
    return caller, ChunkSigner(key, date.encode(), claim.scope, expected)


def _read_payload(call: S3Call, payload: bytes, signer: ChunkSigner) -> None:
    chunked = True
    if payload in (UNSIGNED, _UNSIGNED_CHUNKS):
        call.accept_unsigned()
    if payload in _SIGNED_CHUNKS:
        call.payload.signer = signer
    elif payload != _UNSIGNED_CHUNKS:
        chunked = False
        if _SHA256.fullmatch(payload) is not None:
            call.payload.sha256 = payload
        elif payload.startswith(b"STREAMING-"):
            raise S3Error("NotImplemented", "This method of signing a chunked body is not implemented.")
        elif payload != UNSIGNED:
            raise S3Error(
                "InvalidArgument",
                "x-amz-content-sha256 must be UNSIGNED-PAYLOAD, one of STREAMING-*, or a valid sha256 value.",
            )
    call.read_payload(chunked=chunked)


@lru_cache(1024)
def _claim_of(head: bytes) -> Claim:
    """The claim of an Authorization header up to its signature. Cached, because a client sends the same one all day."""
    pairs = (part.strip().partition("=") for part in head[len(ALGORITHM) :].decode("latin-1").split(","))
    fields = {name: value for name, _, value in pairs}
    return _claim(fields.get("Credential", ""), fields.get("SignedHeaders", ""), _MALFORMED)


def _claim(credential: str, signed_headers: str, code: str) -> Claim:
    if not (credential and signed_headers):
        raise S3Error(code, "The authorization needs Credential, SignedHeaders and Signature.")
    parts = credential.rsplit("/", 4) if len(credential) <= _LONGEST_CREDENTIAL else []
    if len(parts) != 5 or parts[4] != "aws4_request":
        raise _malformed(code, "s3")
    access_key_id, day, region, service, _ = parts
    names = signed_headers.encode("utf-8", "replace")
    scope = "/".join(parts[1:]).encode("utf-8", "replace")
    return Claim(access_key_id, day, region, service, scope, names, tuple(names.split(b";")))


def _require_service(claim: Claim, service: str, code: str) -> None:
    if claim.service != service:
        raise _malformed(code, service)


def _malformed(code: str, service: str) -> S3Error:
    return S3Error(
        code, f"The Credential is mal-formed; expecting <access-key-id>/YYYYMMDD/REGION/{service}/aws4_request."
    )


def _date_of_headers(call: S3Call) -> str:
    date = call.header(b"x-amz-date")
    if date:
        return date
    seconds = seconds_of_http(call.header(b"date")) if b"date" in call.headers else None
    if seconds is None or not 0 <= seconds < 1 << 36:
        raise S3Error("AccessDenied", "AWS authentication requires a valid Date or x-amz-date header")
    return time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(seconds))


def _require_day(claim: Claim, date: str, code: str) -> int:
    seconds = seconds_of(date)
    if seconds is None:
        raise S3Error("AccessDenied", "AWS authentication requires a valid Date or x-amz-date, like 20130524T000000Z")
    if not date.startswith(claim.day) or len(claim.day) != 8:
        raise S3Error(code, "The date of the credential is not the day of the request.")
    return seconds


def _require_unexpired(signed_at: int, expires: str, now: float) -> None:
    if not (expires.isascii() and expires.isdigit() and len(expires) < 10 and 1 <= int(expires) <= LONGEST):
        raise S3Error(
            "AuthorizationQueryParametersError",
            f"X-Amz-Expires must be a number of seconds between 1 and {LONGEST}.",
        )
    if signed_at - now > SKEW:
        raise S3Error("AccessDenied", "Request is not valid yet")
    if now > signed_at + int(expires):
        raise S3Error("AccessDenied", "Request has expired")


def _require_signed(call: S3Call, signed: tuple[bytes, ...]) -> None:
    """Refuse unsigned headers if a change in transit could change the meaning of the request."""
    missing = [b"host"] if b"host" not in signed else []
    presigned = b"authorization" not in call.headers
    for name in call.headers:
        if name.startswith(b"x-amz-") and name not in signed and name not in _MAY_BE_UNSIGNED:
            if presigned and name == b"x-amz-content-sha256":
                continue  # `by_query` has checked it against what the URL states
            missing.append(name)
    if missing:
        raise _unsigned(missing)


def _unsigned(names: list[bytes]) -> S3Error:
    return S3Error(
        "AccessDenied",
        "There were headers present in the request which were not signed",
        details=(("HeadersNotSigned", ", ".join(name.decode("latin-1") for name in names)),),
    )


def mismatch(access_key_id: str, to_sign: bytes, signature: bytes, request: bytes = b"") -> S3Error:
    """The error of a wrong signature, with what the server signed, for comparison with the client's."""
    details = [
        ("AWSAccessKeyId", access_key_id),
        ("StringToSign", to_sign.decode("utf-8", "replace")),
        ("SignatureProvided", signature.decode("latin-1")),
    ]
    if request:
        details.append(("CanonicalRequest", request.decode("utf-8", "replace")))
    return S3Error(
        "SignatureDoesNotMatch",
        "The request signature we calculated does not match the signature you provided. Check your key and signing "
        "method.",
        details=tuple(details),
    )
