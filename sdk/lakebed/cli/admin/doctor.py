"""`lakebed doctor`: what one pastes into a bug report. Shows no secret and no home directory."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Callable
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from lakebed_format.installation import install_command

from lakebed import LakebedError
from lakebed._settings.sources import misspelled
from lakebed.cli import addons, output
from lakebed.cli.app import App, Verb, pass_app
from lakebed.cli.exits import ExitCode, explain

if TYPE_CHECKING:
    from lakebed import Lake

_PACKAGES = ("click", "httpx", "attrs", "tenacity", "rich", "pandas", "pyarrow", "fsspec", "numpy")
_SERVER_PACKAGES = ("apsw", "msgspec", "starlette", "uvicorn")


@click.command(cls=Verb)
@click.option("--server", is_flag=True, help="Check a server's settings and stores on this machine.")
@click.option("--config", type=click.Path(), help="With --server: its YAML file of settings.")
@click.option("--data-dir", type=click.Path(), help="With --server: its directory [~/.lakebed/data].")
@click.option("--namespace", multiple=True, metavar="[STORE=]URI", help="With --server: test this namespace too.")
@pass_app
def doctor(app: App, *, server: bool, config: str | None, data_dir: str | None, namespace: tuple[str, ...]) -> None:
    """Check settings, connection and credentials. Prints a report to paste into a bug report.

    With --server, run it on the server's machine, as the server's account. The server may be running or
    stopped. The command checks the settings, the directories, the packages, and the clocks of the database and the
    object stores. In each store it makes two conditional puts at the same time and checks that exactly one succeeds.
    For this it writes a row and a few small objects, and deletes them. The report contains no secrets. Exits with 0
    when all is well, and with 1 when a check failed.

    \b
    Example:
      lakebed doctor
      lakebed doctor --server --config /etc/lakebed/lakebed.yaml
    """
    if server:
        code = _report_server(app, config, data_dir, namespace)
    elif config or data_dir or namespace:
        raise click.UsageError("--config, --data-dir and --namespace need --server")
    else:
        code = _report_client(app)
    raise click.exceptions.Exit(int(code))


def _report_server(app: App, config: str | None, data_dir: str | None, namespace: tuple[str, ...]) -> ExitCode:
    found: dict[str, Any] = addons.check_of_server("doctor")(config, data_dir, namespace)
    output.show(app, _text(found["versions"], found["settings"], found["checks"], found["warnings"], ""), found)
    return ExitCode.OK if found["ok"] else ExitCode.FAILED


def _report_client(app: App) -> ExitCode:
    versions = _versions()
    settings: list[dict[str, str]] = []
    checks: list[dict[str, Any]] = []
    code = ExitCode.OK
    try:
        lake = app.lake()
    except LakebedError as error:
        code = _failed(checks, "settings", error)
    else:
        with lake:
            settings = _settings(lake)
            code = _check_server(lake, checks)
            for one in checks:  # users paste this report in public: show only a part of the key id
                if key := lake.settings.access_key_id:
                    one["message"] = one["message"].replace(repr(key), repr(_short(key)))
    advice = _advice()
    report: dict[str, Any] = {"ok": code is ExitCode.OK, "versions": versions, "settings": settings}
    report |= {"checks": checks, "warnings": advice}
    output.show(app, _text(versions, settings, checks, advice), report)
    return code


def _versions() -> dict[str, str]:
    found = {
        "lakebed": _version("lakebed"),
        "python": f"{platform.python_version()} ({platform.python_implementation()})",
        "platform": platform.platform(),
        "encoding": f"file system {sys.getfilesystemencoding()}, output {sys.stdout.encoding}",
    }
    found |= {name: _version(name) for name in _PACKAGES}
    complete = all(find_spec(name) for name in _SERVER_PACKAGES)
    found["cloud stores"] = "installed" if find_spec("obstore") else f"not installed: {install_command('s3')}"
    found["server"] = "installed" if complete else f"not installed: {install_command('server')}"
    return found


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "not installed"


def _settings(lake: Lake) -> list[dict[str, str]]:
    found = []
    for key, value, source in lake.settings.masked():
        fit = _short(value) if key == "access_key_id" else value
        found.append({"key": key, "value": fit, "source": _homeless(source)})
    return found


def _check_server(lake: Lake, checks: list[dict[str, Any]]) -> ExitCode:
    if lake.healthy():
        checks.append({"check": "connection", "ok": True, "message": f"{lake.settings.endpoint} answers"})
    else:
        # asked again through a verb that says why
        return _failed_by(checks, "connection", lake.version) or ExitCode.OK
    messages: list[str] = []
    code = _failed_by(checks, "credentials", lambda: messages.append(f"good, they are user {lake.user().id}"))
    if code is None:
        checks.append({"check": "credentials", "ok": True, "message": messages[0]})
        code = _failed_by(checks, "version", lambda: messages.append(f"the server speaks API level {lake.version()}"))
    if code is None:
        checks.append({"check": "version", "ok": True, "message": messages[1]})
    return code or ExitCode.OK


def _failed_by(checks: list[dict[str, Any]], name: str, ask: Callable[[], object]) -> ExitCode | None:
    try:
        ask()
    except LakebedError as error:
        return _failed(checks, name, error)
    return None


def _failed(checks: list[dict[str, Any]], name: str, error: LakebedError) -> ExitCode:
    failure = explain(error)
    checks.append({"check": name, "ok": False, "message": _homeless(failure.message)})
    return failure.code


def _advice() -> list[str]:
    try:
        return [_homeless(sentence) for sentence in misspelled(os.environ)]
    except LakebedError:
        return []  # the file cannot be read: the check of the settings has said so


def _homeless(text: str) -> str:
    return text.replace(str(Path.home()), "~")


def _short(key: str) -> str:
    return key[:4] + "..."


def _text(
    versions: dict[str, str],
    settings: list[dict[str, str]],
    checks: list[dict[str, Any]],
    advice: list[str],
    subject: str = "settings: ",
) -> str:
    lines = [output.table(versions.items()), ""]
    if settings:
        lines += [output.table((one["key"], f"{one['value']}  (from {one['source']})") for one in settings), ""]
    for one in checks:
        lines.append(f"[{'ok' if one['ok'] else 'FAILED'}] {one['check']}: {output.shown(one['message'])}")
    lines += [f"[WARNING] {subject}{output.shown(sentence)}" for sentence in advice]
    return "\n".join(lines)
