"""One change of users, groups and policies: it reads rows, collects changes, and applies them as one batch.

Every change increments the epoch, so of two changes at the same time one fails and runs again. The same batch records
who made the change.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Final, TypeVar

import msgspec
from lakebed_engine.stores.kv.base import ABSENT, Batch, Check, Delete, KVStore, Put, scan_rows

from lakebed_server.auth.credentials import repeated
from lakebed_server.auth.records import CHANGES, EPOCH, PARTITION, change_now

T = TypeVar("T")

_PAGE: Final = 500

_KINDS: Final = {
    "users/": "user",
    "groups/": "group",
    "policies/": "policy",
    "members/": "membership",
    "attached/": "attachment",
}
"""The kind of a change by its rows. The first of them counts: a new user may be put into groups at the same time."""


class Transaction:
    """The rows as they will be after the change."""

    def __init__(self, kv: KVStore) -> None:
        self._kv = kv
        self._changes: dict[str, bytes | None] = {}
        self._checks: dict[str, int] = {}

    async def get(self, key: str) -> bytes | None:
        """The value of a row, or None. The change fails if another process changes the row before it is applied."""
        if key in self._changes:
            return self._changes[key]
        found = await self._kv.get(PARTITION, key.encode())
        self._checks.setdefault(key, ABSENT if found is None else found.version)
        return None if found is None else found.value

    async def has(self, key: str) -> bool:
        """Whether there is such a row."""
        return await self.get(key) is not None

    def put(self, key: str, value: object = None) -> None:
        """Set a row to a value, which is stored as JSON."""
        self._changes[key] = msgspec.json.encode(value)

    def delete(self, key: str) -> None:
        """Remove a row."""
        self._changes[key] = None

    async def below(self, prefix: str) -> AsyncIterator[str]:
        """The rest of each key that begins with `prefix`, in order."""
        added = sorted(key for key, value in self._changes.items() if value is not None and key.startswith(prefix))
        async for name, _ in scan(self._kv, prefix):
            while added and added[0] < prefix + name:
                yield added.pop(0).removeprefix(prefix)
            if added and added[0] == prefix + name:
                added.pop(0)
            if self._changes.get(prefix + name, b"") is not None:
                yield name
        for key in added:
            yield key.removeprefix(prefix)

    async def apply(self, what: str) -> None:
        """Apply the change, if there is one, and record it as `what`. Raises PredicateFailed if another was first."""
        if not self._changes:
            return
        epoch = int(await self.get(EPOCH) or b"0")
        kind = next((kind for rows, kind in _KINDS.items() if any(key.startswith(rows) for key in self._changes)), "")
        self.put(EPOCH, epoch + 1)
        self.put(f"{CHANGES}{epoch + 1:016}", change_now(what, kind))
        await self._kv.apply(
            Batch(
                checks=[Check(PARTITION, key.encode(), version) for key, version in self._checks.items()],
                puts=[Put(PARTITION, key.encode(), value) for key, value in self._changes.items() if value is not None],
                deletes=[Delete(PARTITION, key.encode()) for key, value in self._changes.items() if value is None],
            )
        )


async def scan(
    kv: KVStore, rows: str, prefix: str = "", after: str = "", *, size: int = _PAGE
) -> AsyncIterator[tuple[str, bytes]]:
    """The rest of each key that begins with `rows`, and its value, in the order of bytes.

    `prefix` and `after` are of the rest. `size`: rows of one read of the store.
    """
    first = f"{rows}{prefix}".encode()
    start, end = first, first + b"\xff"  # no text in UTF-8 has this byte
    if after:
        start = max(start, f"{rows}{after}".encode() + b"\0")
    async for row in scan_rows(kv, PARTITION, start, end, size=min(size, _PAGE)):
        yield row.key.decode().removeprefix(rows), row.value


async def change(kv: KVStore, what: str, make: Callable[[Transaction], Awaitable[T]]) -> T:
    """Make the change `what`, again if another was first. Raises what `make` raises, and TooManyAttemptsError."""

    async def attempt() -> T:
        transaction = Transaction(kv)
        made = await make(transaction)
        await transaction.apply(what)
        return made

    return await repeated(attempt, what)
