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
    match counts. Without a match, the strategy decides.
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
    """A workspace to create on the commit of `ref`. It will be committed to `branch`, by default `ref` itself.

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
    """The arguments of the commit of a workspace.

    `policy`: what happens when the branch has moved since the base (`PROTOCOL.md` 3, ADVANCE). `globs` in gitignore
    style select a part of the changes. `replace_prefix`: entries of the branch below these prefixes that the workspace
    does not have are deleted, and a concurrent change below them is a conflict. `idempotency_key`: a second commit with
    the same key changes nothing and returns the first commit. `date` in Unix seconds overrides the clock. `relocate`:
    entries that differ from the head's only in their address are changes, too.
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
    """The arguments of a commit of unstaged changes. The key is as in `AdvanceRequest`, for each branch."""

    committer: str
    message: str = ""
    metadata: Mapping[str, str] = {}
    date: int | None = None
    idempotency_key: str = ""
    allow_empty: bool = False
    force: bool = False


class Published(msgspec.Struct, frozen=True):
    """A commit, and its entries for the objects of the request, in the order of the request."""

    commit: Commit
    objects: Sequence[tuple[str, Located]]


class IngestRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A request for a page of the comparison of objects in another location with those below a prefix.

    `source` and `prefix` mean folders; an empty prefix is everything. `by_name`: `source` is a prefix of keys instead,
    and the text after its last slash stays in the paths. `include` and `exclude` are globs in gitignore style over the
    paths below `source`: excluded paths are neither put nor removed. `settle`: objects written less than this number of
    seconds ago are skipped for now. `removals`: whether paths that `source` does not have are removed. `after`: the end
    of the previous page. `amount`: the largest number of paths to check. `max_changes`: the page ends after this number
    of listed changes; 0 lists none.
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
    """The result of a page of an ingest, and where the next one begins. `next` is empty on the last one.

    `listed` counts the objects of the source. `waiting` of them are too young, and the globs exclude `ignored` of them.
    The others are `added`, `changed` or `unchanged`. `removed` paths are not among them. `changes` are the first of
    them.
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
    """The metadata and conditions of an upload.

    `if_none_match`: only if the path has no object. `if_match`: only if the path has the content of this ETag (without
    quotes), or any content (`*`). `unlike`: only if the path does not have the content of this ETag. `*` is never an
    ETag, so it adds no condition.
    """

    path: str
    content_type: str = DEFAULT_CONTENT_TYPE
    metadata: Mapping[str, str] = {}
    if_none_match: bool = False
    if_match: str | None = None
    unlike: str | None = None
    force: bool = False


class Held(msgspec.Struct, frozen=True, kw_only=True):
    """The content that a path must have when it is deleted. None means any. `etag` without quotes, or `*` for any
    content.

    `or_nothing`: a path without an object is not a failure.
    """

    etag: str | None = None
    size: int | None = None
    mtime: int | None = None
    or_nothing: bool = False


class Deletion(msgspec.Struct, frozen=True):
    """One path to delete in a batch of changes."""

    path: str


class PartSource(NamedTuple):
    """The source of a copied part: bytes of an entry of a repository."""

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
    """A path, and its object or the error of reading it."""

    path: str
    found: ReadableEntry | EngineError


MetadataKind = Literal["range", "meta_range"]


class MetadataFile(NamedTuple):
    """A range or metarange file: its key in the namespace, size in bytes, and Unix seconds of its last change.

    `open` streams its bytes. `url` is a presigned URL, if one was requested.
    """

    key: str
    size: int
    mtime: int
    open: Callable[[], AbstractAsyncContextManager[AsyncIterator[bytes]]]
    url: str = ""
