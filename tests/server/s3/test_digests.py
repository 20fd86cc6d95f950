"""Hashes of bodies: small ones where they are read, large ones in a thread, and none of them past a wrong byte."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import random
import threading
import zlib
from typing import Any

import pytest
from lakebed_server.s3.requests.body_hashing import BATCH, Digests

from tests.server.s3.gatewaying import Bucket, code
from tests.support.waiting import PATIENCE

X = "/lake/main/x"
SIZES = [0, 1, 1000, 65_536, 65_537, BATCH - 1, BATCH, BATCH + 1, 3 * BATCH + 70_000]


def crc32(data: bytes) -> str:
    return base64.b64encode(zlib.crc32(data).to_bytes(4, "big")).decode()


def md5(data: bytes) -> str:
    return base64.b64encode(hashlib.md5(data).digest()).decode()


def cut(data: bytes, size: int = 100_000) -> list[bytes]:
    return [data[at : at + size] for at in range(0, len(data), size)]


@pytest.mark.parametrize("size", SIZES)
def test_bodies_of_any_size_are_held_to_every_promise(bucket: Bucket, size: int) -> None:
    data = random.Random(size).randbytes(size)
    promised = {"x_amz_checksum_crc32": crc32(data), "content_md5": md5(data)}
    answer = bucket("PUT", X, data, pieces=cut(data), **promised)
    assert answer.status == 200, answer.body
    assert answer.headers["x-amz-checksum-crc32"] == crc32(data)
    assert bucket("GET", X).body == data


@pytest.mark.parametrize("size", [size for size in SIZES if size])
@pytest.mark.parametrize("where", [0.0, 0.5, 1.0])
def test_one_wrong_byte_anywhere_is_found_by_each_of_them(bucket: Bucket, size: int, where: float) -> None:
    data = random.Random(size).randbytes(size)
    at = int(where * (size - 1))
    wrong = data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]
    promises: list[tuple[dict[str, Any], str]] = [
        ({"payload": hashlib.sha256(data).hexdigest()}, "XAmzContentSHA256Mismatch"),
        ({"content_md5": md5(data)}, "BadDigest"),
        ({"x_amz_checksum_crc32": crc32(data)}, "BadDigest"),
    ]
    for promised, expected in promises:
        answer = bucket("PUT", X, wrong, pieces=cut(wrong), **promised)
        assert (answer.status, code(answer)) == (400, expected), promised
    assert bucket.paths() == []


class Recorder:
    """A hash that keeps what it is given, and in which thread; it waits where it is told to."""

    def __init__(self) -> None:
        self.data = b""
        self.threads: set[int] = set()
        self.gate = threading.Event()
        self.gate.set()

    def update(self, piece: bytes) -> None:
        assert self.gate.wait(PATIENCE)
        self.data += piece
        self.threads.add(threading.get_ident())


async def test_large_bodies_are_hashed_in_order_in_threads_and_small_ones_here() -> None:
    async def hashed(size: int) -> Recorder:
        recorder, data = Recorder(), random.Random(size).randbytes(size)
        digests = Digests([recorder.update])
        for piece in cut(data):
            await digests.take(piece)
        await digests.finish()
        assert recorder.data == data
        return recorder

    here = threading.get_ident()
    assert (await hashed(1000)).threads == {here}
    for size in (BATCH - 1, 5 * BATCH):
        assert here not in (await hashed(size)).threads


async def test_a_slow_thread_holds_the_sender_back() -> None:
    recorder = Recorder()
    recorder.gate.clear()
    digests = Digests([recorder.update])
    await digests.take(bytes(BATCH))  # at work
    await digests.take(bytes(BATCH - 1))  # waits, and there is room
    full = asyncio.ensure_future(digests.take(b"x"))
    done, _ = await asyncio.wait((full,), timeout=0.05)
    assert not done, "a third batch would be held"
    recorder.gate.set()
    await full
    await digests.finish()
    assert len(recorder.data) == 2 * BATCH
