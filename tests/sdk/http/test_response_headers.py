"""The headers of responses are read as `http.client` reads them."""

from __future__ import annotations

import http.client
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lakebed._compat.response_headers import Response, parse_headers


def same(block: bytes) -> bool:
    def read(parse: object) -> object:
        file = io.BytesIO(block)
        assert callable(parse)
        try:
            return parse(file).items(), file.tell()
        except http.client.HTTPException as error:
            return repr(error)

    return read(parse_headers) == read(http.client.parse_headers)


@pytest.mark.parametrize(
    "block",
    [
        b"",
        b"\r\n",
        b"A: b\r\nC:d \r\n\r\nbody",
        b"A: b\nC: \t d\n\n",
        b"a: 1\r\na: 2\r\nSet-Cookie: x\r\n\r\n",
        b'etag: "\xfc"\r\nempty:\r\n\r\n',
        b"folded: a\r\n  b\r\nnext: c\r\n\r\n",
        b"no colon\r\nA: b\r\n\r\n",
        b"space : a\r\nA: b\r\n\r\n",
        b"A: b\rC: d\r\n\r\n",
        b"From nobody\r\nA: b\r\n\r\n",
        b"cut off: in the midd",
        b": nothing\r\n\r\n",
        b"A: " + b"x" * 70_000 + b"\r\n\r\n",
        b"A: b\r\n" * 99 + b"\r\n",
        b"A: b\r\n" * 100 + b"\r\n",
    ],
    ids=range(16),
)
def test_results_equal_the_standard_library(block: bytes) -> None:
    assert same(block)


@given(st.lists(st.text("aB:- \t\r\n\x00\x7f\u00e9", max_size=12).map(lambda text: text.encode("latin-1")), max_size=6))
def test_results_equal_the_standard_library_for_any_lines(lines: list[bytes]) -> None:
    assert same(b"\r\n".join(lines) + b"\r\n\r\n")


class Socket:
    def __init__(self, content: bytes) -> None:
        self.content = content

    def makefile(self, mode: str) -> io.BytesIO:
        return io.BytesIO(self.content)


@pytest.mark.parametrize(
    ("headers", "body"),
    [(b"Content-Length: 2\r\n", b"abc"), (b"Transfer-Encoding: chunked\r\n", b"2\r\nab\r\n0\r\n\r\n"), (b"", b"ab")],
)
def test_the_body_is_found_by_the_headers(headers: bytes, body: bytes) -> None:
    response = Response(Socket(b"HTTP/1.1 200 OK\r\n" + headers + b"\r\n" + body))  # type: ignore[arg-type]
    response.begin()
    assert response.read() == b"ab"
