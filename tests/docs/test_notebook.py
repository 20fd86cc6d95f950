"""The notebook of the documentation runs from top to bottom, in a kernel of its own, against a real server."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.processes.server import clean_environment, running_server
from tools.docs.notebook import NOTEBOOK, execute

PICTURES = {"image/png", "image/svg+xml", "text/html"}


def kinds(notebook: Any) -> set[str]:
    """What its cells show."""
    outputs = [output for cell in notebook["cells"] for output in cell.get("outputs", ())]
    assert {output["output_type"] for output in outputs} <= {"display_data", "execute_result"}, "an error, or a warning"
    return {kind for output in outputs for kind in output["data"]}


@pytest.mark.slow
def test_the_notebook_does_what_it_shows(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JUPYTER_PLATFORM_DIRS", "1")
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(tmp_path / "runtime"))
    monkeypatch.setenv("MPLCONFIGDIR", str(tmp_path_factory.getbasetemp() / "matplotlib"))
    with running_server(tmp_path_factory) as server:
        for name in set(clean_environment()) ^ set(clean_environment(**server.environment)):
            monkeypatch.delenv(name, raising=False)
        for name, value in server.environment.items():
            monkeypatch.setenv(name, value)
        assert kinds(execute(tmp_path)) >= PICTURES


def test_the_pictures_are_in_the_file() -> None:
    notebook = json.loads(NOTEBOOK.read_text("utf-8"))
    assert kinds(notebook) >= PICTURES
    assert all(cell["execution_count"] for cell in notebook["cells"] if cell["cell_type"] == "code")
    assert str(Path.home()) not in NOTEBOOK.read_text("utf-8")
