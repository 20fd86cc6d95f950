"""One run of the histories: servers, clients, faults, and the judgement; or runs of servers with a mistake in them.

    python -m tests.histories.run --seconds 600             # prints its seed
    python -m tests.histories.run --seconds 600 --seed N    # the same plan of faults again
    python -m tests.histories.run --seconds 600 --mutants --json=report.json
    python -m tests.histories.run --only-mutant stale_cache # servers with a mistake in them

Exit code 1 when something was wrong. The history of a run that is wrong is kept below `.cache/histories`.
"""

from __future__ import annotations

import argparse
import random
import secrets
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import httpx
import msgspec

from tests.histories.broken_server import MUTANTS
from tests.histories.client import Client
from tests.histories.cluster import Cluster
from tests.histories.faults import Faults, plan
from tests.histories.history import History
from tests.histories.judge import Found, Listing, judge
from tests.histories.workload import MAIN, TRUNK, Shared, Workload
from tests.support.services.postgres import Postgres, running_postgres
from tests.support.services.s3 import S3Server, running_seaweedfs
from tests.support.waiting import PATIENCE

CLIENTS = 8
KEPT = Path(__file__).parents[2] / ".cache" / "histories"

MUTANT_RUNS = 5
"""Seeds within which each mutant must be caught."""

_MUTANT_SECONDS = {"unsynced_database": 12.0}
_SHORT = 8.0
"""Seconds of a run of any other mutant. What one of them breaks is seen without any fault."""

_CRASHES, _MUTANT_CRASHES = 20.0, 4.0
"""Seconds between two crashes of the database, on average."""

_LISTED = 300
"""Commits of a run whose content is looked at, at most."""


class Result(msgspec.Struct, kw_only=True):
    """What one run came to. `operations` are counted by kind and outcome, `faults` by kind."""

    seed: int
    seconds: float
    operations: dict[str, dict[str, int]]
    faults: dict[str, int]
    commits: int
    registers: int
    steps: int
    wrong: list[str]
    history: str


class Caught(msgspec.Struct, kw_only=True):
    """What became of a mutant: in how many runs it was caught, and what was seen. `runs` 0: in none."""

    mutant: str
    runs: int
    seen: str


class Report(msgspec.Struct, kw_only=True):
    """Of the program."""

    run: Result
    mutants: list[Caught]


@contextmanager
def stores() -> Iterator[tuple[Postgres, S3Server]]:
    """What all servers share: a PostgreSQL that can be killed, and a SeaweedFS."""
    with running_postgres() as postgres, running_seaweedfs() as bucket:
        yield postgres, bucket


def run(postgres: Postgres, bucket: S3Server, seed: int, seconds: float, *, mutant: str = "") -> Result:
    """Put three servers under load and faults, and judge what the clients saw. Keeps the history of a wrong run."""
    print(f"seed {seed}", flush=True)
    with tempfile.TemporaryDirectory(prefix="lakebed-histories-") as folder:
        place = Path(folder)
        history = History(place / "history.jsonl")
        program = [str(Path(__file__).with_name("broken_server.py"))] if mutant else []
        schema = f"h{secrets.token_hex(4)}"
        kept = KEPT / f"history-{mutant or 'true'}-{seed}.jsonl"
        try:
            with Cluster(place, postgres, bucket, schema, program, mutant) as cluster:
                shared = Shared(_prepared(cluster))
                faults = Faults(cluster, plan(seed, seconds, _MUTANT_CRASHES if mutant else _CRASHES))
                _load(cluster, shared, history, faults, seed, seconds)
                found = _look(cluster, shared, history, random.Random(seed))
            verdict = judge(history.events, found)
        except Exception:
            print(f"the history is kept: {_keep(history, kept)}", flush=True)
            raise
        return Result(
            seed=seed,
            seconds=seconds,
            operations=history.counts(),
            faults=dict(sorted(faults.done.items())),
            commits=sum(len(log) - 1 for log in found.logs.values()),
            registers=verdict.registers,
            steps=verdict.steps,
            wrong=verdict.wrong,
            history=_keep(history, kept) if verdict.wrong else "",
        )


def _keep(history: History, path: Path) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(history.path, path)
    return str(path)


def hunt(postgres: Postgres, bucket: S3Server, mutant: str) -> Caught:
    """Run servers with a mistake in them under fresh seeds until the histories show it."""
    for number in range(1, MUTANT_RUNS + 1):
        seconds = _MUTANT_SECONDS.get(mutant, _SHORT)
        done = run(postgres, bucket, fresh_seed(), seconds, mutant=mutant)
        if done.wrong:
            Path(done.history).unlink()
            return Caught(mutant=mutant, runs=number, seen=done.wrong[0])
    return Caught(mutant=mutant, runs=0, seen="")


def fresh_seed() -> int:
    """A new random seed."""
    return secrets.randbelow(1 << 32)


def _prepared(cluster: Cluster) -> str:
    """Make the repository and its branches. The id of its first commit."""
    with httpx.Client(auth=cluster.key(), timeout=PATIENCE, trust_env=False) as admin:
        api = f"{cluster.endpoints[0]}/api/v1/repositories"
        admin.post(api, json={"name": "lake", "storage_namespace": cluster.namespace}).raise_for_status()
        made = admin.post(f"{api}/lake/branches", json={"name": TRUNK, "source": MAIN})
        made.raise_for_status()
        return made.text


def _keys(cluster: Cluster) -> list[tuple[str, str]]:
    """An access key for each client."""
    with httpx.Client(auth=cluster.key(), timeout=PATIENCE, trust_env=False) as admin:
        api = f"{cluster.endpoints[0]}/api/v1"
        user = admin.get(f"{api}/user").raise_for_status().json()["user"]["id"]
        made = [admin.post(f"{api}/auth/users/{user}/credentials").raise_for_status().json() for _ in range(CLIENTS)]
        return [(one["access_key_id"], one["secret_access_key"]) for one in made]


def _load(cluster: Cluster, shared: Shared, history: History, faults: Faults, seed: int, seconds: float) -> None:
    """All clients at work while the faults happen. Raises what a client failed with, that no answer explains."""
    with ExitStack() as stack:
        works = []
        for number, key in enumerate(_keys(cluster)):
            client = Client(number, key, lambda: cluster.endpoints, history, random.Random(f"{seed} client {number}"))
            stack.callback(client.close)
            works.append(Workload(client, shared))
        threads = stack.enter_context(ThreadPoolExecutor(CLIENTS))
        stack.callback(shared.ending.set)
        stack.enter_context(faults)
        shared.started = time.monotonic()
        print(f"{CLIENTS} clients at work, and faults, for {seconds:.0f} s", flush=True)
        jobs = [threads.submit(one.run) for one in works]
        while time.monotonic() < shared.started + seconds and not any(one.done() for one in jobs):
            shared.ending.wait(0.1)
        shared.ending.set()
        for job in jobs:
            job.result()


def _look(cluster: Cluster, shared: Shared, history: History, chance: random.Random) -> Found:
    """Read everything again, through servers without faults."""
    client = Client(CLIENTS, cluster.key(), lambda: cluster.endpoints, history, chance, patience=(60.0, 60.0))
    try:
        logs = {branch: _log(client, branch) for branch in (MAIN, TRUNK)}
        Workload(client, shared).read_again(list(history.events))
        commits = [one for one in history.events if one.act == "commit" and one.seen]
        listings = {}
        for one in chance.sample(commits, min(_LISTED, len(commits))):
            folder = f"e{shared.epoch(one.call)}"
            found = _read(client, f"/refs/{one.seen}/objects/ls", prefix=f"{folder}/", amount=1000)
            if found is not None:  # else it was acknowledged and is not there, which its branch's history shows
                checksums = {item["path"]: item["checksum"] for item in found["results"]}
                listings[str(one.seen)] = Listing(folder, checksums)
        return Found(logs, listings)
    finally:
        client.close()


def _log(client: Client, branch: str) -> list[tuple[str, str]]:
    """The first-parent history of a branch, the oldest commit first."""
    commits: list[tuple[str, str]] = []
    while True:
        after = {"after": commits[-1][0]} if commits else {}
        page = _read(client, f"/refs/{branch}/commits", first_parent="true", amount=1000, **after)
        assert page is not None, f"branch {branch} is gone"
        commits += [(one["id"], one["message"]) for one in page["results"]]
        if not page["pagination"]["has_more"]:
            return commits[::-1]


def _read(client: Client, target: str, **params: Any) -> Any:
    """What a server answers, asked until one does; None when it is not there."""
    deadline = time.monotonic() + PATIENCE
    while (answer := client.ask("GET", target, params=params, ok=(200, 404))).outcome != "ok":
        assert time.monotonic() < deadline, f"{target}: {answer.text}"
        time.sleep(0.1)
    return answer.json() if answer.found else None


def summary(result: Result) -> str:
    """A run for people."""
    lines = [f"seed {result.seed}, {result.seconds:.0f} s: {sum(result.faults.values())} faults {result.faults}"]
    lines += [f"  {act:14s} {counts}" for act, counts in result.operations.items()]
    lines += [f"{result.registers} registers, {result.steps} steps, {result.commits} commits in history"]
    lines += [f"WRONG: {one}" for one in result.wrong[:10]]
    lines += [f"{len(result.wrong)} violations" + (f"; the history is kept: {result.history}" if result.wrong else "")]
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=30.0, help="of load and faults")
    parser.add_argument("--seed", type=int, default=None, help="of the plan of faults and of what clients choose")
    parser.add_argument("--mutants", action="store_true", help="also run servers with a mistake until it is seen")
    parser.add_argument("--only-mutant", choices=sorted(MUTANTS), help="run the servers of --seconds with this mistake")
    parser.add_argument("--json", type=Path, help="write a report")
    options = parser.parse_args(arguments)
    seed = fresh_seed() if options.seed is None else options.seed
    with stores() as (postgres, bucket):
        result = run(postgres, bucket, seed, options.seconds, mutant=options.only_mutant or "")
        print(summary(result), flush=True)
        caught = [hunt(postgres, bucket, one) for one in MUTANTS] if options.mutants else []
    for one in caught:
        print(f"{one.mutant}: caught in run {one.runs}: {one.seen}" if one.runs else f"{one.mutant}: NOT CAUGHT")
    if options.json is not None:
        options.json.write_bytes(msgspec.json.encode(Report(run=result, mutants=caught)))
    return 1 if result.wrong or not all(one.runs for one in caught) else 0


if __name__ == "__main__":
    sys.exit(main())
