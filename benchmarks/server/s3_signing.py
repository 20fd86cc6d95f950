"""Requests to any S3 server, signed by Signature Version 4 with nothing but the standard library.

For clients that should cost less than the server they measure: boto3 is its own limit.
"""

from __future__ import annotations

import hashlib
import hmac
import time
from dataclasses import dataclass
from urllib.parse import quote

UNSIGNED = "UNSIGNED-PAYLOAD"


@dataclass(frozen=True)
class Place:
    """A bucket of a server, and the beginning of each key."""

    port: int
    bucket: str
    prefix: str
    access_key_id: str
    secret_access_key: str

    def request(self, method: str, key: str = "", query: str = "", body: bytes = b"", digest: str = "") -> bytes:
        """A whole request, ready to be sent within 15 minutes; `query` is sorted and escaped already."""
        head = self.head(method, key, query, len(body), digest or hashlib.sha256(body).hexdigest())
        return head + body

    def head(self, method: str, key: str = "", query: str = "", size: int = 0, digest: str = UNSIGNED) -> bytes:
        """The request without its body."""
        stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
        path = f"/{self.bucket}" + (f"/{quote(self.prefix + key)}" if key else "")
        host = f"127.0.0.1:{self.port}"
        signed = f"host:{host}\nx-amz-content-sha256:{digest}\nx-amz-date:{stamp}\n"
        names = "host;x-amz-content-sha256;x-amz-date"
        canonical = f"{method}\n{path}\n{query}\n{signed}\n{names}\n{digest}"
        scope = f"{stamp[:8]}/us-east-1/s3/aws4_request"
        to_sign = f"AWS4-HMAC-SHA256\n{stamp}\n{scope}\n{hashlib.sha256(canonical.encode()).hexdigest()}"
        signature = hmac.new(self._signing_key(stamp[:8]), to_sign.encode(), "sha256").hexdigest()
        authorization = (
            f"AWS4-HMAC-SHA256 Credential={self.access_key_id}/{scope}, SignedHeaders={names}, Signature={signature}"
        )
        target = f"{path}?{query}" if query else path
        lines = [f"{method} {target} HTTP/1.1", f"Host: {host}", f"x-amz-date: {stamp}"]
        lines += [f"x-amz-content-sha256: {digest}", f"Authorization: {authorization}"]
        if method == "PUT":
            lines.append(f"Content-Length: {size}")
        return ("\r\n".join(lines) + "\r\n\r\n").encode()

    def _signing_key(self, date: str) -> bytes:
        key = f"AWS4{self.secret_access_key}".encode()
        for part in (date, "us-east-1", "s3", "aws4_request"):
            key = hmac.new(key, part.encode(), "sha256").digest()
        return key
