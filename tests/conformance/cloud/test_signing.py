"""The signer of `s3://`, without a store: endpoints of presigned URLs, keys, names and tags."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from lakebed_engine.operations.direct_writes.presign import suffix_of
from lakebed_engine.stores.objects.cloud.options import CloudOptions
from lakebed_engine.stores.objects.cloud.store import CloudObjects
from lakebed_engine.stores.objects.presign import SignedRequest, ToRead, ToWrite
from lakebed_engine.vocabulary.errors import StoreUnavailableError
from lakebed_format.tags import path_tags

from tests.server.support import run

KEYS = {"access_key_id": "AKID", "secret_access_key": "secret"}


@pytest.fixture(autouse=True)
def no_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of this machine's own setting counts."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_REGION", "AWS_DEFAULT_REGION", "AWS_ENDPOINT_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_PROFILE", "of-another-tool")


def read_url(**options: Any) -> str:
    store = CloudObjects("s3://bucket/lake", CloudOptions(**options))
    assert store.signer is not None
    try:
        (url,) = run(_reads(store, ToRead("a b/\u00fc", "text/csv")))
        return url
    finally:
        store.close()


async def _reads(store: CloudObjects, target: ToRead) -> list[str]:
    assert store.signer is not None
    return list(await store.signer.sign_reads([target], 600))


@pytest.mark.parametrize(
    ("options", "beginning"),
    [
        ({"region": "eu-west-1"}, "https://s3.eu-west-1.amazonaws.com/bucket/lake/a%20b/%C3%BC?"),
        ({"endpoint": "http://minio:9000/"}, "http://minio:9000/bucket/lake/a%20b/%C3%BC?"),
        (
            {"region": "eu-west-1", "virtual_hosted": True},
            "https://bucket.s3.eu-west-1.amazonaws.com/lake/a%20b/%C3%BC?",
        ),
        # obstore wants the bucket in the endpoint then
        ({"endpoint": "https://bucket.s3.test", "virtual_hosted": True}, "https://bucket.s3.test/lake/a%20b/%C3%BC?"),
    ],
)
def test_addresses_lead_where_obstore_goes(options: dict[str, object], beginning: str) -> None:
    url = read_url(**KEYS, **options)
    assert url.startswith(beginning)
    assert "response-content-type=text%2Fcsv" in url
    assert "X-Amz-Expires=600" in url
    assert "X-Amz-Credential=AKID%2F" in url


def test_keys_are_found_as_obstore_finds_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "credentials"
    file.write_text("[lake]\naws_access_key_id = OFLAKE\naws_secret_access_key = s\naws_session_token = t/o\n")
    url = read_url(profile="lake", credentials_file=str(file))
    assert "Credential=OFLAKE%2F" in url
    assert "X-Amz-Security-Token=t%2Fo" in url
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(file))
    with pytest.raises(StoreUnavailableError, match="no credentials of the default store"):
        read_url()  # a file counts only where a profile is asked for
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "OFENV")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "s")
    monkeypatch.setenv("AWS_REGION", "eu-north-1")
    assert "Credential=OFENV%2F" in read_url()
    assert "%2Feu-north-1%2Fs3" in read_url()


async def test_signed_write_covers_content_type_and_metadata() -> None:
    async def go() -> SignedRequest:
        store = CloudObjects("s3://bucket/lake", CloudOptions(access_key_id="AKID", secret_access_key="secret"))
        assert store.signer is not None
        (signed,) = await store.signer.sign_writes([ToWrite("k", "text/csv", {"path.0": "a b&c"})], 60)
        store.close()
        return signed

    signed = await go()
    expected = {"If-None-Match": "*", "Content-Type": "text/csv", "x-amz-tagging": "path.0=a%20b%26c"}
    assert signed.headers == expected
    assert "X-Amz-SignedHeaders=content-type%3Bhost%3Bif-none-match%3Bx-amz-tagging" in signed.url
    assert "Signature" not in repr(signed)


@pytest.mark.parametrize(
    ("path", "anywhere", "on_azure"),
    [
        ("orders/day=1/a.csv", "orders/day=1/a.csv", "orders/day=1/a.csv"),
        ("a b/\u00fc.csv", "a b/\u00fc.csv", "a_b/_.csv"),
        ("/a//b/./../c/", "a/b/c", "a/b/c"),
        ("tab\tx\\y", "tab_x_y", "tab_x_y"),
        ("..", "object", "object"),
        (".lakebed-keys/x", "object", "object"),
        ("x" * 1000, "object", "object"),
        ("d/" * 500 + "end", "d/" * 198 + "end", "d/" * 198 + "end"),
    ],
)
def test_a_path_can_be_read_in_its_key(path: str, anywhere: str, on_azure: str) -> None:
    assert suffix_of(path, True) == anywhere
    assert suffix_of(path, False) == on_azure


def test_tags_of_a_path() -> None:
    assert path_tags("/orders/\u00fc 1/a+b=c.csv") == {"path.0": "orders", "path.1": "\u00fc 1", "path.2": "a+b=c.csv"}
    assert path_tags("a//[b]/" + "x" * 257 + "/" + "x" * 256) == {"path.0": "a", "path.4": "x" * 256}
    assert list(path_tags("/".join("abcdefghijklm"))) == [f"path.{number}" for number in range(10)]
