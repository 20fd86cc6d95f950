"""What the server tests share: a small engine, a server in this process, and a client that sends exact bytes."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import functools
import hashlib
import io
import logging
import re
import socket
import threading
from collections.abc import AsyncIterable, AsyncIterator, Callable, Coroutine, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import httpx
import msgspec
import uvicorn
from lakebed_engine.engine import Engine
from lakebed_engine.maintenance import Maintenance
from lakebed_engine.services import Branches, Objects, Repositories
from lakebed_engine.stores.kv.memory import MemoryKV
from lakebed_engine.vocabulary import errors
from lakebed_engine.vocabulary.checksums import ObjectChecksum
from lakebed_engine.vocabulary.direct_writes import DataPlace
from lakebed_engine.vocabulary.records import Branch, Entry, Located, ObjectFailure, Repository
from lakebed_engine.vocabulary.reports import SweepOptions, SweepPass
from lakebed_engine.vocabulary.requests import Deletion, UploadRequest
from lakebed_server.auth.authenticate import Authenticator
from lakebed_server.auth.credentials import CredentialStore
from lakebed_server.auth.secret_key import KeyRing, SecretKey
from lakebed_server.bounds.connections import Connections
from lakebed_server.http.request import Installation, Services
from lakebed_server.network.clients import read_proxies
from lakebed_server.process.app import App, create_app
from lakebed_server.process.logs import LEVELS, Format, LineFormatter
from lakebed_server.settings.schema import LimitSettings
from lakebed_server.transport.protocol import Protocol
from lakebed_wire.operations import ERROR_KINDS

from tests.support.waiting import PATIENCE, wait_until
from tools.openapi import spec

T = TypeVar("T")
Chunks = AsyncIterator[bytes]

KEY_ID, SECRET = "AKIAIOSFOLQUICKSTART", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"
BASIC = "Basic " + base64.b64encode(f"{KEY_ID}:{SECRET}".encode()).decode()
OBJECTS = "/api/v1/repositories/repo/refs/main/objects"
UPLOAD = "/api/v1/repositories/repo/branches/main/objects"


def run(job: Coroutine[Any, Any, T]) -> T:
    return asyncio.run(job)


class FakeEngine(Engine):
    """Repository `repo` with branch `main` and objects in a dictionary; `fail` is raised by the next operation."""

    def __init__(self) -> None:
        self.stored: dict[str, tuple[Entry, bytes]] = {}
        self.uploads: list[UploadRequest] = []
        self.interrupted: list[BaseException] = []
        self.fail: Exception | None = None
        self.seen: list[tuple[object, ...]] = []
        self.given = 0  # chunks of downloads
        self.repositories = FakeRepositories(self)
        self.branches = FakeBranches(self)
        self.objects = FakeObjects(self)
        self.maintenance = FakeMaintenance(self)

    def put(self, path: str, data: bytes, **more: Any) -> Entry:
        entry = Entry(
            physical_address="data/" + path,
            checksum=hashlib.md5(data).hexdigest(),
            parts=0,
            size=len(data),
            mtime=1_700_000_000,
            content_type=more.get("content_type", "text/csv"),
            metadata=more.get("metadata", {}),
            identity=b"",
        )
        self.stored[path] = (entry, data)
        return entry

    def check(self, repo: str = "repo", branch: str = "main") -> None:
        if self.fail is not None:
            raise self.fail
        if repo != "repo":
            raise errors.RepositoryNotFoundError(f"repository {repo} not found")
        if branch != "main":
            raise errors.BranchNotFoundError(f"branch {branch} not found")

    async def close(self) -> None:
        self.seen.append(("close",))

    def open_entry(self, entry: Entry, start: int, length: int | None) -> Any:
        path = entry.physical_address.removeprefix("data/")

        @contextlib.asynccontextmanager
        async def opened() -> AsyncIterator[Chunks]:
            if path not in self.stored:
                raise errors.ObjectGoneError(f"the data of {path} is gone")
            data = self.stored[path][1]
            end = len(data) if length is None else start + length

            async def chunks() -> Chunks:
                for at in range(start, end, 1 << 20):
                    self.given += 1
                    await asyncio.sleep(0)  # a real store is awaited for each chunk: other tasks get their turn
                    yield data[at : min(at + (1 << 20), end)]

            yield chunks()

        return opened()

    async def read(self, chunks: AsyncIterable[bytes]) -> bytes:
        try:
            return b"".join([chunk async for chunk in chunks])
        except BaseException as error:
            self.interrupted.append(error)
            raise


class FakeRepositories(Repositories):
    def __init__(self, fake: FakeEngine) -> None:
        self._fake = fake

    async def get(self, name: str) -> Repository:
        self._fake.check(name)
        return Repository(
            uid="1", name=name, storage_namespace="mem://repo", default_branch="main", creation_date=1_700_000_000
        )

    async def data_place(self, repo_name: str) -> DataPlace:
        return DataPlace(f"mem://{repo_name}", False, "")


class FakeBranches(Branches):
    def __init__(self, fake: FakeEngine) -> None:
        self._fake = fake

    async def get(self, repo_name: str, name: str) -> Branch:
        self._fake.seen.append((repo_name, name))
        self._fake.check(repo_name)
        return Branch(name=name, uid="1", gen=1, commit_id="c" * 64, staging_token="t")


class FakeObjects(Objects):
    def __init__(self, fake: FakeEngine) -> None:
        self._fake = fake

    async def stat(self, repo_name: str, ref: str, path: str) -> Entry:
        self._fake.check(repo_name)
        if path not in self._fake.stored:
            raise errors.ObjectNotFoundError(f"object {path!r} not found in {ref}")
        return self._fake.stored[path][0]

    async def locate(self, repo_name: str, ref: str, path: str) -> Located:
        return self._located(await self.stat(repo_name, ref, path))

    def _located(self, entry: Entry) -> Located:
        return Located(entry, f"mem://repo/{entry.physical_address}")

    def open(self, repo_name: str, entry: Entry, start: int = 0, length: int | None = None) -> Any:
        return self._fake.open_entry(entry, start, length)

    async def upload(
        self,
        repo_name: str,
        branch: str,
        request: UploadRequest,
        chunks: AsyncIterable[bytes],
        described: Callable[[], ObjectChecksum | None] | None = None,
    ) -> Located:
        self._fake.check(repo_name, branch)
        self._fake.uploads.append(request)
        data = await self._fake.read(chunks)
        checksum = None if described is None else described()
        metadata = {**request.metadata, **({} if checksum is None else checksum.metadata())}
        return self._located(self._fake.put(request.path, data, content_type=request.content_type, metadata=metadata))

    async def upload_many(
        self,
        repo_name: str,
        branch: str,
        changes: AsyncIterable[tuple[UploadRequest, AsyncIterable[bytes]] | Deletion],
        *,
        force: bool = False,
    ) -> list[tuple[str, Located]]:
        fake = self._fake
        fake.check(repo_name, branch)
        taken: list[tuple[UploadRequest, bytes] | Deletion] = []
        async for change in changes:
            if isinstance(change, Deletion):
                taken.append(change)
            else:
                taken.append((change[0], await fake.read(change[1])))
        made = []
        for one in taken:
            if isinstance(one, Deletion):
                fake.stored.pop(one.path, None)
            else:
                request, data = one
                entry = fake.put(request.path, data, content_type=request.content_type, metadata=request.metadata)
                made.append((request.path, self._located(entry)))
        return made

    async def delete_many(
        self, repo_name: str, branch: str, paths: Sequence[str], *, force: bool = False
    ) -> list[ObjectFailure]:
        self._fake.check(repo_name, branch)
        return [ObjectFailure(path, "invalid_path", "a path is not empty") for path in paths if not path]


class FakeMaintenance(Maintenance):
    def __init__(self, fake: FakeEngine) -> None:
        self._fake = fake

    async def drain_events(self, *, everything: bool = False) -> int:
        return 0

    async def compact(self) -> int:
        return 0

    async def sweep(self, repo_name: str = "", options: SweepOptions | None = None, **_: Any) -> SweepPass:
        self._fake.seen.append(("sweep", repo_name, options))
        self._fake.check()
        return SweepPass(failures=[("repo", "is damaged")])

    async def keep_time(self) -> None:
        pass

    async def clean(self) -> int:
        self._fake.seen.append(("clean",))
        if self._fake.fail is not None:
            raise self._fake.fail
        return 0


def services(engine: Engine, kv: MemoryKV | None = None, proxies: str = "") -> Services:
    """Services with the one access key of these tests. `proxies` are the trusted proxies."""
    store = CredentialStore(kv or MemoryKV(), KeyRing([SecretKey("a secret of the tests")]))
    run(store.ensure_admin(KEY_ID, SECRET, 1_700_000_000))
    return Services(engine, Authenticator(store, 3600), Installation(version="1.2.3"), proxies=read_proxies(proxies))


def make_app(engine: Engine | None = None, *, proxies: str = "", **more: Any) -> App:
    return create_app(services(engine or FakeEngine(), proxies=proxies), **more)


@contextlib.contextmanager
def log_to_stream(level: str, style: Format) -> Iterator[io.StringIO]:
    """Send the log lines of requests to a stream, at one of the levels of `logging.level`."""
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(LineFormatter(style))
    log = logging.getLogger("lakebed.requests")
    before = log.level
    log.addHandler(handler)
    log.setLevel(LEVELS[level])
    try:
        yield stream
    finally:
        log.removeHandler(handler)
        log.setLevel(before)


@dataclass
class Answer:
    """A response, whole."""

    status: int
    headers: dict[str, str]
    body: bytes
    closed: bool = False
    raw_headers: list[tuple[str, str]] = field(default_factory=list)

    @property
    def json(self) -> Any:
        return msgspec.json.decode(self.body)

    @property
    def kind(self) -> str:
        return str(self.json["kind"])


def ask(
    app: App,
    target: str,
    method: str = "GET",
    body: bytes = b"",
    *,
    auth: bool = True,
    runner: asyncio.Runner | None = None,
    client: str = "192.0.2.1",
    **headers: str,
) -> Answer:
    """One request in this process, from the address `client`; header names are written with underscores."""
    path, _, query = target.partition("?")
    sent = [(name.replace("_", "-").lower().encode(), value.encode()) for name, value in headers.items()]
    if auth and "authorization" not in {name.lower() for name in headers}:
        sent.append((b"authorization", BASIC.encode()))
    if body and "content_length" not in headers:
        sent.append((b"content-length", str(len(body)).encode()))
    scope = {
        "type": "http",
        "method": method,
        "path": path,
        "raw_path": path.encode(),
        "query_string": query.encode(),
        "headers": sent,
        "root_path": "",
        "client": (client, 50000),
    }
    messages = [{"type": "http.request", "body": body, "more_body": False}, {"type": "http.disconnect"}]
    got: list[Any] = []

    async def receive() -> Any:
        return messages.pop(0)

    async def send(message: Any) -> None:
        got.append(message)

    job = app(scope, receive, send)
    run(job) if runner is None else runner.run(job)
    start = got[0]
    pairs = [(name.decode(), value.decode()) for name, value in start["headers"]]
    return Answer(start["status"], dict(pairs), b"".join(m.get("body", b"") for m in got[1:]), raw_headers=pairs)


@contextlib.contextmanager
def serving(app: Any, **config: Any) -> Iterator[int]:
    """The application on a real socket, in a thread; gives the port."""
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    server = uvicorn.Server(
        uvicorn.Config(app, ws="none", log_config=None, server_header=False, **{"http": "httptools", **config})
    )
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    try:
        wait_until(lambda: server.started, "the application listens")
        yield listener.getsockname()[1]
    finally:
        server.should_exit = True
        thread.join(PATIENCE)
        assert not thread.is_alive()


def bounded(**limits: Any) -> Any:
    """The server's HTTP protocol, for `serving`, with these limits: fields of LimitSettings, and of Connections."""
    more = {name: limits.pop(name) for name in ("most", "exempt") if name in limits}
    return functools.partial(Protocol, Connections(LimitSettings(**limits), **more))


class Wire:
    """One connection, byte by byte."""

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
        self._left = b""

    def __enter__(self) -> Wire:
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()

    def head(self, line: str, *headers: str) -> None:
        """Send a request line and headers, Host and credentials included."""
        rows = [f"{line} HTTP/1.1", "Host: test", f"Authorization: {BASIC}", *headers]
        self.send(("\r\n".join(rows) + "\r\n\r\n").encode())

    def send(self, data: bytes) -> None:
        self.socket.sendall(data)

    def answer(self, *, head: bool = False) -> Answer:
        """Read one response."""
        while b"\r\n\r\n" not in self._left:
            self._left += self._received()
        raw, self._left = self._left.split(b"\r\n\r\n", 1)
        first, *rows = raw.decode().split("\r\n")
        status = int(first.split()[1])
        pairs = [(row.partition(": ")[0].lower(), row.partition(": ")[2]) for row in rows]
        headers = dict(pairs)
        length = 0 if head or status in (100, 204, 304) else int(headers.get("content-length", 0))
        pieces, there = [self._left], len(self._left)
        while there < length:
            pieces.append(self._received())
            there += len(pieces[-1])
        self._left = b"".join(pieces)
        body, self._left = self._left[:length], self._left[length:]
        return Answer(status, headers, body, raw_headers=pairs)

    def closed(self) -> bool:
        """Whether the server closes the connection within a while."""
        try:
            return self.socket.recv(1) == b""
        except ConnectionResetError:
            return True

    def _received(self) -> bytes:
        data = self.socket.recv(1 << 20)
        if not data:
            raise EOFError("the server closed the connection")
        return data


LOGIN = "/api/v1/auth/login"


def basic(key_id: Any, secret: Any) -> Any:
    return "Basic " + base64.b64encode(f"{key_id}:{secret}".encode()).decode()


def refused(answer: httpx.Response, kind: str, said: str, *, retry: bool) -> None:
    """The answer is this error, fit to be shown, with Retry-After where waiting may help and only there."""
    body = answer.json()
    assert (answer.status_code, body["kind"]) == (ERROR_KINDS[kind], kind), answer.text
    assert re.search(said, body["message"]), body["message"]
    assert ("retry-after" in answer.headers) == retry
    assert body["request_id"] == answer.headers["x-request-id"]
    for secret in ("test-secret", "/tmp", "Traceback", "127.0.0.1", "a message of the store"):
        assert secret not in answer.text


DOCUMENT = spec.load(Path(__file__).parents[2] / "openapi.yaml")


DOCUMENTED = {
    (operation["operationId"], int(status))
    for item in DOCUMENT["paths"].values()
    for operation in item.values()
    if isinstance(operation, dict) and "operationId" in operation
    for status in operation["responses"]
    if int(status) >= 400
}


class Clock:
    """Time that is set."""

    def __init__(self) -> None:
        self.time = 1_700_000_000.0

    def now(self) -> float:
        return self.time

    def monotonic(self) -> float:
        return self.time
