"""The first access key of a server: written to a file of the data directory, never shown.

What a server prints goes to terminals that scroll, to journals and to log collectors. So the secret is only in
`admin.env`, which only the server's account can read. `lakebed login --from-file` takes it from there.
"""

from __future__ import annotations

import os
import shlex
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from lakebed_server.auth.records import Credential
from lakebed_server.settings.schema import Settings
from lakebed_server.vocabulary import StartError

NAME: Final = "admin.env"


def announced(settings: Settings, admin: Credential | None, endpoint: str) -> Iterator[str]:
    """Write the key of a first start, and yield the lines that say how to get a key. Raises StartError."""
    path = Path(settings.data_dir) / NAME
    if admin is not None:
        path = write(settings, admin, endpoint)
        yield ""
        yield f"This is the first start. The access key of the admin is in {path}"
        yield "Use it from another terminal of this machine:"
        yield ""
        yield f"  lakebed login --from-file {shlex.quote(str(path))}"
        yield "  lakebed repo list"
        yield ""
    elif settings.kv.type == "memory" or settings.admin.access_key_id:
        return
    elif path.is_file():
        yield f"first access key of the admin: lakebed login --from-file {shlex.quote(str(path))}"
    else:
        yield f"no access key? `lakebed keys reset-admin --data-dir {shlex.quote(settings.data_dir)}` makes one"


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
