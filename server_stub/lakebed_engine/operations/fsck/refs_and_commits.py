"""Checks refs, commits, ref snapshots and open uploads: rows of the KV store against files of the bucket."""

from __future__ import annotations

from collections.abc import AsyncIterator

import msgspec
from lakebed_format import CommitRecord, decode_commit
from lakebed_format.decoding import FormatError
from lakebed_format.keys import COMMITS, REFS, REPOSITORY_MARKER, pull_file
from lakebed_format.refs import PullRef, RefsRecord, decode_marker, decode_pull, decode_refs, parse_key

from lakebed_engine.operations import validation
from lakebed_engine.operations.branch.resolve import decode_tag
from lakebed_engine.operations.context import BAD_ROW, decode_branch, decode_workspace
from lakebed_engine.operations.fsck.scratch_db import Bad
from lakebed_engine.operations.fsck.session import Job
from lakebed_engine.operations.keys import (
    BRANCH_ROWS,
    COMMIT_ROWS,
    ENDED,
    TAG_ROWS,
    UPLOADS,
    WORKSPACE_ROWS,
    commit_key,
    under,
)
from lakebed_engine.operations.multipart.records import decode_ended, decode_upload
from lakebed_engine.stores.kv.base import Row, scan_pages
from lakebed_engine.stores.objects.multipart_objects import folder_of
from lakebed_engine.vocabulary.errors import InvalidRequestError
from lakebed_engine.vocabulary.pulls import Pull, PullEvent
from lakebed_engine.vocabulary.records import Branch, Commit

PAGE = 500

_commit = msgspec.json.Decoder(Commit)


def _pages(job: Job, prefix: bytes) -> AsyncIterator[list[Row]]:
    return scan_pages(job.ctx.kv, job.repo.partition, *under(prefix), size=PAGE)


def as_commit(commit_id: str, record: CommitRecord) -> Commit:
    """The row of a commit file."""
    return Commit(
        id=commit_id,
        parents=record.parents,
        committer=record.committer,
        message=record.message,
        creation_date=record.creation_date,
        metarange_id=record.metarange_id,
        metadata=dict(record.metadata),
        generation=record.generation,
        version=record.version,
    )


def commit_in(data: bytes, commit_id: str) -> Commit:
    """Decode a commit file. Raises FormatError when it contains another commit than its name says."""
    found, record = decode_commit(data)
    if found != commit_id:
        raise FormatError(f"holds commit {found}")
    return as_commit(found, record)


def snapshot_in(data: bytes, key: str) -> tuple[int, RefsRecord]:
    """Decode a ref snapshot: the time in Unix milliseconds, and the record. Raises FormatError, also for bad names."""
    found, time_ms, record = decode_refs(data)
    if (time_ms, found) != parse_key(key):
        raise FormatError("its content does not match its name")
    try:
        validation.check_repository(record.name)
        for branch in (record.default_branch, *(one.name for one in record.branches)):
            validation.check_branch(branch)
        for tag in record.tags:
            validation.check_tag(tag.name)
    except InvalidRequestError as error:
        raise FormatError(error.message) from error
    return time_ms, record


async def check_marker(job: Job) -> None:
    """Check that the marker names this repository."""
    try:
        data = await job.read(REPOSITORY_MARKER)
        if data is None:
            detail = "the namespace has no marker: is this the right disk or bucket?"
            job.problem(Bad("missing", "repository marker", REPOSITORY_MARKER, detail), ())
            return
        uid = decode_marker(data).get("uid")
    except FormatError as error:
        job.problem(Bad("corrupt", "repository marker", REPOSITORY_MARKER, str(error)), ())
        return
    if uid != job.repo.record.uid:
        detail = f"it belongs to repository {uid!r}, the KV store says {job.repo.record.uid!r}"
        job.problem(Bad("corrupt", "repository marker", REPOSITORY_MARKER, detail), ())


async def read_refs(job: Job) -> list[Branch]:
    """Record every branch, tag and open workspace in the scratch. Returns the branches and workspaces."""
    branches: list[Branch] = []
    async for rows in _pages(job, BRANCH_ROWS):
        for row in rows:
            name = row.key.removeprefix(BRANCH_ROWS).decode()
            try:
                branch = decode_branch(row.value)
            except BAD_ROW as error:
                job.problem(Bad("corrupt", "branch record", name, f"cannot be read: {error}"), [name])
                job.trees_known = job.rows_known = False
                continue
            job.scratch.add_ref(name, branch.commit_id)
            branches.append(branch)
        job.count("branches", len(rows))
    branches += await _read_workspaces(job)
    async for rows in _pages(job, TAG_ROWS):
        for row in rows:
            name = row.key.removeprefix(TAG_ROWS).decode()
            try:
                job.scratch.add_ref(name, decode_tag(row.value).commit_id)
            except BAD_ROW as error:
                job.problem(Bad("corrupt", "tag record", name, f"cannot be read: {error}"), [name])
                job.trees_known = job.rows_known = False
        job.count("tags", len(rows))
    return branches


async def _read_workspaces(job: Job) -> list[Branch]:
    """Read the open workspaces. Their uncommitted rows are checked as on a branch, and their bases are refs."""
    found: list[Branch] = []
    async for rows in _pages(job, WORKSPACE_ROWS):
        for row in rows:
            try:
                workspace = decode_workspace(row.value)
            except BAD_ROW as error:
                found_id = row.key.removeprefix(WORKSPACE_ROWS).decode()
                job.problem(Bad("corrupt", "workspace record", found_id, f"cannot be read: {error}"), [found_id])
                job.trees_known = job.rows_known = False
                continue
            if workspace.state == "open":
                job.scratch.add_ref(workspace.name, workspace.commit_id)
                found.append(workspace)
                job.count("open workspaces")
    return found


async def read_uploads(job: Job) -> None:
    """Record files that are not orphans: of open uploads, and parts of ended ones that the cleaner will remove."""
    for kind in (UPLOADS, ENDED):
        async for rows in _pages(job, kind):
            for row in rows:
                try:
                    upload = decode_upload(row.value) if kind == UPLOADS else decode_ended(row.value).upload
                except BAD_ROW as error:
                    job.problem(Bad("corrupt", "upload record", repr(row.key), f"cannot be read: {error}"), ())
                    job.rows_known = job.uploads_known = False
                    continue
                job.scratch.add_file(folder_of(upload.address))
                if kind == UPLOADS:
                    job.scratch.add_file(upload.address)
            if kind == UPLOADS:
                job.count("open uploads", len(rows))


async def check_commits(job: Job) -> None:
    """Check every commit row against its file, then every commit that a ref or a commit names."""
    async for rows in _pages(job, COMMIT_ROWS):
        await job.each(rows, lambda row: _check_commit(job, _id_of(row), row.value))
        job.count("commits", len(rows))
    while unknown := job.scratch.unknown_commits():
        for commit_id in unknown:
            await _find(job, commit_id)
    for commit_id, stated, right in job.scratch.wrong_generations():
        detail = f"its generation is {stated}, its parents make it {right}"
        job.bad(Bad("corrupt", "commit", f"{COMMITS}{commit_id}.json", detail, id=commit_id))
    job.report("commit")


def _id_of(row: Row) -> str:
    return row.key.removeprefix(COMMIT_ROWS).decode()


async def _check_commit(job: Job, commit_id: str, value: bytes) -> None:
    """Check a row against its file. Where they differ, the file is right, because its id is its hash."""
    in_kv = None
    try:
        in_kv = _commit.decode(value)
    except BAD_ROW as error:
        job.bad(Bad("corrupt", "commit row", commit_id, f"cannot be read: {error}", id=commit_id))
    in_bucket = await read_commit(job, commit_id)
    if in_kv and in_bucket and in_kv != in_bucket:
        fields = [field for field in Commit.__struct_fields__ if getattr(in_kv, field) != getattr(in_bucket, field)]
        detail = f"differs from its file in {', '.join(fields)}"
        job.bad(Bad("corrupt", "commit row", commit_id, detail, id=commit_id))
    _learn(job, commit_id, in_bucket or in_kv)


async def _find(job: Job, commit_id: str) -> None:
    """Check a named commit whose row was not seen: it is new, or lost."""
    row = await job.ctx.kv.get(job.repo.partition, commit_key(commit_id))
    if row is not None:
        await _check_commit(job, commit_id, row.value)
        return
    job.bad(
        Bad(
            "missing",
            "commit row",
            commit_id,
            "not in the KV store, although a ref or commit refers to it",
            id=commit_id,
        )
    )
    _learn(job, commit_id, await read_commit(job, commit_id))


async def read_commit(job: Job, commit_id: str) -> Commit | None:
    """The commit of a file. Reports a finding and returns None when the file is missing or damaged."""
    name = f"{COMMITS}{commit_id}.json"
    try:
        data = await job.read(name)
        if data is None:
            job.bad(Bad("missing", "commit", name, "not in the bucket", id=commit_id))
            return None
        return commit_in(data, commit_id)
    except FormatError as error:
        job.bad(Bad("corrupt", "commit", name, str(error), id=commit_id))
        return None


def _learn(job: Job, commit_id: str, commit: Commit | None) -> None:
    if commit is None:
        job.scratch.add_lost_commit(commit_id)
        job.trees_known = job.rows_known = False
    else:
        job.scratch.add_commit(commit)


async def check_snapshots(job: Job) -> None:
    """Check that ref snapshots match their names, and the files of pull requests that they name.

    Only a rebuild needs them. It needs the newest snapshot, so files that only older ones name may be missing.
    """
    newest: RefsRecord | None = None
    async for blob in job.repo.store.list(REFS):
        if parse_key(blob.key) is None:
            continue  # the check of files reports it
        try:
            data = await job.read(blob.key)
            if data is None:
                continue  # pruned since the listing
            newest = snapshot_in(data, blob.key)[1]
            for one in newest.pulls:
                job.scratch.add_file(pull_file(*one))
        except FormatError as error:
            job.problem(Bad("corrupt", "ref snapshot", blob.key, str(error)), ())
        job.count("ref snapshots")
    for one in newest.pulls if newest else ():
        await read_pull_file(job, one)


async def read_pull_file(job: Job, ref: PullRef) -> tuple[Pull, list[PullEvent]] | None:
    """A pull request and its events. Reports a finding and returns None when the file is missing or damaged."""
    name = pull_file(*ref)
    try:
        data = await job.read(name)
        if data is None:
            job.problem(Bad("missing", "pull request", name, "not in the bucket"), ())
            return None
        body, events = decode_pull(data)
        found = msgspec.convert(body, Pull), msgspec.convert(events, list[PullEvent])
        if (found[0].id, found[0].revision) != ref:
            raise FormatError("contains another pull request or revision than its name says")
    except (FormatError, msgspec.ValidationError) as error:
        job.problem(Bad("corrupt", "pull request", name, str(error)), ())
        return None
    job.count("pull requests")
    return found
