"""Checks of commits. One function per operation (`handlers`)."""

from __future__ import annotations

from lakebed_engine.vocabulary.pulls import Check
from lakebed_wire import models
from lakebed_wire import operations as ops

from lakebed_server.http.request import Call
from lakebed_server.http.responses import Reply, json
from lakebed_server.rest import serializers
from lakebed_server.rest.handlers.pulls import serialized


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
