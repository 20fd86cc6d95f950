"""Access keys of signed requests, and the signing keys of Signature Version 4 that are derived from their secrets."""

from __future__ import annotations

import hmac
from functools import lru_cache

from lakebed_server.auth.authenticate import Authenticator, Caller
from lakebed_server.auth.records import Credential
from lakebed_server.s3.vocabulary import S3Error
from lakebed_server.vocabulary import RequestError


class Keys:
    """Finds access keys and counts wrong signatures."""

    def __init__(self, authenticator: Authenticator) -> None:
        self._authenticator = authenticator

    async def find(self, access_key_id: str, address: str) -> Credential:
        """The access key. Raises S3Error (InvalidAccessKeyId) and RequestError (`login_throttled`).

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

    def passed(self, credential: Credential, address: str) -> Caller:
        """Note a right signature. Returns the caller. Raises S3Error (ExpiredToken) for an expired access key."""
        self._authenticator.guesses.passed(address, credential.access_key_id)
        try:
            return self._authenticator.accept(credential)
        except RequestError as error:
            raise S3Error("ExpiredToken", error.message) from None


@lru_cache(1024)
def signing_key(secret: str, day: str, region: str) -> bytes:
    """The key that Signature Version 4 derives from a secret for a day and a region."""
    key = f"AWS4{secret}".encode()
    for part in (day, region, "s3", "aws4_request"):
        key = hmac.digest(key, part.encode(), "sha256")
    return key
