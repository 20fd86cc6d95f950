"""The policies and groups that setup creates, and the policies of grants and of narrowed keys, as data.

Administrators may edit or delete the built-in ones like any other. Their names are those of the existing API, and
existing web pages and clients know them.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final, Literal

from lakebed_auth import arn
from lakebed_auth.policy import Policy, Statement, parse_statements

Level = Literal["reader", "writer", "admin"]

_READ: Final = ["fs:List*", "fs:Read*"]
_READ_WRITE: Final = [
    *("fs:Read*", "fs:List*", "fs:WriteObject", "fs:DeleteObject", "fs:RevertBranch", "fs:CreateBranch"),
    *("fs:DeleteBranch", "fs:CreateTag", "fs:DeleteTag", "fs:CreateCommit"),
]
_MANAGE: Final = ["ci:*", "retention:*", "branches:*", "pr:*"]
_READ_MANAGEMENT: Final = ["ci:Read*", "retention:Get*", "branches:Get*", "pr:Read*", "pr:List*"]
_READ_CATALOG: Final = [
    *("catalog:ListNamespaces", "catalog:GetNamespace", "catalog:ListTables", "catalog:ReadTable"),
    *("catalog:ListViews", "catalog:ReadView"),
]
_OWN_CREDENTIALS: Final = [
    *("auth:CreateCredentials", "auth:DeleteCredentials", "auth:ListCredentials", "auth:ReadCredentials"),
]


def _allow(actions: list[str], resource: str = arn.ALL) -> dict[str, Any]:
    return {"effect": "allow", "action": actions, "resource": resource}


POLICIES: Final[dict[str, tuple[Statement, ...]]] = {
    name: parse_statements([_allow(actions, resource)])
    for name, actions, resource in (
        ("FSFullAccess", ["fs:*"], arn.ALL),
        ("FSReadWriteAll", _READ_WRITE, arn.ALL),
        ("FSReadAll", _READ, arn.ALL),
        ("RepoManagementFullAccess", [*_MANAGE, "fs:ReadConfig"], arn.ALL),
        ("RepoManagementReadAll", [*_READ_MANAGEMENT, "fs:ReadConfig"], arn.ALL),
        ("PRReadWriteAll", ["pr:*"], arn.ALL),
        ("CatalogReadWriteAll", ["catalog:*"], arn.ALL),
        ("CatalogReadAll", _READ_CATALOG, arn.ALL),
        ("AuthFullAccess", ["auth:*"], arn.ALL),
        ("AuditReadAll", ["audit:ReadEvents"], arn.ALL),  # Lakebed
        ("AuthManageOwnCredentials", _OWN_CREDENTIALS, arn.user("${user}")),
    )
}
"""The statements of each built-in policy, by its id."""

GROUPS: Final[dict[str, tuple[str, ...]]] = {
    "Admins": ("FSFullAccess", "CatalogReadWriteAll", "AuthFullAccess", "RepoManagementFullAccess", "AuditReadAll"),
    "SuperUsers": ("FSFullAccess", "CatalogReadWriteAll", "AuthManageOwnCredentials", "RepoManagementReadAll"),
    "Developers": (
        *("FSReadWriteAll", "PRReadWriteAll", "CatalogReadWriteAll", "AuthManageOwnCredentials"),
        "RepoManagementReadAll",
    ),
    "Viewers": ("FSReadAll", "CatalogReadAll", "AuthManageOwnCredentials"),
    "Analysts": ("FSReadAll", "CatalogReadAll", "AuthManageOwnCredentials", "RepoManagementReadAll"),
}
"""The ids of the policies of each built-in group."""

ROLES: Final = {"Admin": "Admins", "Developer": "Developers", "Analyst": "Analysts"}
"""The group of each role."""


def policies(creation_date: int) -> list[Policy]:
    """Return the built-in policies. `creation_date`: seconds since 1970."""
    return [Policy(name, statements, creation_date) for name, statements in POLICIES.items()]


def read_only(repository: str) -> tuple[Statement, ...]:
    """Return the inline policy of a key that may only read one repository."""
    return _of_repository(_READ, repository)


def grant(level: Level, repository: str, creation_date: int) -> Policy:
    """Return the policy that a grant of a level on one repository attaches to the user. Its id is `grant_id`."""
    return Policy(grant_id(level, repository), _of_repository(_GRANTED[level], repository), creation_date)


def grant_id(level: Level, repository: str) -> str:
    """Return the id of the policy of a grant, such as `lakebed.reader.sales`."""
    return f"lakebed.{level}.{repository}"


_GRANTED: Final[dict[Level, Sequence[str]]] = {
    "reader": _READ,
    "writer": [*_READ_WRITE, "pr:*", *_READ_MANAGEMENT],
    "admin": ["fs:*", *_MANAGE, "audit:*"],
}


def _of_repository(actions: Sequence[str], repository: str) -> tuple[Statement, ...]:
    """Allow actions on a repository and on everything in it. `repository/sales*` would also match `sales2`."""
    own = arn.repository(repository)
    resources = json.dumps([own, f"{own}/*"])  # a text, because older clients cannot read an array
    return parse_statements([_allow(list(actions), resources), _allow(["fs:ReadConfig"])])
