"""Files of a table that become objects of a shared directory without a copy."""

from __future__ import annotations

import hashlib
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from lakebed._direct.directory import Directory
from lakebed._values.hashed_file import HashedFile, HashingFile


def finished(path: Path) -> HashedFile:
    return HashedFile(path, hashlib.md5(path.read_bytes()).hexdigest())


def test_file_is_moved_without_a_copy(tmp_path: Path) -> None:
    given = tmp_path / "given"
    given.write_bytes(b"content" * 1000)
    reported: list[int] = []
    folder = Directory(tmp_path / "prefix")
    written = folder.adopt("a/b.parquet", finished(given), reported.append)
    assert written is not None
    folder.publish([written])
    given.unlink()
    there = tmp_path / "prefix/a/b.parquet"
    assert there.read_bytes() == b"content" * 1000
    assert (written.checksum, written.size) == (hashlib.md5(there.read_bytes()).hexdigest(), 7000)
    assert reported == [7000]
    folder.close()


def test_file_on_another_file_system_is_copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def apart(*_: Any) -> None:
        raise OSError(18, "Invalid cross-device link")

    given = tmp_path / "given"
    given.write_bytes(b"x")
    folder = Directory(tmp_path / "prefix")
    monkeypatch.setattr(os, "link", apart)
    assert folder.adopt("a", finished(given), lambda _: None) is None
    folder.close()


def test_a_failure_leaves_nothing(tmp_path: Path) -> None:
    def broken(*_: Any) -> None:
        raise OSError(5, "Input/output error")

    given = tmp_path / "given"
    given.write_bytes(b"x")
    folder = Directory(tmp_path / "prefix")
    with pytest.raises(OSError, match="Input/output"):
        folder.adopt("a", finished(given), broken)
    assert not [path for path in (tmp_path / "prefix").rglob("*") if path.is_file()]
    assert os.stat(given).st_nlink == 1
    folder.close()


@pytest.mark.parametrize("sizes", [[], [1], [10, 1 << 20, 5], [1 << 16] * 40, [3 << 20, 0, 7]], ids=str)
def test_a_file_is_hashed_while_it_is_written(tmp_path: Path, sizes: list[int]) -> None:
    content = [os.urandom(size) for size in sizes]
    path = tmp_path / "file"
    with ThreadPoolExecutor(3) as pool:
        file = HashingFile(path, pool)
        for number, piece in enumerate(content):
            assert file.write(memoryview(piece) if number % 2 else piece) == len(piece)
        assert file.tell() == sum(sizes)
        checksum = file.finish()
    assert file.closed
    assert path.read_bytes() == b"".join(content)
    assert checksum == hashlib.md5(path.read_bytes()).hexdigest()


def test_a_slow_hash_holds_little_memory(tmp_path: Path) -> None:
    """A writer that is faster than the hash waits for it."""
    waiting: list[int] = []
    with ThreadPoolExecutor(1) as pool:
        file = HashingFile(tmp_path / "file", pool)
        for _ in range(60):
            file.write(bytes(1 << 20))
            waiting.append(len(file._jobs))
        assert file.finish() == hashlib.md5(bytes(60 << 20)).hexdigest()
    assert max(waiting) <= 16
