"""Copy code from the page, and run it against the server."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import duckdb
import lakebed
import pyarrow as pa
import yaml
from playwright.sync_api import Browser, Page, expect

from tests.browser.table_files import parquet
from tests.browser.ui import check, signed_in
from tests.support.page_snippets import snippet
from tests.support.processes.server import RunningServer, clean_environment


def test_snippets_of_the_page_run(chromium: Browser, server: RunningServer, repo: lakebed.Repository) -> None:
    main = repo.branch("main")
    main.put("orders/a.csv", b"1,2\n")
    main.put("table.parquet", parquet(pa.table({"crop": ["barley"]})))
    main.commit("load the orders")
    key = {name: value for name, value in server.environment.items() if name != "LAKEBED_ENDPOINT"}
    variables = clean_environment(**key, PATH=f"{Path(sys.executable).parent}:/usr/bin:/bin")
    with signed_in(chromium, server) as page:
        page.goto(f"/repositories/{repo.id}/objects")
        expect(page.get_by_role("link", name="orders/")).to_be_visible()
        check(page, "connect-objects")
        page.get_by_role("link", name="Connect").click()
        assert server.endpoint in text_of(page, "Environment variables")
        check(page, "connect", is_main=True)
        listed = output([sys.executable, "-c", text_of(page, "Python")], variables)
        assert listed == "orders/a.csv\ntable.parquet\n"
        page.get_by_role("button", name="Command line", exact=True).click()
        listed = output(["sh", "-ec", text_of(page, "Command line")], variables)
        assert "orders/" in listed
        assert "load the orders" in listed
        for tool in ("pandas", "DuckDB"):
            page.get_by_role("button", name=tool, exact=True).click()
            printed = output([sys.executable, "-c", text_of(page, tool)], variables | server.environment)
            assert "barley" in printed, tool
        for tool in ("boto3", "S3 file system"):
            page.get_by_role("button", name=tool, exact=True).click()
            printed = output([sys.executable, "-c", text_of(page, tool)], variables)
            assert "table.parquet" in printed, tool
        for tool in ("aws", "rclone"):
            page.get_by_role("button", name=tool, exact=True).click()
            printed = output(["sh", "-ec", text_of(page, tool)], variables)
            assert "table.parquet" in printed, tool
        page.get_by_role("button", name="dbt", exact=True).click()
        shown = {"endpoint": server.endpoint, "repo": repo.id, "branch": "main"}
        assert text_of(page, "dbt").rstrip() == snippet("dbt", **shown).rstrip(), "tests/recipes runs it"
        secret = yaml.safe_load(text_of(page, "dbt"))["lake"]["outputs"]["dev"]["secrets"][0]
        assert read_by_duckdb(secret, f"s3://{repo.id}/main/table.parquet", key) == "barley"
        page.get_by_role("button", name="Spark", exact=True).click()
        assert text_of(page, "Spark").rstrip() == snippet("spark", **shown).rstrip()
        check(page, "connect-spark")
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


def read_by_duckdb(secret: dict[str, object], table: str, key: dict[str, str]) -> object:
    """What dbt-duckdb does with a secret of its profile: the first value of a table."""
    values = {
        name: re.sub(r"\{\{ env_var\('(\w+)'\) \}\}", lambda found: key[found[1]], str(value))
        for name, value in secret.items()
    }
    settings = ", ".join(f"{name} '{value}'" for name, value in values.items())
    connection = duckdb.connect()
    folder = Path(str(files("duckdb_extension_httpfs"))) / "extensions" / f"v{duckdb.__version__}"
    connection.load_extension(str(folder / "httpfs.duckdb_extension"))
    connection.execute(f"CREATE SECRET ({settings})")
    row = connection.execute("SELECT crop FROM read_parquet(?)", [table]).fetchone()
    assert row is not None
    return row[0]
