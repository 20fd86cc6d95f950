"""Lists `local://` in byte order of the key.

It walks both trees directory by directory and merges the two walks. Memory holds only the sorted names of the open
directories. The functions block: they run in threads, one page at a time.
"""

from __future__ import annotations

import heapq
import itertools
import operator
import os
import re
import stat
from collections.abc import Iterator

from lakebed_engine.stores.objects.base import BlobStat, Refused
from lakebed_engine.stores.objects.local.keys import KEY_BYTES, Places, Tree
from lakebed_engine.stores.objects.local.paths import look_all, names

_PAGE = 500

HANDLE = re.compile(rb"[0-9a-f]{32}")
"""The name of a temp file."""

LINK = "a symbolic link"
OTHER = "neither a file nor a directory"
SHARED = "a file of another account that has other names (hard links)"


def pages(places: Places, prefix: bytes, after: bytes) -> Iterator[list[BlobStat]]:
    """The objects whose key begins with `prefix` and is greater than `after`. Each page shows the store at the time of
    its request. May raise OSError.
    """
    for page in _pages(places, prefix, after):
        yield [found for found, _ in page if isinstance(found, BlobStat)]


def pages_guarded(places: Places, prefix: bytes, after: bytes) -> Iterator[list[BlobStat | Refused]]:
    """Like `pages`, with the files that a scan must not register."""
    own = os.geteuid()
    for page in _pages(places, prefix, after):
        yield [
            Refused(found.key, SHARED, there=True)
            if isinstance(found, BlobStat) and status.st_nlink > 1 and status.st_uid != own
            else found
            for found, status in page
        ]


def _pages(places: Places, prefix: bytes, after: bytes) -> Iterator[list[tuple[BlobStat | Refused, os.stat_result]]]:
    # if another tool has created a second file of the key, the plain one counts, which is first
    trees = (_names(tree, prefix, after) for tree in (places.plain, places.encoded))
    merged = heapq.merge(*trees, key=operator.itemgetter(0))
    last = b""
    while some := tuple(itertools.islice(merged, _PAGE)):
        page: list[tuple[BlobStat | Refused, os.stat_result]] = []
        for (key, _, _), status in zip(some, look_all([(directory, name) for _, directory, name in some]), strict=True):
            if status is None or key == last:
                continue  # deleted since
            try:
                text = key.decode()
            except UnicodeDecodeError:
                continue  # a name that is not a key
            if stat.S_ISREG(status.st_mode):
                last = key
                page.append((BlobStat(text, status.st_size, status.st_mtime), status))
            elif not stat.S_ISDIR(status.st_mode):
                reason = LINK if stat.S_ISLNK(status.st_mode) else OTHER
                page.append((Refused(text, reason, there=False), status))
        yield page


def leftovers(places: Places) -> Iterator[list[BlobStat]]:
    """Temp files, named by their handles."""
    handles = sorted(name for name, _ in names(places.temp) if HANDLE.fullmatch(name))
    for start in range(0, len(handles), _PAGE):
        some = handles[start : start + _PAGE]
        found = zip(some, look_all([(places.temp, name) for name in some]), strict=True)
        yield [BlobStat(name.decode(), one.st_size, one.st_mtime) for name, one in found if one is not None]


def _names(tree: Tree, prefix: bytes, after: bytes) -> Iterator[tuple[bytes, bytes, bytes]]:
    """Keys, directories and names of one tree. Keeps its own stack, because a key has up to 1,024 directories, and
    Python 1,000 frames.
    """
    base = prefix[: prefix.rfind(b"/") + 1]
    start = tree.directory(base)
    if start is None:
        return
    stack = [(base, start, _parts(tree, start, base, prefix, after))]
    while stack:
        base, directory, parts = stack[-1]
        for part in parts:
            key, name = base + part, tree.name(part)
            if tree.is_directory(part):
                path = directory + b"/" + name
                stack.append((key, path, _parts(tree, path, key, prefix, after)))
                break
            yield key, directory, name
        else:
            stack.pop()


def _parts(tree: Tree, directory: bytes, base: bytes, prefix: bytes, after: bytes) -> Iterator[bytes]:
    """The sorted parts of a directory's names. A directory is `x/`: `x!` sorts before `x/y`, and `x/y` before `x0`."""
    parts = []
    for name, is_directory in names(directory):
        part = tree.part(name, is_directory)
        if part is not None and _wanted(base + part, tree.is_directory(part), prefix, after):
            parts.append(part)
    parts.sort()
    return iter(parts)


def _wanted(key: bytes, is_directory: bool, prefix: bytes, after: bytes) -> bool:
    if len(key) > KEY_BYTES:
        return False
    if not is_directory:
        return key > after and key.startswith(prefix)
    # Keys below it begin with `key`, so all are greater than `after` or all smaller, unless `after` is one of them.
    return (key.startswith(prefix) or prefix.startswith(key)) and (key > after or after.startswith(key))
