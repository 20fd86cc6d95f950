"""A real Chromium for tests, driven by Playwright: the fixtures `chromium` and `page` of tests/browser/conftest.py.

    def test_the_page_shows_the_code(page: Page) -> None:
        page.goto(address)
        assert page.get_by_role("heading").inner_text() == "Sign-in"
        save_png(page, "code")                        # .cache/screenshots/code.png

    with watched_context(chromium) as second:         # a second browser, with cookies of its own
        second.new_page().goto(address)

A test fails when a page reports an error on its console, an uncaught exception included. The Debian package
`chromium-headless-shell` has the browser, and `make soak` runs all of it, the package `chromium`;
tests/support/services/debian.py installs both.

Playwright keeps an event loop in the main thread, so a test in a run with a browser cannot have one of its own: no
`async def`, no `asyncio.run`. The SDK, fsspec and `subprocess` work as usual.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, WebError, sync_playwright

from tests.support.services.debian import chromium, headless_chromium
from tests.support.sizes import tier
from tests.support.waiting import PATIENCE

SCREENSHOTS = Path(__file__).parents[2] / ".cache" / "screenshots"


@contextmanager
def running_chromium() -> Iterator[Browser]:
    """One browser without a window. Its sandbox is off: it does not start as root, and the pages are our own."""
    with sync_playwright() as playwright:
        program = chromium() if tier() == "soak" else headless_chromium()
        browser = playwright.chromium.launch(executable_path=program, chromium_sandbox=False, timeout=PATIENCE * 1000)
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def watched_context(browser: Browser, expected: Collection[str] = (), **options: Any) -> Iterator[BrowserContext]:
    """Cookies and pages of their own. Fails at the end if a page reported an error.

    `expected`: parts of errors that the test provokes, such as "status of 404". `options` are those of Playwright's
    `Browser.new_context`, such as `viewport` and `color_scheme`.
    """
    errors: list[str] = []

    def on_console(message: ConsoleMessage) -> None:
        if message.type == "error":
            errors.append(f"{message.text} ({message.location['url']})")

    def on_exception(error: WebError) -> None:
        errors.append(str(error.error))

    context = browser.new_context(**options)
    context.set_default_timeout(PATIENCE * 1000)
    context.on("console", on_console)
    context.on("weberror", on_exception)
    try:
        yield context
    finally:
        context.close()
    unexpected = [error for error in errors if not any(part in error for part in expected)]
    assert not unexpected, "the browser reported errors:\n" + "\n".join(unexpected)


def save_png(page: Page, name: str) -> Path:
    """Write what the page shows, all of its length, to NAME.png below `SCREENSHOTS`."""
    path = SCREENSHOTS / f"{name}.png"
    page.screenshot(path=path, full_page=True, animations="disabled")
    return path
