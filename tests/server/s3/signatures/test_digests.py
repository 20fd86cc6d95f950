"""Hashes of bodies: one wrong byte anywhere is found by each of them, and nothing of the body is kept."""

from __future__ import annotations

import base64
import hashlib
import random
import zlib
from typing import Any

import pytest

from tests.server.s3.gatewaying import Bucket, code

X = "/lake/main/x"
SIZES = [0, 1, 1000, 65_536, 65_537, (1 << 20) + 1, (3 << 20) + 70_000]


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
def test_each_digest_detects_a_single_wrong_byte(bucket: Bucket, size: int, where: float) -> None:
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
