"""Runs, logs, verdicts, deliveries and settings of hooks, as the engine stores them."""

from __future__ import annotations

import msgspec
import pytest
from lakebed_engine.engine import Engine
from lakebed_engine.operations.hooks import deliveries
from lakebed_engine.operations.hooks.runs import CANDIDATE_LIFETIME, LATE
from lakebed_engine.stores.kv.memory import MemoryKV
from lakebed_engine.stores.objects.registry import Stores
from lakebed_engine.vocabulary import errors
from lakebed_engine.vocabulary.errors import HookRefusedError
from lakebed_engine.vocabulary.hooks import HookRun, HookSettings, Proposal, Run, SeenDelivery, Verdict
from lakebed_engine.vocabulary.reports import FsckOptions

from tests.engine.hooking import Hooks
from tests.engine.support import REPO, FakeClock, make_engine, put_commit, run

KEEP = 90 * 24 * 3600.0


def _run(engine: Engine, clock: FakeClock, **fields: object) -> Run:
    return Run(id=engine.hooks.new_run_id(), event_type="pre-merge", started=clock.now(), **fields)  # type: ignore[arg-type]


def test_runs_are_listed_newest_first_and_by_branch_or_commit() -> None:
    async def job() -> None:
        clock = FakeClock()
        engine = await make_engine(clock=clock)
        for number in range(5):
            await engine.hooks.save_run(REPO, _run(engine, clock, branch=f"b{number % 2}", commit_id=f"c{number}"))
            clock.forward(1)
        first = await engine.hooks.runs(REPO, amount=2)
        rest = await engine.hooks.runs(REPO, amount=10, after=first.after)
        assert [one.commit_id for one in (*first.items, *rest.items)] == ["c4", "c3", "c2", "c1", "c0"]
        assert (first.has_more, rest.has_more) == (True, False)
        assert [one.commit_id for one in (await engine.hooks.runs(REPO, branch="b1")).items] == ["c3", "c1"]
        assert [one.commit_id for one in (await engine.hooks.runs(REPO, commit="c2")).items] == ["c2"]
        with pytest.raises(errors.InvalidRequestError, match="not by both"):
            await engine.hooks.runs(REPO, branch="b1", commit="c2")
        await engine.close()

    run(job())


def test_a_run_keeps_its_logs_and_unknown_ones_are_errors() -> None:
    async def job() -> None:
        clock = FakeClock()
        engine = await make_engine(clock=clock)
        hook = HookRun(id="0000_0000", action="a", hook_id="h", type="webhook")
        made = _run(engine, clock, hooks=[hook])
        await engine.hooks.save_run(REPO, made)
        assert await engine.hooks.log(REPO, made.id, "0000_0000") == b""
        ended = msgspec.structs.replace(made, state="passed", ended=clock.now())
        await engine.hooks.save_run(REPO, ended, {"0000_0000": b"said"})
        assert (await engine.hooks.run(REPO, made.id)).state == "passed"
        assert await engine.hooks.log(REPO, made.id, "0000_0000") == b"said"
        for run_id, hook_id in (("nope", "0000_0000"), (made.id, "0000_0009")):
            with pytest.raises(errors.RunNotFoundError):
                await engine.hooks.log(REPO, run_id, hook_id)
        await engine.close()

    run(job())


def test_a_run_whose_server_died_has_failed_once_its_time_is_over() -> None:
    async def job() -> None:
        clock = FakeClock()
        engine = await make_engine(clock=clock)
        made = _run(engine, clock, ends_by=clock.now() + 600)
        await engine.hooks.save_run(REPO, made)
        clock.forward(600 + LATE - 1)
        assert (await engine.hooks.run(REPO, made.id)).state == "running"
        clock.forward(2)
        found = await engine.hooks.run(REPO, made.id)
        assert (found.state, found.ended, found.message) == (
            "error",
            made.ends_by,
            "the server stopped before its hooks ended",
        )
        assert (await engine.hooks.runs(REPO)).items == [found]
        await engine.close()

    run(job())


def test_old_runs_verdicts_and_candidates_are_deleted_and_young_ones_stay() -> None:
    async def job() -> None:
        clock = FakeClock()
        engine = await make_engine(clock=clock)
        await put_commit(engine, {"a": "1"})
        refused: list[str] = []

        async def refuse(proposal: Proposal) -> None:
            assert proposal.commit is not None
            refused.append(proposal.commit.id)
            raise HookRefusedError("no", "r")

        engine.hooks.use(Hooks(operations=["commit"], answer=refuse))
        with pytest.raises(HookRefusedError):
            await put_commit(engine, {"b": "1"})
        old = _run(engine, clock)
        await engine.hooks.save_run(REPO, old, {"0000_0000": b"log"})
        await engine.hooks.put_verdict(REPO, "ab" * 32, Verdict(state="passed", run_id=old.id, at=int(clock.now())))
        assert (await engine.commits.get(REPO, refused[0])).message == "c"
        clock.forward(CANDIDATE_LIFETIME + 1)
        assert await engine.maintenance.expire_hooks(KEEP) == 1
        with pytest.raises(errors.RefNotFoundError):
            await engine.commits.get(REPO, refused[0])
        assert await engine.hooks.verdict(REPO, "ab" * 32) is not None
        clock.forward(KEEP)
        young = _run(engine, clock)
        await engine.hooks.save_run(REPO, young)
        assert await engine.maintenance.expire_hooks(KEEP) == 3  # the run, its log and the verdict
        assert [one.id for one in (await engine.hooks.runs(REPO)).items] == [young.id]
        assert await engine.hooks.verdict(REPO, "ab" * 32) is None
        await engine.close()

    run(job())


def test_what_hooks_leave_behind_passes_fsck() -> None:
    async def job() -> None:
        engine = await make_engine()

        async def refuse(_: Proposal) -> None:
            raise HookRefusedError("no", "r")

        engine.hooks.use(Hooks(operations=["commit"], answer=refuse, after=["create-tag"]))
        with pytest.raises(HookRefusedError):
            await put_commit(engine, {"b": "1"})
        await engine.tags.create(REPO, "v1", "main")
        await engine.hooks.replace_settings(REPO, HookSettings({"a.yaml": "name: a"}))
        report = await engine.maintenance.fsck(REPO, FsckOptions(data=True))
        assert report.problems == []
        await engine.close()

    run(job())


async def _delivered(engine: Engine, branches: int) -> list[SeenDelivery]:
    """The deliveries of some new branches."""
    engine.hooks.use(Hooks(operations=[], after=["create-branch"], ordered=True))
    for number in range(branches):
        await engine.branches.create(REPO, f"b{number}", "main")
    return await engine.hooks.due(100)


def test_a_delivery_is_postponed_given_up_and_ordered_again() -> None:
    async def job() -> None:
        clock = FakeClock()
        engine = await make_engine(clock=clock)
        (seen,) = await _delivered(engine, 1)
        later = msgspec.structs.replace(seen.delivery, due=clock.now() + 30, tries=1)
        assert await engine.hooks.postpone(seen, later)
        assert not await engine.hooks.postpone(seen, later)  # another one has changed it
        assert await engine.hooks.due(100) == []
        clock.forward(31)
        (again,) = await engine.hooks.due(100)
        assert (again.delivery.id, again.delivery.tries) == (seen.delivery.id, 1)
        assert await engine.hooks.fail(again, again.delivery)
        shown = await engine.hooks.deliveries(REPO)
        assert ([one.id for one in shown.failed], shown.waiting) == ([seen.delivery.id], [])
        ordered = await engine.hooks.redeliver(REPO, seen.delivery.id)
        assert (ordered.id, ordered.tries) == (seen.delivery.id, 0)
        with pytest.raises(errors.RunNotFoundError):
            await engine.hooks.redeliver(REPO, seen.delivery.id)
        await engine.hooks.finish(await engine.hooks.due(100))
        assert await engine.hooks.due(100) == []
        await engine.close()

    run(job())


def test_a_page_of_deliveries_reads_a_bounded_number_of_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    async def job() -> None:
        clock = FakeClock()
        engine = await make_engine(clock=clock)
        await engine.repositories.create("other", "mem://other")
        first = (await _delivered(engine, 1))[0].delivery.id
        clock.forward(1)
        for number in range(3):
            await engine.branches.create("other", f"b{number}", "main")
        clock.forward(1)
        await engine.branches.create(REPO, "last", "main")
        last = (await engine.hooks.due(100))[-1].delivery.id
        monkeypatch.setattr(deliveries, "_SCANNED", 2)
        page = await engine.hooks.deliveries(REPO)
        assert ([one.id for one in page.waiting], page.after != "") == ([first], True)
        page = await engine.hooks.deliveries(REPO, after=page.after)
        assert (page.waiting, page.failed, page.after != "") == ([], [], True)  # only rows of the other repository
        page = await engine.hooks.deliveries(REPO, after=page.after)
        assert ([one.id for one in page.waiting], page.failed, page.after) == ([last], [], "")
        await engine.close()

    run(job())


def test_one_changed_row_does_not_keep_the_other_finished_ones() -> None:
    async def job() -> None:
        clock = FakeClock()
        engine = await make_engine(clock=clock)
        seen = await _delivered(engine, 3)
        assert await engine.hooks.postpone(seen[1], msgspec.structs.replace(seen[1].delivery, due=clock.now() + 5))
        await engine.hooks.finish(seen)
        clock.forward(6)
        assert [one.delivery.id for one in await engine.hooks.due(100)] == [seen[1].delivery.id]
        await engine.close()

    run(job())


def test_an_ordered_delivery_waits_for_the_earlier_one_of_its_branch() -> None:
    async def job() -> None:
        clock = FakeClock()
        engine = await make_engine(clock=clock)
        await put_commit(engine, {"a": "1"})
        engine.hooks.use(Hooks(operations=[], after=["commit"], ordered=True))
        await put_commit(engine, {"b": "1"})
        clock.forward(1)
        await put_commit(engine, {"c": "1"})
        first, second = await engine.hooks.due(100)
        assert await engine.hooks.is_next(first.delivery)
        assert not await engine.hooks.is_next(second.delivery)
        assert await engine.hooks.postpone(first, msgspec.structs.replace(first.delivery, due=clock.now() + 60))
        assert not await engine.hooks.is_next(second.delivery)
        clock.forward(61)
        (back,) = [one for one in await engine.hooks.due(100) if one.delivery.id == first.delivery.id]
        await engine.hooks.finish([back])
        assert await engine.hooks.is_next(second.delivery)
        await engine.close()

    run(job())


def test_one_process_dispatches_and_another_takes_over_after_the_lease() -> None:
    async def job() -> None:
        kv, clock = MemoryKV(), FakeClock()
        engine = await make_engine(kv, Stores(None), clock=clock)
        assert await engine.hooks.take_lease("one")
        assert not await engine.hooks.take_lease("two")
        clock.forward(14)
        assert await engine.hooks.take_lease("one")  # renewed
        clock.forward(14)
        assert not await engine.hooks.take_lease("two")
        clock.forward(2)
        assert await engine.hooks.take_lease("two")
        assert not await engine.hooks.take_lease("one")
        await engine.hooks.release_lease("one")  # not its own
        assert not await engine.hooks.take_lease("one")
        await engine.hooks.release_lease("two")
        assert await engine.hooks.take_lease("one")
        await engine.close()

    run(job())


def test_hook_settings_are_replaced_and_their_digest_is_in_the_record() -> None:
    async def job() -> None:
        engine = await make_engine()
        assert await engine.hooks.settings(REPO) == HookSettings()
        await engine.hooks.replace_settings(REPO, HookSettings({"a.yaml": "one"}))
        first = (await engine.repositories.get(REPO)).hooks
        await engine.hooks.replace_settings(REPO, HookSettings({"a.yaml": "two"}))
        assert await engine.hooks.settings(REPO) == HookSettings({"a.yaml": "two"})
        assert len({first, (await engine.repositories.get(REPO)).hooks, ""}) == 3
        with pytest.raises(errors.InvalidRequestError, match="at most"):
            await engine.hooks.replace_settings(REPO, HookSettings({str(one): "" for one in range(101)}))
        await engine.hooks.replace_settings(REPO, HookSettings())
        assert (await engine.repositories.get(REPO)).hooks == ""
        events = [event.type for event in (await engine.events.page(REPO)).items]
        assert events.count("hooks.changed") == 3
        await engine.close()

    run(job())
