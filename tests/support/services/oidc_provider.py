"""OpenID Connect providers in processes of their own, for tests with a browser.

    with reserved_ports(1) as (port,), running_oidc_provider([f"http://127.0.0.1:{port}/oidc/callback"]) as provider:
        provider.issuer, provider.client, provider.secret

npm's `oidc-provider` is certified: it checks PKCE, codes, redirect addresses and the secret of the client. PyPI's
`oidc-provider-mock` checks less, and names no key in its tokens. Both have the people of `PEOPLE`. They are at
`localhost`, so they are another site than a server at 127.0.0.1: the browser treats their cookies as in real use.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

import httpx

from tests.support.processes.owned import owned_directory, owned_process
from tests.support.processes.ports import reserved_ports
from tests.support.services.npm_packages import FOLDER, node_modules
from tests.support.waiting import wait_until

PEOPLE: dict[str, dict[str, Any]] = {
    "mia-7": {"email": "mia@example.com", "email_verified": True, "name": "Mia Lund", "groups": ["data-team"]},
    "noa-3": {"email": "noa@example.com", "email_verified": True, "name": "Noa Park", "groups": []},
    "kim-2": {"email": "kim@example.com", "email_verified": False, "name": "Kim", "groups": []},
}
"""The claims of each person, by the login, which is also the subject."""


class OidcProvider(NamedTuple):
    """A running provider, and the client that it knows."""

    issuer: str
    client: str
    secret: str

    @property
    def variables(self) -> dict[str, str]:
        """The settings of a server that signs people in with it."""
        return {
            "LAKEBED_AUTH_OIDC_ISSUER": self.issuer,
            "LAKEBED_AUTH_OIDC_CLIENT_ID": self.client,
            "LAKEBED_AUTH_OIDC_CLIENT_SECRET": self.secret,
        }


@contextmanager
def running_oidc_provider(redirects: Sequence[str]) -> Iterator[OidcProvider]:
    """Run npm's provider. Its page takes the logins of `PEOPLE` with any password.

    `redirects`: the redirect addresses that the client registered. E-mail, name and groups are not in the ID token,
    only in UserInfo, as the standard has it for a sign-in with a code.
    """
    with owned_directory("oidc-provider-") as directory, reserved_ports(1) as (port,):
        provider = OidcProvider(f"http://localhost:{port}", "lakebed", "the 100% secret+key/of: the client")
        settings = {
            **provider._asdict(),
            "modules": str(node_modules("oidc_provider")),
            "port": port,
            "redirects": list(redirects),
            "people": PEOPLE,
        }
        program = FOLDER / "oidc_provider" / "provider.mjs"
        log = directory / "log"
        with owned_process(["node", str(program), json.dumps(settings)], directory, log) as process:
            _wait(provider.issuer, process, log)
            yield provider


@contextmanager
def running_oidc_provider_mock() -> Iterator[OidcProvider]:
    """Run PyPI's provider. Its page has a button for each login of `PEOPLE`."""
    with owned_directory("oidc-mock-") as directory, reserved_ports(1) as (port,):
        people = [json.dumps({"sub": login, **claims}) for login, claims in PEOPLE.items()]
        flags = [flag for person in people for flag in ("--user-claims", person)]
        command = [sys.executable, "-m", "oidc_provider_mock", "--port", str(port), *flags]
        provider = OidcProvider(f"http://localhost:{port}", "lakebed", "any")
        log = directory / "log"
        with owned_process(command, directory, log) as process:
            _wait(provider.issuer, process, log)
            yield provider


def _wait(issuer: str, process: subprocess.Popen[bytes], log: Path) -> None:
    def failure() -> str:
        return f"the provider did not start ({process.poll()}): {log.read_text(errors='replace')[-4000:]}"

    def answers() -> bool:
        assert process.poll() is None, failure()
        with suppress(httpx.HTTPError):
            return httpx.get(f"{issuer}/.well-known/openid-configuration").is_success
        return False

    wait_until(answers, failure, every=0.05)
