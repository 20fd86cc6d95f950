"""The pages of a sign-in with SAML: `/saml/metadata`, `/saml/login`, `/saml/acs`, `/saml/finish` and `/logout`."""

from __future__ import annotations

import logging
from typing import Final
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from lakebed_server.http.request import Services
from lakebed_server.outbound import OutboundError
from lakebed_server.signin import browser
from lakebed_server.signin.browser_pages import COOKIE, FAILED, LOGOUT, BrowserPages, page, refused
from lakebed_server.signin.recorded import recorded
from lakebed_server.signin.saml.document import SamlError
from lakebed_server.signin.saml.sign_in import SamlSignIn
from lakebed_server.vocabulary import RequestError

log = logging.getLogger("lakebed.server")

METADATA: Final = "/saml/metadata"
LOGIN: Final = "/saml/login"
ACS: Final = "/saml/acs"
FINISH: Final = "/saml/finish"
LARGEST: Final = 512 << 10
"""The most bytes of an answer of the provider. One with a thousand groups has about 150 KiB."""


class SamlPages:
    """The pages for browsers, and the metadata for the provider."""

    def __init__(self, services: Services, sign_in: SamlSignIn) -> None:
        self._services = services
        self._sign_in = sign_in
        self._pages = BrowserPages(services, sign_in.browser, FINISH)

    def routes(self) -> list[Route]:
        """The routes of the pages."""
        return [
            Route(METADATA, self.metadata),
            Route(LOGIN, self.login),
            Route(ACS, recorded(self._services, "acceptSignIn", self.accept), methods=["POST"]),
            Route(FINISH, recorded(self._services, "signIn", self.finish)),
            Route(LOGOUT, recorded(self._services, "signOut", self.logout)),
        ]

    async def metadata(self, _: Request) -> Response:
        """The metadata of this server."""
        return Response(self._sign_in.service.describe(), media_type="application/samlmetadata+xml")

    async def login(self, request: Request) -> Response:
        """Send the browser to the provider."""
        try:
            return await self._pages.begin(request, self._sign_in.begin)
        except SamlError as error:
            log.error("sign-in: auth.saml.idp_metadata: %s", error)
            return page(FAILED, 502)

    async def accept(self, request: Request) -> Response:
        """The assertion consumer service: the browser brings the answer of the provider. `RelayState` is not used."""
        fields = await browser.read_form(request, LARGEST)
        if fields is None:
            return page(f"The answer of the provider is not a form, or has more than {LARGEST} bytes.", 400)
        try:
            code = await self._sign_in.accept(fields.get("SAMLResponse", ""))
        except RequestError as error:
            return refused(error)
        except (SamlError, OutboundError) as error:
            log.warning("sign-in: %s", error)
            return page(FAILED, 401)
        return page("You are signed in with the provider.", 200, refresh=f"{FINISH}?{urlencode({'code': code})}")

    async def finish(self, request: Request) -> Response:
        """The browser brings the code for the answer, and the cookie of the sign-in."""
        try:
            user, began = await self._sign_in.finish(
                request.cookies.get(COOKIE, ""), request.query_params.get("code", "")
            )
            return await self._pages.finish(request, user, began)
        except RequestError as error:
            return refused(error)

    async def logout(self, request: Request) -> Response:
        """End the session of the browser here. The session at the provider goes on."""
        return await self._pages.log_out(request)
