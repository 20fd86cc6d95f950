"""The records that the engine stores, and the values that many operations return.

Stored records are JSON in the key-value store, so that people can read them. Times are Unix seconds, sizes are bytes,
paths have at most 1,024 bytes of UTF-8.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import Generic, Literal, NamedTuple, TypeVar

import msgspec

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


class Requirements(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a pull request into a protected branch needs. `checks` are names of checks that must have succeeded."""

    approvals: int = 0
    checks: tuple[str, ...] = ()


NO_REQUIREMENTS = Requirements()


class Rule(msgspec.Struct, frozen=True):
    """A protection rule: a pattern of branches, and what pull requests into them need."""

    pattern: str
    requirements: Requirements = NO_REQUIREMENTS


class Repository(msgspec.Struct, frozen=True, kw_only=True):
    """A repository as stored and as returned. `uid` differs from that of a later repository of the same name.

    `protection`: patterns of the branches that take no direct changes. `requirements`: those of the patterns that have
    some. Servers before them read the patterns alone.
    """

    uid: str
    name: str
    storage_namespace: str
    default_branch: str
    creation_date: int
    read_only: bool = False
    state: Literal["creating", "active", "deleting"] = "active"
    protection: tuple[str, ...] = ()
    requirements: dict[str, Requirements] = {}
    hooks: str = ""
    """The digest of the hook settings, or empty: then there are none."""
    storage_id: str = ""
    """The id of the object store. Empty, as in the records of servers before named stores: the default store."""

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The protection rules, in the order in which they were set."""
        return tuple(Rule(one, self.requirements.get(one, NO_REQUIREMENTS)) for one in self.protection)

    def protecting_rule(self, branch: str) -> str | None:
        """The pattern of the first rule that matches a branch."""
        return next((pattern for pattern in self.protection if fnmatchcase(branch, pattern)), None)


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


class LogPage(Page[Commit], frozen=True):
    """A page of a log. `after`: the commit after which the next page begins, empty on the last page.

    A page of a log that is filtered by author or time may be short or empty although more pages follow.
    """

    after: str


class CommitStatistics(msgspec.Struct, frozen=True):
    """Numbers of paths and bytes that a commit changed, compared with its first parent. `parent_id` may be empty.

    `bytes_added` are those of added and changed paths now, `bytes_removed` those of changed and removed paths before.
    """

    commit_id: str
    parent_id: str
    added: int
    removed: int
    changed: int
    bytes_added: int
    bytes_removed: int
    complete: bool


class RepositoryStatistics(msgspec.Struct, frozen=True):
    """The newest commit of the default branch, and its objects. `bytes` is None while the server still counts.

    `last_commit` is None for a repository without its default branch.
    """

    last_commit: Commit | None
    objects: int
    bytes: int | None


class Written(msgspec.Struct, frozen=True):
    """An object, and the commit that wrote its present content. None if it was not found in time.

    `is_uncommitted`: the object is not as in the last commit of the ref.
    """

    path: str
    entry: Entry
    is_uncommitted: bool
    commit: Commit | None


class SearchPage(msgspec.Struct, frozen=True):
    """A page of a search. `after` is where the next page begins, empty at the end. `scanned`: the paths that were read.

    `bound_reached`: the page ended because one request reads no more paths.
    """

    items: Sequence[Listed]
    after: str
    scanned: int
    bound_reached: bool = False


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


def etag_of_rules(rules: Sequence[Rule]) -> str:
    """The entity tag of a set of protection rules: hex SHA-256, and empty for none, as existing clients expect."""
    plain = [one.pattern if one.requirements == NO_REQUIREMENTS else one for one in rules]
    return hashlib.sha256(msgspec.json.encode(plain)).hexdigest() if rules else ""
