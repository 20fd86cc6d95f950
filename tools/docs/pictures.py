"""Take the pictures of the docs again: `python -m tools.docs.pictures` writes docs/pictures/*.png.

Starts a server in this process, fills a repository with the weather of Seattle, and opens the web page in Debian's
Chromium. Run `make ui` before, and check the pictures after.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import lakebed
import lakebed_testing
from playwright.sync_api import Page
from vega_datasets import local_data

from tests.support.browser import running_chromium, watched_context

FOLDER = Path(__file__).parents[2] / "docs" / "pictures"
NAME = "weather"
README = """# Weather of Seattle

One row for each day from 2012 to 2015, observed by NOAA.

| column | unit | meaning |
|---|---|---|
| `temp_max` | °C | highest temperature of the day |
| `weather` | | sun, rain, fog, drizzle or snow |
"""
LOAD = '''"""Load the weather of a year."""

import pandas as pd


def load(year: int) -> pd.DataFrame:
    return pd.read_csv(f"raw/{year}.csv", parse_dates=["date"])
'''


def fill(lake: lakebed.Lake) -> None:
    """A small history: two branches, a merge, a tag, and a change that waits."""
    repo = lake.repository(NAME).create(f"mem://{NAME}")
    main = repo.branch("main")
    days = local_data.seattle_weather()
    days["year"] = days["date"].dt.year
    main.put("README.md", README.encode(), content_type="text/markdown")
    main.put("scripts/load.py", LOAD.encode(), content_type="text/x-python")
    main.write_parquet("daily/", days[days["year"] < 2015], partition_by=["year"])
    main.commit("load the weather of 2012 to 2014", metadata={"source": "NOAA"})
    dev = repo.branch("fahrenheit").create(source="main")
    table = dev.read_parquet("daily/")
    table[["temp_max", "temp_min"]] = table[["temp_max", "temp_min"]] * 9 / 5 + 32
    dev.write_parquet("daily/", table, partition_by=["year"], mode="overwrite")
    dev.commit("temperatures in Fahrenheit", metadata={"ticket": "WX-12"})
    main.write_parquet("daily/", days[days["year"] == 2015], partition_by=["year"])
    main.commit("add 2015", metadata={"source": "NOAA"})
    fix = repo.branch("fix-wind").create(source="main")
    fix.put("scripts/load.py", LOAD.replace("parse_dates", "dtype={'wind': float}, parse_dates").encode())
    fix.commit("read the wind as a number")
    fix.merge_into("main", "merge fix-wind")
    repo.tag("v1").create("main")
    sink = io.BytesIO()
    days.drop(columns="year").to_parquet(sink)
    main.put("days.parquet", sink.getvalue())
    main.put("scripts/load.py", LOAD.replace("year: int", "year: int, limit: int = 366").encode())


CONTRACT = """name: plausible weather
on: {pre-merge: {branches: [published]}}
hooks:
  - id: temperatures
    type: contract
    properties:
      path: "daily/**/*.parquet"
      checks: [{not_null: [date]}, {range: {temp_max: [-30, 50]}}]
"""


def refuse(lake: lakebed.Lake) -> str:
    """Add a contract, and a merge that breaks it. Returns the id of the run."""
    repo = lake.repository(NAME)
    repo.set_hook_settings({"weather.yaml": CONTRACT})
    try:
        repo.branch("fahrenheit").merge_into(repo.branch("published").create(source="main").name, "in Fahrenheit")
    except lakebed.HookRefusedError as error:
        return error.run_id
    raise AssertionError("the contract did not refuse the merge")


def take(page: Page, name: str, path: str, act: Callable[[Page], None] = lambda _: None) -> None:
    """Write one picture, in the light theme."""
    page.goto(path)
    page.wait_for_load_state("networkidle")
    act(page)
    page.wait_for_load_state("networkidle")
    page.screenshot(path=FOLDER / f"{name}.png", animations="disabled")
    print(f"{name}.png")


def open_changes(page: Page) -> None:
    page.get_by_role("button", name="Show changes in scripts/").click()
    page.get_by_role("button", name="Show the difference: load.py").click()


def main() -> None:
    """Take all pictures."""
    FOLDER.mkdir(exist_ok=True)
    with lakebed_testing.server() as started, running_chromium() as browser:
        fill(started.connect())
        options = {"viewport": {"width": 1200, "height": 750}, "base_url": started.endpoint, "timezone_id": "UTC"}
        with watched_context(browser, **options) as context:
            login = {"access_key_id": started.access_key_id, "secret_access_key": started.secret_access_key}
            assert context.request.post("/api/v1/auth/login", data=login).ok
            page = context.new_page()
            base = f"/repositories/{NAME}"
            take(page, "objects", f"{base}/objects")
            take(page, "table", f"{base}/object?path=days.parquet", lambda page: page.get_by_text("Statistics").click())
            take(page, "changes", f"{base}/changes", open_changes)
            take(page, "commits", f"{base}/commits")
            take(page, "compare", f"{base}/compare?base=main&compare=fahrenheit")
            take(page, "run", f"{base}/actions/{refuse(started.connect())}")
            page.emulate_media(color_scheme="dark")
            take(page, "objects-dark", f"{base}/objects")


if __name__ == "__main__":
    main()
