"""What the PostgreSQL driver promises on top of `test_kv.py`: its locks, and what it makes of a server that fails."""

from __future__ import annotations

import asyncio
import os
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from typing import Any, cast
from uuid import uuid4

import asyncpg
import pytest
from lakebed_engine.stores.kv.base import ABSENT, Batch, Check, Delete, KVStore, Put
from lakebed_engine.stores.kv.postgres import errors, session, writer
from lakebed_engine.stores.kv.postgres import pool as postgres_pool
from lakebed_engine.stores.kv.postgres import store as postgres_door
from lakebed_engine.stores.kv.postgres.schema import APPLY, SCHEMA_VERSION
from lakebed_engine.stores.kv.postgres.store import PostgresKV
from lakebed_engine.vocabulary.errors import (
    CorruptDataError,
    OutcomeUnknownError,
    PredicateFailed,
    SchemaTooNewError,
    StoreFullError,
    StoreUnavailableError,
)

from tests.support.services.postgres import PASSWORD, Postgres, running_postgres
from tests.support.steady import steady
from tests.support.waiting import PATIENCE, until

pytestmark = pytest.mark.slow


@pytest.fixture
def schema() -> str:
    return f"test_{uuid4().hex}"


@asynccontextmanager
async def opened(dsn: str, schema: str, **options: Any) -> AsyncIterator[PostgresKV]:
    store = PostgresKV(dsn, schema=schema, **options)
    try:
        yield store
    finally:
        await store.close()


@asynccontextmanager
async def other(postgres: Postgres, schema: str | None = None) -> AsyncIterator[asyncpg.Connection[asyncpg.Record]]:
    """Another client of the same database."""
    settings = {"search_path": f'"{schema}"'} if schema else {}
    connection: asyncpg.Connection[asyncpg.Record] = await asyncpg.connect(postgres.dsn, server_settings=settings)
    try:
        yield connection
    finally:
        connection.terminate()


async def put(kv: KVStore, key: bytes, value: bytes = b"v", partition: str = "p") -> int:
    return await kv.apply(Batch(puts=[Put(partition, key, value)]))


async def outcomes(calls: Sequence[Awaitable[object]]) -> list[object]:
    return cast("list[object]", await asyncio.gather(*calls, return_exceptions=True))


async def waits(call: Awaitable[int]) -> asyncio.Future[int]:
    """Begin a call and see that it does not end by itself."""
    task = asyncio.ensure_future(call)
    await asyncio.sleep(0.15)  # time for it to end
    assert not task.done(), task
    return task


def statement(schema: str, batch: Batch) -> Sequence[object]:
    """The arguments of APPLY, as the driver sends them for a batch alone."""
    works = [writer.work_of(batch)]
    return (*writer.locks(works, schema, writer._FINE_LOCKS), *writer._columns(works))


# ---- Locks


@pytest.mark.parametrize("present", [True, False])
async def test_checked_version_is_locked_until_the_commit(postgres: Postgres, schema: str, present: bool) -> None:
    async with opened(postgres.dsn, schema) as kv, other(postgres, schema) as elsewhere:
        version = await put(kv, b"seen") if present else ABSENT
        await put(kv, b"there")
        transaction = elsewhere.transaction()
        await transaction.start()
        batch = Batch([Check("p", b"seen", version)], [Put("q", b"k", b"")])
        assert (await elsewhere.fetchrow(APPLY, *statement(schema, batch)))["broken"] == []  # type: ignore[index]
        await put(kv, b"beside it")
        writes = [
            await waits(kv.apply(Batch(puts=[Put("p", b"seen", b"2")]))),
            await waits(kv.apply(Batch(deletes=[Delete("p", b"seen")]))),
        ]
        assert await kv.get("p", b"seen") == ((b"v", version) if present else None), "reads do not wait"
        await transaction.commit()
        assert await writes[0] > version
        await writes[1]


async def test_checks_of_one_key_do_not_wait_for_one_another(postgres: Postgres, schema: str) -> None:
    async with opened(postgres.dsn, schema) as kv, other(postgres, schema) as elsewhere:
        version = await put(kv, b"branch")
        async with elsewhere.transaction():
            batch = Batch([Check("p", b"branch", version)], [Put("stage", b"1", b"")])
            await elsewhere.fetchrow(APPLY, *statement(schema, batch))
            await asyncio.wait_for(
                kv.apply(Batch([Check("p", b"branch", version)], [Put("stage", b"2", b"")])), timeout=PATIENCE
            )
        assert len(await kv.scan("stage")) == 2


async def test_a_swap_is_not_starved_by_checks_that_keep_coming(postgres: Postgres, schema: str) -> None:
    async with opened(postgres.dsn, schema) as kv, opened(postgres.dsn, schema) as busy:
        version = await put(kv, b"branch")
        stage = Batch([Check("p", b"branch", version)], [Put("stage", b"k", b"")])
        staging, begun = True, asyncio.Event()
        found: list[object] = []

        async def keep_staging(number: int) -> None:
            while staging:
                found.extend(await outcomes([busy.apply(Batch(stage.checks, [Put("stage", b"%d" % number, b"")]))]))
                if len(found) > 32:
                    begun.set()

        tasks = [asyncio.ensure_future(keep_staging(number)) for number in range(32)]
        await begun.wait()
        made = await asyncio.wait_for(
            kv.apply(Batch([Check("p", b"branch", version)], [Put("p", b"branch", b"2")])), PATIENCE
        )
        staging = False
        await asyncio.gather(*tasks)
        assert await kv.get("p", b"branch") == (b"2", made)
        refused = [one for one in found if not isinstance(one, int)]
        assert {type(one) for one in refused} <= {PredicateFailed}, "only what came behind the swap is refused"


@pytest.mark.parametrize("large_first", [True, False])
async def test_a_large_batch_and_a_check_in_its_partition_exclude_each_other(
    postgres: Postgres, schema: str, large_first: bool
) -> None:
    large = Batch(puts=[Put("p", b"%05d" % number, b"") for number in range(writer._FINE_LOCKS + 1)])
    check = Batch([Check("p", b"00007", ABSENT)], [Put("q", b"k", b"")])
    first, second = (large, check) if large_first else (check, large)
    async with opened(postgres.dsn, schema) as kv, other(postgres, schema) as elsewhere:
        await put(kv, b"k", partition="elsewhere")
        transaction = elsewhere.transaction()
        await transaction.start()
        await elsewhere.fetchrow(APPLY, *statement(schema, first))
        task = await waits(kv.apply(second))
        await put(kv, b"k", partition="elsewhere")
        await transaction.commit()
        [found] = await outcomes([task])
        assert isinstance(found, PredicateFailed if large_first else int)


async def test_two_stores_that_cross_their_checks_never_both_win(postgres: Postgres, schema: str) -> None:
    async with opened(postgres.dsn, schema) as one, opened(postgres.dsn, schema) as two:
        both = 0
        for turn in range(100):
            left, right = b"%d/left" % turn, b"%d/right" % turn
            found = await outcomes([
                one.apply(Batch([Check("p", right, ABSENT)], [Put("p", left, b"")])),
                two.apply(Batch([Check("p", left, ABSENT)], [Put("p", right, b"")])),
            ])  # fmt: skip
            both += all(isinstance(outcome, int) for outcome in found)
            assert any(isinstance(outcome, int) for outcome in found), found
        assert both == 0


async def test_crossing_writers_never_deadlock(postgres: Postgres, schema: str) -> None:
    chance = random.Random(7)
    names = [b"%d" % number for number in range(8)]
    async with opened(postgres.dsn, schema) as one, opened(postgres.dsn, schema) as two:
        await put(one, b"x")

        async def write(kv: KVStore) -> None:
            for _ in range(40):
                keys = chance.sample(names, 4)
                await kv.apply(Batch((), [Put("p", key, b"") for key in keys[:3]], [Delete("p", keys[3])]))

        await asyncio.gather(*(write(kv) for kv in (one, two) for _ in range(6)))
    async with other(postgres) as elsewhere:
        assert await elsewhere.fetchval("SELECT deadlocks FROM pg_stat_database WHERE datname = 'postgres'") == 0


async def test_a_full_table_of_locks_makes_a_batch_take_fewer(
    postgres: Postgres, schema: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer, "_FINE_LOCKS", 1_000_000)
    async with opened(postgres.dsn, schema) as kv:
        await kv.apply(Batch(puts=[Put("p", b"%05d" % number, b"") for number in range(30_000)]))
        assert len(await kv.scan("p", limit=100_000)) == 30_000


async def test_a_batch_that_cannot_be_stored_fails_alone(postgres: Postgres, schema: str) -> None:
    too_long = random.Random(1).randbytes(20_000)
    async with opened(postgres.dsn, schema) as kv:
        found = await outcomes([put(kv, b"1"), put(kv, too_long), put(kv, b"2"), put(kv, b"3", "text")])  # type: ignore[arg-type]
        assert [type(outcome) for outcome in found] == [int, StoreUnavailableError, int, TypeError]
        assert [row.key for row in await kv.scan("p")] == [b"1", b"2"]


# ---- Refusals of the server, repeated or passed on


async def fail(kv: KVStore, connection: asyncpg.Connection[asyncpg.Record], code: str, times: int) -> None:
    """Let the next puts fail with an error code. A sequence counts: what it gave stays given in a rollback."""
    await put(kv, b"first")
    await connection.execute(f"""
        CREATE SEQUENCE tries;
        CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
            IF nextval('tries') <= {times} THEN RAISE EXCEPTION 'provoked' USING ERRCODE = '{code}'; END IF;
            RETURN new;
        END $$;
        CREATE TRIGGER fail BEFORE INSERT ON kv FOR EACH ROW EXECUTE FUNCTION fail();
    """)


@pytest.mark.parametrize("code", ["40001", "40P01"])
async def test_serialization_failures_and_deadlocks_are_repeated(postgres: Postgres, schema: str, code: str) -> None:
    async with opened(postgres.dsn, schema) as kv, other(postgres, schema) as elsewhere:
        await fail(kv, elsewhere, code, 3)
        version = await put(kv, b"k")
        assert await kv.get("p", b"k") == (b"v", version)
        assert await elsewhere.fetchval("SELECT last_value FROM tries") == 4


async def test_repeating_is_bounded(postgres: Postgres, schema: str) -> None:
    async with opened(postgres.dsn, schema) as kv, other(postgres, schema) as elsewhere:
        await fail(kv, elsewhere, "40001", 1_000)
        with pytest.raises(StoreUnavailableError, match="nothing was changed; try again"):
            await put(kv, b"k")
        assert await elsewhere.fetchval("SELECT last_value FROM tries") == writer._TRIES


@steady()
async def test_a_true_deadlock_with_another_program_is_repeated(postgres: Postgres, schema: str) -> None:
    # the driver is the one whose wait is looked at, and late enough that the other one waits by then
    async with opened(postgres.dsn + "&deadlock_timeout=1s", schema) as kv, other(postgres, schema) as elsewhere:
        await put(kv, b"k")
        await elsewhere.execute("SET deadlock_timeout = '10s'")
        ids, _ = writer.locks([writer.work_of(Batch(puts=[Put("p", b"k", b"")]))], schema, 128)
        async with elsewhere.transaction():
            await elsewhere.execute("SELECT FROM kv FOR UPDATE")
            task = asyncio.ensure_future(put(kv, b"k", b"2"))
            while not await elsewhere.fetchval("SELECT count(*) FROM pg_locks WHERE NOT granted"):
                await asyncio.sleep(0.005)
            await elsewhere.execute("SELECT pg_advisory_xact_lock(id) FROM unnest($1::bigint[]) AS l (id)", ids)
        assert await task
        found = await kv.get("p", b"k")
        assert found is not None
        assert found.value == b"2"


async def test_a_full_disk_and_a_read_only_database_refuse_writes_and_serve_reads(
    postgres: Postgres, schema: str
) -> None:
    async with opened(postgres.dsn, schema) as kv, other(postgres, schema) as elsewhere:
        await fail(kv, elsewhere, "53100", 1)
        with pytest.raises(StoreFullError, match="free space or make it writable"):
            await put(kv, b"k")
        version = await put(kv, b"k")
        async with opened(postgres.dsn + "&default_transaction_read_only=on", schema) as reader:
            assert await reader.get("p", b"k") == (b"v", version)
            found = await outcomes([put(reader, b"%d" % number) for number in range(3)])
            assert all(isinstance(outcome, StoreFullError) for outcome in found), found
        async with opened(postgres.dsn + "&default_transaction_read_only=on", schema + "2") as nowhere:
            with pytest.raises(StoreFullError):
                await nowhere.get("p", b"k")


@steady()
async def test_a_statement_that_takes_too_long_is_given_up(postgres: Postgres, schema: str) -> None:
    async with (
        opened(postgres.dsn, schema) as patient,
        opened(postgres.dsn, schema, timeout=0.3) as kv,
        other(postgres, schema) as elsewhere,
    ):
        await put(patient, b"k")
        await put(kv, b"k")
        async with elsewhere.transaction():
            await elsewhere.execute("LOCK TABLE kv IN ACCESS EXCLUSIVE MODE")
            found = await outcomes([put(kv, b"k", b"2"), put(kv, b"l"), kv.get("p", b"k"), kv.scan("p")])
        assert all(isinstance(outcome, StoreUnavailableError) for outcome in found), found
        assert "too long, nothing was changed" in str(found[0])
        assert [row.value for row in await patient.scan("p")] == [b"v"]


# ---- Opening


async def test_a_newer_schema_is_refused(postgres: Postgres, schema: str) -> None:
    async with opened(postgres.dsn, schema) as kv, other(postgres, schema) as elsewhere:
        await put(kv, b"k")
        await elsewhere.execute("UPDATE lakebed_schema SET version = $1", SCHEMA_VERSION + 1)
    async with opened(postgres.dsn, schema) as kv:
        for call in (kv.get("p", b"k"), put(kv, b"k")):
            with pytest.raises(SchemaTooNewError, match="newer Lakebed; upgrade this installation"):
                await call


async def test_the_tables_of_another_program_are_left_alone(postgres: Postgres, schema: str) -> None:
    async with opened(postgres.dsn, schema) as kv, other(postgres) as elsewhere:
        await elsewhere.execute(f"CREATE SCHEMA {schema}; CREATE TABLE {schema}.kv (something text)")
        with pytest.raises(CorruptDataError, match="choose another kv"):
            await put(kv, b"k")
        assert await elsewhere.fetchval(f"SELECT count(*) FROM {schema}.kv") == 0


async def test_concurrent_first_opens_create_the_schema_once(postgres: Postgres, schema: str) -> None:
    stores = [PostgresKV(postgres.dsn, schema=schema) for _ in range(6)]
    versions = await asyncio.gather(*(put(kv, b"%d" % number) for number, kv in enumerate(stores)))
    assert len(set(versions)) == 6
    assert len(await stores[0].scan("p")) == 6
    await asyncio.gather(*(kv.close() for kv in stores))


async def test_a_server_that_acknowledges_early_is_made_durable(postgres: Postgres, schema: str) -> None:
    async with opened(postgres.dsn + "&synchronous_commit=off", schema) as kv:
        await put(kv, b"k")
        async with (await kv._session()).pool.lend() as connection:
            assert await connection.fetchval("SHOW synchronous_commit") == "on"
    async with opened(postgres.dsn + "&default_transaction_isolation=serializable", schema) as kv:
        await put(kv, b"k")
        async with (await kv._session()).pool.lend() as connection:
            assert await connection.fetchval("SHOW transaction_isolation") == "read committed"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda p: p.dsn_of("wrong-secret"), "refused the user or password"),
        (lambda p: p.dsn_of("wrong-secret", user="nobody"), "refused the user or password"),
        (lambda p: p.dsn.replace("/postgres?", "/missing?"), "the database does not exist; create it"),
        (lambda _: "postgresql://me:wrong-secret@nowhere.invalid/db", "does not answer"),
        (lambda _: "postgresql://me:wrong-secret@127.0.0.1:1/db", "does not answer"),
        (lambda _: "postgresql://me:wrong-secret@host:wrong-secret/db", "is invalid"),
        (lambda _: "host=db password=wrong-secret", "is invalid"),
        (lambda _: "mysql://me:wrong-secret@host/db", "is invalid"),
    ],
)
async def test_wrong_dsn_error_does_not_contain_the_password(
    postgres: Postgres, schema: str, change: Callable[[Postgres], str], said: str
) -> None:
    patience = 0.2 if said == "does not answer" else PATIENCE  # the others answer, maybe slowly
    async with opened(change(postgres), schema, patience=patience) as kv:
        assert "secret" not in repr(kv)
        with pytest.raises(StoreUnavailableError, match=said) as caught:
            await kv.get("p", b"k")
        error: BaseException | None = caught.value
        while error is not None:
            assert "wrong-secret" not in str(error)
            assert PASSWORD not in str(error)
            assert "\n" not in str(error)
            error = error.__cause__


def test_no_piece_of_a_password_is_taken_for_a_place() -> None:
    place_of = errors.place_of
    assert place_of("postgresql://me:secret@db.example:5432/lake?x=1", "s") == (
        "PostgreSQL at db.example:5432/lake (schema s)"
    )
    for odd in ("postgresql://me:se/cret@h/d", "postgresql://me:se?cret@h/d", "postgresql://me:se@cret@h/d",
                "postgresql://me:se#cret@h/d", "postgresql://h/d?password=se@cret", "password=secret", ""):  # fmt: skip
        assert "se" not in place_of(odd, "x").replace("PostgreSQL", "").replace("postgres", "").replace("schema", "")


# ---- Connections


async def test_more_callers_than_connections_wait(postgres: Postgres, schema: str) -> None:
    async with opened(postgres.dsn, schema, pool=1) as kv:
        calls = [call for n in range(50) for call in (put(kv, b"%d" % n), kv.scan("p"), kv.get_many("p", [b"1"]))]
        found = await outcomes(calls)
        assert not [outcome for outcome in found if isinstance(outcome, Exception)]


async def test_a_call_after_the_end_of_a_worker_is_answered(
    postgres: Postgres, schema: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session, "_READ_BATCHES", 1)
    monkeypatch.setattr(session, "_WRITE_BATCHES", 1)

    async def caller(kv: KVStore, number: int) -> None:
        for _ in range(20):
            await put(kv, b"%d" % number)
        for _ in range(20):
            await kv.get("p", b"k")

    async with opened(postgres.dsn, schema) as kv:
        await asyncio.wait_for(asyncio.gather(*(caller(kv, number) for number in range(8))), timeout=PATIENCE)
        assert [row.key for row in await kv.scan("p")] == [b"%d" % number for number in range(8)]


@steady()
async def test_a_server_without_connections_is_waited_for_and_then_named(postgres: Postgres, schema: str) -> None:
    user = f"u{uuid4().hex}"
    async with other(postgres) as elsewhere:
        await elsewhere.execute(f"CREATE ROLE {user} LOGIN PASSWORD 'x' CONNECTION LIMIT 1")
        dsn = postgres.dsn_of("x", user=user)
        async with opened(dsn, schema, patience=PATIENCE) as kv:
            with pytest.raises(StoreUnavailableError, match="grant it CREATE on the database"):
                await put(kv, b"k")
        await elsewhere.execute(f"GRANT CREATE ON DATABASE postgres TO {user}")
        async with opened(dsn, schema) as one:
            await put(one, b"1")
            async with opened(dsn, schema, patience=1.0) as two:
                with pytest.raises(StoreUnavailableError, match="max_connections or lower"):
                    await put(two, b"2")
            found = await outcomes([put(one, b"%d" % n) for n in range(200)] + [one.scan("p") for _ in range(9)])
            assert not [outcome for outcome in found if isinstance(outcome, Exception)]
            async with opened(dsn, schema) as two:
                task = await waits(put(two, b"2"))
                await one.close()
                await task


async def test_a_forked_child_has_connections_of_its_own(postgres: Postgres, schema: str) -> None:
    async with opened(postgres.dsn, schema) as kv:
        await put(kv, b"parent")
        child = os.fork()
        if child == 0:
            code = 1
            try:
                asyncio.run(put(kv, b"child"))
                code = 0
            finally:
                os._exit(code)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        await put(kv, b"parent again")
        assert [row.key for row in await kv.scan("p")] == [b"child", b"parent", b"parent again"]


async def test_drop_partition_goes_in_steps(postgres: Postgres, schema: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postgres_door, "_DROP_STEP", 10)
    async with opened(postgres.dsn, schema) as kv:
        await kv.apply(Batch(puts=[Put("p", b"%03d" % number, b"") for number in range(105)]))
        await kv.drop_partition("p")
        assert await kv.scan("p") == []


# ---- A server that dies


@pytest.fixture
def mortal() -> Iterator[Postgres]:
    with running_postgres() as server:  # its own: the others' must live
        yield server


async def test_a_server_that_was_restarted_between_calls_is_not_noticed(mortal: Postgres, schema: str) -> None:
    async with opened(mortal.dsn, schema, patience=PATIENCE) as kv:
        reads: list[Callable[[], Awaitable[object]]] = [
            lambda: kv.get("p", b"k"),
            lambda: kv.get_many("p", [b"k"]),
            lambda: kv.scan("p"),
        ]
        version = await put(kv, b"k")
        await asyncio.gather(*(kv.scan("p") for _ in range(8)))  # every connection is there, and will be lost
        for read in reads:
            mortal.kill()
            mortal.start()
            await read()
        assert await kv.get("p", b"k") == (b"v", version)
        for end in (mortal.kill, mortal.stop):  # the loop has no time to see what happened
            end()
            mortal.start()
            assert await put(kv, b"k") > version
        await outcomes([kv.scan("p"), kv.drop_partition("p")])


@steady()
async def test_a_server_that_is_gone_is_waited_for_and_then_named(mortal: Postgres, schema: str) -> None:
    async with opened(mortal.dsn, schema, patience=0.3) as kv:
        await put(kv, b"k")
        mortal.kill()
        try:
            await asyncio.sleep(0.01)  # the driver sees that its connections are closed
            found = await outcomes([put(kv, b"k"), put(kv, b"l"), kv.get("p", b"k"), kv.scan("p")])
            assert all(isinstance(outcome, StoreUnavailableError) for outcome in found), found
            assert "does not answer; check that it is running" in str(found[0])
            task = asyncio.ensure_future(put(kv, b"k", b"2"))  # not sent yet, and so it may wait for the server
            await asyncio.sleep(0.05)  # it tries to connect while the server is gone
        finally:
            mortal.start()
        await task


async def test_a_server_that_dies_during_calls(mortal: Postgres, schema: str) -> None:
    async with opened(mortal.dsn, schema, patience=PATIENCE) as kv, other(mortal, schema) as elsewhere:
        version = await put(kv, b"k")
        await elsewhere.execute("BEGIN; LOCK TABLE kv IN ACCESS EXCLUSIVE MODE")
        write = asyncio.ensure_future(put(kv, b"k", b"2"))
        reads = [asyncio.ensure_future(call) for call in (kv.scan("p"), kv.get("p", b"k"), kv.get_many("p", [b"k"]))]
        waiting = "SELECT count(*) FROM pg_locks WHERE relation = 'kv'::regclass AND NOT granted"
        while await elsewhere.fetchval(waiting) < 1 + len(reads):  # all four have arrived, however busy the machine is
            await asyncio.sleep(0.005)
        mortal.kill()
        mortal.start()
        assert isinstance((await outcomes([write]))[0], OutcomeUnknownError)
        await asyncio.gather(*reads)
        assert await kv.get("p", b"k") == (b"v", version), "the statement was waiting: it cannot have happened"


async def test_acknowledged_commits_survive_a_crash_of_postgres_under_load(mortal: Postgres, schema: str) -> None:
    async with opened(mortal.dsn, schema, patience=PATIENCE) as kv:
        acknowledged: set[bytes] = set()
        asked: set[bytes] = set()
        going = True

        async def caller(number: int) -> None:
            count = 0
            while going:
                key = b"%d/%d" % (number, count := count + 1)
                asked.add(key)
                [found] = await outcomes([put(kv, key)])
                if isinstance(found, int):
                    acknowledged.add(key)
                else:
                    assert isinstance(found, OutcomeUnknownError), found

        tasks = [asyncio.ensure_future(caller(number)) for number in range(16)]
        for turn in range(1, 6):
            await until(lambda: len(acknowledged) >= turn * 100, f"turn {turn} has its writes")  # noqa: B023
            mortal.kill()
            await asyncio.to_thread(mortal.start)
        going = False
        await asyncio.gather(*tasks)
        rows = {row.key for row in await kv.scan("p", limit=1_000_000)}
        assert acknowledged <= rows, "acknowledged, and lost"
        assert rows <= asked


async def test_a_caller_waits_a_bounded_time_for_a_connection(
    postgres: Postgres, schema: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(postgres.dsn, schema, pool=1) as kv:
        await put(kv, b"k")
        monkeypatch.setattr(postgres_pool, "WAIT", 0.1)
        pool = (await kv._session()).pool
        async with pool.lend():
            with pytest.raises(StoreUnavailableError, match="all 1 connections"):
                async with pool.lend():
                    pass
        async with pool.lend() as connection:  # and it is free again
            assert await connection.fetchval("SELECT 1") == 1
