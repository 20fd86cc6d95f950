"""Fakes of the services that give credentials of AWS, and a proxy of S3 that knows which credentials are valid.

with running_roles() as roles, recording(bucket, roles) as s3:
    roles.lifetime = 3.0                       # seconds that new credentials are valid
    ... set AWS_EC2_METADATA_SERVICE_ENDPOINT to roles.endpoint ...
    s3.seen                                    # the requests that arrived, with their headers
"""

from __future__ import annotations

import http.client
import json
import re
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple
from urllib.parse import parse_qs, parse_qsl, urlsplit

from tests.support.services.s3 import S3Server

GRACE = 2.0
ROLE = "arn:aws:iam::123456789012:role/lakebed"
IMDS_TOKEN = "token-of-the-metadata-service"
ECS_TOKEN = "token-of-the-container"
_KEY = re.compile(r"Credential=([^/]+)/")


class Roles:
    """What it gave out, and what it expects. `broken`: it refuses everything. `asked`: what was asked of it."""

    def __init__(self) -> None:
        self.endpoint = ""
        self.lifetime = 3600.0
        self.broken = False
        self.external_id = ""
        self.web_token = ""
        self.expiry: dict[str, float] = {}
        self.secrets: list[str] = []
        self.asked: list[str] = []
        self._lock = threading.Lock()

    def new(self, source: str) -> dict[str, str]:
        """New credentials. Their secrets are in no log, so a test can search for them."""
        with self._lock:
            number = len(self.expiry)
            key = f"ASIA{source.upper()}{number:08}"
            self.expiry[key] = time.time() + self.lifetime
            secret, token = f"secret-{source}-{number:032}", f"session-{source}-{number:032}"
            self.secrets += [secret, token]
        ends = datetime.fromtimestamp(self.expiry[key], UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        return {"AccessKeyId": key, "SecretAccessKey": secret, "Token": token, "Expiration": ends}

    def is_valid(self, key: str) -> bool:
        """Whether this key was given out and has not expired, or not for long: a request takes its time."""
        return self.expiry.get(key, 0.0) + GRACE > time.time()


class Seen(NamedTuple):
    """A request that arrived at the store."""

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]


class Recording(NamedTuple):
    """A proxy of an S3 server."""

    server: S3Server
    seen: list[Seen]


class Answering(BaseHTTPRequestHandler):
    """Writes no log, and whole answers."""

    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: Any) -> None:
        return

    def answer(self, status: int, body: bytes, headers: Mapping[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def body(self) -> bytes:
        return self.rfile.read(int(self.headers.get("Content-Length") or 0))


@contextmanager
def serving(handler: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    """An HTTP server on a free port. Gives its address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@contextmanager
def running_roles() -> Iterator[Roles]:
    """The metadata service of instances (IMDSv2), that of containers, and STS, in one server."""
    roles = Roles()

    class Handler(Answering):
        def do_PUT(self) -> None:
            self.body()
            roles.asked.append("imds token")
            if self.path != "/latest/api/token" or not self.headers.get("x-aws-ec2-metadata-token-ttl-seconds"):
                self.answer(400, b"")
            else:
                self.answer(200, IMDS_TOKEN.encode(), {"x-aws-ec2-metadata-token-ttl-seconds": "60"})

        def do_GET(self) -> None:
            path = "/latest/meta-data/iam/security-credentials/"
            if roles.broken:
                self.answer(500, b"broken")
            elif self.path == "/ecs" and self.headers.get("Authorization") == ECS_TOKEN:
                roles.asked.append("ecs")
                self.answer(200, json.dumps({**roles.new("ecs"), "RoleArn": ROLE}).encode())
            elif self.path.startswith(path) and self.headers.get("x-aws-ec2-metadata-token") == IMDS_TOKEN:
                roles.asked.append("imds")
                given = {**roles.new("imds"), "Code": "Success", "Type": "AWS-HMAC"}
                self.answer(200, b"the-role" if self.path == path else json.dumps(given).encode())
            else:
                self.answer(401, b"")

        def do_POST(self) -> None:
            asked = {name: values[0] for name, values in parse_qs(self.body().decode()).items()}
            roles.asked.append(asked.get("Action", ""))
            known = asked.get("RoleArn") == ROLE and asked.get("ExternalId", "") == roles.external_id
            if asked.get("Action") == "AssumeRoleWithWebIdentity":
                known = asked.get("RoleArn") == ROLE and asked.get("WebIdentityToken") == roles.web_token
            if roles.broken or not known:
                text = "<ErrorResponse><Error><Type>Sender</Type><Code>AccessDenied</Code></Error></ErrorResponse>"
                self.answer(403, text.encode(), {"Content-Type": "text/xml"})
                return
            given = roles.new("sts")
            keys = "".join(
                f"<{name}>{given[source]}</{name}>"
                for name, source in (
                    ("AccessKeyId", "AccessKeyId"),
                    ("SecretAccessKey", "SecretAccessKey"),
                    ("SessionToken", "Token"),
                    ("Expiration", "Expiration"),
                )
            )
            name = asked["Action"]
            text = f"<{name}Response><{name}Result><Credentials>{keys}</Credentials></{name}Result></{name}Response>"
            self.answer(200, text.encode(), {"Content-Type": "text/xml"})

    with serving(Handler) as endpoint:
        roles.endpoint = endpoint
        yield roles


@contextmanager
def recording(bucket: S3Server, roles: Roles | None = None, *, opaque: bool = False) -> Iterator[Recording]:
    """A proxy in front of an S3 server. With `roles` it refuses keys that are not valid.

    `opaque`: ETags are not MD5s, as with SSE-KMS on AWS.
    """
    seen: list[Seen] = []
    host = urlsplit(bucket.endpoint).netloc

    class Handler(Answering):
        def do_any(self) -> None:
            parts = urlsplit(self.path)
            query = dict(parse_qsl(parts.query, keep_blank_values=True))
            headers = {name.lower(): value for name, value in self.headers.items()}
            seen.append(Seen(self.command, parts.path, query, headers))
            body = self.body()
            found = _KEY.search(headers.get("authorization", ""))
            key = found[1] if found else query.get("X-Amz-Credential", "").split("/")[0]
            if roles is not None and not roles.is_valid(key):
                self.answer(403, b"<Error><Code>ExpiredToken</Code><Message>expired</Message></Error>")
                return
            connection = http.client.HTTPConnection(host, timeout=60)
            sent = {name: value for name, value in headers.items() if name not in ("connection", "accept-encoding")}
            if opaque and self.command == "POST":
                body = _swapped(body)
            connection.request(self.command, self.path, body, {**sent, "content-length": str(len(body))})
            answer = connection.getresponse()
            data = answer.read()
            dropped = ("content-length", "connection", "transfer-encoding", "date", "server")
            kept = {name: value for name, value in answer.getheaders() if name.lower() not in dropped}
            if opaque:
                kept = {
                    name: _swapped(value.encode()).decode() if name.lower() == "etag" else value
                    for name, value in kept.items()
                }
                data = _ETAGS.sub(lambda match: match[1] + _swapped(match[2]), data)
            if self.command == "HEAD":
                self.send_response(answer.status)
                for name, value in kept.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", answer.getheader("content-length") or "0")
                self.end_headers()
            else:
                self.answer(answer.status, data, kept)
            connection.close()

        do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = do_any

    with serving(Handler) as endpoint:
        yield Recording(S3Server(bucket.name, endpoint, bucket.bucket), seen)


_ETAGS = re.compile(rb"(<ETag>)([^<]*)")
_MD5 = re.compile(rb"[0-9a-f]{32}")


def _swapped(text: bytes) -> bytes:
    """The text with each MD5 backwards: another value of the same form, and the right one when it is done again."""
    return _MD5.sub(lambda match: match[0][::-1], text)
