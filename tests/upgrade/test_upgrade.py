"""The current code opens the stores of every released version, shows the same content, and works on with them."""

from __future__ import annotations

import json
import shutil
import subprocess
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import boto3  # type: ignore[import-untyped]
import lakebed
import pytest
from botocore.config import Config  # type: ignore[import-untyped]

from tests.support.processes.nursery import ended
from tests.support.processes.server import RunningServer, clean_environment, running_server
from tests.support.services.postgres import running_postgres
from tests.support.waiting import PATIENCE
from tools.make_fixture import ADMIN_ID, ADMIN_SECRET, restore

pytestmark = pytest.mark.slow

DATA = Path(__file__).parent / "data"
VERSIONS = sorted(path.name for path in DATA.iterdir())

ADMIN = {
    "LAKEBED_ADMIN_ACCESS_KEY_ID": ADMIN_ID,
    "LAKEBED_ADMIN_SECRET_ACCESS_KEY": ADMIN_SECRET,
    "LAKEBED_CLEANUP_INTERVAL": "1h",  # what was to expire since then is still there
    "LAKEBED_INGEST_ALLOW": "local://outside/",
}


class Old(NamedTuple):
    """A data directory of an older version, what it must show, and how to open it."""

    place: Path
    expected: Any
    settings: dict[str, str]

    @contextmanager
    def served(self, **more: str) -> Iterator[RunningServer]:
        with running_server(self.place, environment={**ADMIN, **self.settings, **more}) as server:
            yield server

    def fsck(self) -> subprocess.CompletedProcess[str]:
        command = ["fsck", "sales", "--deep", "--data-dir", str(self.place)]
        return ended(command, clean_environment(**self.settings), PATIENCE)


@pytest.fixture(params=[(version, kind) for version in VERSIONS for kind in ("sqlite", "postgres")], ids="-".join)
def old(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Old]:
    version, kind = request.param
    place = tmp_path / "data"
    with tarfile.open(DATA / version / f"{kind}.tar.gz") as archive:
        archive.extractall(place, filter="data")
    expected = json.loads((DATA / version / "expected.json").read_text())[kind]
    if kind == "sqlite":
        yield Old(place, expected, {})
        return
    with running_postgres() as postgres:
        restore(postgres, (place / "dump.sql").read_text())
        yield Old(place, expected, {"LAKEBED_KV_TYPE": "postgres", "LAKEBED_KV_POSTGRES_DSN": postgres.dsn})


def shows(lake: lakebed.Lake, expected: Any, *, uncommitted: bool = True) -> None:
    """Every ref with its history and the bytes of its objects."""
    repo = lake.repository("sales")
    for name, ref in expected["refs"].items():
        if "+" in name and not uncommitted:
            continue
        assert [commit.id for commit in repo.ref(name).log()] == ref["commits"], name
        if uncommitted or name != "dev":
            found = {one.path: repo.ref(name).get(one.path).decode() for one in repo.ref(name).list()}
            assert found == ref["objects"], name
    assert repo.metadata() == expected["metadata"]
    assert list(repo.protection().patterns) == expected["protection"]


def goes_on(lake: lakebed.Lake) -> None:
    """It takes writes, commits and merges."""
    repo = lake.repository("sales")
    dev = repo.branch("dev")
    dev.put("new.txt", b"new")
    dev.commit("by this version")
    dev.merge_into("main", "merged")
    assert repo.ref("main").get("new.txt") == b"new"


def test_everything_is_there_and_goes_on(old: Old) -> None:
    checked = old.fsck()
    assert checked.returncode == 0, checked.stdout + checked.stderr
    with old.served() as server:
        with lakebed.connect(server.endpoint, ADMIN_ID, ADMIN_SECRET) as lake:
            shows(lake, old.expected)
            repo = lake.repository("sales")
            assert repo.info().storage_id == "", "a record without a store means the default one"
            found = {one.name: one.state for one in repo.workspaces(state="all")}
            assert found == old.expected["workspaces"]
            assert repo.branch("main").commit("corrected", key="a key of a commit").id in {
                commit for ref in old.expected["refs"].values() for commit in ref["commits"]
            }, "the key is remembered"
            assert not repo.branch("main").ingest("local://outside/", "outside", dry_run=True).added
            name = next(name for name, state in found.items() if state == "open")
            repo.workspace(name).commit("committed by this version")
            assert repo.ref("main").get("workspace/c.txt") == b"c"
        _complete(server, old.expected["upload"])
        with lakebed.connect(server.endpoint, *old.expected["second_key"]) as lake:
            goes_on(lake)
    assert (checked := old.fsck()).returncode == 0, checked.stdout + checked.stderr


def _complete(server: RunningServer, upload: Any) -> None:
    s3 = boto3.client(
        "s3",
        endpoint_url=server.endpoint,
        aws_access_key_id=ADMIN_ID,
        aws_secret_access_key=ADMIN_SECRET,
        region_name="us-east-1",
        config=Config(s3={"addressing_style": "path"}),
    )
    where = {"Bucket": "sales", "Key": "dev/parts.bin"}
    parts = {"Parts": [{"PartNumber": 1, "ETag": upload["etag"]}]}
    s3.complete_multipart_upload(**where, UploadId=upload["id"], MultipartUpload=parts)
    assert s3.get_object(**where)["Body"].read().decode() == upload["body"]


@pytest.mark.parametrize("version", VERSIONS)
def test_the_bucket_alone_comes_back(version: str, tmp_path: Path) -> None:
    lost, place = tmp_path / "lost", tmp_path / "data"
    with tarfile.open(DATA / version / "sqlite.tar.gz") as archive:
        archive.extractall(lost, filter="data")
    place.mkdir()
    shutil.copytree(lost / "objects", place / "objects")
    expected = json.loads((DATA / version / "expected.json").read_text())["sqlite"]
    command = ["rebuild", "--namespace", "local://sales", "--data-dir", str(place)]
    done = ended(command, clean_environment(), PATIENCE)
    assert done.returncode == 0, done.stdout + done.stderr
    with (
        running_server(place, environment=ADMIN) as server,
        lakebed.connect(server.endpoint, ADMIN_ID, ADMIN_SECRET) as lake,
    ):
        shows(lake, expected, uncommitted=False)
        goes_on(lake)
