"""The answer to a request, and the errors of a request that got none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

LARGEST: Final = 1 << 20
"""The most bytes of an answer that the server reads."""


class OutboundError(Exception):
    """The other server did not answer as it should. The message is for the log and for administrators."""


class ForbiddenDestination(OutboundError):
    """The server must not send this request. The same request is refused again."""


class NoAnswer(OutboundError):
    """No complete answer arrived in time. Whether the other server got the request is unknown."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer of another server. `headers`: names in lower case. `whole`: false if the body is cut at `LARGEST`."""

    status: int
    reason: str
    headers: Mapping[str, str]
    body: bytes
    whole: bool
