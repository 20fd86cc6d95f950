"""Retries requests, and checks the body of each attempt while it is sent."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Any, TypeVar

from lakebed._compat.aio import Job, sleep
from lakebed._http import retry
from lakebed._values.wire import Call

T = TypeVar("T")


async def repeated(
    policy: retry.Policy,
    attempt: Job[T],
    may_repeat: Callable[[BaseException], bool] = retry.wants_more,
) -> T:
    """Call `attempt` until it succeeds or the policy ends. Raises the error of the last attempt.

    Most requests need one attempt, so tenacity is imported for the second: that import takes 20 ms.
    """
    try:
        return await attempt()
    except retry.Failed as failure:
        if not may_repeat(failure):
            raise failure.error from failure.__cause__
        first = failure
    try:
        return await _more(policy, attempt, may_repeat, first)
    except retry.Failed as failure:
        raise failure.error from failure.__cause__


async def _more(
    policy: retry.Policy,
    attempt: Job[T],
    may_repeat: Callable[[BaseException], bool],
    first: retry.Failed,
) -> T:
    from tenacity import AsyncRetrying, retry_if_exception

    failures = [first]

    async def go_on() -> T:
        if failures:  # for tenacity, the known failure is the first attempt
            raise failures.pop()
        return await attempt()

    attempts = AsyncRetrying(
        sleep=_sleep,
        stop=lambda state: retry.is_over(policy, state),
        wait=lambda state: retry.pause(policy, state),
        retry=retry_if_exception(may_repeat),
        reraise=True,
    )
    result: T = await attempts(go_on)
    return result


async def _sleep(seconds: float) -> None:
    await sleep(seconds)


class LengthChanged(Exception):
    """The source has more or fewer bytes than it stated before the request."""


class SentBody:
    """A request body while it is sent. HTTP libraries hide the error of a source behind their own: `error` keeps it."""

    def __init__(self, source: AsyncIterator[bytes], size: int | None) -> None:
        self._source = source
        self._size = size
        self.error: Exception | None = None

    async def pieces(self) -> AsyncIterator[bytes]:
        """The body. Raises LengthChanged before an extra byte is sent, or at the end if bytes are missing."""
        sent = 0
        try:
            async for piece in self._source:
                sent += len(piece)
                if self._size is not None and sent > self._size:
                    raise LengthChanged
                yield piece
            if self._size is not None and sent < self._size:
                raise LengthChanged
        except Exception as error:
            self.error = error
            raise


def source_error(call: Call[Any], error: Exception) -> Exception:
    """The error to raise when the source of a body fails: an error of the call if the length is wrong, else its own."""
    return retry.length_changed(call) if isinstance(error, LengthChanged) else error
