"""Signature Version 2, which some older tools still send, in the Authorization header or in the query.

It is HMAC-SHA1 over some lines of the request, in base64.
"""

from __future__ import annotations

import base64
import hmac
from typing import Final

from lakebed_server.auth.authenticate import Caller
from lakebed_server.s3.requests.call import S3Call
from lakebed_server.s3.requests.dates import require_near, seconds_of_http
from lakebed_server.s3.signatures.keys import Keys
from lakebed_server.s3.signatures.v4 import LONGEST, mismatch
from lakebed_server.s3.vocabulary import S3Error

_RESOURCES: Final = frozenset(
    b"accelerate acl cors defaultObjectAcl delete inventory lifecycle location logging metrics notification partNumber "
    b"policy replication requestPayment response-cache-control response-content-disposition "
    b"response-content-encoding response-content-language response-content-type response-expires restore select "
    b"select-type tagging torrent uploadId uploads versionId versioning versions website".split()
)
"""The parts of a query that are signed."""
_TOKEN: Final = b"x-amz-security-token"


async def by_header(call: S3Call, keys: Keys, authorization: bytes, now: float) -> Caller:
    """Check `AWS id:signature`. Returns the caller. Raises S3Error."""
    access_key_id, colon, signature = authorization[4:].strip().decode("latin-1").rpartition(":")
    call.base.claimed_key_id = access_key_id
    if not colon:
        raise S3Error("InvalidArgument", "AWS authorization header is invalid. Expected AwsAccessKeyId:signature")
    sent = call.header(b"x-amz-date") or call.header(b"date")
    seconds = seconds_of_http(sent) if sent else None
    if seconds is None:
        raise S3Error("AccessDenied", "AWS authentication requires a valid Date or x-amz-date header")
    require_near(seconds, now)
    date = b"" if b"x-amz-date" in call.headers else call.headers.get(b"date", b"")
    return await _check(call, keys, access_key_id, signature, date)


async def by_query(call: S3Call, keys: Keys, now: float) -> Caller:
    """Check a signed URL. Returns the caller. Raises S3Error."""
    query = call.query
    call.base.claimed_key_id = query["AWSAccessKeyId"]
    expires, signature = query.get("Expires", ""), query.get("Signature", "")
    if not (expires and signature):
        raise S3Error("AccessDenied", "Query-string authentication requires the Signature, Expires and AWSAccessKeyId")
    if not (expires.isascii() and expires.isdigit() and len(expires) < 16):
        raise S3Error("AccessDenied", "Invalid date (should be seconds since epoch): Expires")
    if now > int(expires):
        raise S3Error("AccessDenied", "Request has expired")
    if int(expires) > now + LONGEST:
        raise S3Error("AccessDenied", f"Expires must be at most {LONGEST} seconds from now.")
    return await _check(call, keys, query["AWSAccessKeyId"], signature, expires.encode())


def require_allowed(call: S3Call) -> None:
    """Raises S3Error when the settings switch this signature off."""
    if not call.config.signature_v2:
        raise S3Error(
            "InvalidRequest",
            "The authorization mechanism you have provided is not supported by this server (gateway.s3.signature_v2): "
            "use AWS4-HMAC-SHA256.",
        )


async def _check(call: S3Call, keys: Keys, access_key_id: str, signature: str, date: bytes) -> Caller:
    require_allowed(call)
    call.accept_unsigned()
    token = call.header(_TOKEN) or call.query.get(_TOKEN.decode(), "")
    key = await keys.find(access_key_id, call.base.client_address, token)
    sent = signature.encode("utf-8", "replace")
    forms = [string_to_sign(call, date, path, bare=bare) for path in _paths(call) for bare in (False, True)]
    secret = key.secret_access_key.encode()
    if not any(hmac.compare_digest(_signature(secret, to_sign), sent) for to_sign in forms):
        keys.failed(access_key_id, call.base.client_address)
        raise mismatch(access_key_id, forms[0], sent)
    caller = keys.passed(key, call.base.client_address)
    call.read_payload(chunked=False)
    return caller


def _signature(secret: bytes, to_sign: bytes) -> bytes:
    return base64.b64encode(hmac.digest(secret, to_sign, "sha1"))


def _paths(call: S3Call) -> list[bytes]:
    """The path as it was sent. For a bucket, also with the slash that some clients sign but do not send."""
    path = call.base.path
    return [path] if call.key or path.endswith(b"/") else [path, path + b"/"]


def string_to_sign(call: S3Call, date: bytes, path: bytes, *, bare: bool = False) -> bytes:
    """The lines that are signed. `bare`: without the `=` of query parameters whose value is empty."""
    found = call.headers
    lines = [call.method.encode(), found.get(b"content-md5", b""), found.get(b"content-type", b""), date]
    signed = {name: value for name, value in found.items() if name.startswith(b"x-amz-")}
    if _TOKEN.decode() in call.query:
        signed.setdefault(_TOKEN, call.query[_TOKEN.decode()].encode())  # in a signed URL it is signed as a header
    amazon = sorted(signed.items())
    lines += [name + b":" + value.strip() for name, value in amazon]
    return b"\n".join((*lines, _resource(call, path, bare)))


def _resource(call: S3Call, path: bytes, bare: bool) -> bytes:
    """The signed resource. Some clients send `?location=` and sign `?location`, others sign what they send."""
    bucket = b"/" + call.bucket.encode() if call.in_host else b""
    signed = sorted((name, value) for name, value in call.pairs if name in _RESOURCES)
    if not signed:
        return bucket + path
    alone = {part for part in call.raw_query.split(b"&") if b"=" not in part}
    parts = (name if name in alone or (bare and not value) else name + b"=" + value for name, value in signed)
    return bucket + path + b"?" + b"&".join(parts)
