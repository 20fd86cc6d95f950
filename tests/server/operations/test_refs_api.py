"""Reverts, cherry-picks, resets, protection, commits of what is there, bare repositories: what is on the wire."""

from __future__ import annotations

import io
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image

from tests.server.lake import MAIN, REPO, Lake

RULES = REPO + "/settings/branch_protection"


@pytest.fixture
def lake() -> Any:
    lake = Lake()
    lake("POST", "/repositories", {"name": "lake", "storage_namespace": "mem://lake"}, 201)
    yield lake
    lake.close()


def head(lake: Lake, branch: str = "main") -> Any:
    return lake("GET", f"{REPO}/commits/{branch}")


def test_revert_and_cherry_pick(lake: Lake) -> None:
    lake.put("a", b"1")
    first = lake.commit("first")
    lake("POST", MAIN + "/revert", {"ref": "main", "parent_number": 0}, 204)
    made = head(lake)
    assert (made["message"], made["parents"]) == (f"Revert {first['id'][:12]}: first", [first["id"]])
    overrides = {"message": "m", "metadata": {"k": "v"}}
    body = {"ref": "main", "parent_number": 0, "commit_overrides": overrides}
    lake("POST", MAIN + "/revert", body, 204)
    assert (head(lake)["message"], head(lake)["metadata"]) == ("m", {"k": "v"})
    lake("POST", REPO + "/branches", {"name": "dev", "source": "main"}, 201)
    lake.put("b", b"1", "dev")
    origin = lake.commit("on dev", "dev")
    picked = lake("POST", MAIN + "/cherry-pick", {"ref": "dev"}, 201)
    assert picked["message"] == "on dev"
    assert picked["metadata"] == {"cherry-pick-origin": origin["id"], "cherry-pick-committer": origin["committer"]}
    assert picked["id"] == head(lake)["id"]


def test_hard_reset(lake: Lake) -> None:
    lake.put("a", b"1")
    first = lake.commit("first")
    lake.put("a", b"2")
    second = lake.commit("second")
    lake("PUT", MAIN + "/hard_reset?ref=main~1", None, 204)
    assert head(lake)["id"] == first["id"]
    lake("PUT", MAIN + f"/hard_reset?ref={second['id'][:10]}&force=true", None, 204)
    assert head(lake)["id"] == second["id"]


def test_protection_rules_and_their_entity_tag(lake: Lake) -> None:
    answer = lake("GET", RULES)
    assert answer == []
    lake("PUT", RULES, [{"pattern": "main"}, {"pattern": "x*"}], 204, if_match="")
    from tests.server.support import ask

    read = ask(lake.app, "/api/v1" + RULES, runner=lake.runner)
    tag = read.headers["etag"]
    assert len(tag) == 64
    assert read.json == [{"pattern": "main"}, {"pattern": "x*"}] == lake("GET", REPO + "/branch_protection")
    lake("GET", REPO + "/branch_protection/set_allowed", None, 204)
    lake("DELETE", REPO + "/branch_protection", {"pattern": "x*"}, 204)
    lake("PUT", RULES, [], 412, if_match=tag)
    lake("POST", REPO + "/branch_protection", {"pattern": "y"}, 204)
    assert lake("GET", RULES) == [{"pattern": "main"}, {"pattern": "y"}]
    refused = lake("POST", MAIN + "/objects?path=a", b"1", 403)
    assert refused["kind"] == "protected_branch"
    assert "cannot write to protected branch" in refused["message"]
    errors = lake("POST", MAIN + "/objects/delete", {"paths": ["a", "b"]})["errors"]
    assert [(one["path"], one["status_code"]) for one in errors] == [("a", 403), ("b", 403)]


def test_a_bare_repository_is_filled_with_commit_records(lake: Lake) -> None:
    lake.put("a", b"1")
    lake.commit("first")
    log = lake("GET", REPO + "/refs/main/commits")["results"]
    lake("POST", "/repositories?bare=true", {"name": "copy", "storage_namespace": "mem://copy"}, 201)
    assert lake("GET", "/repositories/copy/branches")["results"] == []
    empty = next(one for one in log if not one["parents"])
    record = {
        "commit_id": empty["id"],
        "metarange_id": "",
        **{key: empty[key] for key in ("version", "committer", "message", "creation_date", "parents", "generation")},
    }
    lake("POST", "/repositories/copy/commits", record, 204)
    assert lake("POST", "/repositories/copy/commits", record, 409)["kind"] == "name_taken"
    lake("POST", "/repositories/copy/commits", {**record, "generation": 2}, 400)
    lake("POST", "/repositories/copy/commits", {**record, "message": "x"}, 400)
    full = next(one for one in log if one["parents"])
    lost = {**record, "commit_id": full["id"], "metarange_id": full["meta_range_id"], "generation": 2}
    lost |= {key: full[key] for key in ("committer", "message", "creation_date", "parents")}
    assert "metarange" in lake("POST", "/repositories/copy/commits", lost, 400)["message"]
    lake("POST", "/repositories/copy/branches", {"name": "main", "source": empty["id"]}, 201)
    assert lake("GET", "/repositories/copy/commits/main")["id"] == empty["id"]


def test_a_commit_of_a_metarange(lake: Lake) -> None:
    lake.put("a", b"1")
    first = lake.commit("first")
    lake.put("a", b"2")
    lake.commit("second")
    target = MAIN + f"/commits?source_metarange={first['meta_range_id']}"
    lake.put("b", b"staged")
    assert lake("POST", target, {"message": "back"}, 400)["kind"] == "dirty_branch"
    lake("PUT", MAIN, {"type": "reset"}, 204)
    made = lake("POST", target, {"message": "back", "date": 77}, 201)
    assert (made["meta_range_id"], made["creation_date"]) == (first["meta_range_id"], 77)
    assert lake("POST", target, {"message": "again"}, 400)["kind"] == "no_changes"
    lake("POST", target, {"message": "again", "allow_empty": True}, 201)
    found = lake("GET", REPO + "/refs/main/commits?objects=a&amount=2")["results"]
    assert [one["message"] for one in found] == ["back", "second"]


def test_sample_data(lake: Lake) -> None:
    body = {"name": "shop", "storage_namespace": "mem://shop", "sample_data": True}
    lake("POST", "/repositories", body, 201)
    rows = lake("GET", "/repositories/shop/refs/main/objects/ls")["results"]
    images = [f"images/{name}.png" for name in ("lakes-by-country", "lakes-by-depth", "waves")]
    assert [row["path"] for row in rows] == ["README.md", "data/lakes.source.md", *images, "lakes.parquet"]

    def content(path: str) -> bytes:
        found: bytes = lake.raw("GET", f"/repositories/shop/refs/main/objects?path={path}").body
        return found

    lakes = pq.read_table(io.BytesIO(content("lakes.parquet")))
    kinds = {"Hylak_id": pa.int64(), "Lake_name": pa.string(), "Country": pa.string(), "Depth_m": pa.float64()}
    assert {field.name: field.type for field in lakes.schema} == kinds
    assert lakes.num_rows == 100_000
    assert "Denmark" in lakes.column("Country").to_pylist()
    for path in ("README.md", "data/lakes.source.md"):
        assert b"made up" in content(path)
    for path in images:
        picture = Image.open(io.BytesIO(content(path)))
        picture.load()
        assert picture.format == "PNG"
    assert lake("GET", "/repositories/shop/settings/branch_protection") == [{"pattern": "main"}]
    assert lake("GET", "/repositories/shop/branches/main/diff")["results"] == []


def test_a_merge_by_rules(lake: Lake) -> None:
    lake.put("a/1", b"0")
    lake.put("b/1", b"0")
    lake.commit("base")
    lake("POST", REPO + "/branches", {"name": "dev", "source": "main"}, 201)
    for branch in ("main", "dev"):
        lake.put("a/1", branch.encode(), branch)
        lake.put("b/1", branch.encode(), branch)
        lake.commit(branch, branch)
    target = REPO + "/refs/dev/merge/main"
    rule = {"pattern": "a/**", "side": "source"}
    refused = lake("POST", target, {"resolve": [rule]}, 409)
    assert refused["reference"] == ""
    assert [one["path"] for one in refused["conflicts"]] == ["b/1"]
    assert {"base", "ours", "theirs"} <= refused["conflicts"][0].keys()
    lake("POST", target, {"resolve": [rule, {"pattern": "*", "side": "dest"}]})
    sizes = {row["path"]: row["size_bytes"] for row in lake("GET", REPO + "/refs/main/objects/ls")["results"]}
    assert sizes == {"a/1": 3, "b/1": 4}
