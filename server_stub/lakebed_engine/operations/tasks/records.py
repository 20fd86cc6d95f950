"""The rows of tasks: what is stored of one, who is at it, and the idempotency key that it came with."""

from __future__ import annotations

import hashlib
from typing import Any, Literal

import msgspec

from lakebed_engine.operations.context import Repo, encode
from lakebed_engine.operations.keys import task_idempotency_key, task_key
from lakebed_engine.stores.kv.base import Put
from lakebed_engine.vocabulary.errors import Conflict, EngineError, error_of

COMMIT, MERGE, REVERT, CHERRY_PICK = "commit", "merge", "revert", "cherry-pick"
PUBLISH, WORKSPACE = "publish", "workspace-commit"

State = Literal["running", "done", "failed", "cancelled"]


class Task(msgspec.Struct, frozen=True, kw_only=True):
    """A task as stored and as answered. Times in Unix seconds; `progress` counts what the task counts.

    `result` is what it came to; of one that failed `kind` and `message` say why, and `conflicts` (`more`: the first of
    them) which paths stood in the way.
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
    conflicts: tuple[Conflict, ...] = ()
    more: bool = False

    @property
    def error(self) -> EngineError:
        """Why it failed, as whoever did its work at once would hear it."""
        return error_of(self.kind, self.message, self.conflicts, self.more)


class Beat(msgspec.Struct, frozen=True):
    """A sign of life: of whom, when (Unix seconds), and how far it has come."""

    owner: str
    at: int
    progress: int = 0


decode_task = msgspec.json.Decoder(Task).decode
decode_beat = msgspec.json.Decoder(Beat).decode


def task_row(repo: Repo, task: Task) -> Put:
    """The row of a task as it stands now."""
    return Put(repo.partition, task_key(task.id), encode(task))


def key_name(key: str) -> bytes:
    """The name of the row of an idempotency key."""
    return task_idempotency_key(hashlib.sha256(key.encode()).hexdigest())


def key_row(repo: Repo, task: Task) -> Put:
    """The row by which a task is found by its key."""
    return Put(repo.partition, key_name(task.key), task.id.encode())
