"""History: the log of a ref and the merge base of two. Above `refs`; reads commits only, and trees for filters."""

from __future__ import annotations

import heapq
from collections.abc import AsyncIterator

from lakebed_engine.operations import names
from lakebed_engine.operations.context import Context, Repo, load_commit, load_commits, open_repo
from lakebed_engine.operations.refs import resolve_commit
from lakebed_engine.operations.views import tree_of
from lakebed_engine.tree.diff import diff
from lakebed_engine.vocabulary.errors import InvalidRequestError, NoMergeBaseError
from lakebed_engine.vocabulary.records import Commit, LogRequest, MergeBase, Page


class _Walk:
    """Commits from a start back, children always before parents, newest first among those that may come next.

    A commit may come once all its children have. Its children are known once every commit of a greater generation
    has been looked at, so looking runs ahead of giving by generation, not by the whole history.
    """

    def __init__(self, ctx: Context, repo: Repo, start: Commit, first_parent: bool, since: float | None) -> None:
        self._ctx = ctx
        self._repo = repo
        self._first_parent = first_parent
        self._since = since
        self._children: dict[str, int] = {start.id: 0}
        self._ahead = [(-start.generation, start.id)]
        self._ready = [(-start.creation_date, -int(start.id, 16), start.id)] if self._recent(start) else []

    def _recent(self, commit: Commit) -> bool:
        return self._since is None or commit.creation_date >= self._since

    async def _parents(self, commit_id: str) -> list[Commit]:
        commit = await load_commit(self._ctx, self._repo, commit_id)
        parents = commit.parents[:1] if self._first_parent else commit.parents
        return [parent for parent in await load_commits(self._ctx, self._repo, parents) if self._recent(parent)]

    async def _look(self, generation: int) -> None:
        while self._ahead and -self._ahead[0][0] > generation:
            _, commit_id = heapq.heappop(self._ahead)
            for parent in await self._parents(commit_id):
                if parent.id not in self._children:
                    self._children[parent.id] = 0
                    heapq.heappush(self._ahead, (-parent.generation, parent.id))
                self._children[parent.id] += 1

    async def commits(self) -> AsyncIterator[Commit]:
        while self._ready:
            commit_id = heapq.heappop(self._ready)[2]
            yield await load_commit(self._ctx, self._repo, commit_id)
            for parent in await self._parents(commit_id):
                await self._look(parent.generation)
                self._children[parent.id] -= 1
                if self._children[parent.id] == 0:
                    heapq.heappush(self._ready, (-parent.creation_date, -int(parent.id, 16), parent.id))


async def log(ctx: Context, repo_name: str, ref: str, request: LogRequest) -> Page[Commit]:
    """A page of history. Raises RefNotFoundError, InvalidRefError; InvalidRequestError for a foreign after."""
    names.check_amount(request.amount)
    for text in (*request.objects, *request.prefixes):
        names.check_text("objects and prefixes", text)
    repo = await open_repo(ctx, repo_name)
    start = await resolve_commit(ctx, repo, ref)
    stop_id = (await resolve_commit(ctx, repo, request.stop_at)).id if request.stop_at else ""
    items: list[Commit] = []
    skipping = bool(request.after)
    async for commit in _Walk(ctx, repo, start, request.first_parent, request.since).commits():
        if not skipping and await _matches(ctx, repo, commit, request):
            if len(items) == request.amount:
                return Page(items, has_more=True)
            items.append(commit)
            if request.limit and len(items) == request.amount:
                break
        skipping = skipping and commit.id != request.after
        if commit.id == stop_id:
            break
    if skipping and request.after != stop_id:
        raise InvalidRequestError(f"after: commit {request.after[:64]!r} is not in the log of {ref[:80]!r}")
    return Page(items, has_more=False)


async def _matches(ctx: Context, repo: Repo, commit: Commit, request: LogRequest) -> bool:
    """Whether a commit changed one of the paths asked for. Only commits with one parent can."""
    if not request.objects and not request.prefixes:
        return True
    if len(commit.parents) != 1:
        return False
    old = await tree_of(ctx, repo, commit.parents[0])
    new = await tree_of(ctx, repo, commit.id)
    if old.id == new.id:
        return False
    for path in request.objects:
        before = await ctx.trees.find(repo.store, old, path)
        after = await ctx.trees.find(repo.store, new, path)
        if (before and before.identity) != (after and after.identity):
            return True
    for prefix in request.prefixes:
        async for _ in diff(ctx.trees, repo.store, ctx.runtime, old, new, prefix=prefix, detail="slim"):
            return True
    return False


async def find_base(ctx: Context, repo: Repo, one: Commit, other: Commit) -> Commit | None:
    """The nearest common ancestor: of all that both have, the one of the greatest generation."""
    if one.id == other.id:
        return one
    sides = {one.id: 1, other.id: 2}
    queue = [(-one.generation, one.id), (-other.generation, other.id)]
    heapq.heapify(queue)
    done: set[str] = set()
    while queue:
        commit_id = heapq.heappop(queue)[1]
        if commit_id in done:
            continue
        done.add(commit_id)
        commit = await load_commit(ctx, repo, commit_id)
        if sides[commit_id] == 3:
            return commit
        for parent in await load_commits(ctx, repo, commit.parents):
            sides[parent.id] = sides.get(parent.id, 0) | sides[commit_id]
            heapq.heappush(queue, (-parent.generation, parent.id))
    return None


async def merge_base(ctx: Context, repo_name: str, source: str, destination: str) -> MergeBase:
    """The two commits and their nearest common ancestor. Raises NoMergeBaseError."""
    repo = await open_repo(ctx, repo_name)
    theirs = await resolve_commit(ctx, repo, source)
    ours = await resolve_commit(ctx, repo, destination)
    base = await require_base(ctx, repo, theirs, ours)
    return MergeBase(theirs.id, ours.id, base.id)


async def require_base(ctx: Context, repo: Repo, one: Commit, other: Commit) -> Commit:
    """As `find_base`. Raises NoMergeBaseError."""
    base = await find_base(ctx, repo, one, other)
    if base is None:
        raise NoMergeBaseError(
            f"commits {one.id[:16]} and {other.id[:16]} have no common ancestor: they cannot be merged"
        )
    return base
