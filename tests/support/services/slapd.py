"""A real directory server, slapd of OpenLDAP, for a test. It starts as any user over a new directory of data.

    with running_slapd(tmp_path, ENTRIES) as slapd:
        slapd.url, slapd.base

The Debian package `slapd` has it; tests/support/services/debian.py installs it.
"""

from __future__ import annotations

import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from tests.support.services.debian import program
from tests.support.waiting import PATIENCE, wait_until

BASE = "dc=example,dc=com"
SERVICE = f"cn=service,{BASE}"
SERVICE_PASSWORD = "the password of the service"

_CONFIGURATION = """
include /etc/ldap/schema/core.schema
include /etc/ldap/schema/cosine.schema
include /etc/ldap/schema/inetorgperson.schema
modulepath /usr/lib/ldap
moduleload back_mdb
pidfile {directory}/slapd.pid
{tls}
database mdb
suffix "{base}"
rootdn "{service}"
rootpw "{password}"
directory {directory}/data
access to attrs=userPassword by anonymous auth by * none
access to * by dn.exact="{service}" read by * none
"""
_ROOT = f"""dn: {BASE}
objectClass: domain
dc: example

dn: ou=people,{BASE}
objectClass: organizationalUnit
ou: people

dn: ou=groups,{BASE}
objectClass: organizationalUnit
ou: groups
"""


class Slapd(NamedTuple):
    """A running directory. `url` is that of the protocol without TLS."""

    url: str
    port: int
    process: subprocess.Popen[bytes]


def free_port() -> int:
    """A port that is free at this moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def running_slapd(directory: Path, entries: str, *, tls: str = "", port: int = 0) -> Iterator[Slapd]:
    """Run a directory with these entries (LDIF). `tls`: lines of its configuration."""
    port = port or free_port()
    (directory / "data").mkdir(parents=True, exist_ok=True)
    configuration = directory / "slapd.conf"
    values = {"directory": directory, "base": BASE, "service": SERVICE, "password": SERVICE_PASSWORD, "tls": tls}
    configuration.write_text(_CONFIGURATION.format(**values))
    load = [program("slapadd", "slapd"), "-f", str(configuration)]
    loaded = subprocess.run(load, input=f"{_ROOT}\n{entries}", capture_output=True, text=True, check=False)
    assert loaded.returncode == 0, loaded.stderr
    url = f"ldap://127.0.0.1:{port}"
    with (directory / "slapd.log").open("wb") as log:
        command = [program("slapd", "slapd"), "-f", str(configuration), "-h", url, "-d", "0"]
        process = subprocess.Popen(command, stdout=log, stderr=log)
    try:
        _wait(port, process, directory / "slapd.log")
        yield Slapd(url, port, process)
    finally:
        process.terminate()
        process.wait(PATIENCE)


def _wait(port: int, process: subprocess.Popen[bytes], log: Path) -> None:
    def failure() -> str:
        return f"slapd did not start ({process.poll()}): {log.read_text(errors='replace')}"

    def listens() -> bool:
        assert process.poll() is None, failure()
        with suppress(OSError):
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return True
        return False

    wait_until(listens, failure, every=0.02)
