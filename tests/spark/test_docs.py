"""Every python block of the pages about Spark does what the page says, on the session of these tests.

So does the code for Spark that the web page shows.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import lakebed
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from tests.docs.snippets import SPARK_PAGES, blocks, run_console, run_python
from tests.support.page_snippets import snippet
from tests.support.processes.server import RunningServer, clean_environment


@pytest.mark.parametrize("page", SPARK_PAGES, ids=lambda page: page.stem)
def test_page(
    page: Path, spark: SparkSession, server: RunningServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tests.cli.support import Command

    monkeypatch.chdir(tmp_path)
    for name in set(clean_environment()) ^ set(clean_environment(**server.environment)):
        monkeypatch.delenv(name, raising=False)
    for name, value in server.environment.items():
        monkeypatch.setenv(name, value)
    command = Command({**server.environment, "COLUMNS": "100"})
    namespace: dict[str, Any] = {"__name__": page.stem, "spark": spark}
    found = blocks(page)
    assert found
    for block in found:
        if block.language == "python":
            run_python(page, block, namespace)
        else:
            run_console(page, block, command)


@pytest.mark.soak  # a session of its own
def test_the_code_of_the_web_page(server: RunningServer, repo: lakebed.Repository, tmp_path: Path) -> None:
    main = repo.branch("main")
    for number, crop in enumerate(("barley", "oats")):
        main.write_parquet(f"table/{number}.parquet", pa.table({"crop": [crop]}))
    main.commit("crops")
    program = tmp_path / "of_the_page.py"
    program.write_text(snippet("spark", endpoint=server.endpoint, repo=repo.id, branch="main"))
    environment = clean_environment(**server.environment)
    command = [sys.executable, str(program)]
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert ran.returncode == 0, ran.stderr
    assert "barley" in ran.stdout
    assert "oats" in ran.stdout
