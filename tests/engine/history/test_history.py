"""Log and merge base, against graphs in memory: criss-cross, odd dates, equal dates, pages and filters."""

from __future__ import annotations

import heapq
import random
from typing import Any

import pytest
from lakebed_engine.engine import Engine
from lakebed_engine.operations.context import encode, open_repo
from lakebed_engine.operations.keys import commit_key
from lakebed_engine.stores.kv.base import Batch, Put
from lakebed_engine.stores.kv.memory import MemoryKV
from lakebed_engine.vocabulary import errors
from lakebed_engine.vocabulary.records import Commit
from lakebed_engine.vocabulary.requests import LogRequest

from tests.engine.support import REPO, fails, make_engine, merge, put_commit

Graph = dict[str, Commit]


def graph(seed: int, size: int) -> Graph:
    """Commits with up to two parents, dates in any order and often equal."""
    dice = random.Random(seed)
    made: list[Commit] = []
    for _ in range(size):
        known = made[-5:]
        parents = tuple(one.id for one in dice.sample(known, min(len(known), dice.choice([1, 1, 2]))))
        by_id = {one.id: one for one in made}
        made.append(
            Commit(
                id=f"{dice.getrandbits(256):064x}",
                parents=parents,
                committer="",
                message="",
                creation_date=dice.randrange(6),
                metarange_id="",
                metadata={},
                generation=max((by_id[one].generation for one in parents), default=0) + 1,
            )
        )
    return {one.id: one for one in made}


async def engine_of(commits: Graph) -> Engine:
    kv = MemoryKV()
    engine = await make_engine(kv)
    partition = (await open_repo(engine.context, REPO)).partition
    await kv.apply(Batch(puts=[Put(partition, commit_key(one.id), encode(one)) for one in commits.values()]))
    return engine


def ancestors(commits: Graph, start: str) -> set[str]:
    found, todo = set(), [start]
    while todo:
        at = todo.pop()
        if at not in found:
            found.add(at)
            todo += commits[at].parents
    return found


def wanted_log(commits: Graph, start: str, *, first_parent: bool = False, since: float | None = None) -> list[str]:
    """The rule as it is stated: of those whose children were all given, the newest, then the greatest id."""

    def parents(one: str) -> list[str]:
        found = commits[one].parents[:1] if first_parent else commits[one].parents
        return [parent for parent in found if since is None or commits[parent].creation_date >= since]

    if since is not None and commits[start].creation_date < since:
        return []
    seen, todo = set(), [start]
    while todo:
        at = todo.pop()
        if at not in seen:
            seen.add(at)
            todo += parents(at)
    waiting = {one: sum(one in parents(child) for child in seen) for one in seen}
    ready = [(-commits[start].creation_date, -int(start, 16), start)]
    out = []
    while ready:
        at = heapq.heappop(ready)[2]
        out.append(at)
        for parent in parents(at):
            waiting[parent] -= 1
            if not waiting[parent]:
                heapq.heappush(ready, (-commits[parent].creation_date, -int(parent, 16), parent))
    assert set(out) == seen
    return out


async def pages(engine: Engine, ref: str, amount: int, **options: Any) -> list[str]:
    found: list[str] = []
    while True:
        request = LogRequest(after=found[-1] if found else "", amount=amount, **options)
        page = await engine.commits.log(REPO, ref, request)
        assert len(page.items) == amount or not page.has_more
        found += [one.id for one in page.items]
        if not page.has_more:
            return found


@pytest.mark.parametrize("seed", range(12))
async def test_the_log_of_odd_graphs(seed: int) -> None:
    commits = graph(seed, 40)
    engine = await engine_of(commits)
    start = list(commits)[-1]
    for options in ({}, {"first_parent": True}, {"since": 3}, {"since": 99}, {"first_parent": True, "since": 2}):
        wanted = wanted_log(commits, start, **options)
        for amount in (1, 7, 1000):
            assert await pages(engine, start, amount, **options) == wanted
    wanted = wanted_log(commits, start)
    for stop in (wanted[0], wanted[len(wanted) // 2], wanted[-1]):
        assert await pages(engine, start, 3, stop_at=stop) == wanted[: wanted.index(stop) + 1]
    page = await engine.commits.log(REPO, start, LogRequest(amount=3, limit=True))
    assert ([one.id for one in page.items], page.has_more) == (wanted[:3], False)
    page = await engine.commits.log(REPO, start, LogRequest(amount=3, limit=True, after=wanted[2]))
    assert ([one.id for one in page.items], page.has_more) == (wanted[3:6], False)
    await fails(engine.commits.log(REPO, start, LogRequest(after="0" * 64)), errors.InvalidRequestError)


@pytest.mark.parametrize("seed", range(12))
async def test_merge_bases_of_odd_graphs(seed: int) -> None:
    commits = graph(100 + seed, 40)
    engine = await engine_of(commits)
    dice = random.Random(seed)
    for _ in range(25):
        one, other = dice.choices(list(commits), k=2)
        common = ancestors(commits, one) & ancestors(commits, other)
        if not common:
            await fails(engine.commits.merge_base(REPO, one, other), errors.NoMergeBaseError)
            continue
        found = await engine.commits.merge_base(REPO, one, other)
        assert (found.source_id, found.destination_id) == (one, other)
        assert found.base_id in common
        assert commits[found.base_id].generation == max(commits[each].generation for each in common)
        assert (await engine.commits.merge_base(REPO, other, one)).base_id == found.base_id


async def test_merge_base_of_a_criss_cross_and_of_a_long_history() -> None:
    engine = await make_engine()
    await put_commit(engine, {"a": "1"})
    await engine.branches.create(REPO, "dev", "main")
    one = await put_commit(engine, {"m": "1"})
    other = await put_commit(engine, {"d": "1"}, "dev")
    await merge(engine, other.id)
    await merge(engine, one.id, "dev")
    found = await engine.commits.merge_base(REPO, "main", "dev")
    assert found.base_id in (one.id, other.id)
    await put_commit(engine, {"more": "2"})
    await merge(engine, "main", "dev")
    assert (await engine.commits.merge_base(REPO, "main", "dev")).base_id == (await engine.commits.get(REPO, "main")).id
    assert (await engine.commits.merge_base(REPO, "main", "main~1")).base_id == (
        await engine.commits.get(REPO, "main~1")
    ).id

    commits: Graph = {}
    last: tuple[str, ...] = ()
    for number in range(3000):
        made = Commit(
            id=f"{number:064x}", parents=last, committer="", message="", creation_date=0, metarange_id="",
            metadata={}, generation=number + 1,
        )  # fmt: skip
        commits[made.id] = made
        last = (made.id,)
    engine = await engine_of(commits)
    assert (await engine.commits.merge_base(REPO, f"{0:064x}", f"{2999:064x}")).base_id == f"{0:064x}"
    assert (await engine.commits.get(REPO, f"{2999:064x}~2999")).id == f"{0:064x}"
    assert (await engine.commits.log(REPO, f"{2999:064x}", LogRequest(amount=1))).has_more


async def test_filters_by_path() -> None:
    engine = await make_engine()
    a = await put_commit(engine, {"a": "1", "dir/x": "1"})
    b = await put_commit(engine, {"b": "1"})
    x = await put_commit(engine, {"dir/x": None})
    empty = await engine.commits.create(REPO, "main", _empty())
    await engine.branches.create(REPO, "dev", "main")
    dev = await put_commit(engine, {"a": "2"}, "dev")
    await merge(engine, "dev")

    async def log(**options: Any) -> list[str]:
        return await pages(engine, "main", 2, **options)

    assert await log(objects=["a"]) == [dev.id, a.id]
    assert await log(objects=["a", "b"]) == [dev.id, b.id, a.id]
    assert await log(prefixes=["dir/"]) == [x.id, a.id]
    assert await log(prefixes=["dir/"], objects=["b"]) == [x.id, b.id, a.id]
    assert await log(prefixes=[""]) == [dev.id, x.id, b.id, a.id]
    assert await log(objects=["nothing"]) == []
    assert empty.id in await log()
    assert await log(objects=["a"], first_parent=True) == [a.id]
    page = await engine.commits.log(REPO, "main", LogRequest(objects=["a"], amount=1))
    assert page.has_more
    page = await engine.commits.log(REPO, "main", LogRequest(objects=["a"], amount=1, limit=True))
    assert not page.has_more


def _empty() -> Any:
    from lakebed_engine.vocabulary.requests import CommitRequest

    return CommitRequest(message="empty", committer="ann", allow_empty=True)


async def test_bad_amounts_and_refs() -> None:
    engine = await make_engine()
    for amount in (0, -1, 1001):
        await fails(engine.commits.log(REPO, "main", LogRequest(amount=amount)), errors.InvalidRequestError)
    await fails(engine.commits.log(REPO, "nope", LogRequest()), errors.RefNotFoundError)
    await fails(engine.commits.log(REPO, "main$", LogRequest()), errors.InvalidRefError)
    await fails(engine.commits.log(REPO, "main", LogRequest(stop_at="nope")), errors.RefNotFoundError)
    await fails(engine.commits.log("nope", "main", LogRequest()), errors.RepositoryNotFoundError)
