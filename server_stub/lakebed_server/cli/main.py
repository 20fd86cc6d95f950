"""The server's verbs of the `lakebed` command: `serve`, those of `cli.maintenance_commands`, and its part of `config
show`.

The top of the server. The command itself belongs to the SDK, which finds these through the entry point group
`lakebed.cli`, and the settings through `lakebed.settings`. Everything heavy is imported when a verb runs.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from typing import Any

import click

from lakebed_server.cli.checks import upgrade
from lakebed_server.cli.key_commands import keys
from lakebed_server.cli.maintenance_commands import fsck, rebuild, refusal, sweep
from lakebed_server.cli.systemd import systemd
from lakebed_server.vocabulary import StartError


def _say(line: str) -> None:
    click.echo(line, err=True)  # standard output is for the log


@click.command()
@click.option("--config", type=click.Path(), help="YAML file of settings.")
@click.option("--host", help="Address to listen on [127.0.0.1].")
@click.option("--port", type=int, help="Port to listen on; 0 for any free one [8000].")
@click.option("--data-dir", type=click.Path(), help="Directory for all data of the server [~/.lakebed/data].")
@click.option("--log-format", help="text or json [text].")
@click.option("--log-level", help="DEBUG, INFO, WARN, ERROR or NONE [INFO].")
@click.option(
    "--workers", type=click.IntRange(1, 256), metavar="N", default=1, help="Processes that share the port [1]."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON lines: the log, and the event `ready` at the start.")
def serve(
    *,
    config: str | None,
    host: str | None,
    port: int | None,
    data_dir: str | None,
    log_format: str | None,
    log_level: str | None,
    workers: int,
    as_json: bool,
) -> None:
    """Run a server until it receives a signal to stop.

    Needs only a directory: SQLite and local files are the default. On its first start it creates an access key for the
    admin and writes it to admin.env in that directory. The server runs on Linux and macOS.
    """
    flags = {
        "listen.host": host,
        "listen.port": port,
        "data_dir": data_dir,
        "logging.format": log_format or ("json" if as_json else None),
        "logging.level": log_level,
    }
    _run(lambda: _serve(flags, config, workers, as_json=as_json))


def settings_report(path: str | None) -> list[dict[str, Any]]:
    """Every setting, its value (secrets masked) and where it came from, for `lakebed config show`.

    Raises VerbError for a setting that is wrong.
    """
    from lakebed_server.settings.load import load, rows

    try:
        loaded = load(env=os.environ, config=path)
    except StartError as error:
        raise refusal(error) from None
    _warn(loaded.warnings)
    return [row._asdict() for row in rows(loaded)]


commands: list[click.Command] = [serve, fsck, rebuild, sweep, keys, upgrade, systemd]
"""What the entry point group `lakebed.cli` finds."""


def _serve(flags: dict[str, Any], path: str | None, workers: int, *, as_json: bool) -> None:
    from lakebed_server.cli.maintenance_commands import check_platform
    from lakebed_server.settings.load import load

    check_platform()
    loaded = load(flags=flags, env=os.environ, config=path)
    _warn(loaded.warnings)
    from lakebed_format.arrow import keep_pandas_out, use_system_allocator

    use_system_allocator()
    keep_pandas_out()
    from lakebed_server.process.announcement import Started, lines
    from lakebed_server.process.data_directory import restrict
    from lakebed_server.process.serve import run

    restrict(loaded.settings)

    def announce(started: Started) -> None:
        if as_json:
            click.echo(json.dumps({"event": "ready", **started._asdict()}))
        else:
            for line in lines(started, loaded.settings):
                _say(line)

    run(loaded.settings, _say, announce, workers)


def _warn(sentences: Sequence[str]) -> None:
    for sentence in sentences:
        _say(f"lakebed: warning: {sentence}")


def _run(job: Callable[[], None]) -> None:
    try:
        job()
    except StartError as error:
        raise refusal(error) from None
