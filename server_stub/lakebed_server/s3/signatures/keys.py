"""Access keys, and the keys of a day that are made from their secrets.

A secret costs a read of the KV store once in a while, and a day's key four HMACs once a day.
"""

from __future__ import annotations

import hmac
from collections import OrderedDict
from typing import Final

from lakebed_server.auth.authenticate import Authenticator
from lakebed_server.auth.records import Credential
from lakebed_server.s3.signatures.signing_key import DayKey
from lakebed_server.s3.vocabulary import S3Error

_MOST: Final = 1024


class Keys:
    """Finds access keys, and remembers the newest `_MOST` keys of a day."""

    def __init__(self, authenticator: Authenticator) -> None:
        self._authenticator = authenticator
        self._days: OrderedDict[tuple[str, str, str], DayKey] = OrderedDict()

    async def find(self, access_key_id: str, address: str) -> Credential:
        """The access key. Raises S3Error: InvalidAccessKeyId; RequestError: `login_throttled`.

        `failed` or `passed` must follow without an `await` between.
        """
        found = await self._authenticator.find(access_key_id)
        self._authenticator.guesses.check(address, access_key_id)
        if found is None:
            self.failed(access_key_id, address)
            raise S3Error(
                "InvalidAccessKeyId",
                "The AWS Access Key Id you provided does not exist in our records.",
                details=(("AWSAccessKeyId", access_key_id),),
            )
        return found

    def failed(self, access_key_id: str, address: str) -> None:
        """Note a wrong signature."""
        self._authenticator.guesses.failed(address, access_key_id)

    def passed(self, access_key_id: str, address: str) -> None:
        """Note a right signature."""
        self._authenticator.guesses.passed(address, access_key_id)

    def of_day(self, secret: str, day: str, region: str) -> DayKey:
        """The signing key that Version 4 derives from a secret for a day and a region."""
        which = (secret, day, region)
        key = self._days.get(which)
        if key is None:
            made = f"AWS4{secret}".encode()
            for part in (day, region, "s3", "aws4_request"):
                made = hmac.digest(made, part.encode(), "sha256")
            key = self._days[which] = DayKey(made)
            if len(self._days) > _MOST:
                self._days.popitem(last=False)
        return key
