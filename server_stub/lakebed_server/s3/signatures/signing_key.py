"""The key that signs a day's requests, ready to sign."""

from __future__ import annotations

import hmac


class DayKey:
    """A signing key. Unlike `hmac.digest`, its copy does not let go of the interpreter for a few bytes: beside threads
    that write objects, getting it back takes many times as long as the hash.
    """

    __slots__ = ("_begun",)

    def __init__(self, key: bytes) -> None:
        self._begun = hmac.new(key, digestmod="sha256")

    def sign(self, data: bytes) -> bytes:
        """The HMAC-SHA256 of some bytes, in hexadecimal digits."""
        made = self._begun.copy()
        made.update(data)
        return made.hexdigest().encode()
