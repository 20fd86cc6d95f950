"""Objects as files: plain classes, tested without a network."""

from __future__ import annotations

import datetime as dt
import gc
import io
import zipfile
from functools import partial
from pathlib import Path
from typing import IO, Any

import pytest
from lakebed import _files, errors
from lakebed.model import ObjectInfo

NOW = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
DATA = b"".join(b"line %06d\n" % n for n in range(200_000))


class Reads:
    """An object whose reads are counted."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.asked: list[tuple[int, int]] = []

    def __call__(self, start: int, length: int, checksum: str) -> bytes:
        assert checksum == "sum"
        self.asked.append((start, length))
        return self.data[start : start + length]

    def raw(self) -> _files.RangeRaw:
        return _files.RangeRaw("name", len(self.data), "sum", self)

    def open(self, mode: str = "rb", newline: str | None = None) -> IO[Any]:
        info = ObjectInfo("name", len(self.data), "sum", NOW)
        return _files.open_reader(mode, lambda: info, self, "utf-8", newline)


def test_reading_is_like_a_local_file(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(DATA)
    reads = Reads(DATA)
    with reads.open() as ours, path.open("rb") as theirs:
        for offset, whence, size in [
            (0, 0, 10),
            (5, 1, 100),
            (-10, 2, 50),
            (1_500_000, 0, 700_000),
            (9**9, 0, 5),
            (3, 0, -1),
        ]:
            assert ours.seek(offset, whence) == theirs.seek(offset, whence)
            assert ours.read(size) == theirs.read(size)
            assert ours.tell() == theirs.tell()
        assert ours.readable()
        assert ours.seekable()
        assert not ours.writable()
        with pytest.raises(ValueError, match="negative"):
            ours.seek(-1)
    with pytest.raises(ValueError, match="closed"):
        ours.read(1)
    with reads.open("r") as text:
        assert text.readline() == "line 000000\n"
        assert sum(1 for _ in text) == 199_999


def test_reader_makes_few_requests() -> None:
    reads = Reads(DATA)
    with reads.open() as file:
        assert sum(1 for _ in file) == 200_000
    assert len(reads.asked) <= len(DATA) // _files.BUFFER + 2
    reads = Reads(DATA)
    with reads.open() as file:
        assert file.read() == DATA
    assert len(reads.asked) == 1
    assert Reads(b"").open().read() == b""


class Store:
    def __init__(self) -> None:
        self.kept: list[bytes] = []

    def __call__(self, file: IO[bytes]) -> ObjectInfo:
        self.kept.append(file.read())
        return ObjectInfo("p", 1, "sum", NOW)


def writer(store: Any, mode: str = "wb", taken: bool = False) -> IO[Any]:
    refuse = partial(errors.ObjectExistsError, "taken")
    return _files.open_writer(mode, "p", store, lambda: taken, refuse, "utf-8", None)


def test_writing_is_stored_when_closed_cleanly() -> None:
    store = Store()
    with writer(store) as file:
        file.write(b"a")
        file.write(memoryview(b"bc"))
        assert file.tell() == 3
        assert store.kept == []
    file.close()
    assert store.kept == [b"abc"]
    with writer(store, "w") as file:
        file.write("é\n")
    assert store.kept[-1] == "é\n".encode()
    text = writer(store, "w")
    text.write("x")
    text.close()
    assert store.kept[-1] == b"x"
    with pytest.raises(ValueError, match="closed"):
        text.write("y")
    with writer(store) as file, zipfile.ZipFile(file, "w") as archive:
        archive.writestr("inside", "x")
    assert zipfile.ZipFile(io.BytesIO(store.kept[-1])).read("inside") == b"x"


@pytest.mark.parametrize("mode", ["wb", "w"])
def test_half_a_file_is_never_stored(mode: str) -> None:
    store = Store()
    with pytest.raises(RuntimeError), writer(store, mode) as file:
        file.write(b"half" if mode == "wb" else "half")
        raise RuntimeError
    forgotten = writer(store, mode)
    forgotten.write(b"half" if mode == "wb" else "half")
    del forgotten
    gc.collect()
    assert store.kept == []


def test_a_store_that_fails_leaves_a_closed_file() -> None:
    def failing(file: IO[bytes]) -> ObjectInfo:
        raise errors.ServerUnavailableError("down")

    file = writer(failing)
    with pytest.raises(errors.ServerUnavailableError):
        file.close()
    assert file.closed
    file.close()
    with pytest.raises(errors.ObjectExistsError):
        writer(Store(), "xb", taken=True)


def test_modes() -> None:
    assert _files.check_mode("rt", writable=False) == "r"
    assert _files.check_mode("xb", writable=True) == "xb"
    for mode, writable in [("w", False), ("a", True), ("r+", True), ("", True), ("rw", True)]:
        with pytest.raises(errors.InvalidRequestError):
            _files.check_mode(mode, writable=writable)
