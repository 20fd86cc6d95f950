"""The engine's values: what it stores and what it answers with.

Stored records are msgspec structs (JSON in the KV store, so that a person can read them); answers are the same
structs or small frozen ones. Times are Unix seconds, sizes bytes, paths text of at most 1,024 UTF-8 bytes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Generic, Literal, TypeVar

import msgspec

T = TypeVar("T")


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


class Listed(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One row of a listing: an object, or a common prefix when `entry` is None."""

    path: str
    entry: Entry | None


class Repository(msgspec.Struct, frozen=True, kw_only=True):
    """A repository as stored and as answered. `uid` tells a repository from a later one of the same name."""

    uid: str
    name: str
    storage_namespace: str
    default_branch: str
    creation_date: int
    read_only: bool = False
    state: Literal["creating", "active", "deleting"] = "active"


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
    """The branch record (`PROTOCOL.md` 1): one KV key, changed only by compare-and-swap."""

    name: str
    uid: str
    gen: int
    commit_id: str
    staging_token: str
    layers: tuple[Layer, ...] = ()
    hidden: bool = False


class Tag(msgspec.Struct, frozen=True, kw_only=True):
    """A tag: a name for one commit, for ever."""

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
    """What a commit needs to know beside the branch. `date` in Unix seconds overrides the clock."""

    message: str
    committer: str
    metadata: Mapping[str, str] = {}
    date: int | None = None
    allow_empty: bool = False
    force: bool = False


MergeStrategy = Literal["", "dest-wins", "source-wins"]


class MergeRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What a merge needs to know beside the two sides. `conflicts_after` and `conflicts_amount` page a conflict."""

    committer: str
    message: str | None = None
    metadata: Mapping[str, str] = {}
    strategy: str = ""
    force: bool = False
    allow_empty: bool = False
    squash: bool = False
    conflicts_after: str = ""
    conflicts_amount: int = 100


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
    content_type: str = "application/octet-stream"
    metadata: Mapping[str, str] = {}
    if_none_match: bool = False
    if_match: str | None = None
    force: bool = False


class Deletion(msgspec.Struct, frozen=True):
    """One path to delete in a batch of changes."""

    path: str
