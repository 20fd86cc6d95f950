"""`lakebed upgrade check`: it opens what every released version has stored, says what would change, changes nothing."""

from __future__ import annotations

import hashlib
import json
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import apsw
import asyncpg
import pytest
from lakebed_engine.stores.kv.base import ABSENT, Batch, Check, Delete, Put
from lakebed_engine.stores.kv.memory import MemoryKV
from lakebed_engine.stores.kv.overlay import OverlayKV
from lakebed_engine.stores.kv.postgres.schema import FUNCTION_VERSION, SCHEMA_VERSION
from lakebed_engine.stores.kv.postgres.store import PostgresKV
from lakebed_engine.stores.kv.sqlite import file as sqlite_file
from lakebed_engine.stores.kv.sqlite.read_only import ReadOnlySqliteKV
from lakebed_engine.stores.kv.sqlite.store import SqliteKV
from lakebed_engine.vocabulary.errors import PredicateFailed, StoreFullError
from lakebed_format.schemas import FORMAT_VERSIONS
from lakebed_server.process.upgrade import RELEASES
from lakebed_server.process.wiring import version

from tests.cli.support import Command
from tests.support.processes.server import running_server
from tests.support.services.postgres import Postgres, running_postgres
from tools.make_fixture import restore

DATA = Path(__file__).parent / "data"
VERSIONS = sorted(path.name for path in DATA.iterdir())


class Old(NamedTuple):
    """The directory of an older version, the settings that open it, and its database if that is PostgreSQL."""

    place: Path
    settings: dict[str, str]
    postgres: Postgres | None


@pytest.fixture(params=[(version, kind) for version in VERSIONS for kind in ("sqlite", "postgres")], ids="-".join)
def old(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Old]:
    of, kind = request.param
    place = tmp_path / "data"
    with tarfile.open(DATA / of / f"{kind}.tar.gz") as archive:
        archive.extractall(place, filter="data")
    if kind == "sqlite":
        yield Old(place, {}, None)
        return
    with running_postgres() as postgres:
        restore(postgres, (place / "dump.sql").read_text())
        yield Old(place, {"LAKEBED_KV_TYPE": "postgres", "LAKEBED_KV_POSTGRES_DSN": postgres.dsn}, postgres)


def digests(place: Path) -> dict[str, str]:
    return {
        str(path.relative_to(place)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in place.rglob("*")
        if path.is_file()
    }


async def rows(postgres: Postgres | None) -> list[object]:
    if postgres is None:
        return []
    connection = await asyncpg.connect(postgres.dsn, server_settings={"search_path": "lakebed"})
    try:
        found = await connection.fetch("SELECT * FROM kv ORDER BY partition, key")
        body = await connection.fetchval("SELECT prosrc FROM pg_proc WHERE oid = to_regproc('apply')")
        return [*map(tuple, found), body]
    finally:
        await connection.close()


@pytest.mark.slow
async def test_what_older_versions_have_stored(old: Old) -> None:
    before, rows_before = digests(old.place), await rows(old.postgres)
    result = Command(old.settings)("upgrade", "check", "--all", "--data-dir", str(old.place), "--json")
    assert digests(old.place) == before
    assert await rows(old.postgres) == rows_before
    report = result.json
    assert report["ok"], report
    found = {check["check"]: check for check in report["checks"]}
    assert "metadata files" in found["repository sales"]["message"]
    said = "\n".join(report["changes"])
    assert "rows of 'auth'" in said  # 0.1 knew no policies: a start makes the built-in ones
    assert ("replaces the SQL function apply" in said) is (old.postgres is not None)
    assert report["downgrade"].startswith("possible to 0.1")


@pytest.mark.slow
def test_after_a_start_nothing_is_left_to_change(old: Old) -> None:
    with running_server(old.place, environment={**old.settings, "LAKEBED_CLEANUP_INTERVAL": "1h"}):
        during = Command(old.settings)("upgrade", "check", "--data-dir", str(old.place))
    assert "changes nothing in the KV store" in during.text
    assert "Downgrade: possible" in during.text


@pytest.mark.slow
def test_a_newer_store_is_refused(tmp_path: Path) -> None:
    place = tmp_path / "data"
    with running_server(place):
        pass
    connection = apsw.Connection(str(place / "lakebed.db"))
    connection.pragma("user_version", sqlite_file.SCHEMA_VERSION + 1)
    connection.close()
    result = Command({})("upgrade", "check", "--data-dir", str(place), code=1)
    assert "[FAILED] tables" in result.text
    assert "upgrade this build" in result.text


@pytest.mark.slow
def test_a_row_and_a_file_that_this_build_does_not_know(tmp_path: Path) -> None:
    place = tmp_path / "data"
    with tarfile.open(DATA / VERSIONS[0] / "sqlite.tar.gz") as archive:
        archive.extractall(place, filter="data")
    for file in place.rglob("_lakebed/metaranges/*"):
        file.write_bytes(file.read_bytes().replace(b"metarange/", b"metarange9"))
    result = Command({})("upgrade", "check", "--data-dir", str(place), "--json", code=1)
    failed = [check["check"] for check in result.json["checks"] if not check["ok"]]
    assert failed == ["repository sales"]
    (place / "secret.key").write_text("another secret key of at least 32 characters\n")
    result = Command({})("upgrade", "check", "--data-dir", str(place), "--json", code=1)
    assert "rows" in [check["check"] for check in result.json["checks"] if not check["ok"]]


@pytest.mark.slow
def test_no_store_yet(tmp_path: Path) -> None:
    result = Command({})("upgrade", "check", "--data-dir", str(tmp_path / "data"))
    assert "makes a new KV store" in result.text
    assert not list(tmp_path.iterdir())


def test_the_table_of_releases_has_the_forms_of_this_build() -> None:
    build = list(RELEASES.values())[-1]
    assert version().startswith(f"{list(RELEASES)[-1]}.")
    assert (build.tables, build.function) == (SCHEMA_VERSION, FUNCTION_VERSION)
    assert build.tables == sqlite_file.SCHEMA_VERSION
    assert build.files.split() == sorted(
        [*(f"{kind}/{number}" for kind, number in FORMAT_VERSIONS.items()), "commit/1", "refs/1", "repository/1"]
    )
    assert {one.rpartition(".")[0] for one in VERSIONS} <= set(RELEASES)


async def test_a_read_only_sqlite_store_writes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "lakebed.db"
    kv = SqliteKV(path)
    await kv.apply(Batch(puts=[Put("p", b"k", b"v")]))
    beside = ReadOnlySqliteKV(path)  # while a server has it open
    assert (await beside.scan("p"))[0].value == b"v"
    await beside.close()
    await kv.close()
    before = digests(tmp_path)
    reader = ReadOnlySqliteKV(path)
    assert await reader.get("p", b"k") is not None
    assert (await reader.get_many("p", [b"k", b"no"]))[1] is None
    assert await reader.partitions() == ["p"]
    for change in (reader.apply(Batch(puts=[Put("p", b"k", b"w")])), reader.drop_partition("p")):
        with pytest.raises(StoreFullError):
            await change
    await reader.close()
    assert digests(tmp_path) == before


@pytest.mark.slow
async def test_a_read_only_postgres_store_writes_nothing() -> None:
    with running_postgres() as postgres:
        absent = PostgresKV(postgres.dsn, schema="absent", read_only=True)
        with pytest.raises(Exception, match="KV store"):
            await absent.get("p", b"k")
        await absent.close()
        kv = PostgresKV(postgres.dsn)
        await kv.apply(Batch(puts=[Put("p", b"k", b"v")]))
        await kv.close()
        reader = PostgresKV(postgres.dsn, read_only=True)
        assert (await reader.scan("p"))[0].value == b"v"
        with pytest.raises(StoreFullError):
            await reader.apply(Batch(puts=[Put("p", b"k", b"w")]))
        await reader.close()


async def test_an_overlay_keeps_changes_in_memory() -> None:
    below = MemoryKV()
    await below.apply(Batch(puts=[Put("p", bytes([n]), b"below") for n in range(10)]))
    kv = OverlayKV(below)
    await kv.apply(Batch(puts=[Put("p", b"\x03", b"new"), Put("q", b"x", b"new")], deletes=[Delete("p", b"\x00")]))
    assert [row.key[0] for row in await kv.scan("p", limit=4)] == [1, 2, 3, 4]
    assert await kv.get("p", b"\x00") is None
    assert [one and one.value for one in await kv.get_many("p", [b"\x02", b"\x03"])] == [b"below", b"new"]
    assert await kv.partitions() == ["p", "q"]
    with pytest.raises(PredicateFailed):
        await kv.apply(Batch(checks=[Check("q", b"x", ABSENT)], puts=[Put("q", b"x", b"again")]))
    await kv.drop_partition("p")
    assert await kv.scan("p") == []
    assert [(one.partition, one.value) for one in kv.changes if one.value] == [("q", b"new")]
    assert len(await below.scan("p")) == 10
    assert json.dumps([row.value.decode() for row in await below.scan("q")]) == "[]"
