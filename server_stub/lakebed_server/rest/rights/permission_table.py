"""The permissions that each operation of the API needs. The server refuses to start without a row for an operation.

The rows follow `docs/access.md`. A row is a function of the parameters and the body of the request.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from lakebed_auth import AllOf, AnyOf, Need, arn
from lakebed_auth.actions import Audit, Auth, Branches, Ci, Fs, Pr
from lakebed_wire.operations import Operation

from lakebed_server.access.asked import NOTHING, Asked, EachPath, Everything, Row, Source
from lakebed_server.http.authorization import plain_branch
from lakebed_server.rest import serializers
from lakebed_server.vocabulary import StartError

ANYBODY: Final = Row(lambda p, body: NOTHING)
"""An operation for every user who is signed in."""


def _by_handler(p: Any, body: Any) -> Asked:
    """An operation whose handler checks each path (`http.authorization`), because its body or answer has many."""
    return Asked(
        branch=getattr(p, "branch", "") if isinstance(getattr(p, "branch", ""), str) else "",
        ref=getattr(p, "ref", ""),
        workspace=getattr(p, "workspace", ""),
    )


def _anywhere(action: str) -> Row:
    return Row(lambda p, body: Asked(Need(action, arn.ALL)))


def _repository(*needed: str) -> Row:
    def asked(p: Any, body: Any) -> Asked:
        return Asked(AllOf(*(Need(action, arn.repository(p.repository)) for action in needed)))

    return Row(asked, needed)


def _branch(action: str, *on_repository: str) -> Row:
    def asked(p: Any, body: Any) -> Asked:
        others = [Need(one, arn.repository(p.repository)) for one in on_repository]
        return Asked(AllOf(Need(action, arn.branch(p.repository, plain_branch(p.branch))), *others), branch=p.branch)

    return Row(asked, (action, *on_repository))


def _tag(action: str) -> Row:
    return Row(lambda p, body: Asked(Need(action, arn.tag(p.repository, p.tag))), (action,))


def _user(action: str) -> Row:
    return Row(lambda p, body: Asked(Need(action, arn.user(p.user_id))))


def _own_or(action: str) -> Row:
    """Users need no permission for what is theirs."""
    return Row(lambda p, body: Asked(Need(action, arn.user(p.user_id)), owner=p.user_id))


def _group(action: str) -> Row:
    return Row(lambda p, body: Asked(Need(action, arn.group(p.group_id))))


def _policy(action: str) -> Row:
    return Row(lambda p, body: Asked(Need(action, arn.policy(p.policy_id))))


def _grant(action: str, holder: Callable[[Any], str]) -> Row:
    """A grant may create the policy that it attaches."""

    def asked(p: Any, body: Any) -> Asked:
        created = arn.policy(f"lakebed.{body.level}.{p.repository}")
        return Asked(AllOf(Need(action, holder(p)), Need(Auth.CREATE_POLICY, created)))

    return Row(asked)


def _read(p: Any, body: Any) -> Asked:
    return Asked(Need(Fs.READ_OBJECT, arn.object_(p.repository, p.path)), ref=p.ref)


def _change(action: str) -> Row:
    """A write or a deletion of one object."""
    return Row(
        lambda p, body: Asked(Need(action, arn.object_(p.repository, p.path)), branch=p.branch),
        (action,),
    )


def _list(p: Any, body: Any) -> Asked:
    return Asked(Need(Fs.LIST_OBJECTS, arn.repository(p.repository)), ref=p.ref)


def _writers(p: Any, body: Any) -> Asked:
    needs = AllOf(
        Need(Fs.LIST_OBJECTS, arn.repository(p.repository)), Need(Fs.READ_COMMIT, arn.repository(p.repository))
    )
    return Asked(needs, ref=p.ref)


def _table(p: Any, body: Any) -> Asked:
    """A folder is listed. The handler checks each of its files."""
    needs = [Need(Fs.READ_OBJECT, arn.object_(p.repository, p.path))]
    if p.path.endswith("/"):
        needs.append(Need(Fs.LIST_OBJECTS, arn.repository(p.repository)))
    return Asked(AllOf(*needs), ref=p.ref)


def _table_diff(p: Any, body: Any) -> Asked:
    """Files of two refs are listed. The handler checks each of them."""
    listing = Need(Fs.LIST_OBJECTS, arn.repository(p.repository))
    return Asked(AllOf(listing, Need(Fs.READ_OBJECT, arn.object_(p.repository, p.path))), ref=p.right_ref)


def _events(p: Any, body: Any) -> Asked:
    everything = Need(Audit.READ_EVENTS, arn.repository(p.repository))
    if not isinstance(p.branch, str) or not p.branch:
        return Asked(everything)
    return Asked(AnyOf(everything, Need(Fs.READ_BRANCH, arn.branch(p.repository, p.branch))), branch=p.branch)


def _create_repository(p: Any, body: Any) -> Asked:
    create, chosen = Need(Fs.CREATE_REPOSITORY, arn.repository(body.name)), serializers.text(body.storage_namespace)
    if not chosen:  # the server chooses an empty one
        return Asked(create)
    return Asked(AllOf(create, Need(Fs.ATTACH_STORAGE_NAMESPACE, arn.namespace(chosen))))


def _delete_repository(p: Any, body: Any) -> Asked:
    delete = Need(Fs.DELETE_REPOSITORY, arn.repository(p.repository))
    if p.purge is not True:
        return Asked(delete)
    return Asked(AllOf(delete, Need(Fs.PURGE_REPOSITORY, arn.repository(p.repository))))


def _create_branch(p: Any, body: Any) -> Asked:
    return Asked(Need(Fs.CREATE_BRANCH, arn.branch(p.repository, body.name)), branch=body.name)


def _create_tag(p: Any, body: Any) -> Asked:
    return Asked(Need(Fs.CREATE_TAG, arn.tag(p.repository, body.id)))


def _log(p: Any, body: Any) -> Asked:
    return Asked(Need(Fs.READ_BRANCH, arn.branch(p.repository, p.ref)), ref=p.ref)


def _merge(p: Any, body: Any) -> Asked:
    target = Need(Fs.CREATE_COMMIT, arn.branch(p.repository, p.destination_branch))
    needs = AllOf(target, Need(Fs.READ_COMMIT, arn.repository(p.repository)))
    return Asked(needs, branch=p.destination_branch, ref=p.source_ref)


def _review(p: Any, body: Any) -> Asked:
    """A verdict or a comment."""
    action = Pr.COMMENT if body.verdict.value == "comment" else Pr.APPROVE
    return Asked(Need(action, arn.repository(p.repository)))


def _dismiss(p: Any, body: Any) -> Asked:
    """The handler lets users without the second permission dismiss only their own reviews."""
    repository = arn.repository(p.repository)
    return Asked(AnyOf(Need(Pr.APPROVE, repository), Need(Branches.SET_PROTECTION_RULES, repository)))


def _resolve(p: Any, body: Any) -> Asked:
    """The handler lets users without the second permission change only their own comments."""
    repository = arn.repository(p.repository)
    return Asked(AnyOf(Need(Pr.COMMENT, repository), Need(Pr.WRITE, repository)))


def _copy(p: Any, body: Any) -> Asked:
    source = Source(p.repository, serializers.text(body.src_ref) or p.branch, body.src_path)
    return Asked(Need(Fs.WRITE_OBJECT, arn.object_(p.repository, p.dest_path)), branch=p.branch, source=source)


def _copy_part(p: Any, body: Any) -> Asked:
    sent = body.copy_source
    source = Source(sent.repository, sent.ref, sent.path)
    return Asked(Need(Fs.WRITE_OBJECT, arn.object_(p.repository, p.path)), branch=p.branch, source=source)


def _metadata(p: Any, body: Any) -> Asked:
    """Ranges and metaranges contain the paths and addresses of all objects."""
    asked = _repository(Fs.LIST_OBJECTS, Fs.READ_REPOSITORY).asked(p, body)
    return asked._replace(everything=(Everything(Fs.READ_OBJECT, p.repository),))


def _archive(p: Any, body: Any) -> Asked:
    below = Everything(Fs.READ_OBJECT, p.repository, serializers.text(p.prefix))
    return _list(p, body)._replace(everything=(below,))


def _symlinks(p: Any, body: Any) -> Asked:
    location = arn.object_(p.repository, serializers.text(p.location))
    needs = AllOf(Need(Fs.LIST_OBJECTS, arn.repository(p.repository)), Need(Fs.WRITE_OBJECT, location))
    return Asked(needs, branch=p.branch)


def _import(p: Any, body: Any) -> Asked:
    branch = arn.branch(p.repository, p.branch)
    sources = [Need(Fs.IMPORT_FROM_STORAGE, arn.namespace(one.path)) for one in body.paths]
    needs = AllOf(Need(Fs.WRITE_OBJECT, branch), Need(Fs.CREATE_COMMIT, branch), *sources)
    everything = tuple(Everything(Fs.WRITE_OBJECT, p.repository, one.destination) for one in body.paths)
    return Asked(needs, branch=p.branch, everything=everything)


def _workspace(action: str, *, spares_creator: bool = True) -> Row:
    """On a workspace: its creator may, and others with a permission on every branch of the repository."""

    def asked(p: Any, body: Any) -> Asked:
        needs = Need(action, arn.branch(p.repository, "*"))
        return Asked(needs, workspace=p.workspace, spares_creator=spares_creator)

    return Row(asked)


def _create_workspace(p: Any, body: Any) -> Asked:
    branch = serializers.text(body.branch)
    needs = Need(Fs.READ_BRANCH, arn.branch(p.repository, branch or serializers.text(body.ref)))
    below = tuple(Everything(Fs.WRITE_OBJECT, p.repository, claim) for claim in body.claims or ())
    return Asked(needs, branch=branch, ref=serializers.text(body.ref), everything=below)


def _write_each(paths: Callable[[Any], Iterable[str]]) -> Row:
    """Writes of many paths in a workspace."""

    def asked(p: Any, body: Any) -> Asked:
        each = (EachPath(Fs.WRITE_OBJECT, p.repository, paths(body)),)
        return Asked(workspace=p.workspace, each=each)

    return Row(asked)


def _register(p: Any, body: Any) -> Asked:
    written = EachPath(Fs.WRITE_OBJECT, p.repository, [one.path for one in body.objects or ()])
    deleted = EachPath(Fs.DELETE_OBJECT, p.repository, body.deletes or ())
    return Asked(workspace=p.workspace, each=(written, deleted))


def _share(p: Any, body: Any) -> Asked:
    written = EachPath(Fs.WRITE_OBJECT, p.repository, [one.path for one in body.objects])
    read = EachPath(Fs.READ_OBJECT, p.repository, [one.same_as for one in body.objects])
    return Asked(workspace=p.workspace, each=(written, read))


def _ingest(p: Any, body: Any) -> Asked:
    source = Need(Fs.IMPORT_FROM_STORAGE, arn.namespace(body.source))
    below = (Everything(Fs.WRITE_OBJECT, p.repository, serializers.text(body.prefix)),)
    return Asked(source, workspace=p.workspace, everything=below)


def _compare_ingest(p: Any, body: Any) -> Asked:
    source = Need(Fs.IMPORT_FROM_STORAGE, arn.namespace(body.source))
    return Asked(AllOf(source, Need(Fs.LIST_OBJECTS, arn.repository(p.repository))), ref=p.ref)


BY_HANDLER: Final = Row(_by_handler)
_READ: Final = Row(_read, (Fs.READ_OBJECT,))
_LIST: Final = Row(_list, (Fs.LIST_OBJECTS,))
_WRITE: Final = _change(Fs.WRITE_OBJECT)
_METADATA: Final = Row(_metadata)
_MERGE: Final = Row(_merge, (Fs.CREATE_COMMIT, Fs.READ_COMMIT))
_DUMP: Final = _repository(Fs.LIST_TAGS, Fs.LIST_BRANCHES, Fs.LIST_COMMITS)
_RESTORE: Final = _repository(Fs.CREATE_TAG, Fs.CREATE_BRANCH, Fs.CREATE_COMMIT)
_READ_RULES: Final = _repository(Branches.GET_PROTECTION_RULES)
_WRITE_RULES: Final = _repository(Branches.SET_PROTECTION_RULES)
_READ_RUNS: Final = _repository(Ci.READ_ACTION)
_RUN: Final = _repository(Ci.RUN_ACTION)

PERMISSIONS: Final[Mapping[str, Row]] = {
    "getConfig": ANYBODY,
    "getLakeFSVersion": ANYBODY,
    "getStorageConfig": ANYBODY,
    "getUsageReportSummary": _anywhere(Audit.READ_EVENTS),
    "postStatsEvents": ANYBODY,
    "renewSession": ANYBODY,
    "logout": ANYBODY,
    "getCurrentUser": ANYBODY,
    "createTemporaryKey": ANYBODY,
    "listUserSessions": _own_or(Auth.LIST_CREDENTIALS),
    "endUserSession": _own_or(Auth.DELETE_CREDENTIALS),
    "listUserCredentials": _user(Auth.LIST_CREDENTIALS),
    "createCredentials": _user(Auth.CREATE_CREDENTIALS),
    "getCredentials": _user(Auth.READ_CREDENTIALS),
    "deleteCredentials": _user(Auth.DELETE_CREDENTIALS),
    "listUsers": _anywhere(Auth.LIST_USERS),
    "createUser": Row(lambda p, body: Asked(Need(Auth.CREATE_USER, arn.user(body.id)))),
    "getUser": _user(Auth.READ_USER),
    "updateUser": _user(Auth.UPDATE_USER),
    "deleteUser": _user(Auth.DELETE_USER),
    "listUserGroups": _user(Auth.READ_USER),
    "listUserPolicies": _user(Auth.READ_USER),
    "attachPolicyToUser": _user(Auth.ATTACH_POLICY),
    "detachPolicyFromUser": _user(Auth.DETACH_POLICY),
    "grantRepositoryToUser": _grant(Auth.ATTACH_POLICY, lambda p: arn.user(p.user_id)),
    "revokeRepositoryFromUser": _user(Auth.DETACH_POLICY),
    "simulate": BY_HANDLER,
    "listGroups": _anywhere(Auth.LIST_GROUPS),
    "createGroup": Row(lambda p, body: Asked(Need(Auth.CREATE_GROUP, arn.group(body.id)))),
    "getGroup": _group(Auth.READ_GROUP),
    "deleteGroup": _group(Auth.DELETE_GROUP),
    "getGroupACL": _group(Auth.READ_GROUP),
    "listGroupMembers": _group(Auth.READ_GROUP),
    "addGroupMembership": _group(Auth.ADD_GROUP_MEMBER),
    "deleteGroupMembership": _group(Auth.REMOVE_GROUP_MEMBER),
    "listGroupPolicies": _group(Auth.READ_GROUP),
    "attachPolicyToGroup": _group(Auth.ATTACH_POLICY),
    "detachPolicyFromGroup": _group(Auth.DETACH_POLICY),
    "grantRepositoryToGroup": _grant(Auth.ATTACH_POLICY, lambda p: arn.group(p.group_id)),
    "revokeRepositoryFromGroup": _group(Auth.DETACH_POLICY),
    "listRightsChanges": _anywhere(Audit.READ_EVENTS),
    "listPolicies": _anywhere(Auth.LIST_POLICIES),
    "createPolicy": Row(lambda p, body: Asked(Need(Auth.CREATE_POLICY, arn.policy(body.id)))),
    "getPolicy": _policy(Auth.READ_POLICY),
    "updatePolicy": _policy(Auth.UPDATE_POLICY),
    "deletePolicy": _policy(Auth.DELETE_POLICY),
    "listRepositories": BY_HANDLER,
    "createRepository": Row(_create_repository),
    "getRepository": _repository(Fs.READ_REPOSITORY),
    "getRepositoryStatistics": _repository(Fs.READ_COMMIT, Fs.LIST_OBJECTS),
    "deleteRepository": Row(_delete_repository),
    "getAccessHistory": _repository(Audit.READ_EVENTS),
    "getServerAccessHistory": _anywhere(Audit.READ_EVENTS),
    "listEvents": Row(_events),
    "listServerEvents": BY_HANDLER,
    "getRepositoryMetadata": _repository(Fs.READ_REPOSITORY),
    "setRepositoryMetadata": _repository(Fs.UPDATE_REPOSITORY),
    "deleteRepositoryMetadata": _repository(Fs.UPDATE_REPOSITORY),
    "listBranches": _repository(Fs.LIST_BRANCHES),
    "createBranch": Row(_create_branch, (Fs.CREATE_BRANCH,)),
    "getBranch": _branch(Fs.READ_BRANCH),
    "deleteBranch": _branch(Fs.DELETE_BRANCH),
    "resetBranch": _branch(Fs.REVERT_BRANCH),
    "hardResetBranch": _branch(Fs.REVERT_BRANCH),
    "revertBranch": _branch(Fs.REVERT_BRANCH),
    "cherryPick": _branch(Fs.CREATE_COMMIT, Fs.READ_COMMIT),
    "getBranchProtectionRules": _READ_RULES,
    "setBranchProtectionRules": _WRITE_RULES,
    "createBranchProtectionRulePreflight": _WRITE_RULES,
    "internalGetBranchProtectionRules": _READ_RULES,
    "internalCreateBranchProtectionRule": _WRITE_RULES,
    "internalDeleteBranchProtectionRule": _WRITE_RULES,
    "listTags": _repository(Fs.LIST_TAGS),
    "createTag": Row(_create_tag, (Fs.CREATE_TAG,)),
    "getTag": _tag(Fs.READ_TAG),
    "deleteTag": _tag(Fs.DELETE_TAG),
    "commit": _branch(Fs.CREATE_COMMIT),
    "commitAsync": _branch(Fs.CREATE_COMMIT),
    "createCommitRecord": _repository(Fs.CREATE_COMMIT),
    "getCommit": _repository(Fs.READ_COMMIT),
    "getCommitStatistics": _repository(Fs.READ_COMMIT, Fs.LIST_OBJECTS),
    "logCommits": Row(_log, (Fs.READ_BRANCH,)),
    "mergeIntoBranch": _MERGE,
    "mergeIntoBranchAsync": _MERGE,
    "findMergeBase": _repository(Fs.LIST_COMMITS),
    "listPullRequests": _repository(Pr.LIST),
    "createPullRequest": _repository(Pr.WRITE),
    "listOwnPullRequests": Row(_by_handler),
    "getPullRequest": _repository(Pr.READ),
    "getPullRequestState": _repository(Pr.READ),
    "listPullRequestConflicts": _repository(Pr.READ),
    "listPullRequestEvents": _repository(Pr.READ),
    "setPullRequestReviewers": _repository(Pr.WRITE),
    "listPullRequestReviews": _repository(Pr.READ),
    "createPullRequestReview": Row(_review),
    "dismissPullRequestReview": Row(_dismiss),
    "listPullRequestApprovals": _repository(Pr.READ),
    "approvePullRequest": _repository(Pr.APPROVE),
    "withdrawPullRequestApproval": _repository(Pr.APPROVE),
    "listPullRequestComments": _repository(Pr.READ),
    "createPullRequestComment": _repository(Pr.COMMENT),
    "updatePullRequestComment": Row(_resolve),
    "deletePullRequestComment": _repository(Pr.COMMENT),
    "listCommitChecks": _repository(Fs.READ_COMMIT),
    "reportCommitCheck": _repository(Ci.WRITE_CHECK),
    "validateAction": ANYBODY,
    "getHookSettings": _READ_RULES,
    "setHookSettings": _WRITE_RULES,
    "listRepositoryRuns": _READ_RUNS,
    "getRun": _READ_RUNS,
    "listRunHooks": _READ_RUNS,
    "getRunHookOutput": _READ_RUNS,
    "listHookDeliveries": _READ_RUNS,
    "startActionRun": _RUN,
    "repeatActionRun": _RUN,
    "redeliverHook": _RUN,
    "updatePullRequest": _repository(Pr.WRITE),
    "mergePullRequest": Row(_repository(Pr.WRITE, Fs.READ_COMMIT).asked, (Pr.WRITE, Fs.READ_COMMIT, Fs.CREATE_COMMIT)),
    "diffBranch": _repository(Fs.LIST_OBJECTS),
    "diffRefs": _repository(Fs.LIST_OBJECTS),
    "getObject": _READ,
    "getObjects": BY_HANDLER,
    "getArchive": Row(_archive),
    "headObject": _READ,
    "statObject": _READ,
    "listObjects": _LIST,
    "listObjectWriters": Row(_writers),
    "searchObjects": _LIST,
    "readTable": Row(_table),
    "diffTable": Row(_table_diff),
    "uploadObject": _WRITE,
    "uploadObjects": BY_HANDLER,
    "uploadObjectPreflight": _WRITE,
    "deleteObject": _change(Fs.DELETE_OBJECT),
    "deleteObjects": BY_HANDLER,
    "copyObject": Row(_copy),
    "stageObject": _WRITE,
    "updateObjectUserMetadata": _WRITE,
    "getUnderlyingProperties": _READ,
    "getMetaRange": _METADATA,
    "getRange": _METADATA,
    "getMetadataObject": _METADATA,
    "getPhysicalAddress": _WRITE,
    "linkPhysicalAddress": _WRITE,
    "createPresignMultipartUpload": _WRITE,
    "completePresignMultipartUpload": _WRITE,
    "abortPresignMultipartUpload": _WRITE,
    "uploadPart": _WRITE,
    "uploadPartCopy": Row(_copy_part),
    "importStart": Row(_import),
    "importStatus": _branch(Fs.READ_BRANCH),
    "importCancel": _branch(Fs.IMPORT_CANCEL),
    "getTask": BY_HANDLER,
    "createSymlinkFile": Row(_symlinks),
    "dumpRefs": _DUMP,
    "dumpSubmit": _DUMP,
    "dumpStatus": _DUMP,
    "restoreRefs": _RESTORE,
    "restoreSubmit": _RESTORE,
    "restoreStatus": _RESTORE,
    "listWorkspaces": BY_HANDLER,
    "createWorkspace": Row(_create_workspace),
    "getWorkspace": _workspace(Fs.READ_BRANCH),
    "dropWorkspace": _workspace(Fs.REVERT_BRANCH),
    "renewWorkspace": _workspace(Fs.REVERT_BRANCH),
    "registerObjects": Row(_register),
    "pushLayer": _workspace(Fs.WRITE_OBJECT),
    "shareObjects": Row(_share),
    "scanWorkspace": _workspace(Fs.WRITE_OBJECT),
    "createUploadUrls": _write_each(lambda body: body.paths),
    "createPartUpload": _write_each(lambda body: (body.path,)),
    "signParts": _workspace(Fs.WRITE_OBJECT),
    "completePartUpload": _workspace(Fs.WRITE_OBJECT),
    "abortPartUpload": _workspace(Fs.WRITE_OBJECT),
    "ingestObjects": Row(_ingest),
    "diffIngest": Row(_compare_ingest),
    "commitWorkspace": BY_HANDLER,
    "revertWorkspace": _workspace(Fs.REVERT_BRANCH),
    "popWorkspace": BY_HANDLER,
    "stashBranch": _branch(Fs.REVERT_BRANCH),
}
"""The row of each operation with `security`, by operationId."""


def check(operations: Iterable[Operation], rows: Mapping[str, Row] = PERMISSIONS) -> None:
    """Raise StartError unless exactly the operations that need a user have a row."""
    secured = {operation.operation_id for operation in operations if operation.security}
    for what, names in (
        ("operations without permissions", secured - rows.keys()),
        ("permissions without an operation", rows.keys() - secured),
    ):
        if names:
            raise StartError(f"{what}: {', '.join(sorted(names))}; see lakebed_server.rest.rights.permission_table")
