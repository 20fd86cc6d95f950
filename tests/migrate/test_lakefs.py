"""`lakebed migrate lakefs`: from a server that has only the operations of the shared API."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator
from typing import Any
from uuid import uuid4

import lakebed
import pytest

from tests.migrate.conftest import Run
from tests.migrate.foreign_server import Foreign, foreign_server
from tests.support.processes.server import RunningServer

MARK = "lakefs.commit"
BIG = bytes(range(256)) * 12_000
Migrate = Callable[..., Any]


@pytest.fixture
def foreign(server: RunningServer) -> Iterator[Foreign]:
    with foreign_server(server.endpoint) as started:
        yield started


@pytest.fixture
def migrate(
    server: RunningServer, foreign: Foreign, run: Run, monkeypatch: pytest.MonkeyPatch, repo: lakebed.Repository
) -> Migrate:
    """Run the command from `repo` to a new repository. Returns what it prints with --json, or its error."""
    name = f"moved-{uuid4().hex[:12]}"
    monkeypatch.setenv("LAKECTL_SERVER_ENDPOINT_URL", foreign.endpoint)
    monkeypatch.setenv("LAKECTL_CREDENTIALS_ACCESS_KEY_ID", server.access_key_id)
    monkeypatch.setenv("LAKECTL_CREDENTIALS_SECRET_ACCESS_KEY", server.secret_access_key)
    monkeypatch.setattr(time, "sleep", lambda _: None)  # repeated requests wait for seconds

    def migrate_once(*more: str, code: int = 0) -> Any:
        done = run("--json", "migrate", "lakefs", repo.id, name, "--namespace", f"local://{name}", *more, code=code)
        return done.json if code == 0 else done.error

    migrate_once.name = name  # type: ignore[attr-defined]
    return migrate_once


@pytest.fixture
def moved(lake: lakebed.Lake, migrate: Migrate) -> lakebed.Repository:
    return lake.repository(migrate.name)  # type: ignore[attr-defined]


def fill(repo: lakebed.Repository) -> None:
    """A history with a merge, a revert, deletions, metadata, another committer and an empty commit."""
    main = repo.branch("main")
    main.put("a.csv", b"id\n1\n", content_type="text/csv")
    main.put("deep/b ü&?.bin", BIG, metadata={"owner": "ana"})
    main.put("empty", b"")
    first = main.commit("first\n\nwith a body", metadata={"job": "7"}, date=1_600_000_000)
    repo.tag("v1").create(first.id)
    dev = repo.branch("dev").create("main")
    dev.put("dev.csv", b"dev")
    dev.delete("empty")
    dev.commit("on dev", date=1_600_000_100)
    main.put("a.csv", b"id\n2\n")
    main.commit("on main", date=1_600_000_200)
    dev.merge_into(main, "merge dev")
    main.delete("dev.csv")
    main.commit("remove", date=1_600_000_300)
    main.put("again.csv", b"dev")
    last = main.commit("nothing new", allow_empty=True)
    by_ben = record_by_another(repo, last)
    main.hard_reset(by_ben)
    repo.tag("v2.0").create("main")


def record_by_another(repo: lakebed.Repository, last: lakebed.Commit) -> str:
    """A commit on top of `last`, with its content, by a user that no server has."""
    from datetime import UTC, datetime

    from lakebed_format import CommitRecord, commit_id

    record = CommitRecord(
        (last.id,), "Ben <ben@example.com>", "by Ben", 1_500_000_000, last.metarange_id, {"x": ""}, last.generation + 1
    )
    made = commit_id(record)
    repo.add_commit(
        lakebed.Commit(
            id=made,
            parents=record.parents,
            message=record.message,
            committer=record.committer,
            created=datetime.fromtimestamp(record.creation_date, UTC),
            metadata=record.metadata,
            generation=record.generation,
            metarange_id=record.metarange_id,
        )
    )
    return made


def assert_same(source: lakebed.Repository, copy: lakebed.Repository) -> None:
    """All refs, all commits behind them, and all objects of each commit are the same."""
    for listing in ("branches", "tags"):
        wanted = {one.id: one.commit_id for one in getattr(source, listing)()}
        found = {one.id: copy.commit(one.commit_id).metadata[MARK] for one in getattr(copy, listing)()}
        assert found == wanted
        for name in wanted:
            assert history(copy, name, migrated=True) == history(source, name, migrated=False)


def history(repo: lakebed.Repository, ref: str, *, migrated: bool) -> list[Any]:
    found = []
    for commit in repo.ref(ref).log():
        metadata = dict(commit.metadata)
        own = metadata.pop(MARK) if migrated else commit.id
        parents = [repo.commit(one).metadata[MARK] if migrated else one for one in commit.parents]
        objects = [
            (one.path, one.size, one.checksum, one.content_type, dict(one.metadata))
            for one in repo.ref(commit.id).list()
            if isinstance(one, lakebed.ObjectInfo)
        ]
        found.append((own, parents, commit.message, commit.committer, commit.created, metadata, objects))
    return found


def test_everything_arrives_by_the_shared_operations_only(
    repo: lakebed.Repository, migrate: Migrate, moved: lakebed.Repository, foreign: Foreign
) -> None:
    fill(repo)
    report = migrate()
    assert_same(repo, moved)
    assert (report["commits"], report["branches"], report["tags"]) == (8, ["main", "dev"], ["v1", "v2.0"])
    assert report["left_out"] == []
    assert foreign.count("refused") == 0
    # the merge brings dev.csv, which is not read a second time
    assert sum("path=dev.csv" in path for name, path in foreign.seen if name == "getObject") == 1
    assert [one.id for one in moved.branches(hidden=True)] == ["dev", "main"]


def test_a_second_run_brings_what_is_new_and_nothing_else(
    repo: lakebed.Repository, migrate: Migrate, moved: lakebed.Repository, foreign: Foreign
) -> None:
    fill(repo)
    migrate()
    heads = {one.id: one.commit_id for one in moved.branches()}
    foreign.seen.clear()
    again = migrate()
    assert (again["commits"], again["commits_before"], again["objects"]) == (0, 8, 0)
    assert {one.id: one.commit_id for one in moved.branches()} == heads
    assert foreign.count("getObject") == foreign.count("statObject") == 0
    repo.branch("main").put("new.csv", b"new")
    repo.branch("main").commit("later")
    repo.branch("fresh").create("dev")
    assert migrate()["commits"] == 1
    assert_same(repo, moved)


def test_an_interrupted_run_continues_where_it_stopped(
    repo: lakebed.Repository, migrate: Migrate, moved: lakebed.Repository, foreign: Foreign
) -> None:
    main = repo.branch("main")
    for number in range(4):
        main.put(f"{number}.bin", bytes([number]) * (2 << 20))
        main.put(f"{number}.more.bin", bytes([number + 9]) * (2 << 20))
        main.commit(f"commit {number}")
    foreign.stop_after = 5
    error = migrate("--jobs", "1", code=7)
    assert "the server stops" in error["message"]
    foreign.stop_after = None
    foreign.seen.clear()
    report = migrate("--jobs", "1")
    assert_same(repo, moved)
    assert report["commits"] == 2  # 0 and 1 were complete
    assert foreign.count("getObject") == 3  # of commit 2, one object was staged


def test_broken_and_busy_answers_are_repeated(
    repo: lakebed.Repository, migrate: Migrate, moved: lakebed.Repository, foreign: Foreign
) -> None:
    fill(repo)
    foreign.breaks.update({"deep/b ü&?.bin", "a.csv"})
    foreign.busy = 2
    migrate()
    assert_same(repo, moved)
    assert foreign.breaks == set()


def test_a_checksum_that_is_no_md5_is_replaced_by_a_second_read(
    repo: lakebed.Repository, migrate: Migrate, moved: lakebed.Repository, foreign: Foreign
) -> None:
    fill(repo)
    foreign.checksums["deep/b ü&?.bin"] = "0123456789abcdef0123456789abcdef"  # an ETag of parts without its -N
    foreign.checksums["a.csv"] = f"{hashlib.md5(b'x').hexdigest()}-2"
    report = migrate()
    assert report["read_twice"] == 3  # a.csv is in two commits
    assert_same(repo, moved)


def test_an_object_without_data_stops_the_migration_or_is_named(
    repo: lakebed.Repository, migrate: Migrate, moved: lakebed.Repository, foreign: Foreign
) -> None:
    fill(repo)
    foreign.gone.add("dev.csv")
    assert "dev.csv" in migrate(code=3)["message"]
    report = migrate("--skip-missing")
    (left,) = report["left_out"]
    assert (left["kind"], left["name"]) == ("object", "dev.csv")
    assert left["why"].endswith("No data")
    assert not moved.ref("dev").exists("dev.csv")
    assert moved.ref("dev").get("a.csv") == b"id\n1\n"


def test_uncommitted_changes_are_named_or_carried_over(
    repo: lakebed.Repository, migrate: Migrate, moved: lakebed.Repository
) -> None:
    fill(repo)
    repo.branch("dev").put("draft.csv", b"draft")
    repo.branch("dev").delete("a.csv")
    (left,) = migrate()["left_out"]
    assert (left["kind"], left["name"]) == ("uncommitted", "dev")
    assert left["why"].startswith("2 uncommitted changes")
    assert moved.branch("dev").uncommitted().all() == []
    assert migrate("--uncommitted")["left_out"] == []
    found = {change.path: change.type for change in moved.branch("dev").uncommitted()}
    assert found == {"draft.csv": "added", "a.csv": "removed"}
    assert moved.branch("dev").get("draft.csv") == b"draft"


def test_settings_and_action_files_are_named(
    repo: lakebed.Repository, migrate: Migrate, moved: lakebed.Repository
) -> None:
    hook = b"""
name: refuse
on: {pre-commit: {branches: [lakebed-migration]}}
hooks:
  - {id: no, type: webhook, properties: {url: "http://127.0.0.1:9/"}}
"""
    main = repo.branch("main")
    main.put("_lakefs_actions/refuse.yaml", hook)
    main.put("a.csv", b"1")
    main.commit("data, and an action that refuses commits of a migration")
    repo.set_protection(["release-*"])
    assert [(one["kind"], one["name"]) for one in migrate()["left_out"]] == [
        ("actions", "_lakefs_actions/refuse.yaml"),
        ("settings", "branch protection"),
    ]
    assert [one.path for one in moved.ref("main").list()] == ["a.csv"]


def test_own_commits_of_the_new_repository_are_kept(
    repo: lakebed.Repository, migrate: Migrate, moved: lakebed.Repository
) -> None:
    fill(repo)
    migrate()
    moved.branch("main").put("own.csv", b"own")
    own = moved.branch("main").commit("own work")
    moved.branch("dev").put("draft.csv", b"draft")
    for name in ("main", "dev"):
        repo.branch(name).put("later.csv", b"later")
        repo.branch(name).commit("later")
    left = {one["name"]: one["why"] for one in migrate()["left_out"]}
    assert left == {
        "main": "it has commits in this repository that are not from the source",
        "dev": "it has uncommitted changes in this repository",
    }
    assert moved.branch("main").info().commit_id == own.id


def test_a_repository_that_exists_and_is_empty_is_filled(
    repo: lakebed.Repository, migrate: Migrate, moved: lakebed.Repository
) -> None:
    moved.create(f"local://{moved.id}")
    fill(repo)
    migrate()
    assert_same(repo, moved)


def test_source_and_destination_must_differ(server: RunningServer, repo: lakebed.Repository, run: Run) -> None:
    key = ["--from-access-key-id", server.access_key_id, "--from-secret-access-key", server.secret_access_key]
    done = run("migrate", "lakefs", repo.id, repo.id, "--from", server.endpoint, *key, code=2)
    assert "same repository" in done.err


def test_a_wrong_key_is_refused_with_the_place(migrate: Migrate, foreign: Foreign) -> None:
    error = migrate("--from-secret-access-key", "wrong", code=6)
    assert foreign.endpoint in error["message"]


def test_the_report_for_people(
    repo: lakebed.Repository, migrate: Migrate, foreign: Foreign, run: Run, lake: lakebed.Lake
) -> None:
    fill(repo)
    repo.branch("dev").put("draft.csv", b"draft")
    name = f"{migrate.name}-text"  # type: ignore[attr-defined]
    done = run("migrate", "lakefs", repo.id, name, "--namespace", f"local://{name}")
    assert "8 migrated" in done.text
    assert "v1, v2.0" in done.text
    assert "uncommitted dev: 1 uncommitted change" in done.err
