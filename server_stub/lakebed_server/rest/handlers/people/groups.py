"""Groups, their members, policies and grants. One function per operation (`handlers`)."""

from __future__ import annotations

import time

from lakebed_wire import models
from lakebed_wire import operations as ops

from lakebed_server.access import grants
from lakebed_server.access.rows import Group, Holder, StoredPolicy
from lakebed_server.http.request import Call
from lakebed_server.http.responses import Reply, empty, json
from lakebed_server.rest import serializers
from lakebed_server.rest.rights import identities
from lakebed_server.rest.rights.identities import changed, directory
from lakebed_server.vocabulary import bad_request


async def list_groups(call: Call, p: ops.ListGroupsParams) -> Reply:
    """listGroups."""
    return identities.listed(await directory(call).groups(*identities.page_of(p)), identities.group)


async def create_group(call: Call, p: ops.CreateGroupParams, body: models.GroupCreation) -> Reply:
    """createGroup."""
    group = Group(body.id, int(time.time()), serializers.text(body.description))
    return json(201, identities.group(await changed(call, directory(call).create_group(group))))


async def get_group(call: Call, p: ops.GetGroupParams) -> Reply:
    """getGroup."""
    return json(200, identities.group(await directory(call).group(p.group_id)))


async def delete_group(call: Call, p: ops.DeleteGroupParams) -> Reply:
    """deleteGroup."""
    await changed(call, directory(call).delete_group(p.group_id))
    return empty()


async def get_group_acl(call: Call, p: ops.GetGroupACLParams) -> Reply:
    """getGroupACL. Web pages of the existing API show policies when there is no ACL."""
    await directory(call).group(p.group_id)
    message = f"group {p.group_id!r} has no access control list: see its policies"
    return json(404, models.Error(message=message, kind="policy_not_found", no_acl=True, request_id=call.request_id))


async def list_group_members(call: Call, p: ops.ListGroupMembersParams) -> Reply:
    """listGroupMembers."""
    found = await directory(call).members(p.group_id, *identities.page_of(p))
    return identities.listed(found, identities.user)


async def add_group_membership(call: Call, p: ops.AddGroupMembershipParams) -> Reply:
    """addGroupMembership."""
    await changed(call, directory(call).add_member(p.group_id, p.user_id))
    return Reply(201)


async def delete_group_membership(call: Call, p: ops.DeleteGroupMembershipParams) -> Reply:
    """deleteGroupMembership."""
    await changed(call, directory(call).remove_member(p.group_id, p.user_id))
    return empty()


async def list_group_policies(call: Call, p: ops.ListGroupPoliciesParams) -> Reply:
    """listGroupPolicies."""
    found = await directory(call).policies_of(Holder("group", p.group_id), *identities.page_of(p))
    return identities.listed(found, identities.policy)


async def attach_policy_to_group(call: Call, p: ops.AttachPolicyToGroupParams) -> Reply:
    """attachPolicyToGroup."""
    await changed(call, directory(call).attach(Holder("group", p.group_id), p.policy_id))
    return Reply(201)


async def detach_policy_from_group(call: Call, p: ops.DetachPolicyFromGroupParams) -> Reply:
    """detachPolicyFromGroup."""
    await changed(call, directory(call).detach(Holder("group", p.group_id), p.policy_id))
    return empty()


async def grant_repository_to_group(call: Call, p: ops.GrantRepositoryToGroupParams, body: models.Grant) -> Reply:
    """grantRepositoryToGroup."""
    grant = grants.grant(directory(call), Holder("group", p.group_id), body.level, p.repository, int(time.time()))
    return json(200, identities.policy(await changed(call, grant)))


async def revoke_repository_from_group(call: Call, p: ops.RevokeRepositoryFromGroupParams) -> Reply:
    """revokeRepositoryFromGroup."""
    await changed(call, grants.revoke(directory(call), Holder("group", p.group_id), p.repository))
    return empty()


async def list_policies(call: Call, p: ops.ListPoliciesParams) -> Reply:
    """listPolicies."""
    return identities.listed(await directory(call).policies(*identities.page_of(p)), identities.policy)


async def list_rights_changes(call: Call, p: ops.ListRightsChangesParams) -> Reply:
    """listRightsChanges."""
    found = await directory(call).changes(serializers.text(p.after), serializers.amount(p.amount))
    return identities.listed(found, identities.rights_change)


async def create_policy(call: Call, p: ops.CreatePolicyParams, body: models.PolicyCreation) -> Reply:
    """createPolicy."""
    policy = StoredPolicy(body.id, int(time.time()), identities.sent_statements(call))
    return json(201, identities.policy(await changed(call, directory(call).create_policy(policy))))


async def get_policy(call: Call, p: ops.GetPolicyParams) -> Reply:
    """getPolicy."""
    return json(200, identities.policy(await directory(call).policy(p.policy_id)))


async def update_policy(call: Call, p: ops.UpdatePolicyParams, body: models.PolicyCreation) -> Reply:
    """updatePolicy."""
    if body.id != p.policy_id:
        raise bad_request(f"body id: is {body.id[:80]!r}, but the path has {p.policy_id!r}: send the same id")
    change = directory(call).update_policy(p.policy_id, identities.sent_statements(call))
    return json(200, identities.policy(await changed(call, change)))


async def delete_policy(call: Call, p: ops.DeletePolicyParams) -> Reply:
    """deletePolicy."""
    await changed(call, directory(call).delete_policy(p.policy_id))
    return empty()
