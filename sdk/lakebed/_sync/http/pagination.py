# Generated from sdk/lakebed/_async/http/pagination.py by tools/unasync_sdk.py - do not edit.
# ruff: noqa: RUF100, UP028
"""Listings: they fetch pages as needed, can be iterated repeatedly, and never end early without an error.

A page that breaks the paging rules raises ProtocolError in the gateway.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import copy
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar

from lakebed._bulk import progress_bar as progress
from lakebed._compat.sync import ByNumber, Shown, run_in_thread
from lakebed._render import html
from lakebed._render.columns import Columns
from lakebed._sync.http.transport import Transport
from lakebed._values.wire import Call
from lakebed.errors import InvalidRequestError
from lakebed.model import Page

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

T = TypeVar("T")

_PAGE = 1000


class Listing(Shown, ByNumber[T], Generic[T]):
    """Rows that are fetched during iteration. Iterating twice sends the requests twice."""

    __module__ = "lakebed"

    def __init__(
        self,
        transport: Transport,
        page: Callable[[str, int], Call[Page[T]]],
        columns: Columns,
        title: str,
        *,
        after: str = "",
        limit: int | None = None,
    ) -> None:
        if limit is not None and limit < 0:
            raise InvalidRequestError(f"limit must not be negative: {limit}")
        self._transport = transport
        self._page = page
        self._columns = columns
        self._title = title
        self._after = after
        self._limit = limit

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._title}>"

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            from lakebed._values.foreign_names import unknown_attribute

            raise unknown_attribute(self, name)

    def __iter__(self) -> Iterator[T]:
        after: str | None = self._after
        left = self._limit
        while after is not None and (left is None or left > 0):
            amount = _PAGE if left is None else min(left, _PAGE)
            page = self._transport.call(self._page(after, amount))
            for row in page.items[:amount]:
                yield row
            after = page.after
            if left is not None:
                left -= len(page.items)

    def _limited(self, amount: int) -> Self:
        """Return the same listing with at most this number of rows."""
        one = copy(self)
        one._limit = amount if self._limit is None else min(amount, self._limit)
        return one

    def all(self) -> list[T]:
        """Return every row as a list. On a terminal, a long listing shows a count.

        Example:

            rows = main.list("raw/").all()
        """
        rows: list[T] = []
        with progress.counted(self._title, "rows") as reached:
            for row in self:
                rows.append(row)
                if not len(rows) % _PAGE:
                    reached(len(rows))
        return rows

    def first(self) -> T | None:
        """Return the first row, or None.

        Example:

            newest = main.log().first()
        """
        after: str | None = self._after
        while after is not None and self._limit != 0:
            page = self._transport.call(self._page(after, 1))
            if page.items:
                return page.items[0]
            after = page.after  # a page of a search may be empty even if more follow
        return None

    def to_arrow(self) -> pa.Table:
        """Return every row as an Arrow table.

        Example:

            table = main.log().to_arrow()
        """
        rows = self.all()
        from lakebed._render.rows import to_arrow

        return run_in_thread(to_arrow, rows, self._columns)

    def to_pandas(self) -> pd.DataFrame:
        """Return every row as a DataFrame.

        Example:

            sizes = main.list("raw/").to_pandas()[["path", "size"]]
        """
        rows = self.all()
        from lakebed._render.rows import to_pandas

        return run_in_thread(to_pandas, rows, self._columns)

    def _look(self) -> str:
        most = html.ROWS + 1 if self._limit is None else min(self._limit, html.ROWS + 1)
        rows = self._limited(most).all()  # several pages when the server filters: a page may be empty
        more = len(rows) > html.ROWS
        return html.rows(self._title, rows[: html.ROWS], self._columns, more=more)
