"""Commit of a workspace: its delta onto whatever the branch's head is now (`PROTOCOL.md` 3, ADVANCE).

Above `workspaces`, `collisions`, `commits`. One batch moves the head, closes the workspace (or gives it its new base)
and notes the idempotency key. Everything that it names is durable before, and it is refused when the branch or the
workspace has changed since they were looked at.
"""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass

import msgspec
import pyarrow as pa

from lakebed_engine.operations.collisions import Work, refuse_concurrent, refuse_dirty
from lakebed_engine.operations.commits import check_commit_texts, commit_row, new_commit
from lakebed_engine.operations.context import (
    ATTEMPTS,
    Context,
    Repo,
    Seen,
    encode,
    load_commit,
    open_repo,
    read_branch,
    staging,
)
from lakebed_engine.operations.names import check_amount, check_text
from lakebed_engine.operations.parts import Chosen, Globs
from lakebed_engine.operations.swap import everything_of, nothing_staged, rotated, swap
from lakebed_engine.operations.turns import turn
from lakebed_engine.operations.views import stands, tree_of
from lakebed_engine.operations.workspaces import (
    FOLDER,
    check_prefixes,
    closing,
    find,
    find_sealed,
    record_of,
    row_of,
)
from lakebed_engine.stores.kv.base import ABSENT, Check, Put
from lakebed_engine.tree.diff import diff
from lakebed_engine.tree.fold import fold
from lakebed_engine.tree.layers import write_layer
from lakebed_engine.tree.staged import overlaid
from lakebed_engine.tree.trees import EMPTY_TREE, Tree, Write, write_all
from lakebed_engine.vocabulary.errors import (
    EngineError,
    InvalidRequestError,
    MissingFileError,
    NoChangesError,
    PathsConflictError,
    TooManyAttemptsError,
    WorkspaceClosedError,
)
from lakebed_engine.vocabulary.records import AdvanceRequest, Commit, Layer, Workspace

POLICIES = ("abort", "rebase", "overwrite")

MARKERS = b"marker/"
"""Prefix of rows, in a repository's partition, about markers that are still to be written: by workspace id."""

KEYS = b"idempotency/"
"""Prefix of idempotency keys in a repository's partition: `idempotency/<workspace id>/<key>`."""

GUARDED = 100
"""Paths that the last batch checks one by one: none was staged on the branch while the tree was folded."""


class Done(msgspec.Struct, frozen=True):
    """What an idempotency key remembers: the commit, and what was asked for."""

    commit_id: str
    asked: str


@dataclass(frozen=True, slots=True)
class _Try:
    """One attempt, on both records as seen."""

    ctx: Context
    repo: Repo
    request: AdvanceRequest
    workspace: Seen
    branch: Seen
    chosen: Chosen


async def advance(ctx: Context, repo_name: str, found_id: str, request: AdvanceRequest) -> Commit:
    """Commit a workspace, or the part of it that globs choose. A refusal changes nothing: it can be tried again.

    Raises ConcurrentCommitError and DirtyOverlapError with the paths, NoChangesError, WorkspaceClosedError,
    BranchNotFoundError, TooManyAttemptsError; InvalidRequestError also for a glob that matches nothing.
    """
    _check(request)
    repo = await open_repo(ctx, repo_name, write=True, force=request.force)
    seen = await find(ctx, repo, found_id)
    with suppress(WorkspaceClosedError):  # perhaps by the same commit, sent twice: see below
        await find_sealed(ctx, repo, found_id)  # not while others wait
    async with turn(ctx, repo, record_of(seen).branch):
        for _ in range(ATTEMPTS):
            done = await _remembered(ctx, repo, record_of(seen), request)
            if done is not None:
                return done
            try:
                new = await _attempt(ctx, repo, found_id, request)
            except WorkspaceClosedError:  # perhaps by the same commit, sent twice
                done = await _remembered(ctx, repo, record_of(seen), request)
                if done is None:
                    raise
                return done
            if new is not None:
                break
        else:
            raise TooManyAttemptsError(
                f"workspace {record_of(seen).uid} of {repo.name!r}: lost {ATTEMPTS} races, nothing committed: try again"
            )
    if not request.globs:
        await try_marker(ctx, repo, record_of(seen).uid, new.id)
    return new


def _check(request: AdvanceRequest) -> None:
    if request.policy not in POLICIES:
        raise InvalidRequestError(f"policy {request.policy[:40]!r}: must be one of {', '.join(POLICIES)}")
    check_commit_texts(request.message, request.metadata, request.committer)
    if request.date is not None and not -(2**63) <= request.date < 2**63:
        raise InvalidRequestError(f"date {str(request.date)[:40]}: must be Unix seconds of at most 64 bits")
    check_prefixes(request.replace_prefix)
    check_amount(request.conflicts_amount)
    check_text("idempotency key", request.idempotency_key)
    if len(request.idempotency_key) > 256:
        raise InvalidRequestError("idempotency key: at most 256 characters")


async def _remembered(ctx: Context, repo: Repo, record: Workspace, request: AdvanceRequest) -> Commit | None:
    """The commit of an earlier call with the same idempotency key. InvalidRequestError if that asked for another."""
    if not request.idempotency_key:
        return None
    found = await ctx.kv.get(repo.partition, _done_key(record, request))
    if found is None:
        return None
    done = msgspec.json.decode(found.value, type=Done)
    if done.asked != _asked(request):
        raise InvalidRequestError(
            f"idempotency key {request.idempotency_key[:80]!r} was used for another commit of this workspace"
        )
    return await load_commit(ctx, repo, done.commit_id)


def _done_key(record: Workspace, request: AdvanceRequest) -> bytes:
    return KEYS + f"{record.uid}/{request.idempotency_key}".encode()


def _asked(request: AdvanceRequest) -> str:
    """A digest of what is to be committed, and how."""
    plain = msgspec.structs.replace(request, conflicts_amount=1, force=False)
    return hashlib.sha256(msgspec.json.encode(plain, order="deterministic")).hexdigest()


async def _attempt(ctx: Context, repo: Repo, found_id: str, request: AdvanceRequest) -> Commit | None:
    """None: one of the records changed meanwhile."""
    workspace = await find_sealed(ctx, repo, found_id)
    if workspace is None:
        return None
    branch = await read_branch(ctx, repo, record_of(workspace).branch)
    chosen = Chosen(ctx, repo, workspace.record.layers, Globs(request.globs))
    attempt = _Try(ctx, repo, request, workspace, branch, chosen)
    try:
        return await _try_advance(attempt)
    except MissingFileError:  # of a layer that was compacted or committed long ago
        if await stands(ctx, repo, workspace) and await stands(ctx, repo, branch):
            raise
        return None
    except (PathsConflictError, NoChangesError):  # what stands in the way may be this workspace, committed or popped
        if await stands(ctx, repo, workspace):
            raise
        return None


async def _try_advance(attempt: _Try) -> Commit | None:
    ctx, repo, request = attempt.ctx, attempt.repo, attempt.request
    record, head_id = record_of(attempt.workspace), attempt.branch.record.commit_id
    rows = await attempt.chosen.load()
    if not rows and not (request.allow_empty or request.replace_prefix or request.globs):
        raise NoChangesError(f"workspace {record.uid} of {repo.name!r}: no changes to commit")
    if request.globs:
        attempt.chosen.refuse_idle()
    claims = (*record.claims, *request.replace_prefix)
    work = Work(ctx, repo, attempt.workspace, attempt.branch, attempt.chosen, claims, request.conflicts_amount)
    await refuse_dirty(work)
    if head_id != record.commit_id and request.policy != "overwrite":
        await refuse_concurrent(work, always=request.policy == "abort")
    head = await tree_of(ctx, repo, head_id)
    writes: list[Write] = []
    try:
        folded = await fold(ctx.trees, repo.store, ctx.runtime, head, _delta(attempt, head), later=writes)
        if not folded.changed and not request.allow_empty:
            raise NoChangesError(
                f"workspace {record.uid} of {repo.name!r}: no changes to commit: it equals the head of the branch"
            )
        new = await _made(attempt, folded.tree, head_id, writes)
    finally:
        for write in writes:
            write.drop()
    rest = None
    if request.globs:
        rest = await write_layer(repo.store, ctx.runtime, ctx.ids.new(), attempt.chosen.rest())
    return new if await _swing(attempt, new, rest, rows) else None


async def _made(attempt: _Try, tree: Tree, head_id: str, writes: list[Write]) -> Commit:
    """The commit of a tree: its file and the tree's are written at the same time."""
    ctx, repo, request, record = attempt.ctx, attempt.repo, attempt.request, record_of(attempt.workspace)
    new, write = new_commit(
        ctx,
        repo,
        [await load_commit(ctx, repo, head_id)],
        tree.id,
        committer=request.committer,
        message=request.message or record.message or f"Workspace {record.uid}",
        metadata=request.metadata,
        date=request.date,
    )
    await write_all(ctx.runtime, [*writes, write])
    return new


def _delta(attempt: _Try, head: Tree) -> AsyncIterator[pa.Table]:
    """The chosen rows, over tombstones for all that the head has below the replaced prefixes."""
    prefixes = attempt.request.replace_prefix
    if not prefixes:
        return attempt.chosen.rows()
    ctx = attempt.ctx

    async def gone() -> AsyncIterator[pa.Table]:
        last = None
        for prefix in sorted(prefixes):
            if last is not None and prefix.startswith(last):
                continue
            last = prefix
            async for rows in diff(ctx.trees, attempt.repo.store, ctx.runtime, head, EMPTY_TREE, prefix=prefix):
                yield await ctx.runtime.cpu(rows.as_delta)

    return overlaid(ctx.runtime, [attempt.chosen.rows(), gone()])


async def _swing(attempt: _Try, new: Commit, rest: Layer | None, rows: int) -> bool:
    """The batch. False: one of the records changed, or a row was staged that the commit would have to look at."""
    ctx, repo, request = attempt.ctx, attempt.repo, attempt.request
    record = record_of(attempt.workspace)
    checks = [attempt.workspace.check(repo)]
    puts = [commit_row(repo, new)]
    if rest is None:
        after = closing(ctx, record, "committed", new.id)
        checks.append(nothing_staged(record))  # or a row that was acknowledged would be lost
        puts.append(Put(repo.partition, MARKERS + record.uid.encode(), new.id.encode()))
        dropped = everything_of(record)
    else:
        after, dropped = _continued(record, new, rest), list(record.layers)
    if request.idempotency_key:
        puts.append(Put(repo.partition, _done_key(record, request), encode(Done(new.id, _asked(request)))))
    if rows <= GUARDED:
        live = staging(attempt.branch.record.staging_token)
        checks += [Check(live, path.encode(), ABSENT) for path in await attempt.chosen.paths()]
    old = attempt.branch.record
    turned = await rotated(ctx, old)
    branch = msgspec.structs.replace(
        old, gen=old.gen + 1, commit_id=new.id, staging_token=turned.token, layers=turned.layers
    )
    return await swap(
        ctx,
        repo,
        attempt.branch,
        branch,
        puts=[*puts, row_of(repo, after)],
        checks=[*checks, *turned.checks],
        dropped=[*dropped, *turned.dropped],
    )


def _continued(record: Workspace, new: Commit, rest: Layer) -> Workspace:
    """The record after a partial commit: the rest, on the new commit, with a prefix that no commit names yet."""
    old = (*record.old_prefixes, record.prefix)
    return msgspec.structs.replace(
        record,
        gen=record.gen + 1,
        commit_id=new.id,
        layers=(rest,) if rest.parts else (),
        prefix=f"{FOLDER}{record.uid}.{len(old)}/",
        old_prefixes=old,
    )


async def try_marker(ctx: Context, repo: Repo, found_id: str, commit_id: str) -> None:
    """Tell writers that see only the bucket that a workspace was committed. If it fails, the janitor does it."""
    try:
        await write_marker(ctx, repo, found_id, commit_id)
    except EngineError:
        return


async def write_marker(ctx: Context, repo: Repo, found_id: str, commit_id: str) -> None:
    """Write `workspaces/<id>.committed`."""
    await repo.store.put(f"{FOLDER}{found_id}.committed", encode({"workspace": found_id, "commit_id": commit_id}))
    ctx.marked.put((MARKERS, found_id), True, 1)
