"""Concurrent tasks, on memory and on SQLite, with and without lost answers. Each failure prints its seed."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path

import pytest
from lakebed_engine.engine import Engine
from lakebed_engine.stores.kv.base import Batch
from lakebed_engine.vocabulary import errors
from lakebed_engine.vocabulary.records import Commit

from tests.engine.racing import lake
from tests.engine.support import (
    REPO,
    LossyKV,
    commit,
    content,
    history,
    losing,
    merge,
    put,
    put_commit,
)

pytestmark = pytest.mark.medium  # races


async def in_history(engine: Engine, made: list[Commit]) -> None:
    found = [one.id for one in await history(engine)]
    assert {one.id for one in made} <= set(found)


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
@pytest.mark.parametrize("rate", [0.0, 0.15])
async def test_writers_and_committers(kind: str, rate: float, tmp_path: Path) -> None:
    seeds = range(2) if kind == "sqlite" else range(8)

    async def job(seed: int) -> None:
        dice = random.Random(seed)
        made: list[Commit] = []
        last: dict[str, set[str]] = {}  # per path: its possible contents, the last acknowledged and the unknown ones
        everything: dict[str, str] = {}

        async def writer(number: int) -> None:
            path = f"w{number}"
            for step in range(8):
                text = f"{number}-{step}"
                try:
                    await put(engine, path, text)
                    last[path] = {text}
                    everything[text] = path
                except errors.OutcomeUnknownError:
                    assert rate, f"seed {seed}"
                    last.setdefault(path, set()).add(text)

        async def committer() -> None:
            for _ in range(6):
                try:
                    made.append(await commit(engine))
                except errors.NoChangesError:
                    pass
                except errors.OutcomeUnknownError:
                    assert rate, f"seed {seed}"
                await asyncio.sleep(0)

        async with lake(kind, tmp_path, seed, losing(dice, rate)) as engine:
            await asyncio.gather(*map(writer, range(5)), *(committer() for _ in range(4)))
            await asyncio.sleep(0)
            engine_kv = engine.context.kv
            assert isinstance(engine_kv, LossyKV)
            engine_kv.lose = lambda _: ""
            found = await content(engine)
            assert found.pop("first") == "1"
            for path, texts in last.items():
                assert found.get(path) in texts, f"seed {seed}: {path} holds {found.get(path)}, not one of {texts}"
            await in_history(engine, made)
            assert len({one.id for one in made}) == len(made), f"seed {seed}: one commit acknowledged twice"
            try:
                await commit(engine)
            except errors.NoChangesError:
                pass
            assert {path: text for path, text in (await content(engine, "main@")).items() if path != "first"} == found
            for one in await history(engine):
                assert len(one.parents) <= 1

    for seed in seeds:
        await job(seed)


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
async def test_only_a_single_conditional_create_wins(kind: str, tmp_path: Path) -> None:
    async def job(seed: int) -> None:
        async with lake(kind, tmp_path, seed) as engine:

            async def create(number: int) -> int | None:
                try:
                    await put(engine, "one", f"{number}", if_none_match=True)
                    return number
                except errors.PreconditionFailedError:
                    return None

            async def noise() -> None:
                for step in range(5):
                    await put(engine, "noise", str(step))
                    await commit(engine)

            work = asyncio.ensure_future(noise())
            results = await asyncio.gather(*map(create, range(12)))
            await work
            won = [one for one in results if one is not None]
            assert len(won) == 1, f"seed {seed}"
            assert (await content(engine))["one"] == str(won[0])

    for seed in range(2 if kind == "sqlite" else 10):
        await job(seed)


@pytest.mark.parametrize("how", ["after", "before"])
async def test_conditional_writes_with_lost_answers_are_never_false(how: str, tmp_path: Path) -> None:
    """A counter kept by If-Match: each success counts once, each refusal not at all."""

    async def job(seed: int) -> None:
        dice = random.Random(seed)

        def lose(_: Batch) -> str:
            return how if dice.random() < 0.2 else ""

        async with lake("memory", tmp_path, seed, lose) as engine:
            await put(engine, "n", "0")

            async def add() -> int:
                done = 0
                for _ in range(6):
                    entry = await engine.objects.stat(REPO, "main", "n")
                    async with engine.objects.open(REPO, entry) as chunks:
                        now = int(b"".join([chunk async for chunk in chunks]))
                    try:
                        await put(engine, "n", str(now + 1), if_match=entry.checksum)
                        done += 1
                    except errors.PreconditionFailedError:
                        pass
                return done

            async def committer() -> None:
                for _ in range(6):
                    try:
                        await commit(engine)
                    except (errors.NoChangesError, errors.OutcomeUnknownError):
                        pass

            work = asyncio.ensure_future(committer())
            counts = await asyncio.gather(*(add() for _ in range(4)))
            await work
            assert (await content(engine))["n"] == str(sum(counts)), f"seed {seed}"
            for one in await history(engine):
                await content(engine, one.id)  # the data of every committed entry is still there

    for seed in range(10):
        await job(seed)


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
async def test_merges_race_with_writers_and_committers(kind: str, tmp_path: Path) -> None:
    async def job(seed: int) -> None:
        async with lake(kind, tmp_path, seed) as engine:
            await engine.branches.create(REPO, "dev", "main")
            merged: list[Commit] = []

            async def writer() -> None:
                for step in range(8):
                    await put(engine, "shared", f"main-{step}")
                    assert (await content(engine))["shared"] == f"main-{step}", f"seed {seed}"
                    if step % 3 == 2:
                        await commit(engine)

            async def merger() -> None:
                for step in range(6):
                    await put_commit(engine, {f"d{step}": "x", "shared": f"dev-{step}"}, "dev")
                    try:
                        merged.append(await merge(engine, "dev", strategy="dest-wins"))
                    except (errors.DirtyBranchError, errors.NoChangesError, errors.TooManyAttemptsError):
                        pass

            await asyncio.gather(writer(), merger())
            await in_history(engine, merged)
            assert (await content(engine))["shared"] == "main-7", f"seed {seed}"

    for seed in range(2 if kind == "sqlite" else 8):
        await job(seed)


async def test_concurrent_branch_and_tag_creation_with_lost_answers(tmp_path: Path) -> None:
    async def job(seed: int) -> None:
        async with lake("memory", tmp_path, seed, losing(random.Random(seed), 0.3)) as engine:

            async def create(kind: str) -> str:
                make = engine.branches.create if kind == "branch" else engine.tags.create
                try:
                    await make(REPO, "name", "main")
                    return kind
                except errors.AlreadyExistsError:
                    return ""
                except errors.OutcomeUnknownError:
                    return "?"

            results = await asyncio.gather(*map(create, ["branch", "tag"] * 4))
            won = [one for one in results if one in ("branch", "tag")]
            assert len(won) <= 1, f"seed {seed}"
            assert won or "?" in results, f"seed {seed}"
            if won == ["branch"]:
                assert (await engine.branches.get(REPO, "name")).name == "name"
            elif won:
                assert (await engine.tags.get(REPO, "name")).name == "name"

    for seed in range(20):
        await job(seed)
