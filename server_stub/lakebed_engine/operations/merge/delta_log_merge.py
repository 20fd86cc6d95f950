"""The logs of Delta tables in a merge. Each is one numbered line of files: two sides that both went on with it have two
lines, of which a merge may take one or the other, never some files of each.

What both wrote under one name is a conflict of that path, as anywhere. But a side may have gone on further, or have
made a checkpoint, and no path of that clashes: so if a clash of commits was settled for one side, whatever only the
other side changed in that log would end up behind it. It is told as a conflict.
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
    """One log: the first commit that each side won, and the first path that only the source, only the destination
    changed.
    """

    won: dict[str, Conflict] = field(default_factory=dict)
    source: Conflict | None = None
    dest: Conflict | None = None

    def mixed(self) -> list[Conflict]:
        """What would be joined to the other side's line."""
        if len(self.won) > 1:
            return [*self.won.values()]
        alone = {"dest": self.source, "source": self.dest}
        return [one for side in self.won if (one := alone[side]) is not None]


class DeltaLogs:
    """The logs that both sides of one merge changed. Holds a few paths for each."""

    def __init__(self) -> None:
        self._logs: dict[str, _Log] = {}

    def look(self, theirs: Side | None, ours: Side | None, settled: Mapping[str, str]) -> None:
        """Take in a window, and which side won its clashes."""
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
        """What would be joined to the other side's line, in order of path."""
        found = [one for log in self._logs.values() for one in log.mixed()]
        return sorted(found, key=lambda one: one.path.encode())

    def _of(self, path: str) -> _Log:
        return self._logs.setdefault(path[: path.index(FOLDER)], _Log())


def explained(path: str) -> str:
    """What to say of a conflict in a log; empty for any other path."""
    table, folder, _ = path.partition(FOLDER)
    if not folder or (table and not table.endswith("/")):
        return ""
    return (
        f"; {table.rstrip('/') or '/'!r} is a Delta table that both sides have written: its log is one numbered line, "
        f"and files of two lines make no table. Let one side win all of it (a rule for '{table}**'), and write the "
        "other side's changes again; log files that only the losing side has must be deleted on its branch before"
    )


def _paths(side: Side | None) -> set[str]:
    if side is None:
        return set()
    paths = side.rows.column("path")
    found: list[str] = paths.filter(pc.match_substring_regex(paths, r"(^|/)_delta_log/")).to_pylist()
    return set(found)
