# generated from openapi.yaml by `make generate` - do not edit

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, TypeAlias

from msgspec import UNSET, Meta, Struct, UnsetType


class Conflict(Struct, kw_only=True):
    """
    A path that both sides changed. If a side does not have the path, its field is absent.
    """

    path: str
    base: str | UnsetType = UNSET
    ours: str | UnsetType = UNSET
    theirs: str | UnsetType = UNSET


class Pagination(Struct, kw_only=True):
    """
    The position of a page in the results.
    """

    has_more: bool
    next_offset: str
    results: Annotated[int, Meta(ge=0, le=2147483647)]
    max_per_page: Annotated[int, Meta(ge=0, le=2147483647)]


class VersionConfig(Struct, kw_only=True):
    """
    The version of the server.
    """

    version: str | UnsetType = UNSET
    version_context: str | UnsetType = UNSET
    latest_version: str | UnsetType = UNSET
    upgrade_recommended: bool | UnsetType = UNSET
    upgrade_url: str | UnsetType = UNSET


class UsageReport(Struct, kw_only=True):
    """
    The requests of one month.
    """

    year: Annotated[int, Meta(ge=1, le=9999)]
    month: Annotated[int, Meta(ge=1, le=12)]
    count: Annotated[int, Meta(ge=0, le=9223372036854775807)]


class InstallationUsageReport(Struct, kw_only=True):
    """
    The requests by month.
    """

    installation_id: str
    reports: list[UsageReport]


class StorageConfig(Struct, kw_only=True):
    """
    The features of the server's object store.
    """

    blockstore_type: str
    blockstore_namespace_example: str
    blockstore_namespace_ValidityRegex: str
    pre_sign_support: bool
    pre_sign_support_ui: bool
    import_support: bool
    import_validity_regex: str
    default_namespace_prefix: str | UnsetType = UNSET
    pre_sign_multipart_upload: bool | UnsetType = UNSET
    blockstore_id: str | UnsetType = UNSET
    blockstore_description: str | UnsetType = UNSET


StorageConfigList: TypeAlias = list[StorageConfig]


class CustomViewer(Struct, kw_only=True):
    """
    A viewer for some types of objects.
    """

    name: str
    url: str
    extensions: list[str] | UnsetType = UNSET
    content_types: list[str] | UnsetType = UNSET


class UIConfig(Struct, kw_only=True):
    """
    Settings for a user interface.
    """

    custom_viewers: list[CustomViewer] | UnsetType = UNSET


class CapabilitiesConfig(Struct, kw_only=True):
    """
    Optional features of the server.
    """

    workspaces: bool | UnsetType = UNSET
    presigned_uploads: bool | UnsetType = UNSET


class Config(Struct, kw_only=True):
    """
    The settings of an installation.
    """

    version_config: VersionConfig | UnsetType = UNSET
    storage_config: StorageConfig | UnsetType = UNSET
    storage_config_list: StorageConfigList | UnsetType = UNSET
    ui_config: UIConfig | UnsetType = UNSET
    capabilities_config: CapabilitiesConfig | UnsetType = UNSET


class LoginConfig(Struct, kw_only=True):
    """
    How users log in through a user interface.
    """

    login_url: str
    login_cookie_names: list[str]
    logout_url: str
    RBAC: str | UnsetType = UNSET
    username_ui_placeholder: str | UnsetType = UNSET
    password_ui_placeholder: str | UnsetType = UNSET
    login_url_method: str | UnsetType = UNSET
    login_failed_message: str | UnsetType = UNSET
    fallback_login_url: str | UnsetType = UNSET
    fallback_login_label: str | UnsetType = UNSET


class SetupState(Struct, kw_only=True):
    """
    Whether the installation has been set up.
    """

    state: str | UnsetType = UNSET
    comm_prefs_missing: bool | UnsetType = UNSET
    login_config: LoginConfig | UnsetType = UNSET


class LoginInformation(Struct, kw_only=True):
    """
    An access key.
    """

    access_key_id: str
    secret_access_key: str


class SignInCode(Struct, kw_only=True):
    """
    The code from a browser sign-in.
    """

    code: Annotated[str, Meta(max_length=4096, min_length=1)]
    verifier: Annotated[str, Meta(max_length=128, min_length=43)]


class AuthenticationToken(Struct, kw_only=True):
    """
    A token for the `Authorization` header.
    """

    token: str
    token_expiration: Annotated[int, Meta(ge=0, le=253402300799)] | UnsetType = UNSET


class User(Struct, kw_only=True):
    """
    A user.
    """

    id: str
    creation_date: Annotated[int, Meta(ge=0, le=253402300799)]
    friendly_name: str | UnsetType = UNSET
    email: str | UnsetType = UNSET
    disabled: bool | UnsetType = UNSET
    service: bool | UnsetType = UNSET


class UserList(Struct, kw_only=True):
    """
    A page of users.
    """

    pagination: Pagination
    results: list[User]


class UserCreation(Struct, kw_only=True):
    """
    A user to create.
    """

    id: str
    invite_user: bool | UnsetType = UNSET
    friendly_name: Annotated[str, Meta(max_length=256)] | UnsetType = UNSET
    email: Annotated[str, Meta(max_length=320)] | UnsetType = UNSET
    service: bool | UnsetType = UNSET


class UserUpdate(Struct, kw_only=True):
    """
    New values of some fields of a user. An empty string removes the name or the e-mail address.
    """

    friendly_name: Annotated[str, Meta(max_length=256)] | UnsetType = UNSET
    email: Annotated[str, Meta(max_length=320)] | UnsetType = UNSET
    disabled: bool | UnsetType = UNSET


class Group(Struct, kw_only=True):
    """
    A group. Its members have the rights of its policies.
    """

    id: str
    creation_date: Annotated[int, Meta(ge=0, le=253402300799)]
    name: str | UnsetType = UNSET
    description: str | UnsetType = UNSET


class GroupList(Struct, kw_only=True):
    """
    A page of groups.
    """

    pagination: Pagination
    results: list[Group]


class GroupCreation(Struct, kw_only=True):
    """
    A group to create.
    """

    id: str
    description: Annotated[str, Meta(max_length=1024)] | UnsetType = UNSET


class ACL(Struct, kw_only=True):
    """
    An access control list. Groups of this server have none.
    """

    permission: str


ConditionFields: TypeAlias = dict[str, list[str]]
"""
Expected values by field. At least one value of each field must match.
"""


class RightsChange(Struct, kw_only=True):
    """
    A change of users, groups or policies.
    """

    id: str
    time: Annotated[int, Meta(ge=0, le=253402300799)]
    by: str
    what: str


class RightsChangeList(Struct, kw_only=True):
    """
    A page of changes.
    """

    pagination: Pagination
    results: list[RightsChange]


class Grant(Struct, kw_only=True):
    """
    Rights on one repository.
    """

    level: str


class SimulationContext(Struct, kw_only=True):
    """
    Properties of a request that conditions can test.
    """

    source_ip: str | UnsetType = UNSET
    source: str | UnsetType = UNSET
    branch: str | UnsetType = UNSET
    ref: str | UnsetType = UNSET


class StatementReference(Struct, kw_only=True):
    """
    The statement that determines the result.
    """

    policy: str
    number: Annotated[int, Meta(ge=1, le=2147483647)]


class CurrentUser(Struct, kw_only=True):
    """
    The calling user.
    """

    user: User


class Repository(Struct, kw_only=True):
    """
    A repository.
    """

    id: str
    creation_date: Annotated[int, Meta(ge=0, le=253402300799)]
    default_branch: str
    storage_namespace: str
    storage_id: str | UnsetType = UNSET
    read_only: bool | UnsetType = UNSET
    local_path: str | UnsetType = UNSET


class RepositoryList(Struct, kw_only=True):
    """
    One page of repositories.
    """

    pagination: Pagination
    results: list[Repository]


class RepositoryCreation(Struct, kw_only=True):
    """
    A repository to create.
    """

    name: Annotated[str, Meta(pattern="^[a-z0-9][a-z0-9-]{2,62}$")]
    storage_id: Annotated[str, Meta(max_length=64)] | UnsetType = UNSET
    storage_namespace: (
        Annotated[
            str,
            Meta(
                max_length=2048,
                pattern="^((s3|gs|az|https?|mem|local|transient)://.*)?$",
            ),
        ]
        | UnsetType
    ) = UNSET
    default_branch: Annotated[str, Meta(max_length=256)] | UnsetType = UNSET
    sample_data: bool | UnsetType = False
    read_only: bool | UnsetType = False
    allow_non_empty_namespace: bool | UnsetType = False


class RepositoryPurge(Struct, kw_only=True):
    """
    The progress of a purge.
    """

    repository: str
    storage_namespace: str
    done: bool
    deleted: Annotated[int, Meta(ge=0, le=9223372036854775807)]
    deleted_bytes: Annotated[int, Meta(ge=0, le=9223372036854775807)]
    foreign: Annotated[int, Meta(ge=0, le=9223372036854775807)]
    foreign_example: str | UnsetType = UNSET


RepositoryMetadata: TypeAlias = dict[str, str]
"""
Metadata keys and values of a repository.
"""


class RepositoryMetadataSet(Struct, kw_only=True):
    """
    Keys to set.
    """

    metadata: dict[str, str]


class RepositoryMetadataKeys(Struct, kw_only=True):
    """
    Keys to remove.
    """

    keys: list[str]


class Ref(Struct, kw_only=True):
    """
    A branch or a tag.
    """

    id: str
    commit_id: str


class RefList(Struct, kw_only=True):
    """
    One page of branches or tags.
    """

    pagination: Pagination
    results: list[Ref]


class Event(Struct, kw_only=True):
    """
    One event.
    """

    id: str
    type: str
    time: datetime
    repository: str
    repository_uid: str
    data: dict[str, Any]
    logical_timestamp: str | UnsetType = UNSET
    branch: str | UnsetType = UNSET
    gen: Annotated[int, Meta(ge=0, le=9223372036854775807)] | UnsetType = UNSET
    user: str | UnsetType = UNSET
    request_id: str | UnsetType = UNSET
    commit_id: str | UnsetType = UNSET
    before: str | UnsetType = UNSET
    after: str | UnsetType = UNSET


class BranchCreation(Struct, kw_only=True):
    """
    A branch to create.
    """

    name: Annotated[str, Meta(max_length=256)]
    source: str
    force: bool | UnsetType = False
    hidden: bool | UnsetType = False


class ResetType(StrEnum):
    object = "object"
    common_prefix = "common_prefix"
    reset = "reset"


class ResetCreation(Struct, kw_only=True):
    """
    Which uncommitted changes to discard.
    """

    type: ResetType
    path: str | UnsetType = UNSET
    force: bool | UnsetType = False


class CommitOverrides(Struct, kw_only=True):
    """
    The message and metadata that replace those of the original commit.
    """

    message: Annotated[str, Meta(max_length=65536)] | UnsetType = UNSET
    metadata: dict[str, str] | UnsetType = UNSET


class RevertCreation(Struct, kw_only=True):
    """
    A commit to undo.
    """

    ref: Annotated[str, Meta(min_length=1)]
    parent_number: Annotated[int, Meta(ge=0, le=2147483647)]
    commit_overrides: CommitOverrides | UnsetType = UNSET
    force: bool | UnsetType = False
    allow_empty: bool | UnsetType = False


class CherryPickCreation(Struct, kw_only=True):
    """
    A commit to apply.
    """

    ref: Annotated[str, Meta(min_length=1)]
    parent_number: Annotated[int, Meta(ge=0, le=2147483647)] | UnsetType = UNSET
    commit_overrides: CommitOverrides | UnsetType = UNSET
    force: bool | UnsetType = False


RequiredCheck: TypeAlias = Annotated[str, Meta(max_length=100, min_length=1)]


class BranchProtectionRule(Struct, kw_only=True):
    """
    A rule that protects branches.
    """

    pattern: Annotated[str, Meta(max_length=256, min_length=1)]
    required_approvals: Annotated[int, Meta(ge=0, le=20)] | UnsetType = UNSET
    required_checks: Annotated[list[RequiredCheck], Meta(max_length=50)] | UnsetType = UNSET


BranchProtectionRuleList: TypeAlias = list[BranchProtectionRule]


class BranchProtectionRuleDeletion(Struct, kw_only=True):
    """
    A rule to remove.
    """

    pattern: str


class TagCreation(Struct, kw_only=True):
    """
    A tag to create.
    """

    id: Annotated[str, Meta(max_length=256)]
    ref: str
    force: bool | UnsetType = False


class Commit(Struct, kw_only=True):
    """
    A commit.
    """

    id: str
    parents: list[str]
    committer: str
    message: str
    creation_date: Annotated[int, Meta(ge=0, le=253402300799)]
    meta_range_id: str
    metadata: dict[str, str] | UnsetType = UNSET
    generation: Annotated[int, Meta(ge=0, le=9223372036854775807)] | UnsetType = UNSET
    version: Annotated[int, Meta(ge=0, le=1)] | UnsetType = UNSET


class CommitStatistics(Struct, kw_only=True):
    """
    The numbers of paths and bytes that a commit changed.
    """

    commit_id: str
    parent_id: str
    added: Annotated[int, Meta(ge=0, le=9223372036854775807)]
    removed: Annotated[int, Meta(ge=0, le=9223372036854775807)]
    changed: Annotated[int, Meta(ge=0, le=9223372036854775807)]
    bytes_added: Annotated[int, Meta(ge=0, le=9223372036854775807)]
    bytes_removed: Annotated[int, Meta(ge=0, le=9223372036854775807)]
    complete: bool


class CommitList(Struct, kw_only=True):
    """
    One page of history.
    """

    pagination: Pagination
    results: list[Commit]


class CommitCreation(Struct, kw_only=True):
    """
    A commit to create.
    """

    message: Annotated[str, Meta(max_length=65536)]
    author: Annotated[str, Meta(max_length=256)] | UnsetType = UNSET
    metadata: dict[str, str] | UnsetType = UNSET
    date: Annotated[int, Meta(ge=0, le=253402300799)] | UnsetType = UNSET
    allow_empty: bool | UnsetType = False
    force: bool | UnsetType = False


class CommitRecordCreation(Struct, kw_only=True):
    """
    A commit to store unchanged.
    """

    commit_id: str
    version: Annotated[int, Meta(ge=0, le=1)]
    committer: str
    message: str
    metarange_id: str
    creation_date: Annotated[int, Meta(ge=0, le=253402300799)]
    parents: Annotated[list[str], Meta(max_length=100)]
    generation: Annotated[int, Meta(ge=0, le=9223372036854775807)]
    metadata: dict[str, str] | UnsetType = UNSET
    force: bool | UnsetType = False


class MergeSide(StrEnum):
    source = "source"
    dest = "dest"


class MergeResult(Struct, kw_only=True):
    """
    The result of a merge.
    """

    reference: str


class FindMergeBaseResult(Struct, kw_only=True):
    """
    Two commits and their nearest common ancestor.
    """

    source_commit_id: str
    destination_commit_id: str
    base_commit_id: str


class PullRequestCreation(Struct, kw_only=True):
    """
    A pull request to open.
    """

    title: Annotated[str, Meta(max_length=512, min_length=1)]
    source_branch: Annotated[str, Meta(max_length=256)]
    destination_branch: Annotated[str, Meta(max_length=256)]
    description: Annotated[str, Meta(max_length=65536)] | UnsetType = UNSET
    draft: bool | UnsetType = False


class PullRequestCreationResponse(Struct, kw_only=True):
    """
    A pull request that was opened.
    """

    id: str


class PullRequestStatus(StrEnum):
    open = "open"
    closed = "closed"
    merged = "merged"


class PullRequestAutoMerge(Struct, kw_only=True):
    """
    Auto-merge: the server merges the pull request on behalf of the user as soon as all requirements are met. Lakebed only.
    """

    enabled: bool | UnsetType = True
    strategy: str | UnsetType = UNSET
    message: Annotated[str, Meta(max_length=65536)] | UnsetType = UNSET
    user: str | UnsetType = UNSET


PullRequestReviewer: TypeAlias = Annotated[str, Meta(description="A user or group.", max_length=256, min_length=1)]


PullRequestReviewers: TypeAlias = Annotated[list[PullRequestReviewer], Meta(max_length=50)]


class PullRequestVerdict(StrEnum):
    approve = "approve"
    request_changes = "request_changes"
    comment = "comment"


class PullRequestReviewCreation(Struct, kw_only=True):
    """
    A review to add.
    """

    verdict: PullRequestVerdict
    body: Annotated[str, Meta(max_length=65536)] | UnsetType = UNSET
    source_commit_id: Annotated[str, Meta(max_length=64)] | UnsetType = UNSET


class PullRequestReview(Struct, kw_only=True):
    """
    A review of a pull request.
    """

    id: Annotated[int, Meta(ge=1, le=1000000)]
    verdict: str
    body: str
    author: str
    created_at: datetime
    source_commit_id: str
    stale: bool
    dismissed_by: str | UnsetType = UNSET


class PullRequestReviewList(Struct, kw_only=True):
    """
    The reviews of a pull request.
    """

    results: list[PullRequestReview]


class PullRequestReviewDismissal(Struct, kw_only=True):
    """
    Why a review is dismissed.
    """

    message: Annotated[str, Meta(max_length=65536)] | UnsetType = UNSET


class PullRequestApprovalCreation(Struct, kw_only=True):
    """
    An approval to add.
    """

    source_commit_id: Annotated[str, Meta(max_length=64)] | UnsetType = UNSET


class PullRequestApproval(Struct, kw_only=True):
    """
    An approval that counts.
    """

    approver: str
    created_at: datetime
    source_commit_id: str


class PullRequestApprovalList(Struct, kw_only=True):
    """
    The approvals that count.
    """

    results: list[PullRequestApproval]


class PullRequestCommentSide(StrEnum):
    left = "left"
    right = "right"


class PullRequestCommentCreation(Struct, kw_only=True):
    """
    A comment to add. Without `path`, it is about the whole pull request.
    """

    body: Annotated[str, Meta(max_length=65536, min_length=1)]
    path: Annotated[str, Meta(max_length=1024)] | UnsetType = UNSET
    column: Annotated[str, Meta(max_length=1024)] | UnsetType = UNSET
    row_key: Annotated[str, Meta(max_length=4096)] | UnsetType = UNSET
    side: PullRequestCommentSide | UnsetType = UNSET
    reply_to: Annotated[int, Meta(ge=1, le=1000000)] | UnsetType = UNSET
    commit_id: Annotated[str, Meta(max_length=64)] | UnsetType = UNSET


class PullRequestComment(Struct, kw_only=True):
    """
    A comment.
    """

    id: Annotated[int, Meta(ge=1, le=1000000)]
    body: str
    author: str
    created_at: datetime
    resolved: bool
    deleted: bool
    edited_at: datetime | UnsetType = UNSET
    path: str | UnsetType = UNSET
    column: str | UnsetType = UNSET
    row_key: str | UnsetType = UNSET
    side: str | UnsetType = UNSET
    reply_to: Annotated[int, Meta(ge=1, le=1000000)] | UnsetType = UNSET
    commit_id: str | UnsetType = UNSET
    resolved_by: str | UnsetType = UNSET


class PullRequestCommentList(Struct, kw_only=True):
    """
    The comments on a pull request.
    """

    results: list[PullRequestComment]


class PullRequestCommentUpdate(Struct, kw_only=True):
    """
    New values of some fields of a comment. Absent fields keep their values.
    """

    body: Annotated[str, Meta(max_length=65536, min_length=1)] | UnsetType = UNSET
    resolved: bool | UnsetType = UNSET


class PullRequestEvent(Struct, kw_only=True):
    """
    An entry of a timeline.
    """

    id: Annotated[int, Meta(ge=0, le=1000000)]
    type: str
    date: datetime
    actor: str
    text: str | UnsetType = UNSET
    commit_id: str | UnsetType = UNSET
    review: PullRequestReview | UnsetType = UNSET
    comment: PullRequestComment | UnsetType = UNSET


class PullRequestEventList(Struct, kw_only=True):
    """
    One page of a timeline.
    """

    pagination: Pagination
    results: list[PullRequestEvent]


class PullRequestApprovalCount(Struct, kw_only=True):
    """
    The number of valid and of required approvals.
    """

    have: Annotated[int, Meta(ge=0, le=1000000)]
    need: Annotated[int, Meta(ge=0, le=20)]


class PullRequestCheck(Struct, kw_only=True):
    """
    A check of the head of the source.
    """

    name: str
    required: bool
    state: str
    description: str | UnsetType = UNSET
    url: str | UnsetType = UNSET


class PullRequestState(Struct, kw_only=True):
    """
    Whether a pull request can be merged, and what blocks it.
    """

    mergeable: str
    approvals: PullRequestApprovalCount
    changes_requested_by: list[str]
    checks: list[PullRequestCheck]
    conflicts_url: str | UnsetType = UNSET
    source_commit_id: str | UnsetType = UNSET
    destination_commit_id: str | UnsetType = UNSET
    base_commit_id: str | UnsetType = UNSET


class PullRequestConflicts(Struct, kw_only=True):
    """
    One page of conflicting paths.
    """

    conflicts: list[Conflict]
    has_more: bool


class CommitCheckState(StrEnum):
    pending = "pending"
    success = "success"
    failure = "failure"


class CommitCheckCreation(Struct, kw_only=True):
    """
    The state of a check.
    """

    name: Annotated[str, Meta(max_length=100, min_length=1)]
    state: CommitCheckState
    description: Annotated[str, Meta(max_length=4096)] | UnsetType = UNSET
    url: Annotated[str, Meta(max_length=2048)] | UnsetType = UNSET


class CommitCheck(Struct, kw_only=True):
    """
    A check of a commit.
    """

    name: str
    state: str
    description: str
    user: str
    updated_at: datetime
    url: str | UnsetType = UNSET


class CommitCheckList(Struct, kw_only=True):
    """
    The checks of a commit.
    """

    results: list[CommitCheck]


class ActionFile(Struct, kw_only=True):
    """
    An action file.
    """

    name: Annotated[str, Meta(max_length=1024, min_length=1)]
    content: str


class ActionRunCreation(Struct, kw_only=True):
    """
    A run to start.
    """

    event: Annotated[str, Meta(max_length=64, min_length=1)]
    ref: Annotated[str, Meta(min_length=1)]
    action: Annotated[str, Meta(max_length=256)] | UnsetType = UNSET
    branch: Annotated[str, Meta(max_length=256)] | UnsetType = UNSET


HookState: TypeAlias = str


HookDetail: TypeAlias = dict[str, Any]
"""
One detailed result. Its fields depend on the type of the hook.
"""


class HookDeliveryAttempt(Struct, kw_only=True):
    """
    One attempt of a delivery.
    """

    time: datetime
    state: HookState
    message: str
    run_id: str


class HookSettings(Struct, kw_only=True):
    """
    The action files of the settings of a repository.
    """

    actions: dict[str, str]


ObjectUserMetadata: TypeAlias = dict[str, str]
"""
Keys and values of an object.
"""


class ObjectStats(Struct, kw_only=True):
    """
    An object, or a common prefix of several.
    """

    path: str
    path_type: str
    physical_address: str
    checksum: str
    mtime: Annotated[int, Meta(ge=0, le=253402300799)]
    physical_address_expiry: Annotated[int, Meta(ge=0, le=253402300799)] | UnsetType = UNSET
    size_bytes: Annotated[int, Meta(ge=0, le=9223372036854775807)] | UnsetType = UNSET
    metadata: ObjectUserMetadata | UnsetType = UNSET
    content_type: str | UnsetType = UNSET


class ObjectStatsList(Struct, kw_only=True):
    """
    One page of objects.
    """

    pagination: Pagination
    results: list[ObjectStats]


class TableColumn(Struct, kw_only=True):
    """
    A column of a table.
    """

    name: str
    type: str
    kind: str


class TableDiffRow(Struct, kw_only=True):
    """
    A row that was added, removed or changed.
    """

    change: str
    columns: list[str] | UnsetType = UNSET
    before: list[Any] | UnsetType = UNSET
    after: list[Any] | UnsetType = UNSET


class ColumnChange(Struct, kw_only=True):
    """
    A column that was added or removed, or whose type changed.
    """

    column: str
    before: str | UnsetType = UNSET
    after: str | UnsetType = UNSET


class HistogramBin(Struct, kw_only=True):
    """
    A range of values. Only the last range contains its end.
    """

    low: Any
    high: Any
    count: Annotated[int, Meta(ge=0, le=9223372036854775807)]


class FrequentValue(Struct, kw_only=True):
    """
    A value and how often it occurs.
    """

    value: Any
    count: Annotated[int, Meta(ge=0, le=9223372036854775807)]


class ObjectSearch(Struct, kw_only=True):
    """
    One page of a search.
    """

    pagination: Pagination
    results: list[ObjectStats]
    scanned: Annotated[int, Meta(ge=0, le=2147483647)]
    bound_reached: bool


class ObjectsRead(Struct, kw_only=True):
    """
    The objects to read, either `paths` or `prefix`.
    """

    paths: Annotated[list[str], Meta(max_length=10000)] | UnsetType = UNSET
    prefix: str | UnsetType = UNSET
    after: str | UnsetType = UNSET
    max_object_size: Annotated[int, Meta(ge=0, le=9223372036854775807)] | UnsetType = UNSET


class ObjectHead(Struct, kw_only=True):
    """
    An object in the response of getObjects.
    """

    path: str
    size_bytes: Annotated[int, Meta(ge=0, le=9223372036854775807)]
    checksum: str
    mtime: Annotated[int, Meta(ge=0, le=253402300799)]
    content_type: str
    omitted: bool | UnsetType = UNSET


class ObjectReadError(Struct, kw_only=True):
    """
    Why an object of getObjects cannot be read.
    """

    path: str
    status_code: Annotated[int, Meta(ge=100, le=599)]
    kind: str
    message: str


class ObjectsEnd(Struct, kw_only=True):
    """
    The end of the response of getObjects.
    """

    results: Annotated[int, Meta(ge=0, le=10000)]
    has_more: bool


class PublishCreation(Struct, kw_only=True):
    """
    How to commit the objects and deletions of the request. The server refuses unknown fields.
    """

    message: Annotated[str, Meta(max_length=65536)]
    author: Annotated[str, Meta(max_length=256)] | UnsetType = UNSET
    metadata: dict[str, str] | UnsetType = UNSET
    date: Annotated[int, Meta(ge=0, le=253402300799)] | UnsetType = UNSET
    allow_empty: bool | UnsetType = False
    idempotency_key: Annotated[str, Meta(max_length=256)] | UnsetType = UNSET


class ObjectBatchResult(Struct, kw_only=True):
    """
    The objects that a batch wrote.
    """

    results: list[ObjectStats]
    commit: Commit | UnsetType = UNSET


class ObjectCopyCreation(Struct, kw_only=True):
    """
    What to copy.
    """

    src_path: str
    src_ref: str | UnsetType = UNSET
    force: bool | UnsetType = False
    shallow: bool | UnsetType = False


class PathList(Struct, kw_only=True):
    """
    Paths to delete.
    """

    paths: list[str]


class ObjectError(Struct, kw_only=True):
    """
    Why the server could not delete a path.
    """

    status_code: Annotated[int, Meta(ge=100, le=599)]
    message: str
    path: str | UnsetType = UNSET


class ObjectErrorList(Struct, kw_only=True):
    """
    The paths that the server could not delete.
    """

    errors: list[ObjectError]


class Workspace(Struct, kw_only=True):
    """
    A workspace.
    """

    id: str
    name: str
    branch: str
    base_commit_id: str
    state: str
    storage_prefix: str
    creator: str
    creation_date: Annotated[int, Meta(ge=0, le=253402300799)]
    expires: Annotated[int, Meta(ge=0, le=253402300799)]
    data_paths: list[str]
    local_path: str | UnsetType = UNSET
    message: Annotated[str, Meta(max_length=65536)] | UnsetType = UNSET
    claims: list[str] | UnsetType = UNSET
    closed: Annotated[int, Meta(ge=0, le=253402300799)] | UnsetType = UNSET
    commit_id: str | UnsetType = UNSET


class WorkspaceList(Struct, kw_only=True):
    """
    One page of workspaces.
    """

    pagination: Pagination
    results: list[Workspace]


class WorkspaceCreation(Struct, kw_only=True):
    """
    A workspace to create. Set a branch, a reference, or both.
    """

    branch: str | UnsetType = UNSET
    ref: str | UnsetType = UNSET
    message: Annotated[str, Meta(max_length=65536)] | UnsetType = UNSET
    expires_in: Annotated[int, Meta(ge=60, le=31536000)] | UnsetType = UNSET
    claims: Annotated[list[str], Meta(max_length=100)] | UnsetType = UNSET
    id: Annotated[str, Meta(pattern="^[0-9a-f]{32}$")] | UnsetType = UNSET
    force: bool | UnsetType = False


class WorkspaceRenewal(Struct, kw_only=True):
    """
    The new lifetime of a workspace.
    """

    expires_in: Annotated[int, Meta(ge=60, le=31536000)]


class WorkspaceObject(Struct, kw_only=True):
    """
    An object that is already in the store.
    """

    path: str
    physical_address: str
    checksum: Annotated[str, Meta(max_length=256, min_length=1)]
    size_bytes: Annotated[int, Meta(ge=0, le=9223372036854775807)]
    mtime: Annotated[int, Meta(ge=0, le=253402300799)] | UnsetType = UNSET
    content_type: Annotated[str, Meta(max_length=255)] | UnsetType = UNSET
    metadata: ObjectUserMetadata | UnsetType = UNSET


class ObjectRegistration(Struct, kw_only=True):
    """
    Objects to register and paths to delete.
    """

    objects: Annotated[list[WorkspaceObject], Meta(max_length=10000)] | UnsetType = UNSET
    deletes: Annotated[list[str], Meta(max_length=10000)] | UnsetType = UNSET


class WorkspaceLayer(Struct, kw_only=True):
    """
    A layer that was registered.
    """

    id: str
    rows: Annotated[int, Meta(ge=0, le=9223372036854775807)]


class ObjectShare(Struct, kw_only=True):
    """
    A path that will share the data of another path.
    """

    path: str
    same_as: str


class ObjectShares(Struct, kw_only=True):
    """
    Paths that will share data. Each path occurs once.
    """

    objects: Annotated[list[ObjectShare], Meta(max_length=10000)]


class ObjectSharesResult(Struct, kw_only=True):
    """
    The result of sharing data.
    """

    shared: Annotated[int, Meta(ge=0, le=10000)]
    left: list[str]


class ScanRefusal(Struct, kw_only=True):
    """
    A file below the storage prefix that a scan did not register.
    """

    path: str
    reason: str


class UploadUrlRequest(Struct, kw_only=True):
    """
    Objects to write.
    """

    paths: Annotated[list[str], Meta(max_length=1000)]
    size_bytes: Annotated[int, Meta(ge=0, le=9223372036854775807)] | UnsetType = UNSET
    content_type: Annotated[str, Meta(max_length=255)] | UnsetType = UNSET


class UploadUrl(Struct, kw_only=True):
    """
    A presigned URL for one object.
    """

    path: str
    physical_address: str
    method: str
    url: str
    headers: dict[str, str]
    expires: Annotated[int, Meta(ge=0, le=253402300799)]


class UploadUrlList(Struct, kw_only=True):
    """
    Presigned URLs of objects.
    """

    results: list[UploadUrl]


class PartUploadCreation(Struct, kw_only=True):
    """
    A large object to write.
    """

    path: str
    content_type: Annotated[str, Meta(max_length=255)] | UnsetType = UNSET


class PartUpload(Struct, kw_only=True):
    """
    A multipart upload.
    """

    physical_address: str
    upload_id: Annotated[str, Meta(max_length=2048, min_length=1)]


Part: TypeAlias = Annotated[int, Meta(ge=1, le=10000)]


class PartUrlRequest(Struct, kw_only=True):
    """
    Parts to write.
    """

    physical_address: str
    upload_id: Annotated[str, Meta(max_length=2048, min_length=1)]
    parts: Annotated[list[Part], Meta(max_length=1000, min_length=1)]


class PartUrl(Struct, kw_only=True):
    """
    A presigned URL for one part.
    """

    part: Annotated[int, Meta(ge=1, le=10000)]
    method: str
    url: str
    headers: dict[str, str]
    expires: Annotated[int, Meta(ge=0, le=253402300799)]


class PartUrlList(Struct, kw_only=True):
    """
    Presigned URLs of parts.
    """

    results: list[PartUrl]


class WrittenPart(Struct, kw_only=True):
    """
    A part that is in the store.
    """

    part: Annotated[int, Meta(ge=1, le=10000)]
    etag: Annotated[str, Meta(max_length=256)]


class PartUploadCompletion(Struct, kw_only=True):
    """
    A multipart upload to complete.
    """

    physical_address: str
    upload_id: Annotated[str, Meta(max_length=2048, min_length=1)]
    size_bytes: Annotated[int, Meta(ge=0, le=9223372036854775807)]
    parts: Annotated[list[WrittenPart], Meta(max_length=10000, min_length=1)]


class CompletedPartUpload(Struct, kw_only=True):
    """
    An object that was written in parts.
    """

    physical_address: str
    etag: str
    size_bytes: Annotated[int, Meta(ge=0, le=9223372036854775807)]


IncludeItem: TypeAlias = Annotated[str, Meta(max_length=256)]


ExcludeItem: TypeAlias = Annotated[str, Meta(max_length=256)]


class IngestRequest(Struct, kw_only=True):
    """
    Objects of another store, and the folder where they appear.
    """

    source: Annotated[str, Meta(min_length=1)]
    prefix: str | UnsetType = UNSET
    include: Annotated[list[IncludeItem], Meta(max_length=100)] | UnsetType = UNSET
    exclude: Annotated[list[ExcludeItem], Meta(max_length=100)] | UnsetType = UNSET
    settle: Annotated[int, Meta(ge=0, le=31536000)] | UnsetType = UNSET
    keep_removed: bool | UnsetType = False
    after: str | UnsetType = UNSET
    amount: Annotated[int, Meta(ge=1, le=100000)] | UnsetType = UNSET
    changes_amount: Annotated[int, Meta(ge=0, le=1000)] | UnsetType = UNSET
    force: bool | UnsetType = False


class CommitPolicy(StrEnum):
    rebase = "rebase"
    abort = "abort"
    overwrite = "overwrite"


Path: TypeAlias = Annotated[str, Meta(max_length=256)]


class WorkspaceCommit(Struct, kw_only=True):
    """
    How to commit a workspace.
    """

    message: Annotated[str, Meta(max_length=65536)] | UnsetType = UNSET
    author: Annotated[str, Meta(max_length=256)] | UnsetType = UNSET
    metadata: dict[str, str] | UnsetType = UNSET
    date: Annotated[int, Meta(ge=0, le=253402300799)] | UnsetType = UNSET
    policy: CommitPolicy | UnsetType = UNSET
    replace_prefix: Annotated[list[str], Meta(max_length=100)] | UnsetType = UNSET
    paths: Annotated[list[Path], Meta(max_length=100)] | UnsetType = UNSET
    idempotency_key: Annotated[str, Meta(max_length=256)] | UnsetType = UNSET
    allow_empty: bool | UnsetType = False
    relocate: bool | UnsetType = False
    force: bool | UnsetType = False


class WorkspaceRevert(Struct, kw_only=True):
    """
    The changes to undo.
    """

    paths: Annotated[list[Path], Meta(max_length=100)] | UnsetType = UNSET


class WorkspacePop(Struct, kw_only=True):
    """
    The branch that gets the changes.
    """

    branch: str | UnsetType = UNSET


class StashCreation(Struct, kw_only=True):
    """
    The workspace to create from the changes of a branch.
    """

    message: Annotated[str, Meta(max_length=65536)] | UnsetType = UNSET
    expires_in: Annotated[int, Meta(ge=60, le=31536000)] | UnsetType = UNSET
    force: bool | UnsetType = False


class StorageURI(Struct, kw_only=True):
    """
    An address in the object store.
    """

    location: str


class UpdateObjectUserMetadata(Struct, kw_only=True):
    """
    The new metadata of an object.
    """

    set: ObjectUserMetadata


class UnderlyingObjectProperties(Struct, kw_only=True):
    """
    Properties of an object in its store.
    """

    storage_class: str | None | UnsetType = UNSET


class ObjectStageCreation(Struct, kw_only=True):
    """
    An object that already exists in a store.
    """

    physical_address: Annotated[str, Meta(min_length=1)]
    checksum: Annotated[str, Meta(max_length=256)]
    size_bytes: Annotated[int, Meta(ge=0, le=9223372036854775807)]
    mtime: Annotated[int, Meta(ge=0, le=253402300799)] | UnsetType = UNSET
    metadata: ObjectUserMetadata | UnsetType = UNSET
    content_type: Annotated[str, Meta(max_length=255)] | UnsetType = UNSET
    force: bool | UnsetType = False


class StagingLocation(Struct, kw_only=True):
    """
    An address to write the content of an object to.
    """

    physical_address: str | UnsetType = UNSET
    presigned_url: str | UnsetType = UNSET
    presigned_headers: dict[str, str] | UnsetType = UNSET
    presigned_url_expiry: Annotated[int, Meta(ge=0, le=253402300799)] | UnsetType = UNSET


class StagingMetadata(Struct, kw_only=True):
    """
    An object that was written to the store.
    """

    staging: StagingLocation
    checksum: Annotated[str, Meta(max_length=256)]
    size_bytes: Annotated[int, Meta(ge=0, le=9223372036854775807)]
    user_metadata: ObjectUserMetadata | UnsetType = UNSET
    content_type: Annotated[str, Meta(max_length=255)] | UnsetType = UNSET
    mtime: Annotated[int, Meta(ge=0, le=253402300799)] | UnsetType = UNSET
    force: bool | UnsetType = False


class PresignMultipartUpload(Struct, kw_only=True):
    """
    A multipart upload.
    """

    upload_id: str
    physical_address: str
    presigned_urls: list[str] | UnsetType = UNSET


class UploadPartFrom(Struct, kw_only=True):
    """
    The multipart upload that the part belongs to.
    """

    physical_address: Annotated[str, Meta(min_length=1)]


class UploadTo(Struct, kw_only=True):
    """
    The presigned URL of a part.
    """

    presigned_url: str


class CopyPartSource(Struct, kw_only=True):
    """
    An object to copy from.
    """

    repository: Annotated[str, Meta(min_length=1)]
    ref: Annotated[str, Meta(min_length=1)]
    path: Annotated[str, Meta(min_length=1)]
    range: Annotated[str, Meta(max_length=128)] | UnsetType = UNSET


class UploadPartCopyFrom(Struct, kw_only=True):
    """
    A part to copy from an object.
    """

    physical_address: Annotated[str, Meta(min_length=1)]
    copy_source: CopyPartSource


class SentUploadPart(Struct, kw_only=True):
    """
    A part that was written.
    """

    part_number: Annotated[int, Meta(ge=1, le=10000)]
    etag: Annotated[str, Meta(max_length=256)]


class CompletePresignMultipartUpload(Struct, kw_only=True):
    """
    A multipart upload to complete.
    """

    physical_address: Annotated[str, Meta(min_length=1)]
    parts: Annotated[list[SentUploadPart], Meta(max_length=10000, min_length=1)]
    user_metadata: ObjectUserMetadata | UnsetType = UNSET
    content_type: Annotated[str, Meta(max_length=255)] | UnsetType = UNSET


class AbortPresignMultipartUpload(Struct, kw_only=True):
    """
    An upload to abort.
    """

    physical_address: Annotated[str, Meta(min_length=1)]


class ImportType(StrEnum):
    common_prefix = "common_prefix"
    object = "object"


class ImportLocation(Struct, kw_only=True):
    """
    Objects to import, and their destination.
    """

    type: ImportType
    path: Annotated[str, Meta(min_length=1)]
    destination: str


class ImportCreation(Struct, kw_only=True):
    """
    What to import.
    """

    paths: Annotated[list[ImportLocation], Meta(max_length=1000, min_length=1)]
    commit: CommitCreation
    force: bool | UnsetType = False


class ImportCreationResponse(Struct, kw_only=True):
    """
    An import that the server started.
    """

    id: str


class TaskInfo(Struct, kw_only=True):
    """
    A task that the server started.
    """

    id: str


class RefsDump(Struct, kw_only=True):
    """
    A dump: the ids of the commits, the tags and the branches.
    """

    commits_meta_range_id: str
    tags_meta_range_id: str
    branches_meta_range_id: str


class RefsRestore(Struct, kw_only=True):
    """
    A dump to restore.
    """

    commits_meta_range_id: str
    tags_meta_range_id: str
    branches_meta_range_id: str
    force: bool | UnsetType = False


class RepositoryDumpStatus(Struct, kw_only=True):
    """
    The progress of a dump.
    """

    id: str
    done: bool
    update_time: datetime
    error: str | UnsetType = UNSET
    refs: RefsDump | UnsetType = UNSET


class RepositoryRestoreStatus(Struct, kw_only=True):
    """
    The progress of a restore.
    """

    id: str
    done: bool
    update_time: datetime
    error: str | UnsetType = UNSET


class AuthCapabilities(Struct, kw_only=True):
    """
    What a user interface can offer.
    """

    invite_user: bool | UnsetType = UNSET
    forgot_password: bool | UnsetType = UNSET


class TemporaryKey(Struct, kw_only=True):
    """
    A temporary access key.
    """

    access_key_id: str
    secret_access_key: str
    session_token: str
    expiration: Annotated[int, Meta(ge=0, le=253402300799)]


class UserSession(Struct, kw_only=True):
    """
    An open login session of a user.
    """

    id: str
    creation_date: Annotated[int, Meta(ge=0, le=253402300799)]
    expiration: Annotated[int, Meta(ge=0, le=253402300799)]
    source: str
    address: str
    user_agent: str


class UserSessionList(Struct, kw_only=True):
    """
    A page of sessions.
    """

    pagination: Pagination
    results: list[UserSession]


class AccessKeyCredentials(Struct, kw_only=True):
    """
    An access key that the caller chooses.
    """

    access_key_id: Annotated[str, Meta(max_length=128, min_length=1)]
    secret_access_key: Annotated[str, Meta(max_length=128, min_length=1)]


class Setup(Struct, kw_only=True):
    """
    The first administrator.
    """

    username: Annotated[str, Meta(min_length=1)]
    key: AccessKeyCredentials | UnsetType = UNSET


class CommPrefsInput(Struct, kw_only=True):
    """
    E-mail preferences.
    """

    featureUpdates: bool
    securityUpdates: bool
    email: str | UnsetType = UNSET


class StatsEvent(Struct, kw_only=True):
    """
    How often a feature was used.
    """

    name: Annotated[str, Meta(min_length=1)]
    count: Annotated[int, Meta(ge=0, le=2147483647)]


class StatsEventsList(Struct, kw_only=True):
    """
    Usage statistics of a client.
    """

    events: list[StatsEvent]


class Error(Struct, kw_only=True):
    """
    An error: `message` is for people, `kind` is for programs.
    """

    message: str
    kind: str | UnsetType = UNSET
    reference: str | UnsetType = UNSET
    conflicts: list[Conflict] | UnsetType = UNSET
    conflicts_has_more: bool | UnsetType = UNSET
    no_acl: bool | UnsetType = UNSET
    request_id: str | UnsetType = UNSET
    run_id: str | UnsetType = UNSET


class Statement(Struct, kw_only=True):
    """
    A rule of a policy. `deny` overrides `allow`.
    """

    effect: str
    resource: Any
    action: list[str]
    condition: dict[str, ConditionFields] | UnsetType = UNSET


class Policy(Struct, kw_only=True):
    """
    A named list of statements.
    """

    id: str
    creation_date: Annotated[int, Meta(ge=0, le=253402300799)]
    statement: list[Statement]


class PolicyList(Struct, kw_only=True):
    """
    A page of policies.
    """

    pagination: Pagination
    results: list[Policy]


class PolicyCreation(Struct, kw_only=True):
    """
    A policy to create, or the new statements of a policy.
    """

    id: str
    statement: list[Statement]


class Simulation(Struct, kw_only=True):
    """
    A permission to check.
    """

    action: str
    resource: str
    user: str | UnsetType = UNSET
    context: SimulationContext | UnsetType = UNSET


class SimulationResult(Struct, kw_only=True):
    """
    The result of a permission check.
    """

    allowed: bool
    effect: str
    reason: str
    statement: StatementReference | UnsetType = UNSET


class ObjectWriter(Struct, kw_only=True):
    """
    An object, and the commit that wrote it.
    """

    path: str
    size_bytes: Annotated[int, Meta(ge=0, le=9223372036854775807)]
    mtime: Annotated[int, Meta(ge=0, le=253402300799)]
    uncommitted: bool
    commit: Commit | UnsetType = UNSET


class RepositoryStatistics(Struct, kw_only=True):
    """
    The head of the default branch, and the number and size of its objects.
    """

    objects: Annotated[int, Meta(ge=0, le=9223372036854775807)]
    last_commit: Commit | UnsetType = UNSET
    bytes: Annotated[int, Meta(ge=0, le=9223372036854775807)] | UnsetType = UNSET


class EventList(Struct, kw_only=True):
    """
    One page of events.
    """

    pagination: Pagination
    results: list[Event]


class MergeRule(Struct, kw_only=True):
    """
    A rule that chooses the winning side for some paths.
    """

    pattern: Annotated[str, Meta(max_length=256, min_length=1)]
    side: MergeSide


class PullRequestBasic(Struct, kw_only=True):
    """
    New values of some fields of a pull request.
    """

    title: Annotated[str, Meta(max_length=512, min_length=1)] | UnsetType = UNSET
    description: Annotated[str, Meta(max_length=65536)] | UnsetType = UNSET
    status: PullRequestStatus | UnsetType = UNSET
    draft: bool | UnsetType = UNSET
    reviewers: PullRequestReviewers | UnsetType = UNSET
    auto_merge: PullRequestAutoMerge | UnsetType = UNSET


class PullRequest(Struct, kw_only=True):
    """
    A pull request: a proposal to merge one branch into another.
    """

    id: str
    status: str
    title: str
    description: str
    author: str
    source_branch: str
    destination_branch: str
    creation_date: datetime
    author_id: str | UnsetType = UNSET
    closed_date: datetime | UnsetType = UNSET
    merged_commit_id: str | UnsetType = UNSET
    source_commit_id: str | UnsetType = UNSET
    draft: bool | UnsetType = UNSET
    reviewers: list[str] | UnsetType = UNSET
    auto_merge: PullRequestAutoMerge | UnsetType = UNSET


class PullRequestsList(Struct, kw_only=True):
    """
    One page of pull requests.
    """

    pagination: Pagination
    results: list[PullRequest]


class PullRequestMerge(Struct, kw_only=True):
    """
    How to merge a pull request. Lakebed only.
    """

    source_commit_id: Annotated[str, Meta(max_length=64)] | UnsetType = UNSET
    message: Annotated[str, Meta(max_length=65536)] | UnsetType = UNSET
    metadata: dict[str, str] | UnsetType = UNSET
    strategy: str | UnsetType = UNSET
    squash_merge: bool | UnsetType = False
    force: bool | UnsetType = False
    resolve: Annotated[list[MergeRule], Meta(max_length=100)] | UnsetType = UNSET


class OwnPullRequest(Struct, kw_only=True):
    """
    An open pull request that concerns the calling user.
    """

    repository: str
    pull_request: PullRequest
    reasons: list[str]


class OwnPullRequestList(Struct, kw_only=True):
    """
    One page of pull requests.
    """

    pagination: Pagination
    results: list[OwnPullRequest]


class ActionRun(Struct, kw_only=True):
    """
    A run of the actions of one event.
    """

    run_id: str
    branch: str
    start_time: datetime
    event_type: str
    status: str
    commit_id: str
    end_time: datetime | UnsetType = UNSET
    state: HookState | UnsetType = UNSET
    message: str | UnsetType = UNSET
    tag: str | UnsetType = UNSET
    source_ref: str | UnsetType = UNSET
    user: str | UnsetType = UNSET
    delivery_id: str | UnsetType = UNSET
    rerun_of: str | UnsetType = UNSET


class ActionRunList(Struct, kw_only=True):
    """
    One page of runs.
    """

    pagination: Pagination
    results: list[ActionRun]


class HookRun(Struct, kw_only=True):
    """
    A hook of a run.
    """

    hook_run_id: str
    action: str
    hook_id: str
    start_time: datetime
    status: str
    end_time: datetime | UnsetType = UNSET
    type: str | UnsetType = UNSET
    state: HookState | UnsetType = UNSET
    message: str | UnsetType = UNSET
    details: list[HookDetail] | UnsetType = UNSET


class HookRunList(Struct, kw_only=True):
    """
    One page of hooks.
    """

    pagination: Pagination
    results: list[HookRun]


class HookDelivery(Struct, kw_only=True):
    """
    A delivery: a call of one action after a change.
    """

    id: str
    state: str
    action: str
    event_type: str
    attempts: list[HookDeliveryAttempt]
    event_id: str | UnsetType = UNSET
    branch: str | UnsetType = UNSET
    commit_id: str | UnsetType = UNSET
    due: datetime | UnsetType = UNSET


class HookDeliveryList(Struct, kw_only=True):
    """
    One page of deliveries.
    """

    pagination: Pagination
    results: list[HookDelivery]


class DiffObjectStat(Struct, kw_only=True):
    """
    The object on the right side of a changed path.
    """

    checksum: str
    mtime: Annotated[int, Meta(ge=0, le=253402300799)]
    content_type: str
    metadata: ObjectUserMetadata | UnsetType = UNSET


class Diff(Struct, kw_only=True):
    """
    One path that differs.
    """

    type: str
    path: str
    path_type: str
    size_bytes: Annotated[int, Meta(ge=0, le=9223372036854775807)] | UnsetType = UNSET
    former_size_bytes: Annotated[int, Meta(ge=0, le=9223372036854775807)] | UnsetType = UNSET
    right: DiffObjectStat | UnsetType = UNSET


class DiffList(Struct, kw_only=True):
    """
    One page of differences.
    """

    pagination: Pagination
    results: list[Diff]


class TableDiffPage(Struct, kw_only=True):
    """
    Rows of a table that differ. Cells are as in `TablePage`.
    """

    path: str
    format: str
    key: list[str]
    schema: list[TableColumn]
    schema_changes: list[ColumnChange]
    columns: list[str]
    added: Annotated[int, Meta(ge=0, le=9223372036854775807)]
    removed: Annotated[int, Meta(ge=0, le=9223372036854775807)]
    changed: Annotated[int, Meta(ge=0, le=9223372036854775807)]
    rows: list[TableDiffRow]
    offset: Annotated[int, Meta(ge=0, le=9007199254740991)]
    has_more: bool


class ColumnStatistics(Struct, kw_only=True):
    """
    Statistics of the values of a column. Absent fields are unknown.
    """

    column: str
    source: str
    nulls: Annotated[int, Meta(ge=0, le=9223372036854775807)] | UnsetType = UNSET
    distinct: Annotated[int, Meta(ge=0, le=9223372036854775807)] | UnsetType = UNSET
    minimum: Any | UnsetType = UNSET
    maximum: Any | UnsetType = UNSET
    histogram: list[HistogramBin] | UnsetType = UNSET
    frequent: list[FrequentValue] | UnsetType = UNSET


class ObjectBatch(Struct, kw_only=True):
    """
    Objects to write, paths to delete, and how to commit them.
    """

    commit: PublishCreation | UnsetType = UNSET
    content: list[bytes] | UnsetType = UNSET
    delete: list[str] | UnsetType = UNSET


class WorkspaceScan(Struct, kw_only=True):
    """
    The result of a scan.
    """

    registered: Annotated[int, Meta(ge=0, le=9223372036854775807)]
    vanished: Annotated[int, Meta(ge=0, le=9223372036854775807)]
    unchanged: Annotated[int, Meta(ge=0, le=9223372036854775807)]
    refused: Annotated[int, Meta(ge=0, le=9223372036854775807)] | UnsetType = UNSET
    refusals: Annotated[list[ScanRefusal], Meta(max_length=100)] | UnsetType = UNSET


class IngestPage(Struct, kw_only=True):
    """
    One page of an ingest.
    """

    base_commit_id: str
    has_more: bool
    next_offset: str
    listed: Annotated[int, Meta(ge=0, le=9223372036854775807)]
    added: Annotated[int, Meta(ge=0, le=9223372036854775807)]
    changed: Annotated[int, Meta(ge=0, le=9223372036854775807)]
    removed: Annotated[int, Meta(ge=0, le=9223372036854775807)]
    unchanged: Annotated[int, Meta(ge=0, le=9223372036854775807)]
    waiting: Annotated[int, Meta(ge=0, le=9223372036854775807)]
    ignored: Annotated[int, Meta(ge=0, le=9223372036854775807)]
    results: list[Diff]


class ImportStatus(Struct, kw_only=True):
    """
    The progress of an import.
    """

    completed: bool
    update_time: datetime
    ingested_objects: Annotated[int, Meta(ge=0, le=9223372036854775807)] | UnsetType = UNSET
    metarange_id: str | UnsetType = UNSET
    commit: Commit | UnsetType = UNSET
    error: Error | UnsetType = UNSET


class Task(Struct, kw_only=True):
    """
    An operation that the server runs in the background.
    """

    id: str
    operation: str
    completed: bool
    update_time: datetime
    commit: Commit | UnsetType = UNSET
    error: Error | UnsetType = UNSET


class CredentialsCreation(Struct, kw_only=True):
    """
    An access key to create. Lakebed only.
    """

    name: Annotated[str, Meta(max_length=256)] | UnsetType = UNSET
    expires_in: Annotated[int, Meta(ge=1, le=3153600000)] | UnsetType = UNSET
    statement: list[Statement] | UnsetType = UNSET


class TemporaryKeyCreation(Struct, kw_only=True):
    """
    A temporary access key to create.
    """

    duration: Annotated[int, Meta(ge=60, le=129600)] | UnsetType = UNSET
    statement: list[Statement] | UnsetType = UNSET


class Credentials(Struct, kw_only=True):
    """
    An access key without its secret.
    """

    access_key_id: str
    creation_date: Annotated[int, Meta(ge=0, le=253402300799)]
    name: str | UnsetType = UNSET
    expiration: Annotated[int, Meta(ge=0, le=253402300799)] | UnsetType = UNSET
    last_used: Annotated[int, Meta(ge=0, le=253402300799)] | UnsetType = UNSET
    statement: list[Statement] | UnsetType = UNSET


class CredentialsList(Struct, kw_only=True):
    """
    A page of access keys.
    """

    pagination: Pagination
    results: list[Credentials]


class CredentialsWithSecret(Struct, kw_only=True):
    """
    An access key with its secret.
    """

    access_key_id: str
    secret_access_key: str
    creation_date: Annotated[int, Meta(ge=0, le=253402300799)]
    name: str | UnsetType = UNSET
    expiration: Annotated[int, Meta(ge=0, le=253402300799)] | UnsetType = UNSET
    statement: list[Statement] | UnsetType = UNSET


class ObjectWriterList(Struct, kw_only=True):
    """
    One page of objects with their commits.
    """

    pagination: Pagination
    results: list[ObjectWriter]


class Merge(Struct, kw_only=True):
    """
    How to merge.
    """

    message: Annotated[str, Meta(max_length=65536)] | UnsetType = UNSET
    author: Annotated[str, Meta(max_length=256)] | UnsetType = UNSET
    metadata: dict[str, str] | UnsetType = UNSET
    strategy: str | UnsetType = UNSET
    force: bool | UnsetType = False
    allow_empty: bool | UnsetType = False
    squash_merge: bool | UnsetType = False
    resolve: Annotated[list[MergeRule], Meta(max_length=100)] | UnsetType = UNSET


class TablePage(Struct, kw_only=True):
    """
    Rows of a table. A cell is null, a boolean, a number or a string. Integers beyond 2^53, decimals, times and NaN are strings. Binary cells are hexadecimal strings, and nested cells are JSON strings. A truncated string is an object with `cut` (its beginning) and `length` (in characters, or in bytes for binary cells).
    """

    path: str
    format: str
    files: Annotated[int, Meta(ge=0, le=2147483647)]
    size_bytes: Annotated[int, Meta(ge=0, le=9223372036854775807)]
    schema: list[TableColumn]
    columns: list[str]
    rows: list[list[Any]]
    offset: Annotated[int, Meta(ge=0, le=9007199254740991)]
    has_more: bool
    complete: bool
    total_rows: Annotated[int, Meta(ge=0, le=9223372036854775807)] | UnsetType = UNSET
    encoding: str | UnsetType = UNSET
    skipped_rows: Annotated[int, Meta(ge=0, le=2147483647)] | UnsetType = UNSET
    statistics: list[ColumnStatistics] | UnsetType = UNSET
