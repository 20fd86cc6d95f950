"""Listing `local://` in byte order of the key.

Above the names, below `local.py`. Both trees are walked directory by directory; each directory's names are held and
sorted, nothing more, and the two walks are merged. Blocks: runs in threads, a page at a time.
"""

from __future__ import annotations

import heapq
import os
import stat
from collections.abc import Iterator

from lakebed_engine.stores.objects.base import BlobStat, Refused
from lakebed_engine.stores.objects.local_names import KEY_BYTES, Places, Tree
from lakebed_engine.stores.objects.local_paths import look, names

LINK = "a symbolic link"
OTHER = "neither a file nor a directory"
SHARED = "a file of another account that has other names (hard links)"


def walk(places: Places, prefix: bytes, after: bytes) -> Iterator[BlobStat]:
    """The objects whose key begins with `prefix` and is greater than `after`. May raise OSError."""
    return (found for found, _ in _walk(places, prefix, after) if isinstance(found, BlobStat))


def walk_guarded(places: Places, prefix: bytes, after: bytes) -> Iterator[BlobStat | Refused]:
    """The same, with what a scan must not take. May raise OSError."""
    own = os.geteuid()
    for found, status in _walk(places, prefix, after):
        if isinstance(found, BlobStat) and status.st_nlink > 1 and status.st_uid != own:
            yield Refused(found.key, SHARED, there=True)
        else:
            yield found


def _walk(places: Places, prefix: bytes, after: bytes) -> Iterator[tuple[BlobStat | Refused, os.stat_result]]:
    last = b""
    for key, path in heapq.merge(_keys(places.plain, prefix, after), _keys(places.encoded, prefix, after)):
        if key == last:
            continue  # a twin another tool made; the plain one counts
        try:
            name = key.decode()
        except UnicodeDecodeError:
            continue  # a name that is no key
        found = look(path)
        if found is None:
            continue  # deleted since
        if stat.S_ISREG(found.st_mode):
            last = key
            yield BlobStat(name, found.st_size, found.st_mtime), found
        elif not stat.S_ISDIR(found.st_mode):
            yield Refused(name, LINK if stat.S_ISLNK(found.st_mode) else OTHER, there=False), found


def _keys(tree: Tree, prefix: bytes, after: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Keys and paths of one tree. Keeps its own stack: a key has up to 1,024 directories, Python 1,000 frames."""
    base = prefix[: prefix.rfind(b"/") + 1]
    start = tree.directory(base)
    if start is None:
        return
    stack = [(base, start, _parts(tree, start, base, prefix, after))]
    while stack:
        base, directory, parts = stack[-1]
        for part in parts:
            key, path = base + part, directory + b"/" + tree.name(part)
            if tree.is_directory(part):
                stack.append((key, path, _parts(tree, path, key, prefix, after)))
                break
            yield key, path
        else:
            stack.pop()


def _parts(tree: Tree, directory: bytes, base: bytes, prefix: bytes, after: bytes) -> Iterator[bytes]:
    """What a directory's names add to the key, sorted. `x/` for a directory: so `x!` comes before `x/y` before `x0`."""
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
    # Keys below it begin with `key`, so all are greater than `after` or all smaller, unless `after` lies among them.
    return (key.startswith(prefix) or prefix.startswith(key)) and (key > after or after.startswith(key))
