"""What permissions and the access history cost: servers with and without them, in paired runs; and with many users.

    python -m benchmarks.access_control [--rounds 40]

Three servers run all the time: `auth.mode: single`; permissions, with a user who has 20 policies of 20 statements; and
the same with the access history. Each round asks all for the same work, in changing order. The table has the median
over the rounds of (rate / rate of `single`), by time and by the server's CPU, and for the history against permissions.

The second table compares 50,000 users and 5,000 groups with 10 users and 5 groups, on SQLite in one process.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import http.client
import json
import statistics
import tempfile
import time
from base64 import b64encode
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from lakebed_engine.stores.kv.base import Batch, Put
from lakebed_engine.stores.kv.sqlite.store import SqliteKV
from lakebed_server.access import opening
from lakebed_server.access.directory import Directory
from lakebed_server.access.permissions import Permissions
from lakebed_server.access.rows import Group, Holder, StoredPolicy
from lakebed_server.auth.credentials import CredentialStore
from lakebed_server.auth.records import PARTITION, User
from lakebed_server.auth.secret_key import configured
from lakebed_server.signin.identity import GroupRules, Identity, resolve

from tests.support.processes.server import RunningServer, running_server

SECRET_KEY = "the secret key of all servers of this benchmark"
NOW = 1_700_000_000
REPOSITORY = "/api/v1/repositories/lake"
LAKE = "arn:lakefs:fs:::repository/lake"
WORK = {"put of 4 KiB": 150, "stat": 500, "list": 250, "commit": 60}
MODES = {
    "single": {"LAKEBED_AUTH_MODE": "single"},
    "permissions": {},
    "history": {"LAKEBED_HISTORY_ENABLED": "true"},
}


class Side(NamedTuple):
    """A server, a connection to it, and the credentials of its user."""

    connection: http.client.HTTPConnection
    authorization: str
    pid: int

    def ask(self, method: str, target: str, body: bytes | None = None) -> None:
        """One request, which must succeed."""
        is_json = body is not None and body[:1] == b"{"
        headers = {"authorization": self.authorization, "content-type": "application/json" if is_json else "text/csv"}
        self.connection.request(method, REPOSITORY + target, body, headers)
        answer = self.connection.getresponse()
        answer.read()
        if answer.status >= 300:
            raise RuntimeError(f"{method} {target}: {answer.status}")

    def cpu(self) -> float:
        """Seconds of CPU that the threads of the server have used, in nanoseconds exactly: a tick is 10 ms."""
        threads = Path(f"/proc/{self.pid}/task").iterdir()
        return sum(int((thread / "schedstat").read_text().split()[0]) for thread in threads) / 1e9


def policies() -> Iterator[list[dict[str, Any]]]:
    """20 policies of 20 statements. The last one allows everything in the repository."""
    for number in range(20):
        own = LAKE + ("" if number == 19 else str(number))
        statements = [_statement("allow", "fs:ReadObject", f"{own}/object/data{one}/*") for one in range(18)]
        statements.append(_statement("deny", "fs:WriteObject", f"{LAKE}/object/secret{number}/*"))
        statements.append(
            _statement("allow", "fs:*", [LAKE, f"{LAKE}/*"])
            if number == 19
            else _statement("allow", "fs:Read*", f"{own}/*")
        )
        yield statements


def _statement(effect: str, action: str, resource: str | list[str]) -> dict[str, Any]:
    return {"effect": effect, "action": [action], "resource": resource}


async def add_user(database: Path) -> str:
    """Add the user with these policies to a server's database. Returns the user's credentials as `id:secret`."""
    kv = SqliteKV(database, durable=False)
    directory, store = Directory(kv), CredentialStore(kv, configured(SECRET_KEY, ""))
    await directory.create_user(User("ana", NOW))
    for number, statements in enumerate(policies()):
        raw = msgspec.Raw(msgspec.json.encode(statements))
        await directory.create_policy(StoredPolicy(f"p{number}", NOW, raw))
        await directory.attach(Holder("user", "ana"), f"p{number}")
    made = await store.add("ana", NOW)
    await kv.close()
    return f"{made.access_key_id}:{made.secret_access_key}"


def prepared(name: str, server: RunningServer) -> Side:
    """A server with the repository and the user."""
    pair = admin = f"{server.access_key_id}:{server.secret_access_key}"
    connection = http.client.HTTPConnection("127.0.0.1", int(server.endpoint.rsplit(":", 1)[1]))
    body = json.dumps({"name": "lake", "storage_namespace": "local://lake"})
    headers = {"authorization": _basic(admin), "content-type": "application/json"}
    connection.request("POST", "/api/v1/repositories", body, headers)
    answer = connection.getresponse()
    answer.read()
    if answer.status != 201:
        raise RuntimeError(f"the repository was not created: {answer.status}")
    if name != "single":
        pair = asyncio.run(add_user(server.data_dir / "lakebed.db"))
    return Side(connection, _basic(pair), server.process.pid)


def _basic(pair: str) -> str:
    return "Basic " + b64encode(pair.encode()).decode()


def work(side: Side, operation: str, count: int) -> tuple[float, float]:
    """Seconds of the client and of the server's CPU for some requests, one after another."""
    body = bytes(4096)
    began, used = time.perf_counter(), side.cpu()
    for number in range(count):
        if operation == "stat":
            side.ask("GET", "/refs/main/objects/stat?path=data1/a1")
        elif operation == "list":
            side.ask("GET", "/refs/main/objects/ls?prefix=data1/")
        elif operation == "commit":
            side.ask("POST", "/branches/main/commits", b'{"message": "m", "allow_empty": true}')
        else:
            side.ask("POST", f"/branches/main/objects?path=data1/a{number % 50}", body)
    return time.perf_counter() - began, side.cpu() - used


def compare_servers(rounds: int) -> None:
    """Print the first table."""
    with contextlib.ExitStack() as stack:
        top = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        shared = {"LAKEBED_AUTH_SECRET_KEY": SECRET_KEY, "LAKEBED_DURABILITY": "process"}
        sides = {
            name: prepared(name, stack.enter_context(running_server(top / name, environment={**shared, **more})))
            for name, more in MODES.items()
        }
        print("| operation | permissions / single: rate, CPU | history / permissions: rate, CPU |\n|---|--:|--:|")
        for operation, count in WORK.items():
            for side in sides.values():
                work(side, operation, min(count, 100))
            taken: list[dict[str, tuple[float, float]]] = []
            for number in range(rounds):
                order = list(sides)[number % 3 :] + list(sides)[: number % 3]
                taken.append({name: work(sides[name], operation, count) for name in order})
            columns = [ratio(taken, *pair) for pair in (("single", "permissions"), ("permissions", "history"))]
            print(f"| {operation} | {' | '.join(columns)} |")


def ratio(taken: list[dict[str, tuple[float, float]]], base: str, other: str) -> str:
    """The median over the rounds of (rate of `other` / rate of `base`), by time and by CPU, as text."""
    return ", ".join(
        f"{statistics.median(one[base][kind] / max(one[other][kind], 1e-9) for one in taken):.2f}" for kind in (0, 1)
    )


class Installation(NamedTuple):
    """A directory of users in SQLite."""

    kv: SqliteKV
    directory: Directory
    store: CredentialStore


async def installed(database: Path, users: int, groups: int) -> Installation:
    """Users, each in three groups, and groups, each with one policy."""
    kv = SqliteKV(database, durable=False)
    found = Installation(kv, Directory(kv), CredentialStore(kv, configured(SECRET_KEY, "")))
    await found.store.make_first_admin(NOW)
    await opening.prepare(kv, found.directory, "rbac", NOW)
    rows: list[tuple[str, object]] = []
    for number in range(groups):
        name = f"g{number:06}"
        rows += [(f"groups/{name}", Group(name, NOW)), (f"attached/group/{name}/FSReadAll", None)]
        rows.append((f"used-by/FSReadAll/group/{name}", None))
    for number in range(users):
        name = f"u{number:06}"
        rows.append((f"users/{name}", User(name, NOW)))
        for turn in range(3):
            group = f"g{(number * 7 + turn) % groups:06}"
            rows += [(f"members/{group}/{name}", None), (f"groups-of/{name}/{group}", None)]
    puts = [Put(PARTITION, key.encode(), msgspec.json.encode(value)) for key, value in rows]
    for start in range(0, len(puts), 2000):
        await kv.apply(Batch(puts=puts[start : start + 2000]))
    return found


async def _median(job: Callable[[int], Awaitable[object]], times: int = 60) -> float:
    taken = []
    for number in range(times):
        began = time.perf_counter()
        await job(number)
        taken.append(time.perf_counter() - began)
    return statistics.median(taken)


def jobs(found: Installation) -> dict[str, Callable[[int], Awaitable[object]]]:
    """What is measured in an installation."""

    async def change(number: int) -> None:
        holder = Holder("user", f"u{number % 10:06}")
        await found.directory.attach(holder, "FSReadAll")
        await found.directory.detach(holder, "FSReadAll")

    def sign_in(number: int) -> Awaitable[object]:
        name = f"new-{number}-{time.time_ns()}"
        return resolve(found.kv, Identity("issuer", name, name, groups=("Viewers",)), GroupRules(), NOW)

    return {
        "first sign-in of a user": sign_in,
        "effective policies of a user": lambda number: found.directory.effective_policies(f"u{number % 10:06}"),
        "policies read and compiled": lambda number: Permissions(found.directory).of(f"u{number % 10:06}"),
        "page of 10 users": lambda number: found.directory.users("u", "", 10),
        "access keys of a user": lambda number: found.store.list_of("admin", "", "", 10),
        "attach and detach a policy": change,
    }


async def compare_sizes() -> None:
    """Print the second table."""
    with tempfile.TemporaryDirectory() as top:
        small = await installed(Path(top) / "small.db", 10, 5)
        large = await installed(Path(top) / "large.db", 50_000, 5000)
        print("\n| in the directory | time with 50,000 users / with 10 users |\n|---|--:|")
        for name, job in jobs(small).items():
            ratios = [await _median(jobs(large)[name]) / await _median(job) for _ in range(5)]
            print(f"| {name} | {statistics.median(ratios):.2f} |")
        await small.kv.close()
        await large.kv.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=40)
    compare_servers(parser.parse_args().rounds)
    asyncio.run(compare_sizes())
