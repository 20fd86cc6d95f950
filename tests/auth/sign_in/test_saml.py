"""Sign-in with SAML: the whole flow, with real signed answers of pysaml2."""

from __future__ import annotations

import base64
import hashlib
import secrets
import zlib
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import httpx
import lakebed
import pytest

from tests.auth.saml_lake import Browser, SamlLake, new_person, next_of, running_saml_lake

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def shared_lake(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SamlLake]:
    settings = {
        "auth.saml.groups_attribute": "isMemberOf",
        "auth.saml.groups_map": "data-readers=Viewers,data-admins=Admins",
        "auth.saml.groups_sync": "always",
    }
    with running_saml_lake(tmp_path_factory.mktemp("saml"), settings) as running:
        yield running


@pytest.fixture
def lake(shared_lake: SamlLake) -> Iterator[SamlLake]:
    with new_person(shared_lake) as lake:
        yield lake


@pytest.fixture
def browser(lake: SamlLake) -> Browser:
    return lake.browser()


@pytest.mark.parametrize("sign", ["sign_assertion", "sign_response", "sign_both"])
def test_a_person_signs_in_and_reads(browser: Browser, lake: SamlLake, sign: str) -> None:
    lake.provider.sign = getattr(lake.provider, sign)
    lake.provider.attributes |= {"isMemberOf": ["data-readers", "other"]}
    signed_in = browser.sign_in("/saml/login?next=/repositories")
    assert next_of(signed_in) == "/repositories"
    user = browser.user()
    assert (user["id"], user["email"], user["friendly_name"]) == (lake.provider.name_id, "ana@example.com", "Ana")
    assert browser.client.get("/api/v1/repositories").status_code == 200
    refused = browser.client.post("/api/v1/repositories", json={"name": "new", "storage_namespace": "mem://new"})
    assert "needs fs:CreateRepository on repository/new" in refused.text
    with lake.server.connect() as admin:
        assert [session.source for session in admin.users.sessions(user["id"])] == ["saml"]


def test_the_cookies_are_out_of_reach_of_pages(browser: Browser) -> None:
    begun = browser.client.get("/saml/login").headers["set-cookie"]
    assert {"HttpOnly", "SameSite=lax", "Path=/saml/finish"} <= {part.strip() for part in begun.split(";")}
    cookies = browser.sign_in().headers.get_list("set-cookie")
    (session,) = [one for one in cookies if one.startswith("internal_auth_session=")]
    assert {"HttpOnly", "SameSite=strict", "Path=/"} <= {part.strip() for part in session.split(";")}


def test_groups_follow_the_provider(browser: Browser, lake: SamlLake) -> None:
    lake.provider.attributes |= {"isMemberOf": ["data-readers"]}
    browser.sign_in()
    assert browser.client.get("/api/v1/repositories").status_code == 200
    lake.provider.attributes |= {"isMemberOf": []}
    browser.sign_in()
    assert browser.client.get("/api/v1/repositories").status_code == 403


def test_a_user_who_came_another_way_is_not_taken_over(browser: Browser, lake: SamlLake) -> None:
    lake.provider.name_id = "admin"
    refused = browser.post(browser.form())
    assert (refused.status_code, "without this identity" in refused.text) == (409, True)


def test_a_disabled_user_is_refused(browser: Browser, lake: SamlLake) -> None:
    browser.sign_in()
    with lake.server.connect() as admin:
        admin.users.update(lake.provider.name_id, disabled=True)
    refused = browser.post(browser.form())
    assert (refused.status_code, "is disabled" in refused.text) == (401, True)


def test_signing_out_ends_the_session(browser: Browser) -> None:
    browser.sign_in()
    cookies = dict(browser.client.cookies)
    assert browser.client.get("/logout").status_code == 200
    assert httpx.get(f"{browser.lake.server.endpoint}/api/v1/user", cookies=cookies).status_code == 401


def test_a_program_gets_its_token_by_a_code_that_works_once(browser: Browser, lake: SamlLake) -> None:
    verifier = secrets.token_urlsafe(48)
    challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()
    sent = browser.sign_in(f"/saml/login?port=40001&challenge={challenge}&state=abc")
    address = urlsplit(sent.headers["location"])
    assert (address.scheme, address.netloc) == ("http", "127.0.0.1:40001")
    query = parse_qs(address.query)
    assert query["state"] == ["abc"]
    body = {"code": query["code"][0], "verifier": verifier}
    got = browser.client.post("/api/v1/auth/login/code", json=body)
    assert got.status_code == 200, got.text
    assert browser.client.post("/api/v1/auth/login/code", json=body).status_code == 401
    with lakebed.connect(lake.server.endpoint, token=got.json()["token"]) as client:
        assert client.user().id == lake.provider.name_id


def test_clients_learn_where_to_sign_in(browser: Browser) -> None:
    config = browser.client.get("/api/v1/setup_lakefs").json()["login_config"]
    assert (config["login_url"], config["login_url_method"], config["logout_url"]) == (
        "/saml/login",
        "select",
        "/logout",
    )


def test_the_metadata_describe_the_server(browser: Browser) -> None:
    answer = browser.client.get("/saml/metadata")
    assert answer.headers["content-type"].startswith("application/samlmetadata+xml")
    assert f'Location="{browser.lake.server.endpoint}/saml/acs"' in answer.text


def test_a_format_of_the_name_is_asked_for(tmp_path: Path) -> None:
    wanted = "urn:oasis:names:tc:SAML:2.0:nameid-format:persistent"
    with running_saml_lake(tmp_path, {"auth.saml.name_id_format": wanted}) as lake:
        browser = lake.browser()
        assert f"<md:NameIDFormat>{wanted}</md:NameIDFormat>" in browser.client.get("/saml/metadata").text
        sent = parse_qs(urlsplit(browser.begin()).query)["SAMLRequest"][0]
        request = zlib.decompress(base64.b64decode(sent), -zlib.MAX_WBITS).decode()
        assert f'<samlp:NameIDPolicy Format="{wanted}" AllowCreate="true"/>' in request


def test_attributes_identify_the_person(tmp_path: Path) -> None:
    settings = {"auth.saml.subject_attribute": "uid", "auth.saml.id_attribute": "mail"}
    with running_saml_lake(tmp_path, settings) as lake:
        lake.provider.name_id, lake.provider.name_id_format = (
            "x1",
            "urn:oasis:names:tc:SAML:2.0:nameid-format:transient",
        )
        lake.provider.attributes |= {"uid": ["u-1"], "mail": ["ana@example.com"]}
        first, second = lake.browser(), lake.browser()
        first.sign_in()
        assert first.user()["id"] == "ana@example.com"
        lake.provider.name_id = "x2"
        lake.provider.attributes |= {"mail": ["ana.ruiz@example.com"]}
        second.sign_in()
        assert (second.user()["id"], second.user()["email"]) == ("ana@example.com", "ana.ruiz@example.com")
        lake.provider.attributes |= {"uid": []}
        assert second.post(second.form()).status_code == 401
