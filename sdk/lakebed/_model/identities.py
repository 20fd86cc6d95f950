"""Values that describe users, groups, policies and decisions about them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, ClassVar

from lakebed._render.columns import Columns


@dataclass(frozen=True, slots=True)
class User:
    """A user. The server refuses a `disabled` one. A `service` is a program, not a person."""

    COLUMNS: ClassVar[Columns] = (
        ("id", "string"),
        ("friendly_name", "string"),
        ("email", "string"),
        ("disabled", "bool"),
        ("service", "bool"),
        ("created", "time"),
    )

    id: str
    created: datetime
    friendly_name: str = ""
    email: str = ""
    disabled: bool = False
    service: bool = False


@dataclass(frozen=True, slots=True)
class Group:
    """A group of users."""

    COLUMNS: ClassVar[Columns] = (("id", "string"), ("description", "string"), ("created", "time"))

    id: str
    created: datetime
    description: str = ""


@dataclass(frozen=True, slots=True)
class RightsChange:
    """A change of users, groups or policies: its number, its time, the user who made it, and what it was."""

    COLUMNS: ClassVar[Columns] = (("id", "string"), ("time", "time"), ("by", "string"), ("what", "string"))

    id: str
    time: datetime
    by: str
    what: str


@dataclass(frozen=True, slots=True)
class Policy:
    """A policy. Each of its `statements` is a mapping in the JSON form of the REST API, as it was sent."""

    COLUMNS: ClassVar[Columns] = (("id", "string"), ("created", "time"))

    id: str
    created: datetime
    statements: tuple[Mapping[str, Any], ...] = field(hash=False)


@dataclass(frozen=True, slots=True)
class Decision:
    """Whether a user may do an action on a resource. It is true in a condition if `allowed`.

    `effect`: allowed, denied, or neutral if no statement applies. `policy` and `statement` (from 1) name the statement
    that decided; they are None without one.
    """

    COLUMNS: ClassVar[Columns] = (
        ("allowed", "bool"),
        ("effect", "string"),
        ("policy", "string"),
        ("statement", "int64"),
        ("reason", "string"),
    )

    allowed: bool
    effect: str
    reason: str
    policy: str | None = None
    statement: int | None = None

    def __bool__(self) -> bool:
        return self.allowed
