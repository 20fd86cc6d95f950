"""Pull requests. One function per operation (`handlers`)."""

from __future__ import annotations

from lakebed_auth import Need, arn
from lakebed_auth.actions import Fs
from lakebed_engine.vocabulary.pulls import Pull, PullCreation, PullEdit, PullMerge
from lakebed_wire import models
from lakebed_wire import operations as ops
from msgspec import UNSET

from lakebed_server.http.request import Call
from lakebed_server.http.responses import Reply, empty, json
from lakebed_server.rest import serializers
from lakebed_server.rest.rights import authors


async def list_pull_requests(call: Call, p: ops.ListPullRequestsParams) -> Reply:
    """listPullRequests."""
    page = await call.engine.pulls.list(
        p.repository,
        prefix=serializers.text(p.prefix),
        after=serializers.text(p.after),
        amount=serializers.amount(p.amount),
        status="" if p.status in (UNSET, "all") else p.status,
    )
    pagination = serializers.pagination(page, lambda item: item.id)
    return json(200, models.PullRequestsList(pagination=pagination, results=[_pull(one) for one in page.items]))


async def create_pull_request(call: Call, p: ops.CreatePullRequestParams, body: models.PullRequestCreation) -> Reply:
    """createPullRequest."""
    request = PullCreation(
        title=body.title,
        description=serializers.text(body.description),
        source_branch=body.source_branch,
        destination_branch=body.destination_branch,
        author=call.committer,
        author_id=call.user,
    )
    made = await call.engine.pulls.create(p.repository, request)
    return json(201, models.PullRequestCreationResponse(id=made.id))


async def get_pull_request(call: Call, p: ops.GetPullRequestParams) -> Reply:
    """getPullRequest."""
    return json(200, _pull(await call.engine.pulls.get(p.repository, p.pull_request)))


async def update_pull_request(call: Call, p: ops.UpdatePullRequestParams, body: models.PullRequestBasic) -> Reply:
    """updatePullRequest."""
    edit = PullEdit(
        actor=call.user,
        title=None if body.title is UNSET else body.title,
        description=None if body.description is UNSET else body.description,
        status=None if body.status is UNSET else body.status.value,
    )
    await call.engine.pulls.update(p.repository, p.pull_request, edit)
    return empty()


async def merge_pull_request(call: Call, p: ops.MergePullRequestParams, body: models.PullRequestMerge | None) -> Reply:
    """mergePullRequest."""
    await _require_commit(call, p.repository, p.pull_request)
    sent = body or models.PullRequestMerge()
    request = PullMerge(
        actor=call.user,
        committer=call.committer,
        source_commit_id=serializers.text(sent.source_commit_id),
        message=serializers.text(sent.message),
        metadata=authors.metadata(call, sent.metadata),
        strategy=serializers.text(sent.strategy),
        squash=bool(sent.squash_merge),
        force=bool(sent.force),
        resolve=[(rule.pattern, rule.side.value) for rule in sent.resolve or ()],
    )
    merged = await call.engine.pulls.merge(p.repository, p.pull_request, request)
    call.commit_id = merged.id
    return json(200, models.MergeResult(reference=merged.id))


async def _require_commit(call: Call, repository: str, pull_id: str) -> None:
    """Raise RequestError (403) unless the caller may commit to the destination of the pull request."""
    if call.rights is not None:
        branch = (await call.engine.pulls.get(repository, pull_id)).destination_branch
        call.rights.require(Need(Fs.CREATE_COMMIT, arn.branch(repository, branch), branch=branch, ref=branch))


def _pull(record: Pull) -> models.PullRequest:
    return models.PullRequest(
        id=record.id,
        status=record.status,
        title=record.title,
        description=record.description,
        author=record.author,
        author_id=record.author_id,
        source_branch=record.source_branch,
        destination_branch=record.destination_branch,
        creation_date=serializers.moment(record.creation_date),
        closed_date=serializers.moment(record.closed_date) if record.closed_date else UNSET,
        merged_commit_id=record.merged_commit_id or UNSET,
        source_commit_id=record.source_commit_id or UNSET,
    )
