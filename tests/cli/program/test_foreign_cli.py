"""A repository in a namespace with data of another tool: `create` refuses it, and `sweep` keeps the data."""

from __future__ import annotations

import os
import time
from pathlib import Path

import lakebed
import pytest

from tests.cli.support import Command
from tests.support.processes.server import running_server

pytestmark = pytest.mark.slow

DAY = 24 * 3600.0
ORPHAN = f"data/2020010100/{'0' * 32}"


def old_file(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    os.utime(path, (time.time() - 10 * DAY,) * 2)


def test_data_of_another_tool_is_refused_first_and_survives_a_sweep(tmp_path: Path) -> None:
    data_dir = tmp_path / "data"
    place = data_dir / "objects/legacy"
    legacy, note = place / "data/warehouse/part-0.parquet", place / "_lakebed/ranges/notes.txt"
    old_file(legacy, b"9 bytes..")
    at_disk = ("--data-dir", str(data_dir))
    with running_server(data_dir) as server:
        command = Command({**server.environment, "HOME": str(tmp_path)})
        create = ("repo", "create", "legacy", "local://legacy")
        for more in ((), ("--exist-ok",), ("--bare",)):
            refused = command(*create, *more, code=4)
            assert "is not empty: it holds 'data/warehouse/part-0.parquet'" in refused.err
            assert "--allow-non-empty" in refused.err
        assert [path for path in place.rglob("*") if path.is_file()] == [legacy]
        command(*create, "--allow-non-empty")
        command(*create, "--exist-ok")
        old_file(note, b"not a range")
        swept = command("sweep", "legacy", "--data", "--grace", "1", *at_disk).text
        assert (
            ", 0 orphans of 0 bytes deleted.\n2 foreign files of 20 bytes: not made by Lakebed, left in place." in swept
        )
        found = command("sweep", "legacy", "--data", "--grace", "1", "--yes", "--json", *at_disk).json
        (report,) = found["repositories"]
        assert (found["ok"], report["deleted"], report["foreign"], report["foreign_bytes"]) == (True, 0, 2, 20)
        checked = command("fsck", "legacy", "--data", *at_disk).text
        assert "foreign data/warehouse/part-0.parquet: 9 bytes, not made by Lakebed\n" in checked
        assert "orphan" not in checked
        reported = command("fsck", "legacy", "--data", "--json", *at_disk).json
        assert [one["finding"] for one in reported["findings"]] == ["foreign"] * 2
        assert (reported["foreign_count"], reported["foreign_bytes"], reported["orphan_count"]) == (2, 20, 0)
        old_file(place / ORPHAN, b"of a copied bucket")
        held = command("sweep", "legacy", "--data", "--grace", "1", *at_disk, code=1).text
        assert f"orphan {ORPHAN}: 18 bytes" in held
        assert (
            "1 orphan (1 older than the repository), none deleted: check that Lakebed created all of them; --yes "
            "deletes them" in held
        )
        assert (place / ORPHAN).exists()
        command("sweep", "legacy", "--data", "--grace", "1", "--yes", *at_disk)
        assert not (place / ORPHAN).exists()
        command("repo", "delete", "legacy", "--yes")
        assert "lakebed rebuild" in command(*create, "--allow-non-empty", code=4).err
    assert legacy.read_bytes() == b"9 bytes.."
    assert note.read_bytes() == b"not a range"


def test_the_sdk_and_rebuild(tmp_path: Path) -> None:
    data_dir = tmp_path / "data"
    old_file(data_dir / "objects/legacy/theirs", b"x")
    with running_server(data_dir) as server, lakebed.connect(*server[:3]) as lake:
        repo = lake.repository("legacy")
        with pytest.raises(lakebed.errors.AlreadyExistsError) as caught:
            repo.create("local://legacy", exist_ok=True)
        assert caught.value.kind == "namespace_not_empty"
        repo.create("local://legacy", allow_non_empty=True).branch("main").put("a", b"1")
        repo.branch("main").commit("load")
    (data_dir / "lakebed.db").unlink()
    command = Command({"HOME": str(tmp_path)})
    command("rebuild", "--namespace", "local://legacy", "--data-dir", str(data_dir))
    with running_server(data_dir) as server, lakebed.connect(*server[:3]) as lake:
        assert lake.repository("legacy").branch("main").get("a") == b"1"
