"""What the page says without a permission, without a server, and when a ref disappears."""

from __future__ import annotations

from uuid import uuid4

import lakebed
from playwright.sync_api import Browser, expect

from tests.browser.ui import check, signed_in
from tests.support.server import RunningServer


def test_a_person_without_a_permission_sees_which_one(
    chromium: Browser, server: RunningServer, lake: lakebed.Lake, repo: lakebed.Repository
) -> None:
    name = f"reader-{uuid4().hex[:8]}"
    lake.users.create(name)
    key = lake.keys.create(name)
    with signed_in(chromium, server, expected=["status of 403"], user=(key.id, key.secret)) as page:
        page.goto(f"/repositories/{repo.id}/objects")
        expect(page.get_by_role("alert")).to_contain_text("You have no permission for this")
        check(page, "no-permission")


def test_a_server_that_is_gone_keeps_what_was_typed(
    chromium: Browser, server: RunningServer, repo: lakebed.Repository
) -> None:
    repo.branch("main").put("a.txt", b"a")
    with signed_in(chromium, server, expected=["ERR_"]) as page:
        page.goto(f"/repositories/{repo.id}/changes")
        page.get_by_role("button", name="Commit", exact=True).click()
        page.get_by_label("Message").fill("typed before the cable was pulled")
        page.context.set_offline(True)
        page.keyboard.press("Control+Enter")
        expect(page.get_by_role("alert")).to_contain_text("The server does not answer.")
        expect(page.get_by_label("Message")).to_have_value("typed before the cable was pulled")
        page.context.set_offline(False)
        page.keyboard.press("Control+Enter")
        expect(page.get_by_text("No uncommitted changes")).to_be_visible()
    assert next(iter(repo.branch("main").log())).message == "typed before the cable was pulled"


def test_a_branch_that_disappears_is_reported_in_place(
    chromium: Browser, server: RunningServer, repo: lakebed.Repository
) -> None:
    dev = repo.branch("dev").create(source="main")
    with signed_in(chromium, server, expected=["status of 404"]) as page:
        page.goto(f"/repositories/{repo.id}/objects?ref=dev")
        expect(page.get_by_text("This folder is empty")).to_be_visible()
        dev.drop()
        page.reload()
        expect(page.get_by_role("alert")).to_contain_text("dev")
        page.get_by_role("button", name="Ref: dev").click()
        page.get_by_role("option", name="main").click()
        expect(page.get_by_text("This folder is empty")).to_be_visible()


def test_an_unknown_address_is_no_blank_page(chromium: Browser, server: RunningServer) -> None:
    with signed_in(chromium, server) as page:
        page.goto("/some/where")
        expect(page.get_by_role("heading", name="There is no such page")).to_be_visible()
        check(page, "missing-page")
