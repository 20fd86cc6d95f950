"""Events: what changed in a repository, when, and by which user."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, ClassVar

from lakebed._render.columns import Columns


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
