"""A link with a round trip of 40 ms: a proxy that delays each direction, and counts the requests of each client."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit

import lakebed
import pandas as pd

from benchmarks.clients.folders import AT_ONCE
from benchmarks.clients.lake import BRANCH, REPOSITORY, Lake
from benchmarks.clients.measure import Client, Row, alternating

ONE_WAY = 0.02
FILES = 500
PARTITIONS = 50


class Link:
    """Counts heads of HTTP requests, and passes bytes on after a delay. Bandwidth is not limited."""

    def __init__(self, target: tuple[str, int]) -> None:
        self._target = target
        self.port = 0
        self.requests = 0

    async def serve(self, ready: threading.Event, stop: asyncio.Event) -> None:
        """Accept connections until `stop`."""
        server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        ready.set()
        await stop.wait()
        server.close()
        others = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in others:
            task.cancel()
        await asyncio.wait(others, timeout=5)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, back = await asyncio.open_connection(*self._target)
        with suppress(asyncio.CancelledError):
            await asyncio.gather(self._pass(reader, back, counted=True), self._pass(there, writer, counted=False))

    async def _pass(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter, *, counted: bool) -> None:
        loop = asyncio.get_running_loop()
        while block := await source.read(1 << 18):
            self.requests += counted * block.count(b" HTTP/1.1\r\n")
            loop.call_later(ONE_WAY, sink.write, block)
        loop.call_later(ONE_WAY, sink.close)


@contextmanager
def link(endpoint: str) -> Iterator[Link]:
    """A slow link to a server, in a separate thread."""
    address = urlsplit(endpoint)
    made = Link((address.hostname or "", address.port or 0))
    ready = threading.Event()
    loop = asyncio.new_event_loop()
    stop = asyncio.Event()
    thread = threading.Thread(target=lambda: loop.run_until_complete(made.serve(ready, stop)), daemon=True)
    thread.start()
    ready.wait()
    try:
        yield made
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join()


def rows(lake: Lake, folder: Path, rounds: int) -> Iterator[Row]:
    """The rows of this group."""
    endpoint, key, secret = lake.credentials
    lake.main.put_many({f"slow/{number}": bytes(4096) for number in range(FILES)})
    frame = pd.DataFrame({"x": range(1000), "part": [number % PARTITIONS for number in range(1000)]})
    lake.main.write_parquet("partitioned", frame, partition_by=["part"])
    with link(endpoint) as slow, link(lake.s3_endpoint) as slow_s3:
        place = f"http://127.0.0.1:{slow.port}"
        os.environ["LAKEBED_DATA_PATH"] = "proxied"  # the link is on this machine, the server behind it would not be
        client = lakebed.connect(place, key, secret)
        main = client.repository(REPOSITORY).branch(BRANCH)
        options = {"endpoint": place, "access_key_id": key, "secret_access_key": secret}
        store = lake.obstore(f"http://127.0.0.1:{slow_s3.port}")

        async def peer() -> None:
            gate = asyncio.Semaphore(AT_ONCE)

            async def one(number: int) -> None:
                async with gate:
                    data = await (await store.get_async(f"{BRANCH}/slow/{number}")).bytes_async()
                (folder / f"slow-{number}").write_bytes(data)

            await asyncio.gather(*map(one, range(FILES)))

        down: dict[str, Client] = {
            "lakebed": lambda: main.download_tree("slow", folder / "slow"),
            "obstore": lambda: asyncio.run(peer()),
        }
        before = slow.requests
        found = alternating(down, rounds)
        note = f"{(slow.requests - before) // (rounds + 1)} requests"
        yield Row("slow link", f"{FILES} files down", found, peer="obstore", at_most=1.0, note=note)
        uri = f"lakebed://{REPOSITORY}/{BRANCH}/partitioned"
        read: dict[str, Client] = {
            "pandas": lambda: pd.read_parquet(uri, storage_options=options),
            "lakebed": lambda: main.read_parquet("partitioned"),
        }
        name = f"pandas.read_parquet of {PARTITIONS} partitions"
        found = alternating(read, rounds)
        yield Row("slow link", name, found, ours="pandas", peer="lakebed", at_most=1.3)
        client.close()
        del os.environ["LAKEBED_DATA_PATH"]
