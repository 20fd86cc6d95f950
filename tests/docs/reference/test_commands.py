"""Every `lakebed ...` line that a page or a message of ours names is a command there is, with options that it has."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import click
import pytest
from lakebed.cli.app import shared_options
from lakebed.cli.main import root

from tests.docs.shell_pages import commands
from tests.docs.snippets import PAGES, ROOT

SOURCES = sorted(
    path
    for folder in ("sdk", "server_stub", "examples")
    for path in (ROOT / folder).glob("**/*.py")
    if "/_sync/" not in str(path)
)
SHARED = {flag for option in shared_options(shown=True) for flag in option.opts}


def fault(line: str) -> str:
    """The fault of a command line, or empty when the command and its options exist."""
    command: click.Command = root
    words = shlex.split(line)[1:]
    while words and isinstance(command, click.Group) and not words[0].startswith("-"):
        word = words.pop(0).strip(".,;:")
        below = command.get_command(click.Context(command), word)
        if below is None:
            return "" if word.isupper() else f"no verb {word!r}"
        command = below
    known = {flag for option in command.params for flag in (*option.opts, *option.secondary_opts)}
    for word in words:
        flag = re.match(r"--?[a-zA-Z][\w-]*", word)
        if flag and flag[0] not in known | SHARED | {"--help", "--version"}:
            return f"no option {flag[0]}"
    return ""


@pytest.mark.parametrize("pages", [PAGES, SOURCES], ids=["pages", "messages"])
def test_documented_commands_exist(pages: list[Path]) -> None:
    wrong, seen = [], 0
    for page in pages:
        for line, command in commands(page.read_text("utf-8")):
            seen += 1
            if problem := fault(command):
                wrong.append(f"{page.relative_to(ROOT)}:{line}: {problem}: {command}")
    assert wrong == []
    assert seen > 50


def test_a_command_that_is_not_there_is_noticed() -> None:
    assert fault("lakebed ls sales/main") == "no verb 'ls'"
    assert fault("lakebed commit sales/main --mesage x") == "no option --mesage"
    assert fault("lakebed commit sales/main -m 'x'") == ""
