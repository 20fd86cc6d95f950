"""Makes the data directories for the server's own account, and syncs them before the server starts to serve.

Other accounts cannot open what the server makes: 0700 and 0600. With `objects.local.group_read` the group of the
server's account may read the objects (0750 and 0640). The database, the secret key, locks and logs stay 0600.
"""

from __future__ import annotations

import fcntl
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from lakebed_server.settings.schema import Settings
from lakebed_server.vocabulary import StartError


def restrict(settings: Settings) -> None:
    """Set the umask, so that other accounts cannot open what this process makes. Only for server processes."""
    os.umask(0o027 if settings.objects.local.group_read else 0o077)


def prepare(settings: Settings) -> None:
    """Make missing directories, and an empty database file if it is missing. Raises StartError."""
    mode = 0o750 if settings.objects.local.group_read else 0o700
    for path in _directories(settings):
        try:
            _make(path, mode)
        except OSError as error:
            raise StartError(
                f"cannot create the directory {path}: {error.strerror}; choose another --data-dir"
            ) from None
        if not os.access(path, os.W_OK | os.X_OK):
            raise StartError(
                f"cannot write to the directory {path}; choose another --data-dir or change its permissions"
            )
    if settings.kv.type == "sqlite":
        with suppress(OSError):  # SQLite reports the error later, and gives its other files the mode of this one
            os.close(os.open(settings.kv.sqlite.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))


@contextmanager
def in_use(settings: Settings) -> Iterator[bool]:
    """Hold the data directory while the server runs. Yields whether another server holds it too.

    Several servers may share a data directory. The lock only says so to the second one.
    """
    if settings.kv.type == "memory":
        yield False
        return
    prepare(settings)
    directory = Path(settings.data_dir)
    directory.mkdir(parents=True, exist_ok=True, mode=0o700)
    descriptor = os.open(directory / "servers.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        others = not _locks(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        _locks(descriptor, fcntl.LOCK_SH)
        yield others
    finally:
        os.close(descriptor)


def _locks(descriptor: int, how: int) -> bool:
    try:
        fcntl.flock(descriptor, how)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks
        return True
    return True


def open_to_others(settings: Settings) -> Iterator[str]:
    """A sentence for each place that other accounts may enter or change, with the command that prevents it."""
    allowed = 0o750 if settings.objects.local.group_read else 0o700
    closed: list[Path] = []
    for path in places(settings):
        if any(path.is_relative_to(one) for one in closed):
            continue
        mode = stat.S_IMODE(path.stat().st_mode)
        if mode & 0o027:
            wanted = allowed if path.is_dir() else 0o600
            yield (
                f"other accounts of this machine can open {path} (mode {mode:04o}), and with it what the lake holds; "
                f"close it: chmod {wanted:o} {path}"
            )
        closed.append(path)  # its mode also protects everything inside


def _directories(settings: Settings) -> list[Path]:
    wanted = []
    if settings.kv.type == "sqlite":
        wanted.append(Path(settings.kv.sqlite.path).parent)
    if settings.kv.type != "memory" and not settings.auth.secret_key:
        wanted.append(Path(settings.data_dir))
    if settings.objects.local.root:
        wanted.append(Path(settings.objects.local.root))
    return wanted


def places(settings: Settings) -> list[Path]:
    """All places with data, the data directory first. For a database elsewhere, only the file."""
    places = [Path(settings.data_dir)]
    if settings.objects.local.root:
        places.append(Path(settings.objects.local.root))
    if settings.kv.type == "sqlite":
        places.append(Path(settings.kv.sqlite.path))
    return [path for path in places if path.exists()]


def _make(path: Path, mode: int) -> None:
    """Make a directory and its missing parents, and sync their names to the disk.

    Also syncs existing directories: a process that was killed may have made them, and their content, just before.
    """
    missing = [one for one in (path, *path.parents) if not one.exists()]
    for one in reversed(missing):
        one.mkdir(mode, exist_ok=True)
    path.mkdir(exist_ok=True)  # raises if the path is a file
    for one in (path, *path.parents):
        with suppress(PermissionError):
            _sync(one)


def _sync(directory: Path) -> None:
    file = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(file)
    finally:
        os.close(file)
