"""Everything works without a mouse: no test of this module moves or clicks one."""

from __future__ import annotations

import lakebed
from playwright.sync_api import Browser, Page, expect

from tests.browser.keyboard import check_focus, tab_to
from tests.browser.ui import open_context, signed_in
from tests.support.processes.server import RunningServer, lake_of


def a_pull_request(server: RunningServer, repo: lakebed.Repository) -> lakebed.PullRequest:
    """A pull request of another person, so that the administrator may approve it."""
    main = repo.branch("main")
    main.put("orders.csv", b"id,price\n1,10\n2,20\n")
    main.commit("first orders")
    dev = repo.branch("dev").create(source="main")
    dev.put("orders.csv", b"id,price\n1,10\n2,25\n")
    dev.commit("correct a price")
    repo.set_protection([lakebed.ProtectionRule("main", required_approvals=1)])
    lake = lake_of(repo)
    name = f"ana-{repo.id}"
    lake.users.create(name)
    lake.users.grant(name, repo.id, "writer")
    key = lake.keys.create(name)
    with lakebed.connect(server.endpoint, key.id, key.secret) as hers:
        return hers.repository(repo.id).pulls.create("dev", "main", title="Correct the price of order 2")


def press(page: Page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def test_a_change_is_found_reviewed_and_merged(
    chromium: Browser, server: RunningServer, repo: lakebed.Repository
) -> None:
    pull = a_pull_request(server, repo)
    with open_context(chromium, server, expected=["status of 401"]) as context:
        page = context.new_page()
        page.goto("/")
        expect(page.get_by_label("Access key ID")).to_be_focused()
        page.keyboard.type(server.access_key_id)
        press(page, "Tab")
        page.keyboard.type(server.secret_access_key)
        press(page, "Enter")
        expect(page.get_by_role("heading", name="Repositories", exact=True)).to_be_visible()

        tab_to(page, "link", repo.id)
        press(page, "Enter")
        expect(page.get_by_role("link", name="orders.csv")).to_be_visible()
        expect(page.get_by_role("main")).to_be_focused()
        press(page, "g", "m")
        expect(page.get_by_role("heading", name="Compare", exact=True)).to_be_visible()
        tab_to(page, "button", "Compare: main")
        press(page, "Enter")
        expect(page.get_by_role("combobox")).to_be_focused()
        page.keyboard.type("dev")
        expect(page.get_by_role("option", name="dev", exact=True)).to_be_visible()
        press(page, "Enter")
        expect(page.get_by_role("button", name="Compare: dev")).to_be_focused()
        compare_rows(page)
        expect(page.get_by_role("row").filter(has_text="changed")).to_contain_text("25")

        press(page, "g", "p")
        tab_to(page, "link", pull.title)
        press(page, "Enter")
        expect(page.get_by_role("heading", name=pull.title)).to_be_visible()
        tab_to(page, "button", "Changes")
        press(page, "Enter")
        compare_rows(page)
        tab_to(page, "button", "Comment on this row")
        press(page, "Enter")
        tab_to(page, "textbox", "Comment")
        page.keyboard.type("Is 25 right?")
        tab_to(page, "button", "Add comment")
        press(page, "Enter")
        expect(page.get_by_role("article", name="Comment of admin")).to_contain_text("Is 25 right?")

        tab_to(page, "button", "Conversation")
        press(page, "Enter")
        tab_to(page, "radio", "Comment")
        press(page, "ArrowRight")
        expect(page.get_by_role("radio", name="Approve")).to_be_checked()
        tab_to(page, "button", "Approve")
        press(page, "Enter")
        expect(page.get_by_role("heading", name="Ready to merge")).to_be_visible()
        tab_to(page, "button", "Merge…")
        press(page, "Enter")
        expect(page.get_by_label("Commit message")).to_be_focused()
        tab_to(page, "button", "Merge")
        press(page, "Enter")
        expect(page.get_by_text("Merged", exact=True)).to_be_visible()
        expect(page.get_by_role("main")).to_be_focused()
    assert repo.branch("main").get("orders.csv") == b"id,price\n1,10\n2,25\n"


def compare_rows(page: Page) -> None:
    """Open the difference of the table, and compare its rows by their `id`."""
    tab_to(page, "button", "Show the difference: orders.csv")
    press(page, "Enter")
    tab_to(page, "checkbox", "id")
    press(page, "Space")
    tab_to(page, "button", "Compare rows")
    press(page, "Enter")


def test_the_first_tab_skips_to_the_content(chromium: Browser, server: RunningServer, repo: lakebed.Repository) -> None:
    with signed_in(chromium, server) as page:
        page.goto(f"/repositories/{repo.id}/objects")
        expect(page.get_by_text("This folder is empty")).to_be_visible()
        press(page, "Tab")
        expect(page.get_by_role("link", name="Skip to content")).to_be_focused()
        check_focus(page)
        press(page, "Enter")
        expect(page.get_by_role("main")).to_be_focused()
        press(page, "Tab")
        expect(page.get_by_role("button", name="Ref: main")).to_be_focused()


def test_menus_and_dialogs_return_the_focus(chromium: Browser, server: RunningServer, repo: lakebed.Repository) -> None:
    for name in ("a.txt", "b.txt"):
        repo.branch("main").put(name, b"1")
    with signed_in(chromium, server) as page:
        page.goto(f"/repositories/{repo.id}/objects")
        actions = tab_to(page, "button", "Actions for a.txt")
        press(page, "Enter")
        expect(page.get_by_role("menuitem").first).to_be_focused()
        press(page, "ArrowUp")
        expect(page.get_by_role("menuitem", name="Delete")).to_be_focused()
        press(page, "Escape")
        expect(page.get_by_role("menu")).to_be_hidden()
        expect(actions).to_be_focused()
        choose_last(page)
        expect(page.get_by_role("dialog", name="Delete 1 item?")).to_be_visible()
        press(page, "Escape")
        expect(page.get_by_role("dialog")).to_be_hidden()
        expect(actions).to_be_focused()
        choose_last(page)
        tab_to(page, "button", "Delete")
        press(page, "Enter")
        expect(page.get_by_role("link", name="a.txt")).to_be_hidden()
        expect(page.get_by_role("main")).to_be_focused()


def choose_last(page: Page) -> None:
    """Open the menu that has the focus, and choose its last item."""
    press(page, "Enter")
    expect(page.get_by_role("menuitem").first).to_be_focused()
    press(page, "End", "Enter")
