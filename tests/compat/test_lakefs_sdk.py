"""The `lakefs` package, unchanged: create, write, read, list, commit, diff, merge (`facts/client_needs.md` 1 and 2)."""

from __future__ import annotations

import lakefs
import pytest
from lakefs.client import Client
from lakefs.exceptions import (
    BadRequestException,
    ConflictException,
    ForbiddenException,
    NotAuthorizedException,
    NotFoundException,
    ObjectExistsException,
    ObjectNotFoundException,
)

from tests.support.processes.server import RunningServer


def test_configuration(client: Client) -> None:
    assert all(part.isdigit() for part in client.version.split("."))
    config = client.storage_config
    assert config.blockstore_type == "local"
    assert config.pre_sign_support is False
    assert config.import_support is False
    assert config.default_namespace_prefix


def test_repositories(client: Client, lakefs_repo: lakefs.Repository) -> None:
    assert lakefs_repo.properties.default_branch == "main"
    assert lakefs_repo.id in [found.id for found in lakefs.repositories(client=client, prefix="compat-")]
    with pytest.raises(ConflictException):
        lakefs.Repository(lakefs_repo.id, client=client).create(storage_namespace="local://elsewhere")
    again = lakefs.Repository(lakefs_repo.id, client=client).create(
        storage_namespace="local://elsewhere", exist_ok=True
    )
    assert again.properties.storage_namespace == lakefs_repo.properties.storage_namespace
    assert lakefs_repo.metadata == {}
    lakefs_repo.delete()
    with pytest.raises(NotFoundException):
        lakefs.Repository(lakefs_repo.id, client=client).metadata  # noqa: B018


def test_write_read_and_list(lakefs_repo: lakefs.Repository) -> None:
    main = lakefs_repo.branch("main")
    stored = main.object("tables/a.csv").upload(
        b"id,name\n1,one\n", content_type="text/csv", metadata={"owner": "me"}, mode="wb"
    )
    stats = stored.stat()
    assert (stats.size_bytes, stats.content_type, stats.metadata) == (14, "text/csv", {"owner": "me"})
    assert stats.physical_address.startswith(f"local://{lakefs_repo.id}/data/")
    with main.object("tables/b.bin").writer(mode="wb") as writer:
        for _ in range(3):
            writer.write(b"x" * 1000)
    with main.object("tables/a.csv").reader(mode="r") as reader:
        assert reader.read() == "id,name\n1,one\n"
    with main.object("tables/b.bin").reader(mode="rb") as reader:
        reader.seek(2990)
        assert reader.read(5) == b"xxxxx"
        assert reader.read() == b"xxxxx"
        assert reader.read() == b""
    assert [item.path for item in main.objects()] == ["tables/a.csv", "tables/b.bin"]
    assert [item.path for item in main.objects(delimiter="/")] == ["tables/"]
    assert main.object("tables/a.csv").exists()
    assert not main.object("tables/none").exists()
    copied = main.object("tables/a.csv").copy("main", "copy.csv")
    assert copied.stat().checksum == stats.checksum
    main.delete_objects(["copy.csv", "tables/b.bin"])
    assert [item.path for item in main.objects()] == ["tables/a.csv"]
    main.object("tables/a.csv").delete()
    with pytest.raises(ObjectNotFoundException):
        main.object("tables/a.csv").stat()


def test_exclusive_creation(lakefs_repo: lakefs.Repository) -> None:
    thing = lakefs_repo.branch("main").object("once")
    thing.upload(b"first", mode="xb")
    with pytest.raises(ObjectExistsException):
        thing.upload(b"second", mode="xb")
    with thing.reader(mode="rb") as reader:
        assert reader.read() == b"first"


def test_commit_diff_and_log(lakefs_repo: lakefs.Repository) -> None:
    main = lakefs_repo.branch("main")
    with pytest.raises(BadRequestException):
        main.commit("nothing")
    main.object("a").upload(b"1", mode="wb")
    assert [(change.type, change.path) for change in main.uncommitted()] == [("added", "a")]
    first = main.commit("first", metadata={"k": "v"})
    commit = first.get_commit()
    assert (commit.message, (commit.metadata or {})["k"], commit.committer) == ("first", "v", "admin")
    main.object("a").upload(b"2", mode="wb")
    main.object("b").upload(b"3", mode="wb")
    main.commit("second")
    assert list(main.diff("main~1")) == []  # three-dot: main~1 changed nothing since their common base
    assert [(c.type, c.path) for c in lakefs_repo.ref("main~1").diff("main")] == [("changed", "a"), ("added", "b")]
    assert [entry.message for entry in main.log()] == ["second", "first", "Repository created"]
    main.object("c").upload(b"4", mode="wb")
    main.reset_changes(path_type="object", path="c")
    main.object("d").upload(b"5", mode="wb")
    main.reset_changes()
    assert list(main.uncommitted()) == []


def test_branches_tags_and_merge(lakefs_repo: lakefs.Repository) -> None:
    main = lakefs_repo.branch("main")
    main.object("a").upload(b"1", mode="wb")
    main.commit("base")
    dev = lakefs_repo.branch("dev").create("main")
    assert lakefs_repo.branch("dev").create("main", exist_ok=True).head.id == dev.head.id
    with pytest.raises(ConflictException):
        lakefs_repo.branch("dev").create("main")
    dev.object("a").upload(b"dev", mode="wb")
    dev.commit("on dev")
    merged = dev.merge_into(main)
    assert merged == main.head.id
    with pytest.raises(BadRequestException):
        dev.merge_into(main)
    tag = lakefs_repo.tag("v1.0").create("main")
    assert tag.get_commit().id == merged
    with pytest.raises(ConflictException):
        lakefs_repo.tag("v1.0").create("main")
    assert [found.id for found in lakefs_repo.tags()] == ["v1.0"]
    assert [found.id for found in lakefs_repo.branches()] == ["dev", "main"]
    dev.object("a").upload(b"theirs", mode="wb")
    dev.commit("theirs")
    main.object("a").upload(b"ours", mode="wb")
    main.commit("ours")
    with pytest.raises(ConflictException):
        dev.merge_into(main)
    dev.merge_into(main, strategy="source-wins")
    with main.object("a").reader(mode="rb") as reader:
        assert reader.read() == b"theirs"
    tag.delete()
    dev.delete()
    with pytest.raises(ForbiddenException):
        main.delete()
    assert [found.id for found in lakefs_repo.branches()] == ["main"]


def test_transaction(lakefs_repo: lakefs.Repository) -> None:
    main = lakefs_repo.branch("main")
    with main.transact(commit_message="all at once") as tx:
        tx.object("t/1").upload(b"1", mode="wb")
        tx.object("t/2").upload(b"2", mode="wb")
    assert [item.path for item in main.objects(prefix="t/")] == ["t/1", "t/2"]
    assert [found.id for found in lakefs_repo.branches()] == ["main"]


def test_wrong_credentials(server: RunningServer) -> None:
    stranger = Client(  # type: ignore[no-untyped-call]
        host=server.endpoint, username=server.access_key_id, password="wrong"
    )
    with pytest.raises(NotAuthorizedException):
        list(lakefs.repositories(client=stranger))
