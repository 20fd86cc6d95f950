"""A transaction is one workspace: one commit or nothing, and nothing vanishes silently."""

from __future__ import annotations

import pickle
import threading
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import fsspec
import lakebed
import pytest
from lakebed._async.handles.staging import Staging
from lakebed._direct.directory import Directory, Writing


def paths(repo: lakebed.Repository, ref: str = "main") -> list[str]:
    return [one.path for one in repo.ref(ref).list()]


def test_transaction_is_a_single_commit_and_reads_its_own_changes(
    way: str, fs: Any, repo: lakebed.Repository, top: str
) -> None:
    fs.pipe({f"{top}/old": b"old", f"{top}/gone": b"x"})
    head = repo.branch("main").commit("before")
    with fs.transaction as transaction:
        transaction.message = "load the orders"
        with fs.open(f"{top}/new/a", "wb") as file:
            file.write(b"a" * (9 << 20))
        fs.pipe(f"{top}/new/b", b"b")
        fs.cp(f"{top}/old", f"{top}/new/c")
        fs.rm(f"{top}/gone")
        assert fs.find(top) == [f"{top}/{name}" for name in ("new/a", "new/b", "new/c", "old")]
        assert fs.cat(f"{top}/new/b") == fs.open(f"{top}/new/b").read() == b"b"
        assert fs.info(f"{top}/new/a")["size"] == 9 << 20
        assert fs.isdir(f"{top}/new")
        assert not fs.exists(f"{top}/gone")
        assert paths(repo) == ["gone", "old"]
        assert repo.branch("main").commit_info() == head
    commit = repo.branch("main").commit_info()
    assert (commit, commit.message, commit.parents) == (transaction.commit, "load the orders", (head.id,))
    assert paths(repo, "main@") == ["new/a", "new/b", "new/c", "old"]
    assert fs.cat(f"{top}/new/c") == b"old"
    assert repo.workspaces().all() == []
    fs.pipe(f"{top}/later", b"x")
    assert repo.branch("main").commit_info() == commit


def test_an_exception_publishes_nothing_and_keeps_the_work(fs: Any, repo: lakebed.Repository, top: str) -> None:
    with pytest.raises(KeyError) as caught, fs.transaction as transaction:
        fs.pipe(f"{top}/x", b"kept")
        raise KeyError
    (note,) = caught.value.__notes__
    assert f'repo.workspace("{transaction.workspace_name.split("+")[1]}")' in note
    assert paths(repo) == []
    (kept,) = repo.workspaces().all()
    assert kept.name == transaction.workspace_name
    repo.workspace(kept.id).commit("after all")
    assert fs.cat(f"{top}/x") == b"kept"
    fs.pipe(f"{top}/y", b"outside")
    assert paths(repo) == ["x", "y"]


def test_a_second_branch_is_refused_and_the_first_is_kept(fs: Any, repo: lakebed.Repository, top: str) -> None:
    repo.branch("dev").create("main")
    with pytest.raises(lakebed.InvalidRequestError, match="one commit of one branch") as caught, fs.transaction:
        fs.pipe(f"{top}/x", b"1")
        fs.pipe(f"{repo.id}/dev/x", b"2")
    assert "stays open" in caught.value.__notes__[0]
    assert paths(repo) == paths(repo, "dev") == []
    workspace = repo.branch("main").workspace("w").create()
    with pytest.raises(lakebed.InvalidRequestError, match="in a workspace"), fs.transaction:
        fs.pipe(f"{repo.id}/{workspace.id}/x", b"1")
    repo.tag("v1").create("main")
    with pytest.raises(lakebed.InvalidRequestError, match="never changes"), fs.transaction:
        fs.pipe(f"{repo.id}/v1/x", b"1")


def test_conflict_names_the_next_step(fs: Any, repo: lakebed.Repository, top: str) -> None:
    fs.pipe(f"{top}/x", b"0")
    repo.branch("main").commit("zero")
    with pytest.raises(lakebed.ConcurrentCommitError) as caught, fs.transaction:
        fs.pipe(f"{top}/x", b"mine")
        repo.branch("main").put("x", b"theirs")
        repo.branch("main").commit("theirs")
    assert caught.value.paths == ("x",)
    assert len([note for note in caught.value.__notes__ if "stays open" in note]) == 1
    assert fs.cat(f"{top}/x") == b"theirs"


def test_empty_transaction_makes_no_commit_and_an_open_file_is_an_error(
    fs: Any, repo: lakebed.Repository, top: str
) -> None:
    head = repo.branch("main").commit_info()
    with fs.transaction as transaction:
        assert fs.ls(top) == []
    assert transaction.commit is None
    with pytest.raises(lakebed.InvalidRequestError, match=r"ended before .* was closed") as caught, fs.transaction:
        fs.pipe(f"{top}/a", b"a")
        fs.open(f"{top}/b", "wb").write(b"b")
    assert "stays open" in caught.value.__notes__[0]
    assert repo.branch("main").commit_info() == head
    with fs.transaction as same:
        fs.pipe(f"{top}/a", b"a")
        fs.rm(f"{top}/a")
    assert same.commit is None
    assert len(repo.workspaces().all()) == 1


def test_many_threads_write_into_one_transaction(fs: Any, repo: lakebed.Repository, top: str) -> None:
    gate = threading.Barrier(8)

    def write(number: int) -> None:
        gate.wait()
        with fs.open(f"{top}/{number}", "wb") as file:
            file.write(bytes([number]) * (5 << 20))

    with fs.transaction, ThreadPoolExecutor(8) as pool:
        list(pool.map(write, range(8)))
    assert paths(repo, "main@") == [str(number) for number in range(8)]
    assert len(repo.branch("main").log().all()) == 2


def test_without_a_block_and_across_processes(fs: Any, repo: lakebed.Repository, top: str) -> None:
    transaction = fs.start_transaction()
    fs.pipe(f"{top}/x", b"1")
    with pytest.raises(lakebed.InvalidRequestError, match=r"branch\+id"):
        pickle.dumps(fs)
    beside = fsspec.filesystem("lakebed", skip_instance_cache=True)
    assert not beside.exists(f"{top}/x")
    fs.end_transaction()
    assert transaction.commit == repo.branch("main").commit_info()
    assert beside.cat(f"{top}/x") == b"1"


def registrations(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many objects each registration has that is sent from now on."""
    counts: list[int] = []
    register = Staging.register

    async def counted(workspace: Staging, objects: Any, deletes: Any = ()) -> None:
        counts.append(len(objects))
        await register(workspace, objects, deletes)

    monkeypatch.setattr(Staging, "register", counted)
    return counts


def test_files_are_registered_together_and_before_they_are_read(
    fs: Any, repo: lakebed.Repository, top: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lakebed._fsspec.transaction_spool.MOST", 10)
    counts = registrations(monkeypatch)
    large = bytes(range(256)) * (5 << 12)
    with fs.transaction:
        for number in range(14):
            with fs.open(f"{top}/{number:02d}", "wb") as file:
                assert file.write(memoryview(large)[:number]) == number
                assert file.write(large if number % 2 else b"") == file.tell() - number
        assert counts == [10]
        assert fs.open(f"{top}/13").read() == large[:13] + large
        assert counts == [10, 4]
        fs.pipe(f"{top}/00", b"first")
        fs.pipe(f"{top}/00", large)
        with fs.open(f"{top}/meta", "wb", content_type="text/css", metadata={"a": "b"}) as file:
            file.write(b"x")
        assert counts == [10, 4]
        assert fs.cat_file(f"{top}/00") == large
        assert counts == [10, 4, 2]
        fs.pipe(f"{top}/gone", b"x")
        fs.rm(f"{top}/gone")
        fs.pipe(f"{top}/last", b"x")
    assert counts == [10, 4, 2, 1, 1]
    assert paths(repo, "main@") == [*(f"{number:02d}" for number in range(14)), "last", "meta"]
    assert repo.branch("main").get("07") == large[:7] + large
    meta = repo.branch("main").stat("meta")
    assert (meta.content_type, meta.metadata) == ("text/css", {"a": "b"})


def test_files_that_fail_to_sync_are_not_registered(
    fs: Any, repo: lakebed.Repository, top: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    counts = registrations(monkeypatch)
    for size in (1, 2 << 20):
        with monkeypatch.context() as broken:
            broken.setattr(Directory, "sync", refuse)
            with pytest.raises(OSError, match="no more room") as caught, fs.transaction:
                fs.pipe(f"{top}/x", b"x" * size)
                with pytest.raises(OSError, match="no more room"):
                    fs.info(f"{top}/x")
                broken.undo()  # a second try would find nothing wrong
        assert caught.value.__notes__[0] == "The last write is not in the workspace."
        assert "stays open" in caught.value.__notes__[1]
    assert (counts, paths(repo)) == ([], [])


def test_closed_files_take_little_memory(fs: Any, top: str) -> None:
    with fs.transaction:
        fs.pipe(f"{top}/first", b"x")
        tracemalloc.start()
        try:
            for number in range(60):
                with fs.open(f"{top}/{number}", "wb") as file:
                    file.write(b"x")
            assert tracemalloc.get_traced_memory()[0] < 3 << 20
        finally:
            tracemalloc.stop()


def test_a_file_with_a_gap_is_not_stored(
    fs: Any, repo: lakebed.Repository, top: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with fs.transaction:
        fs.pipe(f"{top}/whole", b"x")
        file = fs.open(f"{top}/gap", "wb")
        with monkeypatch.context() as broken:
            broken.setattr(Writing, "feed", refuse)
            with pytest.raises(OSError, match="no more room"):
                file.write(b"a" * (1 << 20))
        with pytest.raises(OSError, match="no more room"):
            file.close()
        with pytest.raises(ValueError, match="closed"):
            file.write(b"more")
    assert paths(repo, "main@") == ["whole"]


def refuse(*_: Any) -> None:
    raise OSError(28, "no more room")
