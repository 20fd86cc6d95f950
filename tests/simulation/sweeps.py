"""Schedules with a sweep in them: work that leaves orphans, a long time, concurrent work and sweeps; then quiet.

Checks, besides the properties of every schedule: a file that a commit names is never deleted, nor a file that is
young; and after quiescence and a sweep there is no orphan.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from lakebed_engine.operations.tuning import Tuning
from lakebed_engine.vocabulary.reports import SweepOptions
from lakebed_format import decode_tree
from lakebed_format.keys import JOURNAL

from tests.simulation.actors.actors import PATHS, Actor
from tests.simulation.actors.verbs import act
from tests.simulation.checks.contents import Contents
from tests.simulation.checks.history import Violation
from tests.simulation.simulate import FAULTS, MIXES, MOST_STEPS, TWO_BRANCHES, forget_uploads
from tests.simulation.world.scheduler import Endless, Policy, Process, park
from tests.simulation.world.world import GRACE, ONE_ROW, REPO, TWO_ROWS, World, prepared, small_trees

AGE = 2000.0
"""Virtual seconds: longer than any call (even with a few pauses), and longer than a lease of a sweeper."""

SWEPT = ("_lakebed/commits/", "_lakebed/metaranges/", "_lakebed/ranges/", "_lakebed/layers/", "data/")

MARKS = (".committed", ".used")


def sweep_schedule(seed: int, trace: Callable[[str], None] | None = None) -> tuple[str, int]:
    """Run the schedule of a seed: what was violated, and how many files sweeps deleted."""
    rng = random.Random(seed)
    mix = rng.choice([one for one in MIXES if one != "conditions"])
    policy: Policy = rng.choice(["random", "sticky", "pct"])
    bounds = rng.choice([ONE_ROW, ONE_ROW, TWO_ROWS])
    tuning = Tuning(trees=small_trees(bounds), least_part=1)
    world = World(prepared(rng.randrange(4), bounds), rng, policy, rng.choice(FAULTS), trace, tuning=tuning)
    deleted: list[str] = []
    _watch(world, deleted)
    try:
        _cast(world, rng, mix, 2)
        world.scheduler.run(MOST_STEPS)
        world.scheduler.time += 2 * AGE
        _cast(world, rng, mix, 6)
        for number in range(rng.choice([1, 1, 2])):
            _sweeper(world, rng, number)
        world.scheduler.run(MOST_STEPS)
        _quiet(world)
    except (Violation, Endless) as error:
        return str(error), len(deleted)
    finally:
        world.scheduler.close()
    return "", len(deleted)


def _cast(world: World, rng: random.Random, mix: str, first: int) -> None:
    """Numbers, and last letters of names, that no other actor has: ids and contents are made of them."""
    parts = list(MIXES[mix])
    rng.shuffle(parts)
    for number, verbs in enumerate(parts[: rng.choice([2, 3])], first):
        branch = rng.choice(["main", "dev"]) if mix in TWO_BRANCHES else "main"
        name = f"{verbs[0]}{number}"
        actor = Actor(world, name, world.engine(number), random.Random(rng.random()), branch, PATHS[:4])
        script = act(actor, [rng.choice(verbs) for _ in range(rng.choice([2, 3, 4]))])
        world.scheduler.spawn(name, Process(f"p{number}"), script)


def _sweeper(world: World, rng: random.Random, number: int) -> None:
    data = rng.random() < 0.7
    actor = Actor(world, f"sweep{number}", world.engine(10 + number), random.Random(rng.random()), "main")

    async def script() -> None:
        for _ in range(2):
            options = SweepOptions(data=data, grace=GRACE, age=AGE)
            repo = "" if actor.rng.random() < 0.5 else REPO
            await actor.call("sweep", actor.engine.maintenance.sweep(repo, options))
            await park(world.scheduler.time + actor.rng.choice([0.0, GRACE, AGE]))

    world.scheduler.spawn(actor.name, Process(actor.name), script())


def _watch(world: World, deleted: list[str]) -> None:
    """Check every deletion of a sweep just before it happens."""
    audited = world.audit.deleted

    def look(keys: Sequence[str], op: Any) -> None:
        audited(keys, op)
        if op is None or op.kind != "sweep":
            return
        named = set(_named(world.contents))
        for key in keys:
            if not key.startswith(SWEPT):
                continue
            deleted.append(key)
            if key in named:
                raise Violation(f"{op} deletes {key}, which a commit names")
            age = world.scheduler.now() - world.contents.blobs._blobs[key].mtime
            if age < AGE:
                raise Violation(f"{op} deletes {key}, which is {age:.0f} s old")

    world.audit.deleted = look  # type: ignore[method-assign]


_trees: dict[str, list[str]] = {}


def _named(contents: Contents) -> Iterator[str]:
    """Every file that history names, read from the raw stores."""
    for commit in contents.commits():
        yield f"_lakebed/commits/{commit.id}.json"
        tree = commit.metarange_id
        if not tree:
            continue
        key = f"_lakebed/metaranges/{tree}.parquet"
        yield key
        if tree not in _trees:
            rows, inline_patch = decode_tree(contents.need(key), tree)
            _trees[tree] = rows.column("range_id").to_pylist()[: rows.num_rows - (inline_patch is not None)]
        for one in _trees[tree]:
            yield f"_lakebed/ranges/{one}.parquet"


def _quiet(world: World) -> None:
    """No actor runs any more: clean, wait, sweep. Then nothing is missing and nothing is left over."""
    world.faults.off = True
    engine = world.engine(99)
    actor = Actor(world, "last", engine, random.Random(0), "main")

    async def last() -> None:
        world.scheduler.time += 2 * AGE  # the leases of killed tasks have run out
        await actor.call("resume", engine.tasks.resume())  # what it commits leaves something to clean
        for _ in range(2):
            await actor.call("clean", engine.maintenance.clean())
            world.scheduler.time += 2 * GRACE
        await forget_uploads(world, actor)
        world.scheduler.time += 2 * AGE
        options = SweepOptions(data=True, grace=GRACE, age=AGE)
        for again in (False, True):
            op = await actor.call("sweep", engine.maintenance.sweep("", options))
            found = op.answer
            if found is None or found.failures or found.skipped:
                raise Violation(f"the last sweep did not run: {found or op.error}")
            if again and (found.deleted or found.reports[0].found or found.reports[0].recent):
                raise Violation(f"the sweep left something: {found}")

    world.scheduler.spawn("last", Process("last"), last())
    world.scheduler.run(MOST_STEPS)
    _nothing_missing_nothing_left(world)


def _nothing_missing_nothing_left(world: World) -> None:
    contents = world.contents
    wanted = {"_lakebed/repository.json", *_named(contents)}
    for commit in contents.commits():
        wanted |= {value.address for value in contents.tree(commit.id).values()}
    for name in contents.branches():
        record = contents.branch(name)
        assert record is not None
        contents.state(record)
        tokens = [record.staging_token, *(layer.id for layer in record.layers if layer.kind == "kv")]
        parts = [f"_lakebed/layers/{part.id}.parquet" for layer in record.layers for part in layer.parts]
        rows = [row for token in tokens for row in contents.staged(token).values()]
        rows += [row for part in parts for row in contents.layer(part).values()]
        wanted.update(parts, (row.address for row in rows if row is not None))
    wanted = {address for address in wanted if "://" not in address}
    open_ones = tuple(f"workspaces/{name.partition('+')[2]}" for name in contents.branches() if "+" in name)
    held = {
        key for key in contents.blobs._blobs
        if not key.startswith(JOURNAL)  # files of events stay
        # marks next to a workspace's folder record its end, and stay; so do the files of an open workspace
        and not (key not in wanted and key.startswith("workspaces/") and key.endswith(MARKS))
        and not (key not in wanted and key.startswith(open_ones))
    }  # fmt: skip
    if wanted != held:
        raise Violation(f"missing {sorted(wanted - held)}, left over {sorted(held - wanted)}")
