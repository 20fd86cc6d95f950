"""Alternating measurements: each round calls every client of a row once, and the client that begins changes."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass

Client = Callable[[], object]


@dataclass(frozen=True)
class Row:
    """One operation: the median seconds of each client, and the largest permitted ratio of `ours` to `peer`."""

    group: str
    name: str
    seconds: dict[str, float]
    ours: str = "lakebed"
    peer: str = ""
    at_most: float = 0.0
    note: str = ""

    @property
    def ratio(self) -> float | None:
        """Time of `ours` divided by the time of `peer`. Below 1, Lakebed is faster."""
        return self.seconds[self.ours] / self.seconds[self.peer] if self.peer else None

    @property
    def is_met(self) -> bool:
        """Whether the ratio is within its bound."""
        return self.ratio is None or not self.at_most or self.ratio <= self.at_most

    def as_json(self) -> dict[str, object]:
        """For benchmarks/clients.json."""
        return {**asdict(self), "ratio": self.ratio}


def timed(call: Client) -> float:
    """Seconds of one call."""
    begin = time.perf_counter()
    call()
    return time.perf_counter() - begin


def alternating(clients: dict[str, Client], rounds: int) -> dict[str, float]:
    """The median seconds of each client over the rounds, after one call each that does not count."""
    times: dict[str, list[float]] = {name: [] for name in clients}
    for call in clients.values():
        call()
    names = list(clients)
    for number in range(rounds):
        start = number % len(names)
        for name in names[start:] + names[:start]:
            times[name].append(timed(clients[name]))
    return {name: statistics.median(values) for name, values in times.items()}


def times_of(count: int, call: Callable[[int], object]) -> Client:
    """A client that makes `count` calls, one after another."""

    def run() -> None:
        for number in range(count):
            call(number)

    return run


def table(rows: list[Row]) -> str:
    """The rows as a Markdown table. Times are milliseconds."""
    lines = ["| operation | Lakebed | others | ratio | at most |", "|---|--:|---|--:|--:|"]
    for row in rows:
        own = row.seconds[row.ours] * 1000
        others = ", ".join(f"{name} {value * 1000:,.1f}" for name, value in row.seconds.items() if name != row.ours)
        ratio = "" if row.ratio is None else f"{row.ratio:.2f}"
        bound = f"{row.at_most:g} to {row.peer}" + ("" if row.is_met else " **MISSED**") if row.at_most else ""
        note = f" ({row.note})" if row.note else ""
        lines.append(f"| {row.name}{note} | {own:,.1f} | {others} | {ratio} | {bound} |")
    return "\n".join(lines)
