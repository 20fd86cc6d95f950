"""What no client of these tests shows by itself: how the connection is handled around `Expect: 100-continue`.

botocore keeps a connection in a wrong state when a request that said Expect is answered without a 100 and the
connection stays open: the next such request on it waits for a minute. aws-cli and boto3 depend on what is held here.
"""

from __future__ import annotations

import socket
from urllib.parse import urlsplit

from botocore.auth import S3SigV4Auth  # type: ignore[import-untyped]
from botocore.awsrequest import AWSRequest  # type: ignore[import-untyped]
from botocore.credentials import Credentials  # type: ignore[import-untyped]

from tests.s3.target import REGION, Target
from tests.support.waiting import PATIENCE


def expecting(target: Target, key: str, body: bytes, **headers: str) -> bytes:
    """The head of a signed PutObject that waits for a 100 before it sends its body."""
    url = f"{target.endpoint}/{target.bucket}/{key}"
    request = AWSRequest("PUT", url, headers=headers, data=body)
    S3SigV4Auth(Credentials(target.access_key_id, target.secret_access_key), "s3", REGION).add_auth(request)
    parts = urlsplit(url)
    lines = [f"PUT {parts.path} HTTP/1.1", f"Host: {parts.netloc}"]
    lines += ["Expect: 100-continue", f"Content-Length: {len(body)}"]
    lines += [f"{name}: {value}" for name, value in request.headers.items()]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


def connect(target: Target) -> socket.socket:
    """A connection with a timeout."""
    parts = urlsplit(target.endpoint)
    return socket.create_connection((parts.hostname, parts.port), timeout=PATIENCE)


def head(link: socket.socket) -> bytes:
    """The next head of an answer, in lower case."""
    found = b""
    while not found.endswith(b"\r\n\r\n"):
        got = link.recv(1)
        assert got, found
        found += got
    return found.lower()


def test_expect_continue_is_answered_before_the_body(branch: Target) -> None:
    with connect(branch) as link:
        for body in (b"some", b"", b"again"):
            link.sendall(expecting(branch, branch.key("a"), body))
            assert head(link) == b"http/1.1 100 continue\r\n\r\n", body
            link.sendall(body)
            answer = head(link)
            assert answer.startswith(b"http/1.1 200"), answer
            assert b"content-length: 0" in answer
    assert branch.boto().get_object(Bucket=branch.bucket, Key=branch.key("a"))["Body"].read() == b"again"


def test_a_refusal_leaves_no_connection_in_doubt(branch: Target) -> None:
    """The client has not sent its body: it is asked for first, or the connection ends."""
    branch.boto().put_object(Bucket=branch.bucket, Key=branch.key("there"), Body=b"1")
    never = Target(branch.endpoint, branch.access_key_id, "wrong", branch.bucket, branch.prefix)
    for request, status in (
        (expecting(never, branch.key("new"), b"body"), b"http/1.1 403"),
        (expecting(branch, "nowhere/new", b"body"), b"http/1.1 404"),
        (expecting(branch, branch.key("there"), b"body", **{"If-None-Match": "*"}), b"http/1.1 412"),
    ):
        with connect(branch) as link:
            link.sendall(request)
            answer = head(link)
            if answer.startswith(b"http/1.1 100"):
                link.sendall(b"body")
                answer = head(link)
            else:
                assert b"connection: close" in answer, answer
            assert answer.startswith(status), answer
