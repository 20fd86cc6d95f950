"""Commits from existing data: from a metarange, and exact copies of commit records."""

from __future__ import annotations

from lakebed_format import CommitRecord, commit_id, encode_commit
from lakebed_format.keys import COMMITS

from lakebed_engine.operations.branch.compare_and_swap import apply
from lakebed_engine.operations.branch.view import tree_of
from lakebed_engine.operations.commit.clean_branch import move_clean_branch
from lakebed_engine.operations.commit.commit import check_commit
from lakebed_engine.operations.commit.commit_file import NewCommit, commit_row
from lakebed_engine.operations.commit.queue import Cause
from lakebed_engine.operations.context import Context, Repo, absent, load_commits, open_repo
from lakebed_engine.operations.keys import OPERATIONS, commit_key
from lakebed_engine.stores.kv.base import Batch, Put
from lakebed_engine.tree.trees import EMPTY_TREE, Tree
from lakebed_engine.vocabulary.errors import (
    AlreadyExistsError,
    InvalidRequestError,
    MissingFileError,
    NoChangesError,
)
from lakebed_engine.vocabulary.records import Commit
from lakebed_engine.vocabulary.requests import CommitRequest


async def commit_tree(ctx: Context, repo_name: str, branch: str, metarange_id: str, request: CommitRequest) -> Commit:
    """Commit a stored listing as the content of a branch without uncommitted changes.

    Raises DirtyBranchError, NoChangesError, ProtectedBranchError; InvalidRequestError for an unknown metarange.
    """
    check_commit(request.message, request.metadata, request.committer, request.date)
    repo = await open_repo(ctx, repo_name, write=True, force=request.force, branch=branch)
    tree = await _tree(ctx, repo, metarange_id)

    async def build(head: Commit) -> NewCommit:
        if (await tree_of(ctx, repo, head.id)).id == tree.id and not request.allow_empty:
            raise NoChangesError(f"branch {branch!r} of {repo.name!r}: no changes: it already has this metarange")
        return NewCommit(tree, None, request.committer, request.message, request.metadata, request.date)

    cause = Cause("branch.committed", {"metarange": metarange_id})
    return (await move_clean_branch(ctx, repo, branch, build, cause))[0]


async def _tree(ctx: Context, repo: Repo, metarange_id: str) -> Tree:
    if not metarange_id:
        return EMPTY_TREE
    if len(metarange_id) != 64 or not set(metarange_id) <= set("0123456789abcdef"):
        raise InvalidRequestError(f"metarange {metarange_id[:80]!r}: must be 64 lower-case hexadecimal digits")
    try:
        return await ctx.trees.load(repo.store, metarange_id)
    except MissingFileError:
        raise InvalidRequestError(f"metarange {metarange_id} is not in the store of {repo.name!r}") from None


async def record_commit(ctx: Context, repo_name: str, commit: Commit, *, force: bool = False) -> None:
    """Store a commit exactly as given, with its id. No branch moves.

    Raises AlreadyExistsError, CommitNotFoundError for a parent; InvalidRequestError if the id does not match the
    content, the generation is not one more than the largest of the parents, or the metarange is unknown.
    """
    check_commit(commit.message, commit.metadata, commit.committer, commit.creation_date)
    repo = await open_repo(ctx, repo_name, write=True, force=force)
    record = CommitRecord(
        parents=commit.parents,
        committer=commit.committer,
        message=commit.message,
        creation_date=commit.creation_date,
        metarange_id=commit.metarange_id,
        metadata=commit.metadata,
        generation=commit.generation,
        version=commit.version,
    )
    found = commit_id(record)
    if found != commit.id:
        raise InvalidRequestError(f"commit {commit.id[:80]!r}: its content has the id {found}; nothing was stored")
    parents = await load_commits(ctx, repo, commit.parents)
    wanted = max((parent.generation for parent in parents), default=0) + 1
    if commit.generation != wanted:
        raise InvalidRequestError(f"commit {commit.id[:16]}: generation {commit.generation}, by its parents {wanted}")
    await _tree(ctx, repo, commit.metarange_id)
    if await ctx.kv.get(repo.partition, commit_key(commit.id)) is not None:
        raise AlreadyExistsError(f"commit {commit.id} exists already in repository {repo.name!r}")
    await repo.store.put(f"{COMMITS}{commit.id}.json", encode_commit(record))
    operation = OPERATIONS + ctx.ids.new().encode()
    batch = Batch(
        checks=[absent(repo.partition, commit_key(commit.id)), absent(repo.partition, operation)],
        puts=[commit_row(repo, commit), Put(repo.partition, operation, str(ctx.now()).encode())],
    )
    if not await apply(ctx, repo, batch, operation):
        raise AlreadyExistsError(f"commit {commit.id} exists already in repository {repo.name!r}")
