"""Traces, as OpenTelemetry: a span for each request, and below it spans for commits and calls of the stores.

Only a server with `tracing.enabled` imports this module. The variables OTEL_* of OpenTelemetry choose the exporter's
address, the sampler, the propagators and the attributes of the resource.

The trace ends at the calls of the stores. obstore sends its requests from Rust, and takes no headers for a single
request, so a cloud store does not get `traceparent` (docs/decisions/0080-traces.md).
"""

from __future__ import annotations

import threading
from contextvars import Token
from typing import Any, Final
from urllib.parse import urlsplit

from lakebed_engine.vocabulary.errors import PredicateFailed
from lakebed_engine.vocabulary.observer import SILENT, Layer, Work
from opentelemetry import context, propagate, trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import SERVICE_NAME, SERVICE_VERSION, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import Span, SpanKind, Status, StatusCode

from lakebed_server.http.request import Call

CLOSING: Final = 2.0
"""Seconds that a stop waits for the last spans to be sent."""
_CARRIED: Final = (b"traceparent", b"tracestate", b"baggage", b"b3", b"x-b3-traceid", b"x-b3-spanid", b"x-b3-sampled")
"""The headers that propagators read."""
_PATH: Final = "/v1/traces"


class Tracing:
    """The spans of one process: an `Observer` of the engine, and a `Watch` of requests. It is made after the fork."""

    def __init__(self, version: str, endpoint: str = "") -> None:
        """`endpoint`: the URL of a collector for OTLP over HTTP; empty: as the variables OTEL_* say."""
        given = Resource.create()  # reads OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES
        name = given.attributes.get(SERVICE_NAME, "")
        ours: dict[str, Any] = {SERVICE_VERSION: version}
        if str(name).startswith("unknown_service"):
            ours[SERVICE_NAME] = "lakebed"
        self._provider = TracerProvider(resource=given.merge(Resource(ours)), shutdown_on_exit=False)
        exporter = OTLPSpanExporter(endpoint=_with_path(endpoint)) if endpoint else OTLPSpanExporter()
        self._provider.add_span_processor(BatchSpanProcessor(exporter))
        self._tracer = self._provider.get_tracer("lakebed", version)

    def close(self) -> None:
        """Send the last spans. A collector that does not answer delays the stop by `CLOSING` seconds at most."""
        sending = threading.Thread(target=self._provider.shutdown, name="lakebed-last-spans", daemon=True)
        sending.start()
        sending.join(CLOSING)

    def request_begins(self, call: Call) -> None:
        """Begin the span of a request, below that of its client if it names one."""
        carrier = {name.decode(): call.headers[name].decode("latin-1") for name in _CARRIED if name in call.headers}
        parent = propagate.extract(carrier) if carrier else None
        span = self._tracer.start_span(call.method, context=parent, kind=SpanKind.SERVER)
        call.trace_id = trace.format_trace_id(span.get_span_context().trace_id)
        call.span = span, context.attach(trace.set_span_in_context(span, parent))

    def request_ends(self, call: Call, status: int, sent: int, *, is_feed: bool) -> None:
        """End it. The path and the user are not in it: the log has them under the request id."""
        if call.span is None:
            return
        span, token = call.span
        span.update_name(call.operation or call.method)
        span.set_attributes(
            {
                "http.request.method": call.method,
                "http.response.status_code": status,
                "http.request.body.size": call.body.received,
                "http.response.body.size": sent,
                "lakebed.operation": call.operation,
                "lakebed.request_id": call.request_id,
            }
        )
        if status >= 500:
            span.set_status(Status(StatusCode.ERROR))
        context.detach(token)
        span.end()

    def begin(self, layer: Layer, call: str, place: str = "") -> Work:
        """Begin the span of a call of a store, or of a commit. The calls in a commit are below it.

        Outside of a sampled request there is none: background work has no trace.
        """
        if not trace.get_current_span().is_recording():
            return SILENT.begin(layer, call, place)
        kind = SpanKind.INTERNAL if layer == "commit" else SpanKind.CLIENT
        span = self._tracer.start_span(f"{layer}.{call}", kind=kind)
        if place:
            span.set_attribute("lakebed.store", place)
        if layer == "commit":
            return _Traced(span, context.attach(trace.set_span_in_context(span)))
        return _Traced(span, None)

    def committed(self, commits: int) -> None:
        """Note the number of commits in the span of the group commit."""
        trace.get_current_span().set_attribute("lakebed.commits", commits)

    def branch_changed(self, layers: int) -> None:
        """Note the number of layers in the current span."""
        trace.get_current_span().set_attribute("lakebed.layers", layers)


class _Traced:
    __slots__ = ("_span", "_token")

    def __init__(self, span: Span, token: Token[Any] | None) -> None:
        self._span = span
        self._token = token

    def end(self, error: BaseException | None = None) -> None:
        if self._token is not None:
            context.detach(self._token)
        if isinstance(error, PredicateFailed):
            self._span.set_attribute("lakebed.lost_race", True)
        elif error is not None:
            # the text of an error may have a path or an address: the log has it, under the request id
            self._span.set_status(Status(StatusCode.ERROR, type(error).__name__))
        self._span.end()


def _with_path(endpoint: str) -> str:
    """http://collector:4318 -> http://collector:4318/v1/traces; an address with a path stays as it is."""
    return endpoint.rstrip("/") + _PATH if urlsplit(endpoint).path in ("", "/") else endpoint
