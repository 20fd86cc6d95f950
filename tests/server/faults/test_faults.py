"""Stores that are full, read-only, gone, slow or busy, under a real server: one kind of error, and nothing half-done.

Every case: a fault begins while the server runs, every verb is tried once over HTTP, the fault ends. Then nothing has
changed, fsck is clean, and the same branch works again without a restart.
"""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple
from uuid import uuid4

import apsw
import httpx
import lakebed
import pytest

from tests.server.support import refused
from tests.support.faults import faulty_disk
from tests.support.faults.faulty_disk import FaultyDisk
from tests.support.faults.faulty_s3 import BROKEN, BUSY, DENIED, FULL, Fault, FaultyS3
from tests.support.faults.scene import Scene
from tests.support.processes.server import RunningServer, running_server
from tests.support.services.s3_settings import settings_of
from tests.support.steady import steady

pytestmark = pytest.mark.slow

RETRY, SILENCE = 4.0, 2.0
"""Seconds. A machine under tests is silent for longer now and then: hence `steady`."""
S3_VERBS = ("upload", "large upload", "commit", "read", "merge", "create")
LATER = "try again later"


class Lake(NamedTuple):
    """A server whose store can be made to fail."""

    server: RunningServer
    environment: dict[str, str]
    faults: FaultyS3 | FaultyDisk

    def scene(self) -> Scene:
        """On a new namespace."""
        scheme = "s3://lakebed-test" if isinstance(self.faults, FaultyS3) else "local:/"
        return Scene(self.server, f"{scheme}/f-{uuid4().hex[:12]}", self.environment)


@pytest.fixture(scope="module")
def proxy() -> Iterator[FaultyS3]:
    from tests.support.services.s3 import shared

    with FaultyS3(shared("seaweedfs").endpoint) as started:
        yield started


@pytest.fixture(scope="module")
def cloud(proxy: FaultyS3, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lake]:
    from tests.support.services.s3 import shared

    environment = settings_of(
        shared("seaweedfs"),
        LAKEBED_OBJECTS_S3_ENDPOINT=proxy.endpoint,
        LAKEBED_OBJECTS_RETRY=str(RETRY),
        LAKEBED_OBJECTS_SILENCE=str(SILENCE),
    )
    with running_server(tmp_path_factory, environment=environment) as server:
        yield Lake(server, environment, proxy)


def stores(cloud: Lake, **_: object) -> list[str]:
    """The processes that must not be stopped: their delay would be an unwanted fault."""
    from tests.support.services.s3 import shared

    return [f"{cloud.server.endpoint}/_health", shared("seaweedfs").endpoint]


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lake]:
    control = tmp_path_factory.mktemp("faults") / "control"
    environment = {faulty_disk.CONTROL: str(control)}
    program = [faulty_disk.__file__]
    with running_server(tmp_path_factory, environment=environment, program=program) as server:
        yield Lake(server, environment, FaultyDisk(control))


# --- S3 ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "fault",
    [
        pytest.param(BUSY, id="busy"),
        pytest.param(BROKEN, id="broken"),
        pytest.param("reset", id="reset"),
        pytest.param("lose the answer", id="lost answer"),
        pytest.param(2 * SILENCE, id="silent"),
    ],
)
@steady(stores)
def test_a_temporary_store_fault_is_retried(cloud: Lake, proxy: FaultyS3, fault: Fault) -> None:
    """The first store request of every operation fails. The server sends it again, and the operation succeeds."""
    with cloud.scene() as scene:
        for verb, only in [
            ("upload", "PUT .*/data/"),
            ("commit", "PUT .*/_lakebed/"),
            ("merge", "PUT .*/_lakebed/commits/"),
            ("read", "GET .*/data/"),
        ]:
            with proxy.failing(fault, times=1, only=only):
                answer = scene.attempt(verb)[verb]
            assert answer.is_success, (verb, answer.text)
            assert proxy.hits == 1
            tries = [one for one in proxy.seen if re.search(only, f"{one[0]} {one[1]}")]
            assert len(tries) >= 2
        assert scene.paths() == ["a", "b", "x"]
        assert scene.uncommitted() == []
        assert scene.paths("ours") == ["a", "o", "t"]
        scene.passes_fsck()


@pytest.mark.parametrize(
    ("fault", "kind", "said", "retry"),
    [
        pytest.param(BUSY, "store_unavailable", f"the store answered 503 SlowDown; {LATER}", True, id="busy"),
        pytest.param(BROKEN, "store_unavailable", f"the store answered 500 InternalError; {LATER}", True, id="broken"),
        pytest.param("reset", "store_unavailable", f"the connection broke; .* {LATER}", True, id="reset"),
        pytest.param("gone", "store_unavailable", "cannot be reached; check the endpoint", True, id="gone"),
        pytest.param(60.0, "store_unavailable", f"the store did not answer, .* {LATER}", True, id="silent"),
        pytest.param(DENIED, "store_unavailable", "denied access .*; check the credentials", False, id="denied"),
        pytest.param(FULL, "store_full", "no space left .507 XMinioStorageFull.; free space", False, id="full"),
    ],
)
@steady(stores)
def test_a_permanent_store_fault_is_reported(
    cloud: Lake, proxy: FaultyS3, fault: Fault, kind: str, said: str, retry: bool
) -> None:
    with cloud.scene() as scene:
        with proxy.failing(fault):
            answers = scene.attempt(*S3_VERBS)
            tries = proxy.hits
        for verb, answer in answers.items():
            # a create with a forbidden namespace is an invalid request
            wrong = fault == DENIED and verb == "create"
            refused(answer, "invalid_namespace" if wrong else kind, said, retry=retry)
            assert re.match(r"cannot (write|read|list) s3://lakebed-test/f-", answer.json()["message"]), verb
        print(f"{kind}: {tries} requests for {len(S3_VERBS)} verbs")
        if retry and fault != "gone":
            assert tries >= 2 * len(S3_VERBS), "each verb was tried more than once inside"
        if fault == DENIED:
            assert tries <= 4 * len(S3_VERBS), "what lasts is not repeated (a new bucket's self-test sends twelve)"
        scene.is_unhurt()
        scene.goes_on()
        assert scene.create(f"{scene.name}-2", f"{scene.namespace}-2").status_code == 201


@steady(stores)
def test_lost_answers_of_every_write(cloud: Lake, proxy: FaultyS3) -> None:
    """The writes happen and their answers are lost. Each commit is refused or unknown. None is half there."""
    with cloud.scene() as scene:
        with proxy.failing("lose the answer", only="PUT"):
            answers = scene.attempt("upload", "commit", "merge", "read")
        assert answers["read"].content == b"first"
        for verb in ("upload", "commit", "merge"):
            refused(answers[verb], "store_unavailable", "the connection broke", retry=True)
        scene.is_unhurt()
        scene.goes_on()


@steady(stores)
def test_acknowledged_uploads_of_a_bad_time_are_there(cloud: Lake, proxy: FaultyS3) -> None:
    with cloud.scene() as scene:
        acknowledged, refusals = {}, set()
        for number in range(12):
            path = f"n/{number:02}"
            with proxy.failing(BUSY if number % 3 else "reset", times=0 if number % 4 else 50, only="PUT .*/data/"):
                answer = scene.upload("main", path, b"%d" % number)
            if answer.is_success:
                acknowledged[path] = b"%d" % number
            else:
                refusals.add(path)
        assert len(refusals) == 3
        assert scene.uncommitted() == ["b", *acknowledged]
        assert scene.commit("main").status_code == 201
        assert scene.paths() == ["a", "b", *acknowledged]
        assert {path: scene.read("main", path).content for path in acknowledged} == acknowledged
        assert {scene.read("main", path).status_code for path in refusals} == {404}


@steady(stores)
def test_a_truncated_response_is_never_treated_as_complete(cloud: Lake, proxy: FaultyS3) -> None:
    """The server requests the rest of an object again. If that fails too, the client's transfer breaks off."""
    data = bytes(range(256)) * (4 << 12)
    with cloud.scene() as scene:
        assert scene.upload("main", "large", data).status_code == 201
        with proxy.failing("half", times=1, only="GET .*/data/"):
            assert scene.read("main", "large").content == data
        assert proxy.hits == 1
        with proxy.failing("half", only="GET .*/data/"), pytest.raises(httpx.RemoteProtocolError):
            scene.read("main", "large")
        assert scene.read("main", "large").content == data


@steady(stores)
def test_the_sdk_has_a_type_for_it(cloud: Lake, proxy: FaultyS3) -> None:
    server = cloud.server
    with (
        cloud.scene() as scene,
        lakebed.connect(server.endpoint, server.access_key_id, server.secret_access_key, retries=0) as lake,
    ):
        main = lake.repository(scene.name).branch("main")
        with proxy.failing(BUSY), pytest.raises(lakebed.errors.ServerUnavailableError) as caught:
            main.put("x", b"1")
        assert (caught.value.kind, caught.value.status) == ("store_unavailable", 503)
        with proxy.failing(FULL), pytest.raises(lakebed.errors.ServerError, match="has no space") as full:
            main.put("x", b"1")
        assert (full.value.kind, full.value.status) == ("store_full", 507)
        scene.is_unhurt()


@steady(stores)
def test_a_bucket_that_is_not_there(cloud: Lake) -> None:
    """For a new repository it is the caller's mistake, and the name stays free for another attempt."""
    from tests.support.services.s3 import shared

    s3 = shared("seaweedfs")
    boto = s3.boto()
    bucket = f"faults-{uuid4().hex[:12]}"
    said = f"the bucket '{bucket}' does not exist; create it, or correct the namespace"
    with cloud.scene() as scene:
        refused(scene.create(f"{bucket}-r", f"s3://{bucket}/x"), "invalid_namespace", said, retry=False)
        assert scene.create(f"{bucket}-r", f"s3://lakebed-test/{bucket}").status_code == 201
    s3.make_bucket(bucket)
    with Scene(cloud.server, f"s3://{bucket}/x", cloud.environment) as scene:
        kept = {}
        for found in boto.list_objects_v2(Bucket=bucket)["Contents"]:
            kept[found["Key"]] = boto.get_object(Bucket=bucket, Key=found["Key"])["Body"].read()
            boto.delete_object(Bucket=bucket, Key=found["Key"])
        boto.delete_bucket(Bucket=bucket)
        for answer in scene.attempt("upload", "commit", "read", "merge").values():
            refused(answer, "store_unavailable", said, retry=False)
        s3.make_bucket(bucket)
        for key, data in kept.items():
            boto.put_object(Bucket=bucket, Key=key, Body=data)
        scene.is_unhurt()
        scene.goes_on()


# --- local:// and SQLite -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("code", "kind", "said", "retry"),
    [
        pytest.param(errno.ENOSPC, "store_full", "No space left on device .ENOSPC.; .* free space", False, id="full"),
        pytest.param(errno.EROFS, "store_full", "Read-only file system .EROFS.; .* writable", False, id="read-only"),
        pytest.param(errno.EIO, "store_unavailable", "Input/output error .EIO.; check", True, id="failing syncs"),
    ],
)
def test_a_disk_of_objects_that_fails(local: Lake, code: int, kind: str, said: str, retry: bool) -> None:
    faults = local.faults
    assert isinstance(faults, FaultyDisk)
    with local.scene() as scene:
        with faults.failing(objects=code):
            answers = scene.attempt("upload", "large upload", "commit", "merge", "create", "read")
        assert answers.pop("read").content == b"first"
        for answer in answers.values():
            refused(answer, kind, rf"cannot write local://f-\w+(-2)?/.*: {said}", retry=retry)
        scene.is_unhurt()
        scene.goes_on()
        root = local.server.data_dir / "objects" / scene.namespace.removeprefix("local://")
        assert list((root / ".lakebed-tmp").iterdir()) == [], "nothing half-written stays"


@contextmanager
def file_size_limit(process: int, limit: int) -> Iterator[None]:
    """The kernel refuses to let files of a running process grow beyond `limit` bytes. True for root as well."""
    import resource

    before = resource.prlimit(process, resource.RLIMIT_FSIZE)
    resource.prlimit(process, resource.RLIMIT_FSIZE, (limit, before[1]))
    try:
        yield
    finally:
        resource.prlimit(process, resource.RLIMIT_FSIZE, before)


def test_a_limit_of_the_kernel(local: Lake) -> None:
    with local.scene() as scene:
        with file_size_limit(local.server.process.pid, 4 << 20):
            answers = scene.attempt("large upload", "read")
        assert answers["read"].content == b"first"
        refused(answers["large upload"], "store_full", "File too large .EFBIG.; no partial file remains", retry=False)
        scene.is_unhurt()
        scene.goes_on()


def test_the_directory_of_objects_is_gone(local: Lake) -> None:
    root = local.server.data_dir / "objects"
    away = root.with_name("away")
    with local.scene() as scene:
        root.rename(away)
        try:
            answers = scene.attempt("upload", "large upload", "commit", "merge", "create", "read")
            assert not root.exists(), "a directory in its place would hide what comes back"
        finally:
            away.rename(root)
        for answer in answers.values():
            refused(answer, "store_unavailable", "the directory of local:// namespaces is gone; mount", retry=True)
        scene.is_unhurt()
        scene.goes_on()


_TEMP, _COMMITS = ".lakebed-tmp", "_lakebed/commits"


@pytest.mark.parametrize(
    ("directories", "changes"), [([_TEMP], ["large upload"]), ([_TEMP, _COMMITS], ["commit", "merge"])]
)
def test_unwritable_directory_fails_changes_only(local: Lake, directories: list[str], changes: list[str]) -> None:
    """A true permission, where it binds; for root the same refusal comes from a file in the directory's place.

    Small uploads and the files of commits go by the directory for temp files only where their own name is not to be
    had; what refuses those of an upload is in tests/conformance/test_fresh.py.
    """
    with local.scene() as scene:
        root = local.server.data_dir / "objects" / scene.namespace.removeprefix("local://")
        shut = [root / one for one in directories]
        for one in shut:
            if os.geteuid() == 0:
                one.rename(one.with_name("aside"))
                one.write_text("in the way")
            else:
                one.chmod(0o500)
        try:
            answers = scene.attempt(*changes)
        finally:
            for one in shut:
                if os.geteuid() == 0:
                    one.unlink()
                    one.with_name("aside").rename(one)
                else:
                    one.chmod(0o700)
        assert len(answers) == len(changes)
        for answer in answers.values():
            refused(answer, "store_unavailable", "check the directory's owner, mode and disk", retry=True)
        scene.is_unhurt()
        scene.goes_on()


@pytest.mark.parametrize(
    ("word", "kind", "said", "retry"),
    [
        pytest.param("full", "store_full", "the KV store cannot be written, .* free space", False, id="full"),
        pytest.param("read-only", "store_full", "the KV store cannot be written, .* writable", False, id="read-only"),
        pytest.param("sync", "outcome_unknown", "may or may not have happened; read back", False, id="failing syncs"),
    ],
)
def test_a_sqlite_file_that_fails(local: Lake, word: str, kind: str, said: str, retry: bool) -> None:
    faults = local.faults
    assert isinstance(faults, FaultyDisk)
    with local.scene() as scene:
        with faults.failing(kv=word):
            answers = scene.attempt("upload", "commit", "merge", "create", "read", "list")
        assert answers.pop("read").content == b"first"
        assert [entry["path"] for entry in answers.pop("list").json()["results"]][:2] == ["a", "b"]
        reported = {verb: answer.json()["kind"] for verb, answer in answers.items()}
        for verb, answer in answers.items():
            # upload and commit check one record: the call that finds it changed, in a transaction that then
            # fails, was not written. (tests/conformance/kv/test_kv.py has it at the driver, and after a crash.)
            if word == "sync" and verb in {"upload", "commit"} and reported[verb] == "store_unavailable":
                refused(answer, "store_unavailable", "the store did not answer; try again later", retry=True)
            else:
                refused(answer, kind, said, retry=retry)
        assert list(reported.values()).count(kind) >= 3, reported
        # an upload with an unknown outcome may be stored; a refused upload is not, and neither is any commit
        scene.is_unhurt(perhaps=("x",) if reported["upload"] == "outcome_unknown" else ())
        scene.goes_on()


def test_sqlite_locked_for_long_by_another_process(local: Lake) -> None:
    with local.scene() as scene:
        other = apsw.Connection(str(local.server.data_dir / "lakebed.db"))
        other.execute("BEGIN IMMEDIATE")
        answers = scene.attempt("upload", "commit", "merge", "create", "read", "list")
        other.execute("ROLLBACK")
        other.close()
        assert answers.pop("read").content == b"first"
        assert [entry["path"] for entry in answers.pop("list").json()["results"]] == ["a", "b"]
        for answer in answers.values():
            refused(answer, "store_unavailable", "another process held the KV store for too long", retry=True)
        scene.is_unhurt()
        scene.goes_on()


def test_a_sqlite_file_that_is_moved_away(local: Lake) -> None:
    """SQLite itself would continue in an unlinked file, and every acknowledged change would be lost at its end."""
    path = local.server.data_dir / "lakebed.db"
    with local.scene() as scene:
        path.rename(path.with_name("away"))
        try:
            answers = scene.attempt("upload", "commit", "merge", "create", "read")
        finally:
            path.with_name("away").rename(path)
        assert answers.pop("read").content == b"first"
        for answer in answers.values():
            refused(answer, "store_unavailable", "file was moved, removed or replaced while it was in use", retry=True)
        scene.is_unhurt()
        scene.goes_on()


def test_the_log_has_the_full_error(local: Lake) -> None:
    faults = local.faults
    assert isinstance(faults, FaultyDisk)
    with local.scene() as scene:
        with faults.failing(kv="full"):
            answer = scene.attempt("upload")["upload"]
        database = str(local.server.data_dir / "lakebed.db")
        assert any(
            answer.headers["x-request-id"] in line and database in line for line in local.server.log.splitlines()
        )
        assert database not in answer.text
