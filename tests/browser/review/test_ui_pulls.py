"""Open, review, discuss and merge a pull request, with two people in two browsers at the same time."""

from __future__ import annotations

from uuid import uuid4

import lakebed
import pytest
from playwright.sync_api import Browser, expect

from tests.browser.ui import check, signed_in
from tests.support.processes.server import RunningServer, lake_of


@pytest.fixture
def ana(repo: lakebed.Repository) -> tuple[str, str]:
    """The access key of a person who may write to the repository. Her name is `ana-` and that of the repository."""
    lake = lake_of(repo)
    name = f"ana-{repo.id}"
    lake.users.create(name)
    lake.users.grant(name, repo.id, "writer")
    key = lake.keys.create(name)
    return key.id, key.secret


def with_changes(repo: lakebed.Repository) -> lakebed.Branch:
    main = repo.branch("main")
    main.put("orders.csv", b"id,price\n1,10\n2,20\n")
    main.commit("first orders")
    dev = repo.branch("dev").create(source="main")
    dev.put("orders.csv", b"id,price\n1,10\n2,25\n")
    dev.commit("correct a price")
    return dev


def test_two_people_review_and_merge(
    chromium: Browser, server: RunningServer, repo: lakebed.Repository, ana: tuple[str, str]
) -> None:
    with_changes(repo)
    repo.set_protection([lakebed.ProtectionRule("main", required_approvals=1)])
    with signed_in(chromium, server, user=ana) as hers, signed_in(chromium, server) as his:
        hers.goto(f"/repositories/{repo.id}/pulls")
        expect(hers.get_by_text("No open pull requests")).to_be_visible()
        check(hers, "pulls-empty")
        hers.get_by_role("link", name="New pull request").click()
        expect(hers.get_by_text("Choose a branch with changes")).to_be_visible()
        hers.get_by_role("button", name="From: Choose a branch").click()
        hers.get_by_role("option", name="dev").click()
        expect(hers.get_by_role("link", name="orders.csv")).to_be_visible()
        hers.get_by_role("button", name="Create pull request").click()
        expect(hers.get_by_text("Write a title.")).to_be_visible()
        hers.get_by_label("Title").fill("Correct the price of order 2")
        hers.get_by_label("Description").fill("It was **too low**. <img src=x onerror=alert(1)>")
        check(hers, "pulls-new")
        hers.get_by_role("button", name="Create pull request").click()
        expect(hers.get_by_role("heading", name="Correct the price of order 2")).to_be_visible()
        expect(hers.get_by_role("heading", name="Approvals are missing")).to_be_visible()
        expect(hers.get_by_label("Approve")).to_have_count(0)
        expect(hers.get_by_role("button", name="Merge…")).to_have_count(0)

        his.goto(f"/repositories/{repo.id}/pulls")
        his.get_by_role("link", name="Correct the price of order 2").click()
        his.get_by_role("button", name="Changes", exact=True).click()
        his.get_by_role("button", name="Show the difference: orders.csv").click()
        his.get_by_label("id", exact=True).check()
        his.get_by_role("button", name="Compare rows").click()
        expect(his.get_by_role("row").filter(has_text="changed")).to_contain_text("25")
        check(his, "pulls-rows")
        his.get_by_role("button", name="Comment on this row").click()
        his.get_by_label("Comment", exact=True).fill("Is 25 right?")
        his.get_by_label("Column (optional)").fill("price")
        his.get_by_role("button", name="Add comment").click()
        expect(his.get_by_role("article", name="Comment of admin")).to_contain_text('row {"id":2}')
        check(his, "pulls-files")

        hers.reload()
        thread = hers.get_by_role("article", name="Comment of admin")
        expect(thread).to_contain_text('orders.csv · column price · row {"id":2}')
        thread.get_by_role("button", name="Reply").click()
        hers.get_by_label("Reply").fill("Yes, see the invoice.")
        hers.get_by_role("button", name="Add comment").first.click()
        expect(hers.get_by_text("Yes, see the invoice.")).to_be_visible()

        his.get_by_role("button", name="Conversation").click()
        his.get_by_label("Approve", exact=True).check()
        his.get_by_role("button", name="Approve", exact=True).click()
        expect(his.get_by_text("approved these changes")).to_be_visible()
        expect(his.get_by_role("heading", name="Ready to merge")).to_be_visible()
        check(his, "pulls-one", is_main=True)

        hers.reload()
        hers.get_by_role("button", name="Merge…").click()
        check(hers, "pulls-merge")
        hers.get_by_role("dialog").get_by_role("button", name="Merge", exact=True).click()
        expect(hers.get_by_text("Merged", exact=True)).to_be_visible()
        check(hers, "pulls-merged")
        hers.goto(f"/repositories/{repo.id}/pulls?status=closed")
        expect(hers.get_by_role("row").filter(has_text="Correct the price of order 2")).to_contain_text("Merged")
        check(hers, "pulls-closed")
    assert repo.branch("main").get("orders.csv") == b"id,price\n1,10\n2,25\n"


def test_the_slower_of_two_merges_fails_in_place(
    chromium: Browser, server: RunningServer, repo: lakebed.Repository
) -> None:
    with_changes(repo)
    made = repo.pulls.create("dev", "main", title="Correct a price")
    with signed_in(chromium, server) as one, signed_in(chromium, server, ["status of 4"]) as other:
        for page in (one, other):
            page.goto(f"/repositories/{repo.id}/pulls/{made.id}")
            page.get_by_role("button", name="Merge…").click()
            page.get_by_label("Commit message").fill("merge it now")
        one.get_by_role("dialog").get_by_role("button", name="Merge", exact=True).click()
        expect(one.get_by_text("Merged", exact=True)).to_be_visible()
        other.get_by_role("dialog").get_by_role("button", name="Merge", exact=True).click()
        expect(other.get_by_role("alert")).to_contain_text("is merged as commit")


def test_conflicts_are_resolved_path_by_path(
    chromium: Browser, server: RunningServer, repo: lakebed.Repository
) -> None:
    with_changes(repo)
    main = repo.branch("main")
    main.put("orders.csv", b"id,price\n1,10\n2,30\n")
    main.commit("another price")
    made = repo.pulls.create("dev", "main", title="Correct a price")
    with signed_in(chromium, server) as page:
        page.goto(f"/repositories/{repo.id}/pulls/{made.id}")
        expect(page.get_by_role("heading", name="There are conflicts")).to_be_visible()
        page.get_by_role("button", name="Merge…").click()
        page.get_by_label("Side for orders.csv").select_option("Keep main")
        check(page, "pulls-conflicts")
        page.get_by_role("dialog").get_by_role("button", name="Merge", exact=True).click()
        expect(page.get_by_text("Merged", exact=True)).to_be_visible()
    assert main.get("orders.csv") == b"id,price\n1,10\n2,30\n"


def test_a_pull_request_that_does_not_exist_and_the_own_list(
    chromium: Browser, server: RunningServer, repo: lakebed.Repository, ana: tuple[str, str]
) -> None:
    with_changes(repo)
    title = f"See {uuid4().hex[:8]}"
    repo.pulls.create("dev", "main", title=title, description=f"@ana-{repo.id} please look")
    with signed_in(chromium, server, ["status of 404"], user=ana) as page:
        page.goto(f"/repositories/{repo.id}/pulls/{'0' * 20}")
        expect(page.get_by_role("alert")).to_contain_text("This does not exist")
        check(page, "pulls-missing")
        page.goto("/pulls")
        expect(page.get_by_role("row").filter(has_text=title)).to_contain_text("Mention")
        check(page, "pulls-mine")
