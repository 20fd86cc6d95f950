"""The activity of a repository: its events appear in the open page."""

from __future__ import annotations

import json
from uuid import uuid4

import lakebed
from playwright.sync_api import Browser, expect

from tests.browser.ui import check, signed_in
from tests.support.processes.server import RunningServer


def test_a_commit_and_a_merge_appear_without_a_reload(
    chromium: Browser, server: RunningServer, repo: lakebed.Repository
) -> None:
    main = repo.branch("main")
    main.put("a.txt", b"1")
    main.commit("start")
    dev = repo.branch("dev").create(source="main")
    with signed_in(chromium, server) as page:
        page.goto(f"/repositories/{repo.id}/activity")
        lines = page.get_by_role("list", name="Activity").get_by_role("listitem")
        expect(lines.first).to_contain_text("created branch dev from main")
        expect(lines.last).to_contain_text("created the repository")
        expect(page.get_by_role("status").filter(has_text="Live")).to_be_visible()
        page.evaluate("window.isSame = true")

        dev.put("b.txt", b"2")
        commit = dev.commit("work")
        expect(lines.first).to_contain_text(f"committed to dev {commit.id[:12]}")
        dev.merge_into("main", "bring it")
        expect(lines.first).to_contain_text("merged into main from dev")
        assert page.evaluate("window.isSame")
        expect(lines).to_have_count(5)
        check(page, "activity", is_main=True)

        page.get_by_role("button", name="Pause").click()
        expect(page.get_by_role("status").filter(has_text="Paused")).to_be_visible()
        repo.tag("v1").create("main")
        page.wait_for_timeout(5000)  # longer than a live feed takes
        expect(lines.first).to_contain_text("merged into main")
        page.get_by_role("button", name="Resume").click()
        expect(lines.first).to_contain_text("created tag v1")
        page.get_by_role("button", name="Tags", exact=True).click()
        expect(lines).to_have_count(1)
        page.get_by_role("button", name="All", exact=True).click()
        page.get_by_role("link", name=next(iter(main.log())).id[:12]).click()
        expect(page.get_by_role("heading", name="bring it")).to_be_visible()


def test_a_feed_that_breaks_is_reported_and_comes_back(
    chromium: Browser, server: RunningServer, repo: lakebed.Repository
) -> None:
    with signed_in(chromium, server, expected=["ERR_"]) as page:
        # the feed is refused, the pages of the past (`amount`) are not
        page.route(lambda url: "/events?" in url and "amount=" not in url, lambda route: route.abort())
        page.goto(f"/repositories/{repo.id}/activity")
        expect(page.get_by_role("alert")).to_contain_text("The feed does not answer.")
        check(page, "activity-broken")
        page.unroute_all()
        expect(page.get_by_role("status").filter(has_text="Live")).to_be_visible()
        repo.branch("dev").create(source="main")
        expect(page.get_by_role("listitem").filter(has_text="created branch dev")).to_be_visible()


def test_an_event_of_an_unknown_type_is_shown(
    chromium: Browser, server: RunningServer, repo: lakebed.Repository
) -> None:
    """A server that is newer than the page has more types."""
    event = {"id": "1", "type": "robot.arrived", "time": "2026-01-31T00:00:00Z", "data": {}, "user": "ana"}
    messages = f"event: reset\ndata: {{}}\n\nid: 5\nevent: robot.arrived\ndata: {json.dumps(event)}\n\n"
    with signed_in(chromium, server) as page:
        page.route(
            lambda url: "/events?" in url and "amount=" not in url,
            lambda route: route.fulfill(content_type="text/event-stream", body=messages),
        )
        page.goto(f"/repositories/{repo.id}/activity")
        line = page.get_by_role("listitem").filter(has_text="robot.arrived")
        expect(line).to_have_count(1)
        expect(line).to_contain_text("ana")


def test_a_pause_survives_a_change_of_the_filter(
    chromium: Browser, server: RunningServer, repo: lakebed.Repository
) -> None:
    repo.branch("dev").create(source="main")
    with signed_in(chromium, server) as page:
        page.goto(f"/repositories/{repo.id}/activity")
        page.get_by_role("button", name="Pause").click()
        page.get_by_role("button", name="Branches", exact=True).click()
        page.wait_for_url("**kind=branch")
        expect(page.get_by_role("listitem").filter(has_text="created branch dev")).to_be_visible()
        expect(page.get_by_role("status").filter(has_text="Paused")).to_be_visible()
        page.reload()
        expect(page.get_by_role("button", name="Branches", exact=True)).to_have_attribute("aria-pressed", "true")


def test_activity_without_a_permission(
    chromium: Browser, server: RunningServer, lake: lakebed.Lake, repo: lakebed.Repository
) -> None:
    name = f"reader-{uuid4().hex[:8]}"
    lake.users.create(name)
    statement = {"effect": "allow", "action": ["fs:ReadRepository"], "resource": "*"}
    lake.policies.create(f"{name}-policy", [statement])
    lake.users.attach(name, f"{name}-policy")
    key = lake.keys.create(name)
    with signed_in(chromium, server, expected=["status of 403"], user=(key.id, key.secret)) as page:
        page.goto(f"/repositories/{repo.id}/activity")
        expect(page.get_by_role("alert")).to_contain_text("audit:ReadEvents")
