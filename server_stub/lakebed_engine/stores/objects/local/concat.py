"""Joining objects of `local://` into one.

The kernel copies (copy_file_range): file systems that can share blocks, XFS and btrfs say, share them, and on others
the bytes go through the page cache once, not through this process. Steps are short, so a cancel is soon heard, and
other streams have their turn in the threads.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence

from lakebed_engine.stores.objects.local.read import Reader
from lakebed_engine.stores.objects.local.stream import Spool
from lakebed_engine.stores.objects.local.write import Put, Writer
from lakebed_engine.stores.objects.threads import Threads
from lakebed_engine.vocabulary.streams import settled

_STEP = 64 << 20
"""Bytes copied at a time."""


async def concat(
    keys: Sequence[str], target: str, raw: bytes, *, reader: Reader, writer: Writer, threads: Threads
) -> None:
    """Write `target` durably from these objects, in order. Raises BlobNotFound, StoreUnavailableError."""
    spool = Spool(writer, target)
    try:
        await threads.run(spool.start)
        for key in keys:
            await _append(spool, key, reader, threads)
        await threads.run(spool.finish)
    except BaseException:
        await settled(asyncio.wrap_future(threads.move(spool.discard)))
        raise
    await writer.put(Put(target, raw, if_absent=False, temp=spool.path))


async def _append(spool: Spool, key: str, reader: Reader, threads: Threads) -> None:
    fd, found = reader.open(key)
    try:
        at = 0
        while at < found.st_size:
            at += await threads.run(spool.copy, fd, at, min(_STEP, found.st_size - at))
    finally:
        os.close(fd)
