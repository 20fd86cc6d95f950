"""Every operation once over the true engine, with the fields and codes that existing clients read."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest
from lakebed_engine.vocabulary.errors import StoreUnavailableError

from tests.server.lake import MAIN, REPO, Lake
from tests.server.support import Answer


@pytest.fixture
def lake() -> Any:
    lake = Lake()
    lake("POST", "/repositories", {"name": "lake", "storage_namespace": "mem://lake"}, 201)
    yield lake
    lake.close()


def test_repositories(lake: Lake) -> None:
    repo = lake("GET", REPO)
    assert repo.pop("creation_date") > 1_700_000_000
    assert repo == {
        "id": "lake",
        "default_branch": "main",
        "storage_id": "",
        "storage_namespace": "mem://lake",
        "read_only": False,
    }
    for name in ("pond", "sea"):
        lake("POST", "/repositories", {"name": name, "storage_namespace": f"mem://{name}", "default_branch": ""}, 201)
    page = lake("GET", "/repositories?amount=2")
    assert [row["id"] for row in page["results"]] == ["lake", "pond"]
    assert page["pagination"] == {"has_more": True, "next_offset": "pond", "results": 2, "max_per_page": 1000}
    page = lake("GET", "/repositories?after=pond&amount=-1")
    assert page["pagination"] == {"has_more": False, "next_offset": "", "results": 1, "max_per_page": 1000}
    assert [row["id"] for row in lake("GET", "/repositories?search=on")["results"]] == ["pond"]
    for body, status, kind in (
        ({"name": "lake", "storage_namespace": "mem://other"}, 409, "repository_exists"),
        ({"name": "other", "storage_namespace": "mem://lake"}, 400, "namespace_in_use"),
        ({"name": "Other", "storage_namespace": "mem://other"}, 400, "invalid_name"),
        ({"name": "other", "storage_namespace": "mem://../x"}, 400, "invalid_namespace"),
    ):
        assert lake("POST", "/repositories", body, status)["kind"] == kind
    lake.runner.run(lake.engine.context.stores.open("mem://full").put("data/theirs", b"x"))
    wanted: dict[str, Any] = {"name": "full", "storage_namespace": "mem://full", "allow_non_empty_namespace": False}
    refused = lake("POST", "/repositories", wanted, 400)
    assert (refused["kind"], "'data/theirs'" in refused["message"]) == ("namespace_not_empty", True)
    lake("POST", "/repositories", {**wanted, "allow_non_empty_namespace": True}, 201)
    lake("DELETE", "/repositories/sea", expect=204)
    assert lake("GET", "/repositories/sea", expect=404)["kind"] == "repository_not_found"


def test_repository_metadata(lake: Lake) -> None:
    assert lake("GET", REPO + "/metadata") == {}
    lake("POST", REPO + "/metadata", {"metadata": {"a": "1", "b": "2"}}, 204)
    lake("POST", REPO + "/metadata", {"metadata": {"b": "3"}}, 204)
    lake("DELETE", REPO + "/metadata", {"keys": ["a", "nope"]}, 204)
    assert lake("GET", REPO + "/metadata") == {"b": "3"}


def test_branches(lake: Lake) -> None:
    answer: Answer = lake("POST", REPO + "/branches", {"name": "dev", "source": "main"}, 201)
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"
    head = answer.body.decode()
    assert lake("GET", REPO + "/branches/dev") == {"id": "dev", "commit_id": head}
    lake("POST", REPO + "/branches", {"name": "tx", "source": "main", "hidden": True}, 201)
    assert [row["id"] for row in lake("GET", REPO + "/branches")["results"]] == ["dev", "main"]
    assert len(lake("GET", REPO + "/branches?show_hidden=True")["results"]) == 3
    for body, status, kind in (
        ({"name": "dev", "source": "main"}, 409, "branch_exists"),
        ({"name": "a.b", "source": "main"}, 400, "invalid_name"),
        ({"name": "", "source": "main"}, 400, "invalid_name"),
        ({"name": "x", "source": "nope"}, 404, "ref_not_found"),
    ):
        assert lake("POST", REPO + "/branches", body, status)["kind"] == kind
    assert lake("DELETE", MAIN, expect=403)["kind"] == "default_branch"
    lake("DELETE", REPO + "/branches/dev", expect=204)
    assert lake("DELETE", REPO + "/branches/dev", expect=404)["kind"] == "branch_not_found"


def test_objects(lake: Lake) -> None:
    made = lake.put("a/1.csv", b"one")
    assert made["physical_address"].startswith("mem://lake/data/")
    lake.put("a/2.csv", b"two")
    lake.put("b.csv", b"three")
    stat = lake("GET", REPO + "/refs/main/objects/stat?path=a/1.csv")
    assert stat == made
    assert (stat["path_type"], stat["size_bytes"], stat["metadata"]) == ("object", 3, {})
    page = lake("GET", REPO + "/refs/main/objects/ls?delimiter=/")
    prefix, row = page["results"]
    assert prefix == {"path": "a/", "path_type": "common_prefix", "physical_address": "", "checksum": "", "mtime": 0}
    assert row["path"] == "b.csv"
    assert "metadata" not in row
    page = lake("GET", REPO + "/refs/main/objects/ls?prefix=a/&amount=1")
    assert page["pagination"]["next_offset"] == "a/1.csv"
    assert [r["path"] for r in lake("GET", REPO + "/refs/main/objects/ls?after=a/1.csv")["results"]] == [
        "a/2.csv",
        "b.csv",
    ]
    assert lake("GET", REPO + "/refs/main@/objects/ls")["results"] == []
    copied = lake("POST", MAIN + "/objects/copy?dest_path=c", {"src_path": "b.csv"}, 201)
    assert (copied["path"], copied["checksum"]) == ("c", row["checksum"])
    assert lake("GET", REPO + "/refs/main/objects?path=c").body == b"three"
    lake("HEAD", REPO + "/refs/main/objects?path=c")
    lake("DELETE", MAIN + "/objects?path=c", expect=204)
    lake("DELETE", MAIN + "/objects?path=c", expect=204)
    lake("HEAD", REPO + "/refs/main/objects?path=c", expect=404)
    failed = lake("POST", MAIN + "/objects/delete", {"paths": ["a/1.csv", "", "nope"]})["errors"]
    assert [(row["status_code"], row["path"]) for row in failed] == [(400, "")]
    assert [r["path"] for r in lake("GET", REPO + "/refs/main/objects/ls")["results"]] == ["a/2.csv", "b.csv"]
    assert lake("GET", REPO + "/refs/main/objects/stat?path=" + "x" * 1025, expect=400)["kind"] == "invalid_path"


def test_refused_requests_change_nothing(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    """The server reads all that a response needs before it changes anything, so "nothing was changed" is true."""
    lake.put("a", b"one")

    async def gone(*_: object) -> None:
        raise StoreUnavailableError("the KV store does not answer")

    with monkeypatch.context() as patch:
        patch.setattr(lake.engine.repositories, "data_place", gone)
        lake("POST", REPO + "/workspaces", {"branch": "main"}, 503)
        lake("POST", MAIN + "/stash", {}, 503)
    assert [row["path"] for row in lake("GET", REPO + "/refs/main/objects/ls")["results"]] == ["a"]
    assert lake("GET", REPO + "/workspaces")["results"] == []


def test_conditional_writes(lake: Lake) -> None:
    made = lake.put("a", b"one")
    target = MAIN + "/objects?path=a"
    refused = lake("POST", target, b"two", 412, if_none_match="*")
    assert refused["kind"] == "precondition_failed"
    lake("POST", target, b"two", 412, if_match='"wrong"')
    lake("POST", target, b"two", 201, if_match=f'"{made["checksum"]}"')
    two = hashlib.md5(b"two").hexdigest()
    lake("POST", target, b"three", 412, if_none_match=f'"{two}"')
    lake("POST", target, b"three", 201, if_none_match=f'"{made["checksum"]}"')
    absent = MAIN + "/objects?path=absent"
    lake("POST", absent, b"four", 412, if_match="*")
    lake("POST", target, b"four", 201, if_match="*")
    lake("POST", target, b"five", 501, if_match=f'"{two}", "x"')
    lake("DELETE", absent, None, 412, if_match="*")
    lake("DELETE", target, None, 204, if_match="*")
    assert lake("GET", REPO + "/refs/main/objects/ls")["results"] == []


def test_a_batch(lake: Lake) -> None:
    lake.put("old", b"x")
    body = (
        b'--B\r\nContent-Disposition: form-data; name="content"; filename="t/1"\r\n\r\none\r\n'
        b'--B\r\nContent-Disposition: form-data; name="delete"\r\n\r\nold\r\n--B--\r\n'
    )
    form = "multipart/form-data; boundary=B"
    made = lake("POST", MAIN + "/objects/batch", body, 201, content_type=form)
    assert [row["path"] for row in made["results"]] == ["t/1"]
    lake("POST", MAIN + "/objects/batch", body[:-20], 400, content_type=form)
    assert [r["path"] for r in lake("GET", REPO + "/refs/main/objects/ls")["results"]] == ["t/1"]


def test_commits_and_log(lake: Lake) -> None:
    assert lake("POST", MAIN + "/commits", {"message": "x"}, 400)["kind"] == "no_changes"
    lake.put("a", b"1")
    body = {"message": "first", "metadata": {"k": "v"}, "date": 1_750_000_000}
    made = lake("POST", MAIN + "/commits", body, 201)
    assert made["committer"] == "admin"
    assert (made["message"], made["metadata"], made["creation_date"]) == ("first", {"k": "v"}, 1_750_000_000)
    assert len(made["id"]) == 64
    assert lake("GET", REPO + "/commits/main") == made
    assert lake("GET", REPO + "/commits/main~1")["message"] == "Repository created"
    lake.put("b", b"2")
    second = lake.commit("second")
    assert second["parents"] == [made["id"]]
    assert lake("GET", REPO + "/refs/main/commits?first_parent=t&amount=1")["pagination"]["next_offset"] == second["id"]
    page = lake("GET", REPO + "/refs/main/commits?objects=a")
    assert [row["id"] for row in page["results"]] == [made["id"]]
    since = lake("GET", REPO + "/refs/main/commits?since=2100-01-01T00:00:00Z")
    assert since["results"] == []
    assert lake("GET", REPO + "/commits/nope", expect=404)["kind"] in ("ref_not_found", "commit_not_found")
    assert lake("GET", REPO + "/commits/main%24", expect=400)["kind"] == "invalid_ref"
    assert lake("GET", REPO + "/commits/main~99", expect=404)


def test_tags(lake: Lake) -> None:
    made = lake("POST", REPO + "/tags", {"id": "v1.0", "ref": "main"}, 201)
    assert lake("GET", REPO + "/tags/v1.0") == made
    assert lake("GET", REPO + "/tags")["results"] == [made]
    assert lake("POST", REPO + "/tags", {"id": "v1.0", "ref": "main"}, 409)["kind"] == "tag_exists"
    assert lake("POST", REPO + "/tags", {"id": "main", "ref": "main"}, 409)["kind"] == "name_taken"
    assert lake("POST", REPO + "/tags", {"id": "a b", "ref": "main"}, 400)["kind"] == "invalid_name"
    lake("DELETE", REPO + "/tags/v1.0", expect=204)
    assert lake("GET", REPO + "/tags/v1.0", expect=404)["kind"] == "tag_not_found"


def test_diff_merge_and_conflict(lake: Lake) -> None:
    lake.put("a", b"1")
    lake.put("b", b"1")
    base = lake.commit("base")
    lake("POST", REPO + "/branches", {"name": "dev", "source": "main"}, 201)
    lake.put("a", b"22", "dev")
    lake("DELETE", REPO + "/branches/dev/objects?path=b", expect=204)
    rows = lake("GET", REPO + "/branches/dev/diff")["results"]
    assert [(r["type"], r["path"], r["path_type"]) for r in rows] == [
        ("changed", "a", "object"),
        ("removed", "b", "object"),
    ]
    dev = lake.commit("dev", "dev")
    rows = lake("GET", REPO + "/refs/main/diff/dev?include_right_stats=true")["results"]
    assert rows[0]["size_bytes"] == 2
    assert rows[0]["right"]["content_type"] == "text/csv"
    assert "right" not in rows[1]
    found = lake("GET", REPO + "/refs/dev/merge/main")
    assert found == {
        "source_commit_id": dev["id"],
        "destination_commit_id": base["id"],
        "base_commit_id": base["id"],
    }
    lake.put("a", b"333")
    assert lake("POST", REPO + "/refs/dev/merge/main", expect=400)["kind"] == "dirty_branch"
    ours = lake.commit("main")
    conflict = lake("POST", REPO + "/refs/dev/merge/main", expect=409)
    assert (conflict["kind"], conflict["reference"], conflict["conflicts_has_more"]) == ("merge_conflict", "", False)
    (row,) = conflict["conflicts"]
    assert set(row) == {"path", "base", "ours", "theirs"}
    rows = lake("GET", REPO + "/refs/main/diff/dev")["results"]
    assert [(r["type"], r["path"]) for r in rows] == [("conflict", "a"), ("removed", "b")]
    lake("POST", REPO + "/refs/dev/merge/main", {"strategy": "nonsense"}, 400)
    merged = lake("POST", REPO + "/refs/dev/merge/main", {"strategy": "source-wins", "message": ""})
    commit = lake("GET", f"{REPO}/commits/{merged['reference']}")
    assert commit["parents"] == [ours["id"], dev["id"]]
    assert commit["message"] == "Merge 'dev' into 'main'"


def test_a_commit_in_the_middle_of_a_delta_log_is_not_reverted_or_picked(lake: Lake) -> None:
    """A commit in the middle of its history is neither reverted nor picked, and the answer says what to do instead."""
    names = [f"t/_delta_log/{version:020}.json" for version in range(3)]
    lake.put(names[0], b"0")
    lake.commit("version 0")
    lake("POST", REPO + "/branches", {"name": "old", "source": "main"}, 201)
    made = []
    for name in names[1:]:
        lake.put(name, b"1")
        made.append(lake.commit(name)["id"])
    wanted = (
        (MAIN + "/revert", made[0], "newest first"),
        (f"{REPO}/branches/old/cherry-pick", made[1], "oldest first"),
    )
    for address, ref, step in wanted:
        answer = lake("POST", address, {"ref": ref, "parent_number": 0}, 409)
        assert answer["kind"] == "merge_conflict"
        assert [one["path"] for one in answer["conflicts"]] == [names[2]]
        for word in ("'t' is a Delta table", repr(names[2]), "Nothing was changed", step):
            assert word in answer["message"]
    for ref in reversed(made):
        lake("POST", MAIN + "/revert", {"ref": ref, "parent_number": 0}, 204)
    assert [one["path"] for one in lake("GET", REPO + "/refs/main/objects/ls")["results"]] == names[:1]


def test_reset(lake: Lake) -> None:
    lake.put("a", b"1")
    lake.put("b", b"1")
    lake("PUT", MAIN, {"type": "object", "path": "a"}, 204)
    assert [r["path"] for r in lake("GET", MAIN + "/diff")["results"]] == ["b"]
    lake("PUT", MAIN, {"type": "reset"}, 204)
    assert lake("GET", MAIN + "/diff")["results"] == []
