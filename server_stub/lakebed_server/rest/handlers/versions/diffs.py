"""Diffs. One function per operation (`handlers`)."""

from __future__ import annotations

from lakebed_wire import operations as ops
from msgspec import UNSET

from lakebed_server.http.request import Call
from lakebed_server.http.responses import Reply, json
from lakebed_server.rest import serializers


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
