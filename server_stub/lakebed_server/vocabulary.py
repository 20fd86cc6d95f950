"""The server's vocabulary: ASGI types and the errors that the server itself raises."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, Final

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Header = tuple[bytes, bytes]

SendFile = Callable[[int, int, int], Awaitable[None]]
"""Sends a part of an open file as the next bytes of a response. Arguments: file descriptor, offset, count."""

SEND_FILE: Final = "lakebed.send_file"
"""The key in a request's scope for its `SendFile`, if its connection can send files."""

WITH_KEY: Final = "lakebed.with_key"
"""The key in the scope of a request whose client has shown a valid access key: its connection is not closed for
another one."""

OUR_FAULT: Final[dict[str, str]] = {
    "internal": "the server failed; its log has the details under this request id",
    "corrupt_data": "stored data is damaged; the server's log has details under this request id; run `lakebed fsck`",
    "outcome_unknown": "the store's answer was lost: the change may or may not have happened; read back to find out",
    "store_unavailable": "the store did not answer; try again later",
    "store_full": "the store has no space left or cannot be written; nothing was written partially",
}
"""The message that clients get for each kind of failure of the server."""


NO_TRACEBACK: Final = frozenset({"store_full", "store_unavailable"})
"""The failures whose message says all: a full disk must not write a traceback for each request that it refuses."""


class RequestError(Exception):
    """The server refuses a request. `kind` is one of `lakebed_wire.operations.ERROR_KINDS`."""

    def __init__(self, kind: str, message: str, headers: tuple[Header, ...] = ()) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.headers = headers


class ClientGoneError(Exception):
    """The client closed the connection before the request or the response was complete."""


class StartError(Exception):
    """The server cannot start. The message is one sentence for the person who starts it."""


class SettingError(StartError):
    """The server cannot start because a setting is wrong. The message names it. The exit code is 2, not 1."""


def bad_request(message: str) -> RequestError:
    """The error of an invalid request: 400."""
    return RequestError("invalid_request", message)


def not_implemented(message: str) -> RequestError:
    """The error of something that a later version will bring: 501."""
    return RequestError("not_implemented", message)
