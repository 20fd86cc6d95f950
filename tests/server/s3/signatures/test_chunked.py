"""Bodies in chunks, checksums and trailers: Amazon's example, every split of a body, and false bodies."""

from __future__ import annotations

import base64
import hashlib
import hmac
import random
import zlib
from collections.abc import Sequence
from typing import Any

import pytest
from awscrt import checksums as crt
from lakebed_server.s3.requests.aws_chunked import ChunkDecoder
from lakebed_server.s3.vocabulary import S3Error

from tests.server.s3.amazon_keys import AMAZON_KEY
from tests.server.s3.gatewaying import HOST, Bucket, Headers, code
from tests.server.support import SECRET, Answer

SIGNED = "STREAMING-AWS4-HMAC-SHA256-PAYLOAD"
TRAILED = "STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER"
UNSIGNED_TRAILED = "STREAMING-UNSIGNED-PAYLOAD-TRAILER"
KEY = "/lake/main/x"


def crc32(data: bytes) -> str:
    return base64.b64encode(zlib.crc32(data).to_bytes(4, "big")).decode()


def test_amazons_examples(amazon: Bucket) -> None:
    data = b"a" * 66560
    for payload, seed, signatures, trailer in (
        (
            SIGNED,
            "4f232c4386841ef735655705268965c44a0e4690baa4adea153f7db9fa80a0a9",
            (
                "ad80c730a21e5b8d04586a2213dd63b9a0e99e0e2307b0ade35a65485a288648",
                "0055627c9e194cb4542bae2aa5492e3c1575bbb81b612b7d234b86a503ef5497",
                "b6c6ea8a5354eaf15b3cb7646744f4275b71ea724fed81ceb9323e279d449df9",
            ),
            "\r\n",
        ),
        (
            TRAILED,
            "106e2a8a18243abcf37539882f36619c00e2dfc72633413f02d3b74544bfeb8e",
            (
                "b474d8862b1487a5145d686f57f013e54db672cee1c953b3010fb58501ef5aa2",
                "1c1344b170168f8e65b41376b44b20fe354e373826ccbbe2c1d40a8cae51e5c7",
                "2ca2aba2005185cf7159c6277faf83795951dd77a3a99e6e65d5c9f85863f992",
            ),
            "x-amz-checksum-crc32c:sOO8/Q==\r\n"
            "x-amz-trailer-signature:d81f82fc3505edab99d459891051a732e8730629a2e4a59689829ca17fe2e435\r\n\r\n",
        ),
    ):
        body = b"".join(
            f"{len(chunk):x};chunk-signature={signature}\r\n".encode() + chunk + (b"\r\n" if chunk else b"")
            for chunk, signature in zip((data[:65536], data[65536:], b""), signatures, strict=True)
        )
        names = ["content-encoding", "host", "x-amz-content-sha256", "x-amz-date", "x-amz-decoded-content-length"]
        names += ["x-amz-storage-class", "x-amz-trailer"] if payload == TRAILED else ["x-amz-storage-class"]
        names += [] if payload == TRAILED else ["content-length"]
        headers = {
            "host": "s3.amazonaws.com",
            "x-amz-date": "20130524T000000Z",
            "x-amz-storage-class": "REDUCED_REDUNDANCY",
            "x-amz-content-sha256": payload,
            "content-encoding": "aws-chunked",
            "x-amz-decoded-content-length": "66560",
            "content-length": "66824",
            "authorization": f"AWS4-HMAC-SHA256 Credential={AMAZON_KEY}/20130524/us-east-1/s3/aws4_request,"
            f"SignedHeaders={';'.join(sorted(names))},Signature={seed}",
        }
        if payload == TRAILED:
            headers["x-amz-trailer"] = "x-amz-checksum-crc32c"
        whole = body + trailer.encode()
        answer = amazon.send("PUT", "/examplebucket/chunkObject.txt", headers, whole)
        assert answer.status == 200, answer.body
        assert answer.headers["etag"] == f'"{hashlib.md5(data).hexdigest()}"'
        broken = whole.replace(b"a\r\n", b"b\r\n", 1)
        assert code(amazon.send("PUT", "/examplebucket/other.txt", headers, broken)) == "SignatureDoesNotMatch"
    assert amazon.paths() == ["chunkObject.txt"]


class Chunks:
    """A body in chunks, signed as the request's signature demands; `change` breaks it before or after it is signed."""

    def __init__(self, bucket: Bucket, payload: str, chunks: Sequence[bytes], **headers: str) -> None:
        self.bucket = bucket
        self.payload = payload
        self.chunks = [*chunks, b""]
        self.data = b"".join(chunks)
        self.trailer = {"x-amz-checksum-crc32": crc32(self.data)} if payload.endswith("TRAILER") else {}
        sent = {
            "host": HOST,
            "content-encoding": "aws-chunked",
            "x-amz-decoded-content-length": str(len(self.data)),
            **({"x-amz-trailer": ",".join(self.trailer)} if self.trailer else {}),
            **{name.replace("_", "-"): value for name, value in headers.items()},
        }
        self.headers: Headers = bucket.sign("PUT", KEY, sent, payload)

    def body(self, *, sizes: Sequence[str] = (), end: bytes = b"\r\n") -> bytes:
        """The body; `sizes` are said in place of the true ones."""
        authorization = self.headers["Authorization"]
        previous = authorization.rpartition("Signature=")[2]
        date = self.headers["X-Amz-Date"]
        scope = f"{date[:8]}/us-east-1/s3/aws4_request"
        key = f"AWS4{SECRET}".encode()
        for part in scope.split("/"):
            key = hmac.digest(key, part.encode(), "sha256")
        signed = self.payload != UNSIGNED_TRAILED
        body = b""
        for number, chunk in enumerate(self.chunks):
            lines = ("AWS4-HMAC-SHA256-PAYLOAD", date, scope, previous, sha(b""), sha(chunk))
            previous = hmac.digest(key, "\n".join(lines).encode(), "sha256").hex()
            size = sizes[number] if number < len(sizes) else f"{len(chunk):x}"
            body += size.encode() + (f";chunk-signature={previous}".encode() if signed else b"") + b"\r\n"
            body += chunk + (b"\r\n" if chunk else b"")
        rows = "".join(f"{name}:{value}\n" for name, value in self.trailer.items())
        if signed and rows:
            lines2 = ("AWS4-HMAC-SHA256-TRAILER", date, scope, previous, sha(rows.encode()))
            signature = hmac.digest(key, "\n".join(lines2).encode(), "sha256").hex()
            rows += f"x-amz-trailer-signature:{signature}\n"
        return body + rows.replace("\n", "\r\n").encode() + end

    def put(self, body: bytes | None = None, *, pieces: Sequence[bytes] | None = None) -> Answer:
        return self.bucket.send("PUT", KEY, self.headers, self.body() if body is None else body, pieces=pieces)


def sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


@pytest.mark.parametrize("payload", [SIGNED, TRAILED, UNSIGNED_TRAILED])
@pytest.mark.parametrize("sizes", [(), (1,), (8192, 8192, 5), (100_000, 20_000)])
def test_chunks_of_all_sizes_in_all_pieces(bucket: Bucket, payload: str, sizes: tuple[int, ...]) -> None:
    dice = random.Random(str((payload, sizes)))
    sent = Chunks(bucket, payload, [dice.randbytes(size) for size in sizes])
    body = sent.body()
    for step in (1, 7, 1000, len(body)):
        if step == 1 and len(body) > 1000:
            continue
        answer = sent.put(pieces=[body[at : at + step] for at in range(0, len(body), step)])
        assert answer.status == 200, answer.body
        assert bucket("GET", KEY).body == sent.data
        if payload != SIGNED:
            assert answer.headers["x-amz-checksum-crc32"] == crc32(sent.data)
        assert "content-encoding" not in bucket("GET", KEY).headers
        bucket.run(bucket.engine.objects.delete("lake", "main", "x"))


def test_trailers_as_different_clients_write_them(bucket: Bucket) -> None:
    for payload in (TRAILED, UNSIGNED_TRAILED):
        sent = Chunks(bucket, payload, [b"some bytes"])
        body = sent.body()
        start = body.index(b"x-amz-checksum")
        for other in (
            body[:start] + b"\r\n" + body[start:],
            body.replace(b"\r\nx-amz-trailer-signature", b"\n\r\nx-amz-trailer-signature"),
            body.removesuffix(b"\r\n"),
            body.replace(b"x-amz-checksum-crc32:", b"X-Amz-Checksum-CRC32: "),
        ):
            assert sent.put(other).status == 200, other


def test_false_chunked_bodies_store_nothing(bucket: Bucket) -> None:
    chunks = [b"a" * 8192, b"b" * 8192, b"c" * 100]
    for payload in (SIGNED, TRAILED, UNSIGNED_TRAILED):
        sent = Chunks(bucket, payload, chunks)
        body = sent.body()
        lies: list[tuple[str, bytes]] = [
            ("IncompleteBody", sent.body(sizes=["2001"])),
            ("IncompleteBody", sent.body(sizes=["1fff"])),
            ("IncompleteBody", sent.body(sizes=["ffffffffffffffff"])),
            ("IncompleteBody", sent.body(sizes=["-1"])),
            ("IncompleteBody", sent.body(sizes=["zz"])),
            ("IncompleteBody", sent.body(sizes=[""])),
            ("IncompleteBody", sent.body(sizes=["2000" + " " * 10_000])),
            ("IncompleteBody", body[:5000]),
            ("IncompleteBody", body[:8300]),
            ("IncompleteBody", body[: body.index(b"ccc") + 100]),
            ("IncompleteBody", b""),
            ("IncompleteBody", b"\r\n"),
            ("MalformedTrailerError", body + b"x" * 20_000),
        ]
        if payload == SIGNED:
            lies.append(("SignatureDoesNotMatch", body.replace(b"bbb", b"bxb", 1)))
            lies.append(("SignatureDoesNotMatch", body.replace(b"a" * 8192, b"b" * 8192)))
        else:
            lies.append(("MalformedTrailerError", body.replace(b"x-amz-checksum-crc32:", b"x-amz-checksum-sha1:")))
            lies.append(("MalformedTrailerError", body.replace(b"x-amz-checksum-crc32:", b"x-amz-checksum-crc32 ")))
        for expected, lie in lies:
            answer = sent.put(lie)
            wanted = {expected} if payload == UNSIGNED_TRAILED else {expected, "SignatureDoesNotMatch"}
            assert code(answer) in wanted, (payload, expected, lie[:80], answer.body)
            assert 400 <= answer.status < 500
    assert bucket.paths() == []


def test_a_chunk_that_is_longer_than_it_says_loses_no_byte(bucket: Bucket) -> None:
    sent = Chunks(bucket, UNSIGNED_TRAILED, [b"123456789"], x_amz_decoded_content_length="8")
    sent.trailer["x-amz-checksum-crc32"] = crc32(b"12345678")
    assert code(sent.put(sent.body(sizes=["8"]))) == "IncompleteBody"


def test_the_signature_of_a_trailer_is_verified(bucket: Bucket) -> None:
    sent = Chunks(bucket, TRAILED, [b"some bytes"])
    body = sent.body()
    head, name, signature = body.partition(b"x-amz-trailer-signature:")
    for broken in (head + name + signature[1:2] + signature[1:], head + b"\r\n", head + name + b"\r\n\r\n"):
        assert broken != body
        assert code(sent.put(broken)) == "SignatureDoesNotMatch", broken
    assert bucket.paths() == []


class Endless:
    """A body that begins like one in chunks and then never says anything. Counts how often it is asked for more."""

    def __init__(self, start: bytes) -> None:
        self._start = start
        self.asked = 0

    async def next(self) -> bytes | None:
        self.asked += 1
        assert self.asked < 100, "a body without an end is read on and on"
        return self._start if self.asked == 1 else b"x" * 1000


@pytest.mark.parametrize("start", [b"", b"5", b"5;chunk-signature=", b"5\r\nabcde", b"5\r\nabcde\r\n0\r\n"])
async def test_an_endless_line_is_not_kept_in_memory(start: bytes) -> None:
    body: Any = Endless(start)

    async def read() -> None:
        async for _ in ChunkDecoder(body, 5, None).pieces():
            pass

    with pytest.raises(S3Error) as caught:
        await read()
    assert caught.value.code in ("IncompleteBody", "MalformedTrailerError")
    assert body.asked < 30


def test_a_chunk_without_its_signature_is_refused(bucket: Bucket) -> None:
    sent = Chunks(bucket, SIGNED, [b"some bytes"])
    head, _, rest = sent.body().partition(b";chunk-signature=")
    assert code(sent.put(head + rest[64:])) == "SignatureDoesNotMatch"
    assert bucket.paths() == []


def test_the_last_chunk_alone_may_be_small(bucket: Bucket) -> None:
    small = Chunks(bucket, SIGNED, [b"a" * 8191, b"b"])
    answer = small.put()
    assert (answer.status, code(answer)) == (403, "InvalidChunkSizeError")


def test_fewer_bytes_than_promised(bucket: Bucket) -> None:
    for length in ("9", "11", "0"):
        sent = Chunks(bucket, UNSIGNED_TRAILED, [b"some bytes"], x_amz_decoded_content_length=length)
        assert code(sent.put()) == "IncompleteBody", length
    for length in ("ten", "-1", "9" * 30):
        sent = Chunks(bucket, UNSIGNED_TRAILED, [b"some bytes"], x_amz_decoded_content_length=length)
        assert code(sent.put()) == "InvalidArgument", length
    assert bucket.paths() == []


def test_a_trailer_that_does_not_fit_its_bytes(bucket: Bucket) -> None:
    for payload, wrong, expected in (
        (UNSIGNED_TRAILED, crc32(b"other"), "BadDigest"),
        (TRAILED, crc32(b"other"), "BadDigest"),
        (UNSIGNED_TRAILED, "AAAA", "InvalidRequest"),
        (UNSIGNED_TRAILED, "", "InvalidRequest"),
    ):
        sent = Chunks(bucket, payload, [b"some bytes"])
        sent.trailer["x-amz-checksum-crc32"] = wrong
        assert code(sent.put()) == expected, (payload, wrong)
    missing = Chunks(bucket, UNSIGNED_TRAILED, [b"some bytes"])
    missing.trailer.clear()
    assert code(missing.put()) == "MalformedTrailerError"
    twice = Chunks(bucket, UNSIGNED_TRAILED, [b"some bytes"], x_amz_checksum_sha1="A" * 27 + "=")
    assert code(twice.put()) == "InvalidRequest"
    assert bucket.paths() == []


CHECKSUMS: dict[str, Any] = {
    "crc32": lambda data: zlib.crc32(data).to_bytes(4, "big"),
    "crc32c": lambda data: crt.crc32c(data).to_bytes(4, "big"),
    "crc64nvme": lambda data: crt.crc64nvme(data).to_bytes(8, "big"),
    "sha1": lambda data: hashlib.sha1(data).digest(),
    "sha256": lambda data: hashlib.sha256(data).digest(),
}
KNOWN = {"crc32": "y/Q5Jg==", "crc32c": "4waSgw==", "crc64nvme": "rosUhgp5mIg="}
"""Of `123456789`, as the catalogue of CRC algorithms has them (the check value of each)."""


@pytest.mark.parametrize("algorithm", list(CHECKSUMS))
def test_every_checksum_is_verified_and_returned(bucket: Bucket, algorithm: str) -> None:
    data = b"123456789"
    right = base64.b64encode(CHECKSUMS[algorithm](data)).decode()
    assert KNOWN.get(algorithm, right) == right
    name = f"x_amz_checksum_{algorithm}"
    answer = bucket("PUT", KEY, data, **{name: right}, x_amz_sdk_checksum_algorithm=algorithm.upper())
    assert answer.status == 200
    assert answer.headers[name.replace("_", "-")] == right
    for wrong in (base64.b64encode(CHECKSUMS[algorithm](b"other")).decode(), right[::-1], "", "!!!!", right[:-4]):
        answer = bucket("PUT", "/lake/main/wrong", data, **{name: wrong})
        assert code(answer) in ("BadDigest", "InvalidRequest")
        assert answer.status == 400
    assert bucket.paths() == ["x"]


def test_content_md5(bucket: Bucket) -> None:
    right = base64.b64encode(hashlib.md5(b"data").digest()).decode()
    assert bucket("PUT", KEY, b"data", content_md5=right).status == 200
    assert code(bucket("PUT", "/lake/main/y", b"atad", content_md5=right)) == "BadDigest"
    for bad in ("abc", "", "!" * 24, right[:-4]):
        assert code(bucket("PUT", "/lake/main/y", b"data", content_md5=bad)) == "InvalidDigest", bad
    assert bucket.paths() == ["x"]


def test_promises_that_cannot_be_kept(bucket: Bucket) -> None:
    for headers in (
        {"x_amz_sdk_checksum_algorithm": "CRC32"},
        {"x_amz_trailer": "x-amz-checksum-crc32"},
        {"x_amz_checksum_crc32": crc32(b"1"), "x_amz_checksum_sha1": "A" * 27 + "="},
    ):
        assert code(bucket("PUT", KEY, b"1", **headers)) == "InvalidRequest"
    assert code(bucket("PUT", KEY, b"1", content_encoding="aws-chunked")) == "MissingContentLength"
    assert bucket.paths() == []


def test_a_fuzzed_body_never_stores_other_bytes_than_were_signed(bucket: Bucket) -> None:
    dice = random.Random(11)
    for payload in (SIGNED, TRAILED):
        sent = Chunks(bucket, payload, [b"0123456789" * 900, b"tail"])
        body = sent.body()
        for _ in range(300):
            start, length = dice.randrange(len(body)), dice.choice((1, 1, 2, 60, 9000))
            other = dice.choice((b"", dice.randbytes(length), body[dice.randrange(len(body)) :][:length]))
            broken = body[:start] + other + body[start + length :]
            answer = sent.put(broken)
            assert answer.status == 200 or 400 <= answer.status < 500, answer.body
            if answer.status == 200:
                assert bucket("GET", KEY).body == sent.data
