"""One disk for each seed: which recording, after which event, and what of the unsynced is lost.

The disk is built in a directory, a server's parts are started on it, and what they show is compared with what had been
acknowledged. The same seed of the same recordings gives the same disk.
"""

from __future__ import annotations

import asyncio
import math
import os
import random
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from tests.power.contents import Lost
from tests.power.expected import Expected
from tests.power.looking import violations
from tests.power.model import Disk, Machine, paths
from tests.power.record import Record
from tests.power.recording.lake import small
from tests.support.waiting import PATIENCE

SEEDS = 10_000
"""Seeds of one recording: the first have seeds from 0 on, the next from this number on."""

_GOLDEN = 0.6180339887498949

Look = Callable[[Path, Record, Expected, random.Random], list[str]]


@dataclass(slots=True)
class Loss:
    """One disk: after how many events, by which way of losing, what was lost, and what was wrong with the rest."""

    seed: int
    events: int
    way: str
    lost: list[Lost]
    acknowledged: int
    under_way: int
    wrong: list[str] = field(default_factory=list)


def moment(record: Record, seed: int) -> int:
    """After how many events the power fails: as many seeds in a row as there are moments meet each of them once.

    Neighbours among the seeds are far apart, so that a few of them are a sample.
    """
    step = int(record.moments * _GOLDEN)
    while math.gcd(step, record.moments) > 1:
        step += 1
    return record.first + seed % SEEDS * step % record.moments


def look(data: Path, record: Record, expected: Expected, chance: random.Random) -> list[str]:
    """Start a server's parts in this process: what was wrong."""

    async def limited() -> list[str]:
        try:
            return await asyncio.wait_for(violations(data, record, expected, chance), PATIENCE)
        except TimeoutError:
            return ["the server does not come to an end"]

    with small(1000, patches=False):
        return asyncio.run(limited())


def replay(record: Record, seed: int, scratch: Path, look: Look = look) -> Loss:
    """Build the disk of a seed below `scratch`, and check it."""
    events = moment(record, seed)
    chance = random.Random(seed)
    disk = Machine(record.events[:events]).after_loss(chance)
    expected = Expected(record, events)
    loss = Loss(seed, events, disk.way, disk.lost, len(expected.acknowledged), len(expected.under_way))
    place = Path(tempfile.mkdtemp(dir=scratch))
    try:
        build(disk, place, record, garbage=chance.randbytes(32768) if chance.random() < 0.2 else b"")
        loss.wrong = look(place / record.data_directory, record, expected, chance)
    finally:
        shutil.rmtree(place)
    return loss


def build(disk: Disk, place: Path, record: Record, garbage: bytes = b"") -> None:
    """Lay the disk out below an existing directory. `garbage`: shared memory that SQLite has left there."""
    written: dict[int, str] = {}
    for path, one in paths(disk):
        target = os.path.join(place, path)
        if one in disk.names:
            os.mkdir(target)
        elif one in written:
            os.link(written[one], target)
        else:
            with open(target, "wb") as file:
                file.write(disk.contents[one])
            if one in record.times:
                os.utime(target, ns=(record.times[one], record.times[one]))
            written[one] = target
    data = place / record.data_directory
    if garbage and data.is_dir():
        (data / "lakebed.db-shm").write_bytes(garbage)
