"""`lakebed fsck` and `lakebed rebuild` where production runs: rows in PostgreSQL, files in S3."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import asyncpg
import lakebed
import pytest

from tests.support.faults.scene import run_verb
from tests.support.processes.server import running_server
from tests.support.seeds import seed_of_the_engine
from tests.support.services.postgres import PASSWORD, Postgres, running_postgres
from tests.support.services.s3 import S3Server, shared
from tests.support.services.s3_settings import client_of
from tests.support.services.s3_settings import settings_of as s3_settings
from tests.support.sizes import sized

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def postgres() -> Iterator[Postgres]:
    with running_postgres() as server:
        yield server


@pytest.fixture
def environment(postgres: Postgres) -> dict[str, str]:
    """One SQL schema and one server's keys for this test."""
    return {
        **s3_settings(shared("seaweedfs")),
        "LAKEBED_KV_TYPE": "postgres",
        "LAKEBED_KV_POSTGRES_DSN": postgres.dsn,
        "LAKEBED_KV_POSTGRES_SCHEMA": f"t_{uuid4().hex[:12]}",
    }


def fill(repo: lakebed.Repository) -> None:
    """Two branches, a merge, a tag, a deleted object, metadata of a commit."""
    main = repo.branch("main")
    main.put_many({f"orders/{number:03}": f"order {number}".encode() for number in range(80)})
    main.commit("load", metadata={"source": "test"})
    dev = repo.branch("dev").create("main")
    dev.put("orders/001", b"better")
    dev.delete("orders/079")
    dev.commit("improve")
    main.put("other", b"1")
    main.commit("meanwhile")
    dev.merge_into(main)
    repo.tag("v1").create("main")
    dev.put("late", b"2")
    dev.commit("after the tag")


def picture(repo: lakebed.Repository) -> dict[str, Any]:
    """All that can be read of what was committed."""
    refs = [*repo.branches(), *repo.tags()]
    return {
        ref.id: (
            ref.commit_id,
            list(repo.ref(ref.id).log()),
            {one.path: (one, repo.ref(ref.id).get(one.path)) for one in repo.ref(ref.id).list()},
        )
        for ref in refs
    }


def wipe(postgres: Postgres, schema: str) -> None:
    async def job() -> None:
        connection = await asyncpg.connect(postgres.dsn)
        await connection.execute(f"DROP SCHEMA {schema} CASCADE")
        await connection.close()

    asyncio.run(job())


def objects_of(bucket: S3Server, namespace: str, folder: str) -> list[str]:
    prefix = f"{namespace.removeprefix(f's3://{bucket.bucket}/')}/{folder}"
    found = bucket.boto().list_objects_v2(Bucket=bucket.bucket, Prefix=prefix)
    return [one["Key"] for one in found.get("Contents", [])]


def test_a_lost_database_is_rebuilt_from_the_bucket(
    postgres: Postgres, environment: dict[str, str], tmp_path: Path
) -> None:
    namespace = shared("seaweedfs").namespace()
    name = f"rebuilt-{uuid4().hex[:16]}"
    data_dir = tmp_path / "data"
    with running_server(data_dir, environment=environment) as server, client_of(server) as lake:
        fill(lake.repository(name).create(namespace))
        truth = picture(lake.repository(name))
        lake.repository(name).branch("main").put("uncommitted", b"is lost")
    assert set(truth) == {"main", "dev", "v1"}

    wipe(postgres, environment["LAKEBED_KV_POSTGRES_SCHEMA"])
    unknown = run_verb(data_dir, environment, "fsck", name, "--json")
    assert (unknown.returncode, json.loads(unknown.stderr)["error"]["kind"]) == (3, "repository_not_found")
    dry = run_verb(data_dir, environment, "rebuild", "--namespace", namespace, "--dry-run")
    assert dry.returncode == 0, dry.stderr
    assert f"Repository {name} would be restored" in dry.stdout
    assert run_verb(data_dir, environment, "fsck", name).returncode == 3, "a dry run makes nothing"
    done = run_verb(data_dir, environment, "rebuild", "--namespace", namespace, "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    assert {key: json.loads(done.stdout)[key] for key in ("ok", "branches", "tags")} == {
        "ok": True, "branches": 2, "tags": 1,
    }  # fmt: skip
    again = run_verb(data_dir, environment, "rebuild", "--namespace", namespace)
    assert (again.returncode, PASSWORD in again.stderr) == (4, False)

    checked = run_verb(data_dir, environment, "fsck", name, "--deep", "--json")
    assert checked.returncode == 0, checked.stdout
    assert json.loads(checked.stdout)["problem_count"] == 0
    with running_server(data_dir, environment=environment) as server, client_of(server) as lake:
        repo = lake.repository(name)
        assert picture(repo) == truth
        main = repo.branch("main")
        assert list(main.uncommitted()) == []
        main.put("new", b"goes on")
        assert main.commit("after the rebuild").parents == (truth["main"][0],)
        assert repo.branch("dev").get("late") == b"2"
        assert run_verb(data_dir, environment, "fsck", name, "--data").returncode == 0


@pytest.mark.parametrize("folder", ["ranges", "metaranges", "commits"])
def test_a_deleted_file_is_found(environment: dict[str, str], tmp_path: Path, folder: str) -> None:
    bucket = shared("seaweedfs")
    namespace = bucket.namespace()
    name = f"deleted-{uuid4().hex[:16]}"
    data_dir = tmp_path / "data"
    with running_server(data_dir, environment=environment) as server, client_of(server) as lake:
        fill(lake.repository(name).create(namespace))
    assert run_verb(data_dir, environment, "fsck", name).returncode == 0
    boto = bucket.boto()
    keys = objects_of(bucket, namespace, f"_lakebed/{folder}/")
    for key in random.Random(seed_of_the_engine()).sample(keys, sized(len(keys))):
        content = boto.get_object(Bucket=bucket.bucket, Key=key)["Body"].read()
        boto.delete_object(Bucket=bucket.bucket, Key=key)
        found = run_verb(data_dir, environment, "fsck", name, "--json")
        boto.put_object(Bucket=bucket.bucket, Key=key, Body=content)
        assert found.returncode == 1, found.stdout + found.stderr
        problems = [one for one in json.loads(found.stdout)["findings"] if one["finding"] == "problem"]
        stem = key.rsplit("/", 1)[1].split(".")[0]
        assert any(one["kind"] == "missing" and stem in one["name"] for one in problems), problems
    whole = run_verb(data_dir, environment, "fsck", name)
    assert whole.returncode == 0, whole.stdout
    assert "Nothing is missing or corrupt" in whole.stdout


def test_fsck_of_a_missing_bucket_fails(environment: dict[str, str], tmp_path: Path) -> None:
    bucket = shared("seaweedfs")
    own = f"gone-{uuid4().hex[:12]}"
    boto = bucket.boto()
    bucket.make_bucket(own)
    data_dir = tmp_path / "data"
    with running_server(data_dir, environment=environment) as server, client_of(server) as lake:
        fill(lake.repository(own).create(f"s3://{own}/x"))
    for found in boto.list_objects_v2(Bucket=own)["Contents"]:
        boto.delete_object(Bucket=own, Key=found["Key"])
    boto.delete_bucket(Bucket=own)
    fsck = run_verb(data_dir, environment, "fsck", own, "--json")
    assert fsck.returncode == 7, fsck.stdout
    assert f"the bucket '{own}' does not exist; create it" in json.loads(fsck.stderr)["error"]["message"]
    rebuild = run_verb(data_dir, environment, "rebuild", "--namespace", f"s3://{own}/x", "--name", "other")
    assert rebuild.returncode == 7, rebuild.stdout + rebuild.stderr
