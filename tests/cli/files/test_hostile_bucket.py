"""Odd files that another owner of the bucket's key puts there: fsck and rebuild report each and do the rest."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import lakebed
import pytest
from lakebed_format import CommitRecord, encode_commit
from lakebed_format.commits import commit_id
from lakebed_format.refs import BranchRef, RefsRecord, encode_refs

from tests.cli.support import Command
from tests.support.processes.server import ADMIN_ID, ADMIN_SECRET, running_server
from tests.support.waiting import PATIENCE

pytestmark = pytest.mark.slow

LATER_MS = 4_000_000_000_000
"""A ref snapshot of this time is the newest."""


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory of a server that was stopped."""
    data_dir = tmp_path_factory.mktemp("filled") / "data"
    with (
        running_server(data_dir) as server,
        lakebed.connect(server.endpoint, ADMIN_ID, ADMIN_SECRET, timeout=PATIENCE) as lake,
    ):
        main = lake.repository("sales").create("local://sales").branch("main")
        main.put("a", b"1")
        main.commit("load")
    return data_dir


@pytest.fixture
def data_dir(filled: Path, tmp_path: Path) -> Path:
    return shutil.copytree(filled, tmp_path / "data")


@pytest.fixture
def command(tmp_path: Path) -> Command:
    return Command({"HOME": str(tmp_path)})


def inside(data_dir: Path) -> Path:
    return data_dir / "objects" / "sales" / "_lakebed"


def commit(data: bytes, name: str = "c" * 64) -> tuple[str, bytes]:
    return f"commits/{name}.json", data


def forged(**values: object) -> tuple[str, bytes]:
    """A commit file whose id fits, but for what the id does not cover."""
    record = CommitRecord((), "mallory", "forged", 5, "")
    body = json.loads(encode_commit(record)) | values
    return commit(json.dumps(body).encode(), commit_id(record))


def snapshot(**values: object) -> tuple[str, bytes]:
    """The newest ref snapshot, of members that do not fit its id."""
    key, data = encode_refs(RefsRecord("u", "sales", "local://sales", "main", 5), LATER_MS)
    return key.removeprefix("_lakebed/"), json.dumps(json.loads(data) | values).encode()


def deep_snapshot() -> tuple[str, bytes]:
    return snapshot()[0], b'{"a":' * 100_000


def odd_names(marker: bytes) -> tuple[str, bytes]:
    """The newest ref snapshot of this repository; its id fits, and its branch has a name that no key can have."""
    record = RefsRecord(
        json.loads(marker)["uid"], "sales", "local://sales", "main", 5, branches=(BranchRef("x" * 9000, "0" * 64),)
    )
    key, data = encode_refs(record, LATER_MS)
    return key.removeprefix("_lakebed/"), data


FILES: dict[str, Callable[[bytes], tuple[str, bytes]]] = {
    "deep commit": lambda _: commit(b"[" * 200_000),
    "deep commit of objects": lambda _: commit(b'{"parents":' * 100_000),
    "commit of infinite generation": lambda _: forged(generation=1e999),
    "commit of a generation of 70 bits": lambda _: forged(generation=1 << 70),
    "commit that is not UTF-8": lambda _: commit(b'{"format":"\xff"}'),
    "deep snapshot": lambda _: deep_snapshot(),
    "infinite snapshot": lambda _: snapshot(time_ms=1e999),
    "snapshot that is a list": lambda _: (snapshot()[0], b"[1]"),
    "snapshot of odd names": odd_names,
    "marker that is not UTF-8": lambda _: ("repository.json", b'{"uid":"\xff"}'),
    "deep marker": lambda _: ("repository.json", b"[" * 50_000),
}


@pytest.mark.parametrize("case", FILES)
def test_fsck_and_rebuild_go_on(case: str, command: Command, data_dir: Path, tmp_path: Path) -> None:
    name, data = FILES[case]((inside(data_dir) / "repository.json").read_bytes())
    fresh = tmp_path / "fresh"
    for root in (data_dir, fresh):
        if root is fresh:
            shutil.copytree(data_dir / "objects", fresh / "objects")
        (inside(root) / name).write_bytes(data)
    key = f"_lakebed/{name}"

    found = command("fsck", "sales", "--orphan-age", "0", "--json", "--data-dir", str(data_dir), code=None)
    findings = json.loads(found.out)["findings"]
    assert any(one.get("name", one.get("key")) == key for one in findings), "neither a problem nor an orphan"
    assert found.code == any(one["finding"] == "problem" for one in findings)

    done = command("rebuild", "--namespace", "local://sales", "--json", "--data-dir", str(fresh), code=1).json
    assert [(one["kind"], one["name"]) for one in done["findings"]] == [("corrupt", key)]
    assert (done["commits"], done["branches"]) == (2, 1) or name.startswith("commits")


def test_rebuild_restores_the_good_data_of_a_hostile_bucket(command: Command, data_dir: Path, tmp_path: Path) -> None:
    """All odd files together."""
    shutil.copytree(data_dir / "objects", tmp_path / "fresh" / "objects")
    folder = inside(tmp_path / "fresh")
    marker = (folder / "repository.json").read_bytes()
    for make in FILES.values():
        name, data = make(marker)
        (folder / name).write_bytes(data)
    command("rebuild", "--namespace", "local://sales", "--data-dir", str(tmp_path / "fresh"), code=1)
    with (
        running_server(tmp_path / "fresh") as server,
        lakebed.connect(server.endpoint, ADMIN_ID, ADMIN_SECRET, timeout=PATIENCE) as lake,
    ):
        assert lake.repository("sales").branch("main").get("a") == b"1"


def test_unexpected_exception_exits_with_7(data_dir: Path) -> None:
    """Exit code 1 means that the work was finished and problems were found."""
    verbs = (["fsck", "sales"], ["sweep", "sales"], ["rebuild", "--namespace", "local://x"])
    code = """
import json
import sys
import lakebed_server.cli.maintenance as maintenance

def fail(*_, **__):
    raise RuntimeError('what nobody expected')

maintenance.run_fsck = maintenance.run_sweep = maintenance.run_rebuild = fail
from lakebed.cli.main import run
for verb in json.loads(sys.argv[1]):
    print(run([*verb, *sys.argv[2:]]))
    print("end of this verb", file=sys.stderr)
"""
    arguments = [sys.executable, "-c", code, json.dumps(verbs), "--json", "--data-dir", str(data_dir)]
    done = subprocess.run(arguments, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["7"] * len(verbs), done.stderr
    *found, rest = done.stderr.split("end of this verb\n")
    assert (len(found), rest) == (len(verbs), "")
    for said in found:
        error = json.loads(said)["error"]
        assert (error["kind"], error["exit_code"]) == ("internal", 7)
        assert "RuntimeError: what nobody expected" in error["message"]
