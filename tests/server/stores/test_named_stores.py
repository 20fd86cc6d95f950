"""A real server with a default store and two named ones: a second directory, and a bucket of S3."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import boto3  # type: ignore[import-untyped]
import httpx
import lakebed
import lakefs
import pytest
from lakefs.client import Client

from tests.support.faults.scene import run_verb
from tests.support.processes.nursery import ended
from tests.support.processes.server import RunningServer, clean_environment, running_server
from tests.support.services.s3 import S3Server, shared
from tests.support.services.s3_settings import client_of
from tests.support.waiting import PATIENCE

pytestmark = pytest.mark.slow


class Lake(NamedTuple):
    """A server, its client, the directory of the store `disk`, and the bucket of the store `eu`."""

    server: RunningServer
    client: lakebed.Lake
    disk: Path
    bucket: S3Server

    def new(self, name: str, store: str) -> lakebed.Repository:
        namespace = {"": f"local://{name}", "disk": f"local://{name}", "eu": self.bucket.namespace()}[store]
        return self.client.repository(name).create(namespace, storage_id=store)


def settings(disk: Path, bucket: S3Server, **more: str) -> dict[str, str]:
    return {
        "LAKEBED_STORES_DISK_TYPE": "local",
        "LAKEBED_STORES_DISK_ROOT": str(disk),
        "LAKEBED_STORES_EU_TYPE": "s3",
        "LAKEBED_STORES_EU_DESCRIPTION": "the bucket in Frankfurt",
        "LAKEBED_STORES_EU_PREFIXES": f"s3://{bucket.bucket}",
        "LAKEBED_STORES_EU_INGEST": f"s3://{bucket.bucket}/feed/",
        "LAKEBED_STORES_EU_ENDPOINT": bucket.endpoint,
        "LAKEBED_STORES_EU_REGION": "us-east-1",
        "LAKEBED_STORES_EU_ACCESS_KEY_ID": bucket.access_key_id,
        "LAKEBED_STORES_EU_SECRET_ACCESS_KEY": bucket.secret_access_key,
        "LAKEBED_STORES_EU_ALLOW_HTTP": "true",
        **more,
    }


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lake]:
    bucket, disk = shared("seaweedfs"), tmp_path_factory.mktemp("disk")
    with (
        running_server(tmp_path_factory, environment=settings(disk, bucket)) as server,
        client_of(server) as client,
    ):
        yield Lake(server, client, disk, bucket)


def rest(server: RunningServer, method: str, path: str, **more: Any) -> httpx.Response:
    auth = (server.access_key_id, server.secret_access_key)
    return httpx.request(method, f"{server.endpoint}/api/v1{path}", auth=auth, timeout=60, **more)


def test_config_lists_the_stores_as_clients_of_the_shared_api_know_them(stores: Lake) -> None:
    config = rest(stores.server, "GET", "/config").json()
    default, disk, eu = config["storage_config_list"]
    assert default == config["storage_config"]
    assert default["blockstore_id"] == ""
    assert (disk["blockstore_id"], disk["blockstore_type"], disk["pre_sign_support"]) == ("disk", "local", False)
    assert disk["default_namespace_prefix"] == "local://repos"
    assert (eu["blockstore_id"], eu["blockstore_type"], eu["pre_sign_support"]) == ("eu", "s3", True)
    assert eu["blockstore_description"] == "the bucket in Frankfurt"
    assert eu["default_namespace_prefix"] == f"s3://{stores.bucket.bucket}"
    assert re.match(eu["import_validity_regex"], f"s3://{stores.bucket.bucket}/feed/x")
    info = stores.client.info()
    assert [(one.id, one.kind, one.signs) for one in info.stores] == [("disk", "local", False), ("eu", "s3", True)]
    secrets = stores.bucket.secret_access_key
    assert secrets not in json.dumps(config)
    assert secrets not in stores.server.log


def test_the_lakefs_client_creates_and_finds_repositories_by_storage_id(stores: Lake) -> None:
    client = Client(  # type: ignore[no-untyped-call]
        host=stores.server.endpoint, username=stores.server.access_key_id, password=stores.server.secret_access_key
    )
    made = lakefs.Repository("by-lakefs", client=client).create(stores.bucket.namespace(), storage_id="eu")
    assert made.properties.storage_id == "eu"
    assert {one.id: one.properties.storage_id for one in lakefs.repositories(client=client)}["by-lakefs"] == "eu"
    assert client.storage_config_by_id("eu").blockstore_type  # type: ignore[no-untyped-call]
    stored = made.branch("main").object("a").upload(b"1", pre_sign=False)
    assert stored.storage_id() == "eu"
    assert stored.reader(pre_sign=False).read() == b"1"
    namespace = made.properties.storage_namespace
    found = stores.bucket.boto().list_objects_v2(
        Bucket=stores.bucket.bucket, Prefix=namespace.removeprefix(f"s3://{stores.bucket.bucket}/") + "/data/"
    )
    assert len(found["Contents"]) == 1


@pytest.mark.parametrize("store", ["", "disk", "eu"])
def test_the_whole_way_in_each_store(stores: Lake, store: str, tmp_path: Path) -> None:
    repo = stores.new(f"way-{store or 'default'}", store)
    assert repo.info().storage_id == store
    main = repo.branch("main")
    main.put("a", b"one")
    (tmp_path / "big").write_bytes(b"x" * (9 << 20))
    main.put("big", tmp_path / "big")
    first = main.commit("first")
    assert repo.ref(first.id).get("a") == b"one"
    with repo.branch("main").workspace() as workspace:
        workspace.put("b", b"two")
        workspace.commit("second")
    assert main.get("b") == b"two"
    signed = rest(
        stores.server, "GET", f"/repositories/{repo.id}/refs/main/objects", params={"path": "a", "presign": "true"}
    )
    if store == "eu":
        assert signed.status_code == 302
        assert signed.headers["location"].startswith(stores.bucket.endpoint)
        assert httpx.get(signed.headers["location"]).content == b"one"
    else:
        assert signed.status_code == 400
    inside = {one.name for one in stores.disk.iterdir()}
    assert (repo.id in inside) == (store == "disk")


def test_copies_between_stores_copy_the_bytes(stores: Lake) -> None:
    """By the S3 gateway: a whole object, and a part of a multipart upload."""
    source, target = stores.new("copy-from", "eu"), stores.new("copy-to", "disk")
    data = b"0123456789" * (600 << 10)
    source.branch("main").put("a", data)
    s3 = gateway(stores.server)
    s3.copy_object(Bucket=target.id, Key="main/copy", CopySource={"Bucket": source.id, "Key": "main/a"})
    upload = s3.create_multipart_upload(Bucket=target.id, Key="main/parts")["UploadId"]
    part = s3.upload_part_copy(
        Bucket=target.id,
        Key="main/parts",
        UploadId=upload,
        PartNumber=1,
        CopySource={"Bucket": source.id, "Key": "main/a"},
    )
    parts = {"Parts": [{"PartNumber": 1, "ETag": part["CopyPartResult"]["ETag"]}]}
    s3.complete_multipart_upload(Bucket=target.id, Key="main/parts", UploadId=upload, MultipartUpload=parts)
    source.delete(force=True)
    empty(stores.bucket, source)
    for path in ("copy", "parts"):
        assert target.branch("main").get(path) == data
        assert target.branch("main").stat(path).physical_address.startswith("local://copy-to/")


def gateway(server: RunningServer) -> Any:
    return boto3.client(
        "s3",
        endpoint_url=server.endpoint,
        aws_access_key_id=server.access_key_id,
        aws_secret_access_key=server.secret_access_key,
        region_name="us-east-1",
    )


def empty(bucket: S3Server, repo: lakebed.Repository) -> None:
    boto = bucket.boto()
    for found in boto.list_objects_v2(Bucket=bucket.bucket).get("Contents", []):
        if "/data/" in found["Key"]:
            boto.delete_object(Bucket=bucket.bucket, Key=found["Key"])


def test_ingest_reads_through_the_store_of_the_repository(stores: Lake) -> None:
    stores.bucket.boto().put_object(Bucket=stores.bucket.bucket, Key="feed/x.csv", Body=b"a,b\n")
    repo, other = stores.new("ingests", "eu"), stores.new("ingests-not", "")
    source = f"s3://{stores.bucket.bucket}/feed/"
    assert repo.branch("main").ingest(source, "in").added == 1
    assert repo.branch("main").get("in/x.csv") == b"a,b\n"
    with pytest.raises(lakebed.errors.LakebedError, match=r"ingest\.allow names nothing"):
        other.branch("main").ingest(source, "in")


def test_an_unknown_store_is_the_callers_mistake(stores: Lake) -> None:
    body = {"name": "nowhere", "storage_namespace": "local://nowhere", "storage_id": "us"}
    answer = rest(stores.server, "POST", "/repositories", json=body)
    assert answer.status_code == 400
    assert "no store 'us'" in answer.json()["message"]
    with pytest.raises(lakebed.errors.InvalidRequestError, match="takes namespaces below"):
        stores.client.repository("nowhere").create("s3://another-bucket/x", storage_id="eu")


def test_exist_ok_compares_the_store(stores: Lake) -> None:
    repo = stores.new("once", "disk")
    assert repo.create("local://once", exist_ok=True, storage_id="disk") is repo
    with pytest.raises(lakebed.errors.AlreadyExistsError, match="in the store 'disk', not ''"):
        repo.create("local://once", exist_ok=True)


def test_the_command_line(stores: Lake) -> None:
    def lakebed_(*words: str) -> str:
        done = ended(words, clean_environment(**stores.server.environment), PATIENCE)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    lakebed_("repo", "create", "by-cli", "local://by-cli", "--store", "disk")
    assert "in disk" in next(line for line in lakebed_("repo", "list").splitlines() if "by-cli" in line)
    assert re.search(r"store +disk", lakebed_("repo", "show", "by-cli"))
    said = lakebed_("config", "server")
    assert re.search(r"store eu +s3, new namespaces below s3://\S+, signed addresses: the bucket in Frankfurt", said)
    assert [one["id"] for one in json.loads(lakebed_("config", "server", "--json"))["stores"]] == ["disk", "eu"]


def test_a_server_that_lost_a_store_serves_the_others(tmp_path: Path) -> None:
    bucket, disk, data = shared("seaweedfs"), tmp_path / "disk", tmp_path / "data"
    disk.mkdir()
    given = settings(disk, bucket)
    with running_server(data, environment=given) as server, client_of(server) as client:
        lake = Lake(server, client, disk, bucket)
        for store in ("", "disk", "eu"):
            repo = lake.new(f"of-{store or 'default'}", store)
            repo.branch("main").put("a", b"1")
            repo.branch("main").commit("one")
    left = {name: value for name, value in given.items() if "_EU_" not in name}
    with running_server(data, environment=left) as server, client_of(server) as client:
        assert [one.id for one in client.repositories()] == ["of-default", "of-disk", "of-eu"]
        for name in ("of-default", "of-disk"):
            assert client.repository(name).branch("main").get("a") == b"1"
            client.repository(name).branch("main").put("b", b"2")
        with pytest.raises(lakebed.errors.ServerUnavailableError, match=r"no store 'eu': set stores\.eu\.type"):
            client.repository("of-eu").branch("main").get("a")
        assert client.repository("of-eu").info().storage_id == "eu"
        listed = rest(server, "GET", "/repositories").json()["results"]
        assert {one["id"]: one["storage_id"] for one in listed} == {"of-default": "", "of-disk": "disk", "of-eu": "eu"}
    unreachable = {**given, "LAKEBED_STORES_EU_ENDPOINT": "http://127.0.0.1:9", "LAKEBED_OBJECTS_RETRY": "1s"}
    with running_server(data, environment=unreachable) as server, client_of(server) as client:
        assert client.repository("of-disk").branch("main").get("a") == b"1"
        with pytest.raises(lakebed.errors.ServerUnavailableError):
            client.repository("of-eu").branch("main").get("a")
        assert "store 'eu'" in server.log
    with running_server(data, environment=given) as server, client_of(server) as client:
        assert client.repository("of-eu").branch("main").get("a") == b"1"


def test_maintenance_finds_the_store(tmp_path: Path) -> None:
    bucket, disk, data = shared("seaweedfs"), tmp_path / "disk", tmp_path / "data"
    disk.mkdir()
    given = settings(disk, bucket)
    with running_server(data, environment=given) as server, client_of(server) as client:
        repo = Lake(server, client, disk, bucket).new("kept", "eu")
        namespace = repo.info().storage_namespace
        repo.branch("main").put("a", b"1")
        repo.branch("main").commit("one")
    for words in (["fsck", "kept", "--data"], ["sweep", "--grace", "0"]):
        done = run_verb(data, given, *words)
        assert done.returncode == 0, done.stdout + done.stderr
    new = tmp_path / "new"
    words = ["rebuild", "--namespace", namespace]
    assert run_verb(new, given, *words).returncode != 0
    done = run_verb(new, given, *words, "--store", "eu")
    assert done.returncode == 0, done.stdout + done.stderr
    with running_server(new, environment=given) as server, client_of(server) as client:
        assert client.repository("kept").info().storage_id == "eu"
        assert client.repository("kept").branch("main").get("a") == b"1"
