"""The head and the body of a short response are sent together: a client wakes up once for each response."""

from __future__ import annotations

import socket
import sys
from collections.abc import Iterator

import pytest
from lakebed_server.transport.protocol import CountingTransport

from tests.server.support import OBJECTS, FakeEngine, Wire, bounded, make_app, serving

_SEGMENTS = 152
"""Where Linux's `struct tcp_info` has `tcpi_data_segs_in`, a u32."""


@pytest.fixture
def port() -> Iterator[int]:
    engine = FakeEngine()
    engine.put("a", b"hello")
    with serving(make_app(engine), http=bounded()) as port:
        yield port


def segments(wire: Wire) -> int:
    """TCP segments with data that the client has received."""
    info = wire.socket.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 256)
    return int.from_bytes(info[_SEGMENTS : _SEGMENTS + 4], sys.byteorder)


@pytest.mark.skipif(sys.platform != "linux", reason="reads Linux's tcp_info")
def test_a_short_response_is_one_segment(port: int) -> None:
    with Wire(port) as wire:
        for number, (line, status, body) in enumerate(
            (
                (f"GET {OBJECTS}/stat?path=a", 200, b'"path":"a"'),
                (f"HEAD {OBJECTS}?path=a", 200, b""),
                (f"GET {OBJECTS}/stat?path=none", 404, b"none"),
                ("GET /api/v1/healthcheck", 204, b""),
                (f"GET {OBJECTS}/stat?path=a", 200, b'"path":"a"'),
            ),
            start=1,
        ):
            wire.head(line)
            answer = wire.answer(head=line.startswith("HEAD"))
            assert answer.status == status, line
            assert body in answer.body.replace(b'": ', b'":'), line
            assert segments(wire) == number, line


def test_held_data_goes_with_the_next_write() -> None:
    sent: list[bytes] = []

    class Inner:
        def write(self, data: bytes) -> None:
            sent.append(data)

    transport = CountingTransport(Inner())
    transport.hold()
    transport.write(b"head")
    assert sent == []
    transport.write(b"body")
    transport.write(b"more")
    assert sent == [b"headbody", b"more"]
