"""Ingest as a flow: compare page by page, write the differences into a workspace, and commit it.

A pass without differences only reads. Changes become visible with the commit. If a pass fails before the commit, the
workspace is dropped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace

from lakebed._async.commits.commit import marked
from lakebed._async.commits.recover import new_operation_id
from lakebed._async.commits.retry import Advance
from lakebed._async.http.target import Target
from lakebed._bulk import progress_bar as render_progress
from lakebed._gateway.operations import ingest, workspaces
from lakebed._values.ingest import IngestPage, Source, plus, refuse_empty
from lakebed._values.workspaces import RETRY_FOR
from lakebed.errors import CommitStateUnknownError, LakebedError, NothingToCommitError
from lakebed.model import Change, Commit, IngestReport

LISTED = 1000
"""Changes listed in one page."""

_LIFETIME = 24 * 3600
"""Seconds after which the server closes the workspace of an ingest that died."""


class Ingest:
    """One pass of an ingest from a source into a branch."""

    def __init__(
        self,
        target: Target,
        source: Source,
        progress: Callable[[IngestReport], None] | None = None,
    ) -> None:
        self._target = target
        self._source = source.check()
        self._progress = progress

    async def diff(self, on_change: Callable[[Change], None] | None, *, allow_empty_source: bool) -> IngestReport:
        """What a commit would do, and the error that it would raise for an empty source. Only reads."""
        with self._shown():
            report = await self._diff(on_change)
        if not allow_empty_source:
            refuse_empty(self._source, report)
        return report

    async def _diff(self, on_change: Callable[[Change], None] | None) -> IngestReport:
        report = IngestReport()
        place, after = self._target.ref, ""
        while True:
            page = await self._page(place, after, listed=0 if on_change is None else LISTED)
            report = self._add(report, page)
            if on_change is not None:
                for change in page.changes:
                    on_change(change)
            if page.after is None:
                return report
            place, after = page.base_commit_id, page.after

    async def commit(
        self, message: str, metadata: Mapping[str, str] | None, on_conflict: str, *, allow_empty_source: bool
    ) -> IngestReport:
        """Make the prefix equal to the source with one commit, or with none if it already is."""
        with self._shown():
            return await self._pass(message, metadata, on_conflict, allow_empty_source)

    async def _pass(
        self, message: str, metadata: Mapping[str, str] | None, on_conflict: str, allow_empty_source: bool
    ) -> IngestReport:
        report = IngestReport()
        place, after = self._target.ref, ""
        while True:
            page = await self._page(place, after)
            if page.finds:
                break
            report = self._add(report, page)
            if page.after is None:
                return report
            place, after = page.base_commit_id, page.after
        key = new_operation_id()
        call = workspaces.create(
            self._target.repository,
            key,
            branch=self._target.ref,
            ref=page.base_commit_id,
            message=message,
            expires_in=_LIFETIME,
            claims=self._source.claims,
        )
        made = await self._target.transport.call(call)
        kept = False
        try:
            report = await self._write(made.id, report, after)
            if not allow_empty_source:
                refuse_empty(self._source, report)
            commit = await self._commit(made.id, key, message, metadata, on_conflict)
            kept = commit is not None
            return replace(report, commit=commit)
        except CommitStateUnknownError:
            kept = True  # it may be committed yet
            raise
        finally:
            if not kept:
                with suppress(LakebedError):  # else it expires
                    await self._target.transport.call(workspaces.drop(self._target.repository, made.id))

    async def _write(self, workspace: str, report: IngestReport, after: str) -> IngestReport:
        while True:
            page = await self._page(workspace, after, write=True)
            report = self._add(report, page)
            if page.after is None:
                return report
            after = page.after

    async def _commit(
        self, workspace: str, key: str, message: str, metadata: Mapping[str, str] | None, on_conflict: str
    ) -> Commit | None:
        """None when another commit has made the same changes."""
        call = workspaces.commit(
            self._target.repository,
            workspace,
            message=message,
            metadata=marked(metadata, key),
            policy=on_conflict,
            globs=(),
            replace_prefix=(),
            idempotency_key=key,
            allow_empty=False,
            date=None,
        )
        advance = Advance(
            self._target.at(workspace), call, key, policy=on_conflict, retry_for=RETRY_FOR, on_attempt=None
        )
        try:
            return await advance.run()
        except NothingToCommitError:
            return None

    async def _page(self, place: str, after: str, *, listed: int = 0, write: bool = False) -> IngestPage:
        call = ingest.page(self._target.repository, place, self._source, after=after, listed=listed, write=write)
        return await self._target.transport.call(call)

    @contextmanager
    def _shown(self) -> Iterator[None]:
        """Without a progress callback, show a count on the terminal."""
        if self._progress is not None:
            yield
            return
        with render_progress.counted(f"ingest {self._source.uri}", "objects") as reached:
            self._progress = lambda report: reached(report.listed)
            try:
                yield
            finally:
                self._progress = None

    def _add(self, report: IngestReport, page: IngestPage) -> IngestReport:
        report = plus(report, page)
        if self._progress is not None:
            self._progress(report)
        return report
