"""The requests of operations, and results that belong to one operation. Times are Unix seconds, sizes are bytes."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Literal, NamedTuple

import msgspec

from lakebed_engine.vocabulary.errors import EngineError
from lakebed_engine.vocabulary.records import (
    DEFAULT_CONTENT_TYPE,
    Commit,
    DiffEntry,
    Entry,
    Located,
)


class CommitRequest(msgspec.Struct, frozen=True, kw_only=True):
    """The arguments of a commit, without the branch. `date` in Unix seconds overrides the clock."""

    message: str
    committer: str
    metadata: Mapping[str, str] = {}
    date: int | None = None
    allow_empty: bool = False
    force: bool = False


class MergeRequest(msgspec.Struct, frozen=True, kw_only=True):
    """The arguments of a merge, without the two sides. `conflicts_after` and `conflicts_amount` page a conflict.

    `resolve`: globs in gitignore style, each with the side (`source` or `dest`) that wins conflicts there. The first
    that matches counts; where none does, the strategy.
    """

    committer: str
    message: str | None = None
    metadata: Mapping[str, str] = {}
    strategy: str = ""
    force: bool = False
    allow_empty: bool = False
    squash: bool = False
    conflicts_after: str = ""
    conflicts_amount: int = 100
    resolve: Sequence[tuple[str, str]] = ()


class PickRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A revert or a cherry-pick of the commit of `ref`. `parent_number` counts from 1; 0 means the only parent.

    `message` and `metadata` override the default ones; None keeps them. `allow_empty` is for a revert.
    """

    ref: str
    committer: str
    parent_number: int = 0
    message: str | None = None
    metadata: Mapping[str, str] | None = None
    allow_empty: bool = False
    force: bool = False


ConflictPolicy = Literal["abort", "rebase", "overwrite"]


class WorkspaceRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A workspace to be made on the commit of `ref`. `branch` is where it will be committed: by default `ref` itself.

    `lifetime` in seconds; `claims` as in `Workspace`. `id`: 32 lower-case hex characters, never used before, that make
    the request safe to repeat.
    """

    ref: str
    creator: str
    branch: str = ""
    message: str = ""
    lifetime: int = 7 * 24 * 3600
    claims: tuple[str, ...] = ()
    id: str = ""
    force: bool = False


class AdvanceRequest(msgspec.Struct, frozen=True, kw_only=True):
    """How a workspace is to be committed.

    `policy`: what happens when the branch has moved since the base (`PROTOCOL.md` 3, ADVANCE). `globs` in gitignore
    style choose a part of the changes. `replace_prefix`: whatever the branch has below these and the workspace does not
    is deleted, and a concurrent change below them is a conflict. `idempotency_key`: a second commit with the same one
    changes nothing and gives the commit of the first. `date` in Unix seconds overrides the clock. `relocate`: entries
    that differ from the head's in their address only are taken over.
    """

    committer: str
    message: str = ""
    metadata: Mapping[str, str] = {}
    date: int | None = None
    policy: ConflictPolicy = "rebase"
    globs: tuple[str, ...] = ()
    replace_prefix: tuple[str, ...] = ()
    idempotency_key: str = ""
    allow_empty: bool = False
    relocate: bool = False
    force: bool = False
    conflicts_amount: int = 100


class PublishRequest(msgspec.Struct, frozen=True, kw_only=True):
    """How changes are to be committed that were never staged. The key as of `AdvanceRequest`, by branch."""

    committer: str
    message: str = ""
    metadata: Mapping[str, str] = {}
    date: int | None = None
    idempotency_key: str = ""
    allow_empty: bool = False
    force: bool = False


class Published(msgspec.Struct, frozen=True):
    """A commit, and what it holds of the objects that were sent with it, in the order in which they were sent."""

    commit: Commit
    objects: Sequence[tuple[str, Located]]


class IngestRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A page of the comparison of objects elsewhere with what is below a prefix.

    `source` and `prefix` mean folders; an empty prefix is everything. `by_name`: `source` is a prefix of keys instead,
    and what follows its last slash stays in the paths. `include` and `exclude` are globs in gitignore
    style over what follows `source`: paths that they leave out are neither put nor removed. `settle`: objects
    written less than this number of seconds ago are left as they are for now. `removals`: whether paths that `source`
    does not have are removed. `after`: where the page before ended. `amount`: the largest number of paths to check.
    `max_changes`: the page ends after this number of listed changes; 0 lists none.
    """

    source: str
    prefix: str = ""
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    settle: int = 0
    removals: bool = True
    after: str = ""
    amount: int = 100_000
    max_changes: int = 0
    by_name: bool = False
    force: bool = False


class IngestPage(msgspec.Struct, frozen=True, kw_only=True):
    """What a page of an ingest found, and where the next one begins; `next` is empty on the last one.

    `listed` objects of the source, of which `waiting` are too young and `ignored` left out by the globs; the others
    are `added`, `changed` or `unchanged`. `removed` paths are not among them. `changes` are the first of them.
    """

    base_commit_id: str
    listed: int = 0
    added: int = 0
    changed: int = 0
    removed: int = 0
    unchanged: int = 0
    waiting: int = 0
    ignored: int = 0
    changes: Sequence[DiffEntry] = ()
    next: str = ""


class LogRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Filters of a log. `after` is an exclusive commit id; `since` and `until` in Unix seconds; `stop_at` inclusive.

    `author` is the whole name of a committer, `author_contains` a part of it in any case. `until` is exclusive.
    """

    after: str = ""
    amount: int = 100
    objects: Sequence[str] = ()
    prefixes: Sequence[str] = ()
    limit: bool = False
    first_parent: bool = False
    since: float | None = None
    stop_at: str = ""
    author: str = ""
    author_contains: str = ""
    until: float | None = None


class UploadRequest(msgspec.Struct, frozen=True, kw_only=True):
    """How an object is to be staged.

    `if_none_match`: only where nothing is. `if_match`: only in place of the content of this ETag (without quotes), or
    of any content (`*`). `unlike`: only in place of other content than that of this ETag, or of nothing; `*` is the
    ETag of nothing, so it asks for nothing further.
    """

    path: str
    content_type: str = DEFAULT_CONTENT_TYPE
    metadata: Mapping[str, str] = {}
    if_none_match: bool = False
    if_match: str | None = None
    unlike: str | None = None
    force: bool = False


class Held(msgspec.Struct, frozen=True, kw_only=True):
    """What a path must hold when it is deleted; None means any. `etag` without quotes, or `*` for any content.

    `or_nothing`: a path that holds nothing is not a failure.
    """

    etag: str | None = None
    size: int | None = None
    mtime: int | None = None
    or_nothing: bool = False


class Deletion(msgspec.Struct, frozen=True):
    """One path to delete in a batch of changes."""

    path: str


class PartSource(NamedTuple):
    """What a part is copied from: bytes of an entry of a repository."""

    repo: str
    entry: Entry
    start: int
    length: int


class ReadableEntry(NamedTuple):
    """An entry, and a function that reads a small part of its data: `start` and `length` in bytes.

    The function raises ObjectGoneError when the data is gone and CorruptDataError when it is too short.
    """

    entry: Entry
    read: Callable[[int, int], Awaitable[bytes]]


class FoundObject(NamedTuple):
    """A path, and its object or the error that reading it raises."""

    path: str
    found: ReadableEntry | EngineError


MetadataKind = Literal["range", "meta_range"]


class MetadataFile(NamedTuple):
    """A range or metarange file: its key in the namespace, size in bytes, and Unix seconds of its last change.

    `open` streams its bytes. `url` is a signed address, where one was asked for.
    """

    key: str
    size: int
    mtime: int
    open: Callable[[], AbstractAsyncContextManager[AsyncIterator[bytes]]]
    url: str = ""
