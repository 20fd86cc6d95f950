"""A local file that another thread hashes while it is written, so that the upload does not read it again."""

from __future__ import annotations

import hashlib
import os
from collections import deque
from collections.abc import Sequence
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_STEP = 256 << 10
"""Bytes that are hashed together."""

_MOST = 16
"""Steps that wait for the other thread. Then the writer waits too, so the memory is bounded."""


@dataclass(frozen=True, slots=True)
class HashedFile(os.PathLike[str]):
    """A finished file, and its hex MD5."""

    path: Path
    checksum: str

    def __fspath__(self) -> str:
        return os.fspath(self.path)


class HashingFile:
    """A new file, for pyarrow to write to. `pool` hashes; several files may share it."""

    def __init__(self, path: Path, pool: Executor) -> None:
        self._file = path.open("wb", buffering=0)
        self._pool = pool
        self._md5 = hashlib.md5(usedforsecurity=False)
        self._held: list[bytes] = []
        self._held_size = 0
        self._jobs: deque[Future[None]] = deque()
        self._size = 0

    @property
    def closed(self) -> bool:
        """Whether nothing can be written any more."""
        return self._file.closed

    def write(self, data: Any) -> int:
        """Append. Raises OSError."""
        piece = data if isinstance(data, bytes) else bytes(data)
        left = memoryview(piece)
        while left:
            left = left[self._file.write(left) :]
        self._size += len(piece)
        self._held.append(piece)
        self._held_size += len(piece)
        if self._held_size >= _STEP:
            if len(self._jobs) >= _MOST:
                self._jobs.popleft().result()
            before = self._jobs[-1] if self._jobs else None
            self._jobs.append(self._pool.submit(self._hash, self._held, before))
            self._held, self._held_size = [], 0
        return len(piece)

    def tell(self) -> int:
        """The bytes that were written."""
        return self._size

    def flush(self) -> None:
        """Do nothing: nothing waits to be written."""

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def finish(self) -> str:
        """Close the file, and return the hex MD5 of its content."""
        self.close()
        while self._jobs:
            self._jobs.popleft().result()
        self._hash(self._held, None)
        return self._md5.hexdigest()

    def _hash(self, pieces: Sequence[bytes], before: Future[None] | None) -> None:
        if before is not None:  # the pool began it earlier, so it has a thread and ends
            before.result()
        for piece in pieces:
            self._md5.update(piece)
