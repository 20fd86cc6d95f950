"""Spans of history: what stretches of a hundred commits or so touched, in one row each.

A span begins at a commit of which all that a log gives later are ancestors, and ends before the next such one; which
of them begin a span is a matter of their ids, so that all heads share them. It tells which of its commits may have
changed a path: a log of one path over ten thousand commits reads a hundred rows. Spans follow from commits and
footprints.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

import msgspec
import numpy as np

from lakebed_engine.operations.context import Context, Repo
from lakebed_engine.operations.keys import span_key
from lakebed_engine.stores.kv.base import Batch, Put
from lakebed_engine.tree.changed_paths import FOLDERS, NOTHING_KNOWN, Footprint, Question, hash_of
from lakebed_engine.vocabulary.errors import StoreError

LONGEST = 4_096
"""Commits of a span; where it would need more there is none."""


class Span(msgspec.Struct, frozen=True, array_like=True):
    """Commits in the order of a log, and what they touched.

    `hashes` (uint32, sorted) and `owners` (uint16) are pairs: which commit has a hash in its footprint. `wide` and
    `coarse` (uint16) are the commits of which nothing, or only folders are known. `next` is the commit behind the last
    one, empty at the end of history; `oldest` the least creation date, in Unix seconds.
    """

    ids: tuple[str, ...]
    next: str
    oldest: int
    hashes: bytes
    owners: bytes
    wide: bytes
    coarse: bytes

    def candidates(self, question: Question) -> Sequence[int]:
        """The indices of the commits that may have changed what is asked for, in order."""
        if question.anything:
            return range(len(self.ids))
        hashes = np.frombuffer(self.hashes, dtype="<u4")
        owners = np.frombuffer(self.owners, dtype="<u2")
        found: set[int] = set(np.frombuffer(self.wide, dtype="<u2").tolist())
        coarse = set(np.frombuffer(self.coarse, dtype="<u2").tolist())

        def having(one: int) -> set[int]:
            first, last = (int(np.searchsorted(hashes, np.uint32(one), side)) for side in ("left", "right"))
            return set(owners[first:last].tolist())

        for folder_hash in question.folders:
            found |= having(folder_hash)
        for path, folder in question.paths:
            found |= having(path)
            if coarse:
                found |= coarse & having(hash_of(folder)) if folder else coarse
        return sorted(found)


class Builder:
    """Gathers a span while a log walks through it."""

    def __init__(self) -> None:
        self._ids: list[str] = []
        self._oldest: int | None = None
        self._parts: list[Footprint] = []
        self._owners: list[int] = []

    @property
    def first(self) -> str:
        """The id of its first commit."""
        return self._ids[0]

    @property
    def too_long(self) -> bool:
        """It cannot be stored any more."""
        return len(self._ids) > LONGEST

    def add(self, commit_id: str, date: int, footprint: Footprint | None) -> None:
        """The next commit; without a footprint when it can match nothing."""
        if footprint is not None:
            self._parts.append(footprint)
            self._owners.append(len(self._ids))
        self._ids.append(commit_id)
        self._oldest = date if self._oldest is None else min(self._oldest, date)

    def span(self, following: str) -> Span:
        """What was gathered."""
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
    """Whether a span may begin at a commit: about one of 128 can."""
    return commit_id[:2] < "02"


async def find_span(ctx: Context, repo: Repo, commit_id: str, first_parent: bool) -> Span | None:
    """The span that begins at a commit, if it was made."""
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
    """Store it. A failure is none: the log was told without it."""
    with suppress(StoreError):
        await ctx.kv.apply(Batch(puts=[Put(repo.partition, span_key(span.ids[0], first_parent), _encode(span))]))
