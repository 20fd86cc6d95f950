"""Reviews and approvals of pull requests, and checks of commits. One function per operation (`handlers`)."""

from __future__ import annotations

from lakebed_auth import Need, arn
from lakebed_auth.actions import Branches
from lakebed_engine.vocabulary.pulls import Check, ReviewRequest
from lakebed_wire import models
from lakebed_wire import operations as ops

from lakebed_server.http.request import Call
from lakebed_server.http.responses import Reply, empty, json
from lakebed_server.rest import serializers
from lakebed_server.rest.handlers.pulls import serialized


async def list_pull_request_reviews(call: Call, p: ops.ListPullRequestReviewsParams) -> Reply:
    """listPullRequestReviews."""
    pull, found = await call.engine.pulls.reviews(p.repository, p.pull_request)
    results = [serialized.review(one, pull.head_commit_id) for one in found]
    return json(200, models.PullRequestReviewList(results=results))


async def create_pull_request_review(
    call: Call, p: ops.CreatePullRequestReviewParams, body: models.PullRequestReviewCreation
) -> Reply:
    """createPullRequestReview."""
    request = ReviewRequest(
        actor=call.user,
        verdict=body.verdict.value,
        text=serializers.text(body.body),
        source_commit_id=serializers.text(body.source_commit_id),
    )
    made = await call.engine.pulls.add_review(p.repository, p.pull_request, request)
    return json(201, serialized.review(made, made.commit_id))


async def dismiss_pull_request_review(
    call: Call, p: ops.DismissPullRequestReviewParams, body: models.PullRequestReviewDismissal | None
) -> Reply:
    """dismissPullRequestReview."""
    need = Need(Branches.SET_PROTECTION_RULES, arn.repository(p.repository))
    await call.engine.pulls.dismiss_review(
        p.repository,
        p.pull_request,
        p.review,
        actor=call.user,
        text=serializers.text(body.message) if body else "",
        may_dismiss=call.rights is None or all(call.rights.allowed(need.action, [need.resource])),
    )
    return empty()


async def list_pull_request_approvals(call: Call, p: ops.ListPullRequestApprovalsParams) -> Reply:
    """listPullRequestApprovals."""
    found = await call.engine.pulls.approvals(p.repository, p.pull_request)
    return json(200, models.PullRequestApprovalList(results=[serialized.approval(one) for one in found]))


async def approve_pull_request(
    call: Call, p: ops.ApprovePullRequestParams, body: models.PullRequestApprovalCreation | None
) -> Reply:
    """approvePullRequest."""
    commit_id = serializers.text(body.source_commit_id) if body else ""
    request = ReviewRequest(actor=call.user, verdict="approve", source_commit_id=commit_id)
    return json(201, serialized.approval(await call.engine.pulls.add_review(p.repository, p.pull_request, request)))


async def withdraw_pull_request_approval(call: Call, p: ops.WithdrawPullRequestApprovalParams) -> Reply:
    """withdrawPullRequestApproval."""
    await call.engine.pulls.withdraw_approval(p.repository, p.pull_request, call.user)
    return empty()


async def list_commit_checks(call: Call, p: ops.ListCommitChecksParams) -> Reply:
    """listCommitChecks."""
    found = await call.engine.pulls.checks(p.repository, p.commit_id)
    return json(200, models.CommitCheckList(results=[serialized.commit_check(one) for one in found]))


async def report_commit_check(call: Call, p: ops.ReportCommitCheckParams, body: models.CommitCheckCreation) -> Reply:
    """reportCommitCheck."""
    check = Check(
        name=body.name,
        state=body.state.value,
        user=call.user,
        date=0,
        description=serializers.text(body.description),
        url=serializers.text(body.url),
    )
    made = await call.engine.pulls.report_check(p.repository, p.commit_id, check)
    return json(201, serialized.commit_check(made))
