"""Branches, the rules that protect them, and tags. One function per operation (`handlers`)."""

from __future__ import annotations

from collections.abc import Sequence

from lakebed_engine.vocabulary.records import Requirements, Rule, etag_of_rules
from lakebed_engine.vocabulary.requests import PickRequest
from lakebed_wire import models
from lakebed_wire import operations as ops
from msgspec import UNSET, UnsetType

from lakebed_server.http.request import Call
from lakebed_server.http.responses import Reply, empty, json, text
from lakebed_server.rest import serializers
from lakebed_server.vocabulary import bad_request


async def list_branches(call: Call, p: ops.ListBranchesParams) -> Reply:
    """listBranches."""
    page = await call.engine.branches.list(
        p.repository,
        prefix=serializers.text(p.prefix),
        after=serializers.text(p.after),
        amount=serializers.amount(p.amount),
        show_hidden=bool(p.show_hidden),
    )
    return json(200, serializers.refs(page))


async def create_branch(call: Call, p: ops.CreateBranchParams, body: models.BranchCreation) -> Reply:
    """createBranch. The answer is only the commit id: existing clients print it as it is."""
    made = await call.engine.branches.create(
        p.repository, body.name, body.source, hidden=bool(body.hidden), force=bool(body.force)
    )
    return text(201, made.commit_id)


async def get_branch(call: Call, p: ops.GetBranchParams) -> Reply:
    """getBranch."""
    return json(200, serializers.ref(await call.engine.branches.get(p.repository, p.branch)))


async def delete_branch(call: Call, p: ops.DeleteBranchParams) -> Reply:
    """deleteBranch."""
    await call.engine.branches.delete(p.repository, p.branch, force=bool(p.force))
    return empty()


async def reset_branch(call: Call, p: ops.ResetBranchParams, body: models.ResetCreation) -> Reply:
    """resetBranch."""
    force = bool(body.force)
    if body.type is models.ResetType.reset:
        await call.engine.branches.reset(p.repository, p.branch, force=force)
    elif not body.path:
        raise bad_request("body path: required unless type is reset")
    elif body.type is models.ResetType.common_prefix:
        await call.engine.branches.reset_prefix(p.repository, p.branch, body.path, force=force)
    else:
        await call.engine.branches.reset_object(p.repository, p.branch, body.path, force=force)
    return empty()


async def hard_reset_branch(call: Call, p: ops.HardResetBranchParams) -> Reply:
    """hardResetBranch."""
    await call.engine.branches.hard_reset(p.repository, p.branch, p.ref, force=bool(p.force))
    return empty()


async def revert_branch(call: Call, p: ops.RevertBranchParams, body: models.RevertCreation) -> Reply:
    """revertBranch."""
    request = _pick(call, body, body.commit_overrides, bool(body.allow_empty))
    await call.engine.commits.revert(p.repository, p.branch, request, serializers.text(p.idempotency_key))
    return empty()


async def cherry_pick(call: Call, p: ops.CherryPickParams, body: models.CherryPickCreation) -> Reply:
    """cherryPick."""
    request = _pick(call, body, body.commit_overrides)
    made = await call.engine.commits.cherry_pick(p.repository, p.branch, request, serializers.text(p.idempotency_key))
    call.commit_id = made.id
    return json(201, serializers.commit(made))


def _pick(
    call: Call,
    body: models.RevertCreation | models.CherryPickCreation,
    overrides: models.CommitOverrides | UnsetType,
    allow_empty: bool = False,
) -> PickRequest:
    message = UNSET if overrides is UNSET else overrides.message
    metadata = UNSET if overrides is UNSET else overrides.metadata
    return PickRequest(
        ref=body.ref,
        committer=call.committer,
        parent_number=body.parent_number or 0,
        message=message or None,
        metadata=None if metadata is UNSET else metadata,
        allow_empty=allow_empty,
        force=bool(body.force),
    )


async def get_branch_protection_rules(call: Call, p: ops.GetBranchProtectionRulesParams) -> Reply:
    """getBranchProtectionRules. The entity tag has no quotes: existing clients send it back as it is."""
    rules = await call.engine.protection.rules(p.repository)
    return json(200, _rules(rules), ((b"etag", etag_of_rules(rules).encode()),))


async def set_branch_protection_rules(
    call: Call, p: ops.SetBranchProtectionRulesParams, body: models.BranchProtectionRuleList
) -> Reply:
    """setBranchProtectionRules."""
    # not from the parameters, where an empty header counts as missing: here it means that there are no rules
    sent = call.headers.get(b"if-match")
    wanted = None if sent is None else sent.decode("latin-1").strip().strip('"')
    await call.engine.protection.replace(p.repository, [_rule(one) for one in body], if_match=wanted)
    return empty()


async def create_branch_protection_rule_preflight(
    call: Call, p: ops.CreateBranchProtectionRulePreflightParams
) -> Reply:
    """createBranchProtectionRulePreflight."""
    await call.engine.repositories.get(p.repository)
    return empty()


async def internal_get_branch_protection_rules(call: Call, p: ops.InternalGetBranchProtectionRulesParams) -> Reply:
    """internalGetBranchProtectionRules."""
    return json(200, _rules(await call.engine.protection.rules(p.repository)))


async def internal_create_branch_protection_rule(
    call: Call, p: ops.InternalCreateBranchProtectionRuleParams, body: models.BranchProtectionRule
) -> Reply:
    """internalCreateBranchProtectionRule."""
    await call.engine.protection.add(p.repository, _rule(body))
    return empty()


async def internal_delete_branch_protection_rule(
    call: Call, p: ops.InternalDeleteBranchProtectionRuleParams, body: models.BranchProtectionRuleDeletion
) -> Reply:
    """internalDeleteBranchProtectionRule."""
    await call.engine.protection.delete(p.repository, body.pattern)
    return empty()


def _rule(sent: models.BranchProtectionRule) -> Rule:
    return Rule(
        sent.pattern, Requirements(sent.required_approvals or 0, tuple(dict.fromkeys(sent.required_checks or ())))
    )


def _rules(rules: Sequence[Rule]) -> list[models.BranchProtectionRule]:
    return [
        models.BranchProtectionRule(
            pattern=rule.pattern,
            required_approvals=rule.requirements.approvals or UNSET,
            required_checks=list(rule.requirements.checks) or UNSET,
        )
        for rule in rules
    ]


async def list_tags(call: Call, p: ops.ListTagsParams) -> Reply:
    """listTags."""
    page = await call.engine.tags.list(
        p.repository,
        prefix=serializers.text(p.prefix),
        after=serializers.text(p.after),
        amount=serializers.amount(p.amount),
    )
    return json(200, serializers.refs(page))


async def create_tag(call: Call, p: ops.CreateTagParams, body: models.TagCreation) -> Reply:
    """createTag."""
    return json(
        201, serializers.ref(await call.engine.tags.create(p.repository, body.id, body.ref, force=bool(body.force)))
    )


async def get_tag(call: Call, p: ops.GetTagParams) -> Reply:
    """getTag."""
    return json(200, serializers.ref(await call.engine.tags.get(p.repository, p.tag)))


async def delete_tag(call: Call, p: ops.DeleteTagParams) -> Reply:
    """deleteTag."""
    await call.engine.tags.delete(p.repository, p.tag, force=bool(p.force))
    return empty()
