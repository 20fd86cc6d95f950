"""The pages of a sign-in: `/oidc/login`, `/oidc/callback` and `/logout`."""

from __future__ import annotations

import contextlib
import html
import logging
import re
import time
from collections.abc import Mapping
from typing import Final
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from lakebed_server.auth.records import User
from lakebed_server.auth.sessions import SignInClient
from lakebed_server.auth.tokens import cookie_name
from lakebed_server.http.request import Services
from lakebed_server.network.clients import client_of
from lakebed_server.signin import state
from lakebed_server.signin.outbound import OutboundError
from lakebed_server.signin.provider import TokenError
from lakebed_server.signin.sign_in import SignIn
from lakebed_server.signin.state import Program
from lakebed_server.vocabulary import RequestError

log = logging.getLogger("lakebed.server")

LOGIN: Final = "/oidc/login"
CALLBACK: Final = "/oidc/callback"
LOGOUT: Final = "/logout"
COOKIE: Final = "lakebed_sign_in"

_CHALLENGE: Final = re.compile(r"[A-Za-z0-9_-]{43}")
_LONGEST_AGENT: Final = 200
_STATE: Final = re.compile(r"[A-Za-z0-9_-]{0,128}")
_HEADERS: Final = {
    "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
}
_FAILED: Final = "The sign-in failed. Try again, or ask an administrator: the log of the server says why."


class SignInPages:
    """The pages for browsers. `services` has the parts that end sessions."""

    def __init__(self, services: Services, sign_in: SignIn) -> None:
        self._services = services
        self._sign_in = sign_in

    def routes(self) -> list[Route]:
        """The routes of the pages."""
        return [Route(LOGIN, self.login), Route(CALLBACK, self.callback), Route(LOGOUT, self.logout)]

    async def login(self, request: Request) -> Response:
        """Begin a sign-in. Query: `next`, a path of this server; or `challenge`, `port` and `state` of a program."""
        program = program_of(request.query_params)
        if program is None:
            return _page("The address of this sign-in is not valid: a program made it, and must make it again.", 400)
        try:
            address, cookie = await self._sign_in.begin(
                f"{self._endpoint(request)}{CALLBACK}", next=request.query_params.get("next", "/"), program=program
            )
        except OutboundError as error:
            log.error("sign-in: %s", error)
            return _page("The sign-in provider does not answer. Try again later.", 502)
        answer = RedirectResponse(address, 302, headers=_HEADERS)
        answer.set_cookie(
            COOKIE,
            cookie,
            max_age=state.SECONDS,
            path=CALLBACK,
            httponly=True,
            samesite="lax",
            secure=self._https(request),
        )
        return answer

    async def callback(self, request: Request) -> Response:
        """The browser comes back from the provider."""
        query = request.query_params
        if "error" in query:
            log.warning("sign-in: the provider answered %r", query["error"][:100])
            return _page("The provider refused the sign-in.", 401)
        try:
            user, began = await self._sign_in.come_back(
                request.cookies.get(COOKIE, ""), query.get("state", ""), query.get("code", "")
            )
            answer = await self._finish(request, user, began)
        except RequestError as error:
            return _page(error.message, 409 if error.kind == "already_exists" else 401)
        except (TokenError, OutboundError) as error:
            log.warning("sign-in: %s", error)
            return _page(_FAILED, 401)
        answer.delete_cookie(COOKIE, path=CALLBACK, httponly=True, samesite="lax", secure=self._https(request))
        return answer

    async def _finish(self, request: Request, user: User, began: state.State) -> Response:
        program = began.program
        if program.challenge:
            code = self._sign_in.code(user, program.challenge)
            if program.port:
                query = urlencode({"code": code, "state": program.state})
                return RedirectResponse(f"http://127.0.0.1:{program.port}/?{query}", 302, headers=_HEADERS)
            text = f"You are signed in as {user.id}. Paste this code into your terminal; give it to no other person:"
            return _page(text, 200, code)
        agent = request.headers.get("user-agent", "")[:_LONGEST_AGENT]
        client = SignInClient(client_of(request.scope, self._services.proxies).address, agent)
        token = await self._sign_in.token(user, client)
        # a page, not a redirect: the browser would not send a strict cookie after a redirect that began elsewhere
        answer = _page("You are signed in.", 200, refresh=began.next)
        https = self._https(request)
        answer.set_cookie(
            cookie_name(https=https),
            token.text,
            max_age=max(0, token.expires - int(time.time())),
            httponly=True,
            samesite="strict",
            secure=https,
        )
        return answer

    async def logout(self, request: Request) -> Response:
        """End the session of the browser, and that of the provider if it has a page for this."""
        https = self._https(request)
        headers: Mapping[bytes, bytes] = dict(request.scope["headers"])
        answer: Response = _page("You are signed out.", 200)
        with contextlib.suppress(RequestError):  # there is no session, or it has ended
            source = await self._services.authenticator.log_out(headers, int(time.time()), https=https)
            if source == "oidc" and (address := await self._end_at_provider()):
                answer = RedirectResponse(address, 302, headers=_HEADERS)
        answer.delete_cookie(cookie_name(https=https), httponly=True, samesite="strict", secure=https)
        return answer

    async def _end_at_provider(self) -> str:
        """The address at which the provider ends its own session, if it has one."""
        try:
            return await self._sign_in.provider.end_session_url()
        except OutboundError as error:
            log.warning("sign-out: %s", error)
            return ""

    def _https(self, request: Request) -> bool:
        return client_of(request.scope, self._services.proxies).https

    def _endpoint(self, request: Request) -> str:
        return str(request.base_url.replace(scheme="https" if self._https(request) else "http")).rstrip("/")


def program_of(query: Mapping[str, str]) -> Program | None:
    """The waiting program that a query names. None for a query that is not valid."""
    port, challenge, sent = query.get("port", "0"), query.get("challenge", ""), query.get("state", "")
    if not (port.isascii() and port.isdigit() and len(port) < 6 and int(port) < 65536):
        return None
    if (challenge and _CHALLENGE.fullmatch(challenge) is None) or _STATE.fullmatch(sent) is None:
        return None
    return Program(int(port), challenge, sent)


def _page(text: str, status: int, code: str = "", refresh: str = "") -> HTMLResponse:
    """A small page. `refresh`: the path that it opens then."""
    body = f"<p>{html.escape(text)}</p>"
    if code:
        body += f"<pre>{html.escape(code)}</pre>"
    head = f'<meta http-equiv="refresh" content="0;url={html.escape(refresh)}">' if refresh else ""
    title = "Lakebed"
    page = f'<!doctype html><html lang="en"><meta charset="utf-8">{head}<title>{title}</title>{body}</html>'
    return HTMLResponse(page, status, headers=dict(_HEADERS))
