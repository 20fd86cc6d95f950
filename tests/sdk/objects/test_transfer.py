"""Bytes up and down: checksums, ranges, downloads that go on where they broke off, and the form of a batch."""

from __future__ import annotations

import hashlib
import io
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import httpx
import pytest
import respx
from lakebed import errors
from lakebed._http.batch import Batch, Part
from lakebed._values.upload_source import CHUNK, source_of

from tests.sdk.doors import REPO, Door
from tests.sdk.stored import parsed, stored

OBJECTS = REPO + "/refs/main/objects"
UPLOAD = REPO + "/branches/main/objects"
DATA = bytes(range(256)) * 20
WHEN = "Tue, 14 Nov 2023 22:13:20 GMT"


class Breaking(httpx.SyncByteStream, httpx.AsyncByteStream):
    """A body that ends with an error after some bytes."""

    def __init__(self, data: bytes, error: Exception | None = None) -> None:
        self._data = data
        self._error = error

    def __iter__(self) -> Iterator[bytes]:
        for start in range(0, len(self._data), 500):
            yield self._data[start : start + 500]
        if self._error:
            raise self._error

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for chunk in self:
            yield chunk


class Object:
    """A server that holds one object and interrupts answers at the given offsets."""

    def __init__(self, data: bytes, breaks: list[int | None], checksum: str | None = None) -> None:
        self.data = data
        self.breaks = breaks
        self.checksum = checksum or hashlib.md5(data).hexdigest()
        self.ranges: list[str | None] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        asked = request.headers.get("range")
        self.ranges.append(asked)
        start, last = 0, len(self.data) - 1
        if asked:
            first, _, end = asked.removeprefix("bytes=").partition("-")
            start, last = int(first), min(int(end), last) if end else last
        body = self.data[start : last + 1]
        cut = self.breaks.pop(0) if self.breaks else None
        headers = {"etag": f'"{self.checksum}"', "last-modified": WHEN, "content-length": str(len(body))}
        if asked:
            headers["content-range"] = f"bytes {start}-{last}/{len(self.data)}"
        stream = Breaking(body) if cut is None else Breaking(body[:cut], httpx.ReadError("reset"))
        return httpx.Response(206 if asked else 200, headers=headers, stream=stream)


def test_interrupted_download_resumes(door: Door, wire: respx.MockRouter) -> None:
    server = Object(DATA, [1000, 0, 500, None])
    wire.get(url__startswith=OBJECTS).mock(side_effect=server)

    async def scenario(lake: Any) -> None:
        assert await lake.repository("repo").branch("main").get("a") == DATA
        assert server.ranges == [None, "bytes=1000-", "bytes=1000-", "bytes=1500-"]

    door.run(scenario)


def test_interrupted_range_read_resumes(door: Door, wire: respx.MockRouter) -> None:
    server = Object(DATA, [500, None])
    wire.get(url__startswith=OBJECTS).mock(side_effect=server)

    async def scenario(lake: Any) -> None:
        assert await lake.repository("repo").branch("main").get("a", 100, 1000) == DATA[100:1100]
        assert server.ranges == ["bytes=100-1099", "bytes=600-1099"]
        assert await lake.repository("repo").branch("main").get("a", 100, 0) == b""

    door.run(scenario)


def test_download_without_progress_gives_up(door: Door, wire: respx.MockRouter) -> None:
    server = Object(DATA, [0] * 99)
    wire.get(url__startswith=OBJECTS).mock(side_effect=server)

    async def scenario(lake: Any) -> None:
        with pytest.raises(errors.ServerUnavailableError):
            await lake.repository("repo").branch("main").get("a")
        assert len(server.ranges) == 3

    door.run(scenario)


def test_object_changed_during_a_download_is_not_mixed(door: Door, wire: respx.MockRouter) -> None:
    old, new = Object(DATA, [1000]), Object(DATA[::-1], [])
    states = iter([old, new])

    def server(request: httpx.Request) -> httpx.Response:
        return next(states)(request)

    wire.get(url__startswith=OBJECTS).mock(side_effect=server)

    async def scenario(lake: Any) -> None:
        with pytest.raises(errors.PreconditionFailedError, match="changed while it was being read"):
            await lake.repository("repo").branch("main").get("a")

    door.run(scenario)


def test_damage_is_detected(door: Door, wire: respx.MockRouter, tmp_path: Path) -> None:
    wire.get(url__startswith=OBJECTS).mock(side_effect=Object(DATA, [], hashlib.md5(b"other").hexdigest()))

    async def scenario(lake: Any) -> None:
        main = lake.repository("repo").branch("main")
        with pytest.raises(errors.CorruptTransferError):
            await main.get("a")
        target = tmp_path / "file"
        target.write_bytes(b"before")
        with pytest.raises(errors.CorruptTransferError):
            await main.download("a", target)
        assert target.read_bytes() == b"before"
        assert list(tmp_path.iterdir()) == [target]

    door.run(scenario)


def test_only_md5_checksums_are_compared(door: Door, wire: respx.MockRouter) -> None:
    wire.get(url__startswith=OBJECTS).mock(side_effect=Object(DATA, [], "0123456789abcdef0123456789abcdef-3"))

    async def scenario(lake: Any) -> None:
        assert await lake.repository("repo").branch("main").get("a") == DATA

    door.run(scenario)


def test_download_to_paths_and_files(door: Door, wire: respx.MockRouter, tmp_path: Path) -> None:
    big = DATA * 500
    wire.get(url__startswith=OBJECTS).mock(side_effect=Object(big, [1_000_000]))

    async def scenario(lake: Any) -> None:
        main = lake.repository("repo").branch("main")
        moved: list[int] = []
        info = await main.download("a", tmp_path / "file", progress=moved.append)
        assert (tmp_path / "file").read_bytes() == big
        assert (info.size, sum(moved)) == (len(big), len(big))
        buffer = io.BytesIO()
        await main.download("a", buffer)
        assert buffer.getvalue() == big
        assert b"".join([chunk async for chunk in main.chunks("a")]) == big

    door.run(scenario)


def test_download_to_an_invalid_target_names_the_argument(door: Door, wire: respx.MockRouter, tmp_path: Path) -> None:
    asked = wire.get(url__startswith=OBJECTS).mock(side_effect=Object(DATA, [len(DATA)]))
    missing = tmp_path / "nowhere" / "file"

    async def scenario(lake: Any) -> None:
        main = lake.repository("repo").branch("main")
        with pytest.raises(FileNotFoundError) as caught:
            await main.download("a", missing)
        assert caught.value.filename == str(missing)
        with pytest.raises(IsADirectoryError) as refused:
            await main.download("a", tmp_path)
        assert refused.value.filename == str(tmp_path)

    door.run(scenario)
    assert not asked.called, "it is said before the bytes travel"
    assert list(tmp_path.iterdir()) == []


def received(
    wire: respx.MockRouter, door: Door, url: str, reply: Callable[[bytes], httpx.Response]
) -> list[httpx.Request]:
    requests: list[httpx.Request] = []

    def server(request: httpx.Request) -> httpx.Response:
        requests.append(request)
        return reply(request.read())

    async def async_server(request: httpx.Request) -> httpx.Response:
        await request.aread()
        return server(request)

    wire.post(url__startswith=url).mock(side_effect=server if door.name == "sync" else async_server)
    return requests


class Pipe(io.RawIOBase):
    """A file that can only be read forwards."""

    def __init__(self, data: bytes) -> None:
        self._rest = io.BytesIO(data)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        return self._rest.readinto(buffer)


def test_uploads_accept_bytes_files_and_iterables(door: Door, wire: respx.MockRouter, tmp_path: Path) -> None:
    data = DATA * 500  # 2.5 MB: several chunks
    file = tmp_path / "file"
    file.write_bytes(data)
    requests = received(wire, door, UPLOAD, lambda body: httpx.Response(201, json=stored(body)))

    async def scenario(lake: Any) -> None:
        main = lake.repository("repo").branch("main")
        with file.open("rb") as opened:
            opened.seek(5)
            for source, expected, sized in [
                (data, data, True),
                (bytearray(data), data, True),
                (memoryview(data), data, True),
                (file, data, True),
                (opened, data[5:], True),
                (Pipe(data), data, False),
                ([data, b"", b"x"], data + b"x", True),
                ((part for part in [b"", data, b"x"]), data + b"x", False),
                (b"", b"", True),
                (iter([]), b"", False),
            ]:
                info = await main.put("a", source, content_type="text/x", metadata={"k-1": "é v"})
                request = requests[-1]
                assert request.content == expected
                assert info.size == len(expected)
                assert request.headers["content-type"] == "text/x"
                assert request.headers.raw.count((b"X-Lakefs-Meta-k-1", "é v".encode())) == 1
                assert request.headers.get("content-length") == (str(len(expected)) if sized else None)
        for nonsense in ("text", 7, [1], io.StringIO("x"), None):
            with pytest.raises(errors.InvalidRequestError):
                await main.put("a", nonsense)
        with pytest.raises(FileNotFoundError):
            await main.put("a", tmp_path / "missing")

    door.run(scenario)


def test_async_api_uploads_async_iterators(wire: respx.MockRouter) -> None:
    requests = received(wire, Door("aio"), UPLOAD, lambda body: httpx.Response(201, json=stored(body)))

    async def chunks() -> AsyncIterator[bytes]:
        for part in (b"a", b"", b"bc"):
            yield part

    async def scenario(lake: Any) -> None:
        await lake.repository("repo").branch("main").put("a", chunks())
        assert requests[-1].content == b"abc"

    Door("aio").run(scenario)

    async def refused(lake: Any) -> None:
        with pytest.raises(errors.InvalidRequestError, match=r"lakebed\.aio"):
            await lake.repository("repo").branch("main").put("a", chunks())

    Door("sync").run(refused)


@pytest.mark.parametrize(
    "arguments",
    [
        {"metadata": {"Upper": "x"}},
        {"metadata": {"a b": "x"}},
        {"metadata": {"": "x"}},
        {"metadata": {"k": "a\r\nEvil: 1"}},
        {"metadata": {"k": " x"}},
        {"metadata": {"k": 7}},
        {"content_type": "text/x\r\nEvil: 1"},
        {"content_type": ""},
        {"content_type": "multipart/form-data; boundary=x"},
    ],
    ids=repr,
)
def test_values_that_a_header_cannot_contain_are_not_sent(door: Door, arguments: dict[str, Any]) -> None:
    async def scenario(lake: Any) -> None:
        with pytest.raises(errors.InvalidRequestError):
            await lake.repository("repo").branch("main").put("a", b"", **arguments)

    door.run(scenario)


def test_damaged_upload_is_detected(door: Door, wire: respx.MockRouter) -> None:
    received(wire, door, UPLOAD, lambda body: httpx.Response(201, json=stored(body + b"!")))

    async def scenario(lake: Any) -> None:
        with pytest.raises(errors.CorruptTransferError):
            await lake.repository("repo").branch("main").put("a", b"abc")

    door.run(scenario)


def test_a_batch_is_one_form(door: Door, wire: respx.MockRouter, tmp_path: Path) -> None:
    file = tmp_path / "f"
    file.write_bytes(DATA * 100)
    contents = {'a b/é;"\r\n': b"x", "b": b"", "c": DATA * 100, "d": b"\r\n--+++--\r\n"}

    def reply(body: bytes) -> httpx.Response:
        rows = [stored(content, path) for path, content in contents.items()]
        return httpx.Response(201, json={"results": rows})

    requests = received(wire, door, UPLOAD + "/batch", reply)

    async def scenario(lake: Any) -> None:
        main = lake.repository("repo").branch("main")
        moved: list[int] = []
        infos = await main.put_many({**contents, "c": file}, delete=["old/é", "b"], progress=moved.append)
        assert [info.path for info in infos] == list(contents)
        assert sum(moved) == sum(map(len, contents.values()))
        request = requests[-1]
        assert int(request.headers["content-length"]) == len(request.content)
        parts = parsed(request, request.content)
        assert [(name, unquote(body.decode())) for name, _, _, body in parts[:2]] == [
            ("delete", "old/é"),
            ("delete", "b"),
        ]
        assert {unquote(filename or ""): body for _, filename, _, body in parts[2:]} == contents
        assert all(kind == "application/octet-stream" for _, _, kind, _ in parts[2:])
        await main.put_many([(path, iter([content])) for path, content in contents.items()])
        assert "content-length" not in requests[-1].headers
        assert requests[-1].headers["content-type"] != request.headers["content-type"]  # a boundary of its own
        assert await main.put_many({}) == []
        assert len(requests) == 2
        with pytest.raises(errors.InvalidRequestError, match="10000"):
            await main.put_many({}, delete=[f"p{n}" for n in range(10_001)])

    door.run(scenario)


def test_a_batch_with_a_damaged_or_missing_object(door: Door, wire: respx.MockRouter) -> None:
    rows = [[stored(b"x", "a"), stored(b"z", "b")], [stored(b"x", "a")]]
    received(wire, door, UPLOAD, lambda body: httpx.Response(201, json={"results": rows.pop(0)}))

    async def scenario(lake: Any) -> None:
        for _ in range(2):
            with pytest.raises(errors.CorruptTransferError):
                await lake.repository("repo").branch("main").put_many({"a": b"x", "b": b"y"})

    door.run(scenario)


def test_batch_size_is_exact() -> None:
    batch = Batch([Part("é", source_of(b"abc"), "text/plain")], ["x", "y/ü"], '{"message":"é"}'.encode())
    body = b"".join([batch.opening(), batch.head(batch.parts[0]), b"abc", b"\r\n", batch.end()])
    assert batch.size == len(body)
    assert Batch([Part("a", source_of(iter([b"x"])), "text/plain")]).size is None


def test_chunks_are_bounded() -> None:
    for source in (source_of(b"x" * (CHUNK * 2 + 1)), source_of([b"x" * (CHUNK * 2 + 1)])):
        chunks = source.chunks()
        assert isinstance(chunks, Iterator)
        assert [len(chunk) for chunk in chunks] == [CHUNK, CHUNK, 1]


def test_bulk_deletes(door: Door, wire: respx.MockRouter) -> None:
    async def scenario(lake: Any) -> None:
        main = lake.repository("repo").branch("main")
        route = wire.post(UPLOAD + "/delete").mock(httpx.Response(200, json={"errors": []}))
        assert await main.delete_many(f"p{n}" for n in range(2500)) == 2500
        assert route.call_count == 3
        failure = {"path": "p1", "status_code": 403, "message": "protected"}
        wire.post(UPLOAD + "/delete").mock(httpx.Response(200, json={"errors": [failure]}))
        with pytest.raises(errors.PartialFailureError, match="1 of 2") as caught:
            await main.delete_many(["p1", "p2"])
        assert caught.value.failures == (errors.ObjectFailure("p1", 403, "protected"),)

    door.run(scenario)
