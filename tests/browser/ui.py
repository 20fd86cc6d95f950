"""The web page in a browser: a person who is signed in, and checks that hold on every screen.

    with signed_in(chromium, server) as page:
        page.goto(f"/repositories/{repo.id}/objects")
        page.get_by_role("button", name="Upload").click()
        check(page, "objects")

`check` fails for findings of axe and for a page that is wider than the window. With LAKEBED_TIER=soak it writes a PNG.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from lakebed_server.http.web_page import BUILT
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.support.browser import save_png, watched_context
from tests.support.processes.server import RunningServer
from tests.support.sizes import tier

AXE = Path(__file__).parents[2] / "ui" / "node_modules" / "axe-core" / "axe.min.js"
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
WIDEST, WIDE, NARROW = 1920, 1440, 320
"""Widths of the window in pixels."""
SECONDS = 30
"""The time that a page has for a step. A page of this machine needs a fraction of a second."""
FULL = tier() == "soak"
LOOKS = [("light", WIDE), ("dark", NARROW), *([("dark", WIDE), ("light", NARROW)] if FULL else [])]
"""Themes and widths in which every screen is checked: each of both, and in `make soak` each with each."""
MAIN = [("light", WIDEST)]
"""What a main screen is checked in besides."""

CLIPBOARD: dict[str, Any] = {"permissions": ["clipboard-read", "clipboard-write"]}
"""What `signed_in` needs for a test that copies."""

expect.set_options(timeout=SECONDS * 1000)


@contextmanager
def signed_in(
    browser: Browser,
    server: RunningServer,
    expected: Collection[str] = (),
    user: tuple[str, str] = ("", ""),
    **more: Any,
) -> Iterator[Page]:
    """A page of a person with a session: of the administrator, or of the `user` of this access key.

    `expected`: parts of errors of the console that the test provokes.
    """
    with open_context(browser, server, expected, **more) as context:
        key_id, secret = user if user[0] else (server.access_key_id, server.secret_access_key)
        answer = context.request.post(
            f"{server.endpoint}/api/v1/auth/login", data={"access_key_id": key_id, "secret_access_key": secret}
        )
        assert answer.ok, answer.text()
        yield context.new_page()


@contextmanager
def open_context(
    browser: Browser, server: RunningServer, expected: Collection[str] = (), **more: Any
) -> Iterator[BrowserContext]:
    """A browser of a person without a session."""
    assert (BUILT / "index.html").is_file(), "the web page is not built: run `make ui`"
    options = {"viewport": {"width": WIDE, "height": 900}, "base_url": server.endpoint, "timezone_id": "UTC"}
    with watched_context(browser, expected, **(options | more)) as context:
        context.set_default_timeout(SECONDS * 1000)
        yield context


def look(page: Page, theme: str, width: int) -> None:
    """Show the page in another theme and width."""
    page.emulate_media(color_scheme=theme)  # type: ignore[arg-type]  # a literal
    page.set_viewport_size({"width": width, "height": 900})


def expect_copied(page: Page, text: str) -> None:
    """Wait until the clipboard has the text, without blanks at its end."""
    has = "(text) => navigator.clipboard.readText().then((one) => one.trimEnd() === text)"
    page.wait_for_function(has, arg=text.rstrip())


def check(page: Page, name: str, *, is_main: bool = False) -> None:
    """Check the screen, as it is now, in both themes and widths, a main one also in the widest window.

    In `make soak`, leaves PNGs NAME-THEME-WIDTH.png.
    """
    for theme, width in [*LOOKS, *(MAIN if is_main else [])]:
        look(page, theme, width)
        # a transition of colours would make axe see a mixture
        page.evaluate("Promise.all(document.getAnimations().map((one) => one.finished))")
        if FULL:
            save_png(page, f"{name}-{theme}-{width}")
        over = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert over <= 0, f"{name} is {over} pixels wider than a window of {width}"
        found = findings(page)
        assert not found, f"{name}, {theme}, {width}:\n" + "\n".join(found)
    look(page, "light", WIDE)


def findings(page: Page) -> list[str]:
    """What axe finds on the page. Playwright runs the script, so the policy of the page does not refuse it."""
    if not page.evaluate("'axe' in window"):  # a page has it until it loads another document
        page.evaluate(_axe())
    run = "(rules) => axe.run(document, {runOnly: rules, resultTypes: ['violations']})"
    result = page.evaluate(run, RULES)
    return [
        f"{one['id']}: {one['help']}: {[node['html'][:200] for node in one['nodes'][:3]]}"
        for one in result["violations"]
    ]


@cache
def _axe() -> str:
    assert AXE.is_file(), "axe-core is not installed: run `make ui`"
    return AXE.read_text()
