"""The gathering transport: what is written in one turn goes out in one piece, in order; nothing is held for ever."""

from __future__ import annotations

import asyncio

from lakebed_server.protocol import CoalescingTransport


class Recorder:
    """A transport that notes what reaches it."""

    def __init__(self) -> None:
        self.out: list[bytes] = []
        self.closed = False

    def write(self, data: bytes) -> None:
        self.out.append(data)

    def writelines(self, pieces: list[bytes]) -> None:
        self.out.append(b"".join(pieces))

    def is_closing(self) -> bool:
        return self.closed

    def close(self) -> None:
        self.closed = True

    def abort(self) -> None:
        self.closed = True

    def get_extra_info(self, name: str) -> str:
        return f"extra {name}"


def test_one_turn_is_one_write() -> None:
    async def main() -> None:
        inner = Recorder()
        outer = CoalescingTransport(inner, asyncio.get_running_loop())
        outer.write(b"head ")
        outer.write(b"")
        outer.write(b"body")
        assert inner.out == []
        await asyncio.sleep(0)
        assert inner.out == [b"head body"]
        outer.write(b"next")
        await asyncio.sleep(0)
        assert inner.out == [b"head body", b"next"]
        assert outer.get_extra_info("peername") == "extra peername"

    asyncio.run(main())


def test_much_goes_out_at_once_and_in_order() -> None:
    async def main() -> None:
        inner = Recorder()
        outer = CoalescingTransport(inner, asyncio.get_running_loop())
        outer.write(b"head")
        outer.write(bytes(1 << 20))
        assert len(inner.out) == 1
        assert inner.out[0].startswith(b"head")
        await asyncio.sleep(0)
        assert len(inner.out) == 1

    asyncio.run(main())


def test_close_sends_what_is_held_and_abort_does_not() -> None:
    async def main() -> None:
        closed, aborted = Recorder(), Recorder()
        one = CoalescingTransport(closed, asyncio.get_running_loop())
        one.write(b"last words")
        one.close()
        other = CoalescingTransport(aborted, asyncio.get_running_loop())
        other.write(b"lost")
        other.abort()
        await asyncio.sleep(0)
        assert (closed.out, closed.closed) == ([b"last words"], True)
        assert (aborted.out, aborted.closed) == ([], True)

    asyncio.run(main())
