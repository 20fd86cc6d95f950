"""What a server announces when it accepts connections: its addresses, and the file of the first access key.

What a server prints goes to terminals that scroll, to journals and to log collectors. So the secret is only in
`admin.env`, which only the server's account can read. `lakebed login --from-file` takes it from there.
"""

from __future__ import annotations

import os
import shlex
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from lakebed_server.auth.records import Credential
from lakebed_server.settings.schema import Settings
from lakebed_server.vocabulary import StartError

NAME: Final = "admin.env"


class Started(NamedTuple):
    """A server that accepts connections. `serve --json` prints it.

    `s3_endpoint` and `metrics` are None unless they have a port of their own. `data_dir` is None for a server in
    memory. `admin_key_file` is the file of the admin's first access key, None if there is none.
    """

    version: str
    endpoint: str
    s3_endpoint: str | None
    metrics: str | None
    processes: int
    data_dir: str | None
    durability: str
    is_first_start: bool
    admin_key_file: str | None


def key_file(settings: Settings, admin: Credential | None, endpoint: str) -> str | None:
    """The file of the admin's first access key, written at the first start. Raises StartError."""
    if admin is not None:
        return str(write(settings, admin, endpoint))
    path = Path(settings.data_dir) / NAME
    return str(path) if settings.kv.type != "memory" and not settings.admin.access_key_id and path.is_file() else None


def lines(started: Started, settings: Settings) -> Iterator[str]:
    """The announcement for a terminal."""
    yield f"Lakebed {started.version} is ready at {started.endpoint}"
    if started.s3_endpoint is not None:
        yield f"  S3 alone: {started.s3_endpoint}"
    if started.metrics is not None:
        yield f"  metrics: {started.metrics}"
    if started.processes > 1:
        yield f"  {started.processes} processes"
    yield f"  data directory: {started.data_dir or 'none, all data is lost when the server stops'}"
    if started.durability == "process":
        yield "  durability: process: a power failure can lose acknowledged writes"
    for line in _on_keys(started, settings):
        yield f"  {line}" if line else ""
    yield "  stop with Ctrl-C"


def _on_keys(started: Started, settings: Settings) -> Iterator[str]:
    login = f"lakebed login --from-file {shlex.quote(started.admin_key_file or '')}"
    if started.is_first_start:
        yield ""
        yield f"This is the first start. The access key of the admin is in {started.admin_key_file}"
        yield "Use it from another terminal of this machine:"
        yield ""
        yield f"  {login}"
        yield "  lakebed repo list"
        yield ""
    elif started.admin_key_file is not None:
        yield f"first access key of the admin: {login}"
    elif started.data_dir is not None and not settings.admin.access_key_id:
        yield f"no access key? `lakebed keys reset-admin --data-dir {shlex.quote(started.data_dir)}` makes one"


def write(settings: Settings, admin: Credential, endpoint: str) -> Path:
    """Write the file, with mode 0600. A server without a data directory gets a temporary file. Raises StartError."""
    text = (
        "# The first access key of the admin of a Lakebed server. It allows everything.\n"
        "# `lakebed login --from-file FILE` stores it in ~/.lakebed.yaml. Then you can delete this file.\n"
        f"export LAKEBED_ENDPOINT={endpoint}\n"
        f"export LAKEBED_ACCESS_KEY_ID={admin.access_key_id}\n"
        f"export LAKEBED_SECRET_ACCESS_KEY={admin.secret_access_key}\n"
    )
    try:
        if settings.kv.type == "memory":
            descriptor, name = tempfile.mkstemp(prefix="lakebed-admin-", suffix=".env")
            path = Path(name)
        else:
            path = Path(settings.data_dir) / NAME
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            path.unlink(missing_ok=True)  # of an earlier lake: a link is not followed, and no one has it open
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise StartError(
            f"cannot write the first access key to {settings.data_dir}: {error.strerror}; `lakebed keys reset-admin` "
            "makes another one when the directory can be written to"
        ) from None
    return path
