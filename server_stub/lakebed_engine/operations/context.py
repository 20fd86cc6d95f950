"""The context of every operation: the stores, the clock, the caches, and the position of a repository in them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import lru_cache, partial
from typing import Any, TypeVar

import msgspec

from lakebed_engine.operations.expiry_clock import ExpiryClock
from lakebed_engine.operations.keys import (
    REPOSITORIES,
    branch_key,
    candidate_key,
    commit_key,
    record_key,
    repository_partition,
    text_key,
    workspace_id,
    workspace_key,
)
from lakebed_engine.operations.tuning import Tuning
from lakebed_engine.operations.undrained import Undrained
from lakebed_engine.stores.kv.base import ABSENT, Check, KVStore, Versioned, scan_rows
from lakebed_engine.stores.objects.base import ObjectStore, ObjectStores
from lakebed_engine.stores.objects.external import Foreign
from lakebed_engine.tree.cache import ByteCache
from lakebed_engine.tree.trees import Trees
from lakebed_engine.vocabulary.errors import (
    BranchNotFoundError,
    CommitNotFoundError,
    ProtectedBranchError,
    ReadOnlyRepositoryError,
    RepositoryDeletingError,
    RepositoryNotFoundError,
    WorkspaceClosedError,
    WorkspaceNotFoundError,
)
from lakebed_engine.vocabulary.hooks import HookPort
from lakebed_engine.vocabulary.observer import SILENT, Observer
from lakebed_engine.vocabulary.ports import Clock, Ids, Runtime
from lakebed_engine.vocabulary.records import (
    NO_REQUIREMENTS,
    Branch,
    Commit,
    Repository,
    Requirements,
    Workspace,
)

BAD_ROW = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
"""The errors of msgspec for a damaged row of the KV store or a damaged line of a dump."""

T = TypeVar("T")


@dataclass(slots=True)
class HookSlot:
    """The port that runs hooks. None: hooks are off. It is set after the engine is created, because it reads through
    the engine.
    """

    port: HookPort | None = None


@dataclass(frozen=True, slots=True)
class Context:
    """All injected components, and the caches."""

    kv: KVStore
    stores: ObjectStores
    clock: Clock
    ids: Ids
    runtime: Runtime
    trees: Trees
    commits: ByteCache
    patience: float
    """Seconds after which a reader checks that its branch record is unchanged: half of the cleaner's grace period."""
    foreign: Foreign
    """The readable objects outside of every namespace."""
    address_key: bytes
    """Signs the physical addresses that clients get. All servers of a store need the same key."""
    upload_lifetime: int
    """Seconds after which a multipart upload that is not completed expires."""
    tuning: Tuning
    crowded: dict[tuple[str, str], None] = field(default_factory=dict)
    """Branches, by repository and name, that this process saw with enough layers for a compaction."""
    queues: dict[tuple[str, str], Any] = field(default_factory=dict)
    """The commit queue (`commit.queue.Queue`) of each branch with waiting requests, by repository uid and name."""
    repos: ByteCache = field(default_factory=partial(ByteCache, 1_000))
    """Opened repositories, by the version of their record."""
    journals: ByteCache = field(default_factory=partial(ByteCache, 16 << 20))
    """Decoded files of the event log."""
    conflicts: ByteCache = field(default_factory=partial(ByteCache, 10_000))
    """Whether two commits of a repository can be merged: results of `merge.conflicts`."""
    range_bytes: ByteCache = field(default_factory=partial(ByteCache, 50_000))
    """The bytes of the objects in a range, by store and id of the range."""
    log_places: ByteCache = field(default_factory=partial(ByteCache, 20_000))
    """Where the walk for a later page of a log can begin (`history.log_places`)."""
    marked: ByteCache = field(default_factory=partial(ByteCache, 10_000))
    """Staging tokens whose marker row is written."""
    hooks: HookSlot = field(default_factory=HookSlot)
    directory_marks: bool = False
    """Whether commits keep directory marks (`commit.directory_marks`)."""
    action_files: ByteCache = field(default_factory=partial(ByteCache, 16 << 20))
    """The action files of commits, by partition and commit id, and their contents, by identity."""
    observer: Observer = SILENT
    expiry_clock: ExpiryClock = field(init=False)
    undrained: Undrained = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "expiry_clock", ExpiryClock(self.clock))
        object.__setattr__(self, "undrained", Undrained(self.clock.monotonic))

    def now(self) -> int:
        """Whole Unix seconds."""
        return int(self.clock.now())


@dataclass(frozen=True, slots=True)
class Repo:
    """One repository: its record, its object store and its KV partition."""

    record: Repository
    store: ObjectStore
    partition: str

    @property
    def name(self) -> str:
        """The name of the repository."""
        return self.record.name


@dataclass(frozen=True, slots=True)
class Seen:
    """The record of a branch or workspace, with the version that was read. A swap checks the version."""

    record: Branch
    version: int

    def check(self, repo: Repo) -> Check:
        """The check that the record has not changed."""
        return Check(repo.partition, record_key(self.record.name), self.version)


_repository = msgspec.json.Decoder(Repository)
_branch = msgspec.json.Decoder(Branch)
_workspace = msgspec.json.Decoder(Workspace)
_commit = msgspec.json.Decoder(Commit)
encode = msgspec.json.Encoder().encode


def decode_repository(value: bytes) -> Repository:
    """Decode a stored repository record."""
    return _repository.decode(value)


def decode_branch(value: bytes) -> Branch:
    """Decode a stored branch record."""
    return _branch.decode(value)


def decode_workspace(value: bytes) -> Workspace:
    """Decode a stored workspace record."""
    return _workspace.decode(value)


def decode_record(name: str, value: bytes) -> Branch:
    """The stored record of a branch or a workspace."""
    return _branch.decode(value) if workspace_id(name) is None else _workspace.decode(value)


async def open_repo(ctx: Context, name: str, *, write: bool = False, force: bool = False, branch: str = "") -> Repo:
    """Open a repository. `branch`: a branch, or a workspace of it, that the caller will change directly.

    Raises RepositoryNotFoundError. With `write`, also ReadOnlyRepositoryError.
    With `branch`, also ProtectedBranchError.
    """
    found = await ctx.kv.get(REPOSITORIES, text_key(name))
    if found is None:
        raise _no_repository(name)
    # a version never comes back, so its decoded record stays valid
    repo: Repo | None = ctx.repos.get(found.version)
    if repo is None:
        record = _repository.decode(found.value)
        if record.state == "deleting":
            raise RepositoryDeletingError(
                f"repository {name!r} not found: it is being deleted with its data, and its name is still taken"
            )
        if record.state != "active":
            raise _no_repository(name)
        repo = opened(ctx, record)
        ctx.repos.put(found.version, repo, 1)
    if write and repo.record.read_only and not force:
        raise ReadOnlyRepositoryError(f"repository {name!r} is read-only: nothing was changed; force=true overrides it")
    if branch and repo.record.protection:
        refuse_protected(repo, branch)
    return repo


def opened(ctx: Context, record: Repository) -> Repo:
    """Open the repository of a known record. Raises InvalidNamespaceError."""
    store = ctx.stores.open(record.storage_namespace, record.storage_id)
    return Repo(record, store, repository_partition(record.uid))


async def active_records(ctx: Context) -> AsyncIterator[Repository]:
    """The records of all repositories, in order of name, page by page. Skips those in creation or deletion."""
    async for row in scan_rows(ctx.kv, REPOSITORIES):
        record = _repository.decode(row.value)
        if record.state == "active":
            yield record


def refuse_protected(repo: Repo, branch: str) -> None:
    """Raises ProtectedBranchError if a rule matches the branch. No rule protects a workspace."""
    if workspace_id(branch) is not None:
        return
    pattern = protecting_rule(repo, branch)
    if pattern is not None:
        raise ProtectedBranchError(
            f"cannot write to protected branch: {branch!r} of {repo.name!r} (rule {pattern[:80]!r}): nothing was "
            "changed; commit on another branch and merge it"
        )


def protecting_rule(repo: Repo, branch: str) -> str | None:
    """The pattern of the first rule that matches a branch."""
    return repo.record.protecting_rule(branch)


def requirements_of(repo: Repo, branch: str) -> Requirements:
    """The requirements of a pull request into a branch, by all rules that match the branch."""
    found = [one for pattern, one in repo.record.requirements.items() if fnmatchcase(branch, pattern)]
    checks = dict.fromkeys(check for one in found for check in one.checks)
    return Requirements(max((one.approvals for one in found), default=0), tuple(checks))


def refuse_unreviewed(repo: Repo, branch: str) -> None:
    """Raises ProtectedBranchError if only a pull request may change the branch."""
    if repo.record.requirements and requirements_of(repo, branch) != NO_REQUIREMENTS:
        raise ProtectedBranchError(
            f"cannot write to protected branch: {branch!r} of {repo.name!r}, its rule requires approvals or checks: "
            "nothing was changed; open a pull request into it"
        )


def _no_repository(name: str) -> RepositoryNotFoundError:
    return RepositoryNotFoundError(f"repository not found: {name!r}")


async def read_branch(ctx: Context, repo: Repo, name: str) -> Seen:
    """Read a branch record. Raises BranchNotFoundError."""
    found = await ctx.kv.get(repo.partition, branch_key(name))
    if found is None:
        raise BranchNotFoundError(f"branch {name!r} not found in repository {repo.name!r}")
    return _seen(found)


@lru_cache(16)  # cache decoded records: group commit wakes many readers at the same time
def _seen(found: Versioned) -> Seen:
    return Seen(_branch.decode(found.value), found.version)


async def read_record(ctx: Context, repo: Repo, name: str) -> Seen:
    """Read the record of a branch or an open workspace, to work on its uncommitted rows.

    Raises BranchNotFoundError, WorkspaceNotFoundError, WorkspaceClosedError.
    """
    found_id = workspace_id(name)
    if found_id is None:
        return await read_branch(ctx, repo, name)
    seen = await find_workspace(ctx, repo, found_id)
    if seen is None or seen.record.name != name:
        raise WorkspaceNotFoundError(f"workspace {name[:300]!r} not found in repository {repo.name!r}")
    refuse_closed(seen.record)
    return seen


async def find_workspace(ctx: Context, repo: Repo, found_id: str) -> Seen | None:
    """The record of a workspace, open or closed. None when it does not exist."""
    found = await ctx.kv.get(repo.partition, workspace_key(found_id))
    return None if found is None else Seen(_workspace.decode(found.value), found.version)


def refuse_closed(record: Branch) -> None:
    """Raises WorkspaceClosedError for a closed workspace. The message says how it was closed."""
    if isinstance(record, Workspace) and record.state != "open":
        what = f"committed as {record.result}" if record.result else record.state
        raise WorkspaceClosedError(f"workspace {record.uid} is closed ({what}): create another workspace")


async def load_commit(ctx: Context, repo: Repo, commit_id: str) -> Commit:
    """A commit by its full id. Raises CommitNotFoundError."""
    commit: Commit | None = ctx.commits.get((repo.partition, commit_id))
    return commit if commit is not None else (await load_commits(ctx, repo, [commit_id]))[0]


async def load_commits(ctx: Context, repo: Repo, commit_ids: Sequence[str]) -> list[Commit]:
    """Commits by their full ids, in order. Reads all that are not cached in one request of the KV store.

    Also finds the commits that hooks check, which are in no history yet.
    """
    found: dict[str, Commit | None] = {one: ctx.commits.get((repo.partition, one)) for one in commit_ids}
    missing = [one for one, commit in found.items() if commit is None]
    if missing:
        for one, row in zip(
            missing, await ctx.kv.get_many(repo.partition, [commit_key(one) for one in missing]), strict=True
        ):
            if row is None:
                candidate = await read_candidate(ctx, repo, one)
                if candidate is None:
                    raise CommitNotFoundError(f"commit not found: {one!r} in repository {repo.name!r}")
                found[one] = candidate.commit
                continue
            loaded = _commit.decode(row.value)
            ctx.commits.put((repo.partition, one), loaded, len(row.value) + 500)
            found[one] = loaded
    return [commit for one in commit_ids if (commit := found[one]) is not None]


class Candidate(msgspec.Struct, frozen=True):
    """A commit that hooks check, before it is in any history. `at`: when it was written, in Unix seconds."""

    commit: Commit
    at: int


_candidate = msgspec.json.Decoder(Candidate)


def decode_candidate(value: bytes) -> Candidate:
    """Decode a stored candidate."""
    return _candidate.decode(value)


async def read_candidate(ctx: Context, repo: Repo, commit_id: str) -> Candidate | None:
    """A commit that hooks check, by its full id."""
    found = await ctx.kv.get(repo.partition, candidate_key(commit_id))
    return None if found is None else decode_candidate(found.value)


def absent(partition: str, key: bytes) -> Check:
    """The check that a key does not exist."""
    return Check(partition, key, ABSENT)
