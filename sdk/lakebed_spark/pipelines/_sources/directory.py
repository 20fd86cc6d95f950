"""A directory that this machine sees, as a source."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

import attrs
import pyarrow as pa

from lakebed_spark.history.key_ranges import Span
from lakebed_spark.pipelines._sources.base import BATCH, Row, listed_table

_OURS = ".lakebed-"
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_LAST = "\U0010ffff"


@attrs.frozen
class LocalFolder:
    """A directory that this machine and the executors see."""

    uri: str
    directory: str
    divides: bool = True

    def undivided(self) -> LocalFolder:
        """As of `Source`."""
        return self

    def folders(self, below: str) -> list[str]:
        """As of `Source`."""
        try:
            with os.scandir(self.directory + below) as entries:
                return sorted(f"{below}{entry.name}/" for entry in entries if _wanted(entry.name) and entry.is_dir())
        except FileNotFoundError:
            return []

    def listed(self, span: Span, rows: int = BATCH) -> Iterator[pa.Table]:
        """As of `Source`: each directory's names are held and sorted, nothing more."""
        held: list[Row] = []
        for key, path in self._walk("", span):
            try:
                found = os.stat(path)
            except (FileNotFoundError, NotADirectoryError):
                continue
            mtime = found.st_mtime
            held.append((key, found.st_size, mtime, f"stat:{round(mtime * 1e9):x}-{found.st_size:x}"))
            if len(held) >= rows:
                yield listed_table(held)
                held = []
        if held:
            yield listed_table(held)

    def _walk(self, below: str, span: Span) -> Iterator[tuple[str, str]]:
        stack = [iter(self._names(below, span))]
        while stack:
            key = next(stack[-1], None)
            if key is None:
                stack.pop()
            elif key.endswith("/"):
                stack.append(iter(self._names(key, span)))
            else:
                yield key, self.directory + key

    def _names(self, below: str, span: Span) -> list[str]:
        """What is right below, sorted: `x/` for a directory, so that `x!` comes before `x/y` before `x0`."""
        found = []
        try:
            with os.scandir(self.directory + below) as entries:
                for entry in entries:
                    if not _wanted(entry.name):
                        continue
                    key = below + entry.name
                    if entry.is_dir():
                        if span.meets(key + "/", key + "/" + _LAST) and not _leads_up(entry):
                            found.append(key + "/")
                    elif entry.is_file() and span.holds(key, key):
                        found.append(key)
        except (FileNotFoundError, NotADirectoryError):
            pass  # gone since it was seen
        return sorted(found)


def _wanted(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return not name.startswith(_OURS) and _CONTROL.search(name) is None


def _leads_up(entry: os.DirEntry[str]) -> bool:
    """Whether a link leads to a directory above itself. Following it would list the same files without end."""
    if not entry.is_symlink():
        return False
    target = os.path.realpath(entry.path)
    return (os.path.realpath(os.path.dirname(entry.path)) + "/").startswith(target.rstrip("/") + "/")
