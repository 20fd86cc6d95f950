"""Rebuild: writes the rows of a repository to an empty KV store, from its bucket alone.

It writes commits first. They are invisible until one last batch adds the repository with its branches and tags. So an
interrupted rebuild has no visible effect, and can be repeated.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import msgspec
from lakebed_format.decoding import FormatError
from lakebed_format.keys import COMMITS, REFS, REPOSITORY_MARKER, commit_file
from lakebed_format.refs import RefsRecord, decode_marker, parse_key

from lakebed_engine.operations import validation
from lakebed_engine.operations.context import Context, Repo, absent, decode_repository, encode
from lakebed_engine.operations.events.rows import Head, event_rows, newest_file
from lakebed_engine.operations.fsck.refs_and_commits import read_commit, read_pull_file, snapshot_in
from lakebed_engine.operations.fsck.scratch_db import Bad, ScratchDb
from lakebed_engine.operations.fsck.session import Job, Pace
from lakebed_engine.operations.keys import (
    DROPS,
    JOURNAL_HEAD,
    METADATA,
    NAMESPACES,
    REPOSITORIES,
    branch_key,
    commit_key,
    dropped_repository,
    inside_namespace,
    tag_key,
)
from lakebed_engine.operations.namespaces import namespaces_above, refuse_overlap
from lakebed_engine.operations.pulls.records import restored_rows
from lakebed_engine.stores.kv.base import Batch, Check, Delete, Put, scan_rows
from lakebed_engine.stores.objects.base import ObjectStore
from lakebed_engine.vocabulary.errors import (
    InvalidNamespaceError,
    NamespaceInUseError,
    OutcomeUnknownError,
    PredicateFailed,
    RepositoryExistsError,
    TooManyAttemptsError,
)
from lakebed_engine.vocabulary.events import NewEvent
from lakebed_engine.vocabulary.records import Branch, Commit, Repository, Requirements, Tag
from lakebed_engine.vocabulary.reports import (
    FsckOptions,
    LooseCommit,
    Progress,
    RebuildReport,
    Sink,
    ignore_finding,
    ignore_progress,
)

_PAGE = 256


class _Snapshot(NamedTuple):
    key: str
    time: float
    record: RefsRecord


async def rebuild(
    ctx: Context,
    namespace: str,
    name: str = "",
    *,
    storage_id: str = "",
    dry_run: bool = False,
    progress: Progress = ignore_progress,
    sink: Sink = ignore_finding,
) -> RebuildReport:
    """Rebuild a repository of a named store or the default one, under the name of its marker, or under `name`.

    Uncommitted changes and workspaces are lost. Objects below the prefixes of workspaces stay in the bucket, where the
    commits that name them find them.

    Raises RepositoryExistsError, NamespaceInUseError, and InvalidNamespaceError when there is no repository.
    """
    validation.check_namespace(namespace)
    ctx.stores.check_new(namespace, storage_id)
    store = ctx.stores.open(namespace.rstrip("/"), storage_id)
    with ScratchDb(FsckOptions().scratch_bytes) as scratch:
        blank = Repository(uid="", name=name, storage_namespace=store.uri, default_branch="", creation_date=0)
        job = Job(ctx, Repo(blank, store, ""), FsckOptions(), scratch, progress, sink, Pace(ctx))
        marker = await _marker(job)
        snapshot = await _newest_snapshot(job, marker.get("uid", ""))
        record = msgspec.structs.replace(_record(ctx, store, marker, snapshot, name), storage_id=storage_id)
        job.repo = Repo(record, store, f"repo/{record.uid}")
        await _refuse_existing(ctx, record)
        await _commits(job, snapshot, dry_run)
        branches, tags = _refs(job, snapshot)
        pulls = await _pulls(job, snapshot, dry_run)
        heads, head_count = await _heads(job)
        if not dry_run:
            await _write_marker(job, marker)
            await _activate(job, branches, tags, dict(snapshot.record.metadata) if snapshot else {})
        return RebuildReport(
            repository=record.name,
            namespace=store.uri,
            dry_run=dry_run,
            commits=job.counts["commits"],
            branches=len(branches),
            tags=len(tags),
            pulls=pulls,
            snapshot=snapshot.key if snapshot else "",
            snapshot_time=snapshot.time if snapshot else 0.0,
            problems=job.problems,
            problem_count=job.problem_count,
            heads=heads,
            head_count=head_count,
        )


async def _heads(job: Job) -> tuple[list[LooseCommit], int]:
    """The commits without a ref. Without a snapshot, a user knows them only by date and message."""
    ids, count = job.scratch.heads(job.ctx.tuning.shown_heads)
    found = await job.each(ids, lambda commit_id: read_commit(job, commit_id))
    return [LooseCommit(one.id, one.creation_date, one.message) for one in found if one is not None], count


async def _marker(job: Job) -> dict[str, str]:
    try:
        data = await job.read(REPOSITORY_MARKER)
        if data is None:
            job.problem(Bad("missing", "repository marker", REPOSITORY_MARKER, "not in the bucket"), ())
            return {}
        return decode_marker(data)
    except FormatError as error:
        job.problem(Bad("corrupt", "repository marker", REPOSITORY_MARKER, str(error)), ())
        return {}


async def _newest_snapshot(job: Job, uid: str) -> _Snapshot | None:
    """The newest undamaged snapshot of this repository."""
    keys = [blob.key async for blob in job.repo.store.list(REFS) if parse_key(blob.key) is not None]
    for key in reversed(keys):
        try:
            data = await job.read(key)
            if data is None:
                continue  # pruned since the listing
            time_ms, record = snapshot_in(data, key)
            if uid not in ("", record.uid):
                raise FormatError("belongs to another repository than the marker")
        except FormatError as error:
            job.problem(Bad("corrupt", "ref snapshot", key, str(error)), ())
            continue
        return _Snapshot(key, time_ms / 1000, record)
    detail = "there is none: commits can be restored, but branches and tags cannot"
    job.problem(Bad("missing", "ref snapshot", REFS, detail), ())
    return None


def _record(
    ctx: Context, store: ObjectStore, marker: dict[str, str], snapshot: _Snapshot | None, name: str
) -> Repository:
    record = snapshot.record if snapshot else None
    uid = marker.get("uid") or (record.uid if record else "")
    name = name or (record.name if record else "") or marker.get("name", "")
    if not uid:
        raise InvalidNamespaceError(
            f"{store.uri} holds no repository of Lakebed: it has neither {REPOSITORY_MARKER} nor a ref snapshot; "
            "is the URI right?"
        )
    validation.check_repository(name)
    return Repository(
        uid=uid,
        name=name,
        storage_namespace=store.uri,
        default_branch=record.default_branch if record else "main",
        creation_date=record.creation_date if record else ctx.now(),
        read_only=record.read_only if record else False,
        protection=record.protection if record else (),
        requirements={one.pattern: Requirements(one.approvals, one.checks) for one in record.requirements}
        if record
        else {},
    )


async def _refuse_existing(ctx: Context, record: Repository) -> None:
    """Check that name, namespace and uid are unused. Two repositories with one uid would share their rows."""
    if await ctx.kv.get(REPOSITORIES, record.name.encode()) is not None:
        raise RepositoryExistsError(
            f"repository {record.name!r} exists in the KV store, nothing was changed: rebuild is for lost repositories"
        )
    await refuse_overlap(ctx, record.storage_namespace)
    async for row in scan_rows(ctx.kv, REPOSITORIES):
        other = decode_repository(row.value)
        if other.uid == record.uid:
            raise NamespaceInUseError(
                f"{record.storage_namespace} is a copy of the data of repository {other.name!r}, which exists: "
                "nothing was changed; a server cannot have both"
            )
    if await ctx.kv.get(DROPS, dropped_repository(record.uid)) is not None:
        raise TooManyAttemptsError(
            f"the rows of repository {record.name!r}, which was deleted, are still being removed, nothing was changed: "
            "try again when a running server has done that (cleanup.grace)"
        )


async def _commits(job: Job, snapshot: _Snapshot | None, dry_run: bool) -> None:
    """Write a row for every undamaged commit of the bucket, and report named commits that are missing."""
    for branch in snapshot.record.branches if snapshot else ():
        job.scratch.add_ref(branch.name, branch.commit_id)
    for tag in snapshot.record.tags if snapshot else ():
        job.scratch.add_ref(tag.name, tag.commit_id)
    page: list[str] = []
    async for blob in job.repo.store.list(COMMITS):
        commit_id = blob.key.removeprefix(COMMITS).removesuffix(".json")
        if validation.is_commit_id(commit_id) and blob.size:  # a killed server can leave an empty file: no commit
            page.append(commit_id)
        if len(page) == _PAGE:
            await _write_rows(job, page, dry_run)
            page = []
    await _write_rows(job, page, dry_run)
    while unknown := job.scratch.unknown_commits():
        for commit_id in unknown:
            job.scratch.add_lost_commit(commit_id)
            job.bad(Bad("missing", "commit", commit_file(commit_id), "not in the bucket", id=commit_id))
    for commit_id, stated, right in job.scratch.wrong_generations():
        detail = f"its generation is {stated}, its parents make it {right}"
        job.bad(Bad("corrupt", "commit", commit_file(commit_id), detail, id=commit_id))
    job.report("commit")


async def _write_rows(job: Job, page: Sequence[str], dry_run: bool) -> None:
    commits: list[Commit] = []
    found = await job.each(page, lambda commit_id: read_commit(job, commit_id))
    for commit_id, commit in zip(page, found, strict=True):
        if commit is None:
            job.scratch.add_lost_commit(commit_id)
        else:
            job.scratch.add_commit(commit)
            commits.append(commit)
    if commits and not dry_run:
        rows = [Put(job.repo.partition, commit_key(commit.id), encode(commit)) for commit in commits]
        await job.ctx.kv.apply(Batch(puts=rows))
    job.count("commits", len(commits))


def _refs(job: Job, snapshot: _Snapshot | None) -> tuple[list[Branch], list[Tag]]:
    """The branches and tags of the snapshot whose commits exist. Reports a finding for each of the others."""
    branches, tags = [], []
    new = job.ctx.ids.new
    for ref in snapshot.record.branches if snapshot else ():
        name, commit_id = ref.name, ref.commit_id
        if job.scratch.has_commit(commit_id):
            branches.append(
                Branch(name=name, uid=new(), gen=1, commit_id=commit_id, staging_token=new(), hidden=ref.hidden)
            )
        else:
            job.problem(Bad("missing", "branch record", name, _left_out("branch", commit_id)), [name])
    for tag in snapshot.record.tags if snapshot else ():
        if job.scratch.has_commit(tag.commit_id):
            tags.append(Tag(name=tag.name, commit_id=tag.commit_id))
        else:
            job.problem(Bad("missing", "tag record", tag.name, _left_out("tag", tag.commit_id)), [tag.name])
    return branches, tags


async def _pulls(job: Job, snapshot: _Snapshot | None, dry_run: bool) -> int:
    """Write the rows of the pull requests of the snapshot. Returns how many there are."""
    count = 0
    for ref in snapshot.record.pulls if snapshot else ():
        found = await read_pull_file(job, ref)
        if found is not None:
            count += 1
            if not dry_run:
                await job.ctx.kv.apply(Batch(puts=restored_rows(job.repo, *found)))
    return count


def _left_out(what: str, commit_id: str) -> str:
    return f"the {what} is left out: its commit {commit_id[:16]} is not in the bucket, or is corrupt"


async def _write_marker(job: Job, marker: dict[str, str]) -> None:
    """Write a missing marker. It protects the namespace from a second repository."""
    if not marker.get("uid"):
        await job.repo.store.put(REPOSITORY_MARKER, encode({"uid": job.repo.record.uid, "name": job.repo.name}))


async def _activate(job: Job, branches: Sequence[Branch], tags: Sequence[Tag], metadata: dict[str, str]) -> None:
    """Write the one batch that makes the repository visible."""
    ctx, record, partition = job.ctx, job.repo.record, job.repo.partition
    name, space = record.name.encode(), record.storage_namespace.encode()
    puts = [Put(REPOSITORIES, name, encode(record)), Put(NAMESPACES, space, record.uid.encode())]
    puts += [Put(partition, branch_key(one.name), encode(one)) for one in branches]
    puts += [Put(partition, tag_key(one.name), encode(one)) for one in tags]
    if metadata:
        puts.append(Put(partition, METADATA, encode(metadata)))
    puts.append(Put(partition, JOURNAL_HEAD, encode(Head(number=await newest_file(job.repo.store)))))
    puts += event_rows(ctx, job.repo, NewEvent(type="repository.created", data={"rebuilt": True}))
    checks = [absent(REPOSITORIES, name), absent(DROPS, dropped_repository(record.uid))]
    checks += [absent(NAMESPACES, other.encode()) for other in namespaces_above(record.storage_namespace)]
    try:
        version = await ctx.kv.apply(Batch(checks=checks, puts=puts))
    except PredicateFailed:
        raise TooManyAttemptsError(
            f"repository {record.name!r}: its name or namespace was taken during the rebuild, nothing was changed"
        ) from None
    except OutcomeUnknownError:
        now = await ctx.kv.get(REPOSITORIES, name)
        if now is None or decode_repository(now.value) != record:
            raise
        version = now.version
    inside = await ctx.kv.scan(NAMESPACES, *inside_namespace(record.storage_namespace), 1)
    if inside:  # claimed in the time between: the batch can check only the namespaces above
        undo = [Delete(REPOSITORIES, name), Delete(NAMESPACES, space)]
        await ctx.kv.apply(Batch(checks=[Check(REPOSITORIES, name, version)], deletes=undo))
        raise NamespaceInUseError(f"{record.storage_namespace} holds the namespace {inside[0].key.decode()!r}")
