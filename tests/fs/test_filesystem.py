"""What the file system does beyond fsspec's own suite: refs, ranges, streams, errors, lists that cannot stop early."""

from __future__ import annotations

import dataclasses
import gc
import os
import pickle
import warnings
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import fsspec
import lakebed
import pytest
from fsspec.callbacks import Callback
from lakebed._gateway.operations import objects
from lakebed.errors import ObjectFailure
from lakebed.fsspec import LakebedFileSystem

from tests.sdk.live import Proxy

CONTENT = bytes(range(256)) * 400


class Moves(Callback):  # type: ignore[misc]
    """Adds up the amounts that it receives."""

    def __init__(self) -> None:
        super().__init__()
        self.children: list[Moves] = []

    def branched(self, path_1: str, path_2: str, **kwargs: Any) -> Moves:
        self.children.append(Moves())
        return self.children[-1]


@pytest.mark.parametrize(
    ("start", "end"),
    [(None, None), (0, 10), (5, None), (-7, None), (2, -3), (-9, -2), (100, 100), (9, 3), (10**9, None)],
)
def test_ranges_are_slices(way: str, fs: Any, top: str, start: int | None, end: int | None) -> None:
    fs.pipe(f"{top}/x", CONTENT)
    assert fs.cat_file(f"{top}/x", start, end) == CONTENT[start:end]


def test_info_of_a_file_has_all_fields(fs: Any, top: str) -> None:
    path = f"lakebed://{top}/a/x.csv"
    before = datetime.now(UTC) - timedelta(seconds=2)
    with fs.open(path, "wb", content_type="text/csv", metadata={"origin": "here"}) as file:
        file.write(b"1,2")
    row = fs.info(path)
    assert (row["name"], row["size"], row["type"]) == (f"{top}/a/x.csv", 3, "file")
    assert (row["content_type"], row["metadata"]) == ("text/csv", {"origin": "here"})
    assert before <= fs.modified(path) == fs.created(path)
    assert fs.ls(path) == [row] == fs.ls(f"{top}/a/")
    assert fs.info(f"{top}/a")["type"] == fs.info(top)["type"] == fs.info("")["type"] == "directory"
    first = fs.ukey(path), fs.checksum(path)
    fs.pipe(path, b"3,4")
    assert fs.ukey(path) != first[0]
    assert fs.checksum(path) != first[1]
    fs.pipe(path, b"1,2")
    assert fs.ukey(path) == first[0]
    with pytest.raises(lakebed.UnsupportedOperationError):
        fs.modified(f"{top}/a")


@pytest.mark.parametrize(
    ("paths", "kind"),
    [
        (["t"], "file"),
        (["t/a"], "directory"),
        (["t", "t/a"], "file"),
        (["t/"], "directory"),
        (["t-1", "t.x", "t/a"], "directory"),
        (["t-1", "t.x", "t0", "t", "tt/a"], "file"),
        (["t-1", "t.x", "t0", "tt/a"], None),
        ([], None),
    ],
)
def test_names_without_an_ending(
    fs: Any, top: str, repo: lakebed.Repository, paths: list[str], kind: str | None
) -> None:
    repo.branch("main").put_many(dict.fromkeys(paths, b"x"))
    assert fs.isdir(f"{top}/t") == (kind == "directory")
    assert fs.isfile(f"{top}/t") == (kind == "file")
    if kind is None:
        with pytest.raises(FileNotFoundError):
            fs.info(f"{top}/t")
    else:
        row = fs.info(f"{top}/t")
        assert (row["name"], row["type"], row["size"]) == (f"{top}/t", kind, int(kind == "file"))


def test_every_ref_can_be_read(fs: Any, repo: lakebed.Repository, top: str) -> None:
    main = repo.branch("main")
    fs.pipe(f"{top}/x", b"first")
    commit = main.commit("one")
    repo.tag("v1.0").create("main")
    fs.pipe(f"{top}/x", b"second")
    workspace = main.workspace("w").create()
    fs.pipe(f"{repo.id}/{workspace.id}/x", b"third")
    for ref, content in (
        ("main", b"second"), ("main@", b"first"), ("v1.0", b"first"), (commit.id, b"first"), (commit.id[:10], b"first"),
        (workspace.id, b"third"),
    ):  # fmt: skip
        assert fs.cat(f"lakebed://{repo.id}/{ref}/x") == content, ref
        assert fs.find(f"lakebed://{repo.id}/{ref}") == [f"{repo.id}/{ref}/x"]
    assert fs.ls(repo.id, detail=False) == [f"{repo.id}/main", f"{repo.id}/v1.0"]
    assert repo.id in fs.ls("lakebed://", detail=False)
    assert fs.glob(f"{repo.id}/v*/x") == [f"{repo.id}/v1.0/x"]
    assert not fs.exists(f"{repo.id}/main~1/x")


@pytest.mark.parametrize("ref", ["v1", "main~1", "main@", "main^1", "COMMIT"])
def test_writes_to_immutable_refs_are_refused(fs: Any, repo: lakebed.Repository, top: str, ref: str) -> None:
    fs.pipe(f"{top}/x", b"1")
    commit = repo.branch("main").commit("one")
    repo.tag("v1").create("main")
    ref = commit.id if ref == "COMMIT" else ref
    path = f"{repo.id}/{ref}/y"
    attempts: list[Callable[[], Any]] = [
        lambda: fs.pipe(path, b"2"),
        lambda: fs.cp(f"{top}/x", path),
        lambda: fs.touch(path),
        lambda: fs.put_file(__file__, path),
        lambda: fs.rm_file(path),
        lambda: fs.open(path, "wb").close(),
    ]
    for attempt in attempts:
        with pytest.raises(lakebed.InvalidRequestError, match=r"never changes; write to a branch"):
            attempt()
    with pytest.raises(FileNotFoundError, match="branch 'nope' not found"):
        fs.pipe(f"{repo.id}/nope/y", b"2")


def test_missing_files_and_outages_raise_different_errors(fs: Any, top: str, server: Any) -> None:
    repository = top.partition("/")[0]
    for path in (f"{top}/none", f"{repository}/none/x", "no-such-repository/main/x"):
        for verb in (fs.info, fs.cat, fs.open, fs.ls, fs.rm):
            with pytest.raises(lakebed.NotFoundError) as caught:
                verb(path)
            whole_ref_is_missing = verb == fs.info and path != f"{top}/none"
            assert isinstance(caught.value, FileNotFoundError) != whole_ref_is_missing
        assert not fs.exists(path)
        assert fs.find(path) == []
    nowhere = {"endpoint": "http://127.0.0.1:9", "access_key_id": "k", "secret_access_key": "s", "retries": 0}
    down = fsspec.filesystem("lakebed", **nowhere)
    for name in ("exists", "isdir", "isfile", "find", "info", "ls"):
        with pytest.raises(lakebed.ServerUnavailableError):
            getattr(down, name)("sales/main/x")
    with pytest.raises(lakebed.ServerUnavailableError):
        list(down.walk("sales/main"))


def test_reading_a_directory_as_a_file_raises(way: str, fs: Any, top: str, repo: lakebed.Repository) -> None:
    for folder in ("d", "e.parquet"):
        fs.pipe(f"{top}/{folder}/x.txt", b"1")
        for verb in (fs.open, fs.cat_file, lambda path: fs.cat_file(path, 0, 3)):
            with pytest.raises(
                FileNotFoundError, match=rf"lakebed://{top}/{folder}: this is a directory.*'{folder}/x.txt'"
            ) as caught:
                verb(f"{top}/{folder}")
            assert isinstance(caught.value, lakebed.ObjectNotFoundError)
            assert (caught.value.kind, caught.value.ref, caught.value.path) == ("is_a_directory", "main", folder)


def test_walk_and_glob_list_everything(
    fs: Any, repo: lakebed.Repository, top: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lakebed._async.http.pagination._PAGE", 7)
    names = [f"t/day={day}/{n:04d}.parquet" for day in range(3) for n in range(40)]
    repo.branch("main").put_many(dict.fromkeys([*names, "t/_SUCCESS", "t/dir/", "tz"], b""))
    assert fs.find(f"{top}/t") == sorted(f"{top}/{name}" for name in [*names, "t/_SUCCESS"])
    assert len(fs.glob(f"{top}/t/**/*.parquet")) == len(fs.glob(f"{top}/t/*/*.parquet")) == 120
    assert len(fs.glob(f"{top}/t/day=1/000*.parquet")) == 10
    assert fs.ls(f"{top}/t", detail=False) == [
        f"{top}/t/_SUCCESS", f"{top}/t/day=0", f"{top}/t/day=1", f"{top}/t/day=2", f"{top}/t/dir",
    ]  # fmt: skip
    assert sum(len(files) for _, _, files in fs.walk(f"{top}/t")) == 121
    assert fs.du(f"{top}/t", total=False).keys() == set(fs.find(f"{top}/t"))
    assert fs.find(f"{top}/t", maxdepth=1) == [f"{top}/t/_SUCCESS"]
    fs.rm(f"{top}/t", recursive=True)
    assert [one.path for one in repo.branch("main").list()] == ["tz"]


def test_failed_deletion_names_the_remaining_files(fs: Any, top: str, monkeypatch: pytest.MonkeyPatch) -> None:
    fs.pipe({f"{top}/t/{n}": b"x" for n in range(4)})
    whole = objects.delete_many

    def refusing(repo: str, ref: str, paths: Any) -> Any:
        """As a server that cannot delete the last one."""
        held = (ObjectFailure(paths[-1], 423, "is held"),)
        return replace(whole(repo, ref, paths[:-1]), parse=lambda _: held)

    monkeypatch.setattr(objects, "delete_many", refusing)
    with pytest.raises(lakebed.PartialFailureError, match=r"1 of 4 objects .* are left: 't/3'; .* is held") as caught:
        fs.rm(f"{top}/t", recursive=True)
    assert [one.path for one in caught.value.failures] == ["t/3"]
    assert fs.find(f"{top}/t") == [f"{top}/t/3"]
    with pytest.raises(lakebed.InvalidRequestError, match="use recursive=True"):
        fs.rm(f"{top}/t")


def test_writing_streams_and_shows_nothing_before_it_is_closed(fs: Any, top: str, repo: lakebed.Repository) -> None:
    block, path = os.urandom(1 << 20), f"{top}/big"
    with fs.open(path, "wb", block_size=1 << 20) as file:
        for _ in range(8):
            file.write(block)
        for _ in range(1000):
            file.write(b"small")
        assert not fs.exists(path)
        assert file._held.size + file._upload._blocks.qsize() * (1 << 20) <= 4 << 20
    assert fs.cat(path) == block * 8 + b"small" * 1000
    for kind in ("wb", "w"):
        with pytest.raises(KeyError), fs.open(path, kind) as file:
            file.write("half" if kind == "w" else block * 3)
            raise KeyError
    lost = fs.open(path, "wb")
    lost.write(block * 6)
    with pytest.warns(ResourceWarning, match="never closed: nothing is stored"):
        lost = gc.collect()
    assert fs.info(path)["size"] == (8 << 20) + 5000
    with fs.open(f"{top}/text", "w", encoding="latin-1", newline="\r\n") as file:
        file.write("grüße\n")
    assert fs.cat(f"{top}/text").decode("latin-1") == "grüße\r\n"
    assert fs.open(f"{top}/text", "r", encoding="latin-1").read() == "grüße\n"


def test_failed_upload_stream_raises_in_the_writer(fs: Any, repo: lakebed.Repository) -> None:
    path = f"{repo.id}/nope/x"
    with pytest.raises(FileNotFoundError, match="'nope' not found"), fs.open(path, "wb", block_size=1 << 16) as file:
        for _ in range(100):
            file.write(os.urandom(1 << 16))


def test_exclusive_creation_is_decided_at_close(fs: Any, top: str) -> None:
    with pytest.raises(FileExistsError), fs.open(f"{top}/x", "xb") as file:
        file.write(b"mine")
        fs.pipe(f"{top}/x", b"theirs")
    assert fs.cat(f"{top}/x") == b"theirs"
    with pytest.raises(FileExistsError):
        fs.open(f"{top}/x", "x")
    with pytest.raises(lakebed.UnsupportedOperationError, match="cannot be appended to"):
        fs.open(f"{top}/x", "ab")
    with pytest.raises(lakebed.InvalidRequestError, match="use one of rb, wb, xb"):
        fs.open(f"{top}/x", "r+b")


def test_a_reader_reads_only_the_object_that_it_opened(way: str, fs: Any, top: str) -> None:
    fs.pipe(f"{top}/x", CONTENT)
    with fs.open(f"{top}/x", cache_type="none") as file:
        assert file.read(10) == CONTENT[:10]
        again = pickle.loads(pickle.dumps(file))
        fs.pipe(f"{top}/x", b"?" * len(CONTENT))
        for reader in (file, again):
            assert reader.tell() == 10
            if way == "direct":  # what a shared directory holds is never replaced
                assert reader.read() == CONTENT[10:]
            else:
                with pytest.raises(lakebed.PreconditionFailedError, match="changed while it was being read"):
                    reader.read()
        again.close()


@pytest.mark.parametrize("cache", ["none", "readahead", "bytes", "blockcache", "first", "all", "background"])
def test_block_caches(fs: Any, top: str, cache: str, monkeypatch: pytest.MonkeyPatch) -> None:
    proxied = fsspec.filesystem("lakebed", data_path="proxied")
    fs.pipe(f"{top}/x.bin", CONTENT)
    with proxied.open(f"{top}/x.bin", block_size=1 << 13, cache_type=cache) as file:
        for start, length in ((0, 10), (90_000, 20_000), (5000, 3), (0, 102_400), (102_399, 5)):
            file.seek(start)
            assert file.read(length) == CONTENT[start : start + length]


def test_reads_fill_the_buffer_of_arrow(way: str, fs: Any, top: str) -> None:
    fs.pipe({f"{top}/x.parquet": CONTENT, f"{top}/x.bin": CONTENT})
    for path in (f"{top}/x.parquet", f"{top}/x.bin"):
        for cache in ("none", "readahead"):
            with fs.open(path, cache_type=cache) as file:
                for start, length in (
                    (0, -1),
                    (0, 70_000),
                    (5, 80_000),
                    (30_000, 70_000),
                    (102_000, 4000),
                    (102_400, 9),
                ):
                    file.seek(start)
                    found = file.read_buffer(length)
                    assert found.to_pybytes() == CONTENT[start : None if length < 0 else start + length]
                    assert file.tell() == start + found.size
    with fs.open(f"{top}/x.bin", cache_type="none") as file:
        fs.pipe(f"{top}/x.bin", b"?" * len(CONTENT))
        if way == "proxied":
            with pytest.raises(lakebed.PreconditionFailedError):
                file.read_buffer()


def test_files_with_a_footer_begin_with_it(fs: Any, top: str, repo: lakebed.Repository) -> None:
    proxied = fsspec.filesystem("lakebed", data_path="proxied")
    fs.pipe({f"{top}/a.parquet": CONTENT, f"{top}/empty.parquet": b""})
    proxied.cat_file(f"{top}/a.parquet", 0, 1)
    with proxied.open(f"{top}/a.parquet") as file:
        file.seek(-20, 2)
        assert file.read() == CONTENT[-20:]
        file.seek(10)
        assert file.read() == CONTENT[10:]
    assert proxied.open(f"{top}/empty.parquet").read() == b""


def test_shared_directory_is_used_only_if_it_has_the_file(
    fs: Any, top: str, server: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    fs.pipe(f"{top}/x", CONTENT)
    assert fs.cat(f"{top}/x") == CONTENT
    with fs.open(f"{top}/x") as file:
        assert file._fd is not None
    repository = top.partition("/")[0]
    shared = fs._handles[repository]._storage.shared
    assert Path(shared.directory).is_relative_to(server.data_dir)
    key = fs.info(f"{top}/x")["physical_address"].removeprefix(shared.namespace)
    cut = tmp_path / "cut" / key
    cut.parent.mkdir(parents=True)
    cut.write_bytes(CONTENT[:-1])
    link = tmp_path / "link" / key
    link.parent.mkdir(parents=True)
    link.symlink_to(Path(shared.directory) / key)
    for wrong in (server.data_dir, "/nowhere", tmp_path / "cut", tmp_path / "link"):
        for handles in (fs._handles, fs._repositories):
            storage = handles[repository]._storage
            monkeypatch.setattr(storage, "shared", dataclasses.replace(shared, directory=str(wrong)))
        with fs.open(f"{top}/x") as file:
            assert file._fd is None
            assert file.read() == CONTENT
        assert fs.cat(f"{top}/x") == CONTENT


def test_up_and_down_with_progress(fs: Any, top: str, tmp_path: Path) -> None:
    (tmp_path / "in" / "deep").mkdir(parents=True)
    (tmp_path / "in" / "a").write_bytes(CONTENT)
    (tmp_path / "in" / "deep" / "b").write_bytes(b"b")
    up, down = Moves(), Moves()
    fs.put(str(tmp_path / "in"), f"{top}/t", recursive=True, callback=up)
    fs.get(f"{top}/t", str(tmp_path / "out"), recursive=True, callback=down)
    for moves in (up, down):
        assert (moves.size, moves.value) == (2 if moves is up else len(moves.children), len(moves.children))
        assert sorted(child.value for child in moves.children if child.value) == [1, len(CONTENT)]
        assert all(child.size == child.value for child in moves.children if child.value)
    assert (tmp_path / "out" / "a").read_bytes() == CONTENT
    assert (tmp_path / "out" / "deep" / "b").read_bytes() == b"b"
    with pytest.raises(FileNotFoundError):
        fs.get(f"{top}/none", str(tmp_path / "none"))


def test_copies_between_refs_and_repositories(fs: Any, lake: lakebed.Lake, repo: lakebed.Repository, top: str) -> None:
    fs.pipe({f"{top}/t/a": CONTENT, f"{top}/t/b": b"b"})
    repo.branch("main").commit("one")
    repo.branch("dev").create("main")
    fs.cp(f"{top}/t", f"{repo.id}/dev/u", recursive=True)
    assert fs.cat(f"{repo.id}/dev/u/a") == CONTENT
    other = lake.repository(f"{repo.id}-2").create(f"local://{repo.id}-2")
    fs.cp(f"{repo.id}/main@/t/a", f"{other.id}/main/a")
    assert fs.cat(f"{other.id}/main/a") == CONTENT
    fs.mv(f"{repo.id}/dev/u", f"{repo.id}/dev/v", recursive=True)
    assert fs.find(f"{repo.id}/dev") == [f"{repo.id}/dev/{name}" for name in ("t/a", "t/b", "v/a", "v/b")]
    with pytest.raises(FileNotFoundError):
        fs.cp([f"{top}/t/a", f"{top}/none"], [f"{top}/c1", f"{top}/c2"], recursive=True)


def test_touch_mkdir_rmdir_and_sign(fs: Any, top: str, repo: lakebed.Repository) -> None:
    fs.touch(f"{top}/x")
    assert fs.cat(f"{top}/x") == b""
    with pytest.raises(lakebed.UnsupportedOperationError, match="the time of an object cannot be changed"):
        fs.touch(f"{top}/x", truncate=False)
    fs.mkdir(f"{top}/made")
    assert not fs.exists(f"{top}/made")
    fs.pipe(f"{top}/made/x", b"")
    with pytest.raises(lakebed.InvalidRequestError, match="not empty"):
        fs.rmdir(f"{top}/made")
    with pytest.raises(lakebed.UnsupportedOperationError, match="create"):
        fs.mkdir("new-repository")
    with pytest.raises(lakebed.InvalidRequestError, match=r"repository\.delete"):
        fs.rm(repo.id, recursive=True)
    with pytest.raises(lakebed.UnsupportedOperationError, match="does not presign URLs"):
        fs.sign(f"{top}/x")


def test_interrupted_response_is_requested_again(fs: Any, top: str, server: Any) -> None:
    fs.pipe(f"{top}/x.parquet", CONTENT)
    proxy = Proxy(server.endpoint)
    try:
        through = fsspec.filesystem("lakebed", endpoint=proxy.endpoint, access_key_id=server.access_key_id,
                                    secret_access_key=server.secret_access_key, data_path="proxied")  # fmt: skip
        left = [3]

        def swallow(line: str) -> bool:
            left[0] -= "objects" in line
            return left[0] >= 0 and "objects" in line

        proxy.swallow = swallow
        with through.open(f"{top}/x.parquet") as file:
            assert file.read() == CONTENT
        assert len(proxy.swallowed) == 3
    finally:
        proxy.close()


async def test_async_api(server: Any, top: str) -> None:
    async def work() -> None:
        fs = fsspec.filesystem("lakebed", asynchronous=True, skip_instance_cache=True)
        await fs._pipe_file(f"{top}/a", CONTENT)
        assert await fs._cat_file(f"{top}/a", 5, 9) == CONTENT[5:9]
        assert [name async for name, _, _ in fs._walk(top)] == [top]
        async with await fs.open_async(f"{top}/b", "wb") as file:
            for _ in range(6):
                await file.write(CONTENT * 10)
        async with await fs.open_async(f"{top}/b") as file:
            assert await file.read(7) == CONTENT[:7]
            assert await file.read() == (CONTENT * 60)[7:]
        with pytest.raises(KeyError):
            async with await fs.open_async(f"{top}/b", "wb") as file:
                await file.write(b"half")
                raise KeyError
        with pytest.raises(FileExistsError):
            await fs.open_async(f"{top}/b", "xb")
        assert (await fs._info(f"{top}/b"))["size"] == 60 * len(CONTENT)
        await fs._lake.close()

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        await work()


def test_recursive_get_replaces_an_existing_tree(fs: Any, top: str, tmp_path: Path) -> None:
    fs.pipe({f"{top}/t/{name}": CONTENT for name in ("a", "deep/b", "deep/er/c")})
    for _ in range(2):
        fs.get(f"{top}/t/", str(tmp_path / "out"), recursive=True)
        (tmp_path / "out" / "deep" / "b").write_bytes(b"old")
    fs.get(f"{top}/t/", str(tmp_path / "out"), recursive=True)
    assert {one.name: one.read_bytes() for one in tmp_path.rglob("*") if one.is_file()} == dict.fromkeys("abc", CONTENT)
    with pytest.raises(IsADirectoryError):
        fs.get_file(f"{top}/t/a", str(tmp_path / "out"))


def test_the_public_names() -> None:
    assert fsspec.get_filesystem_class("lakebed") is LakebedFileSystem
    assert LakebedFileSystem.__module__ == "lakebed.fsspec"
