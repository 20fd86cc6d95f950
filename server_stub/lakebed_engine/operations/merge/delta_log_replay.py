"""Delta logs in a revert or a cherry-pick, which apply one commit outside of its place in history.

A log is a sequence of numbered versions, and each version was written on top of the one before. A revert or a
cherry-pick keeps a log valid only if any two neighbours in the result were neighbours before: on the branch, or in the
picked commit.

    branch  0 1 2 3    revert of 2    0 1 3      3 was written on 2: refused
    branch  0 1 2 3    revert of 3    0 1 2      all neighbours were neighbours on the branch
    branch  0          pick of 2      0 2        2 was written on 1: refused
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from lakebed_engine.operations.context import Context, Repo
from lakebed_engine.operations.merge.delta_log_merge import FOLDER
from lakebed_engine.operations.merge.three_way import Sides
from lakebed_engine.tree.cursor import Cursor, tree_cursor
from lakebed_engine.tree.trees import Tree
from lakebed_engine.vocabulary.errors import Conflict, MergeConflictError
from lakebed_engine.vocabulary.records import Entry

_VERSION = re.compile(r"(?:^|/)_delta_log/\d{20}\.(json|checkpoint\.(?:[^/]+\.)?(?:parquet|json))$", re.ASCII)
_VERSIONS = r"(^|/)_delta_log/[0-9]{20}\.(json|checkpoint\.([^/]+\.)?(parquet|json))$"

STEPS = {
    "revert": "revert the later commits of the table first, newest first, or let Delta restore an older version of it",
    "cherry-pick": "pick the commits before it first, oldest first, or merge their branch, or let Delta write the "
    "change again",
}
"""The alternative for the user, by operation."""


class DeltaLines:
    """The logs that an operation changes. Keeps the name of each."""

    def __init__(self) -> None:
        self._tables: set[str] = set()

    async def collect(self, rows: AsyncIterator[pa.Table]) -> AsyncIterator[pa.Table]:
        """Pass the tables on, and record the logs that they change."""
        async for table in rows:
            paths = table.column("path")
            for path in paths.filter(pc.match_substring_regex(paths, _VERSIONS)).to_pylist():
                self._tables.add(path[: path.rindex(FOLDER)])
            yield table

    async def check(self, ctx: Context, repo: Repo, sides: Sides, made: Tree, verb: str) -> None:
        """Raise MergeConflictError when a log of the new tree is not a valid sequence. Nothing is changed then."""
        for table in sorted(self._tables):
            path = await _broken(ctx, repo, (made, sides.ours, sides.theirs), f"{table}{FOLDER}")
            if path is not None:
                raise await _error(ctx, repo, sides, table, path, verb)


class _Line:
    """The state of a walk over one log. `beside`: the row before is the same in this log and in the new one."""

    def __init__(self) -> None:
        self.beside = True
        self.commit = ""
        self.checkpoint = ""

    def note(self, path: str) -> None:
        if path.endswith(".json") and ".checkpoint." not in path:
            self.commit = path[-25:-5]
        else:
            self.checkpoint = path[path.rindex(FOLDER) + len(FOLDER) :][:20]

    @property
    def is_short(self) -> bool:
        """Whether the log has a checkpoint of a version that is missing."""
        return self.checkpoint > self.commit


async def _broken(ctx: Context, repo: Repo, trees: Sequence[Tree], folder: str) -> str | None:
    """The first version of the new log that was not written on top of the one before it. None for a valid log."""
    cursors = [tree_cursor(ctx.trees, repo.store, tree) for tree in trees]
    made, *others = lines = [_Line() for _ in trees]
    last = ""
    async for path, found in _together(cursors, folder):
        now = found[0]
        for line, entry in zip(lines, found, strict=True):
            if entry is not None:
                line.note(path)
        if ".checkpoint." in path:
            last = path if now is not None else last
            continue
        same = [entry is not None and now is not None and entry.identity == now.identity for entry in found[1:]]
        if now is not None and not any(one and line.beside for one, line in zip(same, others, strict=True)):
            return path
        for line, one, entry in zip(others, same, found[1:], strict=True):
            line.beside = one or (line.beside and now is None and entry is None)
    return last if made.is_short and not any(line.is_short for line in others) else None


async def _together(cursors: Sequence[Cursor], folder: str) -> AsyncIterator[tuple[str, list[Entry | None]]]:
    """Versions and checkpoints of several logs in order of name, each with the entry of each log."""
    end = folder[:-1] + "0"
    for cursor in cursors:
        await cursor.seek(folder)
    while True:
        path = min((one.path for one in cursors if one.path is not None), default=end)
        if path >= end:
            return
        at = [one.path == path for one in cursors]
        if _VERSION.search(path):
            yield path, [one.entry() if here else None for one, here in zip(cursors, at, strict=True)]
        for one, here in zip(cursors, at, strict=True):
            if here:
                await one.next()


async def _error(ctx: Context, repo: Repo, sides: Sides, table: str, path: str, verb: str) -> MergeConflictError:
    found = [await ctx.trees.find(repo.store, tree, path) for tree in (sides.base, sides.ours, sides.theirs)]
    base, ours, theirs = (None if one is None else one.checksum for one in found)
    name = table.rstrip("/") or "/"
    return MergeConflictError(
        f"conflict found: {name!r} is a Delta table: its log is one numbered sequence, and after this {verb} {path!r} "
        "would not follow the version that it was written on. The table could not be read, or would show wrong "
        f"rows. Nothing was changed: {STEPS[verb]}",
        [Conflict(path, base=base, ours=ours, theirs=theirs)],
        False,
    )
