"""One schedule, from its seed: a world, some actors, a policy, some faults; then quiet, cleaning, and a last check."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from lakebed_engine.operations.events.drain import LEASE
from lakebed_engine.operations.multipart.records import REMEMBERED
from lakebed_engine.operations.tuning import Tuning
from lakebed_engine.vocabulary.records import Branch, Workspace

from tests.simulation.actors.actors import PATHS, Actor, deliver
from tests.simulation.actors.verbs import act
from tests.simulation.checks import multiparts
from tests.simulation.checks.audit import tokens_of
from tests.simulation.checks.contents import Contents
from tests.simulation.checks.history import Violation, identities
from tests.simulation.checks.joins import was_moved
from tests.simulation.checks.multiparts import LIFETIME
from tests.simulation.world.scheduler import Endless, Policy, Process
from tests.simulation.world.world import (
    ALL_ROWS,
    GRACE,
    ONE_ROW,
    REPO,
    TWO_ROWS,
    World,
    prepared,
    small_trees,
)

MOST_STEPS = 200_000

MIXES: Mapping[str, Sequence[Sequence[str]]] = {
    # each mix: the verbs of its actors; a verb that is listed twice is drawn twice as often
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
    "advances": (
        ["ws_whole", "ws_part"],
        ["ws_whole"],
        ["ws_part", "ws_commit"],
        ["ws_whole", "commit", "put"],
        ["ws_write", "ws_revert", "reset"],
    ),
    "crowds": (
        ["ws_crowd"],
        ["ws_crowd"],
        ["ws_crowd"],
        ["ws_crowd", "ws_part"],
        ["ws_crowd", "commit", "put", "reset"],
    ),
    "rivals": (
        ["ws_rivals"],
        ["ws_rivals", "ws_scan"],
        ["put", "put_many", "ws_whole"],
        ["ws_rivals", "clean"],
    ),
    "claims": (
        ["ws_claim"],
        ["ws_claim", "ws_whole"],
        ["put", "commit", "push", "ws_whole"],
        ["merge", "publish", "commit"],
    ),
    "scans": (
        ["ws_scan", "ws_part"],
        ["ws_scan", "ws_write"],
        ["ws_commit", "ws_revert", "ws_scan"],
        ["put", "commit"],
    ),
    "ingests": (["ingest"], ["feed", "ingest"], ["put", "commit", "ws_whole"], ["merge", "publish", "feed"]),
    "at_once": (
        ["at_once"],
        ["at_once", "put", "delete"],
        ["at_once", "commit", "ws_crowd"],
        ["put", "delete", "commit", "reset"],
        ["at_once", "at_once", "clean", "read", "list"],
    ),
    "joins": (
        ["revert", "pick"],
        ["clash", "clash", "merge_by_rules", "publish"],
        ["hard_reset", "pick", "merge"],
        ["put", "delete", "put_many", "commit"],
        ["revert", "merge_by_rules", "commit", "reset"],
    ),
    "tasks": (
        ["task"],
        ["task", "put"],
        ["task", "cancel", "resume"],
        ["cancel", "resume", "clean"],
        ["cancel", "cancel", "resume", "put"],
        ["task", "at_once", "commit", "hard_reset"],
    ),
    "merge_tasks": (
        ["merge_task"],
        ["merge_task", "cancel"],
        ["cancel", "cancel", "resume"],
        ["cancel", "resume", "clean", "put"],
        ["cancel", "put", "commit", "hard_reset", "clash"],
    ),
    "imports": (
        ["import"],
        ["import", "cancel"],
        ["cancel", "cancel", "resume"],
        ["cancel", "resume", "clean", "feed"],
        ["cancel", "put", "commit", "ws_whole", "task"],
    ),
    "multiparts": (
        ["mp_whole"],
        ["mp_whole", "mp_join"],
        ["mp_join", "mp_join", "mp_join", "clean"],
        ["mp_join", "put", "delete", "put_if", "commit"],
        ["clean", "mp_whole", "commit", "read", "list", "reset"],
    ),
    "events": (
        ["drain"],
        ["drain", "events", "commit"],
        ["commit", "hard_reset", "merge", "put"],
        ["at_once", "publish", "create_branch", "delete_branch"],
    ),
    "hooks": (
        ["deliver", "commit"],
        ["commit", "merge", "put"],
        ["at_once", "commit", "ws_whole"],
        ["hard_reset", "revert", "pick", "put"],
        ["deliver", "deliver", "put", "commit"],
    ),
    "cleaning": (["clean"], ["put", "commit", "commit"], ["read", "list"], ["commit", "reset", "delete"]),
}

TWICE = (
    "merges", "conditions", "compaction", "crowds", "rivals", "scans", "at_once", "joins", "tasks",
    "multiparts", "multiparts", "merge_tasks", "merge_tasks", "imports",
)  # fmt: skip
"""Mixes that are drawn twice as often, or three times: what they are to find takes rare moments."""

ASIDE = {"events": 0.05, "hooks": 0.05}
"""Mixes that replace the drawn one in this share of the schedules. So the other schedules stay as they are."""

TWO_BRANCHES = {"merges", "branches", "claims", "ingests", "joins", "merge_tasks", "events", "hooks"}
"""Mixes whose actors work on either branch; those of the others on `main`."""

_COMMITS = {"commit", "task", "merge", "merge_task", "revert", "pick", "ws_commit", "publish"}
"""Kinds of calls that answer with a commit of their own."""

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
    mix = rng.choice([*(mix for mix in MIXES if mix not in ASIDE), *TWICE])
    for name, share in ASIDE.items():
        mix = name if random.Random(f"{name} {seed}").random() < share else mix
    policy: Policy = rng.choice(["random", "sticky", "pct"])
    rates = rng.choice(FAULTS)
    bounds = rng.choice(
        [ONE_ROW, TWO_ROWS, ALL_ROWS] if mix in {"merges", "joins"} else [ONE_ROW, ONE_ROW, ONE_ROW, TWO_ROWS]
    )
    # tasks are taken over soon, from servers that are at work: here they give no signs of life
    tuning = Tuning(trees=small_trees(bounds), task_silence=0.05, least_part=1)
    world = World(prepared(rng.randrange(4), bounds), rng, policy, rates, trace, tuning=tuning)
    if trace is not None:
        trace(f"seed {seed}: mix {mix}, policy {policy}, faults {dict(rates)}")
    world.audit.events.hooks.on = mix == "hooks"
    try:
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
    crowd = mix == "crowds"
    parts = parts[: rng.choice([4, 5] if crowd else [2, 3, 3, 4])]
    shared = rng.random() < (0.8 if crowd else 0.4)
    one = mix == "conditions" and rng.random() < 0.5
    paths = rng.sample(PATHS, 1 if one else len(PATHS) if crowd else rng.choice([2, 3, 3, len(PATHS)]))
    common = (Process("p"), world.engine(1))
    for number, verbs in enumerate(parts, 2):
        alone = not shared or (crowd and rng.random() < 0.25)
        process, engine = (Process(f"p{number}"), world.engine(number)) if alone else common
        branch = rng.choice(["main", "dev"]) if mix in TWO_BRANCHES else "main"
        name = f"{verbs[0]}{number}"
        own = [PATHS[number % len(PATHS)]] if crowd and rng.random() < 0.7 else paths  # mostly disjoint
        drawn = [*verbs, *["intrude"] * 4] if crowd and shared and alone else verbs
        actor = Actor(world, name, engine, random.Random(rng.random()), branch, own)
        world.scheduler.spawn(name, process, act(actor, [rng.choice(drawn) for _ in range(rng.choice([2, 3, 4]))]))


def _quiet(world: World, rng: random.Random) -> None:
    """No actor runs any more: clean until nothing is left to clean, then check everything with a fresh engine."""
    world.faults.off = True
    engine = world.engine(99)
    names = [name for name in world.history.names() if world.history.now(name) is not None]

    async def last_look(actor: Actor) -> None:
        world.scheduler.time += 1
        await actor.call("resume", engine.tasks.resume())  # what it commits leaves something to clean
        for _ in range(2):
            await actor.call("clean", engine.maintenance.clean())
            world.scheduler.time += 2 * GRACE
        await forget_uploads(world, actor)
        for name in names:
            await actor.call("list", engine.objects.list(REPO, name), branch=name, prefix="")
        path = rng.choice(PATHS)
        await actor.call("read", engine.objects.stat(REPO, "main", path), path=path)
        await actor.call("events", engine.events.page(REPO, amount=1000))
        world.scheduler.time += LEASE + 1
        await actor.call("drain", engine.events.drain(REPO))
        await actor.call("events", engine.events.page(REPO, amount=1000))
        world.scheduler.time += 2 * LEASE
        await deliver(actor)

    actor = Actor(world, "last", engine, random.Random(0), "main")
    world.scheduler.spawn("last", Process("last"), last_look(actor))
    world.scheduler.run(MOST_STEPS)
    _no_orphans(world)
    world.audit.events.check_end()


async def forget_uploads(world: World, actor: Actor) -> None:
    """Long enough for every upload to end and to be forgotten. Raises Violation for what is left of one."""
    if not world.audit.uploads.ids():
        return
    for seconds in (LIFETIME + 1, REMEMBERED + 1):
        world.scheduler.time += seconds
        await actor.call("clean", actor.engine.maintenance.clean())
    multiparts.nothing_left(world.contents, world.audit.uploads)


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
            if not contents.has(value.address):
                raise Violation(f"{path!r} of {name!r} has lost its data")
    _all_there(world)


def _line(contents: Contents, head: str) -> list[str]:
    """A commit and its first parents, to the first of all."""
    line, one = [], head
    while one:
        line.append(one)
        one = next(iter(contents.commit(one).parents), "")
    return line


def _all_there(world: World) -> None:
    """Each acknowledged commit is in the history of its branch, along first parents, once; unless that was deleted."""
    contents, history = world.contents, world.history
    lines: dict[str, list[str]] = {}
    for op in history.ops:
        now = history.now(op.branch)
        if op.outcome != "ok" or op.kind not in _COMMITS or now is None or was_moved(history, op.branch, op.invoked):
            continue
        assert op.returned is not None
        then = next(history.during(op.branch, op.returned, op.returned))
        if then is None or then.record.uid != now.record.uid:
            continue
        seen = [state.record for state in history.during(op.branch, op.invoked, op.returned) if state is not None]
        heads = {now.record.commit_id}
        if any(record.uid != now.record.uid for record in seen):  # it may have landed on the branch that was deleted
            heads |= {record.commit_id for record in seen}
        for head in heads - lines.keys():
            lines[head] = _line(contents, head)
        if max(lines[head].count(op.answer.id) for head in heads) != 1:
            raise Violation(f"{op} was acknowledged as {op.answer.id[:8]}, which is not in the history, or twice")


def _tokens(record: Branch) -> list[str]:
    ledger = [f"scan-{record.uid}"] if isinstance(record, Workspace) else []
    return [*tokens_of(record), *ledger]
