"""Staged rows of sealed tokens as a delta: newest wins, in order of path, page by page.

Above `rows` and `cursor`. Reads tokens that nobody writes any more; `fold` takes what this yields.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

import pyarrow as pa

from lakebed_engine.stores.kv.base import KVStore, Row
from lakebed_engine.tree.cursor import decode_row
from lakebed_engine.tree.rows import delta_table
from lakebed_engine.vocabulary.ports import Runtime

PAGE = 20_000
"""Rows read at once from each token."""


def _table(rows: Sequence[Row]) -> pa.Table:
    return delta_table([(row.key.decode(), decode_row(row.value)) for row in rows])


class _Token:
    """One token's rows, a page at a time."""

    def __init__(self, kv: KVStore, partition: str, page: int) -> None:
        self._kv = kv
        self._partition = partition
        self._page = page
        self._start = b"\0"  # behind the marker row, whose key is empty
        self.rows: list[Row] = []
        self.more = True

    async def fill(self) -> None:
        if self.more and not self.rows:
            self.rows = await self._kv.scan(self._partition, self._start, None, self._page)
            self.more = len(self.rows) == self._page
            if self.rows:
                self._start = self.rows[-1].key + b"\0"

    def take(self, cut: bytes | None) -> list[Row]:
        if cut is None or not self.rows or self.rows[-1].key <= cut:
            taken, self.rows = self.rows, []
            return taken
        count = sum(1 for row in self.rows if row.key <= cut)
        taken, self.rows = self.rows[:count], self.rows[count:]
        return taken


async def staged_delta(
    kv: KVStore, runtime: Runtime, partitions: Sequence[str], page: int = PAGE
) -> AsyncIterator[pa.Table]:
    """The delta of several tokens, newest first in `partitions`, as tables of DELTA_SCHEMA."""
    tokens = [_Token(kv, partition, page) for partition in partitions]
    while True:
        for token in tokens:
            await token.fill()
        if not any(token.rows for token in tokens):
            return
        # beyond a page's last key a token may have rows that are not read yet
        cut = min((token.rows[-1].key for token in tokens if token.more), default=None)
        newest: dict[bytes, Row] = {}
        pieces = [token.take(cut) for token in tokens]
        if sum(1 for piece in pieces if piece) == 1:
            rows = next(piece for piece in pieces if piece)
        else:
            for piece in reversed(pieces):
                newest.update((row.key, row) for row in piece)
            rows = [newest[key] for key in sorted(newest)]
        yield await runtime.cpu(_table, rows)
