"""Commits and merges with a key: the same call again gives the same commit, whatever was lost."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import lakebed
import pytest
from lakebed import (
    AlreadyExistsError,
    ConflictError,
    InvalidRequestError,
    MergeConflictError,
    NothingToCommitError,
    ObjectNotFoundError,
    PermissionDeniedError,
    ReadOnlyRefError,
)

from tests.sdk.live import Proxy
from tests.support.processes.server import RunningServer


@pytest.fixture
def proxy(server: RunningServer) -> Iterator[Proxy]:
    proxy = Proxy(server.endpoint)
    yield proxy
    proxy.close()


def messages(repo: lakebed.Repository) -> list[str]:
    return [commit.message for commit in repo.branch("main").log()]


def test_the_same_key_gives_the_same_commit(repo: lakebed.Repository) -> None:
    main = repo.branch("main")
    main.put("a", b"1")
    first = main.commit("one", metadata={"k": "v"}, key="load 2026-11-22")
    main.put("b", b"2")
    assert main.commit("one", metadata={"k": "v"}, key="load 2026-11-22") == first
    assert first.metadata == {"k": "v"}
    with pytest.raises(ConflictError, match="was used for another request"):
        main.commit("two", key="load 2026-11-22")
    assert messages(repo) == ["one", "Repository created"]
    assert [change.path for change in main.uncommitted()] == ["b"]


@pytest.mark.parametrize("key", [None, "k"])
@pytest.mark.parametrize("way", ["swallow", "cut"])
def test_commit_survives_a_proxy_that_drops_responses(
    repo: lakebed.Repository, proxy: Proxy, server: RunningServer, way: str, key: str | None
) -> None:
    """The plain request, the first two requests of its task, and the first poll of the task."""
    repo.branch("main").put("a", b"1")
    lost: list[str] = []

    def loses(line: str) -> bool:
        wanted = ["/main/commits HTTP", "/commits/async?", "/commits/async?"]
        if len(lost) < len(wanted) and wanted[len(lost)] in line:
            lost.append(line)
            return True
        return False

    setattr(proxy, way, loses)
    with lakebed.connect(proxy.endpoint, server.access_key_id, server.secret_access_key) as lake:
        commit = lake.repository(repo.id).branch("main").commit("one", key=key, allow_empty=True)
    assert len(lost) == 3
    assert commit.message == "one"
    assert commit.id == repo.branch("main").info().commit_id
    assert messages(repo) == ["one", "Repository created"]


@pytest.mark.parametrize("way", ["swallow", "cut"])
def test_merge_survives_proxy_timeouts(repo: lakebed.Repository, proxy: Proxy, server: RunningServer, way: str) -> None:
    dev = repo.branch("dev").create("main")
    dev.put("a", b"1")
    dev.commit("on dev")
    lost: list[str] = []

    def loses(line: str) -> bool:
        if "/merge/main?" in line and not lost:
            lost.append(line)
            return True
        return False

    setattr(proxy, way, loses)
    with lakebed.connect(proxy.endpoint, server.access_key_id, server.secret_access_key) as lake:
        merged = lake.repository(repo.id).ref("dev").merge_into("main", "merged", allow_empty=True)
    assert lost
    assert merged.commit_id == repo.branch("main").info().commit_id
    assert messages(repo) == ["merged", "on dev", "Repository created"]


def test_commits_with_a_key_raise_the_errors_of_plain_commits(repo: lakebed.Repository) -> None:
    main = repo.branch("main")
    with pytest.raises(NothingToCommitError) as caught:
        main.commit("nothing", key="k")
    assert (caught.value.kind, caught.value.repository, caught.value.ref) == ("no_changes", repo.id, "main")


def test_a_merge_with_a_key(repo: lakebed.Repository) -> None:
    main, dev = repo.branch("main"), repo.branch("dev")
    main.put("a", b"1")
    main.commit("base")
    dev.create("main")
    dev.put("b", b"2")
    dev.commit("on dev")
    merged = dev.merge_into(main, key="m")
    assert dev.merge_into(main, key="m") == merged
    assert len(repo.commit(merged.commit_id).parents) == 2
    for branch in (main, dev):
        branch.put("a", branch.id.encode())
        branch.commit(f"a on {branch.id}")
    with pytest.raises(MergeConflictError):
        dev.merge_into(main, key="again")
    dev.merge_into(main, resolve={"a": "source"}, key="settled")
    assert main.get("a") == b"dev"


def test_metadata_of_an_object_is_replaced(repo: lakebed.Repository) -> None:
    main = repo.branch("main")
    main.put("a", b"1", metadata={"old": "1"})
    main.replace_metadata("a", {"new": "ü"})
    assert main.stat("a").metadata == {"new": "ü"}
    with pytest.raises(ObjectNotFoundError):
        main.replace_metadata("b", {})
    with pytest.raises(ReadOnlyRefError):
        repo.tag("v1").replace_metadata("a", {})  # type: ignore[attr-defined]


def test_link_is_refused_without_an_ingest_rule(repo: lakebed.Repository) -> None:
    with pytest.raises(PermissionDeniedError, match=r"ingest\.allow"):
        repo.branch("main").link("a", "s3://somewhere/a", checksum="x", size=1)


def test_dump_and_restore(repo: lakebed.Repository, lake: lakebed.Lake) -> None:
    main = repo.branch("main")
    main.put("a", b"1")
    main.commit("one")
    dump = repo.dump_refs()
    assert repo.dump_refs() == dump
    directory = Path(repo.info().local_path) / "_lakebed" / "dumps"
    assert {file.stem for file in directory.iterdir()} == {dump.commits, dump.tags, dump.branches}
    with pytest.raises(InvalidRequestError, match="has branches"):
        repo.restore_refs(dump)
    with pytest.raises(AlreadyExistsError):
        lake.repository(f"r-{uuid4().hex[:16]}").create(repo.info().storage_namespace)


def test_symlinks(repo: lakebed.Repository) -> None:
    main = repo.branch("main")
    main.put_many({"t/1": b"1", "t/2": b"2"})
    root = main.write_symlinks("t")
    assert root == f"{repo.info().storage_namespace}/symlinks"
    file = Path(repo.info().local_path) / "symlinks" / repo.id / "main" / "t" / "symlink.txt"
    assert file.read_text().splitlines() == [main.stat(path).physical_address for path in ("t/1", "t/2")]
