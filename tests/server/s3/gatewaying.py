"""What the tests of the gateway share: an engine in memory behind the whole application, and requests byte by byte.

Requests are signed by botocore, which is not ours: it judges our reading of signatures.
"""

from __future__ import annotations

import asyncio
import datetime
import hashlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from unittest import mock
from urllib.parse import quote
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from botocore import auth as botocore_auth  # type: ignore[import-untyped]
from botocore.awsrequest import AWSRequest  # type: ignore[import-untyped]
from botocore.credentials import Credentials  # type: ignore[import-untyped]
from lakebed_engine.engine import Engine
from lakebed_engine.stores.kv.memory import MemoryKV
from lakebed_engine.stores.objects.registry import Stores
from lakebed_server.bounds.admission import Admission
from lakebed_server.s3.config import Alias, S3Config
from lakebed_server.s3.gateway import Gateway
from lakebed_server.settings.schema import LimitSettings

from tests.server.support import KEY_ID, SECRET, Answer, services

HOST = "s3.test"
NOW = 1_700_000_000
EMPTY = hashlib.sha256(b"").hexdigest()
UNSIGNED = "UNSIGNED-PAYLOAD"

Headers = dict[str, str]


class Bucket:
    """A gateway over an engine in memory, with a repository `lake`; one event loop for all requests."""

    def __init__(self, limits: LimitSettings | None = None, *, directory_marks: bool = False, **config: Any) -> None:
        kv = MemoryKV()
        self.now = float(NOW)
        self.engine = Engine(kv, Stores(None, memory=True), directory_marks=directory_marks)
        given = {"domains": (HOST,), "aliases": {"bound": Alias("lake", "main")}, **config}
        admission = Admission(limits or LimitSettings())
        known = services(self.engine, kv, proxies="192.0.2.1")
        self.gateway = Gateway(known, S3Config(**given), clock=lambda: self.now, admission=admission)
        self.runner = asyncio.Runner()
        self.run(self.engine.repositories.create("lake", "mem://lake"))

    def run(self, job: Any) -> Any:
        return self.runner.run(job)

    def close(self) -> None:
        self.run(self.engine.close())
        self.runner.close()

    def send(
        self,
        method: str,
        target: str,
        headers: Headers | Sequence[tuple[str, str]],
        body: bytes = b"",
        *,
        pieces: Sequence[bytes] | None = None,
    ) -> Answer:
        """One request as it is. The body comes in the given pieces."""
        path, _, query = target.partition("?")
        pairs = list(headers.items()) if isinstance(headers, dict) else list(headers)
        sent = [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in pairs]
        if pieces is None:
            pieces = [body]
        if not any(name == b"content-length" for name, _ in sent):
            sent.append((b"content-length", str(sum(map(len, pieces))).encode()))
        scope = {
            "type": "http",
            "method": method,
            "path": path,
            "raw_path": path.encode(),
            "query_string": query.encode(),
            "headers": sent,
            "root_path": "",
            "client": ("192.0.2.1", 50000),
        }
        messages: list[dict[str, Any]] = [{"type": "http.request", "body": one, "more_body": True} for one in pieces]
        messages += [{"type": "http.request", "body": b"", "more_body": False}, {"type": "http.disconnect"}]
        got: list[Any] = []

        async def receive() -> Any:
            return messages.pop(0)

        async def take(message: Any) -> None:
            got.append(message)

        self.run(self.gateway(scope, receive, take))
        found = {name.decode(): value.decode("latin-1") for name, value in got[0]["headers"]}
        return Answer(got[0]["status"], found, b"".join(one.get("body", b"") for one in got[1:]))

    def __call__(
        self,
        method: str,
        target: str,
        body: Any = b"",
        *,
        payload: Any = None,
        pieces: Any = None,
        host: Any = HOST,
        **headers: Any,
    ) -> Answer:
        """A request signed with Version 4. Names of headers are written with underscores."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        payload = hashlib.sha256(body).hexdigest() if payload is None else payload
        signed = self.sign(method, target, {"host": host, **named}, payload)
        return self.send(method, target, signed, body, pieces=pieces)

    def sign(self, method: str, target: str, headers: Headers, payload: str = EMPTY, secret: str = SECRET) -> Headers:
        """The headers with a signature of Version 4 by botocore."""
        sent = {"x-amz-content-sha256": payload, **headers}
        request = AWSRequest(method, f"http://{HOST}{target}", headers=sent)
        signer = botocore_auth.S3SigV4Auth(Credentials(KEY_ID, secret), "s3", "us-east-1")
        request.context["payload_signing_enabled"] = True
        with mock.patch.object(signer, "payload", return_value=payload), frozen(self.now):
            signer.add_auth(request)
        return {name: str(value) for name, value in request.headers.items()}

    def put(self, key: str, data: bytes = b"", **headers: str) -> Answer:
        """Write an object; asserts that it is written."""
        answer = self("PUT", f"/lake/{quote(key)}", data, **headers)
        assert answer.status == 200, answer.body
        return answer

    def paths(self, ref: str = "main") -> list[str]:
        """The paths that a branch shows."""
        page = self.run(self.engine.objects.list("lake", ref, amount=1000))
        return [row.path for row in page.items]


@contextmanager
def frozen(now: float) -> Iterator[None]:
    """botocore's clock at a time."""
    moment = datetime.datetime.fromtimestamp(now, datetime.UTC)
    clock: Callable[..., datetime.datetime] = lambda remove_tzinfo=True: (  # noqa: E731
        moment.replace(tzinfo=None) if remove_tzinfo else moment
    )
    with mock.patch.object(botocore_auth, "get_current_datetime", clock):
        yield


def code(answer: Answer) -> str:
    """The S3 code of an error."""
    return text(xml(answer), "Code")


def xml(answer: Answer) -> Element:
    """The root of an XML answer, without namespaces."""
    root = ElementTree.fromstring(answer.body)
    for element in root.iter():
        element.tag = element.tag.rpartition("}")[2]
    return root


def text(element: Element, path: str) -> str:
    """The text of an element that is there."""
    found = element.find(path)
    assert found is not None, path
    return found.text or ""


def texts(element: Element, path: str) -> list[str]:
    """The texts of all elements of a path."""
    return [one.text or "" for one in element.findall(path)]
