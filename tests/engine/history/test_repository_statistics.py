"""The size of a repository, against its listing."""

from __future__ import annotations

import random

import pytest
from lakebed_engine.engine import Engine
from lakebed_engine.operations.tuning import Tuning
from lakebed_engine.stores.kv.memory import MemoryKV
from lakebed_engine.stores.objects.registry import Stores
from lakebed_engine.tree.manifest import Limits
from lakebed_engine.vocabulary.errors import RepositoryNotFoundError

from tests.engine.support import REPO, FakeClock, HookedKV, commit, fails, make_engine, new_engine, put, put_commit

SMALL = Tuning(commit_wait=0.002, trees=Limits(300, 900, patch_rows=8, small=2, patches=3, share=0, piece=4))
"""Trees of many ranges with patches over them."""


async def listed(engine: Engine) -> tuple[int, int]:
    page = await engine.objects.list(REPO, "main@", amount=1000)
    assert not page.has_more
    return len(page.items), sum(row.entry.size for row in page.items if row.entry is not None)


@pytest.mark.medium
@pytest.mark.parametrize("seed", range(4))
async def test_it_is_what_the_listing_shows(seed: int) -> None:
    dice = random.Random(seed)
    engine = await make_engine(tuning=SMALL)
    there: set[str] = set()
    for number in range(25):
        rows: dict[str, str | None] = {f"p{dice.randrange(60):02}": "x" * dice.randrange(1, 9) for _ in range(6)}
        gone = dice.sample(sorted(there - rows.keys()), min(2, len(there - rows.keys())))
        made = await put_commit(engine, {**rows, **dict.fromkeys(gone)}, message=f"{number}")
        there = (there | rows.keys()) - set(gone)
        found = await engine.repositories.statistics(REPO)
        assert (found.objects, found.bytes) == await listed(engine)
        assert found.last_commit == made
    await put(engine, "uncommitted", "not counted")
    assert await engine.repositories.statistics(REPO) == found


async def test_another_process_reads_only_the_ranges_that_are_new() -> None:
    kv, stores = MemoryKV(), Stores(None)
    engine = await make_engine(kv, stores, tuning=SMALL)
    await put_commit(engine, {f"p{number:03}": "12345" for number in range(200)})
    assert (await engine.repositories.statistics(REPO)).bytes == 1000
    await put_commit(engine, {f"a{number:03}": "1" for number in range(20)})
    other = new_engine(kv, stores, tuning=SMALL)
    assert (await other.repositories.statistics(REPO)).bytes == 1020
    tree_ranges = 200 // 20
    assert 0 < other.repositories._ctx.range_bytes.used < tree_ranges


async def test_a_request_ends_in_time_and_the_next_one_goes_on() -> None:
    clock = FakeClock()
    hooked = HookedKV(MemoryKV())
    engine = await make_engine(hooked, tuning=SMALL, clock=clock)
    await put_commit(engine, {f"p{number:03}": "12345" for number in range(400)})
    answers: list[int | None] = []
    while not answers or answers[-1] is None:
        found = await engine.repositories.statistics(REPO, budget=0)
        assert found.objects == 400
        answers.append(found.bytes)
    assert answers[0] is None
    assert answers[-1] == 2000


async def test_a_repository_without_its_branch_is_empty() -> None:
    engine = await make_engine()
    await engine.repositories.create("bare", "mem://bare", bare=True)
    found = await engine.repositories.statistics("bare")
    assert (found.last_commit, found.objects, found.bytes) == (None, 0, 0)
    first = await engine.repositories.statistics(REPO)
    assert first.last_commit is not None
    assert (first.objects, first.bytes) == (0, 0)
    await put(engine, "a", "1")
    made = await commit(engine)
    assert (await engine.repositories.statistics(REPO)).last_commit == made
    await fails(engine.repositories.statistics("nothing"), RepositoryNotFoundError)
