"""Every python and console block of README and docs/ does what the page says. One server runs all pages."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import lakebed
import pytest

from tests.cli.support import Command
from tests.docs.snippets import (
    PAGES,
    RECIPE_PAGES,
    ROOT,
    SPARK_PAGES,
    anchors,
    blocks,
    links,
    repository,
    run_console,
    run_python,
)
from tests.support.processes.server import RunningServer, clean_environment, running_server

HERE = [page for page in PAGES if blocks(page) and page not in SPARK_PAGES + RECIPE_PAGES]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """One server for all pages: a reader tries them one after the other."""
    with running_server(tmp_path_factory, environment={"LAKEBED_HISTORY_ENABLED": "true"}) as running:
        yield running


@pytest.mark.slow
@pytest.mark.parametrize("page", HERE, ids=lambda page: str(page.relative_to(ROOT)))
def test_page(page: Path, server: RunningServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in set(clean_environment()) ^ set(clean_environment(**server.environment)):
        monkeypatch.delenv(name, raising=False)
    for name, value in server.environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("DATA_DIR", str(server.data_dir))
    before = repositories(server)
    command = Command({**server.environment, "COLUMNS": "100"})
    namespace: dict[str, Any] = {"__name__": page.stem}
    for block in blocks(page):
        if block.language == "python":
            run_python(page, block, namespace)
        else:
            run_console(page, block, command)
    assert repositories(server) - before <= {repository(page)}


def repositories(server: RunningServer) -> set[str]:
    with lakebed.connect(server.endpoint, server.access_key_id, server.secret_access_key) as lake:
        return {repository.id for repository in lake.repositories()}


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
