"""What clients send is parsed in bounded time: elements, chunks and parts are counted, and the loop is not held up."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from typing import Any
from xml.etree.ElementTree import Element

import pytest
from lakebed_server.http.body import RequestBody
from lakebed_server.http.forms import Form
from lakebed_server.s3.operations.multipart import LIMIT, _parts_of
from lakebed_server.s3.requests import xml_parse
from lakebed_server.s3.requests.aws_chunked import ChunkDecoder
from lakebed_server.s3.vocabulary import S3Error
from lakebed_server.vocabulary import RequestError

PIECE = 64 << 10


def body_of(data: bytes) -> RequestBody:
    """A body as the server gets it, in pieces."""
    pieces = [data[at : at + PIECE] for at in range(0, len(data), PIECE)]

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": pieces.pop(0) if pieces else b"", "more_body": bool(pieces)}

    return RequestBody(receive, {b"content-length": str(len(data)).encode()})


DOCUMENTS: dict[str, bytes] = {
    "elements": b"<a>" + b"<a/>" * 2_000_000 + b"</a>",
    "elements in elements": b"<a>" * 1_000_000 + b"</a>" * 1_000_000,
    "attributes": b"<a " + b" ".join(b'b%d=""' % number for number in range(700_000)) + b"/>",
    "attributes of many": b"<a>" + b'<a b="" c="" d="" e="" f="" g="" h=""/>' * 200_000 + b"</a>",
    "attributes with brackets": b"<a " + b" ".join(b'b%d=">"' % number for number in range(700_000)) + b"/>",
    "comments": b"<a>" + b"<!---->" * 1_000_000 + b"</a>",
    "instructions": b"<a>" + b"<?a?>" * 1_600_000 + b"</a>",
    "references": b"<a>" + b"&lt;" * 2_000_000 + b"</a>",
    "a text": b"<a>" + b"x" * 8_000_000 + b"</a>",
    "a comment": b"<a><!--" + b"x" * 8_000_000 + b"--></a>",
    "namespaces": b"<a " + b" ".join(b'xmlns:b%d="c"' % number for number in range(400_000)) + b"/>",
    "UTF-16": "<a>".encode("utf-16") + "<a/>".encode("utf-16-le") * 900_000,
}


@pytest.mark.medium
@pytest.mark.parametrize("case", DOCUMENTS)
def test_a_document_that_is_refused_soon(case: str) -> None:
    data = DOCUMENTS[case]
    assert len(data) <= LIMIT + 100
    start = time.thread_time()
    with pytest.raises(S3Error) as refused:
        xml_parse.parse(data, "a")
    assert refused.value.code == "MalformedXML"
    assert time.thread_time() - start < 0.6, "8 MB of <a/> took 2.3 s"


async def test_the_longest_list_of_parts() -> None:
    """10,000 parts, each with its ETag and all checksums, are within the bounds. They are read off the event loop."""
    sums = "".join(f"<Checksum{name}>{'A' * 44}</Checksum{name}>" for name in ("CRC32", "CRC32C", "SHA1", "SHA256"))
    each = "<Part>{}<ETag>&quot;{:032x}&quot;</ETag><PartNumber>{}</PartNumber></Part>"
    listed = "".join(each.format(sums, number, number) for number in range(1, 10_001))
    space = "http://s3.amazonaws.com/doc/2006-03-01/"
    data = f'<CompleteMultipartUpload xmlns="{space}">{listed}</CompleteMultipartUpload>'.encode()

    async def job() -> int:
        turns, reading = 0, asyncio.ensure_future(xml_parse.read(data, "CompleteMultipartUpload", _parts_of))
        while not reading.done():
            await asyncio.sleep(0.001)
            turns += 1
        assert [part.number for part in reading.result()] == list(range(1, 10_001))
        return turns

    assert await job() > 5, "the loop stood still"


async def test_a_small_document_needs_no_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("a thread")

    monkeypatch.setattr("asyncio.to_thread", refuse)

    def name(document: Element) -> str:
        return document.tag

    assert await xml_parse.read(b"<a>x</a>", "a", name) == "a"


async def decoded(data: bytes, length: int) -> int:
    return sum([len(piece) async for piece in ChunkDecoder(body_of(data), length, None).pieces()])


def chunks(sizes: list[int]) -> bytes:
    return b"".join(b"%x\r\n%s\r\n" % (size, b"x" * size) for size in sizes) + b"0\r\n\r\n"


async def test_chunks_of_one_byte_are_refused_soon() -> None:
    start = time.thread_time()
    with pytest.raises(S3Error) as refused:
        await decoded(chunks([1] * 300_000), 300_000)
    assert refused.value.code == "InvalidChunkSizeError"
    assert time.thread_time() - start < 0.3, "300,000 chunks took 2.0 s"


@pytest.mark.parametrize("sizes", [[1] * 900, [1024] * 5_000, [65_536] * 90, [1] * 500 + [3000] * 3_000])
async def test_chunk_sizes_of_real_clients_are_accepted(sizes: list[int]) -> None:
    assert await decoded(chunks(sizes), sum(sizes)) == sum(sizes)


async def parts(data: bytes, most: int | None = None) -> AsyncIterator[str]:
    async for part in Form(body_of(data), b"multipart/form-data; boundary=b").parts(most):
        yield part.name


def form(*headers: bytes) -> bytes:
    return b"".join(b"--b\r\n%s\r\n\r\nx\r\n" % one for one in headers) + b"--b--\r\n"


PART = b'Content-Disposition: form-data; name="content"'


@pytest.mark.parametrize(
    "data",
    [
        form(PART + b"\r\nX-Lakebed-Meta-A: " + b"a" * 10_000),
        form(PART + b"".join(b"\r\nX-Lakebed-Meta-%d: a" % number for number in range(1_000))),
        form(b"X" * 1_000_000),
        form(PART + b"; filename*=" + b"utf-8''%ff" * 3_000),
        b"--b\r\n" + b"a" * (8 << 20),
    ],
)
async def test_part_with_too_many_headers_is_refused(data: bytes) -> None:
    async def job() -> None:
        assert [name async for name in parts(data)] == []

    start = time.thread_time()
    with pytest.raises(RequestError):
        await job()
    assert time.thread_time() - start < 0.3


async def test_a_part_may_have_a_hundred_headers() -> None:
    headers = b"".join(b"\r\nX-Lakebed-Meta-%d: %s" % (number, b"a" * 500) for number in range(100))

    async def job() -> list[str]:
        return [name async for name in parts(form(PART + headers), 1)]

    assert await job() == ["content"]


async def test_the_parts_of_one_object_are_counted() -> None:
    async def job(count: int) -> int:
        return len([name async for name in parts(form(*[PART] * count), 100)])

    assert await job(100) == 100
    with pytest.raises(RequestError, match="more than 100 parts"):
        await job(101)
