"""Delta logs in a merge. Each log is one sequence of numbered files.

When source and destination have both added versions, there are two sequences. A merge may take one of them, but never
some files of each. A file that both wrote under one name is a normal conflict of that path. But one of the two may have
added more versions, or a checkpoint, and these paths do not clash. If a clash of versions was resolved for one of them,
files that only the other changed in that log would follow the wrong version. This module reports them as conflicts.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

import pyarrow.compute as pc

from lakebed_engine.tree.three_way import Side
from lakebed_engine.vocabulary.errors import Conflict

FOLDER = "_delta_log/"
_COMMIT = re.compile(r"(?:^|/)_delta_log/\d{20}\.json$", re.ASCII)


@dataclass(slots=True)
class _Log:
    """One log: the first commit file that each of source and destination won, and the first path that only one changed.

    `source` is the first path that only the source changed, `dest` the first that only the destination changed.
    """

    won: dict[str, Conflict] = field(default_factory=dict)
    source: Conflict | None = None
    dest: Conflict | None = None

    def mixed(self) -> list[Conflict]:
        """The files that would be mixed with the other sequence."""
        if len(self.won) > 1:
            return [*self.won.values()]
        alone = {"dest": self.source, "source": self.dest}
        return [one for side in self.won if (one := alone[side]) is not None]


class DeltaLogs:
    """The logs that source and destination of one merge changed. Keeps a few paths for each log."""

    def __init__(self) -> None:
        self._logs: dict[str, _Log] = {}

    def look(self, theirs: Side | None, ours: Side | None, settled: Mapping[str, str]) -> None:
        """Add a window of changes, and the side that won its clashes."""
        source, dest = _paths(theirs), _paths(ours)
        for path in sorted(source - dest):
            log = self._of(path)
            if log.source is None and theirs is not None:
                log.source = Conflict(path, base=None, ours=None, theirs=theirs.checksum(path))
        for path in sorted(dest - source):
            log = self._of(path)
            if log.dest is None and ours is not None:
                log.dest = Conflict(path, base=None, ours=ours.checksum(path), theirs=None)
        for path in sorted(source & dest):
            if path in settled and _COMMIT.search(path) and theirs is not None and ours is not None:
                clash = Conflict(path, base=None, ours=ours.checksum(path), theirs=theirs.checksum(path))
                self._of(path).won.setdefault(settled[path], clash)

    def mixed(self) -> list[Conflict]:
        """The files that would be mixed with another sequence, in order of path."""
        found = [one for log in self._logs.values() for one in log.mixed()]
        return sorted(found, key=lambda one: one.path.encode())

    def _of(self, path: str) -> _Log:
        return self._logs.setdefault(path[: path.index(FOLDER)], _Log())


def explained(path: str) -> str:
    """The explanation of a conflict in a log. Empty for any other path."""
    table, folder, _ = path.partition(FOLDER)
    if not folder or (table and not table.endswith("/")):
        return ""
    return (
        f"; {table.rstrip('/') or '/'!r} is a Delta table that both sides have written: its log is one numbered "
        f"sequence, which cannot be merged. Let one side win the whole table (a rule for '{table}**'), and write the "
        "other side's changes again; before the merge, delete on the losing branch the log files that only it has"
    )


def _paths(side: Side | None) -> set[str]:
    if side is None:
        return set()
    paths = side.rows.column("path")
    found: list[str] = paths.filter(pc.match_substring_regex(paths, r"(^|/)_delta_log/")).to_pylist()
    return set(found)
