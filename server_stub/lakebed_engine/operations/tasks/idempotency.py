"""Idempotency keys: for each key, a commit of any kind is made once.

The record of a key is an ended task. Its two rows (`tasks.records`) are in the batch that moves the branch, so they
exist if and only if the commit does. A client may repeat a request whose response was lost, also as a task. The first
request of a key whose commit is applied answers all of them. Keys are kept for `REMEMBERED`.

Version 0.1.0 wrote the keys of direct commits and of workspaces to separate rows, `idempotency/`. This version still
reads them. They expire within a week after the upgrade.
"""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable, Sequence
from typing import NamedTuple

import msgspec

from lakebed_engine.operations.commit.queue import CommitGuard
from lakebed_engine.operations.context import Context, Repo, absent, encode, load_commit
from lakebed_engine.operations.keys import idempotency_key
from lakebed_engine.operations.tasks.records import key_name, key_row, task_row
from lakebed_engine.operations.tasks.runner import TaskRunner
from lakebed_engine.stores.kv.base import Put
from lakebed_engine.vocabulary.errors import EngineError, KeyReusedError, StoreError, TaskEndedError
from lakebed_engine.vocabulary.records import Commit, Entry
from lakebed_engine.vocabulary.requests import AdvanceRequest, PublishRequest
from lakebed_engine.vocabulary.tasks import Task

_LOOK = 60.0
"""Seconds of one wait for a task that another request has begun. `wait` returns earlier when the task ends."""


class OldKey(NamedTuple):
    """The row of a key in version 0.1.0, and that version's digest of the request."""

    row: bytes
    asked: Callable[[], str]


class _Done(msgspec.Struct, frozen=True):
    commit_id: str
    asked: str


async def once(
    tasks: TaskRunner,
    repo: Repo,
    draft: Task,
    make: Callable[[CommitGuard], Awaitable[Commit]],
    old: OldKey | None = None,
) -> tuple[Commit, bool]:
    """Make a commit together with the key of `draft`. Or return the commit of an earlier request, and True.

    Raises KeyReusedError, the errors of `make`, and the error of an earlier task with the same key.
    """
    try:
        return await make(_guard(tasks.ctx, repo, draft, old)), False
    except EngineError as error:
        failed = error
    try:
        made = await _made_before(tasks, repo, draft, old)
    except StoreError as error:  # raising `failed` would be wrong if an earlier request has made the commit
        raise (failed if isinstance(failed, StoreError) else error) from None
    if made is None:
        raise failed
    return made, True


async def _made_before(tasks: TaskRunner, repo: Repo, draft: Task, old: OldKey | None) -> Commit | None:
    found = None if old is None else await tasks.ctx.kv.get(repo.partition, old.row)
    if old is not None and found is not None:
        done = msgspec.json.decode(found.value, type=_Done)
        if done.asked != old.asked():
            raise KeyReusedError(f"the idempotency key was used for another commit {done.commit_id}: use a new key")
        return await load_commit(tasks.ctx, repo, done.commit_id)
    task = await tasks.known(repo, draft)
    if task is None:
        return None
    while task.state == "running":
        task = await tasks.wait(repo.name, task, _LOOK)
    if task.state == "done":
        return await load_commit(tasks.ctx, repo, task.result["commit"])
    raise task.error


def _guard(ctx: Context, repo: Repo, draft: Task, old: OldKey | None) -> CommitGuard:
    names = [key_name(draft.key), *([] if old is None else [old.row])]
    looked = False

    def rows(new: Commit) -> list[Put]:
        task = msgspec.structs.replace(draft, state="done", result={"commit": new.id}, request={})
        return [task_row(repo, task), key_row(repo, task)]

    async def require() -> None:
        nonlocal looked
        if looked and any(await ctx.kv.get_many(repo.partition, names)):
            raise TaskEndedError(f"key {draft.key[:80]!r} of {repo.name!r} was used by another call first")
        looked = True  # the first time, the checks in the batch find it without a further read

    return CommitGuard([absent(repo.partition, name) for name in names], rows, require)


def old_key_of_branch(uid: str, request: PublishRequest, changes: Sequence[tuple[str, Entry | None]]) -> OldKey:
    """The key as 0.1.0 wrote it for a direct commit. `changes` must be in order of path."""

    def asked() -> str:
        found = hashlib.sha256(
            msgspec.json.encode(msgspec.structs.replace(request, force=False), order="deterministic")
        )
        for path, entry in changes:
            found.update(encode((path, None if entry is None else entry.identity.hex())))
        return found.hexdigest()

    return OldKey(idempotency_key(uid, hashlib.sha256(request.idempotency_key.encode()).hexdigest()), asked)


def old_key_of_workspace(uid: str, request: AdvanceRequest) -> OldKey:
    """The key as 0.1.0 wrote it for the commit of a workspace."""

    def asked() -> str:
        plain = msgspec.structs.replace(request, conflicts_amount=1, force=False)
        return hashlib.sha256(msgspec.json.encode(plain, order="deterministic")).hexdigest()

    return OldKey(idempotency_key(uid, request.idempotency_key), asked)
