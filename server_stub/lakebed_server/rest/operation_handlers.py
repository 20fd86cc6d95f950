"""The table of operations and their handlers.

The server refuses to start when an operation of openapi.yaml has neither a handler nor a line in PLANNED, or when a
handler has no operation.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Final

from lakebed_wire.operations import Operation

from lakebed_server.http.responses import Reply
from lakebed_server.rest.handlers import (
    auth,
    branches,
    commits,
    diffs,
    ingest,
    merges,
    metadata,
    objects,
    part_uploads,
    physical_addresses,
    repositories,
    system,
    tags,
    tasks,
    workspaces,
)
from lakebed_server.vocabulary import StartError

Handler = Callable[..., Awaitable[Reply]]

HANDLERS: Final[Mapping[str, Handler]] = {
    "healthCheck": system.health_check,
    "getConfig": system.get_config,
    "getLakeFSVersion": system.get_lakefs_version,
    "getSetupState": system.get_setup_state,
    "getStorageConfig": system.get_storage_config,
    "setup": auth.setup,
    "setupCommPrefs": auth.setup_comm_prefs,
    "postStatsEvents": system.post_stats_events,
    "getAuthCapabilities": auth.get_auth_capabilities,
    "listUserCredentials": auth.list_user_credentials,
    "createCredentials": auth.create_credentials,
    "getCredentials": auth.get_credentials,
    "deleteCredentials": auth.delete_credentials,
    "login": auth.login,
    "exchangeSignInCode": auth.exchange_sign_in_code,
    "logout": auth.logout,
    "getCurrentUser": auth.get_current_user,
    "listRepositories": repositories.list_repositories,
    "createRepository": repositories.create_repository,
    "getRepository": repositories.get_repository,
    "deleteRepository": repositories.delete_repository,
    "getRepositoryMetadata": repositories.get_repository_metadata,
    "setRepositoryMetadata": repositories.set_repository_metadata,
    "deleteRepositoryMetadata": repositories.delete_repository_metadata,
    "listBranches": branches.list_branches,
    "createBranch": branches.create_branch,
    "getBranch": branches.get_branch,
    "deleteBranch": branches.delete_branch,
    "resetBranch": branches.reset_branch,
    "hardResetBranch": branches.hard_reset_branch,
    "revertBranch": branches.revert_branch,
    "cherryPick": branches.cherry_pick,
    "getBranchProtectionRules": branches.get_branch_protection_rules,
    "setBranchProtectionRules": branches.set_branch_protection_rules,
    "createBranchProtectionRulePreflight": branches.create_branch_protection_rule_preflight,
    "internalGetBranchProtectionRules": branches.internal_get_branch_protection_rules,
    "internalCreateBranchProtectionRule": branches.internal_create_branch_protection_rule,
    "internalDeleteBranchProtectionRule": branches.internal_delete_branch_protection_rule,
    "listTags": tags.list_tags,
    "createTag": tags.create_tag,
    "getTag": tags.get_tag,
    "deleteTag": tags.delete_tag,
    "commit": commits.commit,
    "createCommitRecord": commits.create_commit_record,
    "getCommit": commits.get_commit,
    "logCommits": commits.log_commits,
    "mergeIntoBranch": merges.merge_into_branch,
    "findMergeBase": merges.find_merge_base,
    "diffBranch": diffs.diff_branch,
    "diffRefs": diffs.diff_refs,
    "getObject": objects.get_object,
    "getObjects": objects.get_objects,
    "getArchive": objects.get_archive,
    "headObject": objects.head_object,
    "statObject": objects.stat_object,
    "listObjects": objects.list_objects,
    "uploadObject": objects.upload_object,
    "uploadObjects": objects.upload_objects,
    "deleteObject": objects.delete_object,
    "deleteObjects": objects.delete_objects,
    "copyObject": objects.copy_object,
    "getMetaRange": metadata.get_meta_range,
    "getRange": metadata.get_range,
    "getMetadataObject": metadata.get_metadata_object,
    "uploadObjectPreflight": physical_addresses.upload_object_preflight,
    "updateObjectUserMetadata": physical_addresses.update_object_user_metadata,
    "getUnderlyingProperties": physical_addresses.get_underlying_properties,
    "stageObject": physical_addresses.stage_object,
    "getPhysicalAddress": physical_addresses.get_physical_address,
    "linkPhysicalAddress": physical_addresses.link_physical_address,
    "createPresignMultipartUpload": physical_addresses.create_presign_multipart_upload,
    "uploadPart": physical_addresses.upload_part,
    "uploadPartCopy": physical_addresses.upload_part_copy,
    "completePresignMultipartUpload": physical_addresses.complete_presign_multipart_upload,
    "abortPresignMultipartUpload": physical_addresses.abort_presign_multipart_upload,
    "importStart": ingest.import_start,
    "importStatus": ingest.import_status,
    "importCancel": ingest.import_cancel,
    "commitAsync": tasks.commit_async,
    "mergeIntoBranchAsync": tasks.merge_into_branch_async,
    "getTask": tasks.get_task,
    "createSymlinkFile": tasks.create_symlink_file,
    "dumpRefs": tasks.dump_refs,
    "restoreRefs": tasks.restore_refs,
    "dumpSubmit": tasks.dump_submit,
    "dumpStatus": tasks.dump_status,
    "restoreSubmit": tasks.restore_submit,
    "restoreStatus": tasks.restore_status,
    "listWorkspaces": workspaces.list_workspaces,
    "createWorkspace": workspaces.create_workspace,
    "getWorkspace": workspaces.get_workspace,
    "dropWorkspace": workspaces.drop_workspace,
    "renewWorkspace": workspaces.renew_workspace,
    "registerObjects": workspaces.register_objects,
    "pushLayer": workspaces.push_layer,
    "shareObjects": workspaces.share_objects,
    "scanWorkspace": workspaces.scan_workspace,
    "createUploadUrls": workspaces.create_upload_urls,
    "createPartUpload": part_uploads.create_part_upload,
    "signParts": part_uploads.sign_parts,
    "completePartUpload": part_uploads.complete_part_upload,
    "abortPartUpload": part_uploads.abort_part_upload,
    "ingestObjects": ingest.ingest_objects,
    "diffIngest": ingest.diff_ingest,
    "commitWorkspace": workspaces.commit_workspace,
    "revertWorkspace": workspaces.revert_workspace,
    "popWorkspace": workspaces.pop_workspace,
    "stashBranch": workspaces.stash_branch,
}

PLANNED: Final[Mapping[str, str]] = {}
"""Operations of the spec that do not work yet: operationId -> what will bring them, in words for a client."""


def check(
    operations: Iterable[Operation],
    handlers: Mapping[str, Handler] = HANDLERS,
    planned: Mapping[str, str] = PLANNED,
) -> None:
    """Raise StartError unless the operations are exactly the handlers and the planned operations."""
    known = {operation.operation_id for operation in operations}
    answered = handlers.keys() | planned.keys()
    for what, names in (
        ("operations without a handler", known - answered),
        ("handlers without an operation", answered - known),
        ("planned operations that have a handler", handlers.keys() & planned.keys()),
    ):
        if names:
            raise StartError(f"{what}: {', '.join(sorted(names))}; see lakebed_server.rest.operation_handlers")
