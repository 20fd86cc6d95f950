"""Commit: seal, fold, write, swing (`PROTOCOL.md` 3, COMMIT). Nobody is locked out while it runs.

Above `swap` and `views`. Everything that the swap names is durable before the swap.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec
from lakebed_format import CommitRecord, commit_id, encode_commit

from lakebed_engine.operations.context import (
    ATTEMPTS,
    Context,
    Repo,
    Seen,
    commit_key,
    encode,
    load_commit,
    open_repo,
    read_branch,
)
from lakebed_engine.operations.names import check_text
from lakebed_engine.operations.repositories import COMMITS
from lakebed_engine.operations.swap import seal, swap
from lakebed_engine.operations.turns import turn
from lakebed_engine.operations.views import layers_delta, stands, tree_of
from lakebed_engine.stores.kv.base import Put
from lakebed_engine.tree.fold import Folded, fold
from lakebed_engine.vocabulary.errors import (
    BranchNotFoundError,
    InvalidRequestError,
    MissingFileError,
    NoChangesError,
    TooManyAttemptsError,
)
from lakebed_engine.vocabulary.records import Commit, CommitRequest, Layer


def check_commit_texts(message: str | None, metadata: Mapping[str, str], committer: str) -> None:
    """Message, metadata and committer must be valid UTF-8. Raises InvalidRequestError."""
    check_text("message", message or "")
    check_text("committer", committer)
    for key, value in metadata.items():
        check_text("metadata key", key)
        check_text(f"metadata {key!r}", value)


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
    await repo.store.put(f"{COMMITS}{found_id}.json", encode_commit(record))
    return Commit(
        id=found_id,
        parents=record.parents,
        committer=committer,
        message=message,
        creation_date=record.creation_date,
        metarange_id=tree_id,
        metadata=dict(metadata),
        generation=record.generation,
    )


def commit_row(repo: Repo, commit: Commit) -> Put:
    """The KV row of a commit: it goes into the batch of the swap that puts it into history."""
    return Put(repo.partition, commit_key(commit.id), encode(commit))


async def commit(ctx: Context, repo_name: str, branch: str, request: CommitRequest) -> Commit:
    """Commit what is staged. Raises NoChangesError, BranchNotFoundError, TooManyAttemptsError."""
    check_commit_texts(request.message, request.metadata, request.committer)
    if request.date is not None and not -(2**63) <= request.date < 2**63:
        raise InvalidRequestError(f"date {str(request.date)[:40]}: must be Unix seconds of at most 64 bits")
    repo = await open_repo(ctx, repo_name, write=True, force=request.force)
    async with turn(ctx, repo, branch):
        return await _commit(ctx, repo, branch, request)


async def _commit(ctx: Context, repo: Repo, branch: str, request: CommitRequest) -> Commit:
    seen = await _sealed(ctx, repo, branch)
    uid = seen.record.uid
    for _ in range(ATTEMPTS):
        try:
            done = await _try_commit(ctx, repo, seen, request)
        except MissingFileError:  # of a layer that was compacted or committed long ago
            if await stands(ctx, repo, seen):
                raise
            done = None
        if done is not None:
            return done
        seen = await read_branch(ctx, repo, branch)
        if seen.record.uid != uid:
            raise BranchNotFoundError(f"branch {branch!r} was deleted and created again meanwhile: nothing committed")
    raise TooManyAttemptsError(
        f"branch {branch!r} of {repo.name!r}: lost {ATTEMPTS} races, nothing committed: try again"
    )


async def _sealed(ctx: Context, repo: Repo, branch: str) -> Seen:
    for _ in range(ATTEMPTS):
        seen = await seal(ctx, repo, await read_branch(ctx, repo, branch))
        if seen is not None:
            return seen
    raise TooManyAttemptsError(f"branch {branch!r} of {repo.name!r} changed too often to seal it: try again")


async def _try_commit(ctx: Context, repo: Repo, seen: Seen, request: CommitRequest) -> Commit | None:
    """One fold on the record as seen; None when the head or the layers moved and it must be folded again."""
    taken = seen.record.layers
    if not taken and not request.allow_empty:
        raise NoChangesError(f"branch {seen.record.name!r} of {repo.name!r}: no changes to commit")
    parent = await load_commit(ctx, repo, seen.record.commit_id)
    folded = await fold_layers(ctx, repo, seen.record.commit_id, taken)
    if not folded.changed and not request.allow_empty:
        if not await _swing(ctx, repo, seen, None, taken):
            return None
        raise NoChangesError(
            f"branch {seen.record.name!r} of {repo.name!r}: no changes to commit: what was staged equals the head"
        )
    new = await write_commit(
        ctx,
        repo,
        [parent],
        folded.tree.id,
        committer=request.committer,
        message=request.message,
        date=request.date,
        metadata=request.metadata,
    )
    return new if await _swing(ctx, repo, seen, new, taken) else None


async def fold_layers(ctx: Context, repo: Repo, head: str, layers: Sequence[Layer]) -> Folded:
    """The head's tree with sealed layers (newest first) applied."""
    base = await tree_of(ctx, repo, head)
    return await fold(ctx.trees, repo.store, ctx.runtime, base, layers_delta(ctx, repo, layers))


async def _swing(ctx: Context, repo: Repo, seen: Seen, new: Commit | None, taken: tuple[Layer, ...]) -> bool:
    """Move the head and trim the suffix that was folded; without a commit, only trim. False: fold again."""
    for _ in range(ATTEMPTS):
        record = seen.record
        kept = record.layers[: len(record.layers) - len(taken)]
        after = msgspec.structs.replace(
            record, gen=record.gen + 1, layers=kept, commit_id=record.commit_id if new is None else new.id
        )
        puts = [] if new is None else [commit_row(repo, new)]
        if await swap(ctx, repo, seen, after, puts=puts, dropped=taken):
            return True
        now = await read_branch(ctx, repo, record.name)
        suffix = now.record.layers[len(now.record.layers) - len(taken) :]
        same = now.record.uid == record.uid and now.record.commit_id == record.commit_id
        if not same or (len(taken) and suffix != taken) or len(now.record.layers) < len(taken):
            return False
        seen = now
    return False
