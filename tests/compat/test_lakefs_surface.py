"""What the official packages offer beyond the common path: imports, links, signed transfers, metadata, own keys."""

# mypy: disable-error-code="attr-defined, call-arg, arg-type"
# what lakefs_sdk exports and leaves out, it does not say to mypy
from __future__ import annotations

import hashlib
import warnings
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import lakefs
import lakefs_sdk
import pytest
from lakefs.client import Client
from lakefs.exceptions import ObjectExistsException
from lakefs_spec import LakeFSFileSystem

from tests.support.processes.server import RunningServer, running_server
from tests.support.services.s3 import S3Server, shared
from tests.support.services.s3_settings import settings_of
from tests.support.waiting import wait_until

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def bucket() -> S3Server:
    return shared("seaweedfs")


@pytest.fixture(scope="module")
def s3_only(tmp_path_factory: pytest.TempPathFactory, bucket: S3Server) -> Iterator[RunningServer]:
    """A server without a store of its own: all of its repositories are on S3, so clients may sign."""
    environment = {
        **settings_of(bucket),
        "LAKEBED_INGEST_ALLOW": f"s3://{bucket.bucket}/foreign/",
        "LAKEBED_OBJECTS_LOCAL_ROOT": "none",
    }
    with running_server(tmp_path_factory, environment=environment) as server:
        yield server


@pytest.fixture
def s3_client(s3_only: RunningServer) -> Client:
    return Client(  # type: ignore[no-untyped-call]
        host=s3_only.endpoint, username=s3_only.access_key_id, password=s3_only.secret_access_key
    )


@pytest.fixture
def s3_repo(s3_client: Client, bucket: S3Server) -> lakefs.Repository:
    name = f"compat-{uuid4().hex[:16]}"
    return lakefs.Repository(name, client=s3_client).create(storage_namespace=bucket.namespace())


def raw(client: Client) -> Any:
    """The generated client below the wrapper."""
    return client.sdk_client._api


def test_a_server_on_s3_says_what_clients_may_do(s3_client: Client, bucket: S3Server) -> None:
    config = s3_client.storage_config
    assert (config.blockstore_type, config.pre_sign_support, config.import_support) == ("s3", True, True)
    assert config.import_validity_regex.startswith("^(s3://")


def test_signed_transfers(s3_repo: lakefs.Repository) -> None:
    thing = s3_repo.branch("main").object("a/b.csv")
    thing.upload(b"id\n1\n", content_type="text/csv", metadata={"k": "v"}, mode="wb")
    stats = thing.stat()
    assert (stats.size_bytes, stats.metadata, stats.content_type) == (5, {"k": "v"}, "text/csv")
    assert stats.checksum == hashlib.md5(b"id\n1\n").hexdigest()
    assert ",".join(stats.physical_address.split(",")[:1]) in stats.physical_address
    with thing.reader(mode="rb") as reader:
        assert reader.read() == b"id\n1\n"
    with thing.reader(mode="rb", pre_sign=False) as reader:
        assert reader.read(2) == b"id"
    with pytest.raises(ObjectExistsException):
        thing.upload(b"again", mode="xb")
    s3_repo.branch("main").commit("one")
    assert [change.path for change in s3_repo.branch("main").uncommitted()] == []


def test_an_import(s3_repo: lakefs.Repository, bucket: S3Server) -> None:
    prefix = f"foreign/{uuid4().hex[:16]}/"
    for n in range(3):
        bucket.boto().put_object(Bucket=bucket.bucket, Key=f"{prefix}{n}.csv", Body=b"x" * n)
    main = s3_repo.branch("main")
    importer = main.import_data(commit_message="imported", metadata={"k": "v"})
    importer.prefix(f"s3://{bucket.bucket}/{prefix}", "in/").object(f"s3://{bucket.bucket}/{prefix}1.csv", "one.csv")
    status = importer.run()
    assert (status.completed, status.error, status.ingested_objects) == (True, None, 4)
    assert status.commit is not None
    assert status.commit.message == "imported"
    assert [item.path for item in main.objects()] == ["in/0.csv", "in/1.csv", "in/2.csv", "one.csv"]
    assert main.object("one.csv").reader(mode="rb").read() == b"x"


def test_lakefs_spec_over_signed_addresses(s3_only: RunningServer, s3_repo: lakefs.Repository) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        LakeFSFileSystem.clear_instance_cache()
        files = LakeFSFileSystem(
            host=s3_only.endpoint,
            username=s3_only.access_key_id,
            password=s3_only.secret_access_key,
            skip_instance_cache=True,
        )
    path = f"{s3_repo.id}/main/dir/a.txt"
    files.pipe_file(path, b"hello")
    assert files.cat_file(path) == b"hello"
    assert files.cat_file(path, start=1, end=3) == b"el"
    assert files.checksum(path) == hashlib.md5(b"hello").hexdigest()
    files.cp_file(path, f"{s3_repo.id}/main/dir/b.txt")
    assert sorted(files.ls(f"{s3_repo.id}/main/dir/", detail=False)) == [path, f"{s3_repo.id}/main/dir/b.txt"]
    files.rm(f"{s3_repo.id}/main/dir/", recursive=True)
    assert not files.exists(path)


def test_the_generated_client_on_objects_and_metadata(client: Client, lakefs_repo: lakefs.Repository) -> None:
    objects = lakefs_sdk.ObjectsApi(raw(client))
    name = lakefs_repo.id
    stored = objects.upload_object(name, "main", "a.csv", content=b"content")
    assert stored.size_bytes == 7
    objects.update_object_user_metadata(name, "main", "a.csv", lakefs_sdk.UpdateObjectUserMetadata(set={"k": "v"}))
    assert objects.stat_object(name, "main", "a.csv").metadata == {"k": "v"}
    assert objects.get_underlying_properties(name, "main", "a.csv").storage_class is None
    lakefs_sdk.InternalApi(raw(client)).upload_object_preflight(name, "main", "a.csv")
    given = lakefs_sdk.StagingApi(raw(client)).get_physical_address(name, "main", "b.csv")
    assert given.presigned_url is None
    commit = lakefs_repo.branch("main").commit("one")
    metarange = commit.get_commit().meta_range_id
    metadata = lakefs_sdk.MetadataApi(raw(client))
    assert metadata.get_meta_range(name, metarange).location.endswith(f"{metarange}.parquet")
    internal = lakefs_sdk.InternalApi(raw(client))
    assert internal.create_symlink_file(name, "main").location.endswith("/symlinks")
    dump = internal.dump_refs(name)
    assert len({dump.commits_meta_range_id, dump.branches_meta_range_id, dump.tags_meta_range_id}) == 3
    task = lakefs_sdk.RepositoriesApi(raw(client)).dump_submit(name)

    def asked() -> Any:
        return lakefs_sdk.RepositoriesApi(raw(client)).dump_status(name, task.id)

    wait_until(lambda: asked().done, "the dump is done")
    assert asked().refs == dump


def test_the_generated_client_on_the_system(client: Client) -> None:
    internal = lakefs_sdk.InternalApi(raw(client))
    assert internal.get_setup_state().state == "initialized"
    with pytest.raises(lakefs_sdk.ApiException) as caught:
        internal.setup(lakefs_sdk.Setup(username="admin"))
    assert caught.value.status == 409
    with pytest.raises(lakefs_sdk.ApiException) as caught:
        internal.setup_comm_prefs(lakefs_sdk.CommPrefsInput(featureUpdates=False, securityUpdates=False))
    assert caught.value.status == 409
    events = [lakefs_sdk.StatsEvent(**{"class": "cli", "name": "ls", "count": 1})]
    internal.post_stats_events(lakefs_sdk.StatsEventsList(events=events))
    with pytest.warns(DeprecationWarning, match="is deprecated"):
        assert internal.get_storage_config().blockstore_type == "local"
    with pytest.warns(DeprecationWarning, match="is deprecated"):
        assert internal.get_lake_fs_version().version


def test_own_access_keys(client: Client, server: RunningServer) -> None:
    auth = lakefs_sdk.AuthApi(raw(client))
    user = auth.get_current_user().user.id
    made = auth.create_credentials(user)
    other = Client(host=server.endpoint, username=made.access_key_id, password=made.secret_access_key)  # type: ignore[no-untyped-call]
    assert lakefs_sdk.AuthApi(raw(other)).get_current_user().user.id == user
    assert auth.get_credentials(user, made.access_key_id).creation_date == made.creation_date
    listed = [key.access_key_id for key in auth.list_user_credentials(user).results]
    assert {made.access_key_id, server.access_key_id} <= set(listed)
    assert listed == sorted(listed)

    def refused(call: Any, *arguments: str) -> int:
        with pytest.raises(lakefs_sdk.ApiException) as caught:
            call(*arguments)
        return int(caught.value.status)

    assert refused(auth.delete_credentials, user, server.access_key_id) == 400  # its first credentials
    assert refused(auth.delete_credentials, user, "AKIAJNONE") == 404
    assert refused(auth.create_credentials, "no-such-user") == 404
    auth.delete_credentials(user, made.access_key_id)
    assert refused(auth.get_credentials, user, made.access_key_id) == 404
    assert refused(lakefs_sdk.AuthApi(raw(other)).get_current_user) == 401


def test_unsupported_lakefs_calls_are_not_implemented(client: Client, lakefs_repo: lakefs.Repository) -> None:
    api = raw(client)
    for call in (
        lambda: lakefs_sdk.RepositoriesApi(api).get_gc_rules(lakefs_repo.id),
        lambda: lakefs_sdk.InternalApi(api).prepare_garbage_collection_commits(lakefs_repo.id),
    ):
        with pytest.raises(lakefs_sdk.ApiException) as caught:
            call()
        assert caught.value.status == 501
        assert "`lakebed sweep`" in (caught.value.body or "")


def test_an_upload_without_parts(s3_client: Client, s3_repo: lakefs.Repository) -> None:
    uploads = lakefs_sdk.ExperimentalApi(raw(s3_client))
    begun = uploads.create_presign_multipart_upload(s3_repo.id, "main", "big", parts=0)
    assert begun.presigned_urls is None
    assert begun.upload_id
    two = uploads.create_presign_multipart_upload(s3_repo.id, "main", "big", parts=2)
    assert len(two.presigned_urls or []) == 2
    nowhere = lakefs_sdk.AbortPresignMultipartUpload(physical_address="")
    with pytest.raises(lakefs_sdk.ApiException) as caught:
        uploads.abort_presign_multipart_upload(s3_repo.id, "main", two.upload_id, "big", nowhere)
    assert caught.value.status == 400


def test_lists_of_runs_and_users(client: Client, lakefs_repo: lakefs.Repository) -> None:
    assert lakefs_sdk.ActionsApi(raw(client)).list_repository_runs(lakefs_repo.id).results == []
    assert "admin" in [one.id for one in lakefs_sdk.AuthApi(raw(client)).list_users(prefix="admin").results]
