"""A server that signs people in with a provider, and what a person does in the browser."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest
from playwright.sync_api import Page

from tests.support.processes.ports import reserved_ports
from tests.support.processes.server import RunningServer, running_server
from tests.support.services.oidc_provider import OidcProvider, running_oidc_provider
from tests.support.waiting import wait_until

_BROWSER = "import sys; open(sys.argv[1], 'w').write(sys.argv[2])"


class Site(NamedTuple):
    """A server and its provider."""

    server: RunningServer
    provider: OidcProvider


@contextmanager
def running_site(directories: pytest.TempPathFactory, environment: Mapping[str, str] | None = None) -> Iterator[Site]:
    """Run npm's provider and a server that uses it. `environment` has more settings of the server."""
    with (
        reserved_ports(1) as (port,),
        running_oidc_provider([f"http://127.0.0.1:{port}/oidc/callback"]) as provider,
        running_server(
            directories, flags=["--port", str(port)], environment={**provider.variables, **(environment or {})}
        ) as server,
    ):
        yield Site(server, provider)


def open_sign_in(page: Page, address: str) -> None:
    """Open the address of a sign-in: the provider shows its page. The page gets nothing from other machines."""
    page.route(re.compile("https://"), lambda route: route.fulfill(content_type="text/css", body=""))
    page.goto(address)


def fill_in(page: Page, login: str) -> None:
    """Enter a login and a password on the pages of the provider, and allow what it asks the first time."""
    page.get_by_placeholder("Enter any login").fill(login)
    page.get_by_placeholder("and password").fill("any")
    page.get_by_role("button", name="Sign-in").click()
    page.get_by_role("button", name="Continue").click()


def sign_in(page: Page, address: str, login: str) -> None:
    """Open the address of a sign-in, and fill in the pages of the provider."""
    open_sign_in(page, address)
    fill_in(page, login)


class OpenedAddress:
    """Replaces the program that opens the browser. It writes the address that it gets to a file."""

    def __init__(self, directory: Path) -> None:
        self._file = directory / "opened"
        self._program = directory / "browser.py"
        self._program.write_text(_BROWSER)

    @property
    def variable(self) -> str:
        """The value of `BROWSER`, which names the browser of Python programs."""
        return f"{sys.executable} {self._program} {self._file} %s"

    def wait(self) -> str:
        """The address that a program has opened."""
        wait_until(lambda: self._file.is_file() and self._file.read_text(), "a program opened an address")
        return self._file.read_text()
