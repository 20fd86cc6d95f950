"""A server that signs people in with the SAML provider of the tests, and a browser's steps."""

from __future__ import annotations

import base64
import html
import re
import secrets
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import parse_qs, urlsplit

import httpx
import lakebed_testing
import pytest
from lakebed_testing import LakebedServer

from tests.auth.saml_forgeries import VICTIM
from tests.auth.saml_provider import SamlProvider, running_saml_provider
from tests.support.processes.ports import reserved_ports


class SamlLake(NamedTuple):
    """The server and its provider. `open` closes the browsers at the end."""

    server: LakebedServer
    provider: SamlProvider
    open: ExitStack

    def browser(self) -> Browser:
        """A new browser, without cookies."""
        return Browser(self, self.open.enter_context(httpx.Client(base_url=self.server.endpoint, timeout=60)))


@contextmanager
def running_saml_lake(directory: Path, settings: Mapping[str, object]) -> Iterator[SamlLake]:
    """Run the provider and a server that knows it."""
    with running_saml_provider(directory) as provider, reserved_ports(1) as (port,):
        more = {
            "auth.mode": "rbac",
            "listen.port": port,
            "auth.saml.root_url": f"http://127.0.0.1:{port}",
            "auth.saml.idp_metadata": f"{provider.address}/metadata",
            "auth.saml.email_attribute": "mail",
        }
        with lakebed_testing.server({**more, **settings}) as server, ExitStack() as open:
            provider.trust(server.endpoint)
            yield SamlLake(server, provider, open)


@contextmanager
def new_person(lake: SamlLake) -> Iterator[SamlLake]:
    """The lake with an honest provider, and a person who was not there before. Undoes what a test does to both."""
    kept = dict(vars(lake.provider))
    lake.provider.attributes = dict(lake.provider.attributes)
    lake.provider.name_id = f"mallory-{secrets.token_hex(4)}"
    yield lake
    vars(lake.provider).update(kept)


def reason_of_refusal(lake: SamlLake, answered: httpx.Response, log: pytest.LogCaptureFixture) -> str:
    """Assert that an answer does not sign in, and makes no user. Returns the reason: from the log and the page."""
    assert answered.status_code in (400, 401), answered.text
    assert "http-equiv" not in answered.text
    assert "set-cookie" not in answered.headers
    with lake.server.connect() as admin:
        made = {user.id for user in admin.users.list()}
    assert not made & {VICTIM, lake.provider.name_id}
    reasons = [one.getMessage() for one in log.records if one.name == "lakebed.server"]
    return " ".join((*reasons, re.sub(r"<[^>]*>", " ", answered.text)))


class Browser:
    """A browser with its cookies. It follows no redirect by itself, so that each step can be attacked."""

    def __init__(self, lake: SamlLake, client: httpx.Client) -> None:
        self.lake = lake
        self.client = client

    def begin(self, target: str = "/saml/login") -> str:
        """Open the login page. Returns the address of the provider to which it leads."""
        begun = self.client.get(target)
        assert begun.status_code == 302, begun.text
        return str(begun.headers["location"])

    def form(self, target: str = "/saml/login") -> dict[str, str]:
        """The fields that the provider lets the browser post to the server."""
        fields = self.lake.provider.answer(self.begin(target))
        assert fields.pop("to") == f"{self.lake.server.endpoint}/saml/acs"
        return fields

    def post(self, fields: Mapping[str, str]) -> httpx.Response:
        """Bring an answer to the server, as a page of another site does: without the cookies of the server."""
        return httpx.post(f"{self.lake.server.endpoint}/saml/acs", data=dict(fields), timeout=60)

    def finish(self, answered: httpx.Response) -> httpx.Response:
        """Follow the page of an accepted answer."""
        return self.client.get(next_of(answered))

    def sign_in(self, target: str = "/saml/login") -> httpx.Response:
        """All steps. Returns the last answer."""
        answered = self.post(self.form(target))
        assert answered.status_code == 200, answered.text
        return self.finish(answered)

    def user(self) -> dict[str, Any]:
        """The user whom the server sees in this browser. Empty without a session."""
        answer = self.client.get("/api/v1/user")
        return dict(answer.json()["user"]) if answer.status_code == 200 else {}


def next_of(answered: httpx.Response) -> str:
    """The address that a page opens by itself."""
    found = re.search(r'content="0;url=([^"]*)"', answered.text)
    assert found is not None, answered.text
    return html.unescape(found[1])


def document_of(fields: Mapping[str, str]) -> bytes:
    """The document in the fields of an answer."""
    return base64.b64decode(fields["SAMLResponse"])


def code_of(answered: httpx.Response) -> str:
    """The code in the address that a page opens by itself."""
    return parse_qs(urlsplit(next_of(answered)).query)["code"][0]
