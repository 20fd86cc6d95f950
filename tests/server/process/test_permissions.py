"""What other accounts of the machine can open of a server's data: nothing, or with `group_read` objects to read."""

from __future__ import annotations

import os
import stat
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import lakebed
import pytest
from lakebed_engine.stores.kv.sqlite import file as sqlite_file
from lakebed_server.process import wiring
from lakebed_server.process.data_directory import open_to_others
from lakebed_server.settings.load import load
from lakebed_server.vocabulary import StartError

from tests.support.processes.server import ADMIN_ID, ADMIN_SECRET, RunningServer, running_server
from tests.support.services.postgres import running_postgres

OTHER = 65534


@pytest.fixture
def place() -> Iterator[Path]:
    """A directory that every account may enter, as /srv is; pytest's own are closed."""
    with tempfile.TemporaryDirectory() as made:
        os.chmod(made, 0o755)
        yield Path(made)


@pytest.fixture(scope="module")
def dsn() -> Iterator[str]:
    with running_postgres() as postgres:
        yield postgres.dsn


def as_other(*command: str | Path, groups: Sequence[int] = (OTHER,)) -> subprocess.CompletedProcess[str]:
    """Run a command as an account that is not the server's."""
    return subprocess.run(
        [str(one) for one in command],
        check=False,
        user=OTHER,
        group=OTHER,
        extra_groups=groups,
        capture_output=True,
        text=True,
    )


def work(server: RunningServer) -> None:
    """Commits in every way: uploads, a workspace, and a workspace with direct writes."""
    with lakebed.connect(server.endpoint, ADMIN_ID, ADMIN_SECRET) as lake:
        repo = lake.repository("sales").create("local://sales")
        main = repo.branch("main")
        main.put_many({"a": b"1", "b//c": b"2", "large": bytes(3 << 20)})
        main.commit("load")
        with main.workspace("more", data_path="proxied") as ws:
            ws.put("d", b"3")


def modes(top: Path) -> dict[str, set[int]]:
    """The modes of the directories and files, by kind."""
    found: dict[str, set[int]] = {"directories": {stat.S_IMODE(top.stat().st_mode)}, "files": set()}
    for path in top.rglob("*"):
        found["directories" if path.is_dir() else "files"].add(stat.S_IMODE(path.lstat().st_mode))
    return found


@pytest.mark.slow
def test_everything_that_a_server_makes_is_its_own(place: Path, tmp_path: Path) -> None:
    """The review's probe, as account 65534."""
    data, log = place / "lakebed" / "data", place / "log"
    flags = ["--data-dir", str(data)]
    os.umask(before := os.umask(0o022))
    assert before == 0o022, "the server must not owe its modes to the umask of the tests"
    with running_server(tmp_path / "unused", flags=flags, environment={"LAKEBED_LOGGING_OUTPUT": str(log)}) as server:
        work(server)
        assert modes(data) == {"directories": {0o700}, "files": {0o600}}
        assert stat.S_IMODE(log.stat().st_mode) == 0o600
        assert {"lakebed.db", "lakebed.db-wal", "secret.key", "objects"} <= set(os.listdir(data))
        for file in ("", "lakebed.db", "objects/sales/.lakebed-lock"):
            assert "Permission denied" in as_other("ls" if not file else "cat", data / file).stderr
        assert "can open" not in log.read_text()


@pytest.mark.slow
def test_the_group_may_read_objects_and_nothing_else(place: Path, tmp_path: Path) -> None:
    data = place / "data"
    data.mkdir(0o750)
    os.chown(data, 0, OTHER)
    data.chmod(0o2750)  # what is made in it belongs to the group
    variables = {"LAKEBED_OBJECTS_LOCAL_GROUP_READ": "true"}
    with running_server(tmp_path / "unused", flags=["--data-dir", str(data)], environment=variables) as server:
        work(server)
        objects = data / "objects"
        found = modes(objects)
        assert {one & 0o777 for one in found["directories"]} == {0o750}
        assert found["files"] == {0o640, 0o600}  # the lock
        whole = next(path for path in objects.rglob("*") if path.is_file() and path.stat().st_size == 3 << 20)
        assert as_other("wc", "-c", whole).stdout.startswith(str(3 << 20))
        for closed in ("lakebed.db", "lakebed.db-wal", "secret.key", "objects/sales/.lakebed-lock"):
            assert "Permission denied" in as_other("cat", data / closed).stderr
        assert "Permission denied" in as_other("touch", objects / "sales/new").stderr
        assert as_other("ls", data, groups=()).returncode == 0
        assert "can open" not in server.log


@pytest.mark.slow
def test_a_server_warns_of_a_directory_that_others_can_open(place: Path, tmp_path: Path) -> None:
    data = place / "data"
    data.mkdir(0o755)
    with running_server(tmp_path / "unused", flags=["--data-dir", str(data)]) as server:
        (warning,) = [line for line in (tmp_path / "unused.log").read_text().splitlines() if "WARN" in line]
        assert f"can open {data} (mode 0755)" in warning
        assert warning.endswith(f'chmod 700 {data}"') or f"chmod 700 {data}" in warning
        assert server.process.poll() is None


@pytest.mark.parametrize(
    ("mode", "group_read", "command"),
    [
        (0o700, "false", ""), (0o750, "false", ""), (0o750, "true", ""), (0o755, "false", "chmod 700"),
        (0o755, "true", "chmod 750"), (0o701, "false", "chmod 700"), (0o770, "false", "chmod 700"),
    ],
)  # fmt: skip
def test_data_directory_open_to_others_is_reported(tmp_path: Path, mode: int, group_read: str, command: str) -> None:
    data = tmp_path / "data"
    (data / "objects").mkdir(parents=True)
    data.chmod(mode)
    environment = {"LAKEBED_DATA_DIR": str(data), "LAKEBED_OBJECTS_LOCAL_GROUP_READ": group_read}
    found = list(open_to_others(load(env=environment).settings))
    assert [f"{command} {data}" in one for one in found] == ([True] if command else [])


def test_a_database_and_objects_in_other_directories_are_checked(tmp_path: Path) -> None:
    data, objects, database = tmp_path / "data", tmp_path / "objects", tmp_path / "kv.db"
    data.mkdir(0o700)
    objects.mkdir(0o755)
    database.touch(0o644)
    settings = load(
        env={
            "LAKEBED_DATA_DIR": str(data),
            "LAKEBED_OBJECTS_LOCAL_ROOT": str(objects),
            "LAKEBED_KV_SQLITE_PATH": str(database),
        }
    ).settings
    assert [one.rpartition(": ")[2] for one in open_to_others(settings)] == [
        f"chmod 700 {objects}",
        f"chmod 600 {database}",
    ]


async def test_a_server_with_its_database_on_a_network_file_system_does_not_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    device = os.stat(tmp_path).st_dev
    mounts = tmp_path / "mountinfo"
    mounts.write_text(f"36 21 {os.major(device)}:{os.minor(device)} / {tmp_path} rw - nfs4 host:/export rw\n")
    monkeypatch.setattr(sqlite_file, "MOUNTS", mounts)
    settings = load(env={"LAKEBED_DATA_DIR": str(tmp_path / "data")}).settings
    said = r"^cannot open the database .*lakebed\.db: SQLite is not safe on .*nfs4.*local disk"
    with pytest.raises(StartError, match=said):
        await wiring.build(settings)


@pytest.mark.parametrize("kv", ["sqlite", "postgres"])
@pytest.mark.parametrize("exists", [False, True])
async def test_the_names_of_the_first_files_are_on_the_disk(
    tmp_path: Path, kv: str, exists: bool, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    """The name of the data directory, of each above it that is new, and of the secret key."""
    data = tmp_path / "new" / "data"
    if exists:
        data.mkdir(parents=True)
    settings = load(
        env={
            "LAKEBED_DATA_DIR": str(data),
            "LAKEBED_KV_TYPE": kv,
            "LAKEBED_KV_POSTGRES_SCHEMA": f"first_{exists}",
            "LAKEBED_KV_POSTGRES_DSN": request.getfixturevalue("dsn") if kv == "postgres" else "",
        }
    ).settings
    synced: list[tuple[str, list[str]]] = []
    true = os.fsync

    def fsync(fd: int) -> None:
        path = os.readlink(f"/proc/self/fd/{fd}")
        synced.append((path, os.listdir(path) if os.path.isdir(path) else []))
        true(fd)

    monkeypatch.setattr(os, "fsync", fsync)
    await (await wiring.build(settings)).close()
    assert any(path == str(data.parent) and "data" in names for path, names in synced)
    assert any(path == str(data) and "secret.key" in names for path, names in synced)
    if not exists:
        assert any(path == str(tmp_path) and "new" in names for path, names in synced)
