# Generated from sdk/lakebed/_async/access/keys.py by tools/unasync_sdk.py - do not edit.
# ruff: noqa: RUF100, UP028
"""The access keys of users of a lake."""

from __future__ import annotations

from lakebed import _checks
from lakebed._gateway.operations import keys, system
from lakebed._sync.http.pagination import Listing
from lakebed._sync.http.transport import Transport
from lakebed.model import AccessKey


class Keys:
    """Access keys: `lake.keys`. Without `user`, a method is about the keys of the caller.

    Methods about another user raise PermissionDeniedError without the permission, and NotFoundError without such a
    user.
    """

    __module__ = "lakebed"

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list(self, user: str = "") -> list[AccessKey]:
        """Return the access keys of a user, without their secrets."""
        owner = self._owner(user)
        return Listing(
            self._transport,
            lambda after, amount: keys.list_page(owner, after=after, amount=amount),
            AccessKey.COLUMNS,
            f"access keys of {owner}",
        ).all()

    def get(self, id: str, user: str = "") -> AccessKey:
        """Return an access key, without its secret. Raises NotFoundError."""
        name = _checks.check_name(id, "access key id")
        return self._transport.call(keys.get(self._owner(user), name))

    def create(self, user: str = "") -> AccessKey:
        """Create another access key. Only this answer contains its secret.

        Raises OutcomeUnknownError when the answer was lost: read `list`, and drop the key whose secret was lost.
        """
        return self._transport.call(keys.create(self._owner(user)))

    def drop(self, id: str, user: str = "") -> None:
        """Remove an access key and end its tokens, on every server within a second.

        Raises InvalidRequestError for the key of this connection, ConflictError for the caller's last key, and
        NotFoundError.
        """
        name = _checks.check_name(id, "access key id")
        self._transport.call(keys.delete(self._owner(user), name))

    def _owner(self, user: str) -> str:
        return _checks.check_name(user, "user id") if user else (self._transport.call(system.user())).id
