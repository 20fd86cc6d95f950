"""The kinds of refusals of operations on repositories, refs, history, merges and diffs; nothing is changed by any.

`test_errors_table.py` has every documented status of every operation.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest
from lakebed_wire.operations import ERROR_KINDS

from tests.server.lake import MAIN, REPO, Lake
from tests.server.support import DOCUMENTED

pytestmark = pytest.mark.medium  # 130 requests

GONE = "/repositories/nothing"
DEV = REPO + "/branches/dev"
TOO_MANY = "amount=1001"
RULES = REPO + "/settings/branch_protection"
OLD_RULES = REPO + "/branch_protection"
RO = "/repositories/frozen"
RECORD = {
    "commit_id": "0" * 64,
    "version": 1,
    "committer": "",
    "message": "",
    "metarange_id": "",
    "creation_date": 0,
    "parents": [],
    "generation": 1,
}


class Case(NamedTuple):
    operation: str
    method: str
    target: str
    body: Any
    status: int
    kind: str
    headers: tuple[tuple[str, str], ...] = ()


def _reads(operation: str, target: str, *, ref: str = "", absent: str = "ref_not_found") -> list[Case]:
    """What every reading operation refuses: an unknown repository, a bad amount or ref, an unknown ref."""
    found = [Case(operation, "GET", GONE + target, None, 404, "repository_not_found")]
    if ref:
        found.append(Case(operation, "GET", REPO + target.replace(ref, "nothing"), None, 404, absent))
    return found


TABLE = [
    Case("listRepositories", "GET", f"/repositories?{TOO_MANY}", None, 400, "invalid_request"),
    Case(
        "createRepository", "POST", "/repositories", {"name": "A", "storage_namespace": "mem://x"}, 400, "invalid_name"
    ),
    Case(
        "createRepository", "POST", "/repositories", {"name": "abc", "storage_namespace": "x"}, 400, "invalid_namespace"
    ),
    Case(
        "createRepository",
        "POST",
        "/repositories",
        {"name": "abc", "storage_namespace": "mem://lake"},
        400,
        "namespace_in_use",
    ),
    Case(
        "createRepository",
        "POST",
        "/repositories",
        {"name": "abc", "storage_namespace": "mem://full"},
        400,
        "namespace_not_empty",
    ),
    Case(
        "createRepository",
        "POST",
        "/repositories",
        {"name": "lake", "storage_namespace": "mem://y"},
        409,
        "repository_exists",
    ),
    *_reads("getRepository", ""),
    Case("deleteRepository", "DELETE", GONE, None, 404, "repository_not_found"),
    Case("deleteRepository", "DELETE", RO, None, 403, "read_only_repository"),
    Case("deleteRepository", "DELETE", REPO + "?force=maybe", None, 400, "invalid_request"),
    *_reads("getRepositoryStatistics", "/statistics"),
    *_reads("getRepositoryMetadata", "/metadata"),
    *_reads("getMetaRange", f"/metadata/meta_range/{'0' * 64}"),
    *_reads("getRange", f"/metadata/range/{'0' * 64}"),
    *_reads("getMetadataObject", f"/metadata/object/range/{'0' * 64}"),
    Case("setRepositoryMetadata", "POST", GONE + "/metadata", {"metadata": {}}, 404, "repository_not_found"),
    Case("setRepositoryMetadata", "POST", RO + "/metadata", {"metadata": {"a": "b"}}, 403, "read_only_repository"),
    Case("setRepositoryMetadata", "POST", REPO + "/metadata", {"metadata": {"a": 1}}, 400, "invalid_request"),
    Case("deleteRepositoryMetadata", "DELETE", GONE + "/metadata", {"keys": []}, 404, "repository_not_found"),
    Case("deleteRepositoryMetadata", "DELETE", RO + "/metadata", {"keys": ["a"]}, 403, "read_only_repository"),
    Case("deleteRepositoryMetadata", "DELETE", REPO + "/metadata", None, 400, "invalid_request"),
    *_reads("listBranches", "/branches"),
    Case("listBranches", "GET", REPO + f"/branches?{TOO_MANY}", None, 400, "invalid_request"),
    Case("createBranch", "POST", REPO + "/branches", {"name": "a/b", "source": "main"}, 400, "invalid_name"),
    Case("createBranch", "POST", REPO + "/branches", {"name": "", "source": "main"}, 400, "invalid_name"),
    Case("createBranch", "POST", REPO + "/branches", {"name": "x", "source": "main$"}, 400, "invalid_ref"),
    Case("createBranch", "POST", REPO + "/branches", {"name": "x", "source": "nothing"}, 404, "ref_not_found"),
    Case("createBranch", "POST", REPO + "/branches", {"name": "dev", "source": "main"}, 409, "branch_exists"),
    Case("createBranch", "POST", REPO + "/branches", {"name": "v1", "source": "main"}, 409, "name_taken"),
    Case("createBranch", "POST", RO + "/branches", {"name": "x", "source": "main"}, 403, "read_only_repository"),
    *_reads("getBranch", "/branches/dev", ref="dev", absent="branch_not_found"),
    Case("deleteBranch", "DELETE", REPO + "/branches/nothing", None, 404, "branch_not_found"),
    Case("deleteBranch", "DELETE", MAIN, None, 403, "default_branch"),
    Case("deleteBranch", "DELETE", DEV + "?force=x", None, 400, "invalid_request"),
    Case("resetBranch", "PUT", MAIN, {"type": "all"}, 400, "invalid_request"),
    Case("resetBranch", "PUT", REPO + "/branches/nothing", {"type": "reset"}, 404, "branch_not_found"),
    Case("resetBranch", "PUT", REPO + "/branches/safe", {"type": "reset"}, 403, "protected_branch"),
    Case("hardResetBranch", "PUT", DEV + "/hard_reset", None, 400, "invalid_request"),
    Case("hardResetBranch", "PUT", DEV + "/hard_reset?ref=dev$", None, 400, "invalid_ref"),
    Case("hardResetBranch", "PUT", REPO + "/branches/dirty/hard_reset?ref=main", None, 400, "dirty_branch"),
    Case("hardResetBranch", "PUT", REPO + "/branches/safe/hard_reset?ref=main", None, 403, "protected_branch"),
    Case("hardResetBranch", "PUT", RO + "/branches/main/hard_reset?ref=main", None, 403, "read_only_repository"),
    Case("hardResetBranch", "PUT", DEV + "/hard_reset?ref=nothing", None, 404, "ref_not_found"),
    Case("hardResetBranch", "PUT", REPO + "/branches/nothing/hard_reset?ref=main", None, 404, "branch_not_found"),
    Case("revertBranch", "POST", DEV + "/revert", {"ref": "dev"}, 400, "invalid_request"),
    Case("revertBranch", "POST", DEV + "/revert", {"ref": "dev", "parent_number": 2}, 400, "invalid_request"),
    Case("revertBranch", "POST", DEV + "/revert", {"ref": "empty", "parent_number": 0}, 400, "no_changes"),
    Case(
        "revertBranch", "POST", REPO + "/branches/dirty/revert", {"ref": "dev", "parent_number": 0}, 400, "dirty_branch"
    ),
    Case(
        "revertBranch",
        "POST",
        RO + "/branches/main/revert",
        {"ref": "main", "parent_number": 0},
        403,
        "read_only_repository",
    ),
    Case("revertBranch", "POST", DEV + "/revert", {"ref": "nothing", "parent_number": 0}, 404, "ref_not_found"),
    Case("revertBranch", "POST", MAIN + "/revert", {"ref": "merged", "parent_number": 0}, 409, "parent_required"),
    Case(
        "revertBranch",
        "POST",
        REPO + "/branches/other/revert",
        {"ref": "dev", "parent_number": 0},
        409,
        "merge_conflict",
    ),
    Case("cherryPick", "POST", DEV + "/cherry-pick", {}, 400, "invalid_request"),
    Case("cherryPick", "POST", DEV + "/cherry-pick", {"ref": "merged"}, 400, "invalid_request"),
    Case("cherryPick", "POST", DEV + "/cherry-pick", {"ref": "main", "parent_number": 9}, 400, "invalid_request"),
    Case("cherryPick", "POST", DEV + "/cherry-pick", {"ref": "empty"}, 400, "no_changes"),
    Case("cherryPick", "POST", REPO + "/branches/dirty/cherry-pick", {"ref": "dev"}, 400, "dirty_branch"),
    Case("cherryPick", "POST", RO + "/branches/main/cherry-pick", {"ref": "main"}, 403, "read_only_repository"),
    Case("cherryPick", "POST", DEV + "/cherry-pick", {"ref": "nothing"}, 404, "ref_not_found"),
    Case("cherryPick", "POST", REPO + "/branches/nothing/cherry-pick", {"ref": "dev"}, 404, "branch_not_found"),
    Case("cherryPick", "POST", REPO + "/branches/other/cherry-pick", {"ref": "dev"}, 409, "merge_conflict"),
    *_reads("getBranchProtectionRules", "/settings/branch_protection"),
    Case("setBranchProtectionRules", "PUT", RULES, [{"pattern": ""}], 400, "invalid_request"),
    Case("setBranchProtectionRules", "PUT", RULES, [{"pattern": "{a,b}"}], 400, "invalid_request"),
    Case("setBranchProtectionRules", "PUT", GONE + "/settings/branch_protection", [], 404, "repository_not_found"),
    Case("setBranchProtectionRules", "PUT", RULES, [], 412, "precondition_failed", (("if_match", "0" * 64),)),
    Case("setBranchProtectionRules", "PUT", RULES, [], 412, "precondition_failed", (("if_match", '""'),)),
    Case("setBranchProtectionRules", "PUT", RULES, [], 412, "precondition_failed", (("if_match", ""),)),
    *_reads("createBranchProtectionRulePreflight", "/branch_protection/set_allowed"),
    *_reads("internalGetBranchProtectionRules", "/branch_protection"),
    Case("internalCreateBranchProtectionRule", "POST", OLD_RULES, {"pattern": ""}, 400, "invalid_request"),
    Case(
        "internalCreateBranchProtectionRule",
        "POST",
        GONE + "/branch_protection",
        {"pattern": "x"},
        404,
        "repository_not_found",
    ),
    Case("internalDeleteBranchProtectionRule", "DELETE", OLD_RULES, {}, 400, "invalid_request"),
    Case("internalDeleteBranchProtectionRule", "DELETE", OLD_RULES, {"pattern": "nothing"}, 404, "rule_not_found"),
    *_reads("listTags", "/tags"),
    Case("listTags", "GET", REPO + f"/tags?{TOO_MANY}", None, 400, "invalid_request"),
    Case("createTag", "POST", REPO + "/tags", {"id": "a/b", "ref": "main"}, 400, "invalid_name"),
    Case("createTag", "POST", REPO + "/tags", {"id": "", "ref": "main"}, 400, "invalid_name"),
    Case("createTag", "POST", REPO + "/tags", {"id": "x", "ref": "main$"}, 400, "invalid_ref"),
    Case("createTag", "POST", REPO + "/tags", {"id": "x", "ref": "nothing"}, 404, "ref_not_found"),
    Case("createTag", "POST", REPO + "/tags", {"id": "v1", "ref": "main"}, 409, "tag_exists"),
    Case("createTag", "POST", REPO + "/tags", {"id": "dev", "ref": "main"}, 409, "name_taken"),
    Case("createTag", "POST", RO + "/tags", {"id": "x", "ref": "main"}, 403, "read_only_repository"),
    *_reads("getTag", "/tags/v1", ref="v1", absent="tag_not_found"),
    Case("deleteTag", "DELETE", REPO + "/tags/nothing", None, 404, "tag_not_found"),
    Case("deleteTag", "DELETE", RO + "/tags/v1", None, 403, "read_only_repository"),
    Case("deleteTag", "DELETE", REPO + "/tags/v1?force=x", None, 400, "invalid_request"),
    Case("commit", "POST", DEV + "/commits", {"message": "x"}, 400, "no_changes"),
    Case("commit", "POST", DEV + "/commits", {}, 400, "invalid_request"),
    Case("commit", "POST", DEV + "/commits?source_metarange=x", {"message": ""}, 400, "invalid_request"),
    Case("commit", "POST", DEV + f"/commits?source_metarange={'0' * 64}", {"message": ""}, 400, "invalid_request"),
    Case("commit", "POST", REPO + "/branches/safe/commits", {"message": "x"}, 403, "protected_branch"),
    Case("commit", "POST", RO + "/branches/main/commits", {"message": "x"}, 403, "read_only_repository"),
    Case("commit", "POST", REPO + "/branches/nothing/commits", {"message": "x"}, 404, "branch_not_found"),
    *_reads("getCommit", "/commits/main", ref="main"),
    Case("getCommit", "GET", REPO + "/commits/main$", None, 400, "invalid_ref"),
    Case("getCommit", "GET", REPO + "/commits/main~99", None, 404, "ref_not_found"),
    *_reads("getCommitStatistics", "/commits/main/statistics", ref="main"),
    Case("createCommitRecord", "POST", REPO + "/commits", {}, 400, "invalid_request"),
    Case("createCommitRecord", "POST", REPO + "/commits", RECORD, 400, "invalid_request"),
    Case("createCommitRecord", "POST", GONE + "/commits", RECORD, 404, "repository_not_found"),
    Case("createCommitRecord", "POST", RO + "/commits", RECORD, 403, "read_only_repository"),
    *_reads("listObjectWriters", "/refs/main/objects/writers", ref="main"),
    *_reads("logCommits", "/refs/main/commits", ref="main"),
    Case("logCommits", "GET", REPO + f"/refs/main/commits?{TOO_MANY}", None, 400, "invalid_request"),
    Case("logCommits", "GET", REPO + f"/refs/main/commits?author={'a' * 1025}", None, 400, "invalid_request"),
    Case("logCommits", "GET", REPO + f"/refs/main/commits?author=ann&after={'0' * 64}", None, 400, "invalid_request"),
    Case("logCommits", "GET", REPO + "/refs/main$/commits", None, 400, "invalid_ref"),
    Case("logCommits", "GET", REPO + "/refs/main^9/commits", None, 400, "invalid_ref"),
    Case("logCommits", "GET", REPO + "/refs/main/commits?stop_at=nothing", None, 404, "ref_not_found"),
    *_reads("findMergeBase", "/refs/dev/merge/main", ref="dev"),
    Case("findMergeBase", "GET", REPO + "/refs/dev$/merge/main", None, 400, "invalid_ref"),
    Case("mergeIntoBranch", "POST", REPO + "/refs/dev/merge/main", {"strategy": "mine"}, 400, "invalid_request"),
    Case("mergeIntoBranch", "POST", REPO + "/refs/main~9/merge/main", None, 404, "ref_not_found"),
    Case("mergeIntoBranch", "POST", REPO + "/refs/dev/merge/dirty", None, 400, "dirty_branch"),
    Case("mergeIntoBranch", "POST", REPO + "/refs/main/merge/main", None, 400, "no_changes"),
    Case(
        "mergeIntoBranch",
        "POST",
        REPO + "/refs/dev/merge/main",
        {"resolve": [{"pattern": "!a", "side": "dest"}]},
        400,
        "invalid_request",
    ),
    Case(
        "mergeIntoBranch",
        "POST",
        REPO + "/refs/dev/merge/main",
        {"resolve": [{"pattern": "a", "side": "ours"}]},
        400,
        "invalid_request",
    ),
    Case("mergeIntoBranch", "POST", REPO + "/refs/dev/merge/nothing", None, 404, "branch_not_found"),
    Case("mergeIntoBranch", "POST", RO + "/refs/main/merge/main", None, 403, "read_only_repository"),
    Case("mergeIntoBranch", "POST", REPO + "/refs/dev/merge/other", None, 409, "merge_conflict"),
    *_reads("diffBranch", "/branches/dev/diff", ref="dev", absent="branch_not_found"),
    Case("diffBranch", "GET", DEV + f"/diff?{TOO_MANY}", None, 400, "invalid_request"),
    *_reads("diffRefs", "/refs/dev/diff/main", ref="dev"),
    Case("diffRefs", "GET", REPO + "/refs/dev/diff/main?type=one_dot", None, 400, "invalid_request"),
    Case("diffRefs", "GET", REPO + "/refs/dev$/diff/main", None, 400, "invalid_ref"),
]

COVERED = {case.operation for case in TABLE}


@pytest.fixture(scope="module")
def scene() -> Iterator[Lake]:
    """Branches in every state that something is refused in; nothing in the table changes any of it."""
    lake = Lake()
    for name, read_only in (("lake", False), ("frozen", True)):
        body = {"name": name, "storage_namespace": f"mem://{name}", "read_only": read_only}
        lake("POST", "/repositories", body, 201)
    lake.runner.run(lake.engine.context.stores.open("mem://full").put("theirs", b"x"))
    lake.put("a", b"1")
    lake.commit("first")
    for name in ("dev", "other", "dirty", "safe", "empty"):
        lake("POST", REPO + "/branches", {"name": name, "source": "main"}, 201)
    lake.put("a", b"dev", "dev")
    lake.commit("on dev", "dev")
    lake.put("a", b"other", "other")
    lake.commit("on other", "other")
    lake.put("a", b"dirty", "dirty")
    lake("POST", REPO + "/branches/empty/commits", {"message": "", "allow_empty": True}, 201)
    lake("POST", REPO + "/refs/empty/merge/main", {"allow_empty": True}, 200)
    lake("POST", REPO + "/tags", {"id": "merged", "ref": "main"}, 201)
    lake("POST", REPO + "/tags", {"id": "v1", "ref": "main"}, 201)
    lake("PUT", RULES, [{"pattern": "saf?"}], 204)
    yield lake
    lake.close()


def state(lake: Lake) -> Any:
    refs = [lake("GET", f"{REPO}/{kind}")["results"] for kind in ("branches", "tags")]
    return refs, lake("GET", RULES), lake("GET", "/repositories")["results"], lake("GET", REPO + "/branches/dirty/diff")


@pytest.mark.parametrize("case", TABLE, ids=lambda case: f"{case.operation}-{case.status}-{case.kind}")
def test_a_refusal_has_its_status_and_kind_and_changes_nothing(scene: Lake, case: Case) -> None:
    before = state(scene)
    headers = dict(case.headers) | ({"content_type": "application/json"} if case.body is not None else {})
    answer = scene(case.method, case.target, case.body, case.status, **headers)
    assert answer["kind"] == case.kind
    assert ERROR_KINDS[case.kind] == case.status
    assert answer["message"]
    assert state(scene) == before


def test_every_error_of_the_table_is_documented() -> None:
    assert {(case.operation, case.status) for case in TABLE} <= DOCUMENTED


def test_the_table_has_every_operation_of_its_groups() -> None:
    groups = ("branches", "tags", "commits", "merges", "diffs", "repositories")
    from lakebed_server.rest import operation_handlers

    wanted = {
        name
        for name, handler in operation_handlers.HANDLERS.items()
        if handler.__module__.rsplit(".", 1)[1] in (*groups, "protection")
    }
    assert wanted <= COVERED | {"uploadObjects"}, wanted - COVERED
