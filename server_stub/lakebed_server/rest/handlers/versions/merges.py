"""Merges. One function per operation (`handlers`)."""

from __future__ import annotations

import msgspec
from lakebed_engine.vocabulary.requests import MergeRequest
from lakebed_wire import models
from lakebed_wire import operations as ops
from msgspec import UNSET

from lakebed_server.http.request import Call
from lakebed_server.http.responses import Reply, json
from lakebed_server.rest import serializers
from lakebed_server.rest.rights import authors


async def merge_into_branch(call: Call, p: ops.MergeIntoBranchParams, body: models.Merge | None) -> Reply:
    """mergeIntoBranch. An empty message means the default one."""
    sent = body or models.Merge()
    await authors.commit_as(call, p.repository, p.destination_branch, sent.author)
    request = msgspec.structs.replace(
        merge_request(call, sent),
        conflicts_after=serializers.text(p.conflicts_after),
        conflicts_amount=serializers.DEFAULT_AMOUNT if p.conflicts_amount is UNSET else p.conflicts_amount,
    )
    key = serializers.text(p.idempotency_key)
    merged = await call.engine.commits.merge(p.repository, p.source_ref, p.destination_branch, request, key)
    call.commit_id = merged.id
    return json(200, models.MergeResult(reference=merged.id))


def merge_request(call: Call, body: models.Merge) -> MergeRequest:
    """The engine's request for a merge."""
    return MergeRequest(
        committer=call.committer,
        message=body.message or None,
        metadata=authors.metadata(call, body.metadata),
        strategy=serializers.text(body.strategy),
        force=bool(body.force),
        allow_empty=bool(body.allow_empty),
        squash=bool(body.squash_merge),
        resolve=[(rule.pattern, rule.side.value) for rule in body.resolve or ()],
    )


async def find_merge_base(call: Call, p: ops.FindMergeBaseParams) -> Reply:
    """findMergeBase. (lakeFS swaps source and destination in its answer. This does not.)"""
    base = await call.engine.commits.merge_base(p.repository, p.source_ref, p.destination_branch)
    return json(
        200,
        models.FindMergeBaseResult(
            source_commit_id=base.source_id,
            destination_commit_id=base.destination_id,
            base_commit_id=base.base_id,
        ),
    )
