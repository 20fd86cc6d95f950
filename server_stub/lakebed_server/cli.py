"""The server's verbs of the `lakebed` command: `serve` and `config show`, and those of `cli_maintenance`.

The top of the server. The command itself belongs to the SDK, which finds these through the entry point group
`lakebed.cli`. Everything heavy is imported when a verb runs.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from typing import Any

import click

from lakebed_server.cli_maintenance import fsck, rebuild, sweep
from lakebed_server.vocabulary import StartError


def _say(line: str) -> None:
    click.echo(line, err=True)  # standard output is for the log


@click.command()
@click.option("--config", type=click.Path(), help="YAML file of settings.")
@click.option("--host", help="Address to listen on [127.0.0.1].")
@click.option("--port", type=int, help="Port to listen on; 0 for any free one [8000].")
@click.option("--data-dir", type=click.Path(), help="Directory of everything that the server keeps [~/.lakebed/data].")
@click.option("--log-format", help="text or json [text].")
@click.option("--log-level", help="DEBUG, INFO, WARN, ERROR or NONE [INFO].")
@click.option("--workers", type=click.IntRange(1, 256), default=1, help="Processes that share the port [1].")
def serve(
    *,
    config: str | None,
    host: str | None,
    port: int | None,
    data_dir: str | None,
    log_format: str | None,
    log_level: str | None,
    workers: int,
) -> None:
    """Run a server until it is told to stop.

    Needs nothing but a directory: SQLite and local files are the default. On first start it makes an access key of the
    admin and shows it once.
    """
    flags = {
        "listen.host": host,
        "listen.port": port,
        "data_dir": data_dir,
        "logging.format": log_format,
        "logging.level": log_level,
    }
    _run(lambda: _serve(flags, config, workers))


@click.group()
def config() -> None:
    """Look at the settings of the server."""


@config.command()
@click.option("--config", "path", type=click.Path(), help="YAML file of settings.")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def show(path: str | None, as_json: bool) -> None:
    """Show every setting, its value (secrets masked) and where it came from."""
    _run(lambda: _show(path, as_json))


commands: list[click.Command] = [serve, config, fsck, rebuild, sweep]
"""What the entry point group `lakebed.cli` finds."""


def _serve(flags: dict[str, Any], path: str | None, workers: int) -> None:
    from lakebed_server.settings.load import load

    settings = load(flags=flags, env=os.environ, config=path).settings
    from lakebed_server.serve import run

    run(settings, _say, workers)


def _show(path: str | None, as_json: bool) -> None:
    from lakebed_server.settings.load import load
    from lakebed_server.settings.show import rows, table

    loaded = load(env=os.environ, config=path)
    if as_json:
        click.echo(json.dumps([row._asdict() for row in rows(loaded)], indent=2))
    else:
        click.echo(table(loaded))


def _run(job: Callable[[], None]) -> None:
    try:
        job()
    except StartError as error:
        raise click.ClickException(str(error)) from None
