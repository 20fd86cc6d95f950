"""Calls about users, groups, policies, and what they allow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from lakebed._gateway import calls, convert
from lakebed._gateway.calls import call, clean, parser, reads, reads_page, segment
from lakebed._values.wire import Call, Subject
from lakebed.model import Decision, Group, LoginSession, Page, Policy, RightsChange, User

if TYPE_CHECKING:
    from lakebed_api.models import Group as WireGroup
    from lakebed_api.models import SimulationResult, UserSession

_SERVER: Final = Subject()


def users_page(prefix: str, after: str, amount: int, *, group: str = "") -> Call[Page[User]]:
    """One page of all users, or of the members of a group."""
    from lakebed_api.api.auth import list_group_members, list_users
    from lakebed_api.models import UserList

    parse = reads_page(UserList.from_dict, convert.user, after)
    params = clean(prefix=prefix, after=after, amount=amount)
    if group:
        return call("listGroupMembers", list_group_members._get_kwargs(group, **params), parse, _SERVER)
    return call("listUsers", list_users._get_kwargs(**params), parse, _SERVER)


def sessions_page(user: str, after: str, amount: int) -> Call[Page[LoginSession]]:
    """One page of the open sessions of a user."""
    from lakebed_api.api.auth import list_user_sessions
    from lakebed_api.models import UserSessionList

    parse = reads_page(UserSessionList.from_dict, _session, after)
    kwargs = list_user_sessions._get_kwargs(user, **clean(after=after, amount=amount))
    return call("listUserSessions", kwargs, parse, _SERVER)


def end_session(user: str, session: str) -> Call[None]:
    """End a session of a user."""
    from lakebed_api.api.auth import end_user_session

    kwargs = end_user_session._get_kwargs(user, session)
    return call("endUserSession", kwargs, calls.nothing, _SERVER, success=204)


def _session(row: UserSession) -> LoginSession:
    return LoginSession(
        convert.text(row.id),
        convert.moment(row.creation_date),
        convert.moment(row.expiration),
        convert.text(row.source),
        convert.text(row.address),
        convert.text(row.user_agent),
    )


def create_user(user: str, *, friendly_name: str, email: str, service: bool) -> Call[User]:
    """Create a user."""
    from lakebed_api.api.auth import create_user as create
    from lakebed_api.models import User as WireUser
    from lakebed_api.models import UserCreation

    body = UserCreation.from_dict({"id": user, **clean(friendly_name=friendly_name, email=email)})
    if service:
        body.service = True
    parse = reads(WireUser.from_dict, convert.user)
    return call("createUser", create._get_kwargs(body=body), parse, _SERVER, success=201)


def get_user(user: str) -> Call[User]:
    """Describe a user."""
    from lakebed_api.api.auth import get_user as get
    from lakebed_api.models import User as WireUser

    return call("getUser", get._get_kwargs(user), reads(WireUser.from_dict, convert.user), _SERVER)


def update_user(user: str, changes: Mapping[str, str | bool]) -> Call[User]:
    """Change fields of a user."""
    from lakebed_api.api.auth import update_user as update
    from lakebed_api.models import User as WireUser
    from lakebed_api.models import UserUpdate

    kwargs = update._get_kwargs(user, body=UserUpdate.from_dict(changes))
    return call("updateUser", kwargs, reads(WireUser.from_dict, convert.user), _SERVER, repeat="safe")


def delete_user(user: str) -> Call[None]:
    """Delete a user."""
    from lakebed_api.api.auth import delete_user as delete

    return call("deleteUser", delete._get_kwargs(user), calls.nothing, _SERVER, success=204)


def groups_page(prefix: str, after: str, amount: int, *, user: str = "") -> Call[Page[Group]]:
    """One page of all groups, or of the groups of a user."""
    from lakebed_api.api.auth import list_groups, list_user_groups
    from lakebed_api.models import GroupList

    parse = reads_page(GroupList.from_dict, _group, after)
    params = clean(prefix=prefix, after=after, amount=amount)
    if user:
        return call("listUserGroups", list_user_groups._get_kwargs(user, **params), parse, _SERVER)
    return call("listGroups", list_groups._get_kwargs(**params), parse, _SERVER)


def create_group(group: str, description: str) -> Call[Group]:
    """Create a group."""
    from lakebed_api.api.auth import create_group as create
    from lakebed_api.models import Group as WireGroup
    from lakebed_api.models import GroupCreation

    body = GroupCreation.from_dict({"id": group, **clean(description=description)})
    parse = reads(WireGroup.from_dict, _group)
    return call("createGroup", create._get_kwargs(body=body), parse, _SERVER, success=201)


def get_group(group: str) -> Call[Group]:
    """Describe a group."""
    from lakebed_api.api.auth import get_group as get
    from lakebed_api.models import Group as WireGroup

    return call("getGroup", get._get_kwargs(group), reads(WireGroup.from_dict, _group), _SERVER)


def delete_group(group: str) -> Call[None]:
    """Delete a group."""
    from lakebed_api.api.auth import delete_group as delete

    return call("deleteGroup", delete._get_kwargs(group), calls.nothing, _SERVER, success=204)


def add_member(group: str, user: str) -> Call[None]:
    """Add a user to a group."""
    from lakebed_api.api.auth import add_group_membership as add

    return call("addGroupMembership", add._get_kwargs(group, user), calls.nothing, _SERVER, success=201)


def remove_member(group: str, user: str) -> Call[None]:
    """Remove a user from a group."""
    from lakebed_api.api.auth import delete_group_membership as remove

    return call("deleteGroupMembership", remove._get_kwargs(group, user), calls.nothing, _SERVER, success=204)


def policies_page(prefix: str, after: str, amount: int) -> Call[Page[Policy]]:
    """One page of all policies."""
    from lakebed_api.api.auth import list_policies

    kwargs = list_policies._get_kwargs(**clean(prefix=prefix, after=after, amount=amount))
    return call("listPolicies", kwargs, _reads_policies(after), _SERVER)


def rights_changes_page(after: str, amount: int) -> Call[Page[RightsChange]]:
    """One page of the changes of users, groups and policies."""
    from lakebed_api.api.auth import list_rights_changes

    kwargs = list_rights_changes._get_kwargs(**clean(after=after, amount=amount))
    parse = parser(lambda body: convert.listing(body, _rights_change, after))
    return call("listRightsChanges", kwargs, parse, _SERVER)


def user_policies_page(user: str, prefix: str, after: str, amount: int, *, effective: bool) -> Call[Page[Policy]]:
    """One page of the policies of a user; with `effective` also those of the user's groups."""
    from lakebed_api.api.auth import list_user_policies

    params = clean(prefix=prefix, after=after, amount=amount)
    kwargs = list_user_policies._get_kwargs(user, effective=effective, **params)
    return call("listUserPolicies", kwargs, _reads_policies(after), _SERVER)


def group_policies_page(group: str, prefix: str, after: str, amount: int) -> Call[Page[Policy]]:
    """One page of the policies of a group."""
    from lakebed_api.api.auth import list_group_policies

    kwargs = list_group_policies._get_kwargs(group, **clean(prefix=prefix, after=after, amount=amount))
    return call("listGroupPolicies", kwargs, _reads_policies(after), _SERVER)


def create_policy(policy: str, statements: Sequence[Mapping[str, Any]]) -> Call[Policy]:
    """Create a policy."""
    body = {"id": policy, "statement": [dict(one) for one in statements]}
    kwargs = {"method": "post", "url": "/auth/policies", "json": body}
    return call("createPolicy", kwargs, parser(_policy), _SERVER, success=201)


def get_policy(policy: str) -> Call[Policy]:
    """Describe a policy."""
    from lakebed_api.api.auth import get_policy as get

    return call("getPolicy", get._get_kwargs(policy), parser(_policy), _SERVER)


def update_policy(policy: str, statements: Sequence[Mapping[str, Any]]) -> Call[Policy]:
    """Replace the statements of a policy."""
    body = {"id": policy, "statement": [dict(one) for one in statements]}
    kwargs = {"method": "put", "url": f"/auth/policies/{segment(policy)}", "json": body}
    return call("updatePolicy", kwargs, parser(_policy), _SERVER, repeat="safe")


def delete_policy(policy: str) -> Call[None]:
    """Delete a policy."""
    from lakebed_api.api.auth import delete_policy as delete

    return call("deletePolicy", delete._get_kwargs(policy), calls.nothing, _SERVER, success=204)


def attach_to_user(user: str, policy: str) -> Call[None]:
    """Attach a policy to a user."""
    from lakebed_api.api.auth import attach_policy_to_user as attach

    return call("attachPolicyToUser", attach._get_kwargs(user, policy), calls.nothing, _SERVER, success=201)


def detach_from_user(user: str, policy: str) -> Call[None]:
    """Detach a policy from a user."""
    from lakebed_api.api.auth import detach_policy_from_user as detach

    return call("detachPolicyFromUser", detach._get_kwargs(user, policy), calls.nothing, _SERVER, success=204)


def attach_to_group(group: str, policy: str) -> Call[None]:
    """Attach a policy to a group."""
    from lakebed_api.api.auth import attach_policy_to_group as attach

    return call("attachPolicyToGroup", attach._get_kwargs(group, policy), calls.nothing, _SERVER, success=201)


def detach_from_group(group: str, policy: str) -> Call[None]:
    """Detach a policy from a group."""
    from lakebed_api.api.auth import detach_policy_from_group as detach

    return call("detachPolicyFromGroup", detach._get_kwargs(group, policy), calls.nothing, _SERVER, success=204)


def grant_to_user(user: str, repository: str, level: str) -> Call[Policy]:
    """Give a user rights on one repository, in place of earlier grants."""
    from lakebed_api.api.auth import grant_repository_to_user as grant
    from lakebed_api.models import Grant

    kwargs = grant._get_kwargs(user, repository, body=Grant(level=level))
    return call("grantRepositoryToUser", kwargs, parser(_policy), Subject(repository), repeat="safe")


def revoke_from_user(user: str, repository: str) -> Call[None]:
    """Remove the rights that a grant gave to a user."""
    from lakebed_api.api.auth import revoke_repository_from_user as revoke

    kwargs = revoke._get_kwargs(user, repository)
    return call("revokeRepositoryFromUser", kwargs, calls.nothing, Subject(repository), success=204)


def grant_to_group(group: str, repository: str, level: str) -> Call[Policy]:
    """Give the members of a group rights on one repository, in place of earlier grants."""
    from lakebed_api.api.auth import grant_repository_to_group as grant
    from lakebed_api.models import Grant

    kwargs = grant._get_kwargs(group, repository, body=Grant(level=level))
    return call("grantRepositoryToGroup", kwargs, parser(_policy), Subject(repository), repeat="safe")


def revoke_from_group(group: str, repository: str) -> Call[None]:
    """Remove the rights that a grant gave to a group."""
    from lakebed_api.api.auth import revoke_repository_from_group as revoke

    kwargs = revoke._get_kwargs(group, repository)
    return call("revokeRepositoryFromGroup", kwargs, calls.nothing, Subject(repository), success=204)


def simulate(action: str, resource: str, user: str, context: Mapping[str, str]) -> Call[Decision]:
    """Explain a decision. It changes nothing, so it can be repeated."""
    from lakebed_api.api.auth import simulate as simulate_
    from lakebed_api.models import Simulation, SimulationResult

    body = {"action": action, "resource": resource, "context": dict(context), **clean(user=user)}
    kwargs = simulate_._get_kwargs(body=Simulation.from_dict(body))
    return call("simulate", kwargs, reads(SimulationResult.from_dict, _decision), _SERVER, repeat="safe")


def _group(row: WireGroup) -> Group:
    return Group(convert.text(row.id), convert.moment(row.creation_date), convert.text(row.description, ""))


def _rights_change(row: Mapping[str, Any]) -> RightsChange:
    return RightsChange(
        convert.text(row["id"]), convert.moment(row["time"]), convert.text(row["by"]), convert.text(row["what"])
    )


def _policy(row: Mapping[str, Any]) -> Policy:
    """From JSON, because a generated model changes the statements."""
    statements = tuple(dict(statement) for statement in row["statement"])
    return Policy(convert.text(row["id"]), convert.moment(row["creation_date"]), statements)


def _reads_policies(after: str) -> Any:
    return parser(lambda body: convert.listing(body, _policy, after))


def _decision(row: SimulationResult) -> Decision:
    decided = row.statement
    return Decision(
        allowed=row.allowed is True,
        effect=convert.text(row.effect),
        reason=convert.text(row.reason),
        policy=convert.text(decided.policy) if decided else None,
        statement=convert.number(decided.number) if decided else None,
    )
