"""Refs, commits and ref snapshots: rows of the KV store against files of the bucket. Above `job`."""

from __future__ import annotations

from collections.abc import AsyncIterator

import msgspec
from lakebed_format import CommitRecord, decode_commit
from lakebed_format.refs import FOLDER, decode_refs, parse_key

from lakebed_engine.operations.checking.job import Job
from lakebed_engine.operations.checking.ledger import Bad
from lakebed_engine.operations.context import Repo, commit_key, decode_branch
from lakebed_engine.operations.refs import decode_tag
from lakebed_engine.operations.repositories import COMMITS, MARKER
from lakebed_engine.stores.kv.base import KVStore, Row
from lakebed_engine.vocabulary.records import Branch, Commit

PAGE = 500

_commit = msgspec.json.Decoder(Commit)


async def rows_of(kv: KVStore, partition: str, prefix: bytes) -> AsyncIterator[list[Row]]:
    """All rows of a partition whose key begins with `prefix` (which ends in a slash), in pages."""
    start, end = prefix, prefix[:-1] + b"0"
    while rows := await kv.scan(partition, start, end, PAGE):
        yield rows
        start = rows[-1].key + b"\0"


def as_commit(commit_id: str, record: CommitRecord) -> Commit:
    """The row that belongs to a commit file."""
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
    """The commit of a file. Raises ValueError when it is not the one that its name says."""
    found, record = decode_commit(data)
    if found != commit_id:
        raise ValueError(f"holds commit {found}")
    return as_commit(found, record)


async def check_marker(job: Job) -> None:
    """The marker says whose namespace this is."""
    data = await job.read(MARKER)
    if data is None:
        detail = "the namespace has no marker: is the right disk or bucket there?"
        job.problem(Bad("missing", "repository marker", MARKER, detail), ())
        return
    try:
        uid = dict(msgspec.json.decode(data)).get("uid")
    except (msgspec.DecodeError, TypeError, ValueError) as error:
        job.problem(Bad("corrupt", "repository marker", MARKER, f"cannot be read: {error}"), ())
        return
    if uid != job.repo.record.uid:
        detail = f"it belongs to repository {uid!r}, the KV store says {job.repo.record.uid!r}"
        job.problem(Bad("corrupt", "repository marker", MARKER, detail), ())


async def read_refs(job: Job) -> list[Branch]:
    """Every branch and tag goes into the ledger; the branches, for what is uncommitted on them."""
    branches: list[Branch] = []
    async for rows in rows_of(job.ctx.kv, job.repo.partition, b"branch/"):
        for row in rows:
            name = row.key.removeprefix(b"branch/").decode()
            try:
                branch = decode_branch(row.value)
            except msgspec.DecodeError as error:
                job.problem(Bad("corrupt", "branch record", name, f"cannot be read: {error}"), [name])
                job.trees_known = job.rows_known = False
                continue
            job.ledger.add_ref(name, branch.commit_id)
            branches.append(branch)
        job.count("branches", len(rows))
    async for rows in rows_of(job.ctx.kv, job.repo.partition, b"tag/"):
        for row in rows:
            name = row.key.removeprefix(b"tag/").decode()
            try:
                job.ledger.add_ref(name, decode_tag(row.value).commit_id)
            except msgspec.DecodeError as error:
                job.problem(Bad("corrupt", "tag record", name, f"cannot be read: {error}"), [name])
                job.trees_known = job.rows_known = False
        job.count("tags", len(rows))
    return branches


async def check_commits(job: Job) -> None:
    """Every commit row against its file; and every commit that a ref or a commit names."""
    async for rows in rows_of(job.ctx.kv, job.repo.partition, b"commit/"):
        for row in rows:
            _learn(job, row.key, row.value)
    while unknown := job.ledger.unknown_commits():
        for commit_id in unknown:
            await _find(job, commit_id)
    async for rows in rows_of(job.ctx.kv, job.repo.partition, b"commit/"):
        await job.each(rows, lambda row: _check_file(job, row))
        job.count("commits", len(rows))
    for commit_id, stated, right in job.ledger.wrong_generations():
        detail = f"its generation is {stated}, its parents make it {right}"
        job.bad(Bad("corrupt", "commit", f"{COMMITS}{commit_id}.json", detail, id=commit_id))
    job.report("commit")


def _learn(job: Job, key: bytes, value: bytes) -> bool:
    """Put a commit row into the ledger, if it can be read."""
    commit_id = key.removeprefix(b"commit/").decode()
    try:
        commit = _commit.decode(value)
    except msgspec.DecodeError as error:
        job.bad(Bad("corrupt", "commit row", commit_id, f"cannot be read: {error}", id=commit_id))
        return False
    job.ledger.add_commit(commit_id, commit.metarange_id, commit.generation, commit.parents)
    return True


async def _find(job: Job, commit_id: str) -> None:
    """A commit that something names, but no readable row was seen: a new row, the file, or nothing."""
    row = await job.ctx.kv.get(job.repo.partition, commit_key(commit_id))
    if row is not None and _learnt(job, commit_id, row.value):
        return
    name = f"{COMMITS}{commit_id}.json"
    data = await job.read(name)
    try:
        commit = None if data is None else commit_in(data, commit_id)
    except ValueError:
        commit = None
    if row is None:
        where = (
            "its file is there: `lakebed rebuild` into an empty KV store would bring it back" if commit else "no file"
        )
        job.bad(Bad("missing", "commit row", commit_id, f"no row in the KV store; {where}", id=commit_id))
        if commit is None:
            kind = "missing" if data is None else "corrupt"
            detail = "not in the bucket" if data is None else "does not hash to its id"
            job.bad(Bad(kind, "commit", name, detail, id=commit_id))
    if commit is not None:
        job.ledger.add_commit(commit_id, commit.metarange_id, commit.generation, commit.parents)
    else:
        job.ledger.add_lost_commit(commit_id)
        job.trees_known = job.rows_known = False


def _learnt(job: Job, commit_id: str, value: bytes) -> bool:
    """As `_learn`, without a word about a row that was told of already."""
    try:
        commit = _commit.decode(value)
    except msgspec.DecodeError:
        return False
    job.ledger.add_commit(commit_id, commit.metarange_id, commit.generation, commit.parents)
    return True


async def _check_file(job: Job, row: Row) -> None:
    commit_id = row.key.removeprefix(b"commit/").decode()
    name = f"{COMMITS}{commit_id}.json"
    data = await job.read(name)
    if data is None:
        job.bad(Bad("missing", "commit", name, "not in the bucket, though the KV store has it", id=commit_id))
        return
    try:
        in_bucket = commit_in(data, commit_id)
    except ValueError as error:
        job.bad(Bad("corrupt", "commit", name, str(error), id=commit_id))
        return
    try:
        in_kv = _commit.decode(row.value)
    except msgspec.DecodeError:
        if not job.ledger.has_commit(commit_id):
            job.ledger.add_commit(commit_id, in_bucket.metarange_id, in_bucket.generation, in_bucket.parents)
        return
    if in_kv != in_bucket:
        fields = [field for field in Commit.__struct_fields__ if getattr(in_kv, field) != getattr(in_bucket, field)]
        detail = f"differs from its file in {', '.join(fields)}"
        job.bad(Bad("corrupt", "commit row", commit_id, detail, id=commit_id))


async def check_snapshots(job: Job) -> None:
    """Ref snapshots must say what their names say; only a rebuild needs them."""
    async for blob in job.repo.store.list(FOLDER):
        found = parse_key(blob.key)
        if found is None:
            continue  # the orphans tell of it
        data = await job.read(blob.key)
        if data is None:
            continue  # pruned meanwhile
        try:
            if decode_refs(data)[0] != found[1]:
                raise ValueError("does not say what its name says")
        except ValueError as error:
            job.problem(Bad("corrupt", "ref snapshot", blob.key, str(error)), ())
        job.count("ref snapshots")
