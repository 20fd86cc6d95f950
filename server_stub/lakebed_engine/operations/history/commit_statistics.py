"""The amount of changes of a commit: numbers of paths and bytes, compared with its first parent."""

from __future__ import annotations

from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from lakebed_engine.operations.branch.resolve import resolve_commit
from lakebed_engine.operations.branch.view import tree_of
from lakebed_engine.operations.context import Context, open_repo
from lakebed_engine.tree.diff import diff
from lakebed_engine.tree.trees import EMPTY_TREE
from lakebed_engine.vocabulary.records import CommitStatistics

MAX_CHANGES: Final = 1_000_000
"""Maximum number of changed paths that are counted."""


async def commit_statistics(
    ctx: Context, repo_name: str, ref: str, *, most_changes: int = MAX_CHANGES
) -> CommitStatistics:
    """The statistics of the commit of a ref expression. The first commit is compared with an empty tree.

    Of a commit with more than `most_changes` changed paths, only a part is counted.
    """
    repo = await open_repo(ctx, repo_name)
    commit = await resolve_commit(ctx, repo, ref, candidates=True)
    parent = commit.parents[0] if commit.parents else ""
    before = await tree_of(ctx, repo, parent) if parent else EMPTY_TREE
    after = await tree_of(ctx, repo, commit.id)
    added = removed = changed = bytes_added = bytes_removed = 0
    complete = True
    async for changes in diff(ctx.trees, repo.store, ctx.runtime, before, after, detail="slim"):
        had, has = changes.at_left >= 0, changes.at_right >= 0
        added += int((~had).sum())
        removed += int((~has).sum())
        changed += int((had & has).sum())
        bytes_added += _size(changes.right, changes.at_right[has])
        bytes_removed += _size(changes.left, changes.at_left[had])
        if added + removed + changed > most_changes:
            complete = False
            break
    return CommitStatistics(commit.id, parent, added, removed, changed, bytes_added, bytes_removed, complete)


def _size(rows: pa.Table, at: Any) -> int:
    return int(pc.sum(rows.column("size_bytes").take(pa.array(at))).as_py() or 0)
