"""One Chromium for each module, and a page for each test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page

from tests.support.browser import running_chromium, watched_context


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """The browser. A test of two people at the same time makes a context for each.

    It ends with the module: afterwards, tests with event loops can run in this process.
    """
    with running_chromium() as browser:
        yield browser


@pytest.fixture
def page(chromium: Browser) -> Iterator[Page]:
    """A page of a browser without cookies. The test fails if it reports an error."""
    with watched_context(chromium) as context:
        yield context.new_page()
