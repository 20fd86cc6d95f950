"""Tables are shown with their schema, sorted, with statistics, and to their last row."""

from __future__ import annotations

import lakebed
import pyarrow as pa
from playwright.sync_api import Browser, expect

from tests.browser.table_files import parquet
from tests.browser.ui import check, signed_in
from tests.support.processes.server import RunningServer

ROWS = 5000


def test_a_table_is_scrolled_sorted_and_described(
    chromium: Browser, server: RunningServer, repo: lakebed.Repository
) -> None:
    kinds = [None if number % 4 == 0 else "<b>sun</b>" for number in range(ROWS)]
    table = pa.table({"number": list(range(ROWS)), "half": [number / 2 for number in range(ROWS)], "kind": kinds})
    repo.branch("main").put("days.parquet", parquet(table))
    with signed_in(chromium, server) as page:
        page.goto(f"/repositories/{repo.id}/object?path=days.parquet")
        expect(page.get_by_text("5,000 rows × 3 columns")).to_be_visible()
        expect(page.get_by_role("cell", name="<b>sun</b>").first).to_be_visible()
        assert page.get_by_role("row").count() < 100
        page.get_by_role("button", name="Statistics").click()
        expect(page.get_by_role("img", name="Distribution of half")).to_be_visible()
        expect(page.get_by_text("1,250 empty")).to_be_visible()
        check(page, "table", is_main=True)
        region = page.get_by_role("region", name="Rows of days.parquet")
        region.focus()
        page.keyboard.press("End")
        expect(page.get_by_role("cell", name="4999", exact=True)).to_be_visible()
        page.get_by_role("button", name="number").click()
        page.get_by_role("button", name="number").click()
        page.keyboard.press("Tab")
        region.evaluate("(element) => element.scrollTo(0, 0)")
        expect(page.get_by_role("row").nth(1)).to_contain_text("4999")


def test_a_folder_of_files_is_one_table(chromium: Browser, server: RunningServer, repo: lakebed.Repository) -> None:
    for year in (2025, 2026):
        repo.branch("main").put(f"daily/year={year}/part.parquet", parquet(pa.table({"day": [1, 2]})))
    with signed_in(chromium, server) as page:
        page.goto(f"/repositories/{repo.id}/objects?path=daily%2F")
        page.get_by_role("link", name="Show as a table").click()
        expect(page.get_by_text("4 rows × 2 columns")).to_be_visible()
        expect(page.get_by_role("columnheader", name="year")).to_be_visible()


def test_csv_has_a_view_as_text_and_broken_files_say_so(
    chromium: Browser, server: RunningServer, repo: lakebed.Repository
) -> None:
    repo.branch("main").put("a.csv", b"a;b\n1;2\n")
    repo.branch("main").put("broken.parquet", b"PAR1 no table PAR1")
    with signed_in(chromium, server, expected=["status of 422"]) as page:
        page.goto(f"/repositories/{repo.id}/object?path=a.csv")
        expect(page.get_by_text("1 row × 2 columns")).to_be_visible()
        page.get_by_role("button", name="Text").click()
        expect(page.get_by_text("a;b")).to_be_visible()
        page.goto(f"/repositories/{repo.id}/object?path=broken.parquet")
        expect(page.get_by_role("alert")).to_contain_text("footer is damaged")
        check(page, "table-broken")


def test_rows_that_differ_are_shown_where_tables_are_compared(
    chromium: Browser, server: RunningServer, repo: lakebed.Repository
) -> None:
    main = repo.branch("main")
    main.put("days.parquet", parquet(pa.table({"day": [1, 2, 3], "kind": ["sun", "rain", "fog"]})))
    main.commit("start")
    dev = repo.branch("dev").create(source="main")
    edited = parquet(pa.table({"day": [1, 2, 4], "kind": ["sun", "snow", "fog"]}))
    dev.put("days.parquet", edited)
    dev.put("new.csv", b"a,b\n1,2\n")
    dev.commit("edit")
    main.put("days.parquet", edited)
    with signed_in(chromium, server) as page:
        page.goto(f"/repositories/{repo.id}/changes")
        page.get_by_role("button", name="Show the difference: days.parquet").click()
        expect(page.get_by_text("Commit them to compare rows")).to_be_visible()
        expect(page.get_by_role("cell", name="snow")).to_be_visible()
        page.goto(f"/repositories/{repo.id}/compare?base=main&compare=dev")
        page.get_by_role("button", name="Show the difference: days.parquet").click()
        page.get_by_role("checkbox", name="day").check()
        page.get_by_role("button", name="Compare rows").click()
        expect(page.get_by_role("row").filter(has_text="rain")).to_contain_text("snow")
        expect(page.get_by_role("button", name="1 added")).to_be_visible()
        page.get_by_role("button", name="Show the difference: new.csv").click()
        expect(page.get_by_text("1 row × 2 columns")).to_be_visible()
        check(page, "compare-table", is_main=True)
