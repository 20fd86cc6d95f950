"""`lakebed login` and `lakebed logout`: sign in with the company's directory, and end the session."""

from __future__ import annotations

import base64
import hashlib
import os
import secrets
import sys
import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import urlencode

import click

from lakebed.cli import output
from lakebed.cli.admin.code_receiver import CodeReceiver
from lakebed.cli.app import App, Verb, pass_app
from lakebed.errors import AuthenticationError, ServerUnavailableError, UnsupportedOperationError

if TYPE_CHECKING:
    from lakebed import Lake

WAIT_SECONDS: Final = 300.0
"""How long the command waits for the browser."""


@click.command(cls=Verb)
@click.argument("server", metavar="[ENDPOINT]", required=False)
@click.option("--no-browser", is_flag=True, help="Print the address, and ask for the code that the page shows.")
@click.option("--user", metavar="NAME", help="Sign in with this user name and a password, without a browser.")
@pass_app
def login(app: App, *, server: str | None, no_browser: bool, user: str | None) -> None:
    """Sign in, and store the endpoint and a token in ~/.lakebed.yaml.

    The command opens a browser. The token is renewed when it is used.

    \b
    Example:
      lakebed login https://lake.example.com
      lakebed login --user ana
    """
    from lakebed import Lake
    from lakebed._settings import config, sign_in_file, sources

    path = sources.own_file(os.environ)
    sign_in_file.check(path)
    settings = config.without_credentials(server or app.endpoint, timeout=app.timeout, retries=app.retries)
    with Lake(settings) as lake:
        token = _by_password(lake, user) if user is not None else _by_page(lake, no_browser=no_browser)
    with Lake(config.resolve(settings.endpoint, None, None, token=token, timeout=app.timeout)) as lake:
        name = lake.user().id
    sign_in_file.store(path, settings.endpoint, token)
    said = f"You are signed in to {settings.endpoint} as {output.shown(name)}."
    output.say(app, said, {"endpoint": settings.endpoint, "user": name, "file": str(path)})
    _warn_of_others(app, path)


@click.command(cls=Verb)
@pass_app
def logout(app: App) -> None:
    """End the session of `lakebed login`, and remove its token from ~/.lakebed.yaml.

    \b
    Example: lakebed logout
    """
    from lakebed._settings import sign_in_file

    path = sign_in_file.of(app.settings())
    if path is None:
        raise click.UsageError(f"the credentials are not of a sign-in: they are the {app.settings().shown_credentials}")
    try:
        with app.lake() as lake:
            lake.request("POST", "/auth/logout")
    except AuthenticationError:
        output.note(app, "The session had ended.")
    except ServerUnavailableError as error:
        output.note(app, f"The token is removed here, but works until it expires: {error}")
    sign_in_file.remove(path)
    output.say(app, "You are signed out.", {"file": str(path)})


def _by_password(lake: Lake, user: str) -> str:
    if sys.stdin.isatty():
        password = str(click.prompt("Password", hide_input=True, err=True))
    else:
        password = sys.stdin.readline().rstrip("\r\n")
    body = {"access_key_id": user, "secret_access_key": password}
    return str(lake.request("POST", "/auth/login", body=body).json()["token"])


def _by_page(lake: Lake, *, no_browser: bool) -> str:
    verifier, state = secrets.token_urlsafe(48), secrets.token_urlsafe(16)
    challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()
    page = f"{lake.settings.endpoint}{_login_path(lake)}"
    code = None
    if not no_browser:
        with CodeReceiver(state) as receiver:
            query = {"challenge": challenge, "port": str(receiver.port), "state": state}
            if webbrowser.open(f"{page}?{urlencode(query)}"):
                click.echo("Sign in with the page that the browser shows.", err=True)
                code = receiver.wait(WAIT_SECONDS)
    if code is None:
        click.echo(f"Open this address, sign in, and enter the code:\n{page}?challenge={challenge}", err=True)
        code = str(click.prompt("Code", err=True))
    body = {"code": code.strip(), "verifier": verifier}
    return str(lake.request("POST", "/auth/login/code", body=body).json()["token"])


def _login_path(lake: Lake) -> str:
    config = lake.request("GET", "/setup_lakefs").json().get("login_config") or {}
    path = str(config.get("login_url") or "")
    if not path.startswith("/") or path.startswith("//"):
        raise UnsupportedOperationError(
            f"{lake.settings.endpoint} has no sign-in page: use --user with a password, or an access key"
        )
    return path


def _warn_of_others(app: App, path: Path) -> None:
    """Say when the next command would use other credentials than those of the sign-in."""
    from lakebed._settings import sign_in_file

    settings = app.settings()
    if sign_in_file.of(settings) != path:
        output.note(app, f"Commands still use the {settings.shown_credentials}, which has precedence over the sign-in.")
