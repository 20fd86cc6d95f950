"""Ingest: objects in another store become entries, without a copy (`seeds/003`, out-of-band ingest).

An ingest compares a folder of another bucket with the objects below a prefix, both in order of path, page by page. Each
page returns where the next one begins. So no request takes long, and the server stores nothing between them. The rows
of a page become one layer of a workspace, which is then committed like any other (`workspace.commit`). A page without
new objects writes nothing.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing, nullcontext
from dataclasses import dataclass, field

from lakebed_format.globs import MOST as MOST_GLOBS

from lakebed_engine.operations.branch.resolve import resolve_commit
from lakebed_engine.operations.branch.view import View, is_unchanged, sources_of, tree_of
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
from lakebed_engine.vocabulary.records import DEFAULT_CONTENT_TYPE, DiffEntry, Entry, Layer
from lakebed_engine.vocabulary.requests import IngestPage, IngestRequest

MOST = 100_000
"""The largest number of paths that one page compares."""

MAX_CHANGES = 1000
"""The largest number of changes that one page lists."""

BUDGET = 20.0
"""Seconds after which a page ends."""


_ROWS = 10_000
_BREATH = 1000
"""Number of paths after which a page yields to other work, and checks its time."""


class Filter:
    """Selects paths below the source. Raises InvalidRequestError for a bad glob."""

    def __init__(self, include: tuple[str, ...], exclude: tuple[str, ...]) -> None:
        if len(include) + len(exclude) > MOST_GLOBS:
            raise InvalidRequestError(f"{len(include) + len(exclude)} globs: at most {MOST_GLOBS}")
        self._include = read_globs(include)
        self._exclude = read_globs(exclude)

    def takes(self, name: str) -> bool:
        """Whether the path is selected. `exclude` overrides `include`."""
        return not self._exclude.choose(name) and (not self._include.globs or self._include.choose(name))


@dataclass(slots=True)
class _Page:
    """One running page. `source` is the folder of the objects, `prefix` the path where they will appear.

    `beginning`: that of the names in `source` which count.
    """

    ctx: Context
    request: IngestRequest
    source: Found
    beginning: str
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
    """The changes that an ingest would make to a commit. Writes nothing.

    Raises ForeignDeniedError, InvalidRequestError, InvalidPathError, RefNotFoundError.
    """
    repo = await open_repo(ctx, repo_name)
    commit = await resolve_commit(ctx, repo, ref)
    view = View(ctx, repo, (), await tree_of(ctx, repo, commit.id))
    page, _ = await _run(ctx, repo, view, commit.id, request, write=False)
    return page


async def ingest_page(ctx: Context, repo_name: str, found_id: str, request: IngestRequest) -> IngestPage:
    """Write the differences as a layer of a workspace, in one swap. A repeated page finds no differences.

    Raises as `diff_page`, and WorkspaceNotFoundError, WorkspaceClosedError, BackpressureError, TooManyAttemptsError.
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
            if await is_unchanged(ctx, repo, seen):
                raise
            return None
        # even if the page found nothing: during a slow page, a swap may have replaced the layers that it read
        if layer is None or not layer.parts:
            return page if await is_unchanged(ctx, repo, seen) else None
        return page if await put_on_top(ctx, repo, seen, layer) else None

    return await retry_on_conflict(f"workspace {found_id!r} of {repo.name!r}", attempt)


async def _run(
    ctx: Context, repo: Repo, view: View, base: str, request: IngestRequest, *, write: bool
) -> tuple[IngestPage, Layer | None]:
    _check(request)
    if request.by_name:
        source, beginning = ctx.foreign.beginning(request.source, repo.record.storage_id)
    else:
        source, beginning = ctx.foreign.folder(request.source, repo.record.storage_id), ""
    await refuse_namespaces(ctx, request.source)
    prefix = as_folder(request.prefix) if request.prefix else ""
    chosen = Filter(request.include, request.exclude)
    while True:
        # a new id for each attempt: its files must not be confused with those of an earlier attempt
        writing = _writer(ctx, repo) if write else nullcontext()
        try:
            async with writing as writer:
                page = _Page(ctx, request, source, beginning, prefix, chosen, base, writer)
                await _compare(page, view.cursor())
                return page.answer(), await writer.finish() if writer is not None else None
        except UnsortedListing:  # the store now knows that its listing is unsorted, and sorts it from now on
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
    if not 0 <= request.max_changes <= MAX_CHANGES:
        raise InvalidRequestError(f"{request.max_changes} changes to list: at most {MAX_CHANGES}")
    if not 0 <= request.settle <= 366 * 24 * 3600:
        raise InvalidRequestError(f"settle {request.settle}: must be 0 seconds to a year")


async def _compare(page: _Page, cursor: Cursor) -> None:
    """Compare both listings from the beginning of the page, until its amount, its time or both listings end."""
    started, seen, last = page.ctx.clock.monotonic(), 0, ""
    async with aclosing(_pairs(page, cursor)) as pairs:
        async for path, blob, entry in pairs:
            late = seen and not seen % _BREATH and page.ctx.clock.monotonic() - started > BUDGET
            full = seen == page.request.amount or (
                page.request.max_changes and len(page.changes) == page.request.max_changes
            )
            if late or full:
                page.next = last
                break
            await _look(page, path, blob, entry)
            seen, last = seen + 1, path
            if not seen % _BREATH:
                await page.ctx.runtime.sleep(0)
    await _flush(page)


async def _pairs(page: _Page, cursor: Cursor) -> AsyncGenerator[tuple[str, BlobStat | None, Entry | None]]:
    """Each path of either listing, in order, with its object and its entry."""
    prefix, base, after = page.prefix, page.source.key, page.request.after
    cut = len(base)
    await cursor.seek(prefix if after < prefix else after + "\0")
    start = base + after.removeprefix(prefix) if after > prefix else ""
    async for blob in page.source.store.list(base + page.beginning, start):
        path = prefix + blob.key[cut:]
        if path == prefix or blob.key.endswith("/"):
            continue  # a placeholder that some tools write for a folder
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
    """Count one path, and record its change."""
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
    if page.request.max_changes:
        page.changes.append(DiffEntry(kind, path, entry, new))  # type: ignore[arg-type]
    if page.writer is not None:
        page.rows.append((path, new))
        if len(page.rows) == _ROWS:
            await _flush(page)


async def _flush(page: _Page) -> None:
    if page.rows and page.writer is not None:
        rows, page.rows = page.rows, []
        await page.writer.add(await page.ctx.runtime.cpu(delta_table, rows, small=len(rows) < 500))
