"""Adds the requests of sign-in pages to the access history, as the API does for its own requests."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from starlette.requests import Request
from starlette.responses import Response

from lakebed_server.auth.tokens import Source
from lakebed_server.http.request import Call, Services
from lakebed_server.http.request_cycle import record_access

Page = Callable[[Request], Awaitable[Response]]


def recorded(services: Services, operation: str, page: Page) -> Page:
    """The page, recorded as `operation`, with the user that it notes by `note_user`."""

    async def endpoint(request: Request) -> Response:
        call = Call(request.scope, request.receive, services)
        call.operation, call.accessed.path = operation, request.url.path
        request.state.call = call
        response = await page(request)
        record_access(call, response.status_code, len(response.body))
        return response

    return endpoint


def note_user(request: Request, user: str, source: Source) -> None:
    """Note the user of a recorded request, and how the user signed in."""
    call: Call = request.state.call
    call.user, call.source = user, source
