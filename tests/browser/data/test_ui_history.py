"""Commit, discard, read history, branch, tag, compare and merge."""

from __future__ import annotations

from datetime import UTC, datetime

import lakebed
from playwright.sync_api import Browser, expect

from tests.browser.ui import check, signed_in
from tests.support.processes.server import RunningServer, lake_of


def test_changes_are_seen_discarded_and_committed(
    chromium: Browser, server: RunningServer, repo: lakebed.Repository
) -> None:
    main = repo.branch("main")
    main.put("scripts/load.py", b"import os\nprint(1)\n")
    main.put("gone.txt", b"gone")
    main.commit("first")
    main.put("scripts/load.py", b"import os\nprint(2)\n")
    main.put("wrong/a.txt", b"wrong")
    main.delete("gone.txt")
    with signed_in(chromium, server) as page:
        page.goto(f"/repositories/{repo.id}/changes")
        page.get_by_role("button", name="Show changes in scripts/").click()
        page.get_by_role("button", name="Show the difference: load.py").click()
        expect(page.get_by_role("cell", name="print(2)")).to_be_visible()
        expect(page.get_by_role("listitem").filter(has_text="gone.txt")).to_contain_text("removed")
        check(page, "changes", is_main=True)

        page.get_by_role("button", name="Discard changes of wrong/").click()
        page.get_by_role("dialog").get_by_role("button", name="Discard").click()
        expect(page.get_by_role("link", name="wrong/")).to_be_hidden()
        assert not main.exists("wrong/a.txt")

        page.get_by_role("button", name="Commit", exact=True).click()
        page.get_by_role("dialog").get_by_role("button", name="Commit").click()
        expect(page.get_by_text("Write a message")).to_be_visible()
        page.get_by_label("Message").fill("say two\n\nbecause one was wrong")
        page.get_by_role("button", name="Add metadata").click()
        page.get_by_label("Name").fill("ticket")
        page.get_by_label("Value").fill("LB-7")
        check(page, "changes-commit")
        page.keyboard.press("Control+Enter")
        expect(page.get_by_text("No uncommitted changes")).to_be_visible()
        check(page, "changes-none")
    newest = next(iter(main.log()))
    assert newest.message == "say two\n\nbecause one was wrong"
    assert newest.metadata["ticket"] == "LB-7"


def test_history_with_a_merge_is_drawn_and_a_commit_is_opened(
    chromium: Browser, server: RunningServer, repo: lakebed.Repository
) -> None:
    main = repo.branch("main")
    main.put("a.txt", b"1\n")
    main.commit("start")
    dev = repo.branch("dev").create(source="main")
    dev.put("b/c.txt", b"2\n")
    dev.commit("work\n\nwith details", metadata={"rows": "7"})
    main.put("a.txt", b"3\n")
    main.commit("other work")
    dev.merge_into("main", "bring it")
    with signed_in(chromium, server) as page:
        page.goto(f"/repositories/{repo.id}/commits")
        expect(page.get_by_role("row").filter(has_text="bring it").get_by_text("main")).to_be_visible()
        expect(page.locator("tbody svg circle")).to_have_count(5)
        check(page, "commits", is_main=True)
        page.get_by_role("link", name="work", exact=True).click()
        expect(page.get_by_role("heading", name="work")).to_be_visible()
        expect(page.get_by_text("with details")).to_be_visible()
        page.get_by_role("button", name="Show changes in b/").click()
        page.get_by_role("button", name="Show the difference: c.txt").click()
        expect(page.get_by_role("cell", name="2", exact=True)).to_be_visible()
        check(page, "commit", is_main=True)
        page.get_by_role("button", name="More actions").click()
        page.get_by_role("menuitem", name="New tag here").click()
        page.get_by_label("Name").fill("worked")
        page.keyboard.press("Enter")
        expect(page.get_by_role("status").filter(has_text="Created worked")).to_be_visible()
        page.goto(f"/repositories/{repo.id}/commits?path=b/")
        expect(page.get_by_role("row")).to_have_count(2)
    assert repo.tag("worked").info().commit_id == next(iter(dev.log())).id


def test_commits_are_filtered_by_author_and_day(
    chromium: Browser, server: RunningServer, repo: lakebed.Repository
) -> None:
    lake = lake_of(repo)
    name = f"Ana-{repo.id}"
    lake.users.create(name)
    lake.users.grant(name, repo.id, "writer")
    main = repo.branch("main")
    for message, date, author in (("of last year", datetime(2025, 3, 5, 12, tzinfo=UTC), ""), ("of Ana", None, name)):
        main.put("a.txt", message.encode())
        main.commit(message, date=date, author=author)
    with signed_in(chromium, server) as page:
        page.goto(f"/repositories/{repo.id}/commits")
        rows = page.get_by_role("row")
        expect(rows).to_have_count(4)
        page.get_by_label("Author").fill(name.lower())
        page.keyboard.press("Enter")
        expect(rows).to_have_count(2)
        expect(rows.nth(1)).to_contain_text("of Ana")
        expect(page.get_by_label("Author")).to_be_focused()
        check(page, "commits-filtered")
        page.reload()
        expect(page.get_by_label("Author")).to_have_value(name.lower())
        page.get_by_role("button", name="Show all commits").click()
        expect(rows).to_have_count(4)
        page.get_by_label("To", exact=True).fill("2025-03-05")
        expect(rows).to_have_count(2)
        expect(rows.nth(1)).to_contain_text("of last year")
        page.get_by_label("From").fill("2025-03-05")
        page.wait_for_url("**to=2025-03-05&from=2025-03-05")
        expect(rows).to_have_count(2)
        page.goto(f"/repositories/{repo.id}/commits?from=2025-03-06&to=2025-03-07")
        expect(page.get_by_text("Nothing matches the filter")).to_be_visible()
        check(page, "commits-none")


def test_branches_are_made_protected_compared_and_deleted(
    chromium: Browser, server: RunningServer, repo: lakebed.Repository
) -> None:
    repo.branch("main").put("a.txt", b"1")
    repo.branch("main").commit("start")
    with signed_in(chromium, server) as page:
        page.goto(f"/repositories/{repo.id}/branches")
        page.get_by_role("button", name="New branch").click()
        page.get_by_label("Name").fill("fix-units")
        page.keyboard.press("Enter")
        expect(page.get_by_role("link", name="fix-units")).to_be_visible()
        page.get_by_role("button", name="Protection").click()
        page.get_by_role("button", name="Add a pattern").click()
        page.get_by_label("Pattern").fill("ma*")
        check(page, "branches-protection")
        page.get_by_role("button", name="Save").click()
        expect(page.get_by_role("row").filter(has_text="main")).to_contain_text("protected")
        check(page, "branches", is_main=True)
        page.get_by_role("button", name="Actions for fix-units").click()
        expect(page.get_by_role("menuitem").first).to_be_focused()
        page.keyboard.press("End")
        page.keyboard.press("Enter")
        page.get_by_role("dialog").get_by_role("button", name="Delete branch").click()
        expect(page.get_by_role("link", name="fix-units")).to_be_hidden()
    assert [one.id for one in repo.branches()] == ["main"]


def test_tags_are_made_and_deleted(chromium: Browser, server: RunningServer, repo: lakebed.Repository) -> None:
    with signed_in(chromium, server) as page:
        page.goto(f"/repositories/{repo.id}/tags")
        expect(page.get_by_text("No tags yet")).to_be_visible()
        check(page, "tags-none")
        page.get_by_role("button", name="New tag").click()
        page.get_by_label("Name").fill("v1")
        page.get_by_role("button", name="Create tag").click()
        expect(page.get_by_role("link", name="v1")).to_be_visible()
        check(page, "tags")
        page.get_by_role("button", name="Actions for v1").click()
        page.get_by_role("menuitem", name="Delete").click()
        page.get_by_role("button", name="Delete tag").click()
        expect(page.get_by_text("No tags yet")).to_be_visible()
    assert list(repo.tags()) == []


def test_branches_in_conflict_are_merged_path_by_path(
    chromium: Browser, server: RunningServer, repo: lakebed.Repository
) -> None:
    main = repo.branch("main")
    for path in ("a [1].txt", "b.txt"):
        main.put(path, b"start\n")
    main.commit("start")
    dev = repo.branch("dev").create(source="main")
    for branch, text in ((main, b"main\n"), (dev, b"dev\n")):
        for path in ("a [1].txt", "b.txt"):
            branch.put(path, text)
        branch.commit("edit")
    with signed_in(chromium, server, expected=["status of 409"]) as page:
        page.goto(f"/repositories/{repo.id}/compare?base=main&compare=dev")
        expect(page.get_by_role("listitem").filter(has_text="b.txt")).to_contain_text("conflict")
        page.get_by_role("button", name="Show the difference: b.txt").click()
        expect(page.get_by_role("cell", name="dev", exact=True)).to_be_visible()
        new = f"/repositories/{repo.id}/pulls/new?source=dev&destination=main"
        expect(page.get_by_role("link", name="New pull request")).to_have_attribute("href", new)
        check(page, "compare", is_main=True)
        page.get_by_role("button", name="Merge").click()
        page.get_by_label("Message").fill("bring dev")
        page.get_by_role("dialog").get_by_role("button", name="Merge").click()
        expect(page.get_by_role("alert")).to_contain_text("2 paths are in conflict")
        page.get_by_label("The side that wins for a [1].txt").select_option("dev wins")
        page.get_by_label("The side that wins for b.txt").select_option("main wins")
        check(page, "compare-conflicts")
        page.get_by_role("dialog").get_by_role("button", name="Merge").click()
        expect(page.get_by_role("heading", name="bring dev")).to_be_visible()
    assert (main.get("a [1].txt"), main.get("b.txt")) == (b"dev\n", b"main\n")


def test_equal_refs_have_nothing_to_merge(chromium: Browser, server: RunningServer, repo: lakebed.Repository) -> None:
    repo.branch("dev").create(source="main")
    with signed_in(chromium, server) as page:
        page.goto(f"/repositories/{repo.id}/compare?base=main&compare=dev")
        expect(page.get_by_text("No differences")).to_be_visible()
        check(page, "compare-none")
        page.goto(f"/repositories/{repo.id}/compare")
        expect(page.get_by_text("Nothing to compare")).to_be_visible()
        expect(page.get_by_role("button", name="Merge")).to_have_count(0)
