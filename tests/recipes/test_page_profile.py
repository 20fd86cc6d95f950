"""dbt builds a model by the profile that the web page shows: it reads the branch by the S3 gateway."""

from __future__ import annotations

import shutil
from importlib.resources import as_file, files
from pathlib import Path

import duckdb
import lakebed
import pyarrow as pa
import pytest

from tests.recipes.programs import programs
from tests.support.page_snippets import snippet
from tests.support.processes.server import RunningServer


@pytest.mark.soak  # tests/recipes/test_pages.py runs dbt in `make test`
def test_dbt_reads_the_branch_by_the_profile_of_the_page(
    server: RunningServer, tmp_path: Path, repo: lakebed.Repository
) -> None:
    repo.branch("main").write_parquet("table.parquet", pa.table({"crop": ["barley", "oats"]}))
    install_httpfs(tmp_path)
    run = programs(tmp_path, tmp_path / "work", server)
    texts = {
        "profiles.yml": snippet("dbt", endpoint=server.endpoint, repo=repo.id, branch="main"),
        "dbt_project.yml": "name: crops\nprofile: lake\n",
        "models/crops.sql": f"select upper(crop) as crop from read_parquet('s3://{repo.id}/main/table.parquet')\n",
    }
    for name, text in texts.items():
        file = run.folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    run("dbt", "build", "--quiet", "--profiles-dir", ".")
    shown = run("dbt", "show", "--quiet", "--profiles-dir", ".", "--select", "crops")
    assert "BARLEY" in shown
    assert "OATS" in shown


def install_httpfs(home: Path) -> None:
    """Put the extension where `INSTALL httpfs` would put it: no test downloads it."""
    folder = Path("extensions", f"v{duckdb.__version__}")
    row = duckdb.sql("PRAGMA platform").fetchone()
    assert row
    target = home / ".duckdb" / folder / row[0]
    target.mkdir(parents=True)
    with as_file(files("duckdb_extension_httpfs") / str(folder) / "httpfs.duckdb_extension") as extension:
        shutil.copy(extension, target)
