# generated from openapi.yaml by `make generate` - do not edit
"""The operations of the API, their parameters and the kinds of error, for the server to bind requests.

Made from openapi.yaml, beside `models`. It holds no behaviour.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Final, Literal

from msgspec import UNSET, Meta, Struct, UnsetType, field

from . import models


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter as it is named and written on the wire."""

    name: str
    place: Literal["path", "query", "header"]
    is_array: bool
    is_bool: bool
    is_time: bool


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation. `path` stands below `API_PREFIX`; `body` is the type of a JSON body, None without one.

    `binary` operations move object bytes; `security` says whether credentials are needed; `success` is the lowest
    2xx status.
    """

    operation_id: str
    method: str
    path: str
    params: type[Struct]
    parameters: tuple[Parameter, ...]
    body: Any
    body_required: bool
    media_types: tuple[str, ...]
    binary: bool
    security: bool
    success: int
    tag: str
    summary: str


API_PREFIX: Final = "/api/v1"


SPEC_DIGEST: Final = "d6a5c24a7b7f34f3d9ad9037fe27524e975cb0087c1011e9256d6dfcf8dbaae8"


ERROR_KINDS: Final[dict[str, int]] = {
    "invalid_request": 400,
    "invalid_name": 400,
    "invalid_path": 400,
    "invalid_ref": 400,
    "invalid_namespace": 400,
    "namespace_in_use": 400,
    "request_too_large": 400,
    "dirty_branch": 400,
    "no_changes": 400,
    "no_merge_base": 400,
    "invalid_address": 400,
    "checksum_mismatch": 400,
    "unauthenticated": 401,
    "permission_denied": 403,
    "protected_branch": 403,
    "read_only_repository": 403,
    "default_branch": 403,
    "endpoint_not_found": 404,
    "repository_not_found": 404,
    "branch_not_found": 404,
    "tag_not_found": 404,
    "commit_not_found": 404,
    "ref_not_found": 404,
    "object_not_found": 404,
    "workspace_not_found": 404,
    "method_not_allowed": 405,
    "repository_exists": 409,
    "branch_exists": 409,
    "tag_exists": 409,
    "name_taken": 409,
    "merge_conflict": 409,
    "concurrent_commit": 409,
    "dirty_overlap": 409,
    "workspace_closed": 409,
    "object_gone": 410,
    "precondition_failed": 412,
    "invalid_range": 416,
    "too_many_attempts": 429,
    "throttled": 429,
    "internal": 500,
    "corrupt_data": 500,
    "outcome_unknown": 500,
    "not_implemented": 501,
    "store_unavailable": 503,
    "store_full": 507,
}


class HealthCheckParams(Struct, kw_only=True):
    """Parameters of healthCheck."""


class GetConfigParams(Struct, kw_only=True):
    """Parameters of getConfig."""


class GetLakeFSVersionParams(Struct, kw_only=True):
    """Parameters of getLakeFSVersion."""


class GetSetupStateParams(Struct, kw_only=True):
    """Parameters of getSetupState."""


class LoginParams(Struct, kw_only=True):
    """Parameters of login."""


class GetCurrentUserParams(Struct, kw_only=True):
    """Parameters of getCurrentUser."""


class ListRepositoriesParams(Struct, kw_only=True):
    """Parameters of listRepositories."""

    prefix: str | UnsetType = UNSET
    after: str | UnsetType = UNSET
    amount: Annotated[int, Meta(ge=-1, le=1000)] | UnsetType = UNSET
    search: str | UnsetType = UNSET


class CreateRepositoryParams(Struct, kw_only=True):
    """Parameters of createRepository."""

    bare: bool | UnsetType = UNSET


class GetRepositoryParams(Struct, kw_only=True):
    """Parameters of getRepository."""

    repository: Annotated[str, Meta(min_length=1)]


class DeleteRepositoryParams(Struct, kw_only=True):
    """Parameters of deleteRepository."""

    repository: Annotated[str, Meta(min_length=1)]
    force: bool | UnsetType = UNSET


class GetRepositoryMetadataParams(Struct, kw_only=True):
    """Parameters of getRepositoryMetadata."""

    repository: Annotated[str, Meta(min_length=1)]


class SetRepositoryMetadataParams(Struct, kw_only=True):
    """Parameters of setRepositoryMetadata."""

    repository: Annotated[str, Meta(min_length=1)]


class DeleteRepositoryMetadataParams(Struct, kw_only=True):
    """Parameters of deleteRepositoryMetadata."""

    repository: Annotated[str, Meta(min_length=1)]


class ListBranchesParams(Struct, kw_only=True):
    """Parameters of listBranches."""

    repository: Annotated[str, Meta(min_length=1)]
    prefix: str | UnsetType = UNSET
    after: str | UnsetType = UNSET
    amount: Annotated[int, Meta(ge=-1, le=1000)] | UnsetType = UNSET
    show_hidden: bool | UnsetType = UNSET


class CreateBranchParams(Struct, kw_only=True):
    """Parameters of createBranch."""

    repository: Annotated[str, Meta(min_length=1)]


class GetBranchParams(Struct, kw_only=True):
    """Parameters of getBranch."""

    repository: Annotated[str, Meta(min_length=1)]
    branch: Annotated[str, Meta(min_length=1)]


class ResetBranchParams(Struct, kw_only=True):
    """Parameters of resetBranch."""

    repository: Annotated[str, Meta(min_length=1)]
    branch: Annotated[str, Meta(min_length=1)]


class DeleteBranchParams(Struct, kw_only=True):
    """Parameters of deleteBranch."""

    repository: Annotated[str, Meta(min_length=1)]
    branch: Annotated[str, Meta(min_length=1)]
    force: bool | UnsetType = UNSET


class ListTagsParams(Struct, kw_only=True):
    """Parameters of listTags."""

    repository: Annotated[str, Meta(min_length=1)]
    prefix: str | UnsetType = UNSET
    after: str | UnsetType = UNSET
    amount: Annotated[int, Meta(ge=-1, le=1000)] | UnsetType = UNSET


class CreateTagParams(Struct, kw_only=True):
    """Parameters of createTag."""

    repository: Annotated[str, Meta(min_length=1)]


class GetTagParams(Struct, kw_only=True):
    """Parameters of getTag."""

    repository: Annotated[str, Meta(min_length=1)]
    tag: Annotated[str, Meta(min_length=1)]


class DeleteTagParams(Struct, kw_only=True):
    """Parameters of deleteTag."""

    repository: Annotated[str, Meta(min_length=1)]
    tag: Annotated[str, Meta(min_length=1)]
    force: bool | UnsetType = UNSET


class CommitParams(Struct, kw_only=True):
    """Parameters of commit."""

    repository: Annotated[str, Meta(min_length=1)]
    branch: Annotated[str, Meta(min_length=1)]
    source_metarange: str | UnsetType = UNSET


class GetCommitParams(Struct, kw_only=True):
    """Parameters of getCommit."""

    repository: Annotated[str, Meta(min_length=1)]
    commit_id: Annotated[str, Meta(min_length=1)] = field(name="commitId")


class LogCommitsParams(Struct, kw_only=True):
    """Parameters of logCommits."""

    repository: Annotated[str, Meta(min_length=1)]
    ref: Annotated[str, Meta(min_length=1)]
    after: str | UnsetType = UNSET
    amount: Annotated[int, Meta(ge=-1, le=1000)] | UnsetType = UNSET
    objects: list[str] = field(default_factory=list)
    prefixes: list[str] = field(default_factory=list)
    limit: bool | UnsetType = UNSET
    first_parent: bool | UnsetType = UNSET
    since: datetime | UnsetType = UNSET
    stop_at: str | UnsetType = UNSET


class FindMergeBaseParams(Struct, kw_only=True):
    """Parameters of findMergeBase."""

    repository: Annotated[str, Meta(min_length=1)]
    source_ref: Annotated[str, Meta(min_length=1)] = field(name="sourceRef")
    destination_branch: Annotated[str, Meta(min_length=1)] = field(name="destinationBranch")


class MergeIntoBranchParams(Struct, kw_only=True):
    """Parameters of mergeIntoBranch."""

    repository: Annotated[str, Meta(min_length=1)]
    source_ref: Annotated[str, Meta(min_length=1)] = field(name="sourceRef")
    destination_branch: Annotated[str, Meta(min_length=1)] = field(name="destinationBranch")
    conflicts_after: str | UnsetType = UNSET
    conflicts_amount: Annotated[int, Meta(ge=0, le=1000)] | UnsetType = UNSET


class DiffBranchParams(Struct, kw_only=True):
    """Parameters of diffBranch."""

    repository: Annotated[str, Meta(min_length=1)]
    branch: Annotated[str, Meta(min_length=1)]
    after: str | UnsetType = UNSET
    amount: Annotated[int, Meta(ge=-1, le=1000)] | UnsetType = UNSET
    prefix: str | UnsetType = UNSET
    delimiter: str | UnsetType = UNSET


class DiffRefsParams(Struct, kw_only=True):
    """Parameters of diffRefs."""

    repository: Annotated[str, Meta(min_length=1)]
    left_ref: Annotated[str, Meta(min_length=1)] = field(name="leftRef")
    right_ref: Annotated[str, Meta(min_length=1)] = field(name="rightRef")
    after: str | UnsetType = UNSET
    amount: Annotated[int, Meta(ge=-1, le=1000)] | UnsetType = UNSET
    prefix: str | UnsetType = UNSET
    delimiter: str | UnsetType = UNSET
    type: Literal["two_dot", "three_dot"] | UnsetType = UNSET
    include_right_stats: bool | UnsetType = UNSET


class GetObjectParams(Struct, kw_only=True):
    """Parameters of getObject."""

    repository: Annotated[str, Meta(min_length=1)]
    ref: Annotated[str, Meta(min_length=1)]
    path: Annotated[str, Meta(min_length=1)]
    range: str | UnsetType = field(default=UNSET, name="Range")
    may_presign: bool | UnsetType = UNSET
    if_none_match: str | UnsetType = field(default=UNSET, name="If-None-Match")
    presign: bool | UnsetType = UNSET


class HeadObjectParams(Struct, kw_only=True):
    """Parameters of headObject."""

    repository: Annotated[str, Meta(min_length=1)]
    ref: Annotated[str, Meta(min_length=1)]
    path: Annotated[str, Meta(min_length=1)]
    range: str | UnsetType = field(default=UNSET, name="Range")


class StatObjectParams(Struct, kw_only=True):
    """Parameters of statObject."""

    repository: Annotated[str, Meta(min_length=1)]
    ref: Annotated[str, Meta(min_length=1)]
    path: Annotated[str, Meta(min_length=1)]
    user_metadata: bool | UnsetType = UNSET
    presign: bool | UnsetType = UNSET


class ListObjectsParams(Struct, kw_only=True):
    """Parameters of listObjects."""

    repository: Annotated[str, Meta(min_length=1)]
    ref: Annotated[str, Meta(min_length=1)]
    user_metadata: bool | UnsetType = UNSET
    presign: bool | UnsetType = UNSET
    may_presign: bool | UnsetType = UNSET
    after: str | UnsetType = UNSET
    amount: Annotated[int, Meta(ge=-1, le=1000)] | UnsetType = UNSET
    delimiter: str | UnsetType = UNSET
    prefix: str | UnsetType = UNSET


class UploadObjectParams(Struct, kw_only=True):
    """Parameters of uploadObject."""

    repository: Annotated[str, Meta(min_length=1)]
    branch: Annotated[str, Meta(min_length=1)]
    path: Annotated[str, Meta(min_length=1)]
    if_none_match: str | UnsetType = field(default=UNSET, name="If-None-Match")
    if_match: str | UnsetType = field(default=UNSET, name="If-Match")
    storage_class: str | UnsetType = field(default=UNSET, name="storageClass")
    force: bool | UnsetType = UNSET


class DeleteObjectParams(Struct, kw_only=True):
    """Parameters of deleteObject."""

    repository: Annotated[str, Meta(min_length=1)]
    branch: Annotated[str, Meta(min_length=1)]
    path: Annotated[str, Meta(min_length=1)]
    if_match: str | UnsetType = field(default=UNSET, name="If-Match")
    force: bool | UnsetType = UNSET
    no_tombstone: bool | UnsetType = UNSET


class UploadObjectsParams(Struct, kw_only=True):
    """Parameters of uploadObjects."""

    repository: Annotated[str, Meta(min_length=1)]
    branch: Annotated[str, Meta(min_length=1)]
    force: bool | UnsetType = UNSET


class DeleteObjectsParams(Struct, kw_only=True):
    """Parameters of deleteObjects."""

    repository: Annotated[str, Meta(min_length=1)]
    branch: Annotated[str, Meta(min_length=1)]
    force: bool | UnsetType = UNSET
    no_tombstone: bool | UnsetType = UNSET


class CopyObjectParams(Struct, kw_only=True):
    """Parameters of copyObject."""

    repository: Annotated[str, Meta(min_length=1)]
    branch: Annotated[str, Meta(min_length=1)]
    dest_path: Annotated[str, Meta(min_length=1)]


class ListWorkspacesParams(Struct, kw_only=True):
    """Parameters of listWorkspaces."""

    repository: Annotated[str, Meta(min_length=1)]
    after: str | UnsetType = UNSET
    amount: Annotated[int, Meta(ge=-1, le=1000)] | UnsetType = UNSET
    state: str | UnsetType = UNSET
    branch: str | UnsetType = UNSET


class CreateWorkspaceParams(Struct, kw_only=True):
    """Parameters of createWorkspace."""

    repository: Annotated[str, Meta(min_length=1)]


class GetWorkspaceParams(Struct, kw_only=True):
    """Parameters of getWorkspace."""

    repository: Annotated[str, Meta(min_length=1)]
    workspace: Annotated[str, Meta(min_length=1)]


class DropWorkspaceParams(Struct, kw_only=True):
    """Parameters of dropWorkspace."""

    repository: Annotated[str, Meta(min_length=1)]
    workspace: Annotated[str, Meta(min_length=1)]
    force: bool | UnsetType = UNSET


class RenewWorkspaceParams(Struct, kw_only=True):
    """Parameters of renewWorkspace."""

    repository: Annotated[str, Meta(min_length=1)]
    workspace: Annotated[str, Meta(min_length=1)]


class RegisterObjectsParams(Struct, kw_only=True):
    """Parameters of registerObjects."""

    repository: Annotated[str, Meta(min_length=1)]
    workspace: Annotated[str, Meta(min_length=1)]
    force: bool | UnsetType = UNSET


class PushLayerParams(Struct, kw_only=True):
    """Parameters of pushLayer."""

    repository: Annotated[str, Meta(min_length=1)]
    workspace: Annotated[str, Meta(min_length=1)]
    force: bool | UnsetType = UNSET


class ScanWorkspaceParams(Struct, kw_only=True):
    """Parameters of scanWorkspace."""

    repository: Annotated[str, Meta(min_length=1)]
    workspace: Annotated[str, Meta(min_length=1)]
    force: bool | UnsetType = UNSET


class CreateUploadUrlsParams(Struct, kw_only=True):
    """Parameters of createUploadUrls."""

    repository: Annotated[str, Meta(min_length=1)]
    workspace: Annotated[str, Meta(min_length=1)]


class CreatePartUploadParams(Struct, kw_only=True):
    """Parameters of createPartUpload."""

    repository: Annotated[str, Meta(min_length=1)]
    workspace: Annotated[str, Meta(min_length=1)]


class SignPartsParams(Struct, kw_only=True):
    """Parameters of signParts."""

    repository: Annotated[str, Meta(min_length=1)]
    workspace: Annotated[str, Meta(min_length=1)]


class CompletePartUploadParams(Struct, kw_only=True):
    """Parameters of completePartUpload."""

    repository: Annotated[str, Meta(min_length=1)]
    workspace: Annotated[str, Meta(min_length=1)]


class AbortPartUploadParams(Struct, kw_only=True):
    """Parameters of abortPartUpload."""

    repository: Annotated[str, Meta(min_length=1)]
    workspace: Annotated[str, Meta(min_length=1)]


class CommitWorkspaceParams(Struct, kw_only=True):
    """Parameters of commitWorkspace."""

    repository: Annotated[str, Meta(min_length=1)]
    workspace: Annotated[str, Meta(min_length=1)]
    conflicts_amount: Annotated[int, Meta(ge=1, le=1000)] | UnsetType = UNSET


class RevertWorkspaceParams(Struct, kw_only=True):
    """Parameters of revertWorkspace."""

    repository: Annotated[str, Meta(min_length=1)]
    workspace: Annotated[str, Meta(min_length=1)]
    force: bool | UnsetType = UNSET


class PopWorkspaceParams(Struct, kw_only=True):
    """Parameters of popWorkspace."""

    repository: Annotated[str, Meta(min_length=1)]
    workspace: Annotated[str, Meta(min_length=1)]
    force: bool | UnsetType = UNSET


class StashBranchParams(Struct, kw_only=True):
    """Parameters of stashBranch."""

    repository: Annotated[str, Meta(min_length=1)]
    branch: Annotated[str, Meta(min_length=1)]


class IngestObjectsParams(Struct, kw_only=True):
    """Parameters of ingestObjects."""

    repository: Annotated[str, Meta(min_length=1)]
    workspace: Annotated[str, Meta(min_length=1)]


class DiffIngestParams(Struct, kw_only=True):
    """Parameters of diffIngest."""

    repository: Annotated[str, Meta(min_length=1)]
    ref: Annotated[str, Meta(min_length=1)]


OPERATIONS: Final[tuple[Operation, ...]] = (
    Operation(
        operation_id="healthCheck",
        method="GET",
        path="/healthcheck",
        params=HealthCheckParams,
        parameters=(),
        body=None,
        body_required=False,
        media_types=(),
        binary=False,
        security=False,
        success=204,
        tag="system",
        summary="Say that the server is up.",
    ),
    Operation(
        operation_id="getConfig",
        method="GET",
        path="/config",
        params=GetConfigParams,
        parameters=(),
        body=None,
        body_required=False,
        media_types=(),
        binary=False,
        security=True,
        success=200,
        tag="system",
        summary="Describe this installation.",
    ),
    Operation(
        operation_id="getLakeFSVersion",
        method="GET",
        path="/config/version",
        params=GetLakeFSVersionParams,
        parameters=(),
        body=None,
        body_required=False,
        media_types=(),
        binary=False,
        security=True,
        success=200,
        tag="system",
        summary="Give the version of the server.",
    ),
    Operation(
        operation_id="getSetupState",
        method="GET",
        path="/setup_lakefs",
        params=GetSetupStateParams,
        parameters=(),
        body=None,
        body_required=False,
        media_types=(),
        binary=False,
        security=False,
        success=200,
        tag="system",
        summary="Say whether the installation has been set up, and how to log in.",
    ),
    Operation(
        operation_id="login",
        method="POST",
        path="/auth/login",
        params=LoginParams,
        parameters=(),
        body=models.LoginInformation,
        body_required=False,
        media_types=("application/json",),
        binary=False,
        security=False,
        success=200,
        tag="auth",
        summary="Exchange an access key for a token.",
    ),
    Operation(
        operation_id="getCurrentUser",
        method="GET",
        path="/user",
        params=GetCurrentUserParams,
        parameters=(),
        body=None,
        body_required=False,
        media_types=(),
        binary=False,
        security=True,
        success=200,
        tag="auth",
        summary="Describe the calling user.",
    ),
    Operation(
        operation_id="listRepositories",
        method="GET",
        path="/repositories",
        params=ListRepositoriesParams,
        parameters=(
            Parameter("prefix", "query", False, False, False),
            Parameter("after", "query", False, False, False),
            Parameter("amount", "query", False, False, False),
            Parameter("search", "query", False, False, False),
        ),
        body=None,
        body_required=False,
        media_types=(),
        binary=False,
        security=True,
        success=200,
        tag="repositories",
        summary="List repositories in the order of their names.",
    ),
    Operation(
        operation_id="createRepository",
        method="POST",
        path="/repositories",
        params=CreateRepositoryParams,
        parameters=(Parameter("bare", "query", False, True, False),),
        body=models.RepositoryCreation,
        body_required=True,
        media_types=("application/json",),
        binary=False,
        security=True,
        success=201,
        tag="repositories",
        summary="Create a repository.",
    ),
    Operation(
        operation_id="getRepository",
        method="GET",
        path="/repositories/{repository}",
        params=GetRepositoryParams,
        parameters=(Parameter("repository", "path", False, False, False),),
        body=None,
        body_required=False,
        media_types=(),
        binary=False,
        security=True,
        success=200,
        tag="repositories",
        summary="Describe one repository.",
    ),
    Operation(
        operation_id="deleteRepository",
        method="DELETE",
        path="/repositories/{repository}",
        params=DeleteRepositoryParams,
        parameters=(
            Parameter("repository", "path", False, False, False),
            Parameter("force", "query", False, True, False),
        ),
        body=None,
        body_required=False,
        media_types=(),
        binary=False,
        security=True,
        success=204,
        tag="repositories",
        summary="Delete a repository.",
    ),
    Operation(
        operation_id="getRepositoryMetadata",
        method="GET",
        path="/repositories/{repository}/metadata",
        params=GetRepositoryMetadataParams,
        parameters=(Parameter("repository", "path", False, False, False),),
        body=None,
        body_required=False,
        media_types=(),
        binary=False,
        security=True,
        success=200,
        tag="repositories",
        summary="Read the metadata of a repository.",
    ),
    Operation(
        operation_id="setRepositoryMetadata",
        method="POST",
        path="/repositories/{repository}/metadata",
        params=SetRepositoryMetadataParams,
        parameters=(Parameter("repository", "path", False, False, False),),
        body=models.RepositoryMetadataSet,
        body_required=True,
        media_types=("application/json",),
        binary=False,
        security=True,
        success=204,
        tag="repositories",
        summary="Set some keys of the metadata of a repository.",
    ),
    Operation(
        operation_id="deleteRepositoryMetadata",
        method="DELETE",
        path="/repositories/{repository}/metadata",
        params=DeleteRepositoryMetadataParams,
        parameters=(Parameter("repository", "path", False, False, False),),
        body=models.RepositoryMetadataKeys,
        body_required=True,
        media_types=("application/json",),
        binary=False,
        security=True,
        success=204,
        tag="repositories",
        summary="Remove some keys of the metadata of a repository.",
    ),
    Operation(
        operation_id="listBranches",
        method="GET",
        path="/repositories/{repository}/branches",
        params=ListBranchesParams,
        parameters=(
            Parameter("repository", "path", False, False, False),
            Parameter("prefix", "query", False, False, False),
            Parameter("after", "query", False, False, False),
            Parameter("amount", "query", False, False, False),
            Parameter("show_hidden", "query", False, True, False),
        ),
        body=None,
        body_required=False,
        media_types=(),
        binary=False,
        security=True,
        success=200,
        tag="branches",
        summary="List branches in the order of their names.",
    ),
    Operation(
        operation_id="createBranch",
        method="POST",
        path="/repositories/{repository}/branches",
        params=CreateBranchParams,
        parameters=(Parameter("repository", "path", False, False, False),),
        body=models.BranchCreation,
        body_required=True,
        media_types=("application/json",),
        binary=False,
        security=True,
        success=201,
        tag="branches",
        summary="Create a branch at a reference.",
    ),
    Operation(
        operation_id="getBranch",
        method="GET",
        path="/repositories/{repository}/branches/{branch}",
        params=GetBranchParams,
        parameters=(
            Parameter("repository", "path", False, False, False),
            Parameter("branch", "path", False, False, False),
        ),
        body=None,
        body_required=False,
        media_types=(),
        binary=False,
        security=True,
        success=200,
        tag="branches",
        summary="Describe one branch.",
    ),
    Operation(
        operation_id="resetBranch",
        method="PUT",
        path="/repositories/{repository}/branches/{branch}",
        params=ResetBranchParams,
        parameters=(
            Parameter("repository", "path", False, False, False),
            Parameter("branch", "path", False, False, False),
        ),
        body=models.ResetCreation,
        body_required=True,
        media_types=("application/json",),
        binary=False,
        security=True,
        success=204,
        tag="branches",
        summary="Drop uncommitted changes of a branch.",
    ),
    Operation(
        operation_id="deleteBranch",
        method="DELETE",
        path="/repositories/{repository}/branches/{branch}",
        params=DeleteBranchParams,
        parameters=(
            Parameter("repository", "path", False, False, False),
            Parameter("branch", "path", False, False, False),
            Parameter("force", "query", False, True, False),
        ),
        body=None,
        body_required=False,
        media_types=(),
        binary=False,
        security=True,
        success=204,
        tag="branches",
        summary="Delete a branch, with its uncommitted changes.",
    ),
    Operation(
        operation_id="listTags",
        method="GET",
        path="/repositories/{repository}/tags",
        params=ListTagsParams,
        parameters=(
            Parameter("repository", "path", False, False, False),
            Parameter("prefix", "query", False, False, False),
            Parameter("after", "query", False, False, False),
            Parameter("amount", "query", False, False, False),
        ),
        body=None,
        body_required=False,
        media_types=(),
        binary=False,
        security=True,
        success=200,
        tag="tags",
        summary="List tags in the order of their names.",
    ),
    Operation(
        operation_id="createTag",
        method="POST",
        path="/repositories/{repository}/tags",
        params=CreateTagParams,
        parameters=(Parameter("repository", "path", False, False, False),),
        body=models.TagCreation,
        body_required=True,
        media_types=("application/json",),
        binary=False,
        security=True,
        success=201,
        tag="tags",
        summary="Create a tag at a reference.",
    ),
    Operation(
        operation_id="getTag",
        method="GET",
        path="/repositories/{repository}/tags/{tag}",
        params=GetTagParams,
        parameters=(
            Parameter("repository", "path", False, False, False),
            Parameter("tag", "path", False, False, False),
        ),
        body=None,
        body_required=False,
        media_types=(),
        binary=False,
        security=True,
        success=200,
        tag="tags",
        summary="Describe one tag.",
    ),
    Operation(
        operation_id="deleteTag",
        method="DELETE",
        path="/repositories/{repository}/tags/{tag}",
        params=DeleteTagParams,
        parameters=(
            Parameter("repository", "path", False, False, False),
            Parameter("tag", "path", False, False, False),
            Parameter("force", "query", False, True, False),
        ),
        body=None,
        body_required=False,
        media_types=(),
        binary=False,
        security=True,
        success=204,
        tag="tags",
        summary="Delete a tag.",
    ),
    Operation(
        operation_id="commit",
        method="POST",
        path="/repositories/{repository}/branches/{branch}/commits",
        params=CommitParams,
        parameters=(
            Parameter("repository", "path", False, False, False),
            Parameter("branch", "path", False, False, False),
            Parameter("source_metarange", "query", False, False, False),
        ),
        body=models.CommitCreation,
        body_required=True,
        media_types=("application/json",),
        binary=False,
        security=True,
        success=201,
        tag="commits",
        summary="Commit the uncommitted changes of a branch.",
    ),
    Operation(
        operation_id="getCommit",
        method="GET",
        path="/repositories/{repository}/commits/{commitId}",
        params=GetCommitParams,
        parameters=(
            Parameter("repository", "path", False, False, False),
            Parameter("commitId", "path", False, False, False),
        ),
        body=None,
        body_required=False,
        media_types=(),
        binary=False,
        security=True,
        success=200,
        tag="commits",
        summary="Describe one commit.",
    ),
    Operation(
        operation_id="logCommits",
        method="GET",
        path="/repositories/{repository}/refs/{ref}/commits",
        params=LogCommitsParams,
        parameters=(
            Parameter("repository", "path", False, False, False),
            Parameter("ref", "path", False, False, False),
            Parameter("after", "query", False, False, False),
            Parameter("amount", "query", False, False, False),
            Parameter("objects", "query", True, False, False),
            Parameter("prefixes", "query", True, False, False),
            Parameter("limit", "query", False, True, False),
            Parameter("first_parent", "query", False, True, False),
            Parameter("since", "query", False, False, True),
            Parameter("stop_at", "query", False, False, False),
        ),
        body=None,
        body_required=False,
        media_types=(),
        binary=False,
        security=True,
        success=200,
        tag="commits",
        summary="List the history behind a reference.",
    ),
    Operation(
        operation_id="findMergeBase",
        method="GET",
        path="/repositories/{repository}/refs/{sourceRef}/merge/{destinationBranch}",
        params=FindMergeBaseParams,
        parameters=(
            Parameter("repository", "path", False, False, False),
            Parameter("sourceRef", "path", False, False, False),
            Parameter("destinationBranch", "path", False, False, False),
        ),
        body=None,
        body_required=False,
        media_types=(),
        binary=False,
        security=True,
        success=200,
        tag="merges",
        summary="Find the commit that two references have in common.",
    ),
    Operation(
        operation_id="mergeIntoBranch",
        method="POST",
        path="/repositories/{repository}/refs/{sourceRef}/merge/{destinationBranch}",
        params=MergeIntoBranchParams,
        parameters=(
            Parameter("repository", "path", False, False, False),
            Parameter("sourceRef", "path", False, False, False),
            Parameter("destinationBranch", "path", False, False, False),
            Parameter("conflicts_after", "query", False, False, False),
            Parameter("conflicts_amount", "query", False, False, False),
        ),
        body=models.Merge,
        body_required=False,
        media_types=("application/json",),
        binary=False,
        security=True,
        success=200,
        tag="merges",
        summary="Merge a reference into a branch.",
    ),
    Operation(
        operation_id="diffBranch",
        method="GET",
        path="/repositories/{repository}/branches/{branch}/diff",
        params=DiffBranchParams,
        parameters=(
            Parameter("repository", "path", False, False, False),
            Parameter("branch", "path", False, False, False),
            Parameter("after", "query", False, False, False),
            Parameter("amount", "query", False, False, False),
            Parameter("prefix", "query", False, False, False),
            Parameter("delimiter", "query", False, False, False),
        ),
        body=None,
        body_required=False,
        media_types=(),
        binary=False,
        security=True,
        success=200,
        tag="diffs",
        summary="List the uncommitted changes of a branch.",
    ),
    Operation(
        operation_id="diffRefs",
        method="GET",
        path="/repositories/{repository}/refs/{leftRef}/diff/{rightRef}",
        params=DiffRefsParams,
        parameters=(
            Parameter("repository", "path", False, False, False),
            Parameter("leftRef", "path", False, False, False),
            Parameter("rightRef", "path", False, False, False),
            Parameter("after", "query", False, False, False),
            Parameter("amount", "query", False, False, False),
            Parameter("prefix", "query", False, False, False),
            Parameter("delimiter", "query", False, False, False),
            Parameter("type", "query", False, False, False),
            Parameter("include_right_stats", "query", False, True, False),
        ),
        body=None,
        body_required=False,
        media_types=(),
        binary=False,
        security=True,
        success=200,
        tag="diffs",
        summary="List what differs between two references.",
    ),
    Operation(
        operation_id="getObject",
        method="GET",
        path="/repositories/{repository}/refs/{ref}/objects",
        params=GetObjectParams,
        parameters=(
            Parameter("repository", "path", False, False, False),
            Parameter("ref", "path", False, False, False),
            Parameter("path", "query", False, False, False),
            Parameter("Range", "header", False, False, False),
            Parameter("may_presign", "query", False, True, False),
            Parameter("If-None-Match", "header", False, False, False),
            Parameter("presign", "query", False, True, False),
        ),
        body=None,
        body_required=False,
        media_types=(),
        binary=True,
        security=True,
        success=200,
        tag="objects",
        summary="Read the content of an object.",
    ),
    Operation(
        operation_id="headObject",
        method="HEAD",
        path="/repositories/{repository}/refs/{ref}/objects",
        params=HeadObjectParams,
        parameters=(
            Parameter("repository", "path", False, False, False),
            Parameter("ref", "path", False, False, False),
            Parameter("path", "query", False, False, False),
            Parameter("Range", "header", False, False, False),
        ),
        body=None,
        body_required=False,
        media_types=(),
        binary=True,
        security=True,
        success=200,
        tag="objects",
        summary="Read the headers of an object.",
    ),
    Operation(
        operation_id="statObject",
        method="GET",
        path="/repositories/{repository}/refs/{ref}/objects/stat",
        params=StatObjectParams,
        parameters=(
            Parameter("repository", "path", False, False, False),
            Parameter("ref", "path", False, False, False),
            Parameter("path", "query", False, False, False),
            Parameter("user_metadata", "query", False, True, False),
            Parameter("presign", "query", False, True, False),
        ),
        body=None,
        body_required=False,
        media_types=(),
        binary=False,
        security=True,
        success=200,
        tag="objects",
        summary="Describe one object.",
    ),
    Operation(
        operation_id="listObjects",
        method="GET",
        path="/repositories/{repository}/refs/{ref}/objects/ls",
        params=ListObjectsParams,
        parameters=(
            Parameter("repository", "path", False, False, False),
            Parameter("ref", "path", False, False, False),
            Parameter("user_metadata", "query", False, True, False),
            Parameter("presign", "query", False, True, False),
            Parameter("may_presign", "query", False, True, False),
            Parameter("after", "query", False, False, False),
            Parameter("amount", "query", False, False, False),
            Parameter("delimiter", "query", False, False, False),
            Parameter("prefix", "query", False, False, False),
        ),
        body=None,
        body_required=False,
        media_types=(),
        binary=False,
        security=True,
        success=200,
        tag="objects",
        summary="List objects in the order of their paths.",
    ),
    Operation(
        operation_id="uploadObject",
        method="POST",
        path="/repositories/{repository}/branches/{branch}/objects",
        params=UploadObjectParams,
        parameters=(
            Parameter("repository", "path", False, False, False),
            Parameter("branch", "path", False, False, False),
            Parameter("path", "query", False, False, False),
            Parameter("If-None-Match", "header", False, False, False),
            Parameter("If-Match", "header", False, False, False),
            Parameter("storageClass", "query", False, False, False),
            Parameter("force", "query", False, True, False),
        ),
        body=None,
        body_required=False,
        media_types=("multipart/form-data", "application/octet-stream"),
        binary=True,
        security=True,
        success=201,
        tag="objects",
        summary="Write an object.",
    ),
    Operation(
        operation_id="deleteObject",
        method="DELETE",
        path="/repositories/{repository}/branches/{branch}/objects",
        params=DeleteObjectParams,
        parameters=(
            Parameter("repository", "path", False, False, False),
            Parameter("branch", "path", False, False, False),
            Parameter("path", "query", False, False, False),
            Parameter("If-Match", "header", False, False, False),
            Parameter("force", "query", False, True, False),
            Parameter("no_tombstone", "query", False, True, False),
        ),
        body=None,
        body_required=False,
        media_types=(),
        binary=False,
        security=True,
        success=204,
        tag="objects",
        summary="Delete an object.",
    ),
    Operation(
        operation_id="uploadObjects",
        method="POST",
        path="/repositories/{repository}/branches/{branch}/objects/batch",
        params=UploadObjectsParams,
        parameters=(
            Parameter("repository", "path", False, False, False),
            Parameter("branch", "path", False, False, False),
            Parameter("force", "query", False, True, False),
        ),
        body=None,
        body_required=True,
        media_types=("multipart/form-data",),
        binary=True,
        security=True,
        success=201,
        tag="objects",
        summary="Write and delete several objects at once, all or nothing.",
    ),
    Operation(
        operation_id="deleteObjects",
        method="POST",
        path="/repositories/{repository}/branches/{branch}/objects/delete",
        params=DeleteObjectsParams,
        parameters=(
            Parameter("repository", "path", False, False, False),
            Parameter("branch", "path", False, False, False),
            Parameter("force", "query", False, True, False),
            Parameter("no_tombstone", "query", False, True, False),
        ),
        body=models.PathList,
        body_required=True,
        media_types=("application/json",),
        binary=False,
        security=True,
        success=200,
        tag="objects",
        summary="Delete up to 1000 objects.",
    ),
    Operation(
        operation_id="copyObject",
        method="POST",
        path="/repositories/{repository}/branches/{branch}/objects/copy",
        params=CopyObjectParams,
        parameters=(
            Parameter("repository", "path", False, False, False),
            Parameter("branch", "path", False, False, False),
            Parameter("dest_path", "query", False, False, False),
        ),
        body=models.ObjectCopyCreation,
        body_required=True,
        media_types=("application/json",),
        binary=False,
        security=True,
        success=201,
        tag="objects",
        summary="Copy an object to another path of a branch.",
    ),
    Operation(
        operation_id="listWorkspaces",
        method="GET",
        path="/repositories/{repository}/workspaces",
        params=ListWorkspacesParams,
        parameters=(
            Parameter("repository", "path", False, False, False),
            Parameter("after", "query", False, False, False),
            Parameter("amount", "query", False, False, False),
            Parameter("state", "query", False, False, False),
            Parameter("branch", "query", False, False, False),
        ),
        body=None,
        body_required=False,
        media_types=(),
        binary=False,
        security=True,
        success=200,
        tag="workspaces",
        summary="List workspaces in the order of their ids.",
    ),
    Operation(
        operation_id="createWorkspace",
        method="POST",
        path="/repositories/{repository}/workspaces",
        params=CreateWorkspaceParams,
        parameters=(Parameter("repository", "path", False, False, False),),
        body=models.WorkspaceCreation,
        body_required=True,
        media_types=("application/json",),
        binary=False,
        security=True,
        success=201,
        tag="workspaces",
        summary="Create a workspace on a branch or on a commit.",
    ),
    Operation(
        operation_id="getWorkspace",
        method="GET",
        path="/repositories/{repository}/workspaces/{workspace}",
        params=GetWorkspaceParams,
        parameters=(
            Parameter("repository", "path", False, False, False),
            Parameter("workspace", "path", False, False, False),
        ),
        body=None,
        body_required=False,
        media_types=(),
        binary=False,
        security=True,
        success=200,
        tag="workspaces",
        summary="Describe one workspace, open or closed.",
    ),
    Operation(
        operation_id="dropWorkspace",
        method="DELETE",
        path="/repositories/{repository}/workspaces/{workspace}",
        params=DropWorkspaceParams,
        parameters=(
            Parameter("repository", "path", False, False, False),
            Parameter("workspace", "path", False, False, False),
            Parameter("force", "query", False, True, False),
        ),
        body=None,
        body_required=False,
        media_types=(),
        binary=False,
        security=True,
        success=204,
        tag="workspaces",
        summary="Close a workspace without committing it.",
    ),
    Operation(
        operation_id="renewWorkspace",
        method="POST",
        path="/repositories/{repository}/workspaces/{workspace}/renew",
        params=RenewWorkspaceParams,
        parameters=(
            Parameter("repository", "path", False, False, False),
            Parameter("workspace", "path", False, False, False),
        ),
        body=models.WorkspaceRenewal,
        body_required=True,
        media_types=("application/json",),
        binary=False,
        security=True,
        success=200,
        tag="workspaces",
        summary="Let a workspace live longer.",
    ),
    Operation(
        operation_id="registerObjects",
        method="POST",
        path="/repositories/{repository}/workspaces/{workspace}/objects",
        params=RegisterObjectsParams,
        parameters=(
            Parameter("repository", "path", False, False, False),
            Parameter("workspace", "path", False, False, False),
            Parameter("force", "query", False, True, False),
        ),
        body=models.ObjectRegistration,
        body_required=True,
        media_types=("application/json",),
        binary=False,
        security=True,
        success=204,
        tag="workspaces",
        summary="Register objects that were written to the store, and deletions, all or nothing.",
    ),
    Operation(
        operation_id="pushLayer",
        method="POST",
        path="/repositories/{repository}/workspaces/{workspace}/layers",
        params=PushLayerParams,
        parameters=(
            Parameter("repository", "path", False, False, False),
            Parameter("workspace", "path", False, False, False),
            Parameter("force", "query", False, True, False),
        ),
        body=None,
        body_required=True,
        media_types=("application/octet-stream",),
        binary=True,
        security=True,
        success=201,
        tag="workspaces",
        summary="Register any number of objects and deletions from a Parquet file, all or nothing.",
    ),
    Operation(
        operation_id="scanWorkspace",
        method="POST",
        path="/repositories/{repository}/workspaces/{workspace}/scan",
        params=ScanWorkspaceParams,
        parameters=(
            Parameter("repository", "path", False, False, False),
            Parameter("workspace", "path", False, False, False),
            Parameter("force", "query", False, True, False),
        ),
        body=None,
        body_required=False,
        media_types=(),
        binary=False,
        security=True,
        success=200,
        tag="workspaces",
        summary="Register what other tools wrote below the prefix of a workspace.",
    ),
    Operation(
        operation_id="createUploadUrls",
        method="POST",
        path="/repositories/{repository}/workspaces/{workspace}/upload_urls",
        params=CreateUploadUrlsParams,
        parameters=(
            Parameter("repository", "path", False, False, False),
            Parameter("workspace", "path", False, False, False),
        ),
        body=models.UploadUrlRequest,
        body_required=True,
        media_types=("application/json",),
        binary=False,
        security=True,
        success=200,
        tag="workspaces",
        summary="Sign addresses at which objects can be written to the store directly.",
    ),
    Operation(
        operation_id="createPartUpload",
        method="POST",
        path="/repositories/{repository}/workspaces/{workspace}/part_uploads",
        params=CreatePartUploadParams,
        parameters=(
            Parameter("repository", "path", False, False, False),
            Parameter("workspace", "path", False, False, False),
        ),
        body=models.PartUploadCreation,
        body_required=True,
        media_types=("application/json",),
        binary=False,
        security=True,
        success=201,
        tag="workspaces",
        summary="Begin to write a large object to the store directly, in parts.",
    ),
    Operation(
        operation_id="signParts",
        method="POST",
        path="/repositories/{repository}/workspaces/{workspace}/part_uploads/sign",
        params=SignPartsParams,
        parameters=(
            Parameter("repository", "path", False, False, False),
            Parameter("workspace", "path", False, False, False),
        ),
        body=models.PartUrlRequest,
        body_required=True,
        media_types=("application/json",),
        binary=False,
        security=True,
        success=200,
        tag="workspaces",
        summary="Sign addresses at which parts of an object can be written.",
    ),
    Operation(
        operation_id="completePartUpload",
        method="POST",
        path="/repositories/{repository}/workspaces/{workspace}/part_uploads/complete",
        params=CompletePartUploadParams,
        parameters=(
            Parameter("repository", "path", False, False, False),
            Parameter("workspace", "path", False, False, False),
        ),
        body=models.PartUploadCompletion,
        body_required=True,
        media_types=("application/json",),
        binary=False,
        security=True,
        success=200,
        tag="workspaces",
        summary="Make the parts that were written one object.",
    ),
    Operation(
        operation_id="abortPartUpload",
        method="POST",
        path="/repositories/{repository}/workspaces/{workspace}/part_uploads/abort",
        params=AbortPartUploadParams,
        parameters=(
            Parameter("repository", "path", False, False, False),
            Parameter("workspace", "path", False, False, False),
        ),
        body=models.PartUpload,
        body_required=True,
        media_types=("application/json",),
        binary=False,
        security=True,
        success=204,
        tag="workspaces",
        summary="Give an upload in parts up, and free what its parts take.",
    ),
    Operation(
        operation_id="commitWorkspace",
        method="POST",
        path="/repositories/{repository}/workspaces/{workspace}/commit",
        params=CommitWorkspaceParams,
        parameters=(
            Parameter("repository", "path", False, False, False),
            Parameter("workspace", "path", False, False, False),
            Parameter("conflicts_amount", "query", False, False, False),
        ),
        body=models.WorkspaceCommit,
        body_required=True,
        media_types=("application/json",),
        binary=False,
        security=True,
        success=201,
        tag="workspaces",
        summary="Commit a workspace, or a part of it, to its branch.",
    ),
    Operation(
        operation_id="revertWorkspace",
        method="POST",
        path="/repositories/{repository}/workspaces/{workspace}/revert",
        params=RevertWorkspaceParams,
        parameters=(
            Parameter("repository", "path", False, False, False),
            Parameter("workspace", "path", False, False, False),
            Parameter("force", "query", False, True, False),
        ),
        body=models.WorkspaceRevert,
        body_required=False,
        media_types=("application/json",),
        binary=False,
        security=True,
        success=204,
        tag="workspaces",
        summary="Take back changes of a workspace.",
    ),
    Operation(
        operation_id="popWorkspace",
        method="POST",
        path="/repositories/{repository}/workspaces/{workspace}/pop",
        params=PopWorkspaceParams,
        parameters=(
            Parameter("repository", "path", False, False, False),
            Parameter("workspace", "path", False, False, False),
            Parameter("force", "query", False, True, False),
        ),
        body=models.WorkspacePop,
        body_required=False,
        media_types=("application/json",),
        binary=False,
        security=True,
        success=204,
        tag="workspaces",
        summary="Make the changes of a workspace uncommitted changes of a branch.",
    ),
    Operation(
        operation_id="stashBranch",
        method="POST",
        path="/repositories/{repository}/branches/{branch}/stash",
        params=StashBranchParams,
        parameters=(
            Parameter("repository", "path", False, False, False),
            Parameter("branch", "path", False, False, False),
        ),
        body=models.StashCreation,
        body_required=False,
        media_types=("application/json",),
        binary=False,
        security=True,
        success=201,
        tag="workspaces",
        summary="Move the uncommitted changes of a branch into a new workspace.",
    ),
    Operation(
        operation_id="ingestObjects",
        method="POST",
        path="/repositories/{repository}/workspaces/{workspace}/ingest",
        params=IngestObjectsParams,
        parameters=(
            Parameter("repository", "path", False, False, False),
            Parameter("workspace", "path", False, False, False),
        ),
        body=models.IngestRequest,
        body_required=True,
        media_types=("application/json",),
        binary=False,
        security=True,
        success=200,
        tag="workspaces",
        summary="Make objects that lie elsewhere part of a workspace, without copying them.",
    ),
    Operation(
        operation_id="diffIngest",
        method="POST",
        path="/repositories/{repository}/refs/{ref}/ingest",
        params=DiffIngestParams,
        parameters=(
            Parameter("repository", "path", False, False, False),
            Parameter("ref", "path", False, False, False),
        ),
        body=models.IngestRequest,
        body_required=True,
        media_types=("application/json",),
        binary=False,
        security=True,
        success=200,
        tag="diffs",
        summary="Show what an ingest would change.",
    ),
)
