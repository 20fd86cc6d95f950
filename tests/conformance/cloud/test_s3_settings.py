"""Encryption, storage class and requester pays: the headers that arrive at the store, for each kind of request."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator, Iterator
from typing import Any

import httpx
import pytest
from lakebed_engine.stores.objects.cloud.s3.presign import S3Signer
from lakebed_engine.stores.objects.cloud.store import CloudObjects
from lakebed_engine.stores.objects.presign import Part, ToRead, ToWrite
from lakebed_engine.vocabulary.errors import BlobExists

from tests.support.services.cloud_roles import Recording, Seen, recording
from tests.support.services.s3 import shared
from tests.support.services.s3_settings import CLASS, KEY, KMS, PAYER, SSE

pytestmark = pytest.mark.medium  # an S3 server in a thread

MIB = 1 << 20


@pytest.fixture
def s3() -> Iterator[Recording]:
    with recording(shared("moto")) as found:
        yield found


def store_of(s3: Recording, **options: Any) -> CloudObjects:
    return CloudObjects(s3.server.namespace(), s3.server.options(**options))


async def chunks(size: int) -> AsyncIterator[bytes]:
    for at in range(0, size, MIB):
        yield b"x" * min(MIB, size - at)


def headers(seen: list[Seen], *names: str) -> list[tuple[str | None, ...]]:
    return [tuple(one.headers.get(name) for name in names) for one in seen]


def writes(s3: Recording, name: str) -> list[Seen]:
    """The requests that begin an object: a PUT of it, or the start of an upload."""
    return [
        one
        for one in s3.seen
        if one.path.endswith(name)
        and (
            (one.method == "PUT" and "partNumber" not in one.query) or (one.method == "POST" and "uploads" in one.query)
        )
    ]


async def test_each_write_asks_for_encryption_with_the_key_of_the_store(s3: Recording) -> None:
    store = store_of(s3, encryption="aws:kms", kms_key=KEY)
    await store.put("data/1/small", b"1")
    await store.put("_lakebed/x", b"1", if_absent=True)
    with pytest.raises(BlobExists):
        await store.put("_lakebed/x", b"2", if_absent=True)
    put = await store.put_stream("data/1/big", chunks(20 * MIB))
    await store.copy("data/1/small", "data/1/copy")
    assert put.md5 == hashlib.md5(b"x" * (20 * MIB), usedforsecurity=False).hexdigest()
    for name, count in (("data/1/small", 1), ("_lakebed/x", 2), ("data/1/big", 1), ("data/1/copy", 1)):
        assert headers(writes(s3, name), SSE, KMS) == [("aws:kms", KEY)] * count, name
    assert [one.headers["if-none-match"] for one in writes(s3, "_lakebed/x")] == ["*", "*"]
    boto = s3.server.boto()
    for name in ("data/1/small", "_lakebed/x", "data/1/big", "data/1/copy"):
        found = boto.head_object(Bucket=s3.server.bucket, Key=store._place.name(name))
        assert (found["ServerSideEncryption"], found["SSEKMSKeyId"]) == ("aws:kms", KEY), name


async def test_sse_s3(s3: Recording) -> None:
    store = store_of(s3, encryption="AES256")
    await store.put("a", b"1")
    assert headers(writes(s3, "a"), SSE, KMS) == [("AES256", None)]
    assert (await store.head("a")).etag.strip('"') == hashlib.md5(b"1", usedforsecurity=False).hexdigest()


async def test_no_setting_no_header(s3: Recording) -> None:
    store = store_of(s3)
    await store.put("data/a", b"1")
    await store.put_stream("data/b", chunks(9 * MIB))
    assert not [one for one in s3.seen if {SSE, KMS, CLASS, PAYER} & one.headers.keys() or PAYER in one.query]


async def test_the_storage_class_is_for_content_only(s3: Recording) -> None:
    store = store_of(s3, storage_class="STANDARD_IA")
    await store.put("data/1/a", b"1")
    await store.put_stream("data/1/big", chunks(9 * MIB))
    await store.put("workspaces/1/b", b"1")
    await store.put("_lakebed/ranges/c", b"1")
    await store.put("_lakebed/d", b"1", if_absent=True)
    for name in ("data/1/a", "data/1/big", "workspaces/1/b"):
        assert headers(writes(s3, name), CLASS) == [("STANDARD_IA",)], name
    for name in ("ranges/c", "_lakebed/d"):
        assert headers(writes(s3, name), CLASS) == [(None,)], name
    assert isinstance(store.signer, S3Signer)
    assert await store.signer.storage_class("data/1/a") == "STANDARD_IA"


async def test_every_request_says_that_the_requester_pays(s3: Recording) -> None:
    store = store_of(s3, requester_pays=True)
    await store.put("data/a", b"1")
    await store.put("x", b"1", if_absent=True)
    await store.put_stream("data/b", chunks(9 * MIB))
    assert await store.get("data/a") == b"1"
    await store.head("data/a")
    await store.copy("data/a", "data/c")
    assert [blob.key async for blob in store.list("data/")] == ["data/a", "data/b", "data/c"]
    await multipart(store, "data/m")
    assert store.signer is not None
    (url,) = await store.signer.sign_reads([ToRead("data/a")], 60)
    assert httpx.get(url).content == b"1"
    await store.delete(["data/a", "data/b"])
    assert len(s3.seen) > 15
    for one in s3.seen:
        assert one.headers.get(PAYER, one.query.get(PAYER)) == "requester", one


async def multipart(store: CloudObjects, key: str, size: int = 6 * MIB) -> None:
    """An upload in two parts at signed addresses, as clients make them."""
    signer = store.signer
    assert signer is not None
    assert signer.parts is not None
    upload = await signer.parts.create(ToWrite(key))
    etags = []
    for request in await signer.parts.sign(key, upload, [1, 2], 60):
        answer = httpx.put(request.url, content=b"x" * size, headers=dict(request.headers))
        assert answer.status_code == 200, answer.text
        etags.append(answer.headers["etag"].strip('"'))
    await signer.parts.complete(key, upload, [Part(number, etag) for number, etag in enumerate(etags, 1)])


async def test_a_signed_put_carries_the_headers_that_the_client_must_send(s3: Recording) -> None:
    store = store_of(s3, encryption="aws:kms", kms_key=KEY, storage_class="STANDARD_IA", requester_pays=True)
    assert store.signer is not None
    (request,) = await store.signer.sign_writes([ToWrite("data/1/a", "text/csv", {"path.0": "a"})], 60)
    assert dict(request.headers) == {
        "If-None-Match": "*",
        "Content-Type": "text/csv",
        "x-amz-tagging": "path.0=a",
        SSE: "aws:kms",
        KMS: KEY,
        CLASS: "STANDARD_IA",
    }
    signed = set(httpx.URL(request.url).params["X-Amz-SignedHeaders"].split(";"))
    assert {SSE, KMS, CLASS, "if-none-match"} <= signed
    assert httpx.URL(request.url).params[PAYER] == "requester"
    assert httpx.put(request.url, content=b"1", headers=dict(request.headers)).status_code == 200
    (arrived,) = writes(s3, "data/1/a")
    assert (arrived.headers[SSE], arrived.headers[KMS], arrived.headers[CLASS]) == ("aws:kms", KEY, "STANDARD_IA")
    await multipart(store, "data/1/m")
    (begun,) = writes(s3, "data/1/m")
    assert (begun.headers[SSE], begun.headers[KMS], begun.headers[CLASS]) == ("aws:kms", KEY, "STANDARD_IA")


@pytest.mark.slow
async def test_a_store_that_checks_signatures_takes_what_we_sign() -> None:
    """SeaweedFS checks them, moto does not."""
    server = shared("seaweedfs")
    store = CloudObjects(server.namespace(), server.options(storage_class="STANDARD", requester_pays=True))
    await store.put("data/a", b"1")
    await store.put("b", b"1", if_absent=True)
    assert store.signer is not None
    (request,) = await store.signer.sign_writes([ToWrite("data/c")], 60)
    assert httpx.put(request.url, content=b"1").status_code == 403, "a signed header is missing"
    assert httpx.put(request.url, content=b"1", headers=dict(request.headers)).status_code == 200
    (url,) = await store.signer.sign_reads([ToRead("data/c")], 60)
    assert httpx.get(url).content == b"1"
    await multipart(store, "data/m")
    assert (await store.head("data/m")).size == 12 * MIB


async def test_etags_of_kms_are_not_treated_as_md5s() -> None:
    with recording(shared("moto"), opaque=True) as s3:
        store = store_of(s3, encryption="aws:kms")
        await store.put("data/a", b"1")
        tag = (await store.head("data/a")).etag
        assert tag.startswith("kms-")
        assert hashlib.md5(b"1", usedforsecurity=False).hexdigest() not in tag
        assert [blob.etag async for blob in store.list("data/")] == [tag]
