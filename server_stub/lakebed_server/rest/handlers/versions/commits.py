"""Commits, history, diffs and merges. One function per operation (`handlers`)."""

from __future__ import annotations

import msgspec
from lakebed_engine.vocabulary.errors import InvalidRequestError
from lakebed_engine.vocabulary.records import Commit
from lakebed_engine.vocabulary.requests import CommitRequest, LogRequest, MergeRequest
from lakebed_wire import models
from lakebed_wire import operations as ops
from msgspec import UNSET, structs

from lakebed_server.http.request import Call
from lakebed_server.http.responses import Reply, empty, json, last_modified
from lakebed_server.rest import serializers
from lakebed_server.rest.rights import authors


async def commit(call: Call, p: ops.CommitParams, body: models.CommitCreation) -> Reply:
    """commit."""
    await authors.commit_as(call, p.repository, p.branch, body.author)
    request, key = commit_request(call, body), serializers.text(p.idempotency_key)
    if p.source_metarange:
        if key:
            raise InvalidRequestError("a commit of source_metarange takes no Idempotency-Key: leave one of them out")
        made = await call.engine.commits.create_from_metarange(p.repository, p.branch, p.source_metarange, request)
    else:
        made = await call.engine.commits.create(p.repository, p.branch, request, key)
    call.commit_id = made.id
    return json(201, serializers.commit(made))


def commit_request(call: Call, body: models.CommitCreation) -> CommitRequest:
    """The engine's request for a commit."""
    return CommitRequest(
        message=body.message,
        committer=call.committer,
        metadata=authors.metadata(call, body.metadata),
        date=None if body.date is UNSET else body.date,
        allow_empty=bool(body.allow_empty),
        force=bool(body.force),
    )


async def create_commit_record(call: Call, p: ops.CreateCommitRecordParams, body: models.CommitRecordCreation) -> Reply:
    """createCommitRecord."""
    commit = Commit(
        id=body.commit_id,
        parents=tuple(body.parents),
        committer=body.committer,
        message=body.message,
        creation_date=body.creation_date,
        metarange_id=body.metarange_id,
        metadata=body.metadata or {},
        generation=body.generation,
        version=body.version,
    )
    await call.engine.commits.record(p.repository, commit, force=bool(body.force))
    return empty()


async def get_commit(call: Call, p: ops.GetCommitParams) -> Reply:
    """getCommit."""
    found = await call.engine.commits.get(p.repository, p.commit_id)
    return json(200, serializers.commit(found), (last_modified(found.creation_date),))


async def get_commit_statistics(call: Call, p: ops.GetCommitStatisticsParams) -> Reply:
    """getCommitStatistics."""
    found = await call.engine.commits.statistics(p.repository, p.commit_id)
    return json(200, models.CommitStatistics(**structs.asdict(found)))


async def log_commits(call: Call, p: ops.LogCommitsParams) -> Reply:
    """logCommits."""
    request = LogRequest(
        after=serializers.text(p.after),
        amount=serializers.amount(p.amount),
        objects=p.objects,
        prefixes=p.prefixes,
        limit=bool(p.limit),
        first_parent=bool(p.first_parent),
        since=None if p.since is UNSET else p.since.timestamp(),
        stop_at=serializers.text(p.stop_at),
        author=serializers.text(p.author),
        author_contains=serializers.text(p.author_contains),
        until=None if p.until is UNSET else p.until.timestamp(),
    )
    page = await call.engine.commits.log(p.repository, p.ref, request)
    pagination = serializers.pagination_before(page.after, len(page.items))
    return json(200, models.CommitList(pagination=pagination, results=[serializers.commit(c) for c in page.items]))


async def diff_branch(call: Call, p: ops.DiffBranchParams) -> Reply:
    """diffBranch."""
    page = await call.engine.branches.diff(
        p.repository,
        p.branch,
        after=serializers.text(p.after),
        amount=serializers.amount(p.amount),
        prefix=serializers.text(p.prefix),
        delimiter=serializers.text(p.delimiter),
    )
    return json(200, serializers.diffs(page, uncommitted=True))


async def diff_refs(call: Call, p: ops.DiffRefsParams) -> Reply:
    """diffRefs."""
    page = await call.engine.commits.diff(
        p.repository,
        p.left_ref,
        p.right_ref,
        mode="three_dot" if p.type is UNSET else p.type,
        after=serializers.text(p.after),
        amount=serializers.amount(p.amount),
        prefix=serializers.text(p.prefix),
        delimiter=serializers.text(p.delimiter),
        details=bool(p.include_right_stats),
    )
    return json(200, serializers.diffs(page, right_stats=bool(p.include_right_stats)))


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
