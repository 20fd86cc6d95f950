"""Every kill point of every operation: SIGKILL right before and right after each call to a store (`PROTOCOL.md` 5).

A child process does the operation with the real engine over a real KV store and real files, and kills itself at store
call 1, 2, 3, ... until it ends without being killed: the number of calls is found, not assumed. After each kill the
lake is opened afresh: it must show exactly what it showed before or what it shows after, miss nothing, take the same
operation again as if it were the first, and go on working.

A kill that leaves the same bytes in every file and the same rows in every table as one before it, as those around
reads do, is not looked at again.
"""

from __future__ import annotations

import asyncio
import itertools
import shutil
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import asyncpg
import pytest

from tests.crash.aftermath import Known, Shown, fingerprint, known_ids, shown, survived
from tests.crash.scenarios import LOOKING, PREPARING, SCENARIOS, Place, opened, prepare
from tests.crash.zygote import Zygote, running_zygote
from tests.support.sampling import sampled
from tests.support.services.postgres import Postgres, running_postgres
from tests.support.sizes import tier

pytestmark = pytest.mark.slow

Record = Callable[[str, object], None]

READS = ("kv get", "kv scan", "kv partitions", "get", "open", "head", "list", "any_key")
"""Beginnings of the names of calls that change nothing."""

ALWAYS = ("drain-events", "merge-pull")
"""Operations that `make test` kills after every change of the engine."""


class Start(NamedTuple):
    """The prepared lake: how to make a copy and remove it again, what it shows, and the ids in it."""

    copy: Callable[[], Awaitable[Place]]
    remove: Callable[[Place], Awaitable[None]]
    before: Shown
    known: Known


class Kills(NamedTuple):
    """What came of killing one operation at every call: the calls, and whether it had taken effect."""

    calls: list[str]
    landed: list[bool]


@pytest.fixture(scope="module")
def zygote() -> Iterator[Zygote]:
    with running_zygote() as started:
        yield started


@pytest.fixture(scope="module")
def on_sqlite(tmp_path_factory: pytest.TempPathFactory) -> Start:
    """The lake on SQLite. Copies are real ones: hard links would share the database's pages."""
    directory = tmp_path_factory.mktemp("kill-points")
    first = Place(directory / "prepared")
    before, known = asyncio.run(_prepared(first))
    numbers = itertools.count()

    async def copy() -> Place:
        return Place(Path(shutil.copytree(first.directory, directory / f"copy-{next(numbers)}")))

    async def remove(place: Place) -> None:
        shutil.rmtree(place.directory)

    return Start(copy, remove, before, known)


@pytest.fixture(scope="module")
def on_postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Start]:
    """The lake on PostgreSQL, each copy in a database of its own."""
    directory = tmp_path_factory.mktemp("kill-points-postgres")
    numbers = itertools.count()
    with running_postgres() as server:
        first = Place(directory / "prepared", _database(server, "prepared"))
        asyncio.run(_tell(server, "CREATE DATABASE prepared"))
        before, known = asyncio.run(_prepared(first))

        async def copy() -> Place:
            name = f"copy{next(numbers)}"
            await _tell(server, f"CREATE DATABASE {name} TEMPLATE prepared")
            return Place(Path(shutil.copytree(first.directory, directory / name)), _database(server, name))

        async def remove(place: Place) -> None:
            shutil.rmtree(place.directory)
            await _tell(server, f"DROP DATABASE {place.directory.name} WITH (FORCE)")

        yield Start(copy, remove, before, known)


def _database(server: Postgres, name: str) -> str:
    return server.dsn.replace("@/postgres?", f"@/{name}?")


async def _tell(server: Postgres, statement: str) -> None:
    connection = await asyncpg.connect(server.dsn)
    try:
        await connection.execute(statement)
    finally:
        await connection.close()


async def _prepared(place: Place) -> tuple[Shown, Known]:
    async with opened(place, PREPARING) as engine:
        await prepare(engine)
        known = await known_ids(engine)
        return await shown(engine, known), known


async def kill_everywhere(zygote: Zygote, start: Start, name: str, record: Record) -> None:
    """Kill the operation at every point there is, and check what is left."""
    after = await _done(zygote, start, name)
    checked: dict[bytes, bool] = {}
    kills: list[Kills] = []
    for late in (False, True):
        skipped = _reads(kills)
        found = await _kill_points(zygote, start, name, after, checked, late=late, skipped=skipped)
        kills.append(found)
        assert found.landed[-1], "it ended, and had no effect"
        if late:
            assert found.landed[-2], "its last call had been answered, and it had no effect"
        if after.visible != start.before.visible:
            assert found.landed == sorted(found.landed), "it took effect, and later had not"
            if not skipped:  # else the first kill may be behind the write
                assert not found.landed[0]
        else:
            assert SCENARIOS[name].quiet, "it must change something"
    record("kill_points", sum(len(one.calls) for one in kills))
    record("store_calls", len(kills[0].calls))
    record("states_checked", len(checked))
    print(f"{name}: {len(checked)} states, {len(kills[0].calls)} store calls: {', '.join(kills[0].calls)}")


def _reads(kills: list[Kills]) -> set[int]:
    """The numbers of the reads. Right after one the lake is as right before it: only `make soak` kills there too."""
    calls = kills[0].calls if kills and tier() != "soak" else []
    return {number for number, call in enumerate(calls[:-1], 1) if call.startswith(READS)}


async def _done(zygote: Zygote, start: Start, name: str) -> Shown:
    """What the lake shows once the operation is done."""
    place = await start.copy()
    assert zygote.kill_at(place, name, 0, after=False) == ""
    async with opened(place, LOOKING) as engine:
        after = await shown(engine, start.known)
    await start.remove(place)
    return after


async def _kill_points(
    zygote: Zygote,
    start: Start,
    name: str,
    after: Shown,
    checked: dict[bytes, bool],
    *,
    late: bool,
    skipped: set[int],
) -> Kills:
    """Kill before each call, or (`late`) after it, and at last not at all. `checked`: states that are known.

    No kill at calls with a number in `skipped`.
    """
    found = Kills([], [])
    place = await start.copy()
    untouched = await fingerprint(place)
    for number in itertools.count(1):
        if number in skipped:
            continue
        call = zygote.kill_at(place, name, number, after=late)
        state = await fingerprint(place)
        known = state in checked
        if not known:
            try:
                checked[state] = await survived(place, SCENARIOS[name], start.known, start.before, after)
            except Exception as error:
                error.add_note(f"{name}, killed {'after' if late else 'before'} store call {number}: {call or 'none'}")
                raise
        found.landed.append(checked[state])
        if not known or state != untouched:  # else the next kill may have it
            await start.remove(place)
            place = await start.copy()
        if not call:
            return found
        found.calls.append(call)
    raise AssertionError("unreachable")


@pytest.mark.parametrize("name", [*ALWAYS, *sampled([name for name in SCENARIOS if name not in ALWAYS], 3)])
async def test_killed_at_every_store_call(zygote: Zygote, on_sqlite: Start, name: str, record_property: Record) -> None:
    await kill_everywhere(zygote, on_sqlite, name, record_property)


@pytest.mark.parametrize("name", sampled(["commit", "merge", "push"], 1))
async def test_killed_at_every_store_call_on_postgres(
    zygote: Zygote, on_postgres: Start, name: str, record_property: Record
) -> None:
    await kill_everywhere(zygote, on_postgres, name, record_property)
