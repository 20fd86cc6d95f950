"""Globs over HTTP: none holds up the server, and their length and number are bounded everywhere."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import httpx
import pytest

from tests.server.workspacing import Api, Json
from tests.support.processes.server import RunningServer, running_server

EVIL = "*a*a*a*a*b"
LONG = "a" * 180


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    with running_server(tmp_path_factory) as server:
        yield server


@pytest.fixture(scope="module")
def api(server: RunningServer) -> Iterator[Api]:
    with Api(server, "globs") as api:
        creation = {"name": "globs", "storage_namespace": "local://globs"}
        api.http.post("/repositories", json=creation).raise_for_status()
        yield api


def test_no_glob_holds_up_the_server(server: RunningServer, api: Api) -> None:
    workspace = api.workspace()
    api.put(workspace["name"], LONG, b"x")
    waited: list[float] = []
    done = threading.Event()

    def look() -> None:
        with httpx.Client(base_url=server.endpoint, trust_env=False) as other:
            while not (waited and done.is_set()):
                started = time.perf_counter()
                assert other.get("/_health").status_code == 200
                waited.append(time.perf_counter() - started)

    looking = threading.Thread(target=look)
    looking.start()
    started = time.perf_counter()
    try:
        reported = api.fails("POST", f"/workspaces/{workspace['id']}/revert", {"paths": [EVIL]}, 400, "invalid_request")
        api.fails("POST", f"/workspaces/{workspace['id']}/commit", {"paths": [EVIL]}, 400, "invalid_request")
    finally:
        done.set()
        looking.join()
    assert time.perf_counter() - started < 2
    assert max(waited) < 1
    assert "matches no change" in reported["message"]


def test_no_glob_of_a_merge_holds_up_the_server(api: Api) -> None:
    api.put("main", LONG, b"0")
    api("POST", "/branches/main/commits", {"message": "base"})
    api("POST", "/branches", {"name": "dev", "source": "main"})
    for branch in ("main", "dev"):
        api.put(branch, LONG, branch.encode())
        api("POST", f"/branches/{branch}/commits", {"message": branch})
    started = time.perf_counter()
    body = {"resolve": [{"pattern": EVIL, "side": "source"}, {"pattern": "*a*a*a", "side": "dest"}]}
    api("POST", "/refs/dev/merge/main", body)
    assert time.perf_counter() - started < 2
    assert api.text("main", LONG) == "main"


@pytest.mark.parametrize("verb", ["commit", "revert"])
@pytest.mark.parametrize(
    ("paths", "reported"),
    [
        (["a" * 257], "256"),
        (["*"] * 101, "100"),
        (["[z-a]"], "ends before it begins"),
        (["a", "# a comment"], "says nothing"),
    ],
)
def test_bad_globs_of_a_part_are_refused(api: Api, verb: str, paths: Json, reported: str) -> None:
    workspace = api.workspace()
    error = api.fails("POST", f"/workspaces/{workspace['id']}/{verb}", {"paths": paths}, 400, "invalid_request")
    assert reported in error["message"]


@pytest.mark.parametrize("part", [{"pattern": "a" * 257, "side": "dest"}, {"pattern": "!a", "side": "dest"}])
def test_bad_globs_of_a_merge_are_refused(api: Api, part: Json) -> None:
    api.fails("POST", "/refs/main/merge/main", {"resolve": [part]}, 400, "invalid_request")
    api.fails(
        "POST", "/refs/main/merge/main", {"resolve": [{"pattern": "a", "side": "dest"}] * 101}, 400, "invalid_request"
    )


@pytest.mark.parametrize("field", ["include", "exclude"])
@pytest.mark.parametrize("globs", [["a" * 257], ["*"] * 101])
def test_bad_globs_of_an_ingest_are_refused(api: Api, field: str, globs: Json) -> None:
    body = {"source": "local://elsewhere/", field: globs}
    api.fails("POST", "/refs/main/ingest", body, 400, "invalid_request")
