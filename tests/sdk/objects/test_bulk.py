"""Trees up and down on a real server: every way, resumed, refused, and killed in the middle."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import lakebed
import lakebed.aio
import pytest
from lakebed._bulk import local_tree
from lakebed._bulk.hash_cache import Memory
from lakebed._bulk.local_tree import FileStat
from lakebed._bulk.progress import Tally
from lakebed._sync.bulk import fetch, upload
from lakebed.errors import InvalidRequestError, PartialFailureError
from lakebed.model import TransferProgress

from tests.support.processes.server import RunningServer, clean_environment


def plant(top: Path, count: int, size: int = 100) -> dict[str, bytes]:
    """Files in folders of twenty; the content of each is its own. Old enough for a journal to trust their times."""
    made = {}
    past = time.time() - 60
    for number in range(count):
        name = f"d{number // 20:03d}/f{number:05d}.bin"
        file = top / name
        file.parent.mkdir(parents=True, exist_ok=True)
        made[name] = f"{number}".encode().ljust(size, b".")
        file.write_bytes(made[name])
        os.utime(file, (past, past))
    return made


def shown(ref: Any, prefix: str = "") -> dict[str, bytes]:
    return {row.path.removeprefix(prefix): ref.get(row.path) for row in ref.list(prefix)}


def contents(top: Path) -> dict[str, bytes]:
    return {file.relative_to(top).as_posix(): file.read_bytes() for file in top.rglob("*") if file.is_file()}


class Requests:
    """Counts the calls that a handle sends."""

    def __init__(self, transport: Any) -> None:
        self.operations: list[str] = []
        self._call = transport.call
        transport.call = self

    def __call__(self, call: Any, body: Any = None) -> Any:
        self.operations.append(call.operation)
        return self._call(call, body)


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.mark.parametrize("way", ["direct", "proxied"])
def test_upload_and_download_of_a_tree_round_trip(repo: lakebed.Repository, tmp_path: Path, way: Any) -> None:
    files = plant(tmp_path / "in", 130)
    (tmp_path / "in" / "big.bin").write_bytes(os.urandom(3 << 20))
    files["big.bin"] = (tmp_path / "in" / "big.bin").read_bytes()
    (tmp_path / "in" / "empty").touch()
    files["empty"] = b""
    seen: list[TransferProgress] = []
    main = repo.branch("main")
    with main.workspace("a tree", data_path=way) as workspace:
        done = workspace.upload_tree(tmp_path / "in", "tree", progress=seen.append)
    assert (done.files, done.bytes, done.skipped) == (132, sum(map(len, files.values())), 0)
    last = seen[-1]
    assert (last.files, last.files_total, last.bytes, last.complete) == (132, 132, done.bytes, True)
    assert last.eta == 0
    assert shown(main, "tree/") == files

    got = main.download_tree("tree", tmp_path / "out")
    assert got.files == 132
    assert contents(tmp_path / "out") == files
    assert list((tmp_path / "cache").rglob("*.db")) == []  # what is done needs no journal


def test_ten_thousand_files_take_few_requests_and_no_byte_passes_the_server(
    repo: lakebed.Repository, tmp_path: Path
) -> None:
    plant(tmp_path / "in", 2_500, 10)
    workspace = repo.branch("main").workspace("many").create()
    requests = Requests(workspace._plain)
    workspace.upload_tree(tmp_path / "in")
    assert requests.operations == ["registerObjects"] * 3  # so 10 for ten thousand
    assert sum(1 for _ in workspace.changes()) == 2_500


async def test_async_api_does_the_same(server: RunningServer, repo: lakebed.Repository, tmp_path: Path) -> None:
    files = plant(tmp_path / "in", 60)
    keys = (server.endpoint, server.access_key_id, server.secret_access_key)
    async with lakebed.aio.connect(*keys) as lake:
        main = lake.repository(repo.id).branch("main")
        async with main.workspace("async") as workspace:
            assert (await workspace.upload_tree(tmp_path / "in", "t")).files == 60
        assert (await main.download_tree("t", tmp_path / "out")).files == 60
    assert shown(repo.branch("main"), "t/") == files
    assert contents(tmp_path / "out") == files


@pytest.mark.parametrize("way", ["direct", "proxied"])
def test_interrupted_upload_resumes(
    repo: lakebed.Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: Any
) -> None:
    monkeypatch.setattr("lakebed._bulk.batches.BATCH_FILES", 20)
    files = plant(tmp_path / "in", 100)
    workspace = repo.branch("main").workspace("broken", data_path=way).create()

    def stop(now: TransferProgress) -> None:
        if now.files >= 40:
            raise KeyboardInterrupt

    monkeypatch.setattr("lakebed._bulk.progress.INTERVAL", 0.0)
    with pytest.raises(KeyboardInterrupt):
        workspace.upload_tree(tmp_path / "in", "t", progress=stop)
    changed = tmp_path / "in" / "d000" / "f00003.bin"
    changed.write_bytes(b"written meanwhile")
    files["d000/f00003.bin"] = b"written meanwhile"

    again = repo.workspace(workspace.workspace_id, data_path=way)
    done = again.upload_tree(tmp_path / "in", "t")
    assert done.files == 100
    assert 39 <= done.skipped <= 60  # all that was done before, but for the file that changed
    assert done.bytes <= 61 * 100 + 17
    again.commit("whole")
    assert shown(repo.branch("main"), "t/") == files


def test_files_reverted_after_a_crash_are_uploaded_again(
    repo: lakebed.Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lakebed._bulk.batches.BATCH_FILES", 20)
    monkeypatch.setattr("lakebed._bulk.progress.INTERVAL", 0.0)
    files = plant(tmp_path / "in", 60)
    for way in ("direct", "proxied"):
        workspace = repo.branch("main").workspace(way, data_path=way).create()

        def stop(now: TransferProgress) -> None:
            if now.files >= 40:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            workspace.upload_tree(tmp_path / "in", way, progress=stop)
        workspace.revert()
        workspace.upload_tree(tmp_path / "in", way)
        assert shown(workspace, f"{way}/") == files


def test_kill_9_in_mid_upload_and_resume(server: RunningServer, repo: lakebed.Repository, tmp_path: Path) -> None:
    files = plant(tmp_path / "in", 3_000, 4096)
    workspace = repo.branch("main").workspace("killed").create()
    code = (
        "import sys, lakebed, lakebed._bulk.batches as jobs, lakebed._bulk.progress as tally\n"
        "jobs.BATCH_FILES, tally.INTERVAL = 100, 0.0\n"
        f"ws = lakebed.connect().repository({repo.id!r}).workspace({workspace.workspace_id!r})\n"
        f"ws.upload_tree({str(tmp_path / 'in')!r}, 't', progress=lambda now: print(now.files, flush=True))\n"
    )
    environment = clean_environment(**server.environment, XDG_CACHE_HOME=str(tmp_path / "cache"))
    with subprocess.Popen([sys.executable, "-c", code], env=environment, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if int(line) >= 500:
                process.send_signal(signal.SIGKILL)
                break
        process.stdout.read()
    assert process.returncode == -signal.SIGKILL
    before = sum(1 for _ in workspace.changes())
    assert 500 <= before < 3_000
    done = workspace.upload_tree(tmp_path / "in", "t")
    assert done.files == 3_000
    assert done.skipped >= before  # what was registered was in the journal before
    workspace.commit("in spite of all")
    main = repo.branch("main")
    assert sum(1 for _ in main.list("t/")) == 3_000
    assert main.download_tree("t", tmp_path / "out").files == 3_000  # every checksum is compared
    assert contents(tmp_path / "out") == files


def test_interrupted_download_resumes(
    repo: lakebed.Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetch, "BATCH_FILES", 20)
    monkeypatch.setattr("lakebed._bulk.progress.INTERVAL", 0.0)
    files = plant(tmp_path / "in", 100)
    main = repo.branch("main")
    main.put_many(files)

    def stop(now: TransferProgress) -> None:
        if now.files >= 50:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        main.download_tree("", tmp_path / "out", progress=stop)
    here = sorted((tmp_path / "out").rglob("*.bin"))
    here[0].write_bytes(b"damaged by somebody")
    main.put("d000/f00001.bin", b"newer")
    files["d000/f00001.bin"] = b"newer"
    done = main.download_tree("", tmp_path / "out")
    assert done.files == 100
    assert not list((tmp_path / "out").rglob(".*part"))
    assert 40 <= done.skipped < 100
    assert {
        f.relative_to(tmp_path / "out").as_posix(): f.read_bytes() for f in (tmp_path / "out").rglob("*.bin")
    } == files


def test_unreadable_file_is_reported_and_the_others_are_uploaded(
    repo: lakebed.Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(tmp_path / "in", 30)
    workspace = repo.branch("main").workspace("some").create()

    moody = tmp_path / "in" / "d000" / "f00007.bin"
    walk = local_tree.walk

    def walk_then_change(top: Path) -> Any:
        for file in walk(top):
            yield file
            if file.file == moody:
                moody.write_bytes(b"changed since it was looked at")

    monkeypatch.setattr(upload, "walk", walk_then_change)
    with pytest.raises(PartialFailureError) as caught:
        workspace.upload_tree(tmp_path / "in")
    assert [one.path for one in caught.value.failures] == ["d000/f00007.bin"]
    assert "changed while it was read" in caught.value.failures[0].message
    assert sum(1 for _ in workspace.changes()) == 29
    monkeypatch.setattr(upload, "walk", walk)
    assert workspace.upload_tree(tmp_path / "in").files == 30


def test_links_and_pipes_are_left_out_with_a_warning(repo: lakebed.Repository, tmp_path: Path) -> None:
    top = tmp_path / "in"
    plant(top, 3)
    (top / "linked").symlink_to(top / "d000" / "f00000.bin")
    (top / "broken").symlink_to(tmp_path / "nothing")
    (top / "folder").symlink_to(tmp_path)
    os.mkfifo(top / "d000" / "pipe")
    workspace = repo.branch("main").workspace("all").create()
    with pytest.warns(UserWarning, match="3 in .* skipped.*: 'broken', 'd000/pipe', 'folder'"):
        assert workspace.upload_tree(top).files == 4
    assert "linked" in [one.path for one in workspace.list()]


def test_invalid_file_paths_fail_only_those_files(repo: lakebed.Repository, tmp_path: Path) -> None:
    main = repo.branch("main")
    main.put_many({"t/good": b"1", "t/../../evil": b"2", "t//double": b"3", "t/a": b"4", "t/a/b": b"5"})
    with pytest.raises(PartialFailureError) as caught:
        main.download_tree("t", tmp_path / "out", jobs=1)
    assert {one.path for one in caught.value.failures} == {"t/../../evil", "t//double", "t/a/b"}
    assert (tmp_path / "out" / "good").read_bytes() == b"1"
    assert not (tmp_path / "evil").exists()


def test_unusual_paths_are_written_directly_too(repo: lakebed.Repository) -> None:
    odd = {"a//b": b"1", "../x": b"2", "tab\there": b"3", "dir": b"4", "dir/file": b"5", "x" * 1000: b"6"}
    with repo.branch("main").workspace("odd", data_path="direct") as workspace:
        workspace.put_many(odd)
        workspace.put_many({"dir": b"again"})
    assert shown(repo.branch("main")) == {**odd, "dir": b"again"}


def test_upload_replaces_no_file_of_the_store(repo: lakebed.Repository, tmp_path: Path) -> None:
    workspace = repo.branch("main").workspace("twice", data_path="direct").create()
    info, at, kept = workspace.info(), [], []
    for content in (b"first", b"second"):
        (tmp_path / "in").mkdir(exist_ok=True)
        (tmp_path / "in" / "a").write_bytes(content)
        workspace.upload_tree(tmp_path / "in")
        at.append(workspace.stat("a").physical_address)
        kept.append(Path(info.local_path, at[-1].removeprefix(info.storage_prefix)))
    assert at[0] != at[1]
    assert [file.read_bytes() for file in kept] == [b"first", b"second"]  # a commit may have named the first
    assert workspace.get("a") == b"second"


def test_bad_input_is_refused(repo: lakebed.Repository, tmp_path: Path) -> None:
    workspace = repo.branch("main").workspace("bad").create()
    with pytest.raises(InvalidRequestError, match="not a directory"):
        workspace.upload_tree(tmp_path / "nowhere")
    (tmp_path / "in").mkdir()
    with pytest.raises(InvalidRequestError, match="jobs must be at least 1"):
        workspace.upload_tree(tmp_path / "in", jobs=0)
    (tmp_path / "in" / os.fsdecode(b"\xff.bin")).touch()
    with pytest.raises(InvalidRequestError, match="not UTF-8"):
        workspace.upload_tree(tmp_path / "in")


def test_hash_cache_ignores_files_changed_just_before_hashing(tmp_path: Path) -> None:
    from lakebed._bulk.hash_cache import Known

    file = tmp_path / "f"
    file.write_bytes(b"1")
    stat = FileStat.of(file.stat())
    with Memory(tmp_path / "memory.db") as memory:
        memory.remember([Known("f", stat, "md5", seen_ns=stat.mtime_ns + 1_000_000)])
        known = memory.get("f")
        assert known is not None
        assert not known.is_unchanged(stat)  # the file may have changed again within the tick
        memory.remember([Known("f", stat, "md5", seen_ns=stat.mtime_ns + 5_000_000_000)])
        known = memory.get("f")
        assert known is not None
        assert known.is_unchanged(stat)
        assert not known.is_unchanged(FileStat(stat.size, stat.mtime_ns, stat.inode + 1))


def test_damaged_journal_error_names_the_file(tmp_path: Path) -> None:
    (tmp_path / "memory.db").write_bytes(b"no database at all" * 100)
    with pytest.raises(lakebed.LakebedError, match=r"memory\.db cannot be used"):
        Memory(tmp_path / "memory.db")


def test_eta_is_reported_once_the_total_is_known() -> None:
    now = [0.0]
    reported: list[TransferProgress] = []
    tally = Tally(reported.append, lambda: now[0])
    tally.expect(1000)
    now[0] = 2.0
    tally.moved(400)
    assert (reported[-1].rate, reported[-1].eta) == (200, None)
    tally.no_more()
    now[0] = 4.0
    tally.moved(400)
    assert reported[-1].eta == 1.0
    tally.moved(100)
    assert len(reported) == 2  # not more often than the interval
    tally.moved(-900)  # an attempt begins again
    now[0] = 5.0
    tally.moved(1000)
    assert reported[-1].bytes == 1000
