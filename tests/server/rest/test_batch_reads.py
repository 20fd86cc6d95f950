"""getObjects: many objects in one response, each whole or with an error of its own, in bounded memory."""

from __future__ import annotations

import asyncio
import hashlib
import os
import re
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from lakebed_engine.vocabulary.errors import ObjectGoneError
from lakebed_engine.vocabulary.records import Entry
from lakebed_engine.vocabulary.requests import FoundObject, ReadableEntry
from lakebed_server.http.read_ahead import AT_ONCE, Memory, Piece, pieces

from tests.server.frames import Frames, read_frames
from tests.server.workspacing import Api, Json
from tests.support.processes.meter import Meter
from tests.support.processes.server import RunningServer, running_server

MIB = 1 << 20
BATCH = "/refs/main/objects/batch"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    with running_server(tmp_path_factory, environment={"LAKEBED_LIMITS_READ_AHEAD": "4MiB"}) as server:
        yield server


@pytest.fixture
def api(server: RunningServer, request: pytest.FixtureRequest) -> Iterator[Api]:
    name = re.sub(r"[^a-z0-9]+", "-", request.node.name.lower())[:60].strip("-")
    with Api(server, name) as api:
        creation = {"name": name, "storage_namespace": f"local://{name}"}
        api.http.post("/repositories", json=creation).raise_for_status()
        yield api


def ask(api: Api, body: Json, target: str = BATCH) -> Frames:
    answer = api.send("POST", target, body)
    assert answer.status_code == 200, answer.text
    return read_frames(answer.content)


def data_file(server: RunningServer, api: Api, path: str) -> Path:
    """The file of an object's data."""
    address: str = api("GET", f"/refs/main/objects/stat?path={quote(path)}")["physical_address"]
    return server.data_dir / "objects" / address.removeprefix("local://")


def test_objects_come_in_the_order_of_the_request(api: Api) -> None:
    large = os.urandom(3 * MIB + 17)
    for path, data in (("a", b"first"), ("b/ü 😀", b""), ("c", large)):
        api.put("main", path, data)
    found = ask(api, {"paths": ["c", "b/ü 😀", "a", "c"]})
    assert found.order == ["c", "b/ü 😀", "a", "c"]
    assert found.contents == {"a": b"first", "b/ü 😀": b"", "c": large}
    head = found.heads["c"]
    assert (head["size_bytes"], head["checksum"]) == (len(large), hashlib.md5(large).hexdigest())
    assert found.end == {"results": 4, "has_more": False}


def test_batch_reads_see_staged_and_deleted_objects(api: Api) -> None:
    for path in ("changed", "deleted", "kept"):
        api.put("main", path, b"old")
    api("POST", "/branches/main/commits", {"message": "first"})
    api.put("main", "changed", b"new")
    api("DELETE", "/branches/main/objects?path=deleted")
    everything = {"paths": ["changed", "deleted", "kept"]}
    now = ask(api, everything)
    assert now.contents == {"changed": b"new", "kept": b"old"}
    assert now.errors["deleted"]["kind"] == "object_not_found"
    assert ask(api, everything, "/refs/main@/objects/batch").contents == dict.fromkeys(everything["paths"], b"old")
    assert ask(api, {"prefix": ""}).contents == now.contents


def test_an_object_that_cannot_be_read_has_its_own_error(server: RunningServer, api: Api) -> None:
    for path in ("a", "damaged", "gone", "z"):
        api.put("main", path, path.encode() * 10)
    data_file(server, api, "gone").unlink()
    os.truncate(data_file(server, api, "damaged"), 3)
    found = ask(api, {"paths": ["a", "missing", "", "gone", "damaged", "x" * 1025, "z"]})
    assert found.contents == {"a": b"a" * 10, "z": b"z" * 10}
    assert {path[:10]: (error["status_code"], error["kind"]) for path, error in found.errors.items()} == {
        "missing": (404, "object_not_found"),
        "": (400, "invalid_path"),
        "gone": (410, "object_gone"),
        "damaged": (500, "corrupt_data"),
        "x" * 10: (400, "invalid_path"),
    }
    assert found.end == {"results": 7, "has_more": False}


def test_an_object_that_breaks_off_ends_with_an_error_and_the_others_follow(server: RunningServer, api: Api) -> None:
    api.put("main", "a", b"first")
    api.put("main", "broken", os.urandom(40 * MIB))
    api.put("main", "z", b"last")
    os.truncate(data_file(server, api, "broken"), 2 * MIB + 5)
    found = ask(api, {"paths": ["a", "broken", "z"]})
    assert len(found.contents["broken"]) == 2 * MIB
    assert found.errors["broken"]["kind"] == "corrupt_data"
    assert (found.contents["a"], found.contents["z"], found.end["results"]) == (b"first", b"last", 3)


def test_larger_objects_than_requested_have_no_content(api: Api) -> None:
    api.put("main", "large", b"x" * 101)
    api.put("main", "small", b"x" * 100)
    found = ask(api, {"prefix": "", "max_object_size": 100})
    assert found.heads["large"]["omitted"] is True
    assert found.contents == {"large": b"", "small": b"x" * 100}
    assert "omitted" not in found.heads["small"]


def test_a_prefix_continues_after_a_path(api: Api) -> None:
    for path in ("a", "d/1", "d/2", "d/3", "e"):
        api.put("main", path, path.encode())
    assert ask(api, {"prefix": "d/", "after": "d/1"}).order == ["d/2", "d/3"]
    nothing = ask(api, {"prefix": "nothing"})
    assert (nothing.order, nothing.end) == ([], {"results": 0, "has_more": False})


@pytest.mark.parametrize(
    "body",
    [{}, {"paths": ["a"], "prefix": "a"}, {"paths": ["a"], "after": "a"}, {"paths": ["a"] * 10_001}],
)
def test_malformed_requests_are_refused(api: Api, body: Json) -> None:
    api.fails("POST", BATCH, body, 400, "invalid_request")


def test_a_missing_ref_is_the_status_of_the_whole(api: Api) -> None:
    api.fails("POST", "/refs/nowhere/objects/batch", {"paths": ["a"]}, 404, "ref_not_found")


def test_ten_thousand_paths_are_one_request(api: Api) -> None:
    api.put("main", "a", b"x")
    found = ask(api, {"paths": ["a"] + [f"missing/{number}" for number in range(9_999)]})
    assert (len(found.errors), found.contents, found.end["results"]) == (9_999, {"a": b"x"}, 10_000)


def test_a_client_that_hangs_up_frees_what_was_read(server: RunningServer, api: Api) -> None:
    api.put("main", "large", bytes(64 * MIB))
    with api.http.stream("POST", api.repo + BATCH, json={"paths": ["large"] * 20}) as answer:
        next(answer.iter_raw())
    assert ask(api, {"paths": ["missing"]}).errors.keys() == {"missing"}


def test_memory_is_bounded_while_clients_do_not_read(server: RunningServer, api: Api) -> None:
    api.put("main", "large", bytes(32 * MIB))
    ask(api, {"paths": ["large"]})
    meter = Meter(server.process.pid)
    with_answers = []
    try:
        for _ in range(8):
            stream = api.http.stream("POST", api.repo + BATCH, json={"paths": ["large"] * 1000})
            stream.__enter__()
            with_answers.append(stream)
        after = meter.memory()
    finally:
        for stream in with_answers:
            stream.__exit__(None, None, None)
    # 4 MiB ahead of all, one piece of each, and what is on its way to the sockets
    assert after - meter.start < 64 * MIB, (meter.start, after)


# the reading itself


def found(path: str, size: int, read: object) -> FoundObject:
    entry = Entry("data/" + path, "c", 0, size, 0, "text/csv", {}, b"")
    return FoundObject(path, ReadableEntry(entry, read))  # type: ignore[arg-type]


async def each(objects: list[FoundObject]) -> AsyncIterator[FoundObject]:
    for one in objects:
        yield one


def test_pieces_are_read_ahead_within_the_memory() -> None:
    memory = Memory(2 * MIB)
    held = most = 0

    async def read(start: int, length: int) -> bytes:
        nonlocal held, most
        held += length
        most = max(most, held)
        await asyncio.sleep(0)
        return bytes(length)

    async def run() -> list[Piece]:
        nonlocal held
        got = []
        async for piece in pieces(each([found(str(n), 5 * MIB // 2, read) for n in range(10)]), memory):
            await asyncio.sleep(0)
            assert isinstance(piece.data, bytes)
            got.append(piece)
            held -= len(piece.data)
        return got

    got = asyncio.run(run())
    assert sum(len(piece.data) for piece in got if isinstance(piece.data, bytes)) == 25 * MIB
    assert [(piece.path, piece.start) for piece in got] == [
        (str(n), start) for n in range(10) for start in (0, MIB, 2 * MIB)
    ]
    assert MIB < most <= 3 * MIB  # one piece, and two that were read ahead
    assert memory.free == 2 * MIB


def test_small_objects_are_read_several_at_a_time_and_given_back_when_left_early() -> None:
    memory = Memory(64 * MIB)
    running = most = 0

    async def read(start: int, length: int) -> bytes:
        nonlocal running, most
        running += 1
        most = max(most, running)
        try:
            await asyncio.sleep(0.001)
        finally:
            running -= 1
        return bytes(length)

    async def run() -> None:
        reading = pieces(each([found(str(n), 10, read) for n in range(100)]), memory)
        for _ in range(20):
            await anext(reading)
        await reading.aclose()

    asyncio.run(run())
    assert (most, running, memory.free) == (AT_ONCE, 0, 64 * MIB)


def test_an_error_ends_its_object_only() -> None:
    async def broken(start: int, length: int) -> bytes:
        if start == MIB:
            raise ObjectGoneError("it is gone")
        return bytes(length)

    async def run() -> list[Piece]:
        return [one async for one in pieces(each([found("a", 5 * MIB, broken), found("b", 3, broken)]), Memory())]

    got = asyncio.run(run())
    assert [(piece.path, piece.start, type(piece.data)) for piece in got] == [
        ("a", 0, bytes),
        ("a", MIB, ObjectGoneError),
        ("b", 0, bytes),
    ]
