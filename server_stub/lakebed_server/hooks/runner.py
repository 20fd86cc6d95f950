"""Runs the actions of one event, and records the run: when it begins, and when it ends.

Actions run at the same time. The hooks of one action run in their order, each under its condition. A run ends as
passed, refused (a hook says no), error (a hook failed), or pending (a check will have the answer).
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import urlsplit

import msgspec
from lakebed_engine.engine import Engine
from lakebed_engine.vocabulary.errors import EngineError, HookRefusedError
from lakebed_engine.vocabulary.hooks import HookRun, Run, RunState
from lakebed_hooks import Action, Changes, Hook, Outcome, conditions

from lakebed_server.hooks.calling import BoundedLog, HookCall, HookCaller
from lakebed_server.hooks.changes import Places, changes_between
from lakebed_server.hooks.occasions import Occasion
from lakebed_server.hooks.verdicts import Verdicts
from lakebed_server.settings.hooks import HookSettings
from lakebed_server.vocabulary import SettingError

log = logging.getLogger("lakebed.hooks")

_WORST: Final[tuple[RunState, ...]] = ("error", "refused", "pending")
_MOST_CAUSES: Final = 5
_SAVE_SECONDS: Final = 10.0
Stop = Callable[[Hook, Outcome], bool]
"""Whether the action ends with this hook, because it will be called again later."""


@dataclass
class Progress:
    """A run, while it runs."""

    occasion: Occasion
    run: Run
    deadline: float
    """In the time of the event loop."""
    verdicts: Verdicts | None = None
    delivery_id: str = ""
    changes: Changes | None = None
    hooks: dict[str, HookRun] = field(default_factory=dict)
    logs: dict[str, bytes] = field(default_factory=dict)

    def ended(self, now: float) -> Run:
        """The run after its last hook."""
        hooks = [self.hooks[one] for one in sorted(self.hooks)]
        states = {one.state for one in hooks}
        state = next((one for one in _WORST if one in states), "passed")
        return msgspec.structs.replace(self.run, ended=now, state=state, message=_cause(hooks), hooks=hooks)


class Runner:
    """Runs actions."""

    def __init__(
        self, engine: Engine, caller: HookCaller, settings: HookSettings, now: Callable[[], float] = time.time
    ) -> None:
        self._engine = engine
        self._caller = caller
        self._settings = settings
        self._root = root_of(settings)
        self._now = now
        self._places = Places(settings.concurrent, settings.concurrent_per_repository)
        self._active: dict[str, Progress] = {}
        """The runs whose hooks run now, by id."""
        self._saving: set[asyncio.Task[None]] = set()

    async def check(self, occasion: Occasion, actions: Sequence[Action], verdicts: Verdicts, deadline: float) -> None:
        """Run the hooks before a change. Raises HookRefusedError unless all agree."""
        progress = Progress(occasion, self.begun(occasion), deadline, verdicts)
        run = await self.run(progress, actions)
        if run.state != "passed":
            raise refusal(run)

    async def refuse(self, occasion: Occasion, cause: str) -> None:
        """Record that hooks could not run. Raises HookRefusedError."""
        run = self.begun(occasion)
        run = msgspec.structs.replace(run, ended=self._now(), state="error", message=cause)
        await self._engine.hooks.save_run(occasion.repository, run)
        raise refusal(run)

    async def run(self, progress: Progress, actions: Sequence[Action]) -> Run:
        """Run actions, and record the run. Raises EngineError if it cannot be recorded."""
        repository = progress.occasion.repository
        await self._engine.hooks.save_run(repository, progress.run)
        self._active[progress.run.id] = progress
        try:
            progress.changes = await self.changes(progress.occasion)
            await _together([self.run_action(progress, number, action) for number, action in enumerate(actions)])
        except BaseException as error:
            if progress.run.id in self._active:  # else `close` has recorded it
                why = error.message if isinstance(error, EngineError) else "the request ended before its hooks"
                self._save_later(progress, why)
            raise
        finally:
            self._active.pop(progress.run.id, None)
        run = progress.ended(self._now())
        await self._engine.hooks.save_run(repository, run, progress.logs)
        return run

    async def run_action(
        self,
        progress: Progress,
        number: int,
        action: Action,
        *,
        first: int = 0,
        failed: bool = False,
        stop: Stop | None = None,
    ) -> list[Outcome]:
        """Run the hooks of an action from the `first` on. `failed`: a hook before it has failed."""
        outcomes: list[Outcome] = []
        for place, hook in enumerate(action.hooks[first:], first):
            outcome = Outcome("skipped")
            hook_run = HookRun(id=f"{number:04d}_{place:04d}", action=action.name, hook_id=hook.id, type=hook.type)
            if conditions.parse(hook.condition).holds(failed=failed):
                outcome = await self._run_hook(progress, action, hook, hook_run)
            else:
                progress.hooks[hook_run.id] = msgspec.structs.replace(hook_run, state="skipped")
            outcomes.append(outcome)
            failed = failed or outcome.state not in ("passed", "skipped")
            if stop is not None and stop(hook, outcome):
                break
        return outcomes

    def begun(self, occasion: Occasion, *, delivery_id: str = "", rerun_of: str = "", rules_of: str = "") -> Run:
        """A run that begins now."""
        started = self._now()
        return Run(
            id=self._engine.hooks.new_run_id(),
            event_type=occasion.type,
            branch=occasion.text("branch_id"),
            source_ref=occasion.text("source_ref"),
            commit_id=occasion.text("commit_id") or occasion.text("candidate_commit_id"),
            tag=occasion.text("tag_id"),
            user=occasion.text("user"),
            started=started,
            ends_by=started + self._settings.operation_timeout,
            delivery_id=delivery_id,
            rerun_of=rerun_of,
            rules_of=rules_of,
        )

    async def changes(self, occasion: Occasion) -> Changes | None:
        """What the change changes. None: there is nothing to compare."""
        if not (occasion.moves_branch and occasion.base and occasion.candidate):
            return None
        staged = "$" if occasion.candidate == occasion.text("branch_id") else ""
        return await changes_between(self._engine, occasion.repository, occasion.base, occasion.candidate + staged)

    async def close(self) -> None:
        """Record the runs that have not ended, and wait for the last ones to be recorded."""
        while self._active:
            self._save_later(self._active.popitem()[1], "the server stopped before its hooks ended")
        if self._saving:
            await asyncio.wait(self._saving, timeout=_SAVE_SECONDS)

    async def _run_hook(self, progress: Progress, action: Action, hook: Hook, hook_run: HookRun) -> Outcome:
        hook_run = msgspec.structs.replace(hook_run, started=self._now())
        progress.hooks[hook_run.id] = hook_run
        known = None if progress.verdicts is None else await progress.verdicts.find(action, hook)
        if known is not None:
            outcome, said = known.outcome, f"{known.outcome.message} (as in run {known.run_id}, for the same tree)"
        else:
            outcome = await self._called(progress, action, hook, hook_run)
            said = outcome.message
        progress.hooks[hook_run.id] = msgspec.structs.replace(
            hook_run,
            ended=self._now(),
            state=outcome.state,
            message=said.strip(),
            details=[dict(row) for row in outcome.details],
        )
        if known is None and progress.verdicts is not None:
            await progress.verdicts.keep(action, hook, outcome, progress.run.id, self._now)
        return outcome

    async def _called(self, progress: Progress, action: Action, hook: Hook, hook_run: HookRun) -> Outcome:
        """Call a hook, when there is a place for it."""
        occasion, loop = progress.occasion, asyncio.get_running_loop()
        call_log = BoundedLog(self._settings.log_bytes)
        what = "waited in the queue"
        try:
            async with asyncio.timeout_at(progress.deadline), self._places.place(occasion.repository):
                what = "did not end"
                call = HookCall(
                    action=action,
                    hook=hook,
                    occasion=occasion,
                    event=occasion.event(action, hook, progress.run.id, progress.changes, self._root),
                    id=f"{progress.delivery_id or progress.run.id}-{hook.id}",
                    seconds=progress.deadline - loop.time(),
                    log=call_log,
                )
                return await self._caller.call(call)
        except TimeoutError:
            most = self._settings.operation_timeout
            return Outcome("error", f"the hook {what} within {most:g} s, the limit for all hooks of a change")
        finally:
            progress.logs[hook_run.id] = call_log.content()

    def _save_later(self, progress: Progress, message: str) -> None:
        """Record the end of a run whose request ends now."""
        run = msgspec.structs.replace(progress.ended(self._now()), state="error", message=message)
        cut = {"state": "error", "ended": run.ended, "message": message}
        hooks = [msgspec.structs.replace(one, **cut) if one.state == "running" else one for one in run.hooks]
        run = msgspec.structs.replace(run, hooks=hooks)
        task = asyncio.create_task(self._save(progress.occasion.repository, run, progress.logs))
        self._saving.add(task)
        task.add_done_callback(self._saving.discard)

    async def _save(self, repository: str, run: Run, logs: dict[str, bytes]) -> None:
        try:
            await self._engine.hooks.save_run(repository, run, logs)
        except EngineError as error:
            log.warning("the end of run %s of repository %s was not recorded: %s", run.id, repository, error.message)


def root_of(settings: HookSettings) -> str:
    """The setting `hooks.url`, without a slash at its end. Raises SettingError if it is not an address of a page."""
    root = settings.url.rstrip("/")
    try:
        parts = urlsplit(root)
        usable = parts.scheme in ("http", "https") and parts.hostname and not (parts.query or parts.fragment)
    except ValueError:
        usable = False
    if root and not usable:
        raise SettingError(f"hooks.url: {root[:200]!r} is not an address: write it as https://lake.example.com")
    return root


def refusal(run: Run) -> HookRefusedError:
    """The error of a change that a run did not let land."""
    message = f"{run.event_type} hook aborted, run id '{run.id}': {run.message}"
    return HookRefusedError(message, run.id, run.state == "pending")


def _cause(hooks: Sequence[HookRun]) -> str:
    """Why a run did not pass, for the user. Empty: it passed."""
    failed = [one for one in hooks if one.state not in ("passed", "skipped", "running")]
    causes = [f"action {one.action!r}, hook {one.hook_id!r}: {one.message}" for one in failed[:_MOST_CAUSES]]
    return "; ".join(causes) + (f"; and {len(failed) - _MOST_CAUSES} more" if len(failed) > _MOST_CAUSES else "")


async def _together(jobs: Sequence[Coroutine[Any, Any, object]]) -> None:
    """Run all. If one fails, end the others and raise its error."""
    tasks = [asyncio.create_task(job) for job in jobs]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
