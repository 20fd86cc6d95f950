"""Dump and restore of refs: all commits, branches and tags of a repository, as files in its bucket.

A dump is three files of JSON lines, `_lakebed/dumps/<id>.jsonl`. Each is named by the SHA-256 of its content. They can
be restored into a repository without branches, over a copy of the bucket (`_lakebed/` and `data/`), because entries
name their data relative to the namespace. A restore first writes the commits, which it may write again. One batch then
writes the branches and tags, together with the end of the task if there is one.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import AsyncIterator, Mapping
from functools import partial
from typing import TypeVar

import msgspec
from lakebed_format import CommitRecord, commit_id, encode_commit
from lakebed_format.keys import COMMITS, DRAFTS, DUMPS

from lakebed_engine.operations.branch.compare_and_swap import apply
from lakebed_engine.operations.commit.commit_file import commit_row
from lakebed_engine.operations.context import BAD_ROW, Context, Repo, absent, encode, open_repo
from lakebed_engine.operations.events.rows import event_rows
from lakebed_engine.operations.keys import (
    BRANCH_ROWS,
    COMMIT_ROWS,
    OPERATIONS,
    TAG_ROWS,
    branch_key,
    commit_key,
    tag_key,
    under,
)
from lakebed_engine.operations.tasks.runner import TaskRunner, Work
from lakebed_engine.operations.validation import check_branch, check_tag
from lakebed_engine.stores.kv.base import Batch, Put, scan_pages
from lakebed_engine.vocabulary.errors import BlobNotFound, InvalidRequestError
from lakebed_engine.vocabulary.events import NewEvent
from lakebed_engine.vocabulary.records import Branch, Commit, Tag
from lakebed_engine.vocabulary.tasks import DUMP, RESTORE, Task

_T = TypeVar("_T")

PARTS = ("commits", "branches", "tags")

_ID = re.compile(r"[0-9a-f]{64}", re.ASCII)
_PAGE = 500
_LONGEST_LINE = 64 << 20
_PREFIXES = {"commits": COMMIT_ROWS, "branches": BRANCH_ROWS, "tags": TAG_ROWS}


async def dump(ctx: Context, repo_name: str) -> Mapping[str, str]:
    """Write a dump. Returns the ids of its parts."""
    return await _dump(ctx, await open_repo(ctx, repo_name))


async def restore(ctx: Context, repo_name: str, parts: Mapping[str, str], *, force: bool = False) -> None:
    """Read a dump into a repository without branches. Raises InvalidRequestError."""
    repo = await open_repo(ctx, repo_name, write=True, force=force)
    await _check(ctx, repo, parts)
    await _restore(ctx, repo, parts)


async def begin_dump(tasks: TaskRunner, repo_name: str) -> Task:
    """Begin a dump."""
    return await tasks.submit(repo_name, DUMP, "", {}, force=True)


async def begin_restore(tasks: TaskRunner, repo_name: str, parts: Mapping[str, str], *, force: bool = False) -> Task:
    """Begin a restore. Raises InvalidRequestError."""
    repo = await open_repo(tasks.ctx, repo_name, write=True, force=force)
    await _check(tasks.ctx, repo, parts)
    return await tasks.submit(repo_name, RESTORE, "", parts, force=force)


async def status(tasks: TaskRunner, repo_name: str, what: str, task_id: str) -> Task:
    """The state of a dump or a restore. The result of a dump is the ids of its parts. Raises TaskNotFoundError."""
    return await tasks.get(repo_name, what, "", task_id)


async def run_dump(task: Work) -> Mapping[str, str]:
    """Perform a dump task."""
    return await _dump(task.ctx, task.repo)


async def run_restore(task: Work) -> Mapping[str, str]:
    """Perform a restore task. One batch writes the branches and ends the task, so a repeated task finds no branches."""
    await _restore(task.ctx, task.repo, task.task.request, task)
    return {}


async def _dump(ctx: Context, repo: Repo) -> dict[str, str]:
    # refs first: the row of a new commit is written before, or together with, the ref that names it
    return {part: await _write(ctx, repo, part) for part in reversed(PARTS)}


async def _write(ctx: Context, repo: Repo, part: str) -> str:
    digest = hashlib.sha256()

    async def lines() -> AsyncIterator[bytes]:
        async for rows in scan_pages(ctx.kv, repo.partition, *under(_PREFIXES[part]), size=_PAGE):
            text = b"".join(_line(part, row.value) for row in rows)
            digest.update(text)
            yield text

    draft = f"{DRAFTS}{ctx.ids.new()}"  # the sweep removes an interrupted one
    await repo.store.put_stream(draft, lines())
    key = f"{DUMPS}{digest.hexdigest()}.jsonl"
    await repo.store.copy(draft, key)
    await repo.store.delete([draft])
    return digest.hexdigest()


def _line(part: str, value: bytes) -> bytes:
    if part == "commits":
        return encode(msgspec.json.decode(value, type=Commit)) + b"\n"
    if part == "tags":
        return encode(msgspec.json.decode(value, type=Tag)) + b"\n"
    found = msgspec.json.decode(value, type=Branch)
    return encode({"name": found.name, "commit_id": found.commit_id, "hidden": found.hidden}) + b"\n"


class _BranchLine(msgspec.Struct, frozen=True):
    name: str
    commit_id: str
    hidden: bool = False


async def _check(ctx: Context, repo: Repo, parts: Mapping[str, str]) -> None:
    if await ctx.kv.scan(repo.partition, *under(BRANCH_ROWS), 1):
        raise InvalidRequestError(f"repository {repo.name!r} has branches: a restore needs a bare repository")
    for part in PARTS:
        found_id = parts[part]
        try:
            if not _ID.fullmatch(found_id):
                raise BlobNotFound(found_id[:80])
            await repo.store.head(f"{DUMPS}{found_id}.jsonl")
        except BlobNotFound:
            raise InvalidRequestError(
                f"there is no dump of {part} {found_id[:80]!r} in {repo.store.uri}: copy the bucket of the repository "
                "that was dumped, then restore"
            ) from None


async def _restore(ctx: Context, repo: Repo, parts: Mapping[str, str], task: Work | None = None) -> None:
    batch: list[Commit] = []
    async for line in _lines(repo, parts["commits"]):
        batch.append(_decoded(line, Commit))
        if len(batch) == _PAGE:
            await _put_commits(ctx, repo, batch)
            batch = []
    await _put_commits(ctx, repo, batch)
    puts: list[Put] = []
    events: list[NewEvent] = []
    async for line in _lines(repo, parts["branches"]):
        branch = _decoded(line, _BranchLine)
        check_branch(branch.name)
        await _require(ctx, repo, branch.commit_id, f"branch {branch.name!r}")
        record = Branch(
            name=branch.name, uid=ctx.ids.new(), gen=1, commit_id=branch.commit_id, staging_token=ctx.ids.new(),
            hidden=branch.hidden,
        )  # fmt: skip
        puts.append(Put(repo.partition, branch_key(branch.name), encode(record)))
        events.append(_restored("branch.created", branch.commit_id, {}, branch.name))
    async for line in _lines(repo, parts["tags"]):
        tag = _decoded(line, Tag)
        check_tag(tag.name)
        await _require(ctx, repo, tag.commit_id, f"tag {tag.name!r}")
        puts.append(Put(repo.partition, tag_key(tag.name), encode(tag)))
        events.append(_restored("tag.created", tag.commit_id, {"tag": tag.name}))
    if not puts:
        return
    operation = OPERATIONS + ctx.ids.new().encode()
    checks = [absent(put.partition, put.key) for put in puts]
    puts += [Put(repo.partition, operation, str(ctx.now()).encode()), *event_rows(ctx, repo, *events)]
    if task is not None:
        checks.insert(0, task.still_running())
        puts.append(task.done({}))
    if not await apply(ctx, repo, Batch(checks=checks, puts=puts), operation):
        # another server may have performed this task: then it has ended, and no client sees this error
        raise InvalidRequestError(
            f"repository {repo.name!r} got branches or tags during the restore: nothing was restored"
        )


def _restored(type: str, commit_id: str, data: Mapping[str, str], branch: str = "") -> NewEvent:
    gen = 1 if branch else 0
    return NewEvent(
        type=type, branch=branch, gen=gen, commit_id=commit_id, after=commit_id, data={**data, "restored": True}
    )


async def _require(ctx: Context, repo: Repo, wanted: str, what: str) -> None:
    if await ctx.kv.get(repo.partition, commit_key(wanted)) is None:
        raise InvalidRequestError(
            f"{what} is at commit {wanted[:80]!r}, which is not in the dump: nothing was restored"
        )


async def _put_commits(ctx: Context, repo: Repo, batch: list[Commit]) -> None:
    """Write the rows and files of commits. Each commit must match its id."""
    jobs = []
    for one in batch:
        record = CommitRecord(
            parents=one.parents, committer=one.committer, message=one.message, creation_date=one.creation_date,
            metarange_id=one.metarange_id, metadata=one.metadata, generation=one.generation,
        )  # fmt: skip
        if commit_id(record) != one.id:
            raise InvalidRequestError(f"commit {one.id[:80]!r} of the dump does not match its id")
        jobs.append(partial(repo.store.put, f"{COMMITS}{one.id}.json", encode_commit(record)))
    if batch:
        await ctx.runtime.gather(jobs, limit=16)
        await ctx.kv.apply(Batch(puts=[commit_row(repo, one) for one in batch]))


async def _lines(repo: Repo, found_id: str) -> AsyncIterator[bytes]:
    """The lines of a part, read in pieces. The digest is known, and checked, only after the last line."""
    digest, rest = hashlib.sha256(), b""
    async with repo.store.open(f"{DUMPS}{found_id}.jsonl") as chunks:
        async for chunk in chunks:
            digest.update(chunk)
            *whole, rest = (rest + chunk).split(b"\n")
            for line in whole:
                yield line
            if len(rest) > _LONGEST_LINE:
                raise InvalidRequestError(f"the dump {found_id} has a line of more than {_LONGEST_LINE} bytes")
    if rest or digest.hexdigest() != found_id:
        raise InvalidRequestError(f"the dump {found_id} of {repo.store.uri} is damaged: its content has another id")


def _decoded(line: bytes, kind: type[_T]) -> _T:
    try:
        return msgspec.json.decode(line, type=kind)
    except BAD_ROW as error:
        raise InvalidRequestError(f"a line of the dump cannot be read: {error}") from None
