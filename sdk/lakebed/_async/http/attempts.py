"""Send a request again while that can help."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from lakebed._compat.aio import Job, sleep
from lakebed._http import retry

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
        if failures:  # for tenacity, the failure that is known is the first attempt
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
