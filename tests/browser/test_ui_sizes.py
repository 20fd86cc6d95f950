"""Objects without a byte, with 50 GiB and with 10,000 columns, and tables in unusual encodings."""

from __future__ import annotations

import os
from urllib.parse import quote

import httpx
import lakebed
import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.ui import check, signed_in
from tests.support.processes.server import RunningServer

HUGE = 50 << 30
"""Bytes of an object that no page may read as a whole."""


def open_object(page: Page, repo: lakebed.Repository, path: str) -> None:
    page.goto(f"/repositories/{repo.id}/object?path={quote(path, safe='')}")
    expect(page.get_by_role("group", name="Views of this object").first).to_be_visible()


EMPTY = ["a.parquet", "a.csv", "a.png", "a.pdf", "a.ipynb", "a.geojson", "a.md", "a"]


def test_an_object_without_a_byte_says_so(chromium: Browser, server: RunningServer, repo: lakebed.Repository) -> None:
    for path in EMPTY:
        repo.branch("main").put(path, b"")
    with signed_in(chromium, server) as page:
        for path in EMPTY:
            open_object(page, repo, path)
            expect(page.get_by_text("This object has no content"), path).to_be_visible()


def place_huge(server: RunningServer, repo: lakebed.Repository, path: str) -> None:
    """Link a file with holes: it takes no room on the disk. The server does not compare a checksum that is no MD5."""
    api = f"/api/v1/repositories/{repo.id}/branches/main/staging/backing"
    key = (server.access_key_id, server.secret_access_key)
    with httpx.Client(base_url=server.endpoint, auth=key, timeout=60) as client:
        staging = client.get(api, params={"path": path}).raise_for_status().json()
        file = server.data_dir / "objects" / staging["physical_address"].removeprefix("local://")
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("wb") as opened:
            opened.write(b"a,b\n" + b"1,2\n" * (3 << 20))
            opened.flush()
            os.truncate(opened.fileno(), HUGE)
        body = {"staging": staging, "checksum": "unknown", "size_bytes": HUGE}
        client.put(api, params={"path": path}, json=body).raise_for_status()


HUGE_OBJECTS = {
    "huge.txt": "The first 1.0 MB of 54 GB.",
    "huge.csv": "only its first rows are shown",
    "huge.parquet": "is not a complete Parquet file",
    "huge.png": "Too large for a preview (54 GB)",
    "huge.pdf": "Too large for a preview (54 GB)",
    "huge.ipynb": "54 GB",
    "huge.geojson": "Too large for a preview (54 GB)",
    "huge.md": "54 GB",
    "huge.bin.zip": "No preview for this type",
}


def test_an_object_of_50_gib_is_not_read(chromium: Browser, server: RunningServer, repo: lakebed.Repository) -> None:
    for path in HUGE_OBJECTS:
        place_huge(server, repo, path)
    sizes: list[int] = []
    with signed_in(chromium, server, expected=["status of 4"]) as page:
        page.on("response", lambda answer: sizes.append(int(answer.headers.get("content-length", 0))))
        page.goto(f"/repositories/{repo.id}/objects")
        expect(page.get_by_role("cell", name="54 GB")).to_have_count(len(HUGE_OBJECTS))
        for path, shown in HUGE_OBJECTS.items():
            sizes.clear()
            open_object(page, repo, path)
            expect(page.get_by_role("main"), path).to_contain_text(shown)
            assert max(sizes) < 32 << 20, path
            if path == "huge.csv":
                check(page, "object-huge")


def test_a_table_of_10_000_columns_is_shown_in_part(
    chromium: Browser, server: RunningServer, repo: lakebed.Repository
) -> None:
    names = ",".join(f"column_{number}" for number in range(10_000))
    values = ",".join(str(number) for number in range(10_000))
    repo.branch("main").put("wide.csv", f"{names}\n{values}\n".encode())
    with signed_in(chromium, server) as page:
        open_object(page, repo, "wide.csv")
        expect(page.get_by_text("1 row × 10,000 columns")).to_be_visible()
        expect(page.get_by_text("of 10,000 columns.")).to_be_visible()
        expect(page.get_by_role("columnheader", name="column_0", exact=False).first).to_be_visible()
        assert page.get_by_role("columnheader").count() <= 1001
        check(page, "table-wide")


@pytest.mark.parametrize(
    ("encoding", "cell"), [("utf-16", "Größe"), ("latin-1", "Größe"), ("utf-8-sig", "Größe"), ("shift_jis", "大きさ")]
)
def test_a_table_in_an_unusual_encoding_is_no_blank_page(
    chromium: Browser, server: RunningServer, repo: lakebed.Repository, encoding: str, cell: str
) -> None:
    repo.branch("main").put("sizes.csv", f"name,value\n{cell},1\n".encode(encoding))
    with signed_in(chromium, server, expected=["status of 422"]) as page:
        open_object(page, repo, "sizes.csv")
        main = page.get_by_role("main")
        expect(main.get_by_text("1 row").or_(main.get_by_role("alert"))).to_be_visible()
        if main.get_by_role("alert").count() == 0 and encoding != "shift_jis":
            expect(page.get_by_role("cell", name=cell)).to_be_visible()
        page.get_by_role("button", name="Text").click()
        if encoding == "shift_jis":
            expect(main).to_contain_text("Shown as")  # no browser knows this encoding from its bytes
        else:
            expect(main.locator("code")).to_contain_text(cell)
