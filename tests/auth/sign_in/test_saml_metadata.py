"""The metadata of a SAML provider: what is refused, when it is read again, and the settings of this server."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import lakebed_testing
import pytest
from lakebed_format.installation import install_command
from lakebed_server.outbound import OutboundError
from lakebed_server.settings.auth import SamlSettings
from lakebed_server.signin.saml import metadata
from lakebed_server.signin.saml.document import SamlError
from lakebed_server.signin.saml.metadata import Metadata
from lakebed_server.vocabulary import SettingError

from tests.auth.saml_lake import SamlLake, running_saml_lake
from tests.auth.saml_provider import rsa_pair
from tests.support.certificates import make_pair
from tests.support.processes.server import clean_environment
from tests.support.waiting import PATIENCE

NOW = datetime(2026, 11, 25, tzinfo=UTC)
REDIRECT = "urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect"


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A certificate as metadata have it: base64 in lines."""
    pem = make_pair(tmp_path_factory.mktemp("certificates"), "provider").certificate.read_text()
    return "\n".join(pem.splitlines()[1:-1])


def key(certificate: str, use: str = 'use="signing"') -> str:
    data = f"<ds:X509Data><ds:X509Certificate>{certificate}</ds:X509Certificate></ds:X509Data>"
    return f"<md:KeyDescriptor {use}><ds:KeyInfo>{data}</ds:KeyInfo></md:KeyDescriptor>"


def provider(keys: str, *, binding: str = REDIRECT, location: str = "https://id.example/sso", more: str = "") -> str:
    service = f'<md:SingleSignOnService Binding="{binding}" Location="{location}"/>'
    names = 'xmlns:md="urn:oasis:names:tc:SAML:2.0:metadata" xmlns:ds="http://www.w3.org/2000/09/xmldsig#"'
    descriptor = f"<md:IDPSSODescriptor>{keys}{service}</md:IDPSSODescriptor>"
    return f'<md:EntityDescriptor {names} entityID="https://id.example" {more}>{descriptor}</md:EntityDescriptor>'


def several(*providers: str) -> str:
    names = 'xmlns:md="urn:oasis:names:tc:SAML:2.0:metadata"'
    return f"<md:EntitiesDescriptor {names}>{''.join(providers)}</md:EntitiesDescriptor>"


def test_a_provider_is_read(certificate: str) -> None:
    other = '<md:EntityDescriptor entityID="https://other.example"/>'
    text = several(provider(key(certificate) + key(certificate, "") + key("!", 'use="encryption"')), other)
    found = metadata.read(text.encode(), NOW)
    assert (found.entity_id, found.sso_url, len(found.certificates)) == (
        "https://id.example",
        "https://id.example/sso",
        2,
    )


def test_wrong_metadata_is_refused(certificate: str) -> None:
    good = key(certificate)
    for text, reason in (
        ("no XML", "not XML"),
        (f"<!DOCTYPE a>{provider(good)}", "document type"),
        (several(), "0 identity providers"),
        (several(provider(good), provider(good)), "2 identity providers"),
        (provider(""), "no certificate"),
        (provider(key(certificate, 'use="encryption"')), "no certificate"),
        (provider(key("AAAA")), "cannot be read"),
        (provider(key("!")), "cannot be read"),
        (provider(good, binding="urn:x"), "no single sign-on service"),
        (provider(good, more='validUntil="2026-11-24T00:00:00Z"'), "has expired"),
        (provider(good, more='validUntil="tomorrow"'), "is not a time"),
    ):
        with pytest.raises(SamlError, match=reason):
            metadata.read(text.encode(), NOW)
    with pytest.raises(OutboundError, match="not an https URL"):
        metadata.read(provider(good, location="http://id.example/sso").encode(), NOW)


async def test_metadata_is_read_again_after_an_hour_or_on_demand(tmp_path: Path, certificate: str) -> None:
    path, clock = tmp_path / "metadata.xml", [0.0]
    source = Metadata(str(path), lambda: clock[0])
    with pytest.raises(OutboundError, match=r"auth\.saml\.idp_metadata"):
        await source.known()
    path.write_text(provider(key(certificate), location="https://id.example/1"))
    assert (await source.known()).sso_url == "https://id.example/1"
    path.write_text(provider(key(certificate), location="https://id.example/2"))
    clock[0] = metadata.AGAIN_SECONDS - 1
    assert (await source.known(older_than=metadata.AGAIN_SECONDS)).sso_url == "https://id.example/1"
    clock[0] = metadata.AGAIN_SECONDS
    assert (await source.known()).sso_url == "https://id.example/1"
    assert (await source.known(older_than=metadata.AGAIN_SECONDS)).sso_url == "https://id.example/2"
    path.write_text(provider(key(certificate), location="https://id.example/3"))
    clock[0] += metadata.KEEP_SECONDS
    assert (await source.known()).sso_url == "https://id.example/3"


def test_times_are_read_as_utc() -> None:
    for text in (
        "2026-11-25T00:00:00Z",
        "2026-11-25T00:00:00.0000000Z",
        "2026-11-25T01:00:00+01:00",
        "2026-11-25T00:00:00",
    ):
        assert metadata.read_time(text) == NOW


@pytest.mark.medium
def test_wrong_settings_are_refused() -> None:
    for root in ("", "http://lake.example.com", "lake.example.com"):
        with pytest.raises(SettingError, match=r"auth\.saml\.root_url"):
            metadata.service_of(SamlSettings(idp_metadata="x", root_url=root))
    both = {"auth.oidc.issuer": "https://id.example", "auth.saml.idp_metadata": "x"}
    with pytest.raises(SettingError, match="one of them"), lakebed_testing.server({"auth.mode": "rbac", **both}):
        pass
    found = metadata.service_of(SamlSettings(root_url="https://lake.example.com/", entity_id='urn:"lake"'))
    assert found.acs_url == "https://lake.example.com/saml/acs"
    assert "entityID='urn:\"lake\"'" in found.describe()


@pytest.mark.slow
def test_signxml_is_an_extra(tmp_path: Path) -> None:
    without = "import sys; sys.modules['signxml'] = None; from lakebed.cli.main import main; main()"
    environment = clean_environment(
        LAKEBED_AUTH_SAML_IDP_METADATA="x", LAKEBED_AUTH_SAML_ROOT_URL="https://lake.example.com", HOME=str(tmp_path)
    )
    command = [sys.executable, "-c", without, "serve", "--port", "0", "--data-dir", str(tmp_path / "data")]
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=PATIENCE, check=False, cwd=tmp_path
    )
    assert done.returncode != 0
    assert f"auth.saml needs signxml; run: {install_command('saml')}" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.fixture
def lake(tmp_path: Path) -> Iterator[SamlLake]:
    with running_saml_lake(tmp_path, {}) as running:
        yield running


@pytest.mark.slow
def test_a_new_key_of_the_provider_is_accepted(lake: SamlLake, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lakebed_server.signin.saml.sign_in.AGAIN_SECONDS", 0.0)
    lake.browser().sign_in()
    lake.provider.renew(rsa_pair(lake.provider.directory, "next"))
    browser = lake.browser()
    browser.sign_in()
    assert browser.user()["id"] == "ana"


@pytest.mark.slow
def test_a_provider_without_metadata_is_reported(lake: SamlLake) -> None:
    lake.provider.description = "nothing"
    answer = lake.browser().client.get("/saml/login")
    assert (answer.status_code, "the log of the server has the reason" in answer.text) == (502, True)
