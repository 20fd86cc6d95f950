"""Form uploads (PostObject): reads the fields of a form, checks its signed policy, and gives on the file.

A browser sends such a form to a bucket. Its fields replace the headers of PutObject, and the signature covers the
policy only. `prepare` turns the request into that of a PutObject, so that everything after it is the same.
"""

from __future__ import annotations

import base64
import hmac
import re
from collections.abc import AsyncIterator
from typing import Final

from lakebed_server.auth.authenticate import Caller
from lakebed_server.http.forms import Form, Part
from lakebed_server.s3.requests import post_policy
from lakebed_server.s3.requests.addressing import locate
from lakebed_server.s3.requests.call import S3Call
from lakebed_server.s3.signatures import v2, v4
from lakebed_server.s3.signatures.keys import Keys, signing_key
from lakebed_server.s3.vocabulary import S3Error

_FORM: Final = b"multipart/form-data"
_MOST_FIELDS: Final = 100
_MOST_BYTES: Final = 64 << 10
"""The largest size of all fields together, without the file. Amazon takes 20 KB."""
_NAME = re.compile(r"[a-z0-9!#$%&'*+.^_`|~-]+")
_FILE_NAME: Final = "${filename}"
_TOKEN: Final = "x-amz-security-token"  # noqa: S105 (the name of a field)
_SIGNING: Final = frozenset(("x-amz-algorithm", "x-amz-credential", "x-amz-date", "x-amz-signature", _TOKEN))
_HEADERS: Final = frozenset(
    (
        "cache-control", "content-disposition", "content-encoding", "content-language", "content-md5", "content-type",
        "expires",
    )
)  # fmt: skip
"""Fields that replace the headers of these names, as `x-amz-*` do."""


class File:
    """The file of a form, in the place of the body."""

    def __init__(self, part: Part, rest: AsyncIterator[Part], policy: post_policy.Policy) -> None:
        self._part = part
        self._rest = rest
        self._policy = policy

    async def pieces(self) -> AsyncIterator[bytes]:
        """The content. Raises S3Error when its size is not one of the policy, before it is stored."""
        size = 0
        async for piece in self._part.pieces():
            size += len(piece)
            if size > self._policy.largest:
                raise S3Error("EntityTooLarge", "Your proposed upload exceeds the maximum allowed object size.")
            yield piece
        if size < self._policy.smallest:
            raise S3Error("EntityTooSmall", "Your proposed upload is smaller than the minimum allowed object size.")
        async for part in self._rest:  # Amazon ignores fields after the file, such as the button of the form
            await part.whole(_MOST_BYTES)


def looks_like_one(method: str, content_type: bytes) -> bool:
    """Whether a request may be a form upload."""
    return method == "POST" and content_type[: len(_FORM)].lower() == _FORM


def is_for(call: S3Call) -> bool:
    """Whether this request is a form upload: a form to a bucket, without another signature."""
    return (
        looks_like_one(call.method, call.headers.get(b"content-type", b""))
        and call.address.level == "bucket"
        and b"authorization" not in call.headers
        and not call.query
    )


async def authenticate(call: S3Call, keys: Keys, now: float) -> Caller:
    """Read the fields, check their policy, and set address, headers and content. Returns the caller. Raises S3Error."""
    call.accept_unsigned()
    parts = Form(call.base.body, call.headers[b"content-type"]).parts(_MOST_FIELDS)
    fields, part = await _fields(parts)
    fields["bucket"] = call.bucket
    if "policy" not in fields:
        raise S3Error("AccessDenied", "Access Denied: a form needs a policy that is signed with an access key.")
    caller = await _caller(call, keys, fields)
    policy = post_policy.parse(fields["policy"])
    policy.check(fields, now)
    file_name = (part.filename or b"").decode("utf-8", "replace").replace("\\", "/").rpartition("/")[2]
    call.address = locate(call.bucket, fields.get("key", "").replace(_FILE_NAME, file_name), call.config)
    if not call.key:
        raise S3Error("InvalidArgument", "Bucket POST must contain a field named 'key'.")
    call.headers = _headers(fields)
    call.read_payload(chunked=False)
    call.form = File(part, parts, policy)
    call.form_fields = fields
    return caller


async def _fields(parts: AsyncIterator[Part]) -> tuple[dict[str, str], Part]:
    """The fields, with lower-case names, and the file, which ends them."""
    found: dict[str, str] = {}
    left = _MOST_BYTES
    async for part in parts:
        name = part.name.lower()
        if name == "file":
            return found, part
        raw = await part.whole(left)
        left -= len(raw) + len(name)
        if left <= 0:
            raise S3Error("MaxPostPreDataLengthExceededError", f"The fields have more than {_MOST_BYTES} bytes.")
        if name in found:
            raise S3Error("InvalidArgument", f"The form has the field {name[:80]} twice.")
        try:
            found[name] = raw.decode()
        except UnicodeDecodeError:
            raise S3Error("InvalidArgument", f"The field {name[:80]} is not UTF-8.") from None
    raise S3Error("InvalidArgument", "POST requires exactly one file upload per request: a field named 'file'.")


async def _caller(call: S3Call, keys: Keys, fields: dict[str, str]) -> Caller:
    policy = fields["policy"].encode()
    is_v4 = "x-amz-algorithm" in fields
    if is_v4 and fields["x-amz-algorithm"] != v4.ALGORITHM.decode():
        raise S3Error("InvalidArgument", 'x-amz-algorithm only supports "AWS4-HMAC-SHA256"')
    if is_v4:
        claim = v4.claim_of_form(fields.get("x-amz-credential", ""), fields.get("x-amz-date", ""))
        access_key_id, sent = claim.access_key_id, fields.get("x-amz-signature", "")
    else:
        v2.require_allowed(call)
        access_key_id, sent = fields.get("awsaccesskeyid", ""), fields.get("signature", "")
    call.base.claimed_key_id = access_key_id
    if not (access_key_id and sent):
        raise S3Error("InvalidArgument", "A form with a policy needs an access key id and a signature.")
    found = await keys.find(access_key_id, call.base.client_address, fields.get(_TOKEN, ""))
    if is_v4:
        key = signing_key(found.secret_access_key, claim.day, claim.region)
        expected = hmac.digest(key, policy, "sha256").hex().encode()
    else:
        expected = base64.b64encode(hmac.digest(found.secret_access_key.encode(), policy, "sha1"))
    if not hmac.compare_digest(expected, sent.encode("utf-8", "replace")):
        keys.failed(access_key_id, call.base.client_address)
        raise v4.mismatch(access_key_id, policy, sent.encode("latin-1", "replace"))
    return keys.passed(found, call.base.client_address)


def _headers(fields: dict[str, str]) -> dict[bytes, bytes]:
    """The headers of a PutObject that the fields replace. `acl` and `tagging` become headers too, which are checked."""
    found = {}
    for name, value in fields.items():
        text = f"x-amz-{name}" if name in ("acl", "tagging") else name
        if text not in _HEADERS and (not text.startswith("x-amz-") or text in _SIGNING):
            continue
        if _NAME.fullmatch(text) is None or text == "x-amz-copy-source" or "aws-chunked" in value:
            raise S3Error("InvalidArgument", f"The field {text[:80]} is not supported in a form: leave it out.")
        found[text.encode()] = value.encode()
    return found
