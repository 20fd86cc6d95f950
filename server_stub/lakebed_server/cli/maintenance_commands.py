"""`lakebed fsck`, `lakebed sweep` and `lakebed rebuild`: verbs that open the stores themselves, without a server."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any

import click

from lakebed_server.vocabulary import SettingError, StartError

if TYPE_CHECKING:
    from lakebed_server.settings.schema import Settings
import sys


class VerbError(click.ClickException):
    """The verb failed. `exit_code` is one of docs/cli.md, `kind` is for programs."""

    def __init__(self, message: str, exit_code: int, kind: str) -> None:
        super().__init__(message)
        self.exit_code = exit_code  # type: ignore[misc]
        self.kind = kind


def refusal(error: StartError) -> VerbError:
    """The error when the stores cannot be opened, as for `serve`: exit code 2 for a wrong setting, otherwise 1."""
    if isinstance(error, SettingError):
        return VerbError(str(error), 2, "configuration")
    return VerbError(str(error), 1, "failed")


def store_options(verb: Callable[..., Any]) -> Callable[..., Any]:
    """The options that select the stores. The verb refuses to run where the server cannot."""

    @wraps(verb)
    def checked(*args: Any, **options: Any) -> Any:

        try:
            check_platform()
        except StartError as error:
            raise refusal(error) from None
        return verb(*args, **options)

    made: Callable[..., Any] = checked
    for option in (
        click.option("--json", "as_json", is_flag=True, help="Print JSON."),
        click.option("--data-dir", type=click.Path(), help="The server's directory [~/.lakebed/data]."),
        click.option("--config", type=click.Path(), help="The server's YAML file of settings."),
    ):
        made = option(made)
    return made


@click.command()
@click.argument("repo", required=False, default="")
@click.option("--data", is_flag=True, help="Also check that each object exists and has the right size.")
@click.option("--deep", is_flag=True, help="With --data: also read each object and compare its MD5.")
@click.option(
    "--orphan-age",
    type=click.FloatRange(min=0),
    metavar="SECONDS",
    default=3600.0,
    show_default=True,
    help="Unreferenced files that are younger count as work in progress, not as orphans.",
)
@store_options
def fsck(
    *, repo: str, data: bool, deep: bool, orphan_age: float, config: str | None, data_dir: str | None, as_json: bool
) -> int:
    """Check that all files that a repository refers to exist and are intact, and list orphans.

    Without REPO it checks all repositories, one after another, and --json prints an object for each. Opens the
    server's stores directly; a server may run on them at the same time. Changes nothing. Exits with 0 when nothing is
    missing or corrupt, with 1 when something is, and with another code when a check could not finish: the rest of that
    repository is then unchecked.

    \b
    Example:
      lakebed fsck sales --data --data-dir /srv/lakebed
    """
    from lakebed_engine.vocabulary.reports import FsckOptions

    from lakebed_server.cli.maintenance import run_fsck

    options = FsckOptions(data=data or deep, deep=deep, orphan_age=orphan_age)
    return _run(lambda: run_fsck(read_settings(config, data_dir), repo, options, as_json=as_json))


@click.command()
@click.argument("repo", required=False, default="")
@click.option("--data", is_flag=True, help="Also delete objects that no commit and no uncommitted change refers to.")
@click.option("--dry-run", is_flag=True, help="Check once, and only report what would be deleted.")
@click.option(
    "--yes", "-y", is_flag=True, help="With --data: delete even if many orphans are older than the repository."
)
@click.option(
    "--grace",
    type=click.FloatRange(min=0),
    metavar="SECONDS",
    default=None,
    help="Pause between the two checks [cleanup.grace, 300].",
)
@click.option(
    "--orphan-age",
    type=click.FloatRange(min=0),
    metavar="SECONDS",
    default=None,
    help="Keep files that are younger: they may belong to work in progress [cleanup.orphan_age, 86400].",
)
@store_options
def sweep(
    *,
    repo: str,
    data: bool,
    dry_run: bool,
    yes: bool,
    grace: float | None,
    orphan_age: float | None,
    config: str | None,
    data_dir: str | None,
    as_json: bool,
) -> int:
    """Delete unreferenced files that Lakebed created, of one repository or of all.

    Checks references twice, with a pause between, and deletes only files that are unreferenced both times and older
    than a day. Counts files that Lakebed did not create as foreign, and keeps them. When more than a tenth of the
    orphans is older than the repository, --data only lists them and exits with 1; --yes deletes them.
    Opens the server's stores directly; servers may run on them at the same time. Without REPO it also drops
    uncommitted rows that no branch refers to. Exits with 0 when the sweep is complete or another process runs it, and
    with 1 when it skipped a repository because something in it is damaged, unknown or unreachable.

    \b
    Example:
      lakebed sweep sales --dry-run --data-dir /srv/lakebed
    """
    from lakebed_server.cli.maintenance import run_sweep

    def job() -> int:
        settings = read_settings(config, data_dir)
        return run_sweep(
            settings, repo, data=data, dry_run=dry_run, yes=yes, grace=grace, age=orphan_age, as_json=as_json
        )

    return _run(job)


@click.command()
@click.option("--namespace", required=True, metavar="URI", help="Storage namespace of the repository: local://sales.")
@click.option("--name", default="", help="Name of the repository [the old name].")
@click.option("--store", default="", metavar="NAME", help="Named store of the namespace [the default store].")
@click.option("--dry-run", is_flag=True, help="Only report what would be restored.")
@store_options
def rebuild(
    *, namespace: str, name: str, store: str, dry_run: bool, config: str | None, data_dir: str | None, as_json: bool
) -> int:
    """Restore a repository from its bucket when the key-value store is lost.

    Restores all commits, and branches and tags as of the last ref snapshot. Uncommitted changes and access keys are
    lost: the server creates a new key of the admin on its first start. Refuses when the repository exists. Exits with 0
    when everything was restored, and with 1 when something is missing in the bucket; the rest is restored.

    \b
    Example:
      lakebed rebuild --namespace local://sales --data-dir /srv/lakebed
    """
    from lakebed_server.cli.maintenance import run_rebuild

    def job() -> int:
        settings = read_settings(config, data_dir)
        return run_rebuild(settings, namespace, name, store=store, dry_run=dry_run, as_json=as_json)

    return _run(job)


def read_settings(config: str | None, data_dir: str | None) -> Settings:
    """The settings of the server whose stores a verb opens. Raises StartError."""
    from lakebed_server.process.data_directory import restrict
    from lakebed_server.settings.load import load

    settings = load(flags={"data_dir": data_dir}, env=os.environ, config=config).settings
    restrict(settings)
    return settings


def _run(job: Callable[[], int]) -> int:
    from lakebed_engine.vocabulary.errors import EngineError

    from lakebed_server.cli.maintenance import exit_code_of

    try:
        return job()
    except StartError as error:
        raise VerbError(str(error), 2, "usage") from None
    except EngineError as error:
        raise VerbError(error.message, exit_code_of(error), error.kind) from error
    except BrokenPipeError:  # the reader of the output went away: `main` has a code for it
        raise
    except Exception as error:  # never exit code 1, which means that the work was finished and problems were found
        message = f"the work could not be finished: unexpected {type(error).__name__}: {error}"
        raise VerbError(f"{message}; run it again with --debug for a traceback", 7, "internal") from error


def check_platform() -> None:
    """Raise StartError on a system without the file locks that the stores need, such as Windows."""
    try:
        import fcntl  # noqa: F401 - only whether it is there
    except ImportError:
        raise StartError(
            f"the Lakebed server runs on Linux and macOS, not on this system ({sys.platform}): use WSL or a container; "
            "the Python package and the other commands work here"
        ) from None
