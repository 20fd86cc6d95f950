"""The values that the SDK returns: small, frozen, picklable, and independent of a connection.

The gateway makes them from the wire format, which this module does not know. `COLUMNS` of each row type says how
`to_arrow` and `to_pandas` show it, in Arrow's type names.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, ClassVar, Generic, TypeVar

from lakebed._model.access_keys import AccessKey, LoginSession, TemporaryKey
from lakebed._model.commits import Commit, CommitStatistics, MergeResult, Undone
from lakebed._model.hooks import (
    ActionRun,
    DeliveryAttempt,
    Event,
    HookDelivery,
    HookRun,
    HookSettings,
)
from lakebed._model.identities import Decision, Group, Policy, RightsChange, User
from lakebed._model.pulls import (
    CommitCheck,
    OwnPullRequest,
    ProtectionRule,
    PullRequest,
    PullRequestCheck,
    PullRequestComment,
    PullRequestEvent,
    PullRequestReview,
    PullRequestState,
)
from lakebed._model.server_info import ServerInfo, SessionToken, StoreInfo
from lakebed._model.table_pages import (
    ColumnStatistics,
    CutText,
    HistogramBin,
    TableColumn,
    TableDiffPage,
    TableDiffRow,
    TablePage,
)
from lakebed._model.transfer_progress import CommitAttempt, TransferProgress, TransferResult
from lakebed._model.workspaces import ScanRefusal, ScanResult, StagedAddress, UploadUrl, WorkspaceInfo
from lakebed._render import html
from lakebed._render.columns import Columns

if TYPE_CHECKING:
    from lakebed.errors import LakebedError

T = TypeVar("T")

OPERATION_KEY = "lakebed.operation_id"
"""The commit metadata key with which the SDK marks its own commits, to find a commit whose answer was lost."""


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """One page of a listing. `after` is where the next page begins. None on the last page."""

    items: tuple[T, ...]
    after: str | None


@dataclass(frozen=True, slots=True)
class RepositoryInfo:
    """A repository as the server describes it. `storage_id`: its named store, empty for the default one.

    `local_path` is the directory of its storage namespace, for clients on the server's machine. It is empty in
    listings, and where the endpoint is another machine (unless LAKEBED_DATA_PATH is `direct`).
    """

    COLUMNS: ClassVar[Columns] = (
        ("id", "string"),
        ("storage_namespace", "string"),
        ("default_branch", "string"),
        ("created", "time"),
        ("read_only", "bool"),
        ("storage_id", "string"),
    )

    id: str
    storage_namespace: str
    default_branch: str
    created: datetime
    read_only: bool = False
    local_path: str = ""
    storage_id: str = ""


@dataclass(frozen=True, slots=True)
class RefInfo:
    """A branch or a tag, and the commit that it points at."""

    COLUMNS: ClassVar[Columns] = (("id", "string"), ("commit_id", "string"))

    id: str
    commit_id: str


@dataclass(frozen=True, slots=True)
class ProtectionRules:
    """Patterns of branches that accept no direct changes. `etag` identifies this version of the rules.

    `rules` has the patterns with what pull requests into such branches need.
    """

    patterns: tuple[str, ...]
    etag: str = ""
    rules: tuple[ProtectionRule, ...] = ()


@dataclass(frozen=True, slots=True)
class ObjectWriter:
    """An object, and the newest commit in which it got its present content.

    `commit` is None if the server did not find it in time, and for an object that is not committed (`uncommitted`).
    """

    COLUMNS: ClassVar[Columns] = (
        ("path", "string"),
        ("size", "int64"),
        ("mtime", "time"),
        ("uncommitted", "bool"),
    )

    path: str
    size: int
    mtime: datetime
    uncommitted: bool
    commit: Commit | None


@dataclass(frozen=True, slots=True)
class RepositoryStatistics:
    """The newest commit of the default branch, the number of its objects, and their size in bytes.

    `bytes` is None while the server is still counting: ask again. `last_commit` is None without the default
    branch.
    """

    objects: int
    bytes: int | None
    last_commit: Commit | None


@dataclass(frozen=True, slots=True)
class RepositoryPurge:
    """What the purge of a repository deleted: `deleted` files of `deleted_bytes` bytes.

    Of a purge that takes longer than one request, these are the files of its first 15 seconds. `foreign` files were not
    made by Lakebed and stay in the storage namespace, for example `foreign_example`.
    """

    repository: str
    storage_namespace: str
    deleted: int
    deleted_bytes: int
    foreign: int
    foreign_example: str


@dataclass(frozen=True, slots=True)
class ObjectInfo:
    """An object. `checksum` is the hex MD5 of an object that was uploaded through a server. `size` in bytes."""

    COLUMNS: ClassVar[Columns] = (
        ("path", "string"),
        ("is_prefix", "bool"),
        ("size", "int64"),
        ("checksum", "string"),
        ("mtime", "time"),
        ("content_type", "string"),
        ("metadata", "map<string,string>"),
        ("physical_address", "string"),
    )

    path: str
    size: int
    checksum: str
    mtime: datetime
    content_type: str = ""
    metadata: Mapping[str, str] = field(default_factory=dict, hash=False)
    physical_address: str = ""

    @property
    def is_prefix(self) -> bool:
        """False: this is an object."""
        return False

    def __repr__(self) -> str:
        return f"<Object {self.path!r} {html.size_text(self.size)}>"


@dataclass(frozen=True, slots=True)
class CommonPrefix:
    """Several objects whose paths begin with the same text, up to a delimiter: a folder."""

    COLUMNS: ClassVar[Columns] = ObjectInfo.COLUMNS

    path: str

    @property
    def is_prefix(self) -> bool:
        """True: this represents several objects."""
        return True


@dataclass(frozen=True, slots=True)
class Change:
    """One row of a diff. `type`: added, removed, changed, conflict, or prefix_changed for a group of paths."""

    COLUMNS: ClassVar[Columns] = (("type", "string"), ("path", "string"), ("is_prefix", "bool"), ("size", "int64"))

    type: str
    path: str
    is_prefix: bool = False
    size: int | None = None


@dataclass(frozen=True, slots=True)
class IngestReport:
    """The result of an ingest. `commit` is None when nothing differed, and for a dry run.

    `listed` counts the objects of the source. Of these, `waiting` are too young, and globs leave out `ignored`.
    `removed` counts paths that are no longer in the source.
    """

    COLUMNS: ClassVar[Columns] = (
        ("base_commit_id", "string"),
        ("listed", "int64"),
        ("added", "int64"),
        ("changed", "int64"),
        ("removed", "int64"),
        ("unchanged", "int64"),
        ("waiting", "int64"),
        ("ignored", "int64"),
    )

    base_commit_id: str = ""
    listed: int = 0
    added: int = 0
    changed: int = 0
    removed: int = 0
    unchanged: int = 0
    waiting: int = 0
    ignored: int = 0
    commit: Commit | None = None


@dataclass(frozen=True, slots=True)
class RangeInfo:
    """A Parquet file of a commit: a range of its entries in the order of paths, or a patch over ranges.

    `count` is in rows. `size` is in raw bytes of the rows, not of the file. Ranges have `level` 0 and share no path.
    Patches have a level from 1 on, and their rows, including deletions, replace those of lower levels. `local_path` is
    set for clients on the machine that has the file.

    While the newest patch is small, the file of the metarange contains it. Then its address is the address of that
    file, and its `carrier` is the id of the metarange. All other files have an empty `carrier`.
    """

    COLUMNS: ClassVar[Columns] = (
        ("id", "string"),
        ("min_path", "string"),
        ("max_path", "string"),
        ("count", "int64"),
        ("size", "int64"),
        ("level", "int64"),
        ("physical_address", "string"),
        ("local_path", "string"),
        ("carrier", "string"),
    )

    id: str
    min_path: str
    max_path: str
    count: int
    size: int
    level: int
    physical_address: str
    local_path: str = ""
    carrier: str = ""


@dataclass(frozen=True, slots=True)
class RefsDump:
    """All commits, tags and branches of a repository, by the ids of the files that hold them."""

    COLUMNS: ClassVar[Columns] = (("commits", "string"), ("tags", "string"), ("branches", "string"))

    commits: str
    tags: str
    branches: str


@dataclass(frozen=True, slots=True)
class TaskStatus:
    """The status of a task. A finished task has a commit or an error. A finished dump or restore has neither.

    `objects` counts the objects that an import has examined.
    """

    COLUMNS: ClassVar[Columns] = (
        ("id", "string"),
        ("operation", "string"),
        ("completed", "bool"),
        ("updated", "time"),
        ("objects", "int64"),
    )

    id: str
    operation: str
    completed: bool
    updated: datetime
    objects: int | None = None
    commit: Commit | None = None
    error: LakebedError | None = None


__all__ = [
    "AccessKey",
    "ActionRun",
    "Change",
    "ColumnStatistics",
    "Commit",
    "CommitAttempt",
    "CommitCheck",
    "CommitStatistics",
    "CommonPrefix",
    "CutText",
    "Decision",
    "DeliveryAttempt",
    "Event",
    "Group",
    "HistogramBin",
    "HookDelivery",
    "HookRun",
    "HookSettings",
    "IngestReport",
    "LoginSession",
    "MergeResult",
    "ObjectInfo",
    "ObjectWriter",
    "OwnPullRequest",
    "Policy",
    "ProtectionRule",
    "ProtectionRules",
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
    "RightsChange",
    "ScanRefusal",
    "ScanResult",
    "ServerInfo",
    "SessionToken",
    "StagedAddress",
    "StoreInfo",
    "TableColumn",
    "TableDiffPage",
    "TableDiffRow",
    "TablePage",
    "TaskStatus",
    "TemporaryKey",
    "TransferProgress",
    "TransferResult",
    "Undone",
    "UploadUrl",
    "User",
    "WorkspaceInfo",
]
