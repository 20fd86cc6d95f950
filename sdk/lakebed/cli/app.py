"""What every verb shares: the global options, the connection, and the classes of verbs and groups.

A global option may come before the verb or after it: `lakebed --json repo list` and `lakebed repo list --json` are the
same.
"""

from __future__ import annotations

import contextlib
import difflib
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from importlib import import_module
from keyword import iskeyword
from typing import TYPE_CHECKING, Any

import click

from lakebed.cli import terminal

if TYPE_CHECKING:
    from lakebed import Lake, Settings


@dataclass
class App:
    """The global options of one run."""

    endpoint: str | None = None
    access_key_id: str | None = None
    secret_access_key: str | None = None
    profile: str | None = None
    timeout: float = 60.0
    retries: int = 5
    as_json: bool = False
    quiet: bool = False
    debug: bool = False
    color: str = "auto"
    no_pager: bool = False
    flags: frozenset[str] = frozenset()
    """The options of the verb that runs."""

    command: str = "lakebed"
    """The verb that runs, as the user wrote it: `lakebed fs cat`."""

    html: list[str] | None = None
    """In a notebook: the tables and pictures of the output, which then is not text."""

    cloned_from: str = ""
    """The endpoint of the working directory, when the command line leaves its repository out."""

    def lake(self) -> Lake:
        """Connect. Options override the environment and the files. Raises ConfigurationError."""
        from lakebed import ClearTextWarning, ConfigurationError, Lake

        settings = self.settings()
        if self.cloned_from not in ("", settings.endpoint):
            raise ConfigurationError(
                f"this directory was cloned from {self.cloned_from}, but the endpoint in use is {settings.endpoint}"
            )
        with _written(ClearTextWarning):
            return Lake(settings)

    def settings(self) -> Settings:
        """The settings of `lake`. Reports misspelled settings on standard error. Raises ConfigurationError."""
        from lakebed._settings import config

        key = _both_halves(self.access_key_id, self.secret_access_key)
        with _written(config.ConfigurationWarning):
            return config.resolve(self.endpoint, *key, profile=self.profile, timeout=self.timeout, retries=self.retries)

    @property
    def shows_html(self) -> bool:
        """Whether tables are shown as HTML, in a notebook."""
        return self.html is not None and not self.as_json

    @property
    def shows_progress(self) -> bool:
        """Whether to show a progress bar: standard error is a terminal, and `--quiet` is not set."""
        return not self.quiet and sys.stderr.isatty()


def _both_halves(key: str | None, secret: str | None) -> tuple[str | None, str | None]:
    """Take the half of an access key that is not an option from the variables: one command line means one key."""
    if (key is None) == (secret is None):
        return key, secret
    return (
        key or os.environ.get("LAKEBED_ACCESS_KEY_ID") or None,
        secret or os.environ.get("LAKEBED_SECRET_ACCESS_KEY") or None,
    )


@contextlib.contextmanager
def _written(category: type[Warning]) -> Iterator[None]:
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
        option(["--access-key-id"], metavar="ID", hidden=hidden, help="Id of the access key [$LAKEBED_ACCESS_KEY_ID]."),
        option(
            ["--secret-access-key"],
            metavar="SECRET",
            hidden=hidden,
            help="Its secret [$LAKEBED_SECRET_ACCESS_KEY]; other users of the machine can read command lines.",
        ),
        option(["--profile"], metavar="NAME", hidden=hidden, help="Profile of ~/.lakebed.yaml [$LAKEBED_PROFILE]."),
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
            help="Repeat a failed request at most N times, if that is safe [5].",
        ),
        option(["-q", "--quiet"], is_flag=True, hidden=hidden, help="Print no progress and no confirmation."),
        option(
            ["--color"],
            type=click.Choice(["auto", "always", "never"]),
            hidden=hidden,
            help="Colour the output; auto: on a terminal, unless NO_COLOR is set [auto].",
        ),
        option(
            ["--no-pager"],
            is_flag=True,
            hidden=hidden,
            help="Show long output without a pager [$LAKEBED_PAGER, $PAGER].",
        ),
        option(["--debug"], is_flag=True, hidden=hidden, help="Show the traceback of an error."),
    ]


class Verb(click.Command):
    """A command that takes the global options too."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.params += shared_options(shown=False)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse as click does. For an option of Git, say what it is here."""
        return with_advice(ctx, self.name or "", partial(super().parse_args, ctx, args))

    def invoke(self, ctx: click.Context) -> Any:
        """Remember the verb and its options: the hint of an error names only options that the verb has."""
        app = ctx.ensure_object(App)
        app.flags = frozenset(flag for option in self.params for flag in option.opts)
        app.command = ctx.command_path
        terminal.begin(app.color)
        return super().invoke(ctx)


class Noun(click.Group):
    """A group of verbs, in the order in which they are written."""

    command_class = Verb

    def list_commands(self, ctx: click.Context) -> list[str]:
        """In order of definition."""
        return list(self.commands)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the verbs with the whole first sentence of each: click cuts it off."""
        found = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
        rows = [(name, _first_sentence(one)) for name, one in found if one is not None and not one.hidden]
        if rows:
            with formatter.section("Commands"):
                formatter.write_dl(rows)

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        """Resolve as click does. For an unknown verb, suggest one by its meaning in Git, or by spelling.

        Raises UsageError.
        """
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            hint = self._hint(ctx, args) if args else ""
            if hint:
                raise click.UsageError(f"{error.message.removesuffix('.')}. {hint}", error.ctx) from None
            raise

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse as click does. For an option of Git, say what it is here."""
        return with_advice(ctx, self.name or "", partial(super().parse_args, ctx, args))

    def _hint(self, ctx: click.Context, words: list[str]) -> str:
        from lakebed.cli.other_words import advice

        group = ctx.command_path.removeprefix(ctx.find_root().command_path).strip()
        if found := advice(group, words):
            return found
        near = difflib.get_close_matches(words[0], self.list_commands(ctx), 1)
        return f"Did you mean '{near[0]}'?" if near else ""


def with_advice(ctx: click.Context, name: str, parse: Callable[[], list[str]]) -> list[str]:
    """Parse a command line. The error for an option of Git says what it is here. Raises UsageError."""
    try:
        return parse()
    except click.NoSuchOption as error:
        from lakebed.cli.other_words import option_advice

        if found := option_advice(name, error.option_name):
            raise click.UsageError(f"No such option: {error.option_name}; {found}.", ctx) from None
        raise


def _first_sentence(command: click.Command) -> str:
    paragraph = (command.short_help or command.help or "").strip().partition("\n\n")[0]
    text = " ".join(paragraph.replace("\b", "").split())
    return text.partition(". ")[0].removesuffix(".") + "." if text else ""


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


def message_option(command: Any) -> Any:
    """`-m`, the message of a commit. It must say something."""
    return click.option(
        "-m",
        "--message",
        required=True,
        callback=_said,
        help="Message of the commit; its first line is the title.",
    )(command)


def _said(ctx: click.Context, option: click.Parameter, value: str) -> str:
    if not value.strip():
        raise click.BadParameter("the message is empty: describe what the commit changes", ctx, option)
    return value


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
    """Ask before something is lost. Without a terminal, `--yes` is required."""
    if yes:
        return
    if not sys.stdin.isatty():
        raise click.UsageError(f"{question} Not a terminal: pass --yes to confirm.")
    if not click.confirm(question, err=True):
        click.echo("Nothing was changed.", err=True)
        raise click.exceptions.Exit(1)


yes_option = click.option("-y", "--yes", is_flag=True, help="Do not ask.")


if TYPE_CHECKING:
    _Moment = click.ParamType[datetime]
else:
    _Moment = click.ParamType


class Moment(_Moment):
    """A date or a time as `log` prints it: `2026-11-27 10:00:00 UTC`. Without a zone it is local time."""

    name = "time"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> datetime:
        """The time, with its zone if it was given."""
        if isinstance(value, datetime):
            return value
        text = value.strip().removesuffix(" UTC") + ("+00:00" if value.strip().endswith(" UTC") else "")
        try:
            return datetime.fromisoformat(text)
        except ValueError:
            self.fail(f"{value!r} is not a time; write 2026-11-27, or 2026-11-27 10:00:00 UTC", param, ctx)


_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}

if TYPE_CHECKING:
    _Duration = click.ParamType[int]
else:
    _Duration = click.ParamType


class Duration(_Duration):
    """Seconds, or a number with s, m, h or d behind it: `90m`."""

    name = "duration"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Seconds."""
        if isinstance(value, int):
            return value
        number, unit = (value[:-1], value[-1:]) if value[-1:] in _UNITS else (value, "s")
        if not (number.isascii() and number.isdigit()) or int(number) == 0:
            self.fail(f"{value!r} is not a length of time; write seconds, or 90m, 12h or 7d", param, ctx)
        return int(number) * _UNITS[unit]
