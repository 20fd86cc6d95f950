"""The changed paths of a commit, as hashes: of the paths and of all folders above them.

The log of one path skips the commits whose hashes lack it, without opening a tree. A hash is the CRC-32 of the UTF-8
bytes. Two paths may have the same hash, so a match is not certain, but a mismatch is. A commit with too many paths
keeps only its folders, and with too many folders nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final
from zlib import crc32

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

MOST: Final = 2_000
"""Largest number of paths, and of folders, for one commit."""

NOTHING_KNOWN, FOLDERS, ALL = 0, 1, 2


def hash_of(text: str) -> int:
    """The hash of a path, or of a folder, which ends in a slash. A lone surrogate, which no path has, is accepted."""
    return crc32(text.encode(errors="surrogatepass"))


def folder_of(path: str) -> str:
    """The folder of a path or a prefix: `a/` for `a/b` and for `a/`, empty at the top."""
    return path[: path.rfind("/") + 1]


def _folders(folder: str) -> Iterable[str]:
    """A folder and its parents: `a/b/` and `a/`."""
    while folder:
        yield folder
        folder = folder_of(folder[:-1])


@dataclass(frozen=True, slots=True)
class ChangedPaths:
    """`hashes` are sorted uint32. `level`: hashes of paths and folders, of folders only, or none."""

    level: int
    hashes: Any

    def encode(self) -> bytes:
        """The level as one byte, then the hashes, each in four, the least significant first."""
        return bytes([self.level]) + bytes(self.hashes.astype("<u4").tobytes())

    @classmethod
    def decode(cls, data: bytes) -> ChangedPaths:
        """Decode the result of `encode`."""
        return cls(data[0], np.frombuffer(data, dtype="<u4", offset=1))


class PathQuery:
    """The paths and prefixes of a log request."""

    def __init__(self, paths: Sequence[str], prefixes: Sequence[str]) -> None:
        self.paths = [(hash_of(path), folder_of(path)) for path in paths]
        folders = [folder_of(prefix) for prefix in prefixes]
        self.folders = [hash_of(folder) for folder in folders if folder]
        self.anything = not all(folders)
        """A prefix without a folder: any change may be below it."""

    def may_match(self, changed: ChangedPaths) -> bool:
        """Whether a commit with these changed paths may have changed a requested path. False is certain."""
        if changed.level == NOTHING_KNOWN:
            return True
        if self.anything and len(changed.hashes):
            return True
        if any(_has(changed.hashes, folder) for folder in self.folders):
            return True
        if changed.level == ALL:
            return any(_has(changed.hashes, path) for path, _ in self.paths)
        return any(not folder or _has(changed.hashes, hash_of(folder)) for _, folder in self.paths)


def _has(hashes: Any, one: int) -> bool:
    at = int(np.searchsorted(hashes, np.uint32(one)))
    return at < len(hashes) and int(hashes[at]) == one


class ChangedPathsBuilder:
    """Collects the changed paths from the rows of a delta, in bounded memory."""

    def __init__(self) -> None:
        self._level = ALL
        self._paths: set[str] = set()
        self._folders: set[str] = set()

    @property
    def lost(self) -> bool:
        """Whether there were too many folders: then nothing is known, whatever rows follow."""
        return self._level == NOTHING_KNOWN

    def add(self, rows: pa.Table) -> None:
        """Add the paths of some rows."""
        self.add_paths(rows.column("path"))

    def add_paths(self, paths: Any) -> None:
        """Add some paths: a list, or a column."""
        if self.lost or not len(paths):
            return
        if self._level == ALL and len(self._paths) + len(paths) <= MOST:
            texts = paths if isinstance(paths, list) else paths.to_pylist()
            self._paths.update(texts)
            parents = {folder_of(path) for path in texts}
        else:
            self._level = FOLDERS
            self._paths.clear()
            parents = set(pc.unique(pc.replace_substring_regex(paths, r"[^/]*\z", "")).to_pylist())
        for parent in parents - self._folders:
            self._folders.update(_folders(parent))
        if len(self._folders) > MOST:
            self._level = NOTHING_KNOWN
            self._folders.clear()
            self._paths.clear()

    def build(self) -> ChangedPaths:
        """The hashes of all added paths. With folders only, paths at the top have the hash of the empty text."""
        texts = [*self._paths, *self._folders]
        if self._level == FOLDERS:
            texts.append("")
        return ChangedPaths(self._level, np.array(sorted(set(map(hash_of, texts))), dtype="<u4"))
