"""A running check: its repository, its counts, and its findings.

The scratch keeps the findings of a phase until all refs that need them are known.

A check in the background of a server has a pace, which also reports its progress.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from lakebed_format.decoding import FormatError

from lakebed_engine.operations.context import Context, Repo
from lakebed_engine.operations.fsck.scratch_db import Bad, ScratchDb
from lakebed_engine.vocabulary.errors import BlobNotFound, CorruptDataError
from lakebed_engine.vocabulary.reports import Foreign, FsckOptions, Orphan, Problem, Progress, Sink

_BREATH = 60.0
"""The longest sleep in seconds between two calls of `alive`."""


async def _nothing() -> None:
    """The default of `alive`."""


async def _forget(address: str) -> None:
    """The default of `passed`."""


class Pace:
    """Limits a check to `rate` bytes per second. 0: no limit."""

    def __init__(
        self,
        ctx: Context,
        rate: float = 0.0,
        after: str = "",
        *,
        alive: Callable[[], Awaitable[None]] = _nothing,
        passed: Callable[[str], Awaitable[None]] = _forget,
    ) -> None:
        """`after`: the objects up to this address were read before.

        `alive` is awaited regularly. `passed` gets an address when all objects up to it were read and undamaged.
        """
        self._ctx = ctx
        self._rate = rate
        self._free_at = ctx.clock.monotonic()
        self._alive = alive
        self.after = after
        self.spent = 0
        self.passed = passed

    async def spend(self, size: int) -> None:
        """Count `size` bytes as read, and wait until the next read may begin."""
        self.spent += size
        if not self._rate:
            return
        await self._alive()
        self._free_at = max(self._free_at, self._ctx.clock.monotonic()) + size / self._rate
        while (left := self._free_at - self._ctx.clock.monotonic()) > 0:
            await self._ctx.runtime.sleep(min(left, _BREATH))
            await self._alive()


T = TypeVar("T")
U = TypeVar("U")

SHOWN_REFS = 20
"""How many refs a problem names."""


@dataclass
class Job:
    """A check of one repository."""

    ctx: Context
    repo: Repo
    options: FsckOptions
    scratch: ScratchDb
    progress: Progress
    sink: Sink
    pace: Pace
    counts: Counter[str] = field(default_factory=Counter)
    problems: list[Problem] = field(default_factory=list)
    problem_count: int = 0
    orphans: list[Orphan] = field(default_factory=list)
    orphan_count: int = 0
    orphan_bytes: int = 0
    recent_count: int = 0
    foreign_count: int = 0
    foreign_bytes: int = 0
    trees_known: bool = True
    """Whether every metarange that may name a range could be read."""
    rows_known: bool = True
    """Whether every row that may name an object could be read."""
    uploads_known: bool = True
    """Whether every row of a multipart upload could be read."""

    def count(self, what: str, amount: int = 1) -> None:
        """Count `amount` more checked items."""
        self.counts[what] += amount
        self.progress(what, self.counts[what])

    def bad(self, bad: Bad) -> None:
        """Record a finding. `report` reports it when the refs that need it are known."""
        self.scratch.add_bad(bad)

    def report(self, needs: str = "", refs: Sequence[str] = ()) -> None:
        """Report the findings of a phase, each with the refs that need it: by `needs` from the scratch, or `refs`."""
        known: dict[str, Sequence[str]] = {}
        for bad in self.scratch.take_bad():
            if needs and bad.id not in known:
                known = {bad.id: self.scratch.needed_by(needs, bad.id)}  # findings about one id are adjacent
            self.problem(bad, known[bad.id] if needs else refs)

    def problem(self, bad: Bad, refs: Sequence[str]) -> None:
        """Report one finding."""
        found = Problem(
            kind=bad.kind,  # type: ignore[arg-type]
            what=bad.what,  # type: ignore[arg-type]
            name=bad.name,
            detail=bad.detail,
            path=bad.path,
            refs=tuple(refs[:SHOWN_REFS]),
            ref_count=len(refs),
        )
        self.problem_count += 1
        if len(self.problems) < self.options.keep:
            self.problems.append(found)
        self.sink(found)

    def orphan(self, found: Orphan) -> None:
        """Report an unnamed file of the engine."""
        if found.age < self.options.orphan_age:
            self.recent_count += 1
            return
        self.orphan_count += 1
        self.orphan_bytes += found.size
        if len(self.orphans) < self.options.keep:
            self.orphans.append(found)
        self.sink(found)

    def foreign(self, found: Foreign) -> None:
        """Report an unnamed file that the engine did not make."""
        self.foreign_count += 1
        self.foreign_bytes += found.size
        self.sink(found)

    async def each(self, items: Iterable[T], work: Callable[[T], Awaitable[U]]) -> list[U]:
        """Process each item of a page, several at the same time. The first error ends the check."""
        jobs: list[Callable[[], Awaitable[U]]] = [lambda item=item: work(item) for item in items]  # type: ignore[misc]
        return await self.ctx.runtime.gather(jobs, self.options.concurrency) if jobs else []

    async def read(self, key: str) -> bytes | None:
        """Read a file. None only when it is certainly missing. Raises FormatError when it is too large.

        Any other error ends the check, because it does not show whether the file exists.
        """
        try:
            data = await self.repo.store.get(key)
        except BlobNotFound:
            return None
        except CorruptDataError as error:
            raise FormatError(error.message) from error
        await self.pace.spend(len(data))
        return data

    async def read_again(self, key: str) -> bytes | None:
        """Read a file that was checked before. None when it is now missing or too large."""
        try:
            return await self.read(key)
        except FormatError:
            return None
