"""The actors: small coroutines over the engine's public verbs, which record each call and its answer.

What they do is drawn from the seed when they are made, so that a schedule changes only when something happens, never
what is tried.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Sequence
from typing import Any

from lakebed_engine.engine import Engine
from lakebed_engine.operations.events.drain import LEASE
from lakebed_engine.vocabulary.errors import EngineError, NoChangesError, OutcomeUnknownError
from lakebed_engine.vocabulary.records import Commit, Entry
from lakebed_engine.vocabulary.requests import (
    CommitRequest,
    Deletion,
    Held,
    MergeRequest,
    Published,
    PublishRequest,
    UploadRequest,
)

from tests.simulation.checks.history import Op, Rows, Violation, content_identity
from tests.simulation.world.scheduler import Fatal, park
from tests.simulation.world.world import GRACE, REPO, World

PATHS = ("a", "c/_SUCCESS", "c/x", "d/_SUCCESS", "m", "z")
Script = Callable[["Actor"], Coroutine[Any, Any, object]]


class Actor:
    """One caller: it makes one call after another on one engine."""

    def __init__(
        self, world: World, name: str, engine: Engine, rng: random.Random, branch: str, paths: Sequence[str] = PATHS
    ) -> None:
        self.world = world
        self.name = name
        self.engine = engine
        self.rng = rng
        self.branch = branch
        self.paths = paths
        self._calls = 0

    async def call(
        self, kind: str, job: Awaitable[Any], rows: Rows | None = None, branch: str | None = None, **args: Any
    ) -> Op:
        """Make a call, note when it was made and answered, and judge the answer."""
        world, scheduler = self.world, self.world.scheduler
        task = scheduler.current
        assert task is not None
        op = Op(len(world.history.ops), self.name, kind, branch or self.branch, args, rows or {})
        world.history.ops.append(op)
        self._calls += 1
        op.invoked = scheduler.step
        task.op = op
        try:
            op.answer = await job
            op.outcome = "ok"
        except OutcomeUnknownError as error:
            op.outcome, op.error = "unknown", error
        except EngineError as error:
            op.outcome, op.error = "refused", error
        except Fatal:
            raise
        except Exception as error:
            raise Violation(f"{op} raises {error!r}") from error
        op.returned = scheduler.step
        task.op = None
        if world.trace is not None:
            world.trace(
                f"{scheduler.step:5d} {scheduler.time:9.3f}s {self.name:14s} == {op}: {op.outcome} {op.error or ''}"
            )
        world.checker.judge(op)
        return op

    def path(self) -> str:
        """Some path."""
        return self.rng.choice(self.paths)

    def text(self, path: str) -> str:
        """New content of its next call: unlike any other, but for marker files, which are all alike."""
        return "" if path.endswith("_SUCCESS") else f"{self.name[-1]}-{self._calls}-{path}"


# verbs


async def put(actor: Actor) -> None:
    path = actor.path()
    text = actor.text(path)
    job = actor.engine.objects.upload(REPO, actor.branch, UploadRequest(path=path), chunks(text))
    await actor.call("put", job, {path: content_identity(text)}, path=path)


async def put_if(actor: Actor) -> None:
    """A conditional write: on what was read just before, or on nothing there."""
    path = actor.path()
    text = actor.text(path)
    seen: Entry | None = None
    if actor.rng.random() < 0.8:
        op = await actor.call("read", actor.engine.objects.stat(REPO, actor.branch, path), path=path)
        seen = op.answer
    request = UploadRequest(path=path, if_none_match=seen is None, if_match=seen.etag if seen else None)
    job = actor.engine.objects.upload(REPO, actor.branch, request, chunks(text))
    expected = None if seen is None else seen.identity
    await actor.call("put_if", job, {path: content_identity(text)}, path=path, expected=expected)


async def put_many(actor: Actor) -> None:
    rows, changes = _changes(actor, actor.rng.choice([2, 3]))
    job = actor.engine.objects.upload_many(REPO, actor.branch, _stream([_afresh(one) for one in changes]))
    await actor.call("put_many", job, rows)


def _changes(actor: Actor, count: int) -> tuple[dict[str, bytes | None], list[tuple[str, str | None]]]:
    """Identities by path, and texts; None: delete."""
    rows: dict[str, bytes | None] = {}
    changes: list[tuple[str, str | None]] = []
    for path in actor.rng.sample(actor.paths, min(len(actor.paths), count)):
        text = None if actor.rng.random() < 0.4 else actor.text(path)
        changes.append((path, text))
        rows[path] = None if text is None else content_identity(text)
    return rows, changes


def _afresh(change: tuple[str, str | None]) -> tuple[UploadRequest, AsyncIterator[bytes]] | Deletion:
    path, text = change
    return Deletion(path) if text is None else (UploadRequest(path=path), chunks(text))


async def _made(job: Awaitable[Published]) -> Commit:
    return (await job).commit


async def at_once(actor: Actor) -> None:
    """Changes that are committed as they come, mostly at the same moment as others. With a key one may ask again."""
    rows, changes = _changes(actor, actor.rng.choice([1, 1, 2, 3]))
    message = f"{actor.name}-{actor._calls}"
    key = message if actor.rng.random() < 0.5 else ""
    request = PublishRequest(
        committer=actor.name, message=message, idempotency_key=key, allow_empty=actor.rng.random() < 0.2
    )

    async def once() -> Op:
        job = actor.engine.commits.publish_uploads(
            REPO, actor.branch, _stream([_afresh(one) for one in changes]), request
        )
        return await actor.call("publish", _made(job), rows, message=message, key=key, empty=request.allow_empty)

    if actor.rng.random() < 0.7:
        await park(actor.world.scheduler.time // 1 + 1)
    if key and actor.rng.random() < 0.1:
        await actor.world.scheduler.gather([once, once], 2)
        return
    for _ in range(3 if key else 1):
        op = await once()
        if op.outcome != "unknown" and actor.rng.random() < 0.8:
            break


async def delete(actor: Actor) -> None:
    path = actor.path()
    await actor.call("delete", actor.engine.objects.delete(REPO, actor.branch, path), {path: None}, path=path)


async def read(actor: Actor) -> None:
    path = actor.path()
    await actor.call("read", actor.engine.objects.stat(REPO, actor.branch, path), path=path)


async def list_page(actor: Actor) -> None:
    prefix = actor.rng.choice(["", "", "c/"])
    job = actor.engine.objects.list(REPO, actor.branch, prefix=prefix, amount=100)
    await actor.call("list", job, prefix=prefix)


async def commit(actor: Actor) -> None:
    empty = actor.rng.random() < 0.4
    request = CommitRequest(message=f"{actor.name}-{actor._calls}", committer=actor.name, allow_empty=empty)
    await actor.call(
        "commit", actor.engine.commits.create(REPO, actor.branch, request), empty=empty, message=request.message
    )


async def merge(actor: Actor) -> None:
    source = "dev" if actor.branch == "main" else "main"
    strategy = actor.rng.choice(["", "source-wins", "dest-wins"])
    request = MergeRequest(committer=actor.name, strategy=strategy)
    job = actor.engine.commits.merge(REPO, source, actor.branch, request)
    await actor.call("merge", job, source=source, strategy=strategy)


async def commit_and_merge(actor: Actor) -> None:
    """Leave both branches clean, then merge: what publishes work does."""
    for branch in ("main", "dev"):
        request = CommitRequest(message=f"{actor.name}-{branch}-{actor._calls}", committer=actor.name)
        op = await actor.call(
            "commit",
            actor.engine.commits.create(REPO, branch, request),
            branch=branch,
            empty=False,
            message=request.message,
        )
        if op.error is not None and not isinstance(op.error, NoChangesError):
            return
    await merge(actor)


async def reset(actor: Actor) -> None:
    await actor.call("reset", actor.engine.branches.reset(REPO, actor.branch))


async def reset_object(actor: Actor) -> None:
    path = actor.path()
    await actor.call("reset_object", actor.engine.branches.reset_object(REPO, actor.branch, path), path=path)


async def delete_branch(actor: Actor) -> None:
    await actor.call("delete_branch", actor.engine.branches.delete(REPO, "dev"), branch="dev")


async def create_branch(actor: Actor) -> None:
    job = actor.engine.branches.create(REPO, "dev", "main")
    await actor.call("create_branch", job, branch="dev", source="main")


async def reset_prefix(actor: Actor) -> None:
    prefix = actor.rng.choice(["", "c/", "d/"])
    await actor.call("reset_prefix", actor.engine.branches.reset_prefix(REPO, actor.branch, prefix), prefix=prefix)


async def push(actor: Actor) -> None:
    """A delta as one layer; its data was written before."""
    changes: list[tuple[str, Entry | None]] = []
    for path in actor.rng.sample(actor.paths, min(len(actor.paths), actor.rng.choice([2, 3]))):
        if actor.rng.random() < 0.3:
            changes.append((path, None))
        else:
            words = f"{actor.name[-1]}-{actor._calls}-{path}"
            address = f"data/2026010100/{hashlib.md5(words.encode()).hexdigest()}"
            changes.append((path, actor.world.stored(address, actor.text(path))))
    rows = {path: None if entry is None else entry.identity for path, entry in changes}
    await actor.call("push", actor.engine.branches.push(REPO, actor.branch, changes), rows)


async def compact(actor: Actor) -> None:
    await actor.call("compact", actor.engine.branches.compact(REPO, actor.branch, least=2))


async def delete_if(actor: Actor) -> None:
    """A delete of what was read just before."""
    path = actor.path()
    op = await actor.call("read", actor.engine.objects.stat(REPO, actor.branch, path), path=path)
    if op.answer is not None:
        job = actor.engine.objects.delete(REPO, actor.branch, path, expected=Held(etag=op.answer.etag))
        await actor.call("put_if", job, {path: None}, path=path, expected=op.answer.identity)


async def clean(actor: Actor) -> None:
    await actor.call("clean", actor.engine.maintenance.clean())
    if actor.rng.random() < 0.7:
        await park(actor.world.scheduler.time + actor.rng.choice([0.02, 0.1, GRACE + 0.01, 2 * GRACE]))


async def drain(actor: Actor) -> None:
    """Move events to files. A drain that another one holds up waits, sometimes until it may take over."""
    op = await actor.call("drain", actor.engine.events.drain(REPO, most=actor.rng.choice([1, 2, 1000])))
    if op.answer is None and actor.rng.random() < 0.7:
        await park(actor.world.scheduler.time + actor.rng.choice([0.02, LEASE + 0.01]))


async def deliver(actor: Actor) -> None:
    """Make the calls that are due, as the dispatcher does: under the lease, and each row is removed after its call."""
    hooks = actor.engine.hooks
    if not (await actor.call("lease", hooks.take_lease(actor.name))).answer:
        return
    found = (await actor.call("due", hooks.due(10))).answer
    while found:
        for seen in found:
            actor.world.audit.events.hooks.call(seen.delivery)
        await actor.call("finish", hooks.finish(found))
        found = (await actor.call("due", hooks.due(10))).answer


async def events(actor: Actor) -> None:
    await actor.call("events", actor.engine.events.page(REPO, amount=1000))


async def chunks(text: str) -> AsyncIterator[bytes]:
    """The body of an upload."""
    yield text.encode()


async def _stream(items: list[Any]) -> AsyncIterator[Any]:
    for item in items:
        yield item
