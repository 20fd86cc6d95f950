"""Attacks on the sign-in with SAML. Each changes one thing in an answer that the server would accept otherwise."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from tests.auth.saml_forgeries import VICTIM
from tests.auth.saml_lake import (
    Browser,
    SamlLake,
    code_of,
    document_of,
    new_person,
    reason_of_refusal,
    running_saml_lake,
)
from tests.auth.saml_provider import encoded

pytestmark = pytest.mark.slow

Change = Callable[[Any], None]
Refused = Callable[[httpx.Response], str]


@pytest.fixture(scope="module")
def shared_lake(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SamlLake]:
    with running_saml_lake(tmp_path_factory.mktemp("saml"), {}) as running:
        yield running


@pytest.fixture
def lake(shared_lake: SamlLake) -> Iterator[SamlLake]:
    with new_person(shared_lake) as lake:
        yield lake


@pytest.fixture
def browser(lake: SamlLake) -> Browser:
    return lake.browser()


@pytest.fixture
def refused(lake: SamlLake, caplog: pytest.LogCaptureFixture) -> Refused:
    return lambda answered: reason_of_refusal(lake, answered, caplog)


def in_minutes(minutes: float) -> str:
    return f"{datetime.now(UTC) + timedelta(minutes=minutes):%Y-%m-%dT%H:%M:%SZ}"


def confirmation(response: Any) -> Any:
    return response.assertion.subject.subject_confirmation[0].subject_confirmation_data


def setting(name: str, value: str | None, of: Callable[[Any], Any] = lambda response: response) -> Change:
    """A change of one attribute or text, before the provider signs."""
    return lambda response: setattr(of(response), name, value)


def at(minutes: float, name: str, of: Callable[[Any], Any]) -> Change:
    """A change of one time."""
    return lambda response: setattr(of(response), name, in_minutes(minutes))


def audience(response: Any) -> Any:
    return response.assertion.conditions.audience_restriction[0].audience[0]


def without(name: str, of: Callable[[Any], Any]) -> Change:
    return lambda response: setattr(of(response), name, [])


def extension(name: str, namespace: str) -> Any:
    from saml2 import ExtensionElement

    return ExtensionElement(name, namespace, text=VICTIM)


def add_condition(response: Any) -> None:
    response.assertion.conditions.extension_elements.append(extension("Never", "urn:oasis:names:tc:SAML:2.0:assertion"))


def add_to_name(response: Any) -> None:
    response.assertion.subject.name_id.extension_elements.append(extension("x", "urn:x"))


ELSEWHERE = "https://evil.example/saml/acs"


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (setting("text", "https://another.example", audience), "another audience"),
        (without("audience_restriction", lambda response: response.assertion.conditions), "no audience"),
        (setting("destination", ELSEWHERE), "Destination"),
        (setting("destination", None), "Destination"),
        (setting("recipient", ELSEWHERE, confirmation), "no valid confirmation"),
        (setting("recipient", None, confirmation), "no valid confirmation"),
        (at(-2, "not_on_or_after", confirmation), "no valid confirmation"),
        (setting("not_on_or_after", None, confirmation), "no valid confirmation"),
        (at(3, "not_before", confirmation), "no valid confirmation"),
        (setting("method", "urn:x", lambda r: r.assertion.subject.subject_confirmation[0]), "no valid confirmation"),
        (at(-2, "not_on_or_after", lambda r: r.assertion.conditions), "expired"),
        (at(3, "not_before", lambda r: r.assertion.conditions), "not valid yet"),
        (setting("not_before", "yesterday", lambda r: r.assertion.conditions), "is not a time"),
        (add_condition, "does not know"),
        (add_to_name, "more than text"),
        (setting("in_response_to", None, confirmation), "no valid confirmation"),
        (setting("in_response_to", "_another", confirmation), "different requests"),
        (setting("in_response_to", None), "different requests"),
        (setting("text", "https://another.example", lambda r: r.assertion.issuer), "another issuer"),
        (setting("text", "https://another.example", lambda r: r.issuer), "another issuer"),
        (setting("value", "urn:x:Responder", lambda r: r.status.status_code), "the provider refused the sign-in"),
        (without("authn_statement", lambda r: r.assertion), "AuthnStatement"),
        (setting("version", "1.1"), "not a response of SAML 2.0"),
        (
            setting(
                "format", "urn:oasis:names:tc:SAML:2.0:nameid-format:transient", lambda r: r.assertion.subject.name_id
            ),
            "transient",
        ),
        (setting("text", "", lambda r: r.assertion.subject.name_id), "its name is empty"),
    ],
)
def test_an_answer_that_is_not_for_this_sign_in_is_refused(
    browser: Browser, lake: SamlLake, refused: Refused, change: Change, reason: str
) -> None:
    lake.provider.change = change
    assert reason in refused(browser.post(browser.form()))


@pytest.mark.parametrize("minutes", [-0.5, 0.5])
def test_clocks_may_differ_a_little(browser: Browser, lake: SamlLake, minutes: float) -> None:
    def change(response: Any) -> None:
        name = "not_on_or_after" if minutes < 0 else "not_before"
        setattr(response.assertion.conditions, name, in_minutes(minutes))
        setattr(confirmation(response), name, in_minutes(minutes))

    lake.provider.change = change
    browser.sign_in()
    assert browser.user()["id"] == lake.provider.name_id


def test_an_answer_to_no_request_of_this_server_is_refused(browser: Browser, lake: SamlLake, refused: Refused) -> None:
    def change(response: Any) -> None:
        response.in_response_to = confirmation(response).in_response_to = f"_{secrets.token_hex(16)}"

    lake.provider.change = change
    assert "not started here" in refused(browser.post(browser.form()))


def test_an_answer_works_once(browser: Browser, lake: SamlLake) -> None:
    fields = browser.form()
    accepted = browser.post(fields)
    again = browser.post(fields)
    assert (again.status_code, "was used before" in again.text) == (401, True)
    cookies = dict(browser.client.cookies)
    assert browser.finish(accepted).status_code == 200
    browser.client.cookies.update(cookies)
    assert "was used before" in browser.finish(accepted).text


def test_an_answer_that_is_posted_many_times_at_one_moment_works_once(browser: Browser) -> None:
    fields = browser.form()
    with ThreadPoolExecutor(8) as threads:
        answered = [one.status_code for one in threads.map(browser.post, [fields] * 16)]
    assert sorted(answered) == [200, *[401] * 15]


def test_two_answers_to_one_request_do_not_both_work(browser: Browser, lake: SamlLake) -> None:
    address = browser.begin()
    first, second = lake.provider.answer(address), lake.provider.answer(address)
    assert document_of(first) != document_of(second)
    assert browser.post(first).status_code == 200
    assert browser.post(second).status_code == 401


def test_an_answer_is_of_no_use_in_another_browser(browser: Browser, lake: SamlLake) -> None:
    victim = lake.browser()
    accepted = browser.post(browser.form())
    assert victim.finish(accepted).status_code == 401
    victim.begin()
    assert "the code is wrong" in victim.finish(accepted).text
    assert victim.user() == {}
    browser.finish(accepted)
    assert browser.user()["id"] == lake.provider.name_id


def test_the_code_of_an_answer_is_of_no_use_to_programs(browser: Browser) -> None:
    code = code_of(browser.post(browser.form()))
    answer = browser.client.post("/api/v1/auth/login/code", json={"code": code, "verifier": "x" * 43})
    assert answer.status_code == 401


def test_relay_state_leads_nowhere(browser: Browser) -> None:
    fields = {**browser.form("/saml/login?next=//evil.example"), "RelayState": "https://evil.example/"}
    accepted = browser.post(fields)
    finished = browser.finish(accepted)
    assert "evil.example" not in f"{accepted.text}{accepted.headers}{finished.text}{finished.headers}"
    assert 'content="0;url=/"' in finished.text


def test_an_answer_of_megabytes_is_refused(browser: Browser, lake: SamlLake, refused: Refused) -> None:
    lake.provider.attributes |= {"isMemberOf": ["x" * (1 << 20)]}
    assert "more than 524288 bytes" in refused(browser.post(browser.form()))


def test_an_answer_that_takes_long_to_canonicalize_is_refused(browser: Browser, refused: Refused) -> None:
    names = " ".join(f'xmlns:a{number}="x"' for number in range(10_000))
    body = document_of(browser.form()).replace(b"<ns1:Subject>", f"<ns1:Subject {names}>".encode())
    assert len(body) > 100_000
    assert "32 namespaces" in refused(browser.post({"SAMLResponse": encoded(body)}))
    body = document_of(browser.form()).replace(b"<ns1:Subject>", b"<ns1:Subject>" + b"<a/>" * 10_000)
    assert len(body) > 40_000
    assert "10000 elements" in refused(browser.post({"SAMLResponse": encoded(body)}))


def test_a_person_with_a_thousand_groups_signs_in(browser: Browser, lake: SamlLake) -> None:
    lake.provider.attributes |= {"isMemberOf": [f"group-{number:04}" for number in range(1000)]}
    browser.sign_in()
    assert browser.user()["id"] == lake.provider.name_id


@pytest.mark.parametrize(
    "field",
    ["", "é", "%%%", encoded("<"), encoded("<a/>"), encoded("<a>" * 10_000), encoded(b"\xff\xfe"), encoded("\0")],
)
def test_an_invalid_saml_response_is_refused(browser: Browser, refused: Refused, field: str) -> None:
    assert refused(browser.post({"SAMLResponse": field}))
    assert refused(browser.post({}))


def test_a_method_that_the_page_does_not_have_is_refused(browser: Browser) -> None:
    assert browser.client.get("/saml/acs").status_code == 405
    assert browser.client.post("/saml/acs", json={}).status_code == 400


@pytest.mark.parametrize("text", ["", "x", "x.y.z", "é.é.é"])
def test_a_wrong_code_or_cookie_is_refused(browser: Browser, text: str) -> None:
    assert browser.client.get("/saml/finish", params={"code": text}).status_code == 401
    browser.begin()
    assert browser.client.get("/saml/finish", params={"code": text}).status_code == 401
    cookie = {b"cookie": f"lakebed_sign_in={text}".encode()}
    assert browser.client.get("/saml/finish", params={"code": text}, headers=cookie).status_code == 401
    key = browser.client.cookies["lakebed_sign_in"].split(".")[1]
    answer = browser.client.post("/api/v1/auth/login/code", json={"code": f"x.{key}.é", "verifier": "x" * 43})
    assert answer.status_code == 401
