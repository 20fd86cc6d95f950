"""What another account, or a careless user, may put into the directory of a workspace: the server follows no link."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.support import Command
from tests.server.workspacing import Api, write_below
from tests.support.processes.server import RunningServer, running_server

OTHER = 65534
LINK = "a symbolic link"
SHARED = "a file of another account that has other names (hard links)"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    with running_server(tmp_path_factory) as server:
        yield server


@pytest.fixture
def api(server: RunningServer, request: pytest.FixtureRequest) -> Iterator[Api]:
    name = request.node.name.replace("_", "-")[:40]
    with Api(server, name) as api:
        api.http.post("/repositories", json={"name": name, "storage_namespace": f"local://{name}"}).raise_for_status()
        yield api


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """Data that is not part of the lake."""
    (tmp_path / "sub").mkdir()
    (tmp_path / "a.txt").write_text("theirs")
    (tmp_path / "sub" / "b.txt").write_text("theirs too")
    return tmp_path


def refused(found: Any) -> dict[str, str]:
    assert found["refused"] == len(found["refusals"])
    return {one["path"]: one["reason"] for one in found["refusals"]}


def test_planted_links_are_not_read_and_a_sweep_deletes_nothing_behind_them(
    api: Api, server: RunningServer, outside: Path
) -> None:
    """The review's probe: links to the server's own secret, to a file of the system, and to a directory elsewhere."""
    made = api.workspace()
    at = f"/workspaces/{made['id']}"
    write_below(made, "mine", b"mine")
    place = Path(made["local_path"])
    (place / "stolen.key").symlink_to(server.data_dir / "secret.key")
    (place / "passwd").symlink_to("/etc/passwd")
    (place / "ext").symlink_to(outside)

    found = api("POST", f"{at}/scan")
    assert (found["registered"], found["vanished"], found["unchanged"]) == (1, 0, 0)
    assert refused(found) == {"ext": LINK, "passwd": LINK, "stolen.key": LINK}
    for path in ("stolen.key", "passwd", "ext/a.txt", "ext/sub/b.txt"):
        assert api.send("GET", f"/refs/main%2B{made['id']}/objects?path={path}").status_code == 404
        given = {"path": path, "physical_address": made["storage_prefix"] + path, "checksum": "x", "size_bytes": 6}
        api.fails("POST", f"{at}/objects", {"objects": [given]}, 400, "invalid_address")

    api("DELETE", at, None, 204)
    lakebed = Command(server.environment)
    swept = lakebed(
        "sweep", api.repo.rpartition("/")[2], "--data", "--grace", "0.1", "--orphan-age", "0", "--data-dir",
        str(server.data_dir),
    )  # fmt: skip
    assert "1 orphan of 4 bytes deleted" in swept.text
    assert not (place / "mine").exists()
    assert (place / "ext").is_symlink()
    assert (outside / "a.txt").read_text() == "theirs"
    assert (outside / "sub" / "b.txt").read_text() == "theirs too"
    assert (server.data_dir / "secret.key").stat().st_size == 65


def test_an_object_that_becomes_a_link_has_vanished(api: Api, outside: Path) -> None:
    made = api.workspace()
    at = f"/workspaces/{made['id']}"
    write_below(made, "d/a.txt", b"theirs")
    assert api("POST", f"{at}/scan")["registered"] == 1
    place = Path(made["local_path"])
    shutil.rmtree(place / "d")
    (place / "d").symlink_to(outside)
    assert api.send("GET", f"/refs/main%2B{made['id']}/objects?path=d/a.txt").status_code >= 400
    found = api("POST", f"{at}/scan")
    assert (found["registered"], found["vanished"]) == (0, 1)
    assert refused(found) == {"d": LINK}
    assert api.paths(made["name"]) == []


def test_a_scan_refuses_files_of_others_with_several_names(api: Api, outside: Path) -> None:
    """The tests run as root; the files belong to another account."""
    made = api.workspace()
    at = f"/workspaces/{made['id']}"
    for path in ("theirs", "theirs alone", "own"):
        write_below(made, path, b"x")
    place = Path(made["local_path"])
    for path in ("theirs", "theirs alone"):
        os.chown(place / path, OTHER, OTHER)
    for path in ("theirs", "own"):
        os.link(place / path, outside / path)
    os.mkfifo(place / "pipe")
    found = api("POST", f"{at}/scan")
    assert found["registered"] == 2
    assert refused(found) == {"pipe": "neither a file nor a directory", "theirs": SHARED}
    assert api.paths(made["name"]) == ["own", "theirs alone"]
    # what was registered before it got a second name (by a backup with hard links, say) stays
    os.link(place / "theirs alone", outside / "backup")
    found = api("POST", f"{at}/scan")
    assert (found["registered"], found["vanished"], found["unchanged"]) == (0, 0, 1)
    assert refused(found)["theirs alone"] == SHARED
    assert api.paths(made["name"]) == ["own", "theirs alone"]
    (outside / "theirs").unlink()
    assert api("POST", f"{at}/scan")["registered"] == 1


def test_only_the_first_refusals_are_named(api: Api) -> None:
    made = api.workspace()
    write_below(made, "mine", b"mine")
    for number in range(120):
        (Path(made["local_path"]) / f"link{number:03}").symlink_to("/etc/passwd")
    found = api("POST", f"/workspaces/{made['id']}/scan")
    assert (found["registered"], found["refused"]) == (1, 120)
    assert [one["path"] for one in found["refusals"]] == [f"link{number:03}" for number in range(100)]
