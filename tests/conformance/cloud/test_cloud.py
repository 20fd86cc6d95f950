"""What `s3://` promises beyond the common suite: faults, lost answers, leftovers, forks; and the disk cache."""

from __future__ import annotations

import asyncio
import os
import random
import subprocess
import sys
import textwrap
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

import lakebed_engine
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lakebed_engine.stores.objects.cloud import stream as cloud_stream
from lakebed_engine.stores.objects.cloud.conditional_put import MARK
from lakebed_engine.stores.objects.cloud.keys import NAME_BYTES, PROBE, TEMP, Place, plain
from lakebed_engine.stores.objects.cloud.listing import before, bound
from lakebed_engine.stores.objects.cloud.options import CloudOptions
from lakebed_engine.stores.objects.cloud.store import CloudObjects
from lakebed_engine.stores.objects.disk_cache import MAGIC, DiskCache, DiskCached
from lakebed_engine.stores.objects.memory import MemoryObjects
from lakebed_engine.stores.objects.registry import Stores
from lakebed_engine.stores.objects.threads import Threads
from lakebed_engine.vocabulary.errors import (
    BlobExists,
    BlobNotFound,
    InvalidNamespaceError,
    InvalidPathError,
    OutcomeUnknownError,
    StoreDeniedError,
    StoreFullError,
    StoreUnavailableError,
)

from tests.support.services.s3 import SECRET_ACCESS_KEY, S3Server, shared
from tests.support.waiting import PATIENCE, until

pytestmark = pytest.mark.slow

T = TypeVar("T")
MIB = 1 << 20
SERVERS = ["seaweedfs", "moto"]
PATIENT = {"retries": 5, "retry_seconds": 5.0, "silence_seconds": 5.0}
QUICK = {"retries": 1, "retry_seconds": 0.2, "silence_seconds": 5.0}
"""For what never gets better."""


def run(work: Coroutine[Any, Any, T]) -> T:
    return asyncio.run(work)


@pytest.fixture(params=SERVERS)
def server(request: pytest.FixtureRequest) -> S3Server:
    return shared(request.param)


@pytest.fixture
def opened() -> Iterator[Callable[..., CloudObjects]]:
    """Opens stores and closes them at the end."""
    stores = []

    def open_store(namespace: str, options: CloudOptions) -> CloudObjects:
        stores.append(CloudObjects(namespace, options))
        return stores[-1]

    yield open_store
    for store in stores:
        store.close()


async def keys(store: CloudObjects) -> list[str]:
    return [blob.key async for blob in store.list()]


async def stream(size: int, piece: int = MIB) -> AsyncIterator[bytes]:
    for at in range(0, size, piece):
        yield bytes(min(piece, size - at))


def prefix_of(namespace: str) -> str:
    return namespace.split("/", 3)[3] + "/"


# --- keys ------------------------------------------------------------------------------------------------------

PLACE = Place("s3://b/p", "s3", "b", "p/")
PIECES = st.sampled_from(
    ["a", "b", "/", "//", ".", "..", "%", "%o", "%s", "\\", "🪣", "é", "\n", "\x7f", ".lakebed-keys/", "x" * 64]
)  # fmt: skip
KEYS = st.lists(PIECES, min_size=1, max_size=8).map("".join) | st.text(min_size=1, max_size=40)


@given(key=KEYS)
def test_a_key_is_decoded_from_its_name(key: str) -> None:
    try:
        name = PLACE.name(key)
    except InvalidPathError:
        return
    assert PLACE.key(name) == key
    assert name == "p/" + key or name.startswith("p/.lakebed-keys/")
    assert (name == "p/" + key) is plain(key)


def test_plain_keys_stay_plain() -> None:
    for key in ["data/3/0af1", "orders/2026-11/a b.parquet", "é/🪣", "x=1/y+z@~(1)[2]{3}#?&%20", "a/...", "x" * 255]:
        assert PLACE.name(key) == "p/" + key
    assert PLACE.name("a//b") == "p/.lakebed-keys/a%s/%s/b%o"
    assert PLACE.name("y/" * 500 + "y") == "p/" + "y/" * 500 + "y"
    with pytest.raises(InvalidPathError, match=f"at most {NAME_BYTES:,} fit"):
        PLACE.name("y/" * 511 + "yy")


@given(prefix=KEYS, rest=st.text(max_size=5), smaller=KEYS)
def test_start_key_of_listing_is_below_the_prefix(prefix: str, rest: str, smaller: str) -> None:
    assert bound(before(prefix)) < prefix + rest
    assert bound(smaller) <= smaller


# --- conditional puts ------------------------------------------------------------------------------------------


async def test_a_race_has_one_winner(server: S3Server, opened: Callable[..., CloudObjects]) -> None:
    namespace = server.namespace()
    stores = [opened(namespace, server.options()) for _ in range(2)]

    async def attempt(n: int) -> bool:
        try:
            await stores[n % 2].put("k", b"the same content", if_absent=True)
        except BlobExists:
            return False
        return True

    assert sum(await asyncio.gather(*(attempt(n) for n in range(8)))) == 1
    assert await keys(stores[0]) == ["k"]  # what the self-test wrote is gone


class Proxy:
    """A proxy between store and server. `plan` decides for each request: pass, drop-answer, or an answer."""

    def __init__(self, target: str, plan: Callable[[str, str], str | bytes]) -> None:
        host, port = target.removeprefix("http://").split(":")
        self._target = (host, int(port))
        self._plan = plan
        self.seen: list[str] = []
        self.endpoint = ""
        self._serving: set[asyncio.Task[None]] = set()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[Proxy]:
        server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        self.endpoint = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        try:
            yield self
        finally:
            server.close()
            for task in self._serving:
                task.cancel()
            await asyncio.gather(*self._serving, return_exceptions=True)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._serving.add(asyncio.ensure_future(self._serve(reader, writer)))

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while head := await _head(reader):
                method, path, _ = head.split(b"\r\n", 1)[0].decode().split(" ", 2)
                body = await reader.readexactly(_length(head))
                self.seen.append(f"{method} {path}")
                what = self._plan(method, path)
                if what == "drop-request":
                    return
                answer = what if isinstance(what, bytes) else await self._forward(head, body)
                if what == "drop-answer":
                    return
                writer.write(answer)
                await writer.drain()
        except (OSError, asyncio.IncompleteReadError):
            return
        finally:
            writer.close()

    async def _forward(self, head: bytes, body: bytes) -> bytes:
        reader, writer = await asyncio.open_connection(*self._target)
        first, rest = head.split(b"\r\n", 1)
        writer.write(first + b"\r\nConnection: close\r\n" + rest + body)
        try:
            return await reader.read()
        finally:
            writer.close()


async def _head(reader: asyncio.StreamReader) -> bytes:
    try:
        return await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return b""


def _length(head: bytes) -> int:
    for line in head.split(b"\r\n"):
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            return int(value)
    return 0


def refusal(status: str, code: str) -> bytes:
    body = f"<Error><Code>{code}</Code><Message>no {SECRET_ACCESS_KEY}</Message></Error>".encode()
    return b"HTTP/1.1 %s\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s" % (status.encode(), len(body), body)


BUSY = refusal("503 Slow Down", "SlowDown")


def first(count: int, what: str | bytes, only: str = "PUT") -> Callable[[str, str], str | bytes]:
    """The first `count` requests of a method, the self-test's left out, get `what`."""
    left = [count]

    def plan(method: str, path: str) -> str | bytes:
        if method != only or PROBE in path or left[0] == 0:
            return "pass"
        left[0] -= 1
        return what

    return plan


def through(
    server: S3Server,
    opened: Callable[..., CloudObjects],
    plan: Callable[[str, str], str | bytes],
    times: dict[str, float] = PATIENT,
) -> Callable[[Callable[[CloudObjects, Proxy], Coroutine[Any, Any, None]]], None]:
    """Runs an async function on a store behind a proxy."""

    def runner(body: Callable[[CloudObjects, Proxy], Coroutine[Any, Any, None]]) -> None:
        async def main() -> None:
            async with Proxy(server.endpoint, plan).running() as proxy:
                await body(opened(server.namespace(), server.options(endpoint=proxy.endpoint, **times)), proxy)

        run(main())

    return runner


@pytest.mark.parametrize("times", [1, 2])
def test_a_lost_answer_to_a_conditional_put_is_settled(
    server: S3Server, opened: Callable[..., CloudObjects], times: int
) -> None:
    async def body(store: CloudObjects, proxy: Proxy) -> None:
        await store.put("k", b"mine", if_absent=True)
        assert await store.get("k") == b"mine"
        with pytest.raises(BlobExists):
            await store.put("k", b"mine", if_absent=True)

    through(server, opened, first(times, "drop-answer"))(body)


def test_a_lost_request_is_sent_again(opened: Callable[..., CloudObjects]) -> None:
    async def body(store: CloudObjects, proxy: Proxy) -> None:
        await store.put("k", b"mine", if_absent=True)
        assert await store.get("k") == b"mine"

    through(shared("seaweedfs"), opened, first(2, "drop-request"))(body)


def test_a_retry_after_a_lost_request_loses_to_another_writer(opened: Callable[..., CloudObjects]) -> None:
    """Another writer stored the same bytes. The mark of the object differs."""
    server = shared("seaweedfs")

    async def body(store: CloudObjects, proxy: Proxy) -> None:
        direct = opened(store.uri, server.options())
        await direct.put("k", b"equal", if_absent=True)
        with pytest.raises(BlobExists):
            await store.put("k", b"equal", if_absent=True)

    through(server, opened, first(1, "drop-request"))(body)


def test_an_unknown_outcome_is_reported(opened: Callable[..., CloudObjects]) -> None:
    def plan(method: str, path: str) -> str | bytes:
        if PROBE in path or method not in {"PUT", "GET"}:
            return "pass"
        return "drop-answer"

    async def body(store: CloudObjects, proxy: Proxy) -> None:
        with pytest.raises(OutcomeUnknownError, match=r"/k was lost, .* read it back"):
            await store.put("k", b"mine", if_absent=True)

    through(shared("seaweedfs"), opened, plan, QUICK)(body)


def test_equal_content_written_without_a_condition_is_not_ours(opened: Callable[..., CloudObjects]) -> None:
    """After a lost request, a store that drops marks cannot identify the writer, so the put reports a conflict."""
    server = shared("seaweedfs")

    async def body(store: CloudObjects, proxy: Proxy) -> None:
        direct = opened(store.uri, server.options())
        await direct.put("k", b"equal")
        with pytest.raises(OutcomeUnknownError):
            await store.put("k", b"equal", if_absent=True)
        with pytest.raises(BlobExists):
            await store.put("k", b"equal", if_absent=True)

    through(server, opened, first(1, "drop-request"), QUICK)(body)


def test_a_conflict_without_a_winner_is_tried_again(opened: Callable[..., CloudObjects]) -> None:
    """S3 answers 409 when conditional puts meet; it does not mean that the key is taken."""
    conflict = refusal("409 Conflict", "ConditionalRequestConflict")

    async def body(store: CloudObjects, proxy: Proxy) -> None:
        await store.put("k", b"mine", if_absent=True)
        assert await store.get("k") == b"mine"

    through(shared("seaweedfs"), opened, first(2, conflict))(body)


async def test_put_if_absent_refused_for_absent_key_is_unavailable(opened: Callable[..., CloudObjects]) -> None:
    """SeaweedFS answers 412 to `d` if absent where `d/b` is, for it has a directory of that name."""
    server = shared("seaweedfs")
    store = opened(server.namespace(), server.options())
    await store.put("d/b", b"1", if_absent=True)
    with pytest.raises(StoreUnavailableError, match="/d: the store reports that the key exists, but there is no"):
        await store.put("d", b"2", if_absent=True)
    await store.put("d", b"3")
    assert await store.get("d") == b"3"
    with pytest.raises(BlobExists):
        await store.put("d", b"4", if_absent=True)
    assert await keys(store) == ["d", "d/b"]


def test_a_store_that_ignores_the_condition_is_refused(opened: Callable[..., CloudObjects]) -> None:
    done = b'HTTP/1.1 200 OK\r\nContent-Length: 0\r\nETag: "x"\r\nConnection: close\r\n\r\n'

    async def body(store: CloudObjects, proxy: Proxy) -> None:
        for _ in range(2):
            with pytest.raises(StoreUnavailableError, match="ignores `If-None-Match"):
                await store.put("k", b"mine", if_absent=True)
        asked = [request for request in proxy.seen if request.startswith("PUT")]
        assert not [request for request in asked if PROBE not in request]
        assert len(asked) == 12  # once: the verdict is kept
        with pytest.raises(StoreUnavailableError, match="ignores"):
            await store.put_stream("k", stream(9 * MIB), if_absent=True)

    through(shared("seaweedfs"), opened, lambda method, path: done if method == "PUT" else "pass")(body)


async def test_long_conditional_streams(server: S3Server, opened: Callable[..., CloudObjects]) -> None:
    namespace = server.namespace()
    store = opened(namespace, server.options())
    result = await store.put_stream("big", stream(9 * MIB), if_absent=True)
    assert result.size == (await store.head("big")).size == 9 * MIB
    with pytest.raises(BlobExists):
        await store.put_stream("big", stream(9 * MIB), if_absent=True)
    assert [blob async for blob in store.list_partial()] == []
    left = f"{prefix_of(namespace)}{TEMP}{'0' * 32}"
    server.boto().put_object(Bucket=server.bucket, Key=left, Body=b"left by a killed process")
    theirs = f"{prefix_of(namespace)}{TEMP}notes.txt"
    server.boto().put_object(Bucket=server.bucket, Key=theirs, Body=b"not what a put leaves: it stays")
    found = [blob async for blob in store.list_partial()]
    assert [(blob.key, blob.size) for blob in found] == [("0" * 32, 24)]
    assert await keys(store) == ["big"]
    await store.delete_partial(found[0].key)
    assert [blob async for blob in store.list_partial()] == []
    with pytest.raises(InvalidPathError):
        await store.delete_partial("../big")


# --- streams ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", ["error", "cancel"])
async def test_an_aborted_upload_leaves_nothing(
    server: S3Server, opened: Callable[..., CloudObjects], ending: str
) -> None:
    namespace = server.namespace()
    store = opened(namespace, server.options())
    stuck = asyncio.Event()

    async def broken() -> AsyncIterator[bytes]:
        async for chunk in stream(20 * MIB):
            yield chunk
        assert server.uploads(prefix_of(namespace))  # it is under way
        if ending == "error":
            raise ConnectionResetError("the client went away")
        stuck.set()
        await asyncio.sleep(60)

    task = asyncio.ensure_future(store.put_stream("big", broken()))
    if ending == "cancel":
        await stuck.wait()
        task.cancel()
    with pytest.raises(ConnectionResetError if ending == "error" else asyncio.CancelledError):
        await task
    assert await keys(store) == []
    assert server.uploads(prefix_of(namespace)) == []


def test_failed_parts_abort_the_upload(opened: Callable[..., CloudObjects]) -> None:
    server = shared("seaweedfs")

    def plan(method: str, path: str) -> str | bytes:
        return refusal("507 Insufficient Storage", "XMinioStorageFull") if "partNumber=2" in path else "pass"

    async def body(store: CloudObjects, proxy: Proxy) -> None:
        with pytest.raises(StoreFullError, match="/big: the store has no space"):
            await store.put_stream("big", stream(60 * MIB))
        with pytest.raises(BlobNotFound):
            await store.head("big")
        assert server.uploads(prefix_of(store.uri)) == []

    through(server, opened, plan, QUICK)(body)


async def test_memory_of_a_long_stream_is_bounded(opened: Callable[..., CloudObjects]) -> None:
    """The amount of unsent data is bounded, whatever the speed of the store."""
    server = shared("seaweedfs")
    gate = threading.Event()
    sent = 0

    def plan(method: str, path: str) -> str | bytes:
        return "pass"

    async def endless() -> AsyncIterator[bytes]:
        nonlocal sent
        for _ in range(200):
            sent += MIB
            yield bytes(MIB)

    proxy = Proxy(server.endpoint, plan)
    forward = proxy._forward

    async def held(head: bytes, body: bytes) -> bytes:
        while b"partNumber" in head and not gate.is_set():
            await asyncio.sleep(0.01)
        return await forward(head, body)

    proxy._forward = held  # type: ignore[method-assign]
    async with proxy.running():
        store = opened(server.namespace(), server.options(endpoint=proxy.endpoint))
        task = asyncio.ensure_future(store.put_stream("big", endless()))
        await until(lambda: sent > 8 * MIB, "it is under way")
        await asyncio.sleep(0.5)  # time for the store to read more than it may
        assert sent <= 48 * MIB
        task.cancel()
        gate.set()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert cloud_stream.PART == 8 * MIB


# --- faults ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["PUT", "GET", "POST", "HEAD"])
def test_a_busy_store_is_asked_again(opened: Callable[..., CloudObjects], method: str) -> None:
    async def body(store: CloudObjects, proxy: Proxy) -> None:
        await store.put("k", b"1")
        assert await store.get("k") == b"1"
        assert (await store.head("k")).size == 1
        await store.delete(["k", "absent"])
        assert await keys(store) == []

    through(shared("seaweedfs"), opened, first(2, BUSY, method))(body)


@pytest.mark.parametrize(
    ("answer", "wanted", "said"),
    [
        (BUSY, StoreUnavailableError, "503 SlowDown"),
        (refusal("500 Internal Server Error", "InternalError"), StoreUnavailableError, "500 InternalError"),
        (refusal("507 Insufficient Storage", "XMinioStorageFull"), StoreFullError, "no space left"),
        (refusal("403 Forbidden", "QuotaExceeded"), StoreFullError, "no space left"),
        (refusal("403 Forbidden", "AccessDenied"), StoreDeniedError, "denied access (403 AccessDenied)"),
        ("drop-request", StoreUnavailableError, "did not answer"),
    ],
)
def test_faults_have_types(
    opened: Callable[..., CloudObjects], answer: str | bytes, wanted: type[Exception], said: str
) -> None:
    async def body(store: CloudObjects, proxy: Proxy) -> None:
        calls: list[Callable[[], Coroutine[Any, Any, object]]] = [
            lambda: store.put("k", b"1"), lambda: store.get("k"), lambda: store.delete(["k"]), lambda: keys(store),
            lambda: store.copy("k", "l"), lambda: store.put_stream("k", stream(9 * MIB)),
        ]  # fmt: skip
        for error in await asyncio.gather(*(call() for call in calls), return_exceptions=True):
            assert type(error) is wanted, error
            assert said in str(error)
            assert store.uri in str(error)
            assert SECRET_ACCESS_KEY not in repr(error)
        before_conditional = len(proxy.seen)
        with pytest.raises((wanted, OutcomeUnknownError)):
            await store.put("k", b"1", if_absent=True)
        assert len(proxy.seen) > before_conditional

    through(shared("seaweedfs"), opened, lambda method, path: answer, QUICK)(body)


async def test_unreachable_endpoint_raises_store_unavailable(opened: Callable[..., CloudObjects]) -> None:
    options = shared("seaweedfs").options(endpoint="http://127.0.0.1:1", **QUICK)
    store = opened("s3://b/p", options)
    for call in (store.put("k", b""), store.put("k", b"", if_absent=True), store.get("k")):
        with pytest.raises(StoreUnavailableError, match="cannot be reached"):
            await call


async def test_a_missing_bucket(server: S3Server, opened: Callable[..., CloudObjects]) -> None:
    store = opened("s3://no-such-bucket/p", server.options())
    calls: list[Coroutine[Any, Any, object]] = [
        store.put("k", b""), store.put("k", b"", if_absent=True), store.put_stream("k", stream(9 * MIB)),
        store.get("k"), store.head("k"), store.delete(["k"]), keys(store),
    ]  # fmt: skip
    for call in calls:
        with pytest.raises(StoreUnavailableError, match="bucket 'no-such-bucket' does not exist; create it"):
            await call


@pytest.mark.parametrize("wrong", ["access_key_id", "secret_access_key"])
async def test_wrong_credentials(opened: Callable[..., CloudObjects], wrong: str) -> None:
    """Only on SeaweedFS, because moto accepts all credentials."""
    server = shared("seaweedfs")
    store = opened(server.namespace(), server.options(**{wrong: "made-up-0123456789"}))
    for call in (store.put("k", b""), store.put("k", b"", if_absent=True), store.get("k"), keys(store)):
        with pytest.raises(StoreUnavailableError, match=r"denied access .403 .*check the credentials") as caught:
            await call
        for secret in (SECRET_ACCESS_KEY, "made-up", server.access_key_id):
            assert secret not in str(caught.value)
    assert SECRET_ACCESS_KEY not in repr(server.options())


async def test_credentials_of_a_profile(opened: Callable[..., CloudObjects], tmp_path: Path) -> None:
    server = shared("seaweedfs")
    path = tmp_path / "credentials"
    path.write_text(
        f"[lake]\naws_access_key_id = {server.access_key_id}\naws_secret_access_key = {server.secret_access_key}\n"
    )
    given = {"access_key_id": "", "secret_access_key": "", "credentials_file": str(path)}
    await opened(server.namespace(), server.options(profile="lake", **given)).put("k", b"1")
    with pytest.raises(StoreUnavailableError, match="has no profile 'other'"):
        await opened(server.namespace(), server.options(profile="other", **given)).put("k", b"1")


def test_a_fork_after_use_is_refused_and_before_use_is_fine() -> None:
    server = shared("seaweedfs")
    code = """
        import asyncio, os, sys, warnings
        from lakebed_engine.stores.objects.cloud.store import CloudObjects, CloudOptions
        from lakebed_engine.vocabulary.errors import StoreUnavailableError
        endpoint, namespace, key, secret = sys.argv[1:]
        warnings.simplefilter("ignore")  # a fork beside threads: what a pre-forking server does, on purpose here
        options = CloudOptions(
            endpoint=endpoint, region="us-east-1", access_key_id=key, secret_access_key=secret, allow_http=True
        )
        store = CloudObjects(namespace, options)
        def forked(name):
            if os.fork() == 0:
                try:
                    asyncio.run(store.put(name, b"1"))
                    print(name, "written", flush=True)
                except StoreUnavailableError as error:
                    print(name, "forked from" in str(error), flush=True)
                os._exit(0)
            os.wait()
        forked("before")
        asyncio.run(store.put("parent", b"1"))
        forked("after")
        asyncio.run(store.put("parent", b"2"))
        print("done")
    """
    path = os.path.dirname(next(iter(lakebed_engine.__path__)))
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code), server.endpoint, server.namespace(), server.access_key_id,
         server.secret_access_key],
        capture_output=True, text=True, timeout=PATIENCE, env={**os.environ, "PYTHONPATH": path}, check=False,
    )  # fmt: skip
    assert done.stdout.split("\n") == ["before written", "after True", "done", ""], done.stderr


# --- the registry and the disk cache ---------------------------------------------------------------------------


def test_the_registry_opens_buckets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    server = shared("seaweedfs")
    stores = Stores(None, cloud=server.options())
    namespace = server.namespace()
    store = stores.open(namespace + "/")
    assert isinstance(store, CloudObjects)
    assert store.uri == namespace
    assert stores.open(namespace) is store
    assert [stores.open(f"{scheme}://bucket").uri for scheme in ("gs", "az")] == ["gs://bucket", "az://bucket"]
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(InvalidNamespaceError, match="of the extra `s3`"):
        stores.open("s3://another")
    stores.close()


@pytest.fixture
def threads() -> Iterator[Threads]:
    made = Threads()
    yield made
    made.close()


RANGE = "_lakebed/ranges/00ff.parquet"


class Counting(MemoryObjects):
    """Counts whole reads."""

    reads = 0

    async def get(self, key: str) -> bytes:
        self.reads += 1
        return await super().get(key)


def cached(path: Path, threads: Threads, store: Counting, limit: int = 1 << 20) -> DiskCached:
    return DiskCached(store, DiskCache(path, limit), threads)


def files(path: Path) -> list[Path]:
    return [found for found in path.rglob("*") if found.is_file()]


async def test_the_cache_outlives_the_process_and_keeps_only_what_never_changes(
    tmp_path: Path, threads: Threads
) -> None:
    store = Counting("mem://t")
    for key in (RANGE, "data/0/x", "_lakebed/repository.json"):
        await store.put(key, key.encode())
    for _ in range(2):
        again = cached(tmp_path / "c", threads, store)
        for key in (RANGE, "data/0/x", "_lakebed/repository.json"):
            assert await again.get(key) == key.encode()
    assert store.reads == 5
    assert len(files(tmp_path / "c")) == 1
    assert await again.get_range(RANGE, 2, 4) == RANGE.encode()[2:6]
    await again.delete([RANGE])
    with pytest.raises(BlobNotFound):
        await again.get(RANGE)
    other = DiskCached(Counting("mem://u"), DiskCache(tmp_path / "c", 1 << 20), threads)
    with pytest.raises(BlobNotFound):  # another namespace
        await other.get(RANGE)


@pytest.mark.parametrize("damage", ["flip", "cut", "empty", "longer"])
async def test_a_damaged_file_is_read_again(
    tmp_path: Path, threads: Threads, damage: str, caplog: pytest.LogCaptureFixture
) -> None:
    store = Counting("mem://t")
    content = random.Random(1).randbytes(1000)
    await store.put(RANGE, content)
    lake = cached(tmp_path, threads, store)
    await lake.get(RANGE)
    path = files(tmp_path)[0]
    data = bytearray(path.read_bytes())
    assert data.startswith(MAGIC)
    data[500] ^= 1
    cut = {"flip": bytes(data), "cut": bytes(data[:-1]), "empty": b"", "longer": path.read_bytes() + b"x"}
    path.write_bytes(cut[damage])
    assert await lake.get(RANGE) == await lake.get(RANGE) == content
    assert store.reads == 2
    assert "damaged file removed" in caplog.text


async def test_the_cache_stays_in_its_room_and_drops_the_oldest(tmp_path: Path, threads: Threads) -> None:
    store = Counting("mem://t")
    limit = 200_000
    names = [f"_lakebed/ranges/{n:04}" for n in range(100)]
    for name in names:
        await store.put(name, bytes(10_000))
    await store.put("_lakebed/ranges/huge", bytes(limit))
    lake = cached(tmp_path, threads, store, limit)
    (tmp_path / "old.tmp").write_bytes(b"x" * 1000)
    os.utime(tmp_path / "old.tmp", (0, 0))
    await lake.get("_lakebed/ranges/huge")
    for n, name in enumerate(names):
        await lake.get(name)
        await lake.get(names[0])  # used all the time
        for path in files(tmp_path):  # file times are coarse: order them by hand
            known = path.stat()
            os.utime(path, ns=(known.st_atime_ns, known.st_mtime_ns - 10**9))
        assert sum(path.stat().st_size for path in files(tmp_path)) <= limit * 17 // 16 + 10_100, n
    reads = store.reads
    assert reads == 101
    await lake.get(names[99])
    assert store.reads == reads
    await lake.get(names[1])
    assert store.reads == reads + 1
    assert not (tmp_path / "old.tmp").exists()


@pytest.mark.parametrize("trouble", ["a file in its place", "no room", "gone"])
async def test_a_broken_cache_never_fails_a_read(
    tmp_path: Path, threads: Threads, trouble: str, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Counting("mem://t")
    path = tmp_path / "c"
    await store.put(RANGE, b"1")
    await store.put(RANGE + "2", b"2")
    lake = cached(path, threads, store)
    if trouble == "a file in its place":
        path.write_bytes(b"")
    elif trouble == "no room":

        def full(*_: object) -> int:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(Path, "write_bytes", full)
    else:
        await lake.get(RANGE)
        subprocess.run(["rm", "-rf", path], check=True)
    for _ in range(2):
        assert await lake.get(RANGE) == b"1"
        assert await lake.get(RANGE + "2") == b"2"
    assert len([record for record in caplog.records if record.name == "lakebed.cache"]) == (trouble != "gone")


async def test_processes_share_a_cache(tmp_path: Path, threads: Threads) -> None:
    """Two caches over one directory, small enough that each removes the other's files all the time."""
    store = Counting("mem://t")
    for n in range(20):
        await store.put(f"_lakebed/layers/{n}", bytes([n]) * 1000)
    lakes = [cached(tmp_path, threads, store, 8000) for _ in range(2)]

    async def reader(lake: DiskCached, seed: int) -> None:
        order = random.Random(seed)
        for _ in range(150):
            n = order.randrange(20)
            assert await lake.get(f"_lakebed/layers/{n}") == bytes([n]) * 1000

    await asyncio.gather(*(reader(lake, n) for n, lake in enumerate(lakes * 2)))


async def test_marks_are_metadata(opened: Callable[..., CloudObjects]) -> None:
    """Other tools see the mark that settles a lost response as x-amz-meta-lakebedput."""
    server = shared("seaweedfs")
    namespace = server.namespace()
    await opened(namespace, server.options()).put("k", b"1", if_absent=True)
    found = server.boto().head_object(Bucket=server.bucket, Key=prefix_of(namespace) + "k")
    assert len(found["Metadata"][MARK]) == 32
