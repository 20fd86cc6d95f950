# generated from openapi.yaml by `make generate` - do not edit
"""The operations of the API, their parameters and the kinds of error, for the server to bind requests.

Made from openapi.yaml, together with `models`. It holds no behaviour.
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
    """One operation. `path` is below `API_PREFIX`. `body` is the type of a JSON body, None without one.

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


SPEC_DIGEST: Final = "a47e819529b2730df8abc456024e41c8971cd568127cf0eb21428f82df4778a4"


ERROR_KINDS: Final[dict[str, int]] = {
    "invalid_request": 400,
    "invalid_name": 400,
    "invalid_path": 400,
    "invalid_ref": 400,
    "invalid_namespace": 400,
    "namespace_in_use": 400,
    "namespace_not_empty": 400,
    "request_too_large": 400,
    "dirty_branch": 400,
    "no_changes": 400,
    "no_merge_base": 400,
    "pull_closed": 400,
    "invalid_address": 400,
    "checksum_mismatch": 400,
    "invalid_part": 400,
    "invalid_part_order": 400,
    "part_too_small": 400,
    "part_too_large": 400,
    "invalid_policy": 400,
    "unauthenticated": 401,
    "permission_denied": 403,
    "foreign_origin": 403,
    "key_required": 403,
    "protected_branch": 403,
    "read_only_repository": 403,
    "default_branch": 403,
    "endpoint_not_found": 404,
    "repository_not_found": 404,
    "repository_deleting": 404,
    "branch_not_found": 404,
    "tag_not_found": 404,
    "commit_not_found": 404,
    "ref_not_found": 404,
    "object_not_found": 404,
    "workspace_not_found": 404,
    "rule_not_found": 404,
    "task_not_found": 404,
    "pull_not_found": 404,
    "review_not_found": 404,
    "comment_not_found": 404,
    "upload_not_found": 404,
    "credentials_not_found": 404,
    "user_not_found": 404,
    "group_not_found": 404,
    "policy_not_found": 404,
    "membership_not_found": 404,
    "attachment_not_found": 404,
    "session_not_found": 404,
    "run_not_found": 404,
    "method_not_allowed": 405,
    "repository_exists": 409,
    "branch_exists": 409,
    "tag_exists": 409,
    "name_taken": 409,
    "merge_conflict": 409,
    "concurrent_commit": 409,
    "source_moved": 409,
    "not_mergeable": 409,
    "dirty_overlap": 409,
    "workspace_closed": 409,
    "parent_required": 409,
    "task_ended": 409,
    "idempotency_mismatch": 409,
    "already_set_up": 409,
    "last_credential": 409,
    "already_exists": 409,
    "last_administrator": 409,
    "namespace_shared": 409,
    "object_gone": 410,
    "precondition_failed": 412,
    "hook_refused": 412,
    "table_too_large": 413,
    "invalid_range": 416,
    "unreadable_table": 422,
    "too_many_attempts": 429,
    "throttled": 429,
    "login_throttled": 429,
    "internal": 500,
    "corrupt_data": 500,
    "outcome_unknown": 500,
    "not_implemented": 501,
    "store_unavailable": 503,
    "overloaded": 503,
    "interrupted": 503,
    "stopping": 503,
    "store_full": 507,
}


class HealthCheckParams(Struct, kw_only=True):
    """Parameters of healthCheck."""


class GetConfigParams(Struct, kw_only=True):
    """Parameters of getConfig."""


class GetLakeFSVersionParams(Struct, kw_only=True):
    """Parameters of getLakeFSVersion."""


class GetStorageConfigParams(Struct, kw_only=True):
    """Parameters of getStorageConfig."""


class GetUsageReportSummaryParams(Struct, kw_only=True):
    """Parameters of getUsageReportSummary."""


class SetupCommPrefsParams(Struct, kw_only=True):
    """Parameters of setupCommPrefs."""


class PostStatsEventsParams(Struct, kw_only=True):
    """Parameters of postStatsEvents."""


class GetSetupStateParams(Struct, kw_only=True):
    """Parameters of getSetupState."""


class SetupParams(Struct, kw_only=True):
    """Parameters of setup."""


class LoginParams(Struct, kw_only=True):
    """Parameters of login."""


class ExchangeSignInCodeParams(Struct, kw_only=True):
    """Parameters of exchangeSignInCode."""


class RenewSessionParams(Struct, kw_only=True):
    """Parameters of renewSession."""


class LogoutParams(Struct, kw_only=True):
    """Parameters of logout."""

    everywhere: bool | UnsetType = UNSET


class GetCurrentUserParams(Struct, kw_only=True):
    """Parameters of getCurrentUser."""


class GetAuthCapabilitiesParams(Struct, kw_only=True):
    """Parameters of getAuthCapabilities."""


class ListUsersParams(Struct, kw_only=True):
    """Parameters of listUsers."""

    prefix: str | UnsetType = UNSET
    after: str | UnsetType = UNSET
    amount: Annotated[int, Meta(ge=-1, le=1000)] | UnsetType = UNSET


class CreateUserParams(Struct, kw_only=True):
    """Parameters of createUser."""


class GetUserParams(Struct, kw_only=True):
    """Parameters of getUser."""

    user_id: Annotated[str, Meta(min_length=1)] = field(name="userId")


class DeleteUserParams(Struct, kw_only=True):
    """Parameters of deleteUser."""

    user_id: Annotated[str, Meta(min_length=1)] = field(name="userId")


class UpdateUserParams(Struct, kw_only=True):
    """Parameters of updateUser."""

    user_id: Annotated[str, Meta(min_length=1)] = field(name="userId")


class ListUserGroupsParams(Struct, kw_only=True):
    """Parameters of listUserGroups."""

    user_id: Annotated[str, Meta(min_length=1)] = field(name="userId")
    prefix: str | UnsetType = UNSET
    after: str | UnsetType = UNSET
    amount: Annotated[int, Meta(ge=-1, le=1000)] | UnsetType = UNSET


class ListUserPoliciesParams(Struct, kw_only=True):
    """Parameters of listUserPolicies."""

    user_id: Annotated[str, Meta(min_length=1)] = field(name="userId")
    prefix: str | UnsetType = UNSET
    after: str | UnsetType = UNSET
    amount: Annotated[int, Meta(ge=-1, le=1000)] | UnsetType = UNSET
    effective: bool | UnsetType = UNSET


class AttachPolicyToUserParams(Struct, kw_only=True):
    """Parameters of attachPolicyToUser."""

    user_id: Annotated[str, Meta(min_length=1)] = field(name="userId")
    policy_id: Annotated[str, Meta(min_length=1)] = field(name="policyId")


class DetachPolicyFromUserParams(Struct, kw_only=True):
    """Parameters of detachPolicyFromUser."""

    user_id: Annotated[str, Meta(min_length=1)] = field(name="userId")
    policy_id: Annotated[str, Meta(min_length=1)] = field(name="policyId")


class GrantRepositoryToUserParams(Struct, kw_only=True):
    """Parameters of grantRepositoryToUser."""

    user_id: Annotated[str, Meta(min_length=1)] = field(name="userId")
    repository: Annotated[str, Meta(pattern="^[a-z0-9][a-z0-9-]{2,62}$")]


class RevokeRepositoryFromUserParams(Struct, kw_only=True):
    """Parameters of revokeRepositoryFromUser."""

    user_id: Annotated[str, Meta(min_length=1)] = field(name="userId")
    repository: Annotated[str, Meta(pattern="^[a-z0-9][a-z0-9-]{2,62}$")]


class ListGroupsParams(Struct, kw_only=True):
    """Parameters of listGroups."""

    prefix: str | UnsetType = UNSET
    after: str | UnsetType = UNSET
    amount: Annotated[int, Meta(ge=-1, le=1000)] | UnsetType = UNSET


class CreateGroupParams(Struct, kw_only=True):
    """Parameters of createGroup."""


class GetGroupParams(Struct, kw_only=True):
    """Parameters of getGroup."""

    group_id: Annotated[str, Meta(min_length=1)] = field(name="groupId")


class DeleteGroupParams(Struct, kw_only=True):
    """Parameters of deleteGroup."""

    group_id: Annotated[str, Meta(min_length=1)] = field(name="groupId")


class GetGroupACLParams(Struct, kw_only=True):
    """Parameters of getGroupACL."""

    group_id: Annotated[str, Meta(min_length=1)] = field(name="groupId")


class ListGroupMembersParams(Struct, kw_only=True):
    """Parameters of listGroupMembers."""

    group_id: Annotated[str, Meta(min_length=1)] = field(name="groupId")
    prefix: str | UnsetType = UNSET
    after: str | UnsetType = UNSET
    amount: Annotated[int, Meta(ge=-1, le=1000)] | UnsetType = UNSET


class AddGroupMembershipParams(Struct, kw_only=True):
    """Parameters of addGroupMembership."""

    group_id: Annotated[str, Meta(min_length=1)] = field(name="groupId")
    user_id: Annotated[str, Meta(min_length=1)] = field(name="userId")


class DeleteGroupMembershipParams(Struct, kw_only=True):
    """Parameters of deleteGroupMembership."""

    group_id: Annotated[str, Meta(min_length=1)] = field(name="groupId")
    user_id: Annotated[str, Meta(min_length=1)] = field(name="userId")


class ListGroupPoliciesParams(Struct, kw_only=True):
    """Parameters of listGroupPolicies."""

    group_id: Annotated[str, Meta(min_length=1)] = field(name="groupId")
    prefix: str | UnsetType = UNSET
    after: str | UnsetType = UNSET
    amount: Annotated[int, Meta(ge=-1, le=1000)] | UnsetType = UNSET


class AttachPolicyToGroupParams(Struct, kw_only=True):
    """Parameters of attachPolicyToGroup."""

    group_id: Annotated[str, Meta(min_length=1)] = field(name="groupId")
    policy_id: Annotated[str, Meta(min_length=1)] = field(name="policyId")


class DetachPolicyFromGroupParams(Struct, kw_only=True):
    """Parameters of detachPolicyFromGroup."""

    group_id: Annotated[str, Meta(min_length=1)] = field(name="groupId")
    policy_id: Annotated[str, Meta(min_length=1)] = field(name="policyId")


class GrantRepositoryToGroupParams(Struct, kw_only=True):
    """Parameters of grantRepositoryToGroup."""

    group_id: Annotated[str, Meta(min_length=1)] = field(name="groupId")
    repository: Annotated[str, Meta(pattern="^[a-z0-9][a-z0-9-]{2,62}$")]


class RevokeRepositoryFromGroupParams(Struct, kw_only=True):
    """Parameters of revokeRepositoryFromGroup."""

    group_id: Annotated[str, Meta(min_length=1)] = field(name="groupId")
    repository: Annotated[str, Meta(pattern="^[a-z0-9][a-z0-9-]{2,62}$")]


class ListRightsChangesParams(Struct, kw_only=True):
    """Parameters of listRightsChanges."""

    after: str | UnsetType = UNSET
    amount: Annotated[int, Meta(ge=-1, le=1000)] | UnsetType = UNSET


class ListPoliciesParams(Struct, kw_only=True):
    """Parameters of listPolicies."""

    prefix: str | UnsetType = UNSET
    after: str | UnsetType = UNSET
    amount: Annotated[int, Meta(ge=-1, le=1000)] | UnsetType = UNSET


class CreatePolicyParams(Struct, kw_only=True):
    """Parameters of createPolicy."""


class GetPolicyParams(Struct, kw_only=True):
    """Parameters of getPolicy."""

    policy_id: Annotated[str, Meta(min_length=1)] = field(name="policyId")


class UpdatePolicyParams(Struct, kw_only=True):
    """Parameters of updatePolicy."""

    policy_id: Annotated[str, Meta(min_length=1)] = field(name="policyId")


class DeletePolicyParams(Struct, kw_only=True):
    """Parameters of deletePolicy."""

    policy_id: Annotated[str, Meta(min_length=1)] = field(name="policyId")


class SimulateParams(Struct, kw_only=True):
    """Parameters of simulate."""


class CreateTemporaryKeyParams(Struct, kw_only=True):
    """Parameters of createTemporaryKey."""


class ListUserSessionsParams(Struct, kw_only=True):
    """Parameters of listUserSessions."""

    user_id: Annotated[str, Meta(min_length=1)] = field(name="userId")
    after: str | UnsetType = UNSET
    amount: Annotated[int, Meta(ge=-1, le=1000)] | UnsetType = UNSET


class EndUserSessionParams(Struct, kw_only=True):
    """Parameters of endUserSession."""

    user_id: Annotated[str, Meta(min_length=1)] = field(name="userId")
    session_id: Annotated[str, Meta(min_length=1)] = field(name="sessionId")


class ListUserCredentialsParams(Struct, kw_only=True):
    """Parameters of listUserCredentials."""

    user_id: Annotated[str, Meta(min_length=1)] = field(name="userId")
    prefix: str | UnsetType = UNSET
    after: str | UnsetType = UNSET
    amount: Annotated[int, Meta(ge=-1, le=1000)] | UnsetType = UNSET


class CreateCredentialsParams(Struct, kw_only=True):
    """Parameters of createCredentials."""

    user_id: Annotated[str, Meta(min_length=1)] = field(name="userId")


class GetCredentialsParams(Struct, kw_only=True):
    """Parameters of getCredentials."""

    user_id: Annotated[str, Meta(min_length=1)] = field(name="userId")
    access_key_id: Annotated[str, Meta(min_length=1)] = field(name="accessKeyId")


class DeleteCredentialsParams(Struct, kw_only=True):
    """Parameters of deleteCredentials."""

    user_id: Annotated[str, Meta(min_length=1)] = field(name="userId")
    access_key_id: Annotated[str, Meta(min_length=1)] = field(name="accessKeyId")


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
    purge: bool | UnsetType = UNSET


class GetRepositoryStatisticsParams(Struct, kw_only=True):
    """Parameters of getRepositoryStatistics."""

    repository: Annotated[str, Meta(min_length=1)]


class GetServerAccessHistoryParams(Struct, kw_only=True):
    """Parameters of getServerAccessHistory."""

    since: datetime | UnsetType = UNSET
    until: datetime | UnsetType = UNSET
    user: str | UnsetType = UNSET
    path: str | UnsetType = UNSET
    operation: str | UnsetType = UNSET
    refused: bool | UnsetType = UNSET


class GetAccessHistoryParams(Struct, kw_only=True):
    """Parameters of getAccessHistory."""

    repository: Annotated[str, Meta(min_length=1)]
    since: datetime | UnsetType = UNSET
    until: datetime | UnsetType = UNSET
    user: str | UnsetType = UNSET
    path: str | UnsetType = UNSET
    operation: str | UnsetType = UNSET
    refused: bool | UnsetType = UNSET


class ListServerEventsParams(Struct, kw_only=True):
    """Parameters of listServerEvents."""

    after: Annotated[str, Meta(pattern="^[0-9]{1,19}([.][0-9]{1,6})?$")] | UnsetType = UNSET
    type: str | UnsetType = UNSET
    amount: Annotated[int, Meta(ge=-1, le=1000)] | UnsetType = UNSET


class ListEventsParams(Struct, kw_only=True):
    """Parameters of listEvents."""

    repository: Annotated[str, Meta(min_length=1)]
    after: Annotated[str, Meta(pattern="^[0-9]{1,19}$")] | UnsetType = UNSET
    branch: str | UnsetType = UNSET
    type: str | UnsetType = UNSET
    amount: Annotated[int, Meta(ge=-1, le=1000)] | UnsetType = UNSET
    last_event_id: str | UnsetType = field(default=UNSET, name="Last-Event-ID")


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


class HardResetBranchParams(Struct, kw_only=True):
    """Parameters of hardResetBranch."""

    repository: Annotated[str, Meta(min_length=1)]
    branch: Annotated[str, Meta(min_length=1)]
    ref: Annotated[str, Meta(min_length=1)]
    force: bool | UnsetType = UNSET


class RevertBranchParams(Struct, kw_only=True):
    """Parameters of revertBranch."""

    repository: Annotated[str, Meta(min_length=1)]
    branch: Annotated[str, Meta(min_length=1)]
    idempotency_key: str | UnsetType = field(default=UNSET, name="Idempotency-Key")


class CherryPickParams(Struct, kw_only=True):
    """Parameters of cherryPick."""

    repository: Annotated[str, Meta(min_length=1)]
    branch: Annotated[str, Meta(min_length=1)]
    idempotency_key: str | UnsetType = field(default=UNSET, name="Idempotency-Key")


class GetBranchProtectionRulesParams(Struct, kw_only=True):
    """Parameters of getBranchProtectionRules."""

    repository: Annotated[str, Meta(min_length=1)]


class SetBranchProtectionRulesParams(Struct, kw_only=True):
    """Parameters of setBranchProtectionRules."""

    repository: Annotated[str, Meta(min_length=1)]
    if_match: str | UnsetType = field(default=UNSET, name="If-Match")


class CreateBranchProtectionRulePreflightParams(Struct, kw_only=True):
    """Parameters of createBranchProtectionRulePreflight."""

    repository: Annotated[str, Meta(min_length=1)]


class InternalGetBranchProtectionRulesParams(Struct, kw_only=True):
    """Parameters of internalGetBranchProtectionRules."""

    repository: Annotated[str, Meta(min_length=1)]


class InternalCreateBranchProtectionRuleParams(Struct, kw_only=True):
    """Parameters of internalCreateBranchProtectionRule."""

    repository: Annotated[str, Meta(min_length=1)]


class InternalDeleteBranchProtectionRuleParams(Struct, kw_only=True):
    """Parameters of internalDeleteBranchProtectionRule."""

    repository: Annotated[str, Meta(min_length=1)]


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
    idempotency_key: str | UnsetType = field(default=UNSET, name="Idempotency-Key")


class CreateCommitRecordParams(Struct, kw_only=True):
    """Parameters of createCommitRecord."""

    repository: Annotated[str, Meta(min_length=1)]


class GetCommitParams(Struct, kw_only=True):
    """Parameters of getCommit."""

    repository: Annotated[str, Meta(min_length=1)]
    commit_id: Annotated[str, Meta(min_length=1)] = field(name="commitId")


class GetCommitStatisticsParams(Struct, kw_only=True):
    """Parameters of getCommitStatistics."""

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
    until: datetime | UnsetType = UNSET
    author: Annotated[str, Meta(max_length=1024)] | UnsetType = UNSET
    author_contains: Annotated[str, Meta(max_length=1024)] | UnsetType = UNSET
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
    idempotency_key: str | UnsetType = field(default=UNSET, name="Idempotency-Key")


class ListOwnPullRequestsParams(Struct, kw_only=True):
    """Parameters of listOwnPullRequests."""

    after: Annotated[str, Meta(max_length=256)] | UnsetType = UNSET
    amount: Annotated[int, Meta(ge=-1, le=1000)] | UnsetType = UNSET


class ListPullRequestsParams(Struct, kw_only=True):
    """Parameters of listPullRequests."""

    repository: Annotated[str, Meta(min_length=1)]
    prefix: Annotated[str, Meta(max_length=20)] | UnsetType = UNSET
    after: Annotated[str, Meta(max_length=20)] | UnsetType = UNSET
    amount: Annotated[int, Meta(ge=-1, le=1000)] | UnsetType = UNSET
    status: Literal["open", "closed", "all"] | UnsetType = UNSET


class CreatePullRequestParams(Struct, kw_only=True):
    """Parameters of createPullRequest."""

    repository: Annotated[str, Meta(min_length=1)]


class GetPullRequestParams(Struct, kw_only=True):
    """Parameters of getPullRequest."""

    repository: Annotated[str, Meta(min_length=1)]
    pull_request: Annotated[str, Meta(pattern="^[0-9a-v]{20}$")]


class UpdatePullRequestParams(Struct, kw_only=True):
    """Parameters of updatePullRequest."""

    repository: Annotated[str, Meta(min_length=1)]
    pull_request: Annotated[str, Meta(pattern="^[0-9a-v]{20}$")]


class MergePullRequestParams(Struct, kw_only=True):
    """Parameters of mergePullRequest."""

    repository: Annotated[str, Meta(min_length=1)]
    pull_request: Annotated[str, Meta(pattern="^[0-9a-v]{20}$")]


class GetPullRequestStateParams(Struct, kw_only=True):
    """Parameters of getPullRequestState."""

    repository: Annotated[str, Meta(min_length=1)]
    pull_request: Annotated[str, Meta(pattern="^[0-9a-v]{20}$")]


class ListPullRequestConflictsParams(Struct, kw_only=True):
    """Parameters of listPullRequestConflicts."""

    repository: Annotated[str, Meta(min_length=1)]
    pull_request: Annotated[str, Meta(pattern="^[0-9a-v]{20}$")]
    after: str | UnsetType = UNSET
    amount: Annotated[int, Meta(ge=-1, le=1000)] | UnsetType = UNSET


class ListPullRequestEventsParams(Struct, kw_only=True):
    """Parameters of listPullRequestEvents."""

    repository: Annotated[str, Meta(min_length=1)]
    pull_request: Annotated[str, Meta(pattern="^[0-9a-v]{20}$")]
    after: Annotated[int, Meta(ge=0, le=1000000)] | UnsetType = UNSET
    amount: Annotated[int, Meta(ge=-1, le=1000)] | UnsetType = UNSET


class SetPullRequestReviewersParams(Struct, kw_only=True):
    """Parameters of setPullRequestReviewers."""

    repository: Annotated[str, Meta(min_length=1)]
    pull_request: Annotated[str, Meta(pattern="^[0-9a-v]{20}$")]


class ListPullRequestReviewsParams(Struct, kw_only=True):
    """Parameters of listPullRequestReviews."""

    repository: Annotated[str, Meta(min_length=1)]
    pull_request: Annotated[str, Meta(pattern="^[0-9a-v]{20}$")]


class CreatePullRequestReviewParams(Struct, kw_only=True):
    """Parameters of createPullRequestReview."""

    repository: Annotated[str, Meta(min_length=1)]
    pull_request: Annotated[str, Meta(pattern="^[0-9a-v]{20}$")]


class DismissPullRequestReviewParams(Struct, kw_only=True):
    """Parameters of dismissPullRequestReview."""

    repository: Annotated[str, Meta(min_length=1)]
    pull_request: Annotated[str, Meta(pattern="^[0-9a-v]{20}$")]
    review: Annotated[int, Meta(ge=1, le=1000000)]


class ListPullRequestApprovalsParams(Struct, kw_only=True):
    """Parameters of listPullRequestApprovals."""

    repository: Annotated[str, Meta(min_length=1)]
    pull_request: Annotated[str, Meta(pattern="^[0-9a-v]{20}$")]


class ApprovePullRequestParams(Struct, kw_only=True):
    """Parameters of approvePullRequest."""

    repository: Annotated[str, Meta(min_length=1)]
    pull_request: Annotated[str, Meta(pattern="^[0-9a-v]{20}$")]


class WithdrawPullRequestApprovalParams(Struct, kw_only=True):
    """Parameters of withdrawPullRequestApproval."""

    repository: Annotated[str, Meta(min_length=1)]
    pull_request: Annotated[str, Meta(pattern="^[0-9a-v]{20}$")]


class ListPullRequestCommentsParams(Struct, kw_only=True):
    """Parameters of listPullRequestComments."""

    repository: Annotated[str, Meta(min_length=1)]
    pull_request: Annotated[str, Meta(pattern="^[0-9a-v]{20}$")]
    path: Annotated[str, Meta(max_length=1024)] | UnsetType = UNSET


class CreatePullRequestCommentParams(Struct, kw_only=True):
    """Parameters of createPullRequestComment."""

    repository: Annotated[str, Meta(min_length=1)]
    pull_request: Annotated[str, Meta(pattern="^[0-9a-v]{20}$")]


class DeletePullRequestCommentParams(Struct, kw_only=True):
    """Parameters of deletePullRequestComment."""

    repository: Annotated[str, Meta(min_length=1)]
    pull_request: Annotated[str, Meta(pattern="^[0-9a-v]{20}$")]
    comment: Annotated[int, Meta(ge=1, le=1000000)]


class UpdatePullRequestCommentParams(Struct, kw_only=True):
    """Parameters of updatePullRequestComment."""

    repository: Annotated[str, Meta(min_length=1)]
    pull_request: Annotated[str, Meta(pattern="^[0-9a-v]{20}$")]
    comment: Annotated[int, Meta(ge=1, le=1000000)]


class ListCommitChecksParams(Struct, kw_only=True):
    """Parameters of listCommitChecks."""

    repository: Annotated[str, Meta(min_length=1)]
    commit_id: Annotated[str, Meta(min_length=1)] = field(name="commitId")


class ReportCommitCheckParams(Struct, kw_only=True):
    """Parameters of reportCommitCheck."""

    repository: Annotated[str, Meta(min_length=1)]
    commit_id: Annotated[str, Meta(min_length=1)] = field(name="commitId")


class ValidateActionParams(Struct, kw_only=True):
    """Parameters of validateAction."""


class ListRepositoryRunsParams(Struct, kw_only=True):
    """Parameters of listRepositoryRuns."""

    repository: Annotated[str, Meta(min_length=1)]
    after: str | UnsetType = UNSET
    amount: Annotated[int, Meta(ge=-1, le=1000)] | UnsetType = UNSET
    branch: str | UnsetType = UNSET
    commit: str | UnsetType = UNSET


class StartActionRunParams(Struct, kw_only=True):
    """Parameters of startActionRun."""

    repository: Annotated[str, Meta(min_length=1)]


class GetRunParams(Struct, kw_only=True):
    """Parameters of getRun."""

    repository: Annotated[str, Meta(min_length=1)]
    run_id: Annotated[str, Meta(min_length=1, max_length=64)]


class RepeatActionRunParams(Struct, kw_only=True):
    """Parameters of repeatActionRun."""

    repository: Annotated[str, Meta(min_length=1)]
    run_id: Annotated[str, Meta(min_length=1, max_length=64)]


class ListRunHooksParams(Struct, kw_only=True):
    """Parameters of listRunHooks."""

    repository: Annotated[str, Meta(min_length=1)]
    run_id: Annotated[str, Meta(min_length=1, max_length=64)]
    after: str | UnsetType = UNSET
    amount: Annotated[int, Meta(ge=-1, le=1000)] | UnsetType = UNSET
    skipped: bool | UnsetType = UNSET


class GetRunHookOutputParams(Struct, kw_only=True):
    """Parameters of getRunHookOutput."""

    repository: Annotated[str, Meta(min_length=1)]
    run_id: Annotated[str, Meta(min_length=1, max_length=64)]
    hook_run_id: Annotated[str, Meta(min_length=1, max_length=64)]


class ListHookDeliveriesParams(Struct, kw_only=True):
    """Parameters of listHookDeliveries."""

    repository: Annotated[str, Meta(min_length=1)]
    after: Annotated[str, Meta(max_length=512)] | UnsetType = UNSET
    amount: Annotated[int, Meta(ge=-1, le=1000)] | UnsetType = UNSET


class RedeliverHookParams(Struct, kw_only=True):
    """Parameters of redeliverHook."""

    repository: Annotated[str, Meta(min_length=1)]
    delivery_id: Annotated[str, Meta(min_length=1, max_length=256)]


class GetHookSettingsParams(Struct, kw_only=True):
    """Parameters of getHookSettings."""

    repository: Annotated[str, Meta(min_length=1)]


class SetHookSettingsParams(Struct, kw_only=True):
    """Parameters of setHookSettings."""

    repository: Annotated[str, Meta(min_length=1)]
    if_match: str | UnsetType = field(default=UNSET, name="If-Match")


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


class DiffTableParams(Struct, kw_only=True):
    """Parameters of diffTable."""

    repository: Annotated[str, Meta(min_length=1)]
    left_ref: Annotated[str, Meta(min_length=1)] = field(name="leftRef")
    right_ref: Annotated[str, Meta(min_length=1)] = field(name="rightRef")
    path: Annotated[str, Meta(min_length=1)]
    key: Annotated[list[str], Meta(min_length=1, max_length=20)] = field(default_factory=list)
    change: Literal["added", "removed", "changed"] | UnsetType = UNSET
    type: Literal["two_dot", "three_dot"] | UnsetType = UNSET
    offset: Annotated[int, Meta(ge=0, le=9007199254740991)] | UnsetType = UNSET
    limit: Annotated[int, Meta(ge=0, le=200)] | UnsetType = UNSET
    columns: Annotated[list[str], Meta(max_length=200)] = field(default_factory=list)
    format: Literal["parquet", "csv", "json", "arrow"] | UnsetType = UNSET


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


class ListObjectWritersParams(Struct, kw_only=True):
    """Parameters of listObjectWriters."""

    repository: Annotated[str, Meta(min_length=1)]
    ref: Annotated[str, Meta(min_length=1)]
    after: str | UnsetType = UNSET
    amount: Annotated[int, Meta(ge=-1, le=1000)] | UnsetType = UNSET
    prefix: str | UnsetType = UNSET


class ReadTableParams(Struct, kw_only=True):
    """Parameters of readTable."""

    repository: Annotated[str, Meta(min_length=1)]
    ref: Annotated[str, Meta(min_length=1)]
    path: Annotated[str, Meta(min_length=1)]
    offset: Annotated[int, Meta(ge=0, le=9007199254740991)] | UnsetType = UNSET
    limit: Annotated[int, Meta(ge=0, le=200)] | UnsetType = UNSET
    columns: Annotated[list[str], Meta(max_length=200)] = field(default_factory=list)
    order: str | UnsetType = UNSET
    descending: bool | UnsetType = UNSET
    format: Literal["parquet", "csv", "json", "arrow"] | UnsetType = UNSET
    statistics: bool | UnsetType = UNSET


class SearchObjectsParams(Struct, kw_only=True):
    """Parameters of searchObjects."""

    repository: Annotated[str, Meta(min_length=1)]
    ref: Annotated[str, Meta(min_length=1)]
    q: Annotated[str, Meta(min_length=1, max_length=1024)]
    prefix: str | UnsetType = UNSET
    after: str | UnsetType = UNSET
    amount: Annotated[int, Meta(ge=-1, le=1000)] | UnsetType = UNSET


class GetObjectsParams(Struct, kw_only=True):
    """Parameters of getObjects."""

    repository: Annotated[str, Meta(min_length=1)]
    ref: Annotated[str, Meta(min_length=1)]


class GetArchiveParams(Struct, kw_only=True):
    """Parameters of getArchive."""

    repository: Annotated[str, Meta(min_length=1)]
    ref: Annotated[str, Meta(min_length=1)]
    prefix: str | UnsetType = UNSET
    format: Literal["tar", "tar.gz", "zip"] | UnsetType = UNSET


class StageObjectParams(Struct, kw_only=True):
    """Parameters of stageObject."""

    repository: Annotated[str, Meta(min_length=1)]
    branch: Annotated[str, Meta(min_length=1)]
    path: Annotated[str, Meta(min_length=1)]


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


class GetMetaRangeParams(Struct, kw_only=True):
    """Parameters of getMetaRange."""

    repository: Annotated[str, Meta(min_length=1)]
    meta_range: Annotated[str, Meta(min_length=1)]


class GetRangeParams(Struct, kw_only=True):
    """Parameters of getRange."""

    repository: Annotated[str, Meta(min_length=1)]
    range: Annotated[str, Meta(min_length=1)]


class GetMetadataObjectParams(Struct, kw_only=True):
    """Parameters of getMetadataObject."""

    repository: Annotated[str, Meta(min_length=1)]
    type: Literal["range", "meta_range"]
    object_id: Annotated[str, Meta(min_length=1)]
    presign: bool | UnsetType = UNSET


class UploadObjectPreflightParams(Struct, kw_only=True):
    """Parameters of uploadObjectPreflight."""

    repository: Annotated[str, Meta(min_length=1)]
    branch: Annotated[str, Meta(min_length=1)]
    path: Annotated[str, Meta(min_length=1)]


class UpdateObjectUserMetadataParams(Struct, kw_only=True):
    """Parameters of updateObjectUserMetadata."""

    repository: Annotated[str, Meta(min_length=1)]
    branch: Annotated[str, Meta(min_length=1)]
    path: Annotated[str, Meta(min_length=1)]
    force: bool | UnsetType = UNSET


class GetUnderlyingPropertiesParams(Struct, kw_only=True):
    """Parameters of getUnderlyingProperties."""

    repository: Annotated[str, Meta(min_length=1)]
    ref: Annotated[str, Meta(min_length=1)]
    path: Annotated[str, Meta(min_length=1)]


class GetPhysicalAddressParams(Struct, kw_only=True):
    """Parameters of getPhysicalAddress."""

    repository: Annotated[str, Meta(min_length=1)]
    branch: Annotated[str, Meta(min_length=1)]
    path: Annotated[str, Meta(min_length=1)]
    presign: bool | UnsetType = UNSET


class LinkPhysicalAddressParams(Struct, kw_only=True):
    """Parameters of linkPhysicalAddress."""

    repository: Annotated[str, Meta(min_length=1)]
    branch: Annotated[str, Meta(min_length=1)]
    path: Annotated[str, Meta(min_length=1)]
    if_none_match: str | UnsetType = field(default=UNSET, name="If-None-Match")
    if_match: str | UnsetType = field(default=UNSET, name="If-Match")


class CreatePresignMultipartUploadParams(Struct, kw_only=True):
    """Parameters of createPresignMultipartUpload."""

    repository: Annotated[str, Meta(min_length=1)]
    branch: Annotated[str, Meta(min_length=1)]
    path: Annotated[str, Meta(min_length=1)]
    parts: Annotated[int, Meta(ge=0, le=10000)] | UnsetType = UNSET


class CompletePresignMultipartUploadParams(Struct, kw_only=True):
    """Parameters of completePresignMultipartUpload."""

    repository: Annotated[str, Meta(min_length=1)]
    branch: Annotated[str, Meta(min_length=1)]
    upload_id: Annotated[str, Meta(min_length=1, max_length=2048)] = field(name="uploadId")
    path: Annotated[str, Meta(min_length=1)]


class AbortPresignMultipartUploadParams(Struct, kw_only=True):
    """Parameters of abortPresignMultipartUpload."""

    repository: Annotated[str, Meta(min_length=1)]
    branch: Annotated[str, Meta(min_length=1)]
    upload_id: Annotated[str, Meta(min_length=1, max_length=2048)] = field(name="uploadId")
    path: Annotated[str, Meta(min_length=1)]


class UploadPartParams(Struct, kw_only=True):
    """Parameters of uploadPart."""

    repository: Annotated[str, Meta(min_length=1)]
    branch: Annotated[str, Meta(min_length=1)]
    upload_id: Annotated[str, Meta(min_length=1, max_length=2048)] = field(name="uploadId")
    part_number: Annotated[int, Meta(ge=1, le=10000)] = field(name="partNumber")
    path: Annotated[str, Meta(min_length=1)]


class UploadPartCopyParams(Struct, kw_only=True):
    """Parameters of uploadPartCopy."""

    repository: Annotated[str, Meta(min_length=1)]
    branch: Annotated[str, Meta(min_length=1)]
    upload_id: Annotated[str, Meta(min_length=1, max_length=2048)] = field(name="uploadId")
    part_number: Annotated[int, Meta(ge=1, le=10000)] = field(name="partNumber")
    path: Annotated[str, Meta(min_length=1)]


class ImportStatusParams(Struct, kw_only=True):
    """Parameters of importStatus."""

    repository: Annotated[str, Meta(min_length=1)]
    branch: Annotated[str, Meta(min_length=1)]
    id: Annotated[str, Meta(min_length=1)]


class ImportStartParams(Struct, kw_only=True):
    """Parameters of importStart."""

    repository: Annotated[str, Meta(min_length=1)]
    branch: Annotated[str, Meta(min_length=1)]


class ImportCancelParams(Struct, kw_only=True):
    """Parameters of importCancel."""

    repository: Annotated[str, Meta(min_length=1)]
    branch: Annotated[str, Meta(min_length=1)]
    id: Annotated[str, Meta(min_length=1)]


class CommitAsyncParams(Struct, kw_only=True):
    """Parameters of commitAsync."""

    repository: Annotated[str, Meta(min_length=1)]
    branch: Annotated[str, Meta(min_length=1)]
    wait: Annotated[int, Meta(ge=0, le=60)] | UnsetType = UNSET
    idempotency_key: str | UnsetType = field(default=UNSET, name="Idempotency-Key")


class MergeIntoBranchAsyncParams(Struct, kw_only=True):
    """Parameters of mergeIntoBranchAsync."""

    repository: Annotated[str, Meta(min_length=1)]
    source_ref: Annotated[str, Meta(min_length=1)] = field(name="sourceRef")
    destination_branch: Annotated[str, Meta(min_length=1)] = field(name="destinationBranch")
    wait: Annotated[int, Meta(ge=0, le=60)] | UnsetType = UNSET
    idempotency_key: str | UnsetType = field(default=UNSET, name="Idempotency-Key")


class GetTaskParams(Struct, kw_only=True):
    """Parameters of getTask."""

    repository: Annotated[str, Meta(min_length=1)]
    task_id: Annotated[str, Meta(min_length=1)] = field(name="taskId")
    wait: Annotated[int, Meta(ge=0, le=60)] | UnsetType = UNSET


class CreateSymlinkFileParams(Struct, kw_only=True):
    """Parameters of createSymlinkFile."""

    repository: Annotated[str, Meta(min_length=1)]
    branch: Annotated[str, Meta(min_length=1)]
    location: str | UnsetType = UNSET


class DumpRefsParams(Struct, kw_only=True):
    """Parameters of dumpRefs."""

    repository: Annotated[str, Meta(min_length=1)]


class RestoreRefsParams(Struct, kw_only=True):
    """Parameters of restoreRefs."""

    repository: Annotated[str, Meta(min_length=1)]


class DumpStatusParams(Struct, kw_only=True):
    """Parameters of dumpStatus."""

    repository: Annotated[str, Meta(min_length=1)]
    task_id: Annotated[str, Meta(min_length=1)]


class DumpSubmitParams(Struct, kw_only=True):
    """Parameters of dumpSubmit."""

    repository: Annotated[str, Meta(min_length=1)]


class RestoreStatusParams(Struct, kw_only=True):
    """Parameters of restoreStatus."""

    repository: Annotated[str, Meta(min_length=1)]
    task_id: Annotated[str, Meta(min_length=1)]


class RestoreSubmitParams(Struct, kw_only=True):
    """Parameters of restoreSubmit."""

    repository: Annotated[str, Meta(min_length=1)]


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


class ShareObjectsParams(Struct, kw_only=True):
    """Parameters of shareObjects."""

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
        summary="Report that the server is up.",
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
        summary="Return the settings of the installation.",
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
        summary="Return the version of the server.",
    ),
    Operation(
        operation_id="getStorageConfig",
        method="GET",
        path="/config/storage",
        params=GetStorageConfigParams,
        parameters=(),
        body=None,
        body_required=False,
        media_types=(),
        binary=False,
        security=True,
        success=200,
        tag="system",
        summary="Return the settings of the object store.",
    ),
    Operation(
        operation_id="getUsageReportSummary",
        method="GET",
        path="/usage-report/summary",
        params=GetUsageReportSummaryParams,
        parameters=(),
        body=None,
        body_required=False,
        media_types=(),
        binary=False,
        security=True,
        success=200,
        tag="system",
        summary="Return the number of requests per month.",
    ),
    Operation(
        operation_id="setupCommPrefs",
        method="POST",
        path="/setup_comm_prefs",
        params=SetupCommPrefsParams,
        parameters=(),
        body=models.CommPrefsInput,
        body_required=True,
        media_types=("application/json",),
        binary=False,
        security=False,
        success=200,
        tag="system",
        summary="Accept e-mail preferences.",
    ),
    Operation(
        operation_id="postStatsEvents",
        method="POST",
        path="/statistics",
        params=PostStatsEventsParams,
        parameters=(),
        body=models.StatsEventsList,
        body_required=True,
        media_types=("application/json",),
        binary=False,
        security=True,
        success=204,
        tag="system",
        summary="Accept usage statistics from clients.",
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
        summary="Report whether the installation has been set up, and how to log in.",
    ),
    Operation(
        operation_id="setup",
        method="POST",
        path="/setup_lakefs",
        params=SetupParams,
        parameters=(),
        body=models.Setup,
        body_required=True,
        media_types=("application/json",),
        binary=False,
        security=False,
        success=200,
        tag="system",
        summary="Create the first administrator.",
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
        operation_id="exchangeSignInCode",
        method="POST",
        path="/auth/login/code",
        params=ExchangeSignInCodeParams,
        parameters=(),
        body=models.SignInCode,
        body_required=True,
        media_types=("application/json",),
        binary=False,
        security=False,
        success=200,
        tag="auth",
        summary="Exchange the code from a browser sign-in for a token.",
    ),
    Operation(
        operation_id="renewSession",
        method="POST",
        path="/auth/login/renew",
        params=RenewSessionParams,
        parameters=(),
        body=None,
        body_required=False,
        media_types=(),
        binary=False,
        security=True,
        success=200,
        tag="auth",
        summary="Renew the token of a login session.",
    ),
    Operation(
        operation_id="logout",
        method="POST",
        path="/auth/logout",
        params=LogoutParams,
        parameters=(Parameter("everywhere", "query", False, True, False),),
        body=None,
        body_required=False,
        media_types=(),
        binary=False,
        security=True,
        success=204,
        tag="auth",
        summary="End the session of a token, or all sessions of the calling user.",
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
        operation_id="getAuthCapabilities",
        method="GET",
        path="/auth/capabilities",
        params=GetAuthCapabilitiesParams,
        parameters=(),
        body=None,
        body_required=False,
        media_types=(),
        binary=False,
        security=False,
        success=200,
        tag="auth",
        summary="Report what a user interface can offer to users who cannot log in.",
    ),
    Operation(
        operation_id="listUsers",
        method="GET",
        path="/auth/users",
        params=ListUsersParams,
        parameters=(
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
        tag="auth",
        summary="List users in the order of their ids.",
    ),
    Operation(
        operation_id="createUser",
        method="POST",
        path="/auth/users",
        params=CreateUserParams,
        parameters=(),
        body=models.UserCreation,
        body_required=True,
        media_types=("application/json",),
        binary=False,
        security=True,
        success=201,
        tag="auth",
        summary="Create a user.",
    ),
    Operation(
        operation_id="getUser",
        method="GET",
        path="/auth/users/{userId}",
        params=GetUserParams,
        parameters=(Parameter("userId", "path", False, False, False),),
        body=None,
        body_required=False,
        media_types=(),
        binary=False,
        security=True,
        success=200,
        tag="auth",
        summary="Describe one user.",
    ),
    Operation(
        operation_id="deleteUser",
        method="DELETE",
        path="/auth/users/{userId}",
        params=DeleteUserParams,
        parameters=(Parameter("userId", "path", False, False, False),),
        body=None,
        body_required=False,
        media_types=(),
        binary=False,
        security=True,
        success=204,
        tag="auth",
        summary="Delete a user with its access keys, memberships and attachments.",
    ),
    Operation(
        operation_id="updateUser",
        method="PATCH",
        path="/auth/users/{userId}",
        params=UpdateUserParams,
        parameters=(Parameter("userId", "path", False, False, False),),
        body=models.UserUpdate,
        body_required=True,
        media_types=("application/json",),
        binary=False,
        security=True,
        success=200,
        tag="auth",
        summary="Change the display name, the e-mail address or the state of a user.",
    ),
    Operation(
        operation_id="listUserGroups",
        method="GET",
        path="/auth/users/{userId}/groups",
        params=ListUserGroupsParams,
        parameters=(
            Parameter("userId", "path", False, False, False),
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
        tag="auth",
        summary="List the groups of a user.",
    ),
    Operation(
        operation_id="listUserPolicies",
        method="GET",
        path="/auth/users/{userId}/policies",
        params=ListUserPoliciesParams,
        parameters=(
            Parameter("userId", "path", False, False, False),
            Parameter("prefix", "query", False, False, False),
            Parameter("after", "query", False, False, False),
            Parameter("amount", "query", False, False, False),
            Parameter("effective", "query", False, True, False),
        ),
        body=None,
        body_required=False,
        media_types=(),
        binary=False,
        security=True,
        success=200,
        tag="auth",
        summary="List the policies of a user.",
    ),
    Operation(
        operation_id="attachPolicyToUser",
        method="PUT",
        path="/auth/users/{userId}/policies/{policyId}",
        params=AttachPolicyToUserParams,
        parameters=(
            Parameter("userId", "path", False, False, False),
            Parameter("policyId", "path", False, False, False),
        ),
        body=None,
        body_required=False,
        media_types=(),
        binary=False,
        security=True,
        success=201,
        tag="auth",
        summary="Attach a policy to a user.",
    ),
    Operation(
        operation_id="detachPolicyFromUser",
        method="DELETE",
        path="/auth/users/{userId}/policies/{policyId}",
        params=DetachPolicyFromUserParams,
        parameters=(
            Parameter("userId", "path", False, False, False),
            Parameter("policyId", "path", False, False, False),
        ),
        body=None,
        body_required=False,
        media_types=(),
        binary=False,
        security=True,
        success=204,
        tag="auth",
        summary="Detach a policy from a user.",
    ),
    Operation(
        operation_id="grantRepositoryToUser",
        method="PUT",
        path="/auth/users/{userId}/grants/{repository}",
        params=GrantRepositoryToUserParams,
        parameters=(
            Parameter("userId", "path", False, False, False),
            Parameter("repository", "path", False, False, False),
        ),
        body=models.Grant,
        body_required=True,
        media_types=("application/json",),
        binary=False,
        security=True,
        success=200,
        tag="auth",
        summary="Give a user rights on one repository.",
    ),
    Operation(
        operation_id="revokeRepositoryFromUser",
        method="DELETE",
        path="/auth/users/{userId}/grants/{repository}",
        params=RevokeRepositoryFromUserParams,
        parameters=(
            Parameter("userId", "path", False, False, False),
            Parameter("repository", "path", False, False, False),
        ),
        body=None,
        body_required=False,
        media_types=(),
        binary=False,
        security=True,
        success=204,
        tag="auth",
        summary="Revoke a user's grant on one repository.",
    ),
    Operation(
        operation_id="listGroups",
        method="GET",
        path="/auth/groups",
        params=ListGroupsParams,
        parameters=(
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
        tag="auth",
        summary="List groups in the order of their ids.",
    ),
    Operation(
        operation_id="createGroup",
        method="POST",
        path="/auth/groups",
        params=CreateGroupParams,
        parameters=(),
        body=models.GroupCreation,
        body_required=True,
        media_types=("application/json",),
        binary=False,
        security=True,
        success=201,
        tag="auth",
        summary="Create a group.",
    ),
    Operation(
        operation_id="getGroup",
        method="GET",
        path="/auth/groups/{groupId}",
        params=GetGroupParams,
        parameters=(Parameter("groupId", "path", False, False, False),),
        body=None,
        body_required=False,
        media_types=(),
        binary=False,
        security=True,
        success=200,
        tag="auth",
        summary="Describe one group.",
    ),
    Operation(
        operation_id="deleteGroup",
        method="DELETE",
        path="/auth/groups/{groupId}",
        params=DeleteGroupParams,
        parameters=(Parameter("groupId", "path", False, False, False),),
        body=None,
        body_required=False,
        media_types=(),
        binary=False,
        security=True,
        success=204,
        tag="auth",
        summary="Delete a group with its memberships and attachments.",
    ),
    Operation(
        operation_id="getGroupACL",
        method="GET",
        path="/auth/groups/{groupId}/acl",
        params=GetGroupACLParams,
        parameters=(Parameter("groupId", "path", False, False, False),),
        body=None,
        body_required=False,
        media_types=(),
        binary=False,
        security=True,
        success=200,
        tag="auth",
        summary="Report that a group has no access control list.",
    ),
    Operation(
        operation_id="listGroupMembers",
        method="GET",
        path="/auth/groups/{groupId}/members",
        params=ListGroupMembersParams,
        parameters=(
            Parameter("groupId", "path", False, False, False),
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
        tag="auth",
        summary="List the members of a group.",
    ),
    Operation(
        operation_id="addGroupMembership",
        method="PUT",
        path="/auth/groups/{groupId}/members/{userId}",
        params=AddGroupMembershipParams,
        parameters=(
            Parameter("groupId", "path", False, False, False),
            Parameter("userId", "path", False, False, False),
        ),
        body=None,
        body_required=False,
        media_types=(),
        binary=False,
        security=True,
        success=201,
        tag="auth",
        summary="Add a user to a group.",
    ),
    Operation(
        operation_id="deleteGroupMembership",
        method="DELETE",
        path="/auth/groups/{groupId}/members/{userId}",
        params=DeleteGroupMembershipParams,
        parameters=(
            Parameter("groupId", "path", False, False, False),
            Parameter("userId", "path", False, False, False),
        ),
        body=None,
        body_required=False,
        media_types=(),
        binary=False,
        security=True,
        success=204,
        tag="auth",
        summary="Remove a user from a group.",
    ),
    Operation(
        operation_id="listGroupPolicies",
        method="GET",
        path="/auth/groups/{groupId}/policies",
        params=ListGroupPoliciesParams,
        parameters=(
            Parameter("groupId", "path", False, False, False),
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
        tag="auth",
        summary="List the policies of a group.",
    ),
    Operation(
        operation_id="attachPolicyToGroup",
        method="PUT",
        path="/auth/groups/{groupId}/policies/{policyId}",
        params=AttachPolicyToGroupParams,
        parameters=(
            Parameter("groupId", "path", False, False, False),
            Parameter("policyId", "path", False, False, False),
        ),
        body=None,
        body_required=False,
        media_types=(),
        binary=False,
        security=True,
        success=201,
        tag="auth",
        summary="Attach a policy to a group.",
    ),
    Operation(
        operation_id="detachPolicyFromGroup",
        method="DELETE",
        path="/auth/groups/{groupId}/policies/{policyId}",
        params=DetachPolicyFromGroupParams,
        parameters=(
            Parameter("groupId", "path", False, False, False),
            Parameter("policyId", "path", False, False, False),
        ),
        body=None,
        body_required=False,
        media_types=(),
        binary=False,
        security=True,
        success=204,
        tag="auth",
        summary="Detach a policy from a group.",
    ),
    Operation(
        operation_id="grantRepositoryToGroup",
        method="PUT",
        path="/auth/groups/{groupId}/grants/{repository}",
        params=GrantRepositoryToGroupParams,
        parameters=(
            Parameter("groupId", "path", False, False, False),
            Parameter("repository", "path", False, False, False),
        ),
        body=models.Grant,
        body_required=True,
        media_types=("application/json",),
        binary=False,
        security=True,
        success=200,
        tag="auth",
        summary="Give the members of a group rights on one repository.",
    ),
    Operation(
        operation_id="revokeRepositoryFromGroup",
        method="DELETE",
        path="/auth/groups/{groupId}/grants/{repository}",
        params=RevokeRepositoryFromGroupParams,
        parameters=(
            Parameter("groupId", "path", False, False, False),
            Parameter("repository", "path", False, False, False),
        ),
        body=None,
        body_required=False,
        media_types=(),
        binary=False,
        security=True,
        success=204,
        tag="auth",
        summary="Revoke a group's grant on one repository.",
    ),
    Operation(
        operation_id="listRightsChanges",
        method="GET",
        path="/auth/changes",
        params=ListRightsChangesParams,
        parameters=(
            Parameter("after", "query", False, False, False),
            Parameter("amount", "query", False, False, False),
        ),
        body=None,
        body_required=False,
        media_types=(),
        binary=False,
        security=True,
        success=200,
        tag="auth",
        summary="List the changes of users, groups and policies, oldest first.",
    ),
    Operation(
        operation_id="listPolicies",
        method="GET",
        path="/auth/policies",
        params=ListPoliciesParams,
        parameters=(
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
        tag="auth",
        summary="List policies in the order of their ids.",
    ),
    Operation(
        operation_id="createPolicy",
        method="POST",
        path="/auth/policies",
        params=CreatePolicyParams,
        parameters=(),
        body=models.PolicyCreation,
        body_required=True,
        media_types=("application/json",),
        binary=False,
        security=True,
        success=201,
        tag="auth",
        summary="Create a policy.",
    ),
    Operation(
        operation_id="getPolicy",
        method="GET",
        path="/auth/policies/{policyId}",
        params=GetPolicyParams,
        parameters=(Parameter("policyId", "path", False, False, False),),
        body=None,
        body_required=False,
        media_types=(),
        binary=False,
        security=True,
        success=200,
        tag="auth",
        summary="Describe one policy.",
    ),
    Operation(
        operation_id="updatePolicy",
        method="PUT",
        path="/auth/policies/{policyId}",
        params=UpdatePolicyParams,
        parameters=(Parameter("policyId", "path", False, False, False),),
        body=models.PolicyCreation,
        body_required=True,
        media_types=("application/json",),
        binary=False,
        security=True,
        success=200,
        tag="auth",
        summary="Replace the statements of a policy.",
    ),
    Operation(
        operation_id="deletePolicy",
        method="DELETE",
        path="/auth/policies/{policyId}",
        params=DeletePolicyParams,
        parameters=(Parameter("policyId", "path", False, False, False),),
        body=None,
        body_required=False,
        media_types=(),
        binary=False,
        security=True,
        success=204,
        tag="auth",
        summary="Delete a policy and its attachments.",
    ),
    Operation(
        operation_id="simulate",
        method="POST",
        path="/auth/simulate",
        params=SimulateParams,
        parameters=(),
        body=models.Simulation,
        body_required=True,
        media_types=("application/json",),
        binary=False,
        security=True,
        success=200,
        tag="auth",
        summary="Explain whether a user may perform an action on a resource.",
    ),
    Operation(
        operation_id="createTemporaryKey",
        method="POST",
        path="/auth/session",
        params=CreateTemporaryKeyParams,
        parameters=(),
        body=models.TemporaryKeyCreation,
        body_required=False,
        media_types=("application/json",),
        binary=False,
        security=True,
        success=201,
        tag="auth",
        summary="Create a temporary access key for S3 clients.",
    ),
    Operation(
        operation_id="listUserSessions",
        method="GET",
        path="/auth/users/{userId}/sessions",
        params=ListUserSessionsParams,
        parameters=(
            Parameter("userId", "path", False, False, False),
            Parameter("after", "query", False, False, False),
            Parameter("amount", "query", False, False, False),
        ),
        body=None,
        body_required=False,
        media_types=(),
        binary=False,
        security=True,
        success=200,
        tag="auth",
        summary="List the open login sessions of a user.",
    ),
    Operation(
        operation_id="endUserSession",
        method="DELETE",
        path="/auth/users/{userId}/sessions/{sessionId}",
        params=EndUserSessionParams,
        parameters=(
            Parameter("userId", "path", False, False, False),
            Parameter("sessionId", "path", False, False, False),
        ),
        body=None,
        body_required=False,
        media_types=(),
        binary=False,
        security=True,
        success=204,
        tag="auth",
        summary="End a login session of a user.",
    ),
    Operation(
        operation_id="listUserCredentials",
        method="GET",
        path="/auth/users/{userId}/credentials",
        params=ListUserCredentialsParams,
        parameters=(
            Parameter("userId", "path", False, False, False),
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
        tag="auth",
        summary="List the access keys of a user, without their secrets.",
    ),
    Operation(
        operation_id="createCredentials",
        method="POST",
        path="/auth/users/{userId}/credentials",
        params=CreateCredentialsParams,
        parameters=(Parameter("userId", "path", False, False, False),),
        body=models.CredentialsCreation,
        body_required=False,
        media_types=("application/json",),
        binary=False,
        security=True,
        success=201,
        tag="auth",
        summary="Create another access key for a user.",
    ),
    Operation(
        operation_id="getCredentials",
        method="GET",
        path="/auth/users/{userId}/credentials/{accessKeyId}",
        params=GetCredentialsParams,
        parameters=(
            Parameter("userId", "path", False, False, False),
            Parameter("accessKeyId", "path", False, False, False),
        ),
        body=None,
        body_required=False,
        media_types=(),
        binary=False,
        security=True,
        success=200,
        tag="auth",
        summary="Describe one access key of a user.",
    ),
    Operation(
        operation_id="deleteCredentials",
        method="DELETE",
        path="/auth/users/{userId}/credentials/{accessKeyId}",
        params=DeleteCredentialsParams,
        parameters=(
            Parameter("userId", "path", False, False, False),
            Parameter("accessKeyId", "path", False, False, False),
        ),
        body=None,
        body_required=False,
        media_types=(),
        binary=False,
        security=True,
        success=204,
        tag="auth",
        summary="Remove one access key of a user.",
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
            Parameter("purge", "query", False, True, False),
        ),
        body=None,
        body_required=False,
        media_types=(),
        binary=False,
        security=True,
        success=200,
        tag="repositories",
        summary="Delete a repository.",
    ),
    Operation(
        operation_id="getRepositoryStatistics",
        method="GET",
        path="/repositories/{repository}/statistics",
        params=GetRepositoryStatisticsParams,
        parameters=(Parameter("repository", "path", False, False, False),),
        body=None,
        body_required=False,
        media_types=(),
        binary=False,
        security=True,
        success=200,
        tag="repositories",
        summary="Return statistics of the head of the default branch.",
    ),
    Operation(
        operation_id="getServerAccessHistory",
        method="GET",
        path="/history",
        params=GetServerAccessHistoryParams,
        parameters=(
            Parameter("since", "query", False, False, True),
            Parameter("until", "query", False, False, True),
            Parameter("user", "query", False, False, False),
            Parameter("path", "query", False, False, False),
            Parameter("operation", "query", False, False, False),
            Parameter("refused", "query", False, True, False),
        ),
        body=None,
        body_required=False,
        media_types=(),
        binary=True,
        security=True,
        success=200,
        tag="auth",
        summary="Read the access history of the server.",
    ),
    Operation(
        operation_id="getAccessHistory",
        method="GET",
        path="/repositories/{repository}/history",
        params=GetAccessHistoryParams,
        parameters=(
            Parameter("repository", "path", False, False, False),
            Parameter("since", "query", False, False, True),
            Parameter("until", "query", False, False, True),
            Parameter("user", "query", False, False, False),
            Parameter("path", "query", False, False, False),
            Parameter("operation", "query", False, False, False),
            Parameter("refused", "query", False, True, False),
        ),
        body=None,
        body_required=False,
        media_types=(),
        binary=True,
        security=True,
        success=200,
        tag="repositories",
        summary="Read the access history of a repository.",
    ),
    Operation(
        operation_id="listServerEvents",
        method="GET",
        path="/events",
        params=ListServerEventsParams,
        parameters=(
            Parameter("after", "query", False, False, False),
            Parameter("type", "query", False, False, False),
            Parameter("amount", "query", False, False, False),
        ),
        body=None,
        body_required=False,
        media_types=(),
        binary=False,
        security=True,
        success=200,
        tag="repositories",
        summary="List the events of all repositories, and changes of rights.",
    ),
    Operation(
        operation_id="listEvents",
        method="GET",
        path="/repositories/{repository}/events",
        params=ListEventsParams,
        parameters=(
            Parameter("repository", "path", False, False, False),
            Parameter("after", "query", False, False, False),
            Parameter("branch", "query", False, False, False),
            Parameter("type", "query", False, False, False),
            Parameter("amount", "query", False, False, False),
            Parameter("Last-Event-ID", "header", False, False, False),
        ),
        body=None,
        body_required=False,
        media_types=(),
        binary=False,
        security=True,
        success=200,
        tag="repositories",
        summary="List the events of a repository, or follow them live.",
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
        summary="Set metadata keys of a repository.",
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
        summary="Remove metadata keys of a repository.",
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
        summary="Discard the uncommitted changes of a branch.",
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
        operation_id="hardResetBranch",
        method="PUT",
        path="/repositories/{repository}/branches/{branch}/hard_reset",
        params=HardResetBranchParams,
        parameters=(
            Parameter("repository", "path", False, False, False),
            Parameter("branch", "path", False, False, False),
            Parameter("ref", "query", False, False, False),
            Parameter("force", "query", False, True, False),
        ),
        body=None,
        body_required=False,
        media_types=(),
        binary=False,
        security=True,
        success=204,
        tag="branches",
        summary="Move a branch to another commit.",
    ),
    Operation(
        operation_id="revertBranch",
        method="POST",
        path="/repositories/{repository}/branches/{branch}/revert",
        params=RevertBranchParams,
        parameters=(
            Parameter("repository", "path", False, False, False),
            Parameter("branch", "path", False, False, False),
            Parameter("Idempotency-Key", "header", False, False, False),
        ),
        body=models.RevertCreation,
        body_required=True,
        media_types=("application/json",),
        binary=False,
        security=True,
        success=204,
        tag="branches",
        summary="Undo the changes of a commit with a new commit.",
    ),
    Operation(
        operation_id="cherryPick",
        method="POST",
        path="/repositories/{repository}/branches/{branch}/cherry-pick",
        params=CherryPickParams,
        parameters=(
            Parameter("repository", "path", False, False, False),
            Parameter("branch", "path", False, False, False),
            Parameter("Idempotency-Key", "header", False, False, False),
        ),
        body=models.CherryPickCreation,
        body_required=True,
        media_types=("application/json",),
        binary=False,
        security=True,
        success=201,
        tag="branches",
        summary="Apply the changes of a commit to a branch with a new commit.",
    ),
    Operation(
        operation_id="getBranchProtectionRules",
        method="GET",
        path="/repositories/{repository}/settings/branch_protection",
        params=GetBranchProtectionRulesParams,
        parameters=(Parameter("repository", "path", False, False, False),),
        body=None,
        body_required=False,
        media_types=(),
        binary=False,
        security=True,
        success=200,
        tag="repositories",
        summary="List branch protection rules.",
    ),
    Operation(
        operation_id="setBranchProtectionRules",
        method="PUT",
        path="/repositories/{repository}/settings/branch_protection",
        params=SetBranchProtectionRulesParams,
        parameters=(
            Parameter("repository", "path", False, False, False),
            Parameter("If-Match", "header", False, False, False),
        ),
        body=models.BranchProtectionRuleList,
        body_required=True,
        media_types=("application/json",),
        binary=False,
        security=True,
        success=204,
        tag="repositories",
        summary="Replace all branch protection rules.",
    ),
    Operation(
        operation_id="createBranchProtectionRulePreflight",
        method="GET",
        path="/repositories/{repository}/branch_protection/set_allowed",
        params=CreateBranchProtectionRulePreflightParams,
        parameters=(Parameter("repository", "path", False, False, False),),
        body=None,
        body_required=False,
        media_types=(),
        binary=False,
        security=True,
        success=204,
        tag="repositories",
        summary="Report whether the caller may set branch protection rules.",
    ),
    Operation(
        operation_id="internalGetBranchProtectionRules",
        method="GET",
        path="/repositories/{repository}/branch_protection",
        params=InternalGetBranchProtectionRulesParams,
        parameters=(Parameter("repository", "path", False, False, False),),
        body=None,
        body_required=False,
        media_types=(),
        binary=False,
        security=True,
        success=200,
        tag="repositories",
        summary="List branch protection rules.",
    ),
    Operation(
        operation_id="internalCreateBranchProtectionRule",
        method="POST",
        path="/repositories/{repository}/branch_protection",
        params=InternalCreateBranchProtectionRuleParams,
        parameters=(Parameter("repository", "path", False, False, False),),
        body=models.BranchProtectionRule,
        body_required=True,
        media_types=("application/json",),
        binary=False,
        security=True,
        success=204,
        tag="repositories",
        summary="Add one branch protection rule.",
    ),
    Operation(
        operation_id="internalDeleteBranchProtectionRule",
        method="DELETE",
        path="/repositories/{repository}/branch_protection",
        params=InternalDeleteBranchProtectionRuleParams,
        parameters=(Parameter("repository", "path", False, False, False),),
        body=models.BranchProtectionRuleDeletion,
        body_required=True,
        media_types=("application/json",),
        binary=False,
        security=True,
        success=204,
        tag="repositories",
        summary="Remove one branch protection rule.",
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
            Parameter("Idempotency-Key", "header", False, False, False),
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
        operation_id="createCommitRecord",
        method="POST",
        path="/repositories/{repository}/commits",
        params=CreateCommitRecordParams,
        parameters=(Parameter("repository", "path", False, False, False),),
        body=models.CommitRecordCreation,
        body_required=True,
        media_types=("application/json",),
        binary=False,
        security=True,
        success=204,
        tag="commits",
        summary="Store a commit record unchanged.",
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
        operation_id="getCommitStatistics",
        method="GET",
        path="/repositories/{repository}/commits/{commitId}/statistics",
        params=GetCommitStatisticsParams,
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
        summary="Count the paths and bytes that a commit changed.",
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
            Parameter("until", "query", False, False, True),
            Parameter("author", "query", False, False, False),
            Parameter("author_contains", "query", False, False, False),
            Parameter("stop_at", "query", False, False, False),
        ),
        body=None,
        body_required=False,
        media_types=(),
        binary=False,
        security=True,
        success=200,
        tag="commits",
        summary="List the commits that are reachable from a reference.",
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
        summary="Find the nearest common ancestor of two references.",
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
            Parameter("Idempotency-Key", "header", False, False, False),
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
        operation_id="listOwnPullRequests",
        method="GET",
        path="/pulls",
        params=ListOwnPullRequestsParams,
        parameters=(
            Parameter("after", "query", False, False, False),
            Parameter("amount", "query", False, False, False),
        ),
        body=None,
        body_required=False,
        media_types=(),
        binary=False,
        security=True,
        success=200,
        tag="pulls",
        summary="List the open pull requests that concern the calling user.",
    ),
    Operation(
        operation_id="listPullRequests",
        method="GET",
        path="/repositories/{repository}/pulls",
        params=ListPullRequestsParams,
        parameters=(
            Parameter("repository", "path", False, False, False),
            Parameter("prefix", "query", False, False, False),
            Parameter("after", "query", False, False, False),
            Parameter("amount", "query", False, False, False),
            Parameter("status", "query", False, False, False),
        ),
        body=None,
        body_required=False,
        media_types=(),
        binary=False,
        security=True,
        success=200,
        tag="pulls",
        summary="List pull requests, newest first.",
    ),
    Operation(
        operation_id="createPullRequest",
        method="POST",
        path="/repositories/{repository}/pulls",
        params=CreatePullRequestParams,
        parameters=(Parameter("repository", "path", False, False, False),),
        body=models.PullRequestCreation,
        body_required=True,
        media_types=("application/json",),
        binary=False,
        security=True,
        success=201,
        tag="pulls",
        summary="Open a pull request.",
    ),
    Operation(
        operation_id="getPullRequest",
        method="GET",
        path="/repositories/{repository}/pulls/{pull_request}",
        params=GetPullRequestParams,
        parameters=(
            Parameter("repository", "path", False, False, False),
            Parameter("pull_request", "path", False, False, False),
        ),
        body=None,
        body_required=False,
        media_types=(),
        binary=False,
        security=True,
        success=200,
        tag="pulls",
        summary="Describe one pull request.",
    ),
    Operation(
        operation_id="updatePullRequest",
        method="PATCH",
        path="/repositories/{repository}/pulls/{pull_request}",
        params=UpdatePullRequestParams,
        parameters=(
            Parameter("repository", "path", False, False, False),
            Parameter("pull_request", "path", False, False, False),
        ),
        body=models.PullRequestBasic,
        body_required=True,
        media_types=("application/json",),
        binary=False,
        security=True,
        success=204,
        tag="pulls",
        summary="Change, close or reopen a pull request.",
    ),
    Operation(
        operation_id="mergePullRequest",
        method="PUT",
        path="/repositories/{repository}/pulls/{pull_request}/merge",
        params=MergePullRequestParams,
        parameters=(
            Parameter("repository", "path", False, False, False),
            Parameter("pull_request", "path", False, False, False),
        ),
        body=models.PullRequestMerge,
        body_required=False,
        media_types=("application/json",),
        binary=False,
        security=True,
        success=200,
        tag="pulls",
        summary="Merge a pull request.",
    ),
    Operation(
        operation_id="getPullRequestState",
        method="GET",
        path="/repositories/{repository}/pulls/{pull_request}/state",
        params=GetPullRequestStateParams,
        parameters=(
            Parameter("repository", "path", False, False, False),
            Parameter("pull_request", "path", False, False, False),
        ),
        body=None,
        body_required=False,
        media_types=(),
        binary=False,
        security=True,
        success=200,
        tag="pulls",
        summary="Report whether a pull request can be merged.",
    ),
    Operation(
        operation_id="listPullRequestConflicts",
        method="GET",
        path="/repositories/{repository}/pulls/{pull_request}/conflicts",
        params=ListPullRequestConflictsParams,
        parameters=(
            Parameter("repository", "path", False, False, False),
            Parameter("pull_request", "path", False, False, False),
            Parameter("after", "query", False, False, False),
            Parameter("amount", "query", False, False, False),
        ),
        body=None,
        body_required=False,
        media_types=(),
        binary=False,
        security=True,
        success=200,
        tag="pulls",
        summary="List the conflicting paths of a pull request.",
    ),
    Operation(
        operation_id="listPullRequestEvents",
        method="GET",
        path="/repositories/{repository}/pulls/{pull_request}/events",
        params=ListPullRequestEventsParams,
        parameters=(
            Parameter("repository", "path", False, False, False),
            Parameter("pull_request", "path", False, False, False),
            Parameter("after", "query", False, False, False),
            Parameter("amount", "query", False, False, False),
        ),
        body=None,
        body_required=False,
        media_types=(),
        binary=False,
        security=True,
        success=200,
        tag="pulls",
        summary="List the timeline of a pull request, oldest first.",
    ),
    Operation(
        operation_id="setPullRequestReviewers",
        method="PUT",
        path="/repositories/{repository}/pulls/{pull_request}/reviewers",
        params=SetPullRequestReviewersParams,
        parameters=(
            Parameter("repository", "path", False, False, False),
            Parameter("pull_request", "path", False, False, False),
        ),
        body=models.PullRequestReviewers,
        body_required=True,
        media_types=("application/json",),
        binary=False,
        security=True,
        success=204,
        tag="pulls",
        summary="Replace the users and groups that should review a pull request.",
    ),
    Operation(
        operation_id="listPullRequestReviews",
        method="GET",
        path="/repositories/{repository}/pulls/{pull_request}/reviews",
        params=ListPullRequestReviewsParams,
        parameters=(
            Parameter("repository", "path", False, False, False),
            Parameter("pull_request", "path", False, False, False),
        ),
        body=None,
        body_required=False,
        media_types=(),
        binary=False,
        security=True,
        success=200,
        tag="pulls",
        summary="List the reviews of a pull request, oldest first.",
    ),
    Operation(
        operation_id="createPullRequestReview",
        method="POST",
        path="/repositories/{repository}/pulls/{pull_request}/reviews",
        params=CreatePullRequestReviewParams,
        parameters=(
            Parameter("repository", "path", False, False, False),
            Parameter("pull_request", "path", False, False, False),
        ),
        body=models.PullRequestReviewCreation,
        body_required=True,
        media_types=("application/json",),
        binary=False,
        security=True,
        success=201,
        tag="pulls",
        summary="Review a pull request.",
    ),
    Operation(
        operation_id="dismissPullRequestReview",
        method="POST",
        path="/repositories/{repository}/pulls/{pull_request}/reviews/{review}/dismiss",
        params=DismissPullRequestReviewParams,
        parameters=(
            Parameter("repository", "path", False, False, False),
            Parameter("pull_request", "path", False, False, False),
            Parameter("review", "path", False, False, False),
        ),
        body=models.PullRequestReviewDismissal,
        body_required=False,
        media_types=("application/json",),
        binary=False,
        security=True,
        success=204,
        tag="pulls",
        summary="Dismiss a review.",
    ),
    Operation(
        operation_id="listPullRequestApprovals",
        method="GET",
        path="/repositories/{repository}/pulls/{pull_request}/approvals",
        params=ListPullRequestApprovalsParams,
        parameters=(
            Parameter("repository", "path", False, False, False),
            Parameter("pull_request", "path", False, False, False),
        ),
        body=None,
        body_required=False,
        media_types=(),
        binary=False,
        security=True,
        success=200,
        tag="pulls",
        summary="List the approvals that count.",
    ),
    Operation(
        operation_id="approvePullRequest",
        method="POST",
        path="/repositories/{repository}/pulls/{pull_request}/approvals",
        params=ApprovePullRequestParams,
        parameters=(
            Parameter("repository", "path", False, False, False),
            Parameter("pull_request", "path", False, False, False),
        ),
        body=models.PullRequestApprovalCreation,
        body_required=False,
        media_types=("application/json",),
        binary=False,
        security=True,
        success=201,
        tag="pulls",
        summary="Approve a pull request.",
    ),
    Operation(
        operation_id="withdrawPullRequestApproval",
        method="DELETE",
        path="/repositories/{repository}/pulls/{pull_request}/approvals",
        params=WithdrawPullRequestApprovalParams,
        parameters=(
            Parameter("repository", "path", False, False, False),
            Parameter("pull_request", "path", False, False, False),
        ),
        body=None,
        body_required=False,
        media_types=(),
        binary=False,
        security=True,
        success=204,
        tag="pulls",
        summary="Withdraw your approval.",
    ),
    Operation(
        operation_id="listPullRequestComments",
        method="GET",
        path="/repositories/{repository}/pulls/{pull_request}/comments",
        params=ListPullRequestCommentsParams,
        parameters=(
            Parameter("repository", "path", False, False, False),
            Parameter("pull_request", "path", False, False, False),
            Parameter("path", "query", False, False, False),
        ),
        body=None,
        body_required=False,
        media_types=(),
        binary=False,
        security=True,
        success=200,
        tag="pulls",
        summary="List the comments on a pull request, oldest first.",
    ),
    Operation(
        operation_id="createPullRequestComment",
        method="POST",
        path="/repositories/{repository}/pulls/{pull_request}/comments",
        params=CreatePullRequestCommentParams,
        parameters=(
            Parameter("repository", "path", False, False, False),
            Parameter("pull_request", "path", False, False, False),
        ),
        body=models.PullRequestCommentCreation,
        body_required=True,
        media_types=("application/json",),
        binary=False,
        security=True,
        success=201,
        tag="pulls",
        summary="Comment on a pull request, a path, or a column or row of a table.",
    ),
    Operation(
        operation_id="deletePullRequestComment",
        method="DELETE",
        path="/repositories/{repository}/pulls/{pull_request}/comments/{comment}",
        params=DeletePullRequestCommentParams,
        parameters=(
            Parameter("repository", "path", False, False, False),
            Parameter("pull_request", "path", False, False, False),
            Parameter("comment", "path", False, False, False),
        ),
        body=None,
        body_required=False,
        media_types=(),
        binary=False,
        security=True,
        success=204,
        tag="pulls",
        summary="Delete your comment.",
    ),
    Operation(
        operation_id="updatePullRequestComment",
        method="PATCH",
        path="/repositories/{repository}/pulls/{pull_request}/comments/{comment}",
        params=UpdatePullRequestCommentParams,
        parameters=(
            Parameter("repository", "path", False, False, False),
            Parameter("pull_request", "path", False, False, False),
            Parameter("comment", "path", False, False, False),
        ),
        body=models.PullRequestCommentUpdate,
        body_required=True,
        media_types=("application/json",),
        binary=False,
        security=True,
        success=200,
        tag="pulls",
        summary="Change the text of your comment, or mark a comment as resolved.",
    ),
    Operation(
        operation_id="listCommitChecks",
        method="GET",
        path="/repositories/{repository}/commits/{commitId}/checks",
        params=ListCommitChecksParams,
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
        summary="List the checks of a commit, in the order of their names.",
    ),
    Operation(
        operation_id="reportCommitCheck",
        method="POST",
        path="/repositories/{repository}/commits/{commitId}/checks",
        params=ReportCommitCheckParams,
        parameters=(
            Parameter("repository", "path", False, False, False),
            Parameter("commitId", "path", False, False, False),
        ),
        body=models.CommitCheckCreation,
        body_required=True,
        media_types=("application/json",),
        binary=False,
        security=True,
        success=201,
        tag="commits",
        summary="Report the state of a check of a commit.",
    ),
    Operation(
        operation_id="validateAction",
        method="POST",
        path="/actions/validate",
        params=ValidateActionParams,
        parameters=(),
        body=models.ActionFile,
        body_required=True,
        media_types=("application/json",),
        binary=False,
        security=True,
        success=204,
        tag="actions",
        summary="Check an action file without storing it.",
    ),
    Operation(
        operation_id="listRepositoryRuns",
        method="GET",
        path="/repositories/{repository}/actions/runs",
        params=ListRepositoryRunsParams,
        parameters=(
            Parameter("repository", "path", False, False, False),
            Parameter("after", "query", False, False, False),
            Parameter("amount", "query", False, False, False),
            Parameter("branch", "query", False, False, False),
            Parameter("commit", "query", False, False, False),
        ),
        body=None,
        body_required=False,
        media_types=(),
        binary=False,
        security=True,
        success=200,
        tag="actions",
        summary="List the runs of hooks, newest first.",
    ),
    Operation(
        operation_id="startActionRun",
        method="POST",
        path="/repositories/{repository}/actions/runs",
        params=StartActionRunParams,
        parameters=(Parameter("repository", "path", False, False, False),),
        body=models.ActionRunCreation,
        body_required=True,
        media_types=("application/json",),
        binary=False,
        security=True,
        success=201,
        tag="actions",
        summary="Run the actions of an event manually.",
    ),
    Operation(
        operation_id="getRun",
        method="GET",
        path="/repositories/{repository}/actions/runs/{run_id}",
        params=GetRunParams,
        parameters=(
            Parameter("repository", "path", False, False, False),
            Parameter("run_id", "path", False, False, False),
        ),
        body=None,
        body_required=False,
        media_types=(),
        binary=False,
        security=True,
        success=200,
        tag="actions",
        summary="Describe a run of hooks.",
    ),
    Operation(
        operation_id="repeatActionRun",
        method="POST",
        path="/repositories/{repository}/actions/runs/{run_id}/rerun",
        params=RepeatActionRunParams,
        parameters=(
            Parameter("repository", "path", False, False, False),
            Parameter("run_id", "path", False, False, False),
        ),
        body=None,
        body_required=False,
        media_types=(),
        binary=False,
        security=True,
        success=201,
        tag="actions",
        summary="Run the actions of a run again, at the same commit.",
    ),
    Operation(
        operation_id="listRunHooks",
        method="GET",
        path="/repositories/{repository}/actions/runs/{run_id}/hooks",
        params=ListRunHooksParams,
        parameters=(
            Parameter("repository", "path", False, False, False),
            Parameter("run_id", "path", False, False, False),
            Parameter("after", "query", False, False, False),
            Parameter("amount", "query", False, False, False),
            Parameter("skipped", "query", False, True, False),
        ),
        body=None,
        body_required=False,
        media_types=(),
        binary=False,
        security=True,
        success=200,
        tag="actions",
        summary="List the hooks of a run, in order.",
    ),
    Operation(
        operation_id="getRunHookOutput",
        method="GET",
        path="/repositories/{repository}/actions/runs/{run_id}/hooks/{hook_run_id}/output",
        params=GetRunHookOutputParams,
        parameters=(
            Parameter("repository", "path", False, False, False),
            Parameter("run_id", "path", False, False, False),
            Parameter("hook_run_id", "path", False, False, False),
        ),
        body=None,
        body_required=False,
        media_types=(),
        binary=True,
        security=True,
        success=200,
        tag="actions",
        summary="Read the log of a hook.",
    ),
    Operation(
        operation_id="listHookDeliveries",
        method="GET",
        path="/repositories/{repository}/actions/deliveries",
        params=ListHookDeliveriesParams,
        parameters=(
            Parameter("repository", "path", False, False, False),
            Parameter("after", "query", False, False, False),
            Parameter("amount", "query", False, False, False),
        ),
        body=None,
        body_required=False,
        media_types=(),
        binary=False,
        security=True,
        success=200,
        tag="actions",
        summary="List the waiting and failed deliveries of actions.",
    ),
    Operation(
        operation_id="redeliverHook",
        method="POST",
        path="/repositories/{repository}/actions/deliveries/{delivery_id}/redeliver",
        params=RedeliverHookParams,
        parameters=(
            Parameter("repository", "path", False, False, False),
            Parameter("delivery_id", "path", False, False, False),
        ),
        body=None,
        body_required=False,
        media_types=(),
        binary=False,
        security=True,
        success=200,
        tag="actions",
        summary="Retry a failed delivery, from its first hook.",
    ),
    Operation(
        operation_id="getHookSettings",
        method="GET",
        path="/repositories/{repository}/settings/hooks",
        params=GetHookSettingsParams,
        parameters=(Parameter("repository", "path", False, False, False),),
        body=None,
        body_required=False,
        media_types=(),
        binary=False,
        security=True,
        success=200,
        tag="actions",
        summary="Read the action files of the settings.",
    ),
    Operation(
        operation_id="setHookSettings",
        method="PUT",
        path="/repositories/{repository}/settings/hooks",
        params=SetHookSettingsParams,
        parameters=(
            Parameter("repository", "path", False, False, False),
            Parameter("If-Match", "header", False, False, False),
        ),
        body=models.HookSettings,
        body_required=True,
        media_types=("application/json",),
        binary=False,
        security=True,
        success=204,
        tag="actions",
        summary="Replace the action files of the settings.",
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
        summary="List the differences between two references.",
    ),
    Operation(
        operation_id="diffTable",
        method="GET",
        path="/repositories/{repository}/refs/{leftRef}/diff/{rightRef}/table",
        params=DiffTableParams,
        parameters=(
            Parameter("repository", "path", False, False, False),
            Parameter("leftRef", "path", False, False, False),
            Parameter("rightRef", "path", False, False, False),
            Parameter("path", "query", False, False, False),
            Parameter("key", "query", True, False, False),
            Parameter("change", "query", False, False, False),
            Parameter("type", "query", False, False, False),
            Parameter("offset", "query", False, False, False),
            Parameter("limit", "query", False, False, False),
            Parameter("columns", "query", True, False, False),
            Parameter("format", "query", False, False, False),
        ),
        body=None,
        body_required=False,
        media_types=(),
        binary=False,
        security=True,
        success=200,
        tag="diffs",
        summary="List the rows of a table that differ between two references.",
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
        operation_id="listObjectWriters",
        method="GET",
        path="/repositories/{repository}/refs/{ref}/objects/writers",
        params=ListObjectWritersParams,
        parameters=(
            Parameter("repository", "path", False, False, False),
            Parameter("ref", "path", False, False, False),
            Parameter("after", "query", False, False, False),
            Parameter("amount", "query", False, False, False),
            Parameter("prefix", "query", False, False, False),
        ),
        body=None,
        body_required=False,
        media_types=(),
        binary=False,
        security=True,
        success=200,
        tag="objects",
        summary="List objects with the commits that wrote them.",
    ),
    Operation(
        operation_id="readTable",
        method="GET",
        path="/repositories/{repository}/refs/{ref}/objects/table",
        params=ReadTableParams,
        parameters=(
            Parameter("repository", "path", False, False, False),
            Parameter("ref", "path", False, False, False),
            Parameter("path", "query", False, False, False),
            Parameter("offset", "query", False, False, False),
            Parameter("limit", "query", False, False, False),
            Parameter("columns", "query", True, False, False),
            Parameter("order", "query", False, False, False),
            Parameter("descending", "query", False, True, False),
            Parameter("format", "query", False, False, False),
            Parameter("statistics", "query", False, True, False),
        ),
        body=None,
        body_required=False,
        media_types=(),
        binary=False,
        security=True,
        success=200,
        tag="objects",
        summary="Read rows of a table.",
    ),
    Operation(
        operation_id="searchObjects",
        method="GET",
        path="/repositories/{repository}/refs/{ref}/objects/search",
        params=SearchObjectsParams,
        parameters=(
            Parameter("repository", "path", False, False, False),
            Parameter("ref", "path", False, False, False),
            Parameter("q", "query", False, False, False),
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
        tag="objects",
        summary="Find objects by a part of their paths.",
    ),
    Operation(
        operation_id="getObjects",
        method="POST",
        path="/repositories/{repository}/refs/{ref}/objects/batch",
        params=GetObjectsParams,
        parameters=(
            Parameter("repository", "path", False, False, False),
            Parameter("ref", "path", False, False, False),
        ),
        body=models.ObjectsRead,
        body_required=True,
        media_types=("application/json",),
        binary=True,
        security=True,
        success=200,
        tag="objects",
        summary="Read the contents of many objects in one request.",
    ),
    Operation(
        operation_id="getArchive",
        method="GET",
        path="/repositories/{repository}/refs/{ref}/archive",
        params=GetArchiveParams,
        parameters=(
            Parameter("repository", "path", False, False, False),
            Parameter("ref", "path", False, False, False),
            Parameter("prefix", "query", False, False, False),
            Parameter("format", "query", False, False, False),
        ),
        body=None,
        body_required=False,
        media_types=(),
        binary=True,
        security=True,
        success=200,
        tag="objects",
        summary="Read a folder as a tar or zip file.",
    ),
    Operation(
        operation_id="stageObject",
        method="PUT",
        path="/repositories/{repository}/branches/{branch}/objects",
        params=StageObjectParams,
        parameters=(
            Parameter("repository", "path", False, False, False),
            Parameter("branch", "path", False, False, False),
            Parameter("path", "query", False, False, False),
        ),
        body=models.ObjectStageCreation,
        body_required=True,
        media_types=("application/json",),
        binary=False,
        security=True,
        success=201,
        tag="objects",
        summary="Add an object that is already in a store.",
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
        summary="Write and delete several objects atomically in one request.",
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
        operation_id="getMetaRange",
        method="GET",
        path="/repositories/{repository}/metadata/meta_range/{meta_range}",
        params=GetMetaRangeParams,
        parameters=(
            Parameter("repository", "path", False, False, False),
            Parameter("meta_range", "path", False, False, False),
        ),
        body=None,
        body_required=False,
        media_types=(),
        binary=False,
        security=True,
        success=200,
        tag="metadata",
        summary="Return the address of a metarange file.",
    ),
    Operation(
        operation_id="getRange",
        method="GET",
        path="/repositories/{repository}/metadata/range/{range}",
        params=GetRangeParams,
        parameters=(
            Parameter("repository", "path", False, False, False),
            Parameter("range", "path", False, False, False),
        ),
        body=None,
        body_required=False,
        media_types=(),
        binary=False,
        security=True,
        success=200,
        tag="metadata",
        summary="Return the address of a range file.",
    ),
    Operation(
        operation_id="getMetadataObject",
        method="GET",
        path="/repositories/{repository}/metadata/object/{type}/{object_id}",
        params=GetMetadataObjectParams,
        parameters=(
            Parameter("repository", "path", False, False, False),
            Parameter("type", "path", False, False, False),
            Parameter("object_id", "path", False, False, False),
            Parameter("presign", "query", False, True, False),
        ),
        body=None,
        body_required=False,
        media_types=(),
        binary=True,
        security=True,
        success=200,
        tag="metadata",
        summary="Read a range or metarange file.",
    ),
    Operation(
        operation_id="uploadObjectPreflight",
        method="GET",
        path="/repositories/{repository}/branches/{branch}/objects/stage_allowed",
        params=UploadObjectPreflightParams,
        parameters=(
            Parameter("repository", "path", False, False, False),
            Parameter("branch", "path", False, False, False),
            Parameter("path", "query", False, False, False),
        ),
        body=None,
        body_required=False,
        media_types=(),
        binary=False,
        security=True,
        success=204,
        tag="objects",
        summary="Report whether the caller may write an object.",
    ),
    Operation(
        operation_id="updateObjectUserMetadata",
        method="PUT",
        path="/repositories/{repository}/branches/{branch}/objects/stat/user_metadata",
        params=UpdateObjectUserMetadataParams,
        parameters=(
            Parameter("repository", "path", False, False, False),
            Parameter("branch", "path", False, False, False),
            Parameter("path", "query", False, False, False),
            Parameter("force", "query", False, True, False),
        ),
        body=models.UpdateObjectUserMetadata,
        body_required=True,
        media_types=("application/json",),
        binary=False,
        security=True,
        success=204,
        tag="objects",
        summary="Replace the metadata of an object.",
    ),
    Operation(
        operation_id="getUnderlyingProperties",
        method="GET",
        path="/repositories/{repository}/refs/{ref}/objects/underlyingProperties",
        params=GetUnderlyingPropertiesParams,
        parameters=(
            Parameter("repository", "path", False, False, False),
            Parameter("ref", "path", False, False, False),
            Parameter("path", "query", False, False, False),
        ),
        body=None,
        body_required=False,
        media_types=(),
        binary=False,
        security=True,
        success=200,
        tag="objects",
        summary="Return the properties of an object in the object store.",
    ),
    Operation(
        operation_id="getPhysicalAddress",
        method="GET",
        path="/repositories/{repository}/branches/{branch}/staging/backing",
        params=GetPhysicalAddressParams,
        parameters=(
            Parameter("repository", "path", False, False, False),
            Parameter("branch", "path", False, False, False),
            Parameter("path", "query", False, False, False),
            Parameter("presign", "query", False, True, False),
        ),
        body=None,
        body_required=False,
        media_types=(),
        binary=False,
        security=True,
        success=200,
        tag="objects",
        summary="Return an address where the caller can write the content of an object.",
    ),
    Operation(
        operation_id="linkPhysicalAddress",
        method="PUT",
        path="/repositories/{repository}/branches/{branch}/staging/backing",
        params=LinkPhysicalAddressParams,
        parameters=(
            Parameter("repository", "path", False, False, False),
            Parameter("branch", "path", False, False, False),
            Parameter("path", "query", False, False, False),
            Parameter("If-None-Match", "header", False, False, False),
            Parameter("If-Match", "header", False, False, False),
        ),
        body=models.StagingMetadata,
        body_required=True,
        media_types=("application/json",),
        binary=False,
        security=True,
        success=200,
        tag="objects",
        summary="Add an object that was written to the store.",
    ),
    Operation(
        operation_id="createPresignMultipartUpload",
        method="POST",
        path="/repositories/{repository}/branches/{branch}/staging/pmpu",
        params=CreatePresignMultipartUploadParams,
        parameters=(
            Parameter("repository", "path", False, False, False),
            Parameter("branch", "path", False, False, False),
            Parameter("path", "query", False, False, False),
            Parameter("parts", "query", False, False, False),
        ),
        body=None,
        body_required=False,
        media_types=(),
        binary=False,
        security=True,
        success=201,
        tag="objects",
        summary="Start a multipart upload directly to the store.",
    ),
    Operation(
        operation_id="completePresignMultipartUpload",
        method="PUT",
        path="/repositories/{repository}/branches/{branch}/staging/pmpu/{uploadId}",
        params=CompletePresignMultipartUploadParams,
        parameters=(
            Parameter("repository", "path", False, False, False),
            Parameter("branch", "path", False, False, False),
            Parameter("uploadId", "path", False, False, False),
            Parameter("path", "query", False, False, False),
        ),
        body=models.CompletePresignMultipartUpload,
        body_required=True,
        media_types=("application/json",),
        binary=False,
        security=True,
        success=200,
        tag="objects",
        summary="Complete a multipart upload and add the object.",
    ),
    Operation(
        operation_id="abortPresignMultipartUpload",
        method="DELETE",
        path="/repositories/{repository}/branches/{branch}/staging/pmpu/{uploadId}",
        params=AbortPresignMultipartUploadParams,
        parameters=(
            Parameter("repository", "path", False, False, False),
            Parameter("branch", "path", False, False, False),
            Parameter("uploadId", "path", False, False, False),
            Parameter("path", "query", False, False, False),
        ),
        body=models.AbortPresignMultipartUpload,
        body_required=True,
        media_types=("application/json",),
        binary=False,
        security=True,
        success=204,
        tag="objects",
        summary="Abort a multipart upload.",
    ),
    Operation(
        operation_id="uploadPart",
        method="PUT",
        path="/repositories/{repository}/branches/{branch}/staging/pmpu/{uploadId}/parts/{partNumber}",
        params=UploadPartParams,
        parameters=(
            Parameter("repository", "path", False, False, False),
            Parameter("branch", "path", False, False, False),
            Parameter("uploadId", "path", False, False, False),
            Parameter("partNumber", "path", False, False, False),
            Parameter("path", "query", False, False, False),
        ),
        body=models.UploadPartFrom,
        body_required=True,
        media_types=("application/json",),
        binary=False,
        security=True,
        success=200,
        tag="objects",
        summary="Return an address where the caller can write one part.",
    ),
    Operation(
        operation_id="uploadPartCopy",
        method="PUT",
        path="/repositories/{repository}/branches/{branch}/staging/pmpu/{uploadId}/parts/{partNumber}/copy",
        params=UploadPartCopyParams,
        parameters=(
            Parameter("repository", "path", False, False, False),
            Parameter("branch", "path", False, False, False),
            Parameter("uploadId", "path", False, False, False),
            Parameter("partNumber", "path", False, False, False),
            Parameter("path", "query", False, False, False),
        ),
        body=models.UploadPartCopyFrom,
        body_required=True,
        media_types=("application/json",),
        binary=False,
        security=True,
        success=204,
        tag="objects",
        summary="Copy a part from another object within the store.",
    ),
    Operation(
        operation_id="importStatus",
        method="GET",
        path="/repositories/{repository}/branches/{branch}/import",
        params=ImportStatusParams,
        parameters=(
            Parameter("repository", "path", False, False, False),
            Parameter("branch", "path", False, False, False),
            Parameter("id", "query", False, False, False),
        ),
        body=None,
        body_required=False,
        media_types=(),
        binary=False,
        security=True,
        success=200,
        tag="imports",
        summary="Report the progress of an import.",
    ),
    Operation(
        operation_id="importStart",
        method="POST",
        path="/repositories/{repository}/branches/{branch}/import",
        params=ImportStartParams,
        parameters=(
            Parameter("repository", "path", False, False, False),
            Parameter("branch", "path", False, False, False),
        ),
        body=models.ImportCreation,
        body_required=True,
        media_types=("application/json",),
        binary=False,
        security=True,
        success=202,
        tag="imports",
        summary="Import objects of another store without copying them.",
    ),
    Operation(
        operation_id="importCancel",
        method="DELETE",
        path="/repositories/{repository}/branches/{branch}/import",
        params=ImportCancelParams,
        parameters=(
            Parameter("repository", "path", False, False, False),
            Parameter("branch", "path", False, False, False),
            Parameter("id", "query", False, False, False),
        ),
        body=None,
        body_required=False,
        media_types=(),
        binary=False,
        security=True,
        success=204,
        tag="imports",
        summary="Cancel an import.",
    ),
    Operation(
        operation_id="commitAsync",
        method="POST",
        path="/repositories/{repository}/branches/{branch}/commits/async",
        params=CommitAsyncParams,
        parameters=(
            Parameter("repository", "path", False, False, False),
            Parameter("branch", "path", False, False, False),
            Parameter("wait", "query", False, False, False),
            Parameter("Idempotency-Key", "header", False, False, False),
        ),
        body=models.CommitCreation,
        body_required=True,
        media_types=("application/json",),
        binary=False,
        security=True,
        success=202,
        tag="commits",
        summary="Commit the uncommitted changes of a branch as a task.",
    ),
    Operation(
        operation_id="mergeIntoBranchAsync",
        method="POST",
        path="/repositories/{repository}/refs/{sourceRef}/merge/{destinationBranch}/async",
        params=MergeIntoBranchAsyncParams,
        parameters=(
            Parameter("repository", "path", False, False, False),
            Parameter("sourceRef", "path", False, False, False),
            Parameter("destinationBranch", "path", False, False, False),
            Parameter("wait", "query", False, False, False),
            Parameter("Idempotency-Key", "header", False, False, False),
        ),
        body=models.Merge,
        body_required=False,
        media_types=("application/json",),
        binary=False,
        security=True,
        success=202,
        tag="merges",
        summary="Merge a reference into a branch as a task.",
    ),
    Operation(
        operation_id="getTask",
        method="GET",
        path="/repositories/{repository}/tasks/{taskId}",
        params=GetTaskParams,
        parameters=(
            Parameter("repository", "path", False, False, False),
            Parameter("taskId", "path", False, False, False),
            Parameter("wait", "query", False, False, False),
        ),
        body=None,
        body_required=False,
        media_types=(),
        binary=False,
        security=True,
        success=200,
        tag="commits",
        summary="Report the progress of a task.",
    ),
    Operation(
        operation_id="createSymlinkFile",
        method="POST",
        path="/repositories/{repository}/refs/{branch}/symlink",
        params=CreateSymlinkFileParams,
        parameters=(
            Parameter("repository", "path", False, False, False),
            Parameter("branch", "path", False, False, False),
            Parameter("location", "query", False, False, False),
        ),
        body=None,
        body_required=False,
        media_types=(),
        binary=False,
        security=True,
        success=201,
        tag="metadata",
        summary="Write symlink files for Hive.",
    ),
    Operation(
        operation_id="dumpRefs",
        method="PUT",
        path="/repositories/{repository}/refs/dump",
        params=DumpRefsParams,
        parameters=(Parameter("repository", "path", False, False, False),),
        body=None,
        body_required=False,
        media_types=(),
        binary=False,
        security=True,
        success=201,
        tag="metadata",
        summary="Write all commits, branches and tags to the storage namespace.",
    ),
    Operation(
        operation_id="restoreRefs",
        method="PUT",
        path="/repositories/{repository}/refs/restore",
        params=RestoreRefsParams,
        parameters=(Parameter("repository", "path", False, False, False),),
        body=models.RefsRestore,
        body_required=True,
        media_types=("application/json",),
        binary=False,
        security=True,
        success=200,
        tag="metadata",
        summary="Restore a dump into a repository without branches.",
    ),
    Operation(
        operation_id="dumpStatus",
        method="GET",
        path="/repositories/{repository}/dump",
        params=DumpStatusParams,
        parameters=(
            Parameter("repository", "path", False, False, False),
            Parameter("task_id", "query", False, False, False),
        ),
        body=None,
        body_required=False,
        media_types=(),
        binary=False,
        security=True,
        success=200,
        tag="metadata",
        summary="Report the progress of a dump.",
    ),
    Operation(
        operation_id="dumpSubmit",
        method="POST",
        path="/repositories/{repository}/dump",
        params=DumpSubmitParams,
        parameters=(Parameter("repository", "path", False, False, False),),
        body=None,
        body_required=False,
        media_types=(),
        binary=False,
        security=True,
        success=202,
        tag="metadata",
        summary="Dump all commits, branches and tags as a task.",
    ),
    Operation(
        operation_id="restoreStatus",
        method="GET",
        path="/repositories/{repository}/restore",
        params=RestoreStatusParams,
        parameters=(
            Parameter("repository", "path", False, False, False),
            Parameter("task_id", "query", False, False, False),
        ),
        body=None,
        body_required=False,
        media_types=(),
        binary=False,
        security=True,
        success=200,
        tag="metadata",
        summary="Report the progress of a restore.",
    ),
    Operation(
        operation_id="restoreSubmit",
        method="POST",
        path="/repositories/{repository}/restore",
        params=RestoreSubmitParams,
        parameters=(Parameter("repository", "path", False, False, False),),
        body=models.RefsRestore,
        body_required=True,
        media_types=("application/json",),
        binary=False,
        security=True,
        success=202,
        tag="metadata",
        summary="Restore a dump as a task.",
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
        summary="Close a workspace without a commit.",
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
        summary="Extend the life of a workspace.",
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
        summary="Atomically register objects that were written to the store, and deletions.",
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
        summary="Atomically register any number of objects and deletions from a Parquet file.",
    ),
    Operation(
        operation_id="shareObjects",
        method="POST",
        path="/repositories/{repository}/workspaces/{workspace}/shares",
        params=ShareObjectsParams,
        parameters=(
            Parameter("repository", "path", False, False, False),
            Parameter("workspace", "path", False, False, False),
            Parameter("force", "query", False, True, False),
        ),
        body=models.ObjectShares,
        body_required=True,
        media_types=("application/json",),
        binary=False,
        security=True,
        success=200,
        tag="workspaces",
        summary="Let paths share the data of other paths with the same content.",
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
        summary="Register objects that other tools wrote below the prefix of a workspace.",
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
        summary="Return presigned URLs to write objects directly to the store.",
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
        summary="Start a multipart upload of a large object directly to the store.",
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
        summary="Return presigned URLs to write parts of an object.",
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
        summary="Complete a multipart upload: combine its parts into one object.",
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
        summary="Abort a multipart upload, and free the space of its parts.",
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
        summary="Undo changes of a workspace.",
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
        summary="Move the changes of a workspace to a branch, as uncommitted changes.",
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
        summary="Add objects of another store to a workspace without copying them.",
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
        summary="Show the changes that an ingest would make.",
    ),
)
