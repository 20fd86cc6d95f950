"""Events: records of a change, with its time and user."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from typing import Any, Final, NamedTuple

import msgspec


class Actor(NamedTuple):
    """The user and the request that change something. Both are empty for the work of the server itself.

    `bypasses_hooks`: the user requests to bypass refusals of hooks, and has the permission.
    """

    user: str = ""
    request_id: str = ""
    bypasses_hooks: bool = False


NO_ACTOR: Final = Actor()

_actor: ContextVar[Actor] = ContextVar("lakebed_actor", default=NO_ACTOR)


def act_as(actor: Actor) -> None:
    """Set the actor of all that the current asyncio task does from now on, and of the tasks that it starts."""
    _actor.set(actor)


def current_actor() -> Actor:
    """The actor of the current asyncio task."""
    return _actor.get()


SKEW: Final = 60_000
"""Milliseconds by which the clocks of the servers of one store may differ, for the order of events of several logs."""


class Flush(NamedTuple):
    """When a process moves its events to a file: at an age in seconds, at a number of events, or at a size in bytes.

    `rows` is also the largest number of events of a file.
    """

    age: float = 5.0
    rows: int = 10_000
    bytes: int = 4 << 20


class NewDelivery(msgspec.Struct, frozen=True, kw_only=True):
    """A call of an action that follows a change. The engine stores it in the batch of the change.

    `origin`, `path` and `digest` say where the action is: `repository` (in the tree of `commit_id`), `settings` or
    `server`. `payload` has the fields of the payload that only the proposal knows.
    """

    action: str
    event_type: str
    origin: str
    path: str
    digest: str
    commit_id: str = ""
    ordered: bool = False
    payload: dict[str, Any] = {}


class NewEvent(msgspec.Struct, frozen=True, kw_only=True):
    """An event before it has an id, a time and a repository.

    `type` is, for example, `branch.merged`. `gen` is that of the branch record after the change. `before` and `after`
    are the commits of the branch. `data` has the fields of this type, as plain JSON.
    """

    type: str
    branch: str = ""
    gen: int = 0
    commit_id: str = ""
    before: str = ""
    after: str = ""
    data: Mapping[str, Any] = {}
    actor: Actor = msgspec.field(default_factory=current_actor)
    deliveries: Sequence[NewDelivery] = ()
    """Calls that follow the change."""


class Event(msgspec.Struct, frozen=True, kw_only=True):
    """An event, as stored. `time` is in Unix milliseconds.

    `logical_timestamp`: its position in the order of all events of the repository. 0 until it is in a file.
    """

    id: str
    type: str
    time: int
    repository: str
    repository_uid: str
    branch: str = ""
    gen: int = 0
    user: str = ""
    request_id: str = ""
    commit_id: str = ""
    before: str = ""
    after: str = ""
    data: dict[str, Any] = {}
    logical_timestamp: int = 0


class EventPage(NamedTuple):
    """A page of events. `position`: the logical timestamp after which the next page begins."""

    items: list[Event]
    position: int
    has_more: bool
