"""A folder of 5,000 small files down and up, and 256 MiB into memory and from it.

s3fs runs as a process of the environment of peers, as the command of Lakebed does.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import fsspec

from benchmarks.clients.lake import BRANCH, MIB, REPOSITORY, Lake
from benchmarks.clients.measure import Client, Row, alternating

FILES = 5000
AT_ONCE = 16
URI = f"lakebed://{REPOSITORY}/{BRANCH}/many"


def rows(lake: Lake, folder: Path, rounds: int, peers: Path) -> Iterator[Row]:
    """The rows of this group."""
    store, sdk, boto = lake.obstore(), lake.lakefs_branch(), lake.boto3()
    endpoint, key, secret = lake.credentials
    names = {"endpoint": endpoint, "access_key_id": key, "secret_access_key": secret}
    fs = fsspec.filesystem("lakebed", **names, skip_instance_cache=True)
    down: dict[str, Client] = {
        "lakebed": _into(folder, lambda top: lake.command("download", URI, str(top))),
        "lakebed proxied": _into(
            folder, lambda top: lake.command("download", URI, str(top), LAKEBED_DATA_PATH="proxied")
        ),
        "lakebed fsspec": _into(folder, lambda top: fs.get(URI, str(top), recursive=True)),
        "obstore": _into(folder, lambda top: asyncio.run(_obstore_down(store, top))),
        "s3fs": _into(
            folder, lambda top: lake.s3fs(peers, f"fs.get('{REPOSITORY}/{BRANCH}/many', {str(top)!r}, **deep)")
        ),
    }
    found = alternating(down, rounds)
    name = f"{FILES:,} files of 4 KiB down"
    yield Row("folders", f"{name}, CLI", found, peer="obstore", at_most=0.7)
    yield Row("folders", f"{name}, CLI, proxied", found, ours="lakebed proxied", peer="obstore", at_most=0.9)
    yield Row("folders", f"{name}, fsspec", found, ours="lakebed fsspec", peer="lakebed", at_most=1.2)
    yield _up(lake, folder, rounds, peers)
    large: dict[str, Client] = {
        "lakebed": lambda: lake.main.get("large"),
        "lakefs": lambda: sdk.object("large").reader(mode="rb").read(),
        "boto3": lambda: boto.get_object(Bucket=REPOSITORY, Key=f"{BRANCH}/large")["Body"].read(),  # noqa: PLW0108
        "obstore": lambda: bytes(store.get(f"{BRANCH}/large").bytes()),
    }
    note = "Lakebed compares the MD5, the others compare nothing"
    yield Row("folders", "256 MiB into memory", alternating(large, rounds), peer="lakefs", at_most=1.0, note=note)
    data = os.urandom(256 * MIB)
    large_up: dict[str, Client] = {
        "lakebed": lambda: lake.main.put("up/large-a", data),
        "lakefs": lambda: sdk.object("up/large-b").upload(data),
        "boto3": lambda: boto.put_object(Bucket=REPOSITORY, Key=f"{BRANCH}/up/large-c", Body=data),
        "obstore": lambda: store.put(f"{BRANCH}/up/large-d", data),
    }
    yield Row("folders", "256 MiB from memory", alternating(large_up, rounds), peer="lakefs")


def _up(lake: Lake, folder: Path, rounds: int, peers: Path) -> Row:
    source = folder / "up"
    for number in range(FILES):
        target = source / f"{number % 50:02}" / str(number)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(os.urandom(4096))

    def own() -> None:
        place = f"lakebed://{REPOSITORY}/{BRANCH}/up/{uuid4().hex}"
        lake.command("upload", str(source), place, "-m", "folder of the benchmark")

    def s3fs() -> None:
        lake.s3fs(peers, f"fs.put({str(source)!r}, '{REPOSITORY}/{BRANCH}/up/{uuid4().hex}', **deep)")

    store = lake.obstore()
    found = alternating(
        {"lakebed": own, "obstore": lambda: asyncio.run(_obstore_up(store, source)), "s3fs": s3fs}, rounds
    )
    return Row(
        "folders", f"{FILES:,} files of 4 KiB up, CLI, with a commit (the others do not commit)", found, peer="obstore"
    )


async def _obstore_up(store: Any, source: Path) -> None:
    gate = asyncio.Semaphore(AT_ONCE)
    top = f"{BRANCH}/up/{uuid4().hex}"

    async def one(path: Path) -> None:
        async with gate:
            await store.put_async(f"{top}/{path.relative_to(source).as_posix()}", path.read_bytes())

    await asyncio.gather(*[one(path) for path in source.rglob("*") if path.is_file()])


def _into(folder: Path, call: Callable[[Path], object]) -> Client:
    """A download into a new directory, which must then have all files."""

    def run() -> None:
        top = folder / f"down-{uuid4().hex}"  # removing the last one would count, and slow down new files nearby
        call(top)
        count = sum(1 for path in top.rglob("*") if path.is_file())
        if count != FILES:
            raise SystemExit(f"{count} files instead of {FILES} were downloaded")

    return run


async def _obstore_down(store: Any, top: Path) -> None:
    gate = asyncio.Semaphore(AT_ONCE)
    prefix = f"{BRANCH}/many/"

    async def one(key: str) -> None:
        async with gate:
            data = await (await store.get_async(key)).bytes_async()
        target = top / key.removeprefix(prefix)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)

    found = store.list(prefix)
    await asyncio.gather(*[one(meta["path"]) for page in found for meta in page])
