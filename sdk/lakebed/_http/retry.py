"""Decides which requests are repeated, and after which time. The transport does the waiting.

The rule: a request is repeated when the server certainly has not acted on it (it was never sent, or the server refused
it with 429 or 503), or when doing it twice has the same effect as once. Any other request whose answer is lost raises
`OutcomeUnknownError`. Then the caller reads the state to find out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lakebed._gateway import error_answers
from lakebed._http import trust
from lakebed._http.exchange import BadAddressError, BadRequestError, HttpError, NotConnectedError, UndecodableError
from lakebed._values.wire import Answer, Call
from lakebed.errors import (
    ConcurrentCommitError,
    ConfigurationError,
    CorruptTransferError,
    InvalidRequestError,
    LakebedError,
    OutcomeUnknownError,
    ProtocolError,
    ServerUnavailableError,
    ThrottledError,
)

if TYPE_CHECKING:
    from tenacity import RetryCallState


@dataclass(frozen=True, slots=True)
class Policy:
    """The number of attempts and the pauses. A pause is random below `base * 2**n` seconds, and at most `cap`."""

    attempts: int = 6
    race_attempts: int = 40
    """Attempts of commits and merges that lose races. Another writer wins each lost race, so it pays to repeat often.
    """

    base: float = 0.1
    cap: float = 5.0
    longest_asked: float = 60.0
    """Longest `Retry-After` in seconds that the SDK obeys. A caller must not sleep for an hour without knowing."""

    settle_waits: tuple[float, ...] = (0.1, 0.3, 1.0, 2.0, 4.0, 8.0, 15.0)
    """Pauses in seconds between the checks for a commit whose answer was lost. The server may still work on the
    request.
    """


class Failed(Exception):
    """One failed attempt: the error to raise in the end, and whether to try again first."""

    def __init__(self, error: LakebedError, *, again: bool, asked: float | None = None, race: bool = False) -> None:
        super().__init__(error)
        self.error = error
        self.again = again
        self.asked = asked
        self.race = race


def refused(call: Call[Any], answer: Answer) -> Failed:
    """An answer with an error status."""
    error = error_answers.error_of(call, answer)
    safe = call.repeat == "safe"
    if isinstance(error, ThrottledError):
        race = call.races and error.kind == "too_many_attempts"
        return Failed(error, again=True, asked=error.retry_after, race=race)
    if isinstance(error, ConcurrentCommitError):
        # A branch commit or a merge needs no particular head: sent again, the server plans it on the new head.
        return Failed(error, again=call.races, race=True)
    if isinstance(error, OutcomeUnknownError):  # also with 503: a stopping server may have started the work
        return Failed(error, again=safe, asked=error_answers.retry_after(answer.headers))
    if answer.status == 503:
        return Failed(error, again=True, asked=error_answers.retry_after(answer.headers))
    if answer.status in (502, 504):
        return Failed(error if safe else _unknown(call, str(error), answer.status), again=safe)
    return Failed(error, again=False)


def broken(call: Call[Any], cause: HttpError, address: str) -> Failed:
    """An attempt that ended without an answer."""
    said = str(cause)
    if isinstance(cause, NotConnectedError):
        hint = trust.explained(said)
        return Failed(unreachable(call, f"cannot connect to {address}: {said}{hint}"), again=not hint)
    if isinstance(cause, BadAddressError):
        return Failed(ConfigurationError(f"cannot use the endpoint {address}: {said}"), again=False)
    if isinstance(cause, BadRequestError):
        text = f"cannot send the request to {call.action} {call.subject}: {said}"
        return Failed(InvalidRequestError(text, **about(call)), again=False)
    if isinstance(cause, UndecodableError):
        return Failed(
            ProtocolError(f"cannot decode the response to {call.action!r} on {call.subject}: {said}", **about(call)),
            again=False,
        )
    text = f"the connection to {address} was lost during {call.action!r} on {call.subject}: {said}"
    if call.repeat == "safe":
        return Failed(unreachable(call, f"{text}; try again"), again=True)
    return Failed(_unknown(call, text, None), again=False)


def length_changed(call: Call[Any]) -> Failed:
    """The source of the body had more or fewer bytes than announced."""
    text = f"cannot {call.action} {call.subject}: the length of the data changed while it was sent"
    return Failed(CorruptTransferError(text, **about(call)), again=False)


def unreachable(call: Call[Any], text: str) -> ServerUnavailableError:
    """The server does not answer."""
    return ServerUnavailableError(text, **about(call))


def _unknown(call: Call[Any], why: str, status: int | None) -> OutcomeUnknownError:
    return OutcomeUnknownError(
        f"the outcome of {call.action!r} on {call.subject} is unknown ({why}): the server may have done it; "
        "check before you repeat it",
        status=status,
        **about(call),
    )


def about(call: Call[Any]) -> dict[str, Any]:
    """Return the subject of a request as arguments of an error."""
    subject = call.subject
    return {
        "operation": call.operation,
        "repository": subject.repository,
        "ref": subject.ref,
        "path": subject.path,
    }


def wants_more(error: BaseException) -> bool:
    """For tenacity: whether to make another attempt."""
    return isinstance(error, Failed) and error.again


def is_over(policy: Policy, state: RetryCallState) -> bool:
    """For tenacity: whether the attempts are used up."""
    failure = state.outcome.exception() if state.outcome else None
    race = isinstance(failure, Failed) and failure.race
    return state.attempt_number >= (policy.race_attempts if race else policy.attempts)


def pause(policy: Policy, state: RetryCallState) -> float:
    """For tenacity: seconds to wait. At least what the server asked for, up to `longest_asked`."""
    from tenacity import wait_random_exponential

    failure = state.outcome.exception() if state.outcome else None
    asked = failure.asked if isinstance(failure, Failed) and failure.asked is not None else 0.0
    drawn = wait_random_exponential(multiplier=policy.base, max=policy.cap)(state)
    return drawn + min(asked, policy.longest_asked)
