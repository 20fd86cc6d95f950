"""The entry point of the `lakebed` command: finds the verb, runs it, and turns an error into a sentence and a code.

`lakebed --help` imports click and these modules only, so that it is quick.
"""

from __future__ import annotations

import atexit
import os
import sys
import threading
import traceback
import warnings
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NoReturn

import click

from lakebed._version import __version__
from lakebed.cli import addons
from lakebed.cli.app import App, LazyNoun, shared_options

if TYPE_CHECKING:
    from lakebed.cli.exits import Failure

_VERBS = {
    "repo": "admin.repositories",
    "branch": "versions.branches",
    "tag": "versions.tags",
    "fs": "objects.files",
    "commit": "versions.commits",
    "log": "versions.log",
    "show": "versions.log",
    "diff": "versions.diff",
    "merge": "versions.commits",
    "merge-base": "versions.diff",
    "pr": "pulls.requests",
    "hooks": "hooks.commands",
    "revert": "versions.commits",
    "cherry-pick": "versions.commits",
    "undo": "versions.undo",
    "blame": "objects.files",
    "status": "workspaces.directory",
    "switch": "workspaces.directory",
    "checkout": "workspaces.directory",
    "reset": "workspaces.directory",
    "stash": "workspaces.directory",
    "pop": "workspaces.directory",
    "workspace": "workspaces.workspace",
    "upload": "objects.bulk_transfers",
    "download": "objects.bulk_transfers",
    "archive": "objects.archive",
    "local": "workspaces.checkout",
    "ingest": "objects.ingest",
    "migrate": "versions.migrate",
    "import": "admin.tasks",
    "task": "admin.tasks",
    "whoami": "access.users",
    "user": "access.users",
    "group": "access.groups",
    "policy": "access.policies",
    "grant": "access.grants",
    "revoke": "access.grants",
    "can": "access.grants",
    "login": "admin.sign_in",
    "logout": "admin.sign_in",
    "profile": "admin.profiles",
    "credentials": "admin.aws",
    "aws-config": "admin.aws",
    "session": "access.sessions",
    "key": "admin.keys",
    "history": "admin.history",
    "events": "admin.events",
    "api": "admin.api",
    "config": "admin.configuration",
    "completion": "completion",
    "doctor": "admin.doctor",
}

_SHOWN_PATHS = 20

_RESUMED = frozenset(
    {"lakebed upload", "lakebed download", "lakebed local clone", "lakebed migrate lakefs", "lakebed migrate dvc"}
)
"""Verbs that skip what an interrupted run of the same command has done."""

_NO_ARGUMENTS: Any = getattr(click.exceptions, "NoArgsIsHelpError", ())
"""Newer releases of click raise it where older ones print the help themselves."""


class _ReaderGone(Exception):
    """Standard output is a pipe, and its reader has closed it."""


class _Root(LazyNoun):
    """The verbs of the SDK, then the verbs of other packages."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            raise _ReaderGone from None  # click would end with 1

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*super().list_commands(ctx), *addons.load()]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        return super().get_command(ctx, cmd_name) or addons.load().get(cmd_name)


@click.command(
    cls=_Root,
    homes=_VERBS,
    params=shared_options(shown=True),
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Write lakebed://REPO/REF/PATH, or REPO/REF/PATH for short.",
)
@click.version_option(__version__, prog_name="lakebed", message="%(prog)s %(version)s")
def root() -> None:
    """Git-like version control for data lakes.

    \b
    Example:
      lakebed repo create sales local://sales
      lakebed fs upload orders.csv sales/main/orders.csv
      lakebed commit sales/main -m "load the orders"
    """


def main() -> NoReturn:
    """Run the command line of this process, and end the process."""
    warnings.formatwarning = lambda message, *_: f"lakebed: {message}\n"  # without the line of code, for people
    codes: list[int] = []
    atexit.register(_leave, codes)  # registered first it is called last, when everything else has come to its end
    codes.append(run(sys.argv[1:]))
    if threading.active_count() > 1 and codes == [130]:
        os._exit(130)  # a worker hangs in the network: a second Ctrl-C should not be needed
    sys.exit(codes[0])


def _leave(codes: list[int]) -> None:
    """End the process without taking Python down around threads of C++ and Rust.

    A thread that needs the interpreter at that moment (Arrow frees bytes, obstore ends a request) would end inside
    a destructor and abort the process: exit code -6, after all work was done. 3 of 60 processes that awaited obstore
    and ended as Python does were aborted.
    """
    if codes:
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):  # its reader is gone; whether all was written, `run` has looked
                stream.flush()
        os._exit(codes[0])


def run(arguments: list[str], app: App | None = None) -> int:
    """Run one command line. Returns the exit code; raises nothing. `app` says how to show the output."""
    app = app or App()
    app.as_json, app.debug = "--json" in arguments, "--debug" in arguments  # also for a command line that is not one
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")  # paths are any Unicode, terminals are not
    if "_LAKEBED_COMPLETE" in os.environ:
        from lakebed.cli import completion

        completion.register()
    try:
        result = root.main(arguments, prog_name="lakebed", standalone_mode=False, obj=app)
        sys.stdout.flush()
    except (BrokenPipeError, _ReaderGone):
        _close_pipe()
        return 141
    except (click.Abort, KeyboardInterrupt):
        kept = "; the same command resumes where it stopped" if app.command in _RESUMED else ""
        sys.stderr.write(f"interrupted{kept}\n")
        return 130
    except Exception as error:
        if app.debug:
            traceback.print_exc()
        return _report(app, error)
    return result if isinstance(result, int) else 0


def _report(app: App, error: Exception) -> int:
    from lakebed.cli.exits import ExitCode, Failure, explain

    if isinstance(error, _NO_ARGUMENTS):
        sys.stderr.write(error.format_message() + "\n")
        return int(ExitCode.USAGE)
    if isinstance(error, click.ClickException):
        code = ExitCode(error.exit_code) if error.exit_code in set(ExitCode) else ExitCode.FAILED
        hint = ""
        if isinstance(error, click.UsageError) and error.ctx is not None:
            hint = f"See `{error.ctx.command_path} --help`."
        kind = getattr(error, "kind", "usage" if code is ExitCode.USAGE else "failed")
        failure = Failure(code, error.format_message(), hint, kind)
    elif isinstance(error, ImportError) and addons.is_server_module(error):
        failure = Failure(ExitCode.FAILED, addons.missing_sentence(app.command), kind="not_installed")
    else:
        failure = explain(_with_suggestions(app, error))
        option = failure.hint.partition(" ")[0]
        if option.startswith("--") and option not in app.flags:
            failure = replace(failure, hint="")
    sys.stderr.write(_json(failure) if app.as_json else _text(failure, app))
    return int(failure.code)


def _with_suggestions(app: App, error: Exception) -> Exception:
    """Add similar paths to the error for a missing one. Names of branches have theirs from the SDK already."""
    from lakebed import ObjectNotFoundError

    if isinstance(error, ObjectNotFoundError) and error.ref and error.path and not error.suggestions:
        with suppress(Exception), app.lake() as lake:
            lake._transport.advise(error)
    return error


def _text(failure: Failure, app: App) -> str:
    from lakebed.cli.output import shown
    from lakebed.cli.terminal import is_coloured

    name = "\x1b[1;31mlakebed:\x1b[0m " if is_coloured(app.color, sys.stderr) else "lakebed: "
    lines = [name + "\n".join(map(shown, failure.message.splitlines()))]
    lines += [f"    {shown(path)}" for path in failure.paths[:_SHOWN_PATHS]]
    hidden = len(failure.paths) - _SHOWN_PATHS
    if hidden > 0 or failure.more:
        lines.append("    ... and more" if failure.more else f"    ... and {hidden} more")
    if failure.hint:
        lines.append(f"  {failure.hint}")
    return "\n".join(lines) + "\n"


def _json(failure: Failure) -> str:
    from lakebed.cli.output import dumps

    body: dict[str, Any] = {
        "exit_code": int(failure.code),
        "kind": failure.kind,
        "message": failure.message,
        "hint": failure.hint,
        **failure.extra,
    }
    if failure.paths:
        body |= {"paths": list(failure.paths), "has_more": failure.more}
    return dumps({"error": body}) + "\n"


def _close_pipe() -> None:
    """The reader has gone (`| head`): whatever is left must not be written when Python ends."""
    devnull = os.open(os.devnull, os.O_WRONLY)
    os.dup2(devnull, sys.stdout.fileno())
