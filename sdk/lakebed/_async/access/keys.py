"""The access keys of users of a lake."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from lakebed import _checks
from lakebed._async.http.pagination import Listing
from lakebed._async.http.transport import Transport
from lakebed._gateway.operations import system
from lakebed._gateway.operations.access import keys
from lakebed._values.workspaces import seconds_of
from lakebed.errors import InvalidRequestError
from lakebed.model import AccessKey, TemporaryKey


class Keys:
    """Access keys: `lake.keys`. Without `user`, a method is about the keys of the caller.

    Methods about another user raise PermissionDeniedError without the permission, and NotFoundError without such a
    user.
    """

    __module__ = "lakebed.aio"

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def list(self, user: str = "") -> list[AccessKey]:
        """Return the access keys of a user, without their secrets.

        Example:

            for key in lake.keys.list():
                print(key.id, key.last_used)
        """
        owner = await self._owner(user)
        return await Listing(
            self._transport,
            lambda after, amount: keys.list_page(owner, after=after, amount=amount),
            AccessKey.COLUMNS,
            f"access keys of {owner}",
        ).all()

    async def get(self, id: str, user: str = "") -> AccessKey:
        """Return an access key, without its secret. Raises NotFoundError."""
        name = _checks.check_name(id, "access key id")
        return await self._transport.call(keys.get(await self._owner(user), name))

    async def create(
        self,
        user: str = "",
        *,
        name: str = "",
        expires_in: timedelta | int | None = None,
        read: str = "",
        policy: Sequence[Mapping[str, Any]] | None = None,
    ) -> AccessKey:
        """Create another access key. Only this answer contains its secret.

        `name` says what the key is for. The key expires after `expires_in`, a timedelta or seconds. It may do what
        both its user and `policy` allow: statements such as `{"effect": "allow", "action": ["fs:Read*"], "resource":
        "*"}`. `read` is the policy of a key that may only read this repository.

            lake.keys.create(name="nightly report", read="sales", expires_in=timedelta(days=30))

        Raises InvalidRequestError (kind `invalid_policy`), which names the statement. Raises OutcomeUnknownError if the
        response was lost: call `list`, and drop the key whose secret was lost.
        """
        _checks.check_text(name, "name of an access key")
        statements = _statements(read, policy)
        owner = await self._owner(user)
        return await self._transport.call(keys.create(owner, name, seconds_of(expires_in), statements))

    async def temporary(
        self,
        duration: timedelta | int | None = None,
        *,
        read: str = "",
        policy: Sequence[Mapping[str, Any]] | None = None,
    ) -> TemporaryKey:
        """Create a temporary access key of the caller, for S3 clients such as boto3.

        It ends after `duration`, as a timedelta or in seconds (an hour), and earlier with the access key of this
        connection. `read` and `policy`: as in `create`. Raises InvalidRequestError.

            key = lake.keys.temporary(timedelta(hours=1), read="weather")
        """
        statements = _statements(read, policy)
        return await self._transport.call(keys.create_temporary(seconds_of(duration), statements))

    async def drop(self, id: str, user: str = "") -> None:
        """Remove an access key and end its tokens, on every server within a second.

        Raises InvalidRequestError for the key of this connection, ConflictError for the caller's last key, and
        NotFoundError.

            lake.keys.drop("LKBDAAAAAAAAAAAAAAAA")
        """
        name = _checks.check_name(id, "access key id")
        await self._transport.call(keys.delete(await self._owner(user), name))

    async def _owner(self, user: str) -> str:
        return _checks.check_name(user, "user id") if user else (await self._transport.call(system.user())).id


def _statements(read: str, policy: Sequence[Mapping[str, Any]] | None) -> Sequence[Mapping[str, Any]] | None:
    if read and policy is not None:
        raise InvalidRequestError("give `read` or `policy`, not both")
    return keys.read_only(_checks.check_name(read, "repository")) if read else policy
