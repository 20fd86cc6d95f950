"""Answers that were changed after the provider signed them, or signed by another key: all of them are refused."""

from __future__ import annotations

import random
import secrets
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest
from lakebed_server.signin.saml import document, metadata, response
from lakebed_server.signin.saml.document import SamlError, SignatureError
from lakebed_server.signin.saml.metadata import ServiceProvider
from lxml import etree
from signxml.algorithms import CanonicalizationMethod, SignatureMethod
from signxml.signer import XMLSigner

from tests.auth import saml_forgeries
from tests.auth.saml_forgeries import VICTIM
from tests.auth.saml_lake import Browser, SamlLake, document_of, new_person, reason_of_refusal, running_saml_lake
from tests.auth.saml_provider import SamlProvider, encoded, rsa_pair

pytestmark = pytest.mark.slow

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


@pytest.mark.parametrize("forge", saml_forgeries.ON_ASSERTION)
def test_a_forged_assertion_is_refused(browser: Browser, refused: Refused, forge: Callable[[Any], Any]) -> None:
    forged = etree.tostring(forge(etree.fromstring(document_of(browser.form()))))
    assert VICTIM.encode() in forged
    assert "sign-in:" in refused(browser.post({"SAMLResponse": encoded(forged)}))


@pytest.mark.parametrize("forge", saml_forgeries.ON_RESPONSE)
@pytest.mark.parametrize("sign", ["sign_response", "sign_both"])
def test_a_forged_response_is_refused(
    browser: Browser,
    lake: SamlLake,
    refused: Refused,
    forge: Callable[[Any], Any],
    sign: str,
) -> None:
    lake.provider.sign = getattr(lake.provider, sign)
    forged = etree.tostring(forge(etree.fromstring(document_of(browser.form()))))
    assert VICTIM.encode() in forged
    assert "sign-in:" in refused(browser.post({"SAMLResponse": encoded(forged)}))


def test_a_signature_of_another_element_is_refused(browser: Browser, lake: SamlLake) -> None:
    provider = metadata.read(lake.provider.description.encode(), datetime.now(UTC))
    honest = etree.fromstring(document_of(browser.form()))
    forged = saml_forgeries.assertion_of(saml_forgeries.xsw6(honest))
    with pytest.raises(SignatureError, match="another element"):
        document.verified(forged, provider.certificates)


def test_another_key_is_refused(browser: Browser, lake: SamlLake, refused: Callable[[httpx.Response], str]) -> None:
    honest = lake.provider.description
    lake.provider.renew(rsa_pair(lake.provider.directory, "attacker"))
    fields = browser.form()
    lake.provider.description = honest
    assert "a signature is not valid" in refused(browser.post(fields))


def signed_with_sha1(provider: SamlProvider, response: Any) -> str:
    return provider.sign_assertion(
        response, "http://www.w3.org/2000/09/xmldsig#rsa-sha1", "http://www.w3.org/2000/09/xmldsig#sha1"
    )


def signed_with_the_certificate(provider: SamlProvider, response: Any) -> str:
    """HMAC with the bytes of the certificate, which a careless verifier takes for the secret."""
    root = etree.fromstring(str(response).encode())
    signer = XMLSigner(
        signature_algorithm=SignatureMethod.HMAC_SHA256,
        c14n_algorithm=CanonicalizationMethod.EXCLUSIVE_XML_CANONICALIZATION_1_0,
    )
    assertion = saml_forgeries.assertion_of(root)
    signed = signer.sign(assertion, key=provider.pair.certificate.read_bytes(), reference_uri=assertion.get("ID"))
    root.replace(assertion, signed)
    return str(etree.tostring(root, encoding="unicode"))


@pytest.mark.parametrize("sign", [signed_with_sha1, signed_with_the_certificate])
def test_a_weak_signature_is_refused(
    browser: Browser,
    lake: SamlLake,
    refused: Refused,
    sign: Callable[[SamlProvider, Any], str],
) -> None:
    lake.provider.sign = lambda response: sign(lake.provider, response)
    assert "a signature is not valid" in refused(browser.post(browser.form()))


def test_a_comment_does_not_cut_the_name(browser: Browser, lake: SamlLake) -> None:
    """A comment does not change what is signed. A careless reader takes the text before it for the name."""
    lake.provider.name_id = whole = f"{VICTIM}.{secrets.token_hex(4)}"
    body = document_of(browser.form())
    assert body.count(whole.encode()) == 1
    cut = body.replace(whole.encode(), whole.replace(VICTIM, f"{VICTIM}<!-- x -->").encode())
    browser.finish(browser.post({"SAMLResponse": encoded(cut)}))
    assert browser.user()["id"] == whole


@pytest.mark.parametrize(
    "forge",
    [
        saml_forgeries.external_entity,
        saml_forgeries.external_dtd,
        saml_forgeries.expanding_entities,
        saml_forgeries.in_utf_16,
    ],
)
def test_a_document_type_is_refused(browser: Browser, refused: Refused, forge: Callable[[bytes], bytes]) -> None:
    forged = forge(document_of(browser.form()))
    reason = refused(browser.post({"SAMLResponse": encoded(forged)}))
    assert "document type declaration" in reason or "not UTF-8" in reason


def test_random_changes_name_no_other_person(browser: Browser, lake: SamlLake) -> None:
    body = document_of(browser.form())
    provider = metadata.read(lake.provider.description.encode(), datetime.now(UTC))
    endpoint = lake.server.endpoint
    service = ServiceProvider(f"{endpoint}/saml/metadata", f"{endpoint}/saml/acs", "")
    honest = response.read(body, provider, service, datetime.now(UTC))
    drawn, accepted = random.Random(68), 0
    for _ in range(500):
        position, length = drawn.randrange(len(body)), drawn.choice((0, 1, 1, 8))
        piece = drawn.choice((b"", b"<!---->", b"<x/>", b"&amp;", bytes([drawn.randrange(32, 127)])))
        try:
            read = response.read(
                body[:position] + piece + body[position + length :], provider, service, datetime.now(UTC)
            )
        except SamlError:
            continue
        accepted += 1
        assert read == honest
    assert accepted < 100, "only changes of parts that mean nothing are accepted"
