"""Connections to allowed hosts and addresses only.

The check is where the connection is made: it sees the host and the address of this connection. So neither a DNS answer
that changes nor a difference between two parsers of URLs can avoid it.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult
from aiohttp.connector import Connection

from lakebed_server.outbound.destinations import is_listed, refusal

CONNECTIONS: Final = 64
"""The most requests of a server process at the same time. The next one waits."""
IDLE_SECONDS: Final = 1.0
"""Most receivers close an idle connection after two seconds or more. A request must not meet such a close."""
RESOLVER_THREADS: Final = 32


class Refused(Exception):
    """The message says what is refused and why. It is not an OSError: aiohttp tries another address after those."""


class CheckedConnector(aiohttp.TCPConnector):
    """Checks the host, the address before the connection, and the peer before the request is sent.

    `allow`: as for `Receivers`. `resolver`: how names become addresses.
    """

    def __init__(self, allow: Sequence[str], resolver: AbstractResolver) -> None:
        super().__init__(
            limit=CONNECTIONS,
            keepalive_timeout=IDLE_SECONDS,
            resolver=_CheckedResolver(resolver, self._why_not),
            use_dns_cache=False,
            socket_factory=self._socket,
        )
        self._allow = tuple(allow)

    async def connect(
        self, req: aiohttp.ClientRequest, traces: list[Any], timeout: aiohttp.ClientTimeout
    ) -> Connection:
        """A connection, new or used before. Raises Refused."""
        host, port = req.url.raw_host or "", req.url.port or 0
        if self._allow and not is_listed(host, port, self._allow):
            raise Refused(f"the host {host!r} with port {port} is not in `hooks.webhook.allow` of the server")
        connection = await super().connect(req, traces, timeout)
        try:
            transport = connection.transport
            self._check(str(transport.get_extra_info("peername")[0]) if transport is not None else "")
        except BaseException:
            connection.close()
            raise
        return connection

    def _socket(self, address: aiohttp.AddrInfoType) -> socket.socket:
        """The socket for an address that comes from a name or is the host of a URL."""
        family, kind, protocol, _, where = address
        self._check(str(where[0]))
        return socket.socket(family, kind, protocol)

    def _check(self, address: str) -> None:
        if why := self._why_not(address):
            raise _refused(address, why)

    def _why_not(self, address: str) -> str:
        return refusal(address, private=bool(self._allow))


def _refused(address: str, why: str) -> Refused:
    return Refused(
        f"the server does not connect to {address}, because this address is {why}. "
        "The setting `hooks.webhook.allow` has the hosts that may have private addresses"
    )


class _CheckedResolver(AbstractResolver):
    """Leaves out forbidden addresses. Raises Refused if there are no others."""

    def __init__(self, resolver: AbstractResolver, why_not: Callable[[str], str]) -> None:
        self._resolver = resolver
        self._why_not = why_not

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        """The addresses of a name to which the server may connect."""
        found = await self._resolver.resolve(host, port, family)
        allowed = [one for one in found if not self._why_not(one["host"])]
        if not found:
            raise OSError(f"{host} has no address")
        if not allowed:
            raise _refused(found[0]["host"], self._why_not(found[0]["host"]))
        return allowed

    async def close(self) -> None:
        """Close the resolver below."""
        await self._resolver.close()


class SystemResolver(AbstractResolver):
    """Names as the C library resolves them, in threads of its own: users choose the names, and their DNS may hang."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(RESOLVER_THREADS, thread_name_prefix="hook-dns")

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        """The addresses of a name. Raises OSError."""
        found = await asyncio.get_running_loop().run_in_executor(
            self._threads, lambda: socket.getaddrinfo(host, port, family=family, type=socket.SOCK_STREAM)
        )
        return [
            ResolveResult(hostname=host, host=str(where[0]), port=int(where[1]), family=found_family, proto=0, flags=0)
            for found_family, _, _, _, where in found
        ]

    async def close(self) -> None:
        """End the threads that do not wait for DNS."""
        self._threads.shutdown(wait=False, cancel_futures=True)
