"""The API below `/api/v1`: one request from its first byte to the last of the answer.

Above everything but `app`. Pure ASGI, without middleware, since each layer costs every request: trie, then
authentication, then binding, then the handler. Whatever is raised becomes a response in `errors`.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from lakebed_engine.stores.objects.base import CHUNK
from lakebed_wire.operations import API_PREFIX, OPERATIONS, Operation

from lakebed_server import bindings, elsewhere
from lakebed_server.binder import Binder
from lakebed_server.bindings import Handler
from lakebed_server.call import Call, Services
from lakebed_server.errors import respond
from lakebed_server.logs import RequestLog
from lakebed_server.negotiation import negotiated
from lakebed_server.reply import Reply, StreamReply
from lakebed_server.routing import Trie
from lakebed_server.vocabulary import (
    ClientGoneError,
    Message,
    Receive,
    RequestError,
    Scope,
    Send,
    bad_request,
    not_implemented,
)

log = logging.getLogger("lakebed.server")

JSON_LIMIT = 10 << 20
CLIENT_GONE = 499  # never sent: what the log says when nobody was there to answer

_DRAIN_FIRST = 256 << 10  # a body as short as this is read to its end, and the connection lives on
_DRAIN_MOST = 16 << 20  # so much of a longer one is read while the answer is on its way
_DRAIN_SECONDS = 5.0


class Route(NamedTuple):
    """An operation, ready to be called."""

    operation: Operation
    binder: Binder
    handler: Handler


class Api:
    """The ASGI application for paths below `/api/v1` (below `root_path`, when a proxy adds one)."""

    def __init__(
        self,
        services: Services,
        *,
        json_limit: int = JSON_LIMIT,
        request_log: RequestLog | None = None,
        operations: Iterable[Operation] = OPERATIONS,
        handlers: Mapping[str, Handler] | None = None,
    ) -> None:
        if handlers is None:
            handlers = bindings.HANDLERS
        bindings.check(operations)
        self._services = services
        self._log = request_log or RequestLog()
        self._trie = Trie(
            (operation.method, operation.path, _route(operation, json_limit, handlers)) for operation in operations
        )
        version = services.installation.version.encode()
        self._headers = [
            (b"server", b"lakebed/" + version),
            (b"x-content-type-options", b"nosniff"),
            (b"x-frame-options", b"SAMEORIGIN"),
        ]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request. Raises nothing but cancellation."""
        call = Call(scope, receive, self._services)
        exchange = Exchange(call, send, self._headers)
        try:
            try:
                await exchange.send(await negotiated(call, await self._answer(call, scope)), receive)
            except (ClientGoneError, asyncio.CancelledError):
                raise
            except Exception as error:
                if exchange.status:
                    raise
                await exchange.send(respond(error, call), receive)
        except ClientGoneError:
            exchange.status = exchange.status or CLIENT_GONE
        except Exception:
            # the status is out: all that is left is to break off, so that nobody takes the part for the whole
            log.exception("a response broke off", extra={"request_id": call.request_id})
        finally:
            self._log_request(call, exchange)

    async def _answer(self, call: Call, scope: Scope) -> Reply:
        path = _below_prefix(call.path, scope.get("root_path", ""))
        try:
            route, raw = self._trie.find(call.method, path)
        except RequestError as error:
            raise elsewhere.refusal(call.method, path, error) from None
        operation = route.operation
        call.operation = operation.operation_id
        if operation.security:
            call.user = await self._services.authenticator.authenticate(call.headers)
        binder = route.binder
        params = binder.params(raw, scope["query_string"], call.headers)
        if operation.body is None:
            return await route.handler(call, params)
        return await route.handler(call, params, await binder.body(call.body, call.headers))

    def _log_request(self, call: Call, exchange: Exchange) -> None:
        seconds = time.perf_counter() - call.started
        if not self._log.wants(call.method, exchange.status, seconds):
            return
        fields: dict[str, object] = {
            "method": call.method,
            "path": call.path.decode("ascii", "backslashreplace"),
            "operation": call.operation,
            "status": exchange.status,
            "ms": round(seconds * 1000, 2),
            "received": call.body.received,
            "sent": exchange.sent,
            "user": call.user,
            "request_id": call.request_id,
        }
        self._log.write(fields, exchange.status)


class Exchange:
    """The way out: sends one reply and knows how far it came."""

    __slots__ = ("_call", "_common", "_send", "sent", "status")

    def __init__(self, call: Call, send: Send, common: list[tuple[bytes, bytes]]) -> None:
        self._call = call
        self._send = send
        self._common = common
        self.status = 0  # 0 until the first byte is out
        self.sent = 0

    async def send(self, reply: Reply, receive: Receive) -> None:
        """Send a reply. Raises ClientGoneError when the client leaves a long one."""
        if isinstance(reply, StreamReply):
            await self._stream(reply, receive)
        elif self._call.body.finished:
            await self._start(reply)
            self.sent = len(reply.body)
            await self._send({"type": "http.response.body", "body": reply.body})
        else:
            await self._send_early(reply)

    async def _start(self, reply: Reply, *extra: tuple[bytes, bytes]) -> None:
        headers = [*self._common, (b"x-request-id", self._call.request_id.encode()), *reply.headers, *extra]
        if reply.status not in (204, 304):
            headers.append((b"content-length", b"%d" % reply.length))
        self.status = reply.status
        await self._send({"type": "http.response.start", "status": reply.status, "headers": headers})

    async def _stream(self, reply: StreamReply, receive: Receive) -> None:
        async with reply.source as chunks:  # entered first: what is gone is still an error with a status
            await self._start(reply)
            # the server drops what is sent to a client that left; only `receive` tells
            gone = asyncio.ensure_future(_gone(receive)) if reply.length > CHUNK else None
            try:
                async for chunk in chunks:
                    self.sent += len(chunk)
                    more = self.sent < reply.length
                    await self._send({"type": "http.response.body", "body": chunk, "more_body": more})
                    if gone is not None and gone.done():
                        raise ClientGoneError
            finally:
                if gone is not None:
                    gone.cancel()
        if self.sent < reply.length:
            raise EOFError(f"the store gave {self.sent} bytes of {reply.length}")

    async def _send_early(self, reply: Reply) -> None:
        """Answer while the client is still sending.

        Closing at once would reset the connection, and the client might never see the answer. So a short rest is read
        first; of a long one, a bounded part is read while the answer is already out, and then the connection is closed.
        """
        body = self._call.body
        waits = not body.touched and self._call.headers.get(b"expect", b"").lower() == b"100-continue"
        short = body.length is not None and body.length - body.received <= _DRAIN_FIRST
        if short and not waits and await body.drain(_DRAIN_FIRST, _DRAIN_SECONDS):
            await self.send(reply, _never)
            return
        await self._start(reply, (b"connection", b"close"))
        self.sent = len(reply.body)
        await self._send({"type": "http.response.body", "body": reply.body, "more_body": True})
        if not waits:
            await body.drain(_DRAIN_MOST, _DRAIN_SECONDS)
        await self._send({"type": "http.response.body", "body": b""})


def _route(operation: Operation, json_limit: int, handlers: Mapping[str, Handler]) -> Route:
    name = operation.operation_id
    handler = handlers.get(name) or _planned(bindings.PLANNED.get(name, ""))
    return Route(operation, Binder(operation, json_limit), handler)


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _never() -> Message:
    raise AssertionError("a whole reply reads nothing")


def _below_prefix(path: bytes, root_path: str) -> str:
    try:
        text = path.decode("ascii")
    except UnicodeDecodeError:
        raise bad_request("the path must be percent-encoded") from None
    return text.removeprefix(root_path).removeprefix(API_PREFIX)


def _planned(what: str) -> Handler:
    async def handler(call: Call, *_: object) -> Reply:
        raise not_implemented(f"{call.operation} is not here yet: {what}")

    return handler
