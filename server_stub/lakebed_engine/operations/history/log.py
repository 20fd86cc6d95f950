"""The log of a ref: its order, its filters and its pages.

Without a filter it returns every commit. With one, it reads the changed_paths of each commit, which shows whether the
commit may have changed a path. A span answers this for many commits. For the remaining commits it compares the trees.
Filters by author and time have no index: they read commits, a bounded number for one page.
"""

from __future__ import annotations

import heapq
from collections.abc import AsyncIterator, Sequence
from functools import partial
from typing import Final, NamedTuple

from lakebed_engine.operations import validation
from lakebed_engine.operations.branch.resolve import resolve_commit
from lakebed_engine.operations.branch.view import tree_of
from lakebed_engine.operations.context import Context, Repo, load_commit, load_commits, open_repo
from lakebed_engine.operations.history.changed_paths import changed_paths_of
from lakebed_engine.operations.history.log_index import Builder, Places, begins, find_span, keep_span
from lakebed_engine.operations.validation import PAGE_BYTES, bounded, metadata_size
from lakebed_engine.tree.changed_paths import PathQuery
from lakebed_engine.tree.diff import diff
from lakebed_engine.vocabulary.errors import InvalidRequestError
from lakebed_engine.vocabulary.records import Commit, LogPage, Page
from lakebed_engine.vocabulary.requests import LogRequest


class _Walk:
    """Commits from a start back. Children come before parents. Among the possible next commits, the newest comes first.

    A commit is possible when all its children were returned. Its children are known when every commit of a greater
    generation was read. So the walk reads ahead by generation, not the whole history.
    """

    def __init__(self, ctx: Context, repo: Repo, start: Commit, first_parent: bool, since: float | None) -> None:
        self._ctx = ctx
        self._repo = repo
        self._first_parent = first_parent
        self._since = since
        self._children: dict[str, int] = {start.id: 0}
        self._given = 0
        self._ahead = [(-start.generation, start.id)]
        self._ready = [(-start.creation_date, -int(start.id, 16), start.id)] if self._recent(start) else []

    def _recent(self, commit: Commit) -> bool:
        return self._since is None or commit.creation_date >= self._since

    async def _parents(self, commit: Commit) -> list[Commit]:
        parents = commit.parents[:1] if self._first_parent else commit.parents
        return [parent for parent in await load_commits(self._ctx, self._repo, parents) if self._recent(parent)]

    async def _look(self, generation: int) -> None:
        while self._ahead and -self._ahead[0][0] > generation:
            _, commit_id = heapq.heappop(self._ahead)
            for parent in await self._parents(await load_commit(self._ctx, self._repo, commit_id)):
                if parent.id not in self._children:
                    self._children[parent.id] = 0
                    heapq.heappush(self._ahead, (-parent.generation, parent.id))
                self._children[parent.id] += 1

    @property
    def alone(self) -> bool:
        """Whether the remaining commits are only the next commit and its ancestors."""
        return len(self._children) - self._given == 1

    def peek(self) -> str:
        """The id of the next commit. Empty at the end."""
        return self._ready[0][2] if self._ready else ""

    async def next(self) -> Commit:
        """Return the next commit. There must be one."""
        commit = await load_commit(self._ctx, self._repo, heapq.heappop(self._ready)[2])
        self._given += 1
        for parent in await self._parents(commit):
            await self._look(parent.generation)
            self._children[parent.id] -= 1
            if self._children[parent.id] == 0:
                heapq.heappush(self._ready, (-parent.creation_date, -int(parent.id, 16), parent.id))
        return commit


class Step(NamedTuple):
    """Commits of a log in order, and the indices of the commits that may match. `known`: they are a stored span."""

    ids: Sequence[str]
    candidates: Sequence[int]
    known: bool = False


class Steps:
    """A log as steps: single commits, and whole spans where they are stored. Stores new spans on the way."""

    def __init__(self, ctx: Context, repo: Repo, start: Commit, request: LogRequest) -> None:
        self._ctx = ctx
        self._repo = repo
        self._start = start
        self._request = request
        filtered = bool(request.objects or request.prefixes)
        self._query = PathQuery(request.objects, request.prefixes) if filtered else None
        self._builder: Builder | None = None
        self.beginning = start.id
        """The last commit, at or before the current step, from which a walk returns the rest of the log."""

    def _walk(self, start: Commit) -> _Walk:
        return _Walk(self._ctx, self._repo, start, self._request.first_parent, self._request.since)

    async def all(self) -> AsyncIterator[Step]:
        """The steps from the newest commit to the oldest."""
        ctx, repo, request = self._ctx, self._repo, self._request
        walk = self._walk(self._start)
        while following := walk.peek():
            if walk.alone:
                self.beginning = following
            if walk.alone and begins(following):
                await self._end_span(following)
                span = await find_span(ctx, repo, following, request.first_parent)
                if span is not None and (request.since is None or span.oldest >= request.since):
                    everything = range(len(span.ids))
                    asked = self._query
                    yield Step(span.ids, everything if asked is None else span.candidates(asked), known=True)
                    if not span.next:
                        return
                    walk = self._walk(await load_commit(ctx, repo, span.next))
                    continue
                if span is None and request.since is None and self._query is not None:
                    self._builder = Builder()
            yield await self._one(await walk.next())
        await self._end_span("")

    async def _one(self, commit: Commit) -> Step:
        if self._query is None:
            return Step((commit.id,), (0,))
        changed_paths = await changed_paths_of(self._ctx, self._repo, commit) if len(commit.parents) == 1 else None
        if self._builder is not None:
            self._builder.add(commit.id, commit.creation_date, changed_paths)
            if self._builder.too_long:
                self._builder = None
        may = changed_paths is not None and self._query.may_match(changed_paths)
        return Step((commit.id,), (0,) if may else ())

    async def _end_span(self, following: str) -> None:
        if self._builder is not None:
            await keep_span(self._ctx, self._repo, self._builder.span(following), self._request.first_parent)
        self._builder = None


async def get_commit(ctx: Context, repo_name: str, ref: str) -> Commit:
    """The commit that a ref expression names."""
    return await resolve_commit(ctx, await open_repo(ctx, repo_name), ref, candidates=True)


MAX_READ: Final = 5_000
"""Maximum number of commits that one page of a log by author or time reads."""
_AT_ONCE: Final = 32
"""How many commits to compare at the same time. Most of the time is spent waiting for files."""


async def log(ctx: Context, repo_name: str, ref: str, request: LogRequest, *, most_read: int = MAX_READ) -> LogPage:
    """A page of history. Raises RefNotFoundError, InvalidRefError, and InvalidRequestError if `after` is not in it.

    With a filter by author or `until`, the page ends after `most_read` commits, even if none matches.
    """
    validation.check_amount(request.amount)
    validation.check_texts(author=request.author, author_contains=request.author_contains)
    for text in (*request.objects, *request.prefixes):
        validation.check_text("objects and prefixes", text)
    repo = await open_repo(ctx, repo_name)
    start = await resolve_commit(ctx, repo, ref)
    stop_id = (await resolve_commit(ctx, repo, request.stop_at)).id if request.stop_at else ""
    is_bounded = bool(request.author or request.author_contains or request.until is not None)
    wanted = request.amount if request.limit else request.amount + 1
    items: list[Commit] = []
    waiting: list[str] = []
    known = size = read = 0
    after = last = ""
    async for commit_id in _candidates(ctx, repo, ref, start, stop_id, request):
        if is_bounded and read == most_read:
            after = last
            break
        waiting.append(commit_id)
        read, last = read + 1, commit_id
        if len(waiting) == (_AT_ONCE if is_bounded else min(wanted - len(items), _AT_ONCE)):
            items += await _matching(ctx, repo, waiting, request)
            waiting.clear()
            size += sum(map(_size, items[known:]))
            known = len(items)
            if known >= wanted or size > PAGE_BYTES:
                break
            await ctx.runtime.sleep(0)  # cached commits are read without a pause
    items += await _matching(ctx, repo, waiting, request)
    more = len(items[:wanted]) > request.amount or size > PAGE_BYTES
    page = bounded(Page(items[: request.amount], has_more=more), _size)
    if page.has_more:
        after = page.items[-1].id
    return LogPage(page.items, has_more=bool(after), after=after)


def _size(commit: Commit) -> int:
    return len(commit.message) + metadata_size(commit.metadata)


async def _candidates(
    ctx: Context, repo: Repo, ref: str, start: Commit, stop_id: str, request: LogRequest
) -> AsyncIterator[str]:
    """The ids of the commits that may match, in order, from the beginning of the page on."""
    skipping = bool(request.after)
    places = Places(ctx, repo, start, request)
    steps = Steps(ctx, repo, await places.beginning() if skipping else start, request)
    async for step in steps.all():
        first, last = 0, len(step.ids) - 1
        if stop_id in step.ids:
            last = step.ids.index(stop_id)
        if skipping and request.after in step.ids[: last + 1]:
            first, skipping = step.ids.index(request.after) + 1, False
            places.keep(request.after, steps.beginning)
        elif skipping:
            first = len(step.ids)
        for index in step.candidates:
            if first <= index <= last:
                places.keep(step.ids[index], steps.beginning)
                yield step.ids[index]
        if stop_id in step.ids:
            break
    if skipping and request.after != stop_id:
        raise InvalidRequestError(f"after: commit {request.after[:64]!r} is not in the log of {ref[:80]!r}")


async def _matching(ctx: Context, repo: Repo, commit_ids: Sequence[str], request: LogRequest) -> list[Commit]:
    """The commits of the requested author and time that changed a requested path."""
    if not commit_ids:
        return []
    part = request.author_contains.casefold()
    commits = [
        commit
        for commit in await load_commits(ctx, repo, commit_ids)
        if (not request.author or commit.committer == request.author)
        and (not part or part in commit.committer.casefold())
        and (request.until is None or commit.creation_date < request.until)
    ]
    if not request.objects and not request.prefixes:
        return commits
    jobs = [partial(_matches, ctx, repo, commit, request) for commit in commits]
    return [commit for commit, yes in zip(commits, await ctx.runtime.gather(jobs), strict=True) if yes]


async def index(ctx: Context, repo_name: str) -> None:
    """Store the missing spans of the default branch, so that no log has to make them."""
    repo = await open_repo(ctx, repo_name)
    start = await resolve_commit(ctx, repo, repo.record.default_branch)
    async for step in Steps(ctx, repo, start, LogRequest(objects=("\0",))).all():
        if step.known:
            return


async def _matches(ctx: Context, repo: Repo, commit: Commit, request: LogRequest) -> bool:
    """Whether a commit changed a requested path. Only a commit with one parent can match."""
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
