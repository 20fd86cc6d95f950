"""Parallel ingest: tasks list a folder of another place, compare it with a branch and register the differences. One
commit follows.

The rules for each object are those of `Branch.ingest`, where the server lists the source. Here the machines of the
tasks list it, with their own credentials, and the driver holds only spans and counts.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

import attrs
import lakebed
import pyarrow as pa
from lakebed._integration.sync import check_ingest
from lakebed._integration.values import IngestSource, WorkspaceOptions, new_id, refuse_empty
from lakebed.errors import CommitStateUnknownError, LakebedError, NothingToCommitError
from lakebed.model import IngestReport

from lakebed_spark._access import Access, Place, Target, access_to, locate
from lakebed_spark.history.key_ranges import Span, of_prefix
from lakebed_spark.pipelines._changes import Counts, Rules, deltas
from lakebed_spark.pipelines._entries import Snapshot, rows_of
from lakebed_spark.pipelines._layer_writer import LayerFile
from lakebed_spark.pipelines._runner import Meter, Runner, Seen, runner
from lakebed_spark.pipelines._sources.base import Disordered, Source
from lakebed_spark.pipelines._sources.open import open_source
from lakebed_spark.pipelines._sources.splits import spans_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MOST = 2_000_000
"""Objects that one task lists. The rest of its span is divided among other tasks."""

_LIFETIME = 24 * 3600
_ALL = 1 << 62
_END = "\U0010ffff"


@attrs.frozen
class Work:
    """A task: a span of the source, and the workspace for the differences. An empty `workspace` registers nothing."""

    access: Access
    branch: Place
    source: Source
    span: Span
    base: Snapshot
    rules: Rules
    workspace: str = ""
    options: WorkspaceOptions = attrs.field(factory=WorkspaceOptions)
    most: int = MOST

    def open(self) -> lakebed.Workspace:
        """Open the workspace. The first task that has something to register creates it."""
        home = self.access.connect().repository(self.branch.repository)
        return lakebed.Workspace(home, f"{self.branch.ref}+{self.workspace}", self.options)


@attrs.frozen
class Outcome:
    """The result of a task, and the rest of its span."""

    counts: Counts = attrs.field(factory=Counts)
    rest: Span | None = None
    disordered: bool = False


def ingest(
    target: Target,
    source: str | Source,
    *,
    spark: SparkSession | None = None,
    message: str | None = None,
    metadata: Mapping[str, str] | None = None,
    include: Sequence[str] = (),
    exclude: Sequence[str] = (),
    settle: int = 0,
    removals: bool = True,
    on_conflict: Literal["rebase", "abort", "overwrite"] = "rebase",
    dry_run: bool = False,
    allow_empty_source: bool = False,
    ordered: bool | None = None,
    lake: lakebed.Lake | None = None,
    progress: Seen | None = None,
) -> IngestReport:
    """Make the folder `target` of a branch show the objects of `source` (`s3://bucket/folder/`), without a copy.

    As `Branch.ingest`, with the same result; but Spark tasks list the source in parallel (threads without a session),
    with the credentials of their machines: on Spark those of the executors. `ordered` says whether a bucket of another
    make lists in byte order; where it does not, tasks share its folders. `settle` is in seconds.

    Raises PermissionDeniedError for what the server may not read, ConcurrentCommitError, DirtyBranchError,
    ReadOnlyRefError, UnsupportedOperationError for a directory that is not on this machine.
    """
    place, access = locate(target), access_to(target, lake)
    lake = access.connect()
    branch = place.writer(lake)
    if not isinstance(branch, lakebed.Branch):
        raise place.read_only()
    found = (
        open_source(lake.repository(place.repository), source, ordered=ordered) if isinstance(source, str) else source
    )
    wanted = IngestSource(found.uri, place.path, tuple(include), tuple(exclude), settle, removals).check()
    base = Snapshot.of(access, place.repository, _allowed(branch, wanted))
    until = time.time() - settle if settle else None
    rules = Rules(found.uri, place.folder, wanted.include, wanted.exclude, until, removals)
    text = f"Ingest {found.uri}" if message is None else message
    options = WorkspaceOptions(text, on_conflict, _LIFETIME, wanted.claims, base=base.commit_id)
    work = Work(access, place, found, Span(), base, rules, "" if dry_run else new_id(), options)
    counts, registered = _everything(work, runner(spark), progress)
    report = IngestReport(base_commit_id=base.commit_id, **attrs.asdict(counts))
    if dry_run or not counts.changes:
        return report
    return _commit(registered, report, text, metadata, None if allow_empty_source else wanted)


def _commit(
    work: Work, report: IngestReport, message: str, metadata: Mapping[str, str] | None, wanted: IngestSource | None
) -> IngestReport:
    """Commit the workspace, and drop it if that fails. With `wanted`, refuse a source that is empty."""
    try:
        if wanted is not None:
            refuse_empty(wanted, report)
        return replace(report, commit=work.open().commit(message, metadata=metadata))
    except CommitStateUnknownError:
        raise  # it may still be committed
    except NothingToCommitError:  # another writer has committed the same changes
        _drop(work)
        return report
    except BaseException:
        _drop(work)
        raise


def _allowed(branch: lakebed.Branch, wanted: IngestSource) -> str:
    """Return the commit to compare with. Asks the server whether it may read the source, without listing it."""
    after = (wanted.prefix and wanted.prefix.rstrip("/") + "/") + _END
    return check_ingest(branch, wanted, after)


def _everything(work: Work, run: Runner, progress: Seen | None) -> tuple[Counts, Work]:
    """Round after round until nothing is left. The driver holds the spans of a round.

    Returns the counts, and the work whose workspace has the rows. On an error that workspace is dropped.
    """
    meter = Meter(f"ingest {work.source.uri}")
    counts = Counts()
    spans = spans_of(work.source, Span(), 2 * run.width)
    try:
        while spans:
            outcomes = run.run(look, [attrs.evolve(work, span=span) for span in spans], progress or meter)
            if any(outcome.disordered for outcome in outcomes):
                _drop(work)  # other tasks may have registered removals by mistake
                again = new_id() if work.workspace else ""
                work = attrs.evolve(work, source=work.source.undivided(), workspace=again, most=_ALL)
                counts, spans = Counts(), spans_of(work.source, Span(), 2 * run.width)
                continue
            for outcome in outcomes:
                counts = counts.plus(outcome.counts)
            rests = [outcome.rest for outcome in outcomes if outcome.rest is not None]
            each = max(2, 2 * run.width // max(1, len(rests)))
            spans = [span for rest in rests for span in spans_of(work.source, rest, each)]
    except BaseException:
        _drop(work)
        raise
    finally:
        meter.close()
    return counts, work


def look(work: Work) -> Outcome:
    """A task: list a span, compare it, and register the differences as one layer. A repeat has no effect."""
    stop: list[str] = []

    def listing() -> Iterator[pa.Table]:
        seen = 0
        for rows in work.source.listed(work.span):
            seen += rows.num_rows
            yield rows
            if seen >= work.most:
                stop.append(str(rows["key"][-1].as_py()))
                return

    prefix = work.rules.prefix
    piece = work.base.piece(_below(prefix, work.span))
    base = rows_of(work.base.store, piece, ("path", "checksum", "size_bytes"))
    counts = Counts()
    try:
        with LayerFile() as file:
            for rows, found in deltas(listing(), base, work.rules, lambda: prefix + stop[0] if stop else None):
                counts = counts.plus(found)
                file.write(rows)
            if file.rows and work.workspace:
                work.open().push_layer(file.finish())
    except Disordered:
        return Outcome(disordered=True)
    return Outcome(counts, Span(stop[0] + "\0", work.span.high) if stop else None)


def _below(prefix: str, span: Span) -> Span:
    """The paths at which a span of keys appears."""
    high = of_prefix(prefix).high if span.high is None else prefix + span.high
    return Span(prefix + span.low, high)


def _drop(work: Work) -> None:
    """Drop the workspace, if there is one. Otherwise it expires."""
    if work.workspace:
        home = work.access.connect().repository(work.branch.repository)
        with suppress(LakebedError):
            home.workspace(work.workspace).drop()
