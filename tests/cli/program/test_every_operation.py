"""Every operation of the server is reached by a verb of the SDK and of the command line, or it is said why there is
none, and it answers a plain request.
"""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import click
import lakebed
import pytest
from lakebed.cli.main import root
from lakebed_wire.operations import OPERATIONS

from tests.cli.conftest import Run
from tests.support.processes.server import RunningServer

SOURCES = Path(lakebed.__file__).parent


class Reached(NamedTuple):
    """The verbs; without one, `why` says what is there in its place."""

    sdk: str = ""
    cli: str = ""
    why: str = ""


class Plain(NamedTuple):
    """An operation that has no verb of its own: why, what a user has in its place, and how it answers `lake.request`.

    `answer` is a status, or the kind of an error.
    """

    why: str
    instead: str
    answer: int | str
    params: dict[str, str] = {}  # noqa: RUF012
    body: Any = None


_PART = {"physical_address": "local://x/data/y"}
_PARTS = "lakeFS's way to upload in parts, which `put` of a workspace does over "
_OLDER = "deprecated; the same rules by "

LEFT_OUT = {
    "getLakeFSVersion": Plain("deprecated; the same value by getConfig", "Lake.info", 200),
    "getStorageConfig": Plain("deprecated; the same value by getConfig", "Lake.info", 200),
    "getUsageReportSummary": Plain("counts for `lakectl usage`", "Lake.access_history", 200),
    "setupCommPrefs": Plain(
        "refused by every server: it sends no e-mails",
        "Lake.is_set_up",
        "already_set_up",
        body={"featureUpdates": False, "securityUpdates": False},
    ),
    "postStatsEvents": Plain(
        "does nothing: the server keeps no statistics", "Lake.info", 204, body={"events": [{"name": "x", "count": 1}]}
    ),
    "setup": Plain(
        "refused by every server that answers: it makes its administrator before",
        "Lake.create_access_key",
        "already_set_up",
        body={"username": "admin"},
    ),
    "getGroupACL": Plain("groups have policies, no access control lists", "Groups.policies", "policy_not_found"),
    "getAuthCapabilities": Plain("constant: no passwords and no invitations", "Lake.info", 200),
    "createBranchProtectionRulePreflight": Plain(
        "says only that the repository is there", "Repository.set_protection", 204
    ),
    "internalGetBranchProtectionRules": Plain(_OLDER + "getBranchProtectionRules", "Repository.protection", 200),
    "internalCreateBranchProtectionRule": Plain(
        _OLDER + "setBranchProtectionRules", "Repository.set_protection", 204, body={"pattern": "new"}
    ),
    "internalDeleteBranchProtectionRule": Plain(
        _OLDER + "setBranchProtectionRules", "Repository.set_protection", 204, body={"pattern": "old"}
    ),
    "headObject": Plain("statObject says more, and why when it fails", "Ref.stat", 200, {"path": "a"}),
    "stageObject": Plain(
        "deprecated; the same by linkPhysicalAddress",
        "Branch.link",
        "permission_denied",
        {"path": "b"},
        {"physical_address": "s3://elsewhere/b", "checksum": "x", "size_bytes": 1},
    ),
    "createPresignMultipartUpload": Plain(
        _PARTS + "createPartUpload", "Workspace.put", "not_implemented", {"path": "a"}
    ),
    "completePresignMultipartUpload": Plain(
        _PARTS + "completePartUpload",
        "Workspace.put",
        "invalid_address",
        {"path": "a"},
        {**_PART, "parts": [{"part_number": 1, "etag": "x"}]},
    ),
    "abortPresignMultipartUpload": Plain(
        _PARTS + "abortPartUpload", "Workspace.put", "invalid_address", {"path": "a"}, _PART
    ),
    "uploadPart": Plain(_PARTS + "signParts", "Workspace.put", "invalid_address", {"path": "a"}, _PART),
    "uploadPartCopy": Plain(
        "for parts of such uploads; a copy shares the data",
        "Branch.copy",
        "invalid_address",
        {"path": "a"},
        {**_PART, "copy_source": {"repository": "every-operation", "ref": "main", "path": "a"}},
    ),
    "exchangeSignInCode": Plain(
        "a step of `lakebed login`",
        "Lake.session_token",
        "not_implemented",
        body={"code": "x", "verifier": "x" * 43},
    ),
    "approvePullRequest": Plain(
        "the same as createPullRequestReview with the verdict `approve`", "Pulls.approve", "pull_not_found", body={}
    ),
    "dumpRefs": Plain("the same as dumpSubmit, in a request that a proxy may cut off", "Repository.dump_refs", 201),
    "restoreRefs": Plain(
        "the same as restoreSubmit, in a request that a proxy may cut off",
        "Repository.restore_refs",
        "invalid_request",
        body={"commits_meta_range_id": "x", "tags_meta_range_id": "x", "branches_meta_range_id": "x"},
    ),
    "restoreStatus": Plain(
        "getTask says the same and the kind of an error", "Restore.status", "task_not_found", {"task_id": "none"}
    ),
}
"""Operations without a verb of their own. `lake.request` and `lakebed api` reach them."""

_PAGE = "for the web page and for programs"

WITHIN = "a step of it, not a verb of its own"

REACHED = {
    "healthCheck": Reached("Lake.healthy", "doctor"),
    "getConfig": Reached("Lake.info", "config server"),
    "getCurrentUser": Reached("Lake.user", "whoami"),
    "getSetupState": Reached("Lake.is_set_up", "config server"),
    "listUserSessions": Reached("Users.sessions", "session list"),
    "endUserSession": Reached("Users.end_session", "session end"),
    "renewSession": Reached("Lake.session_token", "key token"),
    "login": Reached("Lake.session_token", "key token"),
    "logout": Reached("Lake.end_session_tokens", "key end-tokens"),
    "createTemporaryKey": Reached("Keys.temporary", "key temporary"),
    "listUserCredentials": Reached("Keys.list", "key list"),
    "createCredentials": Reached("Keys.create", "key create"),
    "getCredentials": Reached("Keys.get", "key show"),
    "deleteCredentials": Reached("Keys.drop", "key delete"),
    "listUsers": Reached("Users.list", "user list"),
    "createUser": Reached("Users.create", "user create"),
    "getUser": Reached("Users.get", "user show"),
    "updateUser": Reached("Users.update", "user disable"),
    "deleteUser": Reached("Users.drop", "user delete"),
    "listUserGroups": Reached("Users.groups", "user show"),
    "listUserPolicies": Reached("Users.policies", "user show"),
    "attachPolicyToUser": Reached("Users.attach", "policy attach"),
    "detachPolicyFromUser": Reached("Users.detach", "policy detach"),
    "grantRepositoryToUser": Reached("Users.grant", "grant"),
    "revokeRepositoryFromUser": Reached("Users.revoke", "revoke"),
    "listGroups": Reached("Groups.list", "group list"),
    "createGroup": Reached("Groups.create", "group create"),
    "getGroup": Reached("Groups.get", "group show"),
    "deleteGroup": Reached("Groups.drop", "group delete"),
    "listGroupMembers": Reached("Groups.members", "group members"),
    "addGroupMembership": Reached("Groups.add", "group add"),
    "deleteGroupMembership": Reached("Groups.remove", "group remove"),
    "listGroupPolicies": Reached("Groups.policies", "group show"),
    "attachPolicyToGroup": Reached("Groups.attach", "policy attach"),
    "detachPolicyFromGroup": Reached("Groups.detach", "policy detach"),
    "grantRepositoryToGroup": Reached("Groups.grant", "grant"),
    "revokeRepositoryFromGroup": Reached("Groups.revoke", "revoke"),
    "listRightsChanges": Reached("Lake.rights_changes", "history"),
    "listPolicies": Reached("Policies.list", "policy list"),
    "createPolicy": Reached("Policies.create", "policy create"),
    "getPolicy": Reached("Policies.get", "policy show"),
    "updatePolicy": Reached("Policies.update", "policy edit"),
    "deletePolicy": Reached("Policies.drop", "policy delete"),
    "simulate": Reached("Lake.simulate", "can"),
    "listRepositories": Reached("Lake.repositories", "repo list"),
    "createRepository": Reached("Repository.create", "repo create"),
    "getRepository": Reached("Repository.info", "repo show"),
    "deleteRepository": Reached("Repository.delete", "repo delete"),
    "getRepositoryMetadata": Reached("Repository.metadata", "repo show"),
    "setRepositoryMetadata": Reached("Repository.set_metadata", "repo describe"),
    "deleteRepositoryMetadata": Reached("Repository.delete_metadata", "repo describe"),
    "getBranchProtectionRules": Reached("Repository.protection", "repo protect"),
    "setBranchProtectionRules": Reached("Repository.set_protection", "repo protect"),
    "listBranches": Reached("Repository.branches", "branch list"),
    "createBranch": Reached("Branch.create", "branch create"),
    "getBranch": Reached("Branch.info", "branch show"),
    "deleteBranch": Reached("Branch.drop", "branch delete"),
    "resetBranch": Reached("Branch.reset", "branch reset"),
    "hardResetBranch": Reached("Branch.hard_reset", "branch reset"),
    "revertBranch": Reached("Branch.revert", "revert"),
    "cherryPick": Reached("Branch.cherry_pick", "cherry-pick"),
    "listTags": Reached("Repository.tags", "tag list"),
    "createTag": Reached("Tag.create", "tag create"),
    "getTag": Reached("Tag.info", "tag show"),
    "deleteTag": Reached("Tag.drop", "tag delete"),
    "commit": Reached("Branch.commit", "commit"),
    "commitAsync": Reached("Branch.start_commit", "commit"),
    "mergeIntoBranchAsync": Reached("Branch.start_merge", "merge"),
    "getTask": Reached("Task.status", "task show"),
    "createCommitRecord": Reached("Repository.add_commit", "repo add-commit"),
    "getCommit": Reached("Repository.commit", "show"),
    "getRepositoryStatistics": Reached("Repository.statistics", "repo show"),
    "getCommitStatistics": Reached("Repository.commit_statistics", "show"),
    "logCommits": Reached("Ref.log", "log"),
    "mergeIntoBranch": Reached("Ref.merge_into", "merge"),
    "findMergeBase": Reached("Ref.merge_base", "merge-base"),
    "diffBranch": Reached("Branch.uncommitted", "diff"),
    "diffRefs": Reached("Ref.diff", "diff"),
    "getObject": Reached("Ref.get", "fs cat"),
    "getObjects": Reached("Ref.get_many", "download"),
    "getArchive": Reached("Ref.archive", "archive"),
    "statObject": Reached("Ref.stat", "fs stat"),
    "listObjects": Reached("Ref.list", "fs ls"),
    "readTable": Reached("Ref.table_page", "fs head"),
    "diffTable": Reached("Diff.table_page", why="diff --key compares tables of any size, in the SDK"),
    "listObjectWriters": Reached("Ref.writers", "fs ls"),
    "searchObjects": Reached("Ref.find", "fs find"),
    "uploadObject": Reached("Branch.put", "fs upload"),
    "uploadObjects": Reached("Branch.put_many", "fs publish"),
    "deleteObject": Reached("Branch.delete", "fs rm"),
    "deleteObjects": Reached("Branch.delete_many", "fs rm"),
    "copyObject": Reached("Branch.copy", "fs cp"),
    "updateObjectUserMetadata": Reached("Branch.replace_metadata", "fs describe"),
    "getUnderlyingProperties": Reached("Ref.storage_class", "fs stat"),
    "getPhysicalAddress": Reached("Branch.staged_address", "fs address"),
    "linkPhysicalAddress": Reached("Branch.link", "fs link"),
    "importStart": Reached("Branch.start_import", "import start"),
    "importStatus": Reached("Import.status", "import show"),
    "importCancel": Reached("Import.cancel", "import cancel"),
    "getMetaRange": Reached("Repository.metadata_place", "repo metadata-file"),
    "getRange": Reached("Repository.metadata_place", "repo metadata-file"),
    "listEvents": Reached("Repository.events", "events"),
    "listServerEvents": Reached("Lake.events", "events"),
    "getAccessHistory": Reached("Repository.access_history", "history"),
    "getServerAccessHistory": Reached("Lake.access_history", "history"),
    "getMetadataObject": Reached("Repository.metadata_file", "repo metadata-file"),
    "createSymlinkFile": Reached("Branch.write_symlinks", "fs symlinks"),
    "dumpSubmit": Reached("Repository.start_dump", "repo dump"),
    "dumpStatus": Reached("Dump.wait", "repo dump"),
    "restoreSubmit": Reached("Repository.start_restore", "repo restore"),
    "listWorkspaces": Reached("Repository.workspaces", "workspace list"),
    "createWorkspace": Reached("Branch.workspace", "workspace create"),
    "getWorkspace": Reached("Workspace.info", "workspace show"),
    "dropWorkspace": Reached("Workspace.drop", "workspace drop"),
    "renewWorkspace": Reached("Workspace.renew", "workspace renew"),
    "registerObjects": Reached("Workspace.register", why="workspace add and upload register what they write"),
    "pushLayer": Reached("Workspace.push_layer", why="for programs that write Parquet"),
    "shareObjects": Reached("Branch.write_parquet", why=WITHIN),
    "scanWorkspace": Reached("Workspace.scan", "workspace add"),
    "createUploadUrls": Reached("Workspace.put", why=WITHIN),
    "createPartUpload": Reached("Workspace.put", why=WITHIN),
    "signParts": Reached("Workspace.put", why=WITHIN),
    "completePartUpload": Reached("Workspace.put", why=WITHIN),
    "abortPartUpload": Reached("Workspace.put", why=WITHIN),
    "ingestObjects": Reached("Branch.ingest", "ingest commit"),
    "diffIngest": Reached("Branch.ingest", "ingest diff"),
    "commitWorkspace": Reached("Workspace.commit", "workspace commit"),
    "revertWorkspace": Reached("Workspace.revert", "workspace revert"),
    "popWorkspace": Reached("Workspace.pop", "workspace pop"),
    "listPullRequests": Reached("Pulls.list", "pr list"),
    "listOwnPullRequests": Reached("Lake.own_pulls", "pr list"),
    "createPullRequest": Reached("Pulls.create", "pr create"),
    "getPullRequest": Reached("Pulls.get", "pr show"),
    "updatePullRequest": Reached("Pulls.update", "pr close"),
    "mergePullRequest": Reached("Pulls.merge", "pr merge"),
    "getPullRequestState": Reached("Pulls.state", "pr show"),
    "listPullRequestConflicts": Reached("Pulls.conflicts", "pr show"),
    "listPullRequestEvents": Reached("Pulls.timeline", "pr show"),
    "setPullRequestReviewers": Reached("Pulls.set_reviewers", "pr create"),
    "listPullRequestReviews": Reached("Pulls.reviews", "pr show"),
    "createPullRequestReview": Reached("Pulls.review", "pr approve"),
    "withdrawPullRequestApproval": Reached("Pulls.withdraw_approval", "pr approve"),
    "listPullRequestComments": Reached("Pulls.comments", "pr show"),
    "createPullRequestComment": Reached("Pulls.comment", "pr comment"),
    "listCommitChecks": Reached("Pulls.checks", "pr check"),
    "reportCommitCheck": Reached("Pulls.report_check", "pr check"),
    "validateAction": Reached("Lake.validate_action", "hooks validate"),
    "listRepositoryRuns": Reached("Runs.list", "hooks runs"),
    "getRun": Reached("Runs.get", "hooks show"),
    "listRunHooks": Reached("Runs.hooks", "hooks show"),
    "getRunHookOutput": Reached("Runs.log", "hooks show"),
    "startActionRun": Reached("Runs.run", "hooks run"),
    "repeatActionRun": Reached("Runs.rerun", "hooks rerun"),
    "listHookDeliveries": Reached("Deliveries.list", "hooks deliveries"),
    "redeliverHook": Reached("Deliveries.redeliver", "hooks redeliver"),
    "getHookSettings": Reached("Repository.hook_settings", "hooks settings"),
    "setHookSettings": Reached("Repository.set_hook_settings", "hooks settings"),
    "dismissPullRequestReview": Reached("Pulls.dismiss_review", why=_PAGE),
    "listPullRequestApprovals": Reached("Pulls.approvals", why=_PAGE),
    "updatePullRequestComment": Reached("Pulls.update_comment", why=_PAGE),
    "deletePullRequestComment": Reached("Pulls.delete_comment", why=_PAGE),
    "stashBranch": Reached("Branch.stash", "workspace stash"),
    "uploadObjectPreflight": Reached("Branch.put", why="a step of a write of Spark, before its job"),
}
"""What each operation is reached by. A command may reach several, as options or as steps."""


def test_every_operation_is_reached_or_left_out_for_a_reason() -> None:
    operations = {operation.operation_id for operation in OPERATIONS}
    assert operations - REACHED.keys() - LEFT_OUT.keys() == set()
    assert (REACHED.keys() | LEFT_OUT.keys()) - operations == set()
    assert REACHED.keys() & LEFT_OUT.keys() == set()


def test_the_gateway_makes_a_call_of_each_reached_operation_and_of_no_other() -> None:
    """The SDK sends nothing but what its gateway makes, under the name of the operation."""
    written = "".join(path.read_text() for path in (SOURCES / "_gateway").rglob("*.py"))
    called = set(re.findall(r'"([a-z]+[A-Z]\w*|commit|login|logout|setup|simulate)"', written))
    operations = {operation.operation_id for operation in OPERATIONS}
    assert called & operations == REACHED.keys()


@pytest.mark.parametrize("name", REACHED)
def test_all_verbs_exist(name: str) -> None:
    reached = REACHED[name]
    handle, _, verb = reached.sdk.partition(".")
    assert inspect.isfunction(getattr(getattr(lakebed, handle), verb))
    assert bool(reached.cli) != bool(reached.why)
    command: click.Command = root
    for word in reached.cli.split():
        assert isinstance(command, click.Group)
        found = command.get_command(click.Context(command), word)
        assert found is not None, reached.cli
        command = found
    assert not reached.cli or not isinstance(command, click.Group)


@pytest.fixture(scope="module")
def place(server: RunningServer) -> Iterator[lakebed.Repository]:
    """A repository that the plain requests find something in."""
    with lakebed.connect(server.endpoint, server.access_key_id, server.secret_access_key) as lake:
        repo = lake.repository("every-operation").create("local://every-operation")
        repo.branch("main").put("a", b"1")
        repo.set_protection(["old"])
        yield repo


@pytest.mark.parametrize("name", LEFT_OUT)
def test_operations_without_a_verb_work_by_lakebed_api(run: Run, place: lakebed.Repository, name: str) -> None:
    plain = LEFT_OUT[name]
    handle, _, verb = plain.instead.partition(".")
    assert inspect.isfunction(getattr(getattr(lakebed, handle), verb))
    (operation,) = [one for one in OPERATIONS if one.operation_id == name]
    values = {
        "repository": place.id,
        "branch": "main",
        "ref": "main",
        "uploadId": "u",
        "partNumber": "1",
        "groupId": "Admins",
        "pull_request": "0" * 20,
    }
    path = re.sub(r"\{(\w+)\}", lambda found: values[found[1]], operation.path)
    arguments = ["api", operation.method, path, "--json"]
    for key, value in plain.params.items():
        arguments += ["--param", f"{key}={value}"]
    if plain.body is not None:
        arguments += ["--body", "-"]
    sent = json.dumps(plain.body).encode()
    if isinstance(plain.answer, int):
        assert run(*arguments, stdin=sent).json["status"] == plain.answer
    else:
        assert run(*arguments, stdin=sent, code=None).error["kind"] == plain.answer
