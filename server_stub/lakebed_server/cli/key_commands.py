"""`lakebed keys`: verbs about the secret key and the admin's access, for the administrator of a server.

They open the server's stores themselves. `lakebed key`, which belongs to the SDK, manages the caller's own access keys.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any, TypeVar

import click

from lakebed_server.cli.maintenance_commands import VerbError, read_settings, refusal, store_options
from lakebed_server.vocabulary import SettingError, StartError

if TYPE_CHECKING:
    from lakebed_server.auth.rotation import Reset
    from lakebed_server.settings.schema import Settings

T = TypeVar("T")


@click.group()
def keys() -> None:
    """Change the server's secret key, or restore the access of the admin. (Your own access keys: `lakebed key`.)"""


@keys.command("rotate-secret")
@click.option("--prepare", is_flag=True, help="Only add the new key to secret.key, next to the old one.")
@store_options
def rotate_secret(*, prepare: bool, config: str | None, data_dir: str | None, as_json: bool) -> None:
    """Encrypt the stored access keys with a new secret key.

    Access keys keep working; login tokens end. Servers may run: they read secret.key again when they meet the new
    key. Where servers have copies of secret.key, run this with --prepare first, copy the file to each of them, and then
    run it without. Where auth.secret_key is set, set auth.previous_secret_key to the old one and auth.secret_key to the
    new one, restart every server, and then run this. After an interruption, run it again.

    \b
    Example:
      lakebed keys rotate-secret --data-dir /srv/lakebed
    """
    settings = _settings(config, data_dir)
    count = _run(_rotate(settings, prepare=prepare))
    if as_json:
        click.echo(json.dumps({"encrypted_again": count, "prepared": prepare}))
    elif prepare:
        click.echo("secret.key holds the new key too. Copy it to every server, then run this without --prepare.")
    else:
        click.echo(f"Access keys encrypted again: {count}. Tokens of login have ended.")
        if settings.auth.secret_key:
            click.echo("Remove auth.previous_secret_key now.")
        else:
            click.echo("Replace the copies of secret.key on other servers and in backups: they are out of date.")
        click.echo("Restart the servers soon: until then they sign upload addresses with the old key.")


@keys.command("reset-admin")
@click.option("--forget-unreadable", is_flag=True, help="Remove the access keys that no secret key can decrypt.")
@store_options
def reset_admin(*, forget_unreadable: bool, config: str | None, data_dir: str | None, as_json: bool) -> None:
    """Create another access key for the admin and show it once.

    Use it when every access key is lost, or when no user may manage users any more. Existing keys stay. The admin
    becomes a member of the group Admins again, which gets its built-in policies if they were detached. When secret.key
    is lost, no server can decrypt the keys: --forget-unreadable creates a new secret.key and removes them. Servers may
    run. The command prints shell variables to standard output; `lakebed login ENDPOINT --from-file` reads them too.

    \b
    Example:
      lakebed keys reset-admin --data-dir /srv/lakebed
    """
    done = _run(_reset(_settings(config, data_dir), forget=forget_unreadable))
    made = {"access_key_id": done.made.access_key_id, "secret_access_key": done.made.secret_access_key}
    if as_json:
        click.echo(json.dumps({**made, "forgotten": done.forgotten}))
        return
    if done.forgotten:
        click.echo(f"Removed access keys that could not be decrypted: {', '.join(done.forgotten)}", err=True)
    click.echo("The new access key of the admin, shown only now:", err=True)
    for name, value in made.items():
        click.echo(f"export LAKEBED_{name.upper()}={value}")
    login = f"lakebed login ENDPOINT --access-key-id {done.made.access_key_id}"
    click.echo(f"`{login}` asks for the secret, and stores both in ~/.lakebed.yaml.", err=True)


async def _rotate(settings: Settings, *, prepare: bool) -> int:
    from lakebed_server.auth import key_file, rotation
    from lakebed_server.process.wiring import open_kv

    async with open_kv(settings) as kv:
        if settings.auth.secret_key:
            if prepare or not settings.auth.previous_secret_key:
                raise SettingError(
                    "auth.secret_key is set: replace it with a new one, set auth.previous_secret_key to the old one, "
                    "restart every server, and then run this without --prepare"
                )
            return await rotation.rotate(kv, await key_file.key_ring(settings, kv))
        file = key_file.key_file(settings)
        if not prepare:
            return await rotation.rotate_file(kv, file)
        with file.locked():
            rotation.prepared(file)
        return 0


async def _reset(settings: Settings, *, forget: bool) -> Reset:
    from lakebed_server.access import opening as access_opening
    from lakebed_server.access.directory import Directory
    from lakebed_server.auth import key_file, rotation
    from lakebed_server.process.wiring import open_kv

    async with open_kv(settings) as kv:
        ring, now = await key_file.key_ring(settings, kv, forget=forget), int(time.time())
        done = await rotation.reset_admin(kv, ring, now, forget=forget)
        await access_opening.restore_admin(kv, Directory(kv), now)
        return done


def _settings(config: str | None, data_dir: str | None) -> Settings:
    try:
        return read_settings(config, data_dir)
    except StartError as error:
        raise refusal(error) from None


def _run(job: Coroutine[Any, Any, T]) -> T:
    from lakebed_engine.vocabulary.errors import EngineError

    from lakebed_server.cli.maintenance import exit_code_of

    try:
        return asyncio.run(job)
    except StartError as error:
        raise refusal(error) from None
    except EngineError as error:
        raise VerbError(error.message, exit_code_of(error), error.kind) from error
