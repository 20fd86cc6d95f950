"""Commit: seal, fold, write, swing (`PROTOCOL.md` 3, COMMIT). Nobody is locked out while it runs.

Everything that the swap names is durable before the swap.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec
from lakebed_format import CommitRecord, commit_id, encode_commit
from lakebed_format.keys import COMMITS

from lakebed_engine.operations.branch.commit_guard import Stamp
from lakebed_engine.operations.branch.compare_and_swap import seal, swap
from lakebed_engine.operations.branch.group_commit import Ticket, together
from lakebed_engine.operations.branch.view import layers_delta, stands, tree_of
from lakebed_engine.operations.context import ATTEMPTS, Context, Repo, Seen, encode, load_commit, open_repo, read_branch
from lakebed_engine.operations.history.changed_paths import touched_row, watched
from lakebed_engine.operations.keys import commit_key
from lakebed_engine.operations.validation import check_message, check_metadata, check_text
from lakebed_engine.stores.kv.base import Put
from lakebed_engine.tree.changed_paths import Touched
from lakebed_engine.tree.fold import Folded, fold
from lakebed_engine.tree.trees import Write, begin_all, write_all
from lakebed_engine.vocabulary.errors import (
    BranchNotFoundError,
    EngineError,
    InvalidRequestError,
    MissingFileError,
    NoChangesError,
    OutcomeUnknownError,
    TooManyAttemptsError,
)
from lakebed_engine.vocabulary.records import Branch, Commit, CommitRequest, Layer


def check_commit_texts(message: str | None, metadata: Mapping[str, str], committer: str) -> None:
    """Message, metadata and committer must be valid UTF-8, and short enough. Raises InvalidRequestError."""
    check_message(message or "")
    check_text("committer", committer)
    check_metadata(metadata)


def check_commit(message: str | None, metadata: Mapping[str, str], committer: str, date: int | None) -> None:
    """The same, and a date that fits. Raises InvalidRequestError."""
    check_commit_texts(message, metadata, committer)
    if date is not None and not -(2**63) <= date < 2**63:
        raise InvalidRequestError(f"date {str(date)[:40]}: must be Unix seconds of at most 64 bits")


def new_commit(
    ctx: Context,
    repo: Repo,
    parents: Sequence[Commit],
    tree_id: str,
    *,
    committer: str,
    message: str,
    metadata: Mapping[str, str],
    date: int | None = None,
) -> tuple[Commit, Write]:
    """A commit, and what writes its file durably. It is not in any branch's history yet."""
    record = CommitRecord(
        parents=tuple(parent.id for parent in parents),
        committer=committer,
        message=message,
        creation_date=ctx.now() if date is None else date,
        metarange_id=tree_id,
        metadata=dict(metadata),
        generation=max((parent.generation for parent in parents), default=0) + 1,
    )
    found_id = commit_id(record)
    made = Commit(
        id=found_id,
        parents=record.parents,
        committer=committer,
        message=message,
        creation_date=record.creation_date,
        metarange_id=tree_id,
        metadata=dict(metadata),
        generation=record.generation,
    )
    name = f"{COMMITS}{found_id}.json"
    return made, Write(lambda: repo.store.put(name, encode_commit(record, found_id), by_content=True))


async def write_commit(
    ctx: Context,
    repo: Repo,
    parents: Sequence[Commit],
    tree_id: str,
    *,
    committer: str,
    message: str,
    metadata: Mapping[str, str],
    date: int | None = None,
) -> Commit:
    """Make a commit and write its file, durably. It is not in any branch's history yet."""
    made, write = new_commit(
        ctx, repo, parents, tree_id, committer=committer, message=message, metadata=metadata, date=date
    )
    await write()
    return made


def commit_row(repo: Repo, commit: Commit) -> Put:
    """The KV row of a commit: it goes into the batch of the swap that puts it into history."""
    return Put(repo.partition, commit_key(commit.id), encode(commit))


async def commit(
    ctx: Context, repo_name: str, branch: str, request: CommitRequest, stamp: Stamp | None = None
) -> Commit:
    """Commit what is staged, and land a `stamp` with it.

    Raises NoChangesError, BranchNotFoundError, TooManyAttemptsError.
    """
    check_commit(request.message, request.metadata, request.committer, request.date)
    repo = await open_repo(ctx, repo_name, write=True, force=request.force, branch=branch)
    # sealed on arrival: what is staged from here on belongs to those who commit later
    record = (await sealed_branch(ctx, repo, branch)).record
    ticket = Ticket(ctx.runtime.signal(), request, record.uid, record.resets, mark_of(record), stamp)
    return await together(ctx, repo, branch, ticket, lambda tickets: Chain(ctx, repo, branch, tickets).run())


async def sealed_branch(ctx: Context, repo: Repo, branch: str) -> Seen:
    """The record of a branch, all that was staged before in its layers. Raises TooManyAttemptsError."""
    for _ in range(ATTEMPTS):
        before = await read_branch(ctx, repo, branch)
        seen = await seal(ctx, repo, before)
        if seen is not None and seen.record.resets == before.record.resets:  # or one came just behind the seal
            return seen
    raise TooManyAttemptsError(f"branch {branch!r} of {repo.name!r} changed too often to seal it: try again")


def mark_of(record: Branch) -> str | None:
    """The newest layer of a sealed branch: down from it all belongs to who commits now."""
    return record.layers[0].id if record.layers else None


class Chain:
    """The commits of several tickets, one on top of the other, made in one swap.

    Each takes the layers from its mark, the newest layer when it arrived, down to what the one before it has taken:
    all that was acknowledged before it arrived is in it or in an older commit.
    """

    def __init__(self, ctx: Context, repo: Repo, branch: str, tickets: Sequence[Ticket]) -> None:
        self._ctx = ctx
        self._repo = repo
        self._branch = branch
        self._tickets = list(tickets)
        self._touched: list[Put] = []

    async def run(self) -> None:
        """Answer the tickets. Raises only when nothing has landed."""
        for _ in range(ATTEMPTS):
            seen = await self._look()
            if not self._tickets:
                return
            try:
                if await self._try(seen):
                    return
            except MissingFileError:  # of a layer that was compacted or committed long ago
                if await stands(self._ctx, self._repo, seen):
                    raise
        self._answer_all(
            TooManyAttemptsError,
            f"branch {self._branch!r} of {self._repo.name!r}: lost {ATTEMPTS} races, nothing committed: try again",
        )

    async def _look(self) -> Seen:
        """The record, fresh. Whoever came to an earlier branch of this name is answered."""
        seen = await read_branch(self._ctx, self._repo, self._branch)
        if any(ticket.resets != seen.record.resets for ticket in self._tickets):
            # what the reset put may lie above their marks: it must be part of every fold
            seen = await sealed_branch(self._ctx, self._repo, self._branch)
            for ticket in self._tickets:
                ticket.mark, ticket.resets = mark_of(seen.record), seen.record.resets
        late = [ticket for ticket in self._tickets if ticket.uid != seen.record.uid]
        for ticket in late:
            ticket.answer = BranchNotFoundError(
                f"branch {self._branch!r} was deleted and created again meanwhile: nothing committed"
            )
        self._tickets = [ticket for ticket in self._tickets if ticket not in late]
        for ticket in [ticket for ticket in self._tickets if ticket.stamp is not None]:
            await self._require(ticket)
        return seen

    async def _require(self, ticket: Ticket) -> None:
        """Answer a ticket whose stamp cannot land any more: it must not hold up the others."""
        assert ticket.stamp is not None
        try:
            await ticket.stamp.require()
        except EngineError as error:
            ticket.answer = error
            self._tickets.remove(ticket)

    async def _try(self, seen: Seen) -> bool:
        """One fold on the record as seen; False when it must be folded again: head or layers moved, or a reset."""
        writes: list[Write] = []
        try:
            made, rest = await self._fold(seen, writes)
            await write_all(self._ctx.runtime, writes)
        finally:
            for write in writes:
                write.drop()
        commits = [one for _, one in made if isinstance(one, Commit)]
        stamps = [(ticket.stamp, one) for ticket, one in made if ticket.stamp is not None and isinstance(one, Commit)]
        taken = seen.record.layers[rest:]
        if commits or taken:
            try:
                if not await _swing(self._ctx, self._repo, seen, commits, taken, stamps, self._touched):
                    return False
            except OutcomeUnknownError as error:
                self._answer_all(OutcomeUnknownError, str(error))
                return True
        for ticket, answer in made:
            ticket.answer = answer
        return True

    async def _fold(self, seen: Seen, writes: list[Write]) -> tuple[list[tuple[Ticket, Commit | NoChangesError]], int]:
        """The answers if the swap lands, and the index from which on all layers are taken."""
        ctx, repo, layers = self._ctx, self._repo, seen.record.layers
        ids = {layer.id: index for index, layer in enumerate(layers)}
        # a mark that is gone was compacted, committed or reset: then all that is there counts
        marks = [len(layers) if one.mark is None else ids.get(one.mark, 0) for one in self._tickets]
        tip = await load_commit(ctx, repo, seen.record.commit_id)
        tree = await tree_of(ctx, repo, tip.id)
        end = len(layers)
        answers: list[tuple[Ticket, Commit | NoChangesError]] = []
        self._touched = []
        for start, ticket in sorted(zip(marks, self._tickets, strict=True), key=lambda pair: -pair[0]):
            request = ticket.request
            assert isinstance(request, CommitRequest)
            folded, touched = Folded(tree, 0, 0), Touched()
            taken = start < end
            if taken:
                rows = watched(ctx.runtime, layers_delta(ctx, repo, layers[start:end]), touched)
                folded = await fold(ctx.trees, repo.store, ctx.runtime, tree, rows, later=writes)
                end = start
            if not folded.changed and not request.allow_empty:
                answers.append((ticket, self._nothing(taken, tip if tip.id != seen.record.commit_id else None)))
                continue
            tree = folded.tree
            tip, write = new_commit(
                ctx, repo, [tip], tree.id, committer=request.committer, message=request.message, date=request.date,
                metadata=request.metadata,
            )  # fmt: skip
            writes.append(write)
            self._touched.append(touched_row(repo, tip.id, touched))
            begin_all(ctx.runtime, writes)
            answers.append((ticket, tip))
        return answers, end

    def _nothing(self, taken: bool, beside: Commit | None) -> NoChangesError:
        why = ": what was staged equals the head" if taken else ""
        if beside is not None and not taken:
            why = f": commit {beside.id[:16]}, made at the same moment, has all that was staged"
        return NoChangesError(f"branch {self._branch!r} of {self._repo.name!r}: no changes to commit{why}")

    def _answer_all(self, kind: type[EngineError], text: str) -> None:
        for ticket in self._tickets:
            ticket.answer = kind(text)


async def _swing(
    ctx: Context,
    repo: Repo,
    seen: Seen,
    commits: Sequence[Commit],
    taken: tuple[Layer, ...],
    stamps: Sequence[tuple[Stamp, Commit]],
    touched: Sequence[Put],
) -> bool:
    """Move the head and trim the suffix that was folded; without commits, only trim. False: fold again."""
    ended = [row for stamp, one in stamps for row in stamp.ended(one)]
    puts = [*(commit_row(repo, one) for one in commits), *ended, *touched]
    checks = [stamp.check for stamp, _ in stamps]
    for _ in range(ATTEMPTS):
        record = seen.record
        kept = record.layers[: len(record.layers) - len(taken)]
        head = commits[-1].id if commits else record.commit_id
        after = msgspec.structs.replace(record, gen=record.gen + 1, layers=kept, commit_id=head)
        if await swap(ctx, repo, seen, after, puts=puts, checks=checks, dropped=taken):
            return True
        now = await read_branch(ctx, repo, record.name)
        suffix = now.record.layers[len(now.record.layers) - len(taken) :]
        same = now.record.uid == record.uid and now.record.commit_id == record.commit_id
        if now.record.resets != record.resets:  # acknowledged: what it took back must not be published after it
            return False
        if not same or (len(taken) and suffix != taken) or len(now.record.layers) < len(taken):
            return False
        seen = now
    return False
