"""Recordings of a first start, and of a second one: after a kill, or after a power loss, the server recovers and works.

After a kill nothing is lost yet. But what the killed process had not synced is not on disk, and no process knows.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path

from lakebed_engine.vocabulary.requests import LogRequest
from lakebed_server.process import serve, wiring
from lakebed_server.vocabulary import StartError

from tests.power.expected import Expected
from tests.power.looking import shown
from tests.power.model import Machine
from tests.power.record import NEVER, Cell, Operation, Record
from tests.power.recording.asking import Client
from tests.power.recording.lake import DATA, REPO, settings_of, small
from tests.power.recording.os_calls import recording
from tests.power.recording.recorder import Recorder
from tests.power.recording.sqlite_vfs import recorded_sqlite
from tests.power.recording.work import Work
from tests.power.replay import build

Trees = dict[str, dict[str, str]]

_ROUND = 2
"""The first two are those of a first start."""

_AT_THE_START = 60
"""Events of a first start, about."""

Seen = dict[Cell, bytes | None]
Job = Callable[[Recorder, wiring.Components, Seen], Awaitable[Trees]]


class Unrecovered(Exception):
    """The server cannot go on with what is left: there is nothing to record."""


def record(seed: int, top: Path) -> Record:
    """A recording below an empty directory: of a first start, or of one after a loss or a kill. Raises Unrecovered."""
    first, second = top / "first", top / "second"
    first.mkdir()
    begun = first_start(seed, first)
    second.mkdir()
    chance = random.Random(seed)
    moment = chance.randint(len(begun.events) // 2, len(begun.events))
    if seed % 3 == 0:
        return begun
    if seed % 3 == 2 and chance.random() < 0.5:
        moment = chance.randint(0, _AT_THE_START)

    async def job(recorder: Recorder, parts: wiring.Components, seen: Seen) -> Trees:
        return await _work(recorder, parts, seen, begun, chance)

    if seed % 3 == 1:
        return after_loss(begun, moment, second, chance, job)
    return after_kill(begun, moment, second, chance, job)


def first_start(seed: int, top: Path) -> Record:
    """A first start, work, a restart, work. Other runs of a seed differ in what threads and ids make differ."""
    chance = random.Random(seed)
    recorder = Recorder(str(top), chance)
    pages, patches = chance.choice((8, 30, 1000)), chance.random() < 0.5
    with small(pages, patches=patches), recording(recorder), recorded_sqlite(recorder):
        trees = asyncio.run(_first(recorder, Path(recorder.top) / DATA, chance))
    return recorder.finish(DATA, trees)


async def _first(recorder: Recorder, data: Path, chance: random.Random) -> Trees:
    start = recorder.begin("first start")
    parts = await wiring.build(settings_of(data))
    admin = parts.first_admin
    assert admin is not None
    start.effects["key", admin.access_key_id] = admin.secret_access_key.encode()
    recorder.answer(start.number, True)
    key = admin.access_key_id, admin.secret_access_key
    trees: Trees = {}
    for number in range(2):
        if number:
            parts = await wiring.build(settings_of(data))
        client = Client(serve.application(settings_of(data), parts), recorder, key)
        work = Work(client, parts, settings_of(data), chance, number)
        if not number:
            await work.prepare()
        await work.together()
        await work.chores()
        trees |= await trees_of(parts)
        await client.close()
        await parts.close()
    return trees


def after_loss(begun: Record, moment: int, top: Path, chance: random.Random, job: Job) -> Record:
    """The power fails at a moment of a recording, and a server starts again and does a job. Raises Unrecovered."""
    build(Machine(begun.events[:moment]).after_loss(chance), top, begun)
    recorder = Recorder(str(top), chance)
    recorder.begin_on(recorder.top)
    return _recorded(recorder, begun, moment, chance, job, is_after_loss=True)


def after_kill(begun: Record, moment: int, top: Path, chance: random.Random, job: Job) -> Record:
    """A server is killed at a moment of a recording, and another one starts and does a job. Raises Unrecovered."""
    build(Machine(begun.events[:moment]).now(), top, begun)
    recorder = Recorder(str(top), chance)
    recorder.go_on(begun, moment)
    return _recorded(recorder, begun, moment, chance, job, is_after_loss=False)


def _recorded(
    recorder: Recorder, begun: Record, moment: int, chance: random.Random, job: Job, *, is_after_loss: bool
) -> Record:
    async def run() -> Trees:
        data = Path(recorder.top) / begun.data_directory
        if is_after_loss:
            left_over = [one for one in begun.before(moment) if one.answered == NEVER]
            recorder.operations += [replace(one, number=at, begun=-1) for at, one in enumerate(left_over)]
        start = recorder.begin("second start")
        try:
            parts = await wiring.build(settings_of(data))
            seen = await shown(parts, data, begun)
        except StartError as error:
            raise Unrecovered(f"the second start fails: {error}") from error
        except Exception as error:
            raise Unrecovered(f"the second server fails: {type(error).__name__}: {error}") from error
        if parts.first_admin is not None:  # made just now
            cell = "key", parts.first_admin.access_key_id
            start.effects[cell] = seen[cell]
        recorder.answer(start.number, True)
        there = {cell: value for cell, value in seen.items() if cell not in start.effects}
        for wrong in Expected(begun, moment).violations(there):
            raise Unrecovered(wrong)
        if is_after_loss:  # on the disk from the beginning, so it is there at every moment
            found = Operation(start.number + 1, "what is on the disk", there, begun=-1, answered=-1, done=True)
            recorder.operations.append(found)
        trees = await job(recorder, parts, seen)
        await parts.close()
        return trees

    sizes = small(chance.choice((8, 30)), patches=chance.random() < 0.5)
    with sizes, recording(recorder), recorded_sqlite(recorder):
        trees = asyncio.run(run())
    return recorder.finish(begun.data_directory, begun.trees | trees)


async def _work(
    recorder: Recorder, parts: wiring.Components, seen: Seen, begun: Record, chance: random.Random
) -> Trees:
    """What the first server did, once more."""
    known = dict(begun.operations[0].effects) | seen
    (name, secret), *_ = ((cell[1], value) for cell, value in known.items() if cell[0] == "key" and cell in seen)
    settings = settings_of(Path(recorder.top) / begun.data_directory)
    assert secret is not None
    client = Client(serve.application(settings, parts), recorder, (name, secret.decode()))
    working = Work(client, parts, settings, chance, _ROUND)
    dev = {cell[2]: value for cell, value in seen.items() if cell[:2] == ("object", "dev")}
    working.unmerged = {path: value for path, value in dev.items() if seen.get(("object", "release", path)) != value}
    if ("repository", REPO) not in seen:
        await working.prepare()
    await working.together()
    await working.chores()
    trees = await trees_of(parts)
    await client.close()
    return trees


async def trees_of(parts: wiring.Components) -> Trees:
    """What each commit holds."""
    found = {}
    for branch in (await parts.engine.branches.list(REPO)).items:
        for commit in (await parts.engine.commits.log(REPO, branch.name, LogRequest(amount=1000))).items:
            page = await parts.engine.objects.list(REPO, commit.id, amount=1000)
            found[commit.id] = {row.path: row.entry.checksum for row in page.items if row.entry is not None}
    return found
