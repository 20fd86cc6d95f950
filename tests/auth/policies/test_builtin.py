"""The built-in groups, the policies of grants, and keys that may only read one repository."""

from __future__ import annotations

import pytest
from lakebed_auth import Compiled, Policy, arn, builtin, compile_policies, parse_statements, statements_to_json
from lakebed_auth.actions import KNOWN_ACTIONS

from tests.auth.support import CONTEXT

BUILTIN = {policy.id: policy for policy in builtin.policies(7)}


def member(group: str) -> Compiled:
    return compile_policies([BUILTIN[name] for name in builtin.GROUPS[group]], "ana")


def allowed(permissions: Compiled, action: str, resource: str) -> bool:
    return permissions.decide(action, resource, CONTEXT).effect == "allowed"


def test_names() -> None:
    assert set(builtin.GROUPS) == {"Admins", "SuperUsers", "Developers", "Viewers", "Analysts"}
    assert builtin.ROLES == {"Admin": "Admins", "Developer": "Developers", "Analyst": "Analysts"}
    assert {name for group in builtin.GROUPS.values() for name in group} <= set(BUILTIN)
    assert {policy.creation_date for policy in BUILTIN.values()} == {7}
    assert list(BUILTIN) == [
        *("FSFullAccess", "FSReadWriteAll", "FSReadAll", "RepoManagementFullAccess", "RepoManagementReadAll"),
        *("PRReadWriteAll", "CatalogReadWriteAll", "CatalogReadAll", "AuthFullAccess", "AuditReadAll"),
        "AuthManageOwnCredentials",
    ]


@pytest.mark.parametrize("policy", BUILTIN.values(), ids=lambda policy: policy.id)
def test_they_are_policies_as_clients_send_them(policy: Policy) -> None:
    assert parse_statements(statements_to_json(policy.statements)) == policy.statements


def test_admins_may_do_everything() -> None:
    assert [action for action in KNOWN_ACTIONS if not allowed(member("Admins"), action, arn.user("bob"))] == []


@pytest.mark.parametrize(
    ("group", "may", "may_not"),
    [
        (
            "SuperUsers",
            ["fs:CreateRepository", "fs:CommitAs", "catalog:CreateTable", "ci:ReadAction"],
            ["auth:CreateUser", "pr:WritePullRequest", "retention:SetGarbageCollectionRules"],
        ),
        (
            "Developers",
            ["fs:WriteObject", "fs:CreateCommit", "fs:ReadRepository", "pr:WritePullRequest", "fs:ReadConfig"],
            ["fs:CreateRepository", "fs:DeleteRepository", "fs:ImportFromStorage", "fs:CommitAs", "auth:ListUsers"],
        ),
        (
            "Analysts",
            ["fs:ReadObject", "fs:ListObjects", "ci:ReadAction", "pr:ListPullRequests", "catalog:ReadTable"],
            ["fs:WriteObject", "fs:CreateBranch", "pr:WritePullRequest", "catalog:CreateTable", "audit:ReadEvents"],
        ),
        ("Viewers", ["fs:ReadObject", "fs:ListObjects", "catalog:ReadView"], ["fs:WriteObject", "ci:ReadAction"]),
    ],
)
def test_groups(group: str, may: list[str], may_not: list[str]) -> None:
    permissions = member(group)
    resource = arn.object_("sales", "x")
    assert [action for action in may if not allowed(permissions, action, resource)] == []
    assert [action for action in may_not if allowed(permissions, action, resource)] == []
    assert allowed(permissions, "auth:CreateCredentials", arn.user("ana"))
    assert not allowed(permissions, "auth:CreateCredentials", arn.user("bob"))


LEVELS: list[builtin.Level] = ["reader", "writer", "admin"]
FIRST: dict[str, builtin.Level] = {
    "fs:ListObjects": "reader", "fs:ListRepositories": "reader", "fs:ReadObject": "reader", "fs:ReadBranch": "reader",
    "fs:WriteObject": "writer", "fs:CreateCommit": "writer", "pr:WritePullRequest": "writer", "ci:ReadAction": "writer",
    "fs:DeleteRepository": "admin", "fs:CommitAs": "admin", "branches:SetBranchProtectionRules": "admin",
    "retention:SetGarbageCollectionRules": "admin", "audit:ReadEvents": "admin",
}  # fmt: skip
"""The lowest level that may do it."""


@pytest.mark.parametrize("level", LEVELS)
def test_grants(level: builtin.Level) -> None:
    policy = builtin.grant(level, "sales", 7)
    assert (policy.id, policy.creation_date) == (f"lakebed.{level}.sales", 7)
    assert all(isinstance(statement.resource_sent, str) for statement in policy.statements)  # for older clients
    permissions = compile_policies([policy], "ana")
    for action, lowest in FIRST.items():
        for resource in (
            arn.repository("sales"),
            arn.object_("sales", "a/b"),
            arn.branch("sales", "m"),
            arn.tag("sales", "v"),
        ):
            assert allowed(permissions, action, resource) is (LEVELS.index(lowest) <= LEVELS.index(level)), action
        for resource in (arn.repository("sales2"), arn.repository("sale"), arn.object_("sales2", "a"), arn.ALL):
            assert not allowed(permissions, action, resource)
    assert allowed(permissions, "fs:ReadConfig", arn.ALL)
    assert not allowed(permissions, "fs:AttachStorageNamespace", arn.namespace("s3://sales"))
    assert not permissions.allows_some("auth:ReadUser")


def test_a_read_only_key() -> None:
    inline = compile_policies([Policy("key", builtin.read_only("sales"), 0)], "ana")
    key = member("Admins").narrowed(inline)
    assert allowed(key, "fs:ReadObject", arn.object_("sales", "x"))
    assert allowed(key, "fs:ListObjects", arn.repository("sales"))
    assert allowed(key, "fs:ReadConfig", arn.ALL)
    assert not allowed(key, "fs:ReadObject", arn.object_("hr", "x"))
    assert not allowed(key, "fs:WriteObject", arn.object_("sales", "x"))
    assert not allowed(key, "auth:CreateCredentials", arn.user("ana"))
    assert not allowed(compile_policies([], "bob").narrowed(inline), "fs:ReadObject", arn.object_("sales", "x"))
