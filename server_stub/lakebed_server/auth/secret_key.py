"""The server's one secret, and the keys made from it.

At the bottom of `auth`. The secret is configured (`auth.secret_key`) or made on first start in a file that only its
owner can read. Each use gets a key of its own, so that none can stand in for another.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
from pathlib import Path

from lakebed_server.vocabulary import SettingError

_LEAST = 16


class SecretKey:
    """A secret that shows itself to nobody: not in repr, not in a pickle."""

    __slots__ = ("_secret",)

    def __init__(self, secret: str) -> None:
        if len(secret) < _LEAST:
            raise SettingError(f"auth.secret_key is too short: use at least {_LEAST} characters, better 64")
        self._secret = secret.encode()

    def derive(self, purpose: str) -> bytes:
        """32 bytes for one purpose."""
        return hmac.new(self._secret, b"lakebed " + purpose.encode(), hashlib.sha256).digest()

    def __repr__(self) -> str:
        return "SecretKey(...)"

    def __reduce__(self) -> str:
        raise TypeError("a secret key is not pickled")


def load_or_make(path: Path) -> SecretKey:
    """The key in `path`, made with mode 0600 when there is none.

    The file appears whole or not at all, and of two servers that start at once one makes it and both read it.
    """
    try:
        return SecretKey(path.read_text().strip())
    except FileNotFoundError:
        pass
    draft = path.with_name(f".{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
    file = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(file, "w") as out:
            out.write(secrets.token_hex(32) + "\n")
            out.flush()
            os.fsync(out.fileno())
        try:
            os.link(draft, path)
        except FileExistsError:
            pass
    finally:
        draft.unlink()
    return SecretKey(path.read_text().strip())
