"""Ingest: objects that other tools wrote elsewhere become entries, without a copy (`seeds/003`, out-of-band ingest).

A folder of another bucket is compared with what is below a prefix, both in order of path, page by page: each page says
where the next one begins, so no request takes long and nothing is kept between them. The rows of a page become one
layer of a workspace, which is then committed like any other: policies, claims and crashes are those of
`workspace.commit`. A page that finds nothing new writes nothing.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing, nullcontext
from dataclasses import dataclass, field

from lakebed_format.globs import MOST as MOST_GLOBS

from lakebed_engine.operations.branch.resolve import resolve_commit
from lakebed_engine.operations.branch.view import View, sources_of, stands, tree_of
from lakebed_engine.operations.context import Context, Repo, load_commit, open_repo
from lakebed_engine.operations.layers.compaction import compact
from lakebed_engine.operations.layers.push import put_on_top
from lakebed_engine.operations.namespaces import refuse_namespaces
from lakebed_engine.operations.objects.stage import Row, new_entry
from lakebed_engine.operations.retry import retry_on_conflict
from lakebed_engine.operations.validation import check_path, check_text, read_globs
from lakebed_engine.operations.workspace.lifecycle import find_open, record_of
from lakebed_engine.stores.objects.base import BlobStat
from lakebed_engine.stores.objects.external import Found, as_folder, is_same, version_of
from lakebed_engine.tree.cursor import Cursor
from lakebed_engine.tree.layers import LayerWriter
from lakebed_engine.tree.rows import delta_table
from lakebed_engine.vocabulary.errors import (
    InvalidRequestError,
    MissingFileError,
    UnsortedListing,
)
from lakebed_engine.vocabulary.records import DEFAULT_CONTENT_TYPE, DiffEntry, Entry, IngestPage, IngestRequest, Layer

MOST = 100_000
"""Paths that one page looks at, at most."""

MOST_TOLD = 1000
"""Changes that one page lists, at most."""

BUDGET = 20.0
"""Seconds after which a page ends."""

"""Of what is ingested: a listing does not tell it."""

_ROWS = 10_000
_BREATH = 1000
"""Paths after which others get a turn, and the time is looked at."""


class Filter:
    """Which paths below the source count. Raises InvalidRequestError for a bad glob."""

    def __init__(self, include: tuple[str, ...], exclude: tuple[str, ...]) -> None:
        if len(include) + len(exclude) > MOST_GLOBS:
            raise InvalidRequestError(f"{len(include) + len(exclude)} globs: at most {MOST_GLOBS}")
        self._include = read_globs(include)
        self._exclude = read_globs(exclude)

    def takes(self, name: str) -> bool:
        """Whether this one does; `exclude` wins."""
        return not self._exclude.choose(name) and (not self._include.globs or self._include.choose(name))


@dataclass(slots=True)
class _Page:
    """One page at work. `source` is where the objects lie, `prefix` where they are to appear."""

    ctx: Context
    request: IngestRequest
    source: Found
    prefix: str
    filter: Filter
    base: str
    writer: LayerWriter | None
    counts: dict[str, int] = field(default_factory=dict)
    changes: list[DiffEntry] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)
    next: str = ""

    def count(self, what: str) -> None:
        self.counts[what] = self.counts.get(what, 0) + 1

    def answer(self) -> IngestPage:
        return IngestPage(base_commit_id=self.base, changes=self.changes, next=self.next, **self.counts)


async def diff_page(ctx: Context, repo_name: str, ref: str, request: IngestRequest) -> IngestPage:
    """What an ingest would change of a commit. Writes nothing.

    Raises ForeignDeniedError, InvalidRequestError, InvalidPathError, RefNotFoundError.
    """
    repo = await open_repo(ctx, repo_name)
    commit = await resolve_commit(ctx, repo, ref)
    view = View(ctx, repo, (), await tree_of(ctx, repo, commit.id))
    page, _ = await _run(ctx, repo, view, commit.id, request, write=False)
    return page


async def ingest_page(ctx: Context, repo_name: str, found_id: str, request: IngestRequest) -> IngestPage:
    """Make what differs a layer of a workspace, in one swap: a page again finds it done.

    Raises as `diff_page`; WorkspaceNotFoundError, WorkspaceClosedError, BackpressureError, TooManyAttemptsError.
    """
    repo = await open_repo(ctx, repo_name, write=True, force=request.force)

    async def attempt() -> IngestPage | None:
        seen = await find_open(ctx, repo, found_id)
        record = record_of(seen)
        if len(record.layers) >= ctx.tuning.compact_from and await compact(ctx, repo, record.name):
            return None
        base = await load_commit(ctx, repo, record.commit_id)
        view = View(ctx, repo, sources_of(record), await tree_of(ctx, repo, base.id))
        try:
            page, layer = await _run(ctx, repo, view, base.id, request, write=True)
        except MissingFileError:
            if await stands(ctx, repo, seen):
                raise
            return None
        # of a slow page that found nothing the layers may have been swapped away meanwhile, too
        if layer is None or not layer.parts:
            return page if await stands(ctx, repo, seen) else None
        return page if await put_on_top(ctx, repo, seen, layer) else None

    return await retry_on_conflict(f"workspace {found_id!r} of {repo.name!r}", attempt)


async def _run(
    ctx: Context, repo: Repo, view: View, base: str, request: IngestRequest, *, write: bool
) -> tuple[IngestPage, Layer | None]:
    _check(request)
    source = ctx.foreign.folder(request.source)
    await refuse_namespaces(ctx, request.source)
    prefix = as_folder(request.prefix) if request.prefix else ""
    told = Filter(request.include, request.exclude)
    while True:
        # an id for each try: what the one before has begun to write may not be taken for this one's
        writing = _writer(ctx, repo) if write else nullcontext()
        try:
            async with writing as writer:
                page = _Page(ctx, request, source, prefix, told, base, writer)
                await _compare(page, view.cursor())
                return page.answer(), await writer.finish() if writer is not None else None
        except UnsortedListing:  # found out once, and then never again
            continue


def _writer(ctx: Context, repo: Repo) -> LayerWriter:
    return LayerWriter(repo.store, ctx.runtime, ctx.ids.new(), ctx.tuning.layer_bytes)


def _check(request: IngestRequest) -> None:
    check_text("source", request.source)
    check_text("after", request.after)
    if request.prefix:
        check_path(request.prefix)
    if request.after and request.prefix and not request.after.startswith(as_folder(request.prefix)):
        raise InvalidRequestError(f"after {request.after[:80]!r}: is not below the prefix")
    if not 1 <= request.amount <= MOST:
        raise InvalidRequestError(f"amount {request.amount}: must be 1 to {MOST}")
    if not 0 <= request.told <= MOST_TOLD:
        raise InvalidRequestError(f"{request.told} changes to list: at most {MOST_TOLD}")
    if not 0 <= request.settle <= 366 * 24 * 3600:
        raise InvalidRequestError(f"settle {request.settle}: must be 0 seconds to a year")


async def _compare(page: _Page, cursor: Cursor) -> None:
    """Go through both sides from where the page begins, until its amount, its time or both are at an end."""
    started, seen, last = page.ctx.clock.monotonic(), 0, ""
    async with aclosing(_pairs(page, cursor)) as pairs:
        async for path, blob, entry in pairs:
            late = seen and not seen % _BREATH and page.ctx.clock.monotonic() - started > BUDGET
            full = seen == page.request.amount or (page.request.told and len(page.changes) == page.request.told)
            if late or full:
                page.next = last
                break
            await _look(page, path, blob, entry)
            seen, last = seen + 1, path
            if not seen % _BREATH:
                await page.ctx.runtime.sleep(0)
    await _flush(page)


async def _pairs(page: _Page, cursor: Cursor) -> AsyncGenerator[tuple[str, BlobStat | None, Entry | None]]:
    """Each path of either side, with the object and the entry that it has, in order."""
    prefix, base, after = page.prefix, page.source.key, page.request.after
    cut = len(base)
    await cursor.seek(prefix if after < prefix else after + "\0")
    start = base + after.removeprefix(prefix) if after > prefix else ""
    async for blob in page.source.store.list(base, start):
        path = prefix + blob.key[cut:]
        if path == prefix or blob.key.endswith("/"):
            continue  # what some tools put in place of a folder
        while cursor.path is not None and cursor.path < path:
            yield cursor.path, None, cursor.entry()
            await cursor.next()
        if cursor.path == path:
            yield path, blob, cursor.entry()
            await cursor.next()
        else:
            yield path, blob, None
    while cursor.path is not None and cursor.path.startswith(prefix):
        yield cursor.path, None, cursor.entry()
        await cursor.next()


async def _look(page: _Page, path: str, blob: BlobStat | None, entry: Entry | None) -> None:
    """Count one path, and note what is to change of it."""
    if blob is not None:
        page.count("listed")
    elif entry is None:
        return
    if not page.filter.takes(path[len(page.prefix) :]):
        if blob is not None:
            page.count("ignored")
        return
    new = None
    if blob is not None:
        if page.request.settle and blob.mtime > page.ctx.now() - page.request.settle:
            page.count("waiting")
            return
        if entry is not None and is_same(entry.checksum, entry.size, blob):
            page.count("unchanged")
            return
        check_path(path)
        address = f"{page.source.store.uri}/{blob.key}"
        new = new_entry(address, version_of(blob), blob.size, int(blob.mtime), DEFAULT_CONTENT_TYPE, {})
    elif not page.request.removals:
        return
    kind = "removed" if new is None else "added" if entry is None else "changed"
    page.count(kind)
    if page.request.told:
        page.changes.append(DiffEntry(kind, path, entry, new))  # type: ignore[arg-type]
    if page.writer is not None:
        page.rows.append((path, new))
        if len(page.rows) == _ROWS:
            await _flush(page)


async def _flush(page: _Page) -> None:
    if page.rows and page.writer is not None:
        rows, page.rows = page.rows, []
        await page.writer.add(await page.ctx.runtime.cpu(delta_table, rows, small=len(rows) < 500))
