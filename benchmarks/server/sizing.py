"""What a server needs: memory when idle and after work, and bytes in the KV store for each commit and each change.

    python -m benchmarks.server.sizing [--commits 1000] [--changes 10000]

It starts a real server for each KV store and prints the table of the section "Sizing" in docs/deployment.md.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import sqlite3
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import asyncpg
import lakebed
import psutil

from benchmarks.servers import Server
from benchmarks.servers import lakebed as started_server
from tests.support.services.postgres import Postgres, running_postgres

MIB = 1 << 20


@dataclass(frozen=True)
class Found:
    """Memory in bytes (resident, of the server's process), and bytes of the KV store for one commit and one change."""

    idle: int
    worked: int
    commit: float
    change: float


def memory(server: Server) -> int:
    """The resident memory of a server and of its children."""
    one = psutil.Process(server.pid)
    return int(sum(process.memory_info().rss for process in [one, *one.children(recursive=True)]))


def sqlite_size(data: Path) -> int:
    """The bytes of the database, its log folded in."""
    with contextlib.closing(sqlite3.connect(data / "lakebed.db")) as database:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        pages, free, page = (
            database.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "freelist_count", "page_size")
        )
    return int((pages - free) * page)


def postgres_size(postgres: Postgres) -> int:
    """The bytes of the tables and indexes of Lakebed."""
    return asyncio.run(_postgres_size(postgres.dsn))


async def _postgres_size(dsn: str) -> int:
    connection = await asyncpg.connect(dsn)
    try:
        await connection.execute("VACUUM FULL")
        return int(
            await connection.fetchval(
                "SELECT sum(pg_total_relation_size(c.oid)) FROM pg_class c JOIN pg_namespace n"
                " ON n.oid = c.relnamespace WHERE n.nspname = 'lakebed' AND c.relkind = 'r'"
            )
        )
    finally:
        await connection.close()


def measured(server: Server, size: Callable[[], int], commits: int, changes: int) -> Found:
    """Commit, one object each time; then write objects and leave them uncommitted."""
    with lakebed.connect(*server.credentials) as lake:
        main = lake.repository("sizes").create("local://sizes").branch("main")
        main.put("first", b"x")
        main.commit("first")
        time.sleep(3)
        idle, before = memory(server), size()
        for number in range(commits):
            main.put(f"orders/{number % 100:03}.parquet", b"%d" % number)
            main.commit(f"load number {number}", metadata={"job": "nightly"})
        committed = size()
        main.put_many({f"events/day={number % 100:03}/part-{number:08}.parquet": b"x" for number in range(changes)})
        return Found(idle, memory(server), (committed - before) / commits, (size() - committed) / changes)


def main(commits: int, changes: int) -> None:
    """Print the table."""
    with contextlib.ExitStack() as stack:
        top = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        fast = {"LAKEBED_DURABILITY": "process"}
        with started_server(top / "sqlite", **fast) as server:
            sqlite = measured(server, lambda: sqlite_size(top / "sqlite"), commits, changes)
        postgres = stack.enter_context(running_postgres())
        on_postgres = {"LAKEBED_KV_TYPE": "postgres", "LAKEBED_KV_POSTGRES_DSN": postgres.dsn}
        with started_server(top / "postgres", **fast, **on_postgres) as server:
            other = measured(server, lambda: postgres_size(postgres), commits, changes)
    print("| measured | SQLite | PostgreSQL |\n|---|--:|--:|")
    print(f"| memory, idle | {sqlite.idle / MIB:.0f} MiB | {other.idle / MIB:.0f} MiB |")
    print(f"| memory, after the work | {sqlite.worked / MIB:.0f} MiB | {other.worked / MIB:.0f} MiB |")
    print(f"| KV store, for each commit | {sqlite.commit:,.0f} bytes | {other.commit:,.0f} bytes |")
    print(f"| KV store, for each uncommitted change | {sqlite.change:,.0f} bytes | {other.change:,.0f} bytes |")
    print(f"\n{commits:,} commits of one object, then {changes:,} objects with names of about 36 characters.")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--commits", type=int, default=1000)
    parser.add_argument("--changes", type=int, default=10_000)
    main(**vars(parser.parse_args()))
