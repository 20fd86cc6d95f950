# Generated from sdk/lakebed/_async/access/groups.py by tools/unasync_sdk.py - do not edit.
# ruff: noqa: RUF100, UP028
"""The groups of a lake."""

from __future__ import annotations

from lakebed import _checks
from lakebed._gateway.operations.access import identities
from lakebed._sync.http.pagination import Listing
from lakebed._sync.http.transport import Transport
from lakebed.model import Group, Policy, User


class Groups:
    """The groups of one lake: `lake.groups`. Every method raises PermissionDeniedError without the permission.

    A server with `auth.mode: single` has no groups: UnsupportedOperationError.
    """

    __module__ = "lakebed"

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list(self, prefix: str = "", limit: int | None = None) -> Listing[Group]:
        """List groups in the order of their ids.

        Example:

            for group in lake.groups.list():
                print(group.id)
        """
        _checks.check_text(prefix, "prefix")
        return Listing(
            self._transport,
            lambda after, amount: identities.groups_page(prefix, after, amount),
            Group.COLUMNS,
            "groups",
            limit=limit,
        )

    def create(self, group: str, description: str = "") -> Group:
        """Create a group without members and policies. Raises AlreadyExistsError and InvalidRequestError.

        Example:

            lake.groups.create("interns")
        """
        _checks.check_text(group + description, "group id or description")
        return self._transport.call(identities.create_group(group, description))

    def get(self, group: str) -> Group:
        """Return a group. Raises NotFoundError."""
        return self._transport.call(identities.get_group(_checks.check_name(group, "group id")))

    def drop(self, group: str) -> None:
        """Delete a group. Its members stay. Raises NotFoundError, and ConflictError for the last administrators.

        Example:

            lake.groups.drop("interns")
        """
        self._transport.call(identities.delete_group(_checks.check_name(group, "group id")))

    def members(self, group: str, prefix: str = "") -> Listing[User]:
        """List the members of a group. Reading it raises NotFoundError.

        Example:

            for user in lake.groups.members("interns"):
                print(user.id)
        """
        name = _checks.check_name(group, "group id")
        return Listing(
            self._transport,
            lambda after, amount: identities.users_page(prefix, after, amount, group=name),
            User.COLUMNS,
            f"members of {group}",
        )

    def add(self, group: str, user: str) -> None:
        """Add a user to a group. Raises NotFoundError, and AlreadyExistsError for a member.

        Example:

            lake.groups.add("interns", "ana")
        """
        call = identities.add_member(_checks.check_name(group, "group id"), _checks.check_name(user, "user id"))
        self._transport.call(call)

    def remove(self, group: str, user: str) -> None:
        """Remove a user from a group. Raises NotFoundError, and ConflictError for the last administrator.

        Example:

            lake.groups.remove("interns", "ana")
        """
        call = identities.remove_member(_checks.check_name(group, "group id"), _checks.check_name(user, "user id"))
        self._transport.call(call)

    def policies(self, group: str, prefix: str = "") -> Listing[Policy]:
        """List the policies of a group. Reading it raises NotFoundError."""
        name = _checks.check_name(group, "group id")
        return Listing(
            self._transport,
            lambda after, amount: identities.group_policies_page(name, prefix, after, amount),
            Policy.COLUMNS,
            f"policies of {group}",
        )

    def attach(self, group: str, policy: str) -> None:
        """Attach a policy to a group. Raises NotFoundError, and AlreadyExistsError if it is attached.

        Example:

            lake.groups.attach("interns", "FSReadAll")
        """
        names = _checks.check_name(group, "group id"), _checks.check_name(policy, "policy id")
        self._transport.call(identities.attach_to_group(*names))

    def detach(self, group: str, policy: str) -> None:
        """Detach a policy from a group. Raises NotFoundError, and ConflictError for the last administrators.

        Example:

            lake.groups.detach("interns", "FSReadAll")
        """
        names = _checks.check_name(group, "group id"), _checks.check_name(policy, "policy id")
        self._transport.call(identities.detach_from_group(*names))

    def grant(self, group: str, repository: str, level: str) -> Policy:
        """Give the members rights on one repository: level `reader`, `writer` or `admin`. It replaces an earlier grant.

        Returns the attached policy. Raises NotFoundError and InvalidRequestError.

            lake.groups.grant("interns", "weather", "reader")
        """
        name, repository = _checks.check_name(group, "group id"), _checks.check_name(repository, "repository name")
        return self._transport.call(identities.grant_to_group(name, repository, level))

    def revoke(self, group: str, repository: str) -> None:
        """Revoke a grant. Raises NotFoundError, also if there is no grant.

        Example:

            lake.groups.revoke("interns", "weather")
        """
        name, repository = _checks.check_name(group, "group id"), _checks.check_name(repository, "repository name")
        self._transport.call(identities.revoke_from_group(name, repository))
