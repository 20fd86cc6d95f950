"""`lakebed systemd`: a hardened unit for a server on one machine."""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from lakebed_server.cli.maintenance_commands import VerbError, refusal
from lakebed_server.vocabulary import StartError

if TYPE_CHECKING:
    from lakebed_server.settings.schema import Settings

UNIT: Final = """\
# Made by `lakebed systemd`. Run it again after a change of data_dir, listen.port, server.drain or
# server.shutdown_timeout.
[Unit]
Description=Lakebed server
Wants=network-online.target
After=network-online.target postgresql.service

[Service]
Type=exec
User={user}
Group={user}
ExecStartPre={program} config check {config}
ExecStart={program} serve --config {config}{workers}
ExecReload=/bin/kill -HUP $MAINPID
Restart=on-failure
RestartSec=2
# server.drain + server.shutdown_timeout + its last writes, and some seconds
TimeoutStopSec={stop}
KillMode=mixed
UMask={umask}
LimitNOFILE=65536

# The unit may write here and nowhere else.
ReadWritePaths={writable}
ProtectSystem=strict
ProtectHome={home}
PrivateTmp=yes
PrivateDevices=yes
ProtectClock=yes
ProtectControlGroups=yes
ProtectHostname=yes
ProtectKernelLogs=yes
ProtectKernelModules=yes
ProtectKernelTunables=yes
ProtectProc=invisible
NoNewPrivileges=yes
CapabilityBoundingSet={capabilities}
AmbientCapabilities={capabilities}
LockPersonality=yes
RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
RemoveIPC=yes
SystemCallArchitectures=native
SystemCallFilter=@system-service
SystemCallFilter=~@privileged
SystemCallErrorNumber=EPERM

[Install]
WantedBy=multi-user.target
"""
LAST_WRITES: Final = 10.0
"""Most seconds of the last writes of a stop, and the margin of the unit."""
_PRIVILEGED: Final = 1024


@click.command()
@click.option("--config", required=True, type=click.Path(), help="The server's YAML file of settings.")
@click.option("--user", default="lakebed", show_default=True, help="The account that runs the server.")
@click.option(
    "--workers", type=click.IntRange(1, 256), metavar="N", default=1, show_default=True, help="Processes of the server."
)
@click.option(
    "--output", type=click.Path(), help="Write the unit to this file, such as /etc/systemd/system/lakebed.service."
)
def systemd(*, config: str, user: str, workers: int, output: str | None) -> None:
    """Print a systemd unit for the server with these settings.

    The unit runs the server under a separate account, which may write only to the directories of the settings. It
    checks the settings before each start, and waits for a stop as long as the settings allow. The command does not
    replace a file that another program made. docs/deployment.md describes the other steps.

    \b
    Example: lakebed systemd --config /etc/lakebed/lakebed.yaml --output /etc/systemd/system/lakebed.service
    """
    from lakebed_server.settings.load import load

    try:
        settings = load(env=os.environ, config=config).settings
    except StartError as error:
        raise refusal(error) from None
    text = unit(settings, Path(config).absolute(), user, workers)
    if output is None:
        click.echo(text, nl=False)
        return
    path = Path(output)
    try:
        if path.exists() and not path.read_text().startswith(UNIT[:20]):
            raise VerbError(f"{path} is not a unit of `lakebed systemd`: choose another --output", 4, "exists")
        path.write_text(text)
    except OSError as error:
        raise VerbError(f"cannot write {path}: {error.strerror}", 1, "failed") from None
    click.echo(f"wrote {path}; next: systemctl daemon-reload && systemctl enable --now {path.name}")


def unit(settings: Settings, config: Path, user: str, workers: int) -> str:
    """The text of the unit."""
    server = settings.server
    stop = server.drain + server.shutdown_timeout + min(server.shutdown_timeout, LAST_WRITES) + LAST_WRITES
    program = _program()
    places = _writable(settings)
    inside = [path for path in (program[0], str(config), *places) if path.startswith(("/home/", "/root/"))]
    return UNIT.format(
        user=user,
        program=shlex.join(program),
        config=shlex.quote(str(config)),
        workers=f" --workers {workers}" if workers > 1 else "",
        stop=f"{stop:.0f}",
        umask="0027" if settings.objects.local.group_read else "0077",
        writable=" ".join(f'"{path}"' if " " in path else path for path in places),
        home="read-only" if inside else "yes",
        capabilities="CAP_NET_BIND_SERVICE" if 0 < settings.listen.port < _PRIVILEGED else "",
    )


def _program() -> list[str]:
    """The command `lakebed` of this installation."""
    command = Path(sys.executable).parent / "lakebed"
    return [str(command)] if command.exists() else [sys.executable, "-m", "lakebed.cli"]


def _writable(settings: Settings) -> list[str]:
    places = [settings.data_dir]
    if settings.kv.type == "sqlite":
        places.append(str(Path(settings.kv.sqlite.path).parent))
    places += [settings.objects.local.root, settings.cache.disk.path]
    if settings.logging.output != "-":
        places.append(str(Path(settings.logging.output).expanduser().absolute().parent))
    kept: list[str] = []
    for place in sorted(filter(None, places)):
        if not any(Path(place).is_relative_to(one) for one in kept):
            kept.append(place)
    return kept
