"""docs/how-to/move-from-lakefs.md: its commands, run in order, print what the page says."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import lakebed
import pytest

from tests.docs.shell_pages import code_of
from tests.docs.snippets import ROOT, matches
from tests.migrate.foreign_server import foreign_server
from tests.support.processes.server import RunningServer, clean_environment, running_server

PAGE = ROOT / "docs/how-to/move-from-lakefs.md"


def fill(source: RunningServer) -> None:
    with lakebed.connect(source.endpoint, source.access_key_id, source.secret_access_key) as lake:
        main = lake.repository("orchard").create("local://orchard").branch("main")
        main.put("apples.csv", b"id,kg\n1,3\n")
        main.commit("apples")
        main.repository.tag("v1").create("main")
        main.put("pears.csv", b"id,kg\n1,")
        main.commit("pears")
        main.put("plums.csv", b"draft")


@pytest.mark.slow
def test_move_from_lakefs(server: RunningServer, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    with running_server(tmp_path_factory) as source, foreign_server(source.endpoint) as foreign:
        fill(source)
        first, second, *checks = code_of(PAGE, "sh")
        first = first.replace("https://lakefs.example.com", foreign.endpoint)
        for name, value in (("KEY_ID", source.access_key_id), ("ACCESS_KEY", source.secret_access_key)):
            first = first.replace(f"{name}=...", f"{name}={value}")
        assert "..." not in first
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        environment = clean_environment(**server.environment, HOME=str(tmp_path), PATH=path)

        def shell(script: str) -> str:
            command = ["bash", "-euc", f"exec 2>&1\n{first}\n{script}"]
            done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=True)
            return done.stdout

        (printed,) = code_of(PAGE, "text")
        said = shell(second)
        assert matches(printed, said), said
        assert "apples" in shell(checks[0])
        assert "apples.csv" in shell(checks[0])
        assert "pears.csv" not in shell(checks[0])
        again = shell(second)
        assert "0 migrated, 3 before" in again
