"""The differences from lakeFS that one request shows (docs/compatibility.md)."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from tests.server.lake import MAIN, REPO, Lake


@pytest.fixture
def lake() -> Iterator[Lake]:
    made = Lake()
    made("POST", "/repositories", {"name": "lake", "storage_namespace": "mem://lake"}, 201)
    yield made
    made.close()


def test_invalid_names_and_refs_are_refused(lake: Lake) -> None:
    for where, body in (("branches", {"name": "", "source": "main"}), ("tags", {"id": "", "ref": "main"})):
        assert lake("POST", f"{REPO}/{where}", body, 400)["kind"] == "invalid_name"
    assert lake("POST", f"{REPO}/branches", {"name": "dev", "source": "main$"}, 400)["kind"] == "invalid_ref"
    assert lake("GET", f"{REPO}/commits/main~x", None, 400)["kind"] == "invalid_ref"


def test_a_merge_base_does_not_swap_the_sides(lake: Lake) -> None:
    lake("POST", f"{REPO}/branches", {"name": "dev", "source": "main"}, 201)
    lake.put("a", b"1", "dev")
    source = lake.commit("dev", "dev")["id"]
    destination = lake("GET", MAIN)["commit_id"]
    found = lake("GET", f"{REPO}/refs/dev/merge/main")
    assert (found["source_commit_id"], found["destination_commit_id"]) == (source, destination)
    assert found["base_commit_id"] == destination


def test_parent_number_0_means_no_parent_number(lake: Lake) -> None:
    lake("POST", f"{REPO}/branches", {"name": "dev", "source": "main"}, 201)
    lake.put("a", b"1", "dev")
    picked = lake.commit("dev", "dev")["id"]
    lake("POST", f"{MAIN}/cherry-pick", {"ref": picked, "parent_number": 0}, 201)
    assert lake.raw("GET", f"{REPO}/refs/main/objects?path=a").body == b"1"


def test_a_protection_rule_holds_from_the_next_request_on(lake: Lake) -> None:
    lake("PUT", f"{REPO}/settings/branch_protection", [{"pattern": "main"}], 204)
    assert lake("POST", f"{MAIN}/objects?path=a", b"1", 403)["kind"] == "protected_branch"
    lake("PUT", f"{REPO}/settings/branch_protection", [], 204)
    lake.put("a", b"1")


def test_a_diff_after_a_folder_leaves_out_what_is_below_it(lake: Lake) -> None:
    for path in ("a/1", "a/2", "a0", "b"):
        lake.put(path, b"1")
    found = lake("GET", f"{MAIN}/diff?delimiter=/&after=a/")["results"]
    assert [row["path"] for row in found] == ["a0", "b"]


def test_deletions_in_one_request(lake: Lake) -> None:
    lake.put("a", b"1")
    answer = lake("POST", f"{MAIN}/objects/delete", {"paths": ["", "a"]})
    assert [row["path"] for row in answer["errors"]] == [""]
    assert lake("GET", f"{REPO}/refs/main/objects/ls")["results"] == []
    missing = f"{REPO}/branches/none/objects/delete"
    assert lake("POST", missing, {"paths": ["a"]}, 404)["kind"] == "branch_not_found"


def test_an_upload_without_content(lake: Lake) -> None:
    form = "multipart/form-data; boundary=B"
    answer = lake("POST", f"{MAIN}/objects?path=a", b"--B--\r\n", 400, content_type=form)
    assert answer["kind"] == "invalid_request"


def test_a_copy_shares_its_data(lake: Lake) -> None:
    lake.put("a", b"1")
    made = lake("POST", f"{MAIN}/objects/copy?dest_path=b", {"src_path": "a"}, 201)
    address = lake("GET", f"{REPO}/refs/main/objects/stat?path=a")["physical_address"]
    assert made["physical_address"] == address


def test_an_unknown_protection_rule(lake: Lake) -> None:
    where = f"{REPO}/branch_protection"
    assert lake("DELETE", where, {"pattern": "none"}, 404)["kind"] == "rule_not_found"


def test_errors_have_a_kind_and_a_message(lake: Lake) -> None:
    found = lake("GET", "/repositories/none", None, 404)
    assert found["kind"] == "repository_not_found"
    assert found["message"]


def test_what_is_not_there_is_501_with_an_alternative(lake: Lake) -> None:
    for method, where, alternative in (
        ("POST", "/auth/groups/g/acl", "polic"),
        ("GET", "/auth/external/principals", "log in with an access key"),
        ("GET", f"{REPO}/settings/gc_rules", "sweep"),
    ):
        found = lake(method, where, None, 501)
        assert found["kind"] == "not_implemented"
        assert alternative in found["message"]


def test_names_of_objects_in_the_bucket(lake: Lake) -> None:
    address = lake.put("a", b"1")["physical_address"]
    assert re.fullmatch(r"mem://lake/data/\d{10}/[0-9a-f]{32}", address)
