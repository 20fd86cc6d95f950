"""What people do to a pull request besides the merge: each button that changes its state."""

from __future__ import annotations

import lakebed
import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.ui import check, signed_in
from tests.support.processes.server import RunningServer, lake_of


@pytest.fixture
def pull(server: RunningServer, repo: lakebed.Repository) -> lakebed.PullRequest:
    """An open pull request of another person than the administrator. `main` needs one approval."""
    dev = repo.branch("dev").create(source="main")
    dev.put("a.txt", b"1")
    dev.commit("work")
    repo.set_protection([lakebed.ProtectionRule("main", required_approvals=1)])
    lake = lake_of(repo)
    name = f"ana-{repo.id}"
    lake.users.create(name)
    lake.users.grant(name, repo.id, "writer")
    key = lake.keys.create(name)
    with lakebed.connect(server.endpoint, key.id, key.secret) as hers:
        return hers.repository(repo.id).pulls.create("dev", "main", title="Work", description="as agreed")


def choose(page: Page, menu: str, item: str) -> None:
    page.get_by_role("button", name=menu).click()
    page.get_by_role("menuitem", name=item, exact=True).click()


def review(page: Page, verdict: str, text: str = "") -> None:
    page.get_by_label("Comment", exact=True).and_(page.get_by_role("textbox")).fill(text)
    page.get_by_role("radio", name=verdict).check()
    page.get_by_role("button", name=verdict, exact=True).click()


def test_it_is_edited_drafted_closed_and_opened_again(
    chromium: Browser, server: RunningServer, repo: lakebed.Repository, pull: lakebed.PullRequest
) -> None:
    menu = "Actions for this pull request"
    with signed_in(chromium, server) as page:
        page.goto(f"/repositories/{repo.id}/pulls/{pull.id}")
        choose(page, menu, "Edit title and description")
        page.get_by_role("textbox", name="Title").fill("")
        expect(page.get_by_text("Write a title.")).to_be_visible()
        page.get_by_role("textbox", name="Title").fill("Better work")
        page.get_by_role("textbox", name="Description").fill("as *agreed*")
        check(page, "pull-edit")
        page.get_by_role("button", name="Save").click()
        expect(page.get_by_role("heading", name="Better work")).to_be_visible()
        expect(page.get_by_role("emphasis")).to_have_text("agreed")

        choose(page, menu, "Make it a draft")
        expect(page.get_by_role("heading", name="This is a draft")).to_be_visible()
        check(page, "pull-draft")
        page.get_by_role("button", name="Ready for review").click()
        expect(page.get_by_role("heading", name="Approvals are missing")).to_be_visible()
        assert not repo.pulls.get(pull.id).draft

        choose(page, menu, "Close without a merge")
        expect(page.get_by_text("Closed", exact=True)).to_be_visible()
        assert repo.pulls.get(pull.id).status == "closed"
        check(page, "pull-closed")
        choose(page, menu, "Open again")
        expect(page.get_by_role("heading", name="Approvals are missing")).to_be_visible()
        assert repo.pulls.get(pull.id).status == "open"


def test_reviews_are_dismissed_and_withdrawn(
    chromium: Browser, server: RunningServer, repo: lakebed.Repository, pull: lakebed.PullRequest
) -> None:
    with signed_in(chromium, server) as page:
        page.goto(f"/repositories/{repo.id}/pulls/{pull.id}")
        review(page, "Request changes", "Please add a test.")
        expect(page.get_by_text("Changes requested by admin")).to_be_visible()
        expect(page.get_by_text("Please add a test.")).to_have_count(1)
        check(page, "pull-changes-requested")
        page.get_by_role("button", name="Dismiss").click()
        expect(page.get_by_text("Dismissed by admin")).to_be_visible()
        expect(page.get_by_text("Changes requested by admin")).to_be_hidden()

        review(page, "Approve")
        expect(page.get_by_role("heading", name="Ready to merge")).to_be_visible()
        assert repo.pulls.approvals(pull.id) == ["admin"]
        page.get_by_role("button", name="Withdraw your approval").click()
        expect(page.get_by_text("No approval of the newest commit")).to_be_visible()
        expect(page.get_by_role("heading", name="Approvals are missing")).to_be_visible()
        assert repo.pulls.approvals(pull.id) == []


def test_it_merges_itself_when_it_may(
    chromium: Browser, server: RunningServer, repo: lakebed.Repository, pull: lakebed.PullRequest
) -> None:
    with signed_in(chromium, server) as page:
        page.goto(f"/repositories/{repo.id}/pulls/{pull.id}")
        page.get_by_role("button", name="Merge when ready").click()
        expect(page.get_by_text("It will be merged when nothing blocks it, as admin asked.")).to_be_visible()
        check(page, "pull-auto-merge")
        page.get_by_role("button", name="Do not merge by itself").click()
        expect(page.get_by_role("button", name="Merge when ready")).to_be_visible()
        page.get_by_role("button", name="Merge when ready").click()
        expect(page.get_by_role("button", name="Do not merge by itself")).to_be_visible()
        review(page, "Approve")
        expect(page.get_by_text("Merged", exact=True)).to_be_visible()
    assert repo.branch("main").get("a.txt") == b"1"


def test_comments_are_edited_resolved_and_deleted(
    chromium: Browser, server: RunningServer, repo: lakebed.Repository, pull: lakebed.PullRequest
) -> None:
    with signed_in(chromium, server) as page:
        page.goto(f"/repositories/{repo.id}/pulls/{pull.id}")
        page.get_by_label("Comment", exact=True).and_(page.get_by_role("textbox")).fill("Wy?")
        page.get_by_role("button", name="Add comment").click()
        comment = page.get_by_role("article", name="Comment of admin")
        menu = "Actions for the comment of admin"
        choose(page, menu, "Edit")
        comment.get_by_role("textbox", name="Comment").fill("Why?")
        comment.get_by_role("button", name="Save").click()
        expect(comment).to_contain_text("Why?")
        expect(comment).to_contain_text("edited")
        choose(page, menu, "Mark as resolved")
        expect(comment).to_contain_text("Resolved")
        assert [(one.body, bool(one.resolved_by)) for one in repo.pulls.comments(pull.id)] == [("Why?", True)]
        check(page, "pull-comment")
        choose(page, menu, "Mark as not resolved")
        expect(comment).not_to_contain_text("Resolved")
        choose(page, menu, "Delete")
        expect(comment).to_contain_text("This comment was deleted.")
        expect(comment).not_to_contain_text("Why?")


def test_reviewers_are_added_and_removed(
    chromium: Browser, server: RunningServer, repo: lakebed.Repository, pull: lakebed.PullRequest
) -> None:
    with signed_in(chromium, server, ["status of 4"]) as page:
        page.goto(f"/repositories/{repo.id}/pulls/{pull.id}")
        side = page.get_by_role("complementary", name="Reviews and checks")
        side.get_by_label("User or @group").fill("unknown-user")
        side.get_by_role("button", name="Add").click()
        expect(side.get_by_role("alert")).to_contain_text("unknown-user")
        side.get_by_label("User or @group").fill("admin")
        side.get_by_role("button", name="Add").click()
        expect(side.get_by_role("button", name="Remove admin")).to_be_visible()
        check(page, "pull-reviewers")
        assert list(repo.pulls.get(pull.id).reviewers) == ["admin"]
        side.get_by_role("button", name="Remove admin").click()
        expect(side.get_by_text("No reviewers")).to_be_visible()
        expect(page.get_by_text("the reviewers")).to_have_count(2)


def test_a_person_sees_that_the_other_has_merged(
    chromium: Browser, server: RunningServer, repo: lakebed.Repository, pull: lakebed.PullRequest
) -> None:
    repo.pulls.approve(pull.id)
    with signed_in(chromium, server) as his, signed_in(chromium, server) as hers:
        for page in (his, hers):
            page.goto(f"/repositories/{repo.id}/pulls/{pull.id}")
            page.get_by_role("button", name="Merge…").wait_for()
        hers.get_by_label("Comment", exact=True).and_(hers.get_by_role("textbox")).fill("I was about to say")
        his.get_by_role("button", name="Merge…").click()
        his.get_by_role("dialog").get_by_role("button", name="Merge", exact=True).click()
        expect(his.get_by_text("Merged", exact=True)).to_be_visible()
        # without a reload: the page asks every 10 seconds
        expect(hers.get_by_text("Merged", exact=True)).to_be_visible()
        expect(hers.get_by_text("merged it as")).to_be_visible()
        expect(hers.get_by_role("button", name="Merge…")).to_have_count(0)
        expect(hers.get_by_label("Comment", exact=True)).to_have_value("I was about to say")
