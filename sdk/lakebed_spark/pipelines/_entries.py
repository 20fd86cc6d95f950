"""The entries of a commit in order of path, stretch by stretch, and the stretches for tasks.

Memory holds about a range.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import attrs
import lakebed
import pyarrow as pa
import pyarrow.compute as pc

from lakebed_spark._access import Access
from lakebed_spark.history.key_ranges import Span, of_prefix
from lakebed_spark.history.storage import Store, without
from lakebed_spark.history.tree import Piece, Tree, divided
from lakebed_spark.history.tree_rows import _STORED, shown


@attrs.frozen
class Snapshot:
    """A commit, and where the files of its tree are. Goes to executors."""

    store: Store
    commit_id: str
    tree: Tree

    @classmethod
    def of(cls, access: Access, repository: str, ref: str) -> Snapshot:
        """Return the commit of a ref expression, without uncommitted changes of a branch. Raises NotFoundError."""
        commit = access.connect().repository(repository).commit(ref)
        store = Store.of(access, repository)
        return cls(store, commit.id, store.tree(commit.metarange_id))

    def pieces(self, prefix: str, count: int) -> list[Piece]:
        """Divide the entries below a prefix into at most `count` pieces. Each path is in one piece."""
        return divided(self.tree, of_prefix(prefix), max(1, count))

    def piece(self, span: Span) -> Piece:
        """Return a stretch of it."""
        return Piece(span, self.tree.within(span))

    def ref(self) -> lakebed.Ref:
        """Return a handle to the commit, in this process."""
        return self.store.access.connect().repository(self.store.repository).ref(self.commit_id)


def rows_of(store: Store, piece: Piece, columns: Sequence[str]) -> Iterator[pa.Table]:
    """Yield the entries of a piece in order of path, with the stored columns (docs/formats.md). `path` is first."""
    wanted = ["path", *(name for name in columns if name != "path")]
    over = store.over(piece, wanted)
    if over is not None:
        over = over.take(pc.sort_indices(over["path"]))
    for part in piece.tree.ranges:
        rows = store.rows(part, wanted, piece.span)
        if over is None:
            yield rows
            continue
        count = _until(over, part.last)
        yield _merged(rows, over.slice(0, count), wanted)
        over = over.slice(count)
    if over is not None and over.num_rows:
        yield over.filter(pc.invert(over["deleted"])).select(wanted)


def entries_of(store: Store, piece: Piece, names: Sequence[str]) -> Iterator[pa.Table]:
    """Yield the same with the columns that Lakebed shows: size, checksum, physical_address and so on."""
    needed = [column for name in names for column in _STORED[name]]
    for rows in rows_of(store, piece, needed):
        yield shown(rows, names, store.namespace)


def _until(rows: pa.Table, path: str) -> int:
    """Return the number of rows of a sorted table up to a path."""
    return int(pc.sum(pc.less_equal(rows["path"], path)).as_py() or 0)


def _merged(rows: pa.Table, over: pa.Table, columns: Sequence[str]) -> pa.Table:
    if not over.num_rows:
        return rows
    live = over.filter(pc.invert(over["deleted"])).select(columns)
    both = pa.concat_tables([without(rows, over), live.cast(rows.schema)])
    return both.take(pc.sort_indices(both["path"]))
