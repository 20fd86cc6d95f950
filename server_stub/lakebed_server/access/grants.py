"""Grants: rights on one repository, as a policy that the server makes and attaches to a user or a group."""

from __future__ import annotations

from typing import get_args

import msgspec
from lakebed_auth import builtin, statements_to_json
from lakebed_auth.builtin import Level

from lakebed_server.access.directory import Directory
from lakebed_server.access.rows import Holder, StoredPolicy
from lakebed_server.vocabulary import bad_request

LEVELS: tuple[Level, ...] = get_args(Level)


async def grant(directory: Directory, holder: Holder, level: str, repository: str, now: int) -> StoredPolicy:
    """Give rights of a level in place of other levels on the repository. Raises RequestError (400, 404, 409)."""
    if level not in LEVELS:
        raise bad_request(f"body level: expected one of {', '.join(LEVELS)}, got {level[:80]!r}")
    made = builtin.grant(level, repository, now)
    statement = msgspec.Raw(msgspec.json.encode(statements_to_json(made.statements)))
    return await directory.grant(holder, StoredPolicy(made.id, now, statement), _policies(repository))


async def revoke(directory: Directory, holder: Holder, repository: str) -> None:
    """Take away what grants gave. Raises RequestError (404, 409)."""
    await directory.revoke(holder, _policies(repository))


def _policies(repository: str) -> list[str]:
    return [builtin.grant_id(level, repository) for level in LEVELS]
