"""Open workspaces of a repository, the size of repositories, and the writers of the files of a table."""

from __future__ import annotations

import lakebed
import pandas as pd
from playwright.sync_api import Browser, expect

from tests.browser.ui import check, signed_in
from tests.support.processes.server import RunningServer


def test_workspaces_are_listed_and_discarded(
    chromium: Browser, server: RunningServer, repo: lakebed.Repository
) -> None:
    with signed_in(chromium, server) as page:
        page.goto(f"/repositories/{repo.id}/workspaces")
        expect(page.get_by_text("No open workspaces")).to_be_visible()
        check(page, "workspaces-empty")
        kept, dropped = (repo.branch("main").workspace(text).create().info() for text in ("kept", "dropped"))
        for path in ("a.csv", "b.csv"):
            repo.branch(kept.name).put(path, b"1")
        page.reload()
        expect(page.get_by_role("row")).to_have_count(3)
        expect(
            page.get_by_role("row").filter(has_text=kept.id[:12]).get_by_role("link", name="2", exact=True)
        ).to_be_visible()
        check(page, "workspaces")
        page.get_by_role("button", name=dropped.id[:12]).click()
        page.get_by_role("menuitem", name="Discard workspace").click()
        page.get_by_role("button", name="Discard workspace").click()
        expect(page.get_by_role("row")).to_have_count(2)
        assert [one.id for one in repo.workspaces()] == [kept.id]


def test_sizes_and_writers(chromium: Browser, server: RunningServer, repo: lakebed.Repository) -> None:
    main = repo.branch("main")
    main.write_parquet("orders/", pd.DataFrame({"id": [1, 2]}), message="first orders")
    main.write_parquet("orders/", pd.DataFrame({"id": [3]}), message="more orders")
    main.write_parquet("orders/", pd.DataFrame({"id": [4]}))
    with signed_in(chromium, server) as page:
        page.goto("/repositories?search=" + repo.id)
        expect(page.get_by_role("row").filter(has_text=repo.id)).to_contain_text("2 objects")
        page.get_by_role("button", name="Size").click()
        expect(page.get_by_role("columnheader", name="Size")).to_have_attribute("aria-sort", "ascending")
        check(page, "repositories-sizes")
        page.goto(f"/repositories/{repo.id}/object?path=orders%2F&view=files")
        for text in ("first orders", "more orders", "Not committed"):
            expect(page.get_by_text(text)).to_be_visible()
        check(page, "table-files")
