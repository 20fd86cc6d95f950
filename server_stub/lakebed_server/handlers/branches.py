"""Branches. One function per operation (`handlers`)."""

from __future__ import annotations

from lakebed_wire import models
from lakebed_wire import operations as ops

from lakebed_server import views
from lakebed_server.call import Call
from lakebed_server.reply import Reply, empty, json, text
from lakebed_server.vocabulary import bad_request


async def list_branches(call: Call, p: ops.ListBranchesParams) -> Reply:
    """listBranches."""
    page = await call.engine.list_branches(
        p.repository,
        prefix=views.text(p.prefix),
        after=views.text(p.after),
        amount=views.amount(p.amount),
        show_hidden=bool(p.show_hidden),
    )
    return json(200, views.refs(page))


async def create_branch(call: Call, p: ops.CreateBranchParams, body: models.BranchCreation) -> Reply:
    """createBranch. The answer is the bare commit id: existing clients print it as it is."""
    made = await call.engine.create_branch(
        p.repository, body.name, body.source, hidden=bool(body.hidden), force=bool(body.force)
    )
    return text(201, made.commit_id)


async def get_branch(call: Call, p: ops.GetBranchParams) -> Reply:
    """getBranch."""
    return json(200, views.ref(await call.engine.get_branch(p.repository, p.branch)))


async def delete_branch(call: Call, p: ops.DeleteBranchParams) -> Reply:
    """deleteBranch."""
    await call.engine.delete_branch(p.repository, p.branch, force=bool(p.force))
    return empty()


async def reset_branch(call: Call, p: ops.ResetBranchParams, body: models.ResetCreation) -> Reply:
    """resetBranch."""
    force = bool(body.force)
    if body.type is models.ResetType.reset:
        await call.engine.reset_branch(p.repository, p.branch, force=force)
    elif not body.path:
        raise bad_request("body path: required unless type is reset")
    elif body.type is models.ResetType.common_prefix:
        await call.engine.reset_prefix(p.repository, p.branch, body.path, force=force)
    else:
        await call.engine.reset_object(p.repository, p.branch, body.path, force=force)
    return empty()
