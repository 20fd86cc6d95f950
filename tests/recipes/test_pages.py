"""Every recipe does what it says, with the real packages."""

from __future__ import annotations

import shlex
import signal
from dataclasses import replace
from pathlib import Path
from typing import Any

import lakebed
import pytest
import yaml

from tests.docs.shell_pages import fenced
from tests.docs.snippets import RECIPE_PAGES, exchanges, matches
from tests.recipes.programs import Programs, programs
from tests.support.processes.server import RunningServer

REACHED_THE_END = "the program reached its last line"
ABORT_OF_PYARROW = "terminate called without an active exception"


def follow(page: Path, run: Programs) -> int:
    """Do what a page says, in order: write its files, run its code, compare what is printed. Returns the blocks."""
    exports: list[str] = []
    done = 0
    for block in fenced(page):
        if block.title:
            file = run.folder / block.title
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(block.code)
        elif block.language == "python":
            run_python(block.code, block.line, run)
        elif block.language == "sh":
            run.shell("\n".join([*exports, block.code]))
            exports += [line for line in block.code.splitlines() if line.startswith("export ")]
        elif block.language == "console":
            for exchange in exchanges(block.code):
                printed = run(*shlex.split(exchange.command))
                assert matches(exchange.expected, printed), f"{page.name}: $ {exchange.command}\n{printed}"
        else:
            continue
        done += 1
    return done


def run_python(code: str, line: int, run: Programs) -> None:
    """Run a Python block. A traceback names the line of the page.

    pyarrow may abort a process that has run to its end: one of its threads frees the bytes of a Python file while the
    interpreter exits (apache/arrow#34314; seen in 1 to 5 of 100 runs on a busy machine). Only this abort is accepted.
    """
    script = run.home / "of_the_page.py"
    script.write_text("\n" * (line - 1) + code + f"\nprint({REACHED_THE_END!r}, flush=True)\n")
    done = run.process("python", str(script), PYTHONPATH=str(run.folder))
    aborted_at_exit = done.returncode == -signal.SIGABRT and done.stderr.strip() == ABORT_OF_PYARROW
    assert REACHED_THE_END in done.stdout, done.stdout + done.stderr
    assert done.returncode == 0 or aborted_at_exit, done.stdout + done.stderr


def test_an_abort_is_accepted_only_after_the_last_line(tmp_path: Path, server: RunningServer) -> None:
    run = programs(tmp_path, tmp_path / "work", server)
    abort = f"import os, sys\nprint({ABORT_OF_PYARROW!r}, file=sys.stderr, flush=True)\n"
    run_python(f"import atexit\n{abort}atexit.register(os.abort)", 1, run)
    for code in (f"{abort}os.abort()", "import os, atexit\natexit.register(os.abort)", "raise SystemExit(3)"):
        with pytest.raises(AssertionError):
            run_python(code, 1, run)


IN_MAKE_TEST = {"dbt", "github-actions", "mlflow", "pre-commit"}
"""Recipes of what most people use. The others take long: `make soak` runs them all."""


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, id=page.stem, marks=() if page.stem in IN_MAKE_TEST else pytest.mark.soak)
        for page in RECIPE_PAGES
    ],
)
def test_recipe(page: Path, server: RunningServer, tmp_path: Path, lake: lakebed.Lake) -> None:
    run = programs(tmp_path, tmp_path / "work", server, COLUMNS="100")
    assert follow(page, run) >= 2
    if page.stem == "pre-commit":
        assert run("git", "log", "--format=%s").split("\n")[:2] == ["use v1", "set up the check"]
    if page.stem == "github-actions":
        run_workflow(run, lake)


def run_workflow(run: Programs, lake: lakebed.Lake) -> None:
    """Run the steps of the workflow as GitHub's runner would, for a pull request and for a push."""
    workflow = yaml.safe_load((run.folder / ".github/workflows/data.yml").read_text())
    steps = [
        step for step in workflow["jobs"]["transform"]["steps"] if "run" in step and "pip install" not in step["run"]
    ]
    assert [step["name"] for step in steps][-1] == "drop the branch"
    prices = lake.repository("prices")
    summary = run.home / "summary.md"
    for number, event in enumerate(["pull_request", "push"]):
        given = {"BRANCH": f"ci-{number}", "GITHUB_SHA": "5e1f", "GITHUB_STEP_SUMMARY": str(summary)}
        for step in steps:
            if wanted(step, event):
                replace(run, variables={**run.variables, **given}).shell(step["run"])
        assert summary.read_text().splitlines() == ["+ dear.parquet"] * (number + 1)
        assert prices.branch("main").exists("dear.parquet") is (event == "push")
        assert [branch.id for branch in prices.branches()] == ["main"]
    merge = prices.branch("main").commit_info()
    assert prices.commit(merge.parents[1]).metadata["git_commit"] == "5e1f"


def wanted(step: dict[str, Any], event: str) -> bool:
    """The two conditions that the workflow has."""
    condition = step.get("if", "always()")
    assert condition in ("always()", "github.event_name == 'push'")
    return condition == "always()" or event == "push"
