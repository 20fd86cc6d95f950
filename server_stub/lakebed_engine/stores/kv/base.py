"""The KV store: the interface that holds all mutable state (`ARCHITECTURE.md` 4).

Every driver must pass tests/conformance/kv/test_kv.py.

Keys and values are bytes. A partition is a namespace of keys, which are ordered by their bytes. `version` is an opaque
positive integer that differs after every change of a key, also after delete and recreate.

`KvState` is the report of a store before it is opened, for `lakebed doctor --server` and `lakebed upgrade check`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple, Protocol

ABSENT: Final = 0
"""As the version of a check: the key must not exist."""


class Versioned(NamedTuple):
    """A value, and its version for a check."""

    value: bytes
    version: int


class Row(NamedTuple):
    """One row of a scan."""

    key: bytes
    value: bytes
    version: int


class Check(NamedTuple):
    """The batch is applied only if this key has exactly this version (ABSENT: does not exist)."""

    partition: str
    key: bytes
    version: int


class Put(NamedTuple):
    """Set a key, whether or not it exists."""

    partition: str
    key: bytes
    value: bytes


class Delete(NamedTuple):
    """Remove a key. Does nothing when it is absent."""

    partition: str
    key: bytes


class Batch(NamedTuple):
    """Applied as a whole or not at all: every check holds and every change is made, or nothing is.

    Checks see the state before the batch. Then deletes are made, then puts in their order. So a key that is in both
    exists afterwards, and the last of two puts of one key wins. Every row that was put gets the same new version, also
    when its value did not change. A batch without puts returns ABSENT.
    """

    checks: Sequence[Check] = ()
    puts: Sequence[Put] = ()
    deletes: Sequence[Delete] = ()


class KVStore(Protocol):
    """Mutable state. All calls may raise StoreUnavailableError and StoreFullError, `apply` also OutcomeUnknownError."""

    async def get(self, partition: str, key: bytes) -> Versioned | None:
        """The value and its version, or None. Read-your-writes across all processes."""
        ...

    async def get_many(self, partition: str, keys: Sequence[bytes]) -> list[Versioned | None]:
        """As `get`, for several keys of one partition, from one consistent view, in the given order."""
        ...

    async def scan(self, partition: str, start: bytes = b"", end: bytes | None = None, limit: int = 1000) -> list[Row]:
        """Rows with start <= key < end in byte order, at most `limit`, from one consistent view."""
        ...

    async def apply(self, batch: Batch) -> int:
        """Apply atomically and durably. Returns the version that every put row now has.

        Raises PredicateFailed when a check does not hold: then nothing was changed.
        """
        ...

    async def drop_partition(self, partition: str) -> None:
        """Delete every row of a partition, in bounded steps. Not atomic, so no caller may be writing there."""
        ...

    async def partitions(self, start: str = "", end: str | None = None, limit: int = 1000) -> list[str]:
        """Names of partitions that hold rows, start <= name < end, in order of their UTF-8 bytes, at most `limit`.

        The cost grows with the number of names, not of rows.
        """
        ...

    async def close(self) -> None:
        """Finish accepted calls and release everything."""
        ...


async def scan_pages(
    kv: KVStore, partition: str, start: bytes = b"", end: bytes | None = None, *, size: int = 1000
) -> AsyncIterator[list[Row]]:
    """All rows between two keys, in pages of at most `size` rows. Reads a page when the caller asks for it."""
    while rows := await kv.scan(partition, start, end, size):
        yield rows
        start = rows[-1].key + b"\0"


async def scan_rows(
    kv: KVStore, partition: str, start: bytes = b"", end: bytes | None = None, *, size: int = 1000
) -> AsyncIterator[Row]:
    """All rows between two keys, one by one."""
    async for rows in scan_pages(kv, partition, start, end, size=size):
        for row in rows:
            yield row


@dataclass(frozen=True, slots=True, kw_only=True)
class KvState:
    """The state of a KV store. Reading it changes nothing.

    `version` is that of the tables, None when there are none yet, and `known` the newest that this build knows. `size`
    is in bytes. `ahead`: seconds by which the database's clock is ahead of this machine's, None when it is the same
    clock. `function` is the version of `apply` in PostgreSQL, `known_function` that of this build; 0 for other drivers.
    `remarks` are sentences about settings of the database that endanger data or service.
    """

    place: str
    software: str
    version: int | None
    known: int
    size: int
    ahead: float | None = None
    function: int = 0
    known_function: int = 0
    remarks: tuple[str, ...] = ()
