"""Credentials of a store that runs for long: where they come from, and that they are renewed while it is used."""

from __future__ import annotations

import asyncio
import logging
import re
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from lakebed_engine.stores.objects.cloud.store import CloudObjects
from lakebed_engine.stores.objects.presign import ToRead, ToWrite
from lakebed_engine.vocabulary.errors import StoreDeniedError

from tests.support.services.cloud_roles import ECS_TOKEN, ROLE, Recording, Roles, recording, running_roles
from tests.support.services.s3 import shared

pytestmark = pytest.mark.slow  # they wait for credentials to expire

MIB = 1 << 20
LIFETIME = 2.0
KEY = re.compile(r"Credential=([^/]+)/")


@pytest.fixture
def roles() -> Iterator[Roles]:
    with running_roles() as found:
        found.lifetime = LIFETIME
        yield found


@pytest.fixture
def s3(roles: Roles) -> Iterator[Recording]:
    with recording(shared("moto"), roles) as found:
        yield found


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No credentials of this machine, and no metadata service."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE", "AWS_ROLE_ARN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")


def by_role(roles: Roles, **more: Any) -> dict[str, Any]:
    """A role by the keys of a user, which are valid."""
    user = roles.new("user")
    roles.expiry[user["AccessKeyId"]] = time.time() + 3600
    return {
        "access_key_id": user["AccessKeyId"],
        "secret_access_key": user["SecretAccessKey"],
        "role_arn": ROLE,
        "sts_endpoint": roles.endpoint,
        **more,
    }


def by_token(roles: Roles, tmp_path: Path) -> dict[str, Any]:
    """A role by a token in a file."""
    roles.web_token = "token-1"
    (tmp_path / "token").write_text("token-1")
    file = str(tmp_path / "token")
    return {"role_arn": ROLE, "sts_endpoint": roles.endpoint, "web_identity_token_file": file}


def source(name: str, roles: Roles, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> dict[str, Any]:
    """Set up a source of credentials. Returns the options of the store."""
    if name == "AssumeRole":
        roles.external_id = "the external id"
        return by_role(roles, external_id="the external id")
    if name == "AssumeRoleWithWebIdentity":
        return by_token(roles, tmp_path)
    if name == "web identity of the environment":
        given = by_token(roles, tmp_path)
        monkeypatch.setenv("AWS_ROLE_ARN", ROLE)
        monkeypatch.setenv("AWS_WEB_IDENTITY_TOKEN_FILE", given["web_identity_token_file"])
        monkeypatch.setenv("AWS_ENDPOINT_URL_STS", roles.endpoint)
    elif name == "ecs":
        monkeypatch.setenv("AWS_CONTAINER_CREDENTIALS_FULL_URI", f"{roles.endpoint}/ecs")
        monkeypatch.setenv("AWS_CONTAINER_AUTHORIZATION_TOKEN", ECS_TOKEN)
    else:
        monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "false")
        monkeypatch.setenv("AWS_EC2_METADATA_SERVICE_ENDPOINT", f"{roles.endpoint}/")
        # botocore asks an instance for new credentials 2 to 10 minutes after it got some that end soon
        monkeypatch.setattr("botocore.utils.random.randint", lambda *_: 0)
    return {}


def store_of(s3: Recording, options: dict[str, Any], store_id: str = "eu") -> CloudObjects:
    given = {"access_key_id": "", "secret_access_key": "", "store_id": store_id, **options}
    return CloudObjects(s3.server.namespace(), s3.server.options(**given))


async def chunks(size: int) -> AsyncIterator[bytes]:
    for _ in range(size // MIB):
        yield b"x" * MIB


SOURCES = ["AssumeRole", "AssumeRoleWithWebIdentity", "web identity of the environment", "ecs", "imds"]


@pytest.mark.parametrize("name", SOURCES)
async def test_credentials_are_renewed_while_the_store_is_used(
    name: str, roles: Roles, s3: Recording, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    store = store_of(s3, source(name, roles, monkeypatch, tmp_path))
    assert store.signer is not None
    ends, turn, urls = time.monotonic() + 3 * LIFETIME, 0, set()
    while time.monotonic() < ends:
        turn += 1
        await store.put(f"data/{turn}", b"%d" % turn)
        assert await store.get(f"data/{turn}") == b"%d" % turn
        (url,) = await store.signer.sign_reads([ToRead(f"data/{turn}")], 60)
        urls.add(httpx.URL(url).params["X-Amz-Credential"].split("/")[0])
        assert httpx.get(url).content == b"%d" % turn
        if turn % 3 == 0:
            assert (await store.put_stream(f"data/big-{turn}", chunks(9 * MIB))).size == 9 * MIB
            assert await store.signer.parts.create(ToWrite(f"data/parts-{turn}"))  # type: ignore[union-attr]
        await asyncio.sleep(0.1)
    used = {found[1] for one in s3.seen if (found := KEY.search(one.headers.get("authorization", "")))}
    assert not [key for key in used if key.startswith("ASIAUSER")], "only the role is used"
    kind = {"imds": "IMDS", "ecs": "ECS"}.get(name, "STS")
    given = [key for key in roles.expiry if key.startswith(f"ASIA{kind}")]
    assert len(given) >= 3, "the credentials expired at least twice"
    assert len(urls) >= 3, "and addresses are signed with the new ones"
    assert sum(one.method == "PUT" for one in s3.seen) >= turn


async def test_all_namespaces_of_a_store_share_its_credentials(roles: Roles, s3: Recording) -> None:
    roles.lifetime = 3600
    options = by_role(roles)
    for store in [store_of(s3, options) for _ in range(5)]:
        await store.put("a", b"1")
        assert store.signer is not None
        await store.signer.sign_reads([ToRead("a")], 60)
    assert roles.asked.count("AssumeRole") == 1
    await store_of(s3, options, "us").put("a", b"1")
    assert roles.asked.count("AssumeRole") == 2


async def test_the_token_file_is_read_again(roles: Roles, s3: Recording, tmp_path: Path) -> None:
    store = store_of(s3, by_token(roles, tmp_path))
    await store.put("a", b"1")
    roles.web_token = "token-2"
    (tmp_path / "token").write_text("token-2")
    await asyncio.sleep(LIFETIME + 0.1)
    assert await store.get("a") == b"1"


@pytest.mark.parametrize("name", ["AssumeRole", "AssumeRoleWithWebIdentity", "ecs", "imds"])
async def test_a_failed_renewal_names_the_store_and_the_source_and_ends_by_itself(
    name: str,
    roles: Roles,
    s3: Recording,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO)
    if name == "imds":  # without the stretched life: it is renewed only when it is really due
        monkeypatch.setattr("botocore.utils.InstanceMetadataFetcher._evaluate_expiration", lambda *_: None)
    options = source(name, roles, monkeypatch, tmp_path)
    store = store_of(s3, options)
    await store.put("a", b"1")
    roles.broken = True
    await asyncio.sleep(LIFETIME + 0.2)
    signer = store.signer
    assert signer is not None
    messages = []
    for job in (store.get("a"), store.put("b", b"1"), signer.sign_reads([ToRead("a")], 60), first(store)):
        with pytest.raises(StoreDeniedError) as caught:
            await job
        messages.append(caught.value.message)
        assert caught.value.lasting
    where = {"AssumeRole": f"AssumeRole of the role {ROLE}", "ecs": "container", "imds": "iam-role"}
    for message in messages:
        assert "the store 'eu'" in message
        assert where.get(name, f"the token file {tmp_path}/token of the role {ROLE}") in message
    roles.broken = False
    await asyncio.sleep(2.2)  # a failure is kept for two seconds at most
    assert await store.get("a") == b"1"
    said = "\n".join(messages) + caplog.text
    assert not [secret for secret in roles.secrets if secret in said]
    assert "token-1" not in said


async def first(store: CloudObjects) -> object:
    return [blob async for blob in store.list("")]


async def test_a_wrong_external_id_is_one_clear_error(roles: Roles, s3: Recording) -> None:
    roles.external_id = "another"
    store = store_of(s3, by_role(roles, external_id="wrong"))
    with pytest.raises(StoreDeniedError, match="AssumeRole answered AccessDenied; correct the settings"):
        await store.put("a", b"1")
    with pytest.raises(StoreDeniedError):
        await store.put("a", b"1", if_absent=True)
    assert s3.seen == []


async def test_a_machine_without_any_source(s3: Recording) -> None:
    store = store_of(s3, {}, "")
    with pytest.raises(StoreDeniedError, match=r"the default store from the environment.*there are none: set them"):
        await store.get("a")
    store = store_of(s3, {"role_arn": ROLE})
    with pytest.raises(StoreDeniedError, match=r"AssumeRole of the role .*there are none"):
        await store.get("a")


async def test_given_keys_ignore_the_environment(roles: Roles, s3: Recording, monkeypatch: pytest.MonkeyPatch) -> None:
    """A session token of other keys would make each request invalid."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "OTHER")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "other")
    monkeypatch.setenv("AWS_SESSION_TOKEN", "other")
    keys = roles.new("user")
    given = {"access_key_id": keys["AccessKeyId"], "secret_access_key": keys["SecretAccessKey"]}
    store = store_of(s3, given)
    await store.put("a", b"1")
    assert [one.headers.get("x-amz-security-token") for one in s3.seen] == [None]
