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

from lakebed import LakebedError
from lakebed._settings.sources import misspelled
from lakebed.cli import output
from lakebed.cli.app import App, Verb, pass_app
from lakebed.cli.exits import ExitCode, explain

if TYPE_CHECKING:
    from lakebed import Lake

_PACKAGES = ("click", "httpx", "attrs", "tenacity", "rich", "pandas", "pyarrow", "fsspec", "numpy")
_SERVER_PACKAGES = ("apsw", "msgspec", "starlette", "uvicorn")


@click.command(cls=Verb)
@pass_app
def doctor(app: App) -> None:
    """Check settings, connection and credentials. Prints a report to paste into a bug report.

    \b
    Example: lakebed doctor
    """
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
    raise click.exceptions.Exit(int(code))


def _versions() -> dict[str, str]:
    found = {
        "lakebed": _version("lakebed"),
        "python": f"{platform.python_version()} ({platform.python_implementation()})",
        "platform": platform.platform(),
        "encoding": f"file system {sys.getfilesystemencoding()}, output {sys.stdout.encoding}",
    }
    found |= {name: _version(name) for name in _PACKAGES}
    complete = all(find_spec(name) for name in _SERVER_PACKAGES)
    found["server"] = "installed" if complete else "not installed: pip install 'lakebed[server]'"
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
    versions: dict[str, str], settings: list[dict[str, str]], checks: list[dict[str, Any]], advice: list[str]
) -> str:
    lines = [output.table(versions.items()), ""]
    if settings:
        lines += [output.table((one["key"], f"{one['value']}  (from {one['source']})") for one in settings), ""]
    for one in checks:
        lines.append(f"[{'ok' if one['ok'] else 'FAILED'}] {one['check']}: {output.shown(one['message'])}")
    lines += [f"[WARNING] settings: {output.shown(sentence)}" for sentence in advice]
    return "\n".join(lines)
