# generated from openapi.yaml by `make generate` - do not edit
"""Contains all the data models used in inputs/outputs"""

from .authentication_token import AuthenticationToken
from .branch_creation import BranchCreation
from .capabilities_config import CapabilitiesConfig
from .commit import Commit
from .commit_creation import CommitCreation
from .commit_creation_metadata import CommitCreationMetadata
from .commit_list import CommitList
from .commit_metadata import CommitMetadata
from .commit_policy import CommitPolicy
from .completed_part_upload import CompletedPartUpload
from .config import Config
from .conflict import Conflict
from .current_user import CurrentUser
from .custom_viewer import CustomViewer
from .diff import Diff
from .diff_list import DiffList
from .diff_object_stat import DiffObjectStat
from .diff_refs_type import DiffRefsType
from .error import Error
from .find_merge_base_result import FindMergeBaseResult
from .ingest_page import IngestPage
from .ingest_request import IngestRequest
from .login_config import LoginConfig
from .login_information import LoginInformation
from .merge import Merge
from .merge_metadata import MergeMetadata
from .merge_result import MergeResult
from .object_batch import ObjectBatch
from .object_batch_result import ObjectBatchResult
from .object_copy_creation import ObjectCopyCreation
from .object_error import ObjectError
from .object_error_list import ObjectErrorList
from .object_registration import ObjectRegistration
from .object_stats import ObjectStats
from .object_stats_list import ObjectStatsList
from .object_user_metadata import ObjectUserMetadata
from .pagination import Pagination
from .part_upload import PartUpload
from .part_upload_completion import PartUploadCompletion
from .part_upload_creation import PartUploadCreation
from .part_url import PartUrl
from .part_url_headers import PartUrlHeaders
from .part_url_list import PartUrlList
from .part_url_request import PartUrlRequest
from .path_list import PathList
from .ref import Ref
from .ref_list import RefList
from .repository import Repository
from .repository_creation import RepositoryCreation
from .repository_list import RepositoryList
from .repository_metadata import RepositoryMetadata
from .repository_metadata_keys import RepositoryMetadataKeys
from .repository_metadata_set import RepositoryMetadataSet
from .repository_metadata_set_metadata import RepositoryMetadataSetMetadata
from .reset_creation import ResetCreation
from .reset_type import ResetType
from .setup_state import SetupState
from .stash_creation import StashCreation
from .storage_config import StorageConfig
from .tag_creation import TagCreation
from .ui_config import UIConfig
from .upload_url import UploadUrl
from .upload_url_headers import UploadUrlHeaders
from .upload_url_list import UploadUrlList
from .upload_url_request import UploadUrlRequest
from .user import User
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

__all__ = (
    "AuthenticationToken",
    "BranchCreation",
    "CapabilitiesConfig",
    "Commit",
    "CommitCreation",
    "CommitCreationMetadata",
    "CommitList",
    "CommitMetadata",
    "CommitPolicy",
    "CompletedPartUpload",
    "Config",
    "Conflict",
    "CurrentUser",
    "CustomViewer",
    "Diff",
    "DiffList",
    "DiffObjectStat",
    "DiffRefsType",
    "Error",
    "FindMergeBaseResult",
    "IngestPage",
    "IngestRequest",
    "LoginConfig",
    "LoginInformation",
    "Merge",
    "MergeMetadata",
    "MergeResult",
    "ObjectBatch",
    "ObjectBatchResult",
    "ObjectCopyCreation",
    "ObjectError",
    "ObjectErrorList",
    "ObjectRegistration",
    "ObjectStats",
    "ObjectStatsList",
    "ObjectUserMetadata",
    "Pagination",
    "PartUpload",
    "PartUploadCompletion",
    "PartUploadCreation",
    "PartUrl",
    "PartUrlHeaders",
    "PartUrlList",
    "PartUrlRequest",
    "PathList",
    "Ref",
    "RefList",
    "Repository",
    "RepositoryCreation",
    "RepositoryList",
    "RepositoryMetadata",
    "RepositoryMetadataKeys",
    "RepositoryMetadataSet",
    "RepositoryMetadataSetMetadata",
    "ResetCreation",
    "ResetType",
    "SetupState",
    "StashCreation",
    "StorageConfig",
    "TagCreation",
    "UIConfig",
    "UploadUrl",
    "UploadUrlHeaders",
    "UploadUrlList",
    "UploadUrlRequest",
    "User",
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
