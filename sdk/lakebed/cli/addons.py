"""Verbs of other packages, such as the server's `serve`. They are found through the entry point group `lakebed.cli`.

The SDK never imports the server. When the server's dependencies are not installed, a verb reports that in one sentence.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

import click

from lakebed.cli.app import Verb, shared_options

if TYPE_CHECKING:
    from importlib.metadata import EntryPoints

GROUP = "lakebed.cli"
CHECKS = "lakebed.checks"
SERVER_VERBS = ("serve", "fsck", "rebuild", "sweep", "keys", "upgrade", "systemd")
"""The verbs of the server. When the extra is missing, the command names it instead of "no such command"."""

_SERVER_MODULES = frozenset(
    {
        "apsw",
        "cryptography",
        "httptools",
        "jwt",
        "lakebed_engine",
        "lakebed_server",
        "msgspec",
        "python_multipart",
        "starlette",
        "uvicorn",
        "uvloop",
    }
)


def load() -> dict[str, click.Command]:
    """The commands of every entry point, by name."""
    found: dict[str, click.Command] = {}
    for point in entry_points_of(GROUP):
        try:
            commands: Any = point.load()
        except ImportError as error:
            if not is_server_module(error):
                raise
            continue
        found.update({command.name: _with_shared_options(command) for command in commands if command.name})
    for name in SERVER_VERBS:
        found.setdefault(name, _missing(name))
    return found


def check_of_server(name: str) -> Callable[..., Any]:
    """The function of the server for `lakebed config check` or `lakebed doctor --server`: an entry point.

    Raises ClickException when the server is not installed.
    """
    for point in entry_points_of(CHECKS).select(name=name):
        try:
            found: Callable[..., Any] = point.load()
        except ImportError as error:
            if not is_server_module(error):
                raise
            continue
        return found
    raise click.ClickException(missing_sentence("the check of a server"))


@cache
def entry_points_of(group: str) -> EntryPoints:
    """The entry points of a group. The search reads a file of every installed package, so it is made once."""
    from importlib.metadata import entry_points  # 20 ms, which the verbs of the SDK do not need

    return entry_points(group=group)


def _with_shared_options(command: click.Command) -> click.Command:
    """Let a command of another package take the global options, such as --json, after its name too."""
    if isinstance(command, click.Group):
        for verb in command.commands.values():
            _with_shared_options(verb)
    elif not isinstance(command, Verb):
        own = {flag for option in command.params for flag in option.opts}
        command.params += [option for option in shared_options(shown=False) if not own & set(option.opts)]
    return command


def is_server_module(error: ImportError) -> bool:
    """Whether an import failed because the server's extra is not installed."""
    # a missing module or name inside our packages is a broken installation, and must be shown as it is
    name = error.name or ""
    own = name.startswith(("lakebed_engine.", "lakebed_server."))
    return isinstance(error, ModuleNotFoundError) and not own and name.partition(".")[0] in _SERVER_MODULES


def missing_sentence(command: str) -> str:
    """The message when the server's extra is not installed."""
    from lakebed_format.installation import install_command

    return f"`{command}` needs the server, which is not installed: {install_command('server')}"


def _missing(name: str) -> click.Command:
    def complain(**_: Any) -> None:
        raise click.ClickException(missing_sentence(f"lakebed {name}"))

    return Verb(
        name,
        callback=complain,
        params=[click.Argument(["arguments"], nargs=-1, type=click.UNPROCESSED)],
        context_settings={"ignore_unknown_options": True},
        short_help="(needs the extra [server])",
    )
