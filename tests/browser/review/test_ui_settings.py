"""The settings of a repository: its facts, the rules of its branches, and its deletion."""

from __future__ import annotations

from uuid import uuid4

import lakebed
from playwright.sync_api import Browser, expect

from tests.browser.ui import check, signed_in
from tests.support.processes.server import RunningServer


def test_rules_are_added_changed_and_removed(
    chromium: Browser, server: RunningServer, repo: lakebed.Repository
) -> None:
    with signed_in(chromium, server) as page:
        page.goto(f"/repositories/{repo.id}/settings")
        expect(page.get_by_text("No branch is protected")).to_be_visible()
        expect(page.get_by_role("definition").filter(has_text=repo.id).first).to_be_visible()
        page.get_by_role("button", name="Add rule").click()
        page.get_by_role("button", name="Save").click()
        expect(page.get_by_text("Write a pattern.")).to_be_visible()
        page.get_by_label("Pattern").fill("main")
        page.get_by_label("Approvals").fill("2")
        page.get_by_label("Checks").fill("quality\nschema\n")
        check(page, "settings-rule")
        page.get_by_role("button", name="Save").click()
        expect(page.get_by_role("row").filter(has_text="main")).to_contain_text("quality")
        assert list(repo.protection().rules) == [lakebed.ProtectionRule("main", 2, ("quality", "schema"))]
        check(page, "settings", is_main=True)

        page.get_by_role("button", name="Add rule").click()
        page.get_by_label("Pattern").fill("main")
        page.get_by_role("button", name="Save").click()
        expect(page.get_by_text("Another rule has this pattern.")).to_be_visible()
        page.get_by_label("Pattern").fill("release-*")
        page.get_by_role("button", name="Save").click()
        expect(page.get_by_role("row").filter(has_text="release-*")).to_be_visible()

        page.get_by_role("button", name="Actions for main").click()
        page.get_by_role("menuitem", name="Change").click()
        expect(page.get_by_label("Approvals")).to_have_value("2")
        page.get_by_label("Approvals").fill("1")
        page.get_by_role("button", name="Save").click()
        expect(page.get_by_role("dialog")).to_be_hidden()
        page.get_by_role("button", name="Actions for release-*").click()
        page.get_by_role("menuitem", name="Remove rule").click()
        page.get_by_role("dialog").get_by_role("button", name="Remove rule").click()
        expect(page.get_by_role("row").filter(has_text="release-*")).to_be_hidden()
    assert list(repo.protection().rules) == [lakebed.ProtectionRule("main", 1, ("quality", "schema"))]


def test_rules_of_another_person_are_not_overwritten(
    chromium: Browser, server: RunningServer, repo: lakebed.Repository
) -> None:
    with signed_in(chromium, server, expected=["status of 412"]) as page:
        page.goto(f"/repositories/{repo.id}/settings")
        page.get_by_role("button", name="Add rule").click()
        page.get_by_label("Pattern").fill("dev")
        repo.set_protection(["main"])
        page.get_by_role("button", name="Save").click()
        expect(page.get_by_role("alert")).to_be_visible()
        expect(page.get_by_label("Pattern")).to_have_value("dev")
    assert repo.protection().patterns == ("main",)


def test_a_repository_is_deleted_by_its_name(chromium: Browser, server: RunningServer, lake: lakebed.Lake) -> None:
    name = f"gone-{uuid4().hex[:8]}"
    repo = lake.repository(name).create(f"local://{name}")
    with signed_in(chromium, server) as page:
        page.goto(f"/repositories/{name}/settings")
        page.get_by_role("button", name="Delete repository").click()
        dialog = page.get_by_role("dialog")
        button = dialog.get_by_role("button", name="Delete repository")
        expect(button).to_be_disabled()
        check(page, "settings-delete")
        dialog.get_by_label(f"Type {name} to confirm").fill(name)
        button.click()
        expect(page.get_by_role("status").filter(has_text=f"Deleted {name}")).to_be_visible()
        expect(page.get_by_role("heading", name="Repositories")).to_be_visible()
        expect(page.get_by_role("link", name=name)).to_be_hidden()
    assert repo.id not in [one.id for one in lake.repositories()]
