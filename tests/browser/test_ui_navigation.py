"""What stays and what moves when the address changes: typed text, the focus, dialogs."""

from __future__ import annotations

import lakebed
from playwright.sync_api import Browser, expect

from tests.browser.ui import signed_in
from tests.support.processes.server import RunningServer


def test_typed_text_survives_a_change_of_the_query(
    chromium: Browser, server: RunningServer, repo: lakebed.Repository
) -> None:
    for name in ("dev", "old"):
        repo.branch(name).create(source="main")
    with signed_in(chromium, server) as page:
        page.goto(f"/repositories/{repo.id}/pulls/new?source=dev")
        page.get_by_label("Title").fill("typed before the branch was chosen")
        page.get_by_role("button", name="Into: main").click()
        page.get_by_role("option", name="old").click()
        page.wait_for_url("**source=dev&destination=old")
        expect(page.get_by_label("Title")).to_have_value("typed before the branch was chosen")

        page.goto(f"/repositories/{repo.id}/branches")
        search = page.get_by_label("Find by prefix")
        search.press_sequentially("de")
        page.wait_for_url("**prefix=de")
        search.press_sequentially("v")
        page.wait_for_url("**prefix=dev")
        expect(search).to_be_focused()
        expect(search).to_have_value("dev")


def test_a_review_is_kept_while_the_changes_are_read(
    chromium: Browser, server: RunningServer, repo: lakebed.Repository
) -> None:
    dev = repo.branch("dev").create(source="main")
    dev.put("a.txt", b"1")
    dev.commit("work")
    pull = repo.pulls.create("dev", "main", title="Work")
    with signed_in(chromium, server) as page:
        page.goto(f"/repositories/{repo.id}/pulls/{pull.id}")
        page.get_by_label("Comment").fill("half of a review")
        page.get_by_role("button", name="Changes", exact=True).click()
        expect(page.get_by_role("link", name="a.txt")).to_be_visible()
        page.get_by_role("button", name="Conversation").click()
        expect(page.get_by_label("Comment")).to_have_value("half of a review")


def test_back_closes_a_dialog_about_the_screen_before(
    chromium: Browser, server: RunningServer, repo: lakebed.Repository
) -> None:
    for name in ("main", "dev"):
        branch = repo.branch("main") if name == "main" else repo.branch("dev").create(source="main")
        branch.put("a.txt", b"1")
    with signed_in(chromium, server) as page:
        page.goto(f"/repositories/{repo.id}/changes?ref=dev")
        page.get_by_role("button", name="Branch: dev").click()
        page.get_by_role("option", name="main").click()
        page.get_by_role("button", name="Discard all").click()
        expect(page.get_by_role("dialog")).to_contain_text("on main are lost")
        page.go_back()
        expect(page.get_by_role("dialog")).to_be_hidden()
        expect(page.get_by_role("button", name="Branch: dev")).to_be_visible()


def test_what_a_link_opens_gets_the_focus(chromium: Browser, server: RunningServer, repo: lakebed.Repository) -> None:
    repo.branch("main").put("in/a.txt", b"1")
    with signed_in(chromium, server) as page:
        page.goto(f"/repositories/{repo.id}/objects")
        page.get_by_role("link", name="in/").press("Enter")
        expect(page.get_by_role("link", name="a.txt")).to_be_visible()
        expect(page.get_by_role("main")).to_be_focused()
        page.get_by_role("link", name="Commits").press("Enter")
        expect(page.get_by_role("heading", name="Commits")).to_be_visible()
        expect(page.get_by_role("main")).to_be_focused()
        page.go_back()
        expect(page.get_by_role("link", name="a.txt")).to_be_visible()
        expect(page.get_by_role("main")).to_be_focused()
