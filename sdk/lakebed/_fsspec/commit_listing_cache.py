"""A cache of listings of commits. There are no other caches, because only commits never change. The ref must be a whole
commit id, and the server must have confirmed it: a branch could have such a name. It is bounded and drops the least
recently used entries.
"""

from __future__ import annotations

import re
import threading
from collections import OrderedDict
from typing import TYPE_CHECKING

from lakebed._fsspec.paths import Place
from lakebed.model import ObjectInfo

if TYPE_CHECKING:
    from lakebed.aio import Repository

MOST = 20_000
_COMMIT = re.compile(r"[0-9a-f]{64}")


class Frozen:
    """Objects of commits. Safe to use from many threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._commits: set[tuple[str, str]] = set()
        self._known: OrderedDict[Place, ObjectInfo] = OrderedDict()

    async def covers(self, repository: Repository, ref: str) -> bool:
        """Whether a ref is a commit. Raises NotFoundError."""
        if not _COMMIT.fullmatch(ref):
            return False
        key = (repository.id, ref)
        if key not in self._commits:
            if (await repository.commit(ref)).id != ref:
                return False
            self._commits.add(key)
        return True

    def keep(self, place: Place, info: ObjectInfo) -> None:
        """Store an object of a commit."""
        with self._lock:
            self._known[place] = info
            while len(self._known) > MOST:
                self._known.popitem(last=False)

    def get(self, place: Place) -> ObjectInfo | None:
        """Return an object, if it was listed."""
        if len(place.ref) < 64:
            return None
        with self._lock:
            found = self._known.get(place)
            if found is not None:
                self._known.move_to_end(place)
            return found
