"""The rows of tasks: the task, the heartbeat of its worker, and its idempotency key."""

from __future__ import annotations

import hashlib

import msgspec

from lakebed_engine.operations.context import Repo, encode
from lakebed_engine.operations.keys import task_idempotency_key, task_key
from lakebed_engine.stores.kv.base import Put
from lakebed_engine.vocabulary.tasks import Task


class Heartbeat(msgspec.Struct, frozen=True):
    """A heartbeat of a worker: its owner, the time (Unix seconds) and the progress."""

    owner: str
    at: int
    progress: int = 0


decode_task = msgspec.json.Decoder(Task).decode
decode_heartbeat = msgspec.json.Decoder(Heartbeat).decode


def task_row(repo: Repo, task: Task) -> Put:
    """The row of a task in its current state."""
    return Put(repo.partition, task_key(task.id), encode(task))


def key_name(key: str) -> bytes:
    """The name of the row of an idempotency key."""
    return task_idempotency_key(hashlib.sha256(key.encode()).hexdigest())


def key_row(repo: Repo, task: Task) -> Put:
    """The row that finds a task by its key."""
    return Put(repo.partition, key_name(task.key), task.id.encode())
