"""Three-way merge over trees with tiny ranges, against dictionaries."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lakebed_engine.engine import Engine
from lakebed_engine.operations.context import Repo
from lakebed_engine.operations.merge.three_way import STRATEGIES, Join, Resolution, Sides
from lakebed_engine.stores.kv.memory import MemoryKV
from lakebed_engine.stores.objects.registry import Stores
from lakebed_engine.tree.fold import fold
from lakebed_engine.tree.trees import Tree
from lakebed_engine.vocabulary.errors import Conflict, MergeConflictError
from lakebed_engine.vocabulary.records import Repository
from lakebed_engine.vocabulary.requests import MergeRequest

from tests.engine.trees import Delta, Lake, State, applied, deltas, entry, order, states
from tests.support.sizes import examples

FEW = examples(80)


@pytest.fixture(autouse=True, scope="module")
def _tiny() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("lakebed_format.tree.split.RAGGEDNESS", 3)
        yield


async def merged(lake: Lake, base: Tree, theirs: Tree, ours: Tree, request: MergeRequest) -> State:
    """The merge as the engine does it, its tree folded with tiny ranges."""
    ctx = Engine(MemoryKV(), Stores(None), runtime=lake.runtime, trees=lake.trees).context
    record = Repository(uid="u", name="r", storage_namespace="mem://r", default_branch="main", creation_date=0)
    work = Join(
        ctx,
        Repo(record, lake.store, "p"),
        Sides(base, theirs, ours),
        Resolution(request.strategy, request.resolve),
        after=request.conflicts_after,
        amount=request.conflicts_amount,
    )
    folded = await fold(lake.trees, lake.store, lake.runtime, ours, work.delta())
    await lake.check(folded.tree)
    return await lake.state(folded.tree)


def oracle(base: State, theirs: State, ours: State, strategy: str) -> tuple[State, list[str]]:
    """The merged state and the conflicts, key by key (facts 3.3)."""
    found: State = {}
    conflicts = []
    for path in {*base, *theirs, *ours}:
        b, s, d = base.get(path), theirs.get(path), ours.get(path)
        if s in (d, b):
            text = d
        elif d == b:
            text = s
        else:
            conflicts.append(path)
            text = s if strategy == "source-wins" else d
        if text is not None:
            found[path] = text
    return found, order(dict.fromkeys(conflicts))


def checksum(state: State, path: str) -> str | None:
    return entry(state[path]).checksum if path in state else None


@FEW
@given(states, deltas, deltas, st.sampled_from(list(STRATEGIES)))
async def test_merges_are_dictionary_merges(base: State, one: Delta, other: Delta, strategy: str) -> None:
    lake = Lake()
    theirs, ours = applied(base, one), applied(base, other)
    wanted, conflicts = oracle(base, theirs, ours, strategy)
    trees = await lake.tree(base), await lake.tree(theirs), await lake.tree(ours)
    if conflicts and not strategy:
        with pytest.raises(MergeConflictError) as caught:
            await merged(lake, *trees, MergeRequest(committer="ann"))
        assert caught.value.conflicts == tuple(
            Conflict(path, checksum(base, path), checksum(ours, path), checksum(theirs, path)) for path in conflicts
        )
        assert not caught.value.has_more
        assert repr(conflicts[0]) in caught.value.message
    else:
        assert await merged(lake, *trees, MergeRequest(committer="ann", strategy=strategy)) == wanted
    lake.close()


@FEW
@given(states, deltas, deltas, st.integers(1, 5))
async def test_conflicts_page_by_page(base: State, one: Delta, other: Delta, amount: int) -> None:
    lake = Lake()
    theirs, ours = applied(base, one), applied(base, other)
    _, conflicts = oracle(base, theirs, ours, "")
    trees = await lake.tree(base), await lake.tree(theirs), await lake.tree(ours)
    found: list[str] = []
    more = bool(conflicts)
    while more:
        request = MergeRequest(committer="ann", conflicts_after=found[-1] if found else "", conflicts_amount=amount)
        with pytest.raises(MergeConflictError) as caught:
            await merged(lake, *trees, request)
        page = [one.path for one in caught.value.conflicts]
        more = caught.value.has_more
        assert page
        assert len(page) == amount or not more
        found += page
    assert found == conflicts
    lake.close()


async def test_entries_with_equal_identities_differ_by_path() -> None:
    """M13: empty `_SUCCESS` files share one identity; a deleted one and an added one are two paths."""
    lake = Lake()
    base = {f"t{n:03}/_SUCCESS": "" for n in range(200)} | {"a": "one"}
    theirs = {path: text for path, text in base.items() if path != "t100/_SUCCESS"}
    ours = base | {"t099/_SUCCESS2": "", "y/_SUCCESS": ""}
    trees = [await lake.tree(state) for state in (base, theirs, ours)]
    for left, right in ((theirs, ours), (ours, theirs)):
        order_ = [trees[0], *(trees[1:] if left is theirs else reversed(trees[1:]))]
        found = await merged(lake, order_[0], order_[1], order_[2], MergeRequest(committer="ann"))
        wanted = {path: text for path, text in ours.items() if path != "t100/_SUCCESS"}
        assert found == wanted == oracle(base, left, right, "")[0]
    lake.close()
