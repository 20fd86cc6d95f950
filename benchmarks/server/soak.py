"""A long run of real servers on PostgreSQL and a bucket under mixed load: memory, open files, restarts, alerts, fsck.

    python -m benchmarks.server.soak [--minutes 10] [--servers 1] [--threads 4] [--outage 0]

Threads put, read, list, commit, merge and publish through a load balancer. The run samples the memory and the open
files of each server, and scrapes its metrics. With more than one server it restarts each in turn, ten times in the
run. With `--outage` it takes PostgreSQL away for these seconds in the middle, with the load paused, and the alert
LakebedKeyValueStoreDown of deploy/monitoring/alerts.yaml must fire if that is longer than its time. At the end
`lakebed fsck --data` must find nothing. Any error that reaches a caller fails the run.
"""

from __future__ import annotations

import argparse
import itertools
import operator
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import lakebed
import psutil
import yaml

from tests.monitoring.balancer import Balancer
from tests.monitoring.scraping import Scrape, scrape
from tests.server.serving import PAIR, Process
from tests.support.processes.ports import reserved_ports
from tests.support.services.postgres import Postgres, running_postgres
from tests.support.services.s3 import shared
from tests.support.services.s3_settings import settings_of
from tests.support.waiting import PATIENCE, wait_until

MIB = 1 << 20
RESTARTS = 10
"""Rolling restarts in a run."""
MOST_GROWTH = 64 * MIB
"""Bytes of memory that a server may gain after the first fifth of its life."""
MOST_MORE_FILES = 32
ALERT = "LakebedKeyValueStoreDown"
_COMPARE: dict[str, Callable[[float, float], bool]] = {"==": operator.eq, ">": operator.gt}


class Apart(Process):
    """A server whose memory is its own, not that of the process that bears it."""

    is_apart = True


@dataclass(frozen=True)
class Sample:
    """A server at one moment. `seconds`: since its start. `memory`: resident bytes."""

    seconds: float
    memory: int
    files: int


@dataclass
class Load:
    """What the threads do. `done`: rounds. `idle`: set while they may not begin one."""

    stop: threading.Event = field(default_factory=threading.Event)
    go: threading.Event = field(default_factory=threading.Event)
    busy: dict[int, bool] = field(default_factory=dict)
    done: int = 0
    errors: list[BaseException] = field(default_factory=list)

    def run(self, repo: lakebed.Repository, number: int) -> None:
        """Rounds until `stop`. The first error ends the thread."""
        main = repo.branch("main")
        try:
            for step in itertools.count():
                self.busy[number] = False
                self.go.wait()
                if self.stop.is_set():
                    return
                self.busy[number] = True
                one_round(repo, main, number, step)
                self.done += 1
        except BaseException as error:
            self.errors.append(error)
        finally:
            self.busy[number] = False


def one_round(repo: lakebed.Repository, main: lakebed.Branch, number: int, step: int) -> None:
    """Write and read on a branch, merge it, and publish on main. A name comes again after 200 rounds."""
    name = f"{number}/{step % 200:03}"
    branch = repo.branch(f"soak-{number}").create("main")
    branch.put(f"{name}/a.bin", os.urandom(32 << 10))
    branch.put_many({f"{name}/{part}.txt": f"{number} {step} {part}".encode() for part in range(5)})
    branch.commit(f"round {step} of {number}")
    branch.merge_into(main)
    branch.drop()
    assert main.get(f"{name}/3.txt") == f"{number} {step} 3".encode()
    assert len(list(main.list(f"{name}/"))) == 6
    main.publish({f"{number}/latest": str(step).encode()}, f"publish {step} of {number}")


class Fleet:
    """The servers, by port, and what was sampled of them."""

    def __init__(self, place: Path, settings: Mapping[str, str], ports: list[int], metrics: list[int]) -> None:
        self.place, self.settings = place, settings
        self.metrics = dict(zip(ports, metrics, strict=True))
        self.running: dict[int, Process] = {}
        self.began: dict[int, float] = {}
        self.lives: list[list[Sample]] = []
        self._life: dict[int, list[Sample]] = {}

    def start(self, port: int) -> None:
        environment = {
            **self.settings,
            "LAKEBED_METRICS_LISTEN": f"127.0.0.1:{self.metrics[port]}",
            "LAKEBED_LOGGING_OUTPUT": str(self.place / f"{port}.log"),
        }
        flags = ("--port", str(port), "--data-dir", str(self.place / str(port)))
        self.running[port] = Apart(*flags, HOME=str(self.place), **PAIR, **environment)
        assert self.running[port].ready() == port
        self.began[port] = time.monotonic()
        self._life[port] = []
        self.lives.append(self._life[port])

    def stop(self, port: int) -> None:
        assert self.running.pop(port).stop() == 0, f"the server of port {port} did not stop well"

    def kill(self) -> None:
        for one in self.running.values():
            one.end()

    def sample(self) -> dict[int, Scrape]:
        """Note memory and files of each server. Returns their metrics."""
        for port, server in self.running.items():
            process = psutil.Process(server.process.pid)
            seconds = time.monotonic() - self.began[port]
            self._life[port].append(Sample(seconds, process.memory_info().rss, process.num_fds()))
        return {port: scrape(self.metrics[port]) for port in self.running}


def rule(alert: str) -> tuple[Callable[[Scrape], bool], float]:
    """The condition of an alert that compares one metric with a number, and the seconds for which it must hold."""
    file = Path(__file__).parents[2] / "deploy/monitoring/alerts.yaml"
    rules = [one for group in yaml.safe_load(file.read_text())["groups"] for one in group["rules"]]
    (found,) = [one for one in rules if one["alert"] == alert]
    metric, compared, bound = found["expr"].split()
    assert found["for"].endswith("m")
    return lambda scraped: _COMPARE[compared](scraped.value(metric), float(bound)), 60 * float(found["for"][:-1])


def outage(fleet: Fleet, load: Load, postgres: Postgres, seconds: float) -> None:
    """Take PostgreSQL away, and follow the alert by the metrics of each server. Fails if it does not fire in time."""
    holds, needed = rule(ALERT)
    load.go.clear()
    wait_until(lambda: not any(load.busy.values()), "the load pauses")
    postgres.stop()
    began, since, longest = time.monotonic(), 0.0, 0.0
    while time.monotonic() - began < seconds:
        time.sleep(1)
        if all(holds(found) for found in fleet.sample().values()):
            since = since or time.monotonic()
            longest = time.monotonic() - since
        else:
            since = 0.0
    postgres.start()
    wait_until(lambda: all(ready(port) for port in fleet.running), "the servers are ready again")
    fired = longest >= needed
    print(f"outage of {seconds:.0f} s: {ALERT} held for {longest:.0f} s of {needed:.0f} s, fired: {fired}")
    assert longest > 0, f"{ALERT} did not notice the outage"
    assert fired or seconds < needed + 30, f"{ALERT} did not fire"
    load.go.set()


def ready(port: int) -> bool:
    try:
        return httpx.get(f"http://127.0.0.1:{port}/_ready", timeout=PATIENCE).status_code == 200
    except httpx.HTTPError:
        return False


def follow(fleet: Fleet, load: Load, balancer: Balancer, postgres: Postgres, given: argparse.Namespace) -> None:
    """The time of the run: samples, restarts and the outage."""
    began, length = time.monotonic(), 60 * given.minutes
    restarts = [length * (number + 1) / (RESTARTS + 1) for number in range(RESTARTS if given.servers > 1 else 0)]
    outages = [length / 2] if given.outage else []
    while (spent := time.monotonic() - began) < length and not load.errors:
        fleet.sample()
        if outages and spent > outages[0]:
            outages.pop()
            outage(fleet, load, postgres, given.outage)
        if restarts and spent > restarts[0]:
            restarts.pop(0)
            for port in list(fleet.running):
                fleet.stop(port)
                fleet.start(port)
                wait_until(lambda port=port: balancer.is_ready(port), "the balancer sees the server again")  # type: ignore[misc]
        time.sleep(min(5, length / 60))


def report(fleet: Fleet, load: Load, seconds: float) -> bool:
    """Print what was seen. Returns whether no server grew beyond the bounds."""
    print(f"{load.done:,} rounds in {seconds:,.0f} s, {len(fleet.lives)} lives of servers, {len(load.errors)} errors")
    print("| life | seconds | memory, at 1/5 | memory, at the end | files, at 1/5 | files, at the end |")
    print("|--:|--:|--:|--:|--:|--:|")
    good = True
    for number, life in enumerate(fleet.lives):
        if len(life) < 5:
            continue
        warm, last = life[len(life) // 5], life[-1]
        memory = f"{warm.memory / MIB:.0f} MiB | {last.memory / MIB:.0f} MiB"
        print(f"| {number} | {last.seconds:.0f} | {memory} | {warm.files} | {last.files} |")
        good &= last.memory - warm.memory <= MOST_GROWTH and last.files - warm.files <= MOST_MORE_FILES
    return good


def fsck(settings: Mapping[str, str], data: Path) -> bool:
    """Whether `lakebed fsck --data` finds nothing."""
    command = [sys.executable, "-m", "lakebed.cli", "fsck", "soak", "--data", "--data-dir", str(data)]
    done = subprocess.run(command, env={**os.environ, **settings}, capture_output=True, text=True, check=False)
    print(done.stdout.strip(), done.stderr.strip())
    return done.returncode == 0


def main(given: argparse.Namespace) -> int:
    """Run it. Returns 1 if anything was wrong."""
    s3 = shared("seaweedfs")
    with ExitStack() as stack:
        place = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        postgres = stack.enter_context(running_postgres())
        ports = stack.enter_context(reserved_ports(given.servers))
        settings: dict[str, Any] = {
            **settings_of(s3),
            "LAKEBED_KV_TYPE": "postgres",
            "LAKEBED_KV_POSTGRES_DSN": postgres.dsn,
            "LAKEBED_AUTH_SECRET_KEY": "the secret that all of the servers share",
            "LAKEBED_SERVER_DRAIN": "1s",
            "LAKEBED_CACHE_MEMORY": "32MiB",  # full within minutes: what grows after that is no cache
        }
        fleet = Fleet(place, settings, ports, stack.enter_context(reserved_ports(given.servers)))
        stack.callback(fleet.kill)
        for port in ports:
            fleet.start(port)
        balancer = stack.enter_context(Balancer(ports))
        wait_until(lambda: all(balancer.is_ready(port) for port in ports), "the balancer sees all servers")
        load, began = Load(), time.monotonic()
        lake = lakebed.connect(f"http://127.0.0.1:{balancer.port}", *PAIR.values(), timeout=PATIENCE)
        repo = stack.enter_context(lake).repository("soak").create(s3.namespace())
        threads = [threading.Thread(target=load.run, args=(repo, number)) for number in range(given.threads)]
        load.go.set()
        for thread in threads:
            thread.start()
        try:
            follow(fleet, load, balancer, postgres, given)
        finally:
            load.stop.set()
            load.go.set()
            for thread in threads:
                thread.join()
        good = report(fleet, load, time.monotonic() - began)
        for error in load.errors[:3]:
            print(f"an error reached a caller: {error!r}")
        sound = fsck(settings, place / str(ports[0]))
    return 0 if good and sound and not load.errors and load.done else 1


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--servers", type=int, default=1)
    parser.add_argument("--threads", type=int, default=4)
    parser.add_argument("--outage", type=float, default=0, metavar="SECONDS")
    sys.exit(main(parser.parse_args()))
