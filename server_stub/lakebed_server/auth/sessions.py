"""The sessions of login: which are open, from where they were begun, and which have ended early."""

from __future__ import annotations

from typing import Final, NamedTuple

import msgspec
from lakebed_engine.stores.kv.base import Batch, Delete, KVStore, Put, Row, scan_rows

from lakebed_server.auth import records
from lakebed_server.auth.records import PARTITION

MOST: Final = 100
"""Sessions of a user that are listed. Of more, the oldest are not listed, and continue."""

_PAGE: Final = 100
_ENDED_KEPT: Final = 30 * 24 * 3600
"""Seconds after its expiry for which an ended session is remembered: a clock that was ahead may be set back."""


class SignInClient(NamedTuple):
    """The program or browser that begins a session: its network address and its user agent."""

    address: str = ""
    agent: str = ""


UNKNOWN: Final = SignInClient()


class OpenSession(msgspec.Struct, frozen=True):
    """A session. `created` and `expires` are in Unix seconds. `source`: how the user signed in."""

    id: str
    created: int
    expires: int
    source: str
    address: str
    agent: str


class Sessions:
    """The sessions of all users, in rows `sessions/USER/ID` and `revoked/END/ID`."""

    def __init__(self, kv: KVStore) -> None:
        self._kv = kv

    async def add(self, user: str, session: OpenSession) -> None:
        """List a new session. Removes expired ones, and the oldest of too many."""
        rows = [(row, _decode(row)) for row in await self._rows(user)]
        over = [row for row, one in rows if one.expires < session.created]
        kept = sorted((one.created, row.key) for row, one in rows if one.expires >= session.created)
        oldest = [key for _, key in kept[: max(0, len(kept) + 1 - MOST)]]
        deletes = [Delete(PARTITION, key) for key in (*(row.key for row in over), *oldest)]
        put = Put(PARTITION, _key(user, session.id), msgspec.json.encode(session))
        await self._kv.apply(Batch(puts=[put], deletes=deletes))

    async def page(self, user: str, after: str, amount: int, now: int) -> tuple[list[OpenSession], bool]:
        """A page of the open sessions of a user, in the order of their ids, and whether more follow."""
        listed = [_decode(row) for row in await self._rows(user)]
        found = [one for one in listed if one.expires >= now and one.id > after]
        return found[:amount], len(found) > amount

    async def end_listed(self, user: str, id: str, now: int) -> bool:
        """End a session of a user. False when it is not listed."""
        row = await self._kv.get(PARTITION, _key(user, id))
        if row is None:
            return False
        await self.end(user, id, msgspec.json.decode(row.value, type=OpenSession).expires, now)
        return True

    async def end(self, user: str, id: str, expires: int, now: int) -> None:
        """Remember that a session ended early, and forget sessions that have expired long ago."""
        start, end = records.REVOKED, records.revoked_key(max(0, now - _ENDED_KEPT), "")
        over = [Delete(PARTITION, row.key) for row in await self._kv.scan(PARTITION, start, end, _PAGE)]
        put = Put(PARTITION, records.revoked_key(expires, id), b"{}")
        await self._kv.apply(Batch(puts=[put], deletes=[*over, Delete(PARTITION, _key(user, id))]))

    async def is_ended(self, id: str, expires: int) -> bool:
        """Whether a session ended early."""
        return await self._kv.get(PARTITION, records.revoked_key(expires, id)) is not None

    async def forget(self, user: str) -> None:
        """Remove the list of a user's sessions, because all of them have ended."""
        rows = await self._rows(user)
        if rows:
            await self._kv.apply(Batch(deletes=[Delete(PARTITION, row.key) for row in rows]))

    async def _rows(self, user: str) -> list[Row]:
        start = _key(user, "")
        return [row async for row in scan_rows(self._kv, PARTITION, start, start + b"\xff", size=_PAGE)]


def _key(user: str, id: str) -> bytes:
    return f"sessions/{user}/{id}".encode()


def _decode(row: Row) -> OpenSession:
    return msgspec.json.decode(row.value, type=OpenSession)
