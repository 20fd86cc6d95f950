"""`lakebed config`: which settings are in force, and where each came from; and what the server reports.

The client's are this package's own. The server's come through the entry point group `lakebed.settings`, since the SDK
never imports the server: a function of the path of a YAML file that gives rows of key, value and source, and as
`shown` the value as a person would write it.
"""

from __future__ import annotations

from importlib.metadata import entry_points
from typing import Any

import click

from lakebed import LakebedError, StoreInfo
from lakebed.cli import addons, output
from lakebed.cli.app import App, Noun, pass_app
from lakebed.cli.exits import ExitCode

GROUP = "lakebed.settings"


@click.group(cls=Noun)
def config() -> None:
    """Show and check settings."""


@config.command()
@click.option("--config", "path", type=click.Path(), help="The server's YAML file of settings.")
@pass_app
def show(app: App, *, path: str | None) -> None:
    """Show each setting with its value and its source: the client's settings, then the server's. Masks secrets.

    The client's settings are those of `lakebed` and `lakebed.connect()`. The server's settings are what `lakebed
    serve` would use on this machine.

    \b
    Example: lakebed config show
    """
    client, problem = client_rows(app)
    server = _server_rows(path)
    lines = ["client", *_table(client)]
    if problem:
        lines.append(f"  {problem}")
    lines += ["", "server", *_table(server)] if server else []
    report = {"client": client, "problem": problem or None, "server": server}
    output.show(app, "\n".join(lines), report)


@config.command()
@click.argument("file", type=click.Path())
@pass_app
def check(app: App, *, file: str) -> None:
    """Check the server's YAML file of settings without starting the server.

    Finds unknown keys, wrong values, settings that do not fit together, files that are missing or cannot be read, and
    directories that this account cannot use. Reads the variables LAKEBED_* too, as the server does: run it as the
    server's account, with its environment. Prints all problems. Exits with 0 when the server would start with these
    settings, and with 2 when it would refuse them. `lakebed doctor --server` also tries the stores.

    \b
    Example: lakebed config check /etc/lakebed/lakebed.yaml
    """
    problems: list[dict[str, Any]] = addons.check_of_server("config")(file)
    errors = sum(problem["level"] == "error" for problem in problems)
    lines = [f"[{problem['level'].upper()}] {output.shown(problem['message'])}" for problem in problems]
    many = f"{errors} error{'s' if errors != 1 else ''}"
    lines.append(
        f"{output.shown(file)}: {many}; the server would not start" if errors else f"{output.shown(file)}: good"
    )
    output.show(app, "\n".join(lines), {"ok": not errors, "problems": problems})
    raise click.exceptions.Exit(int(ExitCode.USAGE if errors else ExitCode.OK))


@config.command()
@pass_app
def server(app: App) -> None:
    """Show what the server reports: its API level, its storage namespaces and its features.

    \b
    Example: lakebed config server
    """
    with app.lake() as lake:
        info, ready = lake.info(), lake.is_set_up()
    text = output.table(
        [
            ("API level", info.api_level),
            ("set up", _yes(ready)),
            ("storage", info.storage),
            ("new namespaces below", output.shown(info.namespace_prefix)),
            ("namespaces match", output.shown(info.namespace_pattern)),
            ("imports match", output.shown(info.import_pattern) or "nothing: they are off"),
            ("signed addresses", _yes(info.signs)),
            ("signed uploads", _yes(info.signs_uploads)),
            ("workspaces", _yes(info.workspaces)),
            *((f"store {one.id}", _store(one)) for one in info.stores),
        ]
    )
    stores = [output.record(one) for one in info.stores]
    output.show(app, text, output.record(info) | {"set_up": ready, "stores": stores})


def _store(store: StoreInfo) -> str:
    signs = "signed addresses" if store.signs else "no signed addresses"
    described = f": {output.shown(store.description)}" if store.description else ""
    return f"{store.kind}, new namespaces below {output.shown(store.namespace_prefix)}, {signs}{described}"


def _yes(so: bool) -> str:
    return "yes" if so else "no"


def client_rows(app: App) -> tuple[list[dict[str, Any]], str]:
    """The client's settings, or why there are none."""
    try:
        settings = app.settings()
    except LakebedError as error:
        return [], error.message
    return [{"key": key, "value": value, "source": source} for key, value, source in settings.masked()], ""


def _server_rows(path: str | None) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for point in entry_points(group=GROUP):
        try:
            report: Any = point.load()
        except ImportError as error:
            if not addons.is_server_module(error):
                raise
            continue
        rows += report(path)
    return rows


def _table(rows: list[dict[str, Any]]) -> list[str]:
    texts = [(row["key"], str(row.get("shown", row["value"])), row["source"]) for row in rows]
    wide = [max((len(text[column]) for text in texts), default=0) for column in range(2)]
    return [f"  {key:{wide[0]}}  {value:{wide[1]}}  {source}" for key, value, source in texts]
