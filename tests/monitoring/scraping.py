"""What the tests of metrics share: a scrape of a real server, read by the parser of `prometheus_client`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import httpx
import lakebed
from prometheus_client.parser import text_string_to_metric_families

from tests.support.processes.server import RunningServer
from tests.support.waiting import PATIENCE


@dataclass(frozen=True)
class Sample:
    """One line of a scrape."""

    name: str
    labels: dict[str, str]
    value: float


class Scrape:
    """The samples of one scrape."""

    def __init__(self, text: str) -> None:
        self.families = {family.name: family for family in text_string_to_metric_families(text)}
        self.samples = [
            Sample(one.name, one.labels, one.value) for family in self.families.values() for one in family.samples
        ]
        self.names = {one.name for one in self.samples}

    def value(self, name: str, **labels: str) -> float:
        """The sum of the samples with these labels; 0 without any."""
        return sum(one.value for one in self.samples if one.name == name and labels.items() <= one.labels.items())


def scrape(port: int, path: str = "/metrics", **headers: str) -> Scrape:
    answer = httpx.get(f"http://127.0.0.1:{port}{path}", headers=headers, timeout=PATIENCE)
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"].startswith("text/plain; version=")
    return Scrape(answer.text)


def connect(server: RunningServer) -> lakebed.Lake:
    return lakebed.connect(server.endpoint, server.access_key_id, server.secret_access_key, timeout=PATIENCE)


def lines_of(text: str) -> Iterator[str]:
    """The lines of a scrape that are samples."""
    return (line for line in text.splitlines() if not line.startswith("#"))
