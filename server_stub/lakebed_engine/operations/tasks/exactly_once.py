"""Commits and merges that are answered with their commit and happen once: their key lands with them.

What the key remembers is a task that is over, in the batch that moves the branch. So a call whose answer was lost goes
on as a task with the same key: whichever of the two lands first is what both answer with. It costs two rows in a batch
that is written anyway, and no look beforehand.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import msgspec

from lakebed_engine.operations.commit.queue import CommitGuard
from lakebed_engine.operations.context import Context, Repo, absent, load_commit
from lakebed_engine.operations.tasks.records import Task, key_name, key_row, task_row
from lakebed_engine.operations.tasks.runner import Tasks
from lakebed_engine.stores.kv.base import Put
from lakebed_engine.vocabulary.errors import EngineError, TaskEndedError
from lakebed_engine.vocabulary.records import Commit

_LOOK = 60.0
"""Seconds between two looks at the row of a task that another call has begun; it is told of sooner as a rule."""


async def once(
    ctx: Context, tasks: Tasks, repo: Repo, draft: Task, make: Callable[[CommitGuard], Awaitable[Commit]]
) -> Commit:
    """Make a commit together with the key of `draft`, or give that of an earlier call with it.

    Raises KeyReusedError, what `make` raises, and what an earlier call with the key has failed with as a task.
    """
    try:
        return await make(_guard(ctx, repo, draft))
    except EngineError:
        task = await tasks.known(repo, draft)
        if task is None:
            raise
    while task.state == "running":
        task = await tasks.wait(repo.name, task, _LOOK)
    if task.state == "done":
        return await load_commit(ctx, repo, task.result["commit"])
    raise task.error


def _guard(ctx: Context, repo: Repo, draft: Task) -> CommitGuard:
    looked = False

    def ended(new: Commit) -> list[Put]:
        task = msgspec.structs.replace(draft, state="done", result={"commit": new.id}, request={})
        return [task_row(repo, task), key_row(repo, task)]

    async def require() -> None:
        nonlocal looked
        if looked and await ctx.kv.get(repo.partition, key_name(draft.key)) is not None:
            raise TaskEndedError(f"key {draft.key[:80]!r} of {repo.name!r} came with another call first")
        looked = True  # not the first time: the check in the batch finds it too, at no cost

    return CommitGuard(absent(repo.partition, key_name(draft.key)), ended, require)
