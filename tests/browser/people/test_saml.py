"""People sign in with SAML in a real browser: on a page, and with `lakebed login`. The provider is another site."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from tests.auth.saml_lake import SamlLake, running_saml_lake
from tests.browser.signing_in import OpenedAddress
from tests.cli.support import Command
from tests.support.browser import watched_context
from tests.support.processes.server import clean_environment
from tests.support.waiting import PATIENCE


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SamlLake]:
    with running_saml_lake(tmp_path_factory.mktemp("saml"), {"auth.saml.default_groups": "Viewers"}) as running:
        yield running


def shown_user(page: Page) -> str:
    """The id of the user of the browser, when the page shows `/api/v1/user`."""
    page.wait_for_url("**/api/v1/user")
    return str(json.loads(page.locator("body").inner_text())["user"]["id"])


def test_a_person_signs_in_and_out_in_the_browser(chromium: Browser, lake: SamlLake) -> None:
    here = lake.server.endpoint
    with watched_context(chromium, expected=["status of 401", "favicon.ico"]) as context:
        page = context.new_page()
        page.goto(f"{here}/saml/login?next=/api/v1/user")
        assert shown_user(page) == "ana"
        (session,) = [cookie for cookie in context.cookies(here) if "session" in cookie["name"]]
        assert (session["httpOnly"], session["sameSite"]) == (True, "Strict")
        assert context.cookies(f"{here}/saml/finish") == [session], "the cookie of the sign-in is gone"
        page.goto(f"{here}/logout")
        page.goto(f"{here}/api/v1/user")
        assert "user" not in json.loads(page.locator("body").inner_text())


def test_an_answer_for_another_browser_does_not_sign_in(chromium: Browser, lake: SamlLake) -> None:
    """An attacker makes the browser of a victim post the answer of the attacker's own sign-in."""
    attacker = lake.browser()
    address = attacker.begin()
    with watched_context(chromium, expected=["status of 401", "favicon.ico"]) as context:
        page = context.new_page()
        page.goto(address)
        page.wait_for_url("**/saml/finish?**")
        assert "not started in this browser" in page.locator("p").inner_text()
        assert context.cookies(lake.server.endpoint) == []


def test_login_opens_the_browser_and_takes_the_code_from_it(page: Page, lake: SamlLake, tmp_path: Path) -> None:
    opened, file = OpenedAddress(tmp_path), tmp_path / "lakebed.yaml"
    file.write_text("")
    run = Command(clean_environment(LAKEBED_CONFIG_FILE=str(file), BROWSER=opened.variable, HOME=str(tmp_path)))
    with run.start("login", lake.server.endpoint) as process:
        page.goto(opened.wait())
        page.wait_for_url("http://127.0.0.1:*/?code=*")
        assert page.locator("p").inner_text() == "You are signed in. You can close this window."
        out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, out.decode()) == (0, f"You are signed in to {lake.server.endpoint} as ana.\n"), err
    assert run("whoami", "--json").json["id"] == "ana"
    assert run("logout").text == "You are signed out.\n"
