"""Tasks: work that takes longer than a request. A client submits a task once, and any server performs it.

A task has these KV rows. The first changes only by compare-and-swap.

- `task/<id>`: the request, the state, and at the end the result or the error.
- `running/<id>`: the heartbeat of its worker. When it is too old, another server takes the task over, so a task
  survives the server that began it. The row is deleted when the task has ended and its leftovers are removed. If the
  server dies between the two, the server that takes it over removes them.
- `task-key/<digest>`: an idempotency key. A second submission with the key returns the first task. See
  `tasks.idempotency`.

Two servers may work on one task, when the first was only slow. So the work must be safe to repeat, except for a step
that must happen once. That step has a `CommitGuard`: one batch commits and ends the task. The leftovers of a task are
removed only after its end is written, because a server that takes it over may need them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from lakebed_engine.operations.branch.compare_and_swap import apply
from lakebed_engine.operations.commit.queue import CommitGuard
from lakebed_engine.operations.context import (
    Context,
    Repo,
    absent,
    active_records,
    encode,
    open_repo,
    opened,
)
from lakebed_engine.operations.expiry_clock import REMEMBERED
from lakebed_engine.operations.keys import OPERATIONS, RUNNING, TASKS, end_of, running_key, task_key
from lakebed_engine.operations.retry import Failures, retry_on_conflict
from lakebed_engine.operations.tasks.records import (
    Heartbeat,
    decode_heartbeat,
    decode_task,
    key_name,
    key_row,
    task_row,
)
from lakebed_engine.operations.validation import check_text
from lakebed_engine.stores.kv.base import Batch, Check, Delete, Put, Versioned
from lakebed_engine.vocabulary.errors import (
    BackpressureError,
    EngineError,
    HookRefusedError,
    InvalidRequestError,
    KeyReusedError,
    PathsConflictError,
    PredicateFailed,
    TaskEndedError,
    TaskNotFoundError,
    TooManyAttemptsError,
)
from lakebed_engine.vocabulary.events import Actor, act_as, current_actor
from lakebed_engine.vocabulary.records import Commit
from lakebed_engine.vocabulary.tasks import State, Task

_LONGEST_KEY = 256
_FORGOTTEN_AT_ONCE = 100


class Work:
    """A task for its worker."""

    def __init__(self, ctx: Context, repo: Repo, task: Task, version: int) -> None:
        self.ctx = ctx
        self.repo = repo
        self.task = task
        self._version = version
        self.progress = task.progress
        self.over = False

    async def check(self) -> None:
        """Stop a worker whose task was cancelled, or taken over and ended. Raises TaskEndedError."""
        found = await self.ctx.kv.get(self.repo.partition, task_key(self.task.id))
        if found is None or found.version != self._version:
            raise TaskEndedError(f"task {self.task.id} of {self.repo.name!r} has ended")

    def guard(self) -> CommitGuard:
        """The guard that applies a commit and the end of this task in one batch."""

        def ended(new: Commit) -> list[Put]:
            return [self.done({"commit": new.id})]

        return CommitGuard([self.still_running()], ended, self.check)

    def still_running(self) -> Check:
        """The check that the task has not ended, for a batch that ends it."""
        return Check(self.repo.partition, task_key(self.task.id), self._version)

    def done(self, result: Mapping[str, str]) -> Put:
        """The row of the task with this result, for a batch that also has the check `still_running`."""
        return task_row(self.repo, self._ended("done", result))

    def _ended(self, state: State, result: Mapping[str, str], **why: Any) -> Task:
        return msgspec.structs.replace(
            self.task, state=state, result=dict(result), updated=self.ctx.now(), progress=self.progress, **why
        )

    async def fail(self, error: EngineError) -> None:
        """Record the error of the task, unless it has already ended."""
        why: dict[str, Any] = {"kind": error.kind, "message": error.message}
        if isinstance(error, PathsConflictError):
            why |= {"conflicts": error.conflicts, "more": error.has_more}
        if isinstance(error, HookRefusedError):
            why["run_id"] = error.run_id
        await self.end("failed", {}, **why)

    async def end(self, state: State, result: Mapping[str, str], **why: Any) -> None:
        """Record the end of the task, unless it has already ended. `why` are further fields of the task."""
        operation = OPERATIONS + self.ctx.ids.new().encode()
        batch = Batch(
            checks=[self.still_running()],
            puts=[
                task_row(self.repo, self._ended(state, result, **why)),
                Put(self.repo.partition, operation, str(self.ctx.now()).encode()),
            ],
        )
        await apply(self.ctx, self.repo, batch, operation)


@dataclass(frozen=True, slots=True)
class Worker:
    """The functions of one kind of task.

    `do` returns the result, or raises the error of the task. `tidy` removes what an ended task has left, whatever its
    end. Several servers may call it, also at the same time.
    """

    do: Callable[[Work], Awaitable[Mapping[str, str]]]
    tidy: Callable[[Context, Repo, Task], Awaitable[None]] | None = None


class TaskRunner:
    """Submits and performs tasks. `workers` by the kind of task."""

    def __init__(self, ctx: Context, workers: Mapping[str, Worker], ended: Callable[[str], Awaitable[None]]) -> None:
        """`ended` is called with the name of the repository after each successful task."""
        self.ctx = ctx
        self._workers = workers
        self._ended = ended
        self._mine: dict[str, Work] = {}
        self._owner = ""

    async def submit(
        self, repo_name: str, what: str, target: str, request: Mapping[str, Any], *, key: str = "", force: bool = False
    ) -> Task:
        """Begin a task, or return the earlier one with the same `key`.

        Raises KeyReusedError, and BackpressureError when this server performs the largest number of tasks already.
        """
        task = self.draft(what, target, request, key)
        repo = await open_repo(self.ctx, repo_name, write=True, force=force)
        if (known := await self.known(repo, task)) is not None:
            return known
        most = self.ctx.tuning.tasks_at_once
        if len(self._mine) >= most:
            raise BackpressureError(
                f"task of {repo.name!r}: this server already runs {most} tasks, nothing was started: try again later"
            )
        await self._forget(repo)
        operation = OPERATIONS + self.ctx.ids.new().encode()
        puts = [task_row(repo, task), self._beat_row(repo, task.id)]
        puts += [key_row(repo, task)] if key else []
        puts.append(Put(repo.partition, operation, str(task.created).encode()))
        checks = [absent(repo.partition, key_name(key) if key else task_key(task.id))]
        if not await apply(self.ctx, repo, Batch(checks=checks, puts=puts), operation):
            known = await self.known(repo, task)  # another request with the same key was faster
            if known is None:
                raise TooManyAttemptsError(
                    f"task of {repo.name!r}: another request came first, nothing was started: try again"
                )
            return known
        await self._start(repo, task.id)
        return task

    def draft(self, what: str, target: str, request: Mapping[str, Any], key: str, *, scoped: bool = False) -> Task:
        """A task that is not stored yet. Raises InvalidRequestError for a malformed key.

        `scoped`: the key belongs to the target, not to the repository.
        """
        check_text("idempotency key", key)
        if len(key) > _LONGEST_KEY:
            raise InvalidRequestError(f"idempotency key: at most {_LONGEST_KEY} characters")
        now, actor = self.ctx.now(), current_actor()
        return Task(
            id=f"{now:08x}{self.ctx.ids.new()[:24]}",  # in order of time, so that a scan finds old ones first
            what=what,
            target=target,
            request=dict(request),
            created=now,
            updated=now,
            asked=hashlib.sha256(msgspec.json.encode([what, target, dict(request)], order="sorted")).hexdigest(),
            key=f"{target}/{key}" if scoped else key,
            user=actor.user,
            request_id=actor.request_id,
        )

    async def known(self, repo: Repo, draft: Task) -> Task | None:
        """The first task with the key of `draft`. Raises KeyReusedError when its request was another one."""
        if not draft.key:
            return None
        found = await self.ctx.kv.get(repo.partition, key_name(draft.key))
        row = None if found is None else await self.ctx.kv.get(repo.partition, TASKS + found.value)
        if row is None:
            return None
        task = decode_task(row.value)
        if task.asked != draft.asked:
            raise KeyReusedError(
                f"idempotency key {draft.key.removeprefix(f'{draft.target}/')[:80]!r} of {repo.name!r} was used for "
                f"another request (task {task.id}): "
                "nothing was done; use a new key"
            )
        return task

    async def get(self, repo_name: str, what: str, target: str, task_id: str) -> Task:
        """A task in its current state. Takes it over when no server works on it. Raises TaskNotFoundError."""
        repo = await open_repo(self.ctx, repo_name)
        task, _ = await self._find(repo, what, target, task_id)
        if task.state != "running":
            return task
        await self._take_over(repo, task_id)
        mine = self._mine.get(task_id)
        if mine is not None:
            return msgspec.structs.replace(task, progress=mine.progress, updated=self.ctx.now())
        found = await self.ctx.kv.get(repo.partition, running_key(task_id))
        if found is None:  # ended just now
            return (await self._find(repo, what, target, task_id))[0]
        beat = decode_heartbeat(found.value)
        return msgspec.structs.replace(task, progress=beat.progress, updated=beat.at)

    async def cancel(self, repo_name: str, what: str, target: str, task_id: str) -> None:
        """End a task. Raises TaskNotFoundError, and TaskEndedError when it has ended already."""
        repo = await open_repo(self.ctx, repo_name, write=True)

        async def attempt() -> bool | None:
            task, version = await self._find(repo, what, target, task_id)
            if task.state != "running":
                raise TaskEndedError(f"{what} {task_id} of {repo_name!r} has ended ({task.state}): nothing to cancel")
            work = Work(self.ctx, repo, task, version)
            mine = self._mine.get(task_id)
            work.progress = mine.progress if mine is not None else task.progress
            await work.end("cancelled", {}, kind="cancelled", message=f"the {what} was cancelled")
            return (await self._find(repo, what, target, task_id))[0].state == "cancelled" or None

        await retry_on_conflict(f"{what} {task_id} of {repo_name!r}", attempt)

    async def wait(self, repo_name: str, task: Task, seconds: float) -> Task:
        """The task when it has ended, or its state after `seconds`."""
        ends = self.ctx.clock.monotonic() + seconds
        pause = 0.005
        while task.state == "running" and (left := ends - self.ctx.clock.monotonic()) > 0:
            await self.ctx.runtime.sleep(min(pause, left))
            pause = min(2 * pause, 0.5)
            task = await self.get(repo_name, task.what, task.target, task.id)
        return task

    async def resume(self) -> int:
        """Take over the tasks of all repositories that no server works on. Returns their number.

        Raises the first StoreError at its end.
        """
        taken, failures = 0, Failures()
        async for record in active_records(self.ctx):
            with failures.kept():
                repo = opened(self.ctx, record)
                for beat in await self.ctx.kv.scan(repo.partition, RUNNING, end_of(RUNNING), 1000):
                    taken += await self._take_over(repo, beat.key.removeprefix(RUNNING).decode())
                while await self._forget(repo) == _FORGOTTEN_AT_ONCE:
                    pass  # a busy repository has many old tasks: each keyed commit leaves one
        failures.raise_first()
        return taken

    async def _find(self, repo: Repo, what: str, target: str, task_id: str) -> tuple[Task, int]:
        found: Versioned | None = None
        if task_id.isalnum() and task_id.isascii():
            found = await self.ctx.kv.get(repo.partition, task_key(task_id))
        task = None if found is None else decode_task(found.value)
        if found is None or task is None or (what and task.what != what) or (target and task.target != target):
            raise TaskNotFoundError(f"{what or 'task'} {task_id[:80]!r} not found in repository {repo.name!r}")
        return task, found.version

    async def _take_over(self, repo: Repo, task_id: str) -> bool:
        """Begin a task whose heartbeat is too old. If several servers try, one succeeds."""
        key = running_key(task_id)
        found = await self.ctx.kv.get(repo.partition, key)
        if found is None or task_id in self._mine or len(self._mine) >= self.ctx.tuning.tasks_at_once:
            return False
        if self.ctx.now() - decode_heartbeat(found.value).at < self.ctx.tuning.task_silence:
            return False
        row = await self.ctx.kv.get(repo.partition, task_key(task_id))
        task = None if row is None else decode_task(row.value)
        if task is None or task.state != "running":  # its worker died after the end was written
            if task is not None:
                await self._tidy(repo, task)
            await self.ctx.kv.apply(Batch(deletes=[Delete(repo.partition, key)]))
            return False
        checks = [Check(repo.partition, key, found.version)]
        try:
            await self.ctx.kv.apply(Batch(checks=checks, puts=[self._beat_row(repo, task_id)]))
        except PredicateFailed:
            return False
        await self._start(repo, task_id)
        return True

    async def _start(self, repo: Repo, task_id: str) -> None:
        if self.ctx.runtime.begin(lambda: self._run(repo, task_id)) is None:
            await self._run(repo, task_id)

    async def _run(self, repo: Repo, task_id: str) -> None:
        found = await self.ctx.kv.get(repo.partition, task_key(task_id))
        if found is None:
            return
        work = Work(self.ctx, repo, decode_task(found.value), found.version)
        if work.task.state != "running":
            return
        act_as(Actor(work.task.user, work.task.request_id))  # also when another server takes it over
        self._mine[task_id] = work
        self.ctx.runtime.begin(lambda: self._beats(work))
        try:
            await self._do(work)
            await self._tidy(repo, work.task)
        finally:
            work.over = True
            del self._mine[task_id]
        # not after an interruption: another server then takes the task over, or removes its leftovers
        await self.ctx.kv.apply(Batch(deletes=[Delete(repo.partition, running_key(task_id))]))

    async def _do(self, work: Work) -> None:
        try:
            result = await self._workers[work.task.what].do(work)
        except TaskEndedError:
            return
        except EngineError as error:
            # this also settles an unknown outcome: the commit was applied and ended the task, or never will be
            await work.fail(error)
        except Exception as error:
            await work.end("failed", {}, kind="internal", message=f"the server failed: {type(error).__name__}")
            raise
        else:
            await work.end("done", result)
            await self._ended(work.repo.name)

    async def _tidy(self, repo: Repo, task: Task) -> None:
        """Remove the leftovers of an ended task."""
        worker = self._workers.get(task.what)
        if worker is not None and worker.tidy is not None:
            await worker.tidy(self.ctx, repo, task)

    async def _beats(self, work: Work) -> None:
        """Write heartbeats while the worker runs."""
        while not work.over:
            await self.ctx.runtime.sleep(self.ctx.tuning.task_beat)
            if not work.over:
                await self.ctx.kv.apply(Batch(puts=[self._beat_row(work.repo, work.task.id)]))

    def _beat_row(self, repo: Repo, task_id: str) -> Put:
        if not self._owner:
            self._owner = self.ctx.ids.new()
        mine = self._mine.get(task_id)
        beat = Heartbeat(self._owner, self.ctx.now(), 0 if mine is None else mine.progress)
        return Put(repo.partition, running_key(task_id), encode(beat))

    async def _forget(self, repo: Repo) -> int:
        """Remove some of the tasks that ended long ago. Returns their number."""
        before = int(self.ctx.expiry_clock.before(self.ctx.now(), REMEMBERED))
        rows = await self.ctx.kv.scan(repo.partition, TASKS, task_key(f"{max(before, 0):08x}"), _FORGOTTEN_AT_ONCE)
        over = [task for row in rows if (task := decode_task(row.value)).state != "running" and task.updated < before]
        gone = [Delete(repo.partition, task_key(task.id)) for task in over]
        gone += [Delete(repo.partition, key_name(task.key)) for task in over if task.key]
        if gone:
            await self.ctx.kv.apply(Batch(deletes=gone))
        return len(over)
