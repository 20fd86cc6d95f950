"""Tasks: work that outlasts a request. Submitted once, done by any server, and remembered for a while.

Above `swap`; knows nothing of what a task does. A task is one KV row, changed only by compare-and-swap:

- `task/<id>`: what is asked for, its state, and in the end its result or its error;
- `running/<id>`: while it runs, who is at it and when he last said so. Whoever sees one that has been silent for long
  takes it over, so a task survives the server that began it;
- `task-key/<digest>`: an idempotency key. Submitting twice with one key gives the first task.

Two servers may be at one task, when the first was only slow. So what a task does must be safe to repeat, up to the step
that must happen once: that one carries a `Stamp`, and lands together with the end of the task or not at all.
"""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Literal

import msgspec

from lakebed_engine.operations.context import (
    ATTEMPTS,
    REPOSITORIES,
    Context,
    Repo,
    absent,
    decode_repository,
    encode,
    open_repo,
)
from lakebed_engine.operations.names import check_text
from lakebed_engine.operations.stamps import Stamp
from lakebed_engine.operations.swap import OPERATIONS, apply
from lakebed_engine.stores.kv.base import Batch, Check, Delete, Put, Versioned
from lakebed_engine.vocabulary.errors import (
    EngineError,
    InvalidRequestError,
    KeyReusedError,
    PredicateFailed,
    TaskEndedError,
    TaskNotFoundError,
    TooManyAttemptsError,
)
from lakebed_engine.vocabulary.records import Commit

TASKS, RUNNING, TASK_KEYS = b"task/", b"running/", b"task-key/"

BEAT = 5.0
"""Seconds between two signs of life."""

SILENCE = 30.0
"""Seconds of silence after which a task is taken over."""

REMEMBERED = 48 * 3600
"""Seconds for which an ended task, and its key, is kept at least."""

_LONGEST_KEY = 256
_FORGOTTEN_AT_ONCE = 100

State = Literal["running", "done", "failed", "cancelled"]


class Task(msgspec.Struct, frozen=True, kw_only=True):
    """A task as stored and as answered. Times in Unix seconds; `progress` counts what the task counts.

    `result` is what it came to; of one that failed `kind` and `message` say why.
    """

    id: str
    what: str
    target: str
    request: dict[str, Any]
    created: int
    updated: int
    asked: str
    key: str = ""
    state: State = "running"
    progress: int = 0
    result: dict[str, str] = {}
    kind: str = ""
    message: str = ""


class Beat(msgspec.Struct, frozen=True):
    """A sign of life: of whom, when (Unix seconds), and how far it has come."""

    owner: str
    at: int
    progress: int = 0


class Work:
    """One task as its worker sees it."""

    def __init__(self, ctx: Context, repo: Repo, task: Task, version: int) -> None:
        self.ctx = ctx
        self.repo = repo
        self.task = task
        self._version = version
        self.progress = task.progress
        self.over = False

    async def check(self) -> None:
        """Stop a worker whose task was cancelled, or taken over and ended. Raises TaskEndedError."""
        found = await self.ctx.kv.get(self.repo.partition, _row(self.task.id))
        if found is None or found.version != self._version:
            raise TaskEndedError(f"task {self.task.id} of {self.repo.name!r} was ended meanwhile")

    def stamp(self) -> Stamp:
        """What makes a commit the end of this task: both land, or neither."""
        check = Check(self.repo.partition, _row(self.task.id), self._version)

        def ended(new: Commit) -> Put:
            return Put(self.repo.partition, _row(self.task.id), encode(self._ended("done", {"commit": new.id})))

        return Stamp(check, ended, self.check)

    def _ended(self, state: State, result: Mapping[str, str], kind: str = "", message: str = "") -> Task:
        return msgspec.structs.replace(
            self.task,
            state=state,
            result=dict(result),
            kind=kind,
            message=message,
            updated=self.ctx.now(),
            progress=self.progress,
        )

    async def end(self, state: State, result: Mapping[str, str], kind: str = "", message: str = "") -> None:
        """Write how it ended, unless it has ended otherwise meanwhile."""
        key = _row(self.task.id)
        operation = OPERATIONS + self.ctx.ids.new().encode()
        batch = Batch(
            checks=[Check(self.repo.partition, key, self._version)],
            puts=[
                Put(self.repo.partition, key, encode(self._ended(state, result, kind, message))),
                Put(self.repo.partition, operation, str(self.ctx.now()).encode()),
            ],
            deletes=[Delete(self.repo.partition, RUNNING + self.task.id.encode())],
        )
        await apply(self.ctx, self.repo, batch, operation)


Worker = Callable[[Work], Awaitable[Mapping[str, str]]]
"""Does a task; gives its result. What it raises is the task's error."""


class Tasks:
    """Submits tasks and does them. `workers` by what a task is."""

    def __init__(self, ctx: Context, workers: Mapping[str, Worker], ended: Callable[[str], Awaitable[None]]) -> None:
        """`ended` is told the repository of each task that has done its work."""
        self._ctx = ctx
        self._workers = workers
        self._ended = ended
        self._mine: dict[str, Work] = {}
        self._owner = ""

    async def submit(
        self, repo_name: str, what: str, target: str, request: Mapping[str, Any], *, key: str = "", force: bool = False
    ) -> Task:
        """Begin a task. With the `key` of an earlier one it gives that one. Raises KeyReusedError."""
        check_text("idempotency key", key)
        if len(key) > _LONGEST_KEY:
            raise InvalidRequestError(f"idempotency key: at most {_LONGEST_KEY} characters")
        repo = await open_repo(self._ctx, repo_name, write=True, force=force)
        asked = hashlib.sha256(msgspec.json.encode([what, target, dict(request)], order="sorted")).hexdigest()
        name = TASK_KEYS + hashlib.sha256(key.encode()).hexdigest().encode() if key else b""
        if key and (known := await self._known(repo, name, asked, key)) is not None:
            return known
        await self._forget(repo)
        now = self._ctx.now()
        task_id = f"{now:08x}{self._ctx.ids.new()[:24]}"  # in order of time, so that old ones are found
        task = Task(
            id=task_id, what=what, target=target, request=dict(request), created=now, updated=now, asked=asked, key=key
        )
        operation = OPERATIONS + self._ctx.ids.new().encode()
        puts = [Put(repo.partition, _row(task_id), encode(task)), self._beat_row(repo, task_id)]
        puts += [Put(repo.partition, name, task_id.encode())] if key else []
        puts.append(Put(repo.partition, operation, str(now).encode()))
        checks = [absent(repo.partition, name if key else _row(task_id))]
        if not await apply(self._ctx, repo, Batch(checks=checks, puts=puts), operation):
            known = await self._known(repo, name, asked, key)  # the same call was sent twice at once
            if known is None:
                raise TooManyAttemptsError(f"task of {repo.name!r}: lost a race, nothing was begun: try again")
            return known
        await self._start(repo, task_id)
        return task

    async def get(self, repo_name: str, what: str, target: str, task_id: str) -> Task:
        """A task, as it stands; one that nobody is at is taken over. Raises TaskNotFoundError."""
        repo = await open_repo(self._ctx, repo_name)
        task, _ = await self._find(repo, what, target, task_id)
        if task.state != "running":
            return task
        await self._take_over(repo, task_id)
        mine = self._mine.get(task_id)
        if mine is not None:
            return msgspec.structs.replace(task, progress=mine.progress, updated=self._ctx.now())
        found = await self._ctx.kv.get(repo.partition, RUNNING + task_id.encode())
        if found is None:  # ended just now
            return (await self._find(repo, what, target, task_id))[0]
        beat = _decode_beat(found.value)
        return msgspec.structs.replace(task, progress=beat.progress, updated=beat.at)

    async def cancel(self, repo_name: str, what: str, target: str, task_id: str) -> None:
        """End a task. Raises TaskNotFoundError, TaskEndedError when it is over."""
        repo = await open_repo(self._ctx, repo_name, write=True)
        for _ in range(ATTEMPTS):
            task, version = await self._find(repo, what, target, task_id)
            if task.state != "running":
                raise TaskEndedError(f"{what} {task_id} of {repo_name!r} is over ({task.state}): nothing to cancel")
            work = Work(self._ctx, repo, task, version)
            mine = self._mine.get(task_id)
            work.progress = mine.progress if mine is not None else task.progress
            await work.end("cancelled", {}, "cancelled", f"the {what} was cancelled")
            if (await self._find(repo, what, target, task_id))[0].state == "cancelled":
                return
        raise TooManyAttemptsError(f"{what} {task_id} of {repo_name!r} changed too often: try again")

    async def wait(self, repo_name: str, task: Task, seconds: float) -> Task:
        """The task when it is over, or as it stands after so many seconds."""
        ends = self._ctx.clock.monotonic() + seconds
        pause = 0.005
        while task.state == "running" and (left := ends - self._ctx.clock.monotonic()) > 0:
            await self._ctx.runtime.sleep(min(pause, left))
            pause = min(2 * pause, 0.5)
            task = await self.get(repo_name, task.what, task.target, task.id)
        return task

    async def resume(self) -> int:
        """Take over what nobody is at, in all repositories. How many."""
        taken = 0
        start = b""
        while rows := await self._ctx.kv.scan(REPOSITORIES, start, None, 1000):
            for row in rows:
                record = decode_repository(row.value)
                if record.state != "active":
                    continue
                repo = Repo(record, self._ctx.stores.open(record.storage_namespace), f"repo/{record.uid}")
                for beat in await self._ctx.kv.scan(repo.partition, RUNNING, RUNNING[:-1] + b"0", 1000):
                    taken += await self._take_over(repo, beat.key.removeprefix(RUNNING).decode())
            start = rows[-1].key + b"\0"
        return taken

    async def _known(self, repo: Repo, name: bytes, asked: str, key: str) -> Task | None:
        found = await self._ctx.kv.get(repo.partition, name)
        row = None if found is None else await self._ctx.kv.get(repo.partition, TASKS + found.value)
        if row is None:
            return None
        task = _decode(row.value)
        if task.asked != asked:
            raise KeyReusedError(
                f"idempotency key {key[:80]!r} of {repo.name!r} was used for another request (task {task.id}): nothing "
                "was done; take a new key"
            )
        return task

    async def _find(self, repo: Repo, what: str, target: str, task_id: str) -> tuple[Task, int]:
        found: Versioned | None = None
        if task_id.isalnum() and task_id.isascii():
            found = await self._ctx.kv.get(repo.partition, _row(task_id))
        task = None if found is None else _decode(found.value)
        if found is None or task is None or (what and task.what != what) or (target and task.target != target):
            raise TaskNotFoundError(f"{what or 'task'} {task_id[:80]!r} not found in repository {repo.name!r}")
        return task, found.version

    async def _take_over(self, repo: Repo, task_id: str) -> bool:
        """Begin a task whose worker has been silent for long. Several may see it: one gets it."""
        key = RUNNING + task_id.encode()
        found = await self._ctx.kv.get(repo.partition, key)
        if found is None or task_id in self._mine:
            return False
        if self._ctx.now() - _decode_beat(found.value).at < SILENCE:
            return False
        row = await self._ctx.kv.get(repo.partition, _row(task_id))
        if row is None or _decode(row.value).state != "running":  # ended together with a commit
            await self._ctx.kv.apply(Batch(deletes=[Delete(repo.partition, key)]))
            return False
        checks = [Check(repo.partition, key, found.version)]
        try:
            await self._ctx.kv.apply(Batch(checks=checks, puts=[self._beat_row(repo, task_id)]))
        except PredicateFailed:
            return False
        await self._start(repo, task_id)
        return True

    async def _start(self, repo: Repo, task_id: str) -> None:
        if self._ctx.runtime.begin(lambda: self._run(repo, task_id)) is None:
            await self._run(repo, task_id)

    async def _run(self, repo: Repo, task_id: str) -> None:
        found = await self._ctx.kv.get(repo.partition, _row(task_id))
        if found is None:
            return
        work = Work(self._ctx, repo, _decode(found.value), found.version)
        if work.task.state != "running":
            return
        self._mine[task_id] = work
        self._ctx.runtime.begin(lambda: self._beats(work))
        try:
            await self._do(work)
        finally:
            work.over = True
            del self._mine[task_id]
        # not when it was broken off: another server then takes it over
        await self._ctx.kv.apply(Batch(deletes=[Delete(repo.partition, RUNNING + task_id.encode())]))

    async def _do(self, work: Work) -> None:
        try:
            result = await self._workers[work.task.what](work)
        except TaskEndedError:
            return
        except EngineError as error:
            # where a commit's outcome is unknown, this settles it: it has landed, and ended the task, or never will
            await work.end("failed", {}, error.kind, error.message)
        except Exception as error:
            await work.end("failed", {}, "internal", f"the server failed: {type(error).__name__}")
            raise
        else:
            await work.end("done", result)
            await self._ended(work.repo.name)

    async def _beats(self, work: Work) -> None:
        """Signs of life, as long as it is at work."""
        while not work.over:
            await self._ctx.runtime.sleep(BEAT)
            if not work.over:
                await self._ctx.kv.apply(Batch(puts=[self._beat_row(work.repo, work.task.id)]))

    def _beat_row(self, repo: Repo, task_id: str) -> Put:
        if not self._owner:
            self._owner = self._ctx.ids.new()
        mine = self._mine.get(task_id)
        beat = Beat(self._owner, self._ctx.now(), 0 if mine is None else mine.progress)
        return Put(repo.partition, RUNNING + task_id.encode(), encode(beat))

    async def _forget(self, repo: Repo) -> None:
        """Remove some of the tasks that are over for long enough."""
        before = self._ctx.now() - REMEMBERED
        rows = await self._ctx.kv.scan(repo.partition, TASKS, _row(f"{max(before, 0):08x}"), _FORGOTTEN_AT_ONCE)
        gone: list[Delete] = []
        for row in rows:
            task = _decode(row.value)
            if task.state != "running" and task.updated < before:
                gone.append(Delete(repo.partition, row.key))
                if task.key:
                    digest = hashlib.sha256(task.key.encode()).hexdigest()
                    gone.append(Delete(repo.partition, TASK_KEYS + digest.encode()))
        if gone:
            await self._ctx.kv.apply(Batch(deletes=gone))


_task = msgspec.json.Decoder(Task)


_decode_beat = msgspec.json.Decoder(Beat).decode


def _decode(value: bytes) -> Task:
    return _task.decode(value)


def _row(task_id: str) -> bytes:
    return TASKS + task_id.encode()
