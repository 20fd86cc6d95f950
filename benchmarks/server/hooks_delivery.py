"""How many post events per second the HTTP part of hooks delivers to a fast receiver in another process. Prints JSON.

    python -m benchmarks.server.hooks_delivery [--events 10000] [--concurrent 64]
    python -m benchmarks.server.hooks_delivery --receive      the receiver: it prints its port, then counts requests

This is the limit of a dispatcher: it has no rows to read and none to delete.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from lakebed_hooks import Hook, HookEvent
from lakebed_server.hooks import webhook
from lakebed_server.hooks.calls import Call, Secrets
from lakebed_server.outbound import Receivers

KEY = "whsec_" + "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
_LENGTH = re.compile(rb"content-length: *(\d+)", re.IGNORECASE)
_OK = b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n"


class Receiver(asyncio.Protocol):
    """Answers each request with 200, and reads no more of it than it must."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._buffer = b""

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        while (head := self._buffer.find(b"\r\n\r\n")) >= 0:
            found = _LENGTH.search(self._buffer, 0, head)
            end = head + 4 + (int(found[1]) if found else 0)
            if len(self._buffer) < end:
                return
            self._buffer = self._buffer[end:]
            self._transport.write(_OK)


async def receive() -> None:
    """Run the receiver until its input ends."""
    server = await asyncio.get_running_loop().create_server(Receiver, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await asyncio.to_thread(sys.stdin.read)


@contextmanager
def receiver() -> Iterator[str]:
    """The URL of a receiver in another process."""
    command = [sys.executable, "-m", "benchmarks.server.hooks_delivery", "--receive"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        yield f"http://127.0.0.1:{int(process.stdout.readline())}/hook"
        process.stdin.close()


async def deliver(url: str, events: int, concurrent: int) -> dict[str, float]:
    """Deliver the events, signed, `concurrent` at a time. Returns the rate and the CPU time of each event."""
    hook = Hook("notify", "webhook", {"url": url, "secret": "{{ ENV.LAKEBEDACTION_KEY }}"})
    numbers = iter(range(events))
    states: dict[str, int] = {}

    async def deliverer(receivers: Receivers) -> None:
        for number in numbers:
            event = HookEvent(
                event_type="post-commit",
                event_time=int(time.time()),
                action_name="bench",
                hook_id=hook.id,
                repository_id="bench",
                branch_id="main",
                commit_id=f"{number:064x}",
                commit_message=f"commit {number}",
                committer="bench",
            )
            call = Call(
                hook=hook,
                event=event,
                id=f"msg_{number}",
                now=time.time(),
                seconds=60,
                receivers=receivers,
                secrets=Secrets({"LAKEBEDACTION_KEY": KEY}),
                log=lambda text: None,
            )
            state = (await webhook.call(call)).state
            states[state] = states.get(state, 0) + 1

    began, cpu = time.perf_counter(), time.process_time()
    async with Receivers(["127.0.0.1"]) as receivers:
        await asyncio.gather(*(deliverer(receivers) for _ in range(concurrent)))
    took = time.perf_counter() - began
    assert states == {"passed": events}, states
    return {
        "events per second": events / took,
        "CPU ms per event": (time.process_time() - cpu) / events * 1000,
        "cores": os.cpu_count() or 0,
    }


def main() -> None:
    """Measure, or run the receiver."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--events", type=int, default=10_000)
    parser.add_argument("--concurrent", type=int, default=64)
    parser.add_argument("--receive", action="store_true")
    options = parser.parse_args()
    if options.receive:
        asyncio.run(receive())
        return
    with receiver() as url:
        print(json.dumps(asyncio.run(deliver(url, options.events, options.concurrent))))


if __name__ == "__main__":
    main()
