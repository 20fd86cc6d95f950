"""Every python and console block of README and docs/ does what the page says, against a real server."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.cli.support import Command
from tests.docs.snippets import PAGES, ROOT, SPARK_PAGES, anchors, blocks, links, run_console, run_python
from tests.support.server import clean_environment, running_server

SETTINGS = {"audit.md": {"LAKEBED_HISTORY_ENABLED": "true"}}
"""Settings of the server for a page that describes them."""

HERE = [page for page in PAGES if blocks(page) and page not in SPARK_PAGES]


@pytest.mark.slow
@pytest.mark.parametrize("page", HERE, ids=lambda page: str(page.relative_to(ROOT)))
def test_page(
    page: Path, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with running_server(tmp_path_factory, environment=SETTINGS.get(page.name)) as server:
        for name in set(clean_environment()) ^ set(clean_environment(**server.environment)):
            monkeypatch.delenv(name, raising=False)
        for name, value in server.environment.items():
            monkeypatch.setenv(name, value)
        monkeypatch.setenv("DATA_DIR", str(server.data_dir))
        command = Command({**server.environment, "COLUMNS": "100"})
        namespace: dict[str, Any] = {"__name__": page.stem}
        for block in blocks(page):
            if block.language == "python":
                run_python(page, block, namespace)
            else:
                run_console(page, block, command)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    for target, anchor in links(page):
        where = page.parent / target if target else page
        assert where.exists(), f"{page.name} links to {target}"
        if anchor:
            assert anchor in anchors(where), f"{page.name} links to {target}#{anchor}: {where.name} has no such heading"


def test_no_page_names_a_package_registry() -> None:
    for page in PAGES:
        assert "pypi." not in page.read_text("utf-8").lower(), page.name
