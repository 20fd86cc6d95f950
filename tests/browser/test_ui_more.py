"""Buttons that bring the rest of a list, and buttons that end a dialog early.

Routes ask for shorter pages than the page does, so that a list has a second page after a few rows. The server's answers
are real.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import lakebed
import pyarrow as pa
from playwright.sync_api import Browser, Route, expect

from tests.browser.table_files import parquet
from tests.browser.ui import signed_in
from tests.support.processes.server import RunningServer


def short_pages(route: Route) -> None:
    """Ask for two rows, whatever the page asked for."""
    route.continue_(url=re.sub(r"amount=\d+", "amount=2", route.request.url))


def test_a_search_of_commits_goes_on_behind_an_empty_page(
    chromium: Browser, server: RunningServer, repo: lakebed.Repository
) -> None:
    main = repo.branch("main")
    main.put("a.txt", b"1")
    newest = main.commit("the only one of admin").id

    def cut(route: Route) -> None:
        """The answer to the first request, as if the bound of the server were one commit: nothing, and a cursor."""
        answer = route.fetch()
        body = json.loads(answer.text())
        body["pagination"] |= {"has_more": True, "next_offset": newest, "results": 0}
        route.fulfill(response=answer, json={**body, "results": []})

    with signed_in(chromium, server) as page:
        page.route(lambda url: "/refs/main/commits" in url and f"after={newest}" not in url, cut)
        page.goto(f"/repositories/{repo.id}/commits?to=2999-01-01")
        expect(page.get_by_text("None of the newest commits matches the filter.")).to_be_visible()
        page.get_by_role("button", name="Search on").click()
        expect(page.get_by_role("link", name="Repository created")).to_be_visible()
        expect(page.get_by_role("button", name="Search on")).to_be_hidden()


def test_a_timeline_and_the_activity_load_more(
    chromium: Browser, server: RunningServer, repo: lakebed.Repository
) -> None:
    main = repo.branch("main")
    main.put("a.txt", b"1")
    main.commit("start")
    dev = repo.branch("dev").create(source="main")
    dev.put("a.txt", b"2")
    dev.commit("work")
    pull = repo.pulls.create("dev", "main", title="Work")
    for text in ("first", "second", "third"):
        repo.pulls.comment(pull.id, text)

    def copies(route: Route) -> None:
        """The real events many times, each copy with an id of its own: more than one page of the list."""
        answer = route.fetch()
        body = json.loads(answer.text())
        many = [{**one, "id": f"{one['id']}-{number}"} for number in range(60) for one in body["results"]]
        route.fulfill(response=answer, json={**body, "results": many[:250]})

    with signed_in(chromium, server) as page:
        page.route(lambda url: f"/pulls/{pull.id}/events" in url, short_pages)
        page.goto(f"/repositories/{repo.id}/pulls/{pull.id}")
        expect(page.get_by_text("first", exact=True)).to_be_visible()
        expect(page.get_by_text("third", exact=True)).to_be_hidden()
        page.get_by_role("button", name="Load more").click()
        expect(page.get_by_text("third", exact=True)).to_be_visible()
        expect(page.get_by_role("button", name="Load more")).to_be_hidden()

        page.route(lambda url: "/events?" in url and "amount=" in url, copies)
        page.goto(f"/repositories/{repo.id}/activity")
        lines = page.get_by_role("list", name="Activity").get_by_role("listitem")
        expect(lines).to_have_count(200)
        page.get_by_role("button", name="Load more").click()
        expect(page.get_by_role("button", name="Load more")).to_be_hidden()
        assert lines.count() > 200


def test_more_results_of_a_contract_are_shown(
    chromium: Browser, server: RunningServer, repo: lakebed.Repository
) -> None:
    names = [f"c{number}" for number in range(130)]
    main = repo.branch("main")
    checks = "".join(f"        - not_null: [{name}]\n" for name in names)
    main.put(
        "_lakebed_actions/wide.yaml",
        b"name: wide\non: {pre-commit: }\nhooks:\n  - id: wide\n    type: contract\n    properties:\n"
        b'      path: "wide.parquet"\n      checks:\n' + checks.encode(),
    )
    main.commit("add the contract")
    main.put("wide.parquet", parquet(pa.table({name: [1] for name in names})))
    main.commit("load")
    run = repo.runs.list()[0]
    with signed_in(chromium, server) as page:
        page.goto(f"/repositories/{repo.id}/actions/{run.id}")
        rows = page.get_by_role("region", name="Results of the contract").get_by_role("row")
        expect(rows).to_have_count(101)
        page.get_by_role("button", name="Show more: 30 left").click()
        expect(rows).to_have_count(131)
        expect(page.get_by_role("button", name="Show more")).to_be_hidden()


def test_a_pattern_is_removed_and_an_upload_ends_without_a_file(
    chromium: Browser, server: RunningServer, repo: lakebed.Repository, tmp_path: Path
) -> None:
    files = [tmp_path / name for name in ("a.txt", "b.txt")]
    for file in files:
        file.write_text(file.name)
    held: list[Route] = []
    with signed_in(chromium, server, ["ERR_FAILED"]) as page:
        page.goto(f"/repositories/{repo.id}/branches")
        page.get_by_role("button", name="Protection").click()
        for number, pattern in enumerate(("wrong*", "v*")):
            page.get_by_role("button", name="Add a pattern").click()
            page.get_by_label("Pattern").nth(number).fill(pattern)
        page.get_by_role("button", name="Remove wrong*").click()
        page.get_by_role("button", name="Save").click()
        expect(page.get_by_role("dialog")).to_be_hidden()

        page.goto(f"/repositories/{repo.id}/objects")
        page.get_by_role("button", name="Upload").first.click()
        page.get_by_label("Choose files").last.set_input_files(files)
        page.route("**/branches/main/objects?path=b.txt", lambda route: held.append(route))  # noqa: PLW0108
        page.get_by_role("button", name="Upload 2 files").click()
        expect(page.get_by_text("1 of 2")).to_be_visible()
        page.get_by_role("button", name="Stop").click()
        page.get_by_role("button", name="Remove b.txt").click()
        page.get_by_role("button", name="Done", exact=True).click()
        expect(page.get_by_role("dialog")).to_be_hidden()
    assert [one.pattern for one in repo.protection().rules] == ["v*"]
    assert [one.path for one in repo.branch("main").list()] == ["a.txt"]
