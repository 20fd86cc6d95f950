"""Reverts, cherry-picks, hard resets, merges by rules, and commits as tasks."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from lakebed_engine.vocabulary.errors import OutcomeUnknownError, StoreError, StoreUnavailableError, TaskEndedError
from lakebed_engine.vocabulary.records import Commit
from lakebed_engine.vocabulary.requests import CommitRequest, MergeRequest, PickRequest, UploadRequest
from lakebed_engine.vocabulary.tasks import Task

from tests.simulation.actors.actors import Actor, chunks
from tests.simulation.checks.history import content_identity
from tests.simulation.checks.joins import RESOLUTIONS
from tests.simulation.world.scheduler import park
from tests.simulation.world.world import REPO

Begin = Callable[[], Awaitable[tuple[Task, Commit | None]]]
"""Submits a task and waits for its end."""


def _commit(actor: Actor, *, plain: bool = True) -> str:
    """Some commit of the repository; a plain one has one parent."""
    found = [one for one in actor.world.contents.commits() if not plain or len(one.parents) == 1]
    return actor.rng.choice(found).id


async def revert(actor: Actor) -> None:
    picked, empty = _commit(actor), actor.rng.random() < 0.3
    request = PickRequest(ref=picked, committer=actor.name, allow_empty=empty)
    await actor.call("revert", actor.engine.commits.revert(REPO, actor.branch, request), commit=picked)


async def pick(actor: Actor) -> None:
    picked = _commit(actor)
    request = PickRequest(ref=picked, committer=actor.name)
    await actor.call("pick", actor.engine.commits.cherry_pick(REPO, actor.branch, request), commit=picked)


async def hard_reset(actor: Actor) -> None:
    target = _commit(actor, plain=False)
    await actor.call("hard_reset", actor.engine.branches.hard_reset(REPO, actor.branch, target), commit=target)


async def merge_by_rules(actor: Actor) -> None:
    """Some conflicts are settled path by path, others by the strategy or not at all."""
    source = "dev" if actor.branch == "main" else "main"
    strategy, rules = actor.rng.choice(["", "", "source-wins"]), actor.rng.randrange(1, len(RESOLUTIONS))
    request = MergeRequest(committer=actor.name, strategy=strategy, resolve=RESOLUTIONS[rules])
    job = actor.engine.commits.merge(REPO, source, actor.branch, request)
    await actor.call("merge", job, source=source, strategy=strategy, rules=rules)


async def clash(actor: Actor) -> None:
    """Both branches change one path; then they are merged."""
    path = actor.path()
    for branch in ("main", "dev"):
        text = actor.text(path)
        job = actor.engine.objects.upload(REPO, branch, UploadRequest(path=path), chunks(text))
        await actor.call("put", job, {path: content_identity(text)}, branch, path=path)
        request = CommitRequest(message=f"{actor.name}-{branch}-{actor._calls}", committer=actor.name)
        made = actor.engine.commits.create(REPO, branch, request)
        await actor.call("commit", made, branch=branch, empty=False, message=request.message)
    await merge_by_rules(actor)


async def commit_task(actor: Actor) -> None:
    """A commit as a task. With a key one asks again when the answer is lost, and gets the same."""
    message, empty = f"{actor.name}-{actor._calls}", actor.rng.random() < 0.5
    key = message if actor.rng.random() < 0.6 else ""
    request = CommitRequest(message=message, committer=actor.name, allow_empty=empty)

    async def begin() -> tuple[Task, Commit | None]:
        return await actor.engine.tasks.begin_commit(REPO, actor.branch, request, key=key, wait=0.2)

    await actor.call("task", submitted(begin, bool(key)), message=message, empty=empty)


async def submitted(begin: Begin, keyed: bool) -> Commit:
    """The commit of a task, asked for again when the answer is lost and it has a key."""
    for _ in range(3 if keyed else 1):
        try:
            return await _ended(begin)
        except OutcomeUnknownError as error:
            lost = error
    raise lost


async def _ended(begin: Begin) -> Commit:
    try:
        task, made = await begin()
    except StoreUnavailableError:  # it may have begun, and here it is worked at before it is answered
        raise OutcomeUnknownError("whether the task began is not known") from None
    if task.state == "running":
        raise OutcomeUnknownError("the task goes on")
    if made is not None:
        return made
    if task.state == "cancelled":
        raise TaskEndedError(task.message)
    error = task.error
    # of a task that failed everything is known: it made no commit, and never will
    raise StoreUnavailableError(error.message) if isinstance(error, StoreError) else error


async def resume(actor: Actor) -> None:
    """Take over tasks whose server was silent for long."""
    await park(actor.world.scheduler.time + actor.rng.choice([0.0, 0.06, 0.3]))
    await actor.call("resume", actor.engine.tasks.resume())
