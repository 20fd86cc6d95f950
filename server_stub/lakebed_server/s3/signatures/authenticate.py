"""Authenticates S3 requests by their signature."""

from __future__ import annotations

import time
from collections.abc import Callable

from lakebed_server.auth import origins
from lakebed_server.auth.authenticate import Caller
from lakebed_server.s3.requests.call import S3Call
from lakebed_server.s3.signatures import form, v2, v4
from lakebed_server.s3.signatures.keys import Keys
from lakebed_server.s3.vocabulary import S3Error

Clock = Callable[[], float]


async def authenticate(call: S3Call, keys: Keys, clock: Clock = time.time) -> Caller:
    """The user who signed the request, with the access key. Records the promises about the body. Raises S3Error."""
    authorization = call.headers.get(b"authorization")
    by_query = "X-Amz-Algorithm" in call.query or "AWSAccessKeyId" in call.query
    if authorization is None:
        if "X-Amz-Algorithm" in call.query:
            return await v4.by_query(call, keys, clock())
        if "AWSAccessKeyId" in call.query:
            return await v2.by_query(call, keys, clock())
        if form.is_for(call):
            return await form.authenticate(call, keys, clock())
        raise S3Error("AccessDenied", "Access Denied: sign the request with an access key of this server.")
    if by_query:
        raise S3Error("InvalidArgument", "Only one auth mechanism allowed.")
    if call.method not in origins.SAFE:
        # a presigned URL works from any page: it allows only this request, and its holder may use it
        origins.refuse_foreign(call.headers)
    if authorization.startswith(v4.ALGORITHM + b" "):
        return await v4.by_header(call, keys, authorization, clock())
    if authorization.startswith(b"AWS "):
        return await v2.by_header(call, keys, authorization, clock())
    raise S3Error("InvalidArgument", "Unsupported Authorization Type")
