"""`local://` follows no symbolic link below a namespace, even if a link replaces a file during a call."""

from __future__ import annotations

import asyncio
import ctypes
import os
import threading
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any

import pytest
from lakebed_engine.stores.objects.base import BlobStat, Refused
from lakebed_engine.stores.objects.local import paths
from lakebed_engine.stores.objects.local.listing import LINK, SHARED
from lakebed_engine.stores.objects.local.store import LocalObjects
from lakebed_engine.stores.objects.local.syscalls import SystemCalls, UnsyncedCalls
from lakebed_engine.stores.objects.registry import Stores
from lakebed_engine.vocabulary.errors import BlobExists, BlobNotFound, InvalidNamespaceError, StoreUnavailableError

from tests.conformance.objects import MIB, cut, keys, partial, read

_AT_FDCWD, _EXCHANGE = -100, 2
SECRET = b"a file outside of the namespace"


@pytest.fixture(params=["one call", "step by step"])
def opener(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both ways to open a file: this machine's kernel has the call."""
    assert paths.openat2() is not None
    if request.param == "step by step":
        monkeypatch.setattr(paths, "_open", paths.open_stepwise)


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A directory that is not part of the store, with a file."""
    outside = tmp_path / "outside"
    (outside / "sub").mkdir(parents=True)
    (outside / "secret").write_bytes(SECRET)
    (outside / "sub" / "secret").write_bytes(SECRET)
    return outside


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "root"
    root.mkdir()
    return root


@pytest.fixture
def store(root: Path, opener: None) -> Iterator[LocalObjects]:
    with opened(root) as store:
        yield store


class opened:
    """A store that waits for no disk, closed at the end."""

    def __init__(self, root: Path, calls: SystemCalls | None = None) -> None:
        self._store = LocalObjects(root, "local://t", calls=calls or UnsyncedCalls())

    def __enter__(self) -> LocalObjects:
        return self._store

    def __exit__(self, *_: object) -> None:
        self._store.close()


def untouched(outside: Path) -> bool:
    """Whether nothing outside was written, made or removed."""
    found = {str(path.relative_to(outside)): path.read_bytes() for path in outside.rglob("*") if path.is_file()}
    return found == {"secret": SECRET, "sub/secret": SECRET}


def reads(store: LocalObjects, key: str) -> list[Coroutine[Any, Any, object]]:
    """Every way to see an object."""
    return [
        store.get(key), store.get_range(key, 1, 2), store.head(key), read(store, key),
        store.copy(key, "copied"), store.concat([key], "joined"),
    ]  # fmt: skip


PLANTED = {
    "a link to a file": ("w/secret", "secret", "w/secret"),
    "a link to a directory": ("w/ext", ".", "w/ext/secret"),
    "a link in the middle": ("w/ext", ".", "w/ext/sub/secret"),
    "a link to nothing": ("w/nothing", "nothing", "w/nothing"),
    "the first segment": ("first", ".", "first/secret"),
}


@pytest.mark.parametrize("kind", PLANTED)
async def test_no_link_is_followed(store: LocalObjects, root: Path, outside: Path, kind: str) -> None:
    place, target, key = PLANTED[kind]
    await store.put("w/mine", b"mine")
    (root / place).symlink_to(outside / target)
    for one in reads(store, key):
        with pytest.raises(BlobNotFound):
            await one
    assert await keys(store) == ["w/mine"]
    for prefix in (place, f"{place}/", key):
        assert [blob.key async for blob in store.list(prefix)] == []
    await store.delete([place, key])
    assert await store.delete_older([place, key], 1e12) == []
    assert os.path.islink(root / place)
    assert untouched(outside)


WRITES: dict[str, Callable[[LocalObjects, str], Coroutine[Any, Any, object]]] = {
    "put": lambda store, key: store.put(key, b"new"),
    "put if absent": lambda store, key: store.put(key, b"new", if_absent=True),
    "put by content": lambda store, key: store.put(key, b"new", by_content=True),
    "a fresh stream": lambda store, key: store.put_stream(key, cut(b"new", 1), fresh=True),
    "a stream": lambda store, key: store.put_stream(key, cut(b"new" + bytes(2 * MIB), MIB)),
    "copy": lambda store, key: store.copy("w/mine", key),
    "concat": lambda store, key: store.concat(["w/mine", "w/mine"], key),
}


@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("key", ["w/ext/new", "w/ext/sub/new", "w/ext/sub/deep/new", "w/ext/secret"])
async def test_put_below_a_link_stores_in_the_encoded_tree(
    store: LocalObjects, root: Path, outside: Path, write: str, key: str
) -> None:
    """As below a file of that name, the store puts the key into the encoded tree."""
    await store.put("w/mine", b"mine")
    (root / "w/ext").symlink_to(outside)
    await WRITES[write](store, key)
    assert (await store.get(key))[:3] in (b"new", b"min")
    assert await keys(store) == [key, "w/mine"]
    await store.delete([key])
    assert await keys(store) == ["w/mine"]
    assert await partial(store) == []
    assert untouched(outside)
    assert os.path.islink(root / "w/ext")


@pytest.mark.parametrize("write", [name for name in WRITES if name != "a fresh stream"])
@pytest.mark.parametrize("target", ["secret", "sub", "nothing"])
async def test_a_link_in_the_place_of_an_object_stays(
    store: LocalObjects, root: Path, outside: Path, write: str, target: str
) -> None:
    await store.put("w/mine", b"mine")
    (root / "w/link").symlink_to(outside / target)
    await WRITES[write](store, "w/link")
    assert (await store.get("w/link"))[:3] in (b"new", b"min")
    assert await keys(store) == ["w/link", "w/mine"]
    with pytest.raises(BlobExists):
        await store.put("w/link", b"again", if_absent=True)
    await store.delete(["w/link"])
    assert os.path.islink(root / "w/link")
    assert untouched(outside)


async def test_a_fresh_key_is_not_written_through_a_link(store: LocalObjects, root: Path, outside: Path) -> None:
    (root / "fresh").symlink_to(outside / "nothing")
    with pytest.raises(BlobExists):
        await store.put_stream("fresh", cut(b"new", 1), fresh=True)
    assert untouched(outside)


@pytest.mark.parametrize("name", [".lakebed-tmp", ".lakebed-keys", ".lakebed-lock"])
async def test_links_in_the_place_of_what_the_store_itself_keeps(
    store: LocalObjects, root: Path, outside: Path, name: str
) -> None:
    (root / name).symlink_to(outside / ("secret" if name == ".lakebed-lock" else "."))
    assert await partial(store) == await keys(store) == []
    with pytest.raises(StoreUnavailableError):
        await store.put("a//b", b"new")
    await store.delete_partial("0" * 32)
    assert untouched(outside)


async def test_the_root_of_all_namespaces_may_be_a_link_and_nothing_below_it(tmp_path: Path, outside: Path) -> None:
    true, other = tmp_path / "disk", tmp_path / "other"
    true.mkdir()
    (tmp_path / "objects").symlink_to(true)
    stores = Stores(tmp_path / "objects", keep_root=True, durable=False)
    store = stores.open("local://t")
    await store.put("a", b"1")
    assert (true / "t" / "a").read_bytes() == b"1"
    # resolved once: another target counts from the next start on
    (tmp_path / "objects").unlink()
    (tmp_path / "objects").symlink_to(other)
    assert await store.get("a") == b"1"
    (true / "linked").symlink_to(outside)
    for uri in ("local://linked", "local://linked/sub"):
        with pytest.raises(InvalidNamespaceError, match=r"follows no links below objects\.local\.root: mount"):
            stores.open(uri)
    stores.close()
    assert untouched(outside)


# ---- swapped between check and use


def swap(directory: Path, outside: Path) -> None:
    """Put a link in the place of a directory."""
    directory.rename(directory.with_name("moved away"))
    directory.symlink_to(outside)


class Swapping(UnsyncedCalls):
    """The true calls; before the first of one name, the directory `w` becomes a link."""

    def __init__(self, name: str, root: Path, outside: Path) -> None:
        true = getattr(SystemCalls, name)
        self.swapped = False

        def call(*arguments: Any) -> Any:
            if b"/w/" in b"".join(one for one in arguments if isinstance(one, bytes)) and not self.swapped:
                self.swapped = True
                swap(root / "w", outside)
            return true(*arguments)

        setattr(self, name, call)


@pytest.mark.parametrize(
    ("call", "work"),
    [
        ("rename", lambda store: store.put("w/secret", b"new")),
        ("link", lambda store: store.put("w/new", b"new", if_absent=True)),
        ("open", lambda store: store.put("w/new", b"new", by_content=True)),
        ("open", lambda store: store.put_stream("w/new", cut(b"new", 1), fresh=True)),
        ("mkdir", lambda store: store.put("w/deep/new", b"new")),
        ("unlink", lambda store: store.delete(["w/secret"])),
        ("unlink", lambda store: store.delete_older(["w/secret"], 1e12)),
    ],
)
async def test_a_link_swapped_in_before_a_call(
    root: Path, outside: Path, opener: None, call: str, work: Callable[[LocalObjects], Coroutine[Any, Any, object]]
) -> None:
    with opened(root) as before:
        await before.put("w/secret", SECRET)
    calls = Swapping(call, root, outside)
    with opened(root, calls) as store:
        await work(store)
        assert calls.swapped
        assert await partial(store) == []
    assert untouched(outside)


@pytest.mark.parametrize("name", ["rename", "link", "unlink", "mkdir"])
def test_a_link_swapped_in_within_a_call(
    root: Path, outside: Path, opener: None, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The directory is open by then: the call happens in it, wherever it is now."""
    directory = root / "w"
    directory.mkdir()
    for file in ("source", "secret"):
        (directory / file).write_bytes(b"mine")
    true = getattr(os, name)

    def swapped(*arguments: Any, **more: Any) -> Any:
        monkeypatch.undo()
        swap(directory, outside)
        return true(*arguments, **more)

    monkeypatch.setattr(os, name, swapped)
    files = {"unlink": ["secret"], "mkdir": ["new"]}.get(name, ["source", "new"])
    getattr(SystemCalls, name)(*(os.fsencode(directory / file) for file in files))
    assert directory.is_symlink()
    assert untouched(outside)
    assert not (outside / "new").exists()
    assert (directory.with_name("moved away") / files[-1]).exists() is (name != "unlink")


@pytest.mark.slow
async def test_links_swapped_in_while_the_store_works(root: Path, outside: Path, opener: None) -> None:
    """A directory turns into a link and back as fast as it can, under every kind of call."""
    (root / "w").mkdir()
    (root / "link").symlink_to(outside)
    exchange = ctypes.CDLL(None).renameat2
    stop = threading.Event()
    swaps = 0

    def swapper() -> None:
        nonlocal swaps
        while not stop.is_set():
            assert exchange(_AT_FDCWD, os.fsencode(root / "w"), _AT_FDCWD, os.fsencode(root / "link"), _EXCHANGE) == 0
            swaps += 1

    async def one(store: LocalObjects, number: int) -> set[bytes]:
        seen = set()
        for turn in range(60):
            key = f"w/{number}-{turn}"
            await store.put(key, b"new", if_absent=turn % 2 == 0)
            await store.put_stream(f"{key}/deep/x", cut(b"new", 1))
            for name in ("w/secret", "w/sub/secret"):
                try:
                    seen.add(await store.get(name))
                    seen.add(str((await store.head(name)).size).encode())
                except BlobNotFound:
                    pass
            await store.delete(["w/secret", "w/sub/secret", key])
            assert not [blob.key async for blob in store.list("w/") if "secret" in blob.key]
        return seen

    async def main(store: LocalObjects) -> None:
        for seen in await asyncio.gather(*(one(store, number) for number in range(4))):
            assert seen == set()

    thread = threading.Thread(target=swapper)
    thread.start()
    try:
        with opened(root) as store:
            await main(store)
    finally:
        stop.set()
        thread.join()
    assert swaps > 20
    assert untouched(outside)


async def test_a_guarded_listing_says_what_it_refuses(store: LocalObjects, root: Path, outside: Path) -> None:
    for key in ("w/b", "w/mine", "w//odd"):
        await store.put(key, b"mine")
    for name in ("a", "c/d", "c/e"):
        (root / "w" / name).parent.mkdir(exist_ok=True)
        (root / "w" / name).symlink_to(outside)
    (root / ".lakebed-keys/w%s/%s/other%o").symlink_to(outside / "secret")
    os.link(outside / "secret", root / "w" / "own")
    os.link(outside / "sub/secret", root / "w" / "theirs")
    os.chown(outside / "sub/secret", 65534, 65534)
    found = [one async for one in store.list_guarded("w/")]
    assert [(one.key, one.reason, one.there) for one in found if isinstance(one, Refused)] == [
        ("w//other", LINK, False), ("w/a", LINK, False), ("w/c/d", LINK, False), ("w/c/e", LINK, False),
        ("w/theirs", SHARED, True),
    ]  # fmt: skip
    assert [one.key for one in found if isinstance(one, BlobStat)] == ["w//odd", "w/b", "w/mine", "w/own"]
    assert sorted(one.key for one in found) == [one.key for one in found]
    assert await keys(store) == ["w//odd", "w/b", "w/mine", "w/own", "w/theirs"]
    assert [one.key async for one in store.list_guarded("w/", "w/c/d")] == ["w/c/e", "w/mine", "w/own", "w/theirs"]
