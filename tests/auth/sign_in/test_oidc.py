"""Sign-in with OpenID Connect: the whole flow with a browser's steps, and forged, stale and replayed answers."""

from __future__ import annotations

import base64
import hashlib
import secrets
import time
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

from tests.auth.forged_tokens import Forge, signed_by_another_key, signed_with_the_public_key, unsigned
from tests.auth.provider import CLIENT, CLIENT_SECRET, Provider, running_provider
from tests.support.processes.server import RunningServer, running_server
from tests.support.waiting import wait_until

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def shared_provider() -> Iterator[Provider]:
    with running_provider() as provider:
        yield provider


@pytest.fixture
def provider(shared_provider: Provider) -> Iterator[Provider]:
    """The provider, honest at the start of each test."""
    kept = dict(vars(shared_provider))
    shared_provider.claims = {"sub": secrets.token_hex(4), "name": "Ana"}
    shared_provider.token_of = shared_provider.signed
    yield shared_provider
    vars(shared_provider).update(kept)


@pytest.fixture(scope="module")
def server(shared_provider: Provider, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    environment = {
        "LAKEBED_AUTH_OIDC_ISSUER": shared_provider.issuer,
        "LAKEBED_AUTH_OIDC_CLIENT_ID": CLIENT,
        "LAKEBED_AUTH_OIDC_CLIENT_SECRET": CLIENT_SECRET,
        "LAKEBED_AUTH_OIDC_GROUPS_CLAIM": "roles",
        "LAKEBED_AUTH_OIDC_GROUPS_MAP": "data-readers=Viewers,data-admins=Admins",
        "LAKEBED_AUTH_OIDC_GROUPS_SYNC": "always",
        "LAKEBED_AUTH_OIDC_REQUIRED_CLAIMS": "",
    }
    with running_server(tmp_path_factory, environment=environment) as running:
        yield running


@pytest.fixture
def browser(server: RunningServer) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=server.endpoint, follow_redirects=False, timeout=30) as client:
        yield client


def go_to_provider(browser: httpx.Client, target: str = "/oidc/login") -> str:
    """Begin the sign-in, and let the provider send the browser back. Returns the address of the callback."""
    begun = browser.get(target)
    assert begun.status_code == 302, begun.text
    sent_back = httpx.get(begun.headers["location"], follow_redirects=False)
    return str(sent_back.headers["location"])


def who(browser: httpx.Client) -> dict[str, Any]:
    answer = browser.get("/api/v1/user")
    assert answer.status_code == 200, answer.text
    return dict(answer.json()["user"])


def test_a_person_signs_in_and_reads(browser: httpx.Client, provider: Provider) -> None:
    provider.claims |= {"email": "eva@example.com", "email_verified": True, "roles": ["data-readers", "other"]}
    signed_in = browser.get(go_to_provider(browser, "/oidc/login?next=/repositories"))
    assert signed_in.status_code == 200
    assert 'content="0;url=/repositories"' in signed_in.text
    assert who(browser)["id"] == "eva@example.com"
    assert browser.get("/api/v1/repositories").status_code == 200
    refused = browser.post("/api/v1/repositories", json={"name": "new", "storage_namespace": "local://new"})
    assert "needs fs:CreateRepository on repository/new" in refused.text


def test_the_cookie_is_out_of_reach_of_pages(browser: httpx.Client, provider: Provider) -> None:
    cookie = browser.get(go_to_provider(browser)).headers.get_list("set-cookie")
    (session,) = [one for one in cookie if one.startswith("internal_auth_session=")]
    assert {"HttpOnly", "SameSite=strict", "Path=/"} <= {part.strip() for part in session.split(";")}


def test_user_info_has_what_the_token_lacks(browser: httpx.Client, provider: Provider) -> None:
    provider.user_info = {
        "email": "lea@example.com",
        "email_verified": True,
        "roles": ["data-readers"],
        "name": "Other",
    }
    browser.get(go_to_provider(browser))
    assert (who(browser)["id"], who(browser)["friendly_name"]) == ("lea@example.com", "Ana")
    assert browser.get("/api/v1/repositories").status_code == 200


def test_user_info_is_not_read_when_the_token_has_all(browser: httpx.Client, provider: Provider) -> None:
    provider.claims |= {"email": "", "roles": []}
    provider.user_info = {"sub": "not read"}
    assert browser.get(go_to_provider(browser)).status_code == 200


def test_user_info_of_another_person_is_refused(browser: httpx.Client, provider: Provider) -> None:
    provider.user_info = {"sub": "admin", "email": "admin@example.com", "email_verified": True}
    assert browser.get(go_to_provider(browser)).status_code == 401
    assert browser.get("/api/v1/user").status_code == 401


def test_an_unverified_address_is_no_identity(browser: httpx.Client, provider: Provider) -> None:
    provider.claims |= {"email": "admin@example.com", "email_verified": False}
    browser.get(go_to_provider(browser))
    assert who(browser)["id"] == provider.claims["sub"]


def test_a_user_who_came_another_way_is_not_taken_over(browser: httpx.Client, provider: Provider) -> None:
    provider.claims |= {"sub": "admin"}
    refused = browser.get(go_to_provider(browser))
    assert (refused.status_code, "without this identity" in refused.text) == (409, True)
    assert browser.get("/api/v1/user").status_code == 401


def test_groups_follow_the_provider(browser: httpx.Client, provider: Provider) -> None:
    provider.claims |= {"roles": ["data-readers"]}
    browser.get(go_to_provider(browser))
    assert browser.get("/api/v1/repositories").status_code == 200
    provider.claims |= {"roles": []}
    browser.get(go_to_provider(browser))
    assert browser.get("/api/v1/repositories").status_code == 403


def test_signing_out_ends_the_session(browser: httpx.Client, provider: Provider) -> None:
    browser.get(go_to_provider(browser))
    cookies = dict(browser.cookies)
    assert browser.get("/logout").status_code == 200

    def refused() -> bool:  # a process may remember for a second that a session is open
        return httpx.get(f"{browser.base_url}/api/v1/user", cookies=cookies).status_code == 401

    wait_until(refused, "the session has ended", every=0.05)


def test_signing_out_ends_the_session_at_the_provider_too(
    provider: Provider, tmp_path_factory: pytest.TempPathFactory
) -> None:
    provider.metadata = {"end_session_endpoint": f"{provider.issuer}/logout?x=1"}
    environment = {
        "LAKEBED_AUTH_OIDC_ISSUER": provider.issuer,
        "LAKEBED_AUTH_OIDC_CLIENT_ID": CLIENT,
        "LAKEBED_AUTH_OIDC_CLIENT_SECRET": CLIENT_SECRET,
    }
    with running_server(tmp_path_factory, environment=environment) as other, httpx.Client(timeout=30) as browser:
        browser.base_url = httpx.URL(other.endpoint)
        assert browser.get("/logout").status_code == 200
        browser.get(go_to_provider(browser))
        sent = browser.get("/logout")
        assert sent.headers["location"] == f"{provider.issuer}/logout?x=1&client_id={CLIENT}"
        assert browser.get("/api/v1/user").status_code == 401


@pytest.mark.parametrize("next", ["//evil.example", "https://evil.example", "/\\evil.example", "javascript:alert(1)"])
def test_there_is_no_open_redirect(browser: httpx.Client, provider: Provider, next: str) -> None:
    begun = browser.get("/oidc/login", params={"next": next})
    sent_back = httpx.get(begun.headers["location"], follow_redirects=False)
    page = browser.get(sent_back.headers["location"])
    assert 'content="0;url=/"' in page.text


def test_a_state_of_another_browser_is_refused(browser: httpx.Client, server: RunningServer) -> None:
    address = go_to_provider(browser)
    with httpx.Client(base_url=server.endpoint) as other:
        assert other.get(address).status_code == 401
        go_to_provider(other)
        assert other.get(address).status_code == 401


def test_a_state_of_other_letters_is_refused(browser: httpx.Client, provider: Provider) -> None:
    go_to_provider(browser)
    assert browser.get("/oidc/callback", params={"state": "é", "code": "x"}).status_code == 401


def test_an_answer_cannot_be_replayed(browser: httpx.Client, provider: Provider) -> None:
    address, cookies = go_to_provider(browser), dict(browser.cookies)
    assert browser.get(address).status_code == 200
    again = httpx.get(address, cookies=cookies)
    assert again.status_code == 401


def changed(**claims: Any) -> Forge:
    return lambda provider, sent: provider.signed({**sent, **claims})


@pytest.mark.parametrize(
    "forge",
    [
        unsigned,
        signed_with_the_public_key,
        signed_by_another_key,
        changed(aud="another"),
        changed(iss="https://another.example"),
        changed(nonce="another"),
        changed(exp=int(time.time()) - 3600),
        changed(iat=int(time.time()) + 3600),
        changed(aud=[CLIENT, "another"], azp="another"),
        changed(sub=None),
        lambda provider, sent: provider.signed(sent, kid="unknown"),
        lambda provider, sent: "not a token",
    ],
)
def test_a_forged_token_is_refused(browser: httpx.Client, provider: Provider, forge: Forge) -> None:
    provider.token_of = lambda claims: forge(provider, claims)
    refused = browser.get(go_to_provider(browser))
    assert refused.status_code == 401
    assert refused.text.count("The sign-in failed") == 1
    assert browser.get("/api/v1/user").status_code == 401


def test_a_program_gets_its_token_by_a_code_that_works_once(browser: httpx.Client, provider: Provider) -> None:
    verifier = secrets.token_urlsafe(48)
    challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()
    sent = browser.get(go_to_provider(browser, f"/oidc/login?port=40001&challenge={challenge}"))
    address = urlsplit(sent.headers["location"])
    assert (address.scheme, address.netloc) == ("http", "127.0.0.1:40001")
    code = parse_qs(address.query)["code"][0]
    exchange = "/api/v1/auth/login/code"
    wrong = browser.post(exchange, json={"code": code, "verifier": "x" * 43})
    assert wrong.status_code == 401
    got = browser.post(exchange, json={"code": code, "verifier": verifier})
    assert got.status_code == 200, got.text
    assert browser.post(exchange, json={"code": code, "verifier": verifier}).status_code == 401
    bearer = {"authorization": f"Bearer {got.json()['token']}"}
    answer = httpx.get(f"{browser.base_url}/api/v1/user", headers=bearer)
    assert answer.json()["user"]["id"] == provider.claims["sub"]


def test_without_a_browser_the_page_shows_the_code(browser: httpx.Client, provider: Provider) -> None:
    verifier = secrets.token_urlsafe(48)
    challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()
    page = browser.get(go_to_provider(browser, f"/oidc/login?challenge={challenge}"))
    code = page.text.partition("<pre>")[2].partition("</pre>")[0]
    got = browser.post("/api/v1/auth/login/code", json={"code": code, "verifier": verifier})
    assert got.status_code == 200


def test_clients_learn_where_to_sign_in(browser: httpx.Client) -> None:
    config = browser.get("/api/v1/setup_lakefs").json()["login_config"]
    assert (config["login_url"], config["login_url_method"], config["logout_url"]) == (
        "/oidc/login",
        "select",
        "/logout",
    )
