"""`repo delete --purge` and repositories without a storage namespace, with real servers, disks, buckets and kills."""

from __future__ import annotations

import os
import re
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import apsw
import httpx
import lakebed
import pytest

from tests.cli.support import Command
from tests.support.processes.server import RunningServer, running_server
from tests.support.services.s3 import shared
from tests.support.services.s3_settings import settings_of
from tests.support.sizes import sized
from tests.support.waiting import PATIENCE, wait_until

pytestmark = pytest.mark.slow

QUICK = {"LAKEBED_CLEANUP_INTERVAL": "1s", "LAKEBED_CLEANUP_GRACE": "1s"}


def client(server: RunningServer) -> lakebed.Lake:
    return lakebed.connect(server.endpoint, server.access_key_id, server.secret_access_key, timeout=PATIENCE)


def files(directory: Path) -> list[str]:
    found = [one for one in directory.rglob("*") if one.is_file() and one.name != ".lakebed-lock"]
    return sorted(str(one.relative_to(directory)) for one in found)


def fill(repo: lakebed.Repository, amount: int = 3) -> None:
    branch = repo.branch("main")
    branch.put_many({f"a/{number:05}": b"1" for number in range(amount)})
    branch.commit("load")
    branch.put("uncommitted", b"2")


def partitions(server: RunningServer) -> list[str]:
    """Where rows of repositories are."""
    connection = apsw.Connection(str(server.data_dir / "lakebed.db"), apsw.SQLITE_OPEN_READONLY)
    try:
        return [row for (row,) in connection.execute("SELECT DISTINCT partition FROM kv WHERE partition LIKE 'repo/%'")]
    finally:
        connection.close()


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("purge") / "data"


@pytest.fixture(scope="module")
def served(place: Path) -> Iterator[RunningServer]:
    with running_server(place, environment=QUICK) as server:
        yield server


def test_a_namespace_need_not_be_invented(served: RunningServer) -> None:
    with client(served) as lake:
        repo = lake.repository("weather").create()
        assert repo.info().storage_namespace == "local://repos/weather"
        assert lake.repository("weather").create(exist_ok=True).info().storage_namespace == "local://repos/weather"
        with pytest.raises(lakebed.AlreadyExistsError):
            lake.repository("weather").create()
        repo.delete()
        fill(again := lake.repository("weather").create())  # the data of the first stays where it was
        found = again.info().storage_namespace
        assert found.startswith("local://repos/weather-")
        assert len(found) == len("local://repos/weather-") + 8


def test_existing_clients_may_leave_it_empty(served: RunningServer) -> None:
    auth = (served.access_key_id, served.secret_access_key)
    with httpx.Client(base_url=f"{served.endpoint}/api/v1", auth=auth) as http:
        made = http.post("/repositories", json={"name": "empty-one", "storage_namespace": ""})
        assert (made.status_code, made.json()["storage_namespace"]) == (201, "local://repos/empty-one")
        wrong = http.post("/repositories", json={"name": "wrong-one", "storage_namespace": "nowhere"})
        assert (wrong.status_code, wrong.json()["kind"]) == (400, "invalid_namespace")


def test_concurrent_creations_get_a_namespace_each(served: RunningServer) -> None:
    """Eight threads create the same name, and eight create different names with the same default namespace."""
    spaces, refused = [], []

    def make(name: str) -> None:
        with client(served) as lake:
            try:
                spaces.append(lake.repository(name).create().info().storage_namespace)
            except lakebed.AlreadyExistsError:
                refused.append(name)

    names = ["same"] * 8 + [f"other-{number}" for number in range(8)]
    threads = [threading.Thread(target=make, args=(name,)) for name in names]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert (len(spaces), len(set(spaces)), refused) == (9, 9, ["same"] * 7)


def test_the_prefix_is_a_setting(tmp_path: Path) -> None:
    with (
        running_server(
            tmp_path / "data", environment={"LAKEBED_OBJECTS_DEFAULT_NAMESPACE_PREFIX": "local://teams/a"}
        ) as server,
        client(server) as lake,
    ):
        assert lake.repository("sales").create().info().storage_namespace == "local://teams/a/sales"
        assert lake.info().namespace_prefix == "local://teams/a"
    wrong = {"LAKEBED_OBJECTS_DEFAULT_NAMESPACE_PREFIX": "teams"}
    refused = pytest.raises(AssertionError, match=r"objects\.default_namespace_prefix: ")
    with refused, running_server(tmp_path / "data", environment=wrong):
        pass


@pytest.mark.parametrize(("kv", "prefix"), [("sqlite", ""), ("memory", "mem://repos")])
def test_the_prefix_that_config_names_is_one_in_which_repositories_are_created(
    kv: str, prefix: str, tmp_path: Path
) -> None:
    environment = {
        "LAKEBED_OBJECTS_LOCAL_ROOT": "none",
        "LAKEBED_OBJECTS_S3_ENDPOINT": "https://s3.example.org",
        "LAKEBED_KV_TYPE": kv,
    }
    with running_server(tmp_path / "data", environment=environment) as server, client(server) as lake:
        auth = (server.access_key_id, server.secret_access_key)
        config = httpx.get(f"{server.endpoint}/api/v1/config", auth=auth).json()["storage_config"]
        assert config["default_namespace_prefix"] == lake.info().namespace_prefix == prefix
        if prefix:
            made = lake.repository("sales").create().info().storage_namespace
            assert made == f"{prefix}/sales"
            assert re.match(config["blockstore_namespace_ValidityRegex"], made)
        else:
            refused = r"needs a storage namespace, such as s3://bucket/sales"
            with pytest.raises(lakebed.InvalidRequestError, match=refused):
                lake.repository("sales").create()


def test_purge_on_a_local_disk(served: RunningServer, place: Path) -> None:
    command = Command(served.environment)
    with client(served) as lake:
        fill(lake.repository("x1x").create("local://x1x"))
        assert files(place / "objects" / "x1x")
        refused = command("repo", "delete", "x1x", "--purge", "--yes", code=2)
        assert "pass --confirm x1x" in refused.err
        assert "another" in command("repo", "delete", "x1x", "--purge", "--confirm", "another", code=2).err
        assert "--confirm needs --purge" in command("repo", "delete", "x1x", "--confirm", "x1x", code=2).err
        assert lake.repository("x1x").exists()
        done = command("repo", "delete", "x1x", "--purge", "--confirm", "x1x", "--json").json
        assert (done["deleted"], done["storage_namespace"], done["foreign"]) == ("x1x", "local://x1x", 0)
        assert done["files"] > 4
        assert files(place / "objects" / "x1x") == []
        assert command("repo", "delete", "x1x", "--purge", "--confirm", "x1x", code=3).err
        fill(lake.repository("x1x").create("local://x1x"))


def test_the_message_about_a_used_namespace_names_the_ways_out(served: RunningServer) -> None:
    with client(served) as lake:
        lake.repository("old").create("local://old-space").delete()
        with pytest.raises(lakebed.AlreadyExistsError) as caught:
            lake.repository("new").create("local://old-space")
    assert "lakebed rebuild --namespace local://old-space" in str(caught.value)
    assert "repo delete --purge" in str(caught.value)


def test_purge_needs_its_own_permission(served: RunningServer) -> None:
    with client(served) as lake:
        lake.repository("guarded").create()
        lake.users.create("pia")
        statement = {"effect": "allow", "action": ["fs:Read*", "fs:DeleteRepository"], "resource": "*"}
        lake.policies.create("delete-only", [statement])
        lake.users.attach("pia", "delete-only")
        key = lake.keys.create("pia")
        with lakebed.connect(served.endpoint, key.id, key.secret) as pia:
            with pytest.raises(lakebed.PermissionDeniedError) as caught:
                pia.repository("guarded").purge()
            assert "fs:PurgeRepository" in str(caught.value)
            assert pia.repository("guarded").exists()
            pia.repository("guarded").delete()


@pytest.mark.parametrize("kind", ["seaweedfs", pytest.param("moto", marks=pytest.mark.soak)])
def test_purge_in_a_bucket(kind: str, tmp_path: Path) -> None:
    bucket = shared(kind)
    uri = bucket.namespace()
    prefix = uri.removeprefix(f"s3://{bucket.bucket}/")

    def there() -> list[str]:
        found = bucket.boto().list_objects_v2(Bucket=bucket.bucket, Prefix=f"{prefix}/")
        names = [one["Key"].removeprefix(f"{prefix}/") for one in found.get("Contents", ())]
        return [name for name in names if not name.startswith(".lakebed-probe/")]  # how the store lists: it stays

    with (
        running_server(tmp_path / "data", environment={**settings_of(bucket), **QUICK}) as server,
        client(server) as lake,
    ):
        name = f"b-{uuid4().hex[:8]}"
        bucket.boto().put_object(Bucket=bucket.bucket, Key=f"{prefix}/theirs.txt", Body=b"not ours")
        fill(lake.repository(name).create(uri, allow_non_empty=True), sized(1500))
        report = lake.repository(name).purge()
        assert report.deleted > 0  # of the first 15 seconds, on a slow machine
        assert (report.foreign, report.foreign_example) == (1, "theirs.txt")
        assert there() == ["theirs.txt"]
        repo = lake.repository(name).create(uri, allow_non_empty=True)
        fill(repo)
        wait_until(lambda: len(partitions(server)) == 1, "the cleaner drops the rows of the first", every=0.05)
        assert repo.branch("main").get("a/00001") == b"1"


def kind_of_refusal(lake: lakebed.Lake) -> str:
    """Why the repository `large` does not answer."""
    with pytest.raises(lakebed.NotFoundError) as caught:
        lake.repository("large").info()
    return caught.value.kind


@pytest.mark.parametrize("round_", [1, *(pytest.param(one, marks=pytest.mark.soak) for one in (0, 2))])
def test_killed_in_the_middle(round_: int, tmp_path: Path) -> None:
    """SIGKILL while files are deleted. The next server finishes the purge, and the name is free again."""
    tries = (tmp_path / str(number) for number in range(5))
    place = next(place for place in tries if _is_killed_in_the_middle(place, 300 * round_))
    objects = place / "objects" / "large"
    with running_server(place, environment=QUICK) as server, client(server) as lake:
        assert kind_of_refusal(lake) in ("repository_deleting", "repository_not_found")
        wait_until(lambda: kind_of_refusal(lake) == "repository_not_found", "the purge ends", every=0.2)
        assert files(objects) == []
        repo = lake.repository("large").create("local://large")
        fill(repo)
        assert repo.branch("main").get("a/00001") == b"1"


def _is_killed_in_the_middle(place: Path, deleted: int) -> bool:
    """Whether the server still had files to delete when it was killed. On a busy machine, it may be done before."""
    objects = place / "objects" / "large"
    with running_server(place, environment=QUICK) as server, client(server) as lake:
        repo = lake.repository("large").create("local://large")
        fill(repo, 1500)
        whole = len(files(objects))
        errors: list[lakebed.LakebedError] = []
        thread = threading.Thread(target=_purge, args=(server, errors))
        thread.start()
        deadline = time.monotonic() + PATIENCE
        while len(files(objects)) > whole - 1 - deleted and time.monotonic() < deadline:
            pass
        os.kill(server.process.pid, signal.SIGKILL)
        server.process.wait()
        thread.join()
    left = len(files(objects))
    assert left < whole
    assert errors or not left  # a purge that did not end is not acknowledged
    return left > 0


def _purge(server: RunningServer, errors: list[lakebed.LakebedError]) -> None:
    lake = lakebed.connect(server.endpoint, server.access_key_id, server.secret_access_key, retries=0)
    with lake:
        try:
            lake.repository("large").purge()
        except lakebed.LakebedError as error:
            errors.append(error)


def test_branches_begin_at_the_default_branch(served: RunningServer) -> None:
    with client(served) as lake:
        repo = lake.repository("trunk-based").create(default_branch="trunk")
        repo.branch("trunk").put("a", b"1")
        head = repo.branch("trunk").commit("on trunk")
        assert repo.branch("dev").create().info().commit_id == head.id


async def test_branches_begin_at_the_default_branch_async(served: RunningServer) -> None:
    async with lakebed.aio.connect(served.endpoint, served.access_key_id, served.secret_access_key) as lake:
        repo = await lake.repository("trunk-async").create(default_branch="trunk")
        made = await repo.branch("dev").create()
        assert (await made.info()).commit_id == (await repo.branch("trunk").info()).commit_id


@pytest.mark.parametrize(
    ("name", "near"), [("feature/x", "feature-x"), ("v1.2", "v1-2"), ("-x", "x"), ("a b//c", "a-b-c")]
)
def test_a_refused_branch_name_names_the_rule_and_another(name: str, near: str, served: RunningServer) -> None:
    with client(served) as lake:
        repo = lake.repository("gitlike").create(exist_ok=True)
        with pytest.raises(lakebed.InvalidRequestError) as caught:
            repo.branch(name).create()
    assert f"for example '{near}'" in str(caught.value)
    assert "no slash" in str(caught.value)
    auth = (served.access_key_id, served.secret_access_key)
    with httpx.Client(base_url=f"{served.endpoint}/api/v1", auth=auth) as http:
        sent = http.post("/repositories/gitlike/branches", json={"name": name, "source": "main"})
        assert (sent.status_code, sent.json()["kind"]) == (400, "invalid_name")
        assert f"for example '{near}'" in sent.json()["message"]
    if "/" in name:
        refused = Command(served.environment)("branch", "create", f"gitlike/{name}", code=2)
        assert near in refused.err
