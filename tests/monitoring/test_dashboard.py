"""The dashboard and the alert rules name only metrics that a real server under load shows, and all kinds of them."""

from __future__ import annotations

import itertools
import json
import re
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import lakebed
import pytest
import yaml
from lakebed_server.metrics.catalogue import catalogue
from lakebed_server.process.observe import operation_ids

from tests.monitoring.promql import metrics_of
from tests.monitoring.scraping import Scrape, connect, scrape
from tests.support.processes.ports import reserved_ports
from tests.support.processes.server import running_server
from tests.support.services.debian import program
from tests.support.waiting import PATIENCE, wait_until

FOLDER = Path(__file__).resolve().parents[2] / "deploy" / "monitoring"
DASHBOARD: Any = json.loads((FOLDER / "grafana-dashboard.json").read_text())
ALERTS: Any = yaml.safe_load((FOLDER / "alerts.yaml").read_text())
RULES: list[dict[str, Any]] = [rule for group in ALERTS["groups"] for rule in group["rules"]]
SCRAPED_BY_PROMETHEUS = {"up"}

SETTINGS = {
    "LAKEBED_HISTORY_ENABLED": "true",
    "LAKEBED_CLEANUP_SWEEP_INTERVAL": "1s",
    "LAKEBED_CLEANUP_GRACE": "1s",
}


def expressions() -> Iterator[tuple[str, str]]:
    """Every expression, with its place."""
    for rule in RULES:
        yield rule["alert"], rule["expr"]
    for panel in DASHBOARD["panels"]:
        for target in panel.get("targets", ()):
            yield panel["title"], target["expr"]
    variable = next(one for one in DASHBOARD["templating"]["list"] if one["name"] == "instance")
    found = re.fullmatch(r"label_values\((\w+), \w+\)", variable["query"]["query"])
    assert found is not None
    yield "the variable instance", found[1]


@pytest.fixture(scope="module")
def scraped(tmp_path_factory: pytest.TempPathFactory) -> Scrape:
    """A scrape of a server with two processes that works."""
    directory = tmp_path_factory.mktemp("monitored") / "data"
    with reserved_ports(1) as (port,):
        environment = {**SETTINGS, "LAKEBED_METRICS_LISTEN": f"127.0.0.1:{port}"}
        with running_server(directory, flags=["--workers", "2"], environment=environment) as server:
            connect(server).repository("lake").create("local://lake")
            stop = threading.Event()

            def work(number: int) -> None:
                main = connect(server).repository("lake").branch("main")
                for step in itertools.count():
                    if stop.wait(0.02):  # a steady load: as fast as it can would take both cores
                        return
                    main.put(f"{number}", b"%d" % step)
                    main.get(f"{number}")
                    try:
                        main.commit("m")
                    except lakebed.NothingToCommitError:
                        continue

            threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
            for thread in threads:
                thread.start()
            try:
                wait_until(lambda: scrape(port).value("lakebed_commits_total") > 20, "the load is there")
                wait_until(lambda: "lakebed_sweep_age_seconds" in scrape(port).names, "a sweep has ended")
                return scrape(port)
            finally:
                stop.set()
                for thread in threads:
                    thread.join(PATIENCE)


@pytest.mark.slow
def test_every_metric_of_a_rule_or_panel_is_in_a_real_scrape(scraped: Scrape) -> None:
    for place, expression in expressions():
        for name in metrics_of(expression) - SCRAPED_BY_PROMETHEUS:
            assert name in scraped.names, f"{place} names {name}, which no server shows"


@pytest.mark.slow
def test_every_metric_of_the_catalogue_is_in_a_real_scrape(scraped: Scrape) -> None:
    for metric in catalogue(operation_ids()):
        name = f"{metric.name}_bucket" if metric.kind == "histogram" else metric.name
        assert name in scraped.names, name


def test_every_metric_is_on_the_dashboard() -> None:
    shown = {name.removesuffix("_bucket") for _, expression in expressions() for name in metrics_of(expression)}
    assert shown - SCRAPED_BY_PROMETHEUS == {one.name for one in catalogue(["x"])} | {"lakebed_build_info"}


def test_label_values_of_matchers_are_known() -> None:
    known = {metric.name: metric.labels for metric in catalogue(operation_ids())}
    checked = 0
    for place, expression in expressions():
        for name, matchers in re.findall(r"(lakebed_\w+)\{([^}]*)\}", expression):
            labels = known.get(name.removesuffix("_bucket"), {"version": ()})
            for label, sign, value in re.findall(r'(\w+)\s*(=~|!~|!=|=)\s*"([^"]*)"', matchers):
                if label != "instance" and sign in ("=", "!="):
                    assert value in labels[label], (place, label, value)
                    checked += 1
    assert checked > 5


def test_the_page_explains_every_alert() -> None:
    page = (FOLDER.parents[1] / "docs" / "monitoring.md").read_text()
    rows = re.findall(r"^\| `(Lakebed\w+)` \| (\w+) \| .+ \|$", page, re.MULTILINE)
    assert rows == [(rule["alert"], rule["labels"]["severity"]) for rule in RULES]


@pytest.mark.slow
@pytest.mark.parametrize("command", [("check", "rules", "alerts.yaml"), ("test", "rules", "alerts_test.yaml")])
def test_promtool_accepts_the_rules(command: tuple[str, ...]) -> None:
    promtool = program("promtool", "prometheus")
    done = subprocess.run([promtool, *command], cwd=FOLDER, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("expression", "names"),
    [
        ("a", {"a"}),
        ('sum by (le, b) (rate(c_bucket{d="e", f=~"g"}[5m])) / h > 1e3', {"c_bucket", "h"}),
        ("histogram_quantile(0.99, sum without (x) (rate(a[1h30m]))) or on (y) group_left (z) b offset 5m", {"a", "b"}),
        ('topk(10, a{b="sum(c)"}) unless (d == bool 1) # e', {"a", "d"}),
        ("sum(rate(a[$__rate_interval])) by (b)", {"a"}),
        ("time() - min by (i) (a) > 3 * 86400 and increase(b[15m]) > 0", {"a", "b"}),
    ],
)
def test_names_are_found_in_expressions(expression: str, names: set[str]) -> None:
    assert metrics_of(expression) == names
