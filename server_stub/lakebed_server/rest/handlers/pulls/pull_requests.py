"""Pull requests: opening, changing, merging, and their state. One function per operation (`handlers`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from lakebed_auth import Need, arn
from lakebed_auth.actions import Fs, Pr
from lakebed_engine.vocabulary.pulls import AutoMerge, PullCreation, PullEdit, PullMerge
from lakebed_wire import models
from lakebed_wire import operations as ops
from msgspec import UNSET, UnsetType

from lakebed_server.http.request import Call
from lakebed_server.http.responses import Reply, empty, json
from lakebed_server.rest import serializers
from lakebed_server.rest.handlers.pulls import serialized
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
    results = [serialized.pull_request(one) for one in page.items]
    return json(200, models.PullRequestsList(pagination=pagination, results=results))


async def list_own_pull_requests(call: Call, p: ops.ListOwnPullRequestsParams) -> Reply:
    """listOwnPullRequests."""
    after, amount = serializers.text(p.after), serializers.amount(p.amount)
    groups, rights = await _groups(call), call.rights
    page = await call.engine.pulls.own(
        call.user,
        groups,
        lambda name: rights is None or all(rights.allowed(Pr.LIST, [arn.repository(name)])),
        after=after,
        amount=amount,
    )
    pagination = serializers.pagination(page, lambda item: f"{item.repository}/{item.pull.id}")
    results = [
        models.OwnPullRequest(
            repository=one.repository, pull_request=serialized.pull_request(one.pull), reasons=list(one.reasons)
        )
        for one in page.items
    ]
    return json(200, models.OwnPullRequestList(pagination=pagination, results=results))


async def _groups(call: Call) -> list[str]:
    """The groups of the caller."""
    if call.services.permissions is None:
        return []
    found, _ = await call.services.permissions.directory.groups_of(call.user, "", "", serializers.MAX_PER_PAGE)
    return [group.id for group in found]


async def create_pull_request(call: Call, p: ops.CreatePullRequestParams, body: models.PullRequestCreation) -> Reply:
    """createPullRequest."""
    request = PullCreation(
        title=body.title,
        description=serializers.text(body.description),
        source_branch=body.source_branch,
        destination_branch=body.destination_branch,
        author=call.committer,
        author_id=call.user,
        draft=bool(body.draft),
    )
    made = await call.engine.pulls.create(p.repository, request)
    return json(201, models.PullRequestCreationResponse(id=made.id))


async def get_pull_request(call: Call, p: ops.GetPullRequestParams) -> Reply:
    """getPullRequest."""
    return json(200, serialized.pull_request(await call.engine.pulls.get(p.repository, p.pull_request)))


async def update_pull_request(call: Call, p: ops.UpdatePullRequestParams, body: models.PullRequestBasic) -> Reply:
    """updatePullRequest."""
    reviewers = None if body.reviewers is UNSET else tuple(body.reviewers)
    await _require_people(call, reviewers or ())
    edit = PullEdit(
        actor=call.user,
        title=None if body.title is UNSET else body.title,
        description=None if body.description is UNSET else body.description,
        status=None if body.status is UNSET else body.status.value,
        draft=None if body.draft is UNSET else body.draft,
        reviewers=reviewers,
        auto_merge=await _auto_merge(call, p.repository, p.pull_request, body.auto_merge),
    )
    await call.engine.pulls.update(p.repository, p.pull_request, edit)
    return empty()


async def set_pull_request_reviewers(
    call: Call, p: ops.SetPullRequestReviewersParams, body: models.PullRequestReviewers
) -> Reply:
    """setPullRequestReviewers."""
    await _require_people(call, body)
    await call.engine.pulls.update(p.repository, p.pull_request, PullEdit(actor=call.user, reviewers=tuple(body)))
    return empty()


async def _require_people(call: Call, reviewers: Sequence[str]) -> None:
    """Raise RequestError (404) unless the users and groups exist. With `auth.mode: single` there are none to ask."""
    if call.services.permissions is None:
        return
    directory = call.services.permissions.directory
    for name in reviewers:
        await (directory.group(name[1:]) if name.startswith("@") else directory.user(name))


async def _auto_merge(
    call: Call, repository: str, pull_id: str, sent: models.PullRequestAutoMerge | UnsetType
) -> AutoMerge | Literal[False] | None:
    """What a request asks for. Needs the permissions of a merge."""
    if sent is UNSET:
        return None
    await _require_merge(call, repository, pull_id)
    if sent.enabled is False:
        return False
    strategy, message = serializers.text(sent.strategy), serializers.text(sent.message)
    return AutoMerge(user=call.user, committer=call.committer, strategy=strategy, message=message)


async def merge_pull_request(call: Call, p: ops.MergePullRequestParams, body: models.PullRequestMerge | None) -> Reply:
    """mergePullRequest."""
    await _require_merge(call, p.repository, p.pull_request)
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


async def _require_merge(call: Call, repository: str, pull_id: str) -> None:
    """Raise RequestError (403) unless the caller may read commits, and commit to the destination."""
    if call.rights is not None:
        branch = (await call.engine.pulls.get(repository, pull_id)).destination_branch
        call.rights.require(Need(Fs.READ_COMMIT, arn.repository(repository)))
        call.rights.require(Need(Fs.CREATE_COMMIT, arn.branch(repository, branch), branch=branch, ref=branch))


async def get_pull_request_state(call: Call, p: ops.GetPullRequestStateParams) -> Reply:
    """getPullRequestState."""
    found = await call.engine.pulls.state(p.repository, p.pull_request)
    path = f"{ops.API_PREFIX}/repositories/{p.repository}/pulls/{p.pull_request}/conflicts"
    return json(200, serialized.state(found, path))


async def list_pull_request_conflicts(call: Call, p: ops.ListPullRequestConflictsParams) -> Reply:
    """listPullRequestConflicts."""
    page = await call.engine.pulls.conflicts(
        p.repository, p.pull_request, after=serializers.text(p.after), amount=serializers.amount(p.amount)
    )
    return json(200, models.PullRequestConflicts(conflicts=serializers.conflicts(page.items), has_more=page.has_more))


async def list_pull_request_events(call: Call, p: ops.ListPullRequestEventsParams) -> Reply:
    """listPullRequestEvents."""
    pull, page = await call.engine.pulls.events(
        p.repository, p.pull_request, after=p.after or 0, amount=serializers.amount(p.amount)
    )
    pagination = serializers.pagination(page, lambda item: str(item.id))
    results = [serialized.timeline_event(one, pull.head_commit_id) for one in page.items]
    return json(200, models.PullRequestEventList(pagination=pagination, results=results))
