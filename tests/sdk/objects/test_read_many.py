"""get_many, iter_many and downloads of folders: few requests, each object whole or with its own error."""

from __future__ import annotations

import asyncio
import json
import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from lakebed import errors
from lakebed._http.object_frames import ObjectFrames
from lakebed._values.wire import Call
from lakebed_engine.engine import Engine
from lakebed_engine.stores.kv.memory import MemoryKV
from lakebed_engine.stores.objects.registry import Stores
from lakebed_server.process.app import create_app

from tests.sdk.doors import Door
from tests.server.support import KEY_ID, SECRET, services, serving
from tests.support.sizes import examples

BATCH = "/objects/batch"
MIB = 1 << 20


class Middle:
    """A proxy in front of a server: counts requests, and changes the responses of batch reads as a test wants."""

    def __init__(self, app: Any) -> None:
        self._app = app
        self.requests: Counter[str] = Counter()
        self.cuts: list[int] = []  # bytes after which the next responses break off
        self.ends = False  # whether a response that breaks off ends as a whole one does
        self.flips: list[tuple[bytes, bytes]] = []  # what is replaced in the responses
        self.refuses = False

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        path = scope["path"]
        is_batch = path.endswith(BATCH) and "/refs/" in path
        kind = "batch" if is_batch else "list" if path.endswith("/ls") else "get"
        self.requests[kind] += 1
        if is_batch and self.refuses:
            body = json.dumps({"message": "invalid API endpoint", "kind": "endpoint_not_found"}).encode()
            headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
            await send({"type": "http.response.start", "status": 404, "headers": headers})
            await send({"type": "http.response.body", "body": body})
            return
        left = self.cuts.pop(0) if is_batch and self.cuts else None

        async def changed(message: Any) -> None:
            nonlocal left
            if is_batch and message["type"] == "http.response.body":
                body = message["body"]
                for old, new in self.flips:
                    body = body.replace(old, new)
                if left is not None and len(body) > left:
                    await send({**message, "body": body[:left], "more_body": not self.ends})
                    raise ConnectionError("cut")
                left = None if left is None else left - len(body)
                message = {**message, "body": body}
            await send(message)

        await self._app(scope, receive, changed)


@pytest.fixture(scope="module")
def served() -> Iterator[tuple[Middle, str]]:
    kv = MemoryKV()
    engine = Engine(kv, Stores(None, memory=True))
    middle = Middle(create_app(services(engine, kv)))
    with serving(middle) as port:
        yield middle, f"http://127.0.0.1:{port}"
    asyncio.run(engine.close())


@pytest.fixture
def middle(served: tuple[Middle, str]) -> Middle:
    middle = served[0]
    middle.__init__(middle._app)  # type: ignore[misc]
    return middle


def run(door: Door, served: tuple[Middle, str], name: str, contents: dict[str, bytes], body: Any) -> None:
    """Run a test body with a branch of a new repository that has these objects."""

    async def scenario(lake: Any) -> None:
        repo = await lake.repository(f"{name}-{door.name}").create(f"mem://{name}-{door.name}")
        main = repo.branch("main")
        await main.put_many(contents)
        served[0].requests.clear()
        await body(main)

    door.run(scenario, endpoint=served[1], key=KEY_ID, secret=SECRET)


SMALL = {f"d/{number:03d}": b"%d" % number * 1000 for number in range(50)}


@pytest.mark.medium
def test_many_objects_are_one_request(door: Door, served: tuple[Middle, str], middle: Middle) -> None:
    async def body(main: Any) -> None:
        assert await main.get_many(["d/003", "d/001", "d/003"]) == {path: SMALL[path] for path in ("d/003", "d/001")}
        assert await main.get_many(prefix="d/") == SMALL
        assert [path async for path, _ in main.iter_many(reversed(SMALL))] == list(reversed(SMALL))
        assert await main.get_many([]) == {}
        assert await main.get_many(prefix="nothing") == {}
        assert middle.requests == {"batch": 4}

    run(door, served, "many", SMALL, body)


@pytest.mark.medium
def test_large_objects_are_read_by_separate_requests(door: Door, served: tuple[Middle, str], middle: Middle) -> None:
    contents = {"a": b"a", "large": os.urandom(MIB + 1), "z": b"z"}

    async def body(main: Any) -> None:
        assert await main.get_many(prefix="") == contents
        assert middle.requests == {"batch": 1, "get": 1}

    run(door, served, "large", contents, body)


@pytest.mark.medium
def test_errors_of_single_objects_are_listed(door: Door, served: tuple[Middle, str], middle: Middle) -> None:
    async def body(main: Any) -> None:
        got = []
        with pytest.raises(errors.PartialFailureError) as caught:
            async for path, _ in main.iter_many(["missing", "d/001", "d/none"]):
                got.append(path)
        assert got == ["d/001"]
        assert [(one.path, one.status) for one in caught.value.failures] == [("missing", 404), ("d/none", 404)]
        failed: dict[str, Exception] = {}
        assert await main.get_many(["missing", "d/001"], on_error=failed.__setitem__) == {"d/001": SMALL["d/001"]}
        assert isinstance(failed["missing"], errors.ObjectNotFoundError)
        assert failed["missing"].path == "missing"
        for arguments in ({}, {"paths": ["a"], "prefix": "a"}, {"paths": [""]}):
            with pytest.raises(errors.InvalidRequestError):
                await main.get_many(**arguments)

    run(door, served, "errors", SMALL, body)


@pytest.mark.medium
def test_missing_ref_fails_the_whole_request(door: Door, served: tuple[Middle, str], middle: Middle) -> None:
    async def body(main: Any) -> None:
        with pytest.raises(errors.NotFoundError, match="nowhere"):
            await main.repository.ref("nowhere").get_many(["a"])

    run(door, served, "noref", {"a": b"a"}, body)


@pytest.mark.medium
@pytest.mark.parametrize("ends", [False, True])
@pytest.mark.parametrize("prefix", [None, "d/"])
def test_interrupted_stream_resumes_with_the_missing_objects(
    door: Door, served: tuple[Middle, str], middle: Middle, ends: bool, prefix: str | None
) -> None:
    async def body(main: Any) -> None:
        middle.cuts, middle.ends = [25_000, 10, 20_000], ends
        paths = None if prefix else list(SMALL)
        assert await main.get_many(paths, prefix=prefix) == SMALL
        assert middle.requests == {"batch": 4}

    run(door, served, f"cut-{'ends' if ends else 'breaks'}-{'prefix' if prefix else 'paths'}", SMALL, body)


@pytest.mark.medium
def test_stream_that_always_breaks_raises(door: Door, served: tuple[Middle, str], middle: Middle) -> None:
    async def body(main: Any) -> None:
        middle.cuts = [5] * 10
        with pytest.raises(errors.ServerUnavailableError):
            await main.get_many(prefix="d/")
        assert middle.requests == {"batch": 3}

    run(door, served, "always", SMALL, body)


@pytest.mark.medium
def test_damage_in_transit_is_detected(door: Door, served: tuple[Middle, str], middle: Middle) -> None:
    async def body(main: Any) -> None:
        middle.flips = [(b"the bytes", b"the bYtes")]
        failed: dict[str, Exception] = {}
        assert await main.get_many(["a", "b"], on_error=failed.__setitem__) == {"b": b"other"}
        assert isinstance(failed["a"], errors.CorruptTransferError)

    run(door, served, "damage", {"a": b"the bytes", "b": b"other"}, body)


@pytest.mark.medium
def test_an_older_server_gets_single_requests(
    door: Door, served: tuple[Middle, str], middle: Middle, tmp_path: Path
) -> None:
    async def body(main: Any) -> None:
        middle.refuses = True
        assert await main.get_many(prefix="d/") == SMALL
        failed: dict[str, Exception] = {}
        assert await main.get_many(["d/001", "none"], on_error=failed.__setitem__) == {"d/001": SMALL["d/001"]}
        assert isinstance(failed["none"], errors.ObjectNotFoundError)
        await main.download_tree("d/", tmp_path)
        assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {
            path.removeprefix("d/"): data for path, data in SMALL.items()
        }

    run(door, served, "older", SMALL, body)


@pytest.mark.medium
def test_a_folder_of_small_files_is_a_listing_and_a_batch(
    door: Door, served: tuple[Middle, str], middle: Middle, tmp_path: Path
) -> None:
    contents = {**SMALL, "d/empty": b"", "d/large": os.urandom(MIB + 1), "d/e/f": b"f"}

    async def body(main: Any) -> None:
        middle.cuts = [30_000]
        found = await main.download_tree("d/", tmp_path)
        assert (found.files, found.bytes) == (len(contents), sum(map(len, contents.values())))
        got = {path.relative_to(tmp_path).as_posix(): path for path in tmp_path.rglob("*") if path.is_file()}
        assert {f"d/{name}": path.read_bytes() for name, path in got.items()} == contents
        assert middle.requests["list"] == 1
        assert middle.requests["batch"] == 2
        assert middle.requests["get"] <= 3  # the large one, and two of the shared directory

    run(door, served, "folder", contents, body)


@pytest.mark.medium
def test_invalid_file_name_fails_only_that_object(
    door: Door, served: tuple[Middle, str], middle: Middle, tmp_path: Path
) -> None:
    async def body(main: Any) -> None:
        with pytest.raises(errors.PartialFailureError) as caught:
            await main.download_tree("d/", tmp_path / "target")
        assert {one.path for one in caught.value.failures} == {"d/../../evil"}
        assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == ["good"]

    run(door, served, "names", {"d/../../evil": b"evil", "d/good": b"good"}, body)


paths = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12)


@pytest.mark.medium
@examples(25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    contents=st.dictionaries(paths, st.binary(max_size=300), max_size=12),
    others=st.lists(paths, max_size=3),
    cut=st.integers(0, 3000),
)
def test_get_many_is_get_of_each(
    served: tuple[Middle, str], middle: Middle, contents: dict[str, bytes], others: list[str], cut: int
) -> None:
    name = os.urandom(8).hex()

    async def body(main: Any) -> None:
        middle.cuts = [cut]
        wanted = [*contents, *others]
        failed: dict[str, Exception] = {}
        got = await main.get_many(wanted, on_error=failed.__setitem__)
        assert got == {path: await main.get(path) for path in contents}
        assert failed.keys() == set(others) - contents.keys()
        assert await main.get_many(prefix="") == contents

    run(Door("aio"), served, name, contents, body)


# the frames


def frames(*parts: tuple[bytes, Any]) -> bytes:
    raw = [(kind, value if isinstance(value, bytes) else json.dumps(value).encode()) for kind, value in parts]
    return b"".join(kind + len(content).to_bytes(4, "big") + content for kind, content in raw)


HEAD = {"path": "a", "size_bytes": 2, "checksum": "x", "mtime": 1, "content_type": "text/csv"}
CALL: Call[None] = Call("getObjects", "POST", "/", lambda _: None)


@pytest.mark.parametrize("step", [1, 2, 7, 1000])
def test_frames_in_pieces_of_any_size(step: int) -> None:
    error = {"path": "a", "status_code": 410, "kind": "object_gone", "message": "it is gone"}
    again = {"path": "b", "status_code": 503, "kind": "store_unavailable", "message": "try again"}
    sent = frames(
        *((b"H", HEAD), (b"D", b"x"), (b"E", error)),
        *((b"?", b"a new type"), (b"E", again), (b"H", HEAD), (b"D", b"x"), (b"D", b"y")),
        (b"Z", {"results": 3, "has_more": True}),
    )
    reader = ObjectFrames(CALL)
    got = [one for start in range(0, len(sent), step) for one in reader.feed(sent[start : start + step])]
    assert [(one.path, one.data, one.alone) for one in got] == [
        ("a", b"", False),
        ("b", b"", True),
        ("a", b"xy", False),
    ]
    assert isinstance(got[0].error, errors.ObjectGoneError)
    assert reader.has_more is True


@pytest.mark.parametrize(
    "sent",
    [
        frames((b"D", b"x")),
        frames((b"H", {})),
        frames((b"H", b"no JSON")),
        frames((b"H", HEAD), (b"Z", {"results": 1, "has_more": False})),
        b"D\xff\xff\xff\xff",
        b"<html>\n<body>",
    ],
)
def test_invalid_frames_raise_protocol_error(sent: bytes) -> None:
    with pytest.raises(errors.ProtocolError):
        list(ObjectFrames(CALL).feed(sent))
