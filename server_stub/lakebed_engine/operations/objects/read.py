"""Reading: stat, list, open, and uncommitted changes."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial

from lakebed_engine.operations import validation
from lakebed_engine.operations.branch.view import View, steady
from lakebed_engine.operations.context import Context, Repo, open_repo
from lakebed_engine.operations.validation import bounded, metadata_size
from lakebed_engine.stores.objects.base import ObjectStore
from lakebed_engine.stores.objects.external import VERSIONED, version_of
from lakebed_engine.tree.cursor import Run
from lakebed_engine.tree.rows import prefix_end
from lakebed_engine.vocabulary.errors import BlobNotFound, CorruptDataError, ObjectGoneError, ObjectNotFoundError
from lakebed_engine.vocabulary.records import DiffEntry, Entry, Listed, Located, Page
from lakebed_engine.vocabulary.requests import ReadableEntry


async def find(ctx: Context, repo_name: str, ref: str, path: str) -> ReadableEntry:
    """The entry at a path in a ref, and a function that reads its data. Raises ObjectNotFoundError."""
    return readable(ctx, *await _find(ctx, repo_name, ref, path))


def readable(ctx: Context, repo: Repo, entry: Entry) -> ReadableEntry:
    """An entry with the function that reads its data."""
    return ReadableEntry(entry, partial(_read, ctx, repo, entry))


def not_found(repo_name: str, ref: str, path: str) -> ObjectNotFoundError:
    """The error for a path without an object."""
    return ObjectNotFoundError(f"object {path!r} not found in {ref!r} of repository {repo_name!r}")


async def _find(ctx: Context, repo_name: str, ref: str, path: str) -> tuple[Repo, Entry]:
    validation.check_path(path)
    repo = await open_repo(ctx, repo_name)
    entry = await steady(ctx, repo, ref, lambda view: view.find(path))
    if entry is None:
        raise not_found(repo_name, ref, path)
    return repo, entry


async def _read(ctx: Context, repo: Repo, entry: Entry, start: int, length: int) -> bytes:
    """A part of the data that fits into memory. Raises as `open_entry`, and CorruptDataError."""
    try:
        store, key = await placed(ctx, repo, entry)
        data = await store.get_range(key, start, length)
    except BlobNotFound:
        raise _gone(repo, entry) from None
    if len(data) < length:
        where = physical_uri(repo, entry)
        why = (
            f"the data of this object ends {length - len(data)} bytes early: {where} does not have the size that "
            "was written; restore it from a backup"
        )
        raise CorruptDataError(why, public_message=f"stored data is damaged: {why}")
    return data


async def read_part(ctx: Context, repo_name: str, entry: Entry, start: int, length: int) -> bytes:
    """A part of the data of an entry that fits into memory. Raises as `open_entry`, and CorruptDataError."""
    return await _read(ctx, await open_repo(ctx, repo_name), entry, start, length)


async def stat(ctx: Context, repo_name: str, ref: str, path: str) -> Entry:
    """The entry at a path in a ref. Raises ObjectNotFoundError."""
    return (await _find(ctx, repo_name, ref, path))[1]


async def locate(ctx: Context, repo_name: str, ref: str, path: str) -> Located:
    """The entry at a path in a ref, and the full URI of its data. Raises ObjectNotFoundError."""
    return located(*await _find(ctx, repo_name, ref, path))


async def addresses(ctx: Context, repo_name: str) -> Callable[[Entry], str]:
    """A function that returns the full URI of the data of an entry of a repository."""
    repo = await open_repo(ctx, repo_name)
    return lambda entry: physical_uri(repo, entry)


def first_of(prefix: str, after: str, delimiter: str) -> str | None:
    """Where a page begins. `after` is exclusive, and skips the content of a common prefix. None: the listing is at its
    end.
    """
    if not after or after < prefix:
        return prefix
    if group_of(after, prefix, delimiter) == after:
        return prefix_end(after)
    return after + "\0"


def group_of(path: str, prefix: str, delimiter: str) -> str | None:
    """The common prefix of a path, if any."""
    if not delimiter:
        return None
    found = path.find(delimiter, len(prefix))
    return None if found < 0 else path[: found + len(delimiter)]


async def list_objects(
    ctx: Context, repo_name: str, ref: str, *, prefix: str = "", after: str = "", amount: int = 100, delimiter: str = ""
) -> Page[Listed]:
    """A page of a ref's objects in byte order, grouped by `delimiter`. One page is read from one record."""
    validation.check_amount(amount)
    validation.check_texts(prefix=prefix, after=after, delimiter=delimiter)
    repo = await open_repo(ctx, repo_name)
    start = first_of(prefix, after, delimiter)
    if start is None:
        return Page([], has_more=False)
    return await steady(ctx, repo, ref, lambda view: list_page(view, start, prefix, amount, delimiter))


async def list_page(view: View, start: str, prefix: str, amount: int, delimiter: str) -> Page[Listed]:
    """A page of a view's objects with a prefix, from `start` on, grouped by `delimiter`."""
    items: list[Listed] = []
    end = prefix_end(prefix)
    cursor = view.cursor()
    await cursor.seek(start)
    while cursor.path is not None and (end is None or cursor.path < end):
        run = cursor.run(end)
        beyond: str | None = ""
        if delimiter:
            beyond = _add_groups(items, run, prefix, amount + 1, delimiter)
        else:
            run = run._replace(stop=min(run.stop, run.start + amount + 1 - len(items)))
            items.extend(run.rows.listed(run.start, run.stop))
        if len(items) > amount or beyond is None:
            break
        if beyond:
            await cursor.seek(beyond)
        else:
            await cursor.skip(run.stop - run.start)
    return bounded(Page(items[:amount], has_more=len(items) > amount), _size)


def _size(row: Listed) -> int:
    return 0 if row.entry is None else metadata_size(row.entry.metadata)


def _add_groups(items: list[Listed], run: Run, prefix: str, most: int, delimiter: str) -> str | None:
    """Add the items of a run of rows until there are `most`. Returns where to continue: "" after the run, None at the
    end.
    """
    rows, at, stop = run
    while at < stop and len(items) < most:
        if not rows.is_live(at):
            at += 1
            continue
        group = group_of(rows.path(at), prefix, delimiter)
        if group is None:
            items.extend(rows.listed(at, at + 1))
            at += 1
            continue
        items.append(Listed(group, None))
        beyond = prefix_end(group)
        if beyond is None:
            return None
        at = rows.after(at + 1, stop, beyond)
        if at == stop:  # the prefix may continue after the run
            return beyond
    return ""


async def uncommitted(view: View, start: str) -> AsyncIterator[DiffEntry]:
    """Staged changes that differ from the head, from `start` on, in order of path."""
    staged, tree = view.staged_cursor(), view.tree_cursor()
    await staged.seek(start)
    while staged.path is not None:
        path, new = staged.path, staged.entry()
        await tree.seek(path)
        old = tree.entry() if tree.path == path else None
        if (old and old.identity) != (new and new.identity):
            kind = "changed" if old and new else "added" if new else "removed"
            yield DiffEntry(kind, path, old, new)  # type: ignore[arg-type]
        await staged.next()


@asynccontextmanager
async def open_entry(
    ctx: Context, repo_name: str, entry: Entry, start: int = 0, length: int | None = None
) -> AsyncIterator[AsyncIterator[bytes]]:
    """Stream an entry's data, or a part of it. Raises ObjectGoneError, ForeignDeniedError."""
    repo = await open_repo(ctx, repo_name)
    try:
        store, key = await placed(ctx, repo, entry)
        opened = store.open(key, start, length)
        chunks = await opened.__aenter__()
    except BlobNotFound:
        raise _gone(repo, entry) from None
    try:
        yield chunks
    finally:
        await opened.__aexit__(None, None, None)


async def placed(ctx: Context, repo: Repo, entry: Entry, *, check: bool = True) -> tuple[ObjectStore, str]:
    """Where an entry's data is. Data outside the namespace may have changed since it was ingested: `check` verifies it.

    Raises ForeignDeniedError; BlobNotFound and ObjectGoneError with `check`.
    """
    address = entry.physical_address.removeprefix(f"{repo.store.uri}/")
    if "://" not in address:
        return repo.store, address
    found = ctx.foreign.object(address, repo.record.storage_id)
    if not check:
        return found.store, found.key
    now = await found.store.head(found.key)
    versioned = entry.checksum.startswith(VERSIONED)
    if now.size != entry.size or (versioned and version_of(now) != entry.checksum):
        raise ObjectGoneError(f"the data of this object has changed since it was ingested: {address}; ingest it again")
    return found.store, found.key


def _gone(repo: Repo, entry: Entry) -> ObjectGoneError:
    return ObjectGoneError(f"the data of this object is gone: {physical_uri(repo, entry)} is not in the object store")


def located(repo: Repo, entry: Entry) -> Located:
    """An entry with the full URI of its data."""
    return Located(entry, physical_uri(repo, entry))


def physical_uri(repo: Repo, entry: Entry) -> str:
    """The full URI of an entry's data."""
    address = entry.physical_address
    return address if "://" in address else f"{repo.store.uri}/{address}"
