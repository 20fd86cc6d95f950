"""Where the walk for a later page of a log can begin, so that the history before the page is not read again.

Only this process remembers it. Without it, the walk begins at the start of the log.
"""

from __future__ import annotations

from lakebed_engine.operations.context import Context, Repo, load_commit
from lakebed_engine.vocabulary.records import Commit
from lakebed_engine.vocabulary.requests import LogRequest


class Places:
    """The known places of one log: of the same first commit, with the same order of commits."""

    def __init__(self, ctx: Context, repo: Repo, start: Commit, request: LogRequest) -> None:
        self._ctx = ctx
        self._repo = repo
        self._start = start
        self._after = request.after
        self._log = (repo.partition, start.id, request.first_parent, request.since)
        self._usable = not request.stop_at  # `after` may be behind the end of this log, and is refused then

    async def beginning(self) -> Commit:
        """A commit from which a walk comes to `after`: the start of the log, if no later one is known."""
        found: str | None = self._ctx.log_places.get((*self._log, self._after)) if self._usable else None
        return self._start if found is None else await load_commit(self._ctx, self._repo, found)

    def keep(self, commit_id: str, beginning: str) -> None:
        """Remember where a walk can begin that comes to a commit."""
        self._ctx.log_places.put((*self._log, commit_id), beginning, 1)
