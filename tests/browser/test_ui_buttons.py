"""Buttons and entries of menus that no other journey uses: each does what it says."""

from __future__ import annotations

from pathlib import Path
from zipfile import ZipFile

import lakebed
import pyarrow as pa
from playwright.sync_api import Browser, Download, Page, Route, expect

from tests.browser.table_files import parquet
from tests.browser.ui import CLIPBOARD, check, expect_copied, signed_in
from tests.support.processes.server import RunningServer, lake_of


def copied(page: Page) -> str:
    """The text on the clipboard."""
    return str(page.evaluate("navigator.clipboard.readText()"))


def choose(page: Page, menu: str, entry: str) -> None:
    page.get_by_role("button", name=menu).click()
    page.get_by_role("menuitem", name=entry, exact=True).click()


def test_an_object_is_named_for_other_tools(chromium: Browser, server: RunningServer, repo: lakebed.Repository) -> None:
    repo.branch("main").put("orders/a.csv", b"1,2\n")
    uri = f"{repo.id}/main/orders/a.csv"
    with signed_in(chromium, server, **CLIPBOARD) as page:
        for screen in ("objects?path=orders%2F", "object?path=orders%2Fa.csv"):
            page.goto(f"/repositories/{repo.id}/{screen}")
            for entry, text in {
                "Copy path": "orders/a.csv", "Copy URI": f"lakebed://{uri}", "Copy S3 URL": f"s3://{uri}",
            }.items():  # fmt: skip
                choose(page, "Actions for a.csv", entry)
                expect(page.get_by_role("status").filter(has_text="Copied").first).to_be_visible()
                expect_copied(page, text)
            choose(page, "Actions for a.csv", "Copy as Python")
            page.wait_for_function("navigator.clipboard.readText().then((one) => one.startsWith('lakebed.connect()'))")
            found = eval(copied(page).replace("lakebed.connect()", "lake"), {"lake": lake_of(repo)})
            assert b"".join([found]) == b"1,2\n"


def test_files_and_folders_are_downloaded(chromium: Browser, server: RunningServer, repo: lakebed.Repository) -> None:
    main = repo.branch("main")
    for name in ("orders/a.csv", "orders/b.csv", "notes.txt"):
        main.put(name, b"name\n" + name.encode() + b"\n")
    with signed_in(chromium, server) as page:
        page.goto(f"/repositories/{repo.id}/objects")
        page.get_by_role("button", name="Download as zip").click()
        expect(page.get_by_text("Nothing of main is committed")).to_be_visible()
        check(page, "objects-zip-nothing")
        main.commit("first")
        main.put("notes.txt", b"changed")
        with page.expect_download() as download:
            page.get_by_role("button", name="Download as zip").click()
        assert names_in(download.value) == ["notes.txt", "orders/a.csv", "orders/b.csv"]
        expect(page.get_by_text("uncommitted changes of main are not in it")).to_be_visible()
        with page.expect_download() as download:
            choose(page, "Actions for orders/", "Download as zip")
        assert names_in(download.value) == ["a.csv", "b.csv"]
        with page.expect_download() as download:
            choose(page, "Actions for notes.txt", "Download")
        assert Path(download.value.path()).read_bytes() == b"changed"

        page.get_by_role("link", name="orders/").click()
        for name in ("a.csv", "b.csv"):
            page.get_by_role("checkbox", name=f"Select orders/{name}").check()
        got: list[str] = []
        page.on("download", lambda one: got.append(one.suggested_filename))
        with page.expect_event("download", lambda _: len(got) == 2):
            page.get_by_role("button", name="Download", exact=True).click()
        assert sorted(got) == ["a.csv", "b.csv"]
        page.get_by_role("button", name="Clear selection").click()
        expect(page.get_by_text("2 selected")).to_be_hidden()
        expect(page.get_by_role("checkbox", name="Select orders/a.csv")).not_to_be_checked()

        page.get_by_role("link", name="a.csv").click()
        with page.expect_download() as download:
            page.get_by_role("link", name="Download", exact=True).click()
        assert download.value.suggested_filename == "a.csv"
        choose(page, "Actions for a.csv", "Delete")
        page.get_by_role("dialog").get_by_role("button", name="Delete").click()
        expect(page.get_by_role("link", name="b.csv")).to_be_visible()
    assert not repo.branch("main").exists("orders/a.csv")


def names_in(archive: Download) -> list[str]:
    return sorted(one for one in ZipFile(archive.path()).namelist() if not one.endswith("/"))


def test_an_upload_is_stopped_and_goes_on(
    chromium: Browser, server: RunningServer, repo: lakebed.Repository, tmp_path: Path
) -> None:
    files = [tmp_path / f"{number}.txt" for number in range(5)]
    for file in files:
        file.write_text(file.name)
    held: list[Route] = []
    with signed_in(chromium, server, ["ERR_FAILED"]) as page:
        page.goto(f"/repositories/{repo.id}/objects")
        page.get_by_role("button", name="Go to file").click()
        expect(page.get_by_role("dialog", name="Go to a file")).to_be_visible()
        page.keyboard.press("Escape")
        page.get_by_role("button", name="Upload").first.click()
        page.get_by_label("Choose files").last.set_input_files(files)
        page.get_by_role("button", name="Remove 4.txt").click()
        page.route("**/branches/main/objects?path=1.txt", lambda route: held.append(route))  # noqa: PLW0108
        page.get_by_role("button", name="Upload 4 files").click()
        expect(page.get_by_text("3 of 4")).to_be_visible()
        page.get_by_role("button", name="Stop").click()
        expect(page.get_by_role("button", name="Send the rest again")).to_be_visible()
        check(page, "upload-stopped")
        page.unroute("**/branches/main/objects?path=1.txt")
        page.get_by_role("button", name="Send the rest again").click()
        expect(page.get_by_role("link", name="1.txt")).to_be_visible()
    assert [one.path for one in repo.branch("main").list()] == ["0.txt", "1.txt", "2.txt", "3.txt"]


def test_a_workspace_is_filled_and_committed(
    chromium: Browser, server: RunningServer, repo: lakebed.Repository, tmp_path: Path
) -> None:
    file = tmp_path / "a.txt"
    file.write_text("new")
    made = repo.branch("main").workspace("by hand").create().info()
    with signed_in(chromium, server) as page:
        page.goto(f"/repositories/{repo.id}/workspaces")
        choose(page, f"Actions for {made.id[:12]}", "Objects")
        page.get_by_role("button", name="Upload").first.click()
        page.get_by_label("Choose files").last.set_input_files(file)
        page.get_by_role("button", name="Upload 1 file").click()
        expect(page.get_by_role("link", name="a.txt")).to_be_visible()
        assert not repo.branch("main").exists("a.txt")
        page.goto(f"/repositories/{repo.id}/workspaces")
        choose(page, f"Actions for {made.id[:12]}", "Changes")
        expect(page.get_by_role("link", name="a.txt")).to_be_visible()
        check(page, "changes-workspace")
        page.get_by_role("button", name="Commit", exact=True).click()
        page.get_by_label("Message").fill("what was made by hand")
        page.get_by_role("button", name="Add metadata").click()
        page.get_by_label("Name").fill("wrong")
        page.get_by_role("button", name="Remove wrong").click()
        page.get_by_role("dialog").get_by_role("button", name="Commit").click()
        expect(page.get_by_role("heading", name="what was made by hand")).to_be_visible()
    assert repo.branch("main").get("a.txt") == b"new"
    assert next(iter(repo.branch("main").log())).message == "what was made by hand"


def test_a_commit_is_browsed_branched_and_reverted(
    chromium: Browser, server: RunningServer, repo: lakebed.Repository
) -> None:
    main = repo.branch("main")
    main.put("a.txt", b"1")
    main.commit("first")
    main.put("b.txt", b"2")
    wrong = main.commit("wrong")
    with signed_in(chromium, server, **CLIPBOARD) as page:
        page.goto(f"/repositories/{repo.id}/commits/{wrong.id}")
        page.get_by_role("button", name="Copy commit id").click()
        expect_copied(page, wrong.id)
        choose(page, "More actions", "New branch here")
        page.get_by_label("Name").fill("kept")
        page.get_by_role("dialog").get_by_role("button", name="Create branch").click()
        expect(page.get_by_role("dialog")).to_be_hidden()
        assert repo.branch("kept").info().commit_id == wrong.id

        page.goto(f"/repositories/{repo.id}/commits/{wrong.id}")
        choose(page, "More actions", "Revert…")
        check(page, "commit-revert")
        page.get_by_role("dialog").get_by_role("button", name="Revert", exact=True).click()
        expect(page.get_by_role("dialog")).to_be_hidden()
        assert [one.path for one in main.list()] == ["a.txt"]
        page.get_by_role("link", name="Browse objects").click()
        expect(page.get_by_role("link", name="b.txt")).to_be_visible()


def test_branches_and_tags_are_compared(chromium: Browser, server: RunningServer, repo: lakebed.Repository) -> None:
    main = repo.branch("main")
    main.put("a.txt", b"1\n")
    main.commit("first")
    repo.tag("v1").create("main")
    dev = repo.branch("dev").create("main")
    dev.put("b.txt", b"2\n")
    dev.commit("work")
    with signed_in(chromium, server) as page:
        for screen, name in (("branches", "dev"), ("tags", "v1")):
            page.goto(f"/repositories/{repo.id}/{screen}")
            choose(page, f"Actions for {name}", "Compare with the default branch")
            expect(page.get_by_role("button", name=f": {name}")).to_be_visible()
        page.goto(f"/repositories/{repo.id}/compare?base=main&compare=dev")
        expect(page.get_by_role("link", name="b.txt")).to_be_visible()
        page.get_by_role("button", name="Swap").click()
        expect(page.get_by_text("dev has everything that main has.")).to_be_visible()
        page.get_by_role("button", name="The two states").click()
        expect(page.get_by_role("listitem").filter(has_text="b.txt")).to_contain_text("removed")


def test_long_differences_are_read_to_their_end(
    chromium: Browser, server: RunningServer, repo: lakebed.Repository
) -> None:
    main = repo.branch("main")
    numbers = list(range(1500))
    main.put("days.parquet", parquet(pa.table({"day": numbers, "kind": ["sun"] * 1500})))
    main.commit("start")
    dev = repo.branch("dev").create("main")
    dev.put_many({f"{number:03}.txt": b"1" for number in range(501)})
    dev.commit("many files")
    rows = repo.branch("rows").create("main")
    rows.put("days.parquet", parquet(pa.table({"day": numbers, "kind": ["rain"] * 1500})))
    rows.commit("another kind")
    with signed_in(chromium, server) as page:
        page.goto(f"/repositories/{repo.id}/compare?base=main&compare=dev")
        expect(page.get_by_role("link", name="000.txt")).to_be_visible()
        expect(page.get_by_role("link", name="500.txt")).to_have_count(0)
        page.get_by_role("button", name="Load more changes").click()
        expect(page.get_by_role("link", name="500.txt")).to_be_visible()

        page.goto(f"/repositories/{repo.id}/compare?base=main&compare=rows")
        page.get_by_role("button", name="Show the difference: days.parquet").click()
        page.get_by_label("day", exact=True).check()
        page.get_by_role("button", name="Compare rows").click()
        changed = page.get_by_role("row").filter(has_text="changed")
        expect(changed.first).to_be_visible()
        before = changed.count()
        page.get_by_role("button", name="More rows").click()
        expect(changed.nth(before)).to_be_visible()
        page.get_by_role("button", name="Other key: day").click()
        expect(page.get_by_role("button", name="Compare rows")).to_be_visible()


def test_the_menus_of_the_bar(chromium: Browser, server: RunningServer, repo: lakebed.Repository) -> None:
    with signed_in(chromium, server) as page:
        page.goto(f"/repositories/{repo.id}/objects")
        document = page.locator("html")
        for entry, theme in (("Light", "light"), ("Dark", "dark")):
            page.get_by_role("button", name="Theme").click()
            page.get_by_role("menuitemradio", name=entry).click()
            expect(document).to_have_attribute("data-theme", theme)
        page.reload()
        expect(document).to_have_attribute("data-theme", "dark")  # kept, while the system is light
        page.get_by_role("button", name="Theme").click()
        page.get_by_role("menuitemradio", name="As the system").click()
        expect(document).to_have_attribute("data-theme", "light")
        page.emulate_media(color_scheme="dark")
        expect(document).to_have_attribute("data-theme", "dark")

        choose(page, "Signed in as", "Keyboard shortcuts")
        expect(page.get_by_role("dialog", name="Keyboard shortcuts")).to_be_visible()
        page.get_by_role("dialog").get_by_role("button", name="Close").click()
        choose(page, "Signed in as", "My pull requests")
        page.wait_for_url("**/pulls")
        choose(page, "Signed in as", "My keys and rights")
        page.wait_for_url("**/auth/users/*")
        page.goto(f"/repositories/{repo.id}/pulls")
        page.get_by_role("link", name="Mine in all repositories").click()
        page.wait_for_url("**/pulls")
        page.goto(f"/repositories/{repo.id}/connect")
        page.get_by_role("link", name="Your access keys").click()
        expect(page.get_by_role("heading", name="Access keys")).to_be_visible()
        page.get_by_role("region", name="Effective rights").get_by_role("link", name="Why can’t I?").click()
        expect(page.get_by_role("button", name="Ask")).to_be_visible()
        page.goto("/auth/policies")
        page.get_by_role("link", name="New policy").click()
        expect(page.get_by_role("heading", name="New policy")).to_be_visible()
