"""Commit of a workspace: its delta onto whatever the branch's head is now (`PROTOCOL.md` 3, ADVANCE).

One batch moves the head, closes the workspace (or gives it its new base) and notes the idempotency key. Everything that
it names is durable before, and it is refused when the branch or the workspace has changed since they were looked at.
"""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

import msgspec
import pyarrow as pa
from lakebed_format.keys import WORKSPACES

from lakebed_engine.operations.branch.commit_guard import Stamp
from lakebed_engine.operations.branch.compare_and_swap import everything_of, nothing_staged, rotated, swap
from lakebed_engine.operations.branch.group_commit import Ticket, together
from lakebed_engine.operations.branch.view import stands, tree_of
from lakebed_engine.operations.commit.commit import check_commit, commit_row, new_commit
from lakebed_engine.operations.commit.idempotency import Done, remembered
from lakebed_engine.operations.context import (
    ATTEMPTS,
    Context,
    Repo,
    Seen,
    encode,
    load_commit,
    open_repo,
    read_branch,
    refuse_protected,
)
from lakebed_engine.operations.history.changed_paths import touched_row, watched
from lakebed_engine.operations.keys import PENDING_MARKERS, idempotency_key, pending_marker_key, staging
from lakebed_engine.operations.validation import check_amount, check_text
from lakebed_engine.operations.workspace.conflicts import Work, refuse_concurrent, refuse_dirty
from lakebed_engine.operations.workspace.lifecycle import (
    check_prefixes,
    closing,
    find,
    find_sealed,
    mark_used,
    record_of,
    rows_of,
)
from lakebed_engine.operations.workspace.selection import Chosen, Globs
from lakebed_engine.stores.kv.base import ABSENT, Check, Put
from lakebed_engine.tree.changed_paths import Touched
from lakebed_engine.tree.diff import diff
from lakebed_engine.tree.fold import fold
from lakebed_engine.tree.layers import write_layer
from lakebed_engine.tree.merge_layers import overlaid
from lakebed_engine.tree.trees import EMPTY_TREE, Tree, Write, begin_all, write_all
from lakebed_engine.vocabulary.errors import (
    EngineError,
    InvalidRequestError,
    MissingFileError,
    NoChangesError,
    OutcomeUnknownError,
    PathsConflictError,
    TooManyAttemptsError,
    WorkspaceClosedError,
)
from lakebed_engine.vocabulary.records import AdvanceRequest, Commit, Layer, Workspace

POLICIES = ("abort", "rebase", "overwrite")

GUARDED = 100
"""Paths that the last batch checks one by one: none was staged on the branch while the tree was folded."""


@dataclass(frozen=True, slots=True)
class _Try:
    """One attempt, on both records as seen."""

    ctx: Context
    repo: Repo
    request: AdvanceRequest
    workspace: Seen
    branch: Seen
    chosen: Chosen
    stamp: Stamp | None


@dataclass(frozen=True, slots=True)
class _Made:
    """A commit that the swap will put into history: its tree, the changes that it does not take, and its `paths`.

    `paths` is None where there are too many to be told one by one.
    """

    attempt: _Try
    commit: Commit
    tree: Tree
    rest: Layer | None
    paths: list[str] | None
    touched: Put


async def advance(
    ctx: Context,
    repo_name: str,
    found_id: str,
    request: AdvanceRequest,
    *,
    direct: bool = True,
    stamp: Stamp | None = None,
) -> Commit:
    """Commit a workspace, or the part of it that globs choose, and land a `stamp` with it. A refusal changes nothing:
    it can be tried again.

    Raises ConcurrentCommitError and DirtyOverlapError with the paths, NoChangesError, WorkspaceClosedError,
    BranchNotFoundError, TooManyAttemptsError; InvalidRequestError also for a glob that matches nothing. `direct`: not
    an import, which protected branches take; ProtectedBranchError.
    """
    _check(request)
    repo = await open_repo(ctx, repo_name, write=True, force=request.force)
    record = record_of(await find(ctx, repo, found_id))
    if direct:
        refuse_protected(repo, record.branch)
    with suppress(WorkspaceClosedError):  # perhaps by the same commit, sent twice: see below
        await find_sealed(ctx, repo, found_id)  # not while others wait
    ticket = Ticket(ctx.runtime.signal(), request, record.uid, stamp=stamp)
    new = await together(ctx, repo, record.branch, ticket, lambda tickets: _Chain(ctx, repo, tickets).run())
    if not request.globs:
        await try_marker(ctx, repo, record.uid, new.id)
    return new


class _Chain:
    """The commit of one workspace, and on top of it those of others who wait, in one swap.

    Only the first one is told what stands against it. Others come along when nothing does, and when their paths are
    none of those before them; whoever does not come along is the first of a later chain.
    """

    def __init__(self, ctx: Context, repo: Repo, tickets: Sequence[Ticket]) -> None:
        self._ctx = ctx
        self._repo = repo
        self._first, *self._others = tickets

    async def run(self) -> None:
        """Answer the first ticket, and perhaps others. Raises what the first one has to hear."""
        for _ in range(ATTEMPTS):
            self._first.answer = await self._round()
            if self._first.answer is not None:
                return
            self._others = []  # what has changed was perhaps one of theirs: the first one must not wait for it
        raise TooManyAttemptsError(
            f"workspace {self._first.uid} of {self._repo.name!r}: lost {ATTEMPTS} races, nothing committed: try again"
        )

    async def _round(self) -> Commit | None:
        """None: one of the records changed meanwhile."""
        ctx, repo, first = self._ctx, self._repo, self._first
        record = record_of(await find(ctx, repo, first.uid))
        done = await _remembered(ctx, repo, record, _request_of(first))
        if done is not None:
            return done
        if first.stamp is not None:
            await first.stamp.require()
        try:
            return await self._attempt(record.branch)
        except WorkspaceClosedError:  # perhaps by the same commit, sent twice
            done = await _remembered(ctx, repo, record, _request_of(first))
            if done is None:
                raise
            return done

    async def _attempt(self, branch_name: str) -> Commit | None:
        ctx, repo = self._ctx, self._repo
        workspace = await find_sealed(ctx, repo, self._first.uid)
        if workspace is None:
            return None
        branch = await read_branch(ctx, repo, branch_name)
        try:
            return await self._try(workspace, branch)
        except MissingFileError:  # of a layer that was compacted or committed long ago
            if await stands(ctx, repo, workspace) and await stands(ctx, repo, branch):
                raise
            return None
        except (PathsConflictError, NoChangesError):  # what is in the way may be this workspace, committed or popped
            if await stands(ctx, repo, workspace):
                raise
            return None

    async def _try(self, workspace: Seen, branch: Seen) -> Commit | None:
        ctx, repo = self._ctx, self._repo
        tip = await load_commit(ctx, repo, branch.record.commit_id)
        tree = await tree_of(ctx, repo, tip.id)
        writes: list[Write] = []
        try:
            request = _request_of(self._first)
            chosen = _chosen(ctx, repo, workspace, request)
            attempt = _Try(ctx, repo, request, workspace, branch, chosen, self._first.stamp)
            made = [await _make(attempt, tip, tree, writes)]
            along = await self._along(branch, made, writes)
            await write_all(ctx.runtime, writes)
        finally:
            for write in writes:
                write.drop()
        try:
            landed = await _swing(ctx, repo, branch, made)
        except OutcomeUnknownError as error:
            for ticket in along:  # as unknown as the first one's: they must not try for themselves
                ticket.answer = OutcomeUnknownError(str(error))
            raise
        if not landed:
            return None
        for ticket, one in zip(along, made[1:], strict=True):
            ticket.answer = one.commit
        return made[0].commit

    async def _along(self, branch: Seen, made: list[_Made], writes: list[Write]) -> list[Ticket]:
        """Those of the others who come along; their commits are added to `made`."""
        along: list[Ticket] = []
        taken, known = set(made[0].paths or ()), {self._first.uid}
        if made[0].paths is None or made[0].attempt.request.replace_prefix:
            return along
        for ticket in self._others:
            if ticket.uid in known:  # the same workspace, sent twice: it is closed, or has another base, by then
                continue
            with suppress(EngineError):  # it hears of it when it is the first
                one = await self._one_more(ticket, branch, made[-1], taken, writes)
                if one is not None:
                    made.append(one)
                    along.append(ticket)
                    known.add(ticket.uid)
                    taken.update(one.paths or ())
        return along

    async def _one_more(
        self, ticket: Ticket, branch: Seen, last: _Made, taken: set[str], writes: list[Write]
    ) -> _Made | None:
        """The commit of one who comes along; None for one who cannot. Not `abort`: for that, the head has moved."""
        ctx, repo, request = self._ctx, self._repo, _request_of(ticket)
        workspace = await find_sealed(ctx, repo, ticket.uid)
        if workspace is None or request.globs or request.replace_prefix or request.policy == "abort":
            return None
        if record_of(workspace).claims or record_of(workspace).branch != branch.record.name:
            return None
        if await _remembered(ctx, repo, record_of(workspace), request) is not None:
            return None
        attempt = _Try(ctx, repo, request, workspace, branch, _chosen(ctx, repo, workspace, request), ticket.stamp)
        if await attempt.chosen.load() > GUARDED or not taken.isdisjoint(await attempt.chosen.paths()):
            return None
        own: list[Write] = []
        try:
            made = await _make(attempt, last.commit, last.tree, own)
        except BaseException:
            for write in own:
                write.drop()
            raise
        writes += own
        begin_all(ctx.runtime, writes)
        return made


def _request_of(ticket: Ticket) -> AdvanceRequest:
    assert isinstance(ticket.request, AdvanceRequest)
    return ticket.request


def _chosen(ctx: Context, repo: Repo, workspace: Seen, request: AdvanceRequest) -> Chosen:
    return Chosen(ctx, repo, workspace.record.layers, Globs(request.globs))


def _check(request: AdvanceRequest) -> None:
    if request.policy not in POLICIES:
        raise InvalidRequestError(f"policy {request.policy[:40]!r}: must be one of {', '.join(POLICIES)}")
    check_commit(request.message, request.metadata, request.committer, request.date)
    check_prefixes(request.replace_prefix)
    check_amount(request.conflicts_amount)
    check_text("idempotency key", request.idempotency_key)
    if len(request.idempotency_key) > 256:
        raise InvalidRequestError("idempotency key: at most 256 characters")


async def _remembered(ctx: Context, repo: Repo, record: Workspace, request: AdvanceRequest) -> Commit | None:
    """The commit of an earlier call with the same idempotency key. KeyReusedError if that asked for another."""
    if not request.idempotency_key:
        return None
    refusal = f"idempotency key {request.idempotency_key[:80]!r} was used for another commit of this workspace"
    return await remembered(ctx, repo, _done_key(record, request), _asked(request), refusal)


def _done_key(record: Workspace, request: AdvanceRequest) -> bytes:
    return idempotency_key(record.uid, request.idempotency_key)


def _asked(request: AdvanceRequest) -> str:
    """A digest of what is to be committed, and how."""
    plain = msgspec.structs.replace(request, conflicts_amount=1, force=False)
    return hashlib.sha256(msgspec.json.encode(plain, order="deterministic")).hexdigest()


async def _make(attempt: _Try, tip: Commit, tree: Tree, writes: list[Write]) -> _Made:
    """The commit on top of `tip`, whose tree is `tree`: the branch's head, or one that the same swap will install.

    Raises what stands against it, as `advance` does.
    """
    ctx, repo, request = attempt.ctx, attempt.repo, attempt.request
    record = record_of(attempt.workspace)
    rows = await attempt.chosen.load()
    if not rows and not (request.allow_empty or request.replace_prefix or request.globs):
        raise NoChangesError(f"workspace {record.uid} of {repo.name!r}: no changes to commit")
    if request.globs:
        attempt.chosen.refuse_idle()
    await _refuse_collisions(attempt)
    touched = Touched()
    delta = watched(ctx.runtime, _delta(attempt, tree), touched)
    folded = await fold(ctx.trees, repo.store, ctx.runtime, tree, delta, later=writes, relocate=request.relocate)
    if not folded.changed and not request.allow_empty:
        raise NoChangesError(
            f"workspace {record.uid} of {repo.name!r}: no changes to commit: it equals the head of the branch"
        )
    new, write = new_commit(
        ctx,
        repo,
        [tip],
        folded.tree.id,
        committer=request.committer,
        message=request.message or record.message or f"Workspace {record.uid}",
        metadata=request.metadata,
        date=request.date,
    )
    writes.append(write)
    rest = None
    if request.globs:
        await mark_used(repo, record)
        rest = await write_layer(repo.store, ctx.runtime, ctx.ids.new(), attempt.chosen.rest())
    paths = await attempt.chosen.paths() if rows <= GUARDED else None
    return _Made(attempt, new, folded.tree, rest, paths, touched_row(repo, new.id, touched))


async def _refuse_collisions(attempt: _Try) -> None:
    record, request = record_of(attempt.workspace), attempt.request
    claims = (*record.claims, *request.replace_prefix)
    work = Work(
        attempt.ctx, attempt.repo, attempt.workspace, attempt.branch, attempt.chosen, claims, request.conflicts_amount
    )
    await refuse_dirty(work)
    if attempt.branch.record.commit_id != record.commit_id and request.policy != "overwrite":
        await refuse_concurrent(work, always=request.policy == "abort")


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


async def _swing(ctx: Context, repo: Repo, seen: Seen, made: Sequence[_Made]) -> bool:
    """The batch. False: one of the records changed, or a row was staged that a commit would have to look at."""
    old = seen.record
    checks: list[Check] = []
    puts: list[Put] = []
    dropped: list[Layer] = []
    for one in made:
        checks += _checks(one)
        puts += _rows(one)
        record = record_of(one.attempt.workspace)
        dropped += everything_of(record) if one.rest is None else record.layers
    turned = await rotated(ctx, old)
    branch = msgspec.structs.replace(
        old, gen=old.gen + 1, commit_id=made[-1].commit.id, staging_token=turned.token, layers=turned.layers
    )
    return await swap(
        ctx,
        repo,
        seen,
        branch,
        puts=puts,
        checks=[*checks, *turned.checks],
        dropped=[*dropped, *turned.dropped],
    )


def _checks(made: _Made) -> list[Check]:
    """What must still hold of a workspace, of what its stamp says, and of the branch where it touches it."""
    attempt = made.attempt
    checks = [attempt.workspace.check(attempt.repo)]
    if attempt.stamp is not None:
        checks.append(attempt.stamp.check)
    if made.rest is None:
        checks.append(nothing_staged(attempt.workspace.record))  # or a row that was acknowledged would be lost
    live = staging(attempt.branch.record.staging_token)
    return checks + [Check(live, path.encode(), ABSENT) for path in made.paths or ()]


def _rows(made: _Made) -> list[Put]:
    """The commit, the workspace's new record, its idempotency key, its stamp, and its marker, still to be written."""
    attempt, new = made.attempt, made.commit
    repo, request, record = attempt.repo, attempt.request, record_of(attempt.workspace)
    rows = [commit_row(repo, new), made.touched, *(attempt.stamp.ended(new) if attempt.stamp is not None else ())]
    if made.rest is None:
        after = closing(attempt.ctx, record, "committed", new.id)
        rows.append(Put(repo.partition, pending_marker_key(record.uid), new.id.encode()))
    else:
        after = _continued(record, new, made.rest)
    if request.idempotency_key:
        rows.append(Put(repo.partition, _done_key(record, request), encode(Done(new.id, _asked(request)))))
    return [*rows, *rows_of(repo, after)]


def _continued(record: Workspace, new: Commit, rest: Layer) -> Workspace:
    """The record after a partial commit: the rest, on the new commit, with a prefix that no commit names yet."""
    old = (*record.old_prefixes, record.prefix)
    return msgspec.structs.replace(
        record,
        gen=record.gen + 1,
        commit_id=new.id,
        layers=(rest,) if rest.parts else (),
        prefix=f"{WORKSPACES}{record.uid}.{len(old)}/",
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
    await repo.store.put(f"{WORKSPACES}{found_id}.committed", encode({"workspace": found_id, "commit_id": commit_id}))
    ctx.marked.put((PENDING_MARKERS, found_id), True, 1)
