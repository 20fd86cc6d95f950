"""`pushLayer` with rows that name objects in other stores, and `shareObjects`: accepted rows, refusals, and reads."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import lakebed
import pyarrow as pa
import pytest

from tests.server.workspacing import Api, layer_file
from tests.support.processes.server import RunningServer, running_server

pytestmark = pytest.mark.slow

SCHEMA = pa.schema(
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


@pytest.fixture(scope="module")
def feeding(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    with running_server(tmp_path_factory, environment={"LAKEBED_INGEST_ALLOW": "local://feed/"}) as started:
        yield started


@pytest.fixture
def api(feeding: RunningServer) -> Iterator[Api]:
    name = f"r{uuid4().hex[:16]}"
    with lakebed.connect(feeding.endpoint, feeding.access_key_id, feeding.secret_access_key) as lake:
        lake.repository(name).create(f"local://{name}")
    with Api(feeding, name) as api:
        yield api


def row(path: str, file: Path | None = None, **more: Any) -> dict[str, Any]:
    """A row about a file of `local://feed`; by default, a file that does not exist."""
    found = {"physical_address": f"local://feed/f/{path}", "checksum": "stat:1-1", "size_bytes": 1, "mtime": 7}
    if file is not None:
        stat = file.stat()
        found |= {"checksum": f"stat:{round(stat.st_mtime * 1e9):x}-{stat.st_size:x}", "size_bytes": stat.st_size}
    return {"path": path, **found, **more}


def pushed(made: Any, rows: list[dict[str, Any]], **more: Any) -> tuple[str, bytes]:
    return f"/workspaces/{made['id']}/layers", layer_file(rows, SCHEMA, **more)


def test_rows_that_name_objects_elsewhere_are_read_from_there(api: Api, feeding: RunningServer) -> None:
    file = feeding.data_dir / "objects" / "feed" / "f" / "x" / "1"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("elsewhere")
    api.put("main", "x/gone", b"")
    api("POST", "/branches/main/commits", {"message": "before"}, 201)
    made = api.workspace()
    rows = [row("x/1", file), row("x/2", content_type="text/csv"), {"path": "x/gone", "deleted": True}]
    answer = api("POST", *pushed(made, rows, row_group_size=2), expect=201)
    assert answer["rows"] == 3
    assert api.paths(made["name"]) == ["x/1", "x/2"]
    api("POST", f"/workspaces/{made['id']}/commit", {}, 201)
    assert api.text("main", "x/1") == "elsewhere"
    stats = api("GET", "/refs/main/objects/stat?path=x/2")
    assert (stats["physical_address"], stats["checksum"], stats["size_bytes"]) == ("local://feed/f/x/2", "stat:1-1", 1)
    assert (stats["mtime"], stats["content_type"]) == (7, "text/csv")
    assert api("GET", "/refs/main/objects/stat?path=x/1")["content_type"] == "application/octet-stream"
    file.write_text("something else")
    assert api.send("GET", "/refs/main/objects?path=x/1").status_code == 410


@pytest.mark.parametrize(
    ("rows", "status", "kind"),
    [
        ([row("x", physical_address="local://secret/x")], 403, "permission_denied"),
        ([row("x", physical_address="local://feed/../secret/x")], 400, "invalid_address"),
        ([row("x", physical_address="local://feed/a/./x")], 400, "invalid_address"),
        ([row("a"), row("b", physical_address="local://other/b")], 400, "invalid_address"),
        ([row("x", checksum="0" * 32)], 400, "invalid_request"),
        ([row("x", checksum="etag:")], 400, "invalid_request"),
        ([row("x", checksum='etag:"')], 400, "invalid_request"),
        ([row("x", checksum=None)], 400, "invalid_request"),
        ([row("x", size_bytes=-1)], 400, "invalid_request"),
        ([row("x", mtime=1 << 60)], 400, "invalid_request"),
        ([row("x", content_type="x" * 256)], 400, "invalid_request"),
        ([row("x", metadata=[("k", "v")])], 400, "invalid_request"),
        ([row("b"), row("a")], 400, "invalid_request"),
        ([row("a"), row("a")], 400, "invalid_request"),
        ([row("", physical_address="local://feed/f/x")], 400, "invalid_path"),
        ([row("x" * 1025)], 400, "invalid_path"),
        ([row("a"), row("b", physical_address="data/x")], 400, "invalid_address"),
        ([row("x", physical_address="local://feed/inner/x")], 400, "invalid_request"),
    ],
)
def test_refused_layers_register_nothing(
    api: Api, feeding: RunningServer, rows: list[dict[str, Any]], status: int, kind: str
) -> None:
    with lakebed.connect(feeding.endpoint, feeding.access_key_id, feeding.secret_access_key) as lake:
        lake.repository("inner").create("local://feed/inner", exist_ok=True)
    made = api.workspace()
    api.fails("POST", *pushed(made, rows), status=status, kind=kind)
    assert api.paths(made["name"]) == []


def test_paths_share_data_of_the_same_content_only(api: Api) -> None:
    for path, text in (("a", b"same"), ("b", b"same"), ("c", b"else")):
        api.put("main", path, text)
    api("POST", "/branches/main/commits", {"message": "three"}, 201)

    def address(ref: str, path: str) -> str:
        return str(api("GET", f"/refs/{ref}/objects/stat?path={path}")["physical_address"])

    made = api.workspace()
    at = f"/workspaces/{made['id']}"
    pairs = [("b", "a"), ("c", "a"), ("d", "a"), ("a", "d")]
    body = {"objects": [{"path": path, "same_as": other} for path, other in pairs]}
    assert api("POST", f"{at}/shares", body) == {"shared": 1, "left": ["c", "d", "a"]}
    assert api("POST", f"{at}/shares", body) == {"shared": 1, "left": ["c", "d", "a"]}
    api.fails("POST", f"{at}/commit", {}, 400, "no_changes")
    commit = api("POST", f"{at}/commit", {"relocate": True}, 201)
    assert address("main", "b") == address("main", "a") != address("main~1", "b")
    assert api.text("main", "b") == "same"
    assert api("GET", f"/refs/{commit['parents'][0]}/diff/main")["results"] == []
    api.fails("POST", f"{at}/shares", body, 409, "workspace_closed")
    twice = {"objects": [{"path": "b", "same_as": "a"}] * 2}
    api.fails("POST", f"/workspaces/{api.workspace()['id']}/shares", twice, 400, "invalid_request")
