"""Diffs. One function per operation (`handlers`)."""

from __future__ import annotations

from lakebed_wire import operations as ops
from msgspec import UNSET

from lakebed_server import views
from lakebed_server.call import Call
from lakebed_server.reply import Reply, json


async def diff_branch(call: Call, p: ops.DiffBranchParams) -> Reply:
    """diffBranch."""
    page = await call.engine.diff_branch(
        p.repository,
        p.branch,
        after=views.text(p.after),
        amount=views.amount(p.amount),
        prefix=views.text(p.prefix),
        delimiter=views.text(p.delimiter),
    )
    return json(200, views.diffs(page))


async def diff_refs(call: Call, p: ops.DiffRefsParams) -> Reply:
    """diffRefs."""
    page = await call.engine.diff_refs(
        p.repository,
        p.left_ref,
        p.right_ref,
        mode="three_dot" if p.type is UNSET else p.type,
        after=views.text(p.after),
        amount=views.amount(p.amount),
        prefix=views.text(p.prefix),
        delimiter=views.text(p.delimiter),
        details=bool(p.include_right_stats),
    )
    return json(200, views.diffs(page, right_stats=bool(p.include_right_stats)))
