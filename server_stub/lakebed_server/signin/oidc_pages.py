"""The pages of a sign-in with OpenID Connect: `/oidc/login`, `/oidc/callback` and `/logout`."""

from __future__ import annotations

import logging
from typing import Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from lakebed_server.http.request import Services
from lakebed_server.outbound import OutboundError
from lakebed_server.signin.browser_pages import COOKIE, FAILED, LOGOUT, BrowserPages, page, refused
from lakebed_server.signin.oidc import OidcSignIn
from lakebed_server.signin.provider import TokenError
from lakebed_server.signin.recorded import recorded
from lakebed_server.signin.state import Program
from lakebed_server.vocabulary import RequestError

log = logging.getLogger("lakebed.server")

LOGIN: Final = "/oidc/login"
CALLBACK: Final = "/oidc/callback"


class OidcPages:
    """The pages for browsers."""

    def __init__(self, services: Services, sign_in: OidcSignIn) -> None:
        self._services = services
        self._sign_in = sign_in
        self._pages = BrowserPages(services, sign_in.browser, CALLBACK)

    def routes(self) -> list[Route]:
        """The routes of the pages."""
        callback = recorded(self._services, "signIn", self.callback)
        logout = recorded(self._services, "signOut", self.logout)
        return [Route(LOGIN, self.login), Route(CALLBACK, callback), Route(LOGOUT, logout)]

    async def login(self, request: Request) -> Response:
        """Send the browser to the provider."""

        async def begin(next: str, program: Program) -> tuple[str, str]:
            return await self._sign_in.begin(f"{self._endpoint(request)}{CALLBACK}", next=next, program=program)

        return await self._pages.begin(request, begin)

    async def callback(self, request: Request) -> Response:
        """The browser comes back from the provider."""
        query = request.query_params
        if "error" in query:
            log.warning("sign-in: the provider answered %r", query["error"][:100])
            return page("The provider refused the sign-in.", 401)
        try:
            user, began = await self._sign_in.come_back(
                request.cookies.get(COOKIE, ""), query.get("state", ""), query.get("code", "")
            )
            return await self._pages.finish(request, user, began)
        except RequestError as error:
            return refused(error)
        except (TokenError, OutboundError) as error:
            log.warning("sign-in: %s", error)
            return page(FAILED, 401)

    async def logout(self, request: Request) -> Response:
        """End the session of the browser, and that of the provider if it has a page for this."""
        return await self._pages.log_out(request, self._end_at_provider)

    async def _end_at_provider(self) -> str:
        """The address at which the provider ends its own session, if it has one."""
        try:
            return await self._sign_in.provider.end_session_url()
        except OutboundError as error:
            log.warning("sign-out: %s", error)
            return ""

    def _endpoint(self, request: Request) -> str:
        scheme = "https" if self._pages.https(request) else "http"
        return str(request.base_url.replace(scheme=scheme)).rstrip("/")
