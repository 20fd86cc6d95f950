"""`lakebed fsck`, `lakebed sweep` and `lakebed rebuild` on the directory of a real server, stopped or running."""

from __future__ import annotations

import asyncio
import io
import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import lakebed
import pytest
from lakebed_engine.vocabulary import errors
from lakebed_engine.vocabulary.reports import FsckOptions, FsckReport, Problem
from lakebed_server.cli.maintenance import ProgressLine, Writer, _check_all, exit_code_of
from lakebed_server.process.wiring import open_engine
from lakebed_server.settings.load import load

from tests.cli.support import Command
from tests.support.processes.server import ADMIN_ID, ADMIN_SECRET, RunningServer, running_server
from tests.support.waiting import PATIENCE, wait_until

pytestmark = pytest.mark.slow

NOBODY = "0" * 32
DOCS = Path(__file__).parents[2] / "docs"


@contextmanager
def lake_of(server: RunningServer) -> Iterator[lakebed.Lake]:
    with lakebed.connect(server.endpoint, ADMIN_ID, ADMIN_SECRET, timeout=PATIENCE) as connected:
        yield connected


def fill(lake: lakebed.Lake) -> None:
    repo = lake.repository("sales").create("local://sales")
    main = repo.branch("main")
    main.put_many({f"orders/{number}": f"order {number}".encode() for number in range(50)})
    main.commit("load")
    dev = repo.branch("dev").create("main")
    dev.put("orders/1", b"better")
    dev.commit("improve")
    dev.merge_into(main)
    repo.tag("v1").create("main")


def picture(lake: lakebed.Lake) -> Any:
    repo = lake.repository("sales")
    refs = [*repo.branches(), *repo.tags()]
    logs = {ref.id: [(one.id, one.message) for one in repo.ref(ref.id).log()] for ref in refs}
    files = {ref.id: {one.path: repo.ref(ref.id).get(one.path) for one in repo.ref(ref.id).list()} for ref in refs}
    return logs, files


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Any]:
    """The directory of a server that was stopped, and what one saw through it."""
    data_dir = tmp_path_factory.mktemp("filled") / "data"
    with running_server(data_dir) as server, lake_of(server) as lake:
        fill(lake)
        return_value = picture(lake)
    return data_dir, return_value


@pytest.fixture
def data_dir(filled: tuple[Path, Any], tmp_path: Path) -> Path:
    """A copy of it."""
    return shutil.copytree(filled[0], tmp_path / "data")


@pytest.fixture
def command(tmp_path: Path) -> Command:
    """Without a server, without settings."""
    return Command({"HOME": str(tmp_path)})


def namespace(data_dir: Path) -> Path:
    return data_dir / "objects" / "sales"


def snapshot_of(directory: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in sorted(directory.rglob("*")) if path.is_file()}


def test_a_whole_repository(command: Command, data_dir: Path) -> None:
    before = snapshot_of(namespace(data_dir))
    text = command("fsck", "sales", "--data-dir", str(data_dir)).text
    assert text.startswith("Checked sales: branches 2, tags 1, commits 4, ")
    assert text.endswith("Nothing is missing or corrupt; --data also checks the objects.\n")
    found = command("fsck", "sales", "--deep", "--orphan-age", "0", "--json", "--data-dir", str(data_dir)).json
    assert (found["ok"], found["findings"], found["repository"]) == (True, [], "sales")
    assert found["counts"]["objects"] == 51
    assert found["counts"]["ref snapshots"] >= 1, "written when the server stopped"
    assert snapshot_of(namespace(data_dir)) == before


def objects_of(text: str) -> list[dict[str, Any]]:
    """The JSON objects of a text, one after another."""
    found, decoder = [], json.JSONDecoder()
    while text := text.lstrip():
        one, end = decoder.raw_decode(text)
        found.append(one)
        text = text[end:]
    return found


def test_all_repositories_are_checked(command: Command, tmp_path: Path) -> None:
    data_dir = tmp_path / "data"
    at_disk = ["--data", "--data-dir", str(data_dir)]
    with running_server(data_dir) as server, lake_of(server) as lake:
        for name in ("alpha", "beta", "gamma"):
            main = lake.repository(name).create(f"local://{name}").branch("main")
            main.put("a", name.encode())
            main.commit("load")
    whole = command("fsck", *at_disk).text
    assert whole.count("Nothing is missing or corrupt.") == 3
    assert [line.split(":")[0] for line in whole.splitlines() if line.startswith("Checked")] == [
        "Checked alpha", "Checked beta", "Checked gamma",
    ]  # fmt: skip
    (gone,) = (path for path in (data_dir / "objects/beta/data").rglob("*") if path.is_file())
    gone.unlink()
    damaged = objects_of(command("fsck", "--json", *at_disk, code=1).text)
    assert [(one["repository"], one["ok"], len(one["findings"])) for one in damaged] == [
        ("alpha", True, 0), ("beta", False, 1), ("gamma", True, 0),
    ]  # fmt: skip


class Unsteady:
    """An engine of three repositories: alpha cannot be read, beta is deleted after the listing, gamma is whole."""

    repositories = maintenance = property(lambda self: self)

    async def list(self, *, after: str, amount: int) -> Any:
        names = [name for name in ("alpha", "beta", "gamma") if name > after][:1]  # one on each page
        return SimpleNamespace(
            items=[SimpleNamespace(name=name, uid=name) for name in names], has_more=names != ["gamma"]
        )

    async def fsck(self, name: str, *_: object, **__: object) -> FsckReport:
        if name == "alpha":
            raise errors.StoreError("the bucket does not answer")
        if name == "beta":
            raise errors.RepositoryNotFoundError("no repository 'beta'")
        return FsckReport(
            repository=name,
            counts={"commits": 1},
            problems=(),
            problem_count=0,
            orphans=(),
            orphan_count=0,
            orphan_bytes=0,
            recent_count=0,
            unknown=(),
        )

    async def last_scrub(self, _: str) -> None:
        return None

    async def get(self, name: str) -> Any:
        return SimpleNamespace(name=name, uid=name)


@pytest.mark.parametrize("as_json", [False, True])
def test_a_repository_that_cannot_be_checked_does_not_stop_the_others(
    as_json: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    engine: Any = Unsteady()
    with pytest.raises(errors.StoreError, match="the bucket does not answer"):
        asyncio.run(_check_all(engine, FsckOptions(), ProgressLine(io.StringIO()), as_json=as_json))
    said = capsys.readouterr().out
    if as_json:
        found = [(one["repository"], one["ok"], one.get("error")) for one in objects_of(said)]
        assert found == [
            ("alpha", False, "the bucket does not answer"), ("beta", True, None), ("gamma", True, None)
        ]  # fmt: skip
    else:
        assert "beta was deleted in the meantime: ignore findings about it.\n" in said
        assert "alpha could not be checked: the bucket does not answer\n" in said
        assert "Checked gamma" in said


class Interference(ProgressLine):
    """Runs `act` when the check of a repository begins to count."""

    def __init__(self, act: Callable[[], None]) -> None:
        super().__init__(io.StringIO())
        self.left = [act]

    def __call__(self, phase: str, done: int) -> None:
        while self.left:
            self.left.pop()()


@pytest.mark.parametrize("again", [False, True], ids=["deleted", "another-of-its-name"])
def test_a_repository_that_is_deleted_during_its_check_does_not_fail(
    again: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with running_server(tmp_path / "data") as server, lake_of(server) as lake:
        for name in ("alpha", "beta"):
            main = lake.repository(name).create().branch("main")
            main.put("a", name.encode())
            main.commit("load")

        def delete() -> None:
            lake.repository("alpha").purge()
            if again:
                lake.repository("alpha").create()

        async def check() -> bool:
            settings = load(flags={"data_dir": str(tmp_path / "data")}, env={}, files=False).settings
            async with open_engine(settings, "refuse") as engine:
                options = FsckOptions(data=True)
                return await _check_all(engine, options, Interference(delete), as_json=True)

        assert asyncio.run(check())
    found = objects_of(capsys.readouterr().out)
    assert [(one["repository"], one["ok"], one.get("deleted")) for one in found] == [
        ("alpha", True, True), ("beta", True, None),
    ]  # fmt: skip


def test_a_file_in_the_place_of_a_namespace_is_named(command: Command, data_dir: Path) -> None:
    shutil.rmtree(namespace(data_dir))
    namespace(data_dir).write_bytes(b"a file")
    result = command("fsck", "--data", "--data-dir", str(data_dir), code=7)
    assert "sales could not be checked: cannot read local://sales/" in result.text
    assert "a file is in the place of the namespace's directory" in result.text
    assert "missing" not in result.text


def test_fsck_reports_damage_and_exits_with_1(command: Command, data_dir: Path) -> None:
    (gone, *_) = sorted((namespace(data_dir) / "data").rglob("*/*"))
    gone.unlink()
    (namespace(data_dir) / "data/2020010100").mkdir()
    (namespace(data_dir) / f"data/2020010100/{NOBODY}").write_bytes(b"12345")
    assert command("fsck", "sales", "--data-dir", str(data_dir)).code == 0
    arguments = ["fsck", "sales", "--data", "--orphan-age", "0", "--data-dir", str(data_dir)]
    result = command(*arguments, code=1)
    key = str(gone.relative_to(namespace(data_dir)))
    assert f"missing object {key}: not in the bucket\n  for example as orders/" in result.text
    assert "  needed by dev, main, v1\n" in result.text
    assert f"orphan data/2020010100/{NOBODY}: 5 bytes" in result.text
    assert (
        "1 orphan of 5 bytes: unreferenced files.\n1 problem; restore the named files from a backup of the bucket: "
        in (result.text)
    )
    assert result.text.endswith(" in docs/operations.md.\n")
    assert "\n### After a problem\n" in (DOCS / "operations.md").read_text()
    assert result.err == ""
    found = command(*arguments, "--json", code=1).json
    orphan, problem = sorted(found["findings"], key=lambda one: one["finding"])
    assert (orphan["finding"], orphan["key"]) == ("orphan", f"data/2020010100/{NOBODY}")
    assert (problem["kind"], problem["what"], problem["name"]) == ("missing", "object", key)
    assert problem["refs"] == ["dev", "main", "v1"]
    assert (found["ok"], found["problem_count"], found["orphan_count"]) == (False, 1, 1)


def test_sweep_while_server_runs_deletes_orphans(command: Command, data_dir: Path) -> None:
    orphans = [
        namespace(data_dir) / f"_lakebed/ranges/{'0' * 64}.parquet",
        namespace(data_dir) / f"data/2020010100/{NOBODY}",
    ]
    for orphan in orphans:
        orphan.parent.mkdir(exist_ok=True)
        orphan.write_bytes(b"12345")
    before = snapshot_of(namespace(data_dir))
    arguments = ["sweep", "sales", "--data", "--grace", "1", "--data-dir", str(data_dir)]
    with running_server(data_dir) as server, lake_of(server) as lake:
        main = lake.repository("sales").branch("main")
        main.put("uncommitted", b"x")
        assert command(*arguments).text.endswith("0 orphans of 0 bytes deleted; 2 recent files, unreferenced, stay.\n")
        for orphan in orphans:
            os.utime(orphan, (0, 0))
        dry = command(*arguments, "--dry-run").text
        assert f"orphan _lakebed/ranges/{'0' * 64}.parquet: 5 bytes, " in dry
        assert dry.endswith("2 orphans (2 older than the repository) would be deleted.\n")
        assert all(orphan.exists() for orphan in orphans)
        held = command(*arguments, "--json", code=1).json
        assert (held["ok"], len(held["findings"])) == (False, 2)
        assert [(one["held"], one["older"], one["deleted"]) for one in held["repositories"]] == [(True, 2, 0)]
        assert "2 orphans (2 older than the repository), none deleted" in command(*arguments, code=1).text
        assert all(orphan.exists() for orphan in orphans)
        found = command(*arguments, "--yes", "--json").json
        assert found["ok"]
        (swept,) = found["repositories"]
        assert (swept["repository"], swept["deleted"], swept["deleted_bytes"]) == ("sales", 2, 10)
        keys = [str(orphan.relative_to(namespace(data_dir))) for orphan in orphans]
        assert [one["key"] for one in found["findings"]] == keys
        assert not any(orphan.exists() for orphan in orphans)
        main.commit("more")
    gone = {str(orphan) for orphan in orphans}
    assert before.keys() - snapshot_of(namespace(data_dir)).keys() == gone
    assert command("fsck", "sales", "--deep", "--json", "--data-dir", str(data_dir)).json["ok"]


def test_sweep_that_skips_a_repository_exits_with_1(command: Command, data_dir: Path) -> None:
    (namespace(data_dir) / "_lakebed/repository.json").unlink()
    result = command("sweep", "--data-dir", str(data_dir), code=1)
    assert "sales was skipped: repository 'sales': local://sales has no marker" in result.text
    assert command("sweep", "nothing", "--data-dir", str(data_dir), code=3).out == b""
    assert "grace" in command("sweep", "--grace", "-1", "--data-dir", str(data_dir), code=2).err


def test_fsck_while_server_runs(command: Command, data_dir: Path) -> None:
    with running_server(data_dir) as server, lake_of(server) as lake:
        main = lake.repository("sales").branch("main")
        main.put("uncommitted", b"x")
        found = command("fsck", "sales", "--deep", "--json", "--data-dir", str(data_dir)).json
        assert found["ok"]
        assert found["counts"]["uncommitted rows"] == 1
        main.commit("more")


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("fsck", "nothing"), 3, "repository not found: 'nothing'"),
        (("fsck", "sales", "--orphan-age", "-1"), 2, "orphan-age"),
        (("rebuild",), 2, "--namespace"),
        (("rebuild", "--namespace", "local://sales"), 4, "repository 'sales' exists"),
        (("rebuild", "--namespace", "local://sales", "--name", "other"), 4, "in use"),
        (("rebuild", "--namespace", "local://../x"), 2, "namespace"),
        (("rebuild", "--namespace", "local://nothing"), 2, "holds no repository"),
        (("rebuild", "--namespace", "local://sales", "--name", "NO"), 2, "repository name"),
    ],
)
def test_refusals(command: Command, data_dir: Path, arguments: tuple[str, ...], code: int, said: str) -> None:
    result = command(*arguments, "--data-dir", str(data_dir), code=code)
    assert result.out == b""
    assert said in result.err
    error = command(*arguments, "--data-dir", str(data_dir), "--json", code=code).error
    assert error["exit_code"] == code


def test_fsck_without_a_database_fails(command: Command, data_dir: Path, tmp_path: Path) -> None:
    result = command("fsck", "sales", "--data-dir", str(tmp_path / "elsewhere"), code=2)
    assert "there is no database" in result.err
    assert not (tmp_path / "elsewhere").exists()
    memory = Command({**command.environment, "LAKEBED_KV_TYPE": "memory"})
    assert "kv.type is memory" in memory("fsck", "sales", code=2).err


def test_unreachable_store_exits_with_7(command: Command, data_dir: Path) -> None:
    dead = {
        "LAKEBED_OBJECTS_S3_ENDPOINT": "http://127.0.0.1:1",
        "LAKEBED_OBJECTS_S3_ALLOW_HTTP": "true",
        "LAKEBED_OBJECTS_S3_ACCESS_KEY_ID": "x",
        "LAKEBED_OBJECTS_S3_SECRET_ACCESS_KEY": "y",
    }
    there = Command({**command.environment, **dead})
    error = there(
        "rebuild", "--namespace", "s3://b/x", "--dry-run", "--json", "--data-dir", str(data_dir), code=7
    ).error
    assert error["kind"] == "store_unavailable"


def test_every_engine_error_has_a_code_that_is_not_1() -> None:
    def below(kind: type[errors.EngineError]) -> Iterator[type[errors.EngineError]]:
        yield kind
        for one in kind.__subclasses__():
            yield from below(one)

    codes = {kind.__name__: exit_code_of(kind("it failed")) for kind in below(errors.EngineError)}
    assert set(codes.values()) == {2, 3, 4, 7, 8}
    assert (codes["RepositoryNotFoundError"], codes["NamespaceInUseError"], codes["CorruptDataError"]) == (3, 4, 7)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_findings_replace_progress_on_a_terminal() -> None:
    screen, out = Terminal(), io.StringIO()
    line = ProgressLine(screen)
    line("ranges", 5)
    assert screen.getvalue() == "", "not in the first second"
    line._next = 0.0
    line("ranges", 1234)
    assert screen.getvalue() == "\r\x1b[Kranges: 1,234"
    writer = Writer(out, line, {}, as_json=False)
    writer(Problem(kind="missing", what="object", name="a\x1b[2J\nb", detail="gone", refs=("x",), ref_count=3))
    assert screen.getvalue().endswith("1,234\r\x1b[K")
    assert out.getvalue() == "missing object a\\x1b[2J\\nb: gone\n  needed by x and 2 more\n"
    quiet = ProgressLine(io.StringIO())
    quiet._next = 0.0
    quiet("ranges", 1)
    quiet.clear()


def disaster_recovery() -> list[list[str]]:
    """The commands of the walk-through of docs/operations.md."""
    section = (DOCS / "operations.md").read_text().split("## Disaster recovery", 1)[1]
    block = section.split("```sh\n", 1)[1].split("```", 1)[0]
    return [line.split("#")[0].split() for line in block.splitlines() if line.split("#")[0].strip()]


def _here(word: str, old: Path, new: Path) -> str:
    """A word of the page, with the folders and the repository of this test."""
    word = word.replace("/srv/lakebed-old", str(old)).replace("/srv/lakebed", str(new))
    return word.replace("ledger", "sales")


def test_the_walk_through_of_the_docs(
    command: Command, filled: tuple[Path, Any], data_dir: Path, tmp_path: Path
) -> None:
    fresh = tmp_path / "fresh"
    served = False
    for line in disaster_recovery():
        words = [_here(word, data_dir, fresh) for word in line]
        if words[:2] == ["lakebed", "serve"]:
            served = True
        elif words[0] == "lakebed":
            result = command(*words[1:])
            assert "4 commits, 2 branches, 1 tag" in result.text or "Nothing is missing or corrupt" in result.text
        else:
            subprocess.run(words, check=True)
    assert served
    with running_server(fresh) as server, lake_of(server) as lake:
        assert picture(lake) == filled[1]
        lake.repository("sales").branch("main").put("new", b"1")
        lake.repository("sales").branch("main").commit("on we go")


def test_dry_run_needs_and_creates_no_database(command: Command, data_dir: Path, tmp_path: Path) -> None:
    fresh = tmp_path / "fresh"
    shutil.copytree(data_dir / "objects", fresh / "objects")
    before = snapshot_of(fresh)
    arguments = ["rebuild", "--namespace", "local://sales", "--data-dir", str(fresh)]
    text = command(*arguments, "--dry-run").text
    assert text.startswith("Repository sales would be restored from local://sales: 4 commits, 2 branches, 1 tag.\n")
    assert "Uncommitted changes are lost" in text
    assert snapshot_of(fresh) == before
    found = command(*arguments, "--json").json
    assert (found["ok"], found["dry_run"], found["commits"], found["heads"]) == (True, False, 4, [])


def test_rebuild_reports_what_it_cannot_restore(command: Command, data_dir: Path, tmp_path: Path) -> None:
    fresh = tmp_path / "fresh"
    shutil.copytree(data_dir / "objects", fresh / "objects")
    shutil.rmtree(fresh / "objects/sales/_lakebed/refs")
    (name, *_) = [
        path
        for path in (fresh / "objects/sales/_lakebed/commits").iterdir()
        if json.loads(path.read_text())["message"] == "improve"
    ]
    name.unlink()
    result = command("rebuild", "--namespace", "local://sales", "--data-dir", str(fresh), code=1)
    assert f"missing commit _lakebed/commits/{name.name}: not in the bucket" in result.text
    assert "missing ref snapshot _lakebed/refs/" in result.text
    assert "No branch, tag or commit leads to these commits" in result.text
    assert result.text.endswith("2 problems.\n")


def test_refs_snapshot_setting_turns_snapshots_on_and_off(tmp_path: Path) -> None:
    refs = tmp_path / "data/objects/sales/_lakebed/refs"
    off, always = ({"LAKEBED_REFS_SNAPSHOT": word} for word in ("off", "always"))
    with running_server(tmp_path / "data", environment=off) as server, lake_of(server) as lake:
        lake.repository("sales").create("local://sales")
    assert not refs.exists()
    with running_server(tmp_path / "data", environment=always) as server, lake_of(server) as lake:
        repo = lake.repository("sales")
        repo.branch("dev").create("main")
        assert len(list(refs.iterdir())) == 1
        repo.tag("v1").create("dev")
        assert len(list(refs.iterdir())) == 2
    assert len(list(refs.iterdir())) == 2


def test_the_scrub_of_a_server_is_in_its_log_and_in_fsck(data_dir: Path, command: Command) -> None:
    damaged = min((data_dir / "objects" / "sales" / "_lakebed" / "ranges").glob("*.parquet"))
    data = bytearray(damaged.read_bytes())
    data[len(data) // 2] ^= 1
    damaged.write_bytes(bytes(data))
    with running_server(data_dir, environment={"LAKEBED_SCRUB_INTERVAL": "1s", "LAKEBED_SCRUB_RATE": "0"}) as server:
        wait_until(lambda: "1 damaged or missing files" in server.log, "the server logs the scrub")
        assert f"repository sales: the scrub found: corrupt range _lakebed/ranges/{damaged.name}" in server.log
    done = command("fsck", "sales", "--data-dir", str(data_dir), code=1).text
    assert "Last scrub (metadata): " in done
    assert f"  corrupt range _lakebed/ranges/{damaged.name}" in done
    assert damaged.read_bytes() == bytes(data)
