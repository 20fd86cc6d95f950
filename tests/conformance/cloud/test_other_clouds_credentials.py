"""Credentials of `gs://` and `az://`: service account, metadata server, client secret, workload and managed identity.

There is no emulator that checks tokens, so small fakes give them and refuse old ones. Account key and shared access
signature are checked by Azurite, a real server.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import parse_qs, urlsplit

import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from lakebed_engine.stores.objects.cloud.options import CloudOptions
from lakebed_engine.stores.objects.cloud.store import CloudObjects
from lakebed_engine.vocabulary.errors import StoreError

from tests.support.services.azurite import _KEY, ACCOUNT, CONTAINER, shared_azurite
from tests.support.services.cloud_roles import Answering, serving

pytestmark = pytest.mark.slow  # they wait for credentials to expire

LIFETIME = 2


class Cloud(NamedTuple):
    """Gives tokens and keeps objects. `asked`: the forms and paths by which tokens were asked for. `keys`: those of
    accounts that sign tokens themselves.
    """

    endpoint: str
    tokens: dict[str, float]
    objects: dict[str, bytes]
    asked: list[dict[str, str]]
    keys: list[rsa.RSAPublicKey]


def is_signed(token: str, key: rsa.RSAPublicKey) -> bool:
    try:
        claims: dict[str, str] = jwt.decode(token, key, algorithms=["RS256"], options={"verify_aud": False})
        return claims["iss"] == "lakebed@example.org"
    except jwt.InvalidTokenError:
        return False


@pytest.fixture
def cloud() -> Iterator[Cloud]:
    tokens: dict[str, float] = {}
    objects: dict[str, bytes] = {}
    asked: list[dict[str, str]] = []
    keys: list[rsa.RSAPublicKey] = []

    class Handler(Answering):
        def token(self, form: dict[str, str]) -> None:
            asked.append({"path": urlsplit(self.path).path, **form})
            token = f"token-{len(tokens)}"
            tokens[token] = time.time() + LIFETIME
            body = {
                "access_token": token,
                "expires_in": LIFETIME,
                "expires_on": str(int(tokens[token])),
                "token_type": "Bearer",
            }
            self.answer(200, json.dumps(body).encode(), {"Content-Type": "application/json"})

        def do_POST(self) -> None:
            form = {name: values[0] for name, values in parse_qs(self.body().decode()).items()}
            self.token(form)

        def may(self) -> bool:
            token = self.headers.get("Authorization", "").removeprefix("Bearer ")
            if tokens.get(token, 0) + 2 > time.time() or any(is_signed(token, key) for key in keys):
                return True
            self.answer(401, b"<Error><Code>InvalidAuthenticationInfo</Code></Error>")
            return False

        def do_GET(self) -> None:
            path = urlsplit(self.path).path
            if path.startswith(("/computeMetadata/", "/msi")):
                metadata = self.headers.get("Metadata-Flavor", "") + self.headers.get("Metadata", "")
                self.token({"metadata": metadata})
            elif self.may():
                if path in objects:
                    headers = {"Last-Modified": "Fri, 27 Nov 2026 10:00:00 GMT", "ETag": '"1"'}
                    self.answer(200, objects[path], headers)
                else:
                    self.answer(404, b"")

        def do_PUT(self) -> None:
            body = self.body()
            if self.may():
                objects[urlsplit(self.path).path] = body
                self.answer(200 if "/gs/" in self.path else 201, b"", {"ETag": '"1"'})

    with serving(Handler) as endpoint:
        yield Cloud(endpoint, tokens, objects, asked, keys)


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))


async def used_for_long(store: CloudObjects, cloud: Cloud) -> None:
    """Write and read for three lifetimes of a token."""
    ends, turn = time.monotonic() + 3 * LIFETIME, 0
    while time.monotonic() < ends:
        turn += 1
        await store.put(f"data-{turn}", b"%d" % turn)
        assert await store.get(f"data-{turn}") == b"%d" % turn
        await asyncio.sleep(0.1)
    assert len(cloud.tokens) >= 3
    assert len(cloud.objects) == turn


def gcs(cloud: Cloud, **more: Any) -> CloudObjects:
    return CloudObjects("gs://gs/lake", CloudOptions(endpoint=cloud.endpoint, allow_http=True, store_id="g", **more))


def azure(cloud: Cloud, **more: Any) -> CloudObjects:
    options = CloudOptions(endpoint=cloud.endpoint, allow_http=True, store_id="a", account="account", **more)
    return CloudObjects("az://container/lake", options)


async def test_a_service_account_of_google(cloud: Cloud, tmp_path: Path) -> None:
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    form, plain = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    account = {
        "type": "service_account",
        "client_email": "lakebed@example.org",
        "private_key_id": "1",
        "private_key": key.private_bytes(serialization.Encoding.PEM, form, plain).decode(),
        "gcs_base_url": cloud.endpoint,
        "token_uri": f"{cloud.endpoint}/token",
    }
    cloud.keys.append(key.public_key())
    (tmp_path / "account.json").write_text(json.dumps(account))
    store = gcs(cloud, service_account_file=str(tmp_path / "account.json"))
    await store.put("a", b"1")
    assert await store.get("a") == b"1"


async def test_the_metadata_server_of_google(cloud: Cloud, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on virtual machines, and with the workload identity of Kubernetes."""
    monkeypatch.setenv("GCE_METADATA_HOST", urlsplit(cloud.endpoint).netloc)
    monkeypatch.setenv("GCE_METADATA_ROOT", urlsplit(cloud.endpoint).netloc)
    await used_for_long(gcs(cloud), cloud)
    assert {one["metadata"] for one in cloud.asked} == {"Google"}


async def test_a_client_secret_of_azure(cloud: Cloud) -> None:
    store = azure(cloud, tenant_id="tenant", client_id="client", client_secret="hunter2", authority=cloud.endpoint)
    await used_for_long(store, cloud)
    first = cloud.asked[0]
    assert (first["path"], first["client_id"], first["client_secret"]) == (
        "/tenant/oauth2/v2.0/token",
        "client",
        "hunter2",
    )


async def test_a_workload_identity_of_azure(cloud: Cloud, tmp_path: Path) -> None:
    (tmp_path / "token").write_text("from kubernetes")
    given = {"tenant_id": "tenant", "client_id": "client", "federated_token_file": str(tmp_path / "token")}
    await used_for_long(azure(cloud, authority=cloud.endpoint, **given), cloud)
    assert {one["client_assertion"] for one in cloud.asked} == {"from kubernetes"}


async def test_a_managed_identity_of_azure(cloud: Cloud, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AZURE_MSI_ENDPOINT", f"{cloud.endpoint}/msi")
    await used_for_long(azure(cloud), cloud)
    assert {one["metadata"] for one in cloud.asked} == {"true"}


@pytest.mark.slow
async def test_an_account_key_of_azure() -> None:
    server = shared_azurite()
    options = CloudOptions(
        endpoint=f"{server.endpoint}/{ACCOUNT}", allow_http=True, store_id="a", account=ACCOUNT, account_key=_KEY
    )
    store = CloudObjects(server.namespace(), options)
    await store.put("a", b"1", if_absent=True)
    assert await store.get("a") == b"1"
    assert [blob.key async for blob in store.list("")] == ["a"]
    wrong = CloudOptions(
        endpoint=f"{server.endpoint}/{ACCOUNT}", allow_http=True, store_id="a", account=ACCOUNT, account_key="d3Jvbmc="
    )
    with pytest.raises(StoreError, match=r"of the store 'a': the store denied access \(403") as caught:
        await CloudObjects(f"az://{CONTAINER}/x", wrong).get("a")
    assert "d3Jvbmc=" not in str(caught.value)
