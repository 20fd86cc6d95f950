"""HTTP requests to the receivers of hooks. Users choose the addresses, so there are limits to where they lead."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Final

import aiohttp
from aiohttp.abc import AbstractResolver
from yarl import URL

from lakebed_server.outbound.connector import CheckedConnector, Refused, SystemResolver
from lakebed_server.outbound.destinations import is_odd_number
from lakebed_server.outbound.vocabulary import LARGEST, Answer, ForbiddenDestination, NoAnswer

LONGEST_URL: Final = 8192

_OF_THE_CONNECTION: Final = frozenset(
    {"host", "content-length", "transfer-encoding", "connection", "keep-alive", "te", "trailer", "upgrade", "expect"}
)
"""Headers that say where a request goes and where it ends."""


class Receivers:
    """A pool of connections to receivers, for one event loop.

    `allow`: patterns of host names. If there are any, the server refuses all other hosts, and these hosts may have
    private addresses. Without patterns, it connects to public addresses only. `resolver`: how names become addresses;
    the pool closes it.
    """

    def __init__(self, allow: Sequence[str] = (), *, resolver: AbstractResolver | None = None) -> None:
        self._allow = tuple(allow)
        self._resolver = resolver
        self._session: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> Receivers:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close all connections. Requests in progress get NoAnswer."""
        if self._session is not None:
            await self._session.close()
        if self._resolver is not None:
            await self._resolver.close()

    async def request(
        self,
        method: str,
        url: str,
        *,
        seconds: float,
        headers: Mapping[str, str] | None = None,
        params: Sequence[tuple[str, str]] = (),
        body: bytes | None = None,
    ) -> Answer:
        """The answer to a request, whatever its status is. A redirect is an answer too.

        `seconds`: the most time from now to the end of the answer. Raises ForbiddenDestination if it was not sent, and
        NoAnswer. Their messages contain neither headers nor the query of the URL, which can contain secrets.
        """
        target = _target(url)
        shown = f"{method} {target.with_query(None).with_fragment(None)}"
        sent = {"accept-encoding": "identity", "user-agent": "lakebed-hooks", **_checked(headers or {})}
        try:
            for name, value in (*sent.items(), *params):
                (name + value).encode()  # a variable of the environment can have bytes that are not UTF-8
            async with self._opened().request(
                method,
                target.extend_query(params),
                data=body,
                headers=sent,
                timeout=aiohttp.ClientTimeout(total=max(seconds, 0.001)),
                allow_redirects=False,
            ) as got:
                return await _read(got)
        except Refused as error:
            raise ForbiddenDestination(f"{shown}: {error}") from None
        except TimeoutError:
            raise NoAnswer(f"{shown}: no complete answer within {seconds:.3g} s") from None
        except (aiohttp.ClientError, OSError) as error:
            raise NoAnswer(f"{shown}: {_reason(error)}") from None
        except ValueError:
            raise ForbiddenDestination(
                f"{shown}: a header or a query parameter has characters that HTTP does not allow"
            ) from None

    def _opened(self) -> aiohttp.ClientSession:
        if self._session is None:
            self._resolver = self._resolver or SystemResolver()
            self._session = aiohttp.ClientSession(
                connector=CheckedConnector(self._allow, self._resolver),
                cookie_jar=aiohttp.DummyCookieJar(),
                auto_decompress=False,  # a megabyte of gzip can be a gigabyte of text
                trust_env=False,  # a proxy would connect to any address
            )
        return self._session


def _target(url: str) -> URL:
    """The URL of a receiver. Raises ForbiddenDestination. Messages do not repeat text that may be a password."""
    try:
        target = URL(url) if len(url.encode()) <= LONGEST_URL else URL()
    except ValueError:
        target = URL()
    if target.scheme not in ("http", "https") or not target.raw_host or not target.port:
        raise ForbiddenDestination("the address of a hook must be an http or https URL, such as https://example.com/x")
    if target.raw_user is not None or target.raw_password is not None:
        raise ForbiddenDestination(
            f"{target.scheme}://{target.raw_host}: remove the user name and password from the URL. Use a header with a "
            "secret instead"
        )
    if is_odd_number(target.raw_host):
        raise ForbiddenDestination(f"{target.raw_host!r} is a number. Write a host name or an IP address")
    return target


def _checked(headers: Mapping[str, str]) -> dict[str, str]:
    """The headers with names in lower case."""
    lower = {name.lower(): value for name, value in headers.items()}
    if wrong := sorted(_OF_THE_CONNECTION.intersection(lower)):
        raise ForbiddenDestination(f"a hook cannot set the header {wrong[0]!r}")
    return lower


async def _read(got: aiohttp.ClientResponse) -> Answer:
    body = bytearray()
    while len(body) <= LARGEST and (piece := await got.content.read(LARGEST + 1 - len(body))):
        body += piece
    whole = len(body) <= LARGEST
    if not whole:
        got.close()  # the rest is not read, so the connection cannot be used again
    headers = {name.lower(): value for name, value in got.headers.items()}
    return Answer(got.status, got.reason or "", headers, bytes(body[:LARGEST]), whole)


def _reason(error: Exception) -> str:
    """Why there is no answer. Without the text of errors of HTTP: it quotes the answer, which may repeat a secret."""
    match error:
        case aiohttp.ClientConnectorDNSError():
            return "the name of the host has no address"
        case aiohttp.ClientConnectorCertificateError():
            return f"the certificate of the receiver is not valid: {error.certificate_error}"
        case aiohttp.ClientConnectorSSLError():
            return "the TLS handshake with the receiver failed"
        case OSError(errno=int(number)):
            return f"the connection failed: {os.strerror(number)}"
        case aiohttp.ServerDisconnectedError() | aiohttp.ClientPayloadError() | aiohttp.ClientConnectionError():
            return "the receiver closed the connection before the answer was complete"
        case _:
            return f"the answer is not HTTP ({type(error).__name__})"
