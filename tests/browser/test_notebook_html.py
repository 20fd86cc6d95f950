"""The HTML of notebooks in a real browser: nothing is cut off, and numbers are at the right."""

from __future__ import annotations

from pathlib import Path

import lakebed
import pytest
from playwright.sync_api import Page


@pytest.fixture
def main(repo: lakebed.Repository) -> lakebed.Branch:
    branch = repo.branch("main")
    branch.put("orders/june.csv", b"x" * 1536)
    branch.commit("load the orders of June, with a title that is as long as titles of commits often are")
    repo.branch("dev").create("main")
    branch.put("a.csv", b"y")
    branch.commit("short")
    return branch


@pytest.mark.parametrize("background", ["white", "#111"])
def test_listings_and_graphs(page: Page, main: lakebed.Branch, background: str, tmp_path: Path) -> None:
    repo = main.repository
    parts = [repo, main, main.log(), main.list(), repo.branches(), main.changes_since("main~1")]
    body = "".join(part._repr_html_() for part in parts) + repo.graph().svg
    colour = "white" if background == "#111" else "black"
    page.set_viewport_size({"width": 1000, "height": 700})
    page.set_content(f"<body style='background:{background};color:{colour};font-family:sans-serif'>{body}</body>")
    page.screenshot(path=tmp_path / "notebook.png", full_page=True)
    assert (tmp_path / "notebook.png").stat().st_size > 10_000

    wide = page.evaluate("document.documentElement.scrollWidth")
    assert wide <= 1000, "the page scrolls sideways"
    cut = """() => [...document.querySelectorAll('svg text')].filter(
        one => one.getBBox().x + one.getBBox().width > one.ownerSVGElement.width.baseVal.value).length"""
    assert page.evaluate(cut) == 0, "the graph cuts off its texts"
    text = page.evaluate("getComputedStyle(document.querySelector('svg text')).fill")
    assert text == ("rgb(255, 255, 255)" if background == "#111" else "rgb(0, 0, 0)")
    number = page.locator("td.lakebed-number", has_text="1.5 kB").first
    assert number.evaluate("one => getComputedStyle(one).textAlign") == "right"
    assert number.get_attribute("title") == "1536"
    assert page.locator("table:not(:has(td))").count() == 0
    assert page.get_by_text("1 rows").count() == 0
