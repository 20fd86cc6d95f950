"""Reads the content of a lake, and checks it after an operation in it was killed.

Everything is read through a fresh engine, as another process would.
"""

from __future__ import annotations

import hashlib
from contextlib import closing
from typing import NamedTuple

import apsw
import asyncpg
from lakebed_engine.engine import Engine
from lakebed_engine.operations.events.drain import LEASE
from lakebed_engine.operations.pulls.merge import PULL_KEY
from lakebed_engine.vocabulary import errors
from lakebed_engine.vocabulary.records import Commit
from lakebed_engine.vocabulary.reports import FsckOptions
from lakebed_engine.vocabulary.requests import LogRequest, MergeRequest

from tests.crash.scenarios import LOOKING, Place, Scenario, commit, opened, stage
from tests.engine.support import REPO, FakeClock

Rows = list[tuple[str, str]]
Known = frozenset[str]
"""Ids of the commits and layers that were there before."""


class Shown(NamedTuple):
    """What readers see: names without the ids that differ from run to run; and what the branches' layers are."""

    history: dict[str, list[str]]
    """First-parent history of each branch: id of a known commit, else what it says."""
    commits: dict[str, Rows]
    """Paths and checksums of the commits in these histories."""
    branches: dict[str, Rows]
    """Paths and checksums of each branch, staged rows included."""
    uncommitted: dict[str, list[tuple[str, str]]]
    tags: dict[str, str]
    layers: dict[str, list[str]]
    events: dict[str, list[str]]
    """Types of the events of each branch and the commits that they name, in order."""
    pulls: dict[str, str]
    """State and kinds of events of each pull request, by its title."""

    @property
    def visible(self) -> Shown:
        """Without the layers."""
        return self._replace(layers={})


async def fingerprint(place: Place) -> bytes:
    """A digest of every file (half-written ones too) and of every row of every table."""
    digest = hashlib.sha256()
    for file in sorted(one for one in (place.directory / "objects").rglob("*") if one.is_file()):
        digest.update(repr((str(file.relative_to(place.directory)), file.read_bytes())).encode())
    for row in await _postgres_rows(place) if place.dsn else _sqlite_rows(place):
        digest.update(repr(row).encode())
    return digest.digest()


def _sqlite_rows(place: Place) -> list[tuple[object, ...]]:
    with closing(apsw.Connection(str(place.directory / "kv.sqlite"))) as database:
        tables = [name for (name,) in database.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
        return [(table, *row) for table in sorted(tables) for row in database.execute(f'SELECT * FROM "{table}"')]


async def _postgres_rows(place: Place) -> list[tuple[object, ...]]:
    database = await asyncpg.connect(place.dsn)
    try:
        tables = await database.fetch("SELECT tablename FROM pg_tables WHERE schemaname = 'lakebed'")
        rows: list[tuple[object, ...]] = []
        for table in sorted(name for (name,) in tables):
            found = await database.fetch(f'SELECT * FROM lakebed."{table}"')
            rows += [(table, row) for row in sorted(map(repr, found))]
        return rows
    finally:
        await database.close()


async def known_ids(engine: Engine) -> Known:
    """What must keep its identity."""
    ids: set[str] = set()
    for branch in (await engine.branches.list(REPO)).items:
        page = await engine.commits.log(REPO, branch.name, LogRequest(amount=1000))
        ids |= {one.id for one in page.items} | {layer.id for layer in branch.layers}
    return frozenset(ids)


async def shown(engine: Engine, known: Known) -> Shown:
    """Everything that can be read."""
    found = Shown({}, {}, {}, {}, {}, {}, await _events(engine, known), await _pulls(engine))
    for branch in (await engine.branches.list(REPO)).items:
        page = await engine.commits.log(REPO, branch.name, LogRequest(amount=1000, first_parent=True))
        found.history[branch.name] = [_name(one, known) for one in page.items]
        for one in page.items:
            if _name(one, known) not in found.commits:
                found.commits[_name(one, known)] = await _rows(engine, one.id)
        found.branches[branch.name] = await _rows(engine, branch.name)
        changes = await engine.branches.diff(REPO, branch.name, amount=1000)
        found.uncommitted[branch.name] = [(one.type, one.path) for one in changes.items]
        found.layers[branch.name] = [
            layer.id if layer.id in known else f"new {layer.kind} {sum(part.rows for part in layer.parts)}"
            for layer in branch.layers
        ]
    for tag in (await engine.tags.list(REPO)).items:
        found.tags[tag.name] = tag.commit_id
    return found


async def _pulls(engine: Engine) -> dict[str, str]:
    """The pull requests. Each is merged if and only if the history of its destination has its merge commit."""
    found = {}
    for one in (await engine.pulls.list(REPO)).items:
        page = await engine.commits.log(REPO, one.destination_branch, LogRequest(amount=1000))
        merges = [commit.id for commit in page.items if commit.metadata.get(PULL_KEY) == one.id]
        assert merges == ([one.merged_commit_id] if one.status == "merged" else [])
        _, events = await engine.pulls.events(REPO, one.id)
        found[one.title] = f"{one.status}: {', '.join(sorted({event.type for event in events.items}))}"
    return found


async def _events(engine: Engine, known: Known) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    page = await engine.events.page(REPO, amount=1000)
    assert not page.has_more
    assert len({one.id for one in page.items}) == len(page.items)
    for one in page.items:
        commit_name = _name(await engine.commits.get(REPO, one.commit_id), known) if one.commit_id else ""
        found.setdefault(one.branch, []).append(f"{one.type} {commit_name}")
    return found


def _name(one: Commit, known: Known) -> str:
    if one.id in known:
        return one.id
    return f"{one.message} of {one.committer} {dict(one.metadata)} on {','.join(p[:12] for p in one.parents)}"


async def _rows(engine: Engine, ref: str) -> Rows:
    page = await engine.objects.list(REPO, ref, amount=1000)
    rows = [(one.path, one.entry.checksum if one.entry else "") for one in page.items]
    paths = [path for path, _ in rows]
    assert paths == sorted(set(paths)), f"{ref} lists paths twice or out of order: {paths}"
    assert not page.has_more
    return rows


def differences(one: Shown, other: Shown) -> list[str]:
    """Where two differ, for a message."""
    return [
        f"{part}[{name}]: {getattr(one, part).get(name)} / {getattr(other, part).get(name)}"
        for part in Shown._fields
        for name in sorted({*getattr(one, part), *getattr(other, part)})
        if getattr(one, part).get(name) != getattr(other, part).get(name)
    ]


async def whole(engine: Engine) -> None:
    """Nothing that anything names is missing or damaged: files, rows and data."""
    report = await engine.maintenance.fsck(REPO, FsckOptions(data=True))
    assert report.ok, report.problems


async def survived(place: Place, scenario: Scenario, known: Known, before: Shown, after: Shown) -> bool:
    """Check everything about a lake in which the operation was killed, or done. Whether it had taken effect."""
    async with opened(place, LOOKING, snapshots=scenario.snapshots, limits=scenario.limits) as engine:
        now = await shown(engine, known)
        landed = now == after  # the layers too: a seal may come before the one step that counts, nothing behind it
        same = now == before if scenario.exact else now.visible == before.visible
        assert landed or same, [differences(now, one) for one in (before, after)]
        await whole(engine)
        while await engine.maintenance.clean():
            pass  # what it takes away now, nothing may need
        await _again(engine, scenario, landed)
        last = await shown(engine, known)
        if scenario.again or not landed:
            assert last.events == after.events, differences(last, after)
        assert last._replace(events={}).visible == after._replace(events={}).visible, differences(last, after)
        await _usable(engine, scenario.branch)
        while await engine.maintenance.clean():
            pass
        await whole(engine)
        await _drained(engine)
    return landed


async def _drained(engine: Engine) -> None:
    """When the lease of a killed drain has ended, every event is in one file, in the order that readers saw."""
    before = [one.id for one in (await engine.events.page(REPO, amount=1000)).items]
    clock = engine.context.clock
    assert isinstance(clock, FakeClock)
    clock.forward(LEASE + 1)
    assert await engine.events.drain(REPO) is not None
    after = (await engine.events.page(REPO, amount=1000)).items
    assert [one.id for one in after] == before
    places = [one.logical_timestamp for one in after]
    assert all(places)
    assert places == sorted(set(places))


async def _again(engine: Engine, scenario: Scenario, landed: bool) -> None:
    refused: errors.EngineError | None = None
    try:
        await scenario.act(engine)
    except errors.EngineError as error:
        refused = error
    if landed and scenario.again:
        assert isinstance(refused, scenario.again), f"it had happened, and its repetition says {refused!r}"
    else:
        assert refused is None, f"its repetition says {refused!r}"


async def _usable(engine: Engine, branch: str) -> None:
    """Stage, commit, branch and merge: the branch ends up with what it showed, and both new rows."""
    expected = dict(await _rows(engine, branch))
    await stage(engine, branch, {"used/1": "one"})
    await commit(engine, branch, "after the kill")
    await engine.branches.create(REPO, "side", branch)
    await stage(engine, "side", {"used/2": "two"})
    await commit(engine, "side", "beside")
    await engine.commits.merge(REPO, "side", branch, MergeRequest(committer="kim"))
    found = dict(await _rows(engine, f"{branch}@"))
    assert [path for path in found if path.startswith("used/")] == ["used/1", "used/2"]
    assert {path: sum_ for path, sum_ in found.items() if not path.startswith("used/")} == expected
    assert (await engine.branches.diff(REPO, branch)).items == []
