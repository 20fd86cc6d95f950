"""Publish: changes that are committed at once, never staged; what others have staged stays as it is.

Several callers who wait go into one swap, each with a commit of its own, one on top of the other. The changes have no
base, so the last one of a path stands, as with uploads. Only a row that is staged on the branch at one of their paths
is in the way: it would hide the commit, and overwrite it later, though it is older.
"""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass

import msgspec
import pyarrow as pa

from lakebed_engine.operations.branch.compare_and_swap import is_staged, rotated, swap
from lakebed_engine.operations.branch.group_commit import Ticket, together
from lakebed_engine.operations.branch.view import View, sources_of, stands, tree_of
from lakebed_engine.operations.commit.commit import check_commit, commit_row, new_commit
from lakebed_engine.operations.commit.idempotency import Done, remembered
from lakebed_engine.operations.context import ATTEMPTS, Context, Repo, Seen, encode, load_commit, open_repo, read_branch
from lakebed_engine.operations.history.changed_paths import touched_row
from lakebed_engine.operations.keys import WORKSPACE_DUE, due_key, idempotency_key, staging
from lakebed_engine.operations.validation import check_text
from lakebed_engine.operations.workspace.commit import GUARDED
from lakebed_engine.operations.workspace.lifecycle import REMEMBERED
from lakebed_engine.stores.kv.base import ABSENT, Check, Put
from lakebed_engine.tree.changed_paths import Touched
from lakebed_engine.tree.fold import fold
from lakebed_engine.tree.rows import delta_table
from lakebed_engine.tree.trees import Write, begin_all, write_all
from lakebed_engine.vocabulary.errors import (
    BranchNotFoundError,
    Conflict,
    DirtyOverlapError,
    EngineError,
    InvalidRequestError,
    MissingFileError,
    NoChangesError,
    OutcomeUnknownError,
    TooManyAttemptsError,
)
from lakebed_engine.vocabulary.records import Branch, Commit, Entry, PublishRequest

_TOLD = 100
"""Paths that a refusal tells at most."""

_FEW = 64
"""Changes of one caller up to which they become a delta together with those of others."""

Change = tuple[str, Entry | None]


@dataclass(eq=False)
class Publication:
    """What one caller wants: changes in order of their paths, and the commit that is to hold them."""

    request: PublishRequest
    changes: Sequence[Change]
    asked: str
    """A digest of all of it, by content: sent again, the data has other addresses."""
    rows: pa.Table | None = None
    """The changes as a delta; of few they are made for all who go together, which takes hardly longer than for one."""
    again: bool = False
    """It had landed before: an earlier call with the same key."""


async def publish(
    ctx: Context, repo_name: str, branch: str, changes: Sequence[Change], request: PublishRequest
) -> tuple[Commit, bool]:
    """Commit changes (None: delete the path) onto a branch; and whether this key had done it before.

    Raises DirtyOverlapError with the paths, NoChangesError, BranchNotFoundError, ProtectedBranchError,
    TooManyAttemptsError, InvalidRequestError.
    """
    check_request(request)
    ordered = sorted(changes, key=lambda change: change[0].encode())
    order = Publication(request, ordered, _asked(ordered, request))
    if len(ordered) > _FEW:
        order.rows = delta_table(ordered)
    repo = await open_repo(ctx, repo_name, write=True, force=request.force, branch=branch)
    record = (await read_branch(ctx, repo, branch)).record
    ticket = Ticket(ctx.runtime.signal(), order, record.uid)
    new = await together(ctx, repo, branch, ticket, lambda tickets: _Chain(ctx, repo, branch, tickets).run())
    return new, order.again


def check_request(request: PublishRequest) -> None:
    """Raises InvalidRequestError."""
    check_commit(request.message, request.metadata, request.committer, request.date)
    check_text("idempotency key", request.idempotency_key)
    if len(request.idempotency_key) > 256:
        raise InvalidRequestError("idempotency key: at most 256 characters")


class _Chain:
    """The commits of several tickets, in the order in which they came."""

    def __init__(self, ctx: Context, repo: Repo, branch: str, tickets: Sequence[Ticket]) -> None:
        self._ctx = ctx
        self._repo = repo
        self._branch = branch
        self._tickets = list(tickets)

    async def run(self) -> None:
        """Answer the tickets. Raises only when nothing has landed."""
        for _ in range(ATTEMPTS):
            seen = await read_branch(self._ctx, self._repo, self._branch)
            try:
                await self._answer_first(seen)
                if not self._tickets or await self._try(seen):
                    return
            except MissingFileError:  # of a layer that was compacted or committed long ago
                if await stands(self._ctx, self._repo, seen):
                    raise
        self._answer(
            self._tickets,
            TooManyAttemptsError(
                f"branch {self._branch!r} of {self._repo.name!r}: lost {ATTEMPTS} races, nothing committed: try again"
            ),
        )

    async def _answer_first(self, seen: Seen) -> None:
        """Those who need no swap: their commit is there already, they are refused, or the branch is another one."""
        view = await self._staged(seen.record)
        known: set[str] = set()
        for ticket in list(self._tickets):
            order = _order(ticket)
            try:
                ticket.answer = await _remembered(self._ctx, self._repo, seen.record, order)
                if ticket.answer is not None:
                    order.again = True
                elif ticket.uid != seen.record.uid:
                    raise BranchNotFoundError(
                        f"branch {self._branch!r} was deleted and created again meanwhile: nothing committed"
                    )
                elif view is not None:
                    await self._refuse_staged(view, seen, order)
            except MissingFileError:
                raise
            except EngineError as error:
                ticket.answer = error
            key = order.request.idempotency_key
            if ticket.answer is not None or (key and key in known):  # sent twice: the second one comes after this one
                self._tickets.remove(ticket)
            known.add(key)

    async def _staged(self, record: Branch) -> View | None:
        """What is staged, when anything is."""
        if not await is_staged(self._ctx, record):
            return None
        return View(self._ctx, self._repo, sources_of(record), await tree_of(self._ctx, self._repo, record.commit_id))

    async def _refuse_staged(self, view: View, seen: Seen, order: Publication) -> None:
        conflicts: list[Conflict] = []
        more = False
        for path, entry in order.changes:
            staged, ours = await view.lookup(path)
            if not staged:
                continue
            if len(conflicts) == _TOLD:
                more = True
                break
            base = await self._ctx.trees.find(self._repo.store, view.tree, path)
            conflicts.append(Conflict(path, *[None if one is None else one.checksum for one in (base, ours, entry)]))
        if not conflicts:
            return
        shown = ", ".join(repr(one.path) for one in conflicts[:3]) + (" and more" if more or len(conflicts) > 3 else "")
        raise DirtyOverlapError(
            f"branch {seen.record.name!r} of {self._repo.name!r} has uncommitted changes at {shown}, which are to be "
            "committed anew; nothing was done: commit or reset them first",
            conflicts,
            more,
        )

    async def _try(self, seen: Seen) -> bool:
        """One fold on the record as seen; False when it must be folded again."""
        writes: list[Write] = []
        try:
            made = await self._fold(seen, writes)
            await write_all(self._ctx.runtime, writes)
        finally:
            for write in writes:
                write.drop()
        commits = [(ticket, one) for ticket, one in made if isinstance(one, Commit)]
        if commits:
            try:
                if not await self._swing(seen, commits):
                    return False
            except OutcomeUnknownError as error:
                self._answer(self._tickets, error)
                return True
        for ticket, answer in made:
            ticket.answer = answer
        return True

    async def _fold(self, seen: Seen, writes: list[Write]) -> list[tuple[Ticket, Commit | NoChangesError]]:
        """The answers if the swap lands."""
        ctx, repo = self._ctx, self._repo
        tip = await load_commit(ctx, repo, seen.record.commit_id)
        tree = await tree_of(ctx, repo, tip.id)
        answers: list[tuple[Ticket, Commit | NoChangesError]] = []
        for ticket, rows in zip(self._tickets, _deltas(self._tickets), strict=True):
            request = _order(ticket).request
            begun = len(writes)
            folded = await fold(ctx.trees, repo.store, ctx.runtime, tree, _once(rows), later=writes)
            if not folded.changed and not request.allow_empty:
                text = f"branch {self._branch!r} of {repo.name!r}: no changes to commit: it holds all of this already"
                answers.append((ticket, NoChangesError(text)))
                continue
            tip, write = new_commit(
                ctx, repo, [tip], folded.tree.id, committer=request.committer, message=request.message,
                date=request.date, metadata=request.metadata,
            )  # fmt: skip
            tree = folded.tree
            writes.append(write)
            begin_all(ctx.runtime, writes[begun:])
            answers.append((ticket, tip))
        return answers

    async def _swing(self, seen: Seen, commits: Sequence[tuple[Ticket, Commit]]) -> bool:
        """The batch. False: the head moved, or a row was staged that a commit would have to look at."""
        ctx, repo, old = self._ctx, self._repo, seen.record
        live = staging(old.staging_token)
        checks: list[Check] = []
        puts: list[Put] = []
        for ticket, new in commits:
            order = _order(ticket)
            if len(order.changes) <= GUARDED:
                checks += [Check(live, path.encode(), ABSENT) for path, _ in order.changes]
            touched = Touched()
            touched.add_paths([path for path, _ in order.changes])
            puts += [commit_row(repo, new), touched_row(repo, new.id, touched), *_key_rows(ctx, repo, old, order, new)]
        turned = await rotated(ctx, old)
        after = msgspec.structs.replace(
            old, gen=old.gen + 1, commit_id=commits[-1][1].id, staging_token=turned.token, layers=turned.layers
        )
        return await swap(ctx, repo, seen, after, puts=puts, checks=[*checks, *turned.checks], dropped=turned.dropped)

    def _answer(self, tickets: Sequence[Ticket], error: EngineError) -> None:
        for ticket in tickets:
            ticket.answer = type(error)(str(error))


def _order(ticket: Ticket) -> Publication:
    assert isinstance(ticket.request, Publication)
    return ticket.request


def _deltas(tickets: Sequence[Ticket]) -> list[pa.Table]:
    """The changes of each as a delta."""
    new = [order for order in map(_order, tickets) if order.rows is None]
    table = delta_table([change for order in new for change in order.changes])
    start = 0
    for order in new:
        order.rows = table.slice(start, len(order.changes))
        start += len(order.changes)
    return [order.rows for order in map(_order, tickets)]


async def _once(rows: pa.Table) -> AsyncIterator[pa.Table]:
    if rows.num_rows:
        yield rows


def _asked(changes: Sequence[Change], request: PublishRequest) -> str:
    if not request.idempotency_key:
        return ""
    found = hashlib.sha256(msgspec.json.encode(msgspec.structs.replace(request, force=False), order="deterministic"))
    for path, entry in changes:
        found.update(encode((path, None if entry is None else entry.identity.hex())))
    return found.hexdigest()


def _digest(order: Publication) -> str:
    return hashlib.sha256(order.request.idempotency_key.encode()).hexdigest()


async def _remembered(ctx: Context, repo: Repo, record: Branch, order: Publication) -> Commit | None:
    """The commit of an earlier call with the same idempotency key. KeyReusedError if that asked for another."""
    if not order.request.idempotency_key:
        return None
    key = order.request.idempotency_key
    refusal = f"idempotency key {key[:80]!r} was used for another commit of branch {record.name!r}"
    return await remembered(ctx, repo, idempotency_key(record.uid, _digest(order)), order.asked, refusal)


def _key_rows(ctx: Context, repo: Repo, record: Branch, order: Publication, new: Commit) -> list[Put]:
    """The key, and when the janitor may forget it."""
    if not order.request.idempotency_key:
        return []
    digest = _digest(order)
    due = due_key(WORKSPACE_DUE, ctx.ageing.stamp() + REMEMBERED, f"{record.uid}.{digest}")
    return [
        Put(repo.partition, idempotency_key(record.uid, digest), encode(Done(new.id, order.asked))),
        Put(repo.partition, due, b""),
    ]
