"""Policies. One function per operation (`handlers`)."""

from __future__ import annotations

import time

from lakebed_wire import models
from lakebed_wire import operations as ops

from lakebed_server.access.rows import StoredPolicy
from lakebed_server.http.request import Call
from lakebed_server.http.responses import Reply, empty, json
from lakebed_server.rest import serializers
from lakebed_server.rest.rights import identities
from lakebed_server.rest.rights.identities import changed, directory
from lakebed_server.vocabulary import bad_request


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
