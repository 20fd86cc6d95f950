"""Bytes that arrive in pieces, in one block of memory. A second thread hashes a large block while it is filled."""

from __future__ import annotations

import hashlib
from concurrent.futures import Future, ThreadPoolExecutor
from io import BytesIO

LARGE = 4 << 20
"""Bytes from which a second thread hashes. To hash less takes hardly longer than to start a thread."""

_STEP = 1 << 20
"""Bytes that the second thread hashes without Python's lock."""


class Received:
    """A block of `expected` bytes, which `add` fills in order. With `hashed` False it is not hashed."""

    def __init__(self, expected: int, *, hashed: bool) -> None:
        self.size = 0
        """Bytes that arrived, also those for which there was no room."""

        self._hashed = hashed
        self._md5 = hashlib.md5(usedforsecurity=False)
        self._md5_size = 0
        self._memory = BytesIO(bytes(expected))  # `bytes` and `BytesIO` share the memory, so nothing is copied
        self._view = self._memory.getbuffer()
        large = hashed and expected >= LARGE
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="lakebed-hash") if large else None
        self._last: Future[None] | None = None

    def add(self, chunk: bytes) -> None:
        """Append. Bytes behind the end of the block are dropped, and count in `size`."""
        kept = chunk[: max(len(self._view) - self.size, 0)]
        self._view[self.size : self.size + len(kept)] = kept
        self.size += len(chunk)
        if self.size - self._md5_size >= _STEP:
            self._hash()

    @property
    def is_hashing(self) -> bool:
        """Whether a second thread hashes, so that `wait` blocks."""
        return self._pool is not None

    def wait(self) -> None:
        """Wait until everything is hashed."""
        self._hash()
        if self._last is not None:
            self._last.result()

    @property
    def checksum(self) -> str:
        """The hex MD5 of the block so far."""
        self.wait()
        return self._md5.hexdigest()

    def content(self) -> bytes:
        """The block, without a copy. Nothing can be added afterwards."""
        self._view.release()
        return self._memory.getvalue()

    def close(self) -> None:
        """End the second thread after its present step. Nothing can be added afterwards."""
        # an error refers to this object and back: Python 3.13 may free the memory of such a cycle before the view of it
        self._view.release()
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)

    def _hash(self) -> None:
        if not self._hashed:
            return
        part = self._view[self._md5_size : self.size]
        self._md5_size = self.size
        if self._pool is not None:
            try:
                self._last = self._pool.submit(self._md5.update, part)
                return
            except RuntimeError:  # the interpreter is ending and takes no more jobs
                if self._last is not None:
                    self._last.result()
        self._md5.update(part)
