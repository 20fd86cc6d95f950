"""Readers and writers that pause past the grace period, files that vanish, and crashes at every store call."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from lakebed_engine.engine import Engine
from lakebed_engine.operations.keys import DROPS
from lakebed_engine.tree.layers import layer_tree
from lakebed_engine.vocabulary import errors
from lakebed_engine.vocabulary.requests import Held, UploadRequest

from tests.engine.layering import (
    GRACE,
    Model,
    World,
    just_seal,
    layers_of,
    observed,
    push,
    shown,
    uncommitted,
    write,
)
from tests.engine.support import REPO, chunked, commit, fails
from tests.engine.trees import Delta, applied, changed, entry
from tests.support.sampling import after

pytestmark = pytest.mark.slow

PUSHED: Delta = {"a": "pushed", "p/1": "pushed", "p/2": None, "p/9": "pushed"}


async def prepared(world: World, *, files: bool = True) -> tuple[Engine, Model]:
    """A head, a sealed token, two file layers (or sealed tokens in their place), and live rows."""
    engine, model = await world.start(cache_bytes=0), Model()
    steps: list[Delta] = [{"a": "head", "p/1": "head", "p/2": "head"}, {"p/1": "one", "b": "one"}, {"p/2": "two"},
                          {"p/3": "three", "a": None}, {"p/1": "four"}]  # fmt: skip
    for number, delta in enumerate(steps):
        if files and number in (1, 3):
            await push(engine, delta)
        else:
            await write(engine, delta)
        if not files and number:
            await just_seal(engine)
        model.write(delta)
        if number == 0:
            await commit(engine)
            model.commit()
    return engine, model


def files_of(layers: Any) -> set[str]:
    return {info.file for layer in layers for info in layer_tree(layer).ranges}


async def dropped(world: World, how: str) -> None:
    """Another process drops every layer that there was, and cleans."""
    rival = world.engine()
    await just_seal(rival)
    if how == "compact":
        assert await rival.branches.compact(REPO, "main", least=2)
    elif how == "commit":
        await commit(rival)
    elif how == "reset":
        await rival.branches.reset(REPO, "main")
    await world.clean(rival)


async def test_dropped_files_go_after_the_grace_and_named_ones_stay() -> None:
    async def job(how: str) -> None:
        world = World()
        engine, model = await prepared(world)
        before = files_of(await layers_of(engine))
        assert world.layer_files() == before
        assert len(before) == 2
        if how == "compact":
            await engine.branches.compact(REPO, "main", least=2)
        elif how == "commit":
            await commit(engine)
        elif how == "reset":
            await engine.branches.reset(REPO, "main")
        else:
            await engine.branches.create(REPO, "dev", "main")
            await push(engine, {"x": "dev"}, "dev")
            before = files_of(await layers_of(engine, "dev"))
            await engine.branches.delete(REPO, "dev")
        kept = files_of(await layers_of(engine))
        assert not before & kept
        world.clock.forward(10 * GRACE)
        await engine.maintenance.clean()
        world.clock.forward(GRACE - 1)
        await engine.maintenance.clean()
        assert world.layer_files() >= before, "the grace begins when the cleaner sees the note"
        world.clock.forward(2)
        await engine.maintenance.clean()
        assert world.layer_files() == kept
        assert await world.kv.scan(DROPS) == []
        if how != "reset":
            assert await shown(world.engine()) == model.view

    for how in ("compact", "commit", "reset", "delete"):
        await job(how)


async def test_an_abandoned_compaction_leaves_no_file() -> None:
    world = World()
    engine, _ = await prepared(world)

    async def hook(what: str) -> None:
        if what == "put done":
            await commit(world.engine())

    world.hook = hook
    assert await engine.branches.compact(REPO, "main", least=2) == 0
    world.hook = None
    await world.clean(engine)
    assert world.layer_files() == set()


READS: dict[str, Callable[[Engine], Awaitable[object]]] = {
    "stat": lambda e: e.objects.stat(REPO, "main", "p/2"),
    "stat oldest": lambda e: e.objects.stat(REPO, "main", "b"),
    "list": shown,
    "diff": uncommitted,
}


@pytest.mark.parametrize("how", ["compact", "commit", "reset"])
@pytest.mark.parametrize("verb", READS)
async def test_a_reader_that_pauses_past_the_grace_reads_again(verb: str, how: str) -> None:
    async def job(call: int) -> bool:
        world = World()
        engine, model = await prepared(world)
        views = [model.view, model.head] if how == "reset" else [model.view]
        diffs = {"compact": [model.staged], "commit": [model.staged, {}], "reset": [model.staged, {}]}[how]
        diffs = [changed(model.head, applied(model.head, one)) for one in diffs]
        reached = world.at(call, lambda: dropped(world, how))
        try:
            found = await READS[verb](engine)
        except errors.ObjectNotFoundError:
            assert (how, verb) == ("reset", "stat oldest"), call
            return reached()
        if verb == "list":
            assert found in views, call
        elif verb == "diff":
            assert found in diffs, call
        else:
            path = "p/2" if verb == "stat" else "b"
            assert found in [entry(view[path]) for view in views if path in view], call
        return reached()

    call = 1
    while await job(call):
        call = after(call)
    assert call > 4


def if_match(text: str) -> UploadRequest:
    return UploadRequest(path="p/2", if_match=entry(text).checksum)


# each goes by what the sealed layers say: p/2 holds "two", and a tombstone hides the committed "a"
CONDITIONS: dict[str, Callable[[Engine], Awaitable[object]]] = {
    "if-match": lambda e: e.objects.upload(REPO, "main", if_match("two"), chunked([b"new"])),
    "if-none-match": lambda e: e.objects.upload(
        REPO, "main", UploadRequest(path="a", if_none_match=True), chunked([b"new"])
    ),
    "delete if-match": lambda e: e.objects.delete(REPO, "main", "p/2", expected=Held(etag=entry("two").checksum)),
    "copy": lambda e: e.objects.copy(REPO, "main", "new", "", "p/2"),
}


@pytest.mark.parametrize("verb", ["push", "reset prefix", "reset object", "commit", "compact"])
async def test_a_page_shows_one_moment_when_a_change_and_a_write_overtake_it(verb: str) -> None:
    """A reader with an old record must not see rows that were staged after the next record."""

    async def job(call: int, live: bool) -> bool:
        world = World()
        engine, model = await prepared(world)
        if not live:
            await just_seal(engine)
        moments = [model.view]

        async def act() -> None:
            rival = world.engine()
            await WRITES[verb][0](rival)
            WRITES[verb][1](model)
            moments.append(model.view)
            await write(rival, {"p/7": "later"})
            model.write({"p/7": "later"})
            moments.append(model.view)

        reached = world.at(call, act)
        found = await shown(engine)
        world.hook = None
        assert found in moments, (call, found, moments)
        return reached()

    for live in (True, False):
        call = 1
        while await job(call, live):
            call = after(call)
        assert call > 4


@pytest.mark.parametrize("files", [True, False])
@pytest.mark.parametrize("how", ["compact", "commit"])
@pytest.mark.parametrize("verb", CONDITIONS)
async def test_conditional_writes_read_again_after_a_pause_past_the_grace(verb: str, how: str, files: bool) -> None:
    """The content of the branch never changes, so the condition always holds and must not be refused."""

    async def job(call: int) -> bool:
        world = World()
        engine, model = await prepared(world, files=files)
        reached = world.at(call, lambda: dropped(world, how))
        await CONDITIONS[verb](engine)
        world.hook = None
        found = await shown(world.engine(cache_bytes=0))
        path = {"if-none-match": "a", "copy": "new"}.get(verb, "p/2")
        text = found.pop(path, None)
        if verb == "copy":
            assert text == "two", call
        else:
            assert (text is None) == (verb == "delete if-match"), call
            assert text != model.view.get(path), call
        assert found == {name: text for name, text in model.view.items() if name != path}, call
        return reached()

    call = 1
    while await job(call):
        call = after(call)
    assert call > 4


WRITES: dict[str, tuple[Callable[[Engine], Awaitable[object]], Callable[[Model], object]]] = {
    "commit": (commit, lambda m: m.commit()),
    "compact": (lambda e: e.branches.compact(REPO, "main", least=2), lambda m: None),
    "reset prefix": (lambda e: e.branches.reset_prefix(REPO, "main", "p/"), lambda m: m.reset("p/")),
    "reset object": (lambda e: e.branches.reset_object(REPO, "main", "p/2"), lambda m: m.reset_object("p/2")),
    "push": (lambda e: push(e, PUSHED), lambda m: m.write(PUSHED)),
}


@pytest.mark.parametrize("files", [True, False])
@pytest.mark.parametrize("verb", WRITES)
async def test_writer_that_pauses_past_the_grace_reads_again(verb: str, files: bool) -> None:
    async def job(call: int) -> bool:
        world = World()
        engine, model = await prepared(world, files=files)
        reached = world.at(call, lambda: dropped(world, "compact"))
        await WRITES[verb][0](engine)
        world.hook = None
        WRITES[verb][1](model)
        found = await observed(world.engine(cache_bytes=0))
        assert found.same(model), (call, found, model)
        return reached()

    call = 1
    while await job(call):
        call = after(call)
    assert call > 4


async def test_a_file_that_is_gone_is_an_error_that_names_it() -> None:
    world = World()
    engine, _ = await prepared(world)
    (name,) = files_of((await layers_of(engine))[:1])
    await world.objects.delete([name])
    for verb in (*READS.values(), *(act for act, _ in WRITES.values())):
        if verb is WRITES["push"][0]:
            continue
        error = await fails(verb(engine), errors.MissingFileError)
        assert name in str(error)
    await push(engine, PUSHED)
    assert (await engine.objects.stat(REPO, "main", "p/9")) == entry("pushed")
    await engine.branches.reset(REPO, "main")
    assert await shown(engine) == {"a": "head", "p/1": "head", "p/2": "head"}


class Crash(BaseException):
    """The process is gone."""


@pytest.mark.parametrize(
    ("verb", "kind"),
    [
        *((verb, Crash) for verb in ("push", "compact", "reset prefix", "commit")),
        *((verb, errors.StoreUnavailableError) for verb in ("push", "compact")),
    ],
)
async def test_a_crash_at_any_store_call_loses_nothing(verb: str, kind: type[BaseException]) -> None:
    """The process dies before each call and after each change. Then another process continues."""

    async def job(call: int) -> bool:
        world = World()
        engine, model = await prepared(world)
        world.log = []

        async def hook(_: str) -> None:
            if len(world.log) == call:
                raise kind("crash")

        world.hook = hook
        done = model.copy()
        WRITES[verb][1](done)
        try:
            await WRITES[verb][0](engine)
            assert len(world.log) < call
            return False
        except kind:
            pass
        except errors.OutcomeUnknownError:
            assert kind is not Crash
        world.hook = None
        later = world.engine(cache_bytes=0)
        found = await observed(later)
        assert found.same(model) or found.same(done), call
        await world.clean(later)
        assert world.layer_files() >= files_of(await layers_of(later))
        assert (await observed(later)).same(found)
        await push(later, {"x": "after"})
        await later.branches.compact(REPO, "main", least=2)
        await write(later, {"y": "after"})
        await later.branches.reset_prefix(REPO, "main", "none")
        await commit(later)
        wanted = {**found.view, "x": "after", "y": "after"}
        assert await shown(later, "main@") == await shown(later) == wanted
        await world.clean(later)
        assert await shown(world.engine(cache_bytes=0)) == wanted
        return True

    call = 1
    while await job(call):
        call = after(call)
    assert call > 6
