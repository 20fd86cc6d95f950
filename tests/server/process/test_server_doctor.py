"""`lakebed doctor --server`: a report that users and support staff can read, made while the server runs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import apsw
import lakebed
import pytest
from lakebed_engine.stores.kv.postgres import inspect as postgres_inspect
from lakebed_engine.stores.objects.cloud.store import CloudObjects
from lakebed_engine.stores.objects.memory import MemoryObjects
from lakebed_engine.vocabulary.errors import StoreUnavailableError
from lakebed_server.process.doctor import examine
from lakebed_server.process.store_self_test import self_test
from lakebed_server.settings.load import MASK

from tests.cli.support import Command, Result
from tests.support.processes.server import RunningServer, running_server
from tests.support.services.postgres import running_postgres
from tests.support.services.s3 import shared
from tests.support.services.s3_settings import settings_of

SECRET = "a-secret-of-at-least-32-characters-"


def checks(report: Any) -> dict[str, dict[str, Any]]:
    return {check["check"]: check for check in report["checks"]}


def doctor(environment: dict[str, str], *arguments: str, code: int = 0) -> Result:
    return Command(environment)("doctor", "--server", *arguments, code=code)


def lake_of(server: RunningServer) -> lakebed.Lake:
    return lakebed.connect(server.endpoint, server.access_key_id, server.secret_access_key)


@pytest.mark.slow
def test_a_healthy_server_on_sqlite(tmp_path: Path) -> None:
    environment = {"LAKEBED_AUTH_SECRET_KEY": SECRET, "LAKEBED_CLEANUP_INTERVAL": "1h"}
    with running_server(tmp_path / "data", environment=environment) as server, lake_of(server) as lake:
        lake.repository("herd").create("local://herd")
        result = doctor(environment, "--data-dir", str(server.data_dir), "--json")
        assert not list((server.data_dir / "objects").rglob("*_doctor*"))
    report = result.json
    assert report["ok"], report
    found = checks(report)
    assert "tables of version 1" in found["KV store"]["message"]
    assert "one won" in found["conditional put of the KV store"]["message"]
    assert "conditional put, read, list" in found["object store local://herd"]["message"]
    assert found["clock of local://herd"]["ok"]
    assert {row["key"]: row["value"] for row in report["settings"]}["auth.secret_key"] == MASK
    assert SECRET not in result.text
    rows = apsw.Connection(str(server.data_dir / "lakebed.db")).execute(
        "SELECT count(*) FROM kv WHERE partition = ?", ("doctor",)
    )
    assert rows.get == 0


@pytest.mark.slow
def test_the_text_of_a_result(tmp_path: Path) -> None:
    with running_server(tmp_path / "data"):
        pass
    text = doctor({}, "--data-dir", str(tmp_path / "data")).text
    assert "[ok] KV store: SQLite at" in text
    assert "python" in text
    assert not list((tmp_path / "data" / "objects").iterdir())


@pytest.mark.slow
def test_before_the_first_start_nothing_is_made(tmp_path: Path) -> None:
    result = doctor({"HOME": str(tmp_path)}, "--json")
    assert result.json["ok"]
    assert "the first start makes it" in checks(result.json)["KV store"]["message"]
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_postgres_and_s3(tmp_path: Path) -> None:
    bucket = shared("seaweedfs")
    with running_postgres() as postgres:
        environment = settings_of(bucket) | {
            "LAKEBED_KV_TYPE": "postgres",
            "LAKEBED_KV_POSTGRES_DSN": postgres.dsn,
        }
        namespace = bucket.namespace()
        with running_server(tmp_path / "data", environment=environment) as server, lake_of(server) as lake:
            lake.repository("flock").create(namespace)
        result = doctor(environment, "--data-dir", str(tmp_path / "data"), "--json")
    found = checks(result.json)
    assert result.json["ok"], result.json
    assert found["clock of the database"]["message"] == "agrees with this machine's clock"
    assert found[f"object store {namespace}"]["ok"]
    assert found[f"clock of {namespace}"]["ok"]
    assert any("fsync is off" in warning for warning in result.json["warnings"])
    for secret in (bucket.secret_access_key, "a-password"):
        assert secret not in result.text
    assert bucket.access_key_id not in result.text
    names = [found["Key"] for found in bucket.boto().list_objects_v2(Bucket=bucket.bucket).get("Contents", [])]
    assert not [name for name in names if "_doctor" in name]


@pytest.mark.slow
def test_a_bucket_that_is_not_there() -> None:
    bucket = shared("seaweedfs")
    environment = settings_of(bucket) | {"LAKEBED_KV_TYPE": "memory", "LAKEBED_OBJECTS_RETRY": "1s"}
    result = doctor(environment, "--namespace", "s3://no-such-bucket-here/x", "--json", code=1)
    failed = [check for check in result.json["checks"] if not check["ok"]]
    assert [check["check"] for check in failed] == ["object store s3://no-such-bucket-here/x"]
    assert bucket.secret_access_key not in result.text


@pytest.mark.slow
def test_the_bucket_of_the_next_repository(tmp_path: Path) -> None:
    """Before the first start no repository names a bucket, and a wrong one must not be found by the first user."""
    bucket = shared("seaweedfs")
    environment = settings_of(bucket) | {"LAKEBED_OBJECTS_RETRY": "1s"}
    prefix = bucket.namespace()
    for place, code in ((prefix, 0), ("s3://no-such-bucket-here/x", 1)):
        result = doctor(
            environment | {"LAKEBED_OBJECTS_DEFAULT_NAMESPACE_PREFIX": f"{place}/"},
            "--data-dir",
            str(tmp_path / "data"),
            "--json",
            code=code,
        )
        assert checks(result.json)[f"object store {place}"]["ok"] is (code == 0)


@pytest.mark.slow
def test_a_database_that_does_not_answer_is_a_failed_check(tmp_path: Path) -> None:
    dsn = f"postgresql://lakebed:hunter2@/lake?host={tmp_path}"
    environment = {"LAKEBED_KV_TYPE": "postgres", "LAKEBED_KV_POSTGRES_DSN": dsn, "HOME": str(tmp_path)}
    result = doctor(environment, "--json", code=1)
    assert not checks(result.json)["KV store"]["ok"]
    assert "hunter2" not in result.text


@pytest.mark.slow
def test_wrong_settings_are_failed_checks(tmp_path: Path) -> None:
    (tmp_path / "server.yaml").write_text("listen.prot: 1\nauth.secret_key: hunter2\n")
    result = doctor({"HOME": str(tmp_path)}, "--config", str(tmp_path / "server.yaml"), "--json", code=1)
    said = [check["message"] for check in result.json["checks"] if check["check"] == "settings"]
    assert any("listen.prot" in message for message in said)
    assert any("too short" in message for message in said)
    assert "hunter2" not in result.text


@pytest.mark.slow
def test_its_options_need_server() -> None:
    error = Command({})("doctor", "--namespace", "s3://x", code=2).err
    assert "need --server" in error


class Forgetful(MemoryObjects):
    """A store that ignores the condition of a put."""

    async def put(self, key: str, data: bytes, *, if_absent: bool = False, by_content: bool = False) -> None:
        await super().put(key, data)


class Stale(MemoryObjects):
    """A store that lists nothing."""

    async def list(self, prefix: str = "", start_after: str = "") -> Any:
        nothing: tuple[Any, ...] = ()
        for found in nothing:
            yield found


class Late(MemoryObjects):
    """A store whose clock is ten minutes behind."""

    async def head(self, key: str) -> Any:
        found = await super().head(key)
        return type(found)(found.key, found.size, found.mtime - 600, found.etag)


class Undeletable(MemoryObjects):
    """A store that may not delete."""

    async def delete(self, keys: Sequence[str]) -> None:
        raise StoreUnavailableError("not allowed to delete")


@pytest.mark.parametrize(
    ("store", "reported"),
    [(Forgetful, "2 of two puts"), (Stale, "a listing shows []"), (Undeletable, "not allowed to delete")],
)
async def test_the_self_test_finds_a_store_that_does_not_fit(store: type[MemoryObjects], reported: str) -> None:
    assert reported in (await self_test(store("mem://x"), "one")).failure


async def test_the_self_test_measures_the_clock() -> None:
    result = await self_test(Late("mem://x"), "one")
    assert not result.failure
    assert -601 < result.skew < -590
    assert (await self_test(MemoryObjects("mem://y"), "one")).skew == 0


@pytest.mark.slow
async def test_the_self_test_on_a_bucket_leaves_nothing() -> None:
    server = shared("moto")
    store = CloudObjects(server.namespace(), server.options())
    assert not (await self_test(store, "one")).failure
    assert [found async for found in store.list()] == []
    store.close()


@pytest.mark.slow
async def test_a_database_whose_clock_is_wrong() -> None:
    class Slow:
        def now(self) -> float:
            return 1_000_000_000.0

        def monotonic(self) -> float:
            return 0.0

    with running_postgres() as postgres:
        state = await postgres_inspect.inspect(postgres.dsn, "lakebed", clock=Slow())
        assert state.version is None
        assert state.ahead is not None
        assert state.ahead > 1e8


@pytest.mark.slow
async def test_a_report_never_has_the_home_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "someone"))
    report = await examine(None, {"LAKEBED_OBJECTS_S3_ENDPOINT": "https://user:hunter2@minio"})
    assert "someone" not in json.dumps(report["checks"])
    assert "hunter2" not in json.dumps(report)
