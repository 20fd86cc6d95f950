"""`/_health`, `/_ready` and `/metrics`, outside of the API.

`/metrics` answers on a listener of its own, or on the server's with a bearer token, and nowhere else.
"""

from __future__ import annotations

import hmac
from typing import Final

import msgspec
from starlette.responses import PlainTextResponse, Response

from lakebed_server.bounds.admission import Stopping
from lakebed_server.metrics.counting import Counting
from lakebed_server.monitoring.readiness import ReadinessCheck
from lakebed_server.monitoring.sampler import Sampler
from lakebed_server.vocabulary import Receive, Scope, Send

HEALTH: Final = "/_health"
READY: Final = "/_ready"
METRICS: Final = "/metrics"
_SAFE: Final = {"x-content-type-options": "nosniff", "x-frame-options": "SAMEORIGIN", "cache-control": "no-store"}


class MetricsAccess(msgspec.Struct, frozen=True):
    """The clients that may read the metrics: those of `port`, and those with `token`. None and empty: no client."""

    port: int | None = None
    token: str = ""


class Monitoring:
    """The ASGI application of these paths."""

    def __init__(
        self,
        readiness: ReadinessCheck,
        stopping: Stopping,
        version: str,
        counting: Counting | None = None,
        sampler: Sampler | None = None,
        access: MetricsAccess | None = None,
    ) -> None:
        self._readiness = readiness
        self._stopping = stopping
        self._version = version
        self._counting = counting
        self._sampler = sampler
        self._access = access or MetricsAccess()
        self.port = self._access.port
        """The port of the listener that is only for monitoring, if there is one."""

    def is_for(self, scope: Scope) -> bool:
        """Whether a request is for monitoring, by its path. The S3 gateway is asked first: it has paths of its own."""
        path = _path(scope)
        return path in (HEALTH, READY) or (path == METRICS and self._counting is not None and bool(self._access.token))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        response = await self._answer(scope)
        if self._stopping.drains:
            response.headers["connection"] = "close"
        await response(scope, receive, send)

    async def _answer(self, scope: Scope) -> Response:
        path = _path(scope)
        if scope["method"] not in ("GET", "HEAD"):
            return PlainTextResponse("only GET and HEAD\n", 405, {**_SAFE, "allow": "GET, HEAD"})
        if path == HEALTH:
            if self._stopping.drains:
                return PlainTextResponse("stopping\n", 503, _SAFE)
            return PlainTextResponse("alive!\n", headers=_SAFE)
        if path == READY:
            found = await self._readiness.answer()
            headers = _SAFE if found.ready else {**_SAFE, "retry-after": "1"}
            body = msgspec.json.encode(found)
            return Response(body, 200 if found.ready else 503, headers, media_type="application/json")
        if path != METRICS or self._counting is None:
            return PlainTextResponse("not found; this port has only /metrics, /_health and /_ready\n", 404, _SAFE)
        return await self._metrics(scope, self._counting)

    async def _metrics(self, scope: Scope, counting: Counting) -> Response:
        headers = dict(scope["headers"])
        token = self._access.token
        if token and not hmac.compare_digest(headers.get(b"authorization", b""), b"Bearer " + token.encode()):
            refusal = {**_SAFE, "www-authenticate": 'Bearer realm="lakebed metrics"'}
            return PlainTextResponse("send metrics.token as a bearer token\n", 401, refusal)
        from lakebed_server.metrics.exposition import scrape  # prometheus_client is not loaded without a scrape

        if self._sampler is not None:
            self._sampler.sample()
        body, content_type = scrape(counting.cells, self._version, headers.get(b"accept", b"").decode("latin-1"))
        return Response(body, headers={**_SAFE, "content-type": content_type})


def _path(scope: Scope) -> str:
    """The path of a request, without the prefix of a proxy."""
    path: str = scope["path"]
    return path.removeprefix(scope.get("root_path", ""))
