"""A server whose named store has a key of its own, a role, and credentials that expire while it is used."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import lakebed
import pytest

from tests.support.processes.server import RunningServer, running_server
from tests.support.services.cloud_roles import ROLE, Recording, recording, running_roles
from tests.support.services.s3 import shared
from tests.support.services.s3_settings import CLASS, KEY, KMS, PAYER, SSE, client_of
from tests.support.waiting import wait_until

pytestmark = pytest.mark.slow

MIB = 1 << 20


def settings(s3: Recording, **more: str) -> dict[str, str]:
    return {
        "LAKEBED_STORES_EU_TYPE": "s3",
        "LAKEBED_STORES_EU_ENDPOINT": s3.server.endpoint,
        "LAKEBED_STORES_EU_ALLOW_HTTP": "true",
        "LAKEBED_STORES_EU_REGION": "us-east-1",
        "LAKEBED_STORES_EU_ACCESS_KEY_ID": s3.server.access_key_id,
        "LAKEBED_STORES_EU_SECRET_ACCESS_KEY": s3.server.secret_access_key,
        **more,
    }


class Lake(NamedTuple):
    server: RunningServer
    client: lakebed.Lake
    s3: Recording

    def rest(self, method: str, path: str, **more: Any) -> httpx.Response:
        auth = (self.server.access_key_id, self.server.secret_access_key)
        return httpx.request(method, f"{self.server.endpoint}/api/v1{path}", auth=auth, timeout=60, **more)


@pytest.fixture(scope="module")
def sealed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lake]:
    """A store with SSE-KMS, whose ETags are not MD5s, a storage class, and requester pays."""
    given = {
        "LAKEBED_STORES_EU_ENCRYPTION": "sse-kms",
        "LAKEBED_STORES_EU_KMS_KEY": KEY,
        "LAKEBED_STORES_EU_STORAGE_CLASS": "STANDARD_IA",
        "LAKEBED_STORES_EU_REQUESTER_PAYS": "true",
    }
    with (
        recording(shared("moto"), opaque=True) as s3,
        running_server(tmp_path_factory, environment=settings(s3, **given)) as server,
        client_of(server) as client,
    ):
        yield Lake(server, client, s3)


def test_the_sdk_writes_to_signed_addresses_with_their_headers(sealed: Lake, tmp_path: Path) -> None:
    repo = sealed.client.repository("signed").create(sealed.s3.server.namespace(), storage_id="eu")
    big = b"0123456789abcdef" * (1 << 20)
    (tmp_path / "big").write_bytes(big)
    sealed.s3.seen.clear()
    with repo.branch("main").workspace(data_path="presigned") as workspace:
        workspace.put("small", b"1")
        workspace.put("big", tmp_path / "big")
        workspace.commit("signed")
    assert repo.branch("main").get("small") == b"1"
    assert repo.branch("main").get("big") == big
    assert repo.branch("main").stat("small").checksum == "c4ca4238a0b923820dcc509a6f75849b"
    puts = [one for one in sealed.s3.seen if one.method == "PUT" and "X-Amz-Signature" in one.query]
    whole = [one for one in puts if "partNumber" not in one.query]
    assert whole
    for one in whole:
        assert (one.headers[SSE], one.headers[KMS], one.headers[CLASS]) == ("aws:kms", KEY, "STANDARD_IA")
    begun = [one for one in sealed.s3.seen if one.method == "POST" and "uploads" in one.query]
    for one in begun:
        assert (one.headers[SSE], one.headers[KMS], one.headers[CLASS]) == ("aws:kms", KEY, "STANDARD_IA")
    for one in sealed.s3.seen:
        assert one.headers.get(PAYER, one.query.get(PAYER)) == "requester", one


def test_the_server_writes_metadata_with_the_key(sealed: Lake) -> None:
    repo = sealed.client.repository("keyed").create(sealed.s3.server.namespace(), storage_id="eu")
    sealed.s3.seen.clear()
    repo.branch("main").put("a", b"1")
    repo.branch("main").commit("one")
    puts = [one for one in sealed.s3.seen if one.method == "PUT"]
    assert {one.headers.get(KMS) for one in puts} == {KEY}
    assert {one.headers.get(CLASS) for one in puts if "/_lakebed/" in one.path} == {None}
    assert {one.headers.get(CLASS) for one in puts if "/data/" in one.path} == {"STANDARD_IA"}
    assert repo.branch("main").stat("a").checksum == "c4ca4238a0b923820dcc509a6f75849b"


def test_other_clients_learn_the_headers(sealed: Lake) -> None:
    """`presigned_headers` is beyond the shared API, so the configuration directs its clients to the server."""
    repo = sealed.client.repository("shared").create(sealed.s3.server.namespace(), storage_id="eu")
    where = f"/repositories/{repo.id}/branches/main/staging/backing"
    given = sealed.rest("GET", where, params={"path": "a", "presign": "true"}).json()
    assert given["presigned_headers"] == {SSE: "aws:kms", KMS: KEY, CLASS: "STANDARD_IA"}
    assert httpx.put(given["presigned_url"], content=b"1", headers=given["presigned_headers"]).status_code == 200
    body = {
        "staging": {"physical_address": given["physical_address"]},
        "checksum": "c4ca4238a0b923820dcc509a6f75849b",
        "size_bytes": 1,
    }
    linked = sealed.rest("PUT", where, params={"path": "a"}, json=body)
    assert linked.status_code == 200, linked.text
    assert repo.branch("main").get("a") == b"1"
    config = sealed.rest("GET", "/config").json()["storage_config_list"]
    assert [one["pre_sign_support"] for one in config if one["blockstore_id"] == "eu"] == [False]


def test_a_server_renews_its_role_while_it_is_used(tmp_path: Path) -> None:
    with running_roles() as roles, recording(shared("moto"), roles) as s3:
        roles.lifetime, roles.external_id = 2.0, "of the partner"
        user = roles.new("user")
        roles.expiry[user["AccessKeyId"]] = time.time() + 3600
        given = settings(
            s3,
            LAKEBED_STORES_EU_ACCESS_KEY_ID=user["AccessKeyId"],
            LAKEBED_STORES_EU_SECRET_ACCESS_KEY=user["SecretAccessKey"],
            LAKEBED_STORES_EU_ROLE_ARN=ROLE,
            LAKEBED_STORES_EU_EXTERNAL_ID="of the partner",
            LAKEBED_STORES_EU_STS_ENDPOINT=roles.endpoint,
            LAKEBED_LOGGING_LEVEL="DEBUG",
        )
        with running_server(tmp_path / "data", environment=given) as server, client_of(server) as client:
            repo = client.repository("renewed").create(s3.server.namespace(), storage_id="eu")
            main, turns = repo.branch("main"), itertools.count(1)

            def times_of_the_role_when_used() -> int:
                turn = next(turns)
                main.put(f"{turn}", b"%d" % turn)
                assert main.get(f"{turn}") == b"%d" % turn
                main.commit(f"{turn}")
                return sum("STS" in key for key in roles.expiry)

            wait_until(lambda: times_of_the_role_when_used() >= 4, "the role is taken again", every=0.1)
            roles.broken = True
            refusal = wait_until(lambda: refusal_of(main), "the store refuses a write", every=0.1)
            assert "the store 'eu'" in refusal
            assert f"AssumeRole of the role {ROLE}: AssumeRole answered AccessDenied" in refusal
            assert client.repository("home").create("local://home").branch("main").put("a", b"1")
            roles.broken = False
            wait_until(lambda: not refusal_of(main), "the store takes writes again", every=0.1)
            assert main.get("written") == b"1"
            log = server.log
        assert "the store 'eu'" in log
        assert not [secret for secret in (*roles.secrets, user["SecretAccessKey"]) if secret in log]


def refusal_of(branch: lakebed.Branch) -> str:
    """The error of a write, as a text. Empty where the store takes it."""
    try:
        branch.put("written", b"1")
    except lakebed.errors.ServerUnavailableError as error:
        return str(error)
    return ""
