"""One attempt of a delivery: it calls the hooks of an action after a change, and says what becomes of the delivery.

Actions whose receiver does not answer rest, so that their calls cost nothing: longer each time. After a rest, one call
finds out whether the receiver answers again. Times are seconds of the event loop.
"""

from __future__ import annotations

import asyncio
import logging
import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

import msgspec
from lakebed_engine.engine import Engine
from lakebed_engine.vocabulary.errors import NotFoundError
from lakebed_engine.vocabulary.hooks import Attempt, Delivery, Run, RunState, SeenDelivery
from lakebed_hooks import Action, Hook, Outcome, schedule

from lakebed_server.hooks.calling import HookCaller
from lakebed_server.hooks.occasions import post_event
from lakebed_server.hooks.runner import Progress, Runner
from lakebed_server.hooks.sources import ActionSources
from lakebed_server.settings.hooks import HookSettings

log = logging.getLogger("lakebed.hooks")

_FAILED: Final = frozenset({"refused", "error"})
_GONE: Final = 410
_MOST_ATTEMPTS: Final = 20
"""Attempts that a delivery keeps."""


@dataclass(frozen=True, slots=True)
class Made:
    """An attempt that was made. `new`: the delivery as it goes on, or None: it is finished.

    `is_silent`: the receiver of the action did not answer at all.
    """

    seen: SeenDelivery
    end: Literal["finish", "postpone", "fail"]
    new: Delivery
    run: Run | None = None
    logs: dict[str, bytes] | None = None
    is_silent: bool = False


class Attempts:
    """Makes attempts. Its hooks have places of their own, so that slow receivers do not hold up checks of changes."""

    def __init__(
        self,
        engine: Engine,
        sources: ActionSources,
        caller: HookCaller,
        settings: HookSettings,
        now: Callable[[], float] = time.time,
        chance: Callable[[], float] = random.random,
    ) -> None:
        """`chance`: a number from 0 to 1, which spreads retries."""
        self._runner = Runner(engine, caller, settings, now)
        self._sources = sources
        self._seconds = settings.operation_timeout
        self._now = now
        self._chance = chance

    async def make(self, seen: SeenDelivery) -> Made:
        """Call the hooks of a delivery, from the next one on."""
        delivery = seen.delivery
        where = f"delivery {delivery.id} of action {delivery.call.action!r} ({delivery.call.path!r})"
        try:
            action = await self._sources.of_delivery(delivery)
            if action is None or delivery.hook >= len(action.hooks):
                log.warning("%s was dropped: its action is not in its file any more", where)
                return Made(seen, "finish", delivery)
            return await self._made(seen, action)
        except NotFoundError as error:
            log.warning("%s was dropped: %s", where, error.message)
            return Made(seen, "finish", delivery)

    async def _made(self, seen: SeenDelivery, action: Action) -> Made:
        delivery = seen.delivery
        occasion = post_event(delivery)
        run = self._runner.begun(occasion, delivery_id=delivery.id)
        deadline = asyncio.get_running_loop().time() + self._seconds
        changes = await self._runner.changes(occasion)
        progress = Progress(occasion, run, deadline, delivery_id=delivery.id, changes=changes)
        nexts: list[schedule.Next] = []

        def stop(hook: Hook, outcome: Outcome) -> bool:
            tries = 1 if nexts else delivery.tries + 1
            nexts.append(self._next(hook, outcome, tries))
            return nexts[-1].verdict is schedule.Verdict.RETRY

        outcomes = await self._runner.run_action(
            progress, 0, action, first=delivery.hook, failed=not _FAILED.isdisjoint(delivery.ended), stop=stop
        )
        run = progress.ended(self._now())
        if run.state == "pending":  # a receiver has accepted the event, and answers later
            run = msgspec.structs.replace(run, state="passed", message="")
        new, end = self._after(delivery, outcomes, nexts[-1], run)
        last = outcomes[-1]
        is_silent = last.state == "error" and last.status == 0 and last.retry_after >= 0
        return Made(seen, end, new, run, progress.logs, is_silent)

    def _after(
        self, delivery: Delivery, outcomes: list[Outcome], last: schedule.Next, run: Run
    ) -> tuple[Delivery, Literal["finish", "postpone", "fail"]]:
        """The delivery after an attempt."""
        message = run.message
        if any(one.status == _GONE for one in outcomes):
            message = f"{message}: the receiver is permanently gone (status 410), so the server does not retry"
        attempts = [*delivery.attempts, Attempt(self._now(), run.state, message, run.id)][-_MOST_ATTEMPTS:]
        states: list[RunState] = [one.state for one in outcomes]
        if last.verdict is schedule.Verdict.RETRY:
            new = msgspec.structs.replace(
                delivery,
                due=self._now() + last.delay,
                hook=delivery.hook + len(outcomes) - 1,
                tries=(delivery.tries if len(outcomes) == 1 else 0) + 1,
                ended=(*delivery.ended, *states[:-1]),
                attempts=attempts,
            )
            return new, "postpone"
        new = msgspec.structs.replace(delivery, ended=(*delivery.ended, *states), attempts=attempts)
        return new, "finish" if _FAILED.isdisjoint(new.ended) else "fail"

    def _next(self, hook: Hook, outcome: Outcome, tries: int) -> schedule.Next:
        """What follows the call of one hook."""
        if outcome.state not in _FAILED:
            return schedule.Next(schedule.Verdict.DELIVERED)
        again = outcome.state == "error" and outcome.retry_after >= 0 and hook.properties.get("retry", True)
        if not again:
            return schedule.Next(schedule.Verdict.FAILED)
        return schedule.after(
            outcome.status or None, tries=tries, random=self._chance(), retry_after=outcome.retry_after
        )


RESTS: Final = (5.0, 10.0, 20.0, 40.0, 60.0)
"""Seconds of the first rest, the second, and so on."""

ActionKey = tuple[str, ...]
"""An action of a repository."""


class _Rest(NamedTuple):
    """`times`: the place of the next rest in `RESTS`."""

    times: int
    since: float
    until: float


class Rests:
    """The actions that rest, or whose receiver has not answered since."""

    def __init__(self) -> None:
        self._rests: dict[ActionKey, _Rest] = {}

    def __bool__(self) -> bool:
        return bool(self._rests)

    def has(self, action: ActionKey, now: float) -> bool:
        """Whether an action rests."""
        rest = self._rests.get(action)
        return rest is not None and rest.until > now

    def begin_call(self, action: ActionKey, now: float) -> None:
        """Let the other calls of an action wait for the end of this one, the first after a rest."""
        rest = self._rests.get(action)
        if rest is not None:
            self._rests[action] = _Rest(rest.times, now, now + RESTS[rest.times])

    def end_call(self, action: ActionKey, began: float, now: float, *, is_silent: bool) -> None:
        """Note a call. `is_silent`: the receiver did not answer at all. Any answer ends the rests of the action."""
        if not is_silent:
            self._rests.pop(action, None)
            return
        rest = self._rests.get(action, _Rest(0, began, began))
        if began >= rest.since:  # a call that began before the rest is no news
            self._rests[action] = _Rest(min(rest.times + 1, len(RESTS) - 1), now, now + RESTS[rest.times])
