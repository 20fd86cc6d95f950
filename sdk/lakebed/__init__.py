"""Lakebed: Git-like version control for data lakes.

    lake = lakebed.connect()
    repo = lake.repository("sales").create("local://sales", exist_ok=True)
    main = repo.branch("main")
    main.write_parquet("orders/2026/", df, partition_by=["day"])
    main.commit("load orders")

`lakebed.aio` is the same with `await`. Every error is a `LakebedError`. Names are loaded when first used, so that
`import lakebed` costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from lakebed._version import __version__

if TYPE_CHECKING:
    from lakebed import aio, errors, model
    from lakebed._checks import PathWarning
    from lakebed._http.trust import ClearTextWarning
    from lakebed._settings.config import ConfigurationWarning, Settings
    from lakebed._sync.access.groups import Groups
    from lakebed._sync.access.keys import Keys
    from lakebed._sync.access.policies import Policies
    from lakebed._sync.access.users import Users
    from lakebed._sync.commits.pulls import Pulls
    from lakebed._sync.handles.branch import Branch
    from lakebed._sync.handles.lake import Lake, connect
    from lakebed._sync.handles.ref import Ref
    from lakebed._sync.handles.repository import Repository
    from lakebed._sync.handles.tag import Tag
    from lakebed._sync.handles.task import Dump, Import, Restore, Task
    from lakebed._sync.handles.workspace import Selection, Workspace
    from lakebed._sync.hooks.runs import Deliveries, Runs
    from lakebed._sync.http.events import Events
    from lakebed._sync.http.pagination import Listing
    from lakebed._sync.tables.diff import Diff
    from lakebed._sync.tables.scan import Scan
    from lakebed._tables.compare_results import ColumnChange, TableDiff
    from lakebed._values.uri import Location, parse_uri
    from lakebed._values.wire import Answer
    from lakebed.errors import (
        AlreadyExistsError,
        AuthenticationError,
        CommitStateUnknownError,
        ConcurrentCommitError,
        ConfigurationError,
        Conflict,
        ConflictError,
        Conflicts,
        CorruptDataError,
        CorruptTransferError,
        DirtyBranchError,
        HookRefusedError,
        InvalidRequestError,
        LakebedError,
        MergeConflictError,
        NotFoundError,
        NothingToCommitError,
        ObjectExistsError,
        ObjectFailure,
        ObjectGoneError,
        ObjectNotFoundError,
        OutcomeUnknownError,
        PartialFailureError,
        PermissionDeniedError,
        PreconditionFailedError,
        ProtocolError,
        ReadOnlyRefError,
        RunNotFoundError,
        SchemaDifference,
        SchemaMismatchError,
        ServerError,
        ServerUnavailableError,
        StoreFullError,
        TableFormatError,
        ThrottledError,
        UnsupportedOperationError,
        WorkspaceClosedError,
    )
    from lakebed.model import (
        AccessKey,
        ActionRun,
        Change,
        ColumnStatistics,
        Commit,
        CommitAttempt,
        CommitCheck,
        CommitStatistics,
        CommonPrefix,
        CutText,
        Decision,
        DeliveryAttempt,
        Event,
        Group,
        HistogramBin,
        HookDelivery,
        HookRun,
        HookSettings,
        IngestReport,
        LoginSession,
        MergeResult,
        ObjectInfo,
        ObjectWriter,
        OwnPullRequest,
        Policy,
        ProtectionRule,
        ProtectionRules,
        PullRequest,
        PullRequestCheck,
        PullRequestComment,
        PullRequestEvent,
        PullRequestReview,
        PullRequestState,
        RangeInfo,
        RefInfo,
        RefsDump,
        RepositoryInfo,
        RepositoryPurge,
        RepositoryStatistics,
        RightsChange,
        ScanRefusal,
        ScanResult,
        ServerInfo,
        SessionToken,
        StagedAddress,
        StoreInfo,
        TableColumn,
        TableDiffPage,
        TableDiffRow,
        TablePage,
        TaskStatus,
        TemporaryKey,
        Undone,
        User,
        WorkspaceInfo,
    )

__all__ = [
    "AccessKey",
    "ActionRun",
    "AlreadyExistsError",
    "Answer",
    "AuthenticationError",
    "Branch",
    "Change",
    "ClearTextWarning",
    "ColumnChange",
    "ColumnStatistics",
    "Commit",
    "CommitAttempt",
    "CommitCheck",
    "CommitStateUnknownError",
    "CommitStatistics",
    "CommonPrefix",
    "ConcurrentCommitError",
    "ConfigurationError",
    "ConfigurationWarning",
    "Conflict",
    "ConflictError",
    "Conflicts",
    "CorruptDataError",
    "CorruptTransferError",
    "CutText",
    "Decision",
    "Deliveries",
    "DeliveryAttempt",
    "Diff",
    "DirtyBranchError",
    "Dump",
    "Event",
    "Events",
    "Group",
    "Groups",
    "HistogramBin",
    "HookDelivery",
    "HookRefusedError",
    "HookRun",
    "HookSettings",
    "Import",
    "IngestReport",
    "InvalidRequestError",
    "Keys",
    "Lake",
    "LakebedError",
    "Listing",
    "Location",
    "LoginSession",
    "MergeConflictError",
    "MergeResult",
    "NotFoundError",
    "NothingToCommitError",
    "ObjectExistsError",
    "ObjectFailure",
    "ObjectGoneError",
    "ObjectInfo",
    "ObjectNotFoundError",
    "ObjectWriter",
    "OutcomeUnknownError",
    "OwnPullRequest",
    "PartialFailureError",
    "PathWarning",
    "PermissionDeniedError",
    "Policies",
    "Policy",
    "PreconditionFailedError",
    "ProtectionRule",
    "ProtectionRules",
    "ProtocolError",
    "PullRequest",
    "PullRequestCheck",
    "PullRequestComment",
    "PullRequestEvent",
    "PullRequestReview",
    "PullRequestState",
    "Pulls",
    "RangeInfo",
    "ReadOnlyRefError",
    "Ref",
    "RefInfo",
    "RefsDump",
    "Repository",
    "RepositoryInfo",
    "RepositoryPurge",
    "RepositoryStatistics",
    "Restore",
    "RightsChange",
    "RunNotFoundError",
    "Runs",
    "Scan",
    "ScanRefusal",
    "ScanResult",
    "SchemaDifference",
    "SchemaMismatchError",
    "Selection",
    "ServerError",
    "ServerInfo",
    "ServerUnavailableError",
    "SessionToken",
    "Settings",
    "StagedAddress",
    "StoreFullError",
    "StoreInfo",
    "TableColumn",
    "TableDiff",
    "TableDiffPage",
    "TableDiffRow",
    "TableFormatError",
    "TablePage",
    "Tag",
    "Task",
    "TaskStatus",
    "TemporaryKey",
    "ThrottledError",
    "Undone",
    "UnsupportedOperationError",
    "User",
    "Users",
    "Workspace",
    "WorkspaceClosedError",
    "WorkspaceInfo",
    "__version__",
    "aio",
    "connect",
    "errors",
    "model",
    "parse_uri",
]

_MODULES = ("aio", "errors", "model")
_HOMES = {
    "Answer": "_values.wire",
    "Branch": "_sync.handles.branch",
    "ClearTextWarning": "_http.trust",
    "ConfigurationWarning": "_settings.config",
    "PathWarning": "_checks",
    "ColumnChange": "_tables.compare_results",
    "Diff": "_sync.tables.diff",
    "Dump": "_sync.handles.task",
    "Groups": "_sync.access.groups",
    "Import": "_sync.handles.task",
    "Keys": "_sync.access.keys",
    "TableDiff": "_tables.compare_results",
    "Deliveries": "_sync.hooks.runs",
    "Lake": "_sync.handles.lake",
    "Events": "_sync.http.events",
    "Listing": "_sync.http.pagination",
    "Location": "_values.uri",
    "Policies": "_sync.access.policies",
    "Pulls": "_sync.commits.pulls",
    "Ref": "_sync.handles.ref",
    "Restore": "_sync.handles.task",
    "Repository": "_sync.handles.repository",
    "Runs": "_sync.hooks.runs",
    "Settings": "_settings.config",
    "Scan": "_sync.tables.scan",
    "Selection": "_sync.handles.workspace",
    "Tag": "_sync.handles.tag",
    "Task": "_sync.handles.task",
    "Users": "_sync.access.users",
    "Workspace": "_sync.handles.workspace",
    "connect": "_sync.handles.lake",
    "parse_uri": "_values.uri",
    **dict.fromkeys(
        (
            "AccessKey",
            "ActionRun",
            "DeliveryAttempt",
            "HookDelivery",
            "HookRun",
            "HookSettings",
            "TemporaryKey",
            "TemporaryKey",
            "Change",
            "Commit",
            "CommitAttempt",
            "CommonPrefix",
            "Decision",
            "Event",
            "Group",
            "IngestReport",
            "LoginSession",
            "MergeResult",
            "ObjectInfo",
            "ObjectWriter",
            "Policy",
            "RightsChange",
            "ProtectionRules",
            "CommitCheck",
            "OwnPullRequest",
            "ProtectionRule",
            "PullRequest",
            "PullRequestCheck",
            "PullRequestComment",
            "PullRequestEvent",
            "PullRequestReview",
            "PullRequestState",
            "RangeInfo",
            "RefInfo",
            "RefsDump",
            "RepositoryInfo",
            "RepositoryPurge",
            "RepositoryStatistics",
            "ScanRefusal",
            "ScanResult",
            "ServerInfo",
            "SessionToken",
            "StagedAddress",
            "StoreInfo",
            "TaskStatus",
            "Undone",
            "User",
            "WorkspaceInfo",
            "CommitStatistics",
            "ColumnStatistics",
            "CutText",
            "HistogramBin",
            "TableColumn",
            "TableDiffPage",
            "TableDiffRow",
            "TablePage",
        ),
        "model",
    ),
}


def load_ipython_extension(shell: object) -> None:
    """Add the magics `%lakebed` and `%%lakebed` to a notebook: `%load_ext lakebed` calls it."""
    import_module("lakebed.cli.notebook").load_ipython_extension(shell)


def unload_ipython_extension(shell: object) -> None:
    """Remove the magics: `%unload_ext lakebed` calls it."""
    import_module("lakebed.cli.notebook").unload_ipython_extension(shell)


def __getattr__(name: str) -> object:
    """Load a public name when it is first used."""
    if name not in __all__:
        raise AttributeError(f"module 'lakebed' has no attribute {name!r}")
    if name in _MODULES:
        return import_module(f"lakebed.{name}")
    value = getattr(import_module(f"lakebed.{_HOMES.get(name, 'errors')}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
