"""The one door to the engine: every verb of the service, as one object over its stores.

Above `operations`, under whoever serves it. Verbs take names and plain values and return records of
`vocabulary.records`; they raise errors of `vocabulary.errors` and nothing else. Names and paths are checked here.
Amounts of pages are 1 to 1,000. `repo` is always a repository's name.
"""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, suppress
from typing import Literal

import msgspec

from lakebed_engine.operations import (
    advancing,
    branches,
    commits,
    copies,
    differ,
    dumping,
    emptying,
    history,
    importing,
    ingesting,
    janitor,
    layer_files,
    layers,
    logs,
    long_work,
    merging,
    picking,
    protecting,
    publishing,
    publishing_uploads,
    reading,
    recording,
    repositories,
    resetting,
    samples,
    scanning,
    sharing,
    signing,
    staging,
    stashing,
    workspaces,
    written,
)
from lakebed_engine.operations.cleaning import Cleaner
from lakebed_engine.operations.context import Context, open_repo, read_branch
from lakebed_engine.operations.fsck import fsck, ignore_finding, ignore_progress
from lakebed_engine.operations.metadata_files import MetadataFiles
from lakebed_engine.operations.multiparts.door import LIFETIME, Multiparts
from lakebed_engine.operations.placing import Placing
from lakebed_engine.operations.rebuild import rebuild
from lakebed_engine.operations.refs import resolve_commit
from lakebed_engine.operations.snapshots import Snapshots
from lakebed_engine.operations.swap import COMPACT_FROM
from lakebed_engine.operations.sweeping.sweeper import sweep
from lakebed_engine.operations.symlinks import write_symlinks
from lakebed_engine.operations.tasks import Tasks
from lakebed_engine.stores.kv.base import KVStore
from lakebed_engine.stores.objects.base import ObjectStores
from lakebed_engine.stores.objects.foreign import Foreign
from lakebed_engine.tree.cache import ByteCache
from lakebed_engine.tree.outline import LIMITS, Limits
from lakebed_engine.tree.trees import Trees
from lakebed_engine.vocabulary.errors import NotFoundError
from lakebed_engine.vocabulary.ports import AsyncioRuntime, Clock, Ids, RandomIds, Runtime, SystemClock
from lakebed_engine.vocabulary.records import (
    AdvanceRequest,
    Branch,
    Commit,
    CommitRequest,
    CompletedUpload,
    DataPlace,
    Deletion,
    DiffEntry,
    Entry,
    IngestPage,
    IngestRequest,
    Layer,
    Listed,
    LogRequest,
    MergeBase,
    MergeRequest,
    ObjectFailure,
    Page,
    PartUpload,
    PickRequest,
    Published,
    PublishRequest,
    Repository,
    ScanReport,
    SentPart,
    ShareReport,
    SignedPart,
    SignedRead,
    SignedUpload,
    Tag,
    UploadRequest,
    Workspace,
    WorkspaceRequest,
    Written,
)
from lakebed_engine.vocabulary.reports import (
    FsckOptions,
    FsckReport,
    Progress,
    RebuildReport,
    Sink,
    SnapshotPass,
    SweepOptions,
    SweepPass,
)


class Engine:
    """The versioning engine over one KV store and any number of object stores."""

    def __init__(
        self,
        kv: KVStore,
        stores: ObjectStores,
        *,
        clock: Clock | None = None,
        ids: Ids | None = None,
        runtime: Runtime | None = None,
        cache_bytes: int = 256 << 20,
        cleanup_grace: float = 300.0,
        snapshot_always: bool = False,
        snapshots_kept: int = 100,
        limits: Limits = LIMITS,
        foreign: Foreign | None = None,
        address_key: bytes = b"",
        upload_age: float = LIFETIME,
    ) -> None:
        """`cache_bytes` bounds the memory for decoded ranges; `cleanup_grace` is in seconds.

        With `snapshot_always` each verb that changes a ref also writes a ref snapshot before it answers. `limits` say
        how trees are cut: only tests change them. `foreign` says which objects outside of every namespace may be
        read: none by default. `address_key` signs addresses that are given out: all servers need the same one.
        `upload_age`: seconds after which an object that arrives in parts and is not completed is given up.
        """
        self._own_runtime = AsyncioRuntime() if runtime is None else None
        work = runtime or self._own_runtime
        assert work is not None
        self._ctx = Context(
            kv=kv,
            stores=stores,
            clock=clock or SystemClock(),
            ids=ids or RandomIds(),
            runtime=work,
            trees=Trees(work, ByteCache(cache_bytes), limits),
            commits=ByteCache(max(cache_bytes // 16, 1 << 20)),
            patience=cleanup_grace / 2,
            crowded={},
            turns={},
            repos=ByteCache(1_000),
            marked=ByteCache(10_000),
            foreign=foreign or Foreign(stores.open),
        )
        self.metadata_files = MetadataFiles(self._ctx)
        self.placing = Placing(self._ctx, address_key)
        self.multiparts = Multiparts(self._ctx, upload_age)
        self.tasks = Tasks(
            self._ctx,
            {
                importing.IMPORT: importing.work,
                long_work.COMMIT: long_work.commit,
                long_work.MERGE: long_work.merge,
                dumping.DUMP: dumping.dump_work,
                dumping.RESTORE: dumping.restore_work,
            },
            self._refs_changed,
        )
        self.importing = importing.Importing(self._ctx, self.tasks)
        self.long_work = long_work.LongWork(self._ctx, self.tasks)
        self.dumping = dumping.Dumping(self._ctx, self.tasks)
        self._cleaner = Cleaner(self._ctx, cleanup_grace)
        self._snapshots = Snapshots(self._ctx, snapshots_kept)
        self._snapshot_always = snapshot_always
        self._grown: dict[str, None] = {}

    async def close(self) -> None:
        """Stop background work. The stores stay open: whoever made them closes them."""
        if self._own_runtime is not None:
            self._own_runtime.close()

    async def run_cleaner(self) -> int:
        """One pass of the cleaner: delete what swaps dropped longer ago than the grace period; then one of the janitor,
        which closes expired workspaces; then tasks whose server is gone are taken over, and uploads in parts that have
        expired are given up. How much they settled.
        """
        settled = await self._cleaner.run() + await janitor.tidy(self._ctx) + await self.tasks.resume()
        return settled + await self.multiparts.tidy()

    async def maintain(self) -> int:
        """Compact the branches that this process saw with many layers, and index the history of repositories that it
        saw grow. How many layers it took away.
        """
        grown, self._grown = list(self._grown), {}
        for repo in grown:
            with suppress(NotFoundError):  # deleted meanwhile, or bare
                await logs.index(self._ctx, repo)
        return await layers.maintain(self._ctx)

    async def run_snapshots(self) -> SnapshotPass:
        """One pass of ref snapshots: write one for each repository whose refs differ from its newest one."""
        return await self._snapshots.run()

    async def _refs_changed(self, repo: str) -> None:
        self._grown[repo] = None
        if self._snapshot_always:
            await self._snapshots.changed(repo)

    async def fsck(
        self, repo: str, options: FsckOptions, *, progress: Progress = ignore_progress, sink: Sink = ignore_finding
    ) -> FsckReport:
        """What of a repository is missing, corrupt or named by nothing. Changes nothing."""
        return await fsck(self._ctx, repo, options, progress, sink)

    async def sweep(
        self,
        repo: str = "",
        options: SweepOptions | None = None,
        *,
        progress: Progress = ignore_progress,
        sink: Sink = ignore_finding,
    ) -> SweepPass:
        """Delete what nothing names; without `repo`, of all repositories, and staged rows that no record names.

        `sink` gets each file. Raises RepositoryNotFoundError; what befalls one repository stands in the answer.
        """
        return await sweep(self._ctx, repo, options or SweepOptions(), progress, sink)

    async def rebuild(
        self,
        namespace: str,
        name: str = "",
        *,
        dry_run: bool = False,
        progress: Progress = ignore_progress,
        sink: Sink = ignore_finding,
    ) -> RebuildReport:
        """Bring a lost repository back from its bucket alone. Raises RepositoryExistsError, NamespaceInUseError."""
        return await rebuild(self._ctx, namespace, name, dry_run=dry_run, progress=progress, sink=sink)

    # repositories

    async def create_repository(
        self,
        name: str,
        storage_namespace: str,
        *,
        default_branch: str = "main",
        read_only: bool = False,
        bare: bool = False,
        samples_by: str = "",
    ) -> Repository:
        """Make a repository with one empty commit. Raises RepositoryExistsError, NamespaceInUseError.

        A `bare` one has no commit and no branch. `samples_by`: who commits sample data to it; nobody by default.
        """
        new = await repositories.create_repository(self._ctx, name, storage_namespace, default_branch, read_only, bare)
        if samples_by and not bare:
            await samples.fill(self._ctx, name, default_branch, samples_by)
        await self._refs_changed(name)
        return new

    async def get_repository(self, name: str) -> Repository:
        """Raises RepositoryNotFoundError."""
        return (await open_repo(self._ctx, name)).record

    async def delete_repository(self, name: str, *, force: bool = False) -> None:
        """Forget a repository; its data in the object store stays."""
        await repositories.delete_repository(self._ctx, name, force)

    async def delete_empty_repository(self, name: str) -> str:
        """Forget a repository while no branch of it shows an object and no workspace is open: nobody's write is lost.

        Empty, or what stands in the way: nothing was deleted then.
        """
        return await emptying.delete_empty(self._ctx, name)

    async def list_repositories(
        self, *, prefix: str = "", after: str = "", amount: int = 100, search: str = ""
    ) -> Page[Repository]:
        """A page in order of name; `search` is a part of the name."""
        return await repositories.list_repositories(self._ctx, prefix, after, amount, search)

    async def get_metadata(self, repo: str) -> dict[str, str]:
        """The repository's metadata map."""
        return await repositories.get_metadata(self._ctx, repo)

    async def set_metadata(self, repo: str, values: Mapping[str, str]) -> None:
        """Set keys of the map; the others stay."""
        await repositories.change_metadata(self._ctx, repo, values)

    async def delete_metadata(self, repo: str, keys: Sequence[str]) -> None:
        """Remove keys of the map; unknown ones are ignored."""
        await repositories.change_metadata(self._ctx, repo, {}, keys)

    async def protection_rules(self, repo: str) -> tuple[str, ...]:
        """The patterns of branches that take no direct changes."""
        return await protecting.get_rules(self._ctx, repo)

    async def set_protection_rules(self, repo: str, patterns: Sequence[str], *, if_match: str | None = None) -> None:
        """Replace the rules. Raises PreconditionFailedError when they have not the entity tag `if_match`."""
        await protecting.set_rules(self._ctx, repo, patterns, if_match)
        await self._refs_changed(repo)

    async def add_protection_rule(self, repo: str, pattern: str) -> None:
        """Add a rule; nothing happens when it is there."""
        await protecting.add_rule(self._ctx, repo, pattern)
        await self._refs_changed(repo)

    async def delete_protection_rule(self, repo: str, pattern: str) -> None:
        """Raises RuleNotFoundError."""
        await protecting.delete_rule(self._ctx, repo, pattern)
        await self._refs_changed(repo)

    # branches

    async def create_branch(
        self, repo: str, name: str, source: str, *, hidden: bool = False, force: bool = False
    ) -> Branch:
        """A branch at the commit of `source`. Raises BranchExistsError, NameTakenError, RefNotFoundError."""
        new = await branches.create_branch(self._ctx, repo, name, source, hidden, force)
        await self._refs_changed(repo)
        return new

    async def get_branch(self, repo: str, name: str) -> Branch:
        """Raises BranchNotFoundError."""
        return (await read_branch(self._ctx, await open_repo(self._ctx, repo), name)).record

    async def delete_branch(self, repo: str, name: str, *, force: bool = False) -> None:
        """Delete a branch and what is staged on it. Raises DefaultBranchError."""
        await branches.delete_branch(self._ctx, repo, name, force)
        await self._refs_changed(repo)

    async def list_branches(
        self, repo: str, *, prefix: str = "", after: str = "", amount: int = 100, show_hidden: bool = False
    ) -> Page[Branch]:
        """A page in order of name."""
        return await branches.list_branches(self._ctx, repo, prefix, after, amount, show_hidden)

    async def reset_branch(self, repo: str, name: str, *, force: bool = False) -> None:
        """Drop everything staged."""
        await branches.reset_branch(self._ctx, repo, name, force)

    async def hard_reset(self, repo: str, name: str, ref: str, *, force: bool = False) -> Branch:
        """Point a clean branch at another commit. Raises DirtyBranchError, RefNotFoundError."""
        moved = await resetting.hard_reset(self._ctx, repo, name, ref, force)
        await self._refs_changed(repo)
        return moved

    async def reset_object(self, repo: str, name: str, path: str, *, force: bool = False) -> None:
        """Drop what is staged at one path."""
        await branches.reset_object(self._ctx, repo, name, path, force)

    async def reset_prefix(self, repo: str, name: str, prefix: str, *, force: bool = False) -> None:
        """Drop what is staged at every path that begins with `prefix`."""
        await layers.reset_prefix(self._ctx, repo, name, prefix, force)

    async def push(
        self, repo: str, branch: str, rows: Sequence[tuple[str, Entry | None]], *, force: bool = False
    ) -> Layer:
        """Publish rows (None: a tombstone) as one layer, in one swap. Raises BackpressureError."""
        return await layers.push_rows(self._ctx, repo, branch, rows, force)

    async def compact(self, repo: str, branch: str, *, least: int = COMPACT_FROM) -> int:
        """Merge a run of layers when there are `least`. How many it took away."""
        return await layers.compact(self._ctx, await open_repo(self._ctx, repo), branch, least=least)

    # workspaces: whatever takes the name of a branch to stage, read, list or diff also takes `<branch>+<id>`

    async def create_workspace(self, repo: str, request: WorkspaceRequest) -> Workspace:
        """A workspace on the commit of a ref. Raises RefNotFoundError, BranchNotFoundError, InvalidRequestError."""
        return await workspaces.create(self._ctx, repo, request)

    async def get_workspace(self, repo: str, workspace: str) -> Workspace:
        """By id, open or closed. Raises WorkspaceNotFoundError."""
        return await workspaces.get(self._ctx, repo, workspace)

    async def list_workspaces(
        self, repo: str, *, branch: str = "", after: str = "", amount: int = 100, state: str = "open"
    ) -> Page[Workspace]:
        """A page in order of id, of those that are to be committed to `branch` or of all; `state` may be `all`."""
        return await workspaces.list_page(self._ctx, repo, branch, after, amount, state)

    async def renew_workspace(self, repo: str, workspace: str, lifetime: int) -> Workspace:
        """Let it expire `lifetime` seconds from now. Raises WorkspaceClosedError."""
        return await workspaces.renew(self._ctx, repo, workspace, lifetime)

    async def delete_workspace(self, repo: str, workspace: str, *, force: bool = False) -> None:
        """Close it without committing. Raises WorkspaceClosedError when it ended in another way."""
        await workspaces.drop(self._ctx, repo, workspace, force)

    async def register_objects(
        self, repo: str, workspace: str, rows: Sequence[tuple[str, Entry | None]], *, force: bool = False
    ) -> None:
        """Register objects that were written below its prefix, or tombstones (None), all or nothing."""
        await scanning.register(self._ctx, repo, workspace, rows, force)

    async def register_written(
        self, repo: str, workspace: str, objects: Sequence[Written], deletes: Sequence[str] = (), *, force: bool = False
    ) -> None:
        """As `register_objects`, of what clients say: it is looked at. InvalidAddressError, ChecksumMismatchError."""
        await written.register_written(self._ctx, repo, workspace, objects, deletes, force)

    async def push_written(self, repo: str, workspace: str, file: str, *, force: bool = False) -> Layer:
        """As `register_written`, for all rows of a Parquet file on this machine, as one layer."""
        return await layer_files.push_written(self._ctx, repo, workspace, file, force)

    async def share_objects(
        self, repo: str, workspace: str, pairs: Sequence[tuple[str, str]], *, force: bool = False
    ) -> ShareReport:
        """Let the first path of each pair name the data of the second, where both show the same content."""
        return await sharing.share(self._ctx, repo, workspace, pairs, force)

    async def sign_uploads(
        self,
        repo: str,
        workspace: str,
        paths: Sequence[str],
        *,
        size: int = 0,
        content_type: str = "",
        seconds: int = signing.SIGNED_SECONDS,
    ) -> list[SignedUpload]:
        """Signed addresses below its prefix, for one PUT each. Raises NotSupportedError."""
        return await signing.sign_uploads(self._ctx, repo, workspace, paths, size, content_type, seconds)

    async def begin_upload(self, repo: str, workspace: str, path: str, *, content_type: str = "") -> PartUpload:
        """Begin to write an object below its prefix in parts. Raises NotSupportedError."""
        return await signing.begin_upload(self._ctx, repo, workspace, path, content_type)

    async def sign_parts(
        self,
        repo: str,
        workspace: str,
        upload: PartUpload,
        numbers: Sequence[int],
        *,
        seconds: int = signing.SIGNED_SECONDS,
    ) -> list[SignedPart]:
        """Signed addresses, for one PUT of a part each. Raises InvalidAddressError."""
        return await signing.sign_parts(self._ctx, repo, workspace, upload, numbers, seconds)

    async def complete_upload(
        self, repo: str, workspace: str, upload: PartUpload, parts: Sequence[SentPart], size: int
    ) -> CompletedUpload:
        """Make parts one object of `size` bytes. Raises InvalidAddressError, ChecksumMismatchError."""
        return await signing.complete_upload(self._ctx, repo, workspace, upload, parts, size)

    async def abort_upload(self, repo: str, workspace: str, upload: PartUpload) -> None:
        """Give an upload up; one that is not there is no error."""
        await signing.abort_upload(self._ctx, repo, workspace, upload)

    async def place_of(self, repo: str) -> DataPlace:
        """Where a repository's data lies, and whether clients can write there."""
        return await written.place_of(self._ctx, repo)

    async def scan_workspace(self, repo: str, workspace: str, *, force: bool = False) -> ScanReport:
        """Register what other tools wrote below its prefix, changed or removed since the last scan."""
        return await scanning.scan(self._ctx, repo, workspace, force)

    async def ingest_page(self, repo: str, workspace: str, request: IngestRequest) -> IngestPage:
        """Put a page of what objects elsewhere differ in into a workspace. Raises ForeignDeniedError."""
        return await ingesting.ingest_page(self._ctx, repo, workspace, request)

    async def ingest_diff(self, repo: str, ref: str, request: IngestRequest) -> IngestPage:
        """A page of what an ingest would change of a commit. Raises ForeignDeniedError."""
        return await ingesting.diff_page(self._ctx, repo, ref, request)

    async def commit_workspace(self, repo: str, workspace: str, request: AdvanceRequest) -> Commit:
        """Commit it to its branch. Raises ConcurrentCommitError, DirtyOverlapError, NoChangesError."""
        new = await advancing.advance(self._ctx, repo, workspace, request)
        await self._refs_changed(repo)
        return new

    async def revert_workspace(
        self, repo: str, workspace: str, globs: Sequence[str] = (), *, force: bool = False
    ) -> None:
        """Take back its changes, all or those that globs choose; it stays open."""
        await workspaces.revert(self._ctx, repo, workspace, globs, force)

    async def stash(self, repo: str, branch: str, request: WorkspaceRequest) -> Workspace:
        """Move a branch's uncommitted changes into a new workspace. Raises NoChangesError."""
        return await stashing.stash(self._ctx, repo, msgspec.structs.replace(request, ref=branch))

    async def pop(self, repo: str, workspace: str, *, branch: str = "", force: bool = False) -> Layer:
        """Put a workspace's changes on top of a branch's uncommitted ones, as one layer. Raises NoChangesError."""
        return await stashing.pop(self._ctx, repo, workspace, branch, force)

    # tags

    async def create_tag(self, repo: str, name: str, ref: str, *, force: bool = False) -> Tag:
        """A tag on the commit of `ref`. Raises TagExistsError, NameTakenError, RefNotFoundError."""
        new = await branches.create_tag(self._ctx, repo, name, ref, force)
        await self._refs_changed(repo)
        return new

    async def get_tag(self, repo: str, name: str) -> Tag:
        """Raises TagNotFoundError."""
        return await branches.get_tag(self._ctx, repo, name)

    async def delete_tag(self, repo: str, name: str, *, force: bool = False) -> None:
        """Raises TagNotFoundError."""
        await branches.delete_tag(self._ctx, repo, name, force)
        await self._refs_changed(repo)

    async def list_tags(self, repo: str, *, prefix: str = "", after: str = "", amount: int = 100) -> Page[Tag]:
        """A page in order of name."""
        return await branches.list_tags(self._ctx, repo, prefix, after, amount)

    # commits

    async def commit(self, repo: str, branch: str, request: CommitRequest, key: str = "") -> Commit:
        """Commit what is staged; with a `key` once. Raises NoChangesError, TooManyAttemptsError, KeyReusedError."""
        if key:
            new = await self.long_work.commit_once(repo, branch, request, key)
        else:
            new = await commits.commit(self._ctx, repo, branch, request)
        await self._refs_changed(repo)
        return new

    async def publish(
        self, repo: str, branch: str, changes: Sequence[tuple[str, Entry | None]], request: PublishRequest
    ) -> Commit:
        """Commit changes (None: delete the path) at once, without staging them. Raises DirtyOverlapError too."""
        new, _ = await publishing.publish(self._ctx, repo, branch, changes, request)
        await self._refs_changed(repo)
        return new

    async def commit_tree(self, repo: str, branch: str, metarange_id: str, request: CommitRequest) -> Commit:
        """Commit a metarange as the content of a clean branch. Raises DirtyBranchError, NoChangesError."""
        new = await recording.commit_tree(self._ctx, repo, branch, metarange_id, request)
        await self._refs_changed(repo)
        return new

    async def record_commit(self, repo: str, commit: Commit, *, force: bool = False) -> None:
        """Store a commit exactly as it is told; no branch moves. Raises AlreadyExistsError, InvalidRequestError."""
        await recording.record_commit(self._ctx, repo, commit, force=force)

    async def get_commit(self, repo: str, ref: str) -> Commit:
        """The commit that a ref expression names."""
        return await resolve_commit(self._ctx, await open_repo(self._ctx, repo), ref)

    async def log(self, repo: str, ref: str, request: LogRequest) -> Page[Commit]:
        """A page of history, newest first."""
        return await logs.log(self._ctx, repo, ref, request)

    # merges and diffs

    async def merge(self, repo: str, source: str, destination: str, request: MergeRequest, key: str = "") -> Commit:
        """Merge a ref into a branch; with a `key` once.

        Raises MergeConflictError, DirtyBranchError, NoChangesError, NoMergeBaseError, KeyReusedError.
        """
        if key:
            new = await self.long_work.merge_once(repo, source, destination, request, key)
        else:
            new = await merging.merge(self._ctx, repo, source, destination, request)
        await self._refs_changed(repo)
        return new

    async def revert(self, repo: str, branch: str, request: PickRequest, key: str = "") -> Commit:
        """Take back a commit, as a new one; with a `key` once.

        Raises MergeConflictError, DirtyBranchError, MergeParentError, NoChangesError, KeyReusedError.
        """
        if key:
            new = await self.long_work.revert_once(repo, branch, request, key)
        else:
            new = await picking.revert(self._ctx, repo, branch, request)
        await self._refs_changed(repo)
        return new

    async def cherry_pick(self, repo: str, branch: str, request: PickRequest, key: str = "") -> Commit:
        """Apply the change of a commit, as a new one; with a `key` once.

        Raises MergeConflictError, DirtyBranchError, NoChangesError, KeyReusedError.
        """
        if key:
            new = await self.long_work.cherry_pick_once(repo, branch, request, key)
        else:
            new = await picking.cherry_pick(self._ctx, repo, branch, request)
        await self._refs_changed(repo)
        return new

    async def merge_base(self, repo: str, source: str, destination: str) -> MergeBase:
        """The nearest common ancestor. Raises NoMergeBaseError."""
        return await history.merge_base(self._ctx, repo, source, destination)

    async def diff_branch(
        self, repo: str, branch: str, *, after: str = "", amount: int = 100, prefix: str = "", delimiter: str = ""
    ) -> Page[DiffEntry]:
        """A page of uncommitted changes."""
        return await differ.diff_branch(self._ctx, repo, branch, after, amount, prefix, delimiter)

    async def diff_refs(
        self,
        repo: str,
        left: str,
        right: str,
        *,
        mode: Literal["two_dot", "three_dot"] = "three_dot",
        after: str = "",
        amount: int = 100,
        prefix: str = "",
        delimiter: str = "",
        details: bool = True,
    ) -> Page[DiffEntry]:
        """A page of differences. two_dot: left to right. three_dot: what right changed since the merge base.

        Without `details` the entries may tell only size and identity, which is several times faster.
        """
        return await differ.diff_refs(self._ctx, repo, left, right, mode, after, amount, prefix, delimiter, details)

    # objects

    async def stat(self, repo: str, ref: str, path: str) -> Entry:
        """The entry at a path. Raises ObjectNotFoundError."""
        return await reading.stat(self._ctx, repo, ref, path)

    async def find(self, repo: str, ref: str, path: str) -> reading.Found:
        """The entry at a path, with a way to read a little of it at once. Raises ObjectNotFoundError."""
        return await reading.find(self._ctx, repo, ref, path)

    async def locate(self, repo: str, ref: str, path: str) -> tuple[Entry, str]:
        """The entry at a path, and the full URI of its data. Raises ObjectNotFoundError."""
        return await reading.locate(self._ctx, repo, ref, path)

    async def write_symlinks(self, repo: str, branch: str, location: str = "") -> str:
        """Write lists of where the data lie, a file for each directory; the address that they lie below."""
        return await write_symlinks(self._ctx, repo, branch, location)

    async def list_objects(
        self, repo: str, ref: str, *, prefix: str = "", after: str = "", amount: int = 100, delimiter: str = ""
    ) -> Page[Listed]:
        """A page of objects and common prefixes in byte order."""
        return await reading.list_objects(self._ctx, repo, ref, prefix, after, amount, delimiter)

    def open_entry(
        self, repo: str, entry: Entry, start: int = 0, length: int | None = None
    ) -> AbstractAsyncContextManager[AsyncIterator[bytes]]:
        """Stream an entry's data. Entering raises ObjectGoneError when the data is not there."""
        return reading.open_entry(self._ctx, repo, entry, start, length)

    async def sign_reads(
        self, repo: str, entries: Sequence[Entry], *, seconds: int = signing.SIGNED_SECONDS, check: bool = False
    ) -> list[SignedRead | None]:
        """Signed addresses to read entries' data at; None where none can be. `check`: look at what lies elsewhere."""
        return await signing.sign_reads(self._ctx, repo, entries, seconds, check=check)

    async def addresses(self, repo: str) -> Callable[[Entry], str]:
        """What tells the full URI of an entry's data, for any number of entries of a repository."""
        found = await open_repo(self._ctx, repo)
        return lambda entry: reading.physical_uri(found, entry)

    async def upload(self, repo: str, branch: str, request: UploadRequest, chunks: AsyncIterable[bytes]) -> Entry:
        """Write the data, then stage the entry. Repository, branch and path are checked before a chunk is taken."""
        return await staging.upload(self._ctx, repo, branch, request, chunks)

    async def upload_many(
        self,
        repo: str,
        branch: str,
        changes: AsyncIterable[tuple[UploadRequest, AsyncIterable[bytes]] | Deletion],
        *,
        force: bool = False,
    ) -> list[tuple[str, Entry]]:
        """Write several objects, then stage them and the tombstones of `Deletion`s in one batch: all or nothing.

        Each upload's chunks are read to their end before the next change is taken. At most 10,000 changes.
        """
        return await staging.upload_many(self._ctx, repo, branch, changes, force)

    async def publish_uploads(
        self,
        repo: str,
        branch: str,
        changes: AsyncIterable[tuple[UploadRequest, AsyncIterable[bytes]] | Deletion],
        request: PublishRequest,
    ) -> Published:
        """As `upload_many`, but committed at once and never staged. Raises what `publish` does."""
        made = await publishing_uploads.publish_uploads(self._ctx, repo, branch, changes, request)
        await self._refs_changed(repo)
        return made

    async def delete_object(
        self, repo: str, branch: str, path: str, *, force: bool = False, if_match: str | None = None
    ) -> None:
        """Delete a path; one that holds nothing is no error. `if_match`: only the content of this ETag."""
        await staging.delete_object(self._ctx, repo, branch, path, force, if_match)

    async def delete_objects(
        self, repo: str, branch: str, paths: Sequence[str], *, force: bool = False
    ) -> list[ObjectFailure]:
        """Delete paths in one batch; the failures are paths that are no paths."""
        return await staging.delete_objects(self._ctx, repo, branch, paths, force)

    async def copy_object(
        self, repo: str, branch: str, path: str, source_ref: str, source_path: str, *, force: bool = False
    ) -> Entry:
        """Stage an entry that shares another's data. `source_ref` empty: the branch itself."""
        return await copies.copy_object(self._ctx, repo, branch, path, source_ref, source_path, force)

    async def copy_as(
        self,
        repo: str,
        branch: str,
        request: UploadRequest,
        source_ref: str,
        source_path: str,
        *,
        source_etag: str | None = None,
    ) -> Entry:
        """Stage an entry that shares another's data, with a type, metadata and conditions of its own.

        With `source_etag` only while the source has it. Raises ObjectNotFoundError, PreconditionFailedError.
        """
        return await copies.copy_as(self._ctx, repo, branch, request, source_ref, source_path, source_etag)
