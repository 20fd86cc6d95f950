# Generated from sdk/lakebed/_async/http/attempts.py by tools/unasync_sdk.py - do not edit.
# ruff: noqa: RUF100, UP028
"""Send a request again while that can help."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from lakebed._compat.sync import Job, sleep
from lakebed._http import retry

T = TypeVar("T")


def repeated(
    policy: retry.Policy,
    attempt: Job[T],
    may_repeat: Callable[[BaseException], bool] = retry.wants_more,
) -> T:
    """Call `attempt` until it succeeds or the policy ends. Raises the error of the last attempt.

    Most requests need one attempt, so tenacity is imported for the second: that import takes 20 ms.
    """
    try:
        return attempt()
    except retry.Failed as failure:
        if not may_repeat(failure):
            raise failure.error from failure.__cause__
        first = failure
    try:
        return _more(policy, attempt, may_repeat, first)
    except retry.Failed as failure:
        raise failure.error from failure.__cause__


def _more(
    policy: retry.Policy,
    attempt: Job[T],
    may_repeat: Callable[[BaseException], bool],
    first: retry.Failed,
) -> T:
    from tenacity import Retrying, retry_if_exception

    failures = [first]

    def go_on() -> T:
        if failures:  # for tenacity, the failure that is known is the first attempt
            raise failures.pop()
        return attempt()

    attempts = Retrying(
        sleep=_sleep,
        stop=lambda state: retry.is_over(policy, state),
        wait=lambda state: retry.pause(policy, state),
        retry=retry_if_exception(may_repeat),
        reraise=True,
    )
    result: T = attempts(go_on)
    return result


def _sleep(seconds: float) -> None:
    sleep(seconds)
