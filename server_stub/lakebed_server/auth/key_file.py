"""The file `secret.key`: one secret key per line, the newest last. A second key is there only during a rotation.

Every change replaces the whole file, and is synced to the disk when it returns.

At the start, a server finds its secret key, and ensures that the admin has an access key.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import secrets
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from lakebed_engine.stores.kv.base import KVStore

from lakebed_server.auth.credentials import CredentialStore, is_used
from lakebed_server.auth.records import SHORTEST_SECRET, Credential
from lakebed_server.auth.secret_key import KeyRing, SecretKey, configured
from lakebed_server.settings.schema import Settings
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


def key_file(settings: Settings) -> KeyFile:
    """The file of secret keys, used where `auth.secret_key` is not set."""
    return KeyFile(Path(settings.data_dir) / "secret.key")


async def key_ring(settings: Settings, kv: KVStore, *, forget: bool = False) -> KeyRing:
    """The secret keys. Makes a first one only if no access key is encrypted with another. Raises StartError.

    `forget`: makes one even if access keys cannot be decrypted any more.
    """
    if settings.auth.secret_key:
        return configured(settings.auth.secret_key, settings.auth.previous_secret_key)
    if settings.kv.type == "memory":
        return KeyRing([SecretKey(new_secret())])  # nothing that it encrypts is kept
    file = key_file(settings)
    keys = file.read()
    if not keys and not forget and await is_used(kv):
        raise StartError(
            f"there is no {file.path}, but the store holds access keys that were encrypted with it: copy the file from "
            "the other server of this lake (all need the same secret key), restore it from a backup, or set "
            "auth.secret_key if that was set before; if it is lost, `lakebed keys reset-admin "
            "--forget-unreadable` removes these access keys and makes a new one"
        )
    return KeyRing(keys or file.make(), file.read)


async def ensure_admin(settings: Settings, store: CredentialStore) -> Credential | None:
    """Ensure that the admin has an access key. Returns the key if it was made. Raises StartError."""
    if settings.admin.access_key_id and len(settings.admin.secret_access_key) < SHORTEST_SECRET:
        raise SettingError(
            f"admin.secret_access_key is too short: it needs at least {SHORTEST_SECRET} characters; choose a longer "
            "one, or remove both admin settings: the pair that is stored works without them"
        )
    now = int(time.time())
    await store.check_secret()
    await store.index_keys()
    if not settings.admin.access_key_id:
        return await store.make_first_admin(now)
    await store.ensure_admin(settings.admin.access_key_id, settings.admin.secret_access_key, now)
    return None
