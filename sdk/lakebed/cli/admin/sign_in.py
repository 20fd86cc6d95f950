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
@click.option(
    "--from-file",
    "key_file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Store the access key of a file, such as the admin.env of a new server.",
)
@pass_app
def login(app: App, *, server: str | None, no_browser: bool, user: str | None, key_file: Path | None) -> None:
    """Sign in, and store the endpoint and a token in ~/.lakebed.yaml, in the profile that --profile names.

    The command opens a browser. The token is renewed when it is used. With --access-key-id, or --from-file, the command
    stores an access key, and asks for its secret if it is not given.

    \b
    Example:
      lakebed login https://lake.example.com
      lakebed login https://lake.example.com --profile prod --access-key-id LKBD…
      lakebed login --user ana
      lakebed login --from-file ~/.lakebed/data/admin.env
    """
    from lakebed._settings import profiles, sign_in_file, sources

    path = sources.own_file(os.environ)
    named = app.profile or os.environ.get("LAKEBED_PROFILE", "").strip()
    profile = profiles.check_name(named or sign_in_file.used_profile(path))
    if key_file is not None or app.access_key_id is not None:
        endpoint, name = _store_key(app, server, key_file, path, profile)
    else:
        endpoint, name = _sign_in(app, server, path, profile, user, no_browser=no_browser)
    sign_in_file.use_if_first(path, profile)
    where = "" if profile == profiles.DEFAULT else f" Profile: {profile}."
    said = f"You are signed in to {endpoint} as {output.shown(name)}.{where}"
    output.say(app, said, {"endpoint": endpoint, "user": name, "file": str(path), "profile": profile})
    _warn_of_others(app, path, profile)


def _sign_in(
    app: App, server: str | None, path: Path, profile: str, user: str | None, *, no_browser: bool
) -> tuple[str, str]:
    """Sign in and store the token. Returns the endpoint and the user."""
    from lakebed import Lake
    from lakebed._settings import config, sign_in_file

    sign_in_file.check(path, profile)
    given = server or app.endpoint
    settings = config.without_credentials(
        given, profile=None if given else app.profile, timeout=app.timeout, retries=app.retries
    )
    sign_in_file.check_server(path, profile, settings.endpoint)
    with Lake(settings) as lake:
        token = _by_password(lake, user) if user is not None else _by_page(lake, no_browser=no_browser)
    with Lake(config.resolve(settings.endpoint, None, None, token=token, timeout=app.timeout)) as lake:
        name = lake.user().id
    sign_in_file.store(path, settings.endpoint, token, profile)
    return settings.endpoint, name


def _store_key(app: App, server: str | None, key_file: Path | None, path: Path, profile: str) -> tuple[str, str]:
    """Store an access key that works. Returns the endpoint and the user."""
    from lakebed import Lake
    from lakebed._settings import config, sign_in_file

    if key_file is not None:
        found = read_key_file(key_file)
    else:
        given = {"access_key_id": app.access_key_id, "secret_access_key": app.secret_access_key or _secret()}
        found = {name: value for name, value in given.items() if value}
    address = server or app.endpoint or found.get("endpoint")
    if address is None:
        address = config.without_credentials(None, profile=app.profile).endpoint
    settings = config.resolve(
        address, found["access_key_id"], found["secret_access_key"], timeout=app.timeout, retries=app.retries
    )
    sign_in_file.check_server(path, profile, settings.endpoint)
    with Lake(settings) as lake:
        name = lake.user().id
    sign_in_file.store_key(path, settings.endpoint, settings.access_key_id, settings.secret_access_key, profile)
    return settings.endpoint, name


def read_key_file(path: Path) -> dict[str, str]:
    """Return the endpoint and the access key of a file of variables. Raises UsageError."""
    found = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        name, equals, value = line.strip().removeprefix("export ").partition("=")
        if equals and name.startswith("LAKEBED_"):
            found[name.removeprefix("LAKEBED_").lower()] = value.strip().strip("\"'")
    if not found.get("access_key_id") or not found.get("secret_access_key"):
        raise click.UsageError(
            f"{path} has no access key: expected LAKEBED_ACCESS_KEY_ID=... and LAKEBED_SECRET_ACCESS_KEY=..."
        )
    return found


def _secret() -> str:
    if sys.stdin.isatty():
        return str(click.prompt("Secret access key", hide_input=True, err=True))
    return sys.stdin.readline().rstrip("\r\n")


@click.command(cls=Verb)
@pass_app
def logout(app: App) -> None:
    """End the session of `lakebed login`, and remove its token from ~/.lakebed.yaml.

    \b
    Example: lakebed logout
    """
    from lakebed._settings import profiles, sign_in_file

    settings = app.settings()
    path, profile = sign_in_file.of(settings), settings.profile or profiles.DEFAULT
    if path is None:
        hint = f": `lakebed profile remove {profile}` removes it" if settings.profile else ""
        raise click.UsageError(f"you are not signed in: the credentials are the {settings.shown_credentials}{hint}")
    try:
        with app.lake() as lake:
            lake.request("POST", "/auth/logout")
    except AuthenticationError:
        output.note(app, "The session had ended.")
    except ServerUnavailableError as error:
        output.note(app, f"The token is removed here, but works until it expires: {error}")
    sign_in_file.remove(path, profile)
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


def _warn_of_others(app: App, path: Path, profile: str) -> None:
    """Say when the next command would use other credentials than those of the sign-in."""
    from lakebed._settings import profiles, sign_in_file
    from lakebed.errors import ConfigurationError

    next_time = app.profile is None and not os.environ.get("LAKEBED_PROFILE")
    if app.profile is not None and sign_in_file.used_profile(path) != profile:
        output.note(app, f"Use it with --profile {profile}, or always: `lakebed profile use {profile}`.")
    app.endpoint = app.access_key_id = app.secret_access_key = app.profile = None
    try:
        settings = app.settings()
    except ConfigurationError:
        return
    is_used = (settings.profile or profiles.DEFAULT) == profile and str(path) in settings.shown_credentials
    if next_time and not is_used:
        output.note(app, f"Commands still use the {settings.shown_credentials}, which has precedence over the sign-in.")
