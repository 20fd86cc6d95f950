"""The file `secret.key`: one secret key per line, the newest last. A second key is there only during a rotation.

Every change replaces the whole file, and is synced to the disk when it returns.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import secrets
from collections.abc import Iterator, Sequence
from pathlib import Path

from lakebed_server.auth.secret_key import SecretKey
from lakebed_server.vocabulary import SettingError, StartError


class KeyFile:
    """Reads and writes one file of secret keys."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self) -> list[SecretKey]:
        """The keys in the file, none if there is no file. Raises StartError, also for a file without keys."""
        try:
            keys = [SecretKey(line) for line in self._lines()]
        except FileNotFoundError:
            return []
        except OSError as error:
            raise StartError(f"cannot read {self.path}: {error.strerror}; change its permissions") from None
        except (SettingError, UnicodeDecodeError):
            keys = []
        if not keys:
            raise StartError(
                f"{self.path} contains no secret key: it is damaged; restore it from a backup, or remove it and "
                "run `lakebed keys reset-admin`"
            )
        return keys

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Keep other commands from changing the file. Raises StartError when one is changing it."""
        directory = os.open(self.path.parent, os.O_RDONLY | os.O_DIRECTORY)
        try:
            fcntl.flock(directory, fcntl.LOCK_EX | fcntl.LOCK_NB)
            yield
        except BlockingIOError:
            raise StartError(f"another command is changing {self.path}; wait until it ends") from None
        finally:
            os.close(directory)

    def make(self) -> list[SecretKey]:
        """Make the file with a new key if it does not exist. Of several processes one makes it, and all read it.

        Raises StartError.
        """
        with self._draft([new_secret()]) as draft, contextlib.suppress(FileExistsError):
            os.link(draft, self.path)
        return self.read()

    def add(self) -> list[SecretKey]:
        """Append a new key to the file. Raises StartError."""
        self._replace([*self._lines(), new_secret()])
        return self.read()

    def keep(self, key: SecretKey) -> None:
        """Remove all keys but this one. Raises StartError."""
        self._replace([line for line in self._lines() if SecretKey(line).id == key.id])

    def _lines(self) -> list[str]:
        return [line.strip() for line in self.path.read_text().splitlines() if line.strip()]

    def _replace(self, lines: Sequence[str]) -> None:
        owner = self.path.stat()
        with self._draft(lines) as draft:
            if (os.getuid(), os.getgid()) != (owner.st_uid, owner.st_gid):
                os.chown(draft, owner.st_uid, owner.st_gid)  # root runs the command for the server's account
            os.replace(draft, self.path)

    @contextlib.contextmanager
    def _draft(self, lines: Sequence[str]) -> Iterator[Path]:
        """A file of mode 0600 in the same directory. At the end, the directory is synced and the draft is removed."""
        draft = self.path.with_name(f".{self.path.name}.{os.getpid()}.{secrets.token_hex(4)}")
        try:
            file = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            try:
                with os.fdopen(file, "w") as out:
                    out.write("".join(f"{line}\n" for line in lines))
                    out.flush()
                    os.fsync(out.fileno())
                yield draft
                _sync(self.path.parent)
            finally:
                draft.unlink(missing_ok=True)
        except OSError as error:
            raise StartError(
                f"cannot write {self.path}: {error.strerror}; make room, change the permissions of its directory, or "
                "set auth.secret_key"
            ) from None


def new_secret() -> str:
    """64 hexadecimal digits: 256 random bits."""
    return secrets.token_hex(32)


def _sync(directory: Path) -> None:
    file = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(file)
    finally:
        os.close(file)
