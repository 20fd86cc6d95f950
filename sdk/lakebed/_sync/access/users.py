# Generated from sdk/lakebed/_async/access/users.py by tools/unasync_sdk.py - do not edit.
# ruff: noqa: RUF100, UP028
"""The users of a lake."""

from __future__ import annotations

from lakebed import _checks
from lakebed._gateway.operations.access import identities
from lakebed._sync.http.pagination import Listing
from lakebed._sync.http.transport import Transport
from lakebed.errors import InvalidRequestError
from lakebed.model import Group, LoginSession, Policy, User


class Users:
    """The users of one lake: `lake.users`. Every method raises PermissionDeniedError without the permission.

    A server with `auth.mode: single` has no users: UnsupportedOperationError.
    """

    __module__ = "lakebed"

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list(self, prefix: str = "", limit: int | None = None) -> Listing[User]:
        """List users in the order of their ids.

        Example:

            for user in lake.users.list():
                print(user.id)
        """
        _checks.check_text(prefix, "prefix")
        return Listing(
            self._transport,
            lambda after, amount: identities.users_page(prefix, after, amount),
            User.COLUMNS,
            "users",
            limit=limit,
        )

    def create(self, user: str, *, friendly_name: str = "", email: str = "", service: bool = False) -> User:
        """Create a user without permissions. `service`: the user is a program, not a person.

        Raises AlreadyExistsError, and InvalidRequestError for an id with a slash, `%` or control characters.

            lake.users.create("ana", email="ana@example.org")
        """
        for text, what in ((user, "user id"), (friendly_name, "name"), (email, "address")):
            _checks.check_text(text, what)
        call = identities.create_user(user, friendly_name=friendly_name, email=email, service=service)
        return self._transport.call(call)

    def get(self, user: str) -> User:
        """Return a user. Raises NotFoundError.

        Example:

            print(lake.users.get("ana").email)
        """
        return self._transport.call(identities.get_user(_checks.check_name(user, "user id")))

    def update(
        self, user: str, *, friendly_name: str | None = None, email: str | None = None, disabled: bool | None = None
    ) -> User:
        """Change a user. None keeps a field, and an empty string removes a name or an address.

        The server refuses a disabled user, on every server within a second. The user keeps its keys and groups.

        Raises NotFoundError, InvalidRequestError, and ConflictError for the last administrator.

            lake.users.update("ana", disabled=True)
        """
        given = {"friendly_name": friendly_name, "email": email, "disabled": disabled}
        changes = {name: value for name, value in given.items() if value is not None}
        if not changes:
            raise InvalidRequestError("nothing to change: pass friendly_name, email or disabled")
        return self._transport.call(identities.update_user(_checks.check_name(user, "user id"), changes))

    def drop(self, user: str) -> None:
        """Delete a user with its access keys. Raises NotFoundError, and ConflictError for the last administrator.

        Example:

            lake.users.drop("ana")
        """
        self._transport.call(identities.delete_user(_checks.check_name(user, "user id")))

    def sessions(self, user: str) -> Listing[LoginSession]:
        """List the open sessions of a user, at most the 100 newest. Your own need no permission.

        Reading it raises NotFoundError.
        """
        name = _checks.check_name(user, "user id")
        return Listing(
            self._transport,
            lambda after, amount: identities.sessions_page(name, after, amount),
            LoginSession.COLUMNS,
            f"sessions of {user}",
        )

    def end_session(self, user: str, session: str) -> None:
        """End a session of a user, on every server within a second. Your own need no permission.

        Raises NotFoundError.
        """
        call = identities.end_session(_checks.check_name(user, "user id"), _checks.check_name(session, "session id"))
        self._transport.call(call)

    def groups(self, user: str, prefix: str = "") -> Listing[Group]:
        """List the groups of a user. Reading it raises NotFoundError.

        Example:

            for group in lake.users.groups("ana"):
                print(group.id)
        """
        name = _checks.check_name(user, "user id")
        return Listing(
            self._transport,
            lambda after, amount: identities.groups_page(prefix, after, amount, user=name),
            Group.COLUMNS,
            f"groups of {user}",
        )

    def policies(self, user: str, prefix: str = "", *, effective: bool = False) -> Listing[Policy]:
        """List the policies of a user; with `effective` also those of the user's groups.

        Reading it raises NotFoundError.

            for policy in lake.users.policies("ana", effective=True):
                print(policy.id)
        """
        name = _checks.check_name(user, "user id")
        return Listing(
            self._transport,
            lambda after, amount: identities.user_policies_page(name, prefix, after, amount, effective=effective),
            Policy.COLUMNS,
            f"policies of {user}",
        )

    def attach(self, user: str, policy: str) -> None:
        """Attach a policy to a user. Raises NotFoundError, and AlreadyExistsError if it is attached.

        Example:

            lake.users.attach("ana", "FSReadAll")
        """
        call = identities.attach_to_user(_checks.check_name(user, "user id"), _checks.check_name(policy, "policy id"))
        self._transport.call(call)

    def detach(self, user: str, policy: str) -> None:
        """Detach a policy from a user. Raises NotFoundError, and ConflictError for the last administrator.

        Example:

            lake.users.detach("ana", "FSReadAll")
        """
        call = identities.detach_from_user(_checks.check_name(user, "user id"), _checks.check_name(policy, "policy id"))
        self._transport.call(call)

    def grant(self, user: str, repository: str, level: str) -> Policy:
        """Give a user rights on one repository: level `reader`, `writer` or `admin`. It replaces an earlier grant.

        Returns the attached policy. Raises NotFoundError and InvalidRequestError.

            lake.users.grant("ana", "weather", "writer")
        """
        name, repository = _checks.check_name(user, "user id"), _checks.check_name(repository, "repository name")
        return self._transport.call(identities.grant_to_user(name, repository, level))

    def revoke(self, user: str, repository: str) -> None:
        """Revoke a grant. Other policies and groups of the user may still give rights.

        Raises NotFoundError, also if there is no grant.

            lake.users.revoke("ana", "weather")
        """
        name, repository = _checks.check_name(user, "user id"), _checks.check_name(repository, "repository name")
        self._transport.call(identities.revoke_from_user(name, repository))
