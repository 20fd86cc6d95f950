"""One Chromium for all tests of this folder, and a page for each test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page

from tests.support.browser import running_chromium, watched_context


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """The browser. A test of two people at the same time makes a context for each.

    It takes a second of a processor to start, so it lives to the end of the run. From its start on, no test with an
    event loop can run in this process: the folder has none, and has jobs of its own.
    """
    with running_chromium() as browser:
        yield browser


@pytest.fixture
def page(chromium: Browser) -> Iterator[Page]:
    """A page of a browser without cookies. The test fails if it reports an error."""
    with watched_context(chromium) as context:
        yield context.new_page()
