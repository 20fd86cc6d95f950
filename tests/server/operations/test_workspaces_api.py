"""Workspaces over HTTP, through a real server over a local store: every operation, and every refusal with its kind."""

from __future__ import annotations

import io
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import quote
from uuid import uuid4

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.server.workspacing import Api, Json, layer_file, registration, write_below
from tests.support.processes.server import RunningServer, running_server

pytestmark = pytest.mark.slow

NOBODY = "0" * 32
MIB = 1 << 20


@pytest.fixture(scope="module")
def module_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    with running_server(tmp_path_factory) as server:
        yield server


def open_api(server: RunningServer) -> Api:
    """A new repository with objects `a` and `z`, committed."""
    name = f"r-{uuid4().hex[:16]}"
    api = Api(server, name)
    api.http.post("/repositories", json={"name": name, "storage_namespace": f"local://{name}"}).raise_for_status()
    for path in ("a", "z"):
        api.put("main", path, path.encode())
    api("POST", "/branches/main/commits", {"message": "first"})
    return api


@pytest.fixture
def api(module_server: RunningServer) -> Iterator[Api]:
    with open_api(module_server) as api:
        yield api


# life


def test_a_workspace_says_what_it_is(api: Api) -> None:
    head = api("GET", "/branches/main")["commit_id"]
    before = int(time.time())
    made = api.workspace(message="load", expires_in=600, claims=["x/"])
    name = api.repo.rpartition("/")[2]
    assert len(made["id"]) == 32
    assert made["name"] == f"main+{made['id']}"
    assert made["base_commit_id"] == head
    assert (made["branch"], made["state"], made["message"], made["claims"]) == ("main", "open", "load", ["x/"])
    assert made["storage_prefix"] == f"local://{name}/workspaces/{made['id']}/"
    assert made["local_path"].endswith(f"/{name}/workspaces/{made['id']}/")
    assert made["data_paths"] == ["direct", "proxied"]
    assert made["creator"] == "admin"
    assert before <= made["creation_date"] <= made["expires"] - 600 <= time.time()
    assert "closed" not in made
    assert "commit_id" not in made
    assert api("GET", f"/workspaces/{made['id']}") == made
    assert api("GET", f"/workspaces/{quote(made['name'], safe='')}") == made


def test_a_workspace_begins_on_any_ref_and_is_committed_to_any_branch(api: Api) -> None:
    first = api("GET", "/branches/main")["commit_id"]
    api.put("main", "b", b"b")
    api("POST", "/branches/main/commits", {"message": "second"})
    api("POST", "/branches", {"name": "dev", "source": "main"})
    by_ref = api("POST", "/workspaces", {"ref": "dev"})
    assert by_ref["branch"] == "dev"
    old = api("POST", "/workspaces", {"ref": first, "branch": "main"})
    assert (old["base_commit_id"], old["branch"]) == (first, "main")
    api.put(old["name"], "c", b"c")
    assert api.paths(old["name"]) == ["a", "c", "z"]
    api("POST", f"/workspaces/{old['id']}/commit", {})
    assert api.paths("main") == ["a", "b", "c", "z"]


def test_an_id_of_ones_own_can_be_sent_again(api: Api) -> None:
    chosen = uuid4().hex
    body = {"branch": "main", "id": chosen, "message": "mine"}
    made = api("POST", "/workspaces", body, 201)
    assert made["id"] == chosen
    api.put(made["name"], "b", b"b")
    api.put("main", "late", b"l")
    api("POST", "/branches/main/commits", {"message": "meanwhile"})
    assert api("POST", "/workspaces", body, 201) == made
    api.fails("POST", "/workspaces", {**body, "message": "another's"}, 409, "name_taken")
    api.fails("POST", "/workspaces", {**body, "id": chosen[:-1]}, 400, "invalid_name")
    api.fails("POST", "/workspaces", {**body, "id": chosen + "\n"}, 400, "invalid_request")
    # objects below an old prefix belong to commits: the prefix is not reused, even without its record
    other = uuid4().hex
    write_below({**made, "local_path": made["local_path"].replace(chosen, other)}, "x", b"x")
    api.fails("POST", "/workspaces", {"branch": "main", "id": other}, 409, "name_taken")


def test_lists_are_paged_and_filtered(api: Api) -> None:
    api("POST", "/branches", {"name": "dev", "source": "main"})
    made = sorted(api.workspace()["id"] for _ in range(3))
    on_dev = api.workspace(branch="dev")["id"]
    api("DELETE", f"/workspaces/{made[1]}", expect=204)

    def ids(query: str) -> list[str]:
        return [row["id"] for row in api("GET", f"/workspaces?{query}")["results"]]

    assert ids("") == sorted({*made, on_dev} - {made[1]})
    assert ids("branch=dev") == [on_dev]
    assert ids("state=reverted") == [made[1]]
    assert ids("state=all") == sorted({*made, on_dev})
    page = api("GET", "/workspaces?branch=main&amount=1&state=all")
    assert page["pagination"] == {"has_more": True, "next_offset": made[0], "results": 1, "max_per_page": 1000}
    assert ids(f"branch=main&state=all&after={made[0]}") == made[1:]
    api.fails("GET", "/workspaces?state=odd", None, 400, "invalid_request")


def test_renewal(api: Api) -> None:
    made, before = api.workspace(expires_in=600), int(time.time())
    assert api("POST", f"/workspaces/{made['id']}/renew", {"expires_in": 3600})["expires"] >= before + 3600
    api.fails("POST", f"/workspaces/{made['id']}/renew", {"expires_in": 59}, 400, "invalid_request")
    api.fails("POST", f"/workspaces/{made['id']}/renew", {}, 400, "invalid_request")


def test_missing_workspaces_and_branches_are_not_found(api: Api) -> None:
    for method, tail, body in calls_on(NOBODY):
        answer = api.send(method, tail, body)
        assert (answer.status_code, answer.json()["kind"]) == (404, "workspace_not_found"), f"{method} {tail}"
    api.fails("POST", "/workspaces", {"branch": "nope"}, 404, "ref_not_found")
    api.fails("POST", "/workspaces", {"ref": "main", "branch": "nope"}, 404, "branch_not_found")
    api.fails("POST", "/workspaces", {}, 400, "invalid_request")
    api.fails("POST", "/workspaces", {"branch": "main", "expires_in": 1}, 400, "invalid_request")
    api.fails("POST", "/branches/nope/stash", None, 404, "branch_not_found")
    api.repo = "/repositories/nowhere"
    api.fails("GET", "/workspaces", None, 404, "repository_not_found")
    api.fails("POST", "/workspaces", {"branch": "main"}, 404, "repository_not_found")


def calls_on(found: str) -> list[tuple[str, str, Any]]:
    """Every operation on one workspace, except the operations that also serve a closed one."""
    at = f"/workspaces/{found}"
    return [
        ("POST", f"{at}/renew", {"expires_in": 60}),
        ("POST", f"{at}/objects", {"deletes": ["a"]}),
        ("POST", f"{at}/layers", layer_file([{"path": "a", "deleted": True, **EMPTY}], LAYER)),
        ("POST", f"{at}/scan", None),
        ("POST", f"{at}/upload_urls", {"paths": ["a"]}),
        ("POST", f"{at}/commit", {}),
        ("POST", f"{at}/revert", {}),
        ("POST", f"{at}/revert", {"paths": ["*"]}),
        ("POST", f"{at}/pop", {}),
    ]


EMPTY = {"physical_address": None, "checksum": None, "size_bytes": None}
LAYER = pa.schema(
    [
        ("path", pa.string()),
        ("physical_address", pa.string()),
        ("checksum", pa.string()),
        ("size_bytes", pa.int64()),
        ("mtime", pa.int64()),
        ("content_type", pa.string()),
        ("metadata", pa.map_(pa.string(), pa.string())),
        ("deleted", pa.bool_()),
    ]
)


def _commit(api: Api, found: Json) -> None:
    api("POST", f"/workspaces/{found['id']}/commit", {"message": "done"}, 201)


def _drop(api: Api, found: Json) -> None:
    api("DELETE", f"/workspaces/{found['id']}", expect=204)


def _pop(api: Api, found: Json) -> None:
    api("POST", f"/workspaces/{found['id']}/pop", expect=204)


@pytest.mark.parametrize(("end", "state"), [(_commit, "committed"), (_drop, "reverted"), (_pop, "popped")])
def test_a_closed_workspace_refuses_everything(api: Api, end: Callable[[Api, Json], None], state: str) -> None:
    made = api.workspace()
    api.put(made["name"], "b", b"b")
    end(api, made)
    closed = api("GET", f"/workspaces/{made['id']}")
    assert (closed["state"], closed["closed"] > 0) == (state, True)
    assert closed.get("commit_id") == (api("GET", "/branches/main")["commit_id"] if state == "committed" else None)
    name = quote(made["name"], safe="")
    reads = [
        ("GET", f"/refs/{name}/objects?path=b", None),
        ("GET", f"/refs/{name}/objects/stat?path=b", None),
        ("GET", f"/refs/{name}/objects/ls", None),
        ("GET", f"/refs/main/diff/{name}", None),
        ("GET", f"/refs/{name}/commits", None),
        ("GET", f"/commits/{name}", None),
        ("GET", f"/branches/{name}/diff", None),
    ]
    writes = [
        ("POST", f"/branches/{name}/objects?path=b", b"x"),
        ("DELETE", f"/branches/{name}/objects?path=b", None),
        ("POST", f"/branches/{name}/objects/delete", {"paths": ["b"]}),
        ("POST", f"/branches/{name}/objects/copy?dest_path=c", {"src_path": "b"}),
        ("PUT", f"/branches/{name}", {"type": "reset"}),
    ]
    for method, target, body in (*calls_on(made["id"]), *reads, *writes):
        answer = api.send(method, target, body)
        assert (answer.status_code, answer.json()["kind"]) == (409, "workspace_closed"), f"{method} {target}"
    assert api.send("HEAD", f"/refs/{name}/objects?path=b").status_code == 409
    assert api.send("DELETE", f"/workspaces/{made['id']}").status_code == (204 if state == "reverted" else 409)


# changes


def test_workspace_name_works_as_branch_and_ref(api: Api) -> None:
    made = api.workspace()
    name = quote(made["name"], safe="")
    api.put(made["name"], "b/1", b"one")
    api("POST", f"/branches/{name}/objects/copy?dest_path=b/2", {"src_path": "a", "src_ref": "main"}, 201)
    api("DELETE", f"/branches/{name}/objects?path=z", expect=204)
    assert api.paths(made["name"]) == ["a", "b/1", "b/2"]
    assert api.paths("main") == ["a", "z"]
    assert api.text(made["name"], "b/1") == "one"
    assert api("GET", f"/refs/{name}/objects/stat?path=b/1")["size_bytes"] == 3
    assert api.send("HEAD", f"/refs/{name}/objects?path=b/1").headers["content-length"] == "3"
    changes = api("GET", f"/branches/{name}/diff")["results"]
    assert [(row["type"], row["path"]) for row in changes] == [("added", "b/1"), ("added", "b/2"), ("removed", "z")]
    shown = api("GET", f"/refs/main/diff/{name}%24?type=two_dot")["results"]
    assert [row["path"] for row in shown] == ["b/1", "b/2", "z"]
    assert api("GET", f"/refs/main/diff/{name}?type=two_dot")["results"] == []  # commits are compared, as for branches
    api("PUT", f"/branches/{name}", {"type": "object", "path": "z"}, 204)
    assert api.paths(made["name"]) == ["a", "b/1", "b/2", "z"]
    assert api("GET", f"/commits/{name}")["id"] == made["base_commit_id"]
    api("POST", f"/branches/{name}/objects/delete", {"paths": ["b/1", "b/2"]})
    assert api.paths(made["name"]) == ["a", "z"]


def test_objects_written_past_the_server_are_registered_as_one(api: Api) -> None:
    made = api.workspace()
    at = f"/workspaces/{made['id']}"
    rows = [write_below(made, f"t/{number:02}", b"x" * number) for number in range(40)]
    rows[3] |= {"mtime": 1234, "content_type": "text/csv", "metadata": {"k": "v"}}
    api("POST", f"{at}/objects", {"objects": rows, "deletes": ["z"]}, 204)
    assert api.paths(made["name"]) == ["a", *(row["path"] for row in rows)]
    stats = api("GET", f"/refs/{quote(made['name'], safe='')}/objects/stat?path=t/03")
    assert (stats["mtime"], stats["content_type"], stats["metadata"]) == (1234, "text/csv", {"k": "v"})
    assert stats["physical_address"] == made["storage_prefix"] + "t/03"
    assert api("POST", f"{at}/scan") == {"registered": 0, "vanished": 0, "unchanged": 40, "refused": 0, "refusals": []}
    commit = api("POST", f"{at}/commit", {"message": "m", "metadata": {"k": "v"}}, 201)
    assert (commit["message"], commit["metadata"], commit["committer"]) == ("m", {"k": "v"}, "admin")
    assert api.text("main", "t/39") == "x" * 39


def test_server_refuses_to_register_wrong_objects(api: Api) -> None:
    made, other = api.workspace(), api.workspace()
    target = f"/workspaces/{made['id']}/objects"
    good = write_below(made, "good", b"good")
    foreign = write_below(other, "foreign", b"foreign")
    staged = api.put("main", "staged", b"staged")
    outside = [
        foreign["physical_address"],
        staged["physical_address"],
        "s3://elsewhere/key",
        "local://other/workspaces/x",
        made["storage_prefix"],
        made["storage_prefix"].replace("workspaces", "_lakebed") + "x",
        "../x",
    ]
    for address in outside:
        bad = {**good, "path": "bad", "physical_address": address}
        api.fails("POST", target, {"objects": [good, bad]}, 400, "invalid_address")
    absent = registration(made, "absent", b"")
    error = api.fails("POST", target, {"objects": [good, absent]}, 400, "invalid_address")
    assert "absent" in error["message"]
    assert "good" not in error["message"]
    wrong = {**good, "size_bytes": 5}
    api.fails("POST", target, {"objects": [wrong]}, 400, "checksum_mismatch")
    for pair in ([wrong, {**good, "path": "same"}], [{**good, "path": "same"}, wrong]):  # both of one address
        api.fails("POST", target, {"objects": pair}, 400, "checksum_mismatch")
    for path in ("", "x" * 1025):
        api.fails("POST", target, {"objects": [{**good, "path": path}]}, 400, "invalid_path")
    for name, value in (("checksum", ""), ("checksum", 'a"b'), ("size_bytes", -1), ("mtime", -1), ("mtime", "now")):
        api.fails("POST", target, {"objects": [{**good, name: value}]}, 400, "invalid_request")
    api.fails("POST", target, {"objects": [good, good]}, 400, "invalid_request")
    api.fails("POST", target, {"objects": [good], "deletes": ["good"]}, 400, "invalid_request")
    api.fails("POST", target, {"deletes": [str(number) for number in range(10_001)]}, 400, "invalid_request")
    assert api.paths(made["name"]) == ["a", "z"]
    api("POST", target, {}, 204)
    api("POST", target, {"objects": [good]}, 204)
    assert api.paths(made["name"]) == ["a", "good", "z"]


def test_many_objects_between_others_are_checked_by_a_listing(api: Api) -> None:
    made = api.workspace()
    everything = [write_below(made, f"n/{number:04}", b"n") for number in range(300)]
    chosen = everything[::5]
    api("POST", f"/workspaces/{made['id']}/objects", {"objects": chosen}, 204)
    assert api.paths(made["name"]) == ["a", *(row["path"] for row in chosen), "z"]
    missing = registration(made, "n/0100x", b"n")
    error = api.fails(
        "POST", f"/workspaces/{made['id']}/objects", {"objects": [*chosen, missing]}, 400, "invalid_address"
    )
    assert "n/0100x" in error["message"]


def test_a_scan_finds_what_tools_wrote(api: Api) -> None:
    made = api.workspace()
    for path in ("b", "d/c"):
        write_below(made, path, path.encode())
    assert api("POST", f"/workspaces/{made['id']}/scan") == {
        "registered": 2,
        "vanished": 0,
        "unchanged": 0,
        "refused": 0,
        "refusals": [],
    }
    assert api("POST", f"/workspaces/{made['id']}/scan") == {
        "registered": 0,
        "vanished": 0,
        "unchanged": 2,
        "refused": 0,
        "refusals": [],
    }
    assert api.text(made["name"], "d/c") == "d/c"


def test_a_layer_file_is_registered_as_one(api: Api) -> None:
    made = api.workspace()
    at = f"/workspaces/{made['id']}"
    rows = [{**write_below(made, f"p/{number:05}", b"x"), "mtime": number} for number in range(250)]
    rows[7] |= {"content_type": "text/csv", "metadata": [("k", "v"), ("l", "w")]}
    rows.append({"path": "z", "deleted": True})
    answer = api("POST", f"{at}/layers", layer_file(rows, LAYER, row_group_size=100), 201)
    assert answer["rows"] == 251
    assert api.paths(made["name"]) == ["a", *(row["path"] for row in rows[:-1])]
    stats = api("GET", f"/refs/{quote(made['name'], safe='')}/objects/stat?path=p/00007")
    assert (stats["mtime"], stats["content_type"], stats["metadata"]) == (7, "text/csv", {"k": "v", "l": "w"})
    assert api("POST", f"{at}/scan") == {"registered": 0, "vanished": 0, "unchanged": 250, "refused": 0, "refusals": []}
    api("POST", f"{at}/commit", {}, 201)
    assert len(api.paths("main")) == 251
    least = layer_file([registration(made, "q", b"")], None)
    api.fails("POST", f"{at}/layers", least, 409, "workspace_closed")


def one_more(row: Json, count: int) -> bytes:
    """A small file of a large row, many times: the file contains the text once."""
    return layer_file([{**row, "path": f"{number:05}"} for number in range(count)], LAYER)


def long_texts(row: Json) -> bytes:
    """A small file whose checksums would be gigabytes."""
    count = 5_000
    rows = {name: pa.array([value] * count) for name, value in row.items()}
    indices = pa.array([0] * count, pa.int32())
    rows["checksum"] = pa.DictionaryArray.from_arrays(indices, pa.array(["x" * MIB]))
    buffer = io.BytesIO()
    pq.write_table(pa.table(rows), buffer)
    return buffer.getvalue()


def _bad_layers(made: Json) -> dict[str, tuple[bytes, str]]:
    """By what is wrong: a file and the kind of the refusal."""
    good = registration(made, "b", b"b")
    whole = layer_file([good], LAYER)
    after = registration(made, "c", b"b")

    def one(**wrong: Any) -> bytes:
        return layer_file([{**good, **wrong}], LAYER)

    return {
        "empty": (b"", "invalid_request"),
        "no Parquet": (b"PAR1" + b"x" * 100 + b"PAR1", "invalid_request"),
        "cut": (whole[:-20], "invalid_request"),
        "damaged": (whole[:40] + b"\xff" * 60 + whole[100:], "invalid_request"),
        "no rows": (layer_file([], LAYER), "invalid_request"),
        "a column missing": (layer_file([{"path": "b", "checksum": "c", "size_bytes": 1}]), "invalid_request"),
        "a wrong type": (layer_file([{**good, "size_bytes": "one"}]), "invalid_request"),
        "order": (layer_file([after, good], LAYER), "invalid_request"),
        "twice": (layer_file([good, good], LAYER), "invalid_request"),
        "no path": (one(path=None), "invalid_path"),
        "empty path": (one(path=""), "invalid_path"),
        "long path": (one(path="x" * 1025), "invalid_path"),
        "no size": (one(size_bytes=None), "invalid_request"),
        "negative size": (one(size_bytes=-1), "invalid_request"),
        "far time": (one(mtime=2**60), "invalid_request"),
        "metadata twice": (one(metadata=[("k", "v"), ("k", "w")]), "invalid_request"),
        "metadata without value": (one(metadata=[("k", None)]), "invalid_request"),
        "not UTF-8": (layer_file([{**good, "path": b"\xff"}]), "invalid_request"),
        "foreign": (one(physical_address="s3://elsewhere/b"), "permission_denied"),
        "absent": (layer_file([good, registration(made, "missing", b"")], LAYER), "invalid_address"),
        "another size": (one(size_bytes=2), "checksum_mismatch"),
        "a long text often": (long_texts(good), "invalid_request"),
        "long metadata often": (one_more({**good, "metadata": [("k", "x" * MIB)]}, 100), "invalid_request"),
        "metadata of numbers": (layer_file([{**good, "metadata": [1]}]), "invalid_request"),
    }


def test_bad_layer_files_are_refused_and_change_nothing(api: Api, module_server: RunningServer) -> None:
    made = api.workspace()
    write_below(made, "b", b"b")
    write_below(made, "c", b"b")
    for what, (content, kind) in _bad_layers(made).items():
        answer = api.send("POST", f"/workspaces/{made['id']}/layers", content)
        status = 403 if kind == "permission_denied" else 400
        assert (answer.status_code, answer.json().get("kind")) == (status, kind), f"{what}: {answer.text}"
    memory = Path(f"/proc/{module_server.process.pid}/status").read_text()
    assert int(memory.partition("VmHWM:")[2].split()[0]) < 1 << 20  # KiB; 5,000 times a MiB would be five times that
    assert api.paths(made["name"]) == ["a", "z"]


def test_part_of_a_workspace_is_committed_and_the_rest_goes_on(api: Api) -> None:
    made = api.workspace()
    at = f"/workspaces/{made['id']}"
    for path in ("x/1.parquet", "x/2.json"):
        api.put(made["name"], path, path.encode())
    error = api.fails("POST", f"{at}/commit", {"paths": ["*.csv"]}, 400, "invalid_request")
    assert "*.csv" in error["message"]
    first = api("POST", f"{at}/commit", {"paths": ["*.parquet"], "message": "part"}, 201)
    assert api.paths("main") == ["a", "x/1.parquet", "z"]
    now = api("GET", at)
    assert (now["state"], now["base_commit_id"]) == ("open", first["id"])
    assert now["storage_prefix"] != made["storage_prefix"]
    late = write_below(made, "late", b"below the prefix of before")
    api("POST", f"{at}/objects", {"objects": [late]}, 204)
    api("POST", f"{at}/revert", {"paths": ["late"]}, 204)
    assert api.paths(made["name"]) == ["a", "x/1.parquet", "x/2.json", "z"]
    api("POST", f"{at}/commit", {}, 201)
    assert api.paths("main") == ["a", "x/1.parquet", "x/2.json", "z"]


def test_revert(api: Api) -> None:
    made = api.workspace()
    at = f"/workspaces/{made['id']}"
    for path in ("x/1", "x/2", "y"):
        api.put(made["name"], path, b"1")
    api("POST", f"{at}/revert", {"paths": ["x/*", "!x/2"]}, 204)
    assert api.paths(made["name"]) == ["a", "x/2", "y", "z"]
    api("POST", f"{at}/revert", None, 204)
    assert api.paths(made["name"]) == ["a", "z"]
    api.fails("POST", f"{at}/commit", {}, 400, "no_changes")
    assert api("POST", f"{at}/commit", {"allow_empty": True}, 201)["parents"] == [made["base_commit_id"]]


def test_stash_and_pop(api: Api) -> None:
    api.put("main", "b", b"b")
    api("DELETE", "/branches/main/objects?path=a", expect=204)
    stashed = api("POST", "/branches/main/stash", {"message": "later", "expires_in": 600}, 201)
    assert (stashed["branch"], stashed["message"], stashed["state"]) == ("main", "later", "open")
    assert api.paths("main") == ["a", "z"]
    assert api.paths(stashed["name"]) == ["b", "z"]
    api.fails("POST", "/branches/main/stash", None, 400, "no_changes")
    api("POST", "/branches", {"name": "dev", "source": "main"})
    api("POST", f"/workspaces/{stashed['id']}/pop", {"branch": "dev"}, 204)
    assert api.paths("dev") == ["b", "z"]
    assert api.paths("main") == ["a", "z"]
    api.fails("POST", f"/workspaces/{api.workspace()['id']}/pop", {}, 400, "no_changes")


# commits and conflicts


def test_refused_workspace_commit_lists_its_conflicts(api: Api) -> None:
    made = api.workspace()
    at = f"/workspaces/{made['id']}"
    for path in ("a", "b", "c"):
        api.put(made["name"], path, b"mine")
    for path in ("a", "c"):
        api.put("main", path, b"theirs")
    api("DELETE", "/branches/main/objects?path=z", expect=204)
    dirty = api.fails("POST", f"{at}/commit", {}, 409, "dirty_overlap")
    assert [row["path"] for row in dirty["conflicts"]] == ["a", "c"]
    assert dirty["conflicts_has_more"] is False
    assert "reference" not in dirty
    api("POST", "/branches/main/commits", {"message": "theirs"})
    both = api.fails("POST", f"{at}/commit", {}, 409, "concurrent_commit")
    stat = {
        ref: api("GET", f"/refs/{quote(ref, safe='')}/objects/stat?path=a")["checksum"]
        for ref in ("main", made["name"])
    }
    base = api("GET", f"/refs/{made['base_commit_id']}/objects/stat?path=a")["checksum"]
    assert both["conflicts"][0] == {"path": "a", "base": base, "ours": stat["main"], "theirs": stat[made["name"]]}
    assert both["conflicts"][1].keys() == {"path", "ours", "theirs"}
    page = api.fails("POST", f"{at}/commit?conflicts_amount=1", {}, 409, "concurrent_commit")
    assert [row["path"] for row in page["conflicts"]] == ["a"]
    assert page["conflicts_has_more"] is True
    api.fails("POST", f"{at}/commit?conflicts_amount=0", {}, 400, "invalid_request")
    api.fails("POST", f"{at}/commit", {"policy": "hope"}, 400, "invalid_request")
    api("POST", f"{at}/commit", {"policy": "overwrite"}, 201)
    assert (api.text("main", "a"), api.paths("main")) == ("mine", ["a", "b", "c"])


def test_disjoint_changes_are_rebased_unless_abort_is_asked_for(api: Api) -> None:
    made = api.workspace()
    api.put(made["name"], "b", b"b")
    api.put("main", "c", b"c")
    api("POST", "/branches/main/commits", {"message": "theirs"})
    error = api.fails("POST", f"/workspaces/{made['id']}/commit", {"policy": "abort"}, 409, "concurrent_commit")
    assert error["conflicts"] == []
    dated = api("POST", f"/workspaces/{made['id']}/commit", {"policy": "rebase", "date": 1_700_000_000}, 201)
    assert dated["creation_date"] == 1_700_000_000
    assert api.paths("main") == ["a", "b", "c", "z"]


def test_claims_and_replaced_prefixes(api: Api) -> None:
    for path in ("t/1", "t/2"):
        api.put("main", path, b"old")
    api("POST", "/branches/main/commits", {"message": "table"})
    made = api.workspace()
    claimed = api.workspace(claims=["t/"])
    api.put(made["name"], "t/3", b"new")
    api.put(claimed["name"], "u", b"u")
    replaced = api("POST", f"/workspaces/{made['id']}/commit", {"replace_prefix": ["t/"]}, 201)
    assert replaced["message"] == f"Workspace {made['id']}"
    assert api.paths("main") == ["a", "t/3", "z"]
    error = api.fails("POST", f"/workspaces/{claimed['id']}/commit", {}, 409, "concurrent_commit")
    assert [row["path"] for row in error["conflicts"]] == ["t/1", "t/2", "t/3"]


def test_an_idempotency_key_commits_once(api: Api) -> None:
    made = api.workspace()
    api.put(made["name"], "b", b"b")
    body = {"message": "once", "idempotency_key": "k-1"}
    first = api("POST", f"/workspaces/{made['id']}/commit", body, 201)
    assert api("POST", f"/workspaces/{made['id']}/commit", body, 201) == first
    api.fails("POST", f"/workspaces/{made['id']}/commit", {**body, "message": "twice"}, 409, "idempotency_mismatch")
    api.fails("POST", f"/workspaces/{made['id']}/commit", {"message": "once"}, 409, "workspace_closed")
    assert Counter(commit["message"] for commit in api.log())["once"] == 1


def test_a_read_only_repository_is_forced_or_left_alone(module_server: RunningServer) -> None:
    name = f"r-{uuid4().hex[:16]}"
    with Api(module_server, name) as api:
        body = {"name": name, "storage_namespace": f"local://{name}", "read_only": True}
        api.http.post("/repositories", json=body).raise_for_status()
        api.fails("POST", "/workspaces", {"branch": "main"}, 403, "read_only_repository")
        made = api.workspace(force=True)
        at = f"/workspaces/{made['id']}"
        api.fails("POST", f"{at}/objects", {"deletes": ["x"]}, 403, "read_only_repository")
        api("POST", f"{at}/objects?force=true", {"deletes": ["x"]}, 204)
        api.fails("POST", f"{at}/commit", {"allow_empty": True}, 403, "read_only_repository")
        api.fails("POST", f"{at}/scan", None, 403, "read_only_repository")
        api("DELETE", f"{at}?force=true", expect=204)


def commit_together(servers: list[RunningServer], api: Api, threads: int, each: int) -> list[str]:
    """Each thread commits workspaces of its own, over the servers in turn; the ids of the acknowledged commits."""
    barrier = threading.Barrier(threads)

    def one(number: int) -> list[str]:
        made = []
        with Api(servers[number % len(servers)], api.repo.rpartition("/")[2]) as mine:
            barrier.wait()
            for turn in range(each):
                found = mine.workspace()
                mine.put(found["name"], f"p/{number}/{turn}", b"x")
                body = {"message": f"{number}/{turn}", "idempotency_key": "only"}
                made.append(mine("POST", f"/workspaces/{found['id']}/commit", body, 201)["id"])
        return made

    with ThreadPoolExecutor(threads) as pool:
        return [commit for made in pool.map(one, range(threads)) for commit in made]


@pytest.mark.slow
def test_eight_threads_commit_ten_workspaces_each_exactly_once(api: Api, module_server: RunningServer) -> None:
    commits = commit_together([module_server], api, 8, 10)
    assert len(set(commits)) == 80
    history = api.log()
    assert Counter(commit["id"] for commit in history) == Counter([*commits, *(row["id"] for row in history[80:])])
    assert {commit["id"] for commit in history[:80]} == set(commits)
    assert len(api.paths("main")) == 82


@pytest.mark.slow
def test_workers_share_workspaces(tmp_path_factory: pytest.TempPathFactory) -> None:
    with running_server(tmp_path_factory, flags=("--workers", "2")) as server, open_api(server) as api:
        commits = commit_together([server], api, 4, 5)
        assert len(set(commits)) == 20
        assert {commit["id"] for commit in api.log()[:20]} == set(commits)
        made = api.workspace()
        for _ in range(4):  # new connections, so that both workers see it
            with Api(server, api.repo.rpartition("/")[2]) as other:
                other.put(made["name"], uuid4().hex, b"x")
                assert other("GET", f"/workspaces/{made['id']}") == made
        assert len(api.paths(made["name"])) == 2 + 20 + 4
