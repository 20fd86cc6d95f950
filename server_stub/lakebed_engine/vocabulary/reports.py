"""What a check, a rebuild and a pass of ref snapshots answer with."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Literal

import msgspec

Kind = Literal["missing", "corrupt"]

What = Literal[
    "repository marker",
    "ref snapshot",
    "branch record",
    "workspace record",
    "tag record",
    "commit row",
    "commit",
    "metarange",
    "range",
    "layer",
    "staged rows",
    "object",
]
"""What can be missing or corrupt. Rows and records stand in the KV store, everything else in the bucket."""


class Problem(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that is missing or corrupt.

    `name` is its key in the namespace, or of its row. `refs` are the first branches and tags that cannot be read whole
    without it, out of `ref_count`; none when only commits that no ref leads to need it. `path` is one path that needs
    a missing object.
    """

    kind: Kind
    what: What
    name: str
    detail: str
    path: str = ""
    refs: tuple[str, ...] = ()
    ref_count: int = 0


class Orphan(msgspec.Struct, frozen=True):
    """A file that the engine made and nothing names. Size in bytes, age in seconds."""

    key: str
    size: int
    age: float


class Foreign(msgspec.Struct, frozen=True):
    """A file in the namespace that the engine did not make: it stays. Size in bytes."""

    key: str
    size: int


class FsckOptions(msgspec.Struct, frozen=True, kw_only=True):
    """How thorough a check is, and what it may use.

    `data` looks at every object, `deep` reads them too. A file that nothing names and that is younger than
    `orphan_age` seconds may belong to work under way: it is counted as recent, and is no orphan. `keep` bounds how many
    problems and orphans the report holds, `ledger_bytes` the memory of the scratch database, which else lies on disk.
    """

    data: bool = False
    deep: bool = False
    orphan_age: float = 3600.0
    concurrency: int = 8
    keep: int = 10_000
    ledger_bytes: int = 64 << 20


class FsckReport(msgspec.Struct, frozen=True, kw_only=True):
    """What a check found. `counts` say how many of each thing were looked at.

    `problems` and `orphans` hold the first ones; the counts beside them are exact. `unknown` names the folders whose
    orphans cannot be told, since something that might name their files is itself damaged. Foreign files are counted,
    and the sink gets each.
    """

    repository: str
    counts: Mapping[str, int]
    problems: Sequence[Problem]
    problem_count: int
    orphans: Sequence[Orphan]
    orphan_count: int
    orphan_bytes: int
    recent_count: int
    unknown: Sequence[str]
    foreign_count: int = 0
    foreign_bytes: int = 0

    @property
    def ok(self) -> bool:
        """Whether nothing is missing or corrupt. Orphans are no fault: crashes leave them."""
        return self.problem_count == 0


class LooseCommit(msgspec.Struct, frozen=True):
    """A commit that no branch, tag or commit leads to: made after the snapshot, or in a lost race.

    `creation_date` in Unix seconds.
    """

    id: str
    creation_date: int
    message: str


class RebuildReport(msgspec.Struct, frozen=True, kw_only=True):
    """What a rebuild did, or would do in a dry run. `snapshot` is the key it took refs from, empty for none.

    `heads` are the newest of `head_count` commits that nothing leads to, newest first.
    """

    repository: str
    namespace: str
    dry_run: bool
    commits: int
    branches: int
    tags: int
    snapshot: str
    snapshot_time: float
    problems: Sequence[Problem]
    problem_count: int
    heads: Sequence[LooseCommit] = ()
    head_count: int = 0

    @property
    def ok(self) -> bool:
        """Whether everything came back."""
        return self.problem_count == 0


class SnapshotPass(msgspec.Struct, frozen=True):
    """One pass of ref snapshots: how many were written, and for which repositories it failed, and why."""

    written: int
    failures: Sequence[tuple[str, str]] = ()


class SweepOptions(msgspec.Struct, frozen=True, kw_only=True):
    """How a sweep goes. Times in seconds.

    Only what is unnamed in two looks `grace` apart is deleted, and of files only those older than `age` by the store's
    clock. `data` also deletes objects, `dry_run` nothing: it looks once. `hold_older` deletes nothing either in a
    repository where more than a tenth of what was found is older than the repository itself. A repository that was
    swept less than `every` ago is passed over. `ledger_bytes` bounds the memory of the scratch databases.
    """

    data: bool = False
    dry_run: bool = False
    hold_older: bool = False
    grace: float = 300.0
    age: float = 24 * 3600.0
    every: float = 0.0
    ledger_bytes: int = 64 << 20


class SweepReport(msgspec.Struct, frozen=True, kw_only=True):
    """What the sweep of one repository did. `recent`: unnamed files that are too young to be told from work under way.

    `found` were unnamed and old in the first look, `deleted` of them in the second as well. `older` of them were
    written before the repository was made; `held`: therefore nothing was deleted. `foreign` files are not the engine's
    and stay; one of them is `foreign_example`.
    """

    repository: str
    dry_run: bool
    files: int
    recent: int
    found: int
    deleted: int
    deleted_bytes: int
    older: int = 0
    held: bool = False
    foreign: int = 0
    foreign_bytes: int = 0
    foreign_example: str = ""


class SweepPass(msgspec.Struct, frozen=True):
    """A sweep of one or all repositories. `skipped` and `failures` are names, and why; of a failure nothing is known.

    `tokens` is how many orphaned staging tokens were found, `tokens_dropped` how many were dropped: only by a sweep of
    all repositories.
    """

    reports: Sequence[SweepReport] = ()
    skipped: Sequence[tuple[str, str]] = ()
    failures: Sequence[tuple[str, str]] = ()
    tokens: int = 0
    tokens_dropped: int = 0

    @property
    def ok(self) -> bool:
        """Whether nothing failed, and nothing was held back."""
        return not self.failures and not any(one.held for one in self.reports)

    @property
    def deleted(self) -> int:
        """How many files and staging tokens are gone."""
        return sum(one.deleted for one in self.reports) + self.tokens_dropped


class ScrubOptions(msgspec.Struct, frozen=True, kw_only=True):
    """How a scrub goes: every so many seconds, at so many bytes per second; with `objects`, their bytes as well."""

    every: float = 7 * 24 * 3600.0
    rate: float = float(4 << 20)
    objects: bool = False


class Scrubbed(msgspec.Struct, frozen=True):
    """What the last scrub of a repository found: the end in Unix seconds, how many problems, the first of them."""

    ended: int
    problem_count: int
    problems: tuple[str, ...] = ()
    objects: bool = False


class ScrubPass(msgspec.Struct, frozen=True):
    """What one call of the scrub did: repositories, problems and bytes read."""

    repositories: int = 0
    problems: int = 0
    size: int = 0


Progress = Callable[[str, int], None]
"""Called now and then with a phase and how many things of it are done."""

Finding = Problem | Orphan | Foreign

Sink = Callable[[Finding], None]
"""Takes each finding as it is made, also those that the report has no room for."""


def ignore_progress(phase: str, done: int) -> None:
    """Nobody looks."""


def ignore_finding(finding: Finding) -> None:
    """The report is enough."""
