"""Values that say how long work goes: transfers, and commits that are tried again."""

from __future__ import annotations

from dataclasses import dataclass

from lakebed._render import html


@dataclass(frozen=True, slots=True)
class CommitAttempt:
    """An attempt to commit that failed and is made again: its number from 1, why, and what is waited before the next.

    `elapsed` and `pause` are in seconds.
    """

    number: int
    error: Exception
    elapsed: float
    pause: float


@dataclass(frozen=True, slots=True)
class TransferResult:
    """What a bulk transfer did. `skipped` files of `files` were done before, by a run that ended too soon."""

    files: int
    bytes: int
    skipped: int
    seconds: float

    def __repr__(self) -> str:
        before = f", {html.counted(self.skipped, 'file')} of them before" if self.skipped else ""
        rate = f", {html.size_text(self.bytes / self.seconds)}/s" if self.seconds > 0 and self.bytes else ""
        moved = f"{html.counted(self.files, 'file')}, {html.size_text(self.bytes)} in {self.seconds:.1f} s"
        return f"<TransferResult {moved}{rate}{before}>"


@dataclass(frozen=True, slots=True)
class TransferProgress:
    """A moment of a transfer. The totals are what is known so far: they grow until `complete` is true."""

    files: int
    files_total: int
    bytes: int
    bytes_total: int
    seconds: float
    complete: bool = False
    skipped: int = 0
    """Files of `files` that were done before: by an earlier run that ended too soon."""

    @property
    def rate(self) -> float:
        """Bytes in a second, on average."""
        return self.bytes / self.seconds if self.seconds > 0 else 0.0

    @property
    def eta(self) -> float | None:
        """Seconds that are left at this rate; None while the total is unknown."""
        if not self.complete or not self.rate:
            return None
        return (self.bytes_total - self.bytes) / self.rate
