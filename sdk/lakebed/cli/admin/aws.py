"""`lakebed credentials` and `lakebed aws-config`: AWS tools with the profiles of ~/.lakebed.yaml.

An AWS profile with `credential_process` and `endpoint_url` has no secret in it. The AWS tool starts `lakebed
credentials`, which prints a key, and sends requests to the endpoint that the key was made for.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lakebed.cli import output
from lakebed.cli.app import App, Verb, pass_app

if TYPE_CHECKING:
    from lakebed import Settings


@click.command(cls=Verb)
@pass_app
def credentials(app: App) -> None:
    """Print an access key for the S3 gateway, as JSON that the setting `credential_process` of AWS tools reads.

    After a sign-in it is a temporary key that is valid for one hour. Keep the output secret.

    \b
    Example: lakebed credentials --profile prod
    """
    settings = app.settings()
    given = _temporary(app) if settings.token else _permanent(settings)
    output.show(app, json.dumps(given, indent=2), given)


def _permanent(settings: Settings) -> dict[str, Any]:
    return {
        "Version": 1,
        "AccessKeyId": settings.access_key_id,
        "SecretAccessKey": settings.secret_access_key,
    }


def _temporary(app: App) -> dict[str, Any]:
    with app.lake() as lake:
        made = lake.keys.temporary()
    return {
        "Version": 1,
        "AccessKeyId": made.id,
        "SecretAccessKey": made.secret,
        "SessionToken": made.session_token,
        "Expiration": made.expires.isoformat(),
    }


@click.command(cls=Verb)
@click.option("--name", default="", metavar="NAME", help="Name of the AWS profile [lakebed, or lakebed-PROFILE].")
@click.option("--region", default="us-east-1", show_default=True, help="Region that AWS tools sign with.")
@click.option("--write", is_flag=True, help="Write it to ~/.aws/config, and replace an AWS profile of the same name.")
@pass_app
def aws_config(app: App, name: str, region: str, write: bool) -> None:
    """Print a profile for ~/.aws/config, so that AWS tools can use a profile of ~/.lakebed.yaml. It contains no secret.

    \b
    Example: lakebed aws-config --profile prod --write
             aws --profile lakebed-prod s3 ls s3://sales/main/
    """
    settings = app.settings()
    if not settings.sources.get("access_key_id", settings.sources.get("token", "")).endswith(str(_own_file())):
        raise click.UsageError(
            f"the credentials are the {settings.shown_credentials}, and AWS tools need those of ~/.lakebed.yaml: store "
            "them with `lakebed login`; if it has them already, name them with --profile, or unset the variables"
        )
    profile = settings.profile or "default"
    title = name or ("lakebed" if profile == "default" else f"lakebed-{profile}")
    if not re.fullmatch(r"[A-Za-z0-9._-]{1,100}", title):
        raise click.UsageError("--name: letters, digits, '.', '_' and '-'.")
    lines = [
        f"[profile {title}]",
        f"credential_process = {_command(profile)}",
        f"endpoint_url = {settings.endpoint}",
        f"region = {region}",
        "s3 =",
        "    addressing_style = path",
    ]
    body = {"profile": title, "text": "\n".join(lines) + "\n"}
    if not write:
        output.show(app, "\n".join(lines), body)
        return
    path = Path(os.environ.get("AWS_CONFIG_FILE") or "~/.aws/config").expanduser()
    _write(path, title, lines)
    said = f"{path} has the profile {title}. Try: aws --profile {title} s3 ls"
    output.say(app, said, {**body, "file": str(path)})


def _own_file() -> Path:
    from lakebed._settings import sources

    return sources.own_file(os.environ)


def _command(profile: str) -> str:
    """The command as AWS tools start it: without a shell, and perhaps without this PATH."""
    found = shutil.which("lakebed")
    start = [found] if found else [sys.executable, "-m", "lakebed.cli"]
    words = [*start, "--profile", profile, "credentials"]
    return " ".join(f'"{word}"' if " " in word else word for word in words) if os.name == "nt" else shlex.join(words)


def _write(path: Path, title: str, lines: list[str]) -> None:
    from lakebed._settings import sign_in_file

    def changed(text: str) -> str:
        kept, inside = [], False
        for line in text.splitlines():
            if line.lstrip().startswith("["):
                inside = line.strip() == f"[profile {title}]"
            if not inside:
                kept.append(line)
        while kept and not kept[-1].strip():
            kept.pop()
        return "\n".join([*kept, *([""] if kept else []), *lines]) + "\n"

    sign_in_file.change_text(path, changed)
