"""Workspaces. One function per operation (`handlers`)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from functools import partial

from lakebed_auth import arn
from lakebed_auth.actions import Fs
from lakebed_engine.vocabulary.records import Page, Workspace
from lakebed_engine.vocabulary.requests import AdvanceRequest, WorkspaceRequest
from lakebed_wire import models
from lakebed_wire import operations as ops
from msgspec import UNSET, UnsetType

from lakebed_server.http.authorization import note_addresses, shares_directory
from lakebed_server.http.request import Call
from lakebed_server.http.responses import Reply, empty, json
from lakebed_server.rest import serializers
from lakebed_server.rest.rights import authors
from lakebed_server.rest.rights.filtered_pages import filtered
from lakebed_server.rest.rights.task_rights import require_changes
from lakebed_server.vocabulary import bad_request, not_implemented

WEEK = 7 * 24 * 3600


async def list_workspaces(call: Call, p: ops.ListWorkspacesParams) -> Reply:
    """listWorkspaces."""
    page = await _visible(call, p)
    pagination = serializers.pagination(page, lambda item: item.uid)
    show = await _shown(call, p.repository)
    return json(200, models.WorkspaceList(pagination=pagination, results=list(map(show, page.items))))


async def _visible(call: Call, p: ops.ListWorkspacesParams) -> Page[Workspace]:
    """A page of the caller's own workspaces, and of those on branches that the caller may read."""
    rights, state = call.rights, serializers.text(p.state) or "open"
    list_page = partial(call.engine.workspaces.list, p.repository, branch=serializers.text(p.branch), state=state)
    after, amount = serializers.text(p.after), serializers.amount(p.amount)
    if rights is None:
        return await list_page(after=after, amount=amount)

    def allowed(items: Sequence[Workspace]) -> list[bool]:
        may_read = rights.allowed(Fs.READ_BRANCH, [arn.branch(p.repository, one.branch) for one in items])
        own = "" if call.limits.policies else call.user
        return [may or one.creator == own for one, may in zip(items, may_read, strict=True)]

    return await filtered(
        lambda after, amount: list_page(after=after, amount=amount),
        allowed,
        lambda item: item.uid,
        after=after,
        amount=amount,
    )


async def create_workspace(call: Call, p: ops.CreateWorkspaceParams, body: models.WorkspaceCreation) -> Reply:
    """createWorkspace."""
    branch = serializers.text(body.branch)
    ref = serializers.text(body.ref) or branch
    if not ref:
        raise bad_request("body: branch or ref is required")
    request = WorkspaceRequest(
        ref=ref,
        creator=call.user,
        branch=branch,
        message=serializers.text(body.message),
        lifetime=_lifetime(body.expires_in),
        claims=tuple(body.claims or ()),
        id=serializers.text(body.id),
        force=bool(body.force),
    )
    return await _one(call, p.repository, lambda: call.engine.workspaces.create(p.repository, request), 201)


async def get_workspace(call: Call, p: ops.GetWorkspaceParams) -> Reply:
    """getWorkspace."""
    return await _one(call, p.repository, lambda: call.engine.workspaces.get(p.repository, p.workspace))


async def drop_workspace(call: Call, p: ops.DropWorkspaceParams) -> Reply:
    """dropWorkspace."""
    await call.engine.workspaces.delete(p.repository, p.workspace, force=bool(p.force))
    return empty()


async def renew_workspace(call: Call, p: ops.RenewWorkspaceParams, body: models.WorkspaceRenewal) -> Reply:
    """renewWorkspace."""
    renew = partial(call.engine.workspaces.renew, p.repository, p.workspace, body.expires_in)
    return await _one(call, p.repository, renew)


async def register_objects(call: Call, p: ops.RegisterObjectsParams, body: models.ObjectRegistration) -> Reply:
    """registerObjects."""
    objects = [serializers.written(one) for one in body.objects or ()]
    await call.engine.workspaces.register_written(
        p.repository, p.workspace, objects, body.deletes or (), force=bool(p.force)
    )
    return empty()


async def push_layer(call: Call, p: ops.PushLayerParams) -> Reply:
    """pushLayer."""
    async with call.services.spool.spooled(call.body) as file:
        layer = await call.engine.workspaces.register_file(p.repository, p.workspace, file, force=bool(p.force))
    return json(201, models.WorkspaceLayer(id=layer.id, rows=sum(part.rows for part in layer.parts)))


async def share_objects(call: Call, p: ops.ShareObjectsParams, body: models.ObjectShares) -> Reply:
    """shareObjects."""
    pairs = [(one.path, one.same_as) for one in body.objects]
    done = await call.engine.workspaces.dedupe(p.repository, p.workspace, pairs, force=bool(p.force))
    return json(200, models.ObjectSharesResult(shared=done.shared, left=done.left))


async def scan_workspace(call: Call, p: ops.ScanWorkspaceParams) -> Reply:
    """scanWorkspace."""
    done = await call.engine.workspaces.scan(p.repository, p.workspace, force=bool(p.force))
    refusals = [models.ScanRefusal(path=one.path, reason=one.reason) for one in done.refusals]
    return json(
        200,
        models.WorkspaceScan(
            registered=done.registered,
            vanished=done.vanished,
            unchanged=done.unchanged,
            refused=done.refused,
            refusals=refusals,
        ),
    )


async def create_upload_urls(call: Call, p: ops.CreateUploadUrlsParams, body: models.UploadUrlRequest) -> Reply:
    """createUploadUrls."""
    refuse_unsigned(call)
    signed = await call.engine.signed_uploads.sign(
        p.repository,
        p.workspace,
        body.paths,
        size=body.size_bytes or 0,
        content_type=serializers.text(body.content_type),
        seconds=call.services.installation.presign_seconds,
    )
    return json(200, models.UploadUrlList(results=[serializers.upload_url(one) for one in signed]))


async def commit_workspace(call: Call, p: ops.CommitWorkspaceParams, body: models.WorkspaceCommit) -> Reply:
    """commitWorkspace."""
    await authors.commit_workspace_as(call, p.repository, p.workspace, body.author)
    request = AdvanceRequest(
        committer=call.committer,
        message=serializers.text(body.message),
        metadata=authors.metadata(call, body.metadata),
        date=None if body.date is UNSET else body.date,
        policy="rebase" if body.policy is UNSET else body.policy.value,
        globs=tuple(body.paths or ()),
        replace_prefix=tuple(body.replace_prefix or ()),
        idempotency_key=serializers.text(body.idempotency_key),
        allow_empty=bool(body.allow_empty),
        relocate=bool(body.relocate),
        force=bool(body.force),
        conflicts_amount=p.conflicts_amount or serializers.DEFAULT_AMOUNT,
    )
    await require_changes(call, p.repository, p.workspace, request.replace_prefix)
    made = await call.engine.workspaces.commit(p.repository, p.workspace, request)
    call.commit_id = made.id
    return json(201, serializers.commit(made))


async def revert_workspace(call: Call, p: ops.RevertWorkspaceParams, body: models.WorkspaceRevert | None) -> Reply:
    """revertWorkspace."""
    globs = body.paths or () if body is not None else ()
    await call.engine.workspaces.revert(p.repository, p.workspace, tuple(globs), force=bool(p.force))
    return empty()


async def pop_workspace(call: Call, p: ops.PopWorkspaceParams, body: models.WorkspacePop | None) -> Reply:
    """popWorkspace."""
    branch = "" if body is None else serializers.text(body.branch)
    await require_changes(call, p.repository, p.workspace)
    await call.engine.workspaces.pop(p.repository, p.workspace, branch=branch, force=bool(p.force))
    return empty()


async def stash_branch(call: Call, p: ops.StashBranchParams, body: models.StashCreation | None) -> Reply:
    """stashBranch."""
    body = body or models.StashCreation()
    request = WorkspaceRequest(
        ref=p.branch,
        creator=call.user,
        message=serializers.text(body.message),
        lifetime=_lifetime(body.expires_in),
        force=bool(body.force),
    )
    return await _one(call, p.repository, lambda: call.engine.workspaces.stash(p.repository, p.branch, request), 201)


def refuse_unsigned(call: Call) -> None:
    """Raise RequestError if the operator has disabled presigned URLs."""
    if not call.services.installation.presign:
        raise not_implemented("this server does not presign URLs (objects.presign): write through the server")


def _lifetime(sent: int | UnsetType) -> int:
    return WEEK if sent is UNSET else sent


async def _one(call: Call, repository: str, make: Callable[[], Awaitable[Workspace]], status: int = 200) -> Reply:
    show = await _shown(call, repository)  # first, because it can fail, and nothing has changed yet
    return json(status, show(await make()))


async def _shown(call: Call, repository: str) -> Callable[[Workspace], models.Workspace]:
    """Returns a function that serializes workspaces of a repository for this client."""
    place, installation = await call.engine.repositories.data_place(repository), call.services.installation
    shared = shares_directory(call, repository)
    if shared and place.directory:
        note_addresses(call, ("",))
    return partial(serializers.workspace, place=place, presign=installation.presign, shared=shared)
