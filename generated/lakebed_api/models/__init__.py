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
from .object_stats import ObjectStats
from .object_stats_list import ObjectStatsList
from .object_user_metadata import ObjectUserMetadata
from .pagination import Pagination
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
from .storage_config import StorageConfig
from .tag_creation import TagCreation
from .ui_config import UIConfig
from .user import User
from .version_config import VersionConfig

__all__ = (
    "AuthenticationToken",
    "BranchCreation",
    "CapabilitiesConfig",
    "Commit",
    "CommitCreation",
    "CommitCreationMetadata",
    "CommitList",
    "CommitMetadata",
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
    "ObjectStats",
    "ObjectStatsList",
    "ObjectUserMetadata",
    "Pagination",
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
    "StorageConfig",
    "TagCreation",
    "UIConfig",
    "User",
    "VersionConfig",
)
