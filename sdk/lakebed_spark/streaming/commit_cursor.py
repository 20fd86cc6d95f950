"""The commits of a branch by first parents, followed as they come."""

from __future__ import annotations

import time
from typing import Final

import lakebed
from lakebed.errors import NotFoundError, PreconditionFailedError
from lakebed.model import Commit

_FRESH: Final = 0.1
"""Seconds for which the last known head counts as the head. Spark asks a hundred times a second."""


class Line:
    """The commits between a start commit and the head of a branch.

    It keeps the ids that are known and not yet read (100 bytes each), so a long history is walked one time, even when
    the caller takes a few commits at a time.
    """

    def __init__(self, repository: lakebed.Repository, branch: str) -> None:
        self._repository = repository
        self._branch = branch
        self._known: list[str] = []
        """Neighbours, oldest first."""

        self._head = ("", 0.0)

    def head(self) -> str:
        """Return the head of the branch, at most `_FRESH` seconds old. Raises NotFoundError."""
        found, at = self._head
        if not found or time.monotonic() - at > _FRESH:
            found = self._repository.commit(self._branch).id
            self._head = (found, time.monotonic())
        return found

    def after(self, start: str, end: str) -> list[str]:
        """Return the commits after `start` up to and including `end`, oldest first.

        Raises PreconditionFailedError when `end` does not descend from `start`: the branch was reset, or created again.
        """
        if start == end:
            return []
        if start not in self._known or end not in self._known:
            self._known = self._walked(start, end)
        first, last = self._known.index(start), self._known.index(end)
        if last < first:
            raise self._rewritten(start, end)
        self._known = self._known[first:]
        return self._known[1 : last - first + 1]

    def _walked(self, start: str, end: str) -> list[str]:
        """Return the line from `start` to `end`, both included. Known commits are not walked again."""
        known = self._known[self._known.index(start) :] if start in self._known else []
        oldest = self._of(start)
        if oldest is None:
            raise self._rewritten(start, end)
        stop = known[-1] if known else start
        newer: list[str] = []
        for commit in self._repository.ref(end).log(first_parent=True, stop_at=stop):
            if known and commit.id == known[-1]:
                return [*known, *reversed(newer)]
            newer.append(commit.id)
            if commit.id == start:
                return newer[::-1]
            if commit.generation <= oldest.generation:
                break
        raise self._rewritten(start, end)

    def _of(self, start: str) -> Commit | None:
        try:
            return self._repository.commit(start)
        except NotFoundError:
            return None

    def _rewritten(self, start: str, end: str) -> PreconditionFailedError:
        where = f"lakebed://{self._repository.id}/{self._branch}"
        return PreconditionFailedError(
            f"the stream of {where} is at commit {start[:16]}, which is not in the history of the branch (now at "
            f"{end[:16]}): the branch was reset or created again. "
            "Use a new checkpoint, with the option startingCommit to skip commits that you have read",
            kind="history_rewritten",
            operation="readStream",
            repository=self._repository.id,
            ref=self._branch,
        )
