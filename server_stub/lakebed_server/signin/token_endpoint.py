"""The exchange of a workload's token for a token of this server: `POST /auth/token` (RFC 8693)."""

from __future__ import annotations

import time
from typing import Final

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from lakebed_server.auth.sessions import SignInClient
from lakebed_server.http.request import IdentifyWorkload, Services
from lakebed_server.network.clients import client_of
from lakebed_server.signin import browser
from lakebed_server.signin.recorded import note_user, recorded
from lakebed_server.vocabulary import Header, RequestError

PATH: Final = "/auth/token"
SECONDS: Final = 3600
"""How long a token of a workload is valid. It cannot be renewed: the workload exchanges a new one."""
GRANT: Final = "urn:ietf:params:oauth:grant-type:token-exchange"
SUBJECT_TYPES: Final = (
    "urn:ietf:params:oauth:token-type:jwt",
    "urn:ietf:params:oauth:token-type:id_token",
    "urn:ietf:params:oauth:token-type:access_token",
)
_LONGEST: Final = 64 << 10
_LONGEST_AGENT: Final = 200
_HEADERS: Final = {"cache-control": "no-store", "x-content-type-options": "nosniff"}


class TokenEndpoint:
    """The endpoint. `identify` returns the user of a workload's token."""

    def __init__(self, services: Services, identify: IdentifyWorkload) -> None:
        self._services = services
        self._identify = identify

    def routes(self) -> list[Route]:
        """The route of the endpoint."""
        return [Route(PATH, recorded(self._services, "exchangeToken", self.exchange), methods=["POST"])]

    async def exchange(self, request: Request) -> Response:
        """Answer with a token, or with an error of RFC 6749."""
        fields = await browser.read_form(request, _LONGEST)
        if fields is None:
            return _refused("invalid_request", f"send a form ({browser.FORM_TYPE}) of at most {_LONGEST} bytes")
        if fields.get("grant_type") != GRANT:
            return _refused("unsupported_grant_type", f"grant_type must be {GRANT}")
        if fields.get("subject_token_type") not in SUBJECT_TYPES:
            return _refused("invalid_request", f"subject_token_type must be one of {', '.join(SUBJECT_TYPES)}")
        if "actor_token" in fields:
            return _refused("invalid_request", "actor_token is not supported")
        address, agent = client_of(request.scope, self._services.proxies).address, request.headers.get("user-agent", "")
        try:
            user = await self._identify(fields.get("subject_token", ""), address)
        except RequestError as error:
            if error.kind == "login_throttled":
                return _refused("temporarily_unavailable", error.message, 429, error.headers)
            if error.kind == "store_unavailable":
                return _refused("temporarily_unavailable", error.message, 503)
            return _refused("invalid_request", error.message)
        client = SignInClient(address, agent[:_LONGEST_AGENT])
        note_user(request, user.id, "workload")
        now = int(time.time())
        token = await self._services.authenticator.sign_in(user, "workload", now, client, SECONDS)
        answer = {
            "access_token": token.text,
            "issued_token_type": "urn:ietf:params:oauth:token-type:access_token",
            "token_type": "Bearer",
            "expires_in": token.expires - now,
        }
        return JSONResponse(answer, headers=_HEADERS)


def _refused(error: str, description: str, status: int = 400, headers: tuple[Header, ...] = ()) -> Response:
    sent = {**_HEADERS, **{name.decode(): value.decode() for name, value in headers}}
    return JSONResponse({"error": error, "error_description": description}, status, headers=sent)
