"""The rows of pull requests, and every change of them.

A change of a pull request, also of one of its events, replaces its record by compare-and-swap. So the version of the
record covers the whole pull request: a merge checks it in the batch that moves the destination.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import msgspec

from lakebed_engine.operations.branch.compare_and_swap import apply
from lakebed_engine.operations.context import Context, Repo, encode, load_commit, read_branch
from lakebed_engine.operations.events.rows import event_rows
from lakebed_engine.operations.keys import (
    AUTO_MERGES,
    OPERATIONS,
    auto_merge_key,
    open_pull_key,
    pull_event_key,
    pull_events,
    pull_key,
    under,
)
from lakebed_engine.operations.retry import retry_on_conflict
from lakebed_engine.operations.validation import check_pull_id
from lakebed_engine.stores.kv.base import Batch, Check, Delete, Put, scan_rows
from lakebed_engine.vocabulary.errors import (
    BranchNotFoundError,
    InvalidRequestError,
    PullClosedError,
    PullNotFoundError,
    SourceMovedError,
)
from lakebed_engine.vocabulary.events import NewEvent, current_actor
from lakebed_engine.vocabulary.pulls import EventType, Pull, PullEvent

MOST_EVENTS = 2_500
"""Maximum number of events of a pull request. After that, it can only be closed or merged."""

MAX_TEXT = 64 << 10
"""Maximum bytes of a description, of a review, and of a comment."""

MOST_MENTIONS = 100

_WORD = re.compile(r"[\w.@+/-]+")
_LONGEST_NAME = 255

_pull = msgspec.json.Decoder(Pull)
_event = msgspec.json.Decoder(PullEvent)


@dataclass(frozen=True, slots=True)
class SeenPull:
    """The record of a pull request, with the version that was read."""

    pull: Pull
    version: int

    def check(self, repo: Repo) -> Check:
        """The check that the pull request has not changed."""
        return Check(repo.partition, pull_key(self.pull.id), self.version)


class PullRows(NamedTuple):
    """A changed pull request as it is stored, and the puts and deletes of the change."""

    pull: Pull
    puts: Sequence[Put]
    deletes: Sequence[Delete]


def decode_pull(value: bytes) -> Pull:
    """Decode a stored pull request."""
    return _pull.decode(value)


def decode_event(value: bytes) -> PullEvent:
    """Decode a stored event of a pull request."""
    return _event.decode(value)


def new_pull_id(ctx: Context) -> str:
    """20 of the digits 0-9 and a-v, as existing clients expect: the Unix second, then random bytes."""
    raw = ctx.now().to_bytes(4, "big") + bytes.fromhex(ctx.ids.new())[-8:]
    return base64.b32hexencode(raw).decode().rstrip("=").lower()


async def read_pull(ctx: Context, repo: Repo, pull_id: str) -> SeenPull:
    """Raises InvalidRequestError for a malformed id, PullNotFoundError."""
    check_pull_id(pull_id)
    found = await ctx.kv.get(repo.partition, pull_key(pull_id))
    if found is None:
        raise PullNotFoundError(f"pull request {pull_id} not found in repository {repo.name!r}")
    return SeenPull(decode_pull(found.value), found.version)


async def read_events(ctx: Context, repo: Repo, pull_id: str) -> list[PullEvent]:
    """All events of a pull request, oldest first."""
    prefix = under(pull_events(pull_id))
    return [decode_event(row.value) async for row in scan_rows(ctx.kv, repo.partition, *prefix)]


def event_of(
    ctx: Context, pull: Pull, type: EventType, actor: str, *, text: str = "", commit_id: str = ""
) -> PullEvent:
    """The next event of a pull request."""
    return PullEvent(
        id=pull.events + 1, type=type, actor=actor, date=ctx.now(), text=text, commit_id=commit_id
    )  # fmt: skip


def with_mentions(pull: Pull, text: str) -> Pull:
    """The pull request with the names after an `@` in a text."""
    words = (word.lstrip("+-") for word in _WORD.findall(text))
    names = (word[1:].partition("/")[0] for word in words if word.startswith("@"))
    found = [name[:_LONGEST_NAME].rstrip(".@+-") for name in names if name[:1].isalnum() or name[:1] == "_"]
    mentions = tuple(dict.fromkeys((*pull.mentions, *found)))[:MOST_MENTIONS]
    return msgspec.structs.replace(pull, mentions=mentions)


async def source_head(ctx: Context, repo: Repo, pull: Pull) -> str:
    """The head of the source. Empty if there is no such branch."""
    try:
        return (await read_branch(ctx, repo, pull.source_branch)).record.commit_id
    except BranchNotFoundError:
        return ""


def require_open(pull: Pull) -> None:
    """Raises PullClosedError."""
    if pull.status != "open":
        how = f"merged as commit {pull.merged_commit_id}" if pull.status == "merged" else "closed"
        raise PullClosedError(f"pull request {pull.id} is {how}: nothing was changed")


def require_source(pull: Pull, expected: str) -> None:
    """Raises SourceMovedError if a request expects another head of the source."""
    if expected not in ("", pull.head_commit_id):
        raise SourceMovedError(
            f"branch {pull.source_branch!r} is at commit {pull.head_commit_id or '(deleted)'}, not at "
            f"{expected[:80]!r}: nothing was changed; read the new commits, then try again"
        )


def rows_of(ctx: Context, repo: Repo, old: Pull | None, new: Pull, events: Sequence[PullEvent] = ()) -> PullRows:
    """The rows of a change from `old`, or of a new pull request. `events` are new events or replace old ones."""
    last = max((one.id for one in events), default=0)
    new = msgspec.structs.replace(new, revision=ctx.ids.new(), events=max(new.events, last))
    new = new if new.status == "open" else msgspec.structs.replace(new, auto_merge=None)
    puts = [Put(repo.partition, pull_key(new.id), encode(new))]
    puts += [Put(repo.partition, pull_event_key(new.id, one.id), encode(one)) for one in events]
    puts += event_rows(ctx, repo, *(_new_event(new, one) for one in events if old is None or one.id > old.events))
    if new.status == "open":
        return PullRows(new, [*puts, *_open_rows(repo, new)], [])
    return PullRows(new, puts, unmark(repo, new) if old is not None and old.status == "open" else [])


def restored_rows(repo: Repo, pull: Pull, events: Sequence[PullEvent]) -> list[Put]:
    """All rows of a pull request, as they were."""
    puts = [Put(repo.partition, pull_key(pull.id), encode(pull))]
    puts += [Put(repo.partition, pull_event_key(pull.id, one.id), encode(one)) for one in events]
    if pull.status == "open":
        puts += _open_rows(repo, pull)
    return puts


def _open_rows(repo: Repo, pull: Pull) -> list[Put]:
    """The rows by which an open pull request is found."""
    puts = [Put(repo.partition, mark, b"") for mark in _marks(pull)]
    if pull.auto_merge is not None:
        puts.append(Put(AUTO_MERGES, auto_merge_key(repo.record.uid, pull.id), repo.name.encode()))
    return puts


def unmark(repo: Repo, pull: Pull) -> list[Delete]:
    """The deletes of the marks of an open pull request."""
    marks = [Delete(repo.partition, mark) for mark in _marks(pull)]
    return [*marks, Delete(AUTO_MERGES, auto_merge_key(repo.record.uid, pull.id))]


def _marks(pull: Pull) -> list[bytes]:
    return [open_pull_key(branch, pull.id) for branch in (pull.source_branch, pull.destination_branch)]


def _new_event(pull: Pull, event: PullEvent) -> NewEvent:
    """The event of the repository that has the same content as an event of a pull request."""
    data = {"pull_request": pull.id, "title": pull.title, "source_branch": pull.source_branch, "number": event.id}
    return NewEvent(
        type=f"pull.{event.type}",
        branch=pull.destination_branch,
        commit_id=event.commit_id,
        data=data,
        actor=current_actor()._replace(user=event.actor),
    )


class PullChange(NamedTuple):
    """A changed pull request, its new or changed events, and further checks of the batch."""

    pull: Pull
    events: Sequence[PullEvent] = ()
    checks: Sequence[Check] = ()


Make = Callable[[Pull], Awaitable[PullChange | None]]
"""A function of a pull request: returns its change. None changes nothing."""


async def change_pull(ctx: Context, repo: Repo, pull_id: str, make: Make, *, bounded: bool = True) -> Pull:
    """Change a pull request by compare-and-swap. Raises PullNotFoundError and the errors of `make`.

    Raises InvalidRequestError for more than `MOST_EVENTS` events. This limit is for users: changes that the server
    makes on its own are not `bounded`.
    """

    async def attempt() -> Pull | None:
        seen = await read_pull(ctx, repo, pull_id)
        now, pushed = await with_head(ctx, repo, seen.pull)
        change = await make(now)
        if change is None:
            return seen.pull
        if bounded and seen.pull.events >= MOST_EVENTS and change.pull.status == seen.pull.status:
            raise InvalidRequestError(
                f"pull request {pull_id} has {MOST_EVENTS:,} events, the maximum: close it and open another one"
            )
        rows = rows_of(ctx, repo, seen.pull, change.pull, [*pushed, *change.events])
        applied = await write(ctx, repo, [seen.check(repo), *change.checks], rows.puts, rows.deletes)
        return rows.pull if applied else None

    return await retry_on_conflict(f"pull request {pull_id} of {repo.name!r}", attempt)


async def with_head(ctx: Context, repo: Repo, pull: Pull) -> tuple[Pull, list[PullEvent]]:
    """An open pull request at the current head of its source, and the event of the push if the head has moved."""
    head = await source_head(ctx, repo, pull) if pull.status == "open" else ""
    if head in ("", pull.head_commit_id):
        return pull, []
    commit = await load_commit(ctx, repo, head)
    pushed = msgspec.structs.replace(event_of(ctx, pull, "pushed", "", commit_id=head), date=commit.creation_date)
    return msgspec.structs.replace(pull, head_commit_id=head, events=pushed.id), [pushed]


async def write(
    ctx: Context, repo: Repo, checks: Sequence[Check], puts: Sequence[Put], deletes: Sequence[Delete] = ()
) -> bool:
    """Apply the rows of a change. False: a check did not hold. The first check must name an existing version."""
    operation = OPERATIONS + ctx.ids.new().encode()
    batch = Batch(checks, [*puts, Put(repo.partition, operation, str(ctx.now()).encode())], deletes)
    return await apply(ctx, repo, batch, operation)
