"""Keys of signed requests, and the signing keys of Signature Version 4 that are derived from their secrets."""

from __future__ import annotations

import hmac
from functools import lru_cache

from lakebed_server.auth.authenticate import Authenticator, Caller
from lakebed_server.auth.temporary_keys import SigningKey, TemporaryKeys
from lakebed_server.s3.vocabulary import S3Error
from lakebed_server.vocabulary import RequestError


class Keys:
    """Finds access keys and counts wrong signatures."""

    def __init__(self, authenticator: Authenticator) -> None:
        self._authenticator = authenticator
        self.temporary = TemporaryKeys(authenticator)

    async def find(self, access_key_id: str, address: str, token: str = "") -> SigningKey:
        """The key of this id and session token. Raises S3Error and RequestError (`login_throttled`).

        `failed` or `passed` must follow without an `await` between.
        """
        found = await (self.temporary.find(access_key_id, token) if token else self._permanent(access_key_id))
        self._authenticator.guesses.check(address, access_key_id)
        if found is None and token:
            self.failed(access_key_id, address)
            raise S3Error("InvalidToken", "The session token does not belong to this access key, or has expired.")
        if found is None:
            self.failed(access_key_id, address)
            raise S3Error(
                "InvalidAccessKeyId",
                "The AWS Access Key Id you provided does not exist in our records.",
                details=(("AWSAccessKeyId", access_key_id),),
            )
        return found

    async def _permanent(self, access_key_id: str) -> SigningKey | None:
        found = await self._authenticator.find(access_key_id)
        if found is None:
            return None
        caller = Caller(found.user, found.access_key_id, "key", found.limits)
        return SigningKey(found.access_key_id, found.secret_access_key, caller)

    def failed(self, access_key_id: str, address: str) -> None:
        """Record a wrong signature."""
        self._authenticator.guesses.failed(address, access_key_id)

    def passed(self, key: SigningKey, address: str) -> Caller:
        """Record a correct signature. Returns the caller. Raises S3Error (ExpiredToken) for an expired key."""
        self._authenticator.guesses.passed(address, key.access_key_id)
        try:
            return self._authenticator.accept(key.caller)
        except RequestError as error:
            is_temporary = key.access_key_id != key.caller.access_key_id
            message = "The temporary access key expired: get another one." if is_temporary else error.message
            raise S3Error("ExpiredToken", message) from None


@lru_cache(1024)
def signing_key(secret: str, day: str, region: str, service: str = "s3") -> bytes:
    """The key that Signature Version 4 derives from a secret for a day, a region and a service."""
    key = f"AWS4{secret}".encode()
    for part in (day, region, service, "aws4_request"):
        key = hmac.digest(key, part.encode(), "sha256")
    return key
