"""Single requests, and 3,000 small objects with 16 requests at the same time."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import lakebed.aio

from benchmarks.clients.lake import BRANCH, REPOSITORY, Lake
from benchmarks.clients.measure import Client, Row, alternating, times_of

DATA = b"x" * 4096
CALLS = 200
MANY = 3000
AT_ONCE = 16


def rows(lake: Lake, rounds: int) -> Iterator[Row]:
    """The rows of this group."""
    main, sdk, boto, store = lake.main, lake.lakefs_branch(), lake.boto3(), lake.obstore()
    key = f"{BRANCH}/small/{{}}".format
    stat: dict[str, Client] = {
        "lakebed": times_of(CALLS, lambda n: main.stat(f"small/{n}")),
        "lakefs": times_of(CALLS, lambda n: sdk.object(f"small/{n}").stat()),
        "boto3": times_of(CALLS, lambda n: boto.head_object(Bucket=REPOSITORY, Key=key(n))),
        "obstore": times_of(CALLS, lambda n: store.head(key(n))),
    }
    yield Row("small", f"{CALLS} stats, sequential", alternating(stat, rounds), peer="lakefs", at_most=0.75)
    read: dict[str, Client] = {
        "lakebed": times_of(CALLS, lambda n: main.get(f"small/{n}")),
        "lakefs": times_of(CALLS, lambda n: sdk.object(f"small/{n}").reader(mode="rb").read()),
        "boto3": times_of(CALLS, lambda n: boto.get_object(Bucket=REPOSITORY, Key=key(n))["Body"].read()),
        "obstore": times_of(CALLS, lambda n: store.get(key(n)).bytes()),
    }
    yield Row("small", f"{CALLS} reads of 4 KiB, sequential", alternating(read, rounds), peer="lakefs", at_most=0.5)
    write: dict[str, Client] = {
        "lakebed": times_of(CALLS, lambda n: main.put(f"w/a{n}", DATA)),
        "lakefs": times_of(CALLS, lambda n: sdk.object(f"w/b{n}").upload(DATA)),
        "boto3": times_of(CALLS, lambda n: boto.put_object(Bucket=REPOSITORY, Key=f"{BRANCH}/w/c{n}", Body=DATA)),
        "obstore": times_of(CALLS, lambda n: store.put(f"{BRANCH}/w/d{n}", DATA)),
    }
    yield Row("small", f"{CALLS} writes of 4 KiB, sequential", alternating(write, rounds), peer="lakefs", at_most=0.8)
    yield from _together(lake, rounds, store)


def _together(lake: Lake, rounds: int, store: Any) -> Iterator[Row]:
    paths = [f"many/{number % 50:02}/{number}" for number in range(MANY)]

    async def own() -> None:
        async with lakebed.aio.connect(*lake.credentials) as client:
            branch = client.repository(REPOSITORY).branch(BRANCH)
            await _each(branch.get, paths)

    async def peer() -> None:
        async def get(path: str) -> None:
            await (await store.get_async(f"{BRANCH}/{path}")).bytes_async()

        await _each(get, paths)

    def threads() -> None:
        with ThreadPoolExecutor(AT_ONCE) as pool:
            list(pool.map(lake.main.get, paths))

    found = alternating(
        {
            "lakebed": lambda: asyncio.run(own()),
            "lakebed in threads": threads,
            "lakebed get_many": lambda: _check(lake.main.get_many(paths)),
            "obstore": lambda: asyncio.run(peer()),
        },
        rounds,
    )
    name = f"{MANY:,} reads of 4 KiB, {AT_ONCE} at the same time"
    yield Row("small", f"{name}, async", found, peer="obstore", at_most=1.0)
    yield Row("small", f"{name}, threads", found, ours="lakebed in threads", peer="obstore", at_most=1.5)
    name = f"get_many of {MANY:,} objects of 4 KiB"
    yield Row("small", name, found, ours="lakebed get_many", peer="obstore", at_most=0.5)


def _check(found: Mapping[str, bytes]) -> None:
    if len(found) != MANY:
        raise SystemExit(f"get_many returned {len(found)} objects instead of {MANY}")


async def _each(call: Callable[[str], Awaitable[object]], paths: list[str]) -> None:
    gate = asyncio.Semaphore(AT_ONCE)

    async def one(path: str) -> None:
        async with gate:
            await call(path)

    await asyncio.gather(*map(one, paths))
