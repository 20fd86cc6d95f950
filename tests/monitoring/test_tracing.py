"""Traces: a real server sends real spans to a collector of the test, below the span that a client names."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from tests.monitoring.scraping import connect
from tests.support.processes.server import running_server
from tests.support.waiting import PATIENCE, wait_until

TRACE, PARENT = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"


@dataclass
class Collector:
    """What servers have sent."""

    port: int = 0
    spans: list[Any] = field(default_factory=list)
    services: set[str] = field(default_factory=set)

    def of_trace(self, trace: str) -> list[Any]:
        return [span for span in self.spans if span.trace_id.hex() == trace]


@contextmanager
def collector() -> Iterator[Collector]:
    """A collector for OTLP over HTTP."""
    found = Collector()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            assert self.path == "/v1/traces"
            sent = ExportTraceServiceRequest()
            sent.ParseFromString(self.rfile.read(int(self.headers["content-length"])))
            for resource in sent.resource_spans:
                attributes = {one.key: one.value.string_value for one in resource.resource.attributes}
                found.services.add(attributes["service.name"])
                for scope in resource.scope_spans:
                    found.spans += scope.spans
            self.send_response(200)
            self.end_headers()

        def log_message(self, format: str, *args: Any) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    found.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield found
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.mark.slow
@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_request_its_commit_and_the_stores_are_one_trace(tmp_path: Path, workers: str) -> None:
    with collector() as found:
        environment = {
            "LAKEBED_TRACING_ENABLED": "true",
            "LAKEBED_TRACING_ENDPOINT": f"http://127.0.0.1:{found.port}",
            "LAKEBED_LOGGING_FORMAT": "json",
            "OTEL_BSP_SCHEDULE_DELAY": "200",
        }
        with running_server(tmp_path / "data", flags=["--workers", workers], environment=environment) as server:
            main = connect(server).repository("secret-lake").create("local://secret-lake").branch("main")
            main.put("secret-path", b"1")
            key = (server.access_key_id, server.secret_access_key)
            answer = httpx.post(
                f"{server.endpoint}/api/v1/repositories/secret-lake/branches/main/commits",
                json={"message": "m"},
                auth=key,
                headers={"traceparent": f"00-{TRACE}-{PARENT}-01"},
                timeout=PATIENCE,
            )
            assert answer.status_code == 201
            wait_until(lambda: "commit" in {span.name for span in found.of_trace(TRACE)}, "the spans are sent")
            assert f'"trace_id":"{TRACE}"' in server.log
        spans = found.of_trace(TRACE)
        by_name = {span.name: span for span in spans}
        request, commit = by_name["commit"], by_name["commit.group"]
        assert request.parent_span_id.hex() == PARENT
        assert commit.parent_span_id == request.span_id
        below = {span.name for span in spans if span.parent_span_id == commit.span_id}
        assert {"kv.apply", "store.put"} <= below
        attributes = {one.key: one.value for one in request.attributes}
        assert attributes["http.response.status_code"].int_value == 201
        assert attributes["lakebed.request_id"].string_value == answer.headers["x-request-id"]
        assert {one.key: one.value.int_value for one in commit.attributes}["lakebed.commits"] == 1
        assert found.services == {"lakebed"}
        assert "secret" not in str(found.spans)
        upload = next(span for span in found.spans if span.name == "uploadObject")
        assert not upload.parent_span_id  # its client named no trace: it begins one


@pytest.mark.slow
def test_the_variables_of_opentelemetry_count(tmp_path: Path) -> None:
    with collector() as found:
        environment = {
            "LAKEBED_TRACING_ENABLED": "true",
            "OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{found.port}",
            "OTEL_SERVICE_NAME": "our-lake",
            "OTEL_TRACES_SAMPLER": "parentbased_always_off",
        }
        with running_server(tmp_path / "data", environment=environment) as server:
            connect(server).repository("lake").create("local://lake")
            key = (server.access_key_id, server.secret_access_key)
            for sampled in ("00", "01"):
                trace = f"{TRACE[:-2]}{sampled}"
                headers = {"traceparent": f"00-{trace}-{PARENT}-{sampled}"}
                httpx.get(f"{server.endpoint}/api/v1/repositories/lake", auth=key, headers=headers, timeout=PATIENCE)
        assert found.services == {"our-lake"}  # a stop sends the last spans
        assert {span.trace_id.hex() for span in found.spans} == {f"{TRACE[:-2]}01"}


@pytest.mark.slow
def test_a_collector_that_is_away_disturbs_nothing(tmp_path: Path) -> None:
    environment = {"LAKEBED_TRACING_ENABLED": "true", "LAKEBED_TRACING_ENDPOINT": "http://127.0.0.1:9"}
    with running_server(tmp_path / "data", environment=environment) as server:
        main = connect(server).repository("lake").create("local://lake").branch("main")
        main.put("a", b"1")
        assert main.commit("m").id
        server.process.terminate()
        assert server.process.wait(PATIENCE) == 0


@pytest.mark.slow
def test_without_the_setting_its_modules_are_not_loaded() -> None:
    program = """
import sys
from lakebed_server.process import observe, serve
from lakebed_server.settings.load import load
settings = load(env={}, files=False).settings
begun = observe.begin(settings, observe.open_metrics(settings, 1), 0)
assert begun.observer is None and begun.watch is None
print(sorted({name.partition(".")[0] for name in sys.modules} & {"opentelemetry", "prometheus_client"}))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
