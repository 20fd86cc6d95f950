"""Calls one hook, by its type: a request to another server, or a process of this machine."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from lakebed_engine.engine import Engine
from lakebed_hooks import Action, Hook, HookEvent, Outcome
from lakebed_hooks.syntax import properties
from lakebed_hooks.workers.process import run
from lakebed_hooks.workers.wire import Job, Limits

from lakebed_server.hooks import airflow, webhook
from lakebed_server.hooks.calls import Call, Secrets
from lakebed_server.hooks.lake_reader import EngineReader
from lakebed_server.hooks.occasions import Occasion
from lakebed_server.outbound import Receivers
from lakebed_server.settings.hooks import HookSettings

log = logging.getLogger("lakebed.hooks")

_REMOTE: Final = {"webhook": webhook.call, "airflow": airflow.call}
_CUT: Final = b"\n(the log is cut here)\n"


class BoundedLog:
    """The beginning of what a hook prints."""

    def __init__(self, most: int) -> None:
        self._left = most
        self._parts: list[bytes] = []

    def __call__(self, text: str) -> None:
        """Add text."""
        self.add(text.encode("utf-8", "replace"))

    def add(self, data: bytes) -> None:
        """Add bytes."""
        if self._left <= 0:
            return
        self._parts.append(data[: self._left])
        self._left -= len(data)
        if self._left <= 0:
            self._parts.append(_CUT)

    def content(self) -> bytes:
        """What was added, as far as it is kept."""
        return b"".join(self._parts)


@dataclass(frozen=True, slots=True, kw_only=True)
class HookCall:
    """One call of one hook. `id`: of the delivery; it is the same for each attempt. `seconds`: the most time for it."""

    action: Action
    hook: Hook
    occasion: Occasion
    event: HookEvent
    id: str
    seconds: float
    log: BoundedLog


class HookCaller:
    """Calls hooks, with what the settings allow."""

    def __init__(
        self,
        engine: Engine,
        settings: HookSettings,
        environment: Mapping[str, str] | None = None,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._engine = engine
        self._settings = settings
        self._environment = os.environ if environment is None else environment
        self._now = now
        self._prefixes = _listed(settings.env.prefixes)
        self._allow = _listed(settings.python.allow)
        self._receivers = Receivers(_listed(settings.webhook.allow))

    async def close(self) -> None:
        """Close all connections to receivers."""
        await self._receivers.close()

    async def call(self, one: HookCall) -> Outcome:
        """How the hook ended. Raises nothing but cancellation."""
        try:
            remote = _REMOTE.get(one.hook.type)
            return await (self._run(one) if remote is None else remote(self._attempt(one)))
        except Exception:
            log.exception("the server could not call hook %r of action %r", one.hook.id, one.action.name)
            return Outcome("error", "the server could not call the hook; see the log of the server for the cause")

    def _attempt(self, one: HookCall) -> Call:
        return Call(
            hook=one.hook,
            event=one.event,
            id=one.id,
            now=self._now(),
            seconds=one.seconds,
            receivers=self._receivers,
            secrets=Secrets(self._environment, self._prefixes),
            log=one.log,
            source=f"/repositories/{one.occasion.repository}",
        )

    async def _run(self, one: HookCall) -> Outcome:
        hook, occasion, settings = one.hook, one.occasion, self._settings
        job = Job(
            type="contract" if hook.type == "contract" else "python",
            event=one.event,
            properties=hook.properties,
            file=one.action.file.path,
            line=hook.line,
            allow=self._allow,
        )
        seconds = one.seconds
        if isinstance(own := hook.properties.get("timeout"), str):
            seconds = min(seconds, properties.duration_seconds(own))
        limits = Limits(seconds=max(seconds, 0.001), memory=settings.memory, log=settings.log_bytes)
        is_staged = occasion.candidate == occasion.text("branch_id")
        lake = EngineReader(self._engine, occasion.repository, occasion.candidate, occasion.base, staged=is_staged)
        outcome, printed = await run(job, lake, limits)
        one.log.add(printed)
        return outcome


def _listed(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())
