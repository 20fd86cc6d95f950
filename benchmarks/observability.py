"""What metrics and traces cost: servers with and without them, in paired runs.

    python -m benchmarks.observability [--rounds 40]

Four servers run all the time: plain; with metrics, which are scraped every five seconds; with metrics and traces of 1 %
of the requests; and with traces of all. A collector in this process receives the traces. Each round asks all for the
same work, in changing order. The table has the median over the rounds of (rate / rate of the plain server), by time and
by the CPU of the server. The bar of metrics is 0.97.
"""

from __future__ import annotations

import argparse
import contextlib
import http.client
import tempfile
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from benchmarks.access_control import WORK, prepared, ratio, work
from tests.support.processes.ports import reserved_ports
from tests.support.processes.server import running_server

BAR = 0.97


class _Collector(BaseHTTPRequestHandler):
    """Takes spans and forgets them."""

    def do_POST(self) -> None:
        """Answer an export."""
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response(200)
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        """Print nothing."""


@contextlib.contextmanager
def collector() -> Iterator[str]:
    """The address of a collector."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Collector)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()


@contextlib.contextmanager
def scraped(*ports: int) -> Iterator[None]:
    """Scrape these ports every five seconds."""
    stop = threading.Event()

    def run() -> None:
        while not stop.wait(5):
            for port in ports:
                connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
                connection.request("GET", "/metrics")
                connection.getresponse().read()
                connection.close()

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def compare(rounds: int) -> None:
    """Print the table."""
    with contextlib.ExitStack() as stack:
        top = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        ports = stack.enter_context(reserved_ports(3))
        address = stack.enter_context(collector())
        metrics = [{"LAKEBED_METRICS_LISTEN": f"127.0.0.1:{port}"} for port in ports]
        traces = {"LAKEBED_TRACING_ENABLED": "true", "LAKEBED_TRACING_ENDPOINT": address}
        some = {**traces, "OTEL_TRACES_SAMPLER": "parentbased_traceidratio", "OTEL_TRACES_SAMPLER_ARG": "0.01"}
        modes = {
            "plain": {},
            "metrics": metrics[0],
            "some traces": {**metrics[1], **some},
            "traces": {**metrics[2], **traces},
        }
        shared = {"LAKEBED_AUTH_MODE": "single", "LAKEBED_DURABILITY": "process"}
        sides = {
            name: prepared("single", stack.enter_context(running_server(top / name, environment={**shared, **more})))
            for name, more in modes.items()
        }
        stack.enter_context(scraped(*ports))
        print("| operation, rate and CPU / plain | metrics | metrics, 1 % of traces | metrics, all traces |")
        print("|---|--:|--:|--:|")
        for operation, count in WORK.items():
            for side in sides.values():
                work(side, operation, min(count, 100))
            taken: list[dict[str, tuple[float, float]]] = []
            for number in range(rounds):
                order = list(sides)[number % 4 :] + list(sides)[: number % 4]
                taken.append({name: work(sides[name], operation, count) for name in order})
            columns = [ratio(taken, "plain", other) for other in list(modes)[1:]]
            print(f"| {operation} | {' | '.join(columns)} |")
    print(f"\nThe bar of metrics is {BAR}, by rate.")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=40)
    compare(parser.parse_args().rounds)
