"""Users, their groups, policies and grants. One function per operation (`handlers`)."""

from __future__ import annotations

import time

from lakebed_auth import arn
from lakebed_auth.actions import Auth
from lakebed_auth.conditions import Context
from lakebed_auth.needs import Need
from lakebed_wire import models
from lakebed_wire import operations as ops
from msgspec import UNSET

from lakebed_server.access import grants, simulation
from lakebed_server.access.rows import Holder
from lakebed_server.auth.records import User
from lakebed_server.http.request import Call
from lakebed_server.http.responses import Reply, empty, json
from lakebed_server.rest import serializers
from lakebed_server.rest.rights import identities
from lakebed_server.rest.rights.identities import changed, directory
from lakebed_server.vocabulary import not_implemented


async def list_users(call: Call, p: ops.ListUsersParams) -> Reply:
    """listUsers."""
    return identities.listed(await directory(call).users(*identities.page_of(p)), identities.user)


async def create_user(call: Call, p: ops.CreateUserParams, body: models.UserCreation) -> Reply:
    """createUser."""
    if body.invite_user is True:
        raise not_implemented("this server sends no invitations: create the user without invite_user")
    now = int(time.time())
    user = User(
        body.id,
        now,
        generation=now,  # tokens of a deleted user of this id have another generation
        friendly_name=serializers.text(body.friendly_name),
        email=serializers.text(body.email),
        service=body.service is True,
    )
    return json(201, identities.user(await changed(call, directory(call).create_user(user))))


async def get_user(call: Call, p: ops.GetUserParams) -> Reply:
    """getUser."""
    return json(200, identities.user(await directory(call).user(p.user_id)))


async def update_user(call: Call, p: ops.UpdateUserParams, body: models.UserUpdate) -> Reply:
    """updateUser."""
    change = directory(call).update_user(
        p.user_id,
        friendly_name=None if body.friendly_name is UNSET else body.friendly_name,
        email=None if body.email is UNSET else body.email,
        disabled=None if body.disabled is UNSET else body.disabled,
    )
    return json(200, identities.user(await changed(call, change)))


async def delete_user(call: Call, p: ops.DeleteUserParams) -> Reply:
    """deleteUser."""
    await changed(call, directory(call).delete_user(p.user_id))
    return empty()


async def list_user_groups(call: Call, p: ops.ListUserGroupsParams) -> Reply:
    """listUserGroups."""
    found = await directory(call).groups_of(p.user_id, *identities.page_of(p))
    return identities.listed(found, identities.group)


async def list_user_policies(call: Call, p: ops.ListUserPoliciesParams) -> Reply:
    """listUserPolicies."""
    if p.effective is True:
        found = await directory(call).effective_page(p.user_id, *identities.page_of(p))
    else:
        found = await directory(call).policies_of(Holder("user", p.user_id), *identities.page_of(p))
    return identities.listed(found, identities.policy)


async def attach_policy_to_user(call: Call, p: ops.AttachPolicyToUserParams) -> Reply:
    """attachPolicyToUser."""
    await changed(call, directory(call).attach(Holder("user", p.user_id), p.policy_id))
    return Reply(201)


async def detach_policy_from_user(call: Call, p: ops.DetachPolicyFromUserParams) -> Reply:
    """detachPolicyFromUser."""
    await changed(call, directory(call).detach(Holder("user", p.user_id), p.policy_id))
    return empty()


async def grant_repository_to_user(call: Call, p: ops.GrantRepositoryToUserParams, body: models.Grant) -> Reply:
    """grantRepositoryToUser."""
    grant = grants.grant(directory(call), Holder("user", p.user_id), body.level, p.repository, int(time.time()))
    return json(200, identities.policy(await changed(call, grant)))


async def revoke_repository_from_user(call: Call, p: ops.RevokeRepositoryFromUserParams) -> Reply:
    """revokeRepositoryFromUser."""
    await changed(call, grants.revoke(directory(call), Holder("user", p.user_id), p.repository))
    return empty()


async def simulate(call: Call, p: ops.SimulateParams, body: models.Simulation) -> Reply:
    """simulate. Each user may ask about itself."""
    user = serializers.text(body.user) or call.user
    sent = models.SimulationContext() if body.context is UNSET else body.context
    context = Context(
        source_ip=serializers.text(sent.source_ip) or call.client_address or None,
        branch=serializers.text(sent.branch),
        ref=serializers.text(sent.ref),
        source=serializers.text(sent.source) or call.source,
    )
    if user != call.user and call.rights is not None:
        call.rights.require(Need(Auth.READ_USER, arn.user(user)))
    of_key = call.rights.policies if call.rights is not None and call.limits.policies and user == call.user else None
    explained = await simulation.explain(directory(call), user, body.action, body.resource, context, of_key)
    return json(200, identities.explained(explained))
