"""Each row of docs/compatibility.md has a test that holds it. The table below names it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
_SERVER, _S3 = "tests/server", "tests/server/s3"

TESTS = {
    "Python clients": "tests/compat/test_whole_surface.py::test_the_generated_client",
    "JSON null in an optional field": f"{_SERVER}/rest/test_null_fields.py::test_null_in_an_optional_field_is_no_value",
    "first words of messages": (
        f"{_SERVER}/process/test_first_words.py::test_messages_begin_with_the_words_that_scripts_expect"
    ),
    "an empty part of a path": (
        f"{_SERVER}/process/test_first_words.py::test_an_empty_part_of_the_path_is_a_bad_request"
    ),
    "`diffBranch`, a removed path": (
        f"{_SERVER}/process/test_first_words.py::test_a_removed_path_has_no_size_in_the_diff_of_a_branch"
    ),
    "`createPresignMultipartUpload` with `parts=0`": (
        "tests/compat/test_lakefs_surface.py::test_an_upload_without_parts"
    ),
    "user metadata": f"{_S3}/test_user_metadata.py::test_what_s3_puts_has_its_prefix_over_rest",
    "imports": f"{_SERVER}/operations/test_tasks.py::test_an_import_of_a_prefix_without_slash_keeps_its_last_part",
    "sample data": f"{_SERVER}/operations/test_refs_api.py::test_sample_data",
    "a merge into the first": (
        "tests/engine/merge/test_merging.py::test_a_merge_of_an_emptied_source_into_the_first_commit"
    ),
    "an S3 client whose": f"{_S3}/test_buckets.py::test_a_client_with_the_address_of_the_rest_api_gets_a_hint",
    "checksums of S3": f"{_S3}/test_kept_checksums.py::test_the_checksum_of_a_put_is_answered",
    "runs of actions, users": "tests/compat/test_lakefs_surface.py::test_lists_of_runs_and_users",
    "`usage summary`": f"{_SERVER}/operations/test_usage.py::test_requests_are_counted_by_month_and_by_all_servers",
    "names of objects in the bucket": f"{_SERVER}/rest/test_differences.py::test_names_of_objects_in_the_bucket",
    "`createBranch`, `createTag` with": f"{_SERVER}/rest/test_differences.py::test_invalid_names_and_refs_are_refused",
    "`createBranch` from `main$`": f"{_SERVER}/rest/test_differences.py::test_invalid_names_and_refs_are_refused",
    "`getCommit` of a malformed": f"{_SERVER}/rest/test_differences.py::test_invalid_names_and_refs_are_refused",
    "`findMergeBase` |": f"{_SERVER}/rest/test_differences.py::test_a_merge_base_does_not_swap_the_sides",
    "`findMergeBase`, `mergeIntoBranch`": "tests/engine/merge/test_merging.py::test_unrelated_histories",
    "`cherryPick` with": f"{_SERVER}/rest/test_differences.py::test_parent_number_0_means_no_parent_number",
    "`cherryPick`, `revertBranch`": (
        "tests/engine/commit/test_picking.py::test_concurrent_commit_at_any_moment_is_not_lost"
    ),
    "`mergeIntoBranch`, 409": f"{_SERVER}/rest/test_api.py::test_diff_merge_and_conflict",
    "`internalDeleteBranchProtectionRule`": f"{_SERVER}/rest/test_differences.py::test_an_unknown_protection_rule",
    "protection rules |": f"{_SERVER}/rest/test_differences.py::test_a_protection_rule_holds_from_the_next_request_on",
    "protection rules with": (
        "tests/engine/repository/test_protecting.py::test_patterns_that_would_protect_nothing_are_refused"
    ),
    "`diffRefs` with a delimiter": (
        f"{_SERVER}/rest/test_differences.py::test_a_diff_after_a_folder_leaves_out_what_is_below_it"
    ),
    "`createCommitRecord` with": (
        f"{_SERVER}/operations/test_refs_api.py::test_a_bare_repository_is_filled_with_commit_records"
    ),
    "`deleteObjects` on": f"{_SERVER}/rest/test_differences.py::test_deletions_in_one_request",
    "`deleteObjects` with": f"{_SERVER}/rest/test_differences.py::test_deletions_in_one_request",
    "an empty multipart upload": f"{_SERVER}/rest/test_differences.py::test_an_upload_without_content",
    "uploads, `linkPhysicalAddress`": f"{_SERVER}/rest/test_api.py::test_conditional_writes",
    "`copyObject`": f"{_SERVER}/rest/test_differences.py::test_a_copy_shares_its_data",
    "`getPhysicalAddress` on": f"{_SERVER}/stores/test_placing.py::test_no_address_is_given_for_what_cannot_be_written",
    "`linkPhysicalAddress`, `stageObject`: nothing": (
        f"{_SERVER}/stores/test_placing.py::test_link_with_false_size_or_checksum_is_refused"
    ),
    "`linkPhysicalAddress`, `stageObject` of": f"{_SERVER}/stores/test_placing.py::test_an_object_elsewhere",
    "`stageObject` of an address": (
        f"{_SERVER}/stores/test_placing.py::test_only_addresses_given_out_for_the_path_can_be_linked"
    ),
    "`createPresignMultipartUpload` |": f"{_SERVER}/stores/test_placing_s3.py::test_an_object_in_parts",
    "`uploadPartCopy`": f"{_SERVER}/stores/test_placing_s3.py::test_parts_that_are_copied",
    "an import of what is there": f"{_SERVER}/operations/test_tasks.py::test_an_import",
    "an imported object that": f"{_SERVER}/operations/test_tasks.py::test_an_import",
    "`getMetaRange`, `getRange`": (
        f"{_SERVER}/operations/test_metadata_files.py::test_unknown_metadata_files_are_not_found"
    ),
    "files of ranges": f"{_SERVER}/operations/test_metadata_files.py::test_from_a_commit_to_its_entries",
    "`createSymlinkFile`": f"{_SERVER}/operations/test_tasks.py::test_symlinks",
    "`getCurrentUser`": "tests/auth/identities/test_users_api.py::test_the_calling_user",
    "permission denied": "tests/auth/enforcement/test_enforcement.py::test_a_viewer_reads_and_does_not_write",
    "`listUserCredentials`": "tests/compat/test_lakefs_surface.py::test_own_access_keys",
    "users, groups, policies": "tests/compat/test_lakefs_auth.py::test_users_and_their_keys",
    "a policy with an unknown": "tests/auth/policies/test_policies_api.py::test_statements_that_are_refused",
    "an empty id of a user": "tests/auth/identities/test_users_api.py::test_ids_that_are_refused",
    "`getGroupACL`": "tests/auth/identities/test_groups_api.py::test_a_group_has_no_access_control_list",
    "a broken action file": (
        "tests/hooks/runs/test_matrix.py::test_an_unreadable_action_file_stops_the_operation_until_the_user_forces_it"
    ),
    "`listRunHooks`": f"{_SERVER}/operations/test_hooks_api.py::test_hooks_of_a_run",
    "`listPullRequests`": (
        f"{_SERVER}/operations/test_pulls_api.py::test_pages_have_the_newest_first_and_items_have_a_description"
    ),
    "`updatePullRequest` with": (
        f"{_SERVER}/operations/test_pulls_api.py::test_nothing_to_merge_and_a_status_that_only_a_merge_sets"
    ),
    "`updatePullRequest`, a merged": "tests/engine/pulls/test_pulls.py::test_texts_and_status_are_changed",
    "`deleteBranch`": f"{_SERVER}/operations/test_pulls_api.py::test_deleting_a_branch_closes_its_pull_requests",
    "`storage_id` of": (
        f"{_SERVER}/stores/test_named_stores.py::test_config_lists_the_stores_as_clients_of_the_shared_api_know_them"
    ),
    "errors": f"{_SERVER}/rest/test_differences.py::test_errors_have_a_kind_and_a_message",
    "S3: a condition": f"{_S3}/test_conditions.py::test_other_conditions_of_writes_are_refused",
    "S3: `CreateBucket`": f"{_S3}/test_buckets.py::test_buckets_are_made_and_deleted_where_that_is_allowed",
    "S3: multipart uploads in a list": "tests/s3/uploads/test_multipart.py::test_parts_become_an_object",
    "S3: part 1 named twice": f"{_S3}/test_multipart.py::test_a_part_that_is_named_again_counts_once",
    "S3: a header without": f"{_S3}/test_objects.py::test_headers_without_a_value_count_as_absent",
    "S3: a header that": f"{_S3}/test_objects.py::test_a_header_that_cannot_be_honoured_is_named",
    "S3: `x-amz-storage-class`": f"{_S3}/test_objects.py::test_a_header_whose_value_is_honoured",
    "directory marks": f"{_S3}/test_directory_marks.py::test_a_commit_leaves_directory_marks_out",
    "S3: UploadPartCopy of": "tests/s3/objects/test_listing.py::test_answers_where_servers_differ_are_those_of_amazon",
    "S3: a part number": f"{_S3}/test_objects.py::test_numbers_of_parts",
    "S3: `Prefix` in": "tests/s3/objects/test_listing.py::test_answers_where_servers_differ_are_those_of_amazon",
    "`setGroupACL`": f"{_SERVER}/rest/test_differences.py::test_what_is_not_there_is_501_with_an_alternative",
    "rules of garbage": f"{_SERVER}/rest/test_differences.py::test_what_is_not_there_is_501_with_an_alternative",
    "redirects of S3": f"{_S3}/test_objects.py::test_a_read_of_s3_is_never_redirected",
    "catalog exports": "tests/hooks/action_files/test_action_files.py::test_mistakes",
}
"""The beginning of each row, and its test."""


def rows() -> list[str]:
    found, wanted = [], False
    for line in (ROOT / "docs/compatibility.md").read_text().splitlines():
        if line.startswith("## "):
            wanted = line in ("## The same", "## Differences", "## Missing")
        elif wanted and line.startswith("| ") and not re.match(r"\| (what|operation) \|", line):
            found.append(line.removeprefix("| "))
    return found


def test_each_row_has_a_test_and_each_test_a_row() -> None:
    found = rows()
    of = {row: [start for start in TESTS if row.startswith(start)] for row in found}
    assert [row for row, starts in of.items() if not starts] == []
    assert {start for starts in of.values() for start in starts} == set(TESTS)


@pytest.mark.parametrize("name", sorted(set(TESTS.values())))
def test_the_test_is_there(name: str) -> None:
    path, _, function = name.partition("::")
    assert function, f"{name} names no function"
    assert re.search(rf"^(async )?def {function}\(", (ROOT / path).read_text(), re.MULTILINE), name
