"""docs/how-to/back-up-and-restore.md: a backup of one moment, restored to a new place, is whole."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import lakebed
import pytest

from tests.cli.support import Command
from tests.deploy.pages import blocks
from tests.support.processes.server import RunningServer, running_server
from tests.support.services.postgres import Postgres, programs, running_postgres
from tests.support.services.s3 import S3Server, shared
from tests.support.services.s3_settings import settings_of
from tests.support.waiting import PATIENCE

pytestmark = pytest.mark.slow

PAGE = "how-to/back-up-and-restore.md"
REPO = "herbarium"


def lake_of(server: RunningServer) -> lakebed.Lake:
    return lakebed.connect(server.endpoint, server.access_key_id, server.secret_access_key, timeout=PATIENCE)


def before(server: RunningServer, namespace: str) -> None:
    """The state that the backup must have: commits, a branch, a tag, and uncommitted changes."""
    with lake_of(server) as lake:
        main = lake.repository(REPO).create(namespace).branch("main")
        for number in range(5):
            main.put(f"leaf-{number}", f"leaf {number}".encode())
            main.commit(f"leaf {number}")
        lake.repository(REPO).tag("spring").create(main)
        dev = lake.repository(REPO).branch("dev").create(main)
        dev.put("draft", b"uncommitted")


def after(server: RunningServer) -> str:
    """Changes that are younger than the backup. The id of the late commit."""
    with lake_of(server) as lake:
        main = lake.repository(REPO).branch("main")
        main.put("late", b"after the backup")
        main.delete("leaf-0")
        return str(main.commit("late").id)


def is_whole(environment: Mapping[str, str], data: Path, late: str) -> None:
    """What the restored server has, and what fsck and a rebuild find."""
    options = ("--data-dir", str(data))
    command = Command(environment)
    assert command("upgrade", "check", *options).code == 0
    assert "Nothing is missing or corrupt" in command("fsck", REPO, "--data", *options).text
    with running_server(data, environment=environment) as server, lake_of(server) as lake:
        repo = lake.repository(REPO)
        main = repo.branch("main")
        assert [commit.message for commit in main.log()][:5] == [f"leaf {number}" for number in (4, 3, 2, 1, 0)]
        assert main.get("leaf-0") == b"leaf 0"
        assert repo.branch("dev").get("draft") == b"uncommitted"
        assert repo.ref("spring").get("leaf-4") == b"leaf 4"
        with pytest.raises(lakebed.NotFoundError):
            main.get("late")
        assert late not in [commit.id for commit in main.log()]
        main.put("again", b"work goes on")
        main.commit("again")
    assert "Nothing is missing or corrupt" in command("fsck", REPO, "--data", *options).text


def rebuilt(environment: Mapping[str, str], data: Path, namespace: str, late: str) -> None:
    """A rebuild in an empty store finds the commit that is younger than the backup."""
    arguments = ("rebuild", "--namespace", namespace, "--data-dir", str(data))
    assert Command(environment)(*arguments).code == 0
    with running_server(data, environment=environment) as server, lake_of(server) as lake:
        assert lake.repository(REPO).ref(late).get("late") == b"after the backup"


def test_sqlite_and_local_files(tmp_path: Path) -> None:
    data, backup = tmp_path / "data", tmp_path / "backup"
    (copy_database,) = [line for line in "".join(blocks(PAGE, "text")).splitlines() if line.startswith("python3 -c")]
    assert "/var/lib/lakebed/lakebed.db" in copy_database
    assert sqlite3.sqlite_version
    # the copy is made within the minute of a first snapshot, without which a rebuild makes no branch
    with running_server(data, environment={"LAKEBED_REFS_SNAPSHOT": "always"}) as server:
        before(server, f"local://{REPO}")
        backup.mkdir(mode=0o700)
        shutil.copy2(data / "secret.key", backup)
        command = copy_database.replace("/var/lib/lakebed", str(data)).replace("/backup/today", str(backup))
        subprocess.run(command, shell=True, check=True)
        late = after(server)
        shutil.copytree(data / "objects", backup / "objects", symlinks=True)
    shutil.copytree(backup, tmp_path / "new")
    is_whole({}, tmp_path / "new", late)
    (tmp_path / "empty").mkdir()
    shutil.copytree(backup / "objects", tmp_path / "empty/objects")
    rebuilt({}, tmp_path / "empty", f"local://{REPO}", late)


def run(program: str, *arguments: str) -> None:
    done = subprocess.run([str(programs() / program), *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def copy_bucket(server: S3Server, source: str, target: str) -> int:
    """As `aws s3 sync` between two folders."""
    client: Any = server.boto()
    copied = 0
    for page in client.get_paginator("list_objects_v2").paginate(Bucket=server.bucket, Prefix=source):
        for found in page.get("Contents", []):
            key = target + found["Key"].removeprefix(source)
            client.copy_object(Bucket=server.bucket, Key=key, CopySource={"Bucket": server.bucket, "Key": found["Key"]})
            copied += 1
    return copied


def settings(postgres: Postgres, bucket: S3Server) -> dict[str, str]:
    return settings_of(bucket) | {"LAKEBED_KV_TYPE": "postgres", "LAKEBED_KV_POSTGRES_DSN": postgres.dsn}


def test_postgres_and_a_bucket(tmp_path: Path) -> None:
    data, bucket = tmp_path / "data", shared("seaweedfs")
    namespace = bucket.namespace()
    folder = namespace.removeprefix(f"s3://{bucket.bucket}/") + "/"
    dump = str(tmp_path / "lakebed.dump")
    text = "".join(blocks(PAGE, "text"))
    flags = ["--format=custom", "--schema=lakebed", "--serializable-deferrable"]
    restore = ["--no-owner", "--exit-on-error"]
    assert all(flag in text for flag in (*flags, *restore))
    with running_postgres() as postgres, running_server(data, environment=settings(postgres, bucket)) as server:
        before(server, namespace)
        run("pg_dump", *flags, f"--file={dump}", postgres.dsn)
        late = after(server)
        assert copy_bucket(bucket, folder, f"backup-{folder}") > 0
    for page in bucket.boto().get_paginator("list_objects_v2").paginate(Bucket=bucket.bucket, Prefix=folder):
        for found in page.get("Contents", []):
            bucket.boto().delete_object(Bucket=bucket.bucket, Key=found["Key"])  # the bucket is lost, too
    with running_postgres() as postgres:
        (tmp_path / "new").mkdir()
        shutil.copy2(data / "secret.key", tmp_path / "new")
        run("pg_restore", f"--dbname={postgres.dsn}", *restore, dump)
        copy_bucket(bucket, f"backup-{folder}", folder)
        is_whole(settings(postgres, bucket), tmp_path / "new", late)
