"""Reads the event log: pages over the files of the bucket, and then over the rows that no drain has moved yet."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Final

import msgspec
from lakebed_format.decoding import FormatError
from lakebed_format.journal import MOST_NUMBER, PLACES, decode_journal, journal_file, journal_number
from lakebed_format.keys import JOURNAL

from lakebed_engine.operations import validation
from lakebed_engine.operations.context import Context, Repo, open_repo
from lakebed_engine.operations.events.drain import drain
from lakebed_engine.operations.events.rows import Head, decode_head, in_order
from lakebed_engine.operations.keys import JOURNAL as JOURNAL_ROWS
from lakebed_engine.operations.keys import JOURNAL_HEAD, under
from lakebed_engine.vocabulary.errors import BlobNotFound, CorruptDataError, InvalidRequestError
from lakebed_engine.vocabulary.events import SKEW, Event, EventPage, Flush

FILES: Final = 64
"""Maximum number of files that one page reads. So a page with a filter may be short or empty although another follows.
"""


async def page(
    ctx: Context, repo_name: str, *, after: int = 0, branch: str = "", type: str = "", amount: int = 100
) -> EventPage:
    """The events after a logical timestamp, in order; only of one branch and of one type, if given.

    A type may be a group: `branch` means all types that begin with `branch.`. Events that are in no file yet are at the
    end of the last page. Their logical timestamp is 0, and `position` does not move past them: a later page returns
    them again, with the same id.

    Raises RepositoryNotFoundError, InvalidRequestError.
    """
    validation.check_amount(amount)
    if not 0 <= after < MOST_NUMBER * PLACES:
        raise InvalidRequestError(f"after {after}: must be a logical timestamp")
    repo = await open_repo(ctx, repo_name)
    wanted = _filter(branch, type)
    found = await _page(ctx, repo, after, wanted, amount)
    if found is None:  # more rows than fit: only files can be read in pages
        await drain(ctx, repo)
        found = await _page(ctx, repo, after, wanted, amount, cut=True)
        assert found is not None
    return found


async def _page(
    ctx: Context, repo: Repo, after: int, wanted: Callable[[Event], bool], amount: int, *, cut: bool = False
) -> EventPage | None:
    """A page. None when more rows remain than fit on it. `cut`: leave them out instead."""
    # rows first: events that are drained from now on are also in the files
    rows = in_order(await ctx.kv.scan(repo.partition, *under(JOURNAL_ROWS), validation.MAX_PAGE + 1))
    items: list[Event] = []
    known: set[str] = set()
    position, files = after, 0
    async for events in _files(ctx, repo, after):
        if files == FILES:
            return EventPage(items, position, has_more=True)
        files += 1
        for event in events:
            if event.logical_timestamp <= after or event.id in known:
                continue
            if len(items) == amount:
                return EventPage(items, position, has_more=True)
            position = event.logical_timestamp
            known.add(event.id)
            if wanted(event):
                items.append(event)
    rest = [event for event in rows if event.id not in known and wanted(event)]
    too_many = len(rows) > validation.MAX_PAGE or len(rest) > amount - len(items)
    if too_many and not cut:
        return EventPage(items, position, has_more=True) if items else None
    return EventPage([*items, *rest[: amount - len(items)]], position, has_more=False)


def _filter(branch: str, type: str) -> Callable[[Event], bool]:
    def wanted(event: Event) -> bool:
        return (not branch or event.branch == branch) and (
            not type or event.type == type or event.type.startswith(f"{type}.")
        )

    return wanted


async def _files(ctx: Context, repo: Repo, after: int) -> AsyncIterator[list[Event]]:
    """The events of the files in order, from the file that has this logical timestamp."""
    number = after // PLACES
    async for blob in repo.store.list(JOURNAL, start_after=journal_file(number - 1) if number > 1 else ""):
        found = journal_number(blob.key)
        if found is not None and found >= number and blob.size:  # a killed server can leave an empty file
            yield await _events_of(ctx, repo, found)


async def _events_of(ctx: Context, repo: Repo, number: int) -> list[Event]:
    key = (repo.partition, number)
    events: list[Event] | None = ctx.journals.get(key)
    if events is not None:
        return events
    try:
        data = await repo.store.get(journal_file(number))
        rows = await ctx.runtime.cpu(decode_journal, data, small=len(data) < 1 << 14)
        events = [msgspec.convert({**row, "logical_timestamp": place}, Event) for place, row in rows]
    except BlobNotFound:  # removed since the listing
        return []
    except (FormatError, msgspec.ValidationError) as error:
        raise CorruptDataError(f"{repo.store.uri}/{journal_file(number)} cannot be read: {error}") from error
    ctx.journals.put(key, events, 1_000 + 10 * len(data))
    return events


async def position(ctx: Context, repo_name: str) -> int:
    """The largest logical timestamp of the events in files. Raises RepositoryNotFoundError."""
    repo = await open_repo(ctx, repo_name)
    found = await ctx.kv.get(repo.partition, JOURNAL_HEAD)
    return 0 if found is None else decode_head(found.value).number * PLACES + PLACES - 1


async def settled(ctx: Context, repo_name: str) -> int:
    """A logical timestamp: every event up to it is in a file now, if the clocks of servers differ by less than SKEW.

    Raises RepositoryNotFoundError.
    """
    repo = await open_repo(ctx, repo_name)
    found = await ctx.kv.get(repo.partition, JOURNAL_HEAD)
    head = Head() if found is None else decode_head(found.value)
    if head.next:  # a drain has begun this file: it may be put at any time
        return head.next * PLACES - 1
    return max(head.number * PLACES + PLACES - 1, (int(ctx.clock.now() * 1000) - SKEW) * PLACES)


async def is_kept(ctx: Context, repo_name: str, logical_timestamp: int) -> bool:
    """Whether the file with this logical timestamp is still in the bucket: then so are all later ones."""
    number = logical_timestamp // PLACES
    if not 0 < number < MOST_NUMBER:
        return False
    try:
        await (await open_repo(ctx, repo_name)).store.head(journal_file(number))
    except BlobNotFound:
        return False
    return True


async def drain_now(ctx: Context, repo_name: str, most: int = Flush().rows) -> int | None:
    """Move the events of a repository to files now, as `drain` does."""
    return await drain(ctx, await open_repo(ctx, repo_name), most)
