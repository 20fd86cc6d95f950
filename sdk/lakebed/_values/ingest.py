"""Ingest as plain values: what is asked for, what a page says, and what all pages say together."""

from __future__ import annotations

from dataclasses import dataclass, replace

from lakebed import _checks
from lakebed.errors import InvalidRequestError
from lakebed.model import Change, IngestReport


@dataclass(frozen=True, slots=True)
class Source:
    """Which objects are to appear where, as `Branch.ingest` says it. `settle` is in seconds."""

    uri: str
    prefix: str
    include: tuple[str, ...]
    exclude: tuple[str, ...]
    settle: int
    removals: bool

    def check(self) -> Source:
        """Itself. Raises InvalidRequestError for what cannot be meant."""
        for text, what in ((self.uri, "source"), (self.prefix, "prefix")):
            _checks.check_text(text, what)
        for glob in (*self.include, *self.exclude):
            _checks.check_text(glob, "glob")
        if "://" not in self.uri:
            raise InvalidRequestError(f"the source {self.uri!r} must be a URI such as s3://bucket/folder/")
        return self

    @property
    def claims(self) -> tuple[str, ...]:
        """The prefix that a concurrent commit must leave alone: none for the root, where only equal paths collide."""
        return (self.prefix.rstrip("/") + "/",) if self.prefix else ()


@dataclass(frozen=True, slots=True)
class IngestPage:
    """One page. `after` is where the next one begins; None on the last."""

    base_commit_id: str
    after: str | None
    listed: int
    added: int
    changed: int
    removed: int
    unchanged: int
    waiting: int
    ignored: int
    changes: tuple[Change, ...]

    @property
    def finds(self) -> bool:
        """Whether there is anything to do."""
        return bool(self.added or self.changed or self.removed)


def plus(report: IngestReport, page: IngestPage) -> IngestReport:
    """What is known with one page more."""
    return replace(
        report,
        base_commit_id=page.base_commit_id,
        listed=report.listed + page.listed,
        added=report.added + page.added,
        changed=report.changed + page.changed,
        removed=report.removed + page.removed,
        unchanged=report.unchanged + page.unchanged,
        waiting=report.waiting + page.waiting,
        ignored=report.ignored + page.ignored,
    )


class EmptySourceError(InvalidRequestError):
    """An ingest of a source without objects. The command line adds its own option to the reason."""


def refuse_empty(source: Source, report: IngestReport) -> None:
    """Raises EmptySourceError: an empty source is usually a mistake, such as a misspelled URI."""
    if report.listed == 0 and report.removed:
        reason = (
            f"{source.uri} holds no objects, so an ingest removes everything in the folder ({report.removed:,} paths); "
            "nothing was changed"
        )
        error = EmptySourceError(f"{reason}: check the URI, or pass allow_empty_source=True")
        error.reason = reason
        raise error
