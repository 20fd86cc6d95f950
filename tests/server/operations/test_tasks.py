"""Imports, commits and merges as tasks, dumps and restores, over HTTP and the true engine."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Iterator
from typing import Any

import pytest
from lakebed_engine.operations.commit import commit as commit_commit
from lakebed_engine.operations.commit.group_commit import GroupCommit
from lakebed_engine.operations.ingest import import_task
from lakebed_engine.operations.tasks import async_commit
from lakebed_engine.operations.tasks.runner import TaskRunner
from lakebed_engine.operations.tuning import Tuning
from lakebed_engine.vocabulary.errors import HookRefusedError, StoreUnavailableError
from lakebed_engine.vocabulary.hooks import Proposal

from tests.engine.hooking import Hooks
from tests.server.lake import MAIN, REPO
from tests.server.slow_tasks import IMPORT, Held, Working

COMMIT = MAIN + "/commits/async"


@pytest.fixture
def lake() -> Iterator[Working]:
    lake = Working()
    yield lake
    lake.close()


def test_an_import(lake: Working) -> None:
    for n in range(3):
        lake.outside(f"in/{n}.csv", b"x" * n)
    lake.outside("one.csv", b"single")
    lake.put("kept.csv", b"1")
    lake.put("dest/old.csv", b"replaced by the import")
    lake.commit("before")
    started = lake.start(("common_prefix", "mem://elsewhere/in/", "dest/"), ("object", "mem://elsewhere/one.csv", "1"))
    status = lake.ended(f"{IMPORT}?id={started['id']}")
    assert (status["completed"], status["ingested_objects"]) == (True, 4)
    assert "error" not in status
    assert status["commit"]["message"] == "imported"
    assert status["commit"]["metadata"]["k"] == "v"
    assert status["metarange_id"] == status["commit"]["meta_range_id"]
    assert lake("GET", f"{REPO}/branches/main")["commit_id"] == status["commit"]["id"]
    assert lake.paths() == ["1", "dest/0.csv", "dest/1.csv", "dest/2.csv", "kept.csv"]
    stats = lake("GET", f"{REPO}/refs/main/objects/stat?path=dest/2.csv")
    assert (stats["physical_address"], stats["size_bytes"]) == ("mem://elsewhere/in/2.csv", 2)
    assert lake("GET", f"{REPO}/refs/main/objects?path=1").body == b"single"
    # again: nothing differs, and no commit is made
    again = lake.ended(f"{IMPORT}?id={lake.start(('common_prefix', 'mem://elsewhere/in/', 'dest/'))['id']}")
    assert again["commit"]["id"] == status["commit"]["id"]
    # an object that has changed since is not read as what it was
    lake.outside("in/2.csv", b"other")
    assert lake("GET", f"{REPO}/refs/main/objects?path=dest/2.csv", expect=410)["kind"] == "object_gone"


def test_an_import_of_a_prefix_without_slash_keeps_its_last_part(lake: Working) -> None:
    for key in ("raw/day/a.csv", "raw/day/b/c.csv", "raw/day2/d.csv", "raw/other.csv", "top.csv"):
        lake.outside(key, key.encode())

    def imported(source: str, destination: str) -> list[str]:
        status = lake.ended(f"{IMPORT}?id={lake.start(('common_prefix', source, destination))['id']}")
        assert "error" not in status
        return [path for path in lake.paths() if path.startswith(destination)]

    days = ["day/a.csv", "day/b/c.csv"]
    assert imported("mem://elsewhere/raw/day", "1/") == [f"1/{path}" for path in [*days, "day2/d.csv"]]
    assert imported("mem://elsewhere/raw/day/", "2/") == ["2/a.csv", "2/b/c.csv"]
    assert imported("mem://elsewhere/raw/day/a.csv", "3/") == ["3/a.csv"]
    assert imported("mem://elsewhere/raw", "4/") == [f"4/raw/{path}" for path in [*days, "day2/d.csv", "other.csv"]]
    assert imported("mem://elsewhere", "5/")[-1] == "5/top.csv"
    assert imported("mem://elsewhere/to", "6") == ["6/top.csv"]
    assert lake("GET", f"{REPO}/refs/main/objects?path=1/day2/d.csv").body == b"raw/day2/d.csv"
    # again, and after a change at the source: what is gone there is removed
    lake.runner.run(lake.stores.open("mem://elsewhere").delete(["raw/day/a.csv"]))
    assert imported("mem://elsewhere/raw/day", "1/") == ["1/day/b/c.csv", "1/day2/d.csv"]


def test_an_import_of_what_only_the_folder_allows(lake: Working) -> None:
    lake.allowed = ["mem://elsewhere/raw/day/"]
    lake.restart()
    lake.outside("raw/day/a.csv")
    lake.outside("raw/day2/secret.csv")
    ended = lake.ended(f"{IMPORT}?id={lake.start(('common_prefix', 'mem://elsewhere/raw/day', 'd/'))['id']}")
    assert "error" not in ended
    assert lake.paths() == ["d/day/a.csv"]
    for source in ("mem://elsewhere/raw/da", "mem://elsewhere/raw", "mem://elsewhere/raw/day2"):
        assert lake.start(("common_prefix", source, "d/"), expect=403)["kind"] == "permission_denied"


def test_an_import_records_its_time(lake: Working) -> None:
    lake.outside("in/a.csv")
    key = ".lakefs.last.import.timestamp"
    assert key not in lake("GET", f"{REPO}/metadata")
    for _ in range(2):  # the second one makes no commit
        lake.clock.time += 10
        lake.ended(f"{IMPORT}?id={lake.start(('common_prefix', 'mem://elsewhere/in/', 'd/'))['id']}")
        assert lake("GET", f"{REPO}/metadata")[key] == str(int(lake.clock.time))


def test_an_import_from_the_data_of_a_repository_is_refused(lake: Working) -> None:
    lake.allowed = ["mem://"]
    lake.restart()
    lake("POST", "/repositories", {"name": "deep", "storage_namespace": "mem://deep/down/here"}, 201)
    inside = ("mem://lake", "mem://lake/", "mem://lake/data/", "mem://deep/down/here/data")
    for source in (*inside, "mem://deep", "mem://deep/", "mem://deep/do", "mem://deep/down", "mem://deep/down/he"):
        refused = lake.start(("common_prefix", source, "d/"), expect=400)
        assert refused["message"].startswith(f"invalid import source {source!r}")
    assert lake.start(("object", "mem://lake/data/x", "d"), expect=400)["message"].startswith("invalid import source")
    for source in ("mem://la", "mem://deep/x", "mem://deep/down/here2"):
        assert "id" in lake.start(("common_prefix", source, "d/"))


def test_invalid_import_sources_are_refused(lake: Working) -> None:
    for paths, status, kind in (
        ([("common_prefix", "mem://forbidden/", "d/")], 403, "permission_denied"),
        ([("common_prefix", "mem://lake/data/", "d/")], 403, "permission_denied"),
        ([("object", "nonsense", "d")], 400, "invalid_request"),
        ([("object", "mem://elsewhere/a", "")], 400, "invalid_path"),
        ([("other", "mem://elsewhere/a", "a")], 400, "invalid_request"),
        ([], 400, "invalid_request"),
    ):
        assert lake.start(*paths, expect=status)["kind"] == kind
    missing = {
        "paths": [{"type": "object", "path": "mem://elsewhere/a", "destination": "a"}],
        "commit": {"message": ""},
    }
    assert lake("POST", f"{REPO}/branches/nope/import", missing, 404)["kind"] == "branch_not_found"
    for method in ("GET", "DELETE"):
        assert lake(method, IMPORT + "?id=nope", expect=404)["kind"] == "task_not_found"
        assert lake(method, IMPORT, expect=400)["kind"] == "invalid_request"
    # the status reports a later failure
    status = lake.ended(f"{IMPORT}?id={lake.start(('object', 'mem://elsewhere/none', 'a'))['id']}")
    assert status["error"]["kind"] == "object_not_found"
    assert "commit" not in status
    lake.until(lambda: lake("GET", f"{REPO}/workspaces")["results"] == [])  # nothing is left behind


def test_a_cancelled_import_commits_nothing(lake: Working) -> None:
    lake.outside("in/a.csv")
    held = _hold(lake, "_fill", import_task)
    task = lake.start(("common_prefix", "mem://elsewhere/in/", "dest/"))["id"]
    assert lake("GET", f"{IMPORT}?id={task}")["completed"] is False
    lake("DELETE", f"{IMPORT}?id={task}", expect=204)
    held.set()
    status = lake.ended(f"{IMPORT}?id={task}")
    assert status["error"]["kind"] == "cancelled"
    lake.until(lambda: lake("GET", f"{REPO}/workspaces")["results"] == [])  # nothing is left behind
    assert lake.log() == ["Repository created"]
    assert lake("DELETE", f"{IMPORT}?id={task}", expect=409)["kind"] == "task_ended"


def test_an_import_that_is_cancelled_at_the_last_moment_commits_nothing(lake: Working) -> None:
    """Everything is read and folded, and the batch that would commit it is about to be sent."""
    lake.outside("in/a.csv")
    held = _hold(lake, "_swap", GroupCommit)
    task = lake.start(("common_prefix", "mem://elsewhere/in/", "dest/"))["id"]
    lake.until(lambda: held.reached)
    lake("DELETE", f"{IMPORT}?id={task}", expect=204)
    held.set()
    assert lake.ended(f"{IMPORT}?id={task}")["error"]["kind"] == "cancelled"
    lake.until_idle()
    assert lake.log() == ["Repository created"]
    assert lake("GET", f"{REPO}/workspaces")["results"] == []  # nothing is left behind


def test_a_commit_as_a_task(lake: Working) -> None:
    lake.put("a", b"1")
    task = lake("POST", COMMIT + "?wait=10", {"message": "one"}, 202, idempotency_key="k")
    assert (task["operation"], task["completed"]) == ("commit", True)
    assert task["commit"]["message"] == "one"
    # the answer was lost: sent again, also to another server, it is the same
    lake.put("b", b"2")
    assert lake("POST", COMMIT, {"message": "one"}, 202, idempotency_key="k") == task
    lake.restart()
    assert lake("POST", COMMIT, {"message": "one"}, 202, idempotency_key="k") == task
    assert lake("GET", f"{REPO}/tasks/{task['id']}") == task
    assert lake.log() == ["one", "Repository created"]
    other = lake("POST", COMMIT, {"message": "two"}, 409, idempotency_key="k")
    assert other["kind"] == "idempotency_mismatch"
    assert lake("POST", f"{REPO}/branches/nope/commits/async", {"message": "x"}, 404)["kind"] == "branch_not_found"
    assert lake("POST", COMMIT, {"message": "x"}, 400, idempotency_key="x" * 257)["kind"] == "invalid_request"
    assert lake("GET", f"{REPO}/tasks/nope", expect=404)["kind"] == "task_not_found"


@pytest.mark.parametrize("fails", ["wait", "load_commit"])
def test_running_task_is_reported_although_the_store_fails(
    lake: Working, monkeypatch: pytest.MonkeyPatch, fails: str
) -> None:
    """An error would mean that nothing was changed, but the task continues."""

    async def gone(*_: object) -> None:
        raise StoreUnavailableError("the KV store does not answer")

    lake.put("a", b"1")
    lake("POST", REPO + "/branches", {"name": "dev", "source": "main"}, 201)
    merge = f"{REPO}/refs/main/merge/dev/async?wait=10"
    for url, body in ((COMMIT + "?wait=10", {"message": "one"}), (merge, {"message": "two"})):
        with monkeypatch.context() as patch:
            patch.setattr(TaskRunner if fails == "wait" else async_commit, fails, gone)
            begun = lake("POST", url, body, 202, idempotency_key=body["message"])
            assert (begun["completed"], "commit" in begun, "error" in begun) == (False, False, False)
        ended = lake.ended(f"{REPO}/tasks/{begun['id']}")
        assert ended["commit"]["message"] == body["message"]
        with monkeypatch.context() as patch:  # asked again it begins nothing, and says so
            patch.setattr(TaskRunner if fails == "wait" else async_commit, fails, gone)
            assert lake("POST", url, body, 503, idempotency_key=body["message"])["kind"] == "store_unavailable"
        assert lake("POST", url, body, 202, idempotency_key=body["message"])["commit"] == ended["commit"]


def test_a_server_works_on_a_bounded_number_of_tasks(lake: Working) -> None:
    lake.tuning = Tuning(tasks_at_once=2)
    lake.restart()
    held = _hold(lake, "commit", commit_commit)
    body = {"allow_empty": True}
    begun = [lake("POST", COMMIT, {"message": one, **body}, 202, idempotency_key=one)["id"] for one in ("a", "b")]
    lake.until(lambda: len(lake.engine.tasks._runner._mine) == 2)
    assert lake("POST", COMMIT, {"message": "c"}, 429)["kind"] == "throttled"
    assert lake("POST", COMMIT, {"message": "a", **body}, 202, idempotency_key="a")["id"] == begun[0]  # known already
    held.set()
    for task in begun:
        lake.ended(f"{REPO}/tasks/{task}")
    assert lake("POST", COMMIT + "?wait=10", {"message": "c", **body}, 202)["completed"]
    assert sorted(lake.log()[:3]) == ["a", "b", "c"]


def test_a_key_is_kept_for_a_week(lake: Working) -> None:
    lake.put("a", b"1")
    task = lake("POST", COMMIT + "?wait=10", {"message": "one"}, 202, idempotency_key="k")
    lake.clock.time += 7 * 24 * 3600 - 60
    lake("POST", COMMIT + "?wait=10", {"message": "x", "allow_empty": True}, 202)  # forgets what is old
    assert lake("POST", COMMIT, {"message": "one"}, 202, idempotency_key="k")["id"] == task["id"]
    lake.clock.time += 120
    lake("POST", COMMIT + "?wait=10", {"message": "x", "allow_empty": True}, 202)
    lake("GET", f"{REPO}/tasks/{task['id']}", expect=404)


def test_failed_commit_task_has_its_error(lake: Working) -> None:
    task = lake("POST", COMMIT + "?wait=10", {"message": "nothing"}, 202, idempotency_key="k")
    assert task["completed"] is True
    assert task["error"]["kind"] == "no_changes"
    assert "commit" not in task


def test_a_merge_as_a_task(lake: Working) -> None:
    lake.put("a", b"1")
    lake.commit("base")
    lake("POST", REPO + "/branches", {"name": "dev", "source": "main"}, 201)
    lake.put("b", b"2", "dev")
    lake.commit("on dev", "dev")
    url = f"{REPO}/refs/dev/merge/main/async?wait=10"
    task = lake("POST", url, None, 202, idempotency_key="m")
    assert (task["operation"], len(task["commit"]["parents"])) == ("merge", 2)
    assert lake("POST", url, None, 202, idempotency_key="m") == task
    assert lake.paths() == ["a", "b"]
    lake.put("a", b"dev", "dev")
    lake.commit("dev changes a", "dev")
    lake.put("a", b"main")
    lake.commit("main changes a")
    error = lake("POST", url, None, 202, idempotency_key="c")["error"]
    at_once = lake("POST", f"{REPO}/refs/dev/merge/main", None, 409)
    assert error == {name: at_once[name] for name in ("message", "kind", "conflicts", "conflicts_has_more")}
    assert error["conflicts"] == [
        {"path": "a", "base": md5(b"1"), "ours": md5(b"main"), "theirs": md5(b"dev")},
    ]
    # a request with the key of a failed task gets the same error
    refused = lake("POST", f"{REPO}/refs/dev/merge/main", None, 409, idempotency_key="c")
    assert {**refused, "request_id": ""} == {**at_once, "request_id": ""}


def md5(data: bytes) -> str:
    return hashlib.md5(data, usedforsecurity=False).hexdigest()


def _hold(lake: Working, name: str, module: Any) -> Held:
    """Let the worker wait until the event is set."""
    go = Held()
    inner = getattr(module, name)

    async def held(*args: Any) -> Any:
        go.reached = True
        await go.wait()
        return await inner(*args)

    setattr(module, name, held)
    lake.runner.run(asyncio.sleep(0))
    _undo.append(lambda: setattr(module, name, inner))
    return go


_undo: list[Any] = []


@pytest.fixture(autouse=True)
def _as_it_was() -> Iterator[None]:
    yield
    while _undo:
        _undo.pop()()


def test_a_task_survives_its_server(lake: Working) -> None:
    lake.put("a", b"1")
    held = _hold(lake, "commit", commit_commit)
    task = lake("POST", COMMIT, {"message": "one"}, 202, idempotency_key="k")
    lake.until(lambda: held.reached)
    while _undo:
        _undo.pop()()
    lake.restart()
    assert lake("GET", f"{REPO}/tasks/{task['id']}")["completed"] is False  # it may still be at work elsewhere
    lake.clock.time += lake.tuning.task_silence + 1
    assert lake.ended(f"{REPO}/tasks/{task['id']}")["commit"]["message"] == "one"
    assert lake.log() == ["one", "Repository created"]


def test_task_without_polls_is_taken_over_too(lake: Working) -> None:
    lake.put("a", b"1")
    held = _hold(lake, "commit", commit_commit)
    lake("POST", COMMIT, {"message": "one"}, 202)
    lake.until(lambda: held.reached)
    while _undo:
        _undo.pop()()
    lake.restart()
    assert lake.runner.run(lake.engine.tasks.resume()) == 0
    lake.clock.time += lake.tuning.task_silence + 1
    assert lake.runner.run(lake.engine.tasks.resume()) == 1
    lake.until(lambda: lake.log() == ["one", "Repository created"])
    lake.until(lambda: lake.runner.run(lake.engine.tasks.resume()) == 0)  # the server forgets it after the commit


def test_two_servers_at_one_commit_make_one(lake: Working) -> None:
    """The first server was only slow: it wakes up when the second has taken its task over."""
    lake.put("a", b"1")
    go = _hold(lake, "commit", commit_commit)
    task = lake("POST", COMMIT, {"message": "one", "allow_empty": True}, 202)
    lake.until(lambda: go.reached)
    first = lake.another()
    lake.clock.time += lake.tuning.task_silence + 1
    lake("GET", f"{REPO}/tasks/{task['id']}")
    go.set()
    done = lake.ended(f"{REPO}/tasks/{task['id']}")
    lake.until_idle()
    lake.runner.run(first.close())
    assert done["commit"]["message"] == "one"
    assert lake.log() == ["one", "Repository created"]


def test_dump_and_what_restore_refuses(lake: Working) -> None:
    lake.put("a", b"1")
    lake.commit("one")
    lake("POST", REPO + "/tags", {"id": "v1", "ref": "main"}, 201)
    dump = lake("PUT", REPO + "/refs/dump", None, 201)
    for part in dump.values():
        data = lake.runner.run(lake.stores.open("mem://lake").get(f"_lakebed/dumps/{part}.jsonl"))
        assert hashlib.sha256(data).hexdigest() == part
    task = lake("POST", REPO + "/dump", None, 202)["id"]
    status = lake.ended(f"{REPO}/dump?task_id={task}")
    assert (status["done"], status["refs"]) == (True, dump)
    assert lake("GET", f"{REPO}/dump?task_id=nope", expect=404)["kind"] == "task_not_found"
    assert lake("GET", f"{REPO}/restore?task_id={task}", expect=404)["kind"] == "task_not_found"
    for method, where in (("PUT", "/refs/restore"), ("POST", "/restore")):
        assert lake(method, REPO + where, dump, 400)["kind"] == "invalid_request"  # it has branches
    names = lake.runner.run(_names(lake))
    assert not [name for name in names if "draft" in name]


@pytest.mark.parametrize("as_task", [False, True], ids=["at once", "as a task"])
def test_a_restore_brings_back_history_over_a_copy_of_the_bucket(lake: Working, as_task: bool) -> None:
    for number in range(3):
        lake.put(f"t/{number}", b"%d" % number)
        lake.commit(f"commit {number}")
    lake("POST", REPO + "/tags", {"id": "v1", "ref": "main~1"}, 201)
    lake("POST", REPO + "/branches", {"name": "dev", "source": "main~2"}, 201)
    before = lake("GET", f"{REPO}/refs/main/commits")["results"]
    dump = lake("PUT", REPO + "/refs/dump", None, 201)

    async def copy() -> None:
        source, target = lake.stores.open("mem://lake"), lake.stores.open("mem://copy")
        async for blob in source.list():
            if blob.key.startswith(("_lakebed/dumps/", "_lakebed/ranges/", "_lakebed/metaranges/", "data/")):
                await target.put(blob.key, await source.get(blob.key))

    other = "/repositories/copy"
    lake("POST", "/repositories?bare=true", {"name": "copy", "storage_namespace": "mem://copy"}, 201)
    lake.runner.run(copy())
    assert lake("GET", f"{other}/branches")["results"] == []
    if as_task:
        task = lake("POST", other + "/restore", dump, 202)["id"]
        assert lake.ended(f"{other}/restore?task_id={task}").get("error") is None
    else:
        lake("PUT", other + "/refs/restore", dump)
    assert lake("GET", f"{other}/refs/main/commits")["results"] == before
    heads = {row["id"]: row["commit_id"] for row in lake("GET", f"{other}/branches")["results"]}
    assert heads == {row["id"]: row["commit_id"] for row in lake("GET", f"{REPO}/branches")["results"]}
    assert [row["id"] for row in lake("GET", f"{other}/tags")["results"]] == ["v1"]
    assert lake("GET", f"{other}/refs/main/objects?path=t/2").body == b"2"
    assert [row["path"] for row in lake("GET", f"{other}/refs/v1/objects/ls")["results"]] == ["t/0", "t/1"]
    lake("POST", f"{other}/branches/main/objects/copy?dest_path=u", {"src_path": "t/0"}, 201)
    assert lake("POST", f"{other}/branches/main/commits", {"message": "on"}, 201)["parents"] == [before[0]["id"]]
    assert lake("PUT", other + "/refs/restore", dump, 400)["kind"] == "invalid_request"


async def _names(lake: Working) -> list[str]:
    return [blob.key async for blob in lake.stores.open("mem://lake").list("_lakebed/dumps/")]


def test_symlinks(lake: Working) -> None:
    for path in ("a", "t/1", "t/2", "t/u/3", "t.csv"):
        lake.put(path, path.encode())
    answer = lake("POST", f"{REPO}/refs/main/symlink", None, 201)
    assert answer == {"location": "mem://lake/symlinks"}

    def manifest(directory: str) -> list[str]:
        key = f"symlinks/lake/main/{directory}symlink.txt"
        return lake.runner.run(lake.stores.open("mem://lake").get(key)).decode().splitlines()

    def address(path: str) -> str:
        return str(lake("GET", f"{REPO}/refs/main/objects/stat?path={path}")["physical_address"])

    assert manifest("") == [address("a"), address("t.csv")]
    assert manifest("t/") == [address("t/1"), address("t/2")]
    assert manifest("t/u/") == [address("t/u/3")]
    lake("DELETE", f"{MAIN}/objects?path=t/u/3", expect=204)
    lake("POST", f"{REPO}/refs/main/symlink?location=t", None, 201)
    with pytest.raises(Exception, match="t/u/symlink"):
        manifest("t/u/")
    assert manifest("") == [address("a"), address("t.csv")]
    lake("POST", f"{REPO}/refs/main/symlink?location=nothing/", None, 201)
    assert lake("POST", f"{REPO}/refs/nope/symlink", None, 404)["kind"] == "branch_not_found"


def test_a_refusal_by_hooks_names_its_run_in_the_task(lake: Working) -> None:
    async def refuse(_: Proposal) -> None:
        raise HookRefusedError("pre-commit hook aborted, run id 'r1': no", "r1")

    lake.engine.hooks.use(Hooks(answer=refuse))
    lake.put("b", b"2")
    task = lake("POST", COMMIT, {"message": "m"}, 202, idempotency_key="k")
    ended = lake.ended(f"{REPO}/tasks/{task['id']}")
    expected = {"message": "pre-commit hook aborted, run id 'r1': no", "kind": "hook_refused", "run_id": "r1"}
    assert {name: ended["error"].get(name) for name in expected} == expected
    # the same request, but not as a task
    said = lake("POST", f"{MAIN}/commits", {"message": "m"}, 412, idempotency_key="k")
    assert {name: said.get(name) for name in expected} == expected
