"""Where the files of trees are read: in the server's directory when this machine has it, else through the server.

A `Store` goes to executors: it holds names and no connection. Each file is checked against its seal and its id before a
row of it is used.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final, Literal

import attrs
import pyarrow as pa
import pyarrow.compute as pc
from lakebed._integration.values import SharedDirectory, directory_of
from lakebed.errors import TableFormatError
from lakebed_format import decode_tree
from lakebed_format.decoding import FormatError
from lakebed_format.keys import largest, metarange_file, range_file
from lakebed_format.tree.reading import RowFile, open_file

from lakebed_spark._access import Access
from lakebed_spark.history.key_ranges import Span
from lakebed_spark.history.tree import Part, Piece, Tree

Kind = Literal["range", "meta_range"]

_FILES: Final[Mapping[Kind, Callable[[str], str]]] = {"range": range_file, "meta_range": metarange_file}


@attrs.frozen
class Store:
    """The storage of a repository, and its directory if this machine has it."""

    access: Access
    repository: str
    shared: SharedDirectory

    @classmethod
    def of(cls, access: Access, repository: str) -> Store:
        """Return the storage of a repository. Raises NotFoundError."""
        return cls(access, repository, directory_of(access.connect().repository(repository).info()))

    @property
    def namespace(self) -> str:
        """Without a slash at its end."""
        return self.shared.namespace.rstrip("/")

    def tree(self, metarange_id: str) -> Tree:
        """The files of a tree. Raises TableFormatError for a damaged metarange."""
        if not metarange_id:
            return Tree()
        try:
            rows, inline_patch = decode_tree(self._bytes("meta_range", metarange_id), metarange_id)
        except FormatError as error:
            raise self._damaged(metarange_id, error) from error
        return Tree.of(rows, "" if inline_patch is None else metarange_id)

    def rows(self, part: Part, columns: Sequence[str], span: Span) -> pa.Table:
        """Return rows of a file that are in a span, with these columns. Raises TableFormatError for a damaged file."""
        inside = span.holds(part.first, part.last)
        wanted = list(columns) if inside or "path" in columns else ["path", *columns]
        try:
            file = self._open(part)
            if not inside:
                meeting = [index for index, (low, high, _) in enumerate(file.bounds()) if span.meets(low, high)]
                return _in_span(file.read(meeting, wanted), span)
            return file.read(columns=wanted)
        except FormatError as error:
            raise self._damaged(part.inline_in or part.id, error) from error

    def _open(self, part: Part) -> RowFile:
        if part.inline_in:  # its rows are the patch
            return open_file(self._bytes("meta_range", part.inline_in), "metarange", part.inline_in)
        return open_file(self._bytes("range", part.id), "patch" if part.level else "range", part.id)

    def over(self, piece: Piece, columns: Sequence[str]) -> pa.Table | None:
        """Return the patch rows in the span of a piece: the highest row of each path, also tombstones (`deleted`)."""
        found: pa.Table | None = None
        for patch in reversed(piece.tree.patches):
            rows = self.rows(patch, ["path", "deleted", *(name for name in columns if name != "path")], piece.span)
            found = rows if found is None else pa.concat_tables([found, without(rows, found)])
        return found

    def _bytes(self, kind: Kind, found_id: str) -> bytes:
        if self.shared:
            key = _FILES[kind](found_id)
            path = Path(self.shared.directory, key)
            try:
                size = path.stat().st_size
                if size > largest(key):
                    raise self._damaged(
                        found_id, FormatError(f"it has {size:,} bytes, more than the maximum of {largest(key):,}")
                    )
                return path.read_bytes()
            except FileNotFoundError:  # the plan was made on another machine
                pass
        return self.access.connect().repository(self.repository).metadata_file(kind, found_id)

    def _damaged(self, found_id: str, error: Exception) -> TableFormatError:
        return TableFormatError(
            f"{found_id}.parquet in {self.namespace}/_lakebed cannot be read: {error}; run `lakebed fsck`",
            repository=self.repository,
        )


def without(rows: pa.Table, hidden: pa.Table) -> pa.Table:
    """Rows whose paths are not in another table."""
    return rows.filter(pc.invert(pc.is_in(rows["path"], value_set=hidden["path"])))


def _in_span(rows: pa.Table, span: Span) -> pa.Table:
    kept = pc.greater_equal(rows["path"], span.low)
    if span.high is not None:
        kept = pc.and_(kept, pc.less(rows["path"], span.high))
    return rows.filter(kept)
