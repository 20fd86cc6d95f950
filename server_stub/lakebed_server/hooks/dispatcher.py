"""The dispatcher: makes the calls that follow changes, at least once each, under a lease that one process has.

It polls for deliveries that are due, and soon after a change of this process that calls follow. It reads no more than
one row while none is due. A row is removed, or its next try is written, only after its call. So a server that ends in
between makes the call again, with the same id.
"""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections import Counter, OrderedDict, deque
from collections.abc import Awaitable, Iterable
from typing import Final

from lakebed_engine.engine import Engine
from lakebed_engine.vocabulary.errors import EngineError, NotFoundError
from lakebed_engine.vocabulary.events import NewDelivery
from lakebed_engine.vocabulary.hooks import SeenDelivery

from lakebed_server.hooks.attempts import ActionKey, Attempts, Made, Rests
from lakebed_server.hooks.gate import Hooks

log = logging.getLogger("lakebed.hooks")

POLL: Final = 1.0
"""Seconds between two scans of the rows that are due."""
SOON: Final = 0.05
"""The same for some time after a change of this process."""
SOON_SECONDS: Final = 1.0
PAGE: Final = 1000
"""Deliveries that one scan adds at most."""
MOST: Final = 20_000
"""Deliveries that one scan reads at most."""
SHARE: Final = 30
"""The least pause after a scan, as a multiple of the time that the scan took."""
GROUP: Final = 500
"""Deliveries that end together in one batch."""
GRACE: Final = 2.0
"""Seconds that a stop waits for calls in progress."""

_RESULTS: Final = {"finish": "delivered", "postpone": "retried", "fail": "failed"}

QueueKey = tuple[str, ...]
"""Deliveries that share a bound: those of a repository, or of an ordered action of a branch, one at a time."""


class Dispatcher:
    """Delivers until it is cancelled."""

    def __init__(self, engine: Engine, hooks: Hooks, attempts: Attempts | None = None) -> None:
        settings = hooks.settings
        self._engine = engine
        self._attempts = attempts or Attempts(engine, hooks.sources, hooks.caller, settings)
        self._most = settings.concurrent
        self._most_of_queue = settings.concurrent_per_repository
        self._holder = uuid.uuid4().hex
        self._queues: OrderedDict[QueueKey, deque[SeenDelivery]] = OrderedDict()
        self._known: set[bytes] = set()
        self._settled: set[bytes] = set()
        """Keys that a scan which began before may still return."""
        self._running: Counter[QueueKey] = Counter()
        self._tasks: set[asyncio.Task[None]] = set()
        self._rests = Rests()
        self._resting: dict[bytes, ActionKey] = {}
        """The actions of rows that the last scan left because they rest, so that the next scan does not decode them."""
        self._later: dict[bytes, float] = {}
        """Ordered deliveries whose turn has not come: when to check again."""
        self._made: list[tuple[Made, asyncio.Event]] = []
        self._flusher: asyncio.Task[None] | None = None
        self._wake = asyncio.Event()
        self._soon_until = 0.0
        self._amount = PAGE
        hooks.on_delivery = self.expect
        self._results = hooks.deliveries

    def expect(self, repository_uid: str, calls: Iterable[NewDelivery]) -> None:
        """Scan more often for a moment: a change that calls follow is about to land.

        Calls of actions that rest need no scan now, so a receiver that is dead does not slow changes.
        """
        now = asyncio.get_running_loop().time()
        if all(self._rests.has(_action_of(repository_uid, call), now) for call in calls):
            return
        self._soon_until = now + SOON_SECONDS
        self._wake.set()

    async def run(self) -> None:
        """Deliver what is due, until this is cancelled. Then release the lease."""
        loop = asyncio.get_running_loop()
        try:
            while True:
                began = loop.time()
                try:
                    await self._scan()
                except Exception:
                    log.exception("the dispatcher of hooks failed; retrying in %g s", POLL)
                await self._pause(loop.time() - began)
        finally:
            await self._stop()

    async def _pause(self, took: float) -> None:
        """Wait for the next scan. A wake only ends it where there is room for more calls."""
        loop = asyncio.get_running_loop()
        await asyncio.sleep(0.01)
        self._wake.clear()
        is_soon = loop.time() < self._soon_until and not self._queues
        left = max(SOON if is_soon else POLL, took * SHARE if self._queues or self._rests else 0.0)
        try:
            async with asyncio.timeout(left):
                await self._wake.wait()
                if self._rests:
                    await asyncio.sleep(took * SHARE)
        except TimeoutError:
            return

    async def _scan(self) -> None:
        """Read the rows that are due, and begin their calls."""
        self._settled.clear()
        rows = await self._engine.hooks.due(self._amount)
        new = [row for row in rows if row.key not in self._known and row.key not in self._settled]
        if not new and not self._tasks:
            return
        if not await self._engine.hooks.take_lease(self._holder):
            self._forget_waiting()
            return
        added = self._add(new)
        is_full = len(rows) == self._amount
        self._amount = min(MOST, len(self._known) + PAGE + (len(rows) - added if is_full else 0))
        self._start()

    def _add(self, rows: Iterable[SeenDelivery]) -> int:
        added, now = 0, asyncio.get_running_loop().time()
        self._later = {key: until for key, until in self._later.items() if until > now}
        resting: dict[bytes, ActionKey] = {}
        for row in rows:
            if row.key in self._later or len(self._known) >= MOST:
                continue
            action = self._resting.get(row.key) or _action(row)
            if self._rests.has(action, now):
                resting[row.key] = action
                continue
            self._known.add(row.key)
            self._queues.setdefault(_queue_of(row), deque()).append(row)
            added += 1
        self._resting = resting
        return added

    def _start(self) -> None:
        """Begin as many calls as there is room for, from each queue in turn."""
        now = asyncio.get_running_loop().time()
        for queue in list(self._queues):
            if len(self._tasks) >= self._most:
                return
            self._queues.move_to_end(queue)
            waiting = self._queues[queue]
            most = 1 if len(queue) > 1 else self._most_of_queue
            while waiting and self._running[queue] < most and len(self._tasks) < self._most:
                row = waiting.popleft()
                if self._rests.has(_action(row), now):
                    self._known.discard(row.key)
                    continue
                if not row.delivery.call.ordered:  # ordered calls are one at a time anyway
                    self._rests.begin_call(_action(row), now)
                self._running[queue] += 1
                task = asyncio.create_task(self._deliver(row, queue))
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)
            if not waiting:
                del self._queues[queue]

    async def _deliver(self, row: SeenDelivery, queue: QueueKey) -> None:
        """One attempt. The next one begins when it ends, before its row is written, except in an ordered queue."""
        loop = asyncio.get_running_loop()
        is_handed_over, began = False, loop.time()
        try:
            if row.delivery.call.ordered and not await self._engine.hooks.is_next(row.delivery):
                self._later[row.key] = loop.time() + POLL
                return
            made = await self._attempts.make(row)
            self._rests.end_call(_action(row), began, loop.time(), is_silent=made.is_silent)
            self._results[_RESULTS[made.end]] += 1
            ended = asyncio.Event()
            self._made.append((made, ended))
            is_handed_over = True
            if self._flusher is None or self._flusher.done():
                self._flusher = asyncio.create_task(self._flush())
            if row.delivery.call.ordered:
                await ended.wait()
        except EngineError as error:
            log.warning("delivery %s was not made and stays queued: %s", row.delivery.id, error.message)
        except Exception:
            log.exception("delivery %s was not made and stays queued", row.delivery.id)
        finally:
            if not is_handed_over:
                self._known.discard(row.key)
            self._running[queue] -= 1
            if not self._running[queue]:
                del self._running[queue]
            loop.call_soon(self._go_on)

    def _go_on(self) -> None:
        """Begin the next calls. When none are left, scan for more."""
        self._start()
        if not self._queues:
            self._wake.set()

    async def _flush(self) -> None:
        """Write what became of deliveries, many in one batch."""
        while self._made:
            group, self._made = self._made[:GROUP], self._made[GROUP:]
            try:
                await self._write([made for made, _ in group])
            except Exception:
                log.exception("the end of %d deliveries was not recorded: they will be repeated", len(group))
            for made, ended in group:
                self._settled.add(made.seen.key)
                self._known.discard(made.seen.key)
                ended.set()

    async def _write(self, group: list[Made]) -> None:
        await _all(self._save(made) for made in group)
        finished = [made.seen for made in group if made.end == "finish"]
        if finished:
            await self._engine.hooks.finish(finished)
        await _all(self._change(made) for made in group if made.end != "finish")

    async def _save(self, made: Made) -> None:
        if made.run is None:
            return
        try:
            await self._engine.hooks.save_run(made.seen.delivery.event.repository, made.run, made.logs or {})
        except NotFoundError:  # the repository was deleted during the call
            return

    async def _change(self, made: Made) -> None:
        hooks = self._engine.hooks
        try:
            await (hooks.fail if made.end == "fail" else hooks.postpone)(made.seen, made.new)
        except NotFoundError:  # the repository was deleted during the call
            await hooks.finish([made.seen])

    def _forget_waiting(self) -> None:
        """Another process has the lease."""
        for waiting in self._queues.values():
            self._known.difference_update(row.key for row in waiting)
        self._queues.clear()

    async def _stop(self) -> None:
        self._queues.clear()
        tasks = list(self._tasks)
        if tasks:
            await asyncio.wait(tasks, timeout=GRACE)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if self._flusher is not None:
            await asyncio.wait([self._flusher], timeout=GRACE)
        try:
            await self._engine.hooks.release_lease(self._holder)
        except EngineError as error:
            log.warning("the lease of the dispatcher was not released and will expire: %s", error.message)


def _queue_of(row: SeenDelivery) -> QueueKey:
    return row.delivery.order if row.delivery.call.ordered else (row.delivery.event.repository_uid,)


def _action(row: SeenDelivery) -> ActionKey:
    return _action_of(row.delivery.event.repository_uid, row.delivery.call)


def _action_of(repository_uid: str, call: NewDelivery) -> ActionKey:
    return repository_uid, call.origin, call.path, call.action


async def _all(jobs: Iterable[Awaitable[object]]) -> None:
    """Do all, then raise the first error."""
    for found in await asyncio.gather(*jobs, return_exceptions=True):
        if isinstance(found, BaseException):
            raise found
