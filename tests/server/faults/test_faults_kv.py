"""A PostgreSQL that stops, dies, turns read-only or is locked under a real server; KV stores of a newer Lakebed."""

from __future__ import annotations

import asyncio
import itertools
import re
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple
from uuid import uuid4

import apsw
import asyncpg
import httpx
import pytest

from tests.server.support import refused
from tests.support.faults.scene import Scene, run_verb, well
from tests.support.processes.server import RunningServer, running_server
from tests.support.services.postgres import PASSWORD, Postgres, running_postgres
from tests.support.steady import steady
from tests.support.waiting import wait_until

pytestmark = pytest.mark.slow

VERBS = ("upload", "commit", "merge", "create")


class Lake(NamedTuple):
    """A server over a PostgreSQL of its own."""

    server: RunningServer
    environment: dict[str, str]
    postgres: Postgres

    def scene(self) -> Scene:
        return Scene(self.server, f"local://f-{uuid4().hex[:12]}", self.environment)


def settings_of(postgres: Postgres) -> dict[str, str]:
    return {"LAKEBED_KV_TYPE": "postgres", "LAKEBED_KV_POSTGRES_DSN": postgres.dsn}


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lake]:
    with (
        running_postgres() as postgres,
        running_server(tmp_path_factory, environment=settings_of(postgres)) as server,
    ):
        yield Lake(server, settings_of(postgres), postgres)
        assert PASSWORD not in server.log


async def tell(postgres: Postgres, *statements: str) -> None:
    """Run statements, each on its own."""
    connection = await asyncpg.connect(postgres.dsn)
    try:
        for statement in statements:
            await connection.execute(statement)
    finally:
        await connection.close()


@pytest.mark.parametrize("how", ["stop", "kill"])
def test_requests_fail_while_postgres_is_down_and_succeed_after(lake: Lake, how: str) -> None:
    with lake.scene() as scene:
        (lake.postgres.stop if how == "stop" else lake.postgres.kill)()
        try:
            answers = scene.attempt(*VERBS, "read", "list")
        finally:
            lake.postgres.start()
        for answer in answers.values():
            refused(answer, "store_unavailable", "the KV store does not answer; check that it is running", retry=True)
        scene.is_unhurt()
        scene.goes_on()


@steady()
def test_requests_survive_a_short_outage(lake: Lake) -> None:
    """It is back within the driver's patience of five seconds: requests wait for it."""
    with lake.scene() as scene:
        lake.postgres.stop()
        back = threading.Timer(0.2, lake.postgres.start)
        back.start()
        answers = scene.attempt("upload", "read", "list")
        back.join()
        assert {verb: answer.status_code for verb, answer in answers.items()} == {
            "upload": 201,
            "read": 200,
            "list": 200,
        }
        assert scene.uncommitted() == ["b", "x"]


def test_acknowledged_writes_survive_a_crash_of_postgres(lake: Lake) -> None:
    """Acknowledged writes are stored; refused ones are not; the rest may be either."""
    with lake.scene() as scene:
        outcomes: dict[str, httpx.Response] = {}
        enough = threading.Event()

        def write(writer: int) -> None:
            turns = itertools.count()
            while not enough.is_set():
                path = f"w/{writer}/{next(turns):02}"
                outcomes[path] = scene.upload("main", path, path.encode())

        def written() -> int:
            return sum(answer.is_success for answer in list(outcomes.values()))

        with ThreadPoolExecutor(4) as threads:
            writers = [threads.submit(write, number) for number in range(4)]
            try:
                wait_until(lambda: written() > 20, "writes before it dies")
                lake.postgres.kill()
                lake.postgres.start()
                before = written()
                wait_until(lambda: written() > before + 20, "writes after it is back")
            finally:
                enough.set()
            for one in writers:
                one.result()
        kinds = {path: "" if answer.is_success else answer.json()["kind"] for path, answer in outcomes.items()}
        assert set(kinds.values()) <= {"", "store_unavailable", "outcome_unknown"}
        there = set(scene.uncommitted())
        assert there >= {path for path, kind in kinds.items() if kind == ""}
        assert there.isdisjoint(path for path, kind in kinds.items() if kind == "store_unavailable")
        assert scene.commit("main").status_code == 201
        assert {path for path in scene.paths() if path.startswith("w/")} == there - {"b"}
        scene.passes_fsck()


async def test_read_only_postgres_serves_reads_and_refuses_writes(lake: Lake) -> None:
    """As after a failover to a standby, or when its disk is nearly full."""
    with lake.scene() as scene:
        read_only = "ALTER SYSTEM SET default_transaction_read_only = "
        await tell(lake.postgres, f"{read_only} on", "SELECT pg_reload_conf()")
        try:
            answers = scene.attempt(*VERBS, "read", "list")
        finally:
            await tell(lake.postgres, f"{read_only} off", "SELECT pg_reload_conf()")
        assert answers.pop("read").content == b"first"
        assert [entry["path"] for entry in well(answers.pop("list"))["results"]] == ["a", "b"]
        for answer in answers.values():
            refused(
                answer, "store_full", "the KV store cannot be written, nothing was changed; .* writable", retry=False
            )
        scene.is_unhurt()
        scene.goes_on()


async def test_long_table_lock_serves_reads_and_refuses_writes(lake: Lake) -> None:
    @asynccontextmanager
    async def locked():  # type: ignore[no-untyped-def]
        connection = await asyncpg.connect(lake.postgres.dsn)
        try:
            async with connection.transaction():
                await connection.execute("LOCK TABLE lakebed.kv IN EXCLUSIVE MODE")
                yield
        finally:
            await connection.close()

    async def attempt(scene: Scene) -> dict[str, httpx.Response]:
        async with locked():
            return await asyncio.to_thread(scene.attempt, *VERBS, "read")

    with lake.scene() as scene:
        answers = await attempt(scene)
        assert answers.pop("read").content == b"first"
        for answer in answers.values():
            refused(answer, "store_unavailable", "a lock was held for too long, nothing was changed", retry=True)
        scene.is_unhurt()
        scene.goes_on()


# --- a newer Lakebed was here --------------------------------------------------------------------------------------

NEWER = (
    r"the KV store was written by a newer Lakebed; upgrade this installation \(it knows schema \d+, the store has 99\)"
)


def refuses_to_start(data_dir: Path, environment: dict[str, str], *flags: str) -> None:
    done = run_verb(data_dir, environment, "serve", "--port", "0", *flags)
    assert done.returncode == 1, done.stderr
    assert re.search(NEWER, done.stderr), done.stderr
    assert len(done.stderr.strip().splitlines()) == 1, done.stderr
    assert done.stdout == ""
    assert PASSWORD not in done.stderr
    fsck = run_verb(data_dir, environment, "fsck", "sales")
    assert fsck.returncode not in (0, 1), "1 says that something was found"
    assert re.search(NEWER, fsck.stderr), fsck.stderr


@pytest.mark.parametrize("flags", [(), ("--workers", "2")], ids=["one", "workers"])
def test_a_newer_sqlite_file_is_refused(tmp_path: Path, flags: tuple[str, ...]) -> None:
    data_dir = tmp_path / "data"
    with running_server(data_dir):
        pass
    with apsw.Connection(str(data_dir / "lakebed.db")) as connection:
        connection.pragma("user_version", 99)
    connection.close()
    before = (data_dir / "lakebed.db").read_bytes()
    refuses_to_start(data_dir, {}, *flags)
    assert (data_dir / "lakebed.db").read_bytes() == before


async def test_a_newer_postgres_schema_is_refused(lake: Lake, tmp_path: Path) -> None:
    schema = f"newer_{uuid4().hex[:16]}"
    environment = {**lake.environment, "LAKEBED_KV_POSTGRES_SCHEMA": schema}
    with running_server(tmp_path / "data", environment=environment):
        pass
    await tell(lake.postgres, f"UPDATE {schema}.lakebed_schema SET version = 99")
    refuses_to_start(tmp_path / "data", environment)


@pytest.mark.parametrize("damage", ["cut", "garbage", "another program's"])
def test_a_damaged_sqlite_file_is_refused(tmp_path: Path, damage: str) -> None:
    data_dir = tmp_path / "data"
    with running_server(data_dir) as server, Scene(server, "local://x", {}):
        pass
    path = data_dir / "lakebed.db"
    data = path.read_bytes()
    if damage == "another program's":
        path.unlink()
        with apsw.Connection(str(path)) as connection:
            connection.execute("CREATE TABLE theirs (a)")
        connection.close()
    else:
        path.write_bytes({"cut": data[: len(data) // 2], "garbage": b"\xa5" * len(data)}[damage])
    done = run_verb(data_dir, {}, "serve", "--port", "0")
    assert done.returncode == 1
    assert re.search("is damaged, or not a database; restore it|not a KV store of Lakebed", done.stderr), done.stderr
    assert "Traceback" not in done.stderr + done.stdout
