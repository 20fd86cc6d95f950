"""The server's own handlers, with faults before or after them.

A fault acts as the server itself would: its errors go through the one place that turns errors into answers. A dropped
answer is dropped after the handler has finished its work.
"""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from typing import Any, NamedTuple, NoReturn

from lakebed_engine.vocabulary.errors import ConcurrentCommitError, Conflict
from lakebed_server.http.request import Call
from lakebed_server.http.responses import Reply
from lakebed_server.rest.errors import respond
from lakebed_server.rest.operation_handlers import HANDLERS, Handler
from lakebed_server.transport.protocol import Protocol
from lakebed_server.vocabulary import ClientGoneError, Receive, RequestError, Scope

from lakebed_testing.faults import Fault, Faults

_TRANSPORT = "lakebed_testing.transport"


class Connection(NamedTuple):
    """The connection of the current request: how to close it, and how to see that it is closed."""

    transport: Any
    receive: Receive

    async def drop(self) -> NoReturn:
        """Close the connection without an answer. Raises ClientGoneError, which the server handles as usual."""
        # closing is not enough: a child that the test process forked may hold the same socket
        with socket.socket(fileno=os.dup(self.transport.get_extra_info("socket").fileno())) as same:
            same.shutdown(socket.SHUT_RDWR)
        self.transport.abort()
        while (await self.receive())["type"] != "http.disconnect":
            pass
        raise ClientGoneError


CONNECTION: ContextVar[Connection] = ContextVar("lakebed_testing.connection")
"""Set for each request, in the task of the request."""


class FaultyProtocol(Protocol):
    """The server's protocol. It adds the transport to the scope of a request."""

    def on_message_begin(self) -> None:
        """Called when a request begins."""
        super().on_message_begin()
        self.scope[_TRANSPORT] = self.transport  # type: ignore[literal-required]


def connection_of(scope: Scope, receive: Receive) -> Connection:
    """The connection of a request."""
    return Connection(scope[_TRANSPORT], receive)


def with_faults(faults: Faults, handlers: Mapping[str, Handler] = HANDLERS) -> dict[str, Handler]:
    """The handlers, each of which first checks for an armed fault."""
    return {name: _guarded(name, handler, faults) for name, handler in handlers.items()}


def _guarded(name: str, handler: Handler, faults: Faults) -> Handler:
    async def guarded(call: Call, *values: object) -> Reply:
        fault = faults.take(name)
        if fault is None:
            return await handler(call, *values)
        return await _befall(fault, call, lambda: handler(call, *values))

    return guarded


async def _befall(fault: Fault, call: Call, run: Callable[[], Any]) -> Reply:
    match fault.kind:
        case "delay":
            await asyncio.sleep(fault.seconds)
        case "drop_request":
            await CONNECTION.get().drop()
        case "drop_answer":
            await _run(call, run)
            await CONNECTION.get().drop()
        case "throttle":
            raise RequestError("throttled", "too many requests: a fault of the test", _retry_after(fault))
        case "unavailable":
            raise RequestError("store_unavailable", "the store is down: a fault of the test", _retry_after(fault))
        case "conflict":
            raise ConcurrentCommitError(
                "another commit was first: a fault of the test",
                [Conflict(path, None, None, None) for path in fault.paths],
            )
    reply: Reply = await run()
    return reply


async def _run(call: Call, run: Callable[[], Any]) -> None:
    """Run a handler to its end. Ignores refusals. `respond` logs unexpected errors as always."""
    try:
        await run()
    except ClientGoneError:
        raise
    except Exception as error:
        respond(error, call)


def _retry_after(fault: Fault) -> tuple[tuple[bytes, bytes], ...]:
    return ((b"retry-after", b"%d" % fault.seconds),)
