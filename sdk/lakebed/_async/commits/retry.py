"""A commit with a key, as a flow: retries it while that can help, and finds its outcome if the response was lost.

Each commit has a random key. The server remembers it together with the commit, so a retry is safe: it either creates
the commit or returns the existing one. Staged objects are never written again.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING

from lakebed._async.commits import recover
from lakebed._async.http.target import Target
from lakebed._async.http.transport import Body
from lakebed._compat.aio import sleep
from lakebed._gateway.operations import workspaces
from lakebed._http import retry
from lakebed._values.wire import Call
from lakebed._values.workspaces import SEARCHED
from lakebed.errors import (
    CommitStateUnknownError,
    ConcurrentCommitError,
    LakebedError,
    OutcomeUnknownError,
    ProtocolError,
    ServerUnavailableError,
    ThrottledError,
)
from lakebed.model import Commit, CommitAttempt

if TYPE_CHECKING:
    from tenacity import RetryCallState

log = logging.getLogger("lakebed.workspace")


class Advance:
    """One commit of a workspace, or, with a `body` that contains the changes, of a branch."""

    def __init__(
        self,
        target: Target,
        call: Call[Commit],
        key: str,
        *,
        policy: str,
        retry_for: float,
        on_attempt: Callable[[CommitAttempt], None] | None,
        asked_before: bool = False,
        body: Body | None = None,
    ) -> None:
        self._target = target
        self._call = call
        self._key = key
        self._policy = policy
        self._retry_for = retry_for
        self._on_attempt = on_attempt
        self._lost = asked_before  # whether a response was lost, now or in an earlier call with the same key
        self._body = body

    async def run(self) -> Commit:
        """Commit. Raises the server's error, or CommitStateUnknownError if the outcome remains unknown."""
        from tenacity import AsyncRetrying, retry_if_exception  # 20 ms, which reading commands do not need

        attempts = AsyncRetrying(
            sleep=self._sleep,
            stop=lambda state: (state.seconds_since_start or 0.0) >= self._retry_for,
            wait=lambda state: retry.pause(self._target.transport.policy, state),
            retry=retry_if_exception(self._again),
            before_sleep=self._tell,
            reraise=True,
        )
        try:
            commit: Commit = await attempts(self._once)
        except retry.Failed as failure:
            return await self._settled(failure.error)
        return commit

    async def _once(self) -> Commit:
        try:
            return await self._target.transport.once(self._call, self._body)
        except ProtocolError as error:  # an unreadable success response counts as lost
            unknown = OutcomeUnknownError(error.message, status=error.status, **retry.about(self._call))
            raise retry.Failed(unknown, again=True) from error

    async def _sleep(self, seconds: float) -> None:
        await sleep(seconds)

    def _again(self, error: BaseException) -> bool:
        """Whether another attempt may succeed. After a lost response, the next attempt uses the same key."""
        if not isinstance(error, retry.Failed):
            return False
        if isinstance(error.error, OutcomeUnknownError):
            self._lost = True
        if self._body is not None and not self._body.replayable:
            return False
        if isinstance(error.error, OutcomeUnknownError):
            return True
        if isinstance(error.error, ConcurrentCommitError):
            return self._policy != "abort" and not error.error.conflicts  # without paths it only lost a race
        return error.again

    def _tell(self, state: RetryCallState) -> None:
        failure = state.outcome.exception() if state.outcome else None
        error = failure.error if isinstance(failure, retry.Failed) else LakebedError(str(failure))
        pause = state.next_action.sleep if state.next_action else 0.0
        attempt = CommitAttempt(state.attempt_number, error, state.seconds_since_start or 0.0, pause)
        where = self._call.subject
        log.info("attempt %d to commit %s failed, next in %.2f s: %s", attempt.number, where, attempt.pause, error)
        if self._on_attempt is not None:
            self._on_attempt(attempt)

    async def _settled(self, error: LakebedError) -> Commit:
        """After the last attempt: if a response was lost, find the outcome."""
        if not self._lost:
            raise error
        if self._body is not None and isinstance(error, OutcomeUnknownError):  # the server may still be working
            return await recover.settle(self._target, self._key, error)
        found, trouble = await self._find()
        if found is not None:
            return found
        silent = isinstance(error, OutcomeUnknownError | ServerUnavailableError | ThrottledError)
        if not silent and not trouble:
            raise error  # the server knows the key and has refused since then: the lost attempt did nothing
        subject = self._call.subject
        failure = CommitStateUnknownError(
            f"the commit of {subject} may or may not have happened: a response was lost, and for {self._retry_for:g} s "
            f"the server did not report the outcome{trouble}. {self._advice()}",
            status=error.status,
            request_id=error.request_id,
            operation=self._call.operation,
            repository=subject.repository,
            ref=subject.ref,
        )
        failure.operation_id = self._key
        raise failure from error

    def _advice(self) -> str:
        if self._body is not None:
            return f'Do not repeat it without a check; ask later with branch.find_operation("{self._key}")'
        again = f'workspace.commit(..., idempotency_key="{self._key}")'
        return f"No staged change is lost. Repeat the call with the same key: {again} makes at most one commit"

    async def _find(self) -> tuple[Commit | None, str]:
        """Search the history of the branch for the operation id. The second value says why the search failed."""
        branch = self._target
        try:
            if self._body is None:
                branch = branch.at((await branch.transport.call(workspaces.get(branch.repository, branch.ref))).branch)
            commit = await recover.find(branch, self._key, SEARCHED)
        except LakebedError as error:
            return None, f"; the last check failed: {error.message}"
        return commit, ""
