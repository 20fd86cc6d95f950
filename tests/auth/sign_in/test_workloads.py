"""Tokens of CI systems and clusters: exchanged for tokens of this server, and by STS for temporary S3 keys."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import boto3  # type: ignore[import-untyped]
import httpx
import jwt
import lakebed
import lakebed_testing
import pytest
from botocore.config import Config  # type: ignore[import-untyped]
from botocore.exceptions import ClientError  # type: ignore[import-untyped]
from lakebed_server.signin.workloads import read_rules
from lakebed_server.vocabulary import SettingError
from lakebed_testing import LakebedServer

from tests.auth.forged_tokens import Forge, signed_by_another_key, signed_with_the_public_key, unsigned
from tests.auth.provider import Claims, Provider, running_provider

AUDIENCE = "https://lake.example.com"
GRANT = "urn:ietf:params:oauth:grant-type:token-exchange"
JWT = "urn:ietf:params:oauth:token-type:jwt"


@pytest.fixture(scope="module")
def issuer() -> Iterator[Provider]:
    with running_provider() as provider:
        # as GitHub's: an issuer of tokens that signs no one in has no such endpoints
        provider.metadata = {"authorization_endpoint": None, "token_endpoint": None}
        yield provider


@pytest.fixture(scope="module")
def server(issuer: Provider) -> Iterator[LakebedServer]:
    rules = (
        f"{issuer.issuer} repository=acme/sales ref=refs/heads/main -> ci-main;"
        f"{issuer.issuer} repository=acme/* -> ci; {issuer.issuer} sub=none -> gone"
    )
    settings = {"auth.mode": "rbac", "auth.workloads.rules": rules, "auth.workloads.audience": AUDIENCE}
    with lakebed_testing.server(settings) as running, running.connect() as lake:
        for user in ("ci", "ci-main"):
            lake.users.create(user, service=True)
        lake.groups.add("Viewers", "ci")
        lake.groups.add("Developers", "ci-main")
        lake.repository("sales").create("mem://sales")
        lake.repository("sales").branch("main").put("a", b"x")
        yield running


def claims_of(issuer: Provider, **more: Any) -> Claims:
    now = int(time.time())
    return {
        "iss": issuer.issuer,
        "aud": AUDIENCE,
        "sub": "repo:acme/sales",
        "iat": now,
        "exp": now + 300,
        "repository": "acme/sales",
        "ref": "refs/heads/main",
        **more,
    }


def exchange(server: LakebedServer, token: str, **more: str) -> httpx.Response:
    form = {"grant_type": GRANT, "subject_token": token, "subject_token_type": JWT, **more}
    return httpx.post(f"{server.endpoint}/auth/token", data=form, timeout=30)


@pytest.mark.parametrize(
    ("ref", "repository", "user"),
    [("refs/heads/main", "acme/sales", "ci-main"), ("refs/heads/x", "acme/sales", "ci"), ("", "acme/b/c", "ci")],
)
def test_the_first_rule_that_fits_chooses_the_user(
    server: LakebedServer, issuer: Provider, ref: str, repository: str, user: str
) -> None:
    answer = exchange(server, issuer.signed(claims_of(issuer, ref=ref, repository=repository)))
    assert answer.status_code == 200, answer.text
    assert answer.headers["cache-control"] == "no-store"
    got = answer.json()
    assert (got["token_type"], got["expires_in"]) == ("Bearer", 3600)
    with lakebed.connect(server.endpoint, token=got["access_token"]) as lake:
        assert lake.user().id == user
        assert "workload" in {one.source for one in lake.users.sessions(user)}
        assert lake.repository("sales").branch("main").get("a") == b"x"


def test_a_token_may_end_with_a_newline(server: LakebedServer, issuer: Provider) -> None:
    """The token file ends with a newline when a shell has written it."""
    assert exchange(server, f"{issuer.signed(claims_of(issuer))}\n").status_code == 200


def test_the_token_does_not_outlast_its_hour(server: LakebedServer, issuer: Provider) -> None:
    token = exchange(server, issuer.signed(claims_of(issuer))).json()["access_token"]
    claims = jwt.decode(token, options={"verify_signature": False})
    assert claims["exp"] == claims["session_end"]
    renewed = httpx.post(f"{server.endpoint}/api/v1/auth/login/renew", headers={"authorization": f"Bearer {token}"})
    assert jwt.decode(renewed.json()["token"], options={"verify_signature": False})["exp"] == claims["session_end"]


def changed(**claims: Any) -> Forge:
    return lambda issuer, sent: issuer.signed({**sent, **claims})


@pytest.mark.parametrize(
    "forge",
    [
        unsigned,
        signed_with_the_public_key,
        signed_by_another_key,
        changed(aud="another"),
        changed(aud=[AUDIENCE, "another"]),
        changed(iss="https://another.example"),
        changed(exp=int(time.time()) - 3600),
        changed(repository="evil/acme/sales", ref="x"),
        changed(repository=["acme/sales"]),
        changed(repository=None, ref=None),
        changed(repository="none", sub="none"),
        lambda issuer, sent: "not a token",
        lambda issuer, sent: "x" * 20_000,
        lambda issuer, sent: "",
    ],
)
def test_other_tokens_are_refused(server: LakebedServer, issuer: Provider, forge: Forge) -> None:
    assert exchange(server, issuer.signed(claims_of(issuer))).status_code == 200  # more wrong ones are free then
    answer = exchange(server, forge(issuer, claims_of(issuer)))
    assert (answer.status_code, answer.json()["error"]) == (400, "invalid_request"), answer.text
    with pytest.raises(ClientError) as refused:
        assume(server, forge(issuer, claims_of(issuer)) or "none")
    assert refused.value.response["Error"]["Code"] in ("InvalidIdentityToken", "ValidationError")


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({"grant_type": "password"}, "unsupported_grant_type"),
        ({"subject_token_type": "urn:ietf:params:oauth:token-type:saml2"}, "invalid_request"),
        ({"actor_token": "x"}, "invalid_request"),
    ],
)
def test_other_forms_are_refused(server: LakebedServer, issuer: Provider, fields: dict[str, str], error: str) -> None:
    answer = exchange(server, issuer.signed(claims_of(issuer)), **fields)
    assert (answer.status_code, answer.json()["error"]) == (400, error)


def test_a_body_that_is_no_form_is_refused(server: LakebedServer) -> None:
    address = f"{server.endpoint}/auth/token"
    form = "application/x-www-form-urlencoded"
    twice = httpx.post(address, content="grant_type=a&grant_type=b", headers={"content-type": form})
    large = httpx.post(address, content=b"x" * 70_000, headers={"content-type": form})
    assert [one.status_code for one in (httpx.post(address, json={}), twice, large)] == [400] * 3
    assert httpx.get(address).status_code == 405


def test_a_disabled_user_gets_no_token(server: LakebedServer, issuer: Provider) -> None:
    token = issuer.signed(claims_of(issuer, ref="x"))
    with server.connect() as lake:
        lake.users.update("ci", disabled=True)
        try:
            assert exchange(server, token).status_code == 400
        finally:
            lake.users.update("ci", disabled=False)


def assume(server: LakebedServer, token: str, **more: Any) -> dict[str, str]:
    """Temporary keys, as boto3 gets them: without any key of its own."""
    sts = boto3.client(
        "sts",
        endpoint_url=server.endpoint,
        region_name="us-east-1",
        aws_access_key_id="unused",
        aws_secret_access_key="unused",
        config=Config(retries={"max_attempts": 1}),
    )
    role = {"RoleArn": "arn:aws:iam::123456789012:role/any", "RoleSessionName": "job"}
    keys: dict[str, str] = sts.assume_role_with_web_identity(WebIdentityToken=token, **role, **more)["Credentials"]
    return keys


def test_boto3_assumes_a_role_with_the_token(server: LakebedServer, issuer: Provider) -> None:
    keys = assume(server, issuer.signed(claims_of(issuer, ref="x")), DurationSeconds=900)
    s3 = boto3.client(
        "s3",
        endpoint_url=server.endpoint,
        region_name="us-east-1",
        aws_access_key_id=keys["AccessKeyId"],
        aws_secret_access_key=keys["SecretAccessKey"],
        aws_session_token=keys["SessionToken"],
        config=Config(s3={"addressing_style": "path"}, retries={"max_attempts": 1}),
    )
    assert s3.get_object(Bucket="sales", Key="main/a")["Body"].read() == b"x"
    with pytest.raises(ClientError, match="AccessDenied"):
        s3.put_object(Bucket="sales", Key="main/b", Body=b"x")


@pytest.mark.medium
def test_an_issuer_that_does_not_answer_is_reported() -> None:
    with running_provider() as gone:
        token = gone.signed(claims_of(gone))
    settings = {"auth.workloads.rules": f"{gone.issuer} sub=* -> admin", "auth.workloads.audience": AUDIENCE}
    with lakebed_testing.server({"auth.mode": "rbac", **settings}) as server:
        answer = exchange(server, token)
        assert (answer.status_code, answer.json()["error"]) == (503, "temporarily_unavailable")


@pytest.mark.parametrize(
    "rules",
    ["https://ci -> ci", "https://ci sub=x", "https://ci sub= -> ci", "https://ci sub=x ->", "-> ci", "x y -> z"],
)
def test_rules_that_are_not_complete_are_refused(rules: str) -> None:
    with pytest.raises(SettingError, match="is not a rule"):
        read_rules(rules)


@pytest.mark.medium
def test_wrong_tokens_of_an_address_are_slowed_down(issuer: Provider, monkeypatch: pytest.MonkeyPatch) -> None:
    # a minute to wait from the first wrong token on: a second would be over on a busy machine
    monkeypatch.setattr("lakebed_server.auth.guesses.FREE", -10)
    settings = {
        "auth.mode": "rbac",
        "auth.workloads.rules": f"{issuer.issuer} repository=acme/* -> admin",
        "auth.workloads.audience": AUDIENCE,
    }
    with lakebed_testing.server(settings) as server:
        assert exchange(server, "not a token").status_code == 400
        answer = exchange(server, issuer.signed(claims_of(issuer)))
        assert (answer.status_code, answer.json()["error"]) == (429, "temporarily_unavailable")
        assert int(answer.headers["retry-after"]) >= 1
        assert answer.json()["error_description"].startswith("too many wrong tokens for the exchange from this address")
        with pytest.raises(ClientError) as refused:
            assume(server, issuer.signed(claims_of(issuer)))
        assert refused.value.response["Error"]["Code"] == "Throttling"
