"""Tasks, imports, access keys and what else is asked for by itself, through both doors and against a real server."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import httpx
import lakebed
import pytest
from lakebed import (
    AuthenticationError,
    ConflictError,
    InvalidRequestError,
    MergeConflictError,
    NotFoundError,
    NothingToCommitError,
    ObjectNotFoundError,
    OutcomeUnknownError,
    PermissionDeniedError,
    TaskStatus,
)

from tests.sdk.doors import Door
from tests.support.processes.server import RunningServer, running_server

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def open_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """A server that may read below `local://feed`."""
    with running_server(tmp_path_factory, environment={"LAKEBED_INGEST_ALLOW": "local://feed/"}) as started:
        yield started


@pytest.fixture
def lake(open_server: RunningServer) -> Iterator[lakebed.Lake]:
    given = (open_server.endpoint, open_server.access_key_id, open_server.secret_access_key)
    with lakebed.connect(*given) as lake:
        yield lake


@pytest.fixture
def repo(lake: lakebed.Lake) -> lakebed.Repository:
    name = f"bg-{uuid4().hex[:12]}"
    return lake.repository(name).create(f"local://{name}")


def test_start_commit_and_merge_then_wait(repo: lakebed.Repository) -> None:
    main = repo.branch("main")
    dev = repo.branch("dev").create("main")
    dev.put("a", b"1")
    begun = dev.start_commit("one", metadata={"k": "v"}, key="k")
    made = begun.wait()
    assert (made.message, made.metadata) == ("one", {"k": "v"})
    again = dev.start_commit("one", metadata={"k": "v"}, key="k")
    assert (again.id, repr(again)) == (begun.id, f"<Task {repo.id}/{begun.id}>")
    assert dev.commit("one", metadata={"k": "v"}, key="k") == made
    state = repo.task(begun.id).status()
    assert (state.id, state.operation, state.completed, state.commit) == (begun.id, "commit", True, made)
    merged = main.start_merge("dev", "take it").wait()
    assert (merged.message, main.info().commit_id) == ("take it", merged.id)
    failing = main.start_merge(dev)
    with pytest.raises(NothingToCommitError):
        failing.wait()
    assert isinstance(failing.status().error, NothingToCommitError)
    with pytest.raises(NotFoundError):
        repo.task("none").status()
    with pytest.raises(InvalidRequestError):
        main.start_merge("dev", strategy="mine")


def test_a_merge_that_conflicts_in_the_background(repo: lakebed.Repository) -> None:
    main = repo.branch("main")
    dev = repo.branch("dev").create("main")
    for branch in (main, dev):
        branch.put("a", branch.id.encode())
        branch.commit(branch.id)
    with pytest.raises(MergeConflictError) as caught:
        main.start_merge("dev").wait()
    assert caught.value.paths == ("a",)
    main.start_merge("dev", resolve={"a": "source"}).wait()
    assert main.get("a") == b"dev"


def test_an_import(repo: lakebed.Repository, open_server: RunningServer) -> None:
    folder = open_server.data_dir / "objects" / "feed" / repo.id
    folder.mkdir(parents=True)
    for n in range(3):
        (folder / f"{n}.csv").write_text(str(n))
    source = f"local://feed/{repo.id}/"
    main = repo.branch("main")
    reported: list[TaskStatus] = []
    begun = main.start_import({source: "in/", f"{source}1.csv": "one.csv"}, "taken over", metadata={"k": "v"})
    made = begun.wait(reported.append)
    assert (made.message, made.metadata["k"]) == ("taken over", "v")
    assert reported[-1].completed
    assert reported[-1].objects == 4
    assert [row.path for row in main.list()] == ["in/0.csv", "in/1.csv", "in/2.csv", "one.csv"]
    assert main.import_task(begun.id).status() == reported[-1]
    assert repo.task(begun.id).status().operation == "import"
    with pytest.raises(ConflictError):
        begun.cancel()
    with pytest.raises(ObjectNotFoundError):
        main.start_import({f"{source}none.csv": "x"}, "nothing").wait()
    with pytest.raises(PermissionDeniedError):
        main.start_import({"local://other/": ""}, "not allowed")
    with pytest.raises(InvalidRequestError):
        main.start_import({}, "nothing")
    with pytest.raises(NotFoundError):
        main.import_task("none").status()


def test_access_keys(lake: lakebed.Lake, open_server: RunningServer) -> None:
    made = lake.create_access_key()
    assert made.secret
    assert made.secret not in repr(made)
    with lakebed.connect(open_server.endpoint, made.id, made.secret) as other:
        assert other.user() == lake.user()
        assert {key.id for key in other.access_keys()} >= {made.id, open_server.access_key_id}
        with pytest.raises(InvalidRequestError):
            other.drop_access_key(made.id)  # the key that it uses
        assert lake.access_key(made.id).created == made.created
        lake.drop_access_key(made.id)
        with pytest.raises(AuthenticationError):
            other.user()
    with pytest.raises(NotFoundError):
        lake.access_key(made.id)


def test_repositories_of_other_kinds(lake: lakebed.Lake) -> None:
    name = uuid4().hex[:12]
    sample = lake.repository(f"s-{name}").create(f"local://s-{name}", sample_data=True)
    assert sample.branch("main").list(limit=1).all()
    frozen = lake.repository(f"f-{name}").create(f"local://f-{name}", read_only=True)
    assert frozen.info().read_only
    with pytest.raises(PermissionDeniedError):
        frozen.branch("main").put("a", b"1")
    bare = lake.repository(f"b-{name}").create(f"local://b-{name}", bare=True)
    assert bare.branches().all() == []


def test_history_is_carried_over(repo: lakebed.Repository, lake: lakebed.Lake, open_server: RunningServer) -> None:
    main = repo.branch("main")
    main.put("a", b"1")
    one = main.commit("one", metadata={"k": "v"})
    repo.add_commit(one)  # it is there already, and the same
    range_id = main.ranges()[0].id
    for kind, found_id in (("range", range_id), ("meta_range", one.metarange_id)):
        place = repo.metadata_place(kind, found_id)  # type: ignore[arg-type]
        file = open_server.data_dir / "objects" / repo.id / place
        assert file.read_bytes() == repo.metadata_file(kind, found_id)  # type: ignore[arg-type]
    with pytest.raises(NotFoundError):
        repo.metadata_place("range", "0" * 64)
    with pytest.raises(InvalidRequestError):
        repo.add_commit(lakebed.Commit("0" * 64, (), "other", "me", one.created))
    dump = repo.dump_refs()
    bare = lake.repository(f"{repo.id}-b").create(f"local://{repo.id}-b", bare=True)
    with pytest.raises(InvalidRequestError, match="dump"):
        bare.restore_refs(dump)  # its namespace is not a copy
    with pytest.raises(NotFoundError):
        bare.add_commit(one)  # neither are its parent and its listing there
    objects = open_server.data_dir / "objects"
    for folder in ("dumps", "ranges", "metaranges"):
        shutil.copytree(objects / repo.id / "_lakebed" / folder, objects / bare.id / "_lakebed" / folder)
    for commit in reversed(main.log().all()):
        bare.add_commit(commit)
    assert bare.commit(one.id) == one
    assert bare.branches().all() == []
    bare.restore_refs(dump)
    assert bare.branch("main").info() == main.info()


def test_staging_by_another_tool(repo: lakebed.Repository, open_server: RunningServer) -> None:
    main = repo.branch("main")
    given = main.staged_address("d/a.csv")
    assert (given.url, given.expires) == ("", None)
    checksum = hashlib.md5(b"abc").hexdigest()
    with pytest.raises(InvalidRequestError):
        main.link("d/a.csv", given.physical_address, checksum=checksum, size=3)  # nothing is there
    file = open_server.data_dir / "objects" / given.physical_address.partition("://")[2]
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(b"abc")
    assert main.link("d/a.csv", given.physical_address, checksum=checksum, size=3).size == 3
    assert main.get("d/a.csv") == b"abc"
    with pytest.raises(InvalidRequestError, match="cannot sign"):
        main.staged_address("d/b.csv", sign=True)  # a directory signs nothing


def test_a_lost_answer_to_a_key_that_was_made(door: Door, wire: Any) -> None:
    api = "https://lake.test/api/v1"
    user = {"user": {"id": "me", "creation_date": 1}}
    wire.get(f"{api}/user").mock(httpx.Response(200, json=user))
    route = wire.post(f"{api}/auth/users/me/credentials").mock(side_effect=httpx.ReadError("reset"))

    async def scenario(lake: Any) -> None:
        with pytest.raises(OutcomeUnknownError):
            await lake.create_access_key()
        assert route.call_count == 1

    door.run(scenario)


def test_the_checksum_of_a_link_counts(repo: lakebed.Repository, open_server: RunningServer) -> None:
    folder = open_server.data_dir / "objects" / "feed"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{repo.id}.bin").write_bytes(b"abc")
    main = repo.branch("main")
    where = f"local://feed/{repo.id}.bin"
    info = main.link("a", where, checksum=hashlib.md5(b"abc").hexdigest(), size=3, metadata={"k": "v"})
    assert (info.size, info.metadata, main.get("a")) == (3, {"k": "v"}, b"abc")
    assert main.storage_class("a") is None
    with pytest.raises(ObjectNotFoundError):
        main.storage_class("none")
