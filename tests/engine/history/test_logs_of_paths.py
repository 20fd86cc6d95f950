"""Logs of paths, by changed paths and spans: the same as reading every commit, with few reads in a long history."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import pytest
from lakebed_engine.engine import Engine
from lakebed_engine.operations.context import open_repo
from lakebed_engine.operations.history.changed_paths import changed_paths_of
from lakebed_engine.operations.keys import CHANGED_PATHS, SPANS
from lakebed_engine.stores.kv.base import Batch, Delete
from lakebed_engine.stores.kv.memory import MemoryKV
from lakebed_engine.tree import changed_paths
from lakebed_engine.tree.changed_paths import ALL, FOLDERS, NOTHING_KNOWN, PathQuery
from lakebed_engine.vocabulary import errors
from lakebed_engine.vocabulary.records import Commit
from lakebed_engine.vocabulary.requests import AdvanceRequest, LogRequest, PickRequest, WorkspaceRequest

from tests.engine.support import (
    REPO,
    CountingIds,
    FakeClock,
    HookedKV,
    commit,
    fails,
    make_engine,
    merge,
    put,
    put_commit,
)

VERBS = ["rows", "branch", "merge", "squash", "revert", "empty", "workspace"]
PATHS = ["a", "b", "dir/a", "dir/sub/a", "dir/sub/b", "other/a", "é/ü"]
QUESTIONS: list[dict[str, Any]] = [
    {"objects": ["a"]},
    {"objects": ["dir/sub/a", "é/ü"]},
    {"objects": ["nothing"]},
    {"prefixes": ["dir/"]},
    {"prefixes": ["dir/s"], "objects": ["b"]},
    {"prefixes": ["d"]},
    {"prefixes": [""]},
    {"prefixes": ["other/a/"]},
]


@pytest.fixture(params=["40", "ff"])
def _spans_begin_often(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """At a fourth of all commits, and at each. Only for histories whose ids are the same each time, as `grown` has."""
    monkeypatch.setattr(
        "lakebed_engine.operations.history.log.begins", lambda commit_id: commit_id[:2] <= request.param
    )


@pytest.fixture
def beginnings(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """The commits where a span may begin, which the test chooses: by ids that are random it would be chance."""
    chosen: set[str] = set()
    monkeypatch.setattr("lakebed_engine.operations.history.log.begins", chosen.__contains__)
    return chosen


async def grown(seed: int, steps: int, kv: Any = None) -> Engine:
    """A history with branches, merges, squashes, reverts, workspaces and empty commits."""
    engine = await make_engine(kv, clock=FakeClock(), ids=CountingIds())  # where spans begin is in the commits' ids
    source = random.Random(seed)
    branches = ["main"]
    for step in range(steps):
        branch = source.choice(branches)
        what = source.choices(
            ["rows", "branch", "merge", "squash", "revert", "empty", "workspace"], [9, 1, 2, 1, 1, 1, 2]
        )[0]
        try:
            if what == "rows":
                rows = dict.fromkeys(source.sample(PATHS, source.randint(1, 3)), f"{step}")
                gone = source.choice(PATHS)
                await put_commit(
                    engine, rows | ({gone: None} if step % 4 == 0 else {}), branch, date=source.randint(1, 9)
                )
            elif what == "branch":
                branches.append(f"b{step}")
                await engine.branches.create(REPO, branches[-1], branch)
            elif what in ("merge", "squash"):
                await merge(engine, source.choice(branches), branch, strategy="source-wins", squash=what == "squash")
            elif what == "revert":
                await engine.commits.revert(REPO, branch, PickRequest(ref=branch, committer="ann", parent_number=1))
            elif what == "empty":
                await commit(engine, branch=branch, allow_empty=True)
            else:
                made = await engine.workspaces.create(REPO, WorkspaceRequest(ref=branch, creator="ann"))
                await put(engine, source.choice(PATHS), f"w{step}", made.name)
                await engine.workspaces.commit(REPO, made.uid, AdvanceRequest(committer="ann"))
        except (errors.NoChangesError, errors.MergeConflictError, errors.InvalidRequestError):
            pass  # the first commit has nothing to revert to
    for branch in branches[1:]:
        try:
            await merge(engine, branch, strategy="dest-wins")
        except errors.NoChangesError:
            pass
    return engine


async def ids(engine: Engine, ref: str = "main", **options: Any) -> list[str]:
    """A whole log, page by page."""
    found: list[Commit] = []
    while True:
        request = LogRequest(**{"amount": 7, "after": found[-1].id if found else options.get("after", ""), **{
            key: value for key, value in options.items() if key != "after"
        }})  # fmt: skip
        page = await engine.commits.log(REPO, ref, request)
        found += page.items
        if not page.has_more:
            return [one.id for one in found]


async def changes(engine: Engine, plain: Sequence[str]) -> dict[str, list[str]]:
    """What each commit with one parent changed, by a diff with its parent."""
    found = {}
    for one in plain:
        record = await engine.commits.get(REPO, one)
        if len(record.parents) == 1:
            page = await engine.commits.diff(REPO, record.parents[0], one, mode="two_dot", amount=1000)
            found[one] = [row.path for row in page.items]
    return found


def wanted(changed: dict[str, list[str]], question: dict[str, Any]) -> list[str]:
    """The filtered log, from what every commit changed."""
    objects, prefixes = set(question.get("objects", ())), tuple(question.get("prefixes", ()))
    return [one for one, paths in changed.items() if any(p in objects or p.startswith(prefixes) for p in paths)]


async def forget(engine: Engine, *kinds: bytes) -> int:
    """Drop rows of these kinds, as if they had never been written."""
    repo = await open_repo(engine.context, REPO)
    rows = [row for row in await engine.context.kv.scan(repo.partition, limit=10_000) if row.key.startswith(kinds)]
    await engine.context.kv.apply(Batch(deletes=[Delete(repo.partition, row.key) for row in rows]))
    engine.clear_caches()
    return len(rows)


@pytest.mark.medium
@pytest.mark.usefixtures("_spans_begin_often")
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (1, 2, 3))])
async def test_a_filtered_log_equals_a_check_of_every_commit(seed: int) -> None:
    engine = await grown(seed, 40)
    for first_parent in (False, True):
        plain = await ids(engine, first_parent=first_parent)
        changed = await changes(engine, plain)
        for question in QUESTIONS:
            expected = wanted(changed, question)
            for _ in range(3):  # the second time there are spans, the third time they come from the cache
                assert await ids(engine, first_parent=first_parent, **question) == expected, question
            if len(expected) > 2:
                after = await ids(engine, first_parent=first_parent, after=expected[1], **question)
                assert after == expected[2:]
                until = await ids(engine, first_parent=first_parent, stop_at=expected[-2], **question)
                assert until == expected[:-1]
        for index in range(3):
            assert await ids(engine, first_parent=first_parent, after=plain[index]) == plain[index + 1 :]
    assert await forget(engine, SPANS) > 0


@pytest.mark.medium
@pytest.mark.usefixtures("_spans_begin_often")
@pytest.mark.parametrize("forgotten", [(CHANGED_PATHS,), (SPANS,), (CHANGED_PATHS, SPANS)])
async def test_changed_paths_and_spans_that_are_gone_are_made_again(forgotten: tuple[bytes, ...]) -> None:
    engine = await grown(7, 50)
    before = [await ids(engine, **question) for question in QUESTIONS]
    assert await forget(engine, *forgotten) > 0
    assert [await ids(engine, **question) for question in QUESTIONS] == before
    assert await forget(engine, *forgotten) > 0 or SPANS not in forgotten  # whole spans need no lists of changed paths


async def test_stored_paths_cover_the_tree_differences() -> None:
    """The stored paths may contain unchanged paths (a write of the same content), but never lack a changed one."""
    engine = await grown(5, 60)
    repo = await open_repo(engine.context, REPO)
    checked = 0
    for one in await ids(engine):
        record = await engine.commits.get(REPO, one)
        if len(record.parents) != 1:
            continue
        written = await changed_paths_of(engine.context, repo, record)
        await forget(engine, CHANGED_PATHS + one.encode())
        found = await changed_paths_of(engine.context, repo, record)
        assert written.level == found.level == ALL
        assert set(found.hashes.tolist()) <= set(written.hashes.tolist())
        checked += len(found.hashes) > 0
    assert checked > 20


@pytest.mark.parametrize("spans", [False, True])
@pytest.mark.parametrize(("most", "level"), [(3, FOLDERS), (1, NOTHING_KNOWN)])
async def test_commits_with_too_many_paths_are_compared(
    monkeypatch: pytest.MonkeyPatch, beginnings: set[str], most: int, level: int, spans: bool
) -> None:
    monkeypatch.setattr(changed_paths, "MOST", most)
    engine = await make_engine()
    many: dict[str, str | None] = {f"dir/sub/{n}": "x" for n in range(9)}
    big = await put_commit(engine, many | {"top": "x"})
    small = await put_commit(engine, {"dir/sub/3": "y"})
    beginnings.update([small.id, big.id] if spans else [])
    repo = await open_repo(engine.context, REPO)
    assert (await changed_paths_of(engine.context, repo, big)).level == level
    for _ in range(2):
        assert await ids(engine, objects=["dir/sub/3"]) == [small.id, big.id]
        assert await ids(engine, objects=["top"]) == [big.id]
        assert await ids(engine, objects=["dir/nothing"]) == []
        assert await ids(engine, prefixes=["dir/"]) == [small.id, big.id]
    if level == FOLDERS:
        assert not PathQuery(["other/x"], []).may_match(await changed_paths_of(engine.context, repo, big))


@pytest.mark.slow
async def test_a_log_of_one_path_reads_no_more_when_history_grows(beginnings: set[str]) -> None:
    """It reads the commits that changed the path, and a few rows for each hundred commits. It reads no other commit."""

    async def calls(count: int) -> int:
        kv = HookedKV(MemoryKV())
        engine = await make_engine(kv)
        target = await put_commit(engine, {"dir/target": "x"})
        for step in range(count):
            made = await put_commit(engine, {f"noise/{step % 7}": str(step)})
            if step % 16 == 0:
                beginnings.add(made.id)
        assert await ids(engine, objects=["dir/target"]) == [target.id]
        engine.clear_caches()
        kv.calls = 0
        assert await ids(engine, objects=["dir/target"]) == [target.id]
        return kv.calls

    short, long = await calls(60), await calls(600)
    assert long < 200, (short, long)  # 1,200 and more without spans


async def test_log_reports_when_its_index_cannot_be_written() -> None:
    kv = HookedKV(MemoryKV())
    engine = await make_engine(kv)
    made = await put_commit(engine, {"a": "1"})
    await forget(engine, CHANGED_PATHS)

    async def refuse(name: str, _: Any) -> None:
        if name == "apply":
            raise errors.StoreFullError("no room")

    kv.before = refuse
    assert await ids(engine, objects=["a"]) == [made.id]
    kv.before = None
    await fails(engine.commits.log(REPO, "main", LogRequest(after="0" * 64, objects=["a"])), errors.InvalidRequestError)


@pytest.mark.parametrize("one_more", [0, 1])
async def test_maintenance_stores_the_spans_in_advance(beginnings: set[str], one_more: int) -> None:
    kv = HookedKV(MemoryKV())
    engine = await make_engine(kv)
    for step in range(40):
        made = await put_commit(engine, {f"p/{step % 5}": str(step)})
        if step % 4 == 1:
            beginnings.add(made.id)
    await engine.maintenance.compact()
    assert await forget(engine, SPANS) == len(beginnings)
    await engine.maintenance.compact()
    assert await forget(engine, SPANS) == 0  # nothing has grown since
    newest = await put_commit(engine, {"p/0": "x"})
    beginnings.update([newest.id] if one_more else [])
    await engine.maintenance.compact()
    assert await forget(engine, SPANS) == len(beginnings)
    await put_commit(engine, {"p/0": "y"})
    await engine.repositories.delete(REPO)
    await engine.maintenance.compact()
