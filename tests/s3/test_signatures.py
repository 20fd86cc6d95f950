"""Signatures: V4 and V2 in headers and in addresses, virtual hosts, and refused requests."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any
from unittest import mock
from urllib.parse import urlsplit
from uuid import uuid4

import httpx
import pytest
from botocore import UNSIGNED  # type: ignore[import-untyped]
from botocore.exceptions import ClientError  # type: ignore[import-untyped]

from tests.s3.conftest import DOMAIN
from tests.s3.refusals import refused
from tests.s3.target import Target

KEY = "a folder/ü+1.txt"
VERSIONS = {"V4": "s3v4", "V2": "s3"}


def code_of(answer: httpx.Response) -> tuple[str, int]:
    """The code in an error's body."""
    return answer.text.partition("<Code>")[2].partition("</Code>")[0], answer.status_code


@pytest.mark.parametrize("version", VERSIONS)
def test_header(target: Target, version: str) -> None:
    s3 = target.boto(signature_version=VERSIONS[version])
    s3.put_object(Bucket=target.bucket, Key=target.key(KEY), Body=b"signed", Metadata={"a": "b  c"})
    assert s3.get_object(Bucket=target.bucket, Key=target.key(KEY))["Body"].read() == b"signed"
    assert s3.list_objects_v2(Bucket=target.bucket, Prefix=target.key("a folder/"))["KeyCount"] == 1


@pytest.mark.parametrize("version", VERSIONS)
def test_presigned_addresses(target: Target, version: str) -> None:
    s3 = target.boto(signature_version=VERSIONS[version])
    where = {"Bucket": target.bucket, "Key": target.key(KEY)}
    put = s3.generate_presigned_url("put_object", Params=where, ExpiresIn=60)
    assert httpx.put(put, content=b"by address").status_code == 200
    get = s3.generate_presigned_url("get_object", Params={**where, "ResponseContentType": "text/x-asked"}, ExpiresIn=60)
    answer = httpx.get(get)
    assert (answer.content, answer.headers["content-type"]) == (b"by address", "text/x-asked")
    assert httpx.get(get, headers={"Range": "bytes=0-1"}).content == b"by"
    assert code_of(httpx.get(get.replace("x-asked", "x-other"))) == ("SignatureDoesNotMatch", 403)
    assert code_of(httpx.get(get.replace("folder", "f0lder"))) == ("SignatureDoesNotMatch", 403)
    assert code_of(httpx.delete(get)) == ("SignatureDoesNotMatch", 403)
    assert s3.get_object(**where)["Body"].read() == b"by address"


@pytest.mark.parametrize("version", VERSIONS)
def test_a_presigned_address_expires(target: Target, version: str) -> None:
    s3 = target.boto(signature_version=VERSIONS[version])
    s3.put_object(Bucket=target.bucket, Key=target.key(KEY), Body=b"1")
    with an_hour_ago():
        url = s3.generate_presigned_url(
            "get_object", Params={"Bucket": target.bucket, "Key": target.key(KEY)}, ExpiresIn=60
        )
    assert code_of(httpx.get(url)) == ("AccessDenied", 403)


@pytest.mark.parametrize("version", VERSIONS)
def test_wrong_secrets_and_unknown_keys(target: Target, version: str) -> None:
    for changed, code in (
        ({"secret_access_key": target.secret_access_key + "X"}, "SignatureDoesNotMatch"),
        # another one each time: the server slows down repeated guesses at one key
        ({"access_key_id": f"AKIA{uuid4().hex[:16].upper()}"}, "InvalidAccessKeyId"),
    ):
        s3 = replace(target, **changed).boto(signature_version=VERSIONS[version])
        where = {"Bucket": target.bucket, "Key": target.key("refused")}
        assert refused(s3.put_object, **where, Body=b"1") == (code, 403)
        assert refused(s3.list_objects_v2, Bucket=target.bucket) == (code, 403)
        assert refused(s3.list_buckets) == (code, 403)
        assert refused(s3.head_object, **where) == ("403", 403)
    assert refused(target.boto().head_object, Bucket=target.bucket, Key=target.key("refused"))[1] == 404


@pytest.mark.parametrize("version", VERSIONS)
def test_a_clock_that_is_wrong(target: Target, version: str) -> None:
    s3 = target.boto(signature_version=VERSIONS[version])
    with an_hour_ago():
        assert refused(s3.list_objects_v2, Bucket=target.bucket) == ("RequestTimeTooSkewed", 403)
    assert s3.list_objects_v2(Bucket=target.bucket)["KeyCount"] == 0


def test_unsigned_request_is_refused(target: Target) -> None:
    """Without a signature the port is REST's; with the gateway's own host the answer is S3's."""
    s3 = target.boto(signature_version=UNSIGNED)
    with pytest.raises(ClientError) as caught:
        s3.get_object(Bucket=target.bucket, Key=target.key("a"))
    assert caught.value.response["ResponseMetadata"]["HTTPStatusCode"] in (401, 403, 404)
    answer = httpx.get(f"{target.endpoint}/{target.bucket}/{target.key('a')}", headers={"Host": DOMAIN})
    assert code_of(answer) == ("AccessDenied", 403)


@pytest.mark.parametrize("version", VERSIONS)
def test_the_bucket_in_the_host(target: Target, version: str) -> None:
    port = urlsplit(target.endpoint).port
    at_domain = replace(target, endpoint=f"http://{DOMAIN}:{port}")
    s3 = at_domain.boto(signature_version=VERSIONS[version], s3={"addressing_style": "virtual"})
    where = {"Bucket": target.bucket, "Key": target.key(KEY)}
    with every_name_is_here():
        s3.put_object(**where, Body=b"virtual")
        assert s3.list_objects_v2(Bucket=target.bucket, Prefix=target.key(""))["Contents"][0]["Key"] == where["Key"]
        url = s3.generate_presigned_url("get_object", Params=where)
        host = f"{target.bucket}.{DOMAIN}:{port}"
        assert urlsplit(url).netloc == host
        assert httpx.get(url).content == b"virtual"
    assert target.boto().get_object(**where)["Body"].read() == b"virtual"


def test_every_way_of_sending_a_body(target: Target) -> None:
    """Signed whole, unsigned, with trailing checksums; tools send the chunks that are signed one by one."""
    where = {"Bucket": target.bucket, "Key": target.key("sent")}
    ways: tuple[dict[str, Any], ...] = (
        {"s3": {"addressing_style": "path", "payload_signing_enabled": True}},
        {"s3": {"addressing_style": "path", "payload_signing_enabled": False}},
        {"request_checksum_calculation": "when_required"},
        {"request_checksum_calculation": "when_supported"},
    )
    for number, config in enumerate(ways):
        s3 = target.boto(**config)
        body = str(number).encode() * 100_000
        s3.put_object(**where, Body=body)
        assert s3.get_object(**where)["Body"].read() == body


@contextmanager
def every_name_is_here() -> Iterator[None]:
    """Names below the domain are this machine, as its DNS would say."""
    real = socket.getaddrinfo

    def look_up(host: Any, *more: Any, **named: Any) -> Any:
        name = host.decode() if isinstance(host, bytes) else host
        return real("127.0.0.1" if name and name.endswith(DOMAIN) else host, *more, **named)

    with mock.patch("socket.getaddrinfo", look_up):
        yield


@contextmanager
def an_hour_ago() -> Iterator[None]:
    """botocore's clocks, an hour late."""
    then = datetime.now(UTC) - timedelta(hours=1)
    with (
        mock.patch("botocore.auth.get_current_datetime", return_value=then.replace(tzinfo=None)),
        mock.patch("botocore.crt.auth.get_current_datetime", return_value=then),
        mock.patch("botocore.auth.time.time", then.timestamp),
        mock.patch("botocore.auth.formatdate", return_value=format_datetime(then, usegmt=True)),
    ):
        yield
