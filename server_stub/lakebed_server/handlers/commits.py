"""Commits and history. One function per operation (`handlers`)."""

from __future__ import annotations

from lakebed_engine.vocabulary.records import CommitRequest, LogRequest
from lakebed_wire import models
from lakebed_wire import operations as ops
from msgspec import UNSET

from lakebed_server import views
from lakebed_server.call import Call
from lakebed_server.reply import Reply, json
from lakebed_server.vocabulary import not_implemented


async def commit(call: Call, p: ops.CommitParams, body: models.CommitCreation) -> Reply:
    """commit."""
    if p.source_metarange:
        raise not_implemented("a commit from a source_metarange arrives together with imports")
    request = CommitRequest(
        message=body.message,
        committer=call.user,
        metadata=body.metadata or {},
        date=None if body.date is UNSET else body.date,
        allow_empty=bool(body.allow_empty),
        force=bool(body.force),
    )
    return json(201, views.commit(await call.engine.commit(p.repository, p.branch, request)))


async def get_commit(call: Call, p: ops.GetCommitParams) -> Reply:
    """getCommit."""
    return json(200, views.commit(await call.engine.get_commit(p.repository, p.commit_id)))


async def log_commits(call: Call, p: ops.LogCommitsParams) -> Reply:
    """logCommits."""
    request = LogRequest(
        after=views.text(p.after),
        amount=views.amount(p.amount),
        objects=p.objects,
        prefixes=p.prefixes,
        limit=bool(p.limit),
        first_parent=bool(p.first_parent),
        since=None if p.since is UNSET else p.since.timestamp(),
        stop_at=views.text(p.stop_at),
    )
    page = await call.engine.log(p.repository, p.ref, request)
    pagination = views.pagination(page, lambda item: item.id)
    return json(200, models.CommitList(pagination=pagination, results=[views.commit(c) for c in page.items]))
