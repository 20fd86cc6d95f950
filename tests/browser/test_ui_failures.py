"""What the page says without a permission, without a server, and when a ref disappears."""

from __future__ import annotations

from uuid import uuid4

import lakebed
import pytest
from playwright.sync_api import Browser, expect

from tests.browser.ui import check, signed_in
from tests.support.processes.server import RunningServer, lake_of


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


def test_a_branch_deleted_while_it_is_viewed_is_reported(
    chromium: Browser, server: RunningServer, repo: lakebed.Repository
) -> None:
    dev = repo.branch("dev").create(source="main")
    dev.put("in/a.txt", b"1")
    with signed_in(chromium, server, expected=["status of 404"]) as page:
        page.goto(f"/repositories/{repo.id}/changes?ref=dev")
        page.get_by_role("button", name="Commit", exact=True).click()
        page.get_by_label("Message").fill("typed before the branch was deleted")
        dev.drop()
        page.keyboard.press("Control+Enter")
        expect(page.get_by_role("alert").first).to_contain_text("dev")
        expect(page.get_by_label("Message")).to_have_value("typed before the branch was deleted")
        check(page, "ref-deleted")
        page.get_by_role("button", name="Cancel").click()
        page.get_by_role("link", name="Objects").click()
        expect(page.get_by_role("alert")).to_contain_text("dev")
        check(page, "ref-deleted-objects")


def test_a_permission_that_is_lost_in_an_action_keeps_what_was_typed(
    chromium: Browser, server: RunningServer, repo: lakebed.Repository
) -> None:
    lake = lake_of(repo)
    name = f"writer-{uuid4().hex[:8]}"
    lake.users.create(name)
    lake.users.grant(name, repo.id, "writer")
    key = lake.keys.create(name)
    repo.branch("main").put("a.txt", b"a")
    with signed_in(chromium, server, expected=["status of 403"], user=(key.id, key.secret)) as page:
        page.goto(f"/repositories/{repo.id}/changes")
        page.get_by_role("button", name="Commit", exact=True).click()
        page.get_by_label("Message").fill("typed before the right was taken")
        lake.users.revoke(name, repo.id)
        page.keyboard.press("Control+Enter")
        expect(page.get_by_role("dialog").get_by_role("alert")).to_contain_text("fs:CreateCommit")
        expect(page.get_by_label("Message")).to_have_value("typed before the right was taken")
        check(page, "permission-lost")
        lake.users.grant(name, repo.id, "writer")
        page.keyboard.press("Control+Enter")
        expect(page.get_by_text("No uncommitted changes")).to_be_visible()
    assert next(iter(repo.branch("main").log())).message == "typed before the right was taken"


@pytest.mark.parametrize("screen", ["commits", "pulls/new?source=dev"])
def test_a_session_that_ends_keeps_the_screen(
    chromium: Browser, server: RunningServer, repo: lakebed.Repository, screen: str
) -> None:
    dev = repo.branch("dev").create(source="main")
    dev.put("a.txt", b"1")
    dev.commit("work")
    with signed_in(chromium, server, expected=["status of 401"]) as page:
        page.goto(f"/repositories/{repo.id}/{screen}")
        field = page.get_by_label("Title" if "new" in screen else "Author")
        field.fill("Work of dev")
        page.context.clear_cookies()
        page.keyboard.press("Enter")
        again = page.get_by_role("dialog", name="Sign in again")
        expect(again).to_be_visible()
        check(page, f"session-ended-{screen[:5]}")
        again.get_by_label("Access key ID").fill(server.access_key_id)
        again.get_by_label("Secret access key").fill(server.secret_access_key)
        again.get_by_role("button", name="Sign in").click()
        expect(again).to_be_hidden()
        expect(field).to_have_value("Work of dev")


def test_a_server_that_is_gone_is_reported_in_place_of_the_content(
    chromium: Browser, server: RunningServer, repo: lakebed.Repository
) -> None:
    with signed_in(chromium, server, expected=["ERR_"]) as page:
        page.goto(f"/repositories/{repo.id}/tags")
        expect(page.get_by_text("No tags yet")).to_be_visible()
        # the scripts of the screens arrive, the answers of the API do not
        page.route("**/api/v1/**", lambda route: route.abort())
        page.get_by_role("link", name="Branches").click()
        expect(page.get_by_role("heading", name="The server does not answer")).to_be_visible()
        check(page, "server-gone")
        page.unroute_all()
        page.get_by_role("button", name="Try again").click()
        expect(page.get_by_role("link", name="main", exact=True)).to_be_visible()
        page.route("**/api/v1/**", lambda route: route.abort())
        page.reload()
        expect(page.get_by_role("heading", name="The server does not answer")).to_be_visible()
        page.unroute_all()
        page.get_by_role("button", name="Try again").click()
        expect(page.get_by_role("link", name="main", exact=True)).to_be_visible()


def test_an_unknown_address_is_no_blank_page(chromium: Browser, server: RunningServer) -> None:
    with signed_in(chromium, server) as page:
        page.goto("/some/where")
        expect(page.get_by_role("heading", name="There is no such page")).to_be_visible()
        check(page, "missing-page")
