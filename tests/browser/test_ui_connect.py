"""Copy code from the page, and run it against the server."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import lakebed
from playwright.sync_api import Browser, Page, expect

from tests.browser.ui import check, signed_in
from tests.support.server import RunningServer, clean_environment


def test_snippets_of_the_page_run(chromium: Browser, server: RunningServer, repo: lakebed.Repository) -> None:
    main = repo.branch("main")
    main.put("orders/a.csv", b"1,2\n")
    main.commit("load the orders")
    key = {name: value for name, value in server.environment.items() if name != "LAKEBED_ENDPOINT"}
    variables = clean_environment(**key, PATH=f"{Path(sys.executable).parent}:/usr/bin:/bin")
    with signed_in(chromium, server) as page:
        page.goto(f"/repositories/{repo.id}/objects")
        expect(page.get_by_role("link", name="orders/")).to_be_visible()
        check(page, "connect-objects")
        page.get_by_role("link", name="Connect").click()
        assert server.endpoint in text_of(page, "Environment variables")
        check(page, "connect")
        listed = output([sys.executable, "-c", text_of(page, "Python")], variables)
        assert listed == "orders/a.csv\n"
        page.get_by_role("button", name="Command line", exact=True).click()
        listed = output(["sh", "-ec", text_of(page, "Command line")], variables)
        assert "orders/" in listed
        assert "load the orders" in listed
        for tool in ("pandas", "DuckDB", "Spark", "aws"):
            page.get_by_role("button", name=tool, exact=True).click()
            assert f"{repo.id}/main" in text_of(page, tool)
        check(page, "connect-aws")
        assert server.secret_access_key not in page.content()


def text_of(page: Page, name: str) -> str:
    """The code of the page with this name."""
    code = page.get_by_role("region", name=name, exact=True).locator("code")
    expect(code).not_to_be_empty()
    return code.inner_text()


def output(command: list[str], variables: dict[str, str]) -> str:
    """What a command prints. Fails with its errors."""
    done = subprocess.run(command, env=variables, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout
