"""Rivals at every store call of push, compact, reset of a prefix and commit; lost answers; many real tasks.

Two concurrent operations must end as one of the two orders would. The oracle runs both orders on a dictionary.
"""

from __future__ import annotations

import asyncio
import copy
import itertools
import random
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from lakebed_engine.engine import Engine
from lakebed_engine.operations.context import decode_branch
from lakebed_engine.operations.keys import OPERATIONS
from lakebed_engine.stores.kv.base import Batch
from lakebed_engine.stores.kv.memory import MemoryKV
from lakebed_engine.tree.layers import layer_tree
from lakebed_engine.vocabulary import errors
from lakebed_engine.vocabulary.records import Commit

from tests.engine.layering import LateKV, Model, World, just_seal, layers_of, observed, push, shown, write
from tests.engine.racing import lake
from tests.engine.support import REPO, LossyKV, commit, fails, history, losing
from tests.engine.trees import Delta
from tests.support.sampling import after, sampled

pytestmark = pytest.mark.slow

Act = Callable[[Engine], Awaitable[object]]
Verb = tuple[Act, Callable[[Model], object]]
DEV = "dev"
PUSHED: Delta = {"a": "pushed", "p/1": "pushed", "p/2": None, "p/9": "pushed"}


async def or_nothing(job: Awaitable[object]) -> None:
    """Nothing to commit is an answer."""
    try:
        await job
    except errors.NoChangesError:
        pass


async def recreate(engine: Engine) -> None:
    await engine.branches.delete(REPO, DEV)
    await engine.branches.create(REPO, DEV, "main")


def recreated(model: Model) -> None:
    model.head, model.staged = {"a": "main"}, {}


VERBS: dict[str, Verb] = {
    "push": (lambda e: push(e, PUSHED, DEV, at=[2]), lambda m: m.write(PUSHED)),
    "compact": (lambda e: e.branches.compact(REPO, DEV, least=2), lambda m: None),
    "reset prefix": (lambda e: e.branches.reset_prefix(REPO, DEV, "p/"), lambda m: m.reset("p/")),
    "commit": (lambda e: or_nothing(commit(e, branch=DEV)), lambda m: m.commit()),
    "reset object": (lambda e: e.branches.reset_object(REPO, DEV, "p/1"), lambda m: m.reset_object("p/1")),
}
WRITE: Verb = (lambda e: write(e, {"p/1": "rival"}, DEV), lambda m: m.write({"p/1": "rival"}))
SEAL: Verb = (lambda e: just_seal(e, DEV), lambda m: None)
RIVALS: dict[str, list[Verb]] = {
    "nobody": [],
    "push": [(lambda e: push(e, {"a": "rival", "p/1": "rival", "q": "rival"}, DEV),
              lambda m: m.write({"a": "rival", "p/1": "rival", "q": "rival"}))],
    "write": [WRITE],
    "batch": [(lambda e: write(e, {"p/1": "rival", "p/7": "rival"}, DEV),
               lambda m: m.write({"p/1": "rival", "p/7": "rival"}))],
    "delete": [(lambda e: write(e, {"a": None}, DEV), lambda m: m.write({"a": None}))],
    "seal": [SEAL],
    "compact": [VERBS["compact"]],
    "write, seal and compact": [WRITE, SEAL, VERBS["compact"]],
    "commit": [VERBS["commit"]],
    "commit and write": [VERBS["commit"], WRITE],
    "reset": [(lambda e: e.branches.reset(REPO, DEV), lambda m: m.reset())],
    "reset prefix": [VERBS["reset prefix"]],
    "reset object": [VERBS["reset object"]],
    "reset live object": [(lambda e: e.branches.reset_object(REPO, DEV, "p/5"), lambda m: m.reset_object("p/5"))],
    "recreate": [(recreate, recreated)],
}  # fmt: skip


async def act(rival: str, engine: Engine) -> None:
    for one, _ in RIVALS[rival]:
        await one(engine)


def orders(model: Model, verb: str, rival: str) -> list[Model]:
    """What the branch may show after both: the operation before, between or behind the rival's steps."""
    found = []
    for at in range(len(RIVALS[rival]) + 1):
        after = model.copy()
        for _, step in [*RIVALS[rival][:at], VERBS[verb], *RIVALS[rival][at:]]:
            step(after)
        found.append(after)
    return found


async def _prepare(live: bool, world: World) -> tuple[Engine, Model]:
    """A branch with a head, a file layer, a sealed token, a compacted layer, and rows in the live token or none."""
    engine = await world.start()
    await write(engine, {"a": "main"})
    await commit(engine)
    await engine.branches.create(REPO, DEV, "main")
    model = Model({"a": "main"})
    steps: list[Delta] = [{"a": "head", "p/1": "head", "p/2": "head"}, {"p/1": "one", "b": "one"}, {"p/2": "two"},
                          {"p/3": "three", "a": None}, {"p/1": "four", "p/4": None, "p/5": "live"}]  # fmt: skip
    for number, delta in enumerate(steps):
        await (push(engine, delta, DEV) if number in (1, 3) else write(engine, delta, DEV))
        model.write(delta)
        if number == 0:
            await commit(engine, branch=DEV)
            model.commit()
        elif number == 2:
            await just_seal(engine, DEV)
            await engine.branches.compact(REPO, DEV, least=2)
    if not live:
        await just_seal(engine, DEV)
    assert (await observed(engine, DEV)).same(model)
    return engine, model


_snapshots: dict[bool, tuple[MemoryKV, dict[str, Any], Model]] = {}


async def prepared(live: bool, world: World) -> tuple[Engine, Model]:
    """The same in no time, from the second time on."""
    kv = world.kv.inner if isinstance(world.kv.inner, MemoryKV) else world.kv.inner.inner  # type: ignore[attr-defined]
    if live not in _snapshots:
        first = World()
        _, model = await _prepare(live, first)
        assert isinstance(first.kv.inner, MemoryKV)
        _snapshots[live] = first.kv.inner, first.objects._blobs, model
    old, blobs, model = _snapshots[live]
    kv._partitions, kv._version = copy.deepcopy(old._partitions), old._version
    world.objects._blobs = dict(blobs)
    return world.engine(), model


async def intact(world: World, engine: Engine, wanted: list[Model], what: object) -> None:
    """One of the orders; and it stays so when the cleaner has been, caches are cold, and all is committed."""
    found = await observed(engine, DEV)
    assert len({layer.id for layer in await layers_of(engine, DEV)}) == len(await layers_of(engine, DEV)), what
    assert any(found.same(one) for one in wanted), (what, found, wanted)
    await world.clean(engine)
    cold = world.engine(cache_bytes=0)
    assert await shown(cold, DEV) == found.view, what
    assert world.layer_files() >= {
        info.file for layer in await layers_of(cold, DEV) for info in layer_tree(layer).ranges
    }
    await write(cold, {"last": "x"}, DEV)
    await commit(cold, branch=DEV)
    assert await shown(cold, f"{DEV}@") == {**found.view, "last": "x"}, what
    assert await layers_of(cold, DEV) == ()


@pytest.mark.parametrize("pair", sampled(itertools.product(VERBS, list(RIVALS)[1:]), 12, "-".join))
async def test_two_concurrent_operations_end_as_one_of_their_orders(pair: tuple[str, str]) -> None:
    verb, rival = pair

    async def job(call: int, live: bool) -> bool:
        world = World()
        engine, model = await prepared(live, world)
        reached = world.at(call, lambda: act(rival, world.engine()))
        try:
            await VERBS[verb][0](engine)
        except errors.BranchNotFoundError:
            assert rival == "recreate"
            world.hook = None
            assert (await observed(engine, DEV)).same(Model({"a": "main"}))
            return True
        world.hook = None
        if not reached():
            return False
        await intact(world, engine, orders(model, verb, rival), (verb, rival, call, live))
        return True

    for live in (True, False) if rival in ("push", "write", "recreate") else (True,):
        call = 1
        while await job(call, live):
            call = after(call)
        assert call > 4


@pytest.mark.parametrize("how", ["after", "before", "late"])
@pytest.mark.parametrize("rival", ["nobody", "write", "commit", "commit and write", "reset", "compact", "recreate"])
@pytest.mark.parametrize("verb", ["push", "compact", "reset prefix"])
async def test_a_lost_answer_is_settled_and_counts_once(verb: str, rival: str, how: str) -> None:
    async def job(at: int) -> bool:
        batches = 0

        def lose(_: Batch) -> str:
            nonlocal batches
            if world._inside or not armed:
                return ""
            batches += 1
            return ("after" if how == "after" else "before") if batches == at else ""

        armed = False
        kv = (LateKV if how == "late" else LossyKV)(MemoryKV(), lose)
        world = World(kv)
        engine, model = await prepared(True, world)
        wanted = orders(model, verb, rival)
        acted = False

        async def hook(_: str) -> None:
            nonlocal acted
            if kv.lost and not acted:
                acted = True
                await act(rival, world.engine())

        armed, world.hook = True, hook
        try:
            await VERBS[verb][0](engine)
        except errors.BranchNotFoundError:
            assert rival == "recreate"
        armed, world.hook = False, None
        if not kv.lost:
            return False
        assert acted
        await intact(world, engine, wanted, (verb, rival, how, at))
        return True

    at = 1
    while await job(at):
        at += 1
    assert at > 1


async def test_a_reset_to_what_was_staged_last_stops_a_commit_of_what_was_staged_before() -> None:
    """The newest layer equals the head, so the reset pushes nothing, although older layers differ."""

    async def job(call: int, reset: Act) -> bool:
        world = World()
        engine = await world.start()
        await write(engine, {"p": "head"})
        await commit(engine)
        await write(engine, {"p": "older"})

        async def rival() -> None:
            other = world.engine()
            await write(other, {"p": "head"})
            await reset(other)

        reached = world.at(call, rival)
        await or_nothing(commit(engine))
        world.hook = None
        if reached():
            assert await shown(engine, "main@") == await shown(engine), (call, "the reset left nothing to commit")
        return reached()

    resets: list[Act] = [
        lambda e: e.branches.reset_prefix(REPO, "main", ""),
        lambda e: e.branches.reset_object(REPO, "main", "p"),
    ]
    for reset in resets:
        call = 1
        while await job(call, reset):
            call += 1
        assert call > 4


def test_a_record_of_before_resets_were_counted_has_none() -> None:
    stored = b'{"name":"b","uid":"u","gen":3,"commit_id":"c","staging_token":"t","layers":[],"hidden":false}'
    assert decode_branch(stored).resets == 0


async def test_an_empty_commit_does_not_hide_another() -> None:
    """With nothing staged, a rival's commit removes no layer: only the head shows it."""

    async def job(call: int) -> bool:
        world = World()
        engine = await world.start()

        async def rival() -> None:
            other = world.engine()
            await write(other, {"a": "rival"})
            await commit(other)

        reached = world.at(call, rival)
        made = await commit(engine, allow_empty=True)
        world.hook = None
        assert made.id in [one.id for one in await history(engine)]
        if reached():
            assert len(await history(engine)) == 3, call
            assert await shown(engine, "main@") == await shown(engine) == {"a": "rival"}
        return reached()

    call = 1
    while await job(call):
        call += 1
    assert call > 4


async def test_push_with_a_lost_answer() -> None:
    kv = LossyKV(MemoryKV(), lambda _: "")
    world = World(kv)
    engine, model = await prepared(True, world)
    kv.lose = lambda _: "before"
    await fails(push(engine, PUSHED, DEV), errors.OutcomeUnknownError)
    kv.lose = lambda _: ""
    await intact(world, engine, [model], "never applied")


async def test_write_between_the_marker_check_and_the_swap_is_kept() -> None:
    """The reason for the guard: the write is acknowledged, so it must not be dropped with its token."""
    world = World()
    engine = await world.start()
    await engine.branches.create(REPO, DEV, "main")
    swaps = 0

    async def hook(what: str) -> None:
        nonlocal swaps
        if what == "kv apply":
            swaps += 1
            if swaps == 1:
                await write(world.engine(), {"w": "acknowledged", "a": "older"}, DEV)

    world.hook = hook
    await push(engine, PUSHED, DEV)
    world.hook = None
    assert swaps == 2
    assert [layer.kind for layer in await layers_of(engine, DEV)] == ["file", "kv"]
    assert await shown(engine, DEV) == {"w": "acknowledged", "a": "pushed", "p/1": "pushed", "p/9": "pushed"}


async def test_swaps_leave_operation_keys_and_refusals_do_not() -> None:
    world = World()
    engine, _ = await prepared(True, world)
    partition = f"repo/{(await engine.repositories.get(REPO)).uid}"

    async def keys() -> int:
        return len(await world.kv.inner.scan(partition, OPERATIONS, b"op0"))

    before = await keys()
    await push(engine, PUSHED, DEV)
    assert await keys() == before + 1
    await engine.branches.compact(REPO, DEV, least=2)
    assert await keys() == before + 2
    assert await engine.branches.compact(REPO, DEV, least=2) == 0
    assert await keys() == before + 2


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
@pytest.mark.parametrize("rate", [0.0, 0.1])
async def test_pushers_writers_compactors_and_committers(kind: str, rate: float, tmp_path: Path) -> None:
    """Every group of paths has one owner. The branch must show the last change of each owner."""

    async def job(seed: int) -> None:
        dice = random.Random(seed)
        last: dict[str, set[str | None]] = {}
        made: list[Commit] = []
        busy = True

        async def sure(path: str, text: str | None, act: Awaitable[object]) -> None:
            try:
                await act
                last[path] = {text}
            except errors.OutcomeUnknownError:
                last.setdefault(path, {None}).add(text)
            except errors.BackpressureError:
                pass

        async def writer(engine: Engine, number: int) -> None:
            for step in range(8):
                await sure(f"w{number}/0", f"{step}", write(engine, {f"w{number}/0": f"{step}"}))

        async def pusher(engine: Engine, number: int) -> None:
            for step in range(6):
                text = None if step == 3 else f"{step}"
                delta: Delta = dict.fromkeys((f"u{number}/{n}" for n in range(4)), text)
                await sure(f"u{number}/0", text, push(engine, delta, at=[2]))

        async def resetter(engine: Engine) -> None:
            for step in range(4):
                try:
                    await write(engine, {"r/0": f"{step}", "r/1": f"{step}"})
                    await engine.branches.reset_prefix(REPO, "main", "r/")
                    last["r/0"] = {None, *(f"{n}" for n in range(step + 1))}  # a commit may have come between
                except (errors.OutcomeUnknownError, errors.BackpressureError):
                    last["r/0"] = {None, *(f"{n}" for n in range(4))}

        async def others(engine: Engine) -> None:
            while busy:
                try:
                    if dice.random() < 0.6:
                        await engine.branches.compact(REPO, "main", least=dice.choice([2, 3, 8]))
                    else:
                        made.append(await commit(engine))
                except (errors.NoChangesError, errors.OutcomeUnknownError):
                    pass
                await asyncio.sleep(0)

        async def reader(engine: Engine) -> None:
            while busy:
                for number in range(2):
                    page = await shown(engine, prefix=f"u{number}/")
                    assert len(page) in (0, 4), f"seed {seed}: half a push: {page}"
                    assert len(set(page.values())) <= 1, f"seed {seed}: two pushes in one page: {page}"
                await asyncio.sleep(0)

        async with lake(kind, tmp_path, seed, losing(dice, rate)) as engine:
            side = [asyncio.ensure_future(one) for one in (others(engine), others(engine), reader(engine))]
            await asyncio.gather(
                *(writer(engine, n) for n in range(3)), *(pusher(engine, n) for n in range(2)), resetter(engine)
            )
            busy = False
            await asyncio.gather(*side)
            kv = engine.context.kv
            assert isinstance(kv, LossyKV)
            kv.lose = lambda _: ""
            found = await shown(engine)
            for path, texts in last.items():
                assert found.get(path) in texts, f"seed {seed}: {path} holds {found.get(path)}, not one of {texts}"
            await engine.branches.compact(REPO, "main", least=2)
            assert await shown(engine) == found, f"seed {seed}"
            await or_nothing(commit(engine))
            assert await shown(engine, "main@") == found, f"seed {seed}"
            commits = [one.id for one in await history(engine)]
            assert len({one.id for one in made}) == len(made)
            assert {one.id for one in made} <= set(commits), f"seed {seed}: an acknowledged commit is gone"

    for seed in range(2 if kind == "sqlite" else 8):
        await job(seed)
