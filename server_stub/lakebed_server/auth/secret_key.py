"""The server's secret keys, and the keys derived from them.

The secret is configured (`auth.secret_key`) or is in a file that only its owner can read (`key_file`). Each purpose has
its own derived key, so that a key of one purpose is useless for another. During a rotation a server knows two secrets.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable, Sequence
from typing import Final

from lakebed_server.vocabulary import SettingError

_LEAST: Final = 16
"""The smallest number of characters of a secret key, also of an old one."""
LEAST_CONFIGURED: Final = 32


class SecretKey:
    """A secret that neither repr nor pickle shows. `id` names it where it was used."""

    __slots__ = ("_secret", "id")

    def __init__(self, secret: str) -> None:
        if len(secret) < _LEAST:
            raise SettingError(f"a secret key is too short: it has {len(secret)} characters of at least {_LEAST}")
        self._secret = secret.encode()
        self.id = self.derive("key id")[:8].hex()

    def derive(self, purpose: str) -> bytes:
        """32 bytes for one purpose."""
        return hmac.new(self._secret, b"lakebed " + purpose.encode(), hashlib.sha256).digest()

    def __repr__(self) -> str:
        return f"SecretKey(id={self.id!r})"

    def __reduce__(self) -> str:
        raise TypeError("a secret key is not pickled")


class KeyRing:
    """The secret keys that a server knows, oldest first. If one is missing, `again` reads the keys again."""

    def __init__(self, keys: Sequence[SecretKey], again: Callable[[], Sequence[SecretKey]] | None = None) -> None:
        self._again = again
        self.keys = tuple(keys)

    @property
    def newest(self) -> SecretKey:
        """The key that encrypts from now on."""
        return self.keys[-1]

    def find(self, key_id: str) -> SecretKey | None:
        """The key of this id, also when another process has just added it."""
        found = self._find(key_id)
        if found is None and self._again is not None:
            self.keys = tuple(self._again()) or self.keys
            found = self._find(key_id)
        return found

    def candidates(self, key_id: str) -> Sequence[SecretKey]:
        """The keys that may have encrypted a row with this key id. Rows of 0.1 have no id."""
        if not key_id:
            return self.keys
        found = self.find(key_id)
        return () if found is None else (found,)

    def _find(self, key_id: str) -> SecretKey | None:
        return next((key for key in self.keys if key.id == key_id), None)


def configured(secret: str, previous: str) -> KeyRing:
    """The keys of `auth.secret_key` and `auth.previous_secret_key`. Raises SettingError if a key is too short."""
    if len(secret) < LEAST_CONFIGURED:
        raise SettingError(
            f"auth.secret_key is too short: it has {len(secret)} characters of at least {LEAST_CONFIGURED}; put a "
            "longer one in its place, set auth.previous_secret_key to the short one, start, and run "
            "`lakebed keys rotate-secret`"
        )
    return KeyRing([SecretKey(one) for one in (previous, secret) if one])
