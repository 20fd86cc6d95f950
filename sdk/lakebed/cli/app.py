"""What every verb shares: the global options, the connection they lead to, and the classes that carry them.

A global option may stand before the verb or after it: `lakebed --json repo list` and `lakebed repo list --json` are the
same.
"""

from __future__ import annotations

import contextlib
import difflib
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from keyword import iskeyword
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from lakebed import Lake, Settings


@dataclass
class App:
    """The global options of one run."""

    endpoint: str | None = None
    access_key_id: str | None = None
    secret_access_key: str | None = None
    timeout: float = 60.0
    retries: int = 5
    as_json: bool = False
    quiet: bool = False
    debug: bool = False
    flags: frozenset[str] = frozenset()
    """The options of the verb that runs."""

    def lake(self) -> Lake:
        """Connect, with what was given over what the environment and the files say. Raises ConfigurationError."""
        from lakebed import ClearTextWarning, Lake

        settings = self.settings()
        with _told(ClearTextWarning):
            return Lake(settings)

    def settings(self) -> Settings:
        """What `lake` connects with. Misspelled settings are told on standard error. Raises ConfigurationError."""
        from lakebed._settings import config

        given = (self.endpoint, self.access_key_id, self.secret_access_key)
        with _told(config.ConfigurationWarning):
            return config.resolve(*given, timeout=self.timeout, retries=self.retries)

    @property
    def shows_progress(self) -> bool:
        """Whether somebody is there to look at a progress bar."""
        return not self.quiet and sys.stderr.isatty()


@contextlib.contextmanager
def _told(category: type[Warning]) -> Iterator[None]:
    """Write warnings to standard error, each as one line."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", category)
        try:
            yield
        finally:
            for one in caught:
                sys.stderr.write(f"lakebed: warning: {one.message}\n")


pass_app = click.make_pass_decorator(App, ensure=True)
"""Gives a verb the `App` as its first argument."""


def _remember(ctx: click.Context, option: click.Parameter, value: Any) -> None:
    app = ctx.find_root().ensure_object(App)
    if value is not None and value is not False and option.name:
        setattr(app, option.name, value)


def shared_options(*, shown: bool) -> list[click.Option]:
    """The global options. Below the root only `--json` is shown: help texts stay short."""
    option = partial(click.Option, expose_value=False, callback=_remember)
    hidden = not shown
    return [
        option(["--json", "as_json"], is_flag=True, help="Print JSON."),
        option(["--endpoint"], metavar="URL", hidden=hidden, help="Address of the server [$LAKEBED_ENDPOINT]."),
        option(["--access-key-id"], metavar="ID", hidden=hidden, help="Key id [$LAKEBED_ACCESS_KEY_ID]."),
        option(
            ["--secret-access-key"],
            metavar="SECRET",
            hidden=hidden,
            help="Its secret [$LAKEBED_SECRET_ACCESS_KEY]; other users see what stands on a command line.",
        ),
        option(
            ["--timeout"],
            type=click.FloatRange(min=0, min_open=True),
            metavar="SECONDS",
            hidden=hidden,
            help="Longest single wait for the server [60].",
        ),
        option(
            ["--retries"],
            type=click.IntRange(min=0),
            metavar="N",
            hidden=hidden,
            help="How often a request that is safe to repeat is repeated [5].",
        ),
        option(["-q", "--quiet"], is_flag=True, hidden=hidden, help="No progress, no confirmation of what was done."),
        option(["--debug"], is_flag=True, hidden=hidden, help="Show the traceback of an error."),
    ]


class Verb(click.Command):
    """A command that takes the global options too."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.params += shared_options(shown=False)

    def invoke(self, ctx: click.Context) -> Any:
        """Note what the verb takes, so that the hint of an error names no option that it has not."""
        ctx.ensure_object(App).flags = frozenset(flag for option in self.params for flag in option.opts)
        return super().invoke(ctx)


class Noun(click.Group):
    """A group of verbs, in the order in which they are written."""

    command_class = Verb

    def list_commands(self, ctx: click.Context) -> list[str]:
        """In order of definition: what is used first stands first."""
        return list(self.commands)

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        """As click does, and a verb that is misspelled is told its neighbour. Raises UsageError."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            near = difflib.get_close_matches(args[0], self.list_commands(ctx), 1) if args else []
            if near:
                raise click.UsageError(f"{error.message} Did you mean '{near[0]}'?", error.ctx) from None
            raise


class LazyNoun(Noun):
    """A group whose verbs are named by module, and imported when they are asked for."""

    def __init__(self, *args: Any, homes: dict[str, str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._homes = homes

    def list_commands(self, ctx: click.Context) -> list[str]:
        """In the order of the table."""
        return list(self._homes)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the module of a verb."""
        home = self._homes.get(cmd_name)
        if home is None:
            return None
        name = cmd_name.replace("-", "_")
        command: click.Command = getattr(import_module(f"lakebed.cli.{home}"), f"{name}_" if iskeyword(name) else name)
        return command


def metadata_option(what: str) -> Callable[[Any], Any]:
    """`--meta KEY=VALUE`, any number of times."""
    return click.option(
        "--meta",
        "metadata",
        multiple=True,
        metavar="KEY=VALUE",
        callback=_pairs,
        help=f"Metadata of the {what}; may be repeated.",
    )


def _pairs(ctx: click.Context, option: click.Parameter, values: tuple[str, ...]) -> dict[str, str]:
    pairs = {}
    for value in values:
        key, equals, text = value.partition("=")
        if not key or not equals:
            raise click.BadParameter(f"{value!r} is not KEY=VALUE", ctx, option)
        pairs[key] = text
    return pairs


def confirm(question: str, *, yes: bool) -> None:
    """Ask before something is lost. Without a terminal to ask on, `--yes` must be given."""
    if yes:
        return
    if not sys.stdin.isatty():
        raise click.UsageError(f"{question} Say --yes to confirm: there is no terminal to ask on.")
    if not click.confirm(question, err=True):
        click.echo("Nothing was changed.", err=True)
        raise click.exceptions.Exit(1)


yes_option = click.option("-y", "--yes", is_flag=True, help="Do not ask.")
