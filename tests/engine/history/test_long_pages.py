"""Listings over runs of rows: several blocks and ranges, patches over them, and staged rows in pages between them."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest
from lakebed_engine.engine import Engine
from lakebed_engine.operations.context import open_repo
from lakebed_engine.operations.objects import stage
from lakebed_engine.operations.tuning import Tuning
from lakebed_engine.stores.kv.memory import MemoryKV
from lakebed_engine.stores.objects.registry import Stores
from lakebed_engine.tree.manifest import Limits
from lakebed_engine.vocabulary.records import Entry

from tests.engine.pages import grouped, listed
from tests.engine.support import REPO, HookedKV, commit, make_engine, new_engine

State = dict[str, Entry]
SEED = 7


def entry(path: str, text: str, metadata: dict[str, str]) -> Entry:
    return stage.new_entry(f"data/{text}/{path}", f"{len(text):032x}", len(text), 5, f"type/{text}", metadata)


async def change(engine: Engine, state: State, paths: list[str], gone: list[str], text: str, *, tagged: bool) -> None:
    """Stage rows and tombstones, and keep `state` in step."""
    new = {path: entry(path, text, {"n": path} if tagged and len(path) % 2 else {}) for path in paths}
    state |= new
    for path in gone:
        state.pop(path, None)
    rows = [*new.items(), *((path, None) for path in gone)]
    await stage.stage(
        engine.context, await open_repo(engine.context, REPO), "main", sorted(rows, key=lambda row: row[0])
    )


async def grown(kv: HookedKV, stores: Stores, source: random.Random, *, tagged: bool) -> State:
    """A branch: 4,800 rows in ranges, two patches, 1,400 staged rows, tombstones everywhere."""
    engine = await make_engine(kv, stores, tuning=Tuning(trees=Limits(100_000, 400_000)))
    state: State = {}
    names = [f"{letter}/{number // 7:04}/é{number:05}" for letter in "ab" for number in range(2200)]
    names += [f"b{number:03}" for number in range(200)] + [f"c/{number:04}" for number in range(200)]
    for share, gone in ((len(names), 0), (150, 60), (80, 40), (1300, 100)):
        chosen = source.sample(names, share)
        await change(engine, state, chosen[gone:], chosen[:gone], f"{share}", tagged=tagged)
        if share != 1300:
            await commit(engine, allow_empty=True)
    view_tree = await engine.context.trees.load(
        (await open_repo(engine.context, REPO)).store, (await engine.commits.get(REPO, "main")).metarange_id
    )
    assert len(view_tree.ranges) > 2
    assert view_tree.patches
    return state


@pytest.mark.medium
@pytest.mark.parametrize("tagged", [False, True])
async def test_pages_of_many_rows(tagged: bool) -> None:
    kv, stores = HookedKV(MemoryKV()), Stores(None)
    state = await grown(kv, stores, random.Random(SEED), tagged=tagged)
    rows = [(path, "object") for path in state]
    cold = new_engine(kv, stores)
    for prefix, delimiter in (("", ""), ("", "/"), ("a/", "/"), ("b/0", "/"), ("b", "/"), ("a/", ""), ("", "é")):
        for amount in (1000, 173):
            wanted = grouped_fast(rows, prefix, delimiter)
            assert await listed(cold, "main", amount, "", prefix=prefix, delimiter=delimiter) == wanted
    after = ""
    while True:
        page = await cold.objects.list(REPO, "main", after=after, amount=331)
        assert all(one.entry == state[one.path] for one in page.items)
        if not page.has_more:
            break
        after = page.items[-1].path
    await cold.close()


def grouped_fast(rows: list[tuple[str, str]], prefix: str, delimiter: str) -> list[tuple[str, str]]:
    """As `grouped`, for many rows: each stretch of one group by its first row."""
    first = [row for row in sorted(rows) if row[0].startswith(prefix)]

    def group(path: str) -> str:
        return path[: path.find(delimiter, len(prefix)) + 1] if delimiter and delimiter in path[len(prefix) :] else path

    kept = first[:1] + [row for last, row in pairwise(first) if group(last[0]) != group(row[0])]
    return grouped(kept, prefix, delimiter, "", "group")


async def test_page_of_prefixes_makes_few_store_calls() -> None:
    kv, stores = HookedKV(MemoryKV()), Stores(None)
    await grown(kv, stores, random.Random(SEED), tagged=False)
    engine = new_engine(kv, stores)
    for most in (9, 5):  # the record, and staged rows in pages of a thousand; then none are staged
        await engine.objects.list(REPO, "main", amount=1)
        before = kv.calls
        page = await engine.objects.list(REPO, "main", amount=600, prefix="a/", delimiter="/")
        assert len(page.items) == 315
        assert kv.calls - before <= most
        await commit(engine, allow_empty=True)
    await engine.close()
