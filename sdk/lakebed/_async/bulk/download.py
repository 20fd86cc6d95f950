"""Downloads a prefix of a ref to a directory. A journal lets the next call continue where this one stopped."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from lakebed._async.bulk.fetch import Fetch
from lakebed._async.http.pagination import Listing
from lakebed._async.objects.interfaces import ObjectReader
from lakebed._bulk.batches import Finished, partial_failure
from lakebed._bulk.hash_cache import Memory, journal_for
from lakebed._bulk.local_tree import folder, is_local
from lakebed._bulk.progress import JOBS, Report, Tally
from lakebed._compat.aio import run_in_thread
from lakebed._gateway.operations import objects
from lakebed._values.signed import StoreAddress
from lakebed.errors import InvalidRequestError
from lakebed.model import ObjectInfo, TransferResult


def _to_fetch(ref: ObjectReader, prefix: str) -> Listing[Any]:
    """The objects below a prefix. If the server can presign, the listing contains their URLs, which saves a request for
    each."""
    if ref._reads_proxied():
        return ref.list(prefix)
    target = ref._target
    addresses = target.transport.addresses

    def keep(info: ObjectInfo, found: StoreAddress, expires: int) -> None:
        addresses.keep((target.repository, target.ref, info.path, info.checksum), found, expires)

    return Listing(
        target.transport,
        lambda after, amount: objects.list_addresses_page(
            target.repository, target.ref, prefix=prefix, after=after, amount=amount, keep=keep
        ),
        ObjectInfo.COLUMNS,
        f"objects of {target.ref}",
    )


async def download_tree(
    ref: ObjectReader,
    prefix: str,
    target: str | os.PathLike[str],
    *,
    progress: Report = None,
    jobs: int = JOBS,
    journal: str | os.PathLike[str] | None = None,
) -> TransferResult:
    """Download everything under a prefix, taken as a folder, to a directory. Each file appears when it is complete.

    After the process is killed, the same call continues where it stopped. Existing files are replaced.
    Raises PartialFailureError, after trying all, when some could not be downloaded or cannot be files.
    """
    top, where = Path(target), ref._target
    key = ("download", where.transport.settings.endpoint, where.repository, where.ref, folder(prefix))
    with await run_in_thread(journal_for, key, top, journal) as memory:
        done = await fetch_items(ref, prefix, top, memory=memory, progress=progress, jobs=jobs)
        await run_in_thread(memory.destroy)
        return done


async def fetch_items(
    ref: ObjectReader,
    prefix: str,
    target: Path,
    *,
    memory: Memory | None = None,
    progress: Report = None,
    jobs: int = JOBS,
    finished: Finished | None = None,
    directories: bool = False,
) -> TransferResult:
    """Download everything under a prefix to a directory, except files that `memory` already knows.

    With `directories`, objects whose path ends in a slash become directories. Otherwise they count as failed.

    Raises PartialFailureError, after trying all, when some could not be downloaded, and what `finished` raises.
    """
    if jobs < 1:
        raise InvalidRequestError(f"jobs must be at least 1, not {jobs}")
    base, tally = folder(prefix), Tally(progress)
    work = Fetch(ref, base, target, memory, tally, jobs, finished)
    try:
        found = aiter(_to_fetch(ref, base))
        await work.run(_without_directories(found, base, target) if directories else found)
    finally:
        tally.end()
    moment = tally.now()
    if work.failures:
        raise partial_failure(f"of {ref._target.ref} could not be downloaded", work.failures, moment.files_total)
    return TransferResult(work.files, work.bytes, moment.skipped, moment.seconds)


async def _without_directories(found: AsyncIterator[Any], base: str, target: Path) -> AsyncIterator[Any]:
    """Create the directories for marker objects, and return the listing without them."""
    async for info in found:
        name = info.path.removeprefix(base)
        if name and not (name.endswith("/") and is_local(name[:-1])):
            yield info
        else:
            await run_in_thread(target.joinpath(*name.split("/")).mkdir, parents=True, exist_ok=True)
