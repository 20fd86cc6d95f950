"""The tables of the PostgreSQL KV store, their version, and the statements on them.

The layout belongs to the driver. All tables are in one SQL schema, which is the whole search path of each connection.
So no statement here names it.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Final, TypeAlias

from lakebed_engine.vocabulary.errors import CorruptDataError, SchemaTooNewError

if TYPE_CHECKING:
    import asyncpg

SCHEMA_VERSION: Final = 1

FUNCTION_VERSION: Final = 1
"""The version of the body of `apply`, also written in its comment. Increment it with every change. At its start, a
server replaces an older body and keeps a newer one. 0.1 wrote no comment.
"""

NUMBERS: Final = 256
"""The numbers of the batches of one group are below this. A version is a sequence number times this plus the batch's
number.
"""

GET: Final = "SELECT value, version FROM kv WHERE partition = $1 AND key = $2"
GET_MANY: Final = """
    SELECT kv.value, kv.version
    FROM unnest($1::bytea[], $2::bytea[]) WITH ORDINALITY AS wanted (partition, key, number)
    LEFT JOIN kv ON kv.partition = wanted.partition AND kv.key = wanted.key ORDER BY wanted.number
"""
SCAN: Final = "SELECT key, value, version FROM kv WHERE partition = $1 AND key >= $2 ORDER BY key LIMIT $3::bigint"
SCAN_TO: Final = """
    SELECT key, value, version FROM kv WHERE partition = $1 AND key >= $2 AND key < $4 ORDER BY key LIMIT $3::bigint
"""
# Go from each name to the next through the index: a DISTINCT would read every row.
PARTITIONS: Final = """
    WITH RECURSIVE found (name) AS (
        (SELECT partition FROM kv WHERE partition >= $1 ORDER BY partition LIMIT 1)
        UNION ALL
        SELECT (SELECT partition FROM kv WHERE partition > found.name ORDER BY partition LIMIT 1)
        FROM found WHERE found.name IS NOT NULL
    )
    SELECT name FROM found WHERE name IS NOT NULL AND ($2::bytea IS NULL OR name < $2) LIMIT $3::bigint
"""
APPLY: Final = "SELECT first_version, broken FROM apply($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)"
NTH_KEY: Final = "SELECT key FROM kv WHERE partition = $1 AND key >= $2 ORDER BY key LIMIT 1 OFFSET $3::bigint"
DROP_BELOW: Final = "DELETE FROM kv WHERE partition = $1 AND key >= $2 AND key < $3"
DROP_REST: Final = "DELETE FROM kv WHERE partition = $1 AND key >= $2"

# bytea keeps every byte and their order. The version is in no index, so that an update can stay on its row's page.
_TABLES: Final = """
    CREATE TABLE lakebed_schema (id integer PRIMARY KEY CHECK (id = 1), version integer NOT NULL);
    CREATE SEQUENCE versions AS bigint;
    CREATE TABLE kv (
        partition bytea NOT NULL, key bytea NOT NULL, value bytea NOT NULL, version bigint NOT NULL,
        PRIMARY KEY (partition, key)
    ) PARTITION BY HASH (partition);
    DO $$ BEGIN FOR i IN 0..15 LOOP
        EXECUTE format('CREATE TABLE kv_%s PARTITION OF kv FOR VALUES WITH (MODULUS 16, REMAINDER %s)', i, i);
    END LOOP; END $$;
"""

# Applies a group of batches in one statement, and so in one transaction and one round trip. It takes the locks first.
# Each later statement has its own snapshot, taken while the locks are held. So it sees everything that earlier lock
# holders have committed (docs/decisions/0010-postgres-checks.md). `broken` has the positions of the checks that do not
# hold. Of two puts of one key, the put of the later batch is kept.
_BODY: Final = """
    CREATE OR REPLACE FUNCTION apply(
        lock_ids bigint[], lock_exclusive boolean[],
        check_n integer[], check_partition bytea[], check_key bytea[], check_version bigint[],
        delete_n integer[], delete_partition bytea[], delete_key bytea[],
        put_n integer[], put_partition bytea[], put_key bytea[], put_value bytea[],
        OUT first_version bigint, OUT broken integer[]
    ) LANGUAGE plpgsql AS $$
    DECLARE
        failed integer[] := '{}';
    BEGIN
        PERFORM CASE WHEN l.exclusive THEN pg_advisory_xact_lock(l.id) ELSE pg_advisory_xact_lock_shared(l.id) END
        FROM unnest(lock_ids, lock_exclusive) AS l (id, exclusive);

        IF cardinality(check_n) > 0 THEN
            broken := ARRAY(
                SELECT c.number::integer
                FROM unnest(check_partition, check_key, check_version)
                    WITH ORDINALITY AS c (partition, key, version, number)
                WHERE c.version <> coalesce(
                    (SELECT kv.version FROM kv WHERE kv.partition = c.partition AND kv.key = c.key), 0));
            IF cardinality(broken) > 0 THEN
                failed := ARRAY(SELECT check_n[b.place] FROM unnest(broken) AS b (place));
            END IF;
        END IF;

        IF cardinality(delete_n) > 0 THEN
            DELETE FROM kv USING unnest(delete_n, delete_partition, delete_key) AS d (n, partition, key)
            WHERE kv.partition = d.partition AND kv.key = d.key AND d.n <> ALL (failed);
        END IF;

        IF cardinality(put_n) > 0 THEN
            first_version := nextval('versions') * 256;
            INSERT INTO kv (partition, key, value, version)
            SELECT DISTINCT ON (p.partition, p.key) p.partition, p.key, p.value, first_version + p.n
            FROM unnest(put_n, put_partition, put_key, put_value) AS p (n, partition, key, value)
            WHERE p.n <> ALL (failed)
            ORDER BY p.partition, p.key, p.n DESC
            ON CONFLICT (partition, key) DO UPDATE SET value = excluded.value, version = excluded.version;
        END IF;
    END
    $$;
"""
_FUNCTION: Final = f"{_BODY} COMMENT ON FUNCTION apply IS '{FUNCTION_VERSION}';"

Connection: TypeAlias = "asyncpg.Connection[asyncpg.Record]"


def lock_id(schema: str, *parts: bytes) -> int:
    """The number of an advisory lock: 64 bits of a hash of the locked name. The same in every process."""
    digest = hashlib.blake2b(schema.encode(), digest_size=8, person=b"lakebed-kv")
    for part in parts:
        digest.update(len(part).to_bytes(4, "big") + part)
    return int.from_bytes(digest.digest(), "big", signed=True)


async def ensure_schema(connection: Connection, schema: str, place: str) -> None:
    """Make missing tables, and replace an older `apply`. Several servers may do this at the same time.

    Raises SchemaTooNewError, CorruptDataError (another program uses the SQL schema) and asyncpg's errors.
    """
    if await _is_there(connection, place) and await _is_current(connection):
        return
    # Take the lock before the transaction begins: only a later transaction certainly sees the tables of another server.
    # If anything fails here, the lock ends with the connection.
    lock = lock_id(schema, b"the schema")
    await connection.execute("SELECT pg_advisory_lock($1)", lock)
    if not await _is_there(connection, place):  # or another server was faster
        async with connection.transaction():
            await _make(connection, schema, place)
    elif not await _is_current(connection):
        async with connection.transaction():
            await connection.execute(_FUNCTION)
    await connection.execute("SELECT pg_advisory_unlock($1)", lock)


async def _make(connection: Connection, schema: str, place: str) -> None:
    if not await connection.fetchval("SELECT 1 FROM pg_namespace WHERE nspname = $1", schema):
        await connection.execute(f"CREATE SCHEMA {quoted(schema)}")
    elif await connection.fetchval("SELECT to_regclass('kv') IS NOT NULL"):
        raise CorruptDataError(f"the table kv is not a KV store of Lakebed; choose another kv.postgres.schema: {place}")
    await connection.execute(_TABLES + _FUNCTION)
    await connection.execute("INSERT INTO lakebed_schema VALUES (1, $1)", SCHEMA_VERSION)


async def _is_there(connection: Connection, place: str) -> bool:
    if not await connection.fetchval("SELECT to_regclass('lakebed_schema') IS NOT NULL"):
        return False
    version = await connection.fetchval("SELECT version FROM lakebed_schema")
    if version > SCHEMA_VERSION:
        raise SchemaTooNewError(
            "the KV store was written by a newer Lakebed; upgrade this installation (it knows schema "
            f"{SCHEMA_VERSION}, the store has {version}): {place}"
        )
    return True


async def _is_current(connection: Connection) -> bool:
    said = await connection.fetchval("SELECT obj_description(to_regproc('apply'), 'pg_proc')")
    return int(said or 0) >= FUNCTION_VERSION


def quoted(name: str) -> str:
    """A quoted SQL identifier."""
    return '"' + name.replace('"', '""') + '"'
