"""Pull requests: opening, listing, editing, closing, merging, and what happens to them when a branch is deleted."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec
import pytest
from lakebed_engine.operations.pulls import lifecycle, records
from lakebed_engine.stores.kv.base import Batch
from lakebed_engine.stores.kv.memory import MemoryKV
from lakebed_engine.stores.objects.registry import Stores
from lakebed_engine.vocabulary import errors
from lakebed_engine.vocabulary.events import Event
from lakebed_engine.vocabulary.pulls import PullCreation
from lakebed_engine.vocabulary.reports import SweepOptions

from tests.engine.pulling import edit, merge_pull, open_lake, open_pull, rows
from tests.engine.support import (
    REPO,
    FakeClock,
    HookedKV,
    LossyKV,
    content,
    fails,
    history,
    new_engine,
    put,
    put_commit,
    run,
)


def test_a_pull_request_is_opened_and_found() -> None:
    async def go() -> None:
        engine = await open_lake(clock=FakeClock())
        made = await open_pull(engine, description="why")
        assert await engine.pulls.get(REPO, made.id) == made
        assert len(made.id) == 20
        assert (made.status, made.title, made.description, made.events) == ("open", "Add b", "why", 1)
        assert (made.author, made.author_id, made.creation_date) == ("ann@example.org", "ann", 1_700_000_000)

    run(go())


def test_bad_requests_open_nothing() -> None:
    async def go() -> None:
        engine = await open_lake()
        await fails(open_pull(engine, "main", "main"), errors.InvalidRequestError)
        await fails(open_pull(engine, "none", "main"), errors.BranchNotFoundError)
        await fails(open_pull(engine, "dev", "none"), errors.BranchNotFoundError)
        await fails(open_pull(engine, "d/v", "main"), errors.InvalidNameError)
        await fails(open_pull(engine, title=""), errors.InvalidRequestError)
        await fails(open_pull(engine, title="x" * (lifecycle.MAX_TITLE + 1)), errors.InvalidRequestError)
        await fails(open_pull(engine, description="é" * records.MAX_TEXT), errors.InvalidRequestError)
        await fails(open_pull(engine, title="\ud800"), errors.InvalidRequestError)
        assert await rows(engine, b"pull") == []

    run(go())


@pytest.mark.parametrize("bad", ["", "x", "0" * 19, "0" * 21, "w" * 20, "A" * 20, "../" + "0" * 17, "0" * 19 + "\n"])
def test_a_malformed_id_is_refused(bad: str) -> None:
    async def go() -> None:
        engine = await open_lake()
        await fails(engine.pulls.get(REPO, bad), errors.InvalidRequestError)
        await fails(engine.pulls.get(REPO, "0" * 20), errors.PullNotFoundError)

    run(go())


def test_pages_are_newest_first_and_filter_by_status_and_prefix() -> None:
    async def go() -> None:
        clock = FakeClock()
        engine = await open_lake(clock=clock)
        made = []
        for _ in range(5):
            made.append((await open_pull(engine)).id)
            clock.forward(1)
        await edit(engine, await engine.pulls.get(REPO, made[1]), status="closed")
        await merge_pull(engine, await engine.pulls.get(REPO, made[3]))

        async def listed(**options: Any) -> list[str]:
            return [one.id for one in (await engine.pulls.list(REPO, **options)).items]

        assert await listed() == made[::-1]
        assert await listed(status="open") == [made[4], made[2], made[0]]
        assert await listed(status="closed") == [made[3], made[1]]
        assert await listed(prefix=made[2][:7]) == [made[2]]
        assert await listed(prefix="v") == []
        first = await engine.pulls.list(REPO, amount=2)
        assert ([one.id for one in first.items], first.has_more) == ([made[4], made[3]], True)
        last = await engine.pulls.list(REPO, amount=3, after=made[3])
        assert ([one.id for one in last.items], last.has_more) == (made[2::-1], False)

    run(go())


def test_texts_and_status_are_changed() -> None:
    async def go() -> None:
        engine = await open_lake()
        pull = await open_pull(engine)
        changed = await edit(engine, pull, title="Better", description="more", status="closed")
        assert (changed.title, changed.description, changed.status) == ("Better", "more", "closed")
        assert changed.closed_date
        assert changed.source_commit_id == (await engine.branches.get(REPO, "dev")).commit_id
        assert changed == await engine.pulls.get(REPO, pull.id)
        assert changed.revision != pull.revision
        assert await rows(engine, b"pull-open/") == []
        again = await edit(engine, pull, status="open")
        assert (again.status, again.closed_date, again.source_commit_id) == ("open", 0, "")
        assert len(await rows(engine, b"pull-open/")) == 2
        assert await edit(engine, pull, status="open", title="Better") == again  # nothing to change
        await fails(edit(engine, pull, status="merged"), errors.InvalidRequestError)
        await fails(edit(engine, pull, title=""), errors.InvalidRequestError)

    run(go())


def test_a_merge_ends_the_pull_request() -> None:
    async def go() -> None:
        engine = await open_lake()
        pull = await open_pull(engine)
        head = (await engine.branches.get(REPO, "dev")).commit_id
        made = await merge_pull(engine, pull, source_commit_id=head, metadata={"k": "v"})
        assert await content(engine) == {"a": "1", "b": "2"}
        assert made.parents[1] == head
        assert made.message == "Add b\n\nMerge 'dev' into 'main'"
        assert made.metadata == {"k": "v", "lakebed.pull_request": pull.id, ".lakefs.merge.strategy": "default"}
        merged = await engine.pulls.get(REPO, pull.id)
        assert (merged.status, merged.merged_commit_id, merged.source_commit_id) == ("merged", made.id, head)
        assert await rows(engine, b"pull-open/") == []
        again = await fails(merge_pull(engine, pull), errors.PullClosedError)
        assert made.id in str(again)
        await fails(edit(engine, pull, status="open"), errors.PullClosedError)

    run(go())


def test_a_merge_that_is_refused_leaves_the_pull_request_open() -> None:
    async def go() -> None:
        engine = await open_lake()
        pull = await open_pull(engine)
        await put_commit(engine, {"b": "other"})
        await fails(merge_pull(engine, pull), errors.MergeConflictError)
        await fails(merge_pull(engine, pull, source_commit_id="0" * 64), errors.SourceMovedError)
        await put(engine, "dirty", "1")
        await fails(merge_pull(engine, pull, strategy="source-wins"), errors.DirtyBranchError)
        assert (await engine.pulls.get(REPO, pull.id)).status == "open"
        await engine.branches.reset(REPO, "main")
        await edit(engine, pull, status="closed")
        await fails(merge_pull(engine, pull, strategy="source-wins"), errors.PullClosedError)
        await edit(engine, pull, status="open")
        await merge_pull(engine, pull, strategy="source-wins")
        assert (await content(engine))["b"] == "2"

    run(go())


def test_one_of_two_concurrent_merges_succeeds() -> None:
    async def go() -> None:
        kv, stores = MemoryKV(), Stores(None)
        engine = await open_lake(kv=kv, stores=stores)
        engines = [engine, new_engine(kv, stores)]  # two servers
        pull = await open_pull(engine)
        merges = [merge_pull(engines[number % 2], pull) for number in range(6)]
        outcomes = await asyncio.gather(*merges, return_exceptions=True)
        won = [one for one in outcomes if not isinstance(one, BaseException)]
        assert len(won) == 1
        assert {type(one) for one in outcomes if isinstance(one, BaseException)} == {errors.PullClosedError}
        newest, *older = await history(engine)
        assert (newest.id, len(older)) == (won[0].id, 2)

    run(go())


def test_a_change_during_the_merge_makes_it_start_again() -> None:
    async def go() -> None:
        kv = HookedKV(MemoryKV())
        engine = await open_lake(kv=kv)
        pull = await open_pull(engine)

        async def close_it(name: str, what: Any) -> None:
            if name == "apply" and any(put.key.startswith(b"commit/") for put in what.puts):
                kv.before = None
                await edit(engine, pull, title="Changed", status="closed")

        kv.before = close_it
        await fails(merge_pull(engine, pull), errors.PullClosedError)
        assert await content(engine) == {"a": "1"}
        assert (await engine.pulls.get(REPO, pull.id)).status == "closed"

    run(go())


@pytest.mark.parametrize("how", ["before", "after"])
def test_lost_answers_merge_once(how: str) -> None:
    async def go() -> None:
        def lose(batch: Batch) -> str:
            return how if any(put.key.startswith(b"pull") for put in batch.puts) and not kv.lost else ""

        kv = LossyKV(MemoryKV(), lambda batch: "")
        engine = await open_lake(kv=kv)
        pull = await open_pull(engine)
        kv.lose = lose
        made = await merge_pull(engine, pull)
        assert kv.lost == 1
        assert (await engine.pulls.get(REPO, pull.id)).merged_commit_id == made.id
        assert len(await history(engine)) == 3

    run(go())


@pytest.mark.parametrize("branch", ["dev", "other"])
def test_deleting_a_branch_closes_its_pull_requests(branch: str) -> None:
    async def go() -> None:
        engine = await open_lake()
        await engine.branches.create(REPO, "other", "main")
        gone, kept = await open_pull(engine, "dev", "other"), await open_pull(engine, "other", "main")
        away = await open_pull(engine, "dev", "main")
        await engine.branches.delete(REPO, branch)
        found = [(await engine.pulls.get(REPO, one.id)).status for one in (gone, kept, away)]
        assert found == (["closed", "open", "closed"] if branch == "dev" else ["closed", "closed", "open"])
        await fails(edit(engine, gone, status="open"), errors.BranchNotFoundError)
        assert len(await rows(engine, b"pull-open/")) == 2
        await engine.branches.create(REPO, branch, "main")
        assert (await edit(engine, gone, status="open")).status == "open"

    run(go())


def test_a_pull_request_that_is_opened_while_its_branch_is_deleted_is_closed() -> None:
    async def go() -> None:
        kv = HookedKV(MemoryKV())
        engine = await open_lake(kv=kv)
        made = []

        async def open_one(name: str, what: Any) -> None:
            if name == "apply":
                kv.before = None
                made.append(await open_pull(engine))

        kv.before = open_one
        await engine.branches.delete(REPO, "dev")
        assert (await engine.pulls.get(REPO, made[0].id)).status == "closed"

    run(go())


def test_deleting_a_branch_succeeds_if_the_store_fails_afterwards(caplog: pytest.LogCaptureFixture) -> None:
    async def go() -> None:
        kv = HookedKV(MemoryKV())
        engine = await open_lake(kv=kv)
        deleted = False

        async def fail_after_it(name: str, what: Any) -> None:
            nonlocal deleted
            if deleted:
                raise errors.StoreUnavailableError("simulated")
            deleted = name == "apply"

        kv.before = fail_after_it
        await engine.branches.delete(REPO, "dev")
        kv.before = None
        await fails(engine.branches.get(REPO, "dev"), errors.BranchNotFoundError)
        assert "branch 'dev' was deleted" in caplog.text

    run(go())


def test_a_branch_has_a_bounded_number_of_open_pull_requests(monkeypatch: pytest.MonkeyPatch) -> None:
    async def go() -> None:
        engine = await open_lake()
        monkeypatch.setattr(lifecycle, "MOST_OPEN", 2)
        first, _ = await open_pull(engine), await open_pull(engine)
        await fails(open_pull(engine), errors.InvalidRequestError)
        await edit(engine, first, status="closed")
        await open_pull(engine)

    run(go())


def test_a_pull_request_has_a_bounded_number_of_events(monkeypatch: pytest.MonkeyPatch) -> None:
    async def go() -> None:
        engine = await open_lake()
        pull = await open_pull(engine)
        monkeypatch.setattr(records, "MOST_EVENTS", 3)
        await edit(engine, pull, title="2")
        await edit(engine, pull, title="3")
        await fails(edit(engine, pull, title="4"), errors.InvalidRequestError)
        await merge_pull(engine, pull)

    run(go())


def test_a_read_only_repository_refuses_changes() -> None:
    async def go() -> None:
        engine = await open_lake()
        await engine.repositories.create("frozen", "mem://frozen", read_only=True)
        request = PullCreation(title="t", source_branch="a", destination_branch="b", author="ann", author_id="ann")
        await fails(engine.pulls.create("frozen", request), errors.ReadOnlyRepositoryError)

    run(go())


def test_the_sweep_knows_the_rows_and_a_deleted_repository_leaves_none() -> None:
    async def go() -> None:
        engine = await open_lake(cleanup_grace=0.0)
        await open_pull(engine)
        repo = await engine.repositories.get(REPO)
        report = await engine.maintenance.sweep(REPO, SweepOptions(data=True, dry_run=True))
        assert (report.failures, [one.found for one in report.reports]) == ([], [0])
        await engine.repositories.delete(REPO)
        await engine.maintenance.clean()
        await engine.maintenance.clean()
        assert await engine.context.kv.scan(f"repo/{repo.uid}") == []

    run(go())


def test_every_change_is_an_event_of_the_repository() -> None:
    async def go() -> None:
        engine = await open_lake()
        pull = await open_pull(engine)
        await edit(engine, pull, title="Better", status="closed")
        await edit(engine, pull, status="open")
        made = await merge_pull(engine, pull)
        repo = await engine.repositories.get(REPO)
        found = await engine.context.kv.scan(f"repo/{repo.uid}", b"journal/", b"journal0")
        found.sort(key=lambda row: (row.version, row.key))
        events = [msgspec.json.decode(row.value, type=Event) for row in found]
        reported = [(one.type, one.user, one.branch) for one in events if one.type.startswith("pull.")]
        verbs = ("opened", "edited", "closed", "reopened")
        assert reported == [*((f"pull.{verb}", "ann", "main") for verb in verbs), ("pull.merged", "bob", "main")]
        last = next(one for one in events if one.type == "pull.merged")
        assert (last.commit_id, last.data["pull_request"], last.data["title"]) == (made.id, pull.id, "Better")

    run(go())
