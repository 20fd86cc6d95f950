"""Every operation of the server is reached by a verb of the SDK and of the command line, or it is said why not."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import NamedTuple

import click
import lakebed
import pytest
from lakebed.cli.main import root
from lakebed_wire.operations import OPERATIONS

SOURCES = Path(lakebed.__file__).parent


class Reached(NamedTuple):
    """The verbs; without one, `why` says what is there in its place."""

    sdk: str = ""
    cli: str = ""
    why: str = ""


LEFT_OUT = {
    "getLakeFSVersion": "deprecated: getConfig has it",
    "getStorageConfig": "deprecated: getConfig has it",
    "setupCommPrefs": "for other clients: nothing is kept",
    "postStatsEvents": "for other clients: nothing is kept",
    "getSetupState": "for browsers: a server is set up when it starts",
    "setup": "for browsers: a server is set up when it starts",
    "login": "for browsers: the SDK sends its key with each request",
    "getAuthCapabilities": "for browsers: it is constant",
    "createBranchProtectionRulePreflight": "for other clients: set_protection is refused by itself",
    "internalGetBranchProtectionRules": "older form of getBranchProtectionRules",
    "internalCreateBranchProtectionRule": "older form of setBranchProtectionRules",
    "internalDeleteBranchProtectionRule": "older form of setBranchProtectionRules",
    "headObject": "statObject says more of the same",
    "stageObject": "deprecated: linkPhysicalAddress is the better call",
    "uploadObjectPreflight": "for other clients: put is refused by itself, before it sends anything",
    "createPresignMultipartUpload": "for other clients: workspaces upload in parts (createPartUpload)",
    "completePresignMultipartUpload": "for other clients: workspaces upload in parts (completePartUpload)",
    "abortPresignMultipartUpload": "for other clients: workspaces upload in parts (abortPartUpload)",
    "uploadPart": "for other clients: workspaces upload in parts (signParts)",
    "uploadPartCopy": "for other clients: copy shares the data",
    "dumpRefs": "dump_refs goes through dumpSubmit, which outlasts a proxy",
    "restoreRefs": "restore_refs goes through restoreSubmit, which outlasts a proxy",
    "restoreStatus": "getTask says the same, and waits",
}
"""Operations without a verb."""

WITHIN = "a step of it, not a verb of its own"

REACHED = {
    "healthCheck": Reached("Lake.healthy", "doctor"),
    "getConfig": Reached("Lake.version", "doctor"),
    "getCurrentUser": Reached("Lake.user", "doctor"),
    "listUserCredentials": Reached("Lake.access_keys", "key list"),
    "createCredentials": Reached("Lake.create_access_key", "key create"),
    "getCredentials": Reached("Lake.access_key", "key show"),
    "deleteCredentials": Reached("Lake.drop_access_key", "key delete"),
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
    "logCommits": Reached("Ref.log", "log"),
    "mergeIntoBranch": Reached("Ref.merge_into", "merge"),
    "findMergeBase": Reached("Ref.merge_base", "merge-base"),
    "diffBranch": Reached("Branch.uncommitted", "diff"),
    "diffRefs": Reached("Ref.diff", "diff"),
    "getObject": Reached("Ref.get", "fs cat"),
    "statObject": Reached("Ref.stat", "fs stat"),
    "listObjects": Reached("Ref.list", "fs ls"),
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
    "getMetadataObject": Reached("Repository.metadata_file", "repo metadata-file"),
    "createSymlinkFile": Reached("Branch.write_symlinks", "fs symlinks"),
    "dumpSubmit": Reached("Repository.dump_refs", "repo dump"),
    "dumpStatus": Reached("Repository.dump_refs", "repo dump"),
    "restoreSubmit": Reached("Repository.restore_refs", "repo restore"),
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
    "stashBranch": Reached("Branch.stash", "workspace stash"),
}
"""What each operation is reached by. A command may reach several, as options or as steps."""


def test_every_operation_is_reached_or_left_out_for_a_reason() -> None:
    operations = {operation.operation_id for operation in OPERATIONS}
    assert operations - REACHED.keys() - LEFT_OUT.keys() == set()
    assert (REACHED.keys() | LEFT_OUT.keys()) - operations == set()
    assert REACHED.keys() & LEFT_OUT.keys() == set()
    assert all(LEFT_OUT.values())


def test_the_gateway_makes_a_call_of_each_reached_operation_and_of_no_other() -> None:
    """The SDK sends nothing but what its gateway makes, under the name of the operation."""
    written = "".join(path.read_text() for path in (SOURCES / "_gateway").glob("*.py"))
    called = set(re.findall(r'"([a-z]+[A-Z]\w*|commit|login|setup)"', written))
    operations = {operation.operation_id for operation in OPERATIONS}
    assert called & operations == REACHED.keys()


@pytest.mark.parametrize("name", REACHED)
def test_the_verbs_are_there(name: str) -> None:
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
