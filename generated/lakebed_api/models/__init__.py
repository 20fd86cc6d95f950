# generated from openapi.yaml by `make generate` - do not edit
"""Contains all the data models used in inputs/outputs"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .abort_presign_multipart_upload import AbortPresignMultipartUpload
    from .access_key_credentials import AccessKeyCredentials
    from .acl import ACL
    from .action_file import ActionFile
    from .action_run import ActionRun
    from .action_run_creation import ActionRunCreation
    from .action_run_list import ActionRunList
    from .auth_capabilities import AuthCapabilities
    from .authentication_token import AuthenticationToken
    from .branch_creation import BranchCreation
    from .branch_protection_rule import BranchProtectionRule
    from .branch_protection_rule_deletion import BranchProtectionRuleDeletion
    from .capabilities_config import CapabilitiesConfig
    from .cherry_pick_creation import CherryPickCreation
    from .column_change import ColumnChange
    from .column_statistics import ColumnStatistics
    from .comm_prefs_input import CommPrefsInput
    from .commit import Commit
    from .commit_check import CommitCheck
    from .commit_check_creation import CommitCheckCreation
    from .commit_check_list import CommitCheckList
    from .commit_check_state import CommitCheckState
    from .commit_creation import CommitCreation
    from .commit_creation_metadata import CommitCreationMetadata
    from .commit_list import CommitList
    from .commit_metadata import CommitMetadata
    from .commit_overrides import CommitOverrides
    from .commit_overrides_metadata import CommitOverridesMetadata
    from .commit_policy import CommitPolicy
    from .commit_record_creation import CommitRecordCreation
    from .commit_record_creation_metadata import CommitRecordCreationMetadata
    from .commit_statistics import CommitStatistics
    from .complete_presign_multipart_upload import CompletePresignMultipartUpload
    from .completed_part_upload import CompletedPartUpload
    from .condition_fields import ConditionFields
    from .config import Config
    from .conflict import Conflict
    from .copy_part_source import CopyPartSource
    from .credentials import Credentials
    from .credentials_creation import CredentialsCreation
    from .credentials_list import CredentialsList
    from .credentials_with_secret import CredentialsWithSecret
    from .current_user import CurrentUser
    from .custom_viewer import CustomViewer
    from .diff import Diff
    from .diff_list import DiffList
    from .diff_object_stat import DiffObjectStat
    from .diff_refs_type import DiffRefsType
    from .diff_table_change import DiffTableChange
    from .diff_table_format import DiffTableFormat
    from .diff_table_type import DiffTableType
    from .error import Error
    from .event import Event
    from .event_data import EventData
    from .event_list import EventList
    from .find_merge_base_result import FindMergeBaseResult
    from .frequent_value import FrequentValue
    from .grant import Grant
    from .group import Group
    from .group_creation import GroupCreation
    from .group_list import GroupList
    from .histogram_bin import HistogramBin
    from .hook_delivery import HookDelivery
    from .hook_delivery_attempt import HookDeliveryAttempt
    from .hook_delivery_list import HookDeliveryList
    from .hook_detail import HookDetail
    from .hook_run import HookRun
    from .hook_run_list import HookRunList
    from .hook_settings import HookSettings
    from .hook_settings_actions import HookSettingsActions
    from .import_creation import ImportCreation
    from .import_creation_response import ImportCreationResponse
    from .import_location import ImportLocation
    from .import_status import ImportStatus
    from .import_type import ImportType
    from .ingest_page import IngestPage
    from .ingest_request import IngestRequest
    from .installation_usage_report import InstallationUsageReport
    from .list_pull_requests_status import ListPullRequestsStatus
    from .login_config import LoginConfig
    from .login_information import LoginInformation
    from .merge import Merge
    from .merge_metadata import MergeMetadata
    from .merge_result import MergeResult
    from .merge_rule import MergeRule
    from .merge_side import MergeSide
    from .object_batch import ObjectBatch
    from .object_batch_result import ObjectBatchResult
    from .object_copy_creation import ObjectCopyCreation
    from .object_error import ObjectError
    from .object_error_list import ObjectErrorList
    from .object_head import ObjectHead
    from .object_read_error import ObjectReadError
    from .object_registration import ObjectRegistration
    from .object_search import ObjectSearch
    from .object_share import ObjectShare
    from .object_shares import ObjectShares
    from .object_shares_result import ObjectSharesResult
    from .object_stage_creation import ObjectStageCreation
    from .object_stats import ObjectStats
    from .object_stats_list import ObjectStatsList
    from .object_user_metadata import ObjectUserMetadata
    from .object_writer import ObjectWriter
    from .object_writer_list import ObjectWriterList
    from .objects_end import ObjectsEnd
    from .objects_read import ObjectsRead
    from .own_pull_request import OwnPullRequest
    from .own_pull_request_list import OwnPullRequestList
    from .pagination import Pagination
    from .part_upload import PartUpload
    from .part_upload_completion import PartUploadCompletion
    from .part_upload_creation import PartUploadCreation
    from .part_url import PartUrl
    from .part_url_headers import PartUrlHeaders
    from .part_url_list import PartUrlList
    from .part_url_request import PartUrlRequest
    from .path_list import PathList
    from .policy import Policy
    from .policy_creation import PolicyCreation
    from .policy_list import PolicyList
    from .presign_multipart_upload import PresignMultipartUpload
    from .publish_creation import PublishCreation
    from .publish_creation_metadata import PublishCreationMetadata
    from .pull_request import PullRequest
    from .pull_request_approval import PullRequestApproval
    from .pull_request_approval_count import PullRequestApprovalCount
    from .pull_request_approval_creation import PullRequestApprovalCreation
    from .pull_request_approval_list import PullRequestApprovalList
    from .pull_request_auto_merge import PullRequestAutoMerge
    from .pull_request_basic import PullRequestBasic
    from .pull_request_check import PullRequestCheck
    from .pull_request_comment import PullRequestComment
    from .pull_request_comment_creation import PullRequestCommentCreation
    from .pull_request_comment_list import PullRequestCommentList
    from .pull_request_comment_side import PullRequestCommentSide
    from .pull_request_comment_update import PullRequestCommentUpdate
    from .pull_request_conflicts import PullRequestConflicts
    from .pull_request_creation import PullRequestCreation
    from .pull_request_creation_response import PullRequestCreationResponse
    from .pull_request_event import PullRequestEvent
    from .pull_request_event_list import PullRequestEventList
    from .pull_request_merge import PullRequestMerge
    from .pull_request_merge_metadata import PullRequestMergeMetadata
    from .pull_request_review import PullRequestReview
    from .pull_request_review_creation import PullRequestReviewCreation
    from .pull_request_review_dismissal import PullRequestReviewDismissal
    from .pull_request_review_list import PullRequestReviewList
    from .pull_request_state import PullRequestState
    from .pull_request_status import PullRequestStatus
    from .pull_request_verdict import PullRequestVerdict
    from .pull_requests_list import PullRequestsList
    from .read_table_format import ReadTableFormat
    from .ref import Ref
    from .ref_list import RefList
    from .refs_dump import RefsDump
    from .refs_restore import RefsRestore
    from .repository import Repository
    from .repository_creation import RepositoryCreation
    from .repository_dump_status import RepositoryDumpStatus
    from .repository_list import RepositoryList
    from .repository_metadata import RepositoryMetadata
    from .repository_metadata_keys import RepositoryMetadataKeys
    from .repository_metadata_set import RepositoryMetadataSet
    from .repository_metadata_set_metadata import RepositoryMetadataSetMetadata
    from .repository_purge import RepositoryPurge
    from .repository_restore_status import RepositoryRestoreStatus
    from .repository_statistics import RepositoryStatistics
    from .reset_creation import ResetCreation
    from .reset_type import ResetType
    from .revert_creation import RevertCreation
    from .rights_change import RightsChange
    from .rights_change_list import RightsChangeList
    from .scan_refusal import ScanRefusal
    from .sent_upload_part import SentUploadPart
    from .setup import Setup
    from .setup_state import SetupState
    from .sign_in_code import SignInCode
    from .simulation import Simulation
    from .simulation_context import SimulationContext
    from .simulation_result import SimulationResult
    from .staging_location import StagingLocation
    from .staging_location_presigned_headers import StagingLocationPresignedHeaders
    from .staging_metadata import StagingMetadata
    from .stash_creation import StashCreation
    from .statement import Statement
    from .statement_condition import StatementCondition
    from .statement_reference import StatementReference
    from .stats_event import StatsEvent
    from .stats_events_list import StatsEventsList
    from .storage_config import StorageConfig
    from .storage_uri import StorageURI
    from .table_column import TableColumn
    from .table_diff_page import TableDiffPage
    from .table_diff_row import TableDiffRow
    from .table_page import TablePage
    from .tag_creation import TagCreation
    from .task import Task
    from .task_info import TaskInfo
    from .temporary_key import TemporaryKey
    from .temporary_key_creation import TemporaryKeyCreation
    from .ui_config import UIConfig
    from .underlying_object_properties import UnderlyingObjectProperties
    from .update_object_user_metadata import UpdateObjectUserMetadata
    from .upload_part_copy_from import UploadPartCopyFrom
    from .upload_part_from import UploadPartFrom
    from .upload_to import UploadTo
    from .upload_url import UploadUrl
    from .upload_url_headers import UploadUrlHeaders
    from .upload_url_list import UploadUrlList
    from .upload_url_request import UploadUrlRequest
    from .usage_report import UsageReport
    from .user import User
    from .user_creation import UserCreation
    from .user_list import UserList
    from .user_session import UserSession
    from .user_session_list import UserSessionList
    from .user_update import UserUpdate
    from .version_config import VersionConfig
    from .workspace import Workspace
    from .workspace_commit import WorkspaceCommit
    from .workspace_commit_metadata import WorkspaceCommitMetadata
    from .workspace_creation import WorkspaceCreation
    from .workspace_layer import WorkspaceLayer
    from .workspace_list import WorkspaceList
    from .workspace_object import WorkspaceObject
    from .workspace_pop import WorkspacePop
    from .workspace_renewal import WorkspaceRenewal
    from .workspace_revert import WorkspaceRevert
    from .workspace_scan import WorkspaceScan
    from .written_part import WrittenPart

_MODULES = {
    "AbortPresignMultipartUpload": "abort_presign_multipart_upload",
    "AccessKeyCredentials": "access_key_credentials",
    "ACL": "acl",
    "ActionFile": "action_file",
    "ActionRun": "action_run",
    "ActionRunCreation": "action_run_creation",
    "ActionRunList": "action_run_list",
    "AuthCapabilities": "auth_capabilities",
    "AuthenticationToken": "authentication_token",
    "BranchCreation": "branch_creation",
    "BranchProtectionRule": "branch_protection_rule",
    "BranchProtectionRuleDeletion": "branch_protection_rule_deletion",
    "CapabilitiesConfig": "capabilities_config",
    "CherryPickCreation": "cherry_pick_creation",
    "ColumnChange": "column_change",
    "ColumnStatistics": "column_statistics",
    "CommPrefsInput": "comm_prefs_input",
    "Commit": "commit",
    "CommitCheck": "commit_check",
    "CommitCheckCreation": "commit_check_creation",
    "CommitCheckList": "commit_check_list",
    "CommitCheckState": "commit_check_state",
    "CommitCreation": "commit_creation",
    "CommitCreationMetadata": "commit_creation_metadata",
    "CommitList": "commit_list",
    "CommitMetadata": "commit_metadata",
    "CommitOverrides": "commit_overrides",
    "CommitOverridesMetadata": "commit_overrides_metadata",
    "CommitPolicy": "commit_policy",
    "CommitRecordCreation": "commit_record_creation",
    "CommitRecordCreationMetadata": "commit_record_creation_metadata",
    "CommitStatistics": "commit_statistics",
    "CompletePresignMultipartUpload": "complete_presign_multipart_upload",
    "CompletedPartUpload": "completed_part_upload",
    "ConditionFields": "condition_fields",
    "Config": "config",
    "Conflict": "conflict",
    "CopyPartSource": "copy_part_source",
    "Credentials": "credentials",
    "CredentialsCreation": "credentials_creation",
    "CredentialsList": "credentials_list",
    "CredentialsWithSecret": "credentials_with_secret",
    "CurrentUser": "current_user",
    "CustomViewer": "custom_viewer",
    "Diff": "diff",
    "DiffList": "diff_list",
    "DiffObjectStat": "diff_object_stat",
    "DiffRefsType": "diff_refs_type",
    "DiffTableChange": "diff_table_change",
    "DiffTableFormat": "diff_table_format",
    "DiffTableType": "diff_table_type",
    "Error": "error",
    "Event": "event",
    "EventData": "event_data",
    "EventList": "event_list",
    "FindMergeBaseResult": "find_merge_base_result",
    "FrequentValue": "frequent_value",
    "Grant": "grant",
    "Group": "group",
    "GroupCreation": "group_creation",
    "GroupList": "group_list",
    "HistogramBin": "histogram_bin",
    "HookDelivery": "hook_delivery",
    "HookDeliveryAttempt": "hook_delivery_attempt",
    "HookDeliveryList": "hook_delivery_list",
    "HookDetail": "hook_detail",
    "HookRun": "hook_run",
    "HookRunList": "hook_run_list",
    "HookSettings": "hook_settings",
    "HookSettingsActions": "hook_settings_actions",
    "ImportCreation": "import_creation",
    "ImportCreationResponse": "import_creation_response",
    "ImportLocation": "import_location",
    "ImportStatus": "import_status",
    "ImportType": "import_type",
    "IngestPage": "ingest_page",
    "IngestRequest": "ingest_request",
    "InstallationUsageReport": "installation_usage_report",
    "ListPullRequestsStatus": "list_pull_requests_status",
    "LoginConfig": "login_config",
    "LoginInformation": "login_information",
    "Merge": "merge",
    "MergeMetadata": "merge_metadata",
    "MergeResult": "merge_result",
    "MergeRule": "merge_rule",
    "MergeSide": "merge_side",
    "ObjectBatch": "object_batch",
    "ObjectBatchResult": "object_batch_result",
    "ObjectCopyCreation": "object_copy_creation",
    "ObjectError": "object_error",
    "ObjectErrorList": "object_error_list",
    "ObjectHead": "object_head",
    "ObjectReadError": "object_read_error",
    "ObjectRegistration": "object_registration",
    "ObjectSearch": "object_search",
    "ObjectShare": "object_share",
    "ObjectShares": "object_shares",
    "ObjectSharesResult": "object_shares_result",
    "ObjectStageCreation": "object_stage_creation",
    "ObjectStats": "object_stats",
    "ObjectStatsList": "object_stats_list",
    "ObjectUserMetadata": "object_user_metadata",
    "ObjectWriter": "object_writer",
    "ObjectWriterList": "object_writer_list",
    "ObjectsEnd": "objects_end",
    "ObjectsRead": "objects_read",
    "OwnPullRequest": "own_pull_request",
    "OwnPullRequestList": "own_pull_request_list",
    "Pagination": "pagination",
    "PartUpload": "part_upload",
    "PartUploadCompletion": "part_upload_completion",
    "PartUploadCreation": "part_upload_creation",
    "PartUrl": "part_url",
    "PartUrlHeaders": "part_url_headers",
    "PartUrlList": "part_url_list",
    "PartUrlRequest": "part_url_request",
    "PathList": "path_list",
    "Policy": "policy",
    "PolicyCreation": "policy_creation",
    "PolicyList": "policy_list",
    "PresignMultipartUpload": "presign_multipart_upload",
    "PublishCreation": "publish_creation",
    "PublishCreationMetadata": "publish_creation_metadata",
    "PullRequest": "pull_request",
    "PullRequestApproval": "pull_request_approval",
    "PullRequestApprovalCount": "pull_request_approval_count",
    "PullRequestApprovalCreation": "pull_request_approval_creation",
    "PullRequestApprovalList": "pull_request_approval_list",
    "PullRequestAutoMerge": "pull_request_auto_merge",
    "PullRequestBasic": "pull_request_basic",
    "PullRequestCheck": "pull_request_check",
    "PullRequestComment": "pull_request_comment",
    "PullRequestCommentCreation": "pull_request_comment_creation",
    "PullRequestCommentList": "pull_request_comment_list",
    "PullRequestCommentSide": "pull_request_comment_side",
    "PullRequestCommentUpdate": "pull_request_comment_update",
    "PullRequestConflicts": "pull_request_conflicts",
    "PullRequestCreation": "pull_request_creation",
    "PullRequestCreationResponse": "pull_request_creation_response",
    "PullRequestEvent": "pull_request_event",
    "PullRequestEventList": "pull_request_event_list",
    "PullRequestMerge": "pull_request_merge",
    "PullRequestMergeMetadata": "pull_request_merge_metadata",
    "PullRequestReview": "pull_request_review",
    "PullRequestReviewCreation": "pull_request_review_creation",
    "PullRequestReviewDismissal": "pull_request_review_dismissal",
    "PullRequestReviewList": "pull_request_review_list",
    "PullRequestState": "pull_request_state",
    "PullRequestStatus": "pull_request_status",
    "PullRequestVerdict": "pull_request_verdict",
    "PullRequestsList": "pull_requests_list",
    "ReadTableFormat": "read_table_format",
    "Ref": "ref",
    "RefList": "ref_list",
    "RefsDump": "refs_dump",
    "RefsRestore": "refs_restore",
    "Repository": "repository",
    "RepositoryCreation": "repository_creation",
    "RepositoryDumpStatus": "repository_dump_status",
    "RepositoryList": "repository_list",
    "RepositoryMetadata": "repository_metadata",
    "RepositoryMetadataKeys": "repository_metadata_keys",
    "RepositoryMetadataSet": "repository_metadata_set",
    "RepositoryMetadataSetMetadata": "repository_metadata_set_metadata",
    "RepositoryPurge": "repository_purge",
    "RepositoryRestoreStatus": "repository_restore_status",
    "RepositoryStatistics": "repository_statistics",
    "ResetCreation": "reset_creation",
    "ResetType": "reset_type",
    "RevertCreation": "revert_creation",
    "RightsChange": "rights_change",
    "RightsChangeList": "rights_change_list",
    "ScanRefusal": "scan_refusal",
    "SentUploadPart": "sent_upload_part",
    "Setup": "setup",
    "SetupState": "setup_state",
    "SignInCode": "sign_in_code",
    "Simulation": "simulation",
    "SimulationContext": "simulation_context",
    "SimulationResult": "simulation_result",
    "StagingLocation": "staging_location",
    "StagingLocationPresignedHeaders": "staging_location_presigned_headers",
    "StagingMetadata": "staging_metadata",
    "StashCreation": "stash_creation",
    "Statement": "statement",
    "StatementCondition": "statement_condition",
    "StatementReference": "statement_reference",
    "StatsEvent": "stats_event",
    "StatsEventsList": "stats_events_list",
    "StorageConfig": "storage_config",
    "StorageURI": "storage_uri",
    "TableColumn": "table_column",
    "TableDiffPage": "table_diff_page",
    "TableDiffRow": "table_diff_row",
    "TablePage": "table_page",
    "TagCreation": "tag_creation",
    "Task": "task",
    "TaskInfo": "task_info",
    "TemporaryKey": "temporary_key",
    "TemporaryKeyCreation": "temporary_key_creation",
    "UIConfig": "ui_config",
    "UnderlyingObjectProperties": "underlying_object_properties",
    "UpdateObjectUserMetadata": "update_object_user_metadata",
    "UploadPartCopyFrom": "upload_part_copy_from",
    "UploadPartFrom": "upload_part_from",
    "UploadTo": "upload_to",
    "UploadUrl": "upload_url",
    "UploadUrlHeaders": "upload_url_headers",
    "UploadUrlList": "upload_url_list",
    "UploadUrlRequest": "upload_url_request",
    "UsageReport": "usage_report",
    "User": "user",
    "UserCreation": "user_creation",
    "UserList": "user_list",
    "UserSession": "user_session",
    "UserSessionList": "user_session_list",
    "UserUpdate": "user_update",
    "VersionConfig": "version_config",
    "Workspace": "workspace",
    "WorkspaceCommit": "workspace_commit",
    "WorkspaceCommitMetadata": "workspace_commit_metadata",
    "WorkspaceCreation": "workspace_creation",
    "WorkspaceLayer": "workspace_layer",
    "WorkspaceList": "workspace_list",
    "WorkspaceObject": "workspace_object",
    "WorkspacePop": "workspace_pop",
    "WorkspaceRenewal": "workspace_renewal",
    "WorkspaceRevert": "workspace_revert",
    "WorkspaceScan": "workspace_scan",
    "WrittenPart": "written_part",
}


def __getattr__(name: str) -> object:
    """Import a name when it is used."""
    from importlib import import_module

    module = _MODULES.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f".{module}", __name__), name)
    return value


__all__ = (
    "ACL",
    "AbortPresignMultipartUpload",
    "AccessKeyCredentials",
    "ActionFile",
    "ActionRun",
    "ActionRunCreation",
    "ActionRunList",
    "AuthCapabilities",
    "AuthenticationToken",
    "BranchCreation",
    "BranchProtectionRule",
    "BranchProtectionRuleDeletion",
    "CapabilitiesConfig",
    "CherryPickCreation",
    "ColumnChange",
    "ColumnStatistics",
    "CommPrefsInput",
    "Commit",
    "CommitCheck",
    "CommitCheckCreation",
    "CommitCheckList",
    "CommitCheckState",
    "CommitCreation",
    "CommitCreationMetadata",
    "CommitList",
    "CommitMetadata",
    "CommitOverrides",
    "CommitOverridesMetadata",
    "CommitPolicy",
    "CommitRecordCreation",
    "CommitRecordCreationMetadata",
    "CommitStatistics",
    "CompletePresignMultipartUpload",
    "CompletedPartUpload",
    "ConditionFields",
    "Config",
    "Conflict",
    "CopyPartSource",
    "Credentials",
    "CredentialsCreation",
    "CredentialsList",
    "CredentialsWithSecret",
    "CurrentUser",
    "CustomViewer",
    "Diff",
    "DiffList",
    "DiffObjectStat",
    "DiffRefsType",
    "DiffTableChange",
    "DiffTableFormat",
    "DiffTableType",
    "Error",
    "Event",
    "EventData",
    "EventList",
    "FindMergeBaseResult",
    "FrequentValue",
    "Grant",
    "Group",
    "GroupCreation",
    "GroupList",
    "HistogramBin",
    "HookDelivery",
    "HookDeliveryAttempt",
    "HookDeliveryList",
    "HookDetail",
    "HookRun",
    "HookRunList",
    "HookSettings",
    "HookSettingsActions",
    "ImportCreation",
    "ImportCreationResponse",
    "ImportLocation",
    "ImportStatus",
    "ImportType",
    "IngestPage",
    "IngestRequest",
    "InstallationUsageReport",
    "ListPullRequestsStatus",
    "LoginConfig",
    "LoginInformation",
    "Merge",
    "MergeMetadata",
    "MergeResult",
    "MergeRule",
    "MergeSide",
    "ObjectBatch",
    "ObjectBatchResult",
    "ObjectCopyCreation",
    "ObjectError",
    "ObjectErrorList",
    "ObjectHead",
    "ObjectReadError",
    "ObjectRegistration",
    "ObjectSearch",
    "ObjectShare",
    "ObjectShares",
    "ObjectSharesResult",
    "ObjectStageCreation",
    "ObjectStats",
    "ObjectStatsList",
    "ObjectUserMetadata",
    "ObjectWriter",
    "ObjectWriterList",
    "ObjectsEnd",
    "ObjectsRead",
    "OwnPullRequest",
    "OwnPullRequestList",
    "Pagination",
    "PartUpload",
    "PartUploadCompletion",
    "PartUploadCreation",
    "PartUrl",
    "PartUrlHeaders",
    "PartUrlList",
    "PartUrlRequest",
    "PathList",
    "Policy",
    "PolicyCreation",
    "PolicyList",
    "PresignMultipartUpload",
    "PublishCreation",
    "PublishCreationMetadata",
    "PullRequest",
    "PullRequestApproval",
    "PullRequestApprovalCount",
    "PullRequestApprovalCreation",
    "PullRequestApprovalList",
    "PullRequestAutoMerge",
    "PullRequestBasic",
    "PullRequestCheck",
    "PullRequestComment",
    "PullRequestCommentCreation",
    "PullRequestCommentList",
    "PullRequestCommentSide",
    "PullRequestCommentUpdate",
    "PullRequestConflicts",
    "PullRequestCreation",
    "PullRequestCreationResponse",
    "PullRequestEvent",
    "PullRequestEventList",
    "PullRequestMerge",
    "PullRequestMergeMetadata",
    "PullRequestReview",
    "PullRequestReviewCreation",
    "PullRequestReviewDismissal",
    "PullRequestReviewList",
    "PullRequestState",
    "PullRequestStatus",
    "PullRequestVerdict",
    "PullRequestsList",
    "ReadTableFormat",
    "Ref",
    "RefList",
    "RefsDump",
    "RefsRestore",
    "Repository",
    "RepositoryCreation",
    "RepositoryDumpStatus",
    "RepositoryList",
    "RepositoryMetadata",
    "RepositoryMetadataKeys",
    "RepositoryMetadataSet",
    "RepositoryMetadataSetMetadata",
    "RepositoryPurge",
    "RepositoryRestoreStatus",
    "RepositoryStatistics",
    "ResetCreation",
    "ResetType",
    "RevertCreation",
    "RightsChange",
    "RightsChangeList",
    "ScanRefusal",
    "SentUploadPart",
    "Setup",
    "SetupState",
    "SignInCode",
    "Simulation",
    "SimulationContext",
    "SimulationResult",
    "StagingLocation",
    "StagingLocationPresignedHeaders",
    "StagingMetadata",
    "StashCreation",
    "Statement",
    "StatementCondition",
    "StatementReference",
    "StatsEvent",
    "StatsEventsList",
    "StorageConfig",
    "StorageURI",
    "TableColumn",
    "TableDiffPage",
    "TableDiffRow",
    "TablePage",
    "TagCreation",
    "Task",
    "TaskInfo",
    "TemporaryKey",
    "TemporaryKeyCreation",
    "UIConfig",
    "UnderlyingObjectProperties",
    "UpdateObjectUserMetadata",
    "UploadPartCopyFrom",
    "UploadPartFrom",
    "UploadTo",
    "UploadUrl",
    "UploadUrlHeaders",
    "UploadUrlList",
    "UploadUrlRequest",
    "UsageReport",
    "User",
    "UserCreation",
    "UserList",
    "UserSession",
    "UserSessionList",
    "UserUpdate",
    "VersionConfig",
    "Workspace",
    "WorkspaceCommit",
    "WorkspaceCommitMetadata",
    "WorkspaceCreation",
    "WorkspaceLayer",
    "WorkspaceList",
    "WorkspaceObject",
    "WorkspacePop",
    "WorkspaceRenewal",
    "WorkspaceRevert",
    "WorkspaceScan",
    "WrittenPart",
)
