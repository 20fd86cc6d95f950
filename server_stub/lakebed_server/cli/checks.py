"""Checks of a server that does not have to run: `lakebed config check`, `lakebed doctor --server`, `lakebed upgrade`.

The first two are verbs of the SDK's command, which finds the functions here through the entry points `lakebed.checks`.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Sequence
from typing import Any

import click

from lakebed_server.cli.maintenance_commands import VerbError, read_settings, refusal, store_options
from lakebed_server.vocabulary import StartError


def config_problems(path: str) -> list[dict[str, Any]]:
    """The problems of a file of settings: `level` and `message` of each. Raises VerbError without such a file."""
    from lakebed_server.process.check_settings import check_file

    try:
        _, found = check_file(path, os.environ)
    except StartError as error:
        raise refusal(error) from None
    return [problem._asdict() for problem in found]


def server_report(path: str | None, data_dir: str | None, namespaces: Sequence[str]) -> dict[str, Any]:
    """The report of `lakebed doctor --server`."""
    from lakebed_server.process.doctor import examine

    env = dict(os.environ) | ({"LAKEBED_DATA_DIR": data_dir} if data_dir else {})
    return asyncio.run(examine(path, env, namespaces))


@click.group()
def upgrade() -> None:
    """Prepare an upgrade of a server."""


@upgrade.command()
@click.option("--all", "every_file", is_flag=True, help="Read the metadata of all commits, not only of branch heads.")
@store_options
def check(*, every_file: bool, config: str | None, data_dir: str | None, as_json: bool) -> int:
    """Check whether this build can open the stores of a server, what its first start would change, and how to go back.

    Run it with the new version, before the upgrade, as the server's account. Servers may run. It runs the start-up
    steps on the real rows but keeps every change in memory, and opens the trees of all branches. Changes nothing. Exits
    with 0 when this build can open the stores, and with 1 when it cannot.

    \b
    Example: lakebed upgrade check --data-dir /srv/lakebed
    """
    from lakebed_engine.vocabulary.errors import EngineError

    from lakebed_server.process import upgrade as process

    try:
        report = asyncio.run(process.check(read_settings(config, data_dir), every_file=every_file))
    except StartError as error:
        raise refusal(error) from None
    except EngineError as error:
        raise VerbError(error.message, 7, error.kind) from error
    if as_json:
        click.echo(json.dumps({"ok": report.ok, **report._asdict()}, indent=2))
    else:
        click.echo(_text(report))
    return 0 if report.ok else 1


def _text(report: Any) -> str:
    lines = [f"[{'ok' if one['ok'] else 'FAILED'}] {one['check']}: {one['message']}" for one in report.checks]
    if report.ok:
        lines += ["", "A start of this build:"]
        lines += [f"  {change}" for change in report.changes] or ["  changes nothing in the KV store"]
        lines += [f"Downgrade: {report.downgrade}."]
    else:
        lines += ["", "This build cannot open these stores. Nothing was changed."]
    return "\n".join(lines)
