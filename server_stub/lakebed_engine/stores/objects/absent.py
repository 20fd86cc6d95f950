"""The store of a repository whose named store this server does not have. Each call raises one clear error.

So the server can list and delete such a repository, and work on all others, as with a store that does not respond.
"""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager
from typing import NoReturn

from lakebed_engine.stores.objects.base import BlobStat, PutResult
from lakebed_engine.vocabulary.errors import NoStoreError


class AbsentStore:
    """A namespace that cannot be opened. All calls raise NoStoreError with the `reason`."""

    def __init__(self, uri: str, reason: str) -> None:
        self._uri = uri
        self._reason = reason

    @property
    def uri(self) -> str:
        """The namespace's URI."""
        return self._uri

    @property
    def signer(self) -> NoReturn:
        """Raises NoStoreError."""
        raise self._error("")

    @property
    def assembler(self) -> NoReturn:
        """Raises NoStoreError."""
        raise self._error("")

    async def put(self, key: str, data: bytes, *, if_absent: bool = False, by_content: bool = False) -> None:
        """Raises NoStoreError."""
        raise self._error(key)

    async def put_stream(
        self, key: str, chunks: AsyncIterable[bytes], *, if_absent: bool = False, fresh: bool = False
    ) -> PutResult:
        """Raises NoStoreError."""
        raise self._error(key)

    async def get(self, key: str) -> bytes:
        """Raises NoStoreError."""
        raise self._error(key)

    async def get_range(self, key: str, start: int, length: int) -> bytes:
        """Raises NoStoreError."""
        raise self._error(key)

    def open(
        self, key: str, start: int = 0, length: int | None = None
    ) -> AbstractAsyncContextManager[AsyncIterator[bytes]]:
        """Raises NoStoreError."""
        raise self._error(key)

    async def head(self, key: str) -> BlobStat:
        """Raises NoStoreError."""
        raise self._error(key)

    def list(self, prefix: str = "", start_after: str = "") -> AsyncIterator[BlobStat]:
        """Raises NoStoreError."""
        raise self._error(prefix)

    async def any_key(self) -> str | None:
        """Raises NoStoreError."""
        raise self._error("")

    def list_partial(self) -> AsyncIterator[BlobStat]:
        """Raises NoStoreError."""
        raise self._error("")

    async def delete_partial(self, handle: str) -> None:
        """Raises NoStoreError."""
        raise self._error(handle)

    async def delete(self, keys: Sequence[str]) -> None:
        """Raises NoStoreError."""
        raise self._error(keys[0] if keys else "")

    async def delete_older(self, keys: Sequence[str], before: float) -> Sequence[str]:
        """Raises NoStoreError."""
        raise self._error(keys[0] if keys else "")

    async def copy(self, source: str, target: str) -> None:
        """Raises NoStoreError."""
        raise self._error(source)

    def _error(self, key: str) -> NoStoreError:
        where = f"{self._uri}/{key}" if key else self._uri
        text = f"cannot open {where}: {self._reason}"
        return NoStoreError(text, public_message=text)
