"""One request for each operation of the API, and the permissions that it needs.

The permissions are written down here once more, from the tables of docs/access.md: `action@resource` below
`repository/lake/`, or the whole resource after `@@`. A request with only these permissions is not refused.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

HEX = "0" * 32
WORKSPACE = "a" * 32
"""A workspace of `ana` on `main`."""


class Sample(NamedTuple):
    """The query and body of a request, and what it needs. Without `needs`, every user may send it."""

    needs: tuple[str, ...] = ()
    query: str = ""
    body: Any = None


READ = ("fs:ReadObject@object/a",)
WRITE = ("fs:WriteObject@object/a",)
DELETE = ("fs:DeleteObject@object/a",)
ON_REPOSITORY = "@@repository/lake"
_COMMIT = ("fs:CreateCommit@branch/main",)
_REVERT = ("fs:RevertBranch@branch/main",)
_READ_PULL = ("pr:ReadPullRequest" + ON_REPOSITORY,)
_WRITE_PULL = ("pr:WritePullRequest" + ON_REPOSITORY,)
_APPROVE = ("pr:ApprovePullRequest" + ON_REPOSITORY,)
_COMMENT = ("pr:CommentPullRequest" + ON_REPOSITORY,)
_RULES = ("branches:SetBranchProtectionRules" + ON_REPOSITORY,)
_READ_RUNS = ("ci:ReadAction" + ON_REPOSITORY,)
_RUN = ("ci:RunAction" + ON_REPOSITORY,)
_READ_RULES = ("branches:GetBranchProtectionRules" + ON_REPOSITORY,)
_DUMP = tuple(f"fs:{one}{ON_REPOSITORY}" for one in ("ListTags", "ListBranches", "ListCommits"))
_RESTORE = tuple(f"fs:{one}{ON_REPOSITORY}" for one in ("CreateTag", "CreateBranch", "CreateCommit"))
_MERGE = (*_COMMIT, "fs:ReadCommit" + ON_REPOSITORY)
_ALL_METADATA = ("fs:ListObjects" + ON_REPOSITORY, "fs:ReadRepository" + ON_REPOSITORY, "fs:ReadObject@object/*")
_REFS = {"commits_meta_range_id": "", "tags_meta_range_id": "", "branches_meta_range_id": ""}
_OBJECT = {"physical_address": "mem://lake/x", "checksum": "c", "size_bytes": 1}
_READ_ALL = [{"effect": "allow", "action": ["fs:Read*"], "resource": "*"}]
_UPLOAD = {"physical_address": "mem://lake/data/x", "upload_id": "u"}

SAMPLES: Final[dict[str, Sample]] = {
    "getConfig": Sample(),
    "getLakeFSVersion": Sample(),
    "getStorageConfig": Sample(),
    "getUsageReportSummary": Sample(("audit:ReadEvents@@*",)),
    "postStatsEvents": Sample(body={"events": []}),
    "renewSession": Sample(),
    "logout": Sample(query="everywhere=true"),
    "getCurrentUser": Sample(),
    "createTemporaryKey": Sample(),
    "listUserCredentials": Sample(("auth:ListCredentials@@user/ana",)),
    "createCredentials": Sample(("auth:CreateCredentials@@user/ana",)),
    "getCredentials": Sample(("auth:ReadCredentials@@user/ana",)),
    "deleteCredentials": Sample(("auth:DeleteCredentials@@user/ana",)),
    "listUsers": Sample(("auth:ListUsers@@*",)),
    "createUser": Sample(("auth:CreateUser@@user/new",), body={"id": "new"}),
    "getUser": Sample(("auth:ReadUser@@user/ana",)),
    "updateUser": Sample(("auth:UpdateUser@@user/ana",), body={"email": "ana@example.org"}),
    "deleteUser": Sample(("auth:DeleteUser@@user/ana",)),
    "listUserGroups": Sample(("auth:ReadUser@@user/ana",)),
    "listUserPolicies": Sample(("auth:ReadUser@@user/ana",)),
    "attachPolicyToUser": Sample(("auth:AttachPolicy@@user/ana",)),
    "detachPolicyFromUser": Sample(("auth:DetachPolicy@@user/ana",)),
    "grantRepositoryToUser": Sample(
        ("auth:AttachPolicy@@user/ana", "auth:CreatePolicy@@policy/lakebed.reader.lake"), body={"level": "reader"}
    ),
    "revokeRepositoryFromUser": Sample(("auth:DetachPolicy@@user/ana",)),
    "simulate": Sample(body={"action": "fs:ReadObject", "resource": "*"}),
    "listGroups": Sample(("auth:ListGroups@@*",)),
    "createGroup": Sample(("auth:CreateGroup@@group/new",), body={"id": "new"}),
    "getGroup": Sample(("auth:ReadGroup@@group/Viewers",)),
    "deleteGroup": Sample(("auth:DeleteGroup@@group/Viewers",)),
    "getGroupACL": Sample(("auth:ReadGroup@@group/Viewers",)),
    "listGroupMembers": Sample(("auth:ReadGroup@@group/Viewers",)),
    "addGroupMembership": Sample(("auth:AddGroupMember@@group/Viewers",)),
    "deleteGroupMembership": Sample(("auth:RemoveGroupMember@@group/Viewers",)),
    "listGroupPolicies": Sample(("auth:ReadGroup@@group/Viewers",)),
    "attachPolicyToGroup": Sample(("auth:AttachPolicy@@group/Viewers",)),
    "detachPolicyFromGroup": Sample(("auth:DetachPolicy@@group/Viewers",)),
    "grantRepositoryToGroup": Sample(
        ("auth:AttachPolicy@@group/Viewers", "auth:CreatePolicy@@policy/lakebed.reader.lake"), body={"level": "reader"}
    ),
    "revokeRepositoryFromGroup": Sample(("auth:DetachPolicy@@group/Viewers",)),
    "listRightsChanges": Sample(("audit:ReadEvents@@*",)),
    "listPolicies": Sample(("auth:ListPolicies@@*",)),
    "createPolicy": Sample(("auth:CreatePolicy@@policy/new",), body={"id": "new", "statement": _READ_ALL}),
    "getPolicy": Sample(("auth:ReadPolicy@@policy/FSReadAll",)),
    "updatePolicy": Sample(("auth:UpdatePolicy@@policy/FSReadAll",), body={"id": "FSReadAll", "statement": _READ_ALL}),
    "deletePolicy": Sample(("auth:DeletePolicy@@policy/FSReadAll",)),
    "createRepository": Sample(
        ("fs:CreateRepository@@repository/new", "fs:AttachStorageNamespace@@namespace/mem://new"),
        body={"name": "new", "storage_namespace": "mem://new"},
    ),
    "getRepository": Sample(("fs:ReadRepository" + ON_REPOSITORY,)),
    "getRepositoryStatistics": Sample(("fs:ReadCommit" + ON_REPOSITORY, "fs:ListObjects" + ON_REPOSITORY)),
    "deleteRepository": Sample(("fs:DeleteRepository" + ON_REPOSITORY,)),
    "getAccessHistory": Sample(("audit:ReadEvents" + ON_REPOSITORY,)),
    "getServerAccessHistory": Sample(("audit:ReadEvents@@*",)),
    "listEvents": Sample(("audit:ReadEvents" + ON_REPOSITORY,)),
    "getRepositoryMetadata": Sample(("fs:ReadRepository" + ON_REPOSITORY,)),
    "setRepositoryMetadata": Sample(("fs:UpdateRepository" + ON_REPOSITORY,), body={"metadata": {"k": "v"}}),
    "deleteRepositoryMetadata": Sample(("fs:UpdateRepository" + ON_REPOSITORY,), body={"keys": ["k"]}),
    "listBranches": Sample(("fs:ListBranches" + ON_REPOSITORY,)),
    "createBranch": Sample(("fs:CreateBranch@branch/new",), body={"name": "new", "source": "main"}),
    "getBranch": Sample(("fs:ReadBranch@branch/main",)),
    "deleteBranch": Sample(("fs:DeleteBranch@branch/main",)),
    "resetBranch": Sample(_REVERT, body={"type": "reset"}),
    "hardResetBranch": Sample(_REVERT, "ref=main"),
    "revertBranch": Sample(_REVERT, body={"ref": "main", "parent_number": 0}),
    "cherryPick": Sample(_MERGE, body={"ref": "main"}),
    "getBranchProtectionRules": Sample(_READ_RULES),
    "setBranchProtectionRules": Sample(_RULES, body=[]),
    "createBranchProtectionRulePreflight": Sample(_RULES),
    "internalGetBranchProtectionRules": Sample(_READ_RULES),
    "internalCreateBranchProtectionRule": Sample(_RULES, body={"pattern": "x"}),
    "internalDeleteBranchProtectionRule": Sample(_RULES, body={"pattern": "x"}),
    "listTags": Sample(("fs:ListTags" + ON_REPOSITORY,)),
    "createTag": Sample(("fs:CreateTag@tag/v1",), body={"id": "v1", "ref": "main"}),
    "getTag": Sample(("fs:ReadTag@tag/v1",)),
    "deleteTag": Sample(("fs:DeleteTag@tag/v1",)),
    "commit": Sample(_COMMIT, body={"message": "m"}),
    "commitAsync": Sample(_COMMIT, body={"message": "m"}),
    "createCommitRecord": Sample(
        ("fs:CreateCommit" + ON_REPOSITORY,),
        body={
            "commit_id": HEX * 2,
            "version": 1,
            "committer": "c",
            "message": "m",
            "metarange_id": HEX * 2,
            "creation_date": 1,
            "parents": [],
            "generation": 1,
        },
    ),
    "getCommit": Sample(("fs:ReadCommit" + ON_REPOSITORY,)),
    "getCommitStatistics": Sample(("fs:ReadCommit" + ON_REPOSITORY, "fs:ListObjects" + ON_REPOSITORY)),
    "logCommits": Sample(("fs:ReadBranch@branch/main",)),
    "mergeIntoBranch": Sample(_MERGE, body={}),
    "mergeIntoBranchAsync": Sample(_MERGE, body={}),
    "listPullRequests": Sample(("pr:ListPullRequests" + ON_REPOSITORY,)),
    "createPullRequest": Sample(
        ("pr:WritePullRequest" + ON_REPOSITORY,),
        body={"title": "t", "source_branch": "dev", "destination_branch": "main"},
    ),
    "getPullRequest": Sample(("pr:ReadPullRequest" + ON_REPOSITORY,)),
    "getPullRequestState": Sample(_READ_PULL),
    "listPullRequestConflicts": Sample(_READ_PULL),
    "listPullRequestEvents": Sample(_READ_PULL),
    "listPullRequestReviews": Sample(_READ_PULL),
    "listPullRequestApprovals": Sample(_READ_PULL),
    "listPullRequestComments": Sample(_READ_PULL),
    "setPullRequestReviewers": Sample(_WRITE_PULL, body=["ana"]),
    "createPullRequestReview": Sample(_APPROVE, body={"verdict": "approve"}),
    "dismissPullRequestReview": Sample(_APPROVE, body={}),
    "approvePullRequest": Sample(_APPROVE, body={}),
    "withdrawPullRequestApproval": Sample(_APPROVE),
    "createPullRequestComment": Sample(_COMMENT, body={"body": "c"}),
    "updatePullRequestComment": Sample(_COMMENT, body={"body": "c"}),
    "deletePullRequestComment": Sample(_COMMENT),
    "listCommitChecks": Sample(("fs:ReadCommit" + ON_REPOSITORY,)),
    "reportCommitCheck": Sample(("ci:WriteCheck" + ON_REPOSITORY,), body={"name": "n", "state": "success"}),
    "validateAction": Sample(body={"name": "a", "content": "x"}),
    "getHookSettings": Sample(_READ_RULES),
    "setHookSettings": Sample(_RULES, body={"actions": {}}),
    "listRepositoryRuns": Sample(_READ_RUNS),
    "getRun": Sample(_READ_RUNS),
    "listRunHooks": Sample(_READ_RUNS),
    "getRunHookOutput": Sample(_READ_RUNS),
    "listHookDeliveries": Sample(_READ_RUNS),
    "startActionRun": Sample(_RUN, body={"event": "pre-commit", "ref": "main"}),
    "repeatActionRun": Sample(_RUN),
    "redeliverHook": Sample(_RUN),
    "updatePullRequest": Sample(("pr:WritePullRequest" + ON_REPOSITORY,), body={"title": "t"}),
    "mergePullRequest": Sample(("pr:WritePullRequest" + ON_REPOSITORY, *_MERGE), body={}),
    "findMergeBase": Sample(("fs:ListCommits" + ON_REPOSITORY,)),
    "diffBranch": Sample(("fs:ListObjects" + ON_REPOSITORY,)),
    "diffRefs": Sample(("fs:ListObjects" + ON_REPOSITORY,)),
    "getObject": Sample(READ, "path=a"),
    "headObject": Sample(READ, "path=a"),
    "statObject": Sample(READ, "path=a"),
    "getUnderlyingProperties": Sample(READ, "path=a"),
    "listObjects": Sample(("fs:ListObjects" + ON_REPOSITORY,)),
    "readTable": Sample(READ, "path=a"),
    "diffTable": Sample(("fs:ListObjects" + ON_REPOSITORY, *READ), "path=a&key=id"),
    "listObjectWriters": Sample(("fs:ListObjects" + ON_REPOSITORY, "fs:ReadCommit" + ON_REPOSITORY)),
    "searchObjects": Sample(("fs:ListObjects" + ON_REPOSITORY,), "q=a"),
    "getArchive": Sample(("fs:ListObjects" + ON_REPOSITORY, "fs:ReadObject@object/*")),
    "uploadObject": Sample(WRITE, "path=a", b"x"),
    "uploadObjectPreflight": Sample(WRITE, "path=a"),
    "deleteObject": Sample(DELETE, "path=a"),
    "copyObject": Sample((*READ, "fs:WriteObject@object/b"), "dest_path=b", {"src_path": "a"}),
    "stageObject": Sample(WRITE, "path=a", {"physical_address": "mem://lake/x", "checksum": "c", "size_bytes": 1}),
    "updateObjectUserMetadata": Sample(WRITE, "path=a", {"set": {"k": "v"}}),
    "getMetaRange": Sample(_ALL_METADATA),
    "getRange": Sample(_ALL_METADATA),
    "getMetadataObject": Sample(_ALL_METADATA),
    "getPhysicalAddress": Sample(WRITE, "path=a"),
    "linkPhysicalAddress": Sample(
        WRITE, "path=a", {"staging": {"physical_address": "mem://lake/x"}, "checksum": "c", "size_bytes": 1}
    ),
    "createPresignMultipartUpload": Sample(WRITE, "path=a"),
    "completePresignMultipartUpload": Sample(
        WRITE, "path=a", {"physical_address": "x", "parts": [{"part_number": 1, "etag": "e"}]}
    ),
    "abortPresignMultipartUpload": Sample(WRITE, "path=a", {"physical_address": "x"}),
    "uploadPart": Sample(WRITE, "path=a", {"physical_address": "x"}),
    "uploadPartCopy": Sample(
        ("fs:WriteObject@object/b", *READ),
        "path=b",
        {"physical_address": "x", "copy_source": {"repository": "lake", "ref": "main", "path": "a"}},
    ),
    "importStart": Sample(
        (
            "fs:WriteObject@branch/main",
            *_COMMIT,
            "fs:ImportFromStorage@@namespace/s3://bucket/x/",
            "fs:WriteObject@object/in/*",
        ),
        body={
            "paths": [{"type": "common_prefix", "path": "s3://bucket/x/", "destination": "in/"}],
            "commit": {"message": "m"},
        },
    ),
    "importStatus": Sample(("fs:ReadBranch@branch/main",), "id=x"),
    "importCancel": Sample(("fs:ImportCancel@branch/main",), "id=x"),
    "getTask": Sample(("fs:ReadBranch@branch/*",)),
    "createSymlinkFile": Sample(("fs:ListObjects" + ON_REPOSITORY, "fs:WriteObject@object/s"), "location=s"),
    "dumpRefs": Sample(_DUMP),
    "dumpSubmit": Sample(_DUMP),
    "dumpStatus": Sample(_DUMP, "task_id=x"),
    "restoreRefs": Sample(_RESTORE, body=_REFS),
    "restoreSubmit": Sample(_RESTORE, body=_REFS),
    "restoreStatus": Sample(_RESTORE, "task_id=x"),
    "createWorkspace": Sample(("fs:ReadBranch@branch/main",), body={"branch": "main"}),
    "getWorkspace": Sample(("fs:ReadBranch@branch/*",)),
    "dropWorkspace": Sample(("fs:RevertBranch@branch/*",)),
    "renewWorkspace": Sample(("fs:RevertBranch@branch/*",), body={"expires_in": 60}),
    "revertWorkspace": Sample(("fs:RevertBranch@branch/*",)),
    "registerObjects": Sample(
        (*WRITE, "fs:DeleteObject@object/b"), body={"objects": [{**_OBJECT, "path": "a"}], "deletes": ["b"]}
    ),
    "pushLayer": Sample(("fs:WriteObject@branch/*",), body=b"x"),
    "shareObjects": Sample(("fs:WriteObject@object/b", *READ), body={"objects": [{"path": "b", "same_as": "a"}]}),
    "scanWorkspace": Sample(("fs:WriteObject@branch/*",)),
    "createUploadUrls": Sample(WRITE, body={"paths": ["a"]}),
    "createPartUpload": Sample(WRITE, body={"path": "a"}),
    "signParts": Sample(("fs:WriteObject@branch/*",), body={**_UPLOAD, "parts": [1]}),
    "completePartUpload": Sample(
        ("fs:WriteObject@branch/*",),
        body={**_UPLOAD, "size_bytes": 1, "parts": [{"part": 1, "etag": "e"}]},
    ),
    "abortPartUpload": Sample(("fs:WriteObject@branch/*",), body=_UPLOAD),
    "stashBranch": Sample(_REVERT),
    "ingestObjects": Sample(
        ("fs:ImportFromStorage@@namespace/s3://bucket/x/", "fs:WriteObject@object/in/*"),
        body={"source": "s3://bucket/x/", "prefix": "in/"},
    ),
    "diffIngest": Sample(
        ("fs:ImportFromStorage@@namespace/s3://bucket/x/", "fs:ListObjects" + ON_REPOSITORY),
        body={"source": "s3://bucket/x/"},
    ),
}

BY_HANDLER: Final = {
    "listUserSessions",
    "endUserSession",
    "listRepositories",
    "listOwnPullRequests",
    "listServerEvents",
    "getObjects",
    "uploadObjects",
    "deleteObjects",
    "commitWorkspace",
    "popWorkspace",
    "listWorkspaces",
}
"""Operations whose handlers check each path: tests/auth/enforcement/test_enforcement.py and test_batches.py test them.

Users need no permission for their own sessions: tests/auth/keys/test_sessions.py.
"""


def resource(text: str) -> str:
    """The ARN of a resource in this table."""
    if text == "@*":
        return "*"
    if text.startswith("@"):
        service = "auth" if text[1:].startswith(("user/", "group/", "policy/")) else "fs"
        return f"arn:lakefs:{service}:::{text[1:]}"
    return f"arn:lakefs:fs:::repository/lake/{text}"
