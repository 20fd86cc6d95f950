"""The reference part of docs/cli.md, made from the commands themselves.

python tools/cli_reference.py            # write it
python tools/cli_reference.py --check    # fail when it differs
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
from lakebed.cli.app import shared_options
from lakebed.cli.main import root

PAGE = Path(__file__).parents[1] / "docs/cli.md"
BEGIN = "<!-- made by tools/cli_reference.py: edit the commands, not what follows -->\n"
_SHARED = {option.name for option in shared_options(shown=True)}


def reference() -> str:
    """Every command, with its arguments and options, as Markdown."""
    return "\n".join(_section(path, command) for path, command in commands(root, ()))


def commands(command: click.Command, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """Every command that does something, with the words that lead to it."""
    if not isinstance(command, click.Group):
        yield path, command
        return
    context = click.Context(command)
    for name in command.list_commands(context):
        below = command.get_command(context, name)
        assert below is not None
        yield from commands(below, (*path, name))


def _section(path: tuple[str, ...], command: click.Command) -> str:
    text, _, example = inspect.cleandoc(command.help or "").partition("\b\n")
    arguments = [_argument(one) for one in command.params if isinstance(one, click.Argument)]
    words = " ".join(["lakebed", *path])
    lines = [f"### {words}", "", f"`{' '.join([words, *arguments])}`", "", text.strip(), ""]
    if example:
        code = inspect.cleandoc(example.removeprefix("Example:")).splitlines()
        lines += ["```sh", *(line.strip() for line in code), "```", ""]
    options = [one for one in command.params if isinstance(one, click.Option) and not one.hidden]
    shown = [one for one in options if one.name not in _SHARED]
    if shown:
        lines += ["| option | |", "|---|---|", *(_option(one) for one in shown), ""]
    return "\n".join(lines)


def _argument(argument: click.Argument) -> str:
    name = argument.metavar or (argument.name or "").upper()
    return name if argument.required or name.startswith("[") else f"[{name}]"


def _option(option: click.Option) -> str:
    flags = ", ".join(f"`{flag}`" for flag in option.opts)
    value = "" if option.is_flag else f" `{option.metavar or _kind(option.type)}`"
    default = f" [{option.default}]" if option.show_default else ""
    return f"| {flags}{value} | {(option.help or '') + default} |"


def _kind(kind: click.ParamType[Any]) -> str:
    return "|".join(map(str, kind.choices)).replace("|", "\\|") if isinstance(kind, click.Choice) else kind.name.upper()


def main() -> int:
    """Write the page, or compare it."""
    text = PAGE.read_text("utf-8")
    made = text.partition(BEGIN)[0] + BEGIN + "\n" + reference()
    if "--check" in sys.argv[1:]:
        if made != text:
            print("docs/cli.md differs from the commands: run python tools/cli_reference.py")
        return int(made != text)
    PAGE.write_text(made, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
