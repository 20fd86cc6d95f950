"""Find and create repositories."""

from __future__ import annotations

from uuid import uuid4

import lakebed
from playwright.sync_api import Browser, expect

from tests.browser.ui import check, signed_in
from tests.support.processes.server import RunningServer


def test_a_repository_with_sample_data_is_made_and_found(
    chromium: Browser, server: RunningServer, lake: lakebed.Lake
) -> None:
    name = f"page-{uuid4().hex[:12]}"
    with signed_in(chromium, server) as page:
        page.goto("/repositories")
        page.get_by_role("button", name="New repository").first.click()
        page.get_by_label("Name", exact=True).fill("No")
        page.get_by_role("button", name="Create repository").click()
        expect(page.get_by_text("beginning with a letter or digit")).to_be_visible()
        page.get_by_label("Name", exact=True).fill(name)
        page.get_by_label("Storage").fill(f"local://{name}")
        page.get_by_label("Fill it with sample data").check()
        check(page, "repository-create")
        page.keyboard.press("Control+Enter")
        page.wait_for_url(f"**/repositories/{name}/objects")
        expect(page.get_by_role("table")).to_be_visible()
        assert list(lake.repository(name).branch("main").list())

        page.keyboard.press("g")
        page.keyboard.press("r")
        expect(page.get_by_role("heading", name="Repositories", exact=True)).to_be_visible()
        page.keyboard.press("/")
        page.keyboard.type(name[5:])
        expect(page.get_by_role("row")).to_have_count(2)
        check(page, "repositories", is_main=True)
        page.keyboard.press("Tab")
        page.get_by_role("link", name=name).click()
        expect(page.get_by_role("link", name="Objects")).to_have_attribute("aria-current", "page")


def test_a_missing_repository_says_so_in_place(chromium: Browser, server: RunningServer) -> None:
    with signed_in(chromium, server, expected=["status of 404"]) as page:
        page.goto("/repositories/there-is-none/objects")
        expect(page.get_by_role("alert")).to_contain_text("This does not exist")
        check(page, "repository-missing")
