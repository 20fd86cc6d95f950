"""The reports of checks, rebuilds, sweeps, scrubs and passes of ref snapshots."""

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
"""What can be missing or corrupt. Rows and records are in the KV store, everything else is in the bucket."""


class Problem(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that is missing or corrupt.

    `name` is the key in the namespace, or of the row. `refs` are the first of `ref_count` branches and tags that cannot
    be read completely without it. There are none when only commits without a ref need it. `path` is one path that needs
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
    """An unnamed file that the engine made. Size in bytes, age in seconds."""

    key: str
    size: int
    age: float


class Foreign(msgspec.Struct, frozen=True):
    """A file in the namespace that the engine did not make. The engine keeps it. Size in bytes."""

    key: str
    size: int


class FsckOptions(msgspec.Struct, frozen=True, kw_only=True):
    """How thorough a check is, and its limits.

    `data` checks that every object exists, `deep` also reads it. An unnamed file that is younger than `orphan_age`
    seconds may belong to a running operation: it counts as recent, not as an orphan. `keep` limits the problems and
    orphans in the report. `scratch_bytes` limits the memory of the scratch database, whose other data is on disk.
    """

    data: bool = False
    deep: bool = False
    orphan_age: float = 3600.0
    concurrency: int = 8
    keep: int = 10_000
    scratch_bytes: int = 64 << 20


class FsckReport(msgspec.Struct, frozen=True, kw_only=True):
    """The result of a check. `counts` has the number of checked things of each kind.

    `problems` and `orphans` are the first ones. `problem_count` and `orphan_count` are exact. `unknown` names the
    folders whose orphans cannot be determined, because something that may name their files is damaged. Foreign files
    are only counted, but the sink gets each.
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
        """Whether nothing is missing or corrupt. Orphans are no problem: crashes leave them."""
        return self.problem_count == 0


class LooseCommit(msgspec.Struct, frozen=True):
    """A commit that no branch, tag or commit names: made after the snapshot, or in a lost race.

    `creation_date` in Unix seconds.
    """

    id: str
    creation_date: int
    message: str


class RebuildReport(msgspec.Struct, frozen=True, kw_only=True):
    """What a rebuild did, or would do in a dry run. `snapshot` is the key of the ref snapshot that it used, or empty.

    `heads` are the newest of `head_count` unnamed commits, newest first.
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
    pulls: int = 0

    @property
    def ok(self) -> bool:
        """Whether everything was restored."""
        return self.problem_count == 0


class SnapshotPass(msgspec.Struct, frozen=True):
    """One pass of ref snapshots: the number of written ones, and the failed repositories, each with the reason."""

    written: int
    failures: Sequence[tuple[str, str]] = ()


class SweepOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The options of a sweep. Times are in seconds.

    A sweep deletes only what is unnamed in two checks `grace` apart, and only files older than `age` by the store's
    clock. `data` also deletes objects. `dry_run` deletes nothing and checks once. With `hold_older`, it deletes nothing
    in a repository where more than a tenth of the found files is older than the repository. It skips a repository that
    was swept less than `every` ago. `scratch_bytes` limits the memory of the scratch databases.
    """

    data: bool = False
    dry_run: bool = False
    hold_older: bool = False
    grace: float = 300.0
    age: float = 24 * 3600.0
    every: float = 0.0
    scratch_bytes: int = 64 << 20


class SweepReport(msgspec.Struct, frozen=True, kw_only=True):
    """The result of the sweep of one repository.

    `recent` files are unnamed, but so young that they may belong to a running operation. `found` files were unnamed and
    old in the first check, `deleted` ones also in the second. `older` of them were written before the repository was
    made. `held`: the sweep deleted nothing for that reason. `foreign` files are not the engine's and stay, for example
    `foreign_example`.
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


class PurgeReport(msgspec.Struct, frozen=True, kw_only=True):
    """The result of the purge of a repository. Not `done`: the cleaner continues.

    `deleted` files had `deleted_bytes`. `foreign` files are not the engine's and stay, such as `foreign_example`.
    """

    repository: str
    namespace: str
    done: bool = False
    deleted: int = 0
    deleted_bytes: int = 0
    foreign: int = 0
    foreign_example: str = ""


class SweepPass(msgspec.Struct, frozen=True):
    """The sweep of one or all repositories. `skipped` and `failures` are names with reasons. A failure has no report.

    `tokens` orphaned staging tokens were found, and `tokens_dropped` were dropped. Only a sweep of all repositories
    does that.
    """

    reports: Sequence[SweepReport] = ()
    skipped: Sequence[tuple[str, str]] = ()
    failures: Sequence[tuple[str, str]] = ()
    tokens: int = 0
    tokens_dropped: int = 0

    @property
    def ok(self) -> bool:
        """Whether nothing failed or was held."""
        return not self.failures and not any(one.held for one in self.reports)

    @property
    def deleted(self) -> int:
        """The number of deleted files and staging tokens."""
        return sum(one.deleted for one in self.reports) + self.tokens_dropped


class ScrubOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The options of a scrub: every `every` seconds, at `rate` bytes per second. `objects`: reads objects too."""

    every: float = 7 * 24 * 3600.0
    rate: float = float(4 << 20)
    objects: bool = False


class Scrubbed(msgspec.Struct, frozen=True):
    """The result of the last scrub of a repository: its end in Unix seconds, and the first of its problems.

    `objects`: it also read the objects.
    """

    ended: int
    problem_count: int
    problems: tuple[str, ...] = ()
    objects: bool = False


class ScrubPass(msgspec.Struct, frozen=True):
    """The result of one scrub: the number of repositories, problems and bytes read."""

    repositories: int = 0
    problems: int = 0
    size: int = 0


Progress = Callable[[str, int], None]
"""Called regularly with a phase and the number of things that are done in it."""

Finding = Problem | Orphan | Foreign

Sink = Callable[[Finding], None]
"""Gets each finding, also those for which the report has no room."""


def ignore_progress(phase: str, done: int) -> None:
    """Do nothing."""


def ignore_finding(finding: Finding) -> None:
    """Do nothing."""
