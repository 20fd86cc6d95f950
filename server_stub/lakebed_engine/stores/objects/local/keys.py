"""Maps keys to file names of `local://`.

A store's root has two trees.

The **plain tree** is the root itself: the key is the path, byte for byte, so that other tools can read and write there.
A file is an object exactly when its path is a key that would be written there: UTF-8, no empty, `.` or `..` segment,
no control character, segments of at most 255 bytes, none beginning with `.lakebed-` (reserved names).

The **encoded tree**, `.lakebed-keys/`, holds every other key, and a plain key whose plain path is taken by a file or a
directory of the same name (see `local.publish`). In each segment, the bytes `A-Z a-z 0-9 . _ = , @ + -` stay unchanged,
any other byte is `%` and two upper-case hex digits. A mark at the end gives the kind of the name:

    %o  the object ends here      %s  a slash follows      %m  more of this segment follows

A segment is cut after every 64 bytes, so names stay under 200 bytes whatever the key. `%o` is always a file, and `%s`
and `%m` are always directories, so names in this tree cannot clash.

    orders/2026/a.parquet   orders/2026/a.parquet
    Ünï.csv                 Ünï.csv
    a                       a                                  or, where `a` is a directory:  .lakebed-keys/a%o
    a/b                     a/b                                or, where `a` is a file:       .lakebed-keys/a%s/b%o
    a//b                    .lakebed-keys/a%s/%s/b%o
    /x                      .lakebed-keys/%s/x%o
    x/                      .lakebed-keys/x%s/%o
    ../../etc/passwd        .lakebed-keys/..%s/..%s/etc%s/passwd%o
    tab<TAB>x               .lakebed-keys/tab%09x%o
    .lakebed-keys/a%o       .lakebed-keys/.lakebed-keys%s/a%25o%o
    300 times x             .lakebed-keys/<64 x>%m/<64 x>%m/<64 x>%m/<64 x>%m/<44 x>%o

Letters keep their case: two keys that differ only in case need a case-sensitive file system.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Protocol

from lakebed_format.keys import is_plain

from lakebed_engine.vocabulary.errors import InvalidPathError

KEY_BYTES = 1024
"""The longest key, as on S3."""

ROOT_BYTES = 800
"""The longest root: an encoded key grows to at most 3,200 bytes, and a path has 4,096."""

PART_BYTES = 64
"""The number of bytes after which a segment is cut in the encoded tree. With three characters for each byte and a mark,
names stay under 200.
"""

TEMP = b".lakebed-tmp"
ENCODED = b".lakebed-keys"
LOCK = b".lakebed-lock"

_ESCAPED = re.compile(rb"[^A-Za-z0-9._=,@+-]")
_HEX = re.compile(rb"%([0-9A-F]{2})")


def key_bytes(key: str) -> bytes:
    """The key's bytes. Raises InvalidPathError when it is empty, too long or not UTF-8."""
    try:
        raw = key.encode()
    except UnicodeEncodeError as error:
        raise InvalidPathError(f"an object key must be UTF-8 text: {key!r}") from error
    if not raw or len(raw) > KEY_BYTES:
        raise InvalidPathError(f"an object key has 1 to {KEY_BYTES:,} bytes, this one {len(raw):,}: {key[:80]!r}")
    return raw


def encoded_path(key: bytes) -> bytes:
    """The key's path in the encoded tree: `a//b` is `a%s/%s/b%o`."""
    *directories, last = key.split(b"/")
    names = [name for segment in directories for name in _names(segment, b"%s")]
    names.extend(_names(last, b"%o"))
    return b"/".join(names)


def _names(segment: bytes, mark: bytes) -> Iterator[bytes]:
    cut = len(segment) // PART_BYTES * PART_BYTES
    for start in range(0, cut, PART_BYTES):
        yield _escape(segment[start : start + PART_BYTES]) + b"%m"
    yield _escape(segment[cut:]) + mark


def _escape(part: bytes) -> bytes:
    return _ESCAPED.sub(lambda match: b"%%%02X" % match[0][0], part)


class Tree(Protocol):
    """The spelling of keys in one of the two trees.

    A *part* is the text that a name adds to the key of its directory: `b"x/"` for the plain directory x, `b"x"` for a
    file. The sorted parts of a directory are in the order of the keys below them.
    """

    top: bytes

    def part(self, name: bytes, directory: bool) -> bytes | None:
        """The part of a name. None for a name that Lakebed does not use."""
        ...

    def name(self, part: bytes) -> bytes:
        """The name of a part: the inverse of `part`."""
        ...

    def is_directory(self, part: bytes) -> bool:
        """Whether more of the key follows."""
        ...

    def directory(self, base: bytes) -> bytes | None:
        """The directory of the keys that begin with `base`, which is empty or ends in a slash. None when no key can."""
        ...


class PlainTree:
    """The root itself."""

    def __init__(self, root: bytes) -> None:
        self.top = root

    def part(self, name: bytes, directory: bool) -> bytes | None:
        """`x` is `x`, or `x/` for a directory."""
        if not is_plain(name):
            return None
        return name + b"/" if directory else name

    def name(self, part: bytes) -> bytes:
        """`x/` is `x`."""
        return part.removesuffix(b"/")

    def is_directory(self, part: bytes) -> bool:
        """A part with a slash."""
        return part.endswith(b"/")

    def directory(self, base: bytes) -> bytes | None:
        """The path of a directory."""
        if not base:
            return self.top
        return self.top + b"/" + base[:-1] if is_plain(base[:-1]) else None


class EncodedTree:
    """`.lakebed-keys/`."""

    def __init__(self, root: bytes) -> None:
        self.top = root + b"/" + ENCODED

    def part(self, name: bytes, directory: bool) -> bytes | None:
        """`x%o` is `x`, `x%s` is `x/`, `<64 bytes>%m` is these 64 bytes. Refuses other spellings of the same bytes."""
        part = _HEX.sub(lambda match: bytes((int(match[1], 16),)), name[:-2])
        if b"/" in part:
            return None
        if name.endswith(b"%s"):
            part += b"/"
        return part if self.name(part) == name and self.is_directory(part) is directory else None

    def name(self, part: bytes) -> bytes:
        """`x/` is `x%s`."""
        if part.endswith(b"/"):
            return _escape(part[:-1]) + b"%s"
        return _escape(part) + (b"%m" if len(part) == PART_BYTES else b"%o")

    def is_directory(self, part: bytes) -> bool:
        """A part with a slash, or a piece of a longer segment."""
        return part.endswith(b"/") or len(part) == PART_BYTES

    def directory(self, base: bytes) -> bytes | None:
        """The encoded path, without the empty object's name at its end."""
        if not base:
            return self.top
        return self.top + b"/" + encoded_path(base).removesuffix(b"/%o")


class Places:
    """The paths of the keys of one root."""

    def __init__(self, root: bytes) -> None:
        self.root = root
        self.temp = root + b"/" + TEMP
        self.lock = root + b"/" + LOCK
        self.plain = PlainTree(root)
        self.encoded = EncodedTree(root)
        self._plain_start = root + b"/"
        self._encoded_start = self.encoded.top + b"/"

    def plain_path(self, key: bytes) -> bytes | None:
        """The plain path, None when the key cannot have one."""
        return self._plain_start + key if is_plain(key) else None

    def encoded_path(self, key: bytes) -> bytes:
        """The path in the encoded tree."""
        return self._encoded_start + encoded_path(key)

    def paths(self, key: bytes) -> Iterator[bytes]:
        """The paths that a reader tries, in this order."""
        plain = self.plain_path(key)
        if plain is not None:
            yield plain
        yield self.encoded_path(key)
