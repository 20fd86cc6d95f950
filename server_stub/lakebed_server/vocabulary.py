"""The server's words: ASGI types and the errors that the server itself raises.

The bottom of the server: imports nothing of ours. Errors of the engine pass through untouched.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Header = tuple[bytes, bytes]


class RequestError(Exception):
    """The server itself refuses a request. `kind` is one of `lakebed_wire.operations.ERROR_KINDS`."""

    def __init__(self, kind: str, message: str, headers: tuple[Header, ...] = ()) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.headers = headers


class ClientGoneError(Exception):
    """The client closed the connection before the request or the response was complete. Nobody is there to answer."""


class StartError(Exception):
    """The server cannot start. The message is one sentence for the person who started it."""


def bad_request(message: str) -> RequestError:
    """A request that cannot be meant: 400."""
    return RequestError("invalid_request", message)


def not_implemented(message: str) -> RequestError:
    """Something that a later version brings: 501."""
    return RequestError("not_implemented", message)
