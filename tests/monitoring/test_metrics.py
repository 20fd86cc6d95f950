"""`/metrics`: one scrape has the sum of all processes, no label has a name of a user, and no other client reads it."""

from __future__ import annotations

import os
import signal
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import lakebed
import pytest
from lakebed_server.metrics.catalogue import catalogue
from lakebed_server.process.observe import operation_ids

from tests.monitoring.scraping import Scrape, connect, scrape
from tests.server.serving import PAIR, Process, request
from tests.support.processes.ports import reserved_ports
from tests.support.processes.server import running_server, workers_of
from tests.support.waiting import PATIENCE, wait_until

pytestmark = pytest.mark.slow

TOKEN = "a-token-for-the-scraper"
BUCKET = "_bucket"


def test_one_scrape_has_the_sum_of_all_processes(tmp_path: Path) -> None:
    with (
        reserved_ports(1) as (port,),
        running_server(
            tmp_path / "data",
            flags=["--workers", "3"],
            environment={"LAKEBED_METRICS_LISTEN": f"127.0.0.1:{port}"},
        ) as server,
    ):
        connect(server).repository("secret-lake").create("local://secret-lake")

        def work(number: int) -> int:
            main = connect(server).repository("secret-lake").branch("main")  # another connection, any of the processes
            made = 0
            for step in range(5):
                main.put(f"secret-path/{number}-{step}", bytes(1000))
                assert main.get(f"secret-path/{number}-{step}") == bytes(1000)
                try:
                    main.commit(f"{number} {step}")
                    made += 1
                except lakebed.NothingToCommitError:
                    pass  # another committed it
            return made

        with ThreadPoolExecutor(9) as pool:
            made = sum(pool.map(work, range(9)))

        def is_counted() -> bool:
            return scrape(port).value("lakebed_requests_in_flight") == 0

        wait_until(is_counted, "every request is counted")
        found = scrape(port)
        assert found.value("lakebed_requests_total", operation="uploadObject", status="201") == 45
        assert found.value("lakebed_request_seconds_count", operation="uploadObject") == 45
        assert found.value("lakebed_requests_total", operation="commit", status="201") == made
        assert found.value("lakebed_commits_total") == made
        assert found.value("lakebed_received_bytes_total") >= 45_000
        assert found.value("lakebed_store_calls_total", store="local", call="put_stream", result="ok") == 45
        assert found.value("lakebed_kv_calls_total", call="apply", result="ok") >= 45 + made
        assert found.value("lakebed_kv_writes_waiting") == 0
        assert found.value("lakebed_workers") == 3
        for _ in range(6):  # each scrape is a connection of its own: any of the processes answers
            assert scrape(port).value("lakebed_requests_total", operation="uploadObject") == 45
        check_labels(found)
        check_histograms(found)

        before = workers_of(server)
        os.kill(min(before), signal.SIGKILL)
        wait_until(lambda: len(workers_of(server) - before) == 1, "a worker in the place of the dead one")
        wait_until(lambda: scrape(port).value("lakebed_workers") == 3, "the new worker is counted")
        after = scrape(port)
        for one in found.samples:  # no counter went back
            if one.name.endswith(("_total", "_count", BUCKET)):
                assert after.value(one.name, **one.labels) >= one.value, one


def check_labels(found: Scrape) -> None:
    """Each series has the labels of the catalogue, with values of the catalogue: no path, no user."""
    known = {metric.name: metric for metric in catalogue(operation_ids())}
    checked = Counter[str]()
    for one in found.samples:
        name = one.name
        for suffix in (BUCKET, "_count", "_sum"):
            if name.removesuffix(suffix) in known:
                name = name.removesuffix(suffix)
        if name == "lakebed_build_info":
            continue
        assert name.startswith("lakebed_")
        metric = known[name]
        labels = {label: value for label, value in one.labels.items() if label != "le"}
        assert labels.keys() == metric.labels.keys(), one
        for label, value in labels.items():
            assert value in metric.labels[label], one
        checked[name] += 1
    assert checked["lakebed_requests_total"] >= 4


def check_histograms(found: Scrape) -> None:
    """Buckets are cumulative, and the last one is the count."""
    buckets: dict[tuple[str, tuple[tuple[str, str], ...]], list[float]] = {}
    for one in found.samples:
        if one.name.endswith(BUCKET):
            labels = tuple(sorted((label, value) for label, value in one.labels.items() if label != "le"))
            buckets.setdefault((one.name.removesuffix(BUCKET), labels), []).append(one.value)
    assert buckets
    for (name, labels), values in buckets.items():
        assert values == sorted(values), name
        count = [
            one.value
            for one in found.samples
            if one.name == f"{name}_count" and tuple(sorted(one.labels.items())) == labels
        ]
        assert count == [values[-1]], (name, labels)


def test_metrics_are_off_by_default(tmp_path: Path) -> None:
    with running_server(tmp_path / "data") as server:
        key = (server.access_key_id, server.secret_access_key)
        assert httpx.get(f"{server.endpoint}/metrics", timeout=PATIENCE).status_code == 404
        assert httpx.get(f"{server.endpoint}/metrics", timeout=PATIENCE, auth=key).status_code == 404


def test_the_port_of_the_server_answers_with_the_token_only(tmp_path: Path) -> None:
    with running_server(tmp_path / "data", environment={"LAKEBED_METRICS_TOKEN": TOKEN}) as server:
        port = int(server.endpoint.rsplit(":", 1)[1])
        for wrong in ({}, {"authorization": f"Bearer {TOKEN}x"}, {"authorization": f"Basic {TOKEN}"}):
            answer = httpx.get(f"{server.endpoint}/metrics", headers=wrong, timeout=PATIENCE)
            assert (answer.status_code, "lakebed_" in answer.text) == (401, False)
        assert scrape(port, authorization=f"Bearer {TOKEN}").value("lakebed_workers") == 1
        assert TOKEN not in server.log


def test_the_port_of_the_metrics_answers_nothing_else(tmp_path: Path) -> None:
    server = Process(
        *("--port", "0", "--data-dir", str(tmp_path / "data")),
        HOME=str(tmp_path),
        LAKEBED_METRICS_LISTEN="127.0.0.1:0",
        LAKEBED_LOGGING_FORMAT="json",
        **PAIR,
    )
    try:
        port = server.ready()
        shown = [line.rsplit(":", 1)[1] for line in server.said if line.startswith("  metrics: ")]
        assert len(shown) == 1, server.said
        metrics = int(shown[0].split("/")[0])
        assert scrape(metrics).value("lakebed_workers") == 1
        for path in ("/_health", "/_ready"):
            assert httpx.get(f"http://127.0.0.1:{metrics}{path}", timeout=PATIENCE).status_code == 200
        for path in ("/", "/openapi.json", "/api/v1/healthcheck", "/api/v1/repositories"):
            assert httpx.get(f"http://127.0.0.1:{metrics}{path}", timeout=PATIENCE).status_code == 404, path
        assert httpx.post(f"http://127.0.0.1:{metrics}/metrics", timeout=PATIENCE).status_code == 405
        signed = {"authorization": "AWS4-HMAC-SHA256 Credential=x"}  # the S3 gateway must not take it there
        assert httpx.get(f"http://127.0.0.1:{metrics}/lake/a", headers=signed, timeout=PATIENCE).status_code == 404
        assert request(port, "GET", "/repositories")[0] == 200
        assert server.stop() == 0
    finally:
        server.end()


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("LAKEBED_METRICS_TOKEN", "short", "metrics.token has 5 characters"),
        ("LAKEBED_METRICS_LISTEN", "9464", "metrics.listen: expected address:port"),
    ],
)
def test_a_wrong_setting_is_refused(tmp_path: Path, name: str, value: str, says: str) -> None:
    server = Process("--port", "0", "--data-dir", str(tmp_path / "data"), HOME=str(tmp_path), **PAIR, **{name: value})
    assert server.wait() == 2
    assert says in "".join(server.said)
