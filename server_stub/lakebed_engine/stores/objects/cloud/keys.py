"""Maps keys to object names of the cloud stores.

A plain key is the object's name below the namespace's prefix, byte for byte, so that other tools can read and write
it. obstore or a store refuses or changes some keys: an empty, `.` or `..` segment, a slash at either end, a backslash,
control characters, segments over 255 bytes, names beginning with `.lakebed-`. Such a key is below `.lakebed-keys/`,
encoded as on `local://`:


    orders/2026/a.parquet   PREFIX/orders/2026/a.parquet
    a//b                    PREFIX/.lakebed-keys/a%s/%s/b%o
    /x                      PREFIX/.lakebed-keys/%s/x%o

An object name has at most 1,024 bytes, including the prefix. A longer key is refused.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from lakebed_format.keys import is_plain

from lakebed_engine.stores.objects.local.keys import EncodedTree, encoded_path, key_bytes
from lakebed_engine.vocabulary.errors import InvalidPathError

NAME_BYTES = 1024
"""The longest name of an object, as on S3, GCS and Azure."""

ENCODED = ".lakebed-keys/"
TEMP = ".lakebed-tmp/"
PROBE = ".lakebed-probe/"

_OURS = ".lakebed-"
_CHANGED = re.compile(r"[\\\ufffe\uffff]")
"""Characters that some stores change: a backslash is a slash on SeaweedFS, the others are invalid in XML listings."""
_TREE = EncodedTree(b"")


@dataclass(frozen=True, slots=True)
class Place:
    """A bucket (or container) and the prefix of one namespace in it, which is empty or ends in a slash.

    `store_id`: that of a named store.
    """

    uri: str
    scheme: str
    bucket: str
    prefix: str
    store_id: str = ""

    @property
    def store(self) -> str:
        """The store, for messages: "" for the default one, " of the store 'eu'" for a named one."""
        return f" of the store {self.store_id!r}" if self.store_id else ""

    def name(self, key: str) -> str:
        """The name of the object. Raises InvalidPathError for an invalid key or a too long name."""
        raw = key_bytes(key)
        name = self.prefix + (key if plain(key) else ENCODED + encoded_path(raw).decode())
        size = len(name.encode())
        if size > NAME_BYTES:
            raise InvalidPathError(
                f"the key needs an object name of {size:,} bytes in {self.uri}, "
                f"at most {NAME_BYTES:,} fit: {key[:80]!r}"
            )
        return name

    def key(self, name: str) -> str | None:
        """The key of an object: the inverse of `name`. None for a name that `name` never returns."""
        if not name.startswith(self.prefix):
            return None
        rest = name[len(self.prefix) :]
        if not rest.startswith(_OURS):
            return rest
        return decoded(rest.removeprefix(ENCODED)) if rest.startswith(ENCODED) else None


def plain(key: str) -> bool:
    """Whether the key is used unchanged as the name."""
    return not key.startswith(_OURS) and is_plain(key.encode()) and _CHANGED.search(key) is None


def decoded(path: str) -> str | None:
    """The key of a path below `.lakebed-keys/`. None for a path that Lakebed would not write."""
    *directories, last = path.encode().split(b"/")
    parts = [_TREE.part(name, True) for name in directories] + [_TREE.part(last, False)]
    if None in parts:
        return None
    try:
        return b"".join(part for part in parts if part is not None).decode()
    except UnicodeDecodeError:
        return None
