"""Hooks check each change before it lands, without a lock, and calls follow it in the batch of the change."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest
from lakebed_engine.engine import Engine
from lakebed_engine.operations.keys import CANDIDATES, under
from lakebed_engine.stores.kv.base import scan_rows
from lakebed_engine.vocabulary import errors
from lakebed_engine.vocabulary.errors import HookRefusedError
from lakebed_engine.vocabulary.events import Actor, act_as
from lakebed_engine.vocabulary.hooks import Proposal
from lakebed_engine.vocabulary.records import Entry, Rule
from lakebed_engine.vocabulary.requests import (
    AdvanceRequest,
    CommitRequest,
    MergeRequest,
    PickRequest,
    PublishRequest,
)

from tests.engine.hooking import Hooks
from tests.engine.support import REPO, commit, make_engine, put, put_commit, run
from tests.engine.workspacing import workspace


async def refuse(_: Proposal) -> None:
    raise HookRefusedError("pre hook aborted, run id 'r1': no", "r1")


async def heads(engine: Engine) -> dict[str, str]:
    """The heads of all branches and tags."""
    branches = {one.name: one.commit_id for one in (await engine.branches.list(REPO)).items}
    return branches | {one.name: one.commit_id for one in (await engine.tags.list(REPO)).items}


async def _prepared(engine: Engine) -> None:
    """A lake where every operation below has something to do."""
    first = await put_commit(engine, {"a": "1"})
    await engine.branches.create(REPO, "dev", "main")
    await put_commit(engine, {"b": "2"}, branch="dev")
    await engine.branches.create(REPO, "old", "main")
    await engine.tags.create(REPO, "v1", first.id)


async def _commit(engine: Engine) -> object:
    await put(engine, "c", "3")
    return await engine.commits.create(REPO, "main", CommitRequest(message="m", committer="ann"))


async def _publish(engine: Engine) -> object:
    return await engine.commits.publish(REPO, "main", [("a", None)], PublishRequest(message="m", committer="ann"))


async def _workspace(engine: Engine) -> object:
    opened = await workspace(engine)
    await put(engine, "w", "4", branch=opened.name)
    return await engine.workspaces.commit(REPO, opened.uid, AdvanceRequest(message="m", committer="ann"))


async def _metarange(engine: Engine) -> object:
    tree = (await engine.commits.get(REPO, "dev")).metarange_id
    return await engine.commits.create_from_metarange(REPO, "main", tree, CommitRequest(message="m", committer="ann"))


OPERATIONS: dict[str, tuple[str, Callable[[Engine], Awaitable[object]]]] = {
    "commit": ("commit", _commit),
    "publish": ("commit", _publish),
    "workspace": ("commit", _workspace),
    "metarange": ("commit", _metarange),
    "merge": ("merge", lambda engine: engine.commits.merge(REPO, "dev", "main", MergeRequest(committer="ann"))),
    "revert": ("revert", lambda engine: engine.commits.revert(REPO, "dev", PickRequest(ref="dev", committer="ann"))),
    "cherry-pick": (
        "cherry-pick",
        lambda engine: engine.commits.cherry_pick(REPO, "main", PickRequest(ref="dev", committer="ann")),
    ),
    "reset": ("reset", lambda engine: engine.branches.hard_reset(REPO, "main", "dev")),
    "create-branch": ("create-branch", lambda engine: engine.branches.create(REPO, "new", "main")),
    "delete-branch": ("delete-branch", lambda engine: engine.branches.delete(REPO, "old")),
    "create-tag": ("create-tag", lambda engine: engine.tags.create(REPO, "v2", "main")),
    "delete-tag": ("delete-tag", lambda engine: engine.tags.delete(REPO, "v1")),
}


@pytest.mark.parametrize("name", OPERATIONS)
def test_every_operation_asks_the_hooks_and_a_refusal_changes_nothing(name: str) -> None:
    async def job() -> None:
        engine = await make_engine()
        await _prepared(engine)
        operation, make = OPERATIONS[name]
        hooks = Hooks(operations=[operation], answer=refuse)
        engine.hooks.use(hooks)
        before = await heads(engine)
        with pytest.raises(HookRefusedError, match="run id 'r1'") as caught:
            await make(engine)
        assert caught.value.run_id == "r1"
        assert await heads(engine) == before
        assert [one.operation for one in hooks.checked] == [operation]

        hooks.answer = _agree
        await make(engine)
        assert await heads(engine) != before
        await engine.close()

    run(job())


async def _agree(_: Proposal) -> None:
    pass


@pytest.mark.parametrize("name", OPERATIONS)
def test_a_call_follows_every_operation_and_none_a_refused_one(name: str) -> None:
    async def job() -> None:
        engine = await make_engine()
        await _prepared(engine)
        operation, make = OPERATIONS[name]
        hooks = Hooks(operations=[operation], after=[operation], answer=refuse)
        engine.hooks.use(hooks)
        with pytest.raises(HookRefusedError):
            await make(engine)
        assert await engine.hooks.due(100) == []
        hooks.answer = _agree
        await make(engine)
        (found,) = [one.delivery for one in await engine.hooks.due(100)]
        events = (await engine.events.page(REPO)).items
        assert found.event.id in {event.id for event in events}
        assert found.call.event_type == f"post-{operation}"
        await engine.close()

    run(job())


def test_a_hook_reads_the_proposed_commit_which_nothing_can_use() -> None:
    async def job() -> None:
        engine = await make_engine()
        await put_commit(engine, {"a": "1"})
        await engine.branches.create(REPO, "dev", "main")
        seen: list[str] = []

        async def answer(proposal: Proposal) -> None:
            assert proposal.commit is not None
            candidate = proposal.commit.id
            assert (await engine.commits.get(REPO, candidate)).message == "c"
            assert (await engine.objects.stat(REPO, candidate, "c")).size == 1
            with pytest.raises(errors.RefNotFoundError, match="is not on a branch"):
                await engine.branches.create(REPO, "stolen", candidate)
            with pytest.raises(errors.RefNotFoundError, match="is not on a branch"):
                await engine.branches.hard_reset(REPO, "dev", candidate)
            seen.append(candidate)

        hooks = Hooks(operations=["commit"], answer=answer)
        engine.hooks.use(hooks)
        await put(engine, "c", "3")
        made = await commit(engine)
        assert made.id == seen[0]
        repo = (await engine.repositories.get(REPO)).uid
        left = [row async for row in scan_rows(engine.context.kv, f"repo/{repo}", *under(CANDIDATES))]
        assert left == []
        await engine.close()

    run(job())


def test_a_slow_hook_does_not_hold_up_writes_or_other_commits() -> None:
    async def job() -> None:
        engine = await make_engine()
        await put_commit(engine, {"a": "1"})
        begun, go = asyncio.Event(), asyncio.Event()

        async def answer(proposal: Proposal) -> None:
            if proposal.message == "slow":
                begun.set()
                await go.wait()

        hooks = Hooks(operations=["commit"], answer=answer)
        engine.hooks.use(hooks)
        await put(engine, "slow", "1")
        slow = asyncio.create_task(engine.commits.create(REPO, "main", CommitRequest(message="slow", committer="ann")))
        await asyncio.wait_for(begun.wait(), 5)
        others = []
        for number in range(5):
            await put(engine, f"b{number}", "2")
            others.append(await asyncio.wait_for(commit(engine), 5))
        go.set()
        # the first of the others took the rows of the slow commit too, as commits take all that is staged
        with pytest.raises(errors.NoChangesError):
            await slow
        head = (await engine.branches.get(REPO, "main")).commit_id
        assert head == others[-1].id
        await engine.close()

    run(job())


def test_a_commit_that_always_loses_the_race_gives_up_after_its_rounds() -> None:
    async def job() -> None:
        engine = await make_engine()
        await put_commit(engine, {"a": "1"})
        numbers = iter(range(100))

        async def answer(proposal: Proposal) -> None:
            if proposal.committer == "slow":
                await _one(f"other{next(numbers)}", "quick")

        async def _one(path: str, committer: str) -> None:
            rows = [(path, await _entry(engine, path))]
            await engine.commits.publish(REPO, "main", rows, PublishRequest(message="m", committer=committer))

        hooks = Hooks(operations=["commit"], answer=answer, rounds=3)
        engine.hooks.use(hooks)
        with pytest.raises(errors.TooManyAttemptsError, match="3 times"):
            await _one("mine", "slow")
        assert sum(one.committer == "slow" for one in hooks.checked) == 3
        with pytest.raises(errors.ObjectNotFoundError):
            await engine.objects.stat(REPO, "main", "mine")
        await engine.close()

    run(job())


async def _entry(engine: Engine, path: str) -> Entry:
    await engine.branches.create(REPO, f"for-{path}", "main")
    await put(engine, path, path, branch=f"for-{path}")
    return await engine.objects.stat(REPO, f"for-{path}", path)


def test_only_the_refused_commit_of_a_group_is_dropped() -> None:
    async def job() -> None:
        engine = await make_engine()
        await put_commit(engine, {"a": "1"})
        entries = {path: await _entry(engine, path) for path in ("good1", "bad", "good2")}

        async def answer(proposal: Proposal) -> None:
            if proposal.committer == "bad":
                raise HookRefusedError("no", "r")

        engine.hooks.use(Hooks(operations=["commit"], answer=answer))
        made = await asyncio.gather(
            *(
                engine.commits.publish(REPO, "main", [(path, entry)], PublishRequest(message="m", committer=path))
                for path, entry in entries.items()
            ),
            return_exceptions=True,
        )
        assert [type(one).__name__ for one in made] == ["Commit", "HookRefusedError", "Commit"]
        shown = [one.path for one in (await engine.objects.list(REPO, "main")).items]
        assert shown == ["a", "good1", "good2"]
        await engine.close()

    run(job())


def test_the_port_gets_the_action_files_of_both_sides() -> None:
    async def job() -> None:
        engine = await make_engine()
        await put_commit(engine, {"a": "1"})
        hooks = Hooks(operations=[], everywhere=False)
        engine.hooks.use(hooks)
        await put_commit(engine, {"b": "1"})
        assert hooks.asked == []  # no action file: the hooks are not even asked
        await put_commit(engine, {"_lakebed_actions/x.yaml": "one"})
        await put_commit(engine, {"_lakefs_actions/sub/ignored.yaml": "no"})
        await put_commit(engine, {"_lakebed_actions/x.yaml": "two"})
        reported = [
            ([(one.path, one.content) for one in asked.before_files], [one.content for one in asked.files])
            for asked in hooks.asked
            if asked.operation == "commit"
        ]
        path = "_lakebed_actions/x.yaml"
        assert reported == [([], [b"one"]), ([(path, b"one")], [b"one"]), ([(path, b"one")], [b"two"])]
        await put_commit(engine, {"unrelated": "1"})
        assert [one.content for one in hooks.asked[-1].files] == [b"two"]
        await engine.close()

    run(job())


def test_a_user_who_may_bypass_hooks_does_and_the_event_says_so() -> None:
    async def job() -> None:
        engine = await make_engine()
        await put_commit(engine, {"a": "1"})
        engine.hooks.use(Hooks(operations=["commit", "create-tag"], answer=refuse))
        act_as(Actor("root", "", bypasses_hooks=True))
        await put_commit(engine, {"b": "1"})
        await engine.tags.create(REPO, "v1", "main")
        events = (await engine.events.page(REPO)).items
        reported = [(event.type, event.data.get("hooks_bypassed")) for event in events[-2:]]
        assert reported == [("branch.committed", True), ("tag.created", True)]
        await engine.close()

    run(job())


def test_a_protected_branch_is_reported_as_such() -> None:
    async def job() -> None:
        engine = await make_engine()
        await _prepared(engine)
        hooks = Hooks(operations=["merge"])
        engine.hooks.use(hooks)
        await engine.protection.add(REPO, Rule("main"))
        await engine.commits.merge(REPO, "dev", "main", MergeRequest(committer="ann"))
        (proposal,) = hooks.checked
        assert (proposal.is_protected, proposal.merge_source, proposal.is_new_commit) == (True, "dev", True)
        await engine.close()

    run(job())


def test_what_a_hook_stages_while_a_commit_is_prepared_belongs_to_it() -> None:
    async def job() -> None:
        engine = await make_engine()
        await put_commit(engine, {"a": "1"})

        async def answer(proposal: Proposal) -> None:
            await put(engine, "manifest", proposal.message)

        engine.hooks.use(Hooks(operations=["prepare-commit"], answer=answer))
        await put(engine, "b", "2")
        made = await commit(engine)
        shown = [one.path for one in (await engine.objects.list(REPO, made.id)).items]
        assert shown == ["a", "b", "manifest"]
        await engine.close()

    run(job())
