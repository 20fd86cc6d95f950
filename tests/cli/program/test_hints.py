"""What the command suggests: for verbs of Git, for an interrupted transfer, for a missing package and for TLS."""

from __future__ import annotations

import re
import ssl

import click
import pytest
from lakebed.cli import main, other_words
from lakebed.cli.app import App
from lakebed.cli.exits import explain
from lakebed.errors import ConfigurationError, ServerUnavailableError

from tests.cli.conftest import Run


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        ("clone", "`lakebed local clone"),
        ("stash pop", "`lakebed pop`"),
        ("branch rename", "cannot be renamed"),
        ("auth users list", "`lakebed user list`"),
        ("branch -d dev", "`lakebed branch delete REPO/BRANCH`"),
        ("commit --amend", "`lakebed undo REPO/BRANCH`"),
        ("checkout -b dev", "`lakebed switch -c BRANCH`"),
        ("branhc", "Did you mean 'branch'?"),
        ("branch lsit", "Did you mean 'list'?"),
    ],
)
def test_unknown_verb_is_answered_by_meaning_or_spelling(run: Run, words: str, hint: str) -> None:
    assert hint in run(*words.split(), code=2).err


ROWS = [(tool, words, advice) for tool, table in other_words.TOOLS.items() for words, advice in table.items()]


@pytest.mark.parametrize(("tool", "words", "advice"), ROWS, ids=[f"{tool}-{words}" for tool, words, _ in ROWS])
def test_a_word_of_another_tool_gets_a_hint_with_existing_commands(
    tool: str, words: str, advice: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main.run(words.split()) == 2
    said = capsys.readouterr().err
    assert "No such command" in said
    shown = other_words.advice("", words.split()) if words.split(maxsplit=1)[0] not in main._VERBS else advice
    assert shown in said  # two tools may have one word for two things: then that of Git wins
    named = re.findall(r"`lakebed([^`]*)`", advice)
    assert named or "Lakebed" in advice or "cannot" in advice or "change" in advice
    for command in named:
        assert_is_a_command(command.split())


def assert_is_a_command(words: list[str]) -> None:
    """Each word in lower case, up to the first argument or option, must be a command, and each option one of it."""
    found: click.Command = main.root
    for word in words:
        if not isinstance(found, click.Group) or word in ("VERB", "--help", "--version"):
            break
        command = found.get_command(click.Context(found), word)
        assert command is not None, words
        found = command
    options = {flag for one in found.params for flag in one.opts} | {"--help", "--version"}
    assert {word for word in words if word.startswith("-")} <= options, words


@pytest.mark.parametrize(("command", "option"), other_words._OPTIONS)
def test_an_option_of_git_gets_a_hint(command: str, option: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main.run([command, option]) == 2
    advice = other_words.option_advice(command, option)
    assert advice in capsys.readouterr().err
    for named in re.findall(r"`lakebed([^`]*)`", advice):
        assert_is_a_command(named.split())


@pytest.mark.parametrize("words", [["help"], ["help", "repo"]])
def test_help_as_a_verb_is_answered_once(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main.run(words) == 2
    said = capsys.readouterr().err
    assert "`lakebed VERB --help` explains one command" in said
    assert said.count("See ") == said.count("`lakebed --help`") == 1


def test_help_shows_whole_sentences(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.run(["--help"]) == 0
    shown = capsys.readouterr().out
    assert "..." not in shown.partition("Commands:")[2]
    assert "second ref into the first would" in shown


def test_branch_with_a_slash_is_explained(run: Run) -> None:
    error = run("branch", "create", "sales/feature/x", code=2).err
    assert "too many parts in 'sales/feature/x': expected REPO/BRANCH" in error
    assert "a branch name has no slash: feature-x" in error


@pytest.mark.parametrize(("command", "resumes"), [("lakebed upload", True), ("lakebed fs upload", False)])
def test_interrupted_transfer_names_the_command_to_resume(
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
def test_tls_error_is_not_reported_as_a_stopped_server(said: Exception | None) -> None:
    hint = explain(ServerUnavailableError(f"cannot connect: {said}")).hint
    assert ("Is the server running?" in hint) is (said is None)
