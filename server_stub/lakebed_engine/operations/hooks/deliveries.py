"""Deliveries: calls of actions after a change (`facts/hooks.md` 9).

The batch of the change writes the row of a delivery. One process, the dispatcher, holds a lease and makes the calls. A
row is removed only after its call, so a call is made at least once. All rows of the server are in one partition, in the
order of their due times.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import msgspec

from lakebed_engine.operations.context import Context, encode, open_repo
from lakebed_engine.operations.keys import (
    DELIVERIES_DUE,
    DISPATCHER_LEASE,
    FAILED_DELIVERIES,
    HOOK_DELIVERIES,
    delivery_order,
    delivery_order_key,
    due_key,
    failed_delivery_key,
    text_key,
    under,
)
from lakebed_engine.operations.validation import check_amount
from lakebed_engine.stores.kv.base import ABSENT, Batch, Check, Delete, Put, scan_rows
from lakebed_engine.vocabulary.errors import InvalidRequestError, PredicateFailed, RunNotFoundError
from lakebed_engine.vocabulary.hooks import Delivery, SeenDelivery

LEASE: Final = 15.0
"""Seconds after which another process takes over from a dispatcher that has ended."""
_LONGEST: Final = 24 * 3600.0
"""Seconds. A lease that ends later comes from a wrong clock and is ignored."""
_SCANNED: Final = 10_000
"""Rows of all repositories that one page reads at most."""
_WAITING: Final = "waiting"
_FAILED: Final = "failed"
_delivery = msgspec.json.Decoder(Delivery)


class _Lease(msgspec.Struct, frozen=True):
    holder: str
    until: float


_lease = msgspec.json.Decoder(_Lease)


class DeliveryPage(NamedTuple):
    """A page of the deliveries of a repository: waiting ones, and permanently failed ones.

    `after`: where the next page begins, or empty. A page may be short though another follows.
    """

    waiting: list[Delivery]
    failed: list[Delivery]
    after: str = ""


async def take_lease(ctx: Context, holder: str) -> bool:
    """Take or renew the lease of the dispatcher. `holder`: an id of the process. False: another process has it."""
    now = ctx.clock.now()
    found = await ctx.kv.get(HOOK_DELIVERIES, DISPATCHER_LEASE)
    if found is not None:
        row = _lease.decode(found.value)
        if row.holder != holder and now < row.until < now + _LONGEST:
            return False
        if row.holder == holder and now + LEASE * 2 / 3 < row.until:
            return True
    check = Check(HOOK_DELIVERIES, DISPATCHER_LEASE, ABSENT if found is None else found.version)
    put = Put(HOOK_DELIVERIES, DISPATCHER_LEASE, encode(_Lease(holder, now + LEASE)))
    try:
        await ctx.kv.apply(Batch([check], [put]))
    except PredicateFailed:
        return False
    return True


async def release_lease(ctx: Context, holder: str) -> None:
    """Release the lease, so that another process takes over immediately."""
    found = await ctx.kv.get(HOOK_DELIVERIES, DISPATCHER_LEASE)
    if found is not None and _lease.decode(found.value).holder == holder:
        check = Check(HOOK_DELIVERIES, DISPATCHER_LEASE, found.version)
        try:
            await ctx.kv.apply(Batch([check], deletes=[Delete(HOOK_DELIVERIES, DISPATCHER_LEASE)]))
        except PredicateFailed:
            return


async def due(ctx: Context, amount: int) -> list[SeenDelivery]:
    """Due deliveries, the earliest first."""
    end = due_key(DELIVERIES_DUE, ctx.now() + 1)
    return [
        SeenDelivery(row.key, row.version, row.value)
        for row in await ctx.kv.scan(HOOK_DELIVERIES, DELIVERIES_DUE, end, amount)
    ]


async def finish(ctx: Context, seen: Sequence[SeenDelivery]) -> None:
    """Remove deliveries that were made. A row that has changed since stays."""
    try:
        await ctx.kv.apply(Batch([_check(one) for one in seen], deletes=[row for one in seen for row in _gone(one)]))
    except PredicateFailed:
        for one in seen if len(seen) > 1 else ():
            await finish(ctx, [one])


async def postpone(ctx: Context, seen: SeenDelivery, new: Delivery) -> bool:
    """Replace a delivery by one with another due time. False: it has changed since."""
    put = Put(HOOK_DELIVERIES, due_key(DELIVERIES_DUE, int(new.due), new.id), encode(new))
    return await _change(ctx, seen, put, [Delete(HOOK_DELIVERIES, seen.key)])


async def fail(ctx: Context, seen: SeenDelivery, new: Delivery) -> bool:
    """Give up a delivery: it is kept, and a user can repeat it. False: it has changed since."""
    repo = await open_repo(ctx, new.event.repository)
    return await _change(ctx, seen, Put(repo.partition, failed_delivery_key(new.id), encode(new)), _gone(seen))


async def list_deliveries(ctx: Context, repo_name: str, *, after: str = "", amount: int = 100) -> DeliveryPage:
    """A page of the deliveries of a repository: the waiting ones, by due time, then the failed ones.

    `after`: of the page before, such as `waiting/001788000000/ID` or `failed/ID`. Raises InvalidRequestError.
    """
    check_amount(amount)
    repo = await open_repo(ctx, repo_name)
    kind, _, place = (after or _WAITING).partition("/")
    if kind == _WAITING:
        page = await _waiting(ctx, repo.record.uid, place, amount)
        if page.after:
            return page
        waiting, place = page.waiting, ""
    elif kind == _FAILED:
        waiting = []
    else:
        raise InvalidRequestError(f"parameter after: {after[:80]!r} is not the end of a page of deliveries")
    room = amount - len(waiting)
    start, end = under(FAILED_DELIVERIES)
    rows = await ctx.kv.scan(repo.partition, failed_delivery_key(place) + b"\0" if place else start, end, room + 1)
    failed = [_delivery.decode(row.value) for row in rows[:room]]
    last = failed[-1].id if failed else place
    return DeliveryPage(waiting, failed, f"{_FAILED}/{last}" if len(rows) > room else "")


async def _waiting(ctx: Context, repo_uid: str, place: str, amount: int) -> DeliveryPage:
    """A page of the waiting deliveries. Its `after` is empty when no waiting row follows."""
    start, end = under(DELIVERIES_DUE)
    waiting: list[Delivery] = []
    scanned = 0
    last = start + text_key(place)
    async for row in scan_rows(ctx.kv, HOOK_DELIVERIES, last + b"\0" if place else start, end):
        if len(waiting) == amount or scanned == _SCANNED:
            return DeliveryPage(waiting, [], f"{_WAITING}/{last.removeprefix(start).decode()}")
        scanned, last = scanned + 1, row.key
        delivery = _delivery.decode(row.value)
        if delivery.event.repository_uid == repo_uid:
            waiting.append(delivery)
    return DeliveryPage(waiting, [])


async def redeliver(ctx: Context, repo_name: str, delivery_id: str) -> Delivery:
    """Make a failed delivery due again, from its first hook. Its id stays. Raises RunNotFoundError."""
    repo = await open_repo(ctx, repo_name)
    key = failed_delivery_key(delivery_id)
    found = await ctx.kv.get(repo.partition, key)
    if found is None:
        raise RunNotFoundError(f"failed delivery {delivery_id[:80]!r} not found in repository {repo_name!r}")
    new = msgspec.structs.replace(_delivery.decode(found.value), due=ctx.clock.now(), hook=0, ended=(), tries=0)
    put = Put(HOOK_DELIVERIES, due_key(DELIVERIES_DUE, int(new.due), new.id), encode(new))
    check = Check(repo.partition, key, found.version)
    try:
        await ctx.kv.apply(Batch([check], [put], [Delete(repo.partition, key)]))
    except PredicateFailed:
        raise RunNotFoundError(f"failed delivery {delivery_id[:80]!r} was redelivered by another request") from None
    return new


async def is_next(ctx: Context, delivery: Delivery) -> bool:
    """Whether no earlier event of the same action and branch waits to be delivered. For ordered actions."""
    first = await ctx.kv.scan(HOOK_DELIVERIES, *delivery_order(*delivery.order), 1)
    return not first or first[0].key >= delivery_order_key(delivery.order, delivery.id)


def _check(seen: SeenDelivery) -> Check:
    return Check(HOOK_DELIVERIES, seen.key, seen.version)


def _gone(seen: SeenDelivery) -> list[Delete]:
    """Removes the row of a delivery, and its place in the order."""
    return [Delete(HOOK_DELIVERIES, seen.key), *_order(seen.delivery)]


def _order(delivery: Delivery) -> list[Delete]:
    if not delivery.call.ordered:
        return []
    return [Delete(HOOK_DELIVERIES, delivery_order_key(delivery.order, delivery.id))]


async def _change(ctx: Context, seen: SeenDelivery, put: Put, deletes: Sequence[Delete]) -> bool:
    try:
        await ctx.kv.apply(Batch([_check(seen)], [put], deletes))
    except PredicateFailed:
        return False
    return True
