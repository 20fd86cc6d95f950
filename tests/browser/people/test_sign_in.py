"""People sign in with providers of other makers and a real browser: on a page, and with `lakebed login`."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import lakebed
import pytest
import yaml
from playwright.sync_api import Browser, Page

from tests.browser.signing_in import OpenedAddress, Site, fill_in, open_sign_in, running_site, sign_in
from tests.cli.support import Command
from tests.support.browser import save_png, watched_context
from tests.support.processes.server import clean_environment, running_server
from tests.support.services.oidc_provider import running_oidc_provider_mock
from tests.support.waiting import PATIENCE


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    settings = {
        "LAKEBED_AUTH_OIDC_GROUPS_CLAIM": "groups",
        "LAKEBED_AUTH_OIDC_GROUPS_MAP": "data-team=Developers",
        "LAKEBED_AUTH_OIDC_DEFAULT_GROUPS": "Viewers",
    }
    with running_site(tmp_path_factory, settings) as running:
        yield running


@pytest.fixture
def opened(tmp_path: Path) -> OpenedAddress:
    return OpenedAddress(tmp_path)


@pytest.fixture
def run(tmp_path: Path, opened: OpenedAddress) -> Command:
    """The command of a person without settings."""
    file = tmp_path / "lakebed.yaml"
    file.write_text("")
    environment = clean_environment(LAKEBED_CONFIG_FILE=str(file), BROWSER=opened.variable, HOME=str(tmp_path))
    return Command(environment)


@pytest.fixture(scope="module")
def admin(site: Site) -> Iterator[lakebed.Lake]:
    server = site.server
    with lakebed.connect(server.endpoint, server.access_key_id, server.secret_access_key) as lake:
        yield lake


def shown_user(page: Page) -> dict[str, str]:
    """The user of the browser, when the page shows `/api/v1/user`."""
    page.wait_for_url("**/api/v1/user")
    found: dict[str, str] = json.loads(page.locator("body").inner_text())["user"]
    return found


def test_a_person_signs_in_and_out_in_the_browser(chromium: Browser, site: Site, admin: lakebed.Lake) -> None:
    here = site.server.endpoint
    with watched_context(chromium, expected=["status of 401"]) as context:
        page = context.new_page()
        sign_in(page, f"{here}/oidc/login?next=/api/v1/user", "mia-7")
        user = shown_user(page)
        assert (user["id"], user["friendly_name"]) == ("mia@example.com", "Mia Lund")
        assert {group.id for group in admin.users.groups("mia@example.com")} == {"Developers", "Viewers"}
        (session,) = [cookie for cookie in context.cookies(here) if "session" in cookie["name"]]
        assert (session["httpOnly"], session["sameSite"]) == (True, "Strict")
        assert page.evaluate("document.cookie") == ""
        page.goto(f"{here}/logout")
        page.wait_for_url(f"{site.provider.issuer}/session/end?**")  # the session at the provider ends there
        page.goto(f"{here}/api/v1/user")
        assert "user" not in json.loads(page.locator("body").inner_text())


def test_an_unverified_address_is_no_id(page: Page, site: Site) -> None:
    sign_in(page, f"{site.server.endpoint}/oidc/login?next=/api/v1/user", "kim-2")
    assert shown_user(page)["id"] == "kim-2"


def test_a_person_who_cancels_is_not_signed_in(chromium: Browser, site: Site) -> None:
    with watched_context(chromium, expected=["status of 401"]) as context:
        page = context.new_page()
        open_sign_in(page, f"{site.server.endpoint}/oidc/login")
        page.get_by_text("Cancel").click()
        page.wait_for_url("**/oidc/callback?**")
        assert page.locator("p").inner_text() == "The provider refused the sign-in."
        assert not [cookie for cookie in context.cookies(site.server.endpoint) if "session" in cookie["name"]]


def test_the_provider_takes_a_code_once(chromium: Browser, site: Site) -> None:
    here = site.server.endpoint
    callbacks: list[str] = []
    with watched_context(chromium, expected=["status of 401"]) as context:
        page = context.new_page()
        page.on("request", lambda request: callbacks.append(request.url) if "/oidc/callback?" in request.url else None)
        open_sign_in(page, f"{here}/oidc/login?next=/api/v1/user")
        (begun,) = [
            cookie for cookie in context.cookies(f"{here}/oidc/callback") if cookie["name"] == "lakebed_sign_in"
        ]
        fill_in(page, "mia-7")
        shown_user(page)
        page.goto(callbacks[0])
        assert "sign in again" in page.locator("p").inner_text()  # the cookie of the sign-in is gone
        context.add_cookies([{"name": "lakebed_sign_in", "value": begun["value"], "url": f"{here}/oidc/callback"}])
        page.goto(callbacks[0])
        assert page.locator("p").inner_text().startswith("The sign-in failed.")


def test_login_opens_the_browser_and_takes_the_code_from_it(
    page: Page, site: Site, run: Command, opened: OpenedAddress, tmp_path: Path
) -> None:
    with run.start("login", site.server.endpoint) as process:
        sign_in(page, opened.wait(), "mia-7")
        page.wait_for_url("http://127.0.0.1:*/?code=*")
        assert page.locator("p").inner_text() == "You are signed in. You can close this window."
        out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, out.decode()) == (
        0,
        f"You are signed in to {site.server.endpoint} as mia@example.com.\n",
    ), err
    assert run("whoami", "--json").json["id"] == "mia@example.com"
    assert run("logout").text == "You are signed out.\n"


def test_login_without_a_browser_takes_the_code_that_the_page_shows(
    page: Page, site: Site, run: Command, tmp_path: Path
) -> None:
    with run.start("login", site.server.endpoint, "--no-browser", stdin=subprocess.PIPE) as process:
        assert process.stderr is not None
        assert b"Open this address" in process.stderr.readline()
        sign_in(page, process.stderr.readline().decode().strip(), "mia-7")
        code = page.locator("pre")
        assert "You are signed in as mia@example.com." in page.locator("p").inner_text()
        save_png(page, "sign-in-code")
        _, err = process.communicate(code.inner_text().encode() + b"\n", timeout=PATIENCE)
    assert process.returncode == 0, err
    assert yaml.safe_load((tmp_path / "lakebed.yaml").read_text())["endpoint"] == site.server.endpoint
    assert run("whoami", "--json").json["id"] == "mia@example.com"


def test_an_address_that_the_client_did_not_register_is_refused_by_the_provider(chromium: Browser, site: Site) -> None:
    other = site.server.endpoint.replace("127.0.0.1", "localhost")
    with watched_context(chromium, expected=["status of 400", "favicon.ico"]) as context:
        page = context.new_page()
        open_sign_in(page, f"{other}/oidc/login")
        assert page.url.startswith(site.provider.issuer)
        assert "redirect_uri" in page.locator("body").inner_text()


def test_a_provider_that_names_no_key_in_its_tokens(page: Page, tmp_path_factory: pytest.TempPathFactory) -> None:
    with (
        running_oidc_provider_mock() as provider,
        running_server(tmp_path_factory, environment=provider.variables) as server,
    ):
        open_sign_in(page, f"{server.endpoint}/oidc/login?next=/api/v1/user")
        page.get_by_role("button", name="mia-7").click()
        assert shown_user(page)["id"] == "mia@example.com"
