"""The engine's values: what it stores and what it answers with.

Stored records are msgspec structs (JSON in the KV store, so that a person can read them); answers are the same
structs or small frozen ones. Times are Unix seconds, sizes bytes, paths text of at most 1,024 UTF-8 bytes.
"""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Generic, Literal, NamedTuple, TypeVar

import msgspec

from lakebed_engine.vocabulary.errors import EngineError

T = TypeVar("T")

DEFAULT_CONTENT_TYPE = "application/octet-stream"
"""Of content whose writer states no type."""


class Entry(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """What a path points to.

    `physical_address` is relative to the namespace (`data/...`) or a full URI. `checksum` is a hex MD5 (or a store's
    ETag body), `parts` the part count of a multipart upload, else 0. `identity` is the 32-byte SHA-256 over size,
    checksum, content type and user metadata: two entries of one identity are the same content.
    """

    physical_address: str
    checksum: str
    parts: int
    size: int
    mtime: int
    content_type: str
    metadata: dict[str, str]
    identity: bytes

    @property
    def etag(self) -> str:
        """The checksum, with the part count behind it for a multipart upload."""
        return f"{self.checksum}-{self.parts}" if self.parts else self.checksum


class Located(NamedTuple):
    """An entry, and the full URI of its data."""

    entry: Entry
    uri: str


class Listed(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One row of a listing: an object, or a common prefix when `entry` is None."""

    path: str
    entry: Entry | None


class Repository(msgspec.Struct, frozen=True, kw_only=True):
    """A repository as stored and as returned. `uid` differs from that of a later repository of the same name.

    `protection`: patterns of the branches that take no direct changes.
    """

    uid: str
    name: str
    storage_namespace: str
    default_branch: str
    creation_date: int
    read_only: bool = False
    state: Literal["creating", "active", "deleting"] = "active"
    protection: tuple[str, ...] = ()


class LayerPart(msgspec.Struct, frozen=True, array_like=True):
    """One file of a layer, `_lakebed/layers/<id>.parquet`: its first and last path, its rows and their raw bytes."""

    id: str
    min_path: str
    max_path: str
    rows: int
    bytes: int


class Layer(msgspec.Struct, frozen=True, omit_defaults=True):
    """One sealed, immutable delta of a branch, tombstones included.

    `kind` kv: the rows of staging token `id`. `kind` file: the rows of `parts`, in order of path.
    """

    id: str
    kind: Literal["kv", "file"] = "kv"
    parts: tuple[LayerPart, ...] = ()


class Branch(msgspec.Struct, frozen=True, kw_only=True):
    """The branch record (`PROTOCOL.md` 1): one KV key, changed only by compare-and-swap.

    `resets` counts the resets of a path or a prefix: a commit that folded before one of them folds again.
    """

    name: str
    uid: str
    gen: int
    commit_id: str
    staging_token: str
    layers: tuple[Layer, ...] = ()
    hidden: bool = False
    resets: int = 0


WorkspaceState = Literal["open", "committed", "reverted", "popped", "expired"]


class Workspace(Branch, frozen=True, kw_only=True):
    """A workspace: the record of a branch whose `commit_id` is a base that only its own partial commits move.

    `name` is what it is called in ref expressions, `<branch>+<id>`; `uid` is the id. `prefix` is where tools may write
    objects, relative to the namespace; a partial commit ends it (it goes into `old_prefixes`) and begins another one,
    because a commit may name objects below it. `claims` are prefixes below which nothing may have changed when it is
    committed. Times in Unix seconds. `result` is the commit that it became.
    """

    branch: str
    prefix: str
    creator: str
    creation_date: int
    expires: int
    message: str = ""
    claims: tuple[str, ...] = ()
    old_prefixes: tuple[str, ...] = ()
    state: WorkspaceState = "open"
    closed: int = 0
    result: str = ""


class Tag(msgspec.Struct, frozen=True, kw_only=True):
    """A tag: a name for one commit, which never changes."""

    name: str
    commit_id: str


class Commit(msgspec.Struct, frozen=True, kw_only=True):
    """A commit. `metarange_id` is empty for the empty tree; `creation_date` in Unix seconds; `generation` from 1."""

    id: str
    parents: tuple[str, ...]
    committer: str
    message: str
    creation_date: int
    metarange_id: str
    metadata: dict[str, str]
    generation: int
    version: int = 1


DiffType = Literal["added", "removed", "changed", "conflict", "prefix_changed"]


class DiffEntry(msgspec.Struct, frozen=True, gc=False):
    """One row of a diff. `left` and `right` are None where the path is absent; both None for a common prefix."""

    type: DiffType
    path: str
    left: Entry | None
    right: Entry | None


class Page(msgspec.Struct, Generic[T], frozen=True):
    """A page of a listing: the items in order, and whether there are more after the last."""

    items: Sequence[T]
    has_more: bool


class ObjectFailure(msgspec.Struct, frozen=True):
    """Why one path of a bulk delete was refused. `kind` is an error kind."""

    path: str
    kind: str
    message: str


class MergeBase(msgspec.Struct, frozen=True):
    """Three commit ids."""

    source_id: str
    destination_id: str
    base_id: str


class CommitRequest(msgspec.Struct, frozen=True, kw_only=True):
    """The arguments of a commit, without the branch. `date` in Unix seconds overrides the clock."""

    message: str
    committer: str
    metadata: Mapping[str, str] = {}
    date: int | None = None
    allow_empty: bool = False
    force: bool = False


MergeStrategy = Literal["", "dest-wins", "source-wins"]


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


class Written(msgspec.Struct, frozen=True, kw_only=True):
    """An object that a client wrote below a workspace's prefix, as it says.

    `physical_address` is a full URI or relative to the namespace, `checksum` an MD5 or the store's ETag, both in hex.
    `mtime` in Unix seconds, by default now.
    """

    path: str
    physical_address: str
    checksum: str
    size: int
    mtime: int | None = None
    content_type: str = DEFAULT_CONTENT_TYPE
    metadata: Mapping[str, str] = {}


class LinkRequest(msgspec.Struct, frozen=True, kw_only=True):
    """An object to show that is in the store already. `checksum` is an MD5 or an ETag, quotes and all.

    `if_none_match`: only where nothing is; `if_match`: only in place of the content of this ETag.
    """

    path: str
    physical_address: str
    checksum: str = ""
    size: int = 0
    mtime: int | None = None
    content_type: str = DEFAULT_CONTENT_TYPE
    metadata: Mapping[str, str] = {}
    if_none_match: bool = False
    if_match: str | None = None
    force: bool = False


class DataPlace(msgspec.Struct, frozen=True):
    """Where a repository's data is: its namespace's URI without a trailing slash, whether its store signs addresses,
    and its directory, empty where it is none.
    """

    uri: str
    signs: bool
    directory: str


class SignedUpload(msgspec.Struct, frozen=True):
    """A signed address for one PUT. `physical_address` is a full URI, `expires` in Unix seconds."""

    path: str
    physical_address: str
    url: str
    headers: dict[str, str]
    expires: int


class SignedRead(msgspec.Struct, frozen=True):
    """A signed address that takes GETs until `expires`, in Unix seconds."""

    url: str
    expires: int


class PartUpload(msgspec.Struct, frozen=True):
    """An object that is written in parts: what it is to be registered with, and the store's id of the upload."""

    physical_address: str
    upload: str


class SignedPart(msgspec.Struct, frozen=True):
    """A signed address for one PUT of one part."""

    number: int
    url: str
    headers: dict[str, str]
    expires: int


class SentPart(msgspec.Struct, frozen=True):
    """A part that a client has sent, by the ETag that it got for it; and its checksum, where it knows one."""

    number: int
    etag: str
    checksum: str = ""


class CompletedUpload(msgspec.Struct, frozen=True):
    """An object that was written in parts, as the store has it."""

    physical_address: str
    etag: str
    size: int


class ShareReport(msgspec.Struct, frozen=True):
    """How many paths name the data of others now, and which were left."""

    shared: int
    left: list[str]


class ScanRefusal(msgspec.Struct, frozen=True):
    """A file below a scanned prefix that the scan did not register: its path, and the reason."""

    path: str
    reason: str


class ScanReport(msgspec.Struct, frozen=True):
    """What a scan did: objects it registered, also again, ones that vanished, and ones that are as they were.

    `refused` counts what it did not take; `refusals` has the first of them.
    """

    registered: int
    vanished: int
    unchanged: int
    refused: int = 0
    refusals: list[ScanRefusal] = []


class IngestRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A page of the comparison of objects elsewhere with what is below a prefix.

    `source` and `prefix` mean folders; an empty prefix is everything. `include` and `exclude` are globs in gitignore
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
    """Filters of a log. `after` is an exclusive commit id; `since` in Unix seconds; `stop_at` inclusive."""

    after: str = ""
    amount: int = 100
    objects: Sequence[str] = ()
    prefixes: Sequence[str] = ()
    limit: bool = False
    first_parent: bool = False
    since: float | None = None
    stop_at: str = ""


class UploadRequest(msgspec.Struct, frozen=True, kw_only=True):
    """How an object is to be staged. `if_none_match` only as `*`; `if_match` a checksum, quotes removed."""

    path: str
    content_type: str = DEFAULT_CONTENT_TYPE
    metadata: Mapping[str, str] = {}
    if_none_match: bool = False
    if_match: str | None = None
    force: bool = False


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


LARGEST_REGISTRATION = 1 << 30
"""Bytes of a Parquet file of objects to register, at most."""

CLOUD_SCHEMES = ("s3", "gs", "az")
"""Schemes of the namespaces in a cloud store."""


def etag_of_rules(rules: Sequence[str]) -> str:
    """The entity tag of a set of protection rules: hex SHA-256, and empty for none, as existing clients expect."""
    return hashlib.sha256(msgspec.json.encode(list(rules))).hexdigest() if rules else ""
