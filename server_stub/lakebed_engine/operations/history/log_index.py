"""Spans of history: the changed paths of about a hundred commits, in one row.

A span begins at a commit for which all later commits of the log are ancestors, and ends before the next such commit.
The commit id decides where a span can begin, so all heads share the same spans. A span shows which of its commits may
have changed a path. So a log of one path over ten thousand commits reads a hundred rows. Spans can be made again from
commits and changed paths.

`Places` remembers where the walk for a later page of a log can begin, so that the history before the page is not read
again. Only this process remembers it. Without it, the walk begins at the start of the log.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

import msgspec
import numpy as np

from lakebed_engine.operations.context import Context, Repo, load_commit
from lakebed_engine.operations.keys import span_key
from lakebed_engine.stores.kv.base import Batch, Put
from lakebed_engine.tree.changed_paths import FOLDERS, NOTHING_KNOWN, ChangedPaths, PathQuery, hash_of
from lakebed_engine.vocabulary.errors import StoreError
from lakebed_engine.vocabulary.records import Commit
from lakebed_engine.vocabulary.requests import LogRequest

LONGEST = 4_096
"""The largest number of commits of a span. A longer one is not stored."""


class Span(msgspec.Struct, frozen=True, array_like=True):
    """Commits in the order of a log, and the paths that they changed.

    `hashes` (uint32, sorted) and `owners` (uint16) are pairs: a path hash, and the commit whose changed_paths has it.
    `wide` are the commits (uint16) whose changed paths are unknown. `coarse` are those for which only the folders are
    known. `next` is the commit after the last one, empty at the end of history. `oldest` is the smallest creation date,
    in Unix seconds.
    """

    ids: tuple[str, ...]
    next: str
    oldest: int
    hashes: bytes
    owners: bytes
    wide: bytes
    coarse: bytes

    def candidates(self, query: PathQuery) -> Sequence[int]:
        """The indices of the commits that may have changed a requested path, in order."""
        if query.anything:
            return range(len(self.ids))
        hashes = np.frombuffer(self.hashes, dtype="<u4")
        owners = np.frombuffer(self.owners, dtype="<u2")
        found: set[int] = set(np.frombuffer(self.wide, dtype="<u2").tolist())
        coarse = set(np.frombuffer(self.coarse, dtype="<u2").tolist())

        def having(one: int) -> set[int]:
            first, last = (int(np.searchsorted(hashes, np.uint32(one), side)) for side in ("left", "right"))
            return set(owners[first:last].tolist())

        for folder_hash in query.folders:
            found |= having(folder_hash)
        for path, folder in query.paths:
            found |= having(path)
            if coarse:
                found |= coarse & having(hash_of(folder)) if folder else coarse
        return sorted(found)


class Builder:
    """Collects a span while a log walks over it."""

    def __init__(self) -> None:
        self._ids: list[str] = []
        self._oldest: int | None = None
        self._parts: list[ChangedPaths] = []
        self._owners: list[int] = []

    @property
    def first(self) -> str:
        """The id of the first commit."""
        return self._ids[0]

    @property
    def too_long(self) -> bool:
        """Whether the span has too many commits to be stored."""
        return len(self._ids) > LONGEST

    def add(self, commit_id: str, date: int, changed_paths: ChangedPaths | None) -> None:
        """Add the next commit. Without a changed_paths if it cannot match."""
        if changed_paths is not None:
            self._parts.append(changed_paths)
            self._owners.append(len(self._ids))
        self._ids.append(commit_id)
        self._oldest = date if self._oldest is None else min(self._oldest, date)

    def span(self, following: str) -> Span:
        """The collected span. `following` is the commit after it."""
        none = np.zeros(0, dtype="<u4")
        hashes = np.concatenate([none, *[part.hashes for part in self._parts]])
        counts = [len(part.hashes) for part in self._parts]
        owners = np.repeat(np.array(self._owners, dtype="<u2"), counts)
        order = np.argsort(hashes, kind="stable")

        def at(level: int) -> bytes:
            chosen = [owner for owner, part in zip(self._owners, self._parts, strict=True) if part.level == level]
            return np.array(chosen, dtype="<u2").tobytes()

        return Span(
            ids=tuple(self._ids),
            next=following,
            oldest=self._oldest or 0,
            hashes=hashes[order].astype("<u4").tobytes(),
            owners=owners[order].tobytes(),
            wide=at(NOTHING_KNOWN),
            coarse=at(FOLDERS),
        )


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(Span).decode


def begins(commit_id: str) -> bool:
    """Whether a span may begin at a commit. About one in 128 can."""
    return commit_id[:2] < "02"


async def find_span(ctx: Context, repo: Repo, commit_id: str, first_parent: bool) -> Span | None:
    """The stored span that begins at a commit, or None."""
    key = span_key(commit_id, first_parent)
    known: Span | None = ctx.commits.get((repo.partition, key))
    if known is not None:
        return known
    found = await ctx.kv.get(repo.partition, key)
    if found is None:
        return None
    span = _decode(found.value)
    ctx.commits.put((repo.partition, key), span, len(found.value) + 100 * len(span.ids))
    return span


async def keep_span(ctx: Context, repo: Repo, span: Span, first_parent: bool) -> None:
    """Store a span. Ignores errors, because the log does not need it."""
    with suppress(StoreError):
        await ctx.kv.apply(Batch(puts=[Put(repo.partition, span_key(span.ids[0], first_parent), _encode(span))]))


class Places:
    """The known places of one log: of the same first commit, with the same order of commits."""

    def __init__(self, ctx: Context, repo: Repo, start: Commit, request: LogRequest) -> None:
        self._ctx = ctx
        self._repo = repo
        self._start = start
        self._after = request.after
        self._log = (repo.partition, start.id, request.first_parent, request.since)
        self._usable = not request.stop_at  # `after` may be past the end of this log: then it is refused

    async def beginning(self) -> Commit:
        """A commit from which a walk reaches `after`: the start of the log, if no later one is known."""
        found: str | None = self._ctx.log_places.get((*self._log, self._after)) if self._usable else None
        return self._start if found is None else await load_commit(self._ctx, self._repo, found)

    def keep(self, commit_id: str, beginning: str) -> None:
        """Remember where a walk that reaches a commit can begin."""
        self._ctx.log_places.put((*self._log, commit_id), beginning, 1)
