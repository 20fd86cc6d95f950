"""Comments on pull requests. One function per operation (`handlers`)."""

from __future__ import annotations

from lakebed_auth import arn
from lakebed_auth.actions import Pr
from lakebed_engine.vocabulary.pulls import CommentEdit, CommentPlace, CommentRequest
from lakebed_wire import models
from lakebed_wire import operations as ops
from msgspec import UNSET

from lakebed_server.http.request import Call
from lakebed_server.http.responses import Reply, empty, json
from lakebed_server.rest import serializers
from lakebed_server.rest.handlers.pulls import serialized


async def list_pull_request_comments(call: Call, p: ops.ListPullRequestCommentsParams) -> Reply:
    """listPullRequestComments."""
    found = await call.engine.pulls.comments(p.repository, p.pull_request, path=serializers.text(p.path))
    return json(200, models.PullRequestCommentList(results=[serialized.comment(one) for one in found]))


async def create_pull_request_comment(
    call: Call, p: ops.CreatePullRequestCommentParams, body: models.PullRequestCommentCreation
) -> Reply:
    """createPullRequestComment."""
    place = CommentPlace(
        path=serializers.text(body.path),
        column=serializers.text(body.column),
        row_key=serializers.text(body.row_key),
        side="" if body.side is UNSET else body.side.value,
    )
    request = CommentRequest(
        actor=call.user,
        text=body.body,
        place=place,
        reply_to=body.reply_to or 0,
        commit_id=serializers.text(body.commit_id),
    )
    made = await call.engine.pulls.add_comment(p.repository, p.pull_request, request)
    return json(201, serialized.comment(made))


async def update_pull_request_comment(
    call: Call, p: ops.UpdatePullRequestCommentParams, body: models.PullRequestCommentUpdate
) -> Reply:
    """updatePullRequestComment."""
    may = call.rights is None or all(call.rights.allowed(Pr.WRITE, [arn.repository(p.repository)]))
    edit = CommentEdit(
        actor=call.user,
        text=None if body.body is UNSET else body.body,
        resolved=None if body.resolved is UNSET else body.resolved,
        may_resolve=may,
    )
    made = await call.engine.pulls.edit_comment(p.repository, p.pull_request, p.comment, edit)
    return json(200, serialized.comment(made))


async def delete_pull_request_comment(call: Call, p: ops.DeletePullRequestCommentParams) -> Reply:
    """deletePullRequestComment."""
    await call.engine.pulls.delete_comment(p.repository, p.pull_request, p.comment, actor=call.user)
    return empty()
