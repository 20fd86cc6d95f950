"""Browse, open, find, upload and delete objects, also with names and content of an attacker."""

from __future__ import annotations

import json
from pathlib import Path
from urllib.parse import quote

import lakebed
from playwright.sync_api import Browser, Page, Route, expect

from tests.browser.ui import check, signed_in
from tests.support.processes.server import RunningServer

NAMES = [
    "<img src=x onerror=alert(1)>.txt",
    "\u202egnp.txt",
    "😀 é.txt",
    "a/../b.txt",
    "long-" * 204 + ".txt",  # 1,024 bytes
    "q?x=1&y=2#h.txt",
    "100%.txt",
]
EVIL = """# Hello
<script>window.hacked = 1</script><b onclick="window.hacked = 1" style="position:fixed">bold</b>
<a href="javascript:window.hacked = 1">click</a> <svg onload="window.hacked = 1"></svg>
![other host](https://evil.example/x.png)
"""
NOTEBOOK = {
    "cells": [
        {"cell_type": "markdown", "source": ["## Cells\n", "<script>window.hacked = 1</script>"]},
        {
            "cell_type": "code",
            "execution_count": 7,
            "source": "1 + 1",
            "outputs": [
                {"data": {"text/html": '<table border="1"><tr><td onclick="window.hacked=1">2</td></tr></table>'}}
            ],
        },
    ]
}
PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d49444154789c6360f8cfc0f01f00050001ff"
    "a6cf8f1b0000000049454e44ae426082"
)


def open_object(page: Page, repo: lakebed.Repository, path: str) -> None:
    page.goto(f"/repositories/{repo.id}/object?path={quote(path, safe='')}")
    expect(page.get_by_role("group", name="Views of this object").first).to_be_visible()
    page.wait_for_load_state("networkidle")


def test_folders_are_browsed_with_their_readme(
    chromium: Browser, server: RunningServer, repo: lakebed.Repository
) -> None:
    main = repo.branch("main")
    main.put("README.md", b"# Sales\n\nSee [orders](orders/).", content_type="text/markdown")
    main.put("orders/2026/a.csv", b"a\n1\n")
    main.put("orders/2026/b.csv", b"a\n1\n")
    with signed_in(chromium, server) as page:
        page.goto(f"/repositories/{repo.id}/objects")
        expect(page.get_by_role("heading", name="Sales")).to_be_visible()
        check(page, "objects", is_main=True)
        page.get_by_role("link", name="orders", exact=True).click()
        page.get_by_role("link", name="2026/").click()
        expect(page.get_by_role("link", name="b.csv")).to_be_visible()
        page.get_by_role("button", name="Size").click()
        expect(page.get_by_role("columnheader", name="Size")).to_have_attribute("aria-sort", "ascending")
        page.go_back()
        expect(page.get_by_role("link", name="2026/")).to_be_visible()
        page.keyboard.press("t")
        page.keyboard.type("B.CSV")
        page.get_by_role("dialog").get_by_role("link", name="orders/2026/b.csv").wait_for()
        check(page, "objects-go-to")
        page.keyboard.press("Enter")
        page.wait_for_url("**/object?ref=main&path=orders%2F2026%2Fb.csv")


def test_rows_are_reached_with_j_and_k(chromium: Browser, server: RunningServer, repo: lakebed.Repository) -> None:
    for name in ("a.txt", "b.txt"):
        repo.branch("main").put(name, b"1")
    with signed_in(chromium, server) as page:
        page.goto(f"/repositories/{repo.id}/objects")
        expect(page.get_by_role("link", name="b.txt")).to_be_visible()
        for key in "jjk":
            page.keyboard.press(key)
        expect(page.get_by_role("link", name="a.txt")).to_be_focused()
        page.keyboard.press("Enter")
        page.wait_for_url("**path=a.txt")


def test_files_and_folders_are_uploaded_selected_and_deleted(
    chromium: Browser, server: RunningServer, repo: lakebed.Repository, tmp_path: Path
) -> None:
    folder = tmp_path / "pictures"
    (folder / "deep").mkdir(parents=True)
    (folder / "one.png").write_bytes(PNG)
    (folder / "deep" / "two.txt").write_text("two")
    main = repo.branch("main")
    with signed_in(chromium, server) as page:
        page.goto(f"/repositories/{repo.id}/objects?path=in%2F")
        expect(page.get_by_text("This folder is empty")).to_be_visible()
        check(page, "objects-empty")
        page.get_by_role("button", name="Upload").first.click()
        page.get_by_label("Choose a folder").last.set_input_files(folder)
        expect(page.get_by_role("dialog").get_by_role("cell", name="in/pictures/deep/two.txt")).to_be_visible()
        check(page, "upload")
        page.get_by_role("button", name="Upload 2 files").click()
        expect(page.get_by_role("status").filter(has_text="Uploaded 2 files")).to_be_visible()
        assert [one.path for one in main.list()] == ["in/pictures/deep/two.txt", "in/pictures/one.png"]
        assert main.get("in/pictures/one.png") == PNG

        page.get_by_role("checkbox", name="Select in/pictures/").check()
        check(page, "objects-selected")
        page.get_by_role("button", name="Delete").click()
        page.get_by_role("dialog").get_by_role("button", name="Delete").click()
        expect(page.get_by_text("This folder is empty")).to_be_visible()
        assert list(main.list()) == []


def test_a_failed_upload_is_sent_again(
    chromium: Browser, server: RunningServer, repo: lakebed.Repository, tmp_path: Path
) -> None:
    file = tmp_path / "a.txt"
    file.write_text("a")
    with signed_in(chromium, server, expected=["ERR_FAILED"]) as page:
        page.goto(f"/repositories/{repo.id}/objects")
        page.get_by_role("button", name="Upload").first.click()
        page.get_by_label("Choose files").last.set_input_files(file)
        page.route("**/branches/main/objects?path=a.txt", lambda route: route.abort())
        page.get_by_role("button", name="Upload 1 file").click()
        expect(page.get_by_role("cell", name="Failed: The server does not answer.")).to_be_visible()
        page.unroute("**/branches/main/objects?path=a.txt")
        page.get_by_role("button", name="Send the rest again").click()
        expect(page.get_by_role("link", name="a.txt")).to_be_visible()
        assert repo.branch("main").get("a.txt") == b"a"


CONTENTS = [
    ("load.py", b"import os\n", "import os"),
    ("notes.md", EVIL.encode(), "Hello"),
    ("page.html", b"<script>window.hacked = 1</script><h1>Hi</h1>", "<h1>Hi</h1>"),
    ("explore.ipynb", json.dumps(NOTEBOOK).encode(), "Cells"),
    ("broken.ipynb", b"{}", "This notebook cannot be read"),
    ("latin.txt", "Größe".encode("latin-1"), "Größe"),
    ("part.zip", b"PK\x00\x01", "No preview for this type"),
    ("empty.txt", b"", "This object has no content"),
    ("wrong.pdf", b"<script>window.hacked = 1</script>", "This is not a PDF"),
    ("wrong.png", b"no image", "The browser cannot show this image"),
]


def test_content_is_shown_and_never_runs(chromium: Browser, server: RunningServer, repo: lakebed.Repository) -> None:
    for path, content, _ in CONTENTS:
        repo.branch("main").put(path, content, content_type="text/html")
    with signed_in(chromium, server) as page:
        for path, _, shown in CONTENTS:
            open_object(page, repo, path)
            expect(page.get_by_role("main"), path).to_contain_text(shown)
            assert page.evaluate("window.hacked") is None, path
            if path in ("load.py", "notes.md", "explore.ipynb", "part.zip"):
                check(page, f"object-{path}")


def test_images_are_shown(chromium: Browser, server: RunningServer, repo: lakebed.Repository) -> None:
    repo.branch("main").put("dot.png", PNG, content_type="image/png")
    svg = b'<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><script>window.hacked = 1</script></svg>'
    repo.branch("main").put("logo.svg", svg, content_type="image/svg+xml")
    with signed_in(chromium, server) as page:
        for path, pixels in (("dot.png", "1 × 1"), ("logo.svg", "9 × 9")):
            open_object(page, repo, path)
            expect(page.get_by_text(pixels)).to_be_visible()
        assert page.evaluate("window.hacked") is None


def test_the_history_and_the_details_of_an_object(
    chromium: Browser, server: RunningServer, repo: lakebed.Repository
) -> None:
    main = repo.branch("main")
    for round in (1, 2):
        main.put("a.txt", f"{round}".encode(), metadata={"round": str(round)})
        main.commit(f"round {round}")
    with signed_in(chromium, server) as page:
        open_object(page, repo, "a.txt")
        page.get_by_role("button", name="History").click()
        expect(page.get_by_role("link", name="round 1")).to_be_visible()
        check(page, "object-history", is_main=True)
        page.get_by_role("button", name="Details").click()
        expect(page.get_by_text(f"lakebed://{repo.id}/main/a.txt")).to_be_visible()
        check(page, "object-details")


def test_hostile_names_stay_text(chromium: Browser, server: RunningServer, repo: lakebed.Repository) -> None:
    main = repo.branch("main")
    for name in NAMES:
        main.put(name, b"content of a name")
    with signed_in(chromium, server) as page:
        page.goto(f"/repositories/{repo.id}/objects")
        expect(page.get_by_role("link", name="<img src=x onerror=alert(1)>.txt")).to_be_visible()
        expect(page.get_by_role("link", name="⟨202E⟩gnp.txt")).to_be_visible()
        check(page, "objects-hostile")
        for name in NAMES:
            open_object(page, repo, name)
            expect(page.get_by_role("main")).to_contain_text("content of a name")


def test_a_folder_of_many_objects_is_read_page_by_page(
    chromium: Browser, server: RunningServer, repo: lakebed.Repository
) -> None:
    repo.branch("main").put_many({f"{index:05}.txt": b"" for index in range(1500)})
    with signed_in(chromium, server) as page:
        page.goto(f"/repositories/{repo.id}/objects")
        expect(page.get_by_role("link", name="00000.txt")).to_be_visible()
        assert page.get_by_role("row").count() < 150
        page.keyboard.press("End")
        expect(page.get_by_role("link", name="00999.txt")).to_be_visible()
        expect(page.get_by_role("table")).to_have_attribute("aria-rowcount", "1501")
        page.keyboard.press("End")
        expect(page.get_by_role("link", name="01499.txt")).to_be_visible()


def test_an_old_version_is_read_only(chromium: Browser, server: RunningServer, repo: lakebed.Repository) -> None:
    main = repo.branch("main")
    main.put("a.txt", b"old")
    main.commit("first")
    main.put("b.txt", b"new")
    main.commit("second")
    with signed_in(chromium, server) as page:
        page.goto(f"/repositories/{repo.id}/objects")
        expect(page.get_by_role("link", name="b.txt")).to_be_visible()
        page.get_by_role("button", name="Ref: main").click()
        expect(page.get_by_role("combobox")).to_be_focused()
        page.keyboard.type("main~1")
        page.keyboard.press("Enter")
        expect(page.get_by_role("button", name="Ref: main~1")).to_be_visible()
        expect(page.get_by_role("link", name="b.txt")).to_be_hidden()
        expect(page.get_by_role("link", name="a.txt")).to_be_visible()
        expect(page.get_by_role("button", name="Upload")).to_have_count(0)


def test_enter_chooses_the_typed_ref_while_the_list_is_read(
    chromium: Browser, server: RunningServer, repo: lakebed.Repository
) -> None:
    main = repo.branch("main")
    main.put("a.txt", b"1")
    main.commit("first")
    for name in ("dev-2", "dev"):
        repo.branch(name).create("main")
    held: list[Route] = []
    holding = False
    with signed_in(chromium, server) as page:
        page.route("**/branches?*", lambda route: held.append(route) if holding else route.continue_())

        def release() -> None:
            nonlocal holding
            holding = False
            for route in held:
                route.continue_()
            held.clear()

        def typed(ref: str, at: str) -> None:
            nonlocal holding
            page.get_by_role("button", name=f"Ref: {at}").click()
            expect(page.get_by_role("option", name="main", exact=True)).to_be_visible()
            holding = True
            page.keyboard.type(ref)
            page.keyboard.press("Enter")

        page.goto(f"/repositories/{repo.id}/objects")
        typed("main~0", "main")  # no branch can have this name: the list is not waited for
        expect(page.get_by_role("button", name="Ref: main~0")).to_be_visible()
        release()
        typed("de", "main~0")  # a part of a name: the list decides what it is
        expect(page.get_by_role("combobox")).to_be_focused()
        release()
        expect(page.get_by_role("button", name="Ref: dev", exact=True)).to_be_visible()
        typed("dev-", "dev")
        page.keyboard.type("2")  # the text of Enter is no longer there: nothing is chosen
        release()
        expect(page.get_by_role("option", name="dev-2", exact=True)).to_be_visible()
        expect(page.get_by_role("combobox")).to_be_focused()
        page.keyboard.press("Enter")
        expect(page.get_by_role("button", name="Ref: dev-2", exact=True)).to_be_visible()
