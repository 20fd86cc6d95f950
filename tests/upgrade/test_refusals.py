"""What a newer Lakebed has stored is refused in one sentence; `apply` of PostgreSQL is replaced when it is older."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from uuid import uuid4

import apsw
import asyncpg
import msgspec
import pytest
from lakebed_engine.stores.kv.base import Batch, Put
from lakebed_engine.stores.kv.memory import MemoryKV
from lakebed_engine.stores.kv.postgres import schema as postgres_schema
from lakebed_engine.stores.kv.postgres.store import PostgresKV
from lakebed_engine.stores.kv.sqlite.file import SCHEMA_VERSION
from lakebed_engine.stores.kv.sqlite.store import SqliteKV
from lakebed_engine.vocabulary.errors import SchemaTooNewError
from lakebed_format import CommitRecord, decode_commit
from lakebed_format.commits import encode_commit
from lakebed_format.decoding import FormatError
from lakebed_format.refs import decode_marker, decode_refs
from lakebed_server.auth import records
from lakebed_server.auth.credentials import CredentialStore
from lakebed_server.auth.secret_key import KeyRing, SecretKey
from lakebed_server.process.wiring import build
from lakebed_server.settings.load import load
from lakebed_server.vocabulary import StartError

from tests.support.services.postgres import Postgres, running_postgres

UPGRADE = "upgrade"
ROW = Batch(puts=[Put("p", b"k", b"v")])


@pytest.fixture(scope="module")
def postgres() -> Iterator[Postgres]:
    with running_postgres() as running:
        yield running


@pytest.fixture
def schema() -> str:
    return f"test_{uuid4().hex}"


@asynccontextmanager
async def other(postgres: Postgres, schema: str) -> AsyncIterator[asyncpg.Connection[asyncpg.Record]]:
    connection: asyncpg.Connection[asyncpg.Record] = await asyncpg.connect(
        postgres.dsn, server_settings={"search_path": f'"{schema}"'}
    )
    try:
        yield connection
    finally:
        await connection.close()


async def refuses(kv: SqliteKV | PostgresKV) -> None:
    """Every call, also of a driver that has worked before."""
    for _ in range(2):
        for call in (kv.get("p", b"k"), kv.scan("p"), kv.apply(ROW)):
            with pytest.raises(SchemaTooNewError, match=UPGRADE):
                await call


def one_sentence(error: BaseException) -> None:
    text = str(error)
    assert UPGRADE in text
    assert "\n" not in text
    assert "Traceback" not in text


async def test_a_server_does_not_start_on_a_newer_sqlite(tmp_path: Path) -> None:
    await SqliteKV(tmp_path / "lakebed.db").close()
    newer = apsw.Connection(str(tmp_path / "lakebed.db"))
    newer.pragma("user_version", SCHEMA_VERSION + 1)
    newer.close()
    with pytest.raises(StartError) as caught:
        await build(load(env={"LAKEBED_DATA_DIR": str(tmp_path)}, files=False).settings)
    one_sentence(caught.value)


async def test_a_running_server_on_sqlite_meets_a_migration(tmp_path: Path) -> None:
    kv = SqliteKV(tmp_path / "lakebed.db")
    await kv.apply(ROW)
    newer = apsw.Connection(str(tmp_path / "lakebed.db"))
    newer.execute("BEGIN IMMEDIATE; ALTER TABLE kv RENAME TO kv_of_2; PRAGMA user_version = 2; COMMIT")
    newer.close()
    await refuses(kv)
    await kv.close()


async def test_a_running_server_on_postgres_meets_a_migration(postgres: Postgres, schema: str) -> None:
    kv = PostgresKV(postgres.dsn, schema=schema)
    await kv.apply(ROW)
    await kv.get("p", b"k")
    async with other(postgres, schema) as newer, newer.transaction():
        await newer.execute(
            "ALTER TABLE kv RENAME TO kv_of_2; DROP FUNCTION apply; UPDATE lakebed_schema SET version = 2"
        )
    await refuses(kv)
    await kv.close()


async def test_an_older_apply_is_replaced_while_servers_use_it(postgres: Postgres, schema: str) -> None:
    old = PostgresKV(postgres.dsn, schema=schema)
    await old.apply(ROW)
    async with other(postgres, schema) as elsewhere:
        as_in_0_1 = postgres_schema._FUNCTION.replace("* 256", "* 128")
        await elsewhere.execute(f"{as_in_0_1} COMMENT ON FUNCTION apply IS NULL;")
        kvs = [PostgresKV(postgres.dsn, schema=schema) for _ in range(5)]
        await asyncio.gather(*(kv.apply(ROW) for kv in [old, *kvs] * 3))
        body = await elsewhere.fetchval("SELECT prosrc FROM pg_proc WHERE oid = to_regproc('apply')")
        said = await elsewhere.fetchval("SELECT obj_description(to_regproc('apply'), 'pg_proc')")
    assert "* 256" in body
    assert int(said) == postgres_schema.FUNCTION_VERSION
    await asyncio.gather(*(kv.close() for kv in [old, *kvs]))


async def test_a_newer_apply_is_left_alone(postgres: Postgres, schema: str) -> None:
    first = PostgresKV(postgres.dsn, schema=schema)
    await first.apply(ROW)
    async with other(postgres, schema) as newer:
        await newer.execute(postgres_schema._FUNCTION.replace("failed integer[]", "failed  integer[]"))
        await newer.execute("COMMENT ON FUNCTION apply IS '99'")
        second = PostgresKV(postgres.dsn, schema=schema)
        await second.apply(ROW)
        assert "failed  " in await newer.fetchval("SELECT prosrc FROM pg_proc WHERE oid = to_regproc('apply')")
    await asyncio.gather(first.close(), second.close())


def test_a_changed_apply_has_another_number() -> None:
    """When this fails, increment FUNCTION_VERSION and write the new pair here. Otherwise no server replaces the old
    body.
    """
    known = {1: "6091f5d5bb95efc7"}
    assert known[postgres_schema.FUNCTION_VERSION] == hashlib.sha256(postgres_schema._BODY.encode()).hexdigest()[:16]


@pytest.mark.parametrize("kind", ["commit", "refs"])
def test_newer_files_of_json_are_refused(kind: str) -> None:
    if kind == "commit":
        record = CommitRecord((), "ann", "m", 1, "", {}, 1)
        data = json.loads(encode_commit(record))
    else:
        data = {"format": "refs/1"}
    assert data["format"] == f"{kind}/1"
    data["format"] = f"{kind}/2"
    with pytest.raises(FormatError, match=rf"{kind} format 2 is newer than this reader \(1\): upgrade Lakebed"):
        (decode_commit if kind == "commit" else decode_refs)(json.dumps(data).encode())


def test_a_newer_repository_is_refused() -> None:
    marker = {"uid": "0" * 32, "name": "sales"}
    assert decode_marker(json.dumps(marker).encode()) == marker
    with pytest.raises(FormatError, match=r"repository format 2 is newer than this reader \(1\): upgrade Lakebed"):
        decode_marker(json.dumps({**marker, "format": "repository/2"}).encode())


async def test_a_newer_envelope_of_a_secret_is_refused() -> None:
    kv = MemoryKV()
    store = CredentialStore(kv, KeyRing([SecretKey("the secret of this server")]))
    await kv.apply(Batch(puts=[records.put_user(records.User("admin", 1))]))
    made = await store.add("admin", 1)
    key = records.credential_key(made.access_key_id)
    row = await kv.get(records.PARTITION, key)
    assert row is not None
    stored = {**msgspec.json.decode(row.value), "envelope": records.ENVELOPE + 1}
    await kv.apply(Batch(puts=[Put(records.PARTITION, key, msgspec.json.encode(stored))]))
    with pytest.raises(StartError, match="encrypted by a newer Lakebed") as caught:
        await store.find(made.access_key_id)
    one_sentence(caught.value)
