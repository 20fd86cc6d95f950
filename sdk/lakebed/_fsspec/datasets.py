"""A pyarrow data set keeps to the files that it was made of: which object each of them was.

A data set lists a directory once, remembers the footers of its files, and opens them by name again whenever it is read.
By the footer of one file another one cannot be read: what comes is an end of stream where there is none, or other rows
(docs/decisions/0028). So a file system of pyarrow's that was made for one data set, and that nobody else can have used
before, opens the objects that it listed. Whoever lists or opens by anything else asks the server.
"""

from __future__ import annotations

import sys
import weakref
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import islice
from types import FrameType
from typing import Any, Final

from lakebed._fsspec.paths import Row

MOST: Final = 100_000
"""Files of one data set that are remembered; the others are opened as they are then."""

_LISTING: Final = "get_file_info_selector"


@dataclass(slots=True)
class _Made:
    handler: weakref.ref[Any]
    rows: dict[str, Row] = field(default_factory=dict)


class Datasets:
    """The rows that data sets were made of, for as long as pyarrow has them."""

    def __init__(self) -> None:
        self._made: dict[int, _Made] = {}  # by id: a handler compares by its file system, and has no hash

    def listed(self, asker: FrameType | None, rows: Mapping[str, Row]) -> None:
        """Remember what was listed, if it is a data set of its own that is being made of it."""
        handler = _handler(asker, _LISTING)
        if asker is None or handler is None:
            return
        known = self._of(handler)
        if known is None:
            if not _is_made_here(asker):
                return
            number = id(handler)
            known = self._made[number] = _Made(weakref.ref(handler, lambda _: self._made.pop(number, None)))
        files = ((name, row) for name, row in rows.items() if row["type"] == "file")
        known.rows = dict(islice(files, MOST))

    def row(self, asker: FrameType, path: str) -> Row | None:
        """What a data set found at this path, if it is one that asks, about to open it."""
        if not self._made:
            return None
        known = self._of(_handler(asker, asker.f_code.co_name))
        return None if known is None else known.rows.get(path)

    def _of(self, handler: Any) -> _Made | None:
        known = self._made.get(id(handler))
        return known if known is not None and known.handler() is handler else None


def _handler(asker: FrameType | None, step: str) -> Any:
    """pyarrow's handler whose method `step` asks; None when it is anything else."""
    kind = getattr(sys.modules.get("pyarrow.fs"), "FSSpecHandler", None)
    method = getattr(getattr(kind, step, None), "__code__", None)
    return asker.f_locals.get("self") if asker is not None and asker.f_code is method else None


def _is_made_here(asker: FrameType) -> bool:
    """Whether the handler is of this very call of pyarrow's: it was not given a file system of pyarrow's own."""
    from pyarrow.fs import FileSystem

    outermost, frame = asker, asker.f_back
    while frame is not None and str(frame.f_globals.get("__name__", "")).startswith("pyarrow."):
        outermost, frame = frame, frame.f_back
    given = outermost.f_locals
    return outermost is not asker and "filesystem" in given and not isinstance(given["filesystem"], FileSystem)
