"""In a directory of `lakebed local clone`, commands know the repository and the branch."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import lakebed
import pytest
from lakebed._bulk.local_stash import stashes
from lakebed._sync.checkout import verbs

from tests.cli.conftest import Run
from tests.cli.support import Result
from tests.support.processes.server import RunningServer, clean_environment
from tests.support.waiting import PATIENCE


class Directory:
    """A working directory, and the command in it or below it: in this process, or as a process of its own."""

    def __init__(self, top: Path, run: Run, patch: pytest.MonkeyPatch, environment: Mapping[str, str]) -> None:
        self.top = top
        self.environment = environment
        self._run = run
        self._patch = patch

    def __call__(self, *arguments: str, below: str = "", code: int = 0) -> Result:
        self._patch.chdir(self.top / below)
        return self._run(*arguments, code=code)

    def process(self, *arguments: str, below: str = "") -> Result:
        done = subprocess.run(
            [sys.executable, "-m", "lakebed.cli", *arguments],
            env=clean_environment(**self.environment),
            cwd=self.top / below,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=PATIENCE,
            check=False,
        )
        assert done.returncode == 0, (arguments, done.stderr, done.stdout)
        return Result(done.returncode, done.stdout, done.stderr.decode())

    def files(self) -> dict[str, bytes]:
        found = (file for file in self.top.rglob("*") if file.is_file() and ".lakebed" not in file.parts)
        return {file.relative_to(self.top).as_posix(): file.read_bytes() for file in found}

    def write(self, name: str, text: str) -> None:
        (self.top / name).parent.mkdir(parents=True, exist_ok=True)
        (self.top / name).write_text(text)


@pytest.fixture
def main(repo: lakebed.Repository) -> lakebed.Branch:
    branch = repo.branch("main")
    branch.put_many({"data/a.txt": b"a", "data/sub/b.txt": b"b", "data/c.txt": b"c", "other": b"o"})
    branch.commit("first")
    dev = repo.branch("dev").create("main")
    dev.put_many({"data/a.txt": b"a of dev", "data/dev.txt": b"d"}, delete=["data/c.txt"])
    dev.commit("on dev")
    repo.tag("v1").create("main")
    return branch


@pytest.fixture
def here(
    run: Run, server: RunningServer, main: lakebed.Branch, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Directory:
    top = tmp_path / "wd"
    run("local", "clone", f"{main.repository.id}/main/data", str(top))
    return Directory(top, run, monkeypatch, {**server.environment, "HOME": str(tmp_path)})


AT_MAIN = {"a.txt": b"a", "sub/b.txt": b"b", "c.txt": b"c"}
AT_DEV = {"a.txt": b"a of dev", "sub/b.txt": b"b", "dev.txt": b"d"}


def test_real_processes(here: Directory, main: lakebed.Branch) -> None:
    here.write("sub/new.txt", "n")
    assert here.process("status", below="sub").text == "+ sub/new.txt\n"
    assert here.process("commit", "-m", "edits", below="sub").text.startswith("[main ")
    assert main.get("data/sub/new.txt") == b"n"
    assert here.process("switch", "dev", below="sub").text.startswith("Switched to branch dev")
    assert here.files() == AT_DEV


def test_commands_in_a_working_directory(here: Directory, main: lakebed.Branch) -> None:
    assert "no changes" in here("status").err
    here.write("sub/new.txt", "n")
    here.write("a.txt", "A")
    assert here("status", below="sub").text == "~ a.txt\n+ sub/new.txt\n"
    assert here("diff", below="sub").text == "~ a.txt\n+ sub/new.txt\n"
    assert here("commit", "-m", "edits", below="sub").text.startswith("[main ")
    assert main.get("data/sub/new.txt") == b"n"
    titles = [line.split("  ")[1] for line in here("log", "--oneline").text.splitlines()]
    assert titles == ["edits", "first"]
    lines = here("log", "--oneline", "./new.txt", below="sub").text.splitlines()
    assert [line.split("  ")[1] for line in lines] == ["edits"]
    assert here("log", "--oneline", "dev").text.splitlines()[0].endswith("on dev")
    assert "edits" in here("show").text
    assert here("diff", "dev").text == here("diff", f"{main.repository.id}/main", "dev").text
    assert "+ data/dev.txt\n" in here("diff", "dev").text
    assert here("blame", "./a.txt").text.endswith("data/a.txt\n")
    here("commit", "-m", "again", code=5)
    assert here("branch", "show", "dev").text.startswith("branch")
    assert here("fs", "cat", "./a.txt").out == b"A"


def test_switch_and_back(here: Directory, main: lakebed.Branch) -> None:
    said = here("switch", "dev", below="sub").text
    assert said.startswith("Switched to branch dev, at ")
    assert here.files() == AT_DEV
    here.write("dev.txt", "D")
    here("commit", "-m", "more")
    assert main.repository.branch("dev").get("data/dev.txt") == b"D"
    here("checkout", "main")
    assert here.files() == AT_MAIN
    assert "/main/data/" in here("status").err


def test_a_tag_takes_no_commits_until_it_is_a_branch(here: Directory, main: lakebed.Branch) -> None:
    main.put("data/a.txt", b"newer")
    main.commit("second")
    here("local", "pull")
    here("switch", "v1")
    assert here.files() == AT_MAIN
    assert "v1 (" in here("status").err
    here.write("a.txt", "fix")
    for words in (("commit", "-m", "x"), ("local", "pull")):
        assert "shows 'v1', which is not a branch" in here(*words, code=2).err
    assert here("log", "--oneline").text.count("\n") == 1
    here("switch", "-c", "fix")
    here("commit", "-m", "fixed")
    assert main.repository.branch("fix").get("data/a.txt") == b"fix"
    assert main.get("data/a.txt") == b"newer"


def test_switch_never_touches_changes(here: Directory) -> None:
    here.write("a.txt", "mine")
    here.write("untracked.txt", "u")
    (here.top / "c.txt").unlink()
    before = here.files()
    for ref in ("dev", "v1", "main"):
        refused = here("switch", ref, code=4)
        assert "3 files in it have uncommitted changes; nothing was changed" in refused.err
        assert "`lakebed stash` sets changes aside" in refused.err
        assert here.files() == before
    assert here("switch", "dev", "--json", code=4).err.count("local_changes") == 1
    here("switch", "dev", "--force")
    assert here.files() == {**AT_DEV, "untracked.txt": b"u"}
    assert here("switch", "nope", "--force", code=3).err.startswith("lakebed: ")
    assert here.files() == {**AT_DEV, "untracked.txt": b"u"}


def test_stash_and_pop(here: Directory) -> None:
    here.write("a.txt", "mine")
    here.write("new/n.txt", "n")
    (here.top / "c.txt").unlink()
    changed = here.files()
    assert "3 files are set aside" in here("stash", "-m", "half done").text
    assert here.files() == AT_MAIN
    assert "no changes" in here("status").err
    assert "3 files of main: half done" in here("stash", "--list").text
    here("stash", code=5)
    here("pop", below="sub")
    assert here.files() == changed
    here("pop", code=3)
    assert "`lakebed pop`" in here("stash", "pop", code=2).err


def test_pop_refuses_other_versions(here: Directory) -> None:
    here.write("a.txt", "mine")
    here.write("new.txt", "n")
    here("stash")
    here("switch", "dev")  # where a.txt is another one
    refused = here("pop", code=4)
    assert "    a.txt" in refused.err
    assert here.files() == AT_DEV
    here.write("new.txt", "other")
    assert "    new.txt" in here("pop", code=4).err
    (here.top / "new.txt").unlink()
    here("switch", "main")
    here("pop")
    assert here.files() == {**AT_MAIN, "a.txt": b"mine", "new.txt": b"n"}
    here("stash")
    here.write("a.txt", "theirs")
    here("pop", "--force")
    assert here.files()["a.txt"] == b"mine"


def test_reset_of_files_and_of_all(here: Directory) -> None:
    for name in ("a.txt", "sub/b.txt", "added.txt"):
        here.write(name, "changed")
    (here.top / "c.txt").unlink()
    assert "pass --yes" in here("reset", code=2).err
    here("reset", "./b.txt", "--yes", below="sub")
    assert here("status").text == "~ a.txt\n+ added.txt\n- c.txt\n"
    here("reset", "--yes")
    assert here.files() == {**AT_MAIN, "added.txt": b"changed"}
    here("reset", ".", "--clean", "--yes")
    assert here.files() == AT_MAIN
    assert "outside of the working directory" in here("reset", "../x", "--yes", code=2).err


def test_without_a_directory_the_branch_must_be_named(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = Directory(tmp_path, run, monkeypatch, {})
    for words in (("log",), ("diff",), ("show",), ("undo",), ("blame",), ("commit", "-m", "x")):
        assert "Missing argument" in elsewhere(*words, code=2).err
    for line in ("status", "switch dev", "reset", "stash", "pop"):
        assert "`lakebed local clone`" in elsewhere(*line.split(), code=2).err
    assert "too few parts" in elsewhere("commit", "sales", "-m", "x", code=2).err


def test_another_server_is_refused(here: Directory, server: RunningServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAKEBED_ENDPOINT", "http://127.0.0.1:9")
    for words in (("log",), ("switch", "dev"), ("stash",)):
        here.write("a.txt", "mine")
        assert f"was cloned from {server.endpoint}" in here(*words, code=2).err
    assert here.files()["a.txt"] == b"mine"


def test_undo_and_merge_in_a_directory(here: Directory, main: lakebed.Branch) -> None:
    assert here("merge", "dev", "-m", "publish").text.startswith("Merged dev into main")
    assert here("undo").text.startswith("Undid ")
    assert main.get("data/a.txt") == b"a"


@pytest.mark.parametrize("seconds", [0.0, 0.05, 0.15])
@pytest.mark.parametrize("verb", [("switch", "dev"), ("stash",)])
def test_a_killed_command_loses_nothing(
    here: Directory, main: lakebed.Branch, verb: tuple[str, ...], seconds: float
) -> None:
    """Killed at any moment, the same command again ends in the same state as without the kill."""
    if verb == ("stash",):
        here.write("a.txt", "mine")
        here.write("added.txt", "too")
    before = here.files()
    process = subprocess.Popen(
        [sys.executable, "-m", "lakebed.cli", *verb],
        env=clean_environment(**here.environment),
        cwd=here.top,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    time.sleep(0.35 + seconds)  # Python has started by then
    process.send_signal(signal.SIGKILL)
    process.wait(PATIENCE)
    if verb == ("switch", "dev"):
        here("switch", "dev")
        assert here.files() == AT_DEV
        return
    if stashes(here.top):
        here("pop", "--force")
    assert here.files() == before
    here("stash")
    assert here.files() == AT_MAIN


def test_interrupted_switch_belongs_to_the_new_branch(
    run: Run, here: Directory, main: lakebed.Branch, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The branch is recorded with the target, so that a commit can never go to the old branch."""
    monkeypatch.chdir(here.top)
    fetch = vars(verbs)["_fetch"]

    monkeypatch.setitem(vars(verbs), "_fetch", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    run("switch", "dev", code=130)
    monkeypatch.setitem(vars(verbs), "_fetch", fetch)
    here.write("dev2.txt", "2")
    here("commit", "-m", "after")
    assert main.repository.branch("dev").get("data/dev2.txt") == b"2"
    assert not main.exists("data/dev2.txt")
    assert here.files() == {**AT_DEV, "dev2.txt": b"2"}
