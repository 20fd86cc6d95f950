"""Schedules of callers that pause past the clean-up's grace, between any two calls to the stores, with a cleaner that
never rests: what they hold is dropped and deleted under them. The properties are those of every schedule.

There a pause meets a cleaner that just then deletes what the paused one reads once in many thousand schedules; here in
every few.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from lakebed_engine.operations.tuning import Tuning

from tests.simulation.actors.actors import PATHS, Actor
from tests.simulation.actors.verbs import act
from tests.simulation.checks.history import Violation
from tests.simulation.simulate import MOST_STEPS
from tests.simulation.world.scheduler import Endless, Policy, Process, park
from tests.simulation.world.world import GRACE, ONE_ROW, TWO_ROWS, World, prepared, small_trees

PASSES = 24
"""Passes of the cleaner, one in each third of a grace period: as long as a few pauses."""

SLOW = (["read"], ["list"], ["put_if", "delete_if"], ["read", "list", "put_if"], ["reset_prefix", "push", "compact"])
"""What the callers that pause draw from."""

QUICK = (
    ["put", "delete", "commit"],
    ["push", "commit", "reset"],
    ["push", "push", "compact", "commit"],
    ["put", "push"],
)
"""The verbs of the other actors."""

_PAUSE = 0.25
"""How often a caller that pauses does so before a call to a store, or after it."""


class _Slowness:
    """Only callers whose names have this prefix pause."""

    def __init__(self, world: World, rng: random.Random) -> None:
        self._world = world
        self._rng = rng

    def draw(self, write: bool) -> str:
        """The fault of this call, or nothing."""
        task = self._world.scheduler.current
        assert task is not None
        assert task.op is not None
        return "paused" if task.op.actor.startswith("slow") and self._rng.random() < _PAUSE else ""


def pause_schedule(seed: int, trace: Callable[[str], None] | None = None) -> str:
    """Run the schedule of a seed: what was violated, or nothing."""
    rng = random.Random(seed)
    policy: Policy = rng.choice(["random", "sticky", "pct"])
    bounds = rng.choice([ONE_ROW, TWO_ROWS])
    tuning = Tuning(trees=small_trees(bounds), task_silence=0.05)
    world = World(prepared(rng.randrange(4), bounds), rng, policy, {}, trace, tuning=tuning)
    world._share = False  # what one caller has read, another reads from the store once more: it may be gone
    world.faults.draw = _Slowness(world, rng).draw  # type: ignore[method-assign]
    paths = rng.sample(PATHS, rng.choice([1, 2, 3]))
    cast = [("slow", rng.choice(SLOW), 4), ("slow", rng.choice(SLOW), 4), ("quick", rng.choice(QUICK), 6)]
    try:
        for number, (name, verbs, count) in enumerate(cast, 2):
            actor = _actor(world, rng, f"{name}{number}", number, paths)
            script = act(actor, [rng.choice(verbs) for _ in range(count)])
            world.scheduler.spawn(actor.name, Process(f"p{number}"), script)
        world.scheduler.spawn("cleaner9", Process("p9"), _clean(_actor(world, rng, "cleaner9", 9, paths)))
        world.scheduler.run(MOST_STEPS)
    except (Violation, Endless) as error:
        return str(error)
    finally:
        world.scheduler.close()
    return ""


def _actor(world: World, rng: random.Random, name: str, number: int, paths: Sequence[str]) -> Actor:
    return Actor(world, name, world.engine(number), random.Random(rng.random()), "main", paths)


async def _clean(actor: Actor) -> None:
    for _ in range(PASSES):
        await actor.call("clean", actor.engine.maintenance.clean())
        await park(actor.world.scheduler.time + GRACE / 3)
