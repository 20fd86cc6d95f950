"""What tests/support/browser.py promises."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Browser, Page

from tests.support.browser import save_png, watched_context

FAULTS = {
    "<script>console.error('from the console')</script>": "from the console",
    "<script>setTimeout(() => { throw new Error('not caught') })</script>": "not caught",
    "<img src='http://127.0.0.1:1/sales.png'>": "ERR_",
}


@pytest.mark.parametrize("fault", FAULTS)
def test_an_error_of_a_page_fails_the_test(chromium: Browser, fault: str) -> None:
    with pytest.raises(AssertionError, match=FAULTS[fault]), watched_context(chromium) as context:
        page = context.new_page()
        page.set_content(fault)
        page.evaluate("new Promise(resolve => setTimeout(resolve, 50))")


def test_an_error_that_the_test_expects_passes(chromium: Browser) -> None:
    with watched_context(chromium, expected=["the expected one"]) as context:
        page = context.new_page()
        page.set_content("<h1>Sales</h1><script>console.error('the expected one')</script>")
        assert page.get_by_role("heading").inner_text() == "Sales"


def test_a_png_shows_the_page(page: Page) -> None:
    page.set_content("<h1>Sales</h1>")
    assert re.match(rb"\x89PNG\r\n", save_png(page, "support").read_bytes())


def test_contexts_share_no_cookies(chromium: Browser) -> None:
    with watched_context(chromium) as first, watched_context(chromium) as second:
        first.add_cookies([{"name": "session", "value": "1", "url": "http://127.0.0.1/"}])
        assert len(first.cookies()) == 1
        assert second.cookies() == []
