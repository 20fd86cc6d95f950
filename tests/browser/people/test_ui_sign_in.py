"""Sign in to the web page with a key, and out again. The page keeps no token."""

from __future__ import annotations

from playwright.sync_api import Browser, expect

from tests.browser.ui import check, open_context, signed_in
from tests.support.processes.server import RunningServer

UNAUTHENTICATED = "status of 401"
"""The browser reports each answer with this status on its console."""


def test_a_person_signs_in_with_a_key_and_out(chromium: Browser, server: RunningServer) -> None:
    with open_context(chromium, server, expected=[UNAUTHENTICATED]) as context:
        page = context.new_page()
        page.goto("/")
        expect(page.get_by_role("heading", name="Sign in to Lakebed")).to_be_visible()
        check(page, "sign-in")
        page.get_by_label("Access key ID").fill(server.access_key_id)
        page.get_by_label("Secret access key").fill("wrong")
        page.get_by_role("button", name="Sign in").click()
        expect(page.get_by_role("alert")).to_contain_text("wrong")
        page.get_by_label("Secret access key").fill(server.secret_access_key)
        page.keyboard.press("Enter")
        expect(page.get_by_role("heading", name="Repositories", exact=True)).to_be_visible()
        stored = page.evaluate("JSON.stringify([{...localStorage}, {...sessionStorage}, document.cookie])")
        assert stored == '[{},{},""]'
        page.get_by_role("button", name="Signed in as admin").click()
        page.get_by_role("menuitem", name="Sign out").click()
        expect(page.get_by_role("heading", name="Sign in to Lakebed")).to_be_visible()
        page.reload()
        expect(page.get_by_role("heading", name="Sign in to Lakebed")).to_be_visible()


def test_an_ended_session_keeps_what_was_typed(chromium: Browser, server: RunningServer) -> None:
    with signed_in(chromium, server, expected=[UNAUTHENTICATED]) as page:
        page.goto("/repositories")
        page.get_by_role("button", name="New repository").first.click()
        page.get_by_label("Name", exact=True).fill("kept-name")
        page.context.clear_cookies()
        page.get_by_role("button", name="Create repository").click()
        again = page.get_by_role("dialog", name="Sign in again")
        expect(again).to_be_visible()
        again.get_by_label("Access key ID").fill(server.access_key_id)
        again.get_by_label("Secret access key").fill(server.secret_access_key)
        again.get_by_role("button", name="Sign in").click()
        expect(again).to_be_hidden()
        expect(page.get_by_label("Name", exact=True)).to_have_value("kept-name")
