"""Access keys of users, temporary keys of S3 clients, and sessions of `lakebed login`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, ClassVar

from lakebed._render.columns import Columns


@dataclass(frozen=True, slots=True)
class AccessKey:
    """An access key. `secret` is set only in the answer to its creation.

    `expires` is None for a key that does not end by itself. `last_used` is up to 16 minutes old; it is None for a key
    that was not used. `policy`: the statements that narrow the rights of the user; None for a key that has all of them.
    """

    COLUMNS: ClassVar[Columns] = (
        ("id", "string"),
        ("name", "string"),
        ("created", "time"),
        ("expires", "time"),
        ("last_used", "time"),
    )

    id: str
    created: datetime
    secret: str = field(default="", repr=False)
    name: str = ""
    expires: datetime | None = None
    last_used: datetime | None = None
    policy: tuple[Mapping[str, Any], ...] | None = field(default=None, hash=False)


@dataclass(frozen=True, slots=True)
class TemporaryKey:
    """An access key of S3 clients that ends by itself. Each request needs its `session_token`, too. Keep it secret."""

    COLUMNS: ClassVar[Columns] = (("id", "string"), ("expires", "time"))

    id: str
    expires: datetime
    secret: str = field(repr=False)
    session_token: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class LoginSession:
    """An open session of `lakebed login`, of a browser, or of a token of an access key.

    `source`: how the user signed in: `token` with an access key, otherwise `oidc`, `ldap`, `saml` or `workload`.
    `address` and `user_agent` are those of the client at the sign-in.
    """

    COLUMNS: ClassVar[Columns] = (
        ("id", "string"),
        ("created", "time"),
        ("expires", "time"),
        ("source", "string"),
        ("address", "string"),
        ("user_agent", "string"),
    )

    id: str
    created: datetime
    expires: datetime
    source: str
    address: str
    user_agent: str
