"""Expensive work in parallel is bounded: what is beyond gets 503 with `Retry-After`, and health always an answer."""

from __future__ import annotations

import asyncio
import select
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from lakebed_server.bounds.admission import OPERATIONS, Room
from lakebed_server.http.request import Call
from lakebed_server.http.responses import Reply, StreamReply
from lakebed_server.process.app import create_app
from lakebed_server.rest.operation_handlers import HANDLERS
from lakebed_server.s3 import dispatch
from lakebed_server.settings.schema import LimitSettings
from lakebed_server.vocabulary import RequestError

from tests.server.held import BRANCH, COMMITS, Held
from tests.server.s3.gatewaying import Bucket
from tests.server.support import OBJECTS, FakeEngine, Wire, bounded, services, serving
from tests.support.waiting import wait_until

pytestmark = pytest.mark.medium  # real sockets


def readable(wires: list[Wire]) -> list[Wire]:
    ready, _, _ = select.select([wire.socket for wire in wires], [], [], 0)
    return [wire for wire in wires if wire.socket in ready]


def app_of(held: Callable[..., Any], *names: str, **limits: Any) -> Any:
    handlers = {**HANDLERS, **dict.fromkeys(names, held)}
    return create_app(services(FakeEngine()), handlers=handlers, limits=LimitSettings(**limits))


def test_every_name_of_the_table_is_an_operation() -> None:
    known = set(HANDLERS) | {f"s3:{route.name}" for route in dispatch.ROUTES.values()}
    assert set(OPERATIONS) <= known


def test_beyond_the_places_requests_wait_and_beyond_the_queue_they_are_refused() -> None:
    held = Held()
    app = app_of(held, "logCommits", heavy_requests=2, queue=3)
    with serving(app, http=bounded()) as port:
        wires = [Wire(port) for _ in range(8)]
        for wire in wires:
            wire.head(f"GET {COMMITS}")
        wait_until(lambda: len(readable(wires)) == 3, "three are refused")
        early = readable(wires)
        refused = [wire.answer() for wire in early]
        assert [(one.status, one.kind, one.headers["retry-after"]) for one in refused] == [(503, "overloaded", "1")] * 3
        with Wire(port) as other:
            for path in ("/_health", "/api/v1/healthcheck", BRANCH):  # and what costs little goes on
                other.head(f"GET {path}")
                assert other.answer().status in (200, 204)
        held.open = True
        assert [wire.answer().status for wire in wires if wire not in early] == [204] * 5
        assert held.most == 2
        for wire in wires:
            wire.socket.close()


def test_request_waits_no_longer_than_queue_time() -> None:
    held = Held()
    app = app_of(held, "diffBranch", heavy_requests=1, queue_time=0.3)
    with serving(app, http=bounded()) as port, Wire(port) as first, Wire(port) as second, Wire(port) as third:
        first.head(f"GET {BRANCH}/diff")
        wait_until(lambda: held.inside == 1)
        second.head(f"GET {BRANCH}/diff")
        refused = second.answer()
        assert (refused.status, refused.kind) == (503, "overloaded")
        held.open = True
        assert first.answer().status == 204
        third.head(f"GET {BRANCH}/diff")  # and the place is free again
        assert third.answer().status == 204


def test_requests_of_clients_with_a_key_are_counted_until_their_last_byte() -> None:
    held = Held()

    async def slowly(call: Call, *_: object) -> Reply:
        return StreamReply(200, source(), 2, ())

    def source() -> Any:
        class Opened:
            async def __aenter__(self) -> AsyncIterator[bytes]:
                return self.pieces()

            async def __aexit__(self, *_: object) -> None:
                return None

            async def pieces(self) -> AsyncIterator[bytes]:
                yield b"a"
                await held(None)  # type: ignore[arg-type]
                yield b"b"

        return Opened()

    app = app_of(slowly, "getObject", requests=2)
    with serving(app, http=bounded()) as port, Wire(port) as first, Wire(port) as second, Wire(port) as third:
        for wire in (first, second):
            wire.head(f"GET {OBJECTS}?path=a")
        wait_until(lambda: held.inside == 2)
        third.head(f"GET {BRANCH}")
        refused = third.answer()
        assert (refused.status, refused.kind, refused.headers["retry-after"]) == (503, "overloaded", "1")
        third.head("GET /api/v1/healthcheck")  # as login is: an operation without a key is not counted
        assert third.answer().status == 204
        held.open = True
        assert [wire.answer().body for wire in (first, second)] == [b"ab", b"ab"]
        third.head(f"GET {BRANCH}")
        assert third.answer().status == 200


def test_a_client_that_leaves_the_queue_or_the_room_gives_up_its_place() -> None:
    held = Held()
    with serving(app_of(held, "logCommits", heavy_requests=1, queue=1), http=bounded()) as port:
        for _ in range(3):
            with Wire(port) as first:
                first.head(f"GET {COMMITS}")
                with Wire(port) as second:
                    second.head(f"GET {COMMITS}")
        held.open = True
        with Wire(port) as wire:
            for _ in range(100):
                wire.head(f"GET {COMMITS}")
                if wire.answer().status == 204:
                    break
            else:
                pytest.fail("the places are never free again")


async def test_cancelled_waiters_leave_the_counts_right() -> None:
    async def main() -> None:
        room = Room(1, 1, 5, lambda: None)
        async with room.place():
            waiting = asyncio.ensure_future(take(room))
            await asyncio.sleep(0)
            with pytest.raises(RequestError):
                await take(room)  # the queue is full
            waiting.cancel()
            await asyncio.gather(waiting, return_exceptions=True)
            waiting = asyncio.ensure_future(take(room))
            await asyncio.sleep(0)
        assert await waiting == "in"
        assert await take(room) == "in"

    async def take(room: Room) -> str:
        async with room.place():
            return "in"

    await main()


def test_overloaded_s3_request_gets_slow_down() -> None:
    bucket = Bucket(limits=LimitSettings(heavy_requests=1, queue=0))
    try:
        assert bucket("GET", "/lake?list-type=2&prefix=main%2F").status == 200
        room = bucket.gateway._admission.room("s3:ListObjectsV2")
        assert room is not None
        place = room.place()
        bucket.run(place.__aenter__())
        refused = bucket("GET", "/lake?list-type=2&prefix=main%2F")
        assert (refused.status, refused.headers["retry-after"]) == (503, "1")
        assert b"<Code>SlowDown</Code>" in refused.body
        assert bucket("GET", "/").status == 200
        bucket.run(place.__aexit__(None, None, None))
        assert bucket("GET", "/lake?list-type=2&prefix=main%2F").status == 200
    finally:
        bucket.close()
