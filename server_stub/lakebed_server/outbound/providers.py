"""HTTP requests to the providers of sign-in, which administrators configure.

No redirects, and bounds for time and size. The proxies of the environment are used.
"""

from __future__ import annotations

from collections.abc import Mapping
from ipaddress import ip_address
from typing import Any, Final
from urllib.parse import urlsplit

import aiohttp
import msgspec

from lakebed_server.outbound.vocabulary import LARGEST, OutboundError

SECONDS: Final = 10.0


def check_url(url: str) -> str:
    """The URL, if it uses https, or http on this machine. Raises OutboundError."""
    parts = urlsplit(url)
    if parts.scheme == "https" and parts.hostname:
        return url
    if parts.scheme == "http" and parts.hostname and is_loopback(parts.hostname):
        return url
    raise OutboundError(f"{url[:200]!r} is not an https URL")


async def get_json(url: str, *, bearer: str = "") -> Any:
    """The JSON document at a URL, with a token if given. Raises OutboundError."""
    return await _json("GET", url, {"authorization": f"Bearer {bearer}"} if bearer else {})


async def post_form(url: str, fields: Mapping[str, str], basic: tuple[str, str] | None = None) -> Any:
    """The JSON answer to a form, with HTTP Basic credentials if given. Raises OutboundError."""
    auth = None if basic is None else aiohttp.BasicAuth(*basic)
    return await _json("POST", url, {}, data=dict(fields), auth=auth)


async def get_bytes(url: str) -> bytes:
    """The document at a URL. Raises OutboundError."""
    return await _body("GET", url, {"accept": "*/*"})


async def _json(method: str, url: str, headers: Mapping[str, str], **more: Any) -> Any:
    body = await _body(method, url, {"accept": "application/json", **headers}, **more)
    try:
        return msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise OutboundError(f"{method} {url}: the answer is not JSON") from None


async def _body(method: str, url: str, headers: Mapping[str, str], **more: Any) -> bytes:
    check_url(url)
    timeout = aiohttp.ClientTimeout(total=SECONDS)
    try:
        async with (
            aiohttp.ClientSession(timeout=timeout, trust_env=True) as session,
            session.request(method, url, allow_redirects=False, headers=headers, **more) as got,
        ):
            body = await got.content.read(LARGEST + 1)
            while len(body) <= LARGEST and (piece := await got.content.read(LARGEST + 1 - len(body))):
                body += piece
    except (aiohttp.ClientError, TimeoutError, OSError) as error:
        raise OutboundError(f"{method} {url}: {type(error).__name__}: {error}") from None
    if len(body) > LARGEST:
        raise OutboundError(f"{method} {url}: the answer has more than {LARGEST} bytes")
    if got.status != 200:
        raise OutboundError(f"{method} {url}: status {got.status}: {_error_of(body)}")
    return body


def _error_of(body: bytes) -> str:
    """The OAuth error code in an answer. Nothing else of it: answers may contain tokens."""
    try:
        found = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return "no JSON"
    return str(found.get("error", ""))[:100] if isinstance(found, dict) else ""


def is_loopback(host: str) -> bool:
    """Whether a host name or address is this machine's own."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
