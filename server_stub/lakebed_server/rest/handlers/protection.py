"""Rules that protect branches. One function per operation (`handlers`)."""

from __future__ import annotations

from lakebed_engine.operations.branch.protection import etag_of
from lakebed_wire import models
from lakebed_wire import operations as ops

from lakebed_server.http.request import Call
from lakebed_server.http.responses import Reply, empty, json


async def get_branch_protection_rules(call: Call, p: ops.GetBranchProtectionRulesParams) -> Reply:
    """getBranchProtectionRules. The entity tag has no quotes: existing clients send it back as it is."""
    rules = await call.engine.protection_rules(p.repository)
    return json(200, _rules(rules), ((b"etag", etag_of(rules).encode()),))


async def set_branch_protection_rules(
    call: Call, p: ops.SetBranchProtectionRulesParams, body: models.BranchProtectionRuleList
) -> Reply:
    """setBranchProtectionRules."""
    # not from the parameters: there an empty header is no header, here it means that there are no rules
    sent = call.headers.get(b"if-match")
    wanted = None if sent is None else sent.decode("latin-1").strip().strip('"')
    await call.engine.set_protection_rules(p.repository, [rule.pattern for rule in body], if_match=wanted)
    return empty()


async def create_branch_protection_rule_preflight(
    call: Call, p: ops.CreateBranchProtectionRulePreflightParams
) -> Reply:
    """createBranchProtectionRulePreflight."""
    await call.engine.get_repository(p.repository)
    return empty()


async def internal_get_branch_protection_rules(call: Call, p: ops.InternalGetBranchProtectionRulesParams) -> Reply:
    """internalGetBranchProtectionRules."""
    return json(200, _rules(await call.engine.protection_rules(p.repository)))


async def internal_create_branch_protection_rule(
    call: Call, p: ops.InternalCreateBranchProtectionRuleParams, body: models.BranchProtectionRule
) -> Reply:
    """internalCreateBranchProtectionRule."""
    await call.engine.add_protection_rule(p.repository, body.pattern)
    return empty()


async def internal_delete_branch_protection_rule(
    call: Call, p: ops.InternalDeleteBranchProtectionRuleParams, body: models.BranchProtectionRuleDeletion
) -> Reply:
    """internalDeleteBranchProtectionRule."""
    await call.engine.delete_protection_rule(p.repository, body.pattern)
    return empty()


def _rules(patterns: tuple[str, ...]) -> list[models.BranchProtectionRule]:
    return [models.BranchProtectionRule(pattern=pattern) for pattern in patterns]
