"""Hard reset: a branch is pointed at another commit (`PROTOCOL.md` 3, HARD RESET)."""

from __future__ import annotations

from lakebed_engine.operations.branch.resolve import resolve_commit
from lakebed_engine.operations.context import ATTEMPTS, Context, open_repo
from lakebed_engine.operations.merge.merge import clean_branch, move
from lakebed_engine.vocabulary.errors import TooManyAttemptsError
from lakebed_engine.vocabulary.records import Branch


async def hard_reset(ctx: Context, repo_name: str, name: str, ref: str, force: bool) -> Branch:
    """Point a clean branch at the commit of `ref`; its old commits can still be found by id. The branch as it is then.

    Raises DirtyBranchError, ProtectedBranchError, RefNotFoundError, InvalidRefError. `force` overrides read-only alone.
    """
    repo = await open_repo(ctx, repo_name, write=True, force=force, branch=name)
    for _ in range(ATTEMPTS):
        seen = await clean_branch(ctx, repo, name)
        if seen is None:
            continue
        # resolved after the branch was read: `main~1` is then a step back from what the swap replaces, or it fails
        commit = await resolve_commit(ctx, repo, ref)
        moved = await move(ctx, repo, seen, commit)
        if moved is not None:
            return moved
    raise TooManyAttemptsError(
        f"branch {name!r} of {repo.name!r} changed too often, nothing was reset: try again later"
    )
