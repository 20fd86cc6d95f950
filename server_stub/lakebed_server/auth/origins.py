"""Refuses requests that another site made a browser send. docs/decisions/0040 has the reasons. Pure.

A browser adds cookies and remembered passwords to the requests of any page. It also says which page asked: in
`Sec-Fetch-Site`, which no script can set, and in `Origin`. Programs send neither.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from lakebed_server.vocabulary import RequestError

SAFE: Final = frozenset(("GET", "HEAD", "OPTIONS"))
"""The methods that change nothing."""


def refuse_foreign(headers: Mapping[bytes, bytes]) -> None:
    """Raise RequestError (403) when a page of another origin sent this request."""
    site = headers.get(b"sec-fetch-site")
    if site is not None:
        # also `same-site`: another port or subdomain is another origin, and its cookies come along
        if site.strip().lower() not in (b"same-origin", b"none"):
            raise _refused(f"Sec-Fetch-Site is {_shown(site)}")
        return
    origin = headers.get(b"origin")
    # without the scheme: behind a proxy that ends TLS it differs
    if origin is not None and (origin.partition(b"://")[2].lower() or None) != headers.get(b"host", b"").lower():
        raise _refused(f"Origin is {_shown(origin)}")


def is_browser(headers: Mapping[bytes, bytes]) -> bool:
    """Whether a browser sent this. Over plain HTTP only `User-Agent` shows it."""
    return b"sec-fetch-mode" in headers or b"mozilla/" in headers.get(b"user-agent", b"").lower()


def _shown(value: bytes) -> str:
    return repr(value[:100].decode("latin-1"))


def _refused(why: str) -> RequestError:
    return RequestError(
        "foreign_origin",
        f"a page of another origin may not change anything here ({why}): send the request from the server of that "
        "page, or without these headers",
    )
