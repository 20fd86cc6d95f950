"""Calls about workspaces."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lakebed._gateway import calls, convert
from lakebed._gateway.calls import call, clean, reads, reads_page, segment
from lakebed._values.signed import PartTarget, PartUrl
from lakebed._values.wire import Call, Subject
from lakebed.model import Commit, ObjectInfo, Page, ScanRefusal, ScanResult, UploadUrl, WorkspaceInfo

CONFLICTS_LISTED = 1000
"""Number of conflicts that a refused commit lists. It is the server's limit."""


def create(
    repository: str,
    workspace: str,
    *,
    branch: str,
    ref: str,
    message: str,
    expires_in: int | None,
    claims: Sequence[str],
) -> Call[WorkspaceInfo]:
    """Create a workspace. The client chooses the id, so a repeat has no effect."""
    from lakebed_api.api.workspaces import create_workspace
    from lakebed_api.models import Workspace, WorkspaceCreation

    body = WorkspaceCreation(
        id=workspace,
        **clean(branch=branch, ref=ref, message=message, expires_in=expires_in, claims=list(claims)),
    )
    return call(
        "createWorkspace",
        create_workspace._get_kwargs(repository, body=body),
        reads(Workspace.from_dict, convert.workspace),
        Subject(repository, branch or ref),
        success=201,
        repeat="safe",
    )


def get(repository: str, workspace: str) -> Call[WorkspaceInfo]:
    """Describe a workspace, open or closed."""
    from lakebed_api.api.workspaces import get_workspace
    from lakebed_api.models import Workspace

    kwargs = get_workspace._get_kwargs(repository, workspace)
    parse = reads(Workspace.from_dict, convert.workspace)
    return call("getWorkspace", kwargs, parse, Subject(repository, workspace))


def list_page(repository: str, *, state: str, branch: str, after: str, amount: int) -> Call[Page[WorkspaceInfo]]:
    """One page of workspaces."""
    from lakebed_api.api.workspaces import list_workspaces
    from lakebed_api.models import WorkspaceList

    kwargs = list_workspaces._get_kwargs(repository, **clean(state=state, branch=branch, after=after, amount=amount))
    parse = reads_page(WorkspaceList.from_dict, convert.workspace, after)
    return call("listWorkspaces", kwargs, parse, Subject(repository))


def drop(repository: str, workspace: str) -> Call[None]:
    """Close a workspace without a commit. A second call is not an error."""
    from lakebed_api.api.workspaces import drop_workspace

    kwargs = drop_workspace._get_kwargs(repository, workspace)
    subject = Subject(repository, workspace)
    return call("dropWorkspace", kwargs, calls.nothing, subject, success=204, repeat="safe")


def renew(repository: str, workspace: str, expires_in: int) -> Call[WorkspaceInfo]:
    """Set the remaining lifetime of a workspace, in seconds from now."""
    from lakebed_api.api.workspaces import renew_workspace
    from lakebed_api.models import Workspace, WorkspaceRenewal

    return call(
        "renewWorkspace",
        renew_workspace._get_kwargs(repository, workspace, body=WorkspaceRenewal(expires_in=expires_in)),
        reads(Workspace.from_dict, convert.workspace),
        Subject(repository, workspace),
        repeat="safe",
    )


def register(repository: str, workspace: str, objects: Sequence[ObjectInfo], deletes: Sequence[str]) -> Call[None]:
    """Register objects that are in the store, and deletions. A repeat has no effect."""
    from lakebed_api.api.workspaces import register_objects
    from lakebed_api.models import ObjectRegistration

    kwargs = register_objects._get_kwargs(repository, workspace, body=ObjectRegistration())
    # Built by hand: creating ten thousand generated models takes longer than the request itself.
    kwargs["json"] = {"objects": [_row(one) for one in objects], "deletes": list(deletes)}
    subject = Subject(repository, workspace)
    return call("registerObjects", kwargs, calls.nothing, subject, success=204, repeat="safe", slow=True)


def _row(one: ObjectInfo) -> dict[str, object]:
    row: dict[str, object] = {
        "path": one.path,
        "physical_address": one.physical_address,
        "checksum": one.checksum,
        "size_bytes": one.size,
        "mtime": int(one.mtime.timestamp()),
    }
    if one.content_type:
        row["content_type"] = one.content_type
    if one.metadata:
        row["metadata"] = dict(one.metadata)
    return row


def push_layer(repository: str, workspace: str) -> Call[int]:
    """Register the rows of a Parquet file. Returns their number. A repeat has no effect."""
    from lakebed_api.models import WorkspaceLayer

    kwargs = {
        "method": "post",
        "url": f"/repositories/{segment(repository)}/workspaces/{segment(workspace)}/layers",
        "headers": {"Content-Type": "application/octet-stream"},
    }
    parse = reads(WorkspaceLayer.from_dict, lambda found: convert.number(found.rows))
    return call("pushLayer", kwargs, parse, Subject(repository, workspace), success=201, repeat="safe", slow=True)


def share(repository: str, workspace: str, pairs: Sequence[tuple[str, str]]) -> Call[tuple[str, ...]]:
    """Make paths use the data of other paths. Returns the skipped paths. A repeat has no effect."""
    from lakebed_api.api.workspaces import share_objects
    from lakebed_api.models import ObjectShares, ObjectSharesResult

    kwargs = share_objects._get_kwargs(repository, workspace, body=ObjectShares(objects=[]))
    kwargs["json"] = {"objects": [{"path": path, "same_as": same_as} for path, same_as in pairs]}
    parse = reads(ObjectSharesResult.from_dict, lambda found: tuple(map(convert.text, found.left)))
    return call("shareObjects", kwargs, parse, Subject(repository, workspace), repeat="safe", slow=True)


def scan(repository: str, workspace: str) -> Call[ScanResult]:
    """Register objects that other tools wrote below the prefix."""
    from lakebed_api.api.workspaces import scan_workspace
    from lakebed_api.models import WorkspaceScan

    def counts(found: WorkspaceScan) -> ScanResult:
        registered, vanished, unchanged = map(convert.number, (found.registered, found.vanished, found.unchanged))
        refusals = tuple(ScanRefusal(convert.text(one.path), convert.text(one.reason)) for one in found.refusals or ())
        return ScanResult(registered, vanished, unchanged, convert.number(found.refused, 0), refusals)

    kwargs = scan_workspace._get_kwargs(repository, workspace)
    parse = reads(WorkspaceScan.from_dict, counts)
    return call("scanWorkspace", kwargs, parse, Subject(repository, workspace), repeat="safe", slow=True)


def upload_urls(
    repository: str, workspace: str, paths: Sequence[str], *, size: int, content_type: str
) -> Call[tuple[UploadUrl, ...]]:
    """Return presigned URLs to write objects, in the order of the paths."""
    from lakebed_api.api.workspaces import create_upload_urls
    from lakebed_api.models import UploadUrlList, UploadUrlRequest

    body = UploadUrlRequest(paths=list(paths), size_bytes=size, content_type=content_type)

    def urls(found: UploadUrlList) -> tuple[UploadUrl, ...]:
        return tuple(
            UploadUrl(
                path=convert.text(one.path),
                physical_address=convert.text(one.physical_address),
                method=convert.text(one.method),
                url=convert.text(one.url),
                headers=convert.mapping(one.headers),
                expires=convert.moment(one.expires),
            )
            for one in found.results
        )

    return call(
        "createUploadUrls",
        create_upload_urls._get_kwargs(repository, workspace, body=body),
        reads(UploadUrlList.from_dict, urls),
        Subject(repository, workspace),
        repeat="safe",
    )


def begin_parts(repository: str, workspace: str, path: str, content_type: str) -> Call[PartTarget]:
    """Start a multipart upload. A repeat leaves an unfinished upload, which a lifecycle rule of the bucket removes."""
    from lakebed_api.api.workspaces import create_part_upload
    from lakebed_api.models import PartUpload, PartUploadCreation

    body = PartUploadCreation(path=path, content_type=content_type)
    return call(
        "createPartUpload",
        create_part_upload._get_kwargs(repository, workspace, body=body),
        reads(
            PartUpload.from_dict,
            lambda found: PartTarget(convert.text(found.physical_address), convert.text(found.upload_id)),
        ),
        Subject(repository, workspace, path),
        success=201,
        repeat="safe",
    )


def part_urls(
    repository: str, workspace: str, path: str, target: PartTarget, parts: Sequence[int]
) -> Call[tuple[PartUrl, ...]]:
    """Return presigned URLs to write parts, in the order of their numbers."""
    from lakebed_api.api.workspaces import sign_parts
    from lakebed_api.models import PartUrlList, PartUrlRequest

    body = PartUrlRequest(
        physical_address=target.physical_address, upload_id=target.upload_id, parts=[int(part) for part in parts]
    )

    def urls(found: PartUrlList) -> tuple[PartUrl, ...]:
        return tuple(
            PartUrl(
                part=convert.number(one.part),
                method=convert.text(one.method),
                url=convert.text(one.url),
                headers=convert.mapping(one.headers),
                expires=convert.moment(one.expires),
            )
            for one in found.results
        )

    return call(
        "signParts",
        sign_parts._get_kwargs(repository, workspace, body=body),
        reads(PartUrlList.from_dict, urls),
        Subject(repository, workspace, path),
        repeat="safe",
    )


def complete_parts(
    repository: str, workspace: str, path: str, target: PartTarget, size: int, etags: Sequence[str]
) -> Call[str]:
    """Join the parts with these ETags into one object. Returns its ETag. A repeat has no effect."""
    from lakebed_api.api.workspaces import complete_part_upload
    from lakebed_api.models import CompletedPartUpload, PartUploadCompletion, WrittenPart

    body = PartUploadCompletion(
        physical_address=target.physical_address,
        upload_id=target.upload_id,
        size_bytes=size,
        parts=[WrittenPart(part=number, etag=etag) for number, etag in enumerate(etags, 1)],
    )
    return call(
        "completePartUpload",
        complete_part_upload._get_kwargs(repository, workspace, body=body),
        reads(CompletedPartUpload.from_dict, lambda found: convert.text(found.etag)),
        Subject(repository, workspace, path),
        repeat="safe",
        slow=True,
    )


def abort_parts(repository: str, workspace: str, path: str, target: PartTarget) -> Call[None]:
    """Cancel a multipart upload."""
    from lakebed_api.api.workspaces import abort_part_upload
    from lakebed_api.models import PartUpload

    body = PartUpload(physical_address=target.physical_address, upload_id=target.upload_id)
    return call(
        "abortPartUpload",
        abort_part_upload._get_kwargs(repository, workspace, body=body),
        calls.nothing,
        Subject(repository, workspace, path),
        success=204,
        repeat="safe",
    )


def commit(
    repository: str,
    workspace: str,
    *,
    message: str,
    metadata: Mapping[str, str],
    policy: str,
    globs: Sequence[str],
    replace_prefix: Sequence[str],
    idempotency_key: str,
    allow_empty: bool,
    date: int | None,
    relocate: bool = False,
    author: str = "",
) -> Call[Commit]:
    """Commit a workspace or a part of it. Sent again with the same key, it returns the first commit."""
    from lakebed_api.api.workspaces import commit_workspace
    from lakebed_api.models import Commit as WireCommit
    from lakebed_api.models import CommitPolicy, WorkspaceCommit, WorkspaceCommitMetadata

    body = WorkspaceCommit(
        policy=CommitPolicy(policy),
        metadata=WorkspaceCommitMetadata.from_dict(metadata),
        idempotency_key=idempotency_key,
        allow_empty=allow_empty,
        relocate=relocate,
        **clean(message=message, paths=list(globs), replace_prefix=list(replace_prefix), date=date, author=author),
    )
    return call(
        "commitWorkspace",
        commit_workspace._get_kwargs(repository, workspace, body=body, conflicts_amount=CONFLICTS_LISTED),
        reads(WireCommit.from_dict, convert.commit),
        Subject(repository, workspace),
        success=201,
        slow=True,
    )


def revert(repository: str, workspace: str, globs: Sequence[str]) -> Call[None]:
    """Undo all changes, or the changes of paths that match globs.

    Not repeated after a lost response: it would also undo changes made after the first call.
    """
    from lakebed_api.api.workspaces import revert_workspace
    from lakebed_api.models import WorkspaceRevert

    kwargs = revert_workspace._get_kwargs(repository, workspace, body=WorkspaceRevert(**clean(paths=list(globs))))
    return call("revertWorkspace", kwargs, calls.nothing, Subject(repository, workspace), success=204, slow=True)


def pop(repository: str, workspace: str, branch: str) -> Call[None]:
    """Move the changes to the uncommitted changes of a branch, and close the workspace."""
    from lakebed_api.api.workspaces import pop_workspace
    from lakebed_api.models import WorkspacePop

    kwargs = pop_workspace._get_kwargs(repository, workspace, body=WorkspacePop(**clean(branch=branch)))
    return call("popWorkspace", kwargs, calls.nothing, Subject(repository, workspace), success=204, slow=True)


def stash(repository: str, branch: str, *, message: str, expires_in: int | None) -> Call[WorkspaceInfo]:
    """Move the uncommitted changes of a branch into a new workspace."""
    from lakebed_api.api.workspaces import stash_branch
    from lakebed_api.models import StashCreation, Workspace

    body = StashCreation(**clean(message=message, expires_in=expires_in))
    return call(
        "stashBranch",
        stash_branch._get_kwargs(repository, branch, body=body),
        reads(Workspace.from_dict, convert.workspace),
        Subject(repository, branch),
        success=201,
        slow=True,
    )
