"""Values that describe events, runs of hooks, their calls after changes, and the action files of the settings.

An event says what changed in a repository, when, and by which user.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, ClassVar

from lakebed._render.columns import Columns


@dataclass(frozen=True, slots=True)
class ActionRun:
    """A run of the actions of one event.

    `state`: running, passed, refused, error, pending or skipped. `message` says why it did not pass. `commit_id` is
    empty if there is no commit yet, `branch` for an event of a tag. `delivery_id`: the delivery of which the run is an
    attempt. `rerun_of`: the run that it repeats.
    """

    COLUMNS: ClassVar[Columns] = (
        ("id", "string"),
        ("event", "string"),
        ("state", "string"),
        ("branch", "string"),
        ("commit_id", "string"),
        ("started", "time"),
        ("ended", "time"),
        ("message", "string"),
        ("user", "string"),
        ("tag", "string"),
        ("source_ref", "string"),
        ("delivery_id", "string"),
        ("rerun_of", "string"),
    )

    id: str
    event: str
    state: str
    branch: str
    commit_id: str
    started: datetime
    ended: datetime | None = None
    message: str = ""
    user: str = ""
    tag: str = ""
    source_ref: str = ""
    delivery_id: str = ""
    rerun_of: str = ""


@dataclass(frozen=True, slots=True)
class HookRun:
    """A hook of a run. `id` is its place in the run. `details`: results, such as one for each file of a contract."""

    COLUMNS: ClassVar[Columns] = (
        ("id", "string"),
        ("action", "string"),
        ("hook_id", "string"),
        ("type", "string"),
        ("state", "string"),
        ("message", "string"),
        ("started", "time"),
        ("ended", "time"),
    )

    id: str
    action: str
    hook_id: str
    state: str
    started: datetime
    ended: datetime | None = None
    type: str = ""
    message: str = ""
    details: tuple[Mapping[str, Any], ...] = field(default=(), hash=False)


@dataclass(frozen=True, slots=True)
class DeliveryAttempt:
    """An attempt of a delivery, and its run."""

    time: datetime
    state: str
    message: str
    run_id: str


@dataclass(frozen=True, slots=True)
class HookDelivery:
    """A call of one action after a change. `state`: waiting, or failed for good. `due`: when the next attempt is."""

    COLUMNS: ClassVar[Columns] = (
        ("id", "string"),
        ("state", "string"),
        ("action", "string"),
        ("event", "string"),
        ("branch", "string"),
        ("commit_id", "string"),
        ("due", "time"),
    )

    id: str
    state: str
    action: str
    event: str
    event_id: str = ""
    branch: str = ""
    commit_id: str = ""
    due: datetime | None = None
    attempts: tuple[DeliveryAttempt, ...] = ()


@dataclass(frozen=True, slots=True)
class HookSettings:
    """Action files that are not in the data: YAML text by name. `etag` identifies this version of them."""

    actions: Mapping[str, str] = field(default_factory=dict, hash=False)
    etag: str = ""


@dataclass(frozen=True, slots=True)
class Event:
    """A change of a branch, a tag, a protection rule, a pull request or the repository. docs/events.md lists the types.

    `logical_timestamp` is the place in the order of all events of the repository; None for an event of the last
    seconds. `before` and `after` are commits. In a live feed, an event of the type `reset` says that earlier events
    were deleted before this client got them.
    """

    COLUMNS: ClassVar[Columns] = (
        ("id", "string"),
        ("logical_timestamp", "int64"),
        ("type", "string"),
        ("time", "time"),
        ("repository", "string"),
        ("branch", "string"),
        ("user", "string"),
        ("commit_id", "string"),
        ("before", "string"),
        ("after", "string"),
        ("request_id", "string"),
    )

    id: str
    type: str
    time: datetime
    repository: str
    logical_timestamp: int | None = None
    repository_uid: str = ""
    branch: str = ""
    gen: int = 0
    user: str = ""
    request_id: str = ""
    commit_id: str = ""
    before: str = ""
    after: str = ""
    data: Mapping[str, Any] = field(default_factory=dict)
