"""The site of the docs in a browser: no page asks another host, the search finds, and the REST API is shown."""

from __future__ import annotations

import functools
import os
import subprocess
import sys
import threading
import zlib
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import lakebed
import pytest
from playwright.sync_api import Browser, Request, expect

from tests.docs.snippets import ROOT
from tests.support.browser import watched_context
from tests.support.waiting import PATIENCE
from tools.site.check import problems

PAGES = [
    "index.html",
    "tour.html",
    "sdk.html",
    "cli.html",
    "rest.html",
    "ui.html",
    "how-to/publish-a-table.html",
    "404.html",
]


class Quiet(SimpleHTTPRequestHandler):
    """A web server that writes no log."""

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built as `make site` does."""
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [Path(sys.executable).with_name("mkdocs"), "build", "--quiet", "--site-dir", folder],
        cwd=ROOT, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True, text=True, timeout=PATIENCE * 5, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(site))) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def test_links_and_loaded_files_are_on_the_site(site: Path) -> None:
    assert list(problems(site)) == []
    source = site / "source/sdk/lakebed_format/commits.py.txt"  # a link of the glossary
    assert source.read_text("utf-8") == (ROOT / "sdk/lakebed_format/commits.py").read_text("utf-8")


def test_no_page_asks_another_host(address: str, chromium: Browser) -> None:
    asked: list[str] = []

    def note(request: Request) -> None:
        asked.append(request.url)

    with watched_context(chromium) as context:
        context.on("request", note)
        page = context.new_page()
        for name in PAGES:
            page.goto(f"{address}/{name}", wait_until="networkidle")
    assert len(asked) > 5 * len(PAGES)
    assert [url for url in asked if not url.startswith((f"{address}/", "data:", "blob:"))] == []


def test_search_finds_a_page_without_another_host(address: str, chromium: Browser) -> None:
    with watched_context(chromium) as context:
        page = context.new_page()
        page.goto(f"{address}/index.html")
        page.get_by_role("textbox", name="Search").fill("restore deleted file")
        result = page.locator(".md-search-result__link").first
        expect(result).to_contain_text("Restore a deleted file")
        result.click()
        expect(page.get_by_role("heading", level=1)).to_contain_text("Restore a deleted file")


def test_the_rest_api_is_shown(address: str, chromium: Browser) -> None:
    with watched_context(chromium) as context:
        page = context.new_page()
        page.goto(f"{address}/rest.html")
        shown = page.frame_locator("iframe.swagger-ui-iframe")
        expect(shown.locator(".info .title")).to_contain_text("Lakebed API")
        shown.get_by_role("button", name="Expand operation").first.wait_for()
        shown.locator(".opblock-tag").first.click()
        expect(shown.locator(".opblock").first).to_be_visible()


def test_the_reference_of_the_sdk_has_the_docstrings(address: str, chromium: Browser) -> None:
    with watched_context(chromium) as context:
        page = context.new_page()
        page.goto(f"{address}/sdk.html#lakebed.Branch.put")
        expect(page.locator("#lakebed\\.Branch\\.put")).to_be_visible()
        expect(page.locator("body")).to_contain_text('main.put("raw/a.csv", b"id,name")')


def test_the_reference_has_the_whole_public_surface(site: Path) -> None:
    inventory = zlib.decompress((site / "objects.inv").read_bytes().split(b"\n", 4)[4]).decode()
    listed = {line.split()[0] for line in inventory.splitlines()}
    for name in set(lakebed.__all__) - {"__version__", "aio", "errors", "model"}:
        one = getattr(lakebed, name)
        assert f"lakebed.{name}" in listed
        if isinstance(one, type):
            inherited = {"COLUMNS", "default_kind"}.union(
                *(dir(base) for base in one.__mro__ if base.__module__ == "builtins")
            )
            public = {member for member in dir(one) if not member.startswith("_")} - inherited
            assert {f"lakebed.{name}.{member}" for member in public} <= listed
