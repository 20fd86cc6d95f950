"""Files of a table that become objects of a shared directory without a copy."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Any

import pytest
from lakebed._direct.directory import Directory


def test_a_file_is_taken_as_it_is(tmp_path: Path) -> None:
    given = tmp_path / "given"
    given.write_bytes(b"content" * 1000)
    told: list[int] = []
    folder = Directory(tmp_path / "prefix")
    written = folder.adopt("a/b.parquet", given, told.append)
    assert written is not None
    folder.publish([written])
    given.unlink()
    there = tmp_path / "prefix/a/b.parquet"
    assert there.read_bytes() == b"content" * 1000
    assert (written.checksum, written.size) == (hashlib.md5(there.read_bytes()).hexdigest(), 7000)
    assert told == [7000]
    folder.close()


def test_on_another_file_system_it_is_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def apart(*_: Any) -> None:
        raise OSError(18, "Invalid cross-device link")

    given = tmp_path / "given"
    given.write_bytes(b"x")
    folder = Directory(tmp_path / "prefix")
    monkeypatch.setattr(os, "link", apart)
    assert folder.adopt("a", given, lambda _: None) is None
    folder.close()


def test_unreadable_file_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any) -> None:
        raise OSError(5, "Input/output error")

    given = tmp_path / "given"
    given.write_bytes(b"x")
    folder = Directory(tmp_path / "prefix")
    monkeypatch.setattr(hashlib, "file_digest", broken)
    with pytest.raises(OSError, match="Input/output"):
        folder.adopt("a", given, lambda _: None)
    assert not [path for path in (tmp_path / "prefix").rglob("*") if path.is_file()]
    assert os.stat(given).st_nlink == 1
    folder.close()
