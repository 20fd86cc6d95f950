"""The lease of the sweep: one row in the KV store, so that several processes do not do the same work.

The lease only saves work. Two sweeps may run at the same time, because each deletes only files that it has found
unnamed twice. So the lease may depend on the clocks of the machines.
"""

from __future__ import annotations

from dataclasses import dataclass

import msgspec

from lakebed_engine.operations.context import Context, encode
from lakebed_engine.stores.kv.base import ABSENT, Batch, Check, Put
from lakebed_engine.vocabulary.errors import PredicateFailed, TooManyAttemptsError

_LONGEST = 24 * 3600.0
"""Seconds. A lease that ends later comes from a wrong clock and is ignored."""


class LeaseRow(msgspec.Struct, frozen=True):
    """The stored row. `until`, and `swept` (the end of the last complete sweep), are in Unix seconds."""

    holder: str = ""
    until: float = 0.0
    swept: float = 0.0


@dataclass
class Lease:
    """A lease that this process holds. It lasts `seconds` from its last renewal."""

    ctx: Context
    partition: str
    key: bytes
    seconds: float
    row: LeaseRow
    version: int

    async def keep(self) -> None:
        """Renew the lease when a third of it has passed. Raises TooManyAttemptsError when another process took over."""
        now = self.ctx.clock.now()
        if now > self.row.until - self.seconds * 2 / 3:
            await self._write(msgspec.structs.replace(self.row, until=now + self.seconds))

    async def release(self, *, swept: bool) -> None:
        """Release the lease. `swept`: a complete sweep was made."""
        done = self.ctx.clock.now() if swept else self.row.swept
        await self._write(LeaseRow("", 0.0, done))

    async def _write(self, row: LeaseRow) -> None:
        check = Check(self.partition, self.key, self.version)
        try:
            self.version = await self.ctx.kv.apply(Batch([check], [Put(self.partition, self.key, encode(row))]))
        except PredicateFailed:
            raise TooManyAttemptsError("another process has taken over the sweep; nothing more was deleted") from None
        self.row = row


async def take_lease(ctx: Context, partition: str, key: bytes, *, seconds: float, every: float) -> Lease | str:
    """Take the lease. Otherwise returns the reason: another process sweeps, or swept less than `every` seconds ago."""
    now = ctx.clock.now()
    found = await ctx.kv.get(partition, key)
    row = LeaseRow() if found is None else msgspec.json.decode(found.value, type=LeaseRow)
    if now < row.until < now + _LONGEST:
        return "another process is sweeping it"
    if row.swept and row.swept <= now < row.swept + every:
        return "it was swept a short time ago"
    lease = Lease(ctx, partition, key, seconds, LeaseRow(swept=row.swept), ABSENT if found is None else found.version)
    try:
        await lease._write(LeaseRow(ctx.ids.new(), now + seconds, row.swept))
    except TooManyAttemptsError:
        return "another process is sweeping it"
    return lease
