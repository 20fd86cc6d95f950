"""`pushLayer` on a machine without room for the temporary file: an error that says so, and nothing is registered."""

from __future__ import annotations

import resource
from collections.abc import Iterator
from contextlib import contextmanager
from uuid import uuid4

import pytest

from tests.server.workspacing import Api, layer_file, write_below
from tests.support.processes.server import RunningServer, running_server


@contextmanager
def largest_file(server: RunningServer, size: int) -> Iterator[None]:
    """Inside the block, no file of the server can grow beyond `size` bytes."""
    before = resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE)
    resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, before)


@pytest.mark.slow
def test_no_room_for_a_layer_file_is_507(tmp_path_factory: pytest.TempPathFactory) -> None:
    with running_server(tmp_path_factory) as server, Api(server, f"r-{uuid4().hex[:16]}") as api:
        name = api.repo.rpartition("/")[2]
        api.http.post("/repositories", json={"name": name, "storage_namespace": f"local://{name}"}).raise_for_status()
        made = api.workspace()
        rows = [write_below(made, f"{uuid4().hex}/{number}", b"x") for number in range(500)]
        layer = layer_file(sorted(rows, key=lambda row: str(row["path"])))
        assert len(layer) > 16 << 10
        target = f"/workspaces/{made['id']}/layers"
        with largest_file(server, 16 << 10):
            error = api.fails("POST", target, layer, 507, "store_full")
        assert "no space for the temporary file" in error["message"]
        assert "/tmp" not in error["message"]
        assert api.paths(made["name"]) == []
        assert "make room there, or set TMPDIR" in server.log
        api("POST", target, layer, 201)
        assert len(api.paths(made["name"])) == 500
