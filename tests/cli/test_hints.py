"""What the command suggests: for verbs of Git, for an interrupted transfer, for a missing package and for TLS."""

from __future__ import annotations

import ssl

import pytest
from lakebed.cli import main
from lakebed.cli.app import OTHER_VERBS, App
from lakebed.cli.exits import explain
from lakebed.errors import ConfigurationError, ServerUnavailableError

from tests.cli.conftest import Run


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        ("status", "`lakebed diff REPO/BRANCH`"),
        ("stash", "`lakebed workspace stash`"),
        ("checkout", "`lakebed local clone`"),
        ("branch rename", "cannot be renamed"),
        ("branhc", "Did you mean 'branch'?"),
        ("branch lsit", "Did you mean 'list'?"),
    ],
)
def test_unknown_verb_is_answered_by_meaning_or_spelling(run: Run, words: str, hint: str) -> None:
    assert hint in run(*words.split(), code=2).err


def test_hints_are_only_for_verbs_that_do_not_exist(run: Run) -> None:
    for words in OTHER_VERBS:
        assert "No such command" in run(*words.split(), code=2).err


def test_branch_with_a_slash_is_explained(run: Run) -> None:
    error = run("branch", "create", "sales/feature/x", code=2).err
    assert "too many parts in 'sales/feature/x': expected REPO/BRANCH" in error
    assert "a branch name has no slash: feature-x" in error


@pytest.mark.parametrize(("command", "resumes"), [("lakebed upload", True), ("lakebed fs upload", False)])
def test_interrupted_transfer_names_the_way_back(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], command: str, resumes: bool
) -> None:
    def interrupt(*_: object, obj: App, **__: object) -> None:
        obj.command = command
        raise KeyboardInterrupt

    monkeypatch.setattr(main.root, "main", interrupt)
    assert main.run([]) == 130
    assert ("the same command resumes where it stopped" in capsys.readouterr().err) is resumes


def test_missing_pyspark_names_local() -> None:
    assert explain(ConfigurationError("no PySpark", kind="spark_missing")).hint == "--local runs it without Spark."


@pytest.mark.parametrize("said", [ssl.SSLError("[SSL: WRONG_VERSION_NUMBER] wrong version number"), None])
def test_tls_error_is_not_a_server_that_does_not_run(said: Exception | None) -> None:
    hint = explain(ServerUnavailableError(f"cannot connect: {said}")).hint
    assert ("Is the server running?" in hint) is (said is None)
