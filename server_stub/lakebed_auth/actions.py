"""The actions that permissions name, grouped by service.

Lakebed accepts every action of the existing API, even if no operation needs it. Its own additions are marked with
`# Lakebed`.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Final


class Fs:
    """Repositories, branches, tags, objects, and the storage that holds them."""

    READ_REPOSITORY: Final = "fs:ReadRepository"
    CREATE_REPOSITORY: Final = "fs:CreateRepository"
    UPDATE_REPOSITORY: Final = "fs:UpdateRepository"
    DELETE_REPOSITORY: Final = "fs:DeleteRepository"
    PURGE_REPOSITORY: Final = "fs:PurgeRepository"  # Lakebed: delete a repository with its data
    LIST_REPOSITORIES: Final = "fs:ListRepositories"
    LIST_BRANCHES: Final = "fs:ListBranches"
    LIST_TAGS: Final = "fs:ListTags"
    LIST_OBJECTS: Final = "fs:ListObjects"
    LIST_COMMITS: Final = "fs:ListCommits"
    READ_COMMIT: Final = "fs:ReadCommit"
    CREATE_COMMIT: Final = "fs:CreateCommit"
    COMMIT_AS: Final = "fs:CommitAs"  # Lakebed: commit with another user as the author
    CREATE_BRANCH: Final = "fs:CreateBranch"
    DELETE_BRANCH: Final = "fs:DeleteBranch"
    READ_BRANCH: Final = "fs:ReadBranch"
    REVERT_BRANCH: Final = "fs:RevertBranch"
    CREATE_TAG: Final = "fs:CreateTag"
    DELETE_TAG: Final = "fs:DeleteTag"
    READ_TAG: Final = "fs:ReadTag"
    READ_OBJECT: Final = "fs:ReadObject"
    WRITE_OBJECT: Final = "fs:WriteObject"
    DELETE_OBJECT: Final = "fs:DeleteObject"
    ATTACH_STORAGE_NAMESPACE: Final = "fs:AttachStorageNamespace"
    IMPORT_FROM_STORAGE: Final = "fs:ImportFromStorage"
    IMPORT_CANCEL: Final = "fs:ImportCancel"
    READ_CONFIG: Final = "fs:ReadConfig"


class Auth:
    """Users, groups, policies and credentials."""

    READ_USER: Final = "auth:ReadUser"
    CREATE_USER: Final = "auth:CreateUser"
    UPDATE_USER: Final = "auth:UpdateUser"  # Lakebed
    DELETE_USER: Final = "auth:DeleteUser"
    LIST_USERS: Final = "auth:ListUsers"
    READ_GROUP: Final = "auth:ReadGroup"
    CREATE_GROUP: Final = "auth:CreateGroup"
    DELETE_GROUP: Final = "auth:DeleteGroup"
    LIST_GROUPS: Final = "auth:ListGroups"
    ADD_GROUP_MEMBER: Final = "auth:AddGroupMember"
    REMOVE_GROUP_MEMBER: Final = "auth:RemoveGroupMember"
    READ_POLICY: Final = "auth:ReadPolicy"
    CREATE_POLICY: Final = "auth:CreatePolicy"
    UPDATE_POLICY: Final = "auth:UpdatePolicy"
    DELETE_POLICY: Final = "auth:DeletePolicy"
    LIST_POLICIES: Final = "auth:ListPolicies"
    ATTACH_POLICY: Final = "auth:AttachPolicy"
    DETACH_POLICY: Final = "auth:DetachPolicy"
    READ_CREDENTIALS: Final = "auth:ReadCredentials"
    CREATE_CREDENTIALS: Final = "auth:CreateCredentials"
    DELETE_CREDENTIALS: Final = "auth:DeleteCredentials"
    LIST_CREDENTIALS: Final = "auth:ListCredentials"
    CREATE_USER_EXTERNAL_PRINCIPAL: Final = "auth:CreateUserExternalPrincipal"
    DELETE_USER_EXTERNAL_PRINCIPAL: Final = "auth:DeleteUserExternalPrincipal"
    READ_EXTERNAL_PRINCIPAL: Final = "auth:ReadExternalPrincipal"
    CREATE_TOKEN: Final = "auth:CreateToken"  # noqa: S105  # Lakebed: issue a temporary credential


class Ci:
    """Runs of hooks."""

    READ_ACTION: Final = "ci:ReadAction"
    RUN_ACTION: Final = "ci:RunAction"  # Lakebed: start a run manually
    WRITE_CHECK: Final = "ci:WriteCheck"  # Lakebed: report the state of a check of a commit


class Retention:
    """Garbage collection."""

    PREPARE_COMMITS: Final = "retention:PrepareGarbageCollectionCommits"
    PREPARE_UNCOMMITTED: Final = "retention:PrepareGarbageCollectionUncommitted"
    GET_RULES: Final = "retention:GetGarbageCollectionRules"
    SET_RULES: Final = "retention:SetGarbageCollectionRules"
    RUN: Final = "retention:RunGarbageCollection"  # Lakebed


class Branches:
    """Protection of branches."""

    GET_PROTECTION_RULES: Final = "branches:GetBranchProtectionRules"
    SET_PROTECTION_RULES: Final = "branches:SetBranchProtectionRules"


class Pr:
    """Pull requests."""

    READ: Final = "pr:ReadPullRequest"
    WRITE: Final = "pr:WritePullRequest"
    LIST: Final = "pr:ListPullRequests"
    APPROVE: Final = "pr:ApprovePullRequest"  # Lakebed: `pr:WritePullRequest` does not imply it
    COMMENT: Final = "pr:CommentPullRequest"  # Lakebed: `pr:WritePullRequest` does not imply it


class Catalog:
    """Tables and views of the catalog."""

    LIST_NAMESPACES: Final = "catalog:ListNamespaces"
    GET_NAMESPACE: Final = "catalog:GetNamespace"
    CREATE_NAMESPACE: Final = "catalog:CreateNamespace"
    UPDATE_NAMESPACE: Final = "catalog:UpdateNamespace"
    DELETE_NAMESPACE: Final = "catalog:DeleteNamespace"
    LIST_TABLES: Final = "catalog:ListTables"
    READ_TABLE: Final = "catalog:ReadTable"
    CREATE_TABLE: Final = "catalog:CreateTable"
    UPDATE_TABLE: Final = "catalog:UpdateTable"
    DELETE_TABLE: Final = "catalog:DeleteTable"
    LIST_VIEWS: Final = "catalog:ListViews"
    READ_VIEW: Final = "catalog:ReadView"
    CREATE_VIEW: Final = "catalog:CreateView"
    UPDATE_VIEW: Final = "catalog:UpdateView"
    DELETE_VIEW: Final = "catalog:DeleteView"


class Audit:
    """The journal and the access history."""

    READ_EVENTS: Final = "audit:ReadEvents"  # Lakebed


KNOWN_ACTIONS: Final[frozenset[str]] = frozenset(
    action
    for group in (Fs, Auth, Ci, Retention, Branches, Pr, Catalog, Audit)
    for name, action in vars(group).items()
    if name.isupper()
)

SERVICES: Final[frozenset[str]] = frozenset(action.partition(":")[0] for action in KNOWN_ACTIONS)


def suggestion(text: str, known: Iterable[str]) -> str:
    """Return the end of an error message about an unknown name: the nearest known name, or all known names."""
    names = sorted(known)
    nearest = get_close_matches(text, names, n=1)
    return f"did you mean {nearest[0]!r}?" if nearest else f"use one of {', '.join(names)}"
