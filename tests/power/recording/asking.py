"""A client of the application in this process, and the note of each answer as it leaves.

Requests go through the whole application, without a socket. The answer counts as sent at its first byte: before it
reaches the client.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

import httpx
from botocore.auth import S3SigV4Auth  # type: ignore[import-untyped]
from botocore.awsrequest import AWSRequest  # type: ignore[import-untyped]
from botocore.credentials import Credentials  # type: ignore[import-untyped]
from lakebed_server.process.app import App
from lakebed_server.vocabulary import Receive, Scope, Send

from tests.power.record import Cell, Operation
from tests.power.recording.recorder import Recorder
from tests.support.waiting import PATIENCE

_OPERATION = "x-recorded-operation"
_UNTIL = "x-recorded-until"
"""The operation is done by the answer whose body holds this, not before."""

Effects = Mapping[Cell, bytes | None]


class _Noting:
    """The application, whose answers are noted."""

    def __init__(self, app: App, recorder: Recorder) -> None:
        self._app = app
        self._recorder = recorder

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = {name.decode(): value.decode() for name, value in scope.get("headers", ())}
        if _OPERATION not in headers:
            await self._app(scope, receive, send)
            return
        number, until, status = int(headers[_OPERATION]), headers.get(_UNTIL, "").encode(), 0

        async def noted(message: Any) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                if status >= 300 or not until:
                    self._recorder.answer(number, status < 300)
            elif until and until in message.get("body", b""):
                self._recorder.answer(number, True)
            await send(message)

        await self._app(scope, receive, noted)


class Client:
    """Asks the application, over the REST API and over S3."""

    def __init__(self, app: App, recorder: Recorder, key: tuple[str, str]) -> None:
        self.recorder = recorder
        self._key = Credentials(*key)
        basic = base64.b64encode(":".join(key).encode()).decode()
        transport: Any = httpx.ASGITransport(_Noting(app, recorder), raise_app_exceptions=True)
        self._http = httpx.AsyncClient(
            transport=transport, base_url="http://lake", headers={"authorization": f"Basic {basic}"}, timeout=PATIENCE
        )

    async def ask(
        self, method: str, path: str, effects: Effects | None = None, *, refused: bool = False, **request: Any
    ) -> tuple[Operation, Any]:
        """One operation over REST: itself, and what the answer says. `refused`: it must be."""
        one = self.recorder.begin(f"{method} {path} {request.get('params', '')}", effects)
        return one, await self.go_on(one, method, path, refused=refused, **request)

    async def go_on(self, one: Operation, method: str, path: str, *, refused: bool = False, **request: Any) -> Any:
        """A request of an operation that has begun."""
        headers = {_OPERATION: str(one.number), **request.pop("headers", {})}
        answer = await self._http.request(method, f"/api/v1{path}", headers=headers, **request)
        assert (answer.status_code >= 400) == refused, f"{one.what}: {answer.status_code} {answer.text}"
        assert answer.status_code < 500, answer.text
        is_json = answer.headers.get("content-type", "").startswith("application/json")
        return answer.json() if is_json else answer

    async def s3(self, method: str, target: str, body: bytes = b"", effects: Effects | None = None) -> httpx.Response:
        """One operation over S3, signed."""
        one = self.recorder.begin(f"S3 {method} {target}", effects)
        url = f"http://lake{target}"
        request = AWSRequest(method, url, data=body, headers={"host": "lake"})
        S3SigV4Auth(self._key, "s3", "us-east-1").add_auth(request)
        headers = {name: str(value) for name, value in request.headers.items()} | {_OPERATION: str(one.number)}
        answer = await self._http.request(method, url, content=body, headers=headers)
        assert answer.is_success, f"{one.what}: {answer.status_code} {answer.text}"
        return answer

    async def close(self) -> None:
        """Let go of it."""
        await self._http.aclose()


def until(text: str) -> dict[str, str]:
    """The header of a request whose operation goes on until an answer holds this text."""
    return {_UNTIL: text}
