"""What the pages of all sign-ins share: the beginning, the end with a cookie or code, and `/logout`."""

from __future__ import annotations

import contextlib
import html
import logging
import re
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Final
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from lakebed_server.auth.records import User
from lakebed_server.auth.sessions import SignInClient
from lakebed_server.auth.tokens import cookie_name
from lakebed_server.http.request import Services
from lakebed_server.network.clients import client_of
from lakebed_server.outbound import OutboundError
from lakebed_server.signin import state
from lakebed_server.signin.browser import BrowserSignIn
from lakebed_server.signin.recorded import note_user
from lakebed_server.signin.state import Program
from lakebed_server.vocabulary import RequestError

log = logging.getLogger("lakebed.server")

LOGOUT: Final = "/logout"
COOKIE: Final = "lakebed_sign_in"
FAILED: Final = "The sign-in failed. Try again, or ask an administrator: the log of the server has the reason."

_CHALLENGE: Final = re.compile(r"[A-Za-z0-9_-]{43}")
_LONGEST_AGENT: Final = 200
_STATE: Final = re.compile(r"[A-Za-z0-9_-]{0,128}")
_HEADERS: Final = {
    "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
}

Begin = Callable[[str, Program], Awaitable[tuple[str, str]]]
"""Takes the path to show after the sign-in and the program that waits. Returns the provider's address and a cookie."""


class BrowserPages:
    """The steps of a sign-in that do not depend on the provider.

    `services` has the parts that end sessions. `return_path`: where the browser brings the cookie of the sign-in back.
    """

    def __init__(self, services: Services, browser: BrowserSignIn, return_path: str) -> None:
        self._services = services
        self._browser = browser
        self._return_path = return_path

    async def begin(self, request: Request, begin: Begin) -> Response:
        """Begin a sign-in. Query: `next`, a path of this server; or `challenge`, `port` and `state` of a program."""
        program = program_of(request.query_params)
        if program is None:
            return page("The address of this sign-in is invalid: start it again from the program.", 400)
        try:
            address, cookie = await begin(request.query_params.get("next", "/"), program)
        except OutboundError as error:
            log.error("sign-in: %s", error)
            return page("The sign-in provider does not answer. Try again later.", 502)
        answer = RedirectResponse(address, 302, headers=_HEADERS)
        answer.set_cookie(
            COOKIE,
            cookie,
            max_age=state.SECONDS,
            path=self._return_path,
            httponly=True,
            samesite="lax",
            secure=self.https(request),
        )
        return answer

    async def finish(self, request: Request, user: User, began: state.State) -> Response:
        """The end of a sign-in: a session in a cookie, or a code for the program that waits."""
        note_user(request, user.id, self._browser.source)
        answer = await self._finish(request, user, began)
        https = self.https(request)
        answer.delete_cookie(COOKIE, path=self._return_path, httponly=True, samesite="lax", secure=https)
        return answer

    async def _finish(self, request: Request, user: User, began: state.State) -> Response:
        program = began.program
        if program.challenge:
            code = self._browser.code(user, program.challenge)
            if program.port:
                query = urlencode({"code": code, "state": program.state})
                return RedirectResponse(f"http://127.0.0.1:{program.port}/?{query}", 302, headers=_HEADERS)
            text = f"You are signed in as {user.id}. Paste this code into your terminal; do not share it with anyone:"
            return page(text, 200, code)
        agent = request.headers.get("user-agent", "")[:_LONGEST_AGENT]
        client = SignInClient(client_of(request.scope, self._services.proxies).address, agent)
        token = await self._browser.token(user, client)
        # a page, not a redirect: the browser would not send a strict cookie after a redirect that began elsewhere
        answer = page("You are signed in.", 200, refresh=began.next)
        https = self.https(request)
        answer.set_cookie(
            cookie_name(https=https),
            token.text,
            max_age=max(0, token.expires - int(time.time())),
            httponly=True,
            samesite="strict",
            secure=https,
        )
        return answer

    async def log_out(self, request: Request, end_at_provider: Callable[[], Awaitable[str]] | None = None) -> Response:
        """End the session of the browser. `end_at_provider` returns an address that ends the provider's, or none."""
        https = self.https(request)
        headers: Mapping[bytes, bytes] = dict(request.scope["headers"])
        answer: Response = page("You are signed out.", 200)
        with contextlib.suppress(RequestError):  # there is no session, or it has ended
            session = await self._services.authenticator.log_out(headers, int(time.time()), https=https)
            note_user(request, session.user, session.source)
            is_own = session.source == self._browser.source
            if is_own and end_at_provider and (address := await end_at_provider()):
                answer = RedirectResponse(address, 302, headers=_HEADERS)
        answer.delete_cookie(cookie_name(https=https), httponly=True, samesite="strict", secure=https)
        return answer

    def https(self, request: Request) -> bool:
        """Whether the browser came over TLS."""
        return client_of(request.scope, self._services.proxies).https


def program_of(query: Mapping[str, str]) -> Program | None:
    """The waiting program that a query names. None for a query that is not valid."""
    port, challenge, sent = query.get("port", "0"), query.get("challenge", ""), query.get("state", "")
    if not (port.isascii() and port.isdigit() and len(port) < 6 and int(port) < 65536):
        return None
    if (challenge and _CHALLENGE.fullmatch(challenge) is None) or _STATE.fullmatch(sent) is None:
        return None
    return Program(int(port), challenge, sent)


def page(text: str, status: int, code: str = "", refresh: str = "") -> HTMLResponse:
    """A small page. `refresh`: the path that it opens then."""
    body = f"<p>{html.escape(text)}</p>"
    if code:
        body += f"<pre>{html.escape(code)}</pre>"
    head = f'<meta http-equiv="refresh" content="0;url={html.escape(refresh)}">' if refresh else ""
    title = "Lakebed"
    content = f'<!doctype html><html lang="en"><meta charset="utf-8">{head}<title>{title}</title>{body}</html>'
    return HTMLResponse(content, status, headers=dict(_HEADERS))


def refused(error: RequestError) -> Response:
    """The page for a sign-in that cannot be finished."""
    return page(error.message, 409 if error.kind == "already_exists" else 401)
