"""Every change of a ref, a rule or a repository writes its event, in the batch of the change."""

from __future__ import annotations

import asyncio
import contextlib

import msgspec
from lakebed_engine.engine import Engine
from lakebed_engine.operations.context import open_repo
from lakebed_engine.operations.keys import JOURNAL, under
from lakebed_engine.stores.kv.base import Batch
from lakebed_engine.stores.kv.memory import MemoryKV
from lakebed_engine.vocabulary.errors import EngineError
from lakebed_engine.vocabulary.events import Actor, Event, act_as
from lakebed_engine.vocabulary.records import Rule
from lakebed_engine.vocabulary.requests import AdvanceRequest, CommitRequest, PickRequest, WorkspaceRequest

from tests.engine.support import REPO, LossyKV, commit, make_engine, merge, put, put_commit


async def waiting(engine: Engine) -> list[Event]:
    """The events that no drain has written to a file yet, in order."""
    partition = (await open_repo(engine.context, REPO)).partition
    rows = sorted(await engine.context.kv.scan(partition, *under(JOURNAL)), key=lambda row: (row.version, row.key))
    return [msgspec.json.decode(row.value, type=Event) for row in rows]


async def test_every_change_has_its_event() -> None:
    engine = await make_engine()
    repo = await open_repo(engine.context, REPO)
    act_as(Actor("jane", "req-1"))
    root = (await engine.branches.get(REPO, "main")).commit_id
    await engine.branches.create(REPO, "dev", "main")
    one = await put_commit(engine, {"a": "1"}, "dev")
    merged = await merge(engine, "dev")
    undone = await engine.commits.revert(REPO, "main", PickRequest(ref=merged.id, committer="ann", parent_number=1))
    picked = await engine.commits.cherry_pick(REPO, "main", PickRequest(ref=one.id, committer="ann"))
    await engine.branches.hard_reset(REPO, "main", root)
    await put(engine, "b", "2", "dev")
    await engine.branches.reset(REPO, "dev")
    space = await engine.workspaces.create(REPO, WorkspaceRequest(ref="dev", creator="ann"))
    await put(engine, "c", "3", space.name)
    three = await engine.workspaces.commit(REPO, space.uid, AdvanceRequest(committer="ann"))
    await engine.tags.create(REPO, "v1", "dev")
    await engine.tags.delete(REPO, "v1")
    await engine.protection.add(REPO, Rule("rel/*"))
    await engine.repositories.set_metadata(REPO, {"owner": "ann"})
    await engine.branches.delete(REPO, "dev")

    found = await waiting(engine)
    assert [(one.type, one.branch, one.before, one.after, one.commit_id) for one in found] == [
        ("repository.created", "main", "", root, root),
        ("branch.created", "dev", "", root, root),
        ("branch.committed", "dev", root, one.id, one.id),
        ("branch.merged", "main", root, merged.id, merged.id),
        ("branch.reverted", "main", merged.id, undone.id, undone.id),
        ("branch.cherry_picked", "main", undone.id, picked.id, picked.id),
        ("branch.reset", "main", picked.id, root, root),
        ("branch.reset", "dev", one.id, one.id, one.id),
        ("branch.committed", "dev", one.id, three.id, three.id),
        ("tag.created", "", "", three.id, three.id),
        ("tag.deleted", "", three.id, "", three.id),
        ("protection.changed", "", "", "", ""),
        ("repository.changed", "", "", "", ""),
        ("branch.deleted", "dev", three.id, "", three.id),
    ]
    assert {(one.user, one.request_id) for one in found[1:]} == {("jane", "req-1")}
    assert {(one.repository, one.repository_uid) for one in found} == {(REPO, repo.record.uid)}
    assert len({one.id for one in found}) == len(found)
    assert found[3].data == {"source": "dev", "source_commit_id": one.id}
    assert found[8].data == {"workspace": space.uid}
    assert found[9].data == {"tag": "v1", "source": "dev"}
    assert found[11].data == {"before": [], "after": ["rel/*"]}
    assert found[12].data == {"metadata_set": ["owner"], "metadata_removed": []}


async def test_writes_of_objects_have_no_event() -> None:
    engine = await make_engine()
    before = len(await waiting(engine))
    await put(engine, "a", "1")
    await engine.objects.delete(REPO, "main", "a")
    await engine.branches.reset_object(REPO, "main", "a")
    assert len(await waiting(engine)) == before


async def test_commits_that_share_a_swap_have_an_event_each_with_its_own_user() -> None:
    engine = await make_engine()
    root = (await engine.branches.get(REPO, "main")).commit_id

    async def request(user: str) -> str:
        act_as(Actor(user, f"of {user}"))
        wanted = CommitRequest(message=user, committer=user, allow_empty=True)
        return (await engine.commits.create(REPO, "main", wanted)).id

    users = [f"user{number}" for number in range(8)]
    made = await asyncio.gather(*map(request, users))
    found = [one for one in await waiting(engine) if one.type == "branch.committed"]
    assert {(one.user, one.request_id, one.commit_id) for one in found} == {
        (user, f"of {user}", commit_id) for user, commit_id in zip(users, made, strict=True)
    }
    assert [one.before for one in found] == [root, *(one.after for one in found[:-1])], "they are in order"
    assert len({one.gen for one in found}) < len(found), "none shared a swap"


async def test_a_refused_or_lost_change_has_no_event_and_a_repeated_one_has_one() -> None:
    kv = LossyKV(MemoryKV(), lambda _: "")
    engine = await make_engine(kv)
    before = len(await waiting(engine))
    with contextlib.suppress(EngineError):
        await engine.branches.create(REPO, "main", "main")
    assert len(await waiting(engine)) == before

    answers = iter(["after", "before", ""])

    def lose(batch: Batch) -> str:
        return next(answers, "") if any(put.key.startswith(JOURNAL) for put in batch.puts) else ""

    kv.lose = lose
    await commit(engine, allow_empty=True)  # applied, and the answer is lost
    await commit(engine, allow_empty=True)  # lost, and sent again
    found = (await waiting(engine))[before:]
    assert kv.lost == 2
    assert [one.type for one in found] == ["branch.committed"] * 2
    assert found[1].before == found[0].after
