"""Runs of hooks whose server stops before they have ended."""

from __future__ import annotations

import asyncio

import pytest
from lakebed_hooks import Outcome
from lakebed_hooks.action_files import parse
from lakebed_server.hooks.calling import HookCall, HookCaller
from lakebed_server.hooks.occasions import manual_event
from lakebed_server.hooks.runner import Progress, Runner
from lakebed_server.settings.hooks import HookSettings

from tests.engine.support import REPO, make_engine, run
from tests.hooks.files import named


class _SlowToEnd(HookCaller):
    """Its calls never end by themselves, and take a moment when they are cancelled, as a process does."""

    async def call(self, one: HookCall) -> Outcome:
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0.2)
        raise AssertionError("not reached")


def test_a_run_whose_request_is_cut_off_by_a_stop_is_recorded() -> None:
    async def job() -> None:
        engine = await make_engine()
        settings = HookSettings()
        runner = Runner(engine, _SlowToEnd(engine, settings), settings)
        commit = await engine.commits.get(REPO, "main")
        occasion = manual_event("pre-create-tag", REPO, "", "v1", commit, 0, "ana")
        action = parse(named("checks", "pre-create-tag"))
        progress = Progress(occasion, runner.begun(occasion), asyncio.get_running_loop().time() + 60)
        request = asyncio.create_task(runner.run(progress, [action]))
        while not progress.hooks:
            await asyncio.sleep(0)
        request.cancel()
        await asyncio.sleep(0.05)
        await runner.close()  # before the request has ended
        found = await engine.hooks.run(REPO, progress.run.id)
        assert (found.state, found.message) == ("error", "the server stopped before its hooks ended")
        assert [hook.state for hook in found.hooks] == ["error"]
        assert found.ended
        with pytest.raises(asyncio.CancelledError):
            await request
        await engine.close()

    run(job())
