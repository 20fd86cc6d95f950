# Generated from sdk/lakebed/_async/access/policies.py by tools/unasync_sdk.py - do not edit.
# ruff: noqa: RUF100, UP028
"""The policies of a lake."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lakebed import _checks
from lakebed._gateway.operations.access import identities
from lakebed._sync.http.pagination import Listing
from lakebed._sync.http.transport import Transport
from lakebed.model import Policy


class Policies:
    """The policies of one lake: `lake.policies`. docs/policies.md describes their language.

    Every method raises PermissionDeniedError without the permission. A server with `auth.mode: single` has no policies:
    UnsupportedOperationError.
    """

    __module__ = "lakebed"

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list(self, prefix: str = "", limit: int | None = None) -> Listing[Policy]:
        """List policies in the order of their ids.

        Example:

            for policy in lake.policies.list():
                print(policy.id)
        """
        _checks.check_text(prefix, "prefix")
        return Listing(
            self._transport,
            lambda after, amount: identities.policies_page(prefix, after, amount),
            Policy.COLUMNS,
            "policies",
            limit=limit,
        )

    def create(self, policy: str, statements: Sequence[Mapping[str, Any]]) -> Policy:
        """Create a policy from statements such as `{"effect": "allow", "action": ["fs:Read*"], "resource": "*"}`.

        Raises AlreadyExistsError, and InvalidRequestError (kind `invalid_policy`) that names the statement.

            lake.policies.create("readers", [{"effect": "allow", "action": ["fs:Read*"], "resource": "*"}])
        """
        _checks.check_text(policy, "policy id")
        return self._transport.call(identities.create_policy(policy, statements))

    def get(self, policy: str) -> Policy:
        """Return a policy. Raises NotFoundError.

        Example:

            print(lake.policies.get("FSReadAll").statements)
        """
        return self._transport.call(identities.get_policy(_checks.check_name(policy, "policy id")))

    def update(self, policy: str, statements: Sequence[Mapping[str, Any]]) -> Policy:
        """Replace the statements of a policy, on every server within a second.

        Raises NotFoundError, InvalidRequestError (kind `invalid_policy`), and ConflictError if no user could manage
        users afterwards.

            lake.policies.update("readers", [{"effect": "allow", "action": ["fs:List*"], "resource": "*"}])
        """
        name = _checks.check_name(policy, "policy id")
        return self._transport.call(identities.update_policy(name, statements))

    def drop(self, policy: str) -> None:
        """Delete a policy. Every user and group that has it loses these rights.

        Raises NotFoundError, and ConflictError if no user could manage users afterwards.

            lake.policies.drop("readers")
        """
        self._transport.call(identities.delete_policy(_checks.check_name(policy, "policy id")))
