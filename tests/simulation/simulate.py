"""One schedule, from its seed: a world, some actors, a policy, some faults; then quiet, cleaning, and a last look.

Above `world` and `actors`; `run` and the tests stand on it.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from tests.simulation.actors import PATHS, Actor, act
from tests.simulation.history import Violation, identities
from tests.simulation.scheduler import Endless, Policy, Process
from tests.simulation.world import ALL_ROWS, GRACE, ONE_ROW, REPO, TWO_ROWS, World, prepared, range_bytes

MOST_STEPS = 200_000

MIXES: Mapping[str, Sequence[Sequence[str]]] = {
    # each mix: what its actors draw from; a verb that stands twice is drawn twice as often
    "writes": (["put", "delete", "put_many"], ["put", "delete", "reset_object"], ["commit"], ["read", "list"]),
    "conditions": (
        ["put_if"],
        ["put_if", "delete_if"],
        ["put", "delete", "reset_object", "commit"],
        ["commit", "push"],
    ),
    "commits": (["commit"], ["commit", "put"], ["put", "delete"], ["clean", "reset", "read"]),
    "merges": (["merge", "publish"], ["put", "delete", "put_many", "commit"], ["commit"], ["merge", "read"]),
    "resets": (["reset", "reset_object"], ["put", "delete"], ["commit"], ["put_if", "list"]),
    "branches": (["delete_branch", "create_branch"], ["put", "commit"], ["put_if", "read"], ["merge", "publish"]),
    "layers": (["push", "put"], ["push", "push", "delete"], ["compact"], ["compact", "commit"], ["list", "read"]),
    "compaction": (["compact"], ["put", "delete", "push"], ["commit", "compact"], ["push", "reset_prefix", "reset"]),
    "prefixes": (["reset_prefix"], ["put", "put_many", "push", "delete"], ["commit", "compact"], ["list", "put_if"]),
    "workspaces": (
        ["ws_whole"],
        ["ws_whole", "ws_write", "ws_commit"],
        ["put", "commit", "commit"],
        ["ws_whole", "commit"],
    ),
    "stashes": (["stash", "pop"], ["put", "delete", "push"], ["ws_commit", "pop", "ws_drop"], ["commit", "clean"]),
    "cleaning": (["clean"], ["put", "commit", "commit"], ["read", "list"], ["commit", "reset", "delete"]),
}

FAULTS: Sequence[Mapping[str, float]] = (
    {},
    {},
    {"lost_before": 0.04, "lost_after": 0.08},
    {"late": 0.08, "lost_after": 0.04},
    {"crash_before": 0.01, "crash_after": 0.02},
    {"slow": 0.05, "paused": 0.01},
    {"unavailable": 0.03, "lost_after": 0.05},
    {"lost_after": 0.03, "late": 0.03, "crash_after": 0.01, "unavailable": 0.01, "slow": 0.03, "paused": 0.005},
)


class Outcome(NamedTuple):
    """What a schedule came to."""

    seed: int
    violation: str
    steps: int
    mix: str
    policy: Policy


def simulate(seed: int, trace: Callable[[str], None] | None = None) -> Outcome:
    """Run the schedule of a seed."""
    rng = random.Random(seed)
    mix = rng.choice([*MIXES, "merges", "conditions"])
    policy: Policy = rng.choice(["random", "sticky", "pct"])
    rates = rng.choice(FAULTS)
    bounds = rng.choice([ONE_ROW, TWO_ROWS, ALL_ROWS] if mix == "merges" else [ONE_ROW, ONE_ROW, ONE_ROW, TWO_ROWS])
    world = World(prepared(rng.randrange(4), bounds), rng, policy, rates, trace)
    if trace is not None:
        trace(f"seed {seed}: mix {mix}, policy {policy}, faults {dict(rates)}")
    try:
        with range_bytes(*bounds):
            _cast(world, rng, mix)
            world.scheduler.run(MOST_STEPS)
            _quiet(world, rng)
        violation = ""
    except (Violation, Endless) as error:
        violation = str(error)
    finally:
        world.scheduler.close()
    return Outcome(seed, violation, world.scheduler.step, mix, policy)


def _cast(world: World, rng: random.Random, mix: str) -> None:
    parts = list(MIXES[mix])
    rng.shuffle(parts)
    parts = parts[: rng.choice([2, 3, 3, 4])]
    shared = rng.random() < 0.4
    paths = rng.sample(PATHS, 1 if mix == "conditions" and rng.random() < 0.5 else rng.choice([2, 3, 3, len(PATHS)]))
    common = (Process("p"), world.engine(1))
    for number, verbs in enumerate(parts, 2):
        process, engine = common if shared else (Process(f"p{number}"), world.engine(number))
        branch = rng.choice(["main", "dev"]) if mix in {"merges", "branches"} else "main"
        name = f"{verbs[0]}{number}"
        actor = Actor(world, name, engine, random.Random(rng.random()), branch, paths)
        world.scheduler.spawn(name, process, act(actor, [rng.choice(verbs) for _ in range(rng.choice([2, 3, 4]))]))


def _quiet(world: World, rng: random.Random) -> None:
    """Nobody acts any more: clean until nothing is left to clean, then look at everything with a fresh engine."""
    world.faults.off = True
    engine = world.engine(99)
    names = [name for name in world.history.names() if world.history.now(name) is not None]

    async def last_look(actor: Actor) -> None:
        for _ in range(2):
            await actor.call("clean", engine.run_cleaner())
            world.scheduler.time += 2 * GRACE
        for name in names:
            await actor.call("list", engine.list_objects(REPO, name), branch=name, prefix="")
        path = rng.choice(PATHS)
        await actor.call("read", engine.stat(REPO, "main", path), path=path)

    actor = Actor(world, "last", engine, random.Random(0), "main")
    world.scheduler.spawn("last", Process("last"), last_look(actor))
    world.scheduler.run(MOST_STEPS)
    _no_orphans(world)


def _no_orphans(world: World) -> None:
    contents = world.contents
    named = {token for name in contents.branches() if (record := contents.branch(name)) for token in _tokens(record)}
    for partition in contents.partitions():
        if partition.startswith("stage/") and partition[6:] not in named:
            raise Violation(f"rows of {partition[-6:]} are left, which no record names")
    for name in contents.branches():
        record, state = contents.branch(name), world.history.now(name)
        assert record is not None
        assert state is not None
        if identities(contents.state(record).view) != identities(state.view):
            raise Violation(f"branch {name!r} shows something else after cleaning")
        for path, value in state.view.items():
            contents.need(value.address)
            assert path


def _tokens(record: object) -> list[str]:
    from tests.simulation.audit import tokens_of

    return tokens_of(record)  # type: ignore[arg-type]
