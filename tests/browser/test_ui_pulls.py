"""Two people at the same time: one opens a pull request, the other comments on a row and approves, the first merges."""

from __future__ import annotations

from uuid import uuid4

import lakebed
import pandas as pd
from playwright.sync_api import Browser, expect

from tests.browser.ui import check, signed_in
from tests.support.server import RunningServer

ORDERS = pd.DataFrame({"order": range(1, 6), "customer": ["c"] * 5, "amount": [1.5, 2.5, 3.5, 4.5, 5.5]})


def orders_changed_on_a_branch(repo: lakebed.Repository) -> None:
    main = repo.branch("main")
    main.write_parquet("orders.parquet", ORDERS)
    main.commit("orders")
    changed = ORDERS.copy()
    changed.loc[2, "amount"] = 99.0
    changed.loc[3, "customer"] = "<img src=x onerror=alert(1)>"
    dev = repo.branch("dev").create("main")
    dev.write_parquet("orders.parquet", changed[:4])
    dev.commit("correct the amounts")


def new_reviewer(lake: lakebed.Lake, repo: lakebed.Repository) -> tuple[str, tuple[str, str]]:
    name = f"ana-{uuid4().hex[:8]}"
    lake.users.create(name)
    lake.users.grant(name, repo.id, "writer")
    key = lake.keys.create(name, name="browser")
    return name, (key.id, key.secret)


def test_two_people_review_and_merge(
    chromium: Browser, server: RunningServer, lake: lakebed.Lake, repo: lakebed.Repository
) -> None:
    orders_changed_on_a_branch(repo)
    ana, key = new_reviewer(lake, repo)
    with signed_in(chromium, server) as first, signed_in(chromium, server, user=key) as second:
        first.goto(f"/repositories/{repo.id}/pulls")
        expect(first.get_by_text("No open pull requests")).to_be_visible()
        check(first, "pulls-empty")
        first.get_by_role("button", name="New pull request").first.click()
        first.get_by_role("button", name="Open pull request").click()
        expect(first.get_by_text("A pull request needs a title.")).to_be_visible()
        first.get_by_label("Title").fill("Correct the amounts")
        first.get_by_label("Description").fill(f"Order **3** was wrong. @{ana} <script>alert(1)</script>")
        check(first, "pulls-create")
        first.get_by_role("button", name="Open pull request").click()
        expect(first.get_by_role("heading", name="Correct the amounts")).to_be_visible()
        expect(first.get_by_text("another person approves it")).to_be_visible()
        check(first, "pull")

        second.goto(f"/repositories/{repo.id}/pulls?show=mine")
        expect(second.get_by_text("mentioned", exact=True)).to_be_visible()
        second.get_by_role("link", name="Correct the amounts").click()
        second.get_by_role("button", name="Files").click()
        second.get_by_role("button", name="Show rows").click()
        second.get_by_label("order", exact=True).check()
        second.get_by_role("button", name="Compare rows").click()
        row = second.get_by_role("row").filter(has_text="99")
        expect(row.locator("del")).to_contain_text("3.5")
        expect(second.get_by_role("row").filter(has_text="<img src=x onerror=alert(1)>")).to_be_visible()
        expect(second.get_by_role("button", name="− 1 removed")).to_be_visible()
        row.get_by_role("button", name="Comment on this row").click()
        second.get_by_label("Your comment").fill("Is this the final amount?")
        second.get_by_role("button", name="Comment", exact=True).click()
        expect(second.get_by_role("article").filter(has_text="Is this the final amount?")).to_be_visible()
        check(second, "pull-files")
        second.get_by_role("button", name="Conversation").click()
        second.get_by_role("button", name="Approve").click()
        expect(second.get_by_text("approved", exact=True)).to_be_visible()
        check(second, "pull-approved")

        first.reload()
        expect(first.get_by_text("1 approval")).to_be_visible()
        expect(first.get_by_text('row {"order":3}')).to_be_visible()
        first.get_by_role("button", name="Merge", exact=True).click()
        expect(first.get_by_text("Merged", exact=True).first).to_be_visible()
        expect(second.get_by_text("Another person has merged this pull request")).to_be_visible(timeout=20_000)
        check(first, "pull-merged")
        second.get_by_role("button", name="Files").click()
        expect(second.get_by_role("link", name="orders.parquet").first).to_be_visible()
    assert repo.branch("main").read_parquet("orders.parquet")["amount"].tolist() == [1.5, 2.5, 99.0, 4.5]


def test_what_was_typed_stays_when_the_merge_is_refused(
    chromium: Browser, server: RunningServer, repo: lakebed.Repository
) -> None:
    orders_changed_on_a_branch(repo)
    with signed_in(chromium, server, expected=["status of 409", "ERR_FAILED"]) as page:
        page.goto(f"/repositories/{repo.id}/pulls?source=dev&destination=main")
        page.get_by_label("Title").fill("Amounts")
        page.get_by_role("button", name="Open pull request").click()
        page.get_by_label("Commit message").fill("A message of mine")
        expect(page.get_by_text("Ready to merge")).to_be_visible()
        # the source moves after the page read it; the page must not merge what nobody saw
        page.route("**/state", lambda route: route.abort())
        repo.branch("dev").put("late.csv", b"a\n1\n")
        repo.branch("dev").commit("a late change")
        page.get_by_role("button", name="Merge", exact=True).click()
        expect(page.get_by_role("alert")).to_contain_text("nothing was changed")
        expect(page.get_by_label("Commit message")).to_have_value("A message of mine")
        check(page, "pull-refused")
    assert not list(repo.branch("main").list("late"))
