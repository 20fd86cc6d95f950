"""No S3 request costs a real server more than a bound of CPU time and memory, and none ends in an error of its own.

Signed requests are put together at random from good and hostile methods, sub-resources, headers and bodies. The seed
follows from the engine's sources (tests/support/seeds.py).
"""

from __future__ import annotations

import dataclasses
import hashlib
import http.client
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from urllib.parse import quote

import pytest
from botocore.auth import S3SigV4Auth  # type: ignore[import-untyped]
from botocore.awsrequest import AWSRequest  # type: ignore[import-untyped]
from botocore.credentials import Credentials  # type: ignore[import-untyped]

from tests.support.processes.meter import CPU_SECONDS, Meter
from tests.support.processes.server import RunningServer, running_server
from tests.support.seeds import seed_of_the_engine
from tests.support.sizes import sized
from tests.support.waiting import PATIENCE

pytestmark = pytest.mark.slow

REQUESTS = sized(1500)
HOSTILE_SECONDS = 0.4
"""Most CPU time of the requests that the review made: they took 0.6 to 1 s of it, and take 0.1 s now."""

MIB = 1 << 20
METHODS = ("GET", "GET", "HEAD", "PUT", "POST", "DELETE", "OPTIONS", "PATCH")
PATHS = (
    "",
    "lake",
    "lake/main/a.csv",
    "lake/main/dir/",
    "lake/main/nope",
    "lake/main~1/a.csv",
    "lake/" + "x" * 900,
    "lake/main/" + quote("ü 😀/" * 50),
    "no-such-bucket/key",
    "lake/main/%00",
    "lake/main//..//../etc/passwd",
)
RESOURCES = (
    *("acl", "cors", "delete", "encryption", "lifecycle", "location", "logging", "notification", "object-lock"),
    *("partNumber", "policy", "replication", "requestPayment", "tagging", "torrent", "uploadId", "uploads"),
    *("versionId", "versioning", "versions", "website", "list-type", "prefix", "delimiter", "marker", "max-keys"),
    *("continuation-token", "start-after", "encoding-type", "key-marker", "version-id-marker", "attributes"),
    *("response-content-type", "response-expires", "X-Amz-Expires", "X-Amz-Date", "X-Amz-Signature"),
)
VALUES = ("", "0", "1", "2", "-1", "1000", "99999999999999999999", "main/", "/", "url", "%zz", "null", "x" * 4000, "é")
HEADERS = (
    *("range", "if-match", "if-none-match", "if-modified-since", "if-unmodified-since", "content-type", "content-md5"),
    *("content-encoding", "x-amz-acl", "x-amz-copy-source", "x-amz-copy-source-range", "x-amz-metadata-directive"),
    *("x-amz-tagging", "x-amz-checksum-crc32", "x-amz-checksum-crc64nvme", "x-amz-sdk-checksum-algorithm"),
    *("x-amz-decoded-content-length", "x-amz-trailer", "x-amz-meta-key", "x-amz-storage-class", "expect"),
    *("x-amz-object-attributes", "x-amz-checksum-mode", "accept-encoding", "cookie", "origin"),
)
ODD = (
    "",
    "*",
    '"0cc175b9c0f1b6a831c399e269772661"',
    "bytes=0-0",
    "bytes=" + "-1" * 40 + "x",
    "bytes=" + "0-1," * 200,
    "Tue, 25 Nov 2025 00:00:00 GMT",
    "lake/main/a.csv",
    "/lake/main%2Fa.csv?versionId=null",
    "aws-chunked",
    "1" * 300,
    "a" * 3000,
    ",".join("x" * 30),
    "CRC32",
)
TAG = b"<Tag><Key>k</Key><Value>v</Value></Tag>"
BODIES = (
    b"",
    b"a,b\n1,2\n",
    b"\0" * 100_000,
    b"<Delete><Object><Key>main/nope</Key></Object></Delete>",
    b"<Delete>" + b"<Object><Key>main/nope</Key></Object>" * 3000 + b"</Delete>",
    b"<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>x</ETag></Part></CompleteMultipartUpload>",
    b"<CompleteMultipartUpload>" + b"<a/>" * 200_000 + b"</CompleteMultipartUpload>",
    b"<Tagging><TagSet>" + TAG * 2000 + b"</TagSet></Tagging>",
    b"<a>" * 100_000,
    b'<!DOCTYPE x [<!ENTITY a "b">]><x>&a;</x>',
    b"<?xml version='1.0'?><CreateBucketConfiguration/>",
    b"\xff\xfe<\0x\0>\0",
    b"1;chunk-signature=" + b"0" * 64 + b"\r\nx\r\n0;chunk-signature=" + b"0" * 64 + b"\r\n\r\n",
    b"1\r\nx\r\n" * 20_000 + b"0\r\n\r\n",
)
PAYLOADS = (
    "",
    "UNSIGNED-PAYLOAD",
    "STREAMING-AWS4-HMAC-SHA256-PAYLOAD",
    "STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER",
    "STREAMING-UNSIGNED-PAYLOAD-TRAILER",
    "not a hash",
)


@dataclass
class Sent:
    """One request, before it is signed. `payload`: what it says of its body's hash; empty: the true one."""

    method: str
    target: str
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""
    payload: str = ""


def drawn(draw: random.Random) -> Sent:
    """A request put together at random."""
    query = "&".join(
        f"{name}={quote(draw.choice(VALUES))}" if draw.random() < 0.7 else name
        for name in draw.sample(RESOURCES, draw.choice((0, 0, 1, 1, 2, 3)))
    )
    headers = {name: draw.choice(ODD) for name in draw.sample(HEADERS, draw.choice((0, 0, 1, 2, 4)))}
    target = "/" + draw.choice(PATHS) + (f"?{query}" if query else "")
    payload = draw.choice(PAYLOADS) if draw.random() < 0.4 else ""
    return Sent(draw.choice(METHODS), target, headers, draw.choice(BODIES), payload)


UPLOAD = "/lake/main/parts?uploadId={upload}"
"""`{upload}`: an upload in parts that is under way."""

COMPLETE = b"<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>x</ETag></Part>"

HOSTILE = {
    "a range that repeats": Sent("GET", "/lake/main/a.csv", {"range": "bytes=" + "-1" * 60 + "x"}),
    "4 MB of empty elements": Sent("POST", UPLOAD, body=COMPLETE + b"<a/>" * MIB + b"</CompleteMultipartUpload>"),
    "a million levels": Sent("POST", UPLOAD, body=COMPLETE + b"<a>" * MIB),
    "1.8 MB in chunks of a byte": Sent(
        "PUT",
        "/lake/main/chunks",
        {"x-amz-decoded-content-length": "300000", "content-encoding": "aws-chunked", "x-amz-trailer": ""},
        b"1\r\nx\r\n" * 300_000 + b"0\r\n\r\n",
        "STREAMING-UNSIGNED-PAYLOAD-TRAILER",
    ),
    "2,000 ranges": Sent("GET", "/lake/main/a.csv", {"range": "bytes=" + ",".join("0-0" for _ in range(2000))}),
    "a copy of a long name": Sent("PUT", "/lake/main/b", {"x-amz-copy-source": "/lake/" + "%2F" * 2000}),
}


class Wire:
    """Signs requests and sends them over one connection; watches what each costs."""

    def __init__(self, server: RunningServer) -> None:
        self.server = server
        self.host = server.endpoint.removeprefix("http://")
        self.meter = Meter(server.process.pid)
        self.connection = http.client.HTTPConnection(self.host, timeout=PATIENCE)
        self.body = b""
        """The body of the last answer."""

    def send(self, request: Sent, cpu_seconds: float = CPU_SECONDS) -> int:
        """The status of the answer; 0 when the server closed the connection instead. Fails when a bound is exceeded."""
        before = self.meter.cpu()
        status = self._answer(request)
        complaint = self.meter.complaint(before, cpu_seconds)
        assert not complaint, f"{complaint}: {request.method} {request.target[:200]} {request.headers}"[:2000]
        return status

    def begin_upload(self) -> str:
        """The id of a new upload in parts."""
        assert self.send(Sent("POST", "/lake/main/parts?uploads")) == 200
        found = re.search(rb"<UploadId>([^<]+)", self.body)
        assert found is not None, self.body
        return found[1].decode()

    def _answer(self, request: Sent) -> int:
        try:
            self.connection.putrequest(request.method, request.target, skip_host=True, skip_accept_encoding=True)
            for name, value in self._signed(request).items():
                self.connection.putheader(name, value.encode("utf-8"))
            self.connection.endheaders(request.body)
            answer = self.connection.getresponse()
            self.body = answer.read()
            return answer.status
        except (ConnectionError, http.client.HTTPException, ValueError):
            self.connection.close()
            return 0

    def _signed(self, request: Sent) -> dict[str, str]:
        headers = {"host": self.host, **request.headers}
        headers["x-amz-content-sha256"] = request.payload or hashlib.sha256(request.body).hexdigest()
        made = AWSRequest(request.method, f"http://{self.host}{request.target}", headers=headers, data=request.body)
        signer = S3SigV4Auth(Credentials(self.server.access_key_id, self.server.secret_access_key), "s3", "us-east-1")
        signer.add_auth(made)
        return {**dict(made.headers.items()), "content-length": str(len(request.body))}


@pytest.fixture(scope="module")
def wire(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Wire]:
    with running_server(tmp_path_factory) as server:
        made = Wire(server)
        body = b'{"name":"lake","storage_namespace":"local://lake"}'
        made.connection.request("POST", "/api/v1/repositories", body, _basic(server))
        answer = made.connection.getresponse()
        assert (answer.status, answer.read()[:1]) == (201, b"{")
        assert made.send(Sent("PUT", "/lake/main/a.csv", body=b"a,b\n1,2\n")) == 200
        made.meter = Meter(server.process.pid)
        yield made
        made.connection.close()


def _basic(server: RunningServer) -> dict[str, str]:
    from base64 import b64encode

    pair = f"{server.access_key_id}:{server.secret_access_key}".encode()
    return {"Authorization": "Basic " + b64encode(pair).decode(), "Content-Type": "application/json"}


@pytest.mark.parametrize("name", list(HOSTILE))
def test_a_hostile_request_is_refused_in_time(wire: Wire, name: str) -> None:
    sent = HOSTILE[name]
    if sent.target == UPLOAD:
        sent = dataclasses.replace(sent, target=UPLOAD.format(upload=wire.begin_upload()))
    status = wire.send(sent, HOSTILE_SECONDS)
    assert status == 0 or 200 <= status < 500, status
    assert wire.send(Sent("HEAD", "/lake/main/a.csv")) == 200


@pytest.mark.slow
def test_no_request_costs_more_than_its_bound(wire: Wire) -> None:
    draw = random.Random(seed_of_the_engine())
    statuses: dict[int, int] = {}
    for number in range(REQUESTS):
        request = drawn(draw)
        status = wire.send(request)
        statuses[status] = statuses.get(status, 0) + 1
        assert status in (0, 501) or status < 500, f"request {number} ended with {status}: {request}"[:2000]
    assert {200, 400, 404} <= set(statuses), statuses  # it reaches more than the first refusal
    assert "Traceback" not in wire.server.log
    assert wire.send(Sent("HEAD", "/lake/main/a.csv")) in (200, 404)


def test_the_meter_sees_work_and_memory(wire: Wire) -> None:
    before = wire.meter.cpu()
    for _ in range(20):
        wire.send(HOSTILE["a copy of a long name"])
    assert wire.meter.complaint(before - 3).startswith("the server used ")
    assert "memory has grown" in wire.meter.complaint(wire.meter.cpu(), growth=-(1 << 40))
