"""The uncommitted state of a branch or a workspace, read through the server and combined with the tree.

Uncommitted changes may move while they are read, as in any listing. But a commit during the read must not be half
visible. So the reader asks for the head before and after.
"""

from __future__ import annotations

from collections.abc import Sequence

import attrs
import lakebed
import pyarrow as pa
import pyarrow.compute as pc
from lakebed.errors import NotFoundError
from lakebed.model import Commit, ObjectInfo

from lakebed_spark.history.key_ranges import Span
from lakebed_spark.history.storage import without

MOST_STAGED = 20_000
"""Tasks carry at most this number of uncommitted changes. If there are more, tasks list the ref through the server."""

_TRIES = 5

_TYPES = pa.schema(
    [
        ("path", pa.string()),
        ("size", pa.int64()),
        ("checksum", pa.string()),
        ("mtime", pa.timestamp("s", tz="UTC")),
        ("content_type", pa.string()),
        ("metadata", pa.map_(pa.string(), pa.string())),
        ("physical_address", pa.string()),
    ]
)


@attrs.frozen
class Seen:
    """A state of a ref: a commit and, for a branch or a workspace, the changes over it.

    `rows` are staged entries. `gone` are the paths that are deleted, or replaced by staged entries. `whole` is False
    when there are too many changes, or the ref changed during the read.
    """

    commit: Commit
    rows: pa.Table | None = None
    gone: pa.Array | None = None
    whole: bool = True

    def overlay(self, span: Span) -> Overlay | None:
        """Return the part of the changes in a span."""
        if self.rows is None or self.gone is None:
            return None
        part = Overlay(self.rows.filter(_within(self.rows["path"], span)), self.gone.filter(_within(self.gone, span)))
        return part if len(part.gone) else None


@attrs.frozen
class Overlay:
    """Staged entries over a piece of a tree. `gone` has their paths too."""

    rows: pa.Table
    gone: pa.Array

    def hide(self, rows: pa.Table) -> pa.Table:
        """Return the rows of the tree that stay visible."""
        return without(rows, pa.table({"path": self.gone}))


def look(repository: lakebed.Repository, ref: str, prefix: str) -> Seen:
    """Return the present state of a ref. Raises NotFoundError."""
    commit = repository.commit(ref.removesuffix("@"))
    if any(mark in ref for mark in "~^@") or ref == commit.id:
        return Seen(commit)
    for _ in range(_TRIES):
        try:
            changes = repository.branch(ref).uncommitted(prefix=prefix, limit=MOST_STAGED + 1).all()
        except NotFoundError as error:
            if error.kind == "repository_not_found":
                raise
            return Seen(commit)  # a tag, or the beginning of a commit's id
        if len(changes) > MOST_STAGED:
            return Seen(commit, whole=False)
        rows = _staged(repository, ref, prefix) if changes else []
        found = {row.path for row in rows}
        still = all(change.type == "removed" or change.path in found for change in changes)
        now = repository.commit(ref)
        if now.id == commit.id and still:
            gone = pa.array(sorted(found.union(change.path for change in changes)), pa.string())
            return Seen(commit, _table(rows), gone)
        commit = now
    return Seen(commit, whole=False)


def _staged(repository: lakebed.Repository, ref: str, prefix: str) -> list[ObjectInfo]:
    return [row for row in repository.ref(f"{ref}$").list(prefix) if isinstance(row, ObjectInfo)]


def _table(rows: Sequence[ObjectInfo]) -> pa.Table:
    columns = {name: [getattr(row, name) for row in rows] for name in _TYPES.names if name != "metadata"}
    columns["metadata"] = [list(row.metadata.items()) for row in rows]
    return pa.table(columns, schema=_TYPES)


def entries_of(rows: Sequence[ObjectInfo]) -> pa.Table:
    """Rows of a listing as a table of entries."""
    return _table(rows)


def _within(paths: pa.Array | pa.ChunkedArray, span: Span) -> pa.Array | pa.ChunkedArray:
    kept = pc.greater_equal(paths, span.low)
    return kept if span.high is None else pc.and_(kept, pc.less(paths, span.high))
