"""Temporary files of layers: bounded together, and gone with their server."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any, cast

import pytest
from lakebed_server.http.body import RequestBody
from lakebed_server.http.spool import Spool
from lakebed_server.vocabulary import RequestError


class Pieces:
    """A body that is there already. `length`: what its Content-Length says."""

    def __init__(self, pieces: Sequence[bytes], length: int | None = None) -> None:
        self._pieces = pieces
        self.length = length
        self.received = 0

    async def pieces(self) -> AsyncIterator[bytes]:
        for piece in self._pieces:
            self.received += len(piece)
            yield piece


def body(*pieces: bytes, length: int | None = None) -> RequestBody:
    return cast(RequestBody, Pieces(pieces, length))


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


async def test_the_file_has_the_body_and_leaves_nothing(folder: Path) -> None:
    spool = Spool(10)
    async with spool.spooled(body(b"abc", b"def")) as path:
        assert Path(path).read_bytes() == b"abcdef"
        assert Path(path).read_bytes() == b"abcdef"  # each opening begins at the start
        assert spool.used == 6
        assert list(folder.iterdir()) == []  # it has no name: a killed server leaves nothing
    assert spool.used == 0
    assert not os.path.exists(path)


@pytest.mark.parametrize("length", [None, 6])
async def test_all_files_together_have_a_quota(length: int | None) -> None:
    spool = Spool(10)
    async with contextlib.AsyncExitStack() as stack:
        await stack.enter_async_context(spool.spooled(body(b"abc", b"def", length=length)))
        with pytest.raises(RequestError, match=r"limits\.temporary_disk") as refused:
            await stack.enter_async_context(spool.spooled(body(b"ghi", b"jkl", length=length)))
        assert refused.value.kind == "overloaded"
        assert spool.used == 6
        await stack.enter_async_context(spool.spooled(body(b"ghij", length=4 if length else None)))
    assert spool.used == 0


async def test_a_body_that_breaks_off_gives_its_room_back() -> None:
    class Broken(Pieces):
        async def pieces(self) -> AsyncIterator[bytes]:
            self.received = 3
            yield b"abc"
            raise ConnectionResetError

    spool = Spool(10)
    with pytest.raises(ConnectionResetError):
        async with spool.spooled(cast(Any, Broken([], length=9))):
            raise AssertionError("it is not whole")
    assert spool.used == 0


async def test_a_body_longer_than_the_largest_layer_is_refused() -> None:
    spool = Spool(100)
    for given in (body(b"abcdef"), body(b"", length=6)):
        with pytest.raises(RequestError) as refused:
            async with spool.spooled(given, limit=5):
                raise AssertionError("it is too long")
        assert refused.value.kind == "request_too_large"
    assert spool.used == 0
