"""Read and filter the access history of a repository in the page."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import lakebed
import pytest
from lakebed_server.access_history.rows import Row, day, encode
from playwright.sync_api import Browser, expect

from tests.browser.ui import check, signed_in
from tests.support.processes.server import RunningServer, running_server

DAY = 24 * 3600


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """A server that records the access history."""
    with running_server(tmp_path_factory, environment={"LAKEBED_HISTORY_ENABLED": "true"}) as running:
        yield running


def test_rows_are_filtered_and_paged(chromium: Browser, recording: RunningServer) -> None:
    with lakebed.connect(recording.endpoint, recording.access_key_id, recording.secret_access_key) as lake:
        repo = lake.repository("sales").create("local://sales")
        main = repo.branch("main")
        main.put("orders/a.csv", b"1,2\n")
        main.get("orders/a.csv")
        lake.users.create("ana")
        key = lake.keys.create("ana")
        with (
            lakebed.connect(recording.endpoint, key.id, key.secret) as other,
            pytest.raises(lakebed.errors.LakebedError),
        ):
            other.repository("sales").branch("main").get("orders/a.csv")
        assert repo.access_history().num_rows > 0
    (today,) = {one.parent for one in recording.data_dir.rglob("sales/_lakebed/history/date=*/*.parquet")}
    for days, name in ((2, "recent"), (5, "old")):
        write(today.parent, time.time() - days * DAY, name)
    with signed_in(chromium, recording) as page:
        page.goto("/repositories/sales/objects")
        page.get_by_role("link", name="Access history").click()
        rows = page.get_by_role("table").locator("tbody")
        expect(rows).to_contain_text("main/orders/a.csv")
        check(page, "history")
        page.evaluate("scrollTo(0, document.body.scrollHeight)")
        expect(rows).to_contain_text("main/recent/")
        for _ in range(100):  # the table draws only the rows in view, and reads the second page at its end
            if "main/old/0.csv" in rows.inner_text():
                break
            page.evaluate("scrollTo(0, document.body.scrollHeight)")
            page.wait_for_timeout(100)
        expect(rows).to_contain_text("main/old/0.csv")
        page.get_by_label("Path begins with").fill("orders/")
        page.get_by_label("Path begins with").press("Enter")
        expect(rows).not_to_contain_text("main/old/")
        expect(rows).to_contain_text("uploadObject")
        page.get_by_label("Operation").fill("getObject")
        page.get_by_label("Operation").press("Enter")
        expect(rows).not_to_contain_text("uploadObject")
        page.get_by_label("Refusals only").check()
        expect(rows.get_by_role("row")).to_have_count(1)
        expect(rows).to_contain_text("403")
        check(page, "history-refused")
        page.get_by_label("User").fill("admin")
        page.get_by_label("User").press("Enter")
        expect(page.get_by_text("No rows")).to_be_visible()
        page.get_by_role("button", name="Clear filters").click()
        page.get_by_label("To (UTC)").fill(day(time.time() - 4 * DAY))
        expect(rows).to_contain_text("main/old/")
        expect(rows).not_to_contain_text("main/orders/a.csv")


def test_a_reader_without_the_right_is_refused(chromium: Browser, recording: RunningServer) -> None:
    with lakebed.connect(recording.endpoint, recording.access_key_id, recording.secret_access_key) as lake:
        repo = lake.repository("stock").create("local://stock")
        lake.users.create("bo")
        lake.groups.add("Viewers", "bo")
        key = lake.keys.create("bo")
    with signed_in(chromium, recording, ["status of 403"], user=(key.id, key.secret)) as page:
        page.goto(f"/repositories/{repo.id}/history")
        expect(page.get_by_role("alert")).to_contain_text("audit:ReadEvents")
        check(page, "history-forbidden")


def test_a_server_without_history_says_how_to_switch_it_on(
    chromium: Browser, server: RunningServer, repo: lakebed.Repository
) -> None:
    with signed_in(chromium, server, ["status of 501"]) as page:
        page.goto(f"/repositories/{repo.id}/history")
        expect(page.get_by_role("heading", name="The access history is off")).to_be_visible()
        expect(page.get_by_text("LAKEBED_HISTORY_ENABLED=true")).to_be_visible()
        check(page, "history-off")


def write(folder: Path, moment: float, name: str) -> None:
    """Write 150 rows of a moment below the history `folder` of a repository."""
    rows = [
        Row(
            time=int(moment * 1e6) + number,
            request_id=f"{name}-{number}",
            user="admin",
            auth="key",
            access_key_id="",
            source_ip="127.0.0.1",
            client="test",
            interface="rest",
            operation="getObject",
            repository="sales",
            ref="main",
            commit_id="",
            path=f"{name}/{number}.csv",
            bytes_in=0,
            bytes_out=1,
            status=200,
            took_us=1,
        )
        for number in range(150)
    ]
    place = folder / f"date={day(moment)}"
    place.mkdir()
    (place / "120000-test.parquet").write_bytes(encode(rows))
