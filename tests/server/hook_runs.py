"""Runs of hooks on request, for tests of a server that has no hooks."""

from __future__ import annotations

from lakebed_engine.engine import Engine
from lakebed_engine.vocabulary.hooks import Run


class RunsOfNoHooks:
    """Runs on request, in which no hook is called."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    async def run_now(
        self, repo: str, event_type: str, ref: str, action: str = "", branch: str = "", rerun_of: str = ""
    ) -> Run:
        """Store a run of the commit at a ref."""
        commit = await self._engine.commits.get(repo, ref)
        made = Run(
            id=self._engine.hooks.new_run_id(),
            event_type=event_type,
            branch=branch,
            rules_of=branch,
            source_ref=ref,
            commit_id=commit.id,
            started=3.0,
            ended=4.0,
            state="passed",
            message=action,
            rerun_of=rerun_of,
        )
        await self._engine.hooks.save_run(repo, made)
        return made
